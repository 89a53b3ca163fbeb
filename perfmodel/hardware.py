"""The machine under the model: how wide its pipes are, what a read costs before the first byte, and where arithmetic is the limit.

Rates are records with a source and a kind; what follows from them is computed here. Nothing here knows protocol overhead, line
coding (128b/130b on PCIe), caches or contention, unless it says so. All functions raise ValueError for a result that is not finite, too.

Source: Dive into Deep Learning 13.4 and 13.7; NVIDIA's V100 data sheet; Williams, Waterman & Patterson 2009 for the roofline.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from perfmodel import kernels
from perfmodel.sources import D2L_HARDWARE, D2L_PARAMETER_SERVERS, Source
from perfmodel.units import GB, GBIT, TFLOP, at_least, finite, not_negative, positive

Kind = Literal["vendor peak", "measured", "derived", "assumed"]
KINDS: tuple[Kind, ...] = ("vendor peak", "measured", "derived", "assumed")

V100_SHEET = Source(
    title="NVIDIA V100 Tensor Core GPU data sheet",
    authors="NVIDIA",
    url="https://images.nvidia.com/content/technologies/volta/pdf/volta-v100-datasheet-update-us-1165301-r5.pdf",
    place="V100 for NVLink (SXM2)",
)
V100_PAPER = Source(
    title="NVIDIA Tesla V100 GPU architecture (white paper WP-08608-001)",
    authors="NVIDIA",
    url="https://images.nvidia.com/content/volta-architecture/pdf/volta-architecture-whitepaper.pdf",
    place="table 1",
)
XEON_SHEET = Source(
    title="Intel Xeon Platinum 8180 processor, specifications",
    authors="Intel",
    url="https://ark.intel.com/content/www/us/en/ark/products/120496/intel-xeon-platinum-8180-processor-38-5m-cache-2-50-ghz.html",
)
ROOFLINE = Source(
    title="Roofline: an insightful visual performance model for multicore architectures",
    authors="Samuel Williams, Andrew Waterman and David Patterson",
    url="https://doi.org/10.1145/1498765.1498785",
    place="Communications of the ACM 52 (2009)",
)


def _check_kind(name: str, kind: str) -> None:
    if kind not in KINDS:
        raise ValueError(f"the kind of {name!r} must be one of {', '.join(KINDS)}, got {kind!r}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Pipe:
    """Something bytes move through, and how many a second. Raises ValueError for a rate not above 0, and an unknown kind.

    >>> Pipe(name="a link", bytes_per_s=0, kind="assumed", source=D2L_HARDWARE)
    Traceback (most recent call last):
    ValueError: the rate of 'a link' must be a finite number above 0, got 0
    """

    name: str
    bytes_per_s: float
    kind: Kind
    source: Source

    def __post_init__(self) -> None:
        positive(f"the rate of {self.name!r}", self.bytes_per_s)
        _check_kind(self.name, self.kind)


GPU_MEMORY = Pipe(name="GPU memory", bytes_per_s=500 * GB, kind="vendor peak", source=D2L_HARDWARE)
CPU_MEMORY = Pipe(name="CPU memory", bytes_per_s=100 * GB, kind="vendor peak", source=D2L_HARDWARE)
PCIE_4 = Pipe(name="PCIe 4.0 ×16", bytes_per_s=32 * GB, kind="vendor peak", source=D2L_PARAMETER_SERVERS)
PCIE_3 = Pipe(name="PCIe 3.0 ×16", bytes_per_s=16 * GB, kind="vendor peak", source=D2L_PARAMETER_SERVERS)
NVME = Pipe(name="NVMe", bytes_per_s=8 * GB, kind="vendor peak", source=D2L_HARDWARE)
ETHERNET = Pipe(name="100 GbE", bytes_per_s=10 * GB, kind="assumed", source=D2L_PARAMETER_SERVERS)  # as the book gives it
HDD = Pipe(name="HDD", bytes_per_s=0.2 * GB, kind="assumed", source=D2L_HARDWARE)  # the upper end of "100–200 MB/s"
PIPES = (GPU_MEMORY, CPU_MEMORY, PCIE_4, PCIE_3, NVME, ETHERNET, HDD)
"""The machine of act 4, from the memory next to the cores outwards."""

ETHERNET_LINE = Pipe(name="100 GbE, line rate", bytes_per_s=100 * GBIT, kind="derived", source=D2L_HARDWARE)
V100_MEMORY = Pipe(name="V100 HBM2", bytes_per_s=900 * GB, kind="vendor peak", source=V100_SHEET)


def move_s(*, size_bytes: float, bytes_per_s: float, latency_s: float = 0.0) -> float:
    """Seconds to move `size_bytes` through one pipe: alpha + S/B, where alpha is what it takes before the first byte moves.

    It ignores what else is in the pipe. For words of a memory, see `burst_s`.
    Raises ValueError for a size or a latency that is negative or not finite, and for a rate of 0 or below.

    >>> move_s(size_bytes=160e6, bytes_per_s=PCIE_3.bytes_per_s)
    0.01

    Source: Dive into Deep Learning 13.7 (160 MB / 16 GB/s).
    """
    not_negative("size_bytes", size_bytes)
    positive("bytes_per_s", bytes_per_s)
    not_negative("latency_s", latency_s)
    return finite("move_s", kernels.transfer_s(size_bytes, bytes_per_s, latency_s))


# Line rates. A bit per second is 1/8 byte per second, in the constants of `perfmodel.units`.


def lanes_bytes_per_s(*, lanes: int, lane_bytes_per_s: float) -> float:
    """What `lanes` lanes carry together, each way. Raises ValueError for `lanes` below 1, and a rate of 0 or below.

    >>> lanes_bytes_per_s(lanes=4, lane_bytes_per_s=16 * GBIT) == 8 * GB  # PCIe 4.0
    True

    Source: Dive into Deep Learning 13.4.
    """
    at_least("lanes", lanes, 1)
    return finite("lanes_bytes_per_s", lanes * positive("lane_bytes_per_s", lane_bytes_per_s))


def one_way_bytes_per_s(*, both_ways_bytes_per_s: float) -> float:
    """What a link carries in one direction, when its rate is given for both together. Raises ValueError for a rate of 0 or below.

    >>> one_way_bytes_per_s(both_ways_bytes_per_s=300 * GBIT) == 18.75 * GB  # NVLink
    True

    Source: Dive into Deep Learning 13.7.
    """
    return positive("both_ways_bytes_per_s", both_ways_bytes_per_s) / 2


# Memory: an address, a wait, and then one beat after the other.


def burst_s(*, beats: int, first_s: float, beat_s: float) -> float:
    """Seconds to read `beats` consecutive words: first + (beats−1)·beat. The first word pays for the address.

    It ignores banks, which can wait at the same time. Raises ValueError for `beats` below 1, `first_s` or `beat_s` of 0 or below.

    >>> burst_s(beats=501, first_s=100e-9, beat_s=0.2e-9) == 2 * burst_s(beats=1, first_s=100e-9, beat_s=0.2e-9)
    True

    Source: Dive into Deep Learning 13.4.
    """
    at_least("beats", beats, 1)
    return finite("burst_s", positive("first_s", first_s) + (beats - 1) * positive("beat_s", beat_s))


def burst_bytes_per_s(*, beats: int, width_bytes: float, first_s: float, beat_s: float) -> float:
    """The effective bandwidth of a burst over a bus of `width_bytes`: beats·width / (first + (beats−1)·beat).

    Raises as `burst_s` does, and for a width of 0 or below.

    >>> round(burst_bytes_per_s(beats=1, width_bytes=8, first_s=100e-9, beat_s=0.2e-9))  # a random read of 64 bits
    80000000

    Source: Dive into Deep Learning 13.4; hand calculation.
    """
    whole_s = burst_s(beats=beats, first_s=first_s, beat_s=beat_s)
    return finite("burst_bytes_per_s", beats * positive("width_bytes", width_bytes) / whole_s)


def burst_limit_bytes_per_s(*, width_bytes: float, beat_s: float) -> float:
    """What a burst comes close to as it gets longer, and never reaches while first > beat: width/beat. Raises as the burst does.

    >>> round(burst_limit_bytes_per_s(width_bytes=8, beat_s=0.2e-9) / GB)
    40

    Source: hand calculation.
    """
    return finite("burst_limit_bytes_per_s", positive("width_bytes", width_bytes) / positive("beat_s", beat_s))


def random_reads_per_s(*, first_s: float) -> float:
    """Reads a second when each one waits for its address: 1/first. Raises ValueError for a time of 0 or below.

    >>> round(random_reads_per_s(first_s=100e-9))
    10000000

    Source: Dive into Deep Learning 13.4.
    """
    return finite("random_reads_per_s", 1 / positive("first_s", first_s))


# Storage.


def revolution_s(*, revolutions_per_minute: float) -> float:
    """Seconds for one turn of a platter: 60/rpm; the longest wait for a sector. Raises ValueError for a speed of 0 or below.

    >>> round(revolution_s(revolutions_per_minute=7200), 5)
    0.00833

    Source: Dive into Deep Learning 13.4.
    """
    return finite("revolution_s", 60 / positive("revolutions_per_minute", revolutions_per_minute))


def read_records_s(
    *, records: int, record_bytes: float, iops: float, bytes_per_s: float, sequential: bool, queued: bool = False
) -> float:
    """Seconds to read n records: a·1/IOPS + n·bytes/bandwidth, with one access a = 1 in sequence, and a = n at random.

    One access at a time, each followed by its bytes; 0 without records. An SSD works on a queue of accesses, and the bytes of one
    come during the next: when `queued`, the time is the larger of the two instead of their sum.
    Raises ValueError for `records` below 0, for `record_bytes` negative or not finite, and for a rate of 0 or below.

    >>> read_records_s(records=1000, record_bytes=4e3, iops=100, bytes_per_s=0.2e9, sequential=False)  # 1000 · 10.02 ms
    10.02
    >>> read_records_s(records=10**4, record_bytes=4e3, iops=1e5, bytes_per_s=1e9, sequential=False, queued=True)
    0.1

    Source: Dive into Deep Learning 13.4 gives IOPS and bandwidth; the sum of the two, and the larger, are hand calculations.
    """
    at_least("records", records, 0)
    not_negative("record_bytes", record_bytes)
    positive("iops", iops)
    waits = (min(records, 1) if sequential else records) / iops
    data = records * move_s(size_bytes=record_bytes, bytes_per_s=bytes_per_s)
    return finite("read_records_s", max(waits, data) if queued else waits + data)


# Arithmetic.


@dataclass(frozen=True, kw_only=True, slots=True)
class Peak:
    """Something that computes, and how many FLOP a second it can at most. Raises ValueError as `Pipe` does."""

    name: str
    flop_per_s: float
    kind: Kind
    source: Source

    def __post_init__(self) -> None:
        positive(f"the rate of {self.name!r}", self.flop_per_s)
        _check_kind(self.name, self.kind)


V100_FP32 = Peak(name="V100, FP32", flop_per_s=15.7 * TFLOP, kind="vendor peak", source=V100_SHEET)
V100_TENSOR = Peak(name="V100, tensor cores", flop_per_s=125 * TFLOP, kind="vendor peak", source=V100_SHEET)

V100_CLOCK_PER_S = 1.53e9
"""Cycles a second, at boost (V100 white paper, table 1)."""


def fma_flop_per_s(*, units: int, fma_per_cycle: int, cycles_per_s: float) -> float:
    """What `units` units reach at most: 2 FLOP for each fused multiply-add, in each unit, in each cycle.

    Raises ValueError for `units` or `fma_per_cycle` below 1, and a clock of 0 or below.

    >>> fma_flop_per_s(units=1, fma_per_cycle=1, cycles_per_s=1.53e9)
    3060000000.0

    Source: hand calculation.
    """
    at_least("units", units, 1)
    at_least("fma_per_cycle", fma_per_cycle, 1)
    return finite("fma_flop_per_s", 2 * units * fma_per_cycle * positive("cycles_per_s", cycles_per_s))


def _v100(name: str, units: int, fma_per_cycle: int) -> Peak:
    rate = fma_flop_per_s(units=units, fma_per_cycle=fma_per_cycle, cycles_per_s=V100_CLOCK_PER_S)
    return Peak(name=name, flop_per_s=rate, kind="derived", source=V100_PAPER)


CORES = (
    _v100("one FP32 lane", 1, 1),
    _v100("SIMD: one processing block of 16 lanes", 16, 1),
    _v100("80 multiprocessors of 4 blocks: 5120 lanes", 5120, 1),
    _v100("640 tensor cores, each a 4×4×4 product a cycle", 640, 64),
)
"""From one scalar unit to tensor cores, all on one V100 at one clock: wider, then more, then made for matrices."""


XEON_CORES, XEON_FMA_UNITS, XEON_WIDTH, XEON_CLOCK_PER_S = 28, 2, 16, 2.5e9
"""A server CPU of the V100's year: cores, AVX-512 units in each, FP32 lanes in each of those, and cycles a second at base clock."""
XEON_FP32 = Peak(
    name="Xeon Platinum 8180, FP32",
    flop_per_s=fma_flop_per_s(units=XEON_CORES * XEON_FMA_UNITS * XEON_WIDTH, fma_per_cycle=1, cycles_per_s=XEON_CLOCK_PER_S),
    kind="derived",  # at base clock; a CPU lowers its clock under AVX-512
    source=XEON_SHEET,
)
XEON_CHANNELS, XEON_TRANSFERS_PER_S, DDR4_BYTES = 6, 2.666e9, 8
XEON_MEMORY = Pipe(
    name="Xeon Platinum 8180, six channels of DDR4-2666",
    bytes_per_s=XEON_CHANNELS * XEON_TRANSFERS_PER_S * DDR4_BYTES,
    kind="derived",
    source=XEON_SHEET,
)


