"""The Reality page: how far a model may be from a published measurement before the build fails, and what else the page quotes.

What the data sets themselves say is entered by `macros.reality`, since the measurements are no part of this package.
"""

from __future__ import annotations

from perfmodel.alphabeta import NCCL_TESTS
from perfmodel.book.ledger import LEDGER
from perfmodel.buckets import CONTENTION
from perfmodel.devices import EFA
from perfmodel.sources import HERE, Source
from perfmodel.units import GB, GIB, KIB, MIB

_given, _model = LEDGER.given, LEDGER.model

_GATES = (
    ("ring_node", 0.02, "the ring over more GPUs of a node"),
    ("ring_nodes", 0.02, "the ring over several nodes"),
    ("ring_mi325x", 0.01, "the ring over nodes of MI325X"),
    ("flat_b200", 0.10, "the flat ring over several nodes of B200"),
    ("allreduce_a100", 0.15, "both ends of the allreduce on a node of A100"),
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

# Where the page draws its lines.
_given("sizes.wrong_from", 64 * KIB, "KiB", "the message from which on the formula for collectives is wrong", HERE)
_given("sizes.wrong_to", 64 * MIB, "MiB", "the message from which on it is right again", HERE)
_given("sizes.large", 1 * GIB, "GiB", "the message from which on a flat ring over several nodes is gated", HERE)
_given("sizes.rings", 8 * GIB, "GiB", "the message from which on the rings over nodes of MI325X are gated", HERE)
_given("sizes.ranks", 64, "", "the GPUs of the largest ring", HERE)
_given("sizes.bucket", 4 * MIB, "MiB", "the least cap of a bucket among the steps of DDP", HERE)
_given("sizes.side", 4096, "", "the side from which on a matrix product is gated", HERE)

# Readings that are no wire's.
_BEKMAN = Source(
    title="Machine learning engineering open book", authors="Stas Bekman", url="https://github.com/stas00/ml-engineering",
    licence="CC BY-SA 4.0", place="network/README.md",
)  # fmt: skip
_given("wire.link", 450 * GB, "GB/s", "what the NVLinks of an H200 carry in one direction", _BEKMAN)
_given("wire.nvls", 473.1 * GB, "GB/s", "the bus bandwidth of a node of H200 when the switch adds up", _BEKMAN)
_given("wire.ring", 365.6 * GB, "GB/s", "the bus bandwidth of the same with a forced ring", _BEKMAN)
_given("wire.efa", EFA.bytes_per_s, "GB/s", "what the network of a node of B200 carries in one direction", EFA.source)
_gib = _given("wire.gib", 1 * GIB, "GiB", "a binary gigabyte", NCCL_TESTS)
_gb = _given("wire.gb", 1 * GB, "GB", "a decimal gigabyte", NCCL_TESTS)
_model(
    "wire.mix",
    GB / GIB - 1,
    "%",
    "the error of a time for which GiB were divided by GB/s as if they were GB",
    NCCL_TESTS,
    "b/a - 1",
    a=_gib,
    b=_gb,
)

# Computing beside a collective, as measured with a synthetic load.
_given("beside.products", 2.0, "×", "how much longer many short products take beside an allreduce", CONTENTION)
_given("beside.memory", 1.2, "×", "how much longer kernels that are bound by memory take at the least", CONTENTION)
