"""Act 4 · The iron underneath: pipes, memory, disks, arithmetic, the ladder, and the slips of the book's section."""

from __future__ import annotations

from perfmodel import hardware
from perfmodel.book.ledger import LEDGER
from perfmodel.hardware import ROOFLINE, V100_PAPER, V100_SHEET
from perfmodel.ladder import BY_ID, ESHELMAN, LADDER, rescale, slowest_to_fastest
from perfmodel.launch import launch_bound_s
from perfmodel.number import Number
from perfmodel.sources import D2L_HARDWARE, D2L_PARAMETER_SERVERS, HERE, SITE
from perfmodel.units import GB, GBIT, KB, MB, MS, NS, US, B, S

_given, _model = LEDGER.given, LEDGER.model

HARDWARE_MODEL = SITE.at("cost model, after Dive into Deep Learning 13.4")

# The machine as pipes, from the widest to the narrowest, each with the time that 160 MB take.
_S = _given("pipes.size", 160 * MB, "MB", "what is moved through each pipe: the gradients of act 6", D2L_PARAMETER_SERVERS)
PIPES: dict[str, hardware.Pipe] = {
    "gpu_memory": hardware.GPU_MEMORY, "cpu_memory": hardware.CPU_MEMORY, "pcie4": hardware.PCIE_4, "pcie3": hardware.PCIE_3,
    "ethernet": hardware.ETHERNET, "nvme": hardware.NVME, "hdd": hardware.HDD,
}  # fmt: skip
"""The pipes by the names of their numbers: `pipes.hdd` is a rate, `pipes.hdd_time` what 160 MB take."""
_pipes: dict[str, Number] = {}
for _name, _pipe in PIPES.items():
    _pipes[_name] = _given(f"pipes.{_name}", _pipe.bytes_per_s, "GB/s", f"what {_pipe.name} carries", _pipe.source)
    _model(f"pipes.{_name}_time", hardware.move_s(size_bytes=_S.value, bytes_per_s=_pipe.bytes_per_s), "ms",
           f"160 MB through {_pipe.name}", HARDWARE_MODEL, "S/B", S=_S, B=_pipes[_name])  # fmt: skip
_lanes = _given("pipes.nvme_lanes", 4, "", "the PCIe 4.0 lanes of an NVMe drive", D2L_HARDWARE)
_lane = _given("pipes.lane", 16 * GBIT, "Gbit/s", "what one PCIe 4.0 lane carries each way", D2L_HARDWARE)
_model("pipes.four_lanes", hardware.lanes_bytes_per_s(lanes=int(_lanes.value), lane_bytes_per_s=_lane.value), "GB/s",
       "what four PCIe 4.0 lanes carry each way", D2L_HARDWARE, "n*B", n=_lanes, B=_lane)  # fmt: skip

# Memory: a wait for the address, then a word a beat.
_first = _given("memory.first", 100 * NS, "ns", "the time until the first word of a read from memory is there", D2L_HARDWARE)
_beat = _given("memory.beat", 0.2 * NS, "ns", "the time for every word that follows it in a burst", D2L_HARDWARE)
_word = _given("memory.word", 8 * B, "B", "one word: what a 64-bit bus carries at once", D2L_HARDWARE)
_long = _given("memory.words", 501, "", "the words of a long burst", HERE)
_model("memory.ratio", _first.value / _beat.value, "×", "the first word of a read against each one that follows", D2L_HARDWARE,
       "a/b", a=_first, b=_beat)  # fmt: skip
_model("memory.random", hardware.random_reads_per_s(first_s=_first.value), "IOPS", "random reads a second, one after the other", D2L_HARDWARE,
       "1/a", a=_first)  # fmt: skip
_burst = {"width_bytes": _word.value, "first_s": _first.value, "beat_s": _beat.value}
_model("memory.random_rate", hardware.burst_bytes_per_s(beats=1, **_burst), "GB/s", "the bandwidth of reading single words at random", HARDWARE_MODEL,
       "w/a", w=_word, a=_first)  # fmt: skip
_model("memory.burst", hardware.burst_s(beats=int(_long.value), first_s=_first.value, beat_s=_beat.value), "ns", "one burst of 501 words",
       HARDWARE_MODEL, "a + (n-1)*b", n=_long, a=_first, b=_beat)  # fmt: skip
