"""The numbers that runs and clocks showed, entered in the ledger from their records under docs/records/."""

from __future__ import annotations

from functools import cache

from macros import cpu_record
from macros.gpu_record import DeviceRecord
from macros.records import Record, RecordError, load
from perfmodel import matmul
from perfmodel.hardware import ROOFLINE
from perfmodel.number import Ledger, Number
from perfmodel.sources import SITE, Source

# The names of a page for the numbers of replicas, and for the faults, of the record.
REPLICAS = {"two": "2", "four": "4"}
TABLE = {"two": "2", "three": "3", "four": "4", "eight": "8"}
PRECISIONS = {"fp64": "float64", "fp32": "float32"}
FAULTS = {"mean": "mean of means", "forgot": "one gradient forgotten once", "float32": "allreduce in float32"}
_SAYS = {
    "mean": "with every part's loss averaged first, and those averages averaged",
    "forgot": "with one replica's gradient forgotten at a single step",
    "float32": "with gradients added up in float32",
}


def source(record: Record) -> Source:
    """Where a run number comes from: this record, with its date, torch and machine."""
    place = f"training run of {record.date}, {record.made_with}, {record.device} ({record.machine})"
    return SITE.at(place)


def badge(record: Record, what: str = "training run") -> str:
    """What a figure drawn from a record says of itself."""
    return f"{what} · {record.date.partition(' ')[0]} · {record.made_with}"


@cache
def enter(ledger: Ledger) -> None:
    """Add every run number to `ledger`, once. A record that is stale or torn is made again first (see `macros.records`).

    Raises RecordError for one that can't be made, with nothing added.
    """
    record, lost, noise = load("lockstep"), load("lost"), load("noise")
    shown, of = record.results, source(record)

    def run(name: str, value: float | tuple[float, ...], says: str) -> None:
        ledger.run(f"lockstep.{name}", value, "", says, of)

    run("samples", shown["batch"], "the samples in the batch")
    run("parameters", shown["parameters"], "the parameters of the network")
    run("lr", shown["lr"], "the learning rate")
    run("steps", shown["steps"][-1], "the steps of training")
    run("every", shown["steps"][1], "the steps from one comparison to the next")
    run("forgotten_at", shown["forgotten_at"], "the step at which the forgetful run forgets")
    run("loss_first", shown["loss"]["1"][0], "the loss before training")
    run("loss_one", shown["loss"]["1"][-1], "the loss that one replica ends at")
    for name, k in REPLICAS.items():
        run(f"{name}_replicas", int(k), "a number of replicas that train in lockstep")
        run(f"parts_{name}", tuple(shown["shards"][k]), f"how the batch is split over {name} replicas")
        run(f"loss_{name}", shown["loss"][k][-1], f"the loss that {name} replicas end at")
        run(f"early_{name}", shown["l2"][k][1], f"the relative L2 distance of {name} replicas from one, at the first comparison")
        run(f"l2_{name}", shown["l2_end"][k], f"the relative L2 distance of {name} replicas from one, at the end")
        run(f"worst_{name}", shown["l2_worst"][k], f"the largest relative L2 distance of {name} replicas from one")
        run(f"exponent_{name}", shown["part_in_ten_to"][k], f"the N of “less than one part in 10 to the N”, for {name} replicas")
        run(f"spread_{name}", max(shown["spread"][k]), f"the most parameters in which any of {name} replicas ever differ")
        for fault, key in FAULTS.items():
            broken = shown["faults"][key][k]
            run(f"{fault}_{name}", broken["l2_end"], f"the relative L2 distance of {name} replicas from one, {_SAYS[fault]}")
            run(f"{fault}_loss_{name}", broken["loss"][-1], f"the loss that {name} replicas end at, {_SAYS[fault]}")
    run("worst", max(shown["l2_worst"].values()), "the largest relative L2 distance of several replicas from one")
    run("exponent", min(shown["part_in_ten_to"].values()), "the N of “less than one part in 10 to the N”")
    run("spread", max(max(each) for each in shown["spread"].values()), "the most parameters in which any replicas ever differ")
    for name, k in TABLE.items():
        for precision, dtype in PRECISIONS.items():
            says = f"the largest relative L2 distance of {name} replicas from one, in {precision.upper()}"
            run(f"{precision}_{name}", shown["table"][dtype][k]["l2"], says)
    weakest = min(shown["mutants"].values(), key=lambda each: float(each["4"]["l2"]))["4"]["l2"]
    run("mutants", len(shown["mutants"]), "the ways to break lockstep that were tried")
    run("weakest", weakest, "the smallest distance that any of them leaves four replicas at")
    _enter_lost(ledger, lost)
    _enter_noise(ledger, noise)
    _enter_products(ledger)


def _enter_lost(ledger: Ledger, record: Record) -> None:
    shown, of = record.results, source(record)
    for name, says in (
        ("ranks", "the processes that train together"),
        ("steps", "the steps of the training that loses a process"),
        ("save_every", "the steps from one checkpoint to the next"),
        ("killed_at", "the step at which a process is killed"),
        ("began", "the step that the restarted group goes on from"),
        ("redone", "the steps that are computed again after the restart"),
        ("differ", "the parameters that differ in any bit between the restarted run and an undisturbed one"),
        ("finished_alone", "the processes that finish the training when another is killed and nobody restarts the group"),
    ):
        ledger.run(f"lost.{name}", shown[name], "", says, of)


