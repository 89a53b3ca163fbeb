"""One rank of `docs/code/train_ddp.py` as its tests run it: torchrun starts `-m verify.ddp_rank FOLDER`, which does every training of FOLDER/plan.json.

The sample runs as it is written, or as a test has changed its text. This looks on from outside: what each rank ended with, and what it printed.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.utils import parameters_to_vector

from perfmodel.lockstep.rank import die_with_the_parent

SAMPLE = Path(__file__).resolve().parent.parent / "docs" / "code" / "train_ddp.py"


class Planned(NamedTuple):
    """A training: its flags, changes to the sample's text (old, new), and where this process is to be killed.

    `kill`: a rank, and after how many of its steps; or the rank that writes, and in which of its saves, before the new file takes the name.
    """

    name: str
    flags: Sequence[str]
    changes: Sequence[tuple[str, str]] = ()
    kill: tuple[str, int, int] | None = None  # "step" or "save", rank, count


def sample(changes: Sequence[tuple[str, str]] = ()) -> ModuleType:
    """The sample as a module, with some of its text changed. Raises ValueError where a text to change is not there exactly once."""
    source = SAMPLE.read_text(encoding="utf-8")
    for old, new in changes:
        if source.count(old) != 1:
            raise ValueError(f"a fault is planted in one place, got {source.count(old)} of {old!r}")
        source = source.replace(old, new)
    spec = importlib.util.spec_from_loader("train_ddp", loader=None)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    exec(compile(source, str(SAMPLE), "exec"), module.__dict__)
    return module


def kill_at(count: int, function: Callable[..., Any], *, before: bool) -> Callable[..., Any]:
    """The function, in whose call of that number this process is killed, before or after it has done its work."""
    calls = 0

    def wrapped(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == count and before:
            os.kill(os.getpid(), signal.SIGKILL)
        result = function(*arguments, **options)
        if calls == count:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    return wrapped


def do(planned: Planned, folder: Path) -> None:
    """Run the sample's main; what it ended with goes to NAME-rank.pt: parameters, what was printed, and why it ended."""
    module: Any = sample(planned.changes)
    rank = int(os.environ.get("RANK", "0"))
    seen: dict[str, Any] = {"ended": ""}
    same = module.same_everywhere

    def watch(net: nn.Module) -> bool:
        seen["parameters"] = parameters_to_vector(net.parameters()).detach().clone()
        return bool(same(net))

    module.same_everywhere = watch
    first = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0") == "0"
    if planned.kill and planned.kill[1] == rank and first:
        what, _, count = planned.kill
        if what == "step":
            module.train_step = kill_at(count, module.train_step, before=False)
        else:
            os.replace = kill_at(count, os.replace, before=True)
    said = folder / f"{planned.name}-{rank}.txt"
    with said.open("w", encoding="utf-8") as file, contextlib.redirect_stdout(file):
        try:
            module.main(planned.flags)
        except SystemExit as error:
            seen["ended"] = str(error)
    torch.save({**seen, "said": said.read_text(encoding="utf-8")}, folder / f"{planned.name}-{rank}.pt")


def main() -> None:
    """Every training of the plan, in one group: a group is made once, and left once."""
    die_with_the_parent()
    folder = Path(sys.argv[1])
    make, leave = dist.init_process_group, dist.destroy_process_group

    def once(*arguments: Any, **options: Any) -> None:
        if not dist.is_initialized():
            make(*arguments, **options)

    dist.init_process_group = once
    dist.destroy_process_group = lambda *_: None
    for entry in json.loads((folder / "plan.json").read_text(encoding="utf-8")):
        do(Planned(**entry), folder)
    dist.barrier()
    leave()


if __name__ == "__main__":
    main()
