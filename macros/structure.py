"""What every page and every act must have: explicit ids where a number would enter a URL; in a step, a figure and what to notice."""

from __future__ import annotations

import re
from collections.abc import Iterator

from macros.scan import Fault, Page

_ID = re.compile(r"\{[^{}]*#[\w-]+[^{}]*\}\s*$")
_STEP = re.compile(r"\{[^{}]*\.step\b[^{}]*\}\s*$")


def check_structure(page: Page) -> Iterator[Fault]:
    """What is missing on a page."""
    steps: list[tuple[int, bool]] = []  # (where a step begins or the steps end, whether it is a step)
    for heading in page.prose.headings:
        has_call = any(heading.start <= call.start < heading.end for call in page.calls)
        if has_call and not _ID.search(heading.words):
            yield page.fault(
                heading.start, "a heading with a number needs an id of its own, or the number enters the URL: { #short-name }"
            )
        step = _STEP.search(heading.words)
        if step:
            expected = sum(is_step for _, is_step in steps) + 1
            if not re.search(rf"#step-{expected}\b", step[0]):
                yield page.fault(
                    heading.start, f"this is step {expected} of the page: its heading ends with {{ .step #step-{expected} }}"
                )
            steps.append((heading.start, True))
        elif steps and heading.level <= 2:
            steps.append((heading.start, False))
    ends = [start for start, _ in steps[1:]] + [len(page.source)]
    for (start, is_step), end in zip(steps, ends, strict=True) if steps else ():
        if not is_step:
            continue
        if not any(start <= call.start < end and call.macro in ("figure", "table") for call in page.calls):
            yield page.fault(start, "a step needs a figure or a table: [= figure(…) =]")
        if not re.search(r"\{[^{}]*\.notice\b[^{}]*\}", page.source[start:end]):
            yield page.fault(start, "a step needs a line that says what to notice, ending with { .notice } on the next line")
