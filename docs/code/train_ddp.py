"""Train a small network on one process or on many: each holds the whole model, sees its part of every batch, and averages gradients.

python train_ddp.py
torchrun --standalone --nproc_per_node=4 train_ddp.py --scale-lr --warm-up 10 --checkpoint run.pt
"""

import argparse
import hashlib
import io
import math
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import torch
import torch._dynamo  # DDP loads it; loaded after the group has started, it would keep the group's threads alive to the end
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.nn.utils import parameters_to_vector

UNSEEN = 1000  # samples that no step sees, to measure on
CLEAR = "\r\033[K"  # on a terminal: begin the line again


# part: setup
def setup(backend: str) -> torch.device:
    """Join the group. NCCL: this rank has a GPU; gloo: it uses the CPU."""
    if backend == "nccl":
        gpu = int(os.environ.get("LOCAL_RANK", "0"))  # torchrun sets it
        device = torch.device("cuda", gpu)
        torch.cuda.set_device(device)  # before anything touches a GPU
    else:
        device = torch.device("cpu")
    if "LOCAL_RANK" in os.environ:
        dist.init_process_group(backend)
    else:  # started by plain python: a group of one
        alone = dist.HashStore()
        dist.init_process_group(backend, store=alone, rank=0, world_size=1)
    return device


# end: setup


# part: model
def make_model(dropout: float) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(784, 256),
        nn.ReLU(),
        nn.Dropout(dropout),
        nn.Linear(256, 10),
    )


# end: model


# part: data
def make_data(samples: int, seed: int) -> tuple[Tensor, Tensor]:
    """Made up: each of ten classes has a pattern, each sample adds noise."""
    random = torch.Generator().manual_seed(seed)
    patterns = torch.randn(10, 784, generator=random)
    y = torch.randint(10, (samples,), generator=random)
    noise = torch.randn(samples, 784, generator=random)
    return 0.15 * patterns[y] + noise, y


# end: data


# part: sampler
def shards(
    samples: int,
    batch: int,  # of all ranks together
    rank: int,
    ranks: int,
    seed: int,
) -> Iterator[tuple[Tensor, int]]:
    """An epoch: this rank's part of each batch, and the whole batch's size.

    All ranks shuffle alike and cut alike: no sample comes twice, none is
    left out. The last parts may be shorter, or empty.
    """
    random = torch.Generator().manual_seed(seed)
    order = torch.randperm(samples, generator=random)
    for whole in order.split(batch):
        yield whole.tensor_split(ranks)[rank], len(whole)


# end: sampler


# part: loss
def weighted_loss(logits: Tensor, y: Tensor, whole: int) -> Tensor:
    """The sum over this rank's part, times ranks / whole.

    DDP divides the sum of all gradients by the ranks. What is left is the
    sum over the whole batch divided by its size, also for uneven parts.
    """
    summed = nn.CrossEntropyLoss(reduction="sum")(logits, y)
    return summed * (dist.get_world_size() / whole)


# end: loss


# part: rate
def scaled_rate(lr: float, batch: int) -> float:
    """The linear rule: a batch four times as large, four times the rate."""
    return lr * (batch / 32)  # lr is meant for 32 samples a step


def rate_at(step: int, full: float, warm_up: int) -> float:
    """Warm-up: the rate grows in equal steps, then stays."""
    return full * min(1.0, (step + 1) / max(1, warm_up))


# end: rate


