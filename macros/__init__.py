"""What an author can call on a page. `define_env` registers it with mkdocs-macros; the work is done in the modules beside this one."""

from __future__ import annotations

from typing import Any


def define_env(env: Any) -> None:
    """Entry point of mkdocs-macros: the names of the book, and the calls."""
    from macros.render import current

    renderer = current()
    for name, group in renderer.groups.items():
        env.variables[name] = group
    for name, function in renderer.functions.items():
        env.macro(function, name)
