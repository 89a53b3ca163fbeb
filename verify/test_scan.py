"""Where things stand in a page, and what a reader reads of it: Jinja's lexer for the calls, Markdown itself as the oracle for the words."""

from __future__ import annotations

import random
import re
from typing import Any

import markdown  # type: ignore[import-untyped,unused-ignore]
import pytest
from bs4 import BeautifulSoup
from bs4.element import Comment
from hypothesis import given, settings
from hypothesis import strategies as st
from mkdocs.utils.yaml import yaml_load

from macros import naked, prose, scan
from macros.audit import CALLABLE
from macros.markdown import read
from macros.prose import DROP, OTHER, QUOTE, STOP, Prose
from verify.checkout import ROOT

steady = settings(derandomize=True, deadline=None, max_examples=200)


def calls(source: str) -> list[tuple[str, int, int, str]]:
    return [(c.source, c.line, c.column, c.where) for c in scan.scan("docs/x.md", source).calls]


def faults(source: str) -> list[str]:
    return sorted(map(str, scan.scan("docs/x.md", source).faults))


@pytest.mark.parametrize(("source", "where"), [
    ("a [= q() =] b", "prose"), ("# a [= q() =]", "heading"), ("#a [= q() =]", "heading"), ("a [= q() =]\n===", "heading"), ("a\n[= q() =]\n---", "prose"), ("- a [= q() =]\n---", "heading"),
    ("> ## a [= q() =]", "heading"), ('!!! note "x"\n    ## a [= q() =]', "heading"), ('!!! note "[= q() =]"\n    x', "prose"), ("`[= q() =]`", "code"),
    ("`` a ` [= q() =]``", "code"), ("\\`[= q() =]\\`", "prose"), ("$[= q() =]$", "formula"), ("$$\n[= q() =]\n$$", "formula"), ("\\([= q() =]\\)", "formula"),
    ("costs $5, [= q() =] and $6", "prose"), ("```\n[= q() =]\n```", "fence"), ("~~~\n[= q() =]\n~~~", "fence"), ("```\n[= q() =]", "prose"), ("a\n\n    [= q() =]", "fence"),
    ("- a\n\n    [= q() =]", "prose"), ("- a\n\n        [= q() =]", "fence"), ("- a\n\n    ```\n    [= q() =]\n    ```", "fence"), ("![[= q() =]](x.png)", "alt"),
    ('[x](y "[= q() =]")', "alt"), ("[[= q() =]](y)", "prose"), ('<b title="[= q() =]">x</b>', "alt"), ("<b>[= q() =]</b>", "prose"), ('*x*{ title="[= q() =]" }', "alt"),
    ("<!-- [= q() =] -->", "comment"), ("a <!-- [= q() =] --> b", "comment"), ("`<!--` [= q() =] `-->`", "prose"), ("| a |\n|---|\n| [= q() =] |", "prose"),
])  # fmt: skip
def test_what_kind_of_place_a_call_stands_in(source: str, where: str) -> None:
    assert [found for *_, found in calls(source)] == [where]


@pytest.mark.parametrize(("source", "expected"), [
    ("[= a =]", [("a", 1, 1)]), ("x\n\n  [= a =] [=b=]", [("a", 3, 3), ("b", 3, 11)]), ("---\ntitle: x\n---\n\n\n# T\n\nx [= a =]", [("a", 8, 3)]),
    ("[= f(\n  a,\n  b) =]\n[= c =]", [("f(\n  a,\n  b)", 1, 1), ("c", 4, 1)]), ("é ×[= a =]", [("a", 1, 4)]), ("[=- a -=]", [("a", 1, 1)]),
    ("[= f(']=]') =]x", [("f(']=]')", 1, 1)][:0]), ("[## [= a =] ##] [= b =]", [("b", 1, 17)]), ("\ufeff---\ntitle: x\n---\n[= a =]", [("a", 4, 1)]),
    ("---\ntitle: x\n...\n[= a =]", [("a", 4, 1)]), ("x\r\ny [= a =]\r\n", [("a", 2, 3)]), ("| [= a =] | [= b =] |", [("a", 1, 3), ("b", 1, 13)]),
])  # fmt: skip
def test_every_call_has_its_place(source: str, expected: list[tuple[str, int, int]]) -> None:
    assert [(words, line, column) for words, line, column, _ in calls(source)] == expected