_model("memory.burst_rate", hardware.burst_bytes_per_s(beats=int(_long.value), **_burst), "GB/s", "the bandwidth of bursts of 501 words",
       HARDWARE_MODEL, "n*w/(a + (n-1)*b)", n=_long, w=_word, a=_first, b=_beat)  # fmt: skip
_limit = _model("memory.limit", hardware.burst_limit_bytes_per_s(width_bytes=_word.value, beat_s=_beat.value), "GB/s",
                "what longer and longer bursts come close to", HARDWARE_MODEL, "w/b", w=_word, b=_beat)  # fmt: skip

# Disks: a hard disk waits for each access, then come its bytes; an SSD has many accesses under way.
_sixty = _given("disk.minute", 60 * S, "s", "a minute", HERE)
_rpm = _given("disk.turns", 7200, "", "the turns of a hard disk in a minute", D2L_HARDWARE)
_model("disk.turn", hardware.revolution_s(revolutions_per_minute=_rpm.value), "ms", "one turn of the platter", D2L_HARDWARE,
       "T/n", T=_sixty, n=_rpm)  # fmt: skip
_hdd_iops = _given("disk.hdd", 100, "IOPS", "accesses a second of a hard disk", D2L_HARDWARE)
_access = _model("disk.access", 1 / _hdd_iops.value, "ms", "one access of a hard disk", D2L_HARDWARE, "1/f", f=_hdd_iops)
_given("disk.hdd_low", 100 * MB, "MB/s", "the bandwidth of a hard disk, at the low end; pipes.hdd is the high end", D2L_HARDWARE)
_ssd_iops = _given("disk.ssd", 100_000, "IOPS", "accesses a second of a modern SSD, at the low end", D2L_HARDWARE)
_ssd_fast = _given("disk.ssd_fast", 500_000, "IOPS", "accesses a second of a modern SSD, at the high end", D2L_HARDWARE)
_ssd_rate = _given("disk.ssd_rate", 1 * GB, "GB/s", "the bandwidth of a modern SSD, at the low end", D2L_HARDWARE)
_ssd_fast_rate = _given("disk.ssd_fast_rate", 3 * GB, "GB/s", "the bandwidth of a modern SSD, at the high end", D2L_HARDWARE)
_records = _given("disk.records", 10_000, "", "the records of the example", HERE)
_size = _given("disk.record", 4 * KB, "KB", "the size of one record", HERE)
_model("disk.waits", _records.value / _hdd_iops.value, "s", "the accesses of a hard disk alone, one for each record", HARDWARE_MODEL,
       "n/f", n=_records, f=_hdd_iops)  # fmt: skip
_model("disk.data", _records.value * _size.value, "MB", "all records together", HARDWARE_MODEL, "n*s", n=_records, s=_size)
_model("disk.bytes", hardware.move_s(size_bytes=_records.value * _size.value, bytes_per_s=_pipes["hdd"].value), "s",
       "the bytes of all records alone, from a hard disk", HARDWARE_MODEL, "n*s/B", n=_records, s=_size, B=_pipes["hdd"])  # fmt: skip
_random, _queued = "n/f + n*s/B", "max(n/f, n*s/B)"


def _read(iops: Number, rate: Number, *, sequential: bool = False, queued: bool = False) -> float:
    return hardware.read_records_s(
        records=int(_records.value), record_bytes=_size.value, iops=iops.value, bytes_per_s=rate.value, sequential=sequential, queued=queued,
    )  # fmt: skip


_hdd = _pipes["hdd"]
_model("disk.hdd_random", _read(_hdd_iops, _hdd), "s", "the records at random places of a hard disk", HARDWARE_MODEL,
       _random, n=_records, f=_hdd_iops, s=_size, B=_hdd)  # fmt: skip
_model("disk.hdd_sequential", _read(_hdd_iops, _hdd, sequential=True), "s", "the records one after the other on a hard disk", HARDWARE_MODEL,
       "1/f + n*s/B", n=_records, f=_hdd_iops, s=_size, B=_hdd)  # fmt: skip
