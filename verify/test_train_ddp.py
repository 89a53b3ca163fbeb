"""`docs/code/train_ddp.py`: ranks that agree, runs that go on after a kill, flags that are refused; each check meets the fault it is for."""

from __future__ import annotations

import io
import json
import os
import re
import resource
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch.utils.data import DistributedSampler

from perfmodel.lockstep import processes
from verify.ddp_rank import SAMPLE, Planned, do, sample

# 203 samples in batches of 24 are 8 whole ones and one of 11, which neither two nor four ranks share evenly: 9 steps an epoch.
FLAGS = ("--samples", "203", "--epochs", "2")
LESS = ("--samples", "193", "--epochs", "2")  # the last batch is of one sample: all ranks but the first have none
F64 = ("--dtype", "float64")
# Relative L2 over all parameters. Adam divides by the root of the mean square, which makes the last bits of small gradients large:
# distances up to 2e-15 were seen here, so the gate has room for another BLAS. The weakest fault below was 6e-5 away.
GATE = {"float64": 1e-13, "float32": 1e-6}
DROPOUT = ("--dropout", "0.2", "--save-every", "7")
# Of 18 steps, step 14 is kept and step 16 is the last: within the second epoch.
CUT = ("            done += 1\n", "            done += 1\n            if done == 16:\n                raise SystemExit('cut')\n")

Ended = dict[str, Any]  # of one rank: "parameters" (where it got to the end), "said", "ended"


@pytest.fixture(autouse=True)
def no_group_is_left() -> Iterator[None]:
    """A run that is refused or cut in this process leaves its group to the process's end."""
    yield
    if dist.is_initialized():
        dist.destroy_process_group()


def alone(folder: Path, *flags: str, changes: Sequence[tuple[str, str]] = ()) -> Ended:
    """A run on one rank, in this process."""
    name = uuid.uuid4().hex
    do(Planned(name, flags, changes), folder)
    if dist.is_initialized():
        dist.destroy_process_group()
    ended: Ended = torch.load(folder / f"{name}-0.pt", weights_only=True)
    return ended


def torchrun(
    ranks: int, *command: str, restarts: int = 0, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """A group of ranks on this machine. When torchrun has ended, no rank may be left."""
    mark = uuid.uuid4().hex
    env = {
        **os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(processes.ROOT), "LOCKSTEP_RUN": mark,
        "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1",  # or a restarted group finds the addresses of the dead
        **({"GLOO_SOCKET_IFNAME": "lo"} if sys.platform == "linux" else {}), **(environment or {}),
    }  # fmt: skip
    start = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        *processes.ONE_HOST,
        f"--nproc-per-node={ranks}",
        f"--max-restarts={restarts}",
    ]
    done = subprocess.run([*start, *command], cwd=processes.ROOT, env=env, capture_output=True, text=True, timeout=240, check=False)
    assert processes._left_over(mark) == ()
    return done


def planned(ranks: int, folder: Path, *plans: Planned, restarts: int = 0) -> subprocess.CompletedProcess[str]:
    """Trainings of one group."""
    (folder / "plan.json").write_text(json.dumps([plan._asdict() for plan in plans]), encoding="utf-8")
    return torchrun(ranks, "-m", "verify.ddp_rank", str(folder), restarts=restarts)


def collect(ranks: int, folder: Path, *plans: Planned) -> dict[str, list[Ended]]:
    return {
        plan.name: [torch.load(folder / f"{plan.name}-{rank}.pt", weights_only=True) for rank in range(ranks)] for plan in plans
    }


def together(ranks: int, folder: Path, *plans: Planned) -> dict[str, list[Ended]]:
    """Trainings of one group, which all went through; what each rank ended with."""
    done = planned(ranks, folder, *plans)
    assert done.returncode == 0, done.stderr[-3000:]
    return collect(ranks, folder, *plans)


def apart(ours: Ended, theirs: Ended) -> float:
    """The relative L2 distance of two runs' parameters; infinite where one did not get to its end."""
    if "parameters" not in ours or "parameters" not in theirs:
        return float("inf")
    a, b = ours["parameters"], theirs["parameters"]
    return float((a - b).norm() / b.norm())