# part: evaluate
@torch.no_grad()
def evaluate(net: nn.Module, X: Tensor, y: Tensor) -> tuple[float, float]:
    """Mean loss and accuracy over all samples, each looked at by one rank."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    net.eval()
    logits, labels = net(X[rank::ranks]), y[rank::ranks]
    net.train()
    loss = nn.CrossEntropyLoss(reduction="sum")(logits, labels)
    right = (logits.argmax(1) == labels).sum()
    both = torch.stack([loss, right.to(loss.dtype)])
    dist.all_reduce(both)  # sums over all ranks
    mean_loss, accuracy = (both / len(X)).tolist()
    if not math.isfinite(mean_loss):
        raise SystemExit(f"the loss must stay finite, got {mean_loss}")
    return mean_loss, accuracy


# end: evaluate


# part: report
def say(text: str) -> None:
    """Rank 0 speaks for all: the others hold the same."""
    if dist.get_rank() == 0:
        print((CLEAR if sys.stdout.isatty() else "") + text, flush=True)


def progress(step: int, steps: int) -> None:
    """A bar, where someone watches; none in a log file."""
    if dist.get_rank() == 0 and sys.stdout.isatty():
        bar = "█" * (24 * step // steps)
        print(f"\r{bar:░<24} {step}/{steps}", end="", flush=True)


# end: report


# part: save
def save(path: Path, state: dict[str, Any]) -> None:
    """Whoever reads finds the old file or the new one, never a part."""
    buffer = io.BytesIO()
    torch.save(state, buffer)
    content = buffer.getvalue()
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        with beside.open("wb") as file:
            file.write(hashlib.sha256(content).digest() + content)
            file.flush()
            os.fsync(file.fileno())  # on the disk before it takes the name
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


# end: save


# part: load
def load(path: Path) -> dict[str, Any] | None:
    """What was saved; None where there is no file yet."""
    if not path.exists():
        return None
    content = path.read_bytes()
    checksum, content = content[:32], content[32:]
    if hashlib.sha256(content).digest() != checksum:
        raise ValueError(f"{path} is torn, or not a checkpoint of this file")
    file = io.BytesIO(content)
    return torch.load(file, map_location="cpu", weights_only=True)


# end: load


# part: state
def everyones_random(device: torch.device) -> list[Tensor]:
    """The random state of every rank: each draws a dropout of its own."""
    cuda = device.type == "cuda"
    state = torch.cuda.get_rng_state() if cuda else torch.get_rng_state()
    mine = state.to(device)
    states = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
    dist.all_gather(states, mine)
    return [state.cpu() for state in states]


def resume(state: Any, net: nn.Module, adam: torch.optim.Adam) -> int:
    """Rank 0 has the state, or None: put all ranks there; returns the step."""
    device, box = next(net.parameters()).device, [state]
    dist.broadcast_object_list(box, src=0, device=device)
    if (state := box[0]) is None:
        return 0
    net.load_state_dict(state["net"])
    adam.load_state_dict(state["adam"])
    cuda = device.type == "cuda"
    set_random = torch.cuda.set_rng_state if cuda else torch.set_rng_state
    set_random(state["random"][dist.get_rank()])
    return state["step"]


# end: state


# part: settle
def settle(model: DDP, x: Tensor) -> None:
    """A first pass that changes nothing.

    After its first backward DDP lays out its buffers anew, and another
    layout adds the ranks in another order. A run that resumes would do
    so later than one that was never stopped, and end with other last bits.
    """
    (0 * model(x).sum()).backward()
    model.zero_grad()


# end: settle


# part: step
def train_step(
    model: DDP,
    adam: torch.optim.Adam,
    part: tuple[Tensor, Tensor],
    whole: int,
    rate: float,
) -> None:
    X, y = part
    adam.param_groups[0]["lr"] = rate
    adam.zero_grad()
    loss = weighted_loss(model(X), y, whole)
    loss.backward()  # meanwhile DDP averages the gradients over all ranks
    adam.step()  # so each rank takes the same step


# end: step


# part: loop
def train(
    model: DDP,
    adam: torch.optim.Adam,
    data: tuple[Tensor, Tensor],
    done: int,
    run: argparse.Namespace,
) -> None:
    """From step `done` to the last, on the first samples; the rest tests."""
    X, y = data
    for epoch in range(done // run.each + 1, run.epochs + 1):
        seed = run.seed + epoch
        batches = shards(run.samples, run.batch, run.rank, run.ranks, seed)
        for part, whole in islice(batches, done % run.each, None):
            rate = rate_at(done, run.rate, run.warm_up)
            train_step(model, adam, (X[part], y[part]), whole, rate)
            done += 1
            progress(done, run.steps)
            if done % run.every == 0 or done == run.steps:
                keep(run, done, model.module, adam)
        unseen = X[run.samples :], y[run.samples :]
        loss, right = evaluate(model.module, *unseen)
        say(f"epoch {epoch}: loss {loss:.4f}, accuracy {right:.3f}")


# end: loop


# part: same
def same_everywhere(net: nn.Module) -> bool:
    """Whether all ranks hold the same parameters, bit for bit."""
    mine = parameters_to_vector(net.parameters()).detach()
    first = mine.clone()
    dist.broadcast(first, 0)
    bits = torch.uint8  # so that NaN equals itself
    equal = torch.equal(mine.view(bits), first.view(bits))
    all_equal = torch.tensor(float(equal), device=mine.device)
    dist.all_reduce(all_equal, dist.ReduceOp.MIN)
    return bool(all_equal)


# end: same


# part: flags
def flags() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    add = parser.add_argument
    positive = number("a number above 0", lambda x: x > 0)
    share = number("a number from 0 to below 1", lambda x: 0 <= x < 1)
    add("--epochs", type=whole_number(1), default=3)
    add("--batch-size", type=whole_number(1), default=32, help="of a rank")
    add("--samples", type=whole_number(1, 10**6), default=4000)
    add("--lr", type=positive, default=1e-3, help="for 32 samples a step")
    add("--scale-lr", action="store_true", help="by the linear rule")
    add("--warm-up", type=whole_number(0), default=0, help="steps")
    add("--dropout", type=share, default=0.0)
    add("--seed", type=whole_number(0, 2**32 - 1), default=0)
    add("--dtype", choices=["float32", "float64"], default="float32")
    add("--backend", choices=["auto", "nccl", "gloo"], default="auto")
    add("--checkpoint", type=Path, help="resume from it, and keep it")
    add("--save-every", type=whole_number(1), help="steps; else an epoch")
    return parser


# end: flags


# part: values
def whole_number(least: int, most: float = math.inf) -> Callable:
    bounds = f"of at least {least}"
    if most < math.inf:
        bounds = f"from {least} to {most}"

    def read(text: str) -> int:
        if text.isdecimal() and least <= int(text) <= most:
            return int(text)
        rule = f"must be a whole number {bounds}, got {text!r}"
        raise argparse.ArgumentTypeError(rule)

    return read


def number(rule: str, holds: Callable[[float], bool]) -> Callable:
    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if math.isfinite(value) and holds(value):
            return value
        raise argparse.ArgumentTypeError(f"must be {rule}, got {text!r}")

    return read


# end: values


# part: plan
def plan(run: argparse.Namespace) -> None:
    """What follows from the flags, and from where torchrun put this rank."""
    run.rank = int(os.environ.get("RANK", "0"))
    run.ranks = int(os.environ.get("WORLD_SIZE", "1"))
    run.batch = run.batch_size * run.ranks
    run.each = math.ceil(run.samples / run.batch)  # steps of an epoch
    run.steps = run.epochs * run.each
    run.rate = scaled_rate(run.lr, run.batch) if run.scale_lr else run.lr
    run.every = run.save_every or run.each
    run.here = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))  # ranks
    run.gpus = torch.cuda.device_count() if dist.is_nccl_available() else 0
    if run.backend == "auto":
        run.backend = "nccl" if run.gpus >= run.here else "gloo"


# end: plan


# part: rules
def refuse(rule: str, got: object) -> None:
    raise ValueError(f"{rule}, got {got}")


def check(run: argparse.Namespace) -> None:
    """The rules that no flag can break alone."""
    if run.batch > run.samples:
        got = f"{run.batch_size} times {run.ranks} for {run.samples}"
        refuse("--batch-size times ranks must be at most --samples", got)
    if run.warm_up > run.steps:
        got = f"{run.warm_up} of {run.steps}"
        refuse("--warm-up must be at most the steps of the run", got)
    if run.backend == "nccl" and run.gpus < run.here:
        got = f"{run.gpus} for {run.here}"
        refuse("--backend nccl needs a GPU for each rank", got)
    if run.save_every and not run.checkpoint:
        refuse("--save-every needs a --checkpoint", "none")
    path = run.checkpoint
    if path and run.rank == 0 and not path.absolute().parent.is_dir():
        refuse("--checkpoint must lie in a folder that exists", path)
    if path and run.rank == 0 and path.is_dir():
        refuse("--checkpoint must be a file", f"the folder {path}")


# end: rules


# part: read
SAME = "ranks batch_size samples lr scale_lr warm_up dropout"
SAME += " seed dtype backend"


def named(run: argparse.Namespace) -> dict[str, Any]:
    """What a checkpoint's run and this one must share, to end alike."""
    return {name: getattr(run, name) for name in SAME.split()}