def attainable_flop_per_s(*, flop_per_byte: float, peak_flop_per_s: float, bytes_per_s: float) -> float:
    """The roofline: min(peak, intensity·bandwidth). Arithmetic and memory overlap perfectly, and the slower one sets the pace.

    Raises ValueError for an intensity that is negative or not finite, and for a rate of 0 or below.

    >>> attainable_flop_per_s(flop_per_byte=1, peak_flop_per_s=15.7e12, bytes_per_s=900e9)
    900000000000.0

    Source: Williams, Waterman & Patterson 2009.
    """
    not_negative("flop_per_byte", flop_per_byte)
    return min(positive("peak_flop_per_s", peak_flop_per_s), flop_per_byte * positive("bytes_per_s", bytes_per_s))


def ridge_flop_per_byte(*, peak_flop_per_s: float, bytes_per_s: float) -> float:
    """The intensity from which arithmetic, not memory, is the limit: peak/bandwidth. Raises ValueError for a rate of 0 or below.

    >>> round(ridge_flop_per_byte(peak_flop_per_s=15.7e12, bytes_per_s=900e9), 1)
    17.4

    Source: Williams, Waterman & Patterson 2009.
    """
    return finite("ridge_flop_per_byte", positive("peak_flop_per_s", peak_flop_per_s) / positive("bytes_per_s", bytes_per_s))


