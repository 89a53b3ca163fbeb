"""What an author can call on a page, the audit of pages and of the built site, and the hook that builds it."""

from __future__ import annotations

from typing import Any


def define_env(env: Any) -> None:
    """Entry point of mkdocs-macros. `macros.render` has put `piece(…)` where the author's calls were: nothing else is ever called."""
    from macros.render import token

    env.macro(token, "piece")