pieces = st.sampled_from(
    [
        "word ",
        "\n",
        "\n\n",
        "é",
        "×",
        "[x]",
        "(y)",
        "=",
        "{{ }}",
        "$x$",
        "`c`",
        "*e*",
        "| a ",
        "\t",
        '"',
        "'",
        "[",
        "]",
        "#",
        "%",
        "\u00a0",
        "𝟔",
    ]
)


@steady
@given(st.lists(st.one_of(pieces, st.just("CALL")), max_size=30))
def test_calls_are_found_at_their_place_in_any_text(parts: list[str]) -> None:
    text, expected = "x", []
    for part in parts:
        if part == "CALL":
            expected.append((text.count("\n") + 1, len(text) - (text.rfind("\n") + 1) + 1))
            text += "[= q('5 ms', a.b) =]"
        elif not (text.endswith("[") and part[0] in "=%#"):
            text += part
    assert [(line, column) for _, line, column, _ in calls(text)] == expected
    assert not [f for f in faults(text) if "cannot be read" in f]


@steady
@given(st.text(st.sampled_from("[]=#%\"'`$*_{}()<>!-\\ \nab5|~&;:."), max_size=80))
def test_any_text_is_scanned_and_keeps_its_places(text: str) -> None:
    page = scan.scan("docs/x.md", text)
    assert len(page.prose.text) == len(page.prose.at)
    assert page.prose.at == sorted(page.prose.at)
    assert len(page.prose.bare) == len(text)
    for fault in page.faults:
        assert 1 <= fault.line <= text.count("\n") + 1


@pytest.mark.parametrize(("source", "expected"), [
    ("a [= q(“60 ms”, s.o) =] b", ['docs/x.md:1:3: curly quotes in [= q(“60 ms”, s.o) =]: write straight ones, "…"']),
    ("a [= q(«60 ms», s.o) =] b", ['docs/x.md:1:3: curly quotes in [= q(«60 ms», s.o) =]: write straight ones, "…"']),
    ('a [= q("60 ms", s.o) b', ['docs/x.md:1:3: [= q("60 ms", s.o) is never closed: a call ends with =]']),
    ('a\n\nb [= q("60 ms", s.o)\n\nc [= q("1", a.b) =]', ['docs/x.md:3:3: [= q("60 ms", s.o) is never closed: a call ends with =]']),
    ('a [= q("60 ms", s.o) b [= q("1", a.b) =]', ['docs/x.md:1:3: [= q("60 ms", s.o) is never closed: a call ends with =]']),
    ('[= q("6, s.o) =] x [= q(7", a.b) =]', [
        'docs/x.md:1:1: [= q("6, s.o) =] opens a quote that it does not close: every " needs its partner',
        'docs/x.md:1:20: [= q(7", a.b) =] opens a quote that it does not close: every " needs its partner']),
    ("[= q('6, s.o) =] x", ["docs/x.md:1:1: [= q('6, s.o) =] opens a quote that it does not close: every ' needs its partner"]),
    ("a [= x ? y =]", ["docs/x.md:1:3: [= x ? y =] cannot be read: unexpected char '?' at 7"]),
    ("a =] b", ["docs/x.md:1:3: =] closes nothing: a call is [= q(…) =]"]),
    ("[q('6', a.b)] b", ["docs/x.md:1:1: [q(…)] is not a call: write [= q(…) =]"]),
    ("[ rel( x ) ]", ["docs/x.md:1:1: [rel(…)] is not a call: write [= rel(…) =]"]),
    ('see q("6 ms", a.b) and', ["docs/x.md:1:5: q(…) is not a call: write [= q(…) =]"]),
    ('see {{ q("6 ms", a.b) }} and', ["docs/x.md:1:5: q(…) is not a call: write [= q(…) =]"]),
    ("[% if x %]a[% else %]b[% endif %]", ["docs/x.md:1:1: a page holds calls, not statements: [% … %] belongs in a macro"]),
    ("a [% if x", ["docs/x.md:1:3: a page holds calls, not statements: [% … %] belongs in a macro"]),
    ("a [## b", ["docs/x.md:1:3: a comment is never closed: it ends with ##]"]),
    ("a <!-- b", ["docs/x.md:1:3: a comment is never closed: it ends with -->"]),
    ("a\n\n```python\nb", ["docs/x.md:3:1: this fence is never closed: it ends with ``` on a line of its own"]),
    ("---\ntitle: [= q('6', a.b) =]\n---\n", ["docs/x.md:2:8: the front matter holds no calls: write the number, and declare it under title_quotes"]),
])  # fmt: skip
def test_what_cannot_be_read_is_named_in_plain_words(source: str, expected: list[str]) -> None:
    assert faults(source) == expected


