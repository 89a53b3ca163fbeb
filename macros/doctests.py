"""For mkdocstrings: the examples in docstrings become listings. Markdown would take their >>> for a quotation in a quotation."""

from __future__ import annotations

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\s*$).+)*", re.MULTILINE)


def fenced(text: str) -> str:
    r"""A docstring with a fence around each example, up to the blank line that ends it.

    >>> fenced("Adds.\n\n>>> 1 + 1\n2\n\nSource: a book.").count("```")
    2
    """
    return _EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", text)


class Doctests(griffe.Extension):
    """Put a fence around each example of every docstring."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called for every object that was loaded."""
        if obj.docstring:
            obj.docstring.value = fenced(obj.docstring.value)