def equal(*runs: Ended) -> bool:
    """Whether runs ended with the same parameters, bit for bit; one that did not get to its end equals none."""
    if any("parameters" not in run for run in runs):
        return False
    first, *others = [run["parameters"].view(torch.uint8) for run in runs]
    return all(torch.equal(first, other) for other in others)


def speakers(ranks: Sequence[Ended]) -> list[int]:
    return [number for number, rank in enumerate(ranks) if rank["said"]]


# Ranks that agree -------------------------------------------------------------------------------------------------------------

# What goes wrong: the change, and whether the run itself sees it at its end.
FAULTS: dict[str, tuple[tuple[str, str], bool]] = {
    "a mean over uneven parts": (
        (
            'summed = nn.CrossEntropyLoss(reduction="sum")(logits, y)\n    return summed',
            "summed = nn.CrossEntropyLoss()(logits, y) * whole\n    return summed / dist.get_world_size()",
        ),
        False,
    ),
    "the sum forgets the ranks": (("* (dist.get_world_size() / whole)", "/ whole"), False),  # Adam hides it, but for its epsilon
    "divided by the usual batch": (("(dist.get_world_size() / whole)", "(dist.get_world_size() / 24)"), False),
    "a sampler that pads": (("    for whole in order", "    order = torch.cat([order, order[:13]])\n    for whole in order"), False),
    "a sampler that drops": (("    for whole in order", "    order = order[: len(order) // batch * batch]\n    for whole in order"), False),
    "every rank has the first part": (("tensor_split(ranks)[rank]", "tensor_split(ranks)[0]"), False),
    "ranks shuffle unlike": (("    order = torch.randperm", "    random.manual_seed(seed + rank)\n    order = torch.randperm"), False),
    "no allreduce": (("loss = weighted_loss(model(X)", "loss = weighted_loss(model.module(X)"), True),
    "gradients travel in half precision": (
        (
            "    adam = torch.optim.Adam",
            "    from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import fp16_compress_hook\n"
            "    model.register_comm_hook(None, fp16_compress_hook)\n    adam = torch.optim.Adam",
        ),
        False,
    ),
    "one rank steps once more": (
        ("    if not same_everywhere", "    adam.step() if run.rank == 1 else None\n    if not same_everywhere"),
        True,
    ),
}  # fmt: skip
EVERYONE_SPEAKS = ("    if dist.get_rank() == 0:\n        print((CLEAR", "    if True:\n        print((CLEAR")


