"""What several test modules share: the built site, and Chromium to look at it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from macros.site import alone
from verify.checkout import ROOT, build, copy, offline, replace
from verify.server import serve

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from verify.browser import Visitor


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A folder that is made once for all workers of a run: the first one to need it makes it, the others wait."""
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    with alone(folder.with_name(f"{name}-lock")):
        if not folder.exists():
            make(folder.with_name(f"{name}-new"))
            folder.with_name(f"{name}-new").rename(folder)
    return folder


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This checkout, built once."""

    def make(folder: Path) -> None:
        done = build(ROOT, folder)
        assert done.returncode == 0, done.stdout

    return once(tmp_path_factory, "built", make)


FIGURES = """
from typing import Any

import plotly.graph_objects as go

from macros import text
from macros.figures.core import Drawn
from macros.tables import Table
from macros.timelines import ROLE_NAMES, timeline
from perfmodel.streams import Task, run


def _drawn(figure: go.Figure) -> Drawn:
    return Drawn(figure, "A figure", "Bars.", "Bars.", Table(("Bar",), [["one"]]))


def _odd() -> Drawn:
    return _drawn(go.Figure(go.Bar(orientation="h", x=[9, 5], y=["one", "two"], text=["*a* b", "`c` _d_"], meta={"role": "compute"})))


def _five() -> Drawn:
    tasks = [Task(name=role, streams=("GPU",), duration_s=2e-3, role=role) for role in ROLE_NAMES]
    return _drawn(timeline({"": run(tasks)}, unit="ms", upto=11, label=lambda span, _: span.name))


def _rates(**ticks: Any) -> Drawn:
    figure = go.Figure(go.Bar(orientation="h", x=[5e9], y=["one"], meta={"role": "transfer"}))
    return _drawn(figure.update_layout(xaxis={"range": [0, 5e9], **ticks}))


FIGURES |= {"odd": _odd, "five": _five, "bare-rates": _rates, "rates": lambda: _rates(tickvals=[0, 5e9], ticktext=[text.show(x, "GB/s") for x in (0.0, 5e9)])}
"""
PROBE = r"""---
title: Probe
description: A page for a test.
---

# Probe

$e^{{-1}}$ and `[[a, b]]` stay.

```python
x = {{ "x" }}  # 60 ms
```

=== "First"

    Nothing to see.

=== "Second"

    [= figure("queue-print") =]

[= figure("queue-print") =]

??? note "Odd"
    [= figure("odd") =]

[= figure("five") =]

[= figure("rates") =]

[= figure("bare-rates") =]
"""


@pytest.fixture(scope="session")
def probed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of this checkout with a page more, built without a network into its `site`; what it asked for is in `offline/asked`.

    The page has a figure in the second of two tabs and again below, one with odd labels in a fold, one with five entries in its legend, and
    two that reach up to 5 GB/s; and braces, in a formula and in code.
    """

    def make(project: Path) -> None:
        copy(project)
        with (project / "macros/figures/act6.py").open("a", encoding="utf-8") as figures:
            figures.write(FIGURES)
        (project / "docs/probe.md").write_text(PROBE, encoding="utf-8")
        replace(project / "mkdocs.yml", "  - numbers.md", "  - probe.md\n  - numbers.md")
        (project / "offline").mkdir()
        done = build(project, project / "site", environment=offline(project / "offline"))
        assert done.returncode == 0, done.stdout

    return once(tmp_path_factory, "probed", make)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, or a skip that says how to get it."""
    from verify.browser import MISSING, chromium, executable

    if not executable():
        pytest.skip(MISSING)
    with chromium() as running:
        yield running


@pytest.fixture(scope="session")
def served(site: Path) -> Iterator[str]:
    """The address of the site, served with the strictest policy that it bears."""
    with serve(site) as address:
        yield address


@pytest.fixture(params=["from disk", "served"])
def address(request: pytest.FixtureRequest, site: Path, served: str) -> str:
    """Where the pages are: in files, or on a server."""
    return served if request.param == "served" else site.as_uri()


@pytest.fixture
def visitor(browser: Browser) -> Iterator[Visitor]:
    """Opens pages. At the end of the test nothing may have gone wrong in any of them, whatever the test was about."""
    from verify.browser import Visitor

    visitor = Visitor(browser)
    yield visitor
    assert visitor.close() == []
