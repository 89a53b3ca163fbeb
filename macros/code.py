"""Code chips: a file of docs/code/, or a named part of one, folded behind </> on a page. verify runs each file and checks what it prints."""

from __future__ import annotations

import re
from html import escape

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from macros.calls import Piece
from macros.fingerprint import ROOT
from macros.quantity import QuoteError, near

CODE = ROOT / "docs" / "code"
_PART = re.compile(r"^[ \t]*# part: (?P<name>[\w-]+)\n(?P<body>.*?)^[ \t]*# end: (?P=name)[ \t]*$", re.DOTALL | re.MULTILINE)
_MARK = re.compile(r"^[ \t]*# (?:part|end): [\w-]+\n", re.MULTILINE)


def parts(source: str) -> dict[str, str]:
    """The named parts of a file, between `# part: name` and `# end: name`."""
    return {found["name"]: found["body"].strip("\n") for found in _PART.finditer(source)}


def files() -> list[str]:
    """The names of the files that can be shown: what a link leads to lies elsewhere."""
    return sorted(path.name for path in CODE.glob("*.py") if not path.is_symlink())


def listing(source: str) -> str:
    """Python text, set as code."""
    marked = highlight(source.strip("\n") + "\n", PythonLexer(), HtmlFormatter(nowrap=True))
    return f'<div class="highlight"><pre><code>{marked}</code></pre></div>'


def code(file: str, *names: str, title: str = "") -> Piece:
    """Show a file of docs/code/, or the named parts of it: `code("multiple_gpus.py", "allreduce", title="allreduce from scratch")`."""
    if file not in files():
        raise QuoteError(f'there is no code file "{file}": {", ".join(files())}')
    source = (CODE / file).read_text(encoding="utf-8")
    known = parts(source)
    for name in names:
        if name not in known:
            raise QuoteError(near(f'{file} has no part "{name}"', name, known))
    shown = "\n\n\n".join(known[name] for name in names) if names else _MARK.sub("", source).strip("\n")
    words = escape(title or file)
    markup = (
        f'<details class="chip"><summary><span class="chip-mark" aria-hidden="true">&lt;/&gt;</span> {words}</summary>'
        f"{listing(shown)}"
        f'<p class="chip-file">From <a href="CODE{escape(file)}" download>{escape(file)}</a>, which the checks run.</p></details>'
    )
    return Piece(markup, file, "code")
