"""The latency ladder: how long things take, from a cache hit to a packet across an ocean.

The times and notes are Eliot Eshelman's, as Dive into Deep Learning 13.4 reprints them. Nothing here rounds or words a time:
`rescale` is a division, and `perfmodel.wording.feels_like` puts it in words.

>>> LADDER[0].action, round(slowest_to_fastest())
('L1 cache hit', 100000000)
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from perfmodel.sources import Source
from perfmodel.units import MS, NS, US, finite, not_negative, positive

Group = Literal["cpu", "gpu", "memory", "bus", "storage", "network"]
GROUPS: tuple[Group, ...] = ("cpu", "gpu", "memory", "bus", "storage", "network")

ESHELMAN = Source(
    title="Latency numbers, a GitHub gist",
    authors="Eliot Eshelman",
    url="https://gist.github.com/eshelman/343a1c46cb3fba142c1afdcdeec17646",
    place="as reprinted in Dive into Deep Learning, section 13.4",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Latency:
    """One rung: what is done, how long it takes, and whether the lab shows it. `note` is the author's.

    Raises ValueError for a time not above 0, an id that is no identifier, and an unknown group.
    """

    id: str
    action: str
    seconds: float
    group: Group
    in_lab: bool
    note: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.id, str) or not self.id.isidentifier():
            raise ValueError(f"an id must be letters, digits and _, got {self.id!r}")
        positive(f"the time of {self.id!r}", self.seconds)
        if self.group not in GROUPS:
            raise ValueError(f"a group must be one of {', '.join(GROUPS)}, got {self.group!r}")


def _row(id: str, action: str, seconds: float, group: Group, note: str = "", *, in_lab: bool = True) -> Latency:
    return Latency(id=id, action=action, seconds=seconds, group=group, in_lab=in_lab, note=note)


_TINYMEMBENCH = "TinyMemBench on Broadwell E5-2690v4"
_OPTANE = "UCSD Non-Volatile Systems Lab"

LADDER: tuple[Latency, ...] = (
    _row("l1", "L1 cache hit", 1.5 * NS, "cpu", "4 cycles"),
    _row("fma", "Float add / multiply / FMA", 1.5 * NS, "cpu", "4 cycles"),
    _row("l2", "L2 cache hit", 5 * NS, "cpu", "12-17 cycles"),
    _row("branch", "Branch mispredict", 6 * NS, "cpu", "15-20 cycles"),
    _row("l3", "L3 cache hit (unshared)", 16 * NS, "cpu", "42 cycles"),
    _row("l3_shared", "L3 cache hit (shared in another core)", 25 * NS, "cpu", "65 cycles", in_lab=False),
    _row("mutex", "Mutex lock/unlock", 25 * NS, "cpu"),
    _row("l3_modified", "L3 cache hit (modified in another core)", 29 * NS, "cpu", "75 cycles", in_lab=False),
    _row("gpu_shared", "GPU shared memory access", 30 * NS, "gpu", "30-90 cycles; bank conflicts add latency"),
    _row("l3_remote", "L3 cache hit (on a remote CPU socket)", 40 * NS, "cpu", "100-300 cycles (40-116 ns)", in_lab=False),
    _row("qpi", "QPI hop to another CPU (per hop)", 40 * NS, "cpu", in_lab=False),
    _row("ram_local_64", "Memory ref. (local CPU, 64 MB)", 46 * NS, "memory", _TINYMEMBENCH),
    _row("ram_remote_64", "Memory ref. (remote socket, 64 MB)", 70 * NS, "memory", _TINYMEMBENCH),
    _row("ram_local_256", "Memory ref. (local CPU, 256 MB)", 75 * NS, "memory", _TINYMEMBENCH, in_lab=False),
    _row("optane_write", "Intel Optane random write", 94 * NS, "storage", _OPTANE, in_lab=False),
    _row("ram_remote_256", "Memory ref. (remote socket, 256 MB)", 120 * NS, "memory", _TINYMEMBENCH, in_lab=False),
    _row("gpu_global", "GPU global memory access", 200 * NS, "gpu", "200-800 cycles"),
    _row("optane_read", "Intel Optane random read", 305 * NS, "storage", _OPTANE),
    _row("fabric_4k", "Send 4 KB over 100 Gbps fabric", 1 * US, "network", "MVAPICH2 over Intel Omni-Path"),
    _row("snappy_1k", "Compress 1 KB (Google Snappy)", 3 * US, "cpu"),
    _row("launch", "Launch a CUDA kernel", 10 * US, "gpu", "host CPU instructs the GPU to start a kernel"),
    _row("ethernet_4k", "Send 4 KB over 10 Gbps Ethernet", 10 * US, "network"),
    _row("nvme_write_4k", "Write 4 KB randomly (NVMe SSD)", 30 * US, "storage", "DC P3608; QoS 99% is 500 us", in_lab=False),
    _row("nvlink_1m", "Transfer 1 MB over NVLink", 30 * US, "bus", "about 33 GB/s on NVIDIA 40 GB NVLink"),
    _row("pcie_1m", "Transfer 1 MB over PCIe", 80 * US, "bus", "about 12 GB/s on a PCIe 3.0 x16 link"),
    _row("nvme_read_4k", "Read 4 KB randomly (NVMe SSD)", 120 * US, "storage", "DC P3608; QoS 99%"),
    _row("nvme_read_1m", "Read 1 MB sequentially (NVMe SSD)", 208 * US, "storage", "about 4.8 GB/s DC P3608"),
    _row("sata_write_4k", "Write 4 KB randomly (SATA SSD)", 500 * US, "storage", "DC S3510; QoS 99.9%", in_lab=False),
    _row("sata_read_4k", "Read 4 KB randomly (SATA SSD)", 500 * US, "storage", "DC S3510; QoS 99.9%"),
    _row("rtt_datacenter", "Round trip in the same datacenter", 500 * US, "network", "one-way ping about 250 us"),
    _row("sata_read_1m", "Read 1 MB sequentially (SATA SSD)", 2 * MS, "storage", "about 550 MB/s DC S3510", in_lab=False),
    _row("disk_read_1m", "Read 1 MB sequentially (disk)", 5 * MS, "storage", "about 200 MB/s server HDD"),
    _row("hdd_random", "HDD random access (seek + rotation)", 10 * MS, "storage"),
    _row("packet", "Packet CA -> Netherlands -> CA", 150 * MS, "network"),
)
"""Every rung, fastest first."""

BY_ID = MappingProxyType({row.id: row for row in LADDER})


def rescale(seconds: float, reference_s: float) -> float:
    """How long `seconds` would feel if `reference_s` took one second: their quotient.

    Raises ValueError for times that are negative or not finite, the quotient too, and for a reference of 0.

    >>> rescale(5e-3, 2.5e-3)
    2.0
    """
    return finite("rescale", not_negative("seconds", seconds) / positive("reference_s", reference_s))


def rescaled(reference: str) -> dict[str, float]:
    """Every rung by its id, in seconds, if the rung `reference` took one second. Raises ValueError for an unknown id.

    >>> rescaled("l1")["l1"], round(rescaled("hdd_random")["l1"] / 1e-9)
    (1.0, 150)
    """
    if reference not in tuple(BY_ID):
        raise ValueError(f"a reference must be one of {', '.join(BY_ID)}; got {reference!r}")
    return {row.id: rescale(row.seconds, BY_ID[reference].seconds) for row in LADDER}


def slowest_to_fastest() -> float:
    """How many times as long the slowest rung takes as the fastest: the spread of the ladder.

    >>> round(slowest_to_fastest())  # 150 ms / 1.5 ns
    100000000
    """
    return rescale(max(row.seconds for row in LADDER), min(row.seconds for row in LADDER))