_model("disk.ssd_random", _read(_ssd_iops, _ssd_rate, queued=True), "s", "the records at random places of an SSD, at the low end", HARDWARE_MODEL,
       _queued, n=_records, f=_ssd_iops, s=_size, B=_ssd_rate)  # fmt: skip
_model("disk.ssd_fast_random", _read(_ssd_fast, _ssd_fast_rate, queued=True), "s", "the same at the high end", HARDWARE_MODEL,
       _queued, n=_records, f=_ssd_fast, s=_size, B=_ssd_fast_rate)  # fmt: skip

# Arithmetic: one GPU, from a single lane to its tensor cores.
_one, _simd, _all, _tensor = hardware.CORES
_clock = _given("v100.clock", hardware.V100_CLOCK_PER_S, "", "the cycles of a V100 in a second, at boost", V100_PAPER)
_lane_rate = _model("v100.lane", _one.flop_per_s, "GFLOP/s", "one FP32 lane of a V100: a multiply and an add in each cycle", V100_PAPER,
                    "2*f", f=_clock)  # fmt: skip
_width = _given("v100.width", 16, "", "the FP32 lanes of a processing block, driven by one instruction", V100_PAPER)
_blocks = _given("v100.blocks", 4, "", "the processing blocks of a multiprocessor", V100_PAPER)
_sms = _given("v100.multiprocessors", 80, "", "the multiprocessors of a V100", V100_PAPER)
_tensor_each = _given("v100.tensor_each", 8, "", "the tensor cores of a multiprocessor", V100_PAPER)
_tensors = _model("v100.tensor_cores", _sms.value * _tensor_each.value, "", "the tensor cores of a V100", V100_PAPER,
                  "m*c", m=_sms, c=_tensor_each)  # fmt: skip
_products = _given(
    "v100.products", 64, "", "the multiply-adds of one tensor core in one cycle: a product of two small square matrices", V100_PAPER
)
_model(
    "v100.lanes",
    _sms.value * _blocks.value * _width.value,
    "",
    "all FP32 lanes of a V100",
    V100_PAPER,
    "m*k*w",
    m=_sms,
    k=_blocks,
    w=_width,
)
_model("v100.block", _simd.flop_per_s, "GFLOP/s", "one processing block: as many lanes, one instruction", V100_PAPER,
       "w*r", w=_width, r=_lane_rate)  # fmt: skip
_model("v100.all_lanes", _all.flop_per_s, "TFLOP/s", "all FP32 lanes of a V100 at once", V100_PAPER,
       "m*k*w*r", m=_sms, k=_blocks, w=_width, r=_lane_rate)  # fmt: skip
_model("v100.all_tensor_cores", _tensor.flop_per_s, "TFLOP/s", "all tensor cores of a V100 at once", V100_PAPER,
       "n*p*r", n=_tensors, p=_products, r=_lane_rate)  # fmt: skip

_peak = _given("roofline.peak", hardware.V100_FP32.flop_per_s, "TFLOP/s", "the FP32 peak of a V100", V100_SHEET)
_tensor_peak = _given(
    "roofline.tensor_peak",
    hardware.V100_TENSOR.flop_per_s,
    "TFLOP/s",
    "the tensor-core peak of a V100, for FP16 inputs",
    V100_SHEET,
)
_rate = _given("roofline.memory", hardware.V100_MEMORY.bytes_per_s, "GB/s", "the memory bandwidth of a V100", V100_SHEET)
_fp32 = _given("roofline.fp32", 4 * B, "B", "one FP32 number", HERE)
_side = _given("roofline.side", 4096, "", "rows and columns of the matrices", HERE)
_ridge = _model("roofline.ridge", hardware.ridge_flop_per_byte(peak_flop_per_s=_peak.value, bytes_per_s=_rate.value), "FLOP/B",
                "the ridge: where the roof of FP32 begins to be flat", ROOFLINE, "P/B", P=_peak, B=_rate)  # fmt: skip
_model("roofline.tensor_ridge", hardware.ridge_flop_per_byte(peak_flop_per_s=_tensor_peak.value, bytes_per_s=_rate.value), "FLOP/B",
       "the ridge of the tensor cores", ROOFLINE, "P/B", P=_tensor_peak, B=_rate)  # fmt: skip