def read_checkpoint(run: argparse.Namespace) -> dict[str, Any] | None:
    """For rank 0, which hands it to all: the state to go on from, if any."""
    state = load(run.checkpoint) if run.checkpoint and run.rank == 0 else None
    if state is None:
        return None
    for name, now in named(run).items():
        if (then := state["run"][name]) != now:
            rule = f"{run.checkpoint} is of another run: {name} must be {then}"
            refuse(rule, now)
    if state["step"] > run.steps:
        rule = f"{run.checkpoint} must not be past the end of this run"
        refuse(rule, f"step {state['step']} of {run.steps}")
    return state


# end: read


def parse(arguments: Sequence[str] | None) -> tuple[argparse.Namespace, dict[str, Any] | None]:
    """The run that is asked for, and where it goes on. What is wrong ends it here: usage, the rule, status 2, and no group yet."""
    parser = flags()
    run = parser.parse_args(arguments)
    plan(run)
    try:
        check(run)
        return run, read_checkpoint(run)
    except ValueError as error:
        parser.error(str(error))


# part: keep
def keep(
    run: argparse.Namespace,
    step: int,
    net: nn.Module,
    adam: torch.optim.Adam,
) -> None:
    """All ranks give their random state; rank 0 writes."""
    if not run.checkpoint:
        return
    random = everyones_random(next(net.parameters()).device)
    if run.rank == 0:
        state = {"run": named(run), "step": step, "random": random}
        state |= {"net": net.state_dict(), "adam": adam.state_dict()}
        save(run.checkpoint, state)


