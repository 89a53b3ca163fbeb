"""The site as built: complete, self-contained, the same twice; and a fault planted in a real build stops it, whatever way it is run."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup
from mkdocs.exceptions import PluginError
from selectolax.lexbor import LexborHTMLParser

from macros.audit import audit_sources
from macros.audit_html import audit_site
from macros.build import on_post_page, search_on_demand
from verify.checkout import add_page, build, copy, replace, small

CALLS = """[= figure("sync-ring-close") =]

[= formula(slow.once, block=True) =]

[= table("blockers") =]

Python has left before the work is done, after [= q("30 ms", sync.one_gpu_half) =].
Through the CPU it takes [= q("80 ms", sync.cpu) =].
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return copy(tmp_path / "project")


def test_labs_wake_before_the_theme_and_a_theme_without_its_script_is_refused() -> None:
    meta = {"title": "The lab", "description": "Labs."}
    file = SimpleNamespace(src_uri="lab.md")
    page = SimpleNamespace(file=file, content="<p>x</p>", meta=meta, title="The lab", is_homepage=False, url="lab.html")
    config = {"site_name": "A site", "site_description": "", "site_url": ""}
    bundle = '<script src="assets/javascripts/bundle.1.min.js"></script>'
    made = on_post_page(f"<html><head></head><body><p>x</p>{bundle}</body></html>", page=page, config=config)
    assert f'<script src="assets/kernels.js"></script><script src="assets/labs.js"></script>{bundle}' in made
    for wrong in ("", bundle * 2):
        with pytest.raises(PluginError, match=r"lab\.html must load the theme's script once, .*, got [02] times"):
            on_post_page(f"<html><head></head><body><p>x</p>{wrong}</body></html>", page=page, config=config)


def pages(site: Path) -> list[Path]:
    return sorted(site.rglob("*.html"))


