"""The structure of a page: the parts that it must have, Markdown that would come out as text, and code that it may not bring along.

Code is scripts, styles, addresses that run, and the documentation of other code than the library's.
"""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Collection, Iterator, Mapping

from macros.prose import Heading
from macros.scan import Call, Fault, Page

ATTRIBUTES = re.compile(r"\{:?[ \t]*[.#][A-Za-z][^{}\n]*\}")
_ID = re.compile(r"\{[^{}]*#([\w:-]+)[^{}]*\}\s*$")
_STEP = re.compile(r"\{[^{}]*\.step\b[^{}]*\}\s*$")
# What is folded, set apart or put in tabs: a line that opens it, and below it an indented text.
_OPENS = re.compile(r"(?P<indent>[ \t]*)(?P<mark>\?\?+|!!!|===)(?!=*[ \t]*$)[^\n]*")
_OPENERS = {
    "?": (re.compile(r"\?{3}\+? [a-z]+(?: +\".*\")? *"), 'a fold is written ??? question "…"'),
    "!": (re.compile(r"!!! ?[a-z]+(?: +(?:inline|end))*(?: +\".*\")? *"), 'a note is written !!! note "…"'),
    "=": (re.compile(r"===(?:\+!?|!\+?)? +\".*\" *"), 'a tab is written === "…"'),
}
_MARGIN = " \t>"  # what may stand before a line: blanks, and the marks of a quotation
ACTS, MODULE = "docs/acts/", "docs/module/"
_WHAT = {ACTS: "an act", MODULE: "a page of the module"}  # pages in steps, which have the same parts
LIBRARY = "docs/api.md"
DOCSTRINGS = re.compile(
    ":::"
)  # mkdocstrings reads, and for some modules imports, what is named behind it; its options load any Python file
_OF_THE_LIBRARY = re.compile(r"(?:\A|\n)(?P<mark>:::) perfmodel(?:\.\w+)*(?=\n\s*?\n(?! )|\s*\Z)")
# Elements and attributes that run, load or restyle something; the policy of the site would stop them in the browser.
ACTIVE_TAGS = frozenset(
    {"script", "style", "iframe", "frame", "frameset", "object", "embed", "applet", "base", "link", "meta", "form"}
)
ACTIVE_ATTRIBUTES = re.compile(r"style|srcdoc|on[a-z]+", re.IGNORECASE)
ACTIVE = re.compile(
    rf"<(?P<tag>{'|'.join(sorted(ACTIVE_TAGS))})(?![\w-])|<[A-Za-z][^<>]*?[\s\"'/](?P<inside>style|srcdoc|on[a-z]+)\s*=(?=[^<>]*>)"
    r"|\{:?[ \t]*(?:[^{}\n]*[ \t])?(?P<listed>style|srcdoc|on[a-z]+)=[^{}\n]*\}",
    re.IGNORECASE,
)
_SCHEMES = {"http", "https", "mailto"}
# The home page is called Home in the menu.
_TITLE_OF_ITS_OWN = ("docs/index.md",)


def check_structure(page: Page, front: Mapping[str, str], blocks: Collection[str]) -> Iterator[Fault]:
    """What is missing on a page. `front` is its front matter, `blocks` are the macros that stand on a line of their own."""
    for start, _, message in page.prose.lost:
        if message:
            yield page.fault(start, message)
    yield from _active(page)
    yield from _headings(page)
    yield from _steps(page)
    yield from _folds(page)
    yield from _attribute_lists(page)
    for call in page.calls:
        if call.macro in blocks or (call.macro == "formula" and re.search(r"\bblock\s*=\s*[Tt]rue\b", call.source)):
            yield from _alone(page, call)
    if front:
        yield from _front(page, front)