@pytest.mark.parametrize("source", [
    "`q(“6”, a)`", "```\n[q('6', a.b)] =]\n```", "table(s) and figure(s)", "a [x] = [y]", "x[= 3"[:0], "$[a, b]$", "{{ x }}", "[[1,2]]", "`[=`"[:0], "a == b", "<!-- =] [q( -->",
])  # fmt: skip
def test_what_is_no_call_is_left_alone(source: str) -> None:
    assert faults(source) == []


def test_every_macro_is_known_to_the_search_for_calls_without_brackets() -> None:
    assert [name for name in CALLABLE if not faults(f"[{name}('x')]")] == []


def test_an_author_cannot_type_the_marks() -> None:
    assert naked.findings(scan.scan("docs/x.md", f"{QUOTE} as fast as {OTHER}").prose.text) != ()


def test_prose_keeps_the_place_of_every_word() -> None:
    source = "It **ta*k*es** <b>6</b>0&nbsp;ms [here](x9.md 'so').\n\n- and `x` $y$ &#54;1 s\n"
    page = read(source)
    for word in ("It", "ms", "here", "so", "and", "s\n"):
        assert source[page.at[page.text.index(word)]] == word[0]
    finding = naked.findings(page.text)
    assert [(f.text, source[page.at[f.start] : page.at[f.start] + 4]) for f in finding] == [("60 ms", "6</b"), ("61 s", "&#54")]


# What Markdown shows, and what the scan reads.


class Pages:
    """Random pages, and the numbers in them: each number is used once, so that it can be followed through."""

    INLINE = (
        "{}", "**{}**", "*{}*", "_{}_", "x*{}*y", "a_{}_b", "~~{}~~", "`{}`", "``a ` {}``", "\\`{}\\`", "\\\\`{}`", "${}$", "$x = {}$", "$x_{{{}}}$", "\\${}\\$", "\\({}\\)",
        "$$ {} $$", "$5", "`$` {} `$`", "`<!--` {} `-->`", "<b>{}</b>", '<span title="{}">x</span>', "<span title='{}'>x</span>", '<i class="c{}">x</i>', "<br>{}",
        "[{}](u.html)", '[x](u.html "{}")', "[x](u.html '{}')", "[x](u{}.html)", "[x](<u {}>)", "[x][r{}]", "[{}][ref]", "[{}]", "![{}](a.png)", "![a](b{}.png)", '![a](b.png "{}")',
        "<!-- {} -->", "a](u {})", "{{ {} }}", "{{ {}.5 ms }}", '*x*{{ title="{}" }}', "*x*{{ .c{} }}", "<http://x/{}>", "http://x/{}", "<x@y{}.com>", "[^{}]", "[^n]", "&#5{};", "&amp;{}",
        "a > b", "a < {}", "#{}", '"{}"', "{}\\", "|{}|", "({})", "{}.", "- {}", "1. {}", "> {}",
    )  # fmt: skip
    LINES = ("- ", "* ", "+ ", "1. ", "{}. ", "{}) ")
    HOLDERS = (
        '!!! note "{}"',
        "??? note",
        '??? note "x {}"',
        '=== "Tab {}"',
        "- x",
        "1. y",
        "[^n]: z {}",
        "Term {}\n:   def {}",
        "> q",
    )

    def __init__(self, page: int) -> None:
        self.random = random.Random(page)
        self.next = 7000

    def fill(self, template: str) -> str:
        if "{" not in template:
            return template
        count = len(re.findall(r"(?<!\{)\{\}(?!\})|\{\{\{\}\}\}", template))
        numbers = [str(self.next + i) for i in range(count)]
        self.next += count
        return template.format(*numbers)

    def words(self) -> str:
        return " ".join(self.fill(part) for part in self.random.choices(self.INLINE, k=self.random.randint(1, 3)))

    def block(self, depth: int = 0) -> str:
        pick = self.random.choice
        kind = self.random.randint(0, 15 if depth < 3 else 9)
        if kind <= 2:
            return "\n".join(self.words() for _ in range(self.random.randint(1, 3)))
        if kind == 3:
            return f"{pick(['# ', '## ', '#', '###### '])}{self.words()}"
        if kind == 4:
            return f"{self.words()}\n{pick(['===', '---'])}"
        if kind == 5:
            mark = pick(["```", "~~~", "````"])
            info = self.fill(pick(["", "python", ' py title="{}"', " {}", "{{ .py }}", ' py hl_lines="{}"', "py {}"]))
            return f"{mark}{info}\n{self.words()}\n{pick([mark, mark, mark, mark + '`', ''])}"
        if kind == 6:
            return "\n".join(self.fill(pick(self.LINES)) + self.words() for _ in range(self.random.randint(1, 3)))
        if kind == 7:
            return f"    {self.words()}"
        if kind == 8:
            return self.fill("| a | {} |\n|---|---|\n") + f"| {self.words()} | x |"
        if kind == 9:
            return self.fill(
                pick(
                    [
                        "[ref]: u{}",
                        '[ref]: u "{}"',
                        "[note]: {} ms",
                        "Some text\n{}. more",
                        "<!-- {}\n\n{} -->",
                        "<div>{}</div>",
                        "<p>`a {} b`</p>",
                        "<div>\n\n    {}\n\n</div>",
                    ]
                )
            )
        if kind == 10:
            return "\n".join(f"> {line}" for line in self.block(depth + 1).split("\n"))
        inner = "\n\n".join(self.block(depth + 1) for _ in range(self.random.randint(1, 2)))
        return self.fill(pick(self.HOLDERS)) + pick(["\n", "\n\n"]) + "    " + inner.replace("\n", "\n    ")

    def page(self) -> str:
        return "\n" + "\n\n".join(self.block() for _ in range(self.random.randint(1, 4))) + "\n"


