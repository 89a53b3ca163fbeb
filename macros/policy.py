"""What a browser lets the built pages do: one policy, derived from the pages themselves, in every page and in `_headers` beside them.

A host that reads `_headers` (Netlify, Cloudflare Pages) sends it; where hosts send no headers, and from disk, the `<meta>` in each page holds.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

HEADERS = "_headers"
LABS = ("assets/kernels.js", "assets/labs.js")
_INLINE = re.compile(r"<script(?P<attributes>(?:\s[^>]*)?)>(?P<code>.*?)</script>", re.DOTALL | re.IGNORECASE)
_FILE = re.compile(r"""<script\s(?:[^>]*\s)?src="([^"]+)\"""")
_NEIGHBOUR = re.compile(r'\s*<link rel="(?:prev|next)"[^>]*>')
_INERT = re.compile(
    r"""\ssrc\s*=|\stype\s*=\s*["']?application/json""", re.IGNORECASE
)  # a file, which 'self' allows, or data, which never run
# Plotly makes one style element and leaves it empty; this is the hash of nothing.
_EMPTY_STYLE = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
# What a page cannot say of itself: browsers read these from headers alone.
_FROM_HEADERS_ALONE = "; frame-ancestors 'none'"
_UNUSED = (
    "accelerometer", "autoplay", "camera", "display-capture", "encrypted-media", "fullscreen", "geolocation", "gyroscope", "magnetometer",
    "microphone", "midi", "payment", "picture-in-picture", "publickey-credentials-get", "screen-wake-lock", "usb", "xr-spatial-tracking",
)  # fmt: skip


def inline_scripts(html: str) -> set[str]:
    """The scripts that stand in a page and run.

    >>> inline_scripts('<script>run()</script><script src="a.js"></script><script id="c" type="application/json">{}</script>')
    {'run()'}
    """
    return {found["code"] for found in _INLINE.finditer(html) if not _INERT.search(found["attributes"])}


def policy(scripts: Iterable[str]) -> str:
    """A Content-Security-Policy: the site's own files, these inline scripts by hash, and nothing else."""
    hashes = sorted({f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" for script in scripts})
    scripts = " ".join(["'self'", *hashes])
    return (
        f"default-src 'none'; script-src {scripts}; style-src 'self' {_EMPTY_STYLE}; img-src 'self' data:; "
        "connect-src 'self'; worker-src 'self'; form-action 'none'; base-uri 'none'"
    )


def with_policy(html: str, rules: str) -> str:
    """A page that carries the policy, first in its head: what stands before it would not be held to it.

    >>> with_policy("<html><head><title>x</title>", "rules"), with_policy("<p>no head", "rules")
    ('<html><head><meta http-equiv="Content-Security-Policy" content="rules"><title>x</title>', '<meta http-equiv="Content-Security-Policy" content="rules"><p>no head')
    """
    head = re.search(r"<head(?:\s[^>]*)?>", html, re.IGNORECASE)
    at = head.end() if head else 0
    return f'{html[:at]}<meta http-equiv="Content-Security-Policy" content="{rules}">{html[at:]}'


def ahead(html: str) -> str:
    """A page that asks for its scripts once its style sheets are there: beyond a policy in a `<meta>` Chromium does not look ahead for them.

    >>> ahead('<head></head><script src="a.js"></script><script>run()</script><script defer src="b.js"></script>')
    '<head><link rel="preload" as="script" href="a.js"><link rel="preload" as="script" href="b.js"></head><script src="a.js"></script><script>run()</script><script defer src="b.js"></script>'
    >>> ahead('<head></head><script src="assets/labs.js"></script><script src="b.js"></script>').count("preload")
    1

    And for no other page: Firefox fetches the next one beforehand where a link in the head names it, and stumbles over the policy.

    >>> ahead('<head><link rel="next" href="b.html"></head><a rel="next" href="b.html">')
    '<head></head><a rel="next" href="b.html">'
    """
    html = _NEIGHBOUR.sub("", html)
    files = _FILE.findall(html)
    own = [source for source in files if source.endswith(LABS)]  # a page of labs wants these first, the theme's once they are awake
    links = "".join(f'<link rel="preload" as="script" href="{source}">' for source in own or files)
    return html.replace("</head>", f"{links}</head>", 1)


def headers(rules: str) -> str:
    """The text of `_headers`. No two paths set the same header: hosts would join the values."""
    return (
        "/*\n"
        f"  Content-Security-Policy: {rules}{_FROM_HEADERS_ALONE}\n"
        "  X-Content-Type-Options: nosniff\n"
        "  Referrer-Policy: strict-origin-when-cross-origin\n"
        f"  Permissions-Policy: {', '.join(f'{feature}=()' for feature in _UNUSED)}\n"
        "# Names that change with what is in them. All else keeps its name, and hosts have it asked for again each time.\n"
        "/assets/stylesheets/*\n"
        "  Cache-Control: public, max-age=31536000, immutable\n"
    )


def apply(site: Path, scripts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Give a built site its policy, a `<meta>` first in the head of each page and `_headers` at its root; `scripts` are those of the theme.

    Each page asks for its scripts ahead. Yields each page that holds another script, and how that begins.
    """
    pages = {path: path.read_text(encoding="utf-8") for path in sorted(site.rglob("*.html"))}
    found = {path: inline_scripts(html) for path, html in pages.items()}
    allowed = set(scripts) & set().union(*found.values())
    rules = policy(allowed)
    for path, html in pages.items():
        yield from ((path.relative_to(site).as_posix(), script.strip()[:40]) for script in sorted(found[path] - allowed))
        path.write_text(ahead(with_policy(html, rules)), encoding="utf-8")
    (site / HEADERS).write_text(headers(rules), encoding="utf-8")