def active_scheme(address: str) -> str:
    """The scheme of an address that does not lead to a page, such as javascript: or file:, however it is spelt; "" for one that does.

    >>> active_scheme(" JAVA\\nscript&colon;alert(1)"), active_scheme("../a.md#b"), active_scheme("https://example.org")
    ('javascript:', '', '')
    """
    spelt = re.sub(r"[\s\x00-\x1f]", "", html.unescape(address)).lower()
    found = re.match(r"[a-z][a-z0-9+.-]*(?=:)", spelt)
    return f"{found[0]}:" if found and found[0] not in _SCHEMES else ""


def _active(page: Page) -> Iterator[Fault]:
    """What would run or load something: when the site is built, or when it is read."""
    listed = {m.start("mark") for m in _OF_THE_LIBRARY.finditer(page.source)} if page.path == LIBRARY else set()
    for m in DOCSTRINGS.finditer(page.source):
        if m.start() not in listed:
            yield page.fault(m.start(), f"::: shows a module of perfmodel, on {LIBRARY}, alone on its line and without options")
    for m in ACTIVE.finditer(page.prose.bare):
        name, words = next((name, words) for name, words in m.groupdict().items() if words)
        what = f"<{words.lower()}>" if name == "tag" else f"{words.lower()}="
        yield page.fault(
            m.start(name) - (name == "tag"), f"{what} cannot stand on a page: scripts and styles belong in docs/assets/"
        )
    for offset, address in page.prose.links:
        scheme = active_scheme(address)
        if scheme:
            yield page.fault(offset, f"{scheme} leads to no page: an address is relative, or begins with https:")


def _headings(page: Page) -> Iterator[Fault]:
    seen: dict[str, int] = {}
    for heading in page.prose.headings:
        has_call = any(heading.start <= call.start < heading.end for call in page.calls)
        found = _ID.search(heading.words)
        if has_call and not found:
            yield page.fault(
                heading.start, "a heading with a number needs an id of its own, or the number enters the URL: { #short-name }"
            )
        if found and found[1] in seen and not _STEP.search(heading.words):
            yield page.fault(heading.start, f"line {seen[found[1]]} has the id #{found[1]} already: give this heading another one")
        if found:
            seen.setdefault(found[1], page.place(heading.start)[0])


def _steps(page: Page) -> Iterator[Fault]:
    steps: list[tuple[int, bool]] = []  # (where a step begins or the steps end, whether it is a step)
    for heading in page.prose.headings:
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
    for (start, is_step), (end, _) in itertools.pairwise([*steps, (len(page.source), False)]):
        if not is_step:
            continue
        if not any(start <= call.start < end and call.macro in ("figure", "table") for call in page.calls):
            yield page.fault(start, "a step needs a figure or a table: [= figure(…) =]")
        if not re.search(r"\{[^{}]*\.notice\b[^{}]*\}", page.source[start:end]):
            yield page.fault(start, "a step needs a line that says what to notice, ending with { .notice } on the next line")


def _folds(page: Page) -> Iterator[Fault]:
    """A fold that is none shows its answer."""
    source = page.source.split("\n")
    at = 0
    for number, line in enumerate(source):
        m = _OPENS.match(page.prose.bare[at : at + len(line)])
        if m:
            form, says = _OPENERS[m["mark"][0]]
            wide = len(m["indent"].expandtabs(4))
            below = next((words for words in source[number + 1 :] if words.strip()), "").expandtabs(4)
            if not form.fullmatch(m[0].strip()) or len(below) - len(below.lstrip()) < wide + 4:
                yield page.fault(at + len(m["indent"]), f"{says}, with straight quotes, and its text is indented by four blanks")
        at += len(line) + 1


def _attribute_lists(page: Page) -> Iterator[Fault]:
    """`{ .notice }` works at the end of a heading, right after a link or a word in stars, and alone on the line below a paragraph."""
    bare = page.prose.bare
    for m in ATTRIBUTES.finditer(bare):
        above, before, after, below = _around(bare, m.start(), m.end())
        if before:
            in_heading = any(h.start <= m.start() < h.end for h in page.prose.headings)
            fits = (in_heading and not after) or before[-1] in "*_~)]" or after.startswith("|")
        else:
            fits = bool(above) and not above.startswith("#") and not after and not below
        if not fits:
            yield page.fault(
                m.start(),
                f"{m[0]} would be shown as text: it stands alone on the line right below its paragraph, a blank line after it",
            )