def matmul_flop_per_byte(*, n: int, element_bytes: float) -> float:
    """The intensity of an n×n matrix product: 2n³ FLOP over 3n² elements, each moved once: 2n/(3·bytes).

    A cache that holds all three matrices is assumed; without one the intensity is less.
    Raises ValueError for `n` below 1, and an element of 0 bytes or less.

    >>> matmul_flop_per_byte(n=4096, element_bytes=4)
    682.6666666666666

    Source: hand calculation.
    """
    at_least("n", n, 1)
    return finite("matmul_flop_per_byte", 2 * n / finite("3 * element_bytes", 3 * positive("element_bytes", element_bytes)))


def elementwise_flop_per_byte(*, element_bytes: float, flop: float = 1, reads: int = 2, writes: int = 1) -> float:
    """The intensity of an operation on each element, whatever the size: flop/((reads + writes)·bytes); z = x + y by default.

    Raises ValueError for an element of 0 bytes or less, for `flop` negative or not finite, `reads` below 0 or `writes` below 1.

    >>> elementwise_flop_per_byte(element_bytes=4) == 1 / 12
    True

    Source: hand calculation.
    """
    not_negative("flop", flop)
    moved = at_least("reads", reads, 0) + at_least("writes", writes, 1)
    moved_bytes = finite("(reads + writes) * element_bytes", moved * positive("element_bytes", element_bytes))
    return finite("elementwise_flop_per_byte", flop / moved_bytes)