NUMBER = re.compile(r"7\d{3}")


def parser() -> markdown.Markdown:
    """Markdown as mkdocs.yml sets it up."""
    names, options = [], {}
    for extension in yaml_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["markdown_extensions"]:
        [(name, option)] = extension.items() if isinstance(extension, dict) else [(extension, {})]
        names.append(name)
        options[name] = option
    return markdown.Markdown(extensions=names, extension_configs=options)


def shown(html: str) -> tuple[set[str], set[str]]:
    """The numbers that a reader sees in the words of a page, and those in its code. Names, addresses and classes are no words."""
    soup: Any = BeautifulSoup(html, "html.parser")
    code = {n for tag in soup.find_all("pre") for n in NUMBER.findall(tag.get_text())}
    for tag in soup.find_all(["pre", "code"]) + soup.find_all(class_="arithmatex"):
        tag.replace_with(" ")
    parts = [
        str(tag[name])
        for tag in soup.find_all(True)
        for name in ("title", "alt")
        if tag.get(name) and "headerlink" not in tag.get("class", [])
    ]
    for text in soup.find_all(string=True):
        if not isinstance(text, Comment) and not (text.parent.name == "a" and text.parent.get("href") == str(text)):
            parts.append(re.sub(r"https?://\S+|\S+@\S+|\{[^{}]*[.#][a-z]\w*[^{}]*\}", "", str(text)))
    return set(NUMBER.findall(" ".join(parts))), code


def read_numbers(source: str) -> set[str]:
    """The numbers that the scan finds naked, in words, inline code and formulas."""
    page = scan.scan("docs/x.md", source)
    found = {n for f in naked.findings(page.prose.text) for n in NUMBER.findall(f.text)}
    found |= {n for _, code in page.prose.code if naked.in_code(code) for n in NUMBER.findall(code)}
    return found | {n for _, tex in page.prose.math if naked.in_formula(tex) for n in NUMBER.findall(tex)}


def compare(pages: range) -> tuple[list[int], list[int]]:
    """The pages on which a number that a reader sees is not found; and those on which one in code is."""
    made = parser()
    hidden, alarmed = [], []
    for page in pages:
        source = Pages(page).page()
        if scan.scan("docs/x.md", source).faults:  # a fence that is never closed: the page is refused as it is
            continue
        made.reset()
        visible, code = shown(made.convert(source))
        found = read_numbers(source)
        hidden += [page] if visible - found else []
        alarmed += [page] if (found & code) - visible else []
    return hidden, alarmed


