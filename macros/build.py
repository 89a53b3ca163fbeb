"""The MkDocs hook: audits before the pages are rendered, turns tokens into HTML after, audits the built site, and fails the build last.

All faults are listed in one run. Under `serve` the pages show them and the server stays up.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from mkdocs.exceptions import Abort, MkDocsException, PluginError
from mkdocs.plugins import event_priority, get_plugin_logger
from mkdocs.utils import get_relative_url

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))
log = get_plugin_logger("numbers")
# What Material does as soon as a page is there, and what it shall do once a reader turns to the search.
EAGER = {
    '$(location.protocol!=="file:")': "$(!1)",  # fetches the index; it has this switch itself, for pages from disk
    "new Worker(e)": "(()=>{let w,l=[];return{addEventListener:(...a)=>w?w.addEventListener(...a):l.push(a),"
    "removeEventListener:(...a)=>w&&w.removeEventListener(...a),"
    "postMessage:m=>{w||(w=new Worker(e),l.forEach(a=>w.addEventListener(...a)));w.postMessage(m)}}})()",  # starts when it gets its first message
}
_STYLES = re.compile(r'\s*<link rel="stylesheet" href="[^"]*assets/_mkdocstrings\.css">')
_CANONICAL = re.compile(r'\s*<link rel="canonical" href="[^"]*">')
_serving = False
_renderer: Any = None
_code: dict[str, tuple[int, int]] = {}


class _Kept(NamedTuple):
    """A page as it was made: under serve it is made again only when something that it is made of has changed."""

    key: tuple[str, ...]
    html: str
    toc: Any
    title: str | None
    anchors: Any
    links: Any
    figures: list[str]


_kept: dict[str, _Kept] = {}  # by source
_again: set[str] = set()  # the pages of this build that are as they were
_keys: dict[str, tuple[str, ...]] = {}
_scripts: set[str] = set()  # those that the theme puts into pages


def on_startup(command: str, dirty: bool, **_: Any) -> None:
    """Remember whether this is a server, which must survive a fault."""
    global _serving
    _serving = command == "serve"
    if _serving:
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as with Ctrl-C, and leaves no folder behind
    date = os.environ["SOURCE_DATE_EPOCH"]
    if not re.fullmatch(r"\d{1,10}", date) or int(date) >= 2**32:  # gzip keeps it in four bytes
        raise PluginError(f"SOURCE_DATE_EPOCH is a number of seconds since 1970, below 2^32; got {date}")


def on_serve(server: Any, config: Any, builder: Callable[..., None], **_: Any) -> Any:
    """What stops a build must not stop the server: it is told in the terminal, and on top of every page that is there."""

    def guarded(*arguments: Any) -> None:
        try:
            builder(*arguments)
        except (MkDocsException, OSError) as error:
            cause = (error.__context__ if isinstance(error, Abort) else None) or error  # MkDocs aborts in place of a fault
            log.error(str(cause))
            tell(Path(config["site_dir"]), [*getattr(cause, "faults", ()), cause])

    server.builder = guarded
    return server


def tell(site: Path, causes: Sequence[object]) -> None:
    """Put what stopped a build on top of every page of the last one."""
    rows = "".join(f"<li>{escape(str(cause))}</li>" for cause in causes)
    told = f'<div class="faults" role="alert"><p><strong>The site does not build.</strong></p><ul>{rows}</ul></div><!-- told -->'
    for path in site.rglob("*.html"):
        page = re.sub(r'(?<=>)<div class="faults" role="alert">[^\0]*?<!-- told -->', "", path.read_text(encoding="utf-8"), count=1)
        path.write_text(re.sub(r"<body[^>]*>", lambda body: body[0] + told, page, count=1), encoding="utf-8")


@event_priority(100)
def on_config(config: Any, **_: Any) -> Any:
    """Begin a build. Under serve, modules may have changed since the last one: then forget them, and all that they remember."""
    global _renderer, _code
    _again.clear()
    _scripts.clear()
    if _serving:
        code = _stamps()
        if code != _code:
            _kept.clear()
            for name in [n for n in sys.modules if n.partition(".")[0] in ("macros", "perfmodel")]:
                del sys.modules[name]
        _code = code
    from macros.records import RecordError
    from macros.render import Renderer

    docs = Path(config["docs_dir"])
    try:
        _renderer = Renderer(docs)
    except RecordError as error:
        raise PluginError(f"docs/records: {error}") from None
    _renderer.report_url = config["extra"].get("report_url", "")
    # MkDocs would follow a link, or stop at what is no file.
    if any(not (docs.parent / path).is_file() for path in _renderer.audit.refused):
        raise Refused(_renderer.audit.faults)
    return config


class Refused(PluginError):
    """Faults, each of which the terminal has shown."""

    def __init__(self, faults: Sequence[object]) -> None:
        for fault in faults:
            print(fault, file=sys.stderr)
        self.faults = faults
        super().__init__(f"{len(faults)} fault{'s' if len(faults) != 1 else ''}: nothing is published until each is mended")


def _stamps() -> dict[str, tuple[int, int]]:
    """When what a build computes with was written, and how long it is: code, pins, records, samples, settings."""
    files = [
        path
        for folder in ("macros", "perfmodel", "verify/expected", "docs/records", "docs/code")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".csv", ".json")
    ]
    files.append(ROOT / "mkdocs.yml")
    return {str(path): (path.stat().st_mtime_ns, path.stat().st_size) for path in files}


def on_files(files: Any, **_: Any) -> Any:
    """A file that the audit refuses is not read or copied here either."""
    for file in list(files):
        if _renderer.path_of(file.src_uri) in _renderer.audit.refused:
            files.remove(file)
    return files


@event_priority(100)
def on_page_read_source(page: Any, **_: Any) -> str | None:
    """A page that is not saved as UTF-8 is empty but for its fault; MkDocs would stop at it and list no other."""
    return "" if _renderer.source(page.file.src_uri) == "" else None


@event_priority(100)
def on_page_markdown(markdown: str, page: Any, files: Any, **_: Any) -> str:
    """Before mkdocs-macros: pieces in the place of calls. A page with steps has them as its map, and no table of contents."""
    from macros.frontmatter import KEYS

    uri = page.file.src_uri
    page.meta = {key: value for key, value in page.meta.items() if key in KEYS}  # all others are refused, and reach no template
    _keys[uri] = (_renderer.source(uri) or "", repr(page.meta), *sorted(file.src_uri for file in files))
    kept = _kept.pop(uri, None)
    if kept and kept.key == _keys[uri]:
        _kept[uri] = kept
        _again.add(uri)
    if ".step" in markdown:
        page.meta.setdefault("hide", ["toc"])
    from macros.render import unread

    if page.title != unread(page.title):  # refused, and mkdocs-macros would read it
        page.title = unread(page.title)
    return "" if uri in _again else str(_renderer.markdown(uri))


@event_priority(-100)
def on_page_content(html: str, page: Any, files: Any, **_: Any) -> str:
    """After Markdown: tokens become HTML; titles and the table of contents keep plain text."""
    uri = page.file.src_uri
    if uri in _again:
        kept = _kept[uri]
        page.toc, page.title, page.present_anchor_ids, page.links_to_anchors = kept.toc, kept.title, kept.anchors, kept.links
        _renderer.add_files(kept.figures)
        return kept.html

    def url_of(src_uri: str) -> str:
        file = files.get_file_from_path(src_uri)
        return str(get_relative_url(file.url if file else src_uri, page.url))

    def clean(items: Any) -> None:
        for item in items:
            item.title = _renderer.plain(item.title)
            clean(item.children)

    _renderer._page = _renderer.path_of(uri)
    clean(page.toc)
    page.title = _renderer.plain(page.title) if page.title else page.title
    content = str(_renderer.content(html, url_of))
    content = content.replace("</h1>", f"</h1>{reading_time(content)}", 1) if 'class="steps"' in content else content
    faulty = any(fault.path == _renderer._page for fault in _renderer.audit.faults)
    if _serving and not faulty and not _renderer.late:
        anchors, links = page.present_anchor_ids, page.links_to_anchors
        _kept[uri] = _Kept(_keys[uri], content, page.toc, page.title, anchors, links, _renderer.drawn)
    return content


def reading_time(html: str) -> str:
    """How long a page takes to read, at 200 words a minute; figures' data and folded parts are not counted."""
    words = re.sub(r"<(figure|template|details|math|style)\b.*?</\1>|<[^>]*>", " ", html, flags=re.DOTALL).split()
    return f'<p class="reading-time"><data class="data">{max(1, round(len(words) / 200))} minutes</data> to read</p>'