# end: keep


def describe(run: argparse.Namespace, device: torch.device, done: int) -> None:
    ranks = "1 rank" if run.ranks == 1 else f"{run.ranks} ranks"
    samples = f"{run.ranks} × {run.batch_size} = {run.batch} samples a step"
    say(f"{ranks} on {device.type} with {run.backend}, {samples}, learning rate {run.rate:g}")
    if done:
        say(f"going on after step {done} of {run.steps}")


# part: work
def work(run: argparse.Namespace, device: torch.device, state: Any) -> None:
    torch.manual_seed(run.seed)
    dtype = getattr(torch, run.dtype)
    net = make_model(run.dropout).to(device, dtype)
    model = DDP(net, device_ids=[device] if device.type == "cuda" else None)
    adam = torch.optim.Adam(net.parameters(), lr=run.rate)
    X, y = make_data(run.samples + UNSEEN, run.seed)
    data = X.to(device, dtype), y.to(device)
    settle(model, data[0][:1])
    torch.manual_seed(run.seed + 1 + run.rank)  # each its own dropout
    done = resume(state, net, adam)
    describe(run, device, done)
    train(model, adam, data, done, run)
    if not same_everywhere(net):
        raise SystemExit("all ranks must hold the same parameters")
    say(f"OK: {run.steps} steps; all ranks hold the same, bit for bit")


# end: work


# part: main
def main(arguments: Sequence[str] | None = None) -> None:
    run, state = parse(arguments)  # no group yet: a wrong flag ends it here
    device = setup(run.backend)
    work(run, device, state)
    dist.destroy_process_group()  # the model, which holds it, is gone


# end: main


if __name__ == "__main__":
    main()
