"""The Reality page: how far a model may be from a published measurement before the build fails."""

from __future__ import annotations

from perfmodel.book.ledger import LEDGER
from perfmodel.sources import HERE

_given = LEDGER.given

_GATES = (
    ("ring_node", 0.02, "the ring over more GPUs of a node"),
    ("ring_nodes", 0.02, "the ring over four nodes"),
    ("ring_mi325x", 0.01, "the ring over nodes of MI325X"),
    ("flat_b200", 0.10, "the flat ring over four nodes of B200"),
    ("allreduce_a100", 0.15, "both ends of the allreduce on eight A100"),
    ("ddp_step", 0.04, "the step of DDP"),
    ("pipeline", 0.02, "1F1B"),
    ("interleaved", 0.02, "interleaved 1F1B"),
    ("matmul", 0.15, "large products, with the ceiling of their own table"),
    ("matmul_elsewhere", 0.16, "large products, with a ceiling from elsewhere"),
    ("pcie_up", 0.05, "the median of copies to a GPU"),
    ("pcie_down", 0.05, "the median of copies from a GPU"),
)
for _name, _value, _what in _GATES:
    _given(f"gate.{_name}", _value, "%", f"the largest error that is let pass for {_what}", HERE)