@event_priority(-100)
def on_post_page(output: str, page: Any, config: Any, **_: Any) -> str:
    """What a link to the page shows where it is shared: its title and its description. Notes the scripts of the theme."""
    from macros.policy import inline_scripts

    if page.file.src_uri == "404.md" and config["site_url"]:
        output = rooted(_CANONICAL.sub("", output), urlsplit(config["site_url"]).path)
    _scripts.update(inline_scripts(output.replace(page.content, "", 1)))
    title = config["site_name"] if page.is_homepage else f"{page.title} · {config['site_name']}"
    about = page.meta.get("description") or config["site_description"]
    tags = {
        "og:title": title,
        "og:description": about,
        "og:type": "website" if page.is_homepage else "article",
        "og:site_name": config["site_name"],
    }
    if page.file.src_uri != "api.md":  # mkdocstrings has its style sheet loaded by every page
        output = _STYLES.sub("", output)
    if page.file.src_uri == "lab.md":  # elsewhere they come when a lab comes near; here they go before all that can wait
        scripts = "".join(f'<script src="assets/{name}.js"></script>' for name in ("kernels", "labs"))
        bundle = '<script src="assets/javascripts/bundle.'
        if output.count(bundle) != 1:
            raise PluginError(f"lab.html must load the theme's script once, by {bundle}, got {output.count(bundle)} times")
        output = output.replace(bundle, scripts + bundle)
    lines = "".join(f'<meta property="{name}" content="{escape(str(words), quote=True)}">' for name, words in tags.items())
    return output.replace("</head>", f'{lines}<meta name="twitter:card" content="summary"></head>', 1)