def soup(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


@pytest.mark.parametrize(
    "code",
    ["", 'f($(location.protocol!=="file:"),$(location.protocol!=="file:"))', '$(location.protocol!=="file:")', "new Worker(e)"],
)
def test_a_theme_that_starts_its_search_otherwise_is_refused(tmp_path: Path, code: str) -> None:
    (tmp_path / "assets/javascripts").mkdir(parents=True)
    (tmp_path / "assets/javascripts/bundle.1.min.js").write_text(code, encoding="utf-8")
    with pytest.raises(PluginError, match=r"bundle\.1\.min\.js must start the search at .*, which is there [02] times"):
        search_on_demand(tmp_path)


def parsed(path: Path) -> LexborHTMLParser:
    return LexborHTMLParser(path.read_text(encoding="utf-8"))


def broken_links(site: Path) -> list[str]:
    """Links and references inside the site that lead nowhere: a missing file, or a missing id."""
    trees = {page: parsed(page) for page in pages(site)}
    ids = {page: {tag.attributes["id"] for tag in tree.css("[id]")} for page, tree in trees.items()}
    broken = []
    for page, tree in trees.items():
        for tag in tree.css("a, link, script, img, source"):
            target = tag.attributes.get("href") or tag.attributes.get("src") or ""
            parts = urlsplit(target)
            if not target or parts.scheme or target.startswith("//"):
                continue
            base = site if target.startswith("/") else page.parent
            file = (base / unquote(parts.path).lstrip("/")).resolve() if parts.path else page
            if file.is_dir():
                file = file / "index.html"
            if not file.exists():
                broken.append(f"{page.name}: {target} is no file")
            elif parts.fragment and file in ids and unquote(parts.fragment) not in {*ids[file], "__skip"}:
                broken.append(f"{page.name}: {target} is no place on that page")
    return broken


def outside_requests(site: Path) -> list[str]:
    """What a browser would ask another host for, from the HTML, the styles and our own scripts."""
    asked = []
    for page in pages(site):
        for tag in parsed(page).css("script, img, iframe, source, video, audio, link"):
            target = tag.attributes.get("src") or tag.attributes.get("href") or ""
            if re.match(r"(https?:)?//", target) and tag.attributes.get("rel") not in ("canonical", "license"):
                asked.append(f"{page.name}: {tag.tag} {target}")
    for style in site.rglob("*.css"):
        asked += [
            f"{style.name}: {url}"
            for url in re.findall(r"(?:url\(|@import )[\"']?(https?://[^\"')]+)", style.read_text(encoding="utf-8"))
        ]
    return asked


def test_links_lead_somewhere(site: Path) -> None:
    assert broken_links(site) == []


@pytest.mark.parametrize(
    ("markup", "check"),
    [
        ('<a href="nowhere.html">x</a>', broken_links),
        ('<a href="#no-such-id">x</a>', broken_links),
        ('<script src="https://example.org/x.js"></script>', outside_requests),
        ('<img src="//example.org/x.png">', outside_requests),
    ],
)
def test_the_checks_of_links_see_a_fault(tmp_path: Path, markup: str, check: object) -> None:
    (tmp_path / "page.html").write_text(f"<html><body>{markup}</body></html>", encoding="utf-8")
    assert len(check(tmp_path)) == 1  # type: ignore[operator]


def test_the_built_site_holds_no_naked_number(site: Path) -> None:
    """Read without any hook, as a stranger would."""
    assert list(audit_site(site, audit_sources())) == []


def test_every_number_links_to_its_entry(site: Path) -> None:
    entries = {section.attributes["id"] for section in parsed(site / "numbers.html").css("section.entry")}
    links = [a for page in pages(site) for a in parsed(page).css("a.q")]
    assert len(links) > 60
    assert {unquote(urlsplit(str(a.attributes["href"])).fragment) for a in links} <= entries


def test_the_ledger_lists_every_number(site: Path) -> None:
    from perfmodel.book import LEDGER

    names = [section.attributes["id"] for section in parsed(site / "numbers.html").css("section.entry")]
    assert len(names) == len(set(names))
    assert {n.name for n in LEDGER} <= set(names)


def test_formulas_need_no_script(site: Path) -> None:
    for act in ("acts/2-queue.html", "acts/6-allreduce.html"):
        page = soup(site / act)
        assert len(page.find_all("math")) > 5
        assert not page.find_all(string=re.compile(r"\\\(|\\frac|\$\$"))


def test_no_token_or_call_is_left_over(site: Path) -> None:
    for page in pages(site):
        text = page.read_text(encoding="utf-8")
        assert not re.search("[\ue000-\ue0ff]", text), page.name
        assert "[=" not in text, page.name
        assert "=]" not in text, page.name


FAULTS = {
    # what is wrong: (file, old, new, what the message says), all in one build
    "on pages and in what they call": [
        ("docs/probe.md", "[= formula(slow.once, block=True) =]", "[= formula(slow.onec, block=True) =]", "did you mean slow.once?"),
        ("docs/probe.md", "Python has left before the work is done", "Python has left 6 ticks before", "a naked number: 6 ticks"),
        ("macros/figures/act2.py", 'return Table(("Call", ', 'raise KeyError("x")\n    return Table(("Call", ', "table(…) failed: KeyError"),
        ("macros/figures/act6.py", "each GPU sends to one neighbour and", "each GPU sends 3 chunks and", "macros/figures/act6.py:"),
    ],
    "in a given": [("perfmodel/book/act6.py", '"sync.link", 16 * GB', '"sync.link", 16.16 * GB', "given.csv:22 pins 16 GB/s")],
}  # fmt: skip


@pytest.mark.build
@pytest.mark.parametrize(
    "where", [pytest.param(where, marks=[pytest.mark.full] if where == "in a given" else []) for where in FAULTS]
)
def test_a_fault_stops_the_build(tmp_path: Path, where: str) -> None:
    project = small(tmp_path / "project")
    add_page(project, "probe.md", CALLS)
    for file, old, new, _ in FAULTS[where]:
        replace(project / file, old, new)
    done = build(project, tmp_path / "site")
    assert done.returncode != 0
    assert [says for *_, says in FAULTS[where] if says not in done.stdout] == [], done.stdout
    assert "Traceback" not in done.stdout


@pytest.mark.build
def test_pages_that_cannot_be_read_are_each_named_once_at_their_line(project: Path, tmp_path: Path) -> None:
    """And not a second time where the home page shows their titles, nor in what is built of them."""
    acts = {path.name[0]: path for path in sorted((project / "docs/acts").glob("*.md"))}
    text = {number: path.read_text(encoding="utf-8") for number, path in acts.items()}
    acts["1"].write_text(text["1"].replace("title: Act 1 ·", "title: Act 1:"), encoding="utf-8")
    acts["2"].write_text(text["2"][text["2"].index("# Act 2") :], encoding="utf-8")
    acts["3"].write_text("\n" + text["3"], encoding="utf-8")
    acts["4"].write_text(text["4"].replace("\n---\n", "\n", 1), encoding="utf-8")
    acts["5"].write_text(
        text["5"].replace("{ .notice }", "\n{ .notice }", 1) + "\n??? question “How?”\n    So.\n", encoding="utf-8"
    )
    acts["6"].write_text(text["6"], encoding="utf-16")
    done = build(project, tmp_path / "site")
    assert done.returncode != 0
    found = re.findall(r"^(docs/[^:]*):(\d+):(\d+): (.{20})", done.stdout, re.MULTILINE)
    last = text["5"].count("\n") + 3
    mark = text["5"][: text["5"].index("{ .notice }")].count("\n") + 2
    assert [(name[10], int(line), column, says) for name, line, column, says in found] == [
        ("1", 2, "1", "a title with a colon"), *((act, 1, "1", "a page begins with -") for act in "234"), ("5", mark, "1", "{ .notice } would be"),
        ("5", last, "1", "a fold is written ??"), ("6", 1, "1", "this page is not sav"),
    ]  # fmt: skip
    assert f"{len(found)} faults" in done.stdout


@pytest.mark.build
def test_make_site_keeps_the_last_good_site(tmp_path: Path) -> None:
    """A build that fails leaves what was there alone."""
    project = small(tmp_path / "project")
    (project / "site").mkdir()
    (project / "site" / "index.html").write_text("the last good one", encoding="utf-8")
    page, good, bad = project / "docs/index.md", '[= q("60 ms", sync.one_gpu) =]', '[= q("61 ms", sync.one_gpu) =]'
    line = replace(page, good, bad)
    command = ["make", "-o", ".venv/.ready", "site", f"PY={sys.executable}"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert f"docs/index.md:{line}:10: quotes 61 ms for sync.one_gpu, the model says 60 ms" in done.stdout + done.stderr
    assert (project / "site" / "index.html").read_text(encoding="utf-8") == "the last good one"
    replace(page, bad, good)
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Training at Scale" in (project / "site" / "index.html").read_text(encoding="utf-8")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(url: str, holds: str, seconds: float = 90) -> str:
    """The page at `url` once it holds a text; the last thing seen when it never does."""
    text = ""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                text = answer.read().decode()
        except OSError:
            text = ""
        if holds in text:
            return text
        time.sleep(0.2)
    raise AssertionError(f"{url} never showed {holds!r}; the last thing it showed was {text[:400]!r}")


@pytest.mark.build
def test_serve_shows_the_fault_and_stays_up(tmp_path: Path) -> None:
    """An author sees a mistake where it is, mends it, and sees it gone; so with a change of the model."""
    project = small(tmp_path / "project")
    page, other = (add_page(project, name, CALLS) for name in ("probe.md", "other.md"))
    replace(page, '[= q("30 ms", sync.one_gpu_half) =]', '[= q("31 ms", sync.one_gpu_hafl) =]')
    port = free_port()
    url = f"http://127.0.0.1:{port}/probe.html"
    server = subprocess.Popen(
        [sys.executable, "-m", "mkdocs", "serve", "-a", f"127.0.0.1:{port}"],
        cwd=project,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        broken = wait_for(url, 'class="fault"')
        assert "did you mean sync.one_gpu_half?" in broken
        assert 'role="alert"' in broken
        assert "Content-Security-Policy" not in broken  # it would stop the script that loads the page again
        replace(page, '[= q("31 ms", sync.one_gpu_hafl) =]', '[= q("30 ms", sync.one_gpu_half) =]')
        mended = wait_for(url, 'data-q="sync.one_gpu_half"')
        assert 'class="fault"' not in mended
        text = other.read_text(encoding="utf-8")
        other.write_text(text, encoding="utf-16")
        assert 'role="alert"' in wait_for(url.replace("probe", "other"), "this page is not saved as UTF-8")
        other.write_text(text, encoding="utf-8")
        wait_for(url.replace("probe", "other"), 'data-q="sync.one_gpu_half"')
        replace(project / "perfmodel/kernels.py", "return 2 * gpus * transfer_s(", "return 3 * gpus * transfer_s(")
        wait_for(url, "the model says 120 ms")
        assert server.poll() is None
    finally:
        server.terminate()
        server.wait(timeout=10)