def test_what_markdown_shows_is_read_and_code_is_not() -> None:
    """No number stays hidden. A false alarm is allowed where code stands in a quotation in a list in a tab."""
    hidden, alarmed = compare(range(250))
    assert hidden == []
    assert len(alarmed) < 25


@pytest.mark.full
def test_what_markdown_shows_is_read_on_many_pages() -> None:
    assert compare(range(1000, 6000))[0] == []


@pytest.mark.parametrize(("tag", "heard"), [
    ('<a alt="x y">', [(8, 11)]), ("<a alt='x y'>", [(8, 11)]), ("<a alt=xy>", [(7, 9)]), ("<a alt=Xy>", [(7, 9)]), ('<a alt = "x" href="9" title="6 ms">', [(10, 11), (29, 33)]), ('<a alt="">', [(8, 8)]),
    ("{ alt=xy", [(6, 8)]), ('<a data-alt="x" class="6">', []), ('<a ALT="x"\nTitle="y">', [(8, 9), (18, 19)]), ('<a aria-label="x">', [(15, 16)]),
])  # fmt: skip
def test_a_tag_vanishes_but_for_what_is_heard(tag: str, heard: list[tuple[int, int]]) -> None:
    """A stop stands on each side of what is heard, so that it does not run on into the words around."""
    found = Prose()
    out = list(re.sub(r"[^\n]", DROP, tag))
    for start, end in heard:
        out[start:end] = tag[start:end]
        out[start - 1] = STOP
        out[end : end + 1] = [STOP] if end < len(tag) else []
    assert prose.spoken(tag, 100, found) == "".join(out)
    assert found.places["alt"] == [(100 + start, 100 + end) for start, end in heard]


@pytest.mark.parametrize(("text", "bound", "masked"), [
    ("It takes 60 ms.", ["60 ms"], "It takes Q."), ("60\n  ms of 60 ms", ["60 ms"], "Q of Q"), ("160 ms", ["60 ms"], "160 ms"), ("60 msec", ["60 ms"], "60 msec"), ("60.5", ["60"], "60.5"), ("60. Then", ["60"], "Q. Then"),
    ("1.60", ["60"], "1.60"), ("60 ms and 60", ["60", "60 ms"], "Q and Q"), ("60", ["", " "], "60"), ("a 2×3 b", ["2×3"], "a Q b"),
])  # fmt: skip
def test_words_that_are_bound_are_a_mark_wherever_they_stand(text: str, bound: list[str], masked: str) -> None:
    out = prose.mask(text, bound)
    assert len(out) == len(text)
    assert out.replace(DROP, "").replace(QUOTE, "Q") == masked


@pytest.mark.parametrize(("source", "message"), [
    ("[= q('60 ms, x) =]", "[= q('60 ms, x) =] opens a quote that it does not close: every ' needs its partner"),
    ("[= q('a', 'b, x) =]", "[= q('a', 'b, x) =] opens a quote that it does not close: every ' needs its partner"),
    ('[= q("a", "b, x) =]', '[= q("a", "b, x) =] opens a quote that it does not close: every " needs its partner'),
    ('[= q("it\'s", x$) =]', "[= q(\"it's\", x$) =] opens a quote that it does not close: every ' needs its partner"),
    ("[= q('60 ms', x$) =]", "[= q('60 ms', x$) =] cannot be read: unexpected char '$' at 27"), ('[= q("60 ms", x$) =]', "[= q(\"60 ms\", x$) =] cannot be read: unexpected char '$' at 27"),
    ("[= q(" + "a" * 55, "[= q(" + "a" * 55 + " is never closed: a call ends with =]"), ("[= q(" + "a" * 56, "[= q(" + "a" * 52 + "… is never closed: a call ends with =]"),
])  # fmt: skip
def test_what_is_wrong_with_a_call_that_cannot_be_read(source: str, message: str) -> None:
    assert [(f.message, f.line, f.column) for f in scan.scan("docs/x.md", f"---\n---\n\nIt {source}\n").faults] == [(message, 4, 4)]


@pytest.mark.parametrize(("expression", "macro"), [
    ("q()", "q"), ('q("60\nms", x)', "q"), (" q(x) ", "q"), ("q(", ""), ("x", ""), ("q() + q()", ""), ("a.q()", ""), ("", ""), ("\0", ""), ("sync.one_gpu", ""),
])  # fmt: skip
def test_the_macro_of_a_call(expression: str, macro: str) -> None:
    assert scan.macro_of(expression) == macro