def on_post_template(output_content: str, template_name: str, **_: Any) -> str:
    """A page that is the theme's own, such as its 404.html, has the theme's scripts as well; the site map names no day and no 404.html."""
    from macros.policy import inline_scripts

    _scripts.update(inline_scripts(output_content))
    if template_name == "sitemap.xml":
        output_content = re.sub(r"\s*<lastmod>[^<]*</lastmod>", "", output_content)
        output_content = re.sub(r"\s*<url>\s*<loc>[^<]*/404\.html</loc>\s*</url>", "", output_content)
    return output_content


def rooted(html: str, path: str) -> str:
    """A page that is shown at any address, with its links from the root of the host: a host shows 404.html in the place of what is not there.

    >>> rooted('<a href="a.html#b"> <a href="#c"> <a href="https://d"> {"base": ".", "search": "assets/e.js"} new URL(".",location)', "/sub/")
    '<a href="/sub/a.html#b"> <a href="#c"> <a href="https://d"> {"base": "/sub/", "search": "/sub/assets/e.js"} new URL("/sub/",location)'
    """
    html = re.sub(r'(?<=\s)(href|src)="(?!#|/|[a-z]+:)(?:\./)?', rf'\1="{path}', html)
    # What the theme's scripts go by: where the site begins, and the worker of the search.
    for old, new in (
        ('"base": "."', f'"base": "{path}"'),
        ('"search": "', f'"search": "{path}'),
        ('new URL(".",location)', f'new URL("{path}",location)'),
    ):
        html = html.replace(old, new, 1)
    return html


@event_priority(-100)
def on_post_build(config: Any, **_: Any) -> None:
    """Write the data files, audit what was built, list every fault, and fail the build when there is one."""
    site = Path(config["site_dir"])
    for name, content in sorted(_renderer.files.items()):
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    search_on_demand(site)
    from macros.audit_html import audit_site
    from macros.policy import apply
    from macros.scan import Fault

    # The server puts a script of its own into each page.
    scripts = (
        []
        if _serving
        else [Fault(page, 0, 0, f"a script that is no part of the theme: {code}") for page, code in apply(site, _scripts)]
    )

    faults = [*_renderer.audit.faults, *scripts, *audit_site(site, _renderer.audit)]
    refused = Refused(faults)
    print(_renderer.audit.coverage(), file=sys.stderr if faults else sys.stdout)
    if faults and not _serving:
        raise refused


def search_on_demand(site: Path) -> None:
    """Let the search wait until a reader turns to it: its index weighs more than an act, and its worker as much as a figure.

    Raises PluginError when a new version of Material no longer has the words that are changed.
    """
    (bundle,) = site.glob("assets/javascripts/bundle.*.min.js")
    code = bundle.read_text(encoding="utf-8")
    for eager, later in EAGER.items():
        if code.count(eager) != 1:
            raise PluginError(f"{bundle.name} must start the search at {eager!r}, which is there {code.count(eager)} times")
        code = code.replace(eager, later)
    bundle.write_text(code, encoding="utf-8")


os.environ["SOURCE_DATE_EPOCH"] = (
    os.environ.get("SOURCE_DATE_EPOCH", "").strip() or "0"
)  # equal inputs, equal bytes: no page carries the time of its build
