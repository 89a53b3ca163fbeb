"""What several test modules share: the built site, and Chromium to look at it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from verify.checkout import ROOT, build
from verify.server import serve

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from verify.browser import Visitor


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This checkout, built once."""
    path = tmp_path_factory.mktemp("built") / "site"
    done = build(ROOT, path)
    assert done.returncode == 0, done.stdout
    return path


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
