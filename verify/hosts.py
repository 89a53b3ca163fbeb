"""Several hosts on one machine: Linux namespaces with names and networks of their own, made without touching the machine's.

Everything happens in a user namespace of its own, so no rights are needed where those are allowed, and nothing is left behind:
the namespaces end with the processes in them.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple


class Host(NamedTuple):
    """A host of its own network: a command prefix that runs a program on it, its address, and the name of its interface."""

    prefix: tuple[str, ...]
    address: str
    interface: str


class NotPermittedError(Exception):
    """This machine gives no leave to make such a host, or lacks a tool. The message says what is missing."""


# The first host is the shell that runs this, the second a process of its own; a cable joins them. Both end when input does.
_TWO = """set -e
ip link set lo up
unshare --net sh -c 'ip link set lo up; exec sleep 1000' & other=$!
trap "kill $other" EXIT
sleep 0.2
ip link add one type veth peer name two netns $other
ip addr add 10.77.0.1/24 dev one
ip link set one up
nsenter --target $other --net sh -c 'ip addr add 10.77.0.2/24 dev two; ip link set two up'
echo $$ $other
read _ || true
"""


@contextmanager
def two() -> Iterator[tuple[Host, Host]]:
    """Two hosts that share a cable and nothing else of the network. Raises NotPermittedError where that can't be had."""
    missing = [tool for tool in ("unshare", "nsenter", "ip") if not shutil.which(tool)]
    if missing:
        raise NotPermittedError(f"needs {' and '.join(missing)}; apt-get install util-linux iproute2")
    command = ["unshare", "--user", "--map-root-user", "--net", "sh", "-c", _TWO]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as shell:
        assert shell.stdin is not None
        assert shell.stdout is not None
        assert shell.stderr is not None
        ready = shell.stdout.readline().split()
        if len(ready) != 2:
            why = (shell.stderr.read().strip().splitlines() or ["no reason given"])[-1]
            raise NotPermittedError(f"needs leave to make network namespaces ({why}); run where user namespaces are allowed")
        try:
            enter = [("nsenter", "--target", process, "--user", "--preserve-credentials", "--net", "--") for process in ready]
            yield Host(enter[0], "10.77.0.1", "one"), Host(enter[1], "10.77.0.2", "two")
        finally:
            shell.stdin.close()


def _allowed(command: Sequence[str]) -> bool:
    """Whether a command can be run here, and succeeds."""
    if not shutil.which(command[0]):
        return False
    return subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0


def named(name: str) -> tuple[str, ...]:
    """A command prefix under which the machine has another name, which nothing can resolve; empty where that is not permitted."""
    for space in (("unshare", "--user", "--map-root-user", "--uts"), ("unshare", "--uts")):
        prefix = (*space, "sh", "-c", f'hostname {name} && exec "$@"', "host")
        if _allowed(prefix):
            return prefix
    return ()