def _enter_noise(ledger: Ledger, record: Record) -> None:
    shown, of = record.results, source(record)
    for name, says in (
        ("samples", "the samples that batches are drawn from"),
        ("parameters", "the parameters of the network whose gradients are taken"),
        ("draws", "the batches drawn of each size"),
        ("resamples", "the times that all draws were drawn again, for the intervals"),
        ("level", "how sure the intervals are"),
        ("single", "the variance of the gradient of a single sample"),
    ):
        ledger.run(f"noise.{name}", shown[name], "%" if name == "level" else "", says, of)
    small, large = shown["compared"]
    ledger.run("noise.small", small, "", "a batch for one GPU", of)
    ledger.run("noise.large", large, "", "a batch for all GPUs", of)
    for name, says in (
        ("slope", "the slope of log variance against log batch"),
        ("ratio", f"the variance of batches of {large} over that of batches of {small}"),
    ):
        for end, value, words in zip(
            ("", "_low", "_high"), shown[name], ("", ", low end of its interval", ", high end"), strict=True
        ):
            ledger.run(f"noise.{name}{end}", value, "×" if name == "ratio" else "", says + words, of)
    for name, parts in shown["parts"].items():
        ledger.run(f"average.parts_{name}", tuple(parts), "", f"how a batch is divided: {name} shards", of)
    first, last = shown["parts"]["uneven"][0], shown["parts"]["uneven"][-1]
    says = "how much a sample of the last uneven shard counts in the plain average, against one of the first"
    ledger.run("average.heavy", first / last, "×", says, of)
    for name, says in (
        ("equal", "the average over equal shards"),
        ("uneven", "the average over uneven shards"),
        ("weighted", "uneven shards, each weighted by its part of the batch,"),
        ("normed", "the average over equal shards with batch normalization"),
    ):
        unit = "%" if name in ("uneven", "normed") else ""
        ledger.run(
            f"average.{name}", shown["averages"][name], unit, f"how far {says} lies from the gradient of the whole batch", of
        )


def clocked(record: DeviceRecord) -> Source:
    """Where a measured number comes from: this record, with its date, its processor and its library."""
    about = record.environment
    place = f"measured {record.date}, {record.device}, {about['threads']} threads, {about['blas']}, PyTorch {about['torch']}"
    return SITE.at(place)


def _enter_products(ledger: Ledger) -> None:
    """What `make measure` found, and the model of it: a straight line over n³, from the call and the largest product alone.

    Without a record there are no such numbers; a spoilt one is told of where a page asks for its figure.
    """
    try:
        record = cpu_record.read()
    except RecordError:
        return
    if record is None:
        return
    found, of = record.sections["matmul"], clocked(record)

    def clock(name: str, seconds: float, says: str) -> Number:
        return ledger.measured(f"products.{name}", seconds, "ms" if seconds >= 1e-3 else "µs", says, of)

    call = clock("call", found["call"]["median"], "a product of one number by one: nothing but the call")
    ledger.measured("products.threads", record.environment["threads"], "", "the threads that computed", of)
    ledger.measured("products.rounds", found["call"]["rounds"], "", "the rounds of each size", of)
    sides = {
        row["side"]: ledger.measured(f"products.n{row['side']}", row["side"], "", "a side of the products", of)
        for row in found["rows"]
    }
    times = {row["side"]: clock(f"t{row['side']}", row["median"], f"a product of side {row['side']}") for row in found["rows"]}
    largest = max(sides)
    each = matmul.multiply_add_s(n=largest, time_s=times[largest].value, overhead_s=call.value)
    c = ledger.model("products.each", each, "ns", "one multiply-add among those of the largest product", ROOFLINE,
                     "(t - o)/n**3", t=times[largest], o=call, n=sides[largest])  # fmt: skip
    for side, n in sides.items():
        model = matmul.cubic_s(n=side, overhead_s=call.value, each_s=each)
        ledger.model(f"products.p{side}", model, "ms" if model >= 1e-3 else "µs", f"what the straight line says of side {side}", ROOFLINE,
                     "o + n**3*c", o=call, n=n, c=c)  # fmt: skip
        ledger.model(f"products.r{side}", 2 * side**3 / times[side].value, "GFLOP/s", f"the rate of a product of side {side}", ROOFLINE,
                     "2*n**3/t", n=n, t=times[side])  # fmt: skip
        ledger.model(f"products.d{side}", times[side].value / side**3 / each, "×",
                     f"a multiply-add in a product of side {side}, against one of the largest", ROOFLINE, "t/n**3/c", t=times[side], n=n, c=c)  # fmt: skip
        ledger.model(f"products.o{side}", call.value / times[side].value, "%", f"how much of a product of side {side} is the call", ROOFLINE,
                     "o/t", o=call, t=times[side])  # fmt: skip
    asked = [side for side in sides if ledger["cube.first"].value <= side < largest]
    off = max((abs(times[side].value / ledger[f"products.p{side}"].value - 1) for side in asked), default=0.0)
    ledger.model("products.worst", off, "%", "how far the sizes of the exercise lie off the straight line, at most", ROOFLINE)
