"""Hostile and unlucky conditions: the site is right, or one clear line says what is wrong; and the last good `site/` stays whole."""

from __future__ import annotations

import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import pytest
from mkdocs.exceptions import PluginError

from macros import fingerprint
from macros import site as making
from macros.audit import CALLABLE, NAMED, Audit, apply_fixes, audit_page, audit_sources
from macros.build import on_startup
from macros.evaluate import Evaluator, book, using
from macros.files import check_files, pages_of
from macros.scan import source_of
from verify.checkout import ROOT, add_page, replace, small
from verify.test_site import free_port, wait_for

COMMAND = (sys.executable, "-m", "macros.site")
MAKE = (shutil.which("make") or "make", "-o", ".venv/.ready", f"PY={sys.executable}")


def run(
    project: Path, *prefix: str, target: str = "site", preexec_fn: Callable[[], None] | None = None,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> subprocess.CompletedProcess[str]:  # fmt: skip
    """`make site` in a project whose virtual environment is taken to be there; stdout and stderr together in `stdout`."""
    return subprocess.run(
        [*prefix, *MAKE, target], cwd=project, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, encoding="utf-8", check=False, preexec_fn=preexec_fn,
    )  # fmt: skip


def files(site: Path) -> dict[str, bytes]:
    """Every file of a site, by its path."""
    return {str(p.relative_to(site)): p.read_bytes() for p in site.rglob("*") if p.is_file()}


def said(done: subprocess.CompletedProcess[str]) -> list[str]:
    """What a build said, but for how it goes on."""
    assert "Traceback" not in done.stdout
    return [line for line in done.stdout.splitlines() if line and not line.startswith(("INFO", "numbers ", "make: ***"))]


def in_namespace(setup: str, *spaces: str, root: bool = True) -> list[str]:
    """A command prefix that runs a program in namespaces of its own, after `setup`; a skip where that is not permitted."""
    prefix = ["unshare", "--user", *(["--map-root-user"] if root else []), *spaces, "sh", "-c", f'{setup} && exec "$@"', "sh"]
    if not shutil.which("unshare"):
        pytest.skip("needs unshare; apt-get install util-linux")
    tried = subprocess.run([*prefix, "true"], capture_output=True, text=True, check=False)
    if tried.returncode:
        pytest.skip(f"needs leave to make namespaces ({tried.stderr.strip()}); run where user namespaces are allowed")
    return prefix


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small project, built."""
    project = small(tmp_path_factory.mktemp("small") / "project")
    done = run(project)
    assert done.returncode == 0, done.stdout
    return project


@pytest.fixture
def project(first: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return shutil.copytree(first, tmp_path / "project", symlinks=True)


# The swap


def pretend(monkeypatch: pytest.MonkeyPatch, what: Callable[[Path], int]) -> None:
    """Let `what` be the build: it gets the folder that it is to fill."""
    monkeypatch.setattr(making, "build", lambda root, to: what(to))


def write(to: Path, words: str) -> int:
    """A build of one page."""
    to.mkdir()
    (to / "index.html").write_text(words, encoding="utf-8")
    return 0


@pytest.mark.parametrize("exchange", [True, False], ids=["one step", "two steps"])
@pytest.mark.parametrize("before", ["nothing", "a site", "a link", "a file"])
def test_a_build_takes_the_place_of_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exchange: bool, before: str
) -> None:
    if not exchange:
        monkeypatch.setattr(making, "_exchange", lambda one, other: False)
    site, elsewhere = tmp_path / "site", tmp_path / "elsewhere"
    write(elsewhere, "not ours")
    if before == "a site":
        write(site, "old")
        (site / "gone.html").touch()
    elif before == "a link":
        site.symlink_to(elsewhere)
    elif before == "a file":
        site.touch()
    pretend(monkeypatch, lambda to: write(to, "new"))
    assert making.make(tmp_path) == 0
    assert files(site) == {"index.html": b"new"}
    assert not site.is_symlink()
    assert files(elsewhere) == {"index.html": b"not ours"}
    assert [p.name for p in (tmp_path / "build").iterdir()] == ["lock"]


def test_here_a_site_is_never_missing(tmp_path: Path) -> None:
    """While one process swaps all the time, another always finds the page: where the system can exchange two folders, it does."""
    site, other = tmp_path / "site", tmp_path / "other"
    write(site, "a")
    write(other, "b")
    if not making._exchange(site, other):
        pytest.skip("needs a file system that exchanges two folders in one step; run on ext4, xfs, btrfs or tmpfs")
    swaps = f"from pathlib import Path\nfrom macros.site import swap\nwhile True: swap(Path({str(other)!r}), Path({str(site)!r}), Path())"
    with subprocess.Popen([sys.executable, "-c", swaps], cwd=ROOT) as swapping:
        try:
            end, seen, left = time.monotonic() + 30, set(), 2000
            while left and time.monotonic() < end and swapping.poll() is None:
                seen.add((site / "index.html").read_text(encoding="utf-8"))
                left -= len(seen) == 2  # once it swaps
        finally:
            swapping.kill()
    assert seen == {"a", "b"}


def test_a_build_killed_between_the_two_steps_of_a_swap_is_put_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if the next build fails."""
    write(tmp_path / "site", "old")
    pretend(monkeypatch, lambda to: write(to, "new"))
    monkeypatch.setattr(making, "_exchange", lambda one, other: False)
    rename = Path.rename

    def dies(self: Path, to: Path) -> Path:
        if to.name == "site":
            raise KeyboardInterrupt
        return rename(self, to)

    monkeypatch.setattr(Path, "rename", dies)
    with pytest.raises(KeyboardInterrupt):
        making.make(tmp_path)
    monkeypatch.setattr(Path, "rename", rename)
    assert not (tmp_path / "site").exists()
    pretend(monkeypatch, lambda to: 1)
    assert making.make(tmp_path) == 1
    assert files(tmp_path / "site") == {"index.html": b"old"}


def test_a_swap_that_is_refused_leaves_the_old_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "site", "old")
    monkeypatch.setattr(making, "_exchange", lambda one, other: False)
    with pytest.raises(FileNotFoundError):
        making.swap(tmp_path / "nothing", tmp_path / "site", tmp_path / "last")
    assert files(tmp_path / "site") == {"index.html": b"old"}


