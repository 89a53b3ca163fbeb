"""`make site`: builds beside `site/` and swaps at the end. Whatever happens meanwhile, `site/` is the last good site or the new one, whole.

One build works at a time: a second one waits. What a killed build has left is removed, or put right, by the next.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_HERE, _EXCHANGE = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of Linux


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Be the only one at work in `folder`. The system gives the lock back with the process, however that ends."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("a+", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            print(f"another build is at work, process {lock.read().strip() or 'unknown'}: waiting for its end", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        lock.truncate(0)
        print(os.getpid(), file=lock, flush=True)
        yield


def make(root: Path) -> int:
    """Build the site of a project into its `site/`. Returns the exit status: 0, or another when there was a fault and `site/` is as it was.

    Raises OSError where the disk is full, or can't be written.
    """
    site, folder = root / "site", root / "build"
    new, last = folder / "site", folder / "last"
    with alone(folder):
        if not site.exists() and last.exists():  # a build that was killed between the two steps of a swap
            last.rename(site)
        _remove(new)
        _remove(last)
        status = build(root, new)
        if status == 0:
            swap(new, site, last)
        _remove(new)
        _remove(last)
    return status


def build(root: Path, to: Path) -> int:
    """`mkdocs build --strict`, in this process. Raises OSError where the system refuses to read or to write."""
    os.environ.setdefault("NO_MKDOCS_2_WARNING", "1")
    from click import ClickException
    from mkdocs.__main__ import cli

    command = ["build", "--strict", "--config-file", str(root / "mkdocs.yml"), "--site-dir", str(to)]
    try:
        cli.main(command, prog_name="mkdocs", standalone_mode=False)
    except ClickException as error:
        error.show()
        return 1
    except SystemExit as error:  # MkDocs has said what is wrong
        if isinstance(error.code, str):
            print(error.code, file=sys.stderr)
            return 1
        return error.code or 0
    return 0


def swap(new: Path, site: Path, last: Path) -> None:
    """Put `new` in the place of `site`, in one step where the system can do that; what was there is left at `new` or at `last`."""
    if not site.exists() and not site.is_symlink():
        new.rename(site)
    elif not _exchange(new, site):
        site.rename(last)
        try:
            new.rename(site)
        except OSError:
            last.rename(site)
            raise


def _exchange(one: Path, other: Path) -> bool:
    """Exchange what two paths lead to, in one step. False where the system can't."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):  # no Linux, or an old C library
        return False
    return bool(rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def main(root: Path = ROOT) -> int:
    """`make site`; says in one line what the system refused."""
    try:
        status = make(root)
    except OSError as error:
        place = error.filename2 or error.filename  # where a copy goes to comes second
        what = f"{error.strerror or error}{f': {place}' if place else ''}"
        print(f"no site was built, and site/ is as it was: {what}", file=sys.stderr)
        return 1
    if status == 0:
        print("open site/index.html")
    return status


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it at once, without a traceback: there is nothing to tidy
    sys.exit(main())