_sum = _model("roofline.elementwise", hardware.elementwise_flop_per_byte(element_bytes=_fp32.value), "FLOP/B",
              "an elementwise sum: a FLOP for the numbers it reads and the one it writes", HARDWARE_MODEL, "1/(3*b)", b=_fp32)  # fmt: skip
_product = _model("roofline.matmul", hardware.matmul_flop_per_byte(n=int(_side.value), element_bytes=_fp32.value), "FLOP/B",
                  "a product of square matrices, each moved once", HARDWARE_MODEL, "2*n/(3*b)", n=_side, b=_fp32)  # fmt: skip


def _attainable(intensity: Number) -> float:
    return hardware.attainable_flop_per_s(flop_per_byte=intensity.value, peak_flop_per_s=_peak.value, bytes_per_s=_rate.value)


_sum_rate = _model("roofline.elementwise_rate", _attainable(_sum), "TFLOP/s", "what the elementwise sum reaches at most", ROOFLINE,
                   "min(P, i*B)", P=_peak, i=_sum, B=_rate)  # fmt: skip
_model("roofline.matmul_rate", _attainable(_product), "TFLOP/s", "what the matrix product reaches at most", ROOFLINE,
       "min(P, i*B)", P=_peak, i=_product, B=_rate)  # fmt: skip
_model("roofline.elementwise_share", _sum_rate.value / _peak.value, "%", "how much of the peak the elementwise sum can use", ROOFLINE,
       "r/P", r=_sum_rate, P=_peak)  # fmt: skip
_least = next(n for n in range(1, 10_000) if hardware.matmul_flop_per_byte(n=n, element_bytes=_fp32.value) >= _ridge.value)
_model("roofline.least_side", _least, "", "the size from which on arithmetic limits an FP32 matrix product", HARDWARE_MODEL,
       "ceil(3*b*P/(2*B))", b=_fp32, P=_peak, B=_rate)  # fmt: skip
_model("roofline.least_time", 2 * _least**3 / _peak.value, "µs", "that product at the peak of FP32", ROOFLINE,
       "2*n**3/P", n=LEDGER["roofline.least_side"], P=_peak)  # fmt: skip

# The ladder: every rung, under the id of its row.
_RUNGS = {"ns": NS, "µs": US, "ms": MS}
_rungs: dict[str, Number] = {}
for _row in LADDER:
    _unit = max((u for u, size in _RUNGS.items() if _row.seconds >= size * (1 - 1e-12)), key=_RUNGS.__getitem__)
    _rungs[_row.id] = _given(f"ladder.{_row.id}", _row.seconds, _unit, f"the time of one rung: {_row.action}", ESHELMAN)
_model("ladder.rungs", float(len(LADDER)), "", "the rungs of the ladder", ESHELMAN)
_model(
    "ladder.spread",
    slowest_to_fastest(),
    "×",
    "the last rung against the first",
    ESHELMAN,
    "a/b",
    a=_rungs["packet"],
    b=_rungs["l1"],
)
_second = _given("ladder.second", 1 * S, "s", "what an L1 hit counts as, where the ladder is rescaled", HERE)
for _id, _unit in (("ram_local_64", "s"), ("launch", "h"), ("hdd_random", "days"), ("packet", "years")):
    _model(f"ladder.{_id}_feels", rescale(_rungs[_id].value, BY_ID["l1"].seconds) * _second.value, _unit,
           f"how long it would feel if an L1 hit took a second: {BY_ID[_id].action}", ESHELMAN, "a/b*T", a=_rungs[_id], b=_rungs["l1"], T=_second)  # fmt: skip
_gpus = _given("ladder.gpus", 8, "", "the GPUs that one Python thread feeds", HERE)
_model("ladder.launches", launch_bound_s(gpus=int(_gpus.value), launch_s=_rungs["launch"].value), "µs",
       "the duration of an operation below which one Python thread is the bottleneck", HARDWARE_MODEL,
       "k*L", k=_gpus, L=_rungs["launch"])  # fmt: skip
