"""`make fix`: the digits of wrong quotes put right in the pages. Never words, never names: when those are wrong, an author must read the sentence."""

from __future__ import annotations

import re

from macros import text
from macros.scan import Call, Fault, Page

_LITERAL = re.compile(r"\(\s*(?:\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)')")
_DIGITS = re.compile(r"[0-9]+(?:[.,][0-9]+)*")


def literal(page: Page, call: Call) -> tuple[int, str]:
    """The words of a call as they stand in the source, and where; (0, "") when its first argument is no string."""
    found = _LITERAL.search(page.source, call.start, call.end)
    if not found:
        return 0, ""
    which = 1 if found[1] is not None else 2
    return found.start(which), found[which]


def digits_only(old: str, new: str) -> str:
    """`old` with the digits of `new`, when nothing else differs between the two; else ""."""
    if _DIGITS.sub("#", text.normalise(old)) != _DIGITS.sub("#", text.normalise(new)) or re.search("[⁰¹²³⁴⁵⁶⁷⁸⁹]", old):
        return ""
    numbers = iter(_DIGITS.findall(text.normalise(new)))
    return _DIGITS.sub(lambda _: next(numbers), old)


def fixed(page: Page, faults: list[Fault]) -> str:
    """The source of a page with every fault mended that digits alone can mend. Raises ValueError for a fix that changes anything else."""
    wrong = {(fault.line, fault.column): fault for fault in faults if fault.path == page.path and fault.fix}
    source = page.source
    for call in sorted(page.calls, key=lambda c: c.start, reverse=True):
        fault = wrong.get((call.line, call.column))
        if not fault:
            continue
        start, old = literal(page, call)
        if old != fault.old or digits_only(old, fault.fix) != fault.fix:
            raise ValueError(
                f"a fix changes digits only, got {fault.fix!r} for {old!r} at {fault.path}:{fault.line}:{fault.column}"
            )
        source = source[:start] + fault.fix + source[start + len(old) :]
    return source
