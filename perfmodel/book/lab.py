"""The labs: what their controls stand at when a reader comes, and the clusters to choose from. What an act quotes is used from there."""

from __future__ import annotations

from perfmodel import cluster
from perfmodel.book.ledger import LEDGER
from perfmodel.sources import HERE, Source
from perfmodel.units import MIB, MS

_given, _model = LEDGER.given, LEDGER.model

DDP = Source(
    title="PyTorch, DistributedDataParallel",
    authors="the PyTorch developers",
    url="https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html",
    place="bucket_cap_mb",
)

_given(
    "cluster.parameters",
    40_000_000,
    "",
    "the parameters of the lab’s model: in FP32 its gradients have the size of the book’s",
    HERE,
)
_given("cluster.gradient", 4, "B", "the size of one gradient in FP32", HERE)
_given("cluster.compute", 50 * MS, "ms", "the computing of one step in the lab", HERE)
_given("cluster.backward", 2, "×", "how many times as long the backward pass takes as the forward pass", HERE)
_given("cluster.bucket", 25 * MIB, "MiB", "the size of a bucket by default", DDP)

for _name, _c in cluster.CLUSTERS.items():
    _given(f"cluster.{_name}_gpus", _c.gpus, "", f"the GPUs of each machine: {_c.name}", _c.source)
    _given(f"cluster.{_name}_nodes", _c.nodes, "", f"the machines: {_c.name}", HERE if _c.nodes > 1 else _c.source)
    _given(
        f"cluster.{_name}_link",
        _c.link.bytes_per_s,
        "GB/s",
        f"a GPU’s link inside the machine, each way: {_c.name}",
        _c.link.source,
    )
    _given(f"cluster.{_name}_cpu", _c.cpu.bytes_per_s, "GB/s", f"a GPU’s link to the CPU, each way: {_c.name}", _c.cpu.source)
    _given(
        f"cluster.{_name}_network", _c.network.bytes_per_s, "GB/s", f"a GPU’s network port, each way: {_c.name}", _c.network.source
    )
    _given(f"cluster.{_name}_latency", _c.latency_s, "µs", f"the latency of a transfer: {_c.name}", _c.latency_source)