_model("ladder.one_by_one", 1 / _rungs["nvme_read_4k"].value, "IOPS", "random reads a second of an NVMe SSD that gets one at a time", HARDWARE_MODEL,
       "1/a", a=_rungs["nvme_read_4k"])  # fmt: skip

# Where the model and the book's section part: both values of each.
_mega = _given("errata.megabyte", 1 * MB, "MB", "what several rungs of the ladder move", ESHELMAN)
_line = _given("errata.ethernet_line", 100 * GBIT, "Gbit/s", "the line rate of 100 GbE", D2L_HARDWARE)
_line_rate = _model("errata.ethernet_rate", hardware.ETHERNET_LINE.bytes_per_s, "GB/s", "the same in bytes; the book says pipes.ethernet", HARDWARE_MODEL,
                    "B", B=_line)  # fmt: skip
_model("errata.ethernet_time", hardware.move_s(size_bytes=_S.value, bytes_per_s=_line_rate.value), "ms", "160 MB over 100 GbE at its line rate",
       HARDWARE_MODEL, "S/B", S=_S, B=_line)  # fmt: skip
_low = _given(
    "errata.module_low",
    20 * GB,
    "GB/s",
    "what the book gives a memory module, at the low end; memory.limit is a word per beat",
    D2L_HARDWARE,
)
_high = _given("errata.module_high", 25 * GB, "GB/s", "what the book gives a memory module, at the high end", D2L_HARDWARE)
_model(
    "errata.module_low_beat",
    _word.value / _low.value,
    "ns",
    "the time of a word that the low end means",
    HARDWARE_MODEL,
    "w/B",
    w=_word,
    B=_low,
)
_model(
    "errata.module_high_beat",
    _word.value / _high.value,
    "ns",
    "the time of a word that the high end means",
    HARDWARE_MODEL,
    "w/B",
    w=_word,
    B=_high,
)
_given("errata.pcie_note", 12 * GB, "GB/s", "what the note beside the rung of PCIe says", ESHELMAN)
_model("errata.pcie_rate", _mega.value / _rungs["pcie_1m"].value, "GB/s", "what the time of that rung says", HARDWARE_MODEL,
       "S/a", S=_mega, a=_rungs["pcie_1m"])  # fmt: skip
_given("errata.ethernet_low_words", 1 * GB, "GB/s", "the low end of Ethernet in the book's overview", D2L_HARDWARE)
_given("errata.ethernet_high_words", 100 * GB, "GB/s", "the high end of Ethernet in the book's overview", D2L_HARDWARE)
_slow = _given(
    "errata.ethernet_low", 1 * GBIT, "Gbit/s", "the low end of Ethernet, as the book's part on networks has it", D2L_HARDWARE
)
_model("errata.ethernet_low_rate", _slow.value, "GB/s", "the same in bytes", HARDWARE_MODEL, "B", B=_slow)
_given(
    "errata.lane_words",
    32 * GB,
    "GB/s",
    "what the book's part on buses gives PCIe 4.0 “per lane”: it is the rate of a full slot",
    D2L_HARDWARE,
)
_slot = _given("errata.lanes", 16, "", "the lanes of a full slot", D2L_HARDWARE)
_model("errata.lane_rate", _lane.value, "GB/s", "one PCIe 4.0 lane, in bytes", HARDWARE_MODEL, "B", B=_lane)
_model("errata.slot_rate", hardware.lanes_bytes_per_s(lanes=int(_slot.value), lane_bytes_per_s=_lane.value), "GB/s",
       "all lanes of a full slot", HARDWARE_MODEL, "n*B", n=_slot, B=_lane)  # fmt: skip
_sata = _given("errata.sata_note", 550 * MB, "MB/s", "what the note beside a read from a SATA SSD says", ESHELMAN)
_model("errata.sata_rate", _mega.value / _rungs["sata_read_1m"].value, "MB/s", "what the time of that read says", HARDWARE_MODEL,
       "S/a", S=_mega, a=_rungs["sata_read_1m"])  # fmt: skip
_model("errata.sata_time", hardware.move_s(size_bytes=_mega.value, bytes_per_s=_sata.value), "ms", "1 MB at the rate of the note", HARDWARE_MODEL,
       "S/B", S=_mega, B=_sata)  # fmt: skip
