"""The MkDocs hook: audits before the pages are rendered, turns tokens into HTML after, audits the built site, and fails the build last.

All faults are listed in one run. Under `serve` the pages show them and the server stays up.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.plugins import event_priority, get_plugin_logger
from mkdocs.utils import get_relative_url

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))
log = get_plugin_logger("numbers")
_serving = False
_renderer: Any = None


def on_startup(command: str, dirty: bool, **_: Any) -> None:
    """Remember whether this is a server, which must survive a fault."""
    global _serving
    _serving = command == "serve"


@event_priority(100)
def on_config(config: Any, **_: Any) -> Any:
    """Begin a build. Under serve, modules may have changed since the last one: forget them."""
    global _renderer
    if _serving:
        for name in [n for n in sys.modules if n.partition(".")[0] in ("macros", "perfmodel")]:
            del sys.modules[name]
    from macros.render import start

    _renderer = start(Path(config["docs_dir"]))
    _renderer.report_url = config["extra"].get("report_url", "")
    return config


@event_priority(100)
def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Before mkdocs-macros: put marks in the place of wrong calls. A page with steps has them as its map, and no table of contents."""
    if ".step" in markdown:
        page.meta.setdefault("hide", ["toc"])
    return str(_renderer.markdown(page.file.src_uri, markdown))


@event_priority(-100)
def on_page_content(html: str, page: Any, files: Any, **_: Any) -> str:
    """After Markdown: tokens become HTML; titles and the table of contents keep plain text."""

    def url_of(src_uri: str) -> str:
        file = files.get_file_from_path(src_uri)
        return str(get_relative_url(file.url if file else src_uri, page.url))

    def clean(items: Any) -> None:
        for item in items:
            item.title = _renderer.plain(item.title)
            clean(item.children)

    _renderer._page = _renderer.path_of(page.file.src_uri)
    clean(page.toc)
    page.title = _renderer.plain(page.title) if page.title else page.title
    return str(_renderer.content(html, url_of))


@event_priority(-100)
def on_post_build(config: Any, **_: Any) -> None:
    """Write the data files, audit what was built, list every fault, and fail the build when there is one."""
    site = Path(config["site_dir"])
    for name, content in sorted(_renderer.files.items()):
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    from macros.audit_html import audit_site

    faults = [*_renderer.audit.faults, *audit_site(site, _renderer.audit)]
    for fault in faults:
        print(fault, file=sys.stderr)
    print(_renderer.audit.coverage(), file=sys.stderr if faults else sys.stdout)
    if faults and not _serving:
        raise PluginError(f"{len(faults)} fault{'s' if len(faults) != 1 else ''}: nothing is published until each is mended")


os.environ.setdefault("SOURCE_DATE_EPOCH", "0")  # equal inputs, equal bytes: no page carries the time of its build
