"""Write imperative, run compiled: one small network, three ways to run it, one output.

python compile_model.py
"""

import os
import shutil
import sys
import sysconfig
import warnings
from pathlib import Path

import torch
from torch import nn

# torch.jit is deprecated since PyTorch 2.9 and says so; torch.compile still imports it. This page knows, so the warning is left out.
warnings.filterwarnings("ignore", message=r"`torch\.jit\.script", category=DeprecationWarning)


# part: network
def mlp() -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(512, 256),
        nn.ReLU(),
        nn.Linear(256, 128),
        nn.ReLU(),
        nn.Linear(128, 2),
    )


# end: network


# part: script
def by_script(net: nn.Module) -> nn.Module:
    return torch.jit.script(net)  # compiled once, here; deprecated since PyTorch 2.9


# end: script


# part: compile
def by_compile(net: nn.Module) -> nn.Module:
    return torch.compile(net)  # compiled at the first call, again for another kind of input


# end: compile


# part: same
def largest_difference(before: nn.Module, after: nn.Module, x: torch.Tensor) -> float:
    with torch.no_grad():
        return float((before(x) - after(x)).abs().max())


# end: same


def why_not() -> str:
    """What torch.compile lacks on this machine; empty when it lacks nothing."""
    compiler = os.environ.get("CXX", "clang++" if sys.platform == "darwin" else "g++")
    if shutil.which(compiler) is None:
        return f"torch.compile needs a C++ compiler, and there is no {compiler}"
    if not (Path(sysconfig.get_paths()["include"]) / "Python.h").exists():
        return "torch.compile needs a C++ compiler and Python's header files; install python3-dev"
    return ""


def main() -> None:
    # A small compilation, so that this sample takes seconds: no vector instructions, no headers compiled ahead, no helpers.
    os.environ.setdefault("TORCHINDUCTOR_VEC_ISA_OK", "0")
    os.environ.setdefault("TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS", "0")
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    torch.manual_seed(0)
    net, x = mlp(), torch.randn(1, 512)
    print(f"the network gives {[round(v, 4) for v in net(x)[0].tolist()]}")

    difference = largest_difference(net, by_script(net), x)
    print(f"torch.jit.script: largest difference {difference:.1e}")
    if difference > 1e-6:
        raise SystemExit("the scripted network must give the same output")

    if reason := why_not():
        print(f"NOT RUN: {reason}")
        return
    difference = largest_difference(net, by_compile(net), x)
    print(f"torch.compile: largest difference {difference:.1e}")
    if difference > 1e-6:  # float32: another order of additions may change the last digits
        raise SystemExit("the compiled network must give the same output")
    print("OK: the same output before and after, with torch.jit.script and with torch.compile")


if __name__ == "__main__":
    main()
