"""Act 4: pipes, bursts, disks and the roofline, by hand from the figures of Dive into Deep Learning 13.4 and 13.7 and data sheets.

The checks of the right values return what differs, so that the last test can plant a fault and see it reported.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perfmodel import hardware
from perfmodel.hardware import Peak, Pipe
from perfmodel.sources import D2L_HARDWARE
from verify.asserts import refuses

steady = settings(derandomize=True, deadline=None, max_examples=100)
MB, GB, GBIT = 1e6, 1e9, 1e9 / 8  # typed here, not imported: expected values come from outside the code
NAN, INF = math.nan, math.inf
DRAM = {"first_s": 100e-9, "beat_s": 0.2e-9}
V100 = {"peak_flop_per_s": 15.7e12, "bytes_per_s": 900 * GB}
from_disk = partial(hardware.read_records_s, iops=100.0, bytes_per_s=0.2 * GB)


def right_values() -> list[tuple[str, float, float]]:
    """What, what the model says, and what it must be."""
    h = hardware
    rows = [
        ("four PCIe 4.0 lanes", h.lanes_bytes_per_s(lanes=4, lane_bytes_per_s=16 * GBIT), 8 * GB),  # 4 · 16 / 8
        ("NVLink, one way", h.one_way_bytes_per_s(both_ways_bytes_per_s=300 * GBIT), 18.75 * GB),  # 300 / 2 / 8
        ("100 GbE at line rate", h.ETHERNET_LINE.bytes_per_s, 12.5 * GB),  # 100 / 8
        ("GPU memory to Ethernet", h.GPU_MEMORY.bytes_per_s / h.ETHERNET.bytes_per_s, 50),  # 500 / 10
        # A burst: 100 ns, then 0.2 ns a beat, 8 bytes a beat.
        ("one word", h.burst_s(beats=1, **DRAM), 100e-9),
        ("first against each further word", DRAM["first_s"] / (h.burst_s(beats=2, **DRAM) - h.burst_s(beats=1, **DRAM)), 500),
        ("random reads a second", h.random_reads_per_s(first_s=100e-9), 1e7),
        ("random words", h.burst_bytes_per_s(beats=1, width_bytes=8, **DRAM), 0.08 * GB),  # 8 B / 100 ns
        ("501 words: half of the limit, but for one beat", h.burst_bytes_per_s(beats=501, width_bytes=8, **DRAM), 501 * 8 / 200e-9),
        ("the limit of a 64-bit bus", h.burst_limit_bytes_per_s(width_bytes=8, beat_s=0.2e-9), 40 * GB),  # 8 B / 0.2 ns
        # Disks.
        ("a turn at 7200 rpm", h.revolution_s(revolutions_per_minute=7200), 1 / 120),  # 60 / 7200 = 8.33 ms
        ("a turn at 10,000 rpm", h.revolution_s(revolutions_per_minute=10_000), 6e-3),
        # 1000 records of 4 KB on a disk of 100 IOPS, 0.2 GB/s: 10 ms and 20 µs each; in sequence 10 ms, then 4 MB in 20 ms.
        ("records at random", from_disk(records=1000, record_bytes=4e3, sequential=False), 10.02),
        ("records in sequence", from_disk(records=1000, record_bytes=4e3, sequential=True), 0.03),
        # The same on an SSD of 500,000 IOPS and 8 GB/s: 2 µs and 0.5 µs each.
        (
            "records on an SSD",
            h.read_records_s(records=1000, record_bytes=4e3, iops=5e5, bytes_per_s=8 * GB, sequential=False),
            2.5e-3,
        ),
        # With many under way the 2 µs count alone; on one of 0.5 GB/s the 8 µs of its bytes do.
        (
            "queued on an SSD",
            h.read_records_s(records=1000, record_bytes=4e3, iops=5e5, bytes_per_s=8 * GB, sequential=False, queued=True),
            2e-3,
        ),
        (
            "queued on a narrow one",
            h.read_records_s(records=1000, record_bytes=4e3, iops=5e5, bytes_per_s=0.5 * GB, sequential=False, queued=True),
            8e-3,
        ),
        ("no records", from_disk(records=0, record_bytes=4e3, sequential=True), 0),
        # The roofline of a V100: 15.7 TFLOP/s over 0.9 TB/s.
        ("ridge", h.ridge_flop_per_byte(**V100), 15.7 / 0.9),  # 17.44
        ("ridge of its tensor cores", h.ridge_flop_per_byte(peak_flop_per_s=125e12, bytes_per_s=900 * GB), 125 / 0.9),  # 138.9
        ("z = x + y in FP32", h.elementwise_flop_per_byte(element_bytes=4), 1 / 12),  # 1 FLOP, 3 · 4 bytes
        ("z = x + y attains", h.attainable_flop_per_s(flop_per_byte=1 / 12, **V100), 75e9),  # 900 / 12 GFLOP/s
        ("ReLU in FP16", h.elementwise_flop_per_byte(element_bytes=2, reads=1), 1 / 4),
        ("4096² matmul in FP32", h.matmul_flop_per_byte(n=4096, element_bytes=4), 8192 / 12),  # 2 · 4096 / (3 · 4)
        ("4096² matmul attains", h.attainable_flop_per_s(flop_per_byte=8192 / 12, **V100), 15.7e12),
        ("one lane", h.CORES[0].flop_per_s, 3.06e9),  # 2 · 1.53 GHz
        ("16 lanes", h.CORES[1].flop_per_s, 48.96e9),
    ]
    milliseconds = {
        "GPU memory": 0.32,
        "CPU memory": 1.6,
        "PCIe 4.0 ×16": 5,
        "PCIe 3.0 ×16": 10,
        "NVMe": 20,
        "100 GbE": 16,
        "HDD": 800,
    }
    for pipe in h.PIPES:
        rows.append(
            (
                f"160 MB through {pipe.name}",
                h.move_s(size_bytes=160 * MB, bytes_per_s=pipe.bytes_per_s),
                milliseconds[pipe.name] / 1e3,
            )
        )
    return rows


def faults() -> list[str]:
    return [f"{what}: {seen}, not {right}" for what, seen, right in right_values() if not math.isclose(seen, right, rel_tol=1e-12)]


def test_right_values() -> None:
    assert faults() == []
    assert len(hardware.PIPES) == 7


def test_cores_against_the_data_sheet() -> None:
    # The data sheet rounds what lanes, clock and tensor cores give: 5120 · 2 · 1.53 GHz = 15.67 TFLOP/s, printed as 15.7;
    # 640 · 64 · 2 · 1.53 GHz = 125.3 TFLOP/s, printed as 125.
    many, tensor = hardware.CORES[2:]
    assert f"{many.flop_per_s / 1e12:.1f}" == "15.7" == f"{hardware.V100_FP32.flop_per_s / 1e12}"
    assert f"{tensor.flop_per_s / 1e12:.0f}" == "125" == f"{hardware.V100_TENSOR.flop_per_s / 1e12:.0f}"
    rates = [peak.flop_per_s for peak in hardware.CORES]
    assert [round(b / a) for a, b in pairwise(rates)] == [16, 320, 8]  # wider, more, made for matrices


def test_every_record_says_where_it_is_from() -> None:
    records: list[Pipe | Peak] = [*hardware.PIPES, hardware.ETHERNET_LINE, hardware.V100_MEMORY]
    records += [*hardware.CORES, hardware.V100_FP32, hardware.V100_TENSOR]
    assert all(record.source.title and record.source.url and record.source.place for record in records)
    assert {record.kind for record in records} <= set(hardware.KINDS)
    assert len({record.name for record in records}) == len(records)


# Properties.

sizes, rates = st.floats(1, 1e12), st.floats(1e3, 1e13)
durations = st.floats(1e-12, 1e-3)


@steady
@given(st.integers(1, 10**6), durations, durations, st.integers(1, 64))
def test_longer_bursts_come_closer_to_the_limit(beats: int, first_s: float, beat_s: float, width: int) -> None:
    first_s = max(first_s, beat_s)
    line = {"width_bytes": width, "first_s": first_s, "beat_s": beat_s}
    shorter = hardware.burst_bytes_per_s(beats=beats, **line)
    longer = hardware.burst_bytes_per_s(beats=beats + 1, **line)
    limit = hardware.burst_limit_bytes_per_s(width_bytes=width, beat_s=beat_s)
    assert shorter <= longer * (1 + 1e-12) <= limit * (1 + 1e-9)


@steady
@given(st.integers(0, 10**5), st.floats(0, 1e9), st.floats(1, 1e6), rates)
def test_reading_in_sequence_never_takes_longer(records: int, size: float, iops: float, rate: float) -> None:
    read = partial(hardware.read_records_s, records=records, record_bytes=size, iops=iops, bytes_per_s=rate)
    one, other = read(sequential=True), read(sequential=False)
    assert one <= other
    assert records != 1 or one == other
    queued = read(sequential=False, queued=True)
    assert queued == pytest.approx(max(records / iops, records * size / rate), rel=1e-12)
    assert queued <= other <= 2 * queued * (1 + 1e-12)


@steady
@given(st.floats(0, 1e6), rates, rates)
def test_the_roof(intensity: float, peak: float, rate: float) -> None:
    roof = {"peak_flop_per_s": peak, "bytes_per_s": rate}
    attained = hardware.attainable_flop_per_s(flop_per_byte=intensity, **roof)
    ridge = hardware.ridge_flop_per_byte(**roof)
    assert attained <= peak
    assert math.isclose(hardware.attainable_flop_per_s(flop_per_byte=ridge, **roof), peak)
    assert math.isclose(attained, peak if intensity >= ridge else intensity * rate)
    # By another road: the time of a FLOP is the larger of its arithmetic and its bytes.
    assert intensity == 0 or math.isclose(1 / attained, max(1 / peak, 1 / (intensity * rate)))


# Bad input: the rule, then the value.

SOURCE = D2L_HARDWARE
BAD: list[tuple[Callable[..., Any], dict[str, Any], dict[str, Any], str]] = []


def bad(function: Callable[..., Any], good: dict[str, Any], *cases: tuple[dict[str, Any], str]) -> None:
    BAD.extend((function, good, changes, message) for changes, message in cases)


bad(Pipe, {"name": "p", "bytes_per_s": 1.0, "kind": "assumed", "source": SOURCE},
    ({"bytes_per_s": 0}, "the rate of 'p' must be a finite number above 0, got 0"),
    ({"bytes_per_s": NAN}, "the rate of 'p' must be a finite number above 0, got nan"),
    ({"kind": "guess"}, "the kind of 'p' must be one of vendor peak, measured, derived, assumed, got 'guess'"))  # fmt: skip
bad(Peak, {"name": "p", "flop_per_s": 1.0, "kind": "assumed", "source": SOURCE},
    ({"flop_per_s": -1}, "the rate of 'p' must be a finite number above 0, got -1"),
    ({"kind": ""}, "the kind of 'p' must be one of vendor peak, measured, derived, assumed, got ''"))  # fmt: skip
bad(hardware.move_s, {"size_bytes": 1.0, "bytes_per_s": 1.0},
    ({"size_bytes": -1}, "size_bytes must be a finite number of at least 0, got -1"),
    ({"bytes_per_s": 0}, "bytes_per_s must be a finite number above 0, got 0"),
    ({"bytes_per_s": INF}, "bytes_per_s must be a finite number above 0, got inf"))  # fmt: skip
bad(hardware.lanes_bytes_per_s, {"lanes": 4, "lane_bytes_per_s": 1.0},
    ({"lanes": 0}, "lanes must be a whole number of at least 1, got 0"),
    ({"lane_bytes_per_s": -1}, "lane_bytes_per_s must be a finite number above 0, got -1"))  # fmt: skip
bad(
    hardware.one_way_bytes_per_s, {}, ({"both_ways_bytes_per_s": 0}, "both_ways_bytes_per_s must be a finite number above 0, got 0")
)
bad(hardware.burst_bytes_per_s, {"beats": 1, "width_bytes": 8, **DRAM},
    ({"beats": 0}, "beats must be a whole number of at least 1, got 0"),
    ({"beats": 1.5}, "beats must be a whole number of at least 1, got 1.5"),
    ({"first_s": 0}, "first_s must be a finite number above 0, got 0"),
    ({"beat_s": NAN}, "beat_s must be a finite number above 0, got nan"),
    ({"width_bytes": 0}, "width_bytes must be a finite number above 0, got 0"))  # fmt: skip
bad(
    hardware.burst_limit_bytes_per_s,
    {"width_bytes": 8, "beat_s": 1.0},
    ({"beat_s": 0}, "beat_s must be a finite number above 0, got 0"),
)
bad(hardware.random_reads_per_s, {}, ({"first_s": 0}, "first_s must be a finite number above 0, got 0"))
bad(hardware.revolution_s, {}, ({"revolutions_per_minute": 0}, "revolutions_per_minute must be a finite number above 0, got 0"))
bad(hardware.read_records_s, {"records": 0, "record_bytes": 1, "sequential": True, "iops": 100.0, "bytes_per_s": 0.2 * GB},
    ({"records": -1}, "records must be a whole number of at least 0, got -1"),
    ({"record_bytes": -1}, "record_bytes must be a finite number of at least 0, got -1"),
    ({"iops": 0}, "iops must be a finite number above 0, got 0"),
    ({"bytes_per_s": 0}, "bytes_per_s must be a finite number above 0, got 0"))  # fmt: skip
bad(hardware.fma_flop_per_s, {"units": 1, "fma_per_cycle": 1, "cycles_per_s": 1.0},
    ({"units": 0}, "units must be a whole number of at least 1, got 0"),
    ({"fma_per_cycle": 0}, "fma_per_cycle must be a whole number of at least 1, got 0"),
    ({"cycles_per_s": 0}, "cycles_per_s must be a finite number above 0, got 0"))  # fmt: skip
bad(hardware.attainable_flop_per_s, {"flop_per_byte": 1.0, **V100},
    ({"flop_per_byte": -1}, "flop_per_byte must be a finite number of at least 0, got -1"),
    ({"peak_flop_per_s": 0}, "peak_flop_per_s must be a finite number above 0, got 0"),
    ({"bytes_per_s": NAN}, "bytes_per_s must be a finite number above 0, got nan"))  # fmt: skip
bad(hardware.ridge_flop_per_byte, {**V100}, ({"bytes_per_s": 0}, "bytes_per_s must be a finite number above 0, got 0"))
bad(hardware.matmul_flop_per_byte, {"n": 4, "element_bytes": 4},
    ({"n": 0}, "n must be a whole number of at least 1, got 0"),
    ({"element_bytes": 0}, "element_bytes must be a finite number above 0, got 0"))  # fmt: skip
bad(hardware.elementwise_flop_per_byte, {"element_bytes": 4},
    ({"element_bytes": -4}, "element_bytes must be a finite number above 0, got -4"),
    ({"flop": NAN}, "flop must be a finite number of at least 0, got nan"),
    ({"reads": -1}, "reads must be a whole number of at least 0, got -1"),
    ({"writes": 0}, "writes must be a whole number of at least 1, got 0"))  # fmt: skip


@pytest.mark.parametrize(("function", "good", "changes", "message"), BAD)
def test_bad_input(function: Callable[..., Any], good: dict[str, Any], changes: dict[str, Any], message: str) -> None:
    with refuses(message):
        function(**{**good, **changes})


# The right values see a fault.

PLANTS: dict[str, tuple[str, Callable[..., Any]]] = {
    "bits for bytes": ("lanes_bytes_per_s", lambda lanes, lane_bytes_per_s: 8 * lanes * lane_bytes_per_s),
    "both directions for one": ("one_way_bytes_per_s", lambda both_ways_bytes_per_s: both_ways_bytes_per_s),
    "the first word is free of its beat": ("burst_s", lambda beats, first_s, beat_s: first_s + beats * beat_s),
    "half a turn": ("revolution_s", lambda revolutions_per_minute: 30 / revolutions_per_minute),
    "an access for each record in sequence": (
        "read_records_s",
        lambda records, record_bytes, iops, bytes_per_s, sequential, queued=False: records * (1 / iops + record_bytes / bytes_per_s),
    ),
    "no peak": ("attainable_flop_per_s", lambda flop_per_byte, peak_flop_per_s, bytes_per_s: flop_per_byte * bytes_per_s),
    "a multiply-add as one FLOP": ("matmul_flop_per_byte", lambda n, element_bytes: n / (3 * element_bytes)),
    "results that are not written": ("elementwise_flop_per_byte", lambda element_bytes, reads=2: 1 / (reads * element_bytes)),
    "a slip of a factor of a thousand": ("move_s", lambda size_bytes, bytes_per_s: size_bytes / bytes_per_s / 1000),
}  # fmt: skip


@pytest.mark.parametrize("plant", PLANTS)
def test_a_planted_fault_is_reported(plant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, planted = PLANTS[plant]
    monkeypatch.setattr(hardware, name, planted)
    assert faults(), plant