@pytest.mark.parametrize("left", ["a folder", "a link"])
def test_what_a_killed_build_left_is_no_part_of_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: str) -> None:
    (tmp_path / "build").mkdir()
    write(tmp_path / "elsewhere", "not ours")
    if left == "a folder":
        write(tmp_path / "build" / "site", "half")
        (tmp_path / "build" / "site" / "stray.html").touch()
    else:
        (tmp_path / "build" / "site").symlink_to(tmp_path / "elsewhere")
    pretend(monkeypatch, lambda to: write(to, "new"))
    assert making.make(tmp_path) == 0
    assert files(tmp_path / "site") == {"index.html": b"new"}
    assert files(tmp_path / "elsewhere") == {"index.html": b"not ours"}


def test_the_system_refuses_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "site", "old")

    def full(to: Path) -> int:
        write(to, "half")
        raise OSError(28, "No space left on device", str(to / "numbers.html"))

    pretend(monkeypatch, full)
    assert making.main(tmp_path) == 1
    assert capsys.readouterr().err == (
        f"no site was built, and site/ is as it was: No space left on device: {tmp_path / 'build/site/numbers.html'}\n"
    )
    assert files(tmp_path / "site") == {"index.html": b"old"}


def test_a_second_build_waits_and_says_for_whom(tmp_path: Path) -> None:
    """Both end, one after the other; and the lock of one that was killed holds nobody up."""
    folder = tmp_path / "build"
    hold = f"from pathlib import Path\nfrom macros.site import alone\nwith alone(Path({str(folder)!r})):\n    print('in', flush=True)\n    input()"
    started = [sys.executable, "-c", hold]
    with subprocess.Popen(started, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline() == "in\n"
        with subprocess.Popen(started, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
            assert other.stdout is not None
            assert other.stdout.readline() == f"another build is at work, process {holder.pid}: waiting for its end\n"
            holder.kill()
            assert other.stdout.readline() == "in\n"
            other.communicate("\n", timeout=10)
            assert other.returncode == 0
    assert (folder / "lock").read_text(encoding="utf-8") == f"{other.pid}\n"


def test_no_other_command_puts_a_folder_where_the_lock_or_a_build_is() -> None:
    """As `make lock` once did."""
    used = set(re.findall(r"\bbuild/([\w.-]+)", (ROOT / "Makefile").read_text(encoding="utf-8")))
    assert used
    assert used & {"lock", "site", "last"} == set()


# Builds for real


@pytest.mark.build
@pytest.mark.quick
def test_a_build_under_the_worst_conditions_gives_the_same_bytes(first: Path, tmp_path: Path) -> None:
    """Another place with blanks and other letters, another time zone, a locale that has no signs, no home, no git."""
    other = shutil.copytree(
        first, tmp_path / "ein Pfad mit Ümläuten #1 %41" / "project", ignore=shutil.ignore_patterns("site", "build")
    )
    done = run(other, environment=WORST)
    assert done.returncode == 0, done.stdout
    assert said(done) == ["open site/index.html"]
    assert files(other / "site") == files(first / "site")


WORST = {
    "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONHASHSEED": "12345", "TZ": "Pacific/Kiritimati", "PYTHONWARNINGS": "error",
    "HOME": "/nonexistent", "PATH": "/nonexistent", "PYTHONDONTWRITEBYTECODE": "1", "SOURCE_DATE_EPOCH": "",
}  # fmt: skip


@pytest.mark.build
@pytest.mark.full
def test_the_whole_site_under_the_worst_conditions_is_the_same(site: Path, tmp_path: Path) -> None:
    checkout = tmp_path / "ein Pfad mit Ümläuten #1 %41" / "project"
    for file in fingerprint.files():
        (checkout / file.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, checkout / file.relative_to(ROOT))
    if (ROOT / "verification.json").exists():  # it stands on a page, when it belongs to these sources
        shutil.copy(ROOT / "verification.json", checkout)
    done = run(checkout, environment=WORST)
    assert (done.returncode, said(done)) == (0, ["open site/index.html"])
    mine, other = files(site), files(checkout / "site")
    assert mine.keys() == other.keys()
    assert [name for name in mine if mine[name] != other[name]] == []


@pytest.mark.build
@pytest.mark.full
def test_a_killed_build_leaves_the_site_and_the_next_one_works(project: Path) -> None:
    """Killed while its files are being written."""
    before = files(project / "site")
    add_page(project, "second.md")
    with subprocess.Popen(COMMAND, cwd=project, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as building:
        while not (project / "build" / "site" / "index.html").exists():
            assert building.poll() is None
            time.sleep(0.002)
        building.kill()
    assert (project / "build" / "site").exists()
    assert files(project / "site") == before
    assert run(project).returncode == 0
    assert (project / "site" / "second.html").exists()
    assert not (project / "build" / "site").exists()


@pytest.mark.build
def test_a_checkout_that_is_read_only_is_told_of_in_one_line(project: Path) -> None:
    """And the checks that only read go on."""
    before = files(project / "site")
    read_only = in_namespace(f"mount --bind '{project}' '{project}' && mount -o remount,ro,bind '{project}'", "--mount")
    # The mount is seen by those who come to the folder after it.
    done = run(project, *read_only, "sh", "-c", f"cd '{project}' && exec \"$@\"", "sh")
    assert (done.returncode, said(done)) == (
        2, [f"no site was built, and site/ is as it was: Read-only file system: {project / 'build/lock'}"],
    )  # fmt: skip
    assert files(project / "site") == before
    audit = [sys.executable, "-m", "macros.audit"]
    done = subprocess.run(
        [*read_only, "sh", "-c", f"cd '{project}' && exec \"$@\"", "sh", *audit],
        capture_output=True,
        text=True,
        cwd=project,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("numbers   1 quoted")


@pytest.mark.build
@pytest.mark.full
def test_a_full_disk_is_told_of_in_one_line(project: Path) -> None:
    """A disk of one megabyte for what is built, which the ledger alone fills."""
    before = files(project / "site")
    disk = project / "build"
    tiny = in_namespace(f"mount -t tmpfs -o size=1m tmpfs '{disk}'", "--mount")
    done = run(project, *tiny)
    assert done.returncode == 2
    (line,) = said(done)
    assert line.startswith(f"no site was built, and site/ is as it was: No space left on device: {disk}/site/"), line
    assert files(project / "site") == before


@pytest.mark.build
@pytest.mark.full
def test_a_limit_on_the_size_of_files_is_told_of_in_one_line(project: Path) -> None:
    before = files(project / "site")
    done = run(project, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000)))
    assert done.returncode == 2
    (line,) = said(done)
    assert line.startswith(f"no site was built, and site/ is as it was: File too large: {project}/build/site/"), line
    assert files(project / "site") == before


@pytest.mark.build
@pytest.mark.full
def test_a_build_stopped_at_any_moment_does_no_harm(project: Path) -> None:
    """At moments drawn over the whole of a build, its end too; `site/` is the one before or the one after, whole."""
    old = files(project / "site")
    add_page(project, "second.md")
    began = time.monotonic()
    assert run(project).returncode == 0
    took = time.monotonic() - began
    new = files(project / "site")
    seed = random.randrange(10**6)
    moments = random.Random(seed)
    shutil.rmtree(project / "site")
    for path, data in old.items():
        (project / "site" / path).parent.mkdir(parents=True, exist_ok=True)
        (project / "site" / path).write_bytes(data)
    stops = [(by, share) for by in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL) for share in (moments.random(), 0.95)]
    for by, moment in [(by, max(share * took, 0.1)) for by, share in stops]:
        with subprocess.Popen(COMMAND, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as building:
            time.sleep(moment)
            building.send_signal(by)
            told = building.communicate()[0]
        where = f"{by.name} after {moment:.2f} s of {took:.2f}, seed {seed}: {told[-500:]}"
        assert files(project / "site") in (old, new), where
        assert "Traceback" not in told or moment < 0.5, where  # Python itself tells where it was when it is only starting
    assert run(project).returncode == 0
    assert files(project / "site") == new
    assert [p.name for p in (project / "build").iterdir()] == ["lock"]


@pytest.mark.build
@pytest.mark.full
def test_two_builds_at_once_are_both_right(project: Path) -> None:
    before = files(project / "site")
    both = [subprocess.Popen(COMMAND, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for _ in range(2)]
    told = [building.communicate()[0] for building in both]
    assert [building.returncode for building in both] == [0, 0], told
    assert sum("another build is at work, process " in words for words in told) == 1
    assert files(project / "site") == before


@pytest.mark.build
@pytest.mark.full
def test_without_a_network_a_build_is_the_same(project: Path) -> None:
    before = files(project / "site")
    done = run(project, *in_namespace("true", "--net"))
    assert (done.returncode, said(done)) == (0, ["open site/index.html"])
    assert files(project / "site") == before


@pytest.mark.build
@pytest.mark.full
def test_the_date_of_the_sources_is_honoured(project: Path) -> None:
    """The packed list of pages, for search engines, is what carries a date; by default it is the same in every build."""
    replace(project / "mkdocs.yml", "site_name: ", "site_url: https://example.org/\nsite_name: ")
    for date in ("", "86400"):
        done = run(project, environment={"SOURCE_DATE_EPOCH": date})
        assert (done.returncode, said(done)) == (0, ["open site/index.html"])
        packed = (project / "site" / "sitemap.xml.gz").read_bytes()
        assert int.from_bytes(packed[4:8], "little") == int(date or 0)  # gzip's own date


@pytest.mark.parametrize("date", ["abc", "-1", "4294967296", "1.5"])
def test_a_date_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, date: str) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", date)
    with pytest.raises(PluginError, match=f"SOURCE_DATE_EPOCH is a number of seconds since 1970, below 2.32; got {date}"):
        on_startup("build", dirty=False)


@pytest.mark.build
@pytest.mark.full
def test_names_with_blanks_and_signs_are_pages_like_any_other(project: Path) -> None:
    names = ["a b/ü ö.md", "c#d.md", "e%20f.md", "g?h.md", "dir.md/i&j.md"]
    for name in names:
        add_page(project, name)
    links = "[a](<a b/ü ö.md>) [b](c%23d.md) [c](e%2520f.md) [d](g%3Fh.md) [e](dir.md/i&j.md)"
    index = project / "docs/index.md"
    index.write_text(index.read_text(encoding="utf-8") + f"\n{links}\n", encoding="utf-8")
    done = run(project)
    assert (done.returncode, said(done)) == (0, ["open site/index.html"])
    for name in names:
        page = (project / "site" / name).with_suffix(".html")
        up = "../" * name.count("/")
        assert f'<a class="q" href="{up}numbers.html#sync.one_gpu"' in page.read_text(encoding="utf-8")


# What lies under docs/


def docs_of(tmp_path: Path) -> Path:
    docs = tmp_path / "project" / "docs"
    docs.mkdir(parents=True)
    (docs / "index.md").write_text("# Home\n", encoding="utf-8")
    return docs


def fifo(path: Path) -> None:
    os.mkfifo(path)


def put(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.touch()


ENDINGS = "a name here ends in .md, .svg, .png, .jpg, .jpeg, .gif, .webp, .txt"
# What some browser or host takes for it, or for more.
HTML = (".html", ".htm", ".HTM", ".xhtml", ".xht", ".shtml", ".xml", ".xsl", ".svgz", ".mhtml", ".php")
FILES: list[tuple[str, Callable[[Path], object], str]] = [
    ("a link to a folder", lambda d: (d / "acts").symlink_to(d.parent), "docs/acts:1:1: what is published lies under docs/ itself"),
    ("a loop", lambda d: (d / "loop").symlink_to("loop"), "docs/loop:1:1: what is published lies under docs/ itself"),
    ("a link to nothing", lambda d: (d / "old.md").symlink_to("gone.md"), "docs/old.md:1:1: what is published lies under docs/ itself"),
    ("a link out", lambda d: (d / "out.md").symlink_to(sys.executable), "docs/out.md:1:1: what is published lies under docs/ itself"),
    ("a pipe", lambda d: fifo(d / "pipe.txt"), "docs/pipe.txt:1:1: neither a file nor a folder"),
    ("capitals", lambda d: (d / "PAGE.MD").touch(), f"docs/PAGE.MD:1:1: {ENDINGS}, in small letters; got .MD: rename it, or take it out"),
    ("another ending", lambda d: (d / "p.markdown").touch(), f"docs/p.markdown:1:1: {ENDINGS}, in small letters; got .markdown"),
    *((f"HTML as {e}", lambda d, e=e: (d / f"p{e}").touch(), f"docs/p{e}:1:1: {ENDINGS}, in small letters; got {e}") for e in HTML),
    ("no ending", lambda d: (d / "CNAME").touch(), f"docs/CNAME:1:1: {ENDINGS}, in small letters; got none of them: rename it"),
    ("a script", lambda d: (d / "p.js").touch(), f"docs/p.js:1:1: {ENDINGS}, in small letters; .js only under docs/assets/; got .js"),
    ("a style sheet", lambda d: (d / "p.css").touch(), f"docs/p.css:1:1: {ENDINGS}, in small letters; .css only under docs/assets/; got"),
    ("code", lambda d: (d / "p.py").touch(), f"docs/p.py:1:1: {ENDINGS}, in small letters; .py only under docs/code/; got .py"),
    ("settings of a host", lambda d: (d / "vercel.json").touch(), f"docs/vercel.json:1:1: {ENDINGS}, in small letters; .json only under"),
    ("figures that nothing holds", lambda d: (d / "p.csv").touch(), f"docs/p.csv:1:1: {ENDINGS}, in small letters; .csv only under docs/records/"),
    ("a script among samples", lambda d: put(d / "code/p.js"), f"docs/code/p.js:1:1: {ENDINGS}, .py, in small letters; .js only under"),
    ("HTML among assets", lambda d: put(d / "assets/p.html"), f"docs/assets/p.html:1:1: {ENDINGS}, .css, .js, in small letters; got .html"),
    ("assets elsewhere", lambda d: put(d / "acts/assets/p.js"), f"docs/acts/assets/p.js:1:1: {ENDINGS}, in small letters; .js only"),
    ("a worker of a host", lambda d: put(d / "assets/_worker.js"), "docs/assets/_worker.js:1:1: a name that begins with _ means"),
    ("redirects", lambda d: (d / "_redirects").touch(), "docs/_redirects:1:1: a name that begins with _ means something of its own to some"),
    ("a folder of a host", lambda d: (d / "_site").mkdir(), "docs/_site:1:1: a name that begins with _ means something of its own"),
    ("two endings", lambda d: (d / "p.html.png").touch(), "docs/p.html.png:1:1: a name has one ending, or a server may go by another"),
    ("two endings of a page", lambda d: (d / "p.jis.md").touch(), "docs/p.jis.md:1:1: a name has one ending, or a server may go by"),
    ("no UTF-8", lambda d: open(os.fsencode(d) + b"/b\xfcro.md", "w").close(), r"docs/b\udcfcro.md:1:1: a name is made of characters"),
    ("a line end", lambda d: (d / "a\nb.md").touch(), r"docs/a\nb.md:1:1: a name is made of characters"),
]  # fmt: skip


@pytest.mark.parametrize(("plant", "says"), [f[1:] for f in FILES], ids=[f[0] for f in FILES])
def test_what_the_audit_would_not_see_as_mkdocs_does_is_refused(tmp_path: Path, plant: Callable[[Path], object], says: str) -> None:
    docs = docs_of(tmp_path)
    assert list(check_files(docs)) == []
    plant(docs)
    (fault,) = check_files(docs)
    assert str(fault).startswith(says)


def test_a_file_that_is_closed_is_refused(tmp_path: Path) -> None:
    docs = docs_of(tmp_path)
    (docs / "index.md").chmod(0)
    code = f"from pathlib import Path; from macros.files import check_files; print(*check_files(Path({str(docs)!r})))"
    as_anyone = in_namespace("true", root=False) if os.geteuid() == 0 else []  # nothing is closed to root
    done = subprocess.run([*as_anyone, sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("docs/index.md:1:1: this file cannot be read: give leave to read it\n", "")


def test_what_pages_need_may_lie_under_docs(tmp_path: Path) -> None:
    docs = docs_of(tmp_path)
    everywhere = [f"acts/a b/{name}" for name in ("ü.md", "a.svg", "a.png", "a.jpg", "a.jpeg", "a.gif", "a.webp", "a.txt")]
    assets = ["assets/vendor/a.min.js", "assets/a.css", "assets/a.svg"]
    for name in (*everywhere, *assets, "code/a_b.py", "code/__pycache__/a.pyc", "records/published/a.json", "records/a.csv"):
        (docs / name).parent.mkdir(parents=True, exist_ok=True)
        (docs / name).write_text('<svg xmlns="http://www.w3.org/2000/svg"/>', encoding="utf-8")
    assert list(check_files(docs)) == []


def test_what_editors_leave_is_no_page(tmp_path: Path) -> None:
    """Emacs marks a page with unsaved changes by a link to nothing."""
    docs = docs_of(tmp_path)
    (docs / ".#index.md").symlink_to("someone@somewhere.123")
    (docs / ".drafts").mkdir()
    (docs / ".drafts/new.md").touch()
    for name in ("#index.md#", "index.md~"):
        (docs / name).touch()
    assert list(check_files(docs)) == []
    (docs / "#").touch()  # this one is published
    assert [fault.path for fault in check_files(docs)] == ["docs/#"]
    (docs / "#").unlink()
    assert [*pages_of(docs)] == ["docs/index.md"]


def test_docs_itself_may_be_a_link(tmp_path: Path) -> None:
    docs = docs_of(tmp_path)
    docs.rename(tmp_path / "content")
    docs.symlink_to(tmp_path / "content")
    assert list(check_files(docs)) == []
    assert [*pages_of(docs)] == ["docs/index.md"]


@pytest.mark.build
@pytest.mark.full
def test_a_build_publishes_nothing_of_what_is_refused(project: Path) -> None:
    """Two links that lead back up would be followed without end; what an editor left is left out."""
    for name in ("one", "other"):
        (project / "docs" / name).symlink_to("..")
    began = time.monotonic()
    done = run(project)
    assert done.returncode == 2
    refused = [
        f"docs/{name}:1:1: what is published lies under docs/ itself: put the file here in place of a link to it"
        for name in ("one", "other")
    ]
    assert said(done)[:2] == refused
    assert time.monotonic() - began < 60
    for name in ("one", "other"):
        (project / "docs" / name).unlink()
    before = files(project / "site")
    (project / "docs/.#index.md").symlink_to("someone@somewhere.123")
    (project / "docs/code/__pycache__").mkdir(exist_ok=True)
    for name in ("#index.md#", "index.md~", "code/__pycache__/x.pyc"):
        (project / "docs" / name).touch()
    assert run(project).returncode == 0
    assert files(project / "site") == before


# What a page is saved as

WORDS = "Größe: 5 Ω – „fünf“. Ελληνικά, русский, 中文."


@pytest.mark.parametrize(
    "encoding",
    [
        "latin-1",
        "cp1252",
        "iso-8859-7",
        "koi8-r",
        "shift-jis",
        "gb18030",
        "big5",
        "utf-16",
        "utf-16-le",
        "utf-16-be",
        "utf-32",
        "utf-7",
    ],
)
def test_another_encoding_than_utf8_is_seen(tmp_path: Path, encoding: str) -> None:
    words = WORDS.encode(encoding, errors="ignore")
    (tmp_path / "page.md").write_bytes("# A page\n".encode(encoding) + words)
    assert source_of(tmp_path / "page.md") is None or encoding == "utf-7"  # which is ASCII, whatever it was meant to say


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "BOM"])
def test_every_end_of_a_line_is_one(tmp_path: Path, end: str, mark: bytes) -> None:
    """The line of a fault is the one that an editor shows, and a fix changes nothing but the digits."""
    lines = [
        "---",
        "title: T",
        "description: A page.",
        "---",
        "",
        "# T",
        "",
        'It takes [= q("61 ms", sync.one_gpu) =].',
        "Größe.",
        "",
    ]
    page = tmp_path / "docs" / "page.md"
    page.parent.mkdir()
    page.write_bytes(mark + end.join(lines).encode())
    page.chmod(0o640)
    audit = audit_sources(docs=page.parent)
    assert [(f.path, f.line, f.column) for f in audit.faults] == [("docs/page.md", 8, 10)]
    apply_fixes(page.parent)
    assert page.read_bytes() == mark + end.join(lines).replace("61 ms", "60 ms").encode()
    assert page.stat().st_mode & 0o777 == 0o640
    assert [p.name for p in page.parent.iterdir()] == ["page.md"]


def test_a_full_disk_costs_no_page(tmp_path: Path) -> None:
    """What cannot be written whole is not written."""
    page = tmp_path / "page.md"
    page.write_text("old " * 1000, encoding="utf-8")
    code = f"from pathlib import Path\nfrom macros.records import write_whole\nwrite_whole(Path({str(page)!r}), 'new ' * 10000)"
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))  # noqa: E731
    done = subprocess.run(
        [sys.executable, "-B", "-c", code], cwd=ROOT, capture_output=True, text=True, check=False, preexec_fn=limit
    )
    assert "File too large" in done.stderr
    assert page.read_text(encoding="utf-8") == "old " * 1000
    assert [p.name for p in tmp_path.iterdir()] == ["page.md"]


def audit_of(words: str, times: int) -> tuple[Audit, float]:
    """A page that says the same over and over, audited; and the seconds of a processor that it took."""
    source = "---\ntitle: Many\ndescription: A page.\n---\n\n# Many\n\n" + "\n\n".join([words] * times) + "\n"
    evaluator, audit = Evaluator(book(), CALLABLE, NAMED), Audit()
    with using(book()):
        began = time.process_time()
        audit_page("docs/many.md", source, evaluator, audit)
        return audit, time.process_time() - began


@pytest.mark.parametrize(
    ("words", "sort"),
    [
        ('It takes [= q("60 ms", sync.one_gpu) =].', ""), ('It takes [= q("61 ms", sync.one_gpu) =].', "drifted"), ("It takes 61 ms.", "unbound"),
        ('It takes [= q("60 ms", sync.one_gpu) =] ms.', "unbound"),
    ],
    ids=["right", "wrong", "naked", "beside"],
)  # fmt: skip
def test_a_long_page_takes_its_length_and_no_more(words: str, sort: str) -> None:
    """Four times as long, at most eight times the time; its square would be sixteen."""
    audit_of(words, 10)
    _, short = audit_of(words, 40)
    many, long = audit_of(words, 160)
    assert len(many.faults) == (160 if sort else 0)
    assert {fault.sort for fault in many.faults} == ({sort} if sort else set())
    assert long < 8 * short, f"{short:.2f} s, then {long:.2f} s"


@pytest.mark.build
@pytest.mark.full
def test_a_page_with_five_thousand_quotes_is_built(project: Path) -> None:
    add_page(project, "many.md", "\n\n".join(['It takes [= q("60 ms", sync.one_gpu) =] here.'] * 5000))
    began = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = run(project)
    took = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - began.ru_utime
    assert (done.returncode, said(done)) == (0, ["open site/index.html"])
    assert "5001 quoted" in done.stdout
    assert took < 40, f"{took:.1f} s of a processor"


@pytest.mark.build
@pytest.mark.full
def test_a_page_without_a_number_is_built_and_an_empty_one_is_refused(project: Path) -> None:
    add_page(project, "words.md", "No number here.")
    done = run(project)
    assert (done.returncode, said(done)) == (0, ["open site/index.html"])
    (project / "docs/words.md").write_bytes(b"")
    done = run(project)
    assert done.returncode == 2
    assert said(done)[0] == "docs/words.md:1:1: a page begins with ---, title: and description:, and ---, each on a line of its own"
    assert (project / "site/words.html").exists()


def test_settings_that_are_no_utf8_are_a_fault(tmp_path: Path) -> None:
    docs = docs_of(tmp_path)
    (docs.parent / "mkdocs.yml").write_bytes('site_name: "Größe"\n'.encode("latin-1"))
    assert "mkdocs.yml:1:1: this file is not saved as UTF-8: save it again with that encoding" in map(
        str, audit_sources(docs=docs).faults
    )


# make


def test_an_older_python_is_refused_by_its_version(tmp_path: Path) -> None:
    """And leaves no environment behind."""
    for name in ("Makefile", "requirements.txt", "requirements.lock"):
        shutil.copy(ROOT / name, tmp_path)
    old = tmp_path / "python3.10"
    pretends = "import sys; sys.version_info, sys.version = (3, 10, 13), '3.10.13 (main)'; exec(sys.argv[2])"
    old.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{pretends}" "$@"\n', encoding="utf-8")
    old.chmod(0o755)
    done = subprocess.run(["make", "site", f"PYTHON={old}"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "needs Python 3.11 or newer, got 3.10.13\n" in done.stderr
    assert not (tmp_path / ".venv").exists()


@pytest.mark.build
def test_a_fault_is_said_in_a_locale_that_lacks_its_signs(project: Path) -> None:
    """The message of a wrong quote holds a dot and a minus."""
    replace(project / "docs/index.md", "60 ms", "61 ms")
    done = run(project, target="numbers", environment=WORST)
    assert done.returncode == 2
    assert said(done) == [
        'docs/index.md:8:10: quotes 61 ms for sync.one_gpu, the model says 60 ms (0.06 s = 2·(4−1)·160 MB / 16 GB/s); write "60 ms"'
    ]


# make serve


@pytest.mark.build
@pytest.mark.full
def test_serve_survives_what_befalls_a_page(project: Path, tmp_path: Path) -> None:
    """A page is deleted, renamed, saved in another encoding; the settings are torn and mended; a link leads in circles."""
    port, config = free_port(), project / "mkdocs.yml"
    index, page = f"http://127.0.0.1:{port}/index.html", add_page(project, "second.md")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    log = tmp_path / "log"
    with log.open("wb") as told:
        server = subprocess.Popen(
            [sys.executable, "-m", "mkdocs", "serve", "-a", f"127.0.0.1:{port}"], cwd=project, stdout=told, stderr=told,
            env={**os.environ, "TMPDIR": str(temporary), "PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
    try:
        wait_for(index, "second.html")
        text = page.read_text(encoding="utf-8")
        page.unlink()
        wait_for_line(log, "there is no page docs/second.md")
        (project / "docs/third.md").write_text(text, encoding="utf-8")
        replace(config, "second.md", "third.md")
        wait_for(index, "third.html")
        page = project / "docs/third.md"
        page.write_bytes(text.replace("Probe", "Größe").encode("latin-1"))
        wait_for(index.replace("index", "third"), "this page is not saved as UTF-8")
        page.write_text(text, encoding="utf-8")
        wait_for(index.replace("index", "third"), 'data-q="sync.one_gpu"')
        settings = config.read_text(encoding="utf-8")
        config.write_text(settings + "\ntorn: [\n", encoding="utf-8")
        assert "error parsing the configuration file" in wait_for(index, "The site does not build.")
        config.write_bytes(settings.encode() + b"# \xfc")
        wait_for(index, "unacceptable character")
        config.write_text(settings + "\n", encoding="utf-8")
        wait_without(index, "The site does not build.")
        (project / "docs/loop").symlink_to("..")
        page.write_text(text + "\nMore.\n", encoding="utf-8")
        wait_for(index, "<li>docs/loop:1:1: what is published lies under docs/ itself")
        wait_for_line(log, "docs/loop:1:1: what is published lies under docs/ itself")
        (project / "docs/loop").unlink()
        page.write_text(text + "\nAnd more.\n", encoding="utf-8")
        wait_for(index.replace("index", "third"), "And more.")
        assert "Traceback" not in log.read_text(encoding="utf-8")
        assert server.poll() is None
    finally:
        server.terminate()
        server.wait(timeout=20)
    assert list(temporary.iterdir()) == []


def wait_for_line(log: Path, words: str, seconds: float = 30) -> None:
    """Until a terminal has shown some words."""
    end = time.monotonic() + seconds
    while words not in log.read_text(encoding="utf-8"):
        assert time.monotonic() < end, log.read_text(encoding="utf-8")[-3000:]
        time.sleep(0.1)


def wait_without(url: str, words: str, seconds: float = 30) -> None:
    """Until a page is there and shows some words no more."""
    end = time.monotonic() + seconds
    while words in wait_for(url, "</html>"):
        assert time.monotonic() < end, f"{url} still shows {words!r}"
        time.sleep(0.2)