def agreeing(ranks: int) -> list[Planned]:
    """Trainings that must end as one rank does."""
    batch = ("--batch-size", str(24 // ranks))
    return [
        Planned("float64", (*FLAGS, *batch, *F64)),
        Planned("float32", (*FLAGS, *batch)),
        Planned("nothing for some", (*LESS, *batch, *F64)),
        Planned("warm-up", (*FLAGS, *batch, *F64, "--warm-up", "12", "--scale-lr")),
    ]


def going_on(folder: Path, ranks: int, name: str, changes: Sequence[tuple[str, str]] = ()) -> list[Planned]:
    """A training that is never stopped, one that is, and its second part, which may have a fault."""
    flags = (*FLAGS, "--batch-size", str(24 // ranks), *DROPOUT, "--checkpoint", str(folder / f"{name}.ckpt"))
    return [Planned(f"{name} cut", flags, [*changes, CUT]), Planned(f"{name} again", flags, changes)]


RANK_0_DROPS_FOR_ALL = ('["random"][dist.get_rank()]', '["random"][0]')


@pytest.fixture(scope="session")
def one(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ended]:
    """One rank with the whole batch: what all others are held against."""
    folder = tmp_path_factory.mktemp("one")
    return {plan.name: alone(folder, *plan.flags) for plan in agreeing(1)}


@pytest.fixture(scope="session")
def two(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Ended]]:
    """A group of two ranks, and all that is to be seen of it."""
    folder = tmp_path_factory.mktemp("two")
    batch = ("--batch-size", "12", *F64)
    return together(
        2,
        folder,
        *agreeing(2),
        *[Planned(name, (*FLAGS, *batch), [change]) for name, (change, _) in FAULTS.items()],
        Planned("everyone speaks", (*FLAGS, *batch), [EVERYONE_SPEAKS]),
        Planned("whole", (*FLAGS, "--batch-size", "12", *DROPOUT, "--checkpoint", str(folder / "whole.ckpt"))),
        *going_on(folder, 2, "right"),
        *going_on(folder, 2, "one dropout", [RANK_0_DROPS_FOR_ALL]),
    )


@pytest.mark.parametrize("name", [plan.name for plan in agreeing(2)])
def test_two_ranks_end_as_one(two: dict[str, list[Ended]], one: dict[str, Ended], name: str) -> None:
    assert [rank["ended"] for rank in two[name]] == ["", ""]
    assert equal(*two[name])
    assert apart(two[name][0], one[name]) <= GATE["float32" if name == "float32" else "float64"]


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_takes_ranks_apart(two: dict[str, list[Ended]], one: dict[str, Ended], name: str) -> None:
    seen = FAULTS[name][1]
    assert {rank["ended"] for rank in two[name]} == {"all ranks must hold the same parameters" if seen else ""}
    assert equal(*two[name]) is not seen
    assert max(apart(rank, one["float64"]) for rank in two[name]) > 1e3 * GATE["float64"]


def test_rank_0_speaks_alone(two: dict[str, list[Ended]]) -> None:
    assert speakers(two["float64"]) == [0]
    assert speakers(two["everyone speaks"]) == [0, 1]
    lines = two["float64"][0]["said"].splitlines()
    assert lines[0] == "2 ranks on cpu with gloo, 2 × 12 = 24 samples a step, learning rate 0.001"
    assert [line.split(":")[0] for line in lines[1:]] == ["epoch 1", "epoch 2", "OK"]


def test_ranks_measure_what_one_measures(two: dict[str, list[Ended]], one: dict[str, Ended]) -> None:
    """The loss and accuracy over the unseen samples, half of them looked at by each."""
    assert two["float64"][0]["said"].splitlines()[1:3] == one["float64"]["said"].splitlines()[1:3]


def test_two_ranks_go_on_as_if_never_stopped(two: dict[str, list[Ended]]) -> None:
    assert [rank["ended"] for rank in two["right cut"]] == ["cut", "cut"]
    assert two["right again"][0]["said"].splitlines()[1] == "going on after step 14 of 18"
    assert equal(*two["whole"], *two["right again"])
    assert not equal(*two["whole"], *two["one dropout again"])  # the second rank drew another dropout


@pytest.mark.full
def test_four_ranks_end_as_one_and_go_on_as_if_never_stopped(tmp_path: Path, one: dict[str, Ended]) -> None:
    plans = agreeing(4)
    whole = Planned("whole", (*FLAGS, "--batch-size", "6", *DROPOUT, "--checkpoint", str(tmp_path / "whole.ckpt")))
    unsettled = ("    settle(model, data[0][:1])\n", "")
    stopped = [*going_on(tmp_path, 4, "right"), *going_on(tmp_path, 4, "unsettled", [unsettled])]
    bare = Planned("unsettled whole", whole.flags, [unsettled])
    four = together(4, tmp_path, *plans, whole, *stopped, bare._replace(flags=(*whole.flags[:-1], str(tmp_path / "bare.ckpt"))))
    for plan in plans:
        assert equal(*four[plan.name]), plan.name
        assert apart(four[plan.name][0], one[plan.name]) <= GATE["float32" if plan.name == "float32" else "float64"], plan.name
        assert speakers(four[plan.name]) == [0]
    assert equal(*four["whole"], *four["right again"])
    # DDP changes the layout of its buffers after its first backward: unless that is done with at the start, the last bits differ.
    assert not equal(*four["unsettled whole"], *four["unsettled again"])


# The sampler ------------------------------------------------------------------------------------------------------------------


def wrong(module: Any, samples: int, batch: int, ranks: int) -> list[str]:
    """What is wrong with the parts that ranks get in an epoch; nothing, when each sample is on one rank, once."""
    ranked = [list(module.shards(samples, batch, rank, ranks, 1)) for rank in range(ranks)]
    seen = [int(i) for parts in ranked for part, _ in parts for i in part]
    found = []
    if len(seen) > len(set(seen)):
        found.append("repeats")
    if set(seen) != set(range(samples)):
        found.append("loses")
    if len({len(parts) for parts in ranked}) > 1:
        found.append("steps")  # one rank would wait for a step that another never takes
    for batches in zip(*ranked, strict=False):
        sizes = [len(part) for part, _ in batches]
        if {whole for _, whole in batches} != {sum(sizes)} or max(sizes) - min(sizes) > 1:
            found.append("sizes")
    return sorted(set(found))


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("samples", [60, 61, 73, 101, 119])
def test_each_sample_is_on_one_rank_once(ranks: int, samples: int) -> None:
    assert wrong(sample(), samples, 12 * ranks, ranks) == []


@pytest.mark.parametrize(
    ("fault", "found"),
    [
        ("a sampler that pads", ["repeats"]),
        ("a sampler that drops", ["loses"]),
        ("every rank has the first part", ["loses", "repeats", "sizes"]),
        ("ranks shuffle unlike", ["loses", "repeats"]),
    ],
)
def test_a_sampler_with_a_fault_is_seen(fault: str, found: list[str]) -> None:
    assert wrong(sample([FAULTS[fault][0]]), 101, 24, 2) == found


def test_why_not_the_sampler_of_torch() -> None:
    """The page says that it repeats samples, or drops some, where they don't divide: 101 on 2 ranks."""
    for drop, count in ((False, 102), (True, 100)):
        ranked = [list(DistributedSampler(range(101), 2, rank, drop_last=drop)) for rank in range(2)]  # type: ignore[arg-type, var-annotated]
        assert sum(map(len, ranked)) == count


def test_each_epoch_has_another_order_and_each_seed_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = sample()
    orders = [torch.cat([part for part, _ in module.shards(50, 10, 0, 1, seed)]).tolist() for seed in range(4)]
    assert len({tuple(order) for order in orders}) == 4
    seeds, shards = [], module.shards

    def watched(*arguments: Any) -> Any:
        seeds.append(arguments[-1])
        return shards(*arguments)

    monkeypatch.setattr(module, "shards", watched)
    module.main(["--samples", "64", "--epochs", "3", "--seed", "5"])
    assert seeds == [6, 7, 8]


# Rates ------------------------------------------------------------------------------------------------------------------------


def test_the_linear_rule_and_the_warm_up() -> None:
    """Four ranks of 32 are 128 samples, four times the batch: 0.004. Warmed up over 4 steps: a quarter, a half, three quarters, all."""
    module: Any = sample()
    assert module.scaled_rate(1e-3, 128) == 4e-3
    assert [module.rate_at(step, 4e-3, 4) for step in range(6)] == pytest.approx([1e-3, 2e-3, 3e-3, 4e-3, 4e-3, 4e-3])
    assert [module.rate_at(step, 4e-3, 0) for step in range(2)] == [4e-3, 4e-3]


def test_the_optimizer_gets_the_rate_of_its_step(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = sample()
    rates: list[float] = []
    step = torch.optim.Adam.step

    def watched(adam: torch.optim.Adam, *rest: Any) -> Any:
        rates.append(adam.param_groups[0]["lr"])
        return step(adam, *rest)

    monkeypatch.setattr(torch.optim.Adam, "step", watched)
    module.main(["--samples", "96", "--batch-size", "16", "--epochs", "1", "--lr", "0.01", "--scale-lr", "--warm-up", "5"])
    assert rates == pytest.approx([0.001, 0.002, 0.003, 0.004, 0.005, 0.005])  # half the batch, half the rate


# Going on ---------------------------------------------------------------------------------------------------------------------

RESUME_FAULTS = {
    "the random state is not put back": ('    set_random(state["random"][dist.get_rank()])\n', ""),
    "the optimizer is not put back": ('    adam.load_state_dict(state["adam"])\n', ""),
    "the network is not put back": ('    net.load_state_dict(state["net"])\n', ""),
    "the epoch begins again": ("done % run.each, None", "0, None"),
}


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """A run on one rank that nothing stops."""
    return alone(tmp_path_factory.mktemp("whole"), *FLAGS, "--batch-size", "24", "--dropout", "0.2")


@pytest.mark.parametrize("fault", [None, *RESUME_FAULTS])
def test_a_run_goes_on_as_if_never_stopped(tmp_path: Path, whole: Ended, fault: str | None) -> None:
    flags = (*FLAGS, "--batch-size", "24", *DROPOUT, "--checkpoint", str(tmp_path / "run.ckpt"))
    assert alone(tmp_path, *flags, changes=[CUT])["ended"] == "cut"
    again = alone(tmp_path, *flags, changes=[RESUME_FAULTS[fault]] if fault else [])
    assert "going on after step 14 of 18" in again["said"]
    assert equal(again, whole) is (fault is None)


@pytest.mark.parametrize("kill", [("save", 0, 3), pytest.param(("step", 0, 16), marks=pytest.mark.full)])
def test_a_killed_run_goes_on_as_if_never_killed(tmp_path: Path, whole: Ended, kill: tuple[str, int, int]) -> None:
    """By SIGKILL: after 16 steps, or in the third save (that of step 18, the last), when the new file is written and has no name yet."""
    path = tmp_path / "run.ckpt"
    plan = Planned("killed", (*FLAGS, "--batch-size", "24", *DROPOUT, "--checkpoint", str(path)), kill=kill)
    (tmp_path / "plan.json").write_text(json.dumps([plan._asdict()]), encoding="utf-8")
    command = [sys.executable, "-m", "verify.ddp_rank", str(tmp_path)]
    env = {**os.environ, "OMP_NUM_THREADS": str(torch.get_num_threads())}  # other threads, other last bits
    killed = subprocess.run(command, cwd=processes.ROOT, env=env, capture_output=True, timeout=240, check=False)
    assert killed.returncode == -9, killed.stderr[-2000:]
    again = alone(tmp_path, *plan.flags)
    assert "going on after step 14 of 18" in again["said"]
    assert equal(again, whole)


@pytest.mark.full
@pytest.mark.parametrize(("ranks", "kill"), [(2, ("step", 1, 16)), (4, ("save", 0, 3)), (4, ("step", 3, 16))])
def test_a_group_that_loses_a_rank_goes_on_as_if_it_had_not(tmp_path: Path, ranks: int, kill: tuple[str, int, int]) -> None:
    flags = (*FLAGS, "--batch-size", str(24 // ranks), *DROPOUT, "--checkpoint")
    plan = Planned("run", (*flags, str(tmp_path / "run.ckpt")))
    killed = planned(ranks, tmp_path, plan._replace(kill=kill))
    assert killed.returncode == 1
    assert "Signal 9 (SIGKILL)" in killed.stderr
    undisturbed = Planned("whole", (*flags, str(tmp_path / "whole.ckpt")))
    ended = together(ranks, tmp_path, plan, undisturbed)
    assert ended["run"][0]["said"].splitlines()[1] == "going on after step 14 of 18"
    assert equal(*ended["run"], *ended["whole"])


@pytest.mark.full
def test_a_group_that_torchrun_restarts_goes_on_by_itself(tmp_path: Path) -> None:
    flags = (*FLAGS, "--batch-size", "12", *DROPOUT, "--checkpoint")
    plan = Planned("run", (*flags, str(tmp_path / "run.ckpt")), kill=("step", 1, 16))
    done = planned(2, tmp_path, plan, restarts=1)
    assert done.returncode == 0, done.stderr[-3000:]
    run = collect(2, tmp_path, plan)["run"]
    assert run[0]["said"].splitlines()[1] == "going on after step 14 of 18"
    whole = Planned("whole", (*flags, str(tmp_path / "whole.ckpt")))
    assert equal(*run, *together(2, tmp_path, whole)["whole"])


def test_more_epochs_go_on_from_fewer(tmp_path: Path) -> None:
    path = ("--checkpoint", str(tmp_path / "run.ckpt"))
    flags = ("--samples", "100", "--dropout", "0.2", "--epochs")
    alone(tmp_path, *flags, "1", *path)
    more = alone(tmp_path, *flags, "2", *path)
    assert "going on after step 4 of 8" in more["said"]
    assert equal(more, alone(tmp_path, *flags, "2"))
    assert equal(more, alone(tmp_path, *flags, "2", *path))  # all is done: nothing is trained


# Checkpoints ------------------------------------------------------------------------------------------------------------------

IN_PLACE = [('beside = path.with_name(f"{path.name}.{os.getpid()}")', "beside = path"), ("beside.unlink(missing_ok=True)", "pass")]
STATE = {"step": 3, "net": torch.arange(1000.0)}


def after_a_full_disk(module: Any, path: Path) -> Any:
    """What `load` gives after a save of step 4 for which the disk had room for half."""
    module.save(path, STATE)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size // 2, hard))
    try:
        with pytest.raises(OSError, match="File too large"):
            module.save(path, {**STATE, "step": 4})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    return module.load(path)


def test_a_save_that_fails_leaves_the_old_checkpoint_and_nothing_else(tmp_path: Path) -> None:
    state = after_a_full_disk(sample(), tmp_path / "run.ckpt")
    assert (state["step"], state["net"].tolist()) == (3, list(range(1000)))
    assert [path.name for path in tmp_path.iterdir()] == ["run.ckpt"]


def test_a_save_in_place_is_seen(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is torn"):
        after_a_full_disk(sample(IN_PLACE), tmp_path / "run.ckpt")


@pytest.mark.parametrize("cut", [0, 1, 31, 32, 400, -1])
def test_a_torn_checkpoint_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], cut: int) -> None:
    path = tmp_path / "run.ckpt"
    alone(tmp_path, "--samples", "100", "--epochs", "1", "--checkpoint", str(path))
    torn = path.read_bytes()[:cut]
    path.write_bytes(torn)
    says(["--samples", "100", "--checkpoint", str(path)], f"{path} is torn, or not a checkpoint of this file", capsys)
    assert path.read_bytes() == torn


def test_a_checkpoint_with_a_single_other_bit_is_refused(tmp_path: Path) -> None:
    module: Any = sample()
    path = tmp_path / "run.ckpt"
    module.save(path, STATE)
    content = bytearray(path.read_bytes())
    content[-3000] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is torn"):
        module.load(path)


@pytest.mark.parametrize(
    ("flags", "rule"),
    [
        (["--seed", "1"], "is of another run: seed must be 0, got 1"),
        (["--lr", "0.01"], "is of another run: lr must be 0.001, got 0.01"),
        (["--samples", "101"], "is of another run: samples must be 100, got 101"),
        (["--dtype", "float64"], "is of another run: dtype must be float32, got float64"),
        (["--epochs", "1"], "must not be past the end of this run, got step 8 of 4"),
    ],
)
def test_a_checkpoint_of_another_run_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: list[str], rule: str
) -> None:
    path = str(tmp_path / "run.ckpt")
    alone(tmp_path, "--samples", "100", "--epochs", "2", "--checkpoint", path)
    says(["--samples", "100", "--epochs", "2", "--checkpoint", path, *flags], f"{path} {rule}", capsys)


def test_a_checkpoint_of_other_ranks_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "run.ckpt")
    alone(tmp_path, "--samples", "100", "--checkpoint", path)
    monkeypatch.setenv("WORLD_SIZE", "2")
    says(["--samples", "100", "--checkpoint", path], f"{path} is of another run: ranks must be 1, got 2", capsys)


# Flags ------------------------------------------------------------------------------------------------------------------------


def says(flags: Sequence[str], rule: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Fails unless the flags are refused: usage, the rule and the value, status 2, before there is a group."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        sample().main(flags)
    assert ended.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("usage: ")
    assert err.splitlines()[-1].endswith(rule), err
    assert not dist.is_initialized()


@pytest.mark.parametrize(
    ("flags", "rule"),
    [
        ("--epochs 0", "--epochs: must be a whole number of at least 1, got '0'"),
        ("--epochs 1.5", "--epochs: must be a whole number of at least 1, got '1.5'"),
        ("--epochs", "--epochs: expected one argument"),
        ("--batch-size -1", "--batch-size: must be a whole number of at least 1, got '-1'"),
        ("--batch-size 4001", "--batch-size times ranks must be at most --samples, got 4001 times 1 for 4000"),
        ("--samples 0", "--samples: must be a whole number from 1 to 1000000, got '0'"),
        ("--samples 1000001", "--samples: must be a whole number from 1 to 1000000, got '1000001'"),
        ("--lr 0", "--lr: must be a number above 0, got '0'"),
        ("--lr nan", "--lr: must be a number above 0, got 'nan'"),
        ("--lr inf", "--lr: must be a number above 0, got 'inf'"),
        ("--lr fast", "--lr: must be a number above 0, got 'fast'"),
        ("--warm-up -1", "--warm-up: must be a whole number of at least 0, got '-1'"),
        ("--warm-up 376", "--warm-up must be at most the steps of the run, got 376 of 375"),
        ("--dropout 1", "--dropout: must be a number from 0 to below 1, got '1'"),
        ("--dropout -0.1", "--dropout: must be a number from 0 to below 1, got '-0.1'"),
        ("--seed -1", "--seed: must be a whole number from 0 to 4294967295, got '-1'"),
        ("--seed 4294967296", "--seed: must be a whole number from 0 to 4294967295, got '4294967296'"),
        ("--backend mpi", "--backend: invalid choice: 'mpi' (choose from auto, nccl, gloo)"),
        ("--backend nccl", "--backend nccl needs a GPU for each rank, got 0 for 1"),
        ("--dtype float16", "--dtype: invalid choice: 'float16' (choose from float32, float64)"),
        ("--save-every 0 --checkpoint run.ckpt", "--save-every: must be a whole number of at least 1, got '0'"),
        ("--save-every 5", "--save-every needs a --checkpoint, got none"),
        ("--checkpoint no/such/run.ckpt", "--checkpoint must lie in a folder that exists, got no/such/run.ckpt"),
        ("--checkpoint .", "--checkpoint must be a file, got the folder ."),
        ("--epoch 2", "unrecognized arguments: --epoch 2"),
        ("more", "unrecognized arguments: more"),
    ],
)
def test_a_bad_flag_is_refused_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, flags: str, rule: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    monkeypatch.setattr(dist, "init_process_group", None)  # to call it is an error
    for name in ("'mpi'", "'float16'"):
        if name in rule:  # Python 3.12 left out these quotes
            rule = re.sub(
                r"from (.*)\)", lambda m: f"from {m[1]})" if sys.version_info >= (3, 12) else f"from {quoted(m[1])})", rule
            )
    says(flags.split(), rule, capsys)
    assert list(tmp_path.iterdir()) == []


def quoted(names: str) -> str:
    return ", ".join(repr(name) for name in names.split(", "))


def test_ranks_count_in_what_is_refused(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "4")
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "4")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(dist, "is_nccl_available", lambda: True)
    says(["--samples", "100"], "--batch-size times ranks must be at most --samples, got 32 times 4 for 100", capsys)
    says(["--backend", "nccl"], "--backend nccl needs a GPU for each rank, got 2 for 4", capsys)


@pytest.mark.full
def test_as_a_program_it_ends_with_status_2(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, str(SAMPLE), "--lr", "0"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: train_ddp.py ")
    assert done.stderr.endswith("error: argument --lr: must be a number above 0, got '0'\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.full
def test_under_torchrun_a_bad_flag_ends_all_ranks_with_status_2(tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    done = torchrun(2, str(SAMPLE), "--checkpoint", str(path), "--batch-size", "3000")
    assert done.returncode == 1  # torchrun's own
    assert re.search(r"exitcode +: 2 ", done.stderr), done.stderr
    assert "usage: train_ddp.py " in done.stderr
    assert "--batch-size times ranks must be at most --samples, got 3000 times 2 for 4000" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.full
def test_under_torchrun_it_runs_as_the_page_says(tmp_path: Path) -> None:
    """Four ranks, the linear rule: 128 samples a step and 0.004. Every line comes once."""
    done = torchrun(4, str(SAMPLE), "--scale-lr", "--warm-up", "10", "--checkpoint", str(tmp_path / "run.ckpt"))
    assert done.returncode == 0, done.stderr[-3000:]
    lines = done.stdout.splitlines()
    assert lines[0] == "4 ranks on cpu with gloo, 4 × 32 = 128 samples a step, learning rate 0.004"
    assert [line.split(":")[0] for line in lines[1:]] == ["epoch 1", "epoch 2", "epoch 3", "OK"]
    assert [path.name for path in tmp_path.iterdir()] == ["run.ckpt"]


# The rest ---------------------------------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    """An output that someone watches."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_a_bar_and_a_file_none(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = sample()
    flags = ["--samples", "64", "--epochs", "2"]
    for stream, shown in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stdout", stream)
        module.main(flags)
        assert ("\r████████████░░░░░░░░░░░░ 2/4" in stream.getvalue()) is shown
        assert ("\r████████████████████████ 4/4\r\033[Kepoch 2: " in stream.getvalue()) is shown


def test_a_loss_that_is_no_number_ends_the_run(tmp_path: Path) -> None:
    assert alone(tmp_path, *FLAGS, "--lr", "1e30")["ended"].startswith("the loss must stay finite, got ")


def test_it_learns(one: dict[str, Ended]) -> None:
    """Ten classes: by chance one in ten is right, and the loss is log 10 = 2.3."""
    first, last = (re.fullmatch(r"epoch \d: loss (.+), accuracy (.+)", line) for line in one["float64"]["said"].splitlines()[1:3])
    assert first is not None
    assert last is not None
    assert float(last[1]) < float(first[1]) < 2.3
    assert float(last[2]) > 0.3


@pytest.mark.parametrize(("local", "gpu"), [("3", 3), (None, 0)])
def test_with_nccl_a_rank_takes_its_gpu_before_the_group_starts(
    monkeypatch: pytest.MonkeyPatch, local: str | None, gpu: int
) -> None:
    module: Any = sample()
    events: list[str] = []
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    if local:
        monkeypatch.setenv("LOCAL_RANK", local)
    monkeypatch.setattr(torch.cuda, "set_device", lambda device: events.append(str(device)))
    monkeypatch.setattr(dist, "init_process_group", lambda backend, **_: events.append(backend))
    assert module.setup("nccl") == torch.device("cuda", gpu)
    assert events == [f"cuda:{gpu}", "nccl"]


THREADS = """
import os, sys
from verify.ddp_rank import sample
sample([(sys.argv[1], "")] if sys.argv[1:] else []).main(["--samples", "64", "--epochs", "1"])
print(*(open(f"/proc/self/task/{task}/comm").read().strip() for task in os.listdir("/proc/self/task")))
"""


@pytest.mark.full
@pytest.mark.skipif(sys.platform != "linux", reason="the threads of a process can be listed; run on Linux")
@pytest.mark.parametrize(
    ("left_out", "ends"),
    [("", True), ("import torch._dynamo", False), ("    dist.destroy_process_group()", False)],
    ids=["as it is", "loaded too late", "not destroyed"],
)
def test_no_thread_of_the_group_outlives_it(left_out: str, ends: bool) -> None:
    """One that does may need the interpreter when it is gone: "terminate called without an active exception", some of the time."""
    command = [sys.executable, "-c", THREADS, *filter(None, [left_out])]
    done = subprocess.run(command, cwd=processes.ROOT, capture_output=True, text=True, check=False)
    assert ("pt_gloo_runloop" not in done.stdout.splitlines()[-1]) is ends, done.stdout


@pytest.mark.parametrize(("gpus", "ranks", "backend"), [(0, 1, "gloo"), (1, 1, "nccl"), (3, 4, "gloo"), (4, 4, "nccl")])
def test_the_device_chooses_the_backend(monkeypatch: pytest.MonkeyPatch, gpus: int, ranks: int, backend: str) -> None:
    monkeypatch.setenv("LOCAL_WORLD_SIZE", str(ranks))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    monkeypatch.setattr(dist, "is_nccl_available", lambda: True)
    run, _ = sample().parse([])
    assert run.backend == backend


def test_a_fault_must_be_in_the_text_once() -> None:
    with pytest.raises(ValueError, match="a fault is planted in one place, got 0 of 'no such text'"):
        sample([("no such text", "")])
