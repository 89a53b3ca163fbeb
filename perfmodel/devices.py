"""GPUs and links by name: what their makers state for them. A peak is of dense matrices, without the sparsity that doubles it.

Source: the data sheet named in each record.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from perfmodel.hardware import V100_FP32, V100_MEMORY, V100_SHEET, V100_TENSOR, Pipe
from perfmodel.sources import Source
from perfmodel.units import GB, GBIT, TFLOP, positive


@dataclass(frozen=True, kw_only=True, slots=True)
class Gpu:
    """A GPU: its peaks by precision ("FP32", "FP16", "FP8") in FLOP/s, and the rate of its memory. Raises ValueError for a rate of 0 or below.

    >>> GPUS["V100"].peaks["FP16"]
    125000000000000.0
    """

    name: str
    peaks: Mapping[str, float]
    memory_bytes_per_s: float
    source: Source

    def __post_init__(self) -> None:
        positive(f"the memory rate of {self.name!r}", self.memory_bytes_per_s)
        for precision, rate in self.peaks.items():
            positive(f"the {precision} rate of {self.name!r}", rate)


def _sheet(name: str, url: str) -> Source:
    return Source(title=f"NVIDIA {name} data sheet", authors="NVIDIA", url=url)


def _gpu(name: str, tflop_per_s: Mapping[str, float], gb_per_s: float, source: Source) -> Gpu:
    peaks = {precision: rate * TFLOP for precision, rate in tflop_per_s.items()}
    return Gpu(name=name, peaks=MappingProxyType(peaks), memory_bytes_per_s=gb_per_s * GB, source=source)


_V100 = Gpu(
    name="V100",
    peaks=MappingProxyType({"FP32": V100_FP32.flop_per_s, "FP16": V100_TENSOR.flop_per_s}),
    memory_bytes_per_s=V100_MEMORY.bytes_per_s,
    source=V100_SHEET,
)
GPUS: Mapping[str, Gpu] = MappingProxyType(
    {
        gpu.name: gpu
        for gpu in (
            _V100,
            _gpu("P100", {"FP32": 10.6, "FP16": 21.2}, 732,
                 _sheet("Tesla P100 (SXM2)", "https://images.nvidia.com/content/tesla/pdf/nvidia-tesla-p100-datasheet.pdf")),
            _gpu("T4", {"FP32": 8.1, "FP16": 65}, 320,
                 _sheet("T4", "https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/tesla-t4/t4-tensor-core-datasheet-951643.pdf")),
            _gpu("A100", {"FP16": 312}, 2039,
                 _sheet("A100 80 GB (SXM)", "https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/a100/pdf/nvidia-a100-datasheet-us-nvidia-1758950-r4-web.pdf")),
            _gpu("H100", {"FP8": 1979}, 3350, _sheet("H100 (SXM)", "https://www.nvidia.com/en-us/data-center/h100/")),
            _gpu("H200", {"FP8": 1979}, 4800, _sheet("H200 (SXM)", "https://www.nvidia.com/en-us/data-center/h200/")),
        )
    }
)  # fmt: skip
"""The GPUs that published measurements are held against."""

EFA = Pipe(
    name="EFA of one node, 3200 Gbit/s",
    bytes_per_s=3200 * GBIT,
    kind="vendor peak",
    source=Source(
        title="Amazon EC2 P5 instances", authors="Amazon Web Services", url="https://aws.amazon.com/ec2/instance-types/p5/"
    ),
)
ETHERNET_10 = Pipe(
    name="10 GbE",
    bytes_per_s=10 * GBIT,
    kind="vendor peak",
    source=Source(
        title="Amazon EC2 P2 instances", authors="Amazon Web Services", url="https://aws.amazon.com/ec2/instance-types/p2/"
    ),
)