def _around(text: str, start: int, end: int) -> tuple[str, str, str, str]:
    """What stands around a span of a text: the line above, what is before and after it on its own line, the line below."""
    head, _, before = text[:start].rpartition("\n")
    after, _, tail = text[end:].partition("\n")
    above, below = head.rpartition("\n")[2], tail.partition("\n")[0]
    return above.strip(_MARGIN), before.lstrip(_MARGIN), after.strip(), below.strip(_MARGIN)


def _alone(page: Page, call: Call) -> Iterator[Fault]:
    """A block in the middle of a paragraph or a cell would tear it apart."""
    if call.where != "prose":
        return
    above, before, after, below = _around(page.source[page.body :], call.start - page.body, call.end - page.body)
    if before or after or below or (above and not above.startswith(("#", "???", "!!!", "==="))):
        what = f"{call.macro}(…, block=True)" if call.macro == "formula" else f"{call.macro}(…)"
        yield page.fault(call.start, f"{what} stands on a line of its own, with a blank line above and below")


def _front(page: Page, front: Mapping[str, str]) -> Iterator[Fault]:
    """The title, which is the first heading; and what an act needs so that the home page and the credit are complete."""
    heading = next((h for h in page.prose.headings if h.level == 1), None)
    title = front.get("title", "")
    if heading and title and page.path not in _TITLE_OF_ITS_OWN and not _is_title(page, heading, title):
        yield page.fault(heading.start, f'the title at the top of the page is "{title}": write the same words here, or there')
    what = next((what for folder, what in _WHAT.items() if page.path.startswith(folder)), "")
    if not what:
        return
    for key, use in (("title", "the menu shows it"), ("description", "the home page shows it")):
        if not front.get(key, "").strip():
            yield page.fault(0, f"{what} has a line {key}: between its two lines ---: {use}")
    if not heading:
        body = page.source[page.body :]
        yield page.fault(page.body + len(body) - len(body.lstrip()), f"{what} begins with its title: # {title}")
    end = len(page.source.rstrip())
    for mark, part in (
        ("lede", "a first paragraph that says what it is about"),
        ("bridge", "a last paragraph that leads on" if what != _WHAT[ACTS] else "a last paragraph that leads to the next act"),
    ):
        if not re.search(rf"\{{[^{{}}]*\.{mark}\b[^{{}}]*\}}", page.prose.bare):
            yield page.fault(end, f"{what} has {part}, with {{ .{mark} }} on the line below it")
    credits = [call for call in page.calls if call.macro == "credit"]
    to_the_book = [call for call in credits if not re.fullmatch(r"credit\(\s*\)", call.source)]
    if what == _WHAT[ACTS] and not to_the_book:
        yield page.fault(end, 'an act ends with the section of the book it is adapted from: [= credit("13.7") =]')
    if what == _WHAT[MODULE] and not credits:
        yield page.fault(end, "a page of the module ends with whose words it has: [= credit() =]")
    for call in to_the_book if what == _WHAT[MODULE] else ():
        yield page.fault(call.start, "a page of the module is adapted from no section of the book: [= credit() =]")


def _is_title(page: Page, heading: Heading, title: str) -> bool:
    """Whether a heading shows the title. Its calls may show anything: what they say is checked where they stand, and so is the title's number."""
    shown, at = "", heading.start
    for call in page.calls:
        if heading.start <= call.start < heading.end:
            shown += page.source[at : call.start] + "\0"
            at = call.end
    shown = ATTRIBUTES.sub("", shown + page.source[at : heading.end]).strip(" #=-\n")
    parts = [" ".join(part.split()) for part in re.sub(r"[*`\\]", "", shown).split("\0")]
    return bool(re.fullmatch(r"\s*.+?\s*".join(map(re.escape, parts)), " ".join(title.split())))
