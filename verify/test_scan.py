"""Where things stand in a page, and what a reader reads of it: Jinja's lexer for the calls, Markdown itself as the oracle for the words."""

from __future__ import annotations

import random
import re
from pathlib import Path
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
from macros.scan import Fault
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
    ("[= f(\n  a,\n  b) =]\n[= c =]", [("f(\n  a,\n  b)", 1, 1), ("c", 4, 1)]), ("é ×[= a =]", [("a", 1, 4)]),
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


# What is read of a page, character by character. ○ stands for what is opaque, ¦ for a stop; what vanishes is left out.


def read_of(source: str) -> tuple[str, dict[str, Any]]:
    """The words of a text, and all else that was found in it, by the name of its kind."""
    page = read(source)
    assert len(page.bare) == len(source)
    assert all(source[at] in (c, "&") for c, at in zip(page.text, page.at, strict=True) if c.isalnum()), "each in its place"
    found: dict[str, Any] = {"span of code" if kind == "code" else kind: places for kind, places in page.places.items()}
    found |= {"code": page.code, "math": page.math, "broken": page.broken, "lost": page.lost, "links": page.links}
    found["headings"] = [(*heading[:3], heading.words.replace(OTHER, "○").replace(DROP, "")) for heading in page.headings]
    return page.text.replace(STOP, "¦").replace(OTHER, "○"), {kind: places for kind, places in found.items() if places}


@pytest.mark.parametrize(("source", "words", "found"), [
    ("a *b* **c** _d_ ~~e~~", "a b c d e", {}), ("6**0** ms", "60 ms", {}), ("\\*a\\* \\_b", "*a* \\b", {}), ("\\a \\`b\\`", "\\a `b`", {}),
    ("&amp; &#54;0 &#x36; &nope; &fjlig;", "& 60 6 &nope; &fjlig;", {}), ("a&nbsp;b", "a\xa0b", {}),
    ("<b>6</b>0 a<br>b <i title='x'>c</i>", "60 a¦b ¦x¦c", {"alt": [(27, 28)]}), ("a<hr/>b", "a¦b", {}),
    ('<img alt="x" src=\'y.png\'> z', "¦¦x¦ z", {"alt": [(10, 11)], "links": [(18, "y.png")]}),
    ('<a href="u.md">v</a> <a data-href="w">x</a>', "v x", {"links": [(9, "u.md")]}), ("[a](b.md) c", "a c", {"links": [(4, "b.md")]}),
    ("[a](<b c.md>) d", "a d", {"links": [(4, "b c.md")]}), ('[a](b.md "c d") e', 'a¦"c d"¦ e', {"alt": [(8, 14)], "links": [(4, "b.md")]}),
    ("[a](b.md 'c') d", "a¦'c'¦ d", {"alt": [(8, 12)], "links": [(4, "b.md")]}), ("[a](60 ms) b", "[a](60 ms) b", {}),
    ("[a](b(c).md) d", "a d", {"links": [(4, "b(c).md")]}), ("[a][r]\n\n[r]: u.md", "a¦¦         ", {"links": [(13, "u.md")]}),
    ('[a] [R] b\n\n[r]: <u.md> "t"\n', "a b¦¦            ¦t¦\n", {"alt": [(23, 26)], "links": [(16, "u.md")]}),
    ("[r]: u.md\n  'two'\nx", "         \n  ¦two¦\nx", {"alt": [(12, 17)], "links": [(5, "u.md")]}),
    ("[r]: u.md (t)\n", "          ¦t¦\n", {"alt": [(10, 13)], "links": [(5, "u.md")]}),
    ("[r]: u.md\n---\n", "[r]: u.md\n---\n", {"heading": [(0, 9)], "headings": [(0, 9, 2, "[r]: u.md")]}),
    ("[a][b] c", "[a][b] c", {"lost": [(3, 6, "[b] leads nowhere: write [b]: and the address on a line of its own")]}),
    ("[x], [a b][] c\n\n[a b]: v", "[x], a b c¦¦        ", {"links": [(23, "v")]}),
    ("[a b] [] c [r] [d]\n\n[R]: u\n[A b]: v", "a b c r [d]¦¦      \n        ", {"links": [(25, "u"), (34, "v")]}),
    ("[![a](b.png) c [d]](e.md) [f", "¦a¦ c [d] [f", {"alt": [(3, 4)], "links": [(6, "b.png"), (20, "e.md")]}),
    ("[a][] c\n", "[a][] c\n", {}), ("a] [b]", "a] [b]", {}), ("a[^1] b\n\n[^1]: c\n", "a b¦¦      c\n", {}),
    ("a[^1]: b [^2]", "a[^1]: b [^2]", {"lost": [(1, 6, "[^1] has no note: write [^1]: and the note on a line of its own"), (9, 13, "[^2] has no note: write [^2]: and the note on a line of its own")]}),
    ("![a](b.png)", "¦a¦", {"alt": [(2, 3)], "links": [(5, "b.png")]}),
    ("![a][r]", "![a][r]", {"alt": [(2, 3)], "lost": [(4, 7, "[r] leads nowhere: write [r]: and the address on a line of its own")]}),
    ("![a] b", "![a] b", {}), ("`a` b", "○ b", {"span of code": [(0, 3)], "code": [(1, "a")]}),
    ("``a ` b`` c", "○ c", {"span of code": [(0, 9)], "code": [(2, "a ` b")]}), ("`a b", "`a b", {}),
    ("```a` b", "○ b", {"span of code": [(0, 5)], "code": [(1, "``a")]}), ("`a `` b` c", "○ c", {"span of code": [(0, 8)], "code": [(1, "a `` b")]}),
    ("\\`a` b`", "`a○", {"span of code": [(3, 7)], "code": [(4, " b")]}), ("\\\\`a` b", "\\○ b", {"span of code": [(2, 5)], "code": [(3, "a")]}),
    ("``a` b ```", "``a` b ```", {}), ("a `b` c `d` e", "a ○ c ○ e", {"span of code": [(2, 5), (8, 11)], "code": [(3, "b"), (9, "d")]}),
    ("$x$ a", "○ a", {"formula": [(0, 3)], "math": [(1, "x")]}), ("a $x$ b", "a ○ b", {"formula": [(2, 5)], "math": [(3, "x")]}),
    ("$5 and $6", "$5 and $6", {}), ("$ x$ a", "$ x$ a", {}), ("$x $ a", "$x $ a", {}), ("\\$x$ a$", "$x$ a$", {}),
    ("$$\nx\n$$", "○", {"formula": [(0, 7)], "math": [(2, "\nx\n")]}), ("a $$x$$ b", "a $$x$$ b", {}),
    ("$$x$$", "○", {"formula": [(0, 5)], "math": [(2, "x")]}), ("\\(x\\) a", "○ a", {"formula": [(0, 5)], "math": [(2, "x")]}),
    ("\\[x\\]", "○", {"formula": [(0, 5)], "math": [(2, "x")]}), ("a \\[x\\] b", "a [x] b", {}),
    ("\\begin{align}x\\end{align}", "○", {"formula": [(0, 25)], "math": [(0, "\\begin{align}x\\end{align}")]}), ("a\n$$x$$\nb", "a\n$$x$$\nb", {}),
    ("$a\n\nb$", "$a¦¦b$", {}), ("$a \\$ b$ c", "○ c", {"formula": [(0, 8)], "math": [(1, "a \\$ b")]}),
    ("> $$x$$\n> \n> a", "  ○¦> ¦  a", {"formula": [(2, 7)], "math": [(4, "x")]}), ("http://x.org/60 a", "○ a", {}), ("<http://x/60> a", "○ a", {}),
    ("<a@b.org> c", "○ c", {}), ("(www.x.org) a", "(○) a", {}), ("see https://x.org, a", "see ○ a", {}),
    ("a `b` c `d e", "a ○ c `d e", {"span of code": [(2, 5)], "code": [(3, "b")]}),
    ("`a`` `", "○", {"span of code": [(0, 6)], "code": [(1, "a`` ")]}),
    ('[a](b.md "c" ) d', 'a¦"c"¦ d', {"alt": [(8, 12)], "links": [(4, "b.md")]}),
    ("a `b`\n\nc `d`", "a ○¦¦c ○", {"span of code": [(2, 5), (9, 12)], "code": [(3, "b"), (10, "d")]}), ("[a]:b\n", "     \n", {"links": [(4, "b")]}),
    ("Look [^1]x\n\n [^1]: y\n\n    [^2]: z", "Look x¦¦       y¦¦          z", {}), ("*a*{ .c #d } e", "a e", {}),
    ('*a*{ title="b c" } d', "a¦b c¦ d", {"alt": [(12, 15)]}), ("{: .c x=y } a", " a", {}), ("a { b } c", "a { b } c", {}),
    ("<!-- a --> b", " b", {"comment": [(0, 10)]}), ("a <!-- b --> c", "a  c", {"comment": [(2, 12)]}),
    ("<!-- a\n\nb --> c", "¦¦ c", {"comment": [(0, 13)]}), ("a <!-- b", "a <!-- b", {"broken": [(2, "a comment is never closed: it ends with -->")]}),
    ("   <!-- a --> b\nc", " b¦c", {"comment": [(0, 13)]}), ("<!-- a <!-- b --> c", " c", {"comment": [(0, 17)]}), ("[## a ##] b", " b", {}),
    ("# A b\nc", "  A b¦c", {"heading": [(0, 5)], "headings": [(0, 5, 1, "A b")]}),
    ("## A #\n", "   A #¦", {"heading": [(0, 6)], "headings": [(0, 6, 2, "A #")]}), ("####### A", "####### A", {}),
    ("a\n===\nb", "a\n===\nb", {"heading": [(0, 1)], "headings": [(0, 1, 1, "a")]}),
    ("a\n---\n", "a\n---\n", {"heading": [(0, 1)], "headings": [(0, 1, 2, "a")]}), ("a\nb\n---\n", "a\nb\n---\n", {}),
    ("> a\n> ---\n", "  a\n  ---\n", {"heading": [(0, 3)], "headings": [(0, 3, 2, "  a")]}),
    ("\n# A\n\nb\n---", "¦  A¦¦b\n---", {"heading": [(1, 4), (6, 7)], "headings": [(1, 4, 1, "A"), (6, 7, 2, "b")]}),
    ("###A", "   A", {"heading": [(0, 4)], "headings": [(0, 4, 3, "A")]}),
    ("# `a` b", "  ○ b", {"span of code": [(2, 5)], "heading": [(0, 7)], "code": [(3, "a")], "headings": [(0, 7, 1, "○ b")]}),
    ("> ## A", "     A", {"heading": [(0, 6)], "headings": [(2, 6, 2, "A")]}),
    ("<!-- a", "<!-- a", {"broken": [(0, "a comment is never closed: it ends with -->")]}),
    ("a <!-- b <!-- c", "a <!-- b <!-- c", {"broken": [(2, "a comment is never closed: it ends with -->")]}),
    ("```a ``b` c", "○b` c", {"span of code": [(0, 7)], "code": [(2, "`a ")]}), ("a $$x$$", "a $$x$$", {}), ("$$x$$ b", "$$x$$ b", {}),
    ("a \\begin{align}x\\end{align} b", "a \\begin{align}x\\end{align} b", {}), ("[r]: Xu.md", "          ", {"links": [(5, "Xu.md")]}),
    ("[a](Xu.md) b", "a b", {"links": [(4, "Xu.md")]}),
    ('a\n\n[r]: u.md "t"  \n\nb', "a¦¦          ¦t¦  ¦¦b", {"alt": [(13, 16)], "links": [(8, "u.md")]}),
    ("a\n\n![b](c.png) d", "a¦¦¦b¦ d", {"alt": [(5, 6)], "links": [(8, "c.png")]}),
    ("a\nb\n---\n\nc\n---", "a\nb\n---¦¦c\n---", {"heading": [(9, 10)], "headings": [(9, 10, 2, "c")]}),
    ("<p>x</p>\n\na `b\n\nc` d", "¦x¦¦¦a `b¦¦c` d", {}),
])  # fmt: skip
def test_what_stands_within_a_paragraph(source: str, words: str, found: dict[str, Any]) -> None:
    assert read_of(source) == (words, found)


@pytest.mark.parametrize(("source", "words", "found"), [
    ("```\na\n```\nb", "¦¦¦b", {"fence": [(0, 9)]}), ('```py title="t"\na\n```\nb', "¦t¦¦¦¦b", {"fence": [(0, 21)], "alt": [(13, 14)]}),
    ("~~~ {.py}\na\n~~~", "¦¦", {"fence": [(0, 15)]}), ("````\n```\n````", "¦¦", {"fence": [(0, 13)]}),
    ("```\na\n````\nb", "```\na\n````\nb", {"broken": [(0, "this fence is never closed: it ends with ``` on a line of its own"), (6, "this fence is never closed: it ends with ```` on a line of its own")]}),
    ("```\na", "```\na", {"broken": [(0, "this fence is never closed: it ends with ``` on a line of its own")]}),
    ("``` py x\na\n```", "¦¦", {"fence": [(0, 14)]}), ('``` a="b" c\nx\n```', "¦¦", {"fence": [(0, 17)]}),
    ("```a b`\nx\n```", "○", {"span of code": [(0, 13)], "code": [(3, "a b`\nx\n")], "broken": [(10, "this fence is never closed: it ends with ``` on a line of its own")]}),
    ("    ```\n    a\n    ```\n", "\n\n\n", {"fence": [(0, 21), (0, 8), (8, 14), (14, 22)]}),
    ("- x\n\n    ```\n    a\n\n    b\n    ```\n    c", "- x¦¦    ¦    ¦¦    ¦    ¦    c", {"fence": [(5, 33)]}),
    ("> ```\n> a\n> ```\n> b", "  ¦  ¦  ¦  b", {"fence": [(0, 15)]}),
    ("  ```\na\n  ```\n", "  ○\n", {"span of code": [(2, 13)], "code": [(5, "\na\n  ")], "broken": [(2, "this fence is never closed: it ends with ``` on a line of its own"), (10, "this fence is never closed: it ends with ``` on a line of its own")]}),
    ("a\n```\nb\n``` \nc", "a¦¦¦¦c", {"fence": [(2, 12)]}), ("\t```\n    a\n\t```", "¦ ¦\t", {"fence": [(0, 15), (0, 5)]}),
    ("```\na\n```\n```\nb\n```\nc", "¦¦¦¦¦¦c", {"fence": [(0, 9), (10, 19)]}), ("```\n\n```", "¦¦", {"fence": [(0, 8)]}),
    ("<div>*a*</div>\n*b*", "¦*a*¦¦b", {}), ("<div>\n*a*\n</div>\n\n*b*", "¦\n*a*\n¦¦¦b", {}), ("<div markdown>\n*a*\n</div>", "¦\na\n¦", {}),
    ("<div><p>*a*</p>*b*</div>*c*", "¦¦*a*¦*b*¦c", {}), ("<div>*a*", "¦*a*", {}), ("<DIV>*a*</div> *b*", "¦*a*¦ b", {}),
    ("a <div>*b*</div>", "a ¦b¦", {}), ("<b>*a*</b>", "a", {}), ("   <p>*a*</p>", "   ¦*a*¦", {}), ("    <p>*a*</p>", "", {"fence": [(0, 14)]}),
    ("<p>*a*</div>*b*</p>*c*", "¦*a*¦*b*¦c", {}), ("<div><p>*a*</div>*b*", "¦¦*a*¦b", {}), ("<div><div>*a*</div>*b*</div>*c*", "¦¦*a*¦*b*¦c", {}),
    ("<p>*a*</p><p>*b*</p> *c*", "¦*a*¦¦*b*¦ c", {}), ("<p>*a*</p> *b* <div>*c*</div>\n*d*", "¦*a*¦ b ¦*c*¦\nd", {}), ("<hr>*a*", "¦*a*", {}),
    ("<p>a <!-- b --> &amp; http://x/1 <a href='c'>d</a></p>", "¦a  & ○ d¦", {"comment": [(5, 15)], "links": [(42, "c")]}),
    ("<p>a <!b> c</p>", "¦a <!b> c¦", {"broken": [(5, "<! begins what a browser takes for a comment: write <!-- … -->, or &lt;")]}),
    ("<p>a </3> b</p>", "¦a </3> b¦", {"broken": [(5, "</ begins what a browser takes for a comment: write <!-- … -->, or &lt;")]}),
    ("a <!b> c", "a <!b> c", {}), ("<p>`a`</p>", "¦`a`¦", {}), ("<div data-markdown>\n*a*\n</div>", "¦\n*a*\n¦", {}),
    ("<details><summary>*a*</summary>\n\n*b*</details>", "¦¦*a*¦\n\n*b*¦", {}), ("\n<p>*a*</p>\n\n*b*", "¦¦*a*¦¦¦b", {}), ("a\nb", "a\nb", {}),
    ("a\n\nb", "a¦¦b", {}), ("- a\n- b\nc", "- a¦- b\nc", {}), ("1. a\n2. b", "   a¦   b", {}), ("12. a", "    a", {}),
    ("a\n1. b", "a¦1. b", {"lost": [(2, 5, "leave a blank line above the list")]}), ("a\n2. b", "a¦2. b", {}),
    ("a\n- b\n- c", "a¦- b¦- c", {"lost": [(2, 5, "leave a blank line above the list"), (6, 9, "")]}), ("- a\n\n- b", "- a¦¦- b", {}),
    ("* a\n+ b", " a¦+ b", {}), ("> a\n> b\n\nc", "  a\n  b¦¦c", {}), ("> a\nb", "  a\nb", {}), (">a\n>> b\n> c", " a\n   b\n  c", {}),
    ("> 1. a", "     a", {}), ("- > 1. a", "- > 1. a", {}), ("    a\n\nb", "¦¦b", {"fence": [(0, 6)]}),
    ("a\n\n    b\n\nc", "a¦¦¦¦c", {"fence": [(3, 9)]}), ("- a\n\n    b\n\n        c\n", "- a¦¦    b¦¦\n", {"fence": [(12, 22)]}),
    ("a\n    b", "a\n    b", {}), ("!!! note\n    a\n\n    b\n\n        c", "!!! note¦    a¦¦    b¦¦", {"fence": [(23, 32)]}),
    ("[^1]: a\n\n    b", "      a¦¦    b", {}), ("A\n:   b\n\n    c", "A¦:   b¦¦    c", {}),
    ("| a | b |\n|---|---|\n| c | d |\ne", "| a | b |¦|---|---|¦| c | d |¦e", {}),
    ("# a\nb", "  a¦b", {"heading": [(0, 3)], "headings": [(0, 3, 1, "a")]}),
    ("a\n# b\nc", "a¦  b¦c", {"heading": [(2, 5)], "headings": [(2, 5, 1, "b")]}),
    ("a\n    # b", "a\n      b", {"heading": [(2, 9)], "headings": [(6, 9, 1, "b")]}), ("1. a\n\n2. b\n\n    c", "   a¦¦   b¦¦    c", {}),
    ("1. a\n===\n", "1. a\n===\n", {"heading": [(0, 4)], "headings": [(0, 4, 1, "1. a")]}), ("- 1. a", "- 1. a", {}),
    ("[a]: b\n    c\n", "      \n    c\n", {"links": [(5, "b")]}), ("[a]: b\n\n    c\n", "      ¦¦\n", {"fence": [(8, 14)], "links": [(5, "b")]}),
    ("<p>x</p>\n    a\n", "¦x¦\n\n", {"fence": [(9, 15)]}), ("<p>x</p> y\n\n    a\n", "¦x¦ y¦¦\n", {"fence": [(12, 18)]}),
    ("<b markdown>\n\n    a\n", "¦¦    a\n", {}), ("- a\n\n  b\n\n    c", "- a¦¦  b¦¦", {"fence": [(10, 15)]}),
    ("a\n\n\tb", "a¦¦", {"fence": [(3, 5)]}), ("  a\n   b", "  a\n   b", {}), (">     a\n", "\n", {"fence": [(0, 8)]}),
    ("> - a\n>\n>     b\n>\n>         c", "  - a¦>¦      b¦>¦", {"fence": [(18, 29)]}), ("Term\n:   a\n\n1. b", "Term¦:   a¦¦   b", {}),
    ("a\n\n1. b\n3. c\n\n    1. d", "a¦¦   b¦   c¦¦       d", {}), ("x\n\n- a\n2. b", "x¦¦- a¦   b", {}),
    ("??? note\n    a\n    1. b", "??? note¦    a¦    1. b", {"lost": [(19, 22, "leave a blank line above the list")]}),
    ('=== "T"\n    a\n\nb\n\n    c', '=== "T"¦    a¦¦b¦¦', {"fence": [(18, 23)]}),
    ("- a\n# b\n- c", "- a¦  b¦- c", {"heading": [(4, 7)], "headings": [(4, 7, 1, "b")]}),
    ("a\n- b\n\nc\n- d", "a¦- b¦¦c¦- d", {"lost": [(2, 5, "leave a blank line above the list"), (9, 12, "leave a blank line above the list")]}),
    ("```\nx\n```\n    a", "¦¦¦    a", {"fence": [(0, 9)]}), ("a\n\n    b\nc", "a¦¦¦c", {"fence": [(3, 9)]}),
    ("a\n\n    b\n\n    c\n\nd", "a¦¦¦¦¦¦d", {"fence": [(3, 9), (10, 16)]}), ("- a\n\n        b\n\n    c", "- a¦¦¦¦    c", {"fence": [(5, 15)]}),
    ("> a\n\n    b", "  a¦¦", {"fence": [(5, 10)]}),
    ("a | b\n--- | ---\n- c | d", "a | b¦--- | ---¦- c | d", {"lost": [(16, 19, "leave a blank line above the list")]}),
    ("- a\n  1. b\n", "- a¦     b\n", {}), ("1. a\n    2. b\n", "   a¦       b\n", {}), ("1. a\n    - b\n\n    2. c", "   a¦    - b¦¦       c", {}),
    ("> ```\n>\n> a\n> ```\nb", "  ¦>¦  ¦  ¦b", {"fence": [(0, 17)]}),
    ("- x\n\n    ```\nX\n    ```", "- x¦¦    ○", {"span of code": [(9, 22)], "code": [(12, "\nX\n    ")], "broken": [(9, "this fence is never closed: it ends with ``` on a line of its own"), (19, "this fence is never closed: it ends with ``` on a line of its own")]}),
    ("- x\n\n    ```\nX   y\n    ```", "- x¦¦    ○", {"span of code": [(9, 26)], "code": [(12, "\nX   y\n    ")], "broken": [(9, "this fence is never closed: it ends with ``` on a line of its own"), (23, "this fence is never closed: it ends with ``` on a line of its own")]}),
    ("- a\n\n    \tb", "- a¦¦", {"fence": [(5, 11)]}), ("- a\n            - b\n\n            c", "- a¦            - b¦¦            c", {}),
    ("<p>x</p> y\n# z\nw", "¦x¦ y¦  z¦w", {"heading": [(11, 14)], "headings": [(11, 14, 1, "z")]}),
    ("<p>x</p> y\n    # z\nw", "¦x¦ y\n      z\nw", {"heading": [(11, 18)], "headings": [(15, 18, 1, "z")]}), ("a\nX\nb", "a\nX\nb", {}),
    ("> - a\n\n    b", "  - a¦¦", {"fence": [(7, 12)]}), ("- a\n\n    > b\n    > c", "- a¦¦      b\n      c", {}),
    ("- a\n\n    # b\n    c", "- a¦¦      b¦    c", {"heading": [(5, 12)], "headings": [(9, 12, 1, "b")]}),
    ("- a\n  b\n\n    c", "- a\n  b¦¦    c", {}), ("> a\n> - b", "  a¦  - b", {"lost": [(6, 9, "leave a blank line above the list")]}),
    ("1. a 2. b", "   a 2. b", {}),
])  # fmt: skip
def test_which_lines_are_code_raw_html_or_the_end_of_a_sentence(source: str, words: str, found: dict[str, Any]) -> None:
    assert read_of(source) == (words, found)


def test_a_page_that_is_no_text_in_utf_8_is_none(tmp_path: Path) -> None:
    file = tmp_path / "x.md"
    for data, text in ((b"a\r\n\xc3\xa9\rb\n", "a\né\nb\n"), (b"a\0b", None), (b"\xe9", None)):
        file.write_bytes(data)
        assert scan.source_of(file) == text
    assert scan.source_of(tmp_path / "none.md") is None
    assert scan.source_of(tmp_path) is None


@pytest.mark.parametrize(("source", "calls", "broken"), [
    ('[= q("1", a.b) =] and [= r(', [(0, 17, 'q("1", a.b)')], [(22, 27, '[= r( is never closed: a call ends with =]')]),
    ('[= a [= b =]', [(5, 12, 'b')], [(0, 5, '[= a is never closed: a call ends with =]')]),
    ('a [= a\n\nb =] c', [], [(2, 6, '[= a is never closed: a call ends with =]')]),
    ('[= a\n \t\nb', [], [(0, 4, '[= a is never closed: a call ends with =]')]),
    ('[% if x %] a [% endif %]', [], [(0, 10, 'a page holds calls, not statements: [% … %] belongs in a macro')]),
    ('a [## c ##] [= a =]', [(12, 19, 'a')], []),
    ('[## c', [], [(0, 5, 'a comment is never closed: it ends with ##]')]),
    ('x [= "a =] [= b =]', [(11, 18, 'b')], [(2, 10, '[= "a =] opens a quote that it does not close: every " needs its partner')]),
    ('[% raw %]x[% endraw %]', [], [(0, 2, 'a page holds calls, not statements: [% … %] belongs in a macro')]),
    ('[= (', [], [(0, 4, '[= ( is never closed: a call ends with =]')]),
    ('[= a ( =] b', [], [(0, 9, "[= a ( =] cannot be read: unexpected ']', expected ')'")]),
    ('[=\n=] c', [(0, 5, '')], []),
    ('[= a ==] b', [], [(0, 8, "[= a ==] cannot be read: unexpected ']'")]),
    ('[= a = ] [= b =]', [(9, 16, 'b')], [(0, 9, '[= a = ] is never closed: a call ends with =]')]),
    ('[% x', [], [(0, 4, 'a page holds calls, not statements: [% … %] belongs in a macro')]),
    ('[[= a =]]', [(1, 8, 'a')], []),
    ('[= a[ =] b', [], [(0, 8, '[= a[ =] cannot be read: unexpected end of template')]),
    ('a\n[= "b" =]\n', [(2, 11, '"b"')], []),
    ('[= {"a": 1} =]', [(0, 14, '{"a": 1}')], []),
    ('[= } =]', [], [(0, 7, "[= } =] cannot be read: unexpected '}'")]),
    ('x [= ] =]', [], [(2, 9, "[= ] =] cannot be read: unexpected ']'")]),
    ('a [= ) =] b [= c =]', [(12, 19, 'c')], [(2, 9, "[= ) =] cannot be read: unexpected ')'")]),
    ('[= $ =] b', [], [(0, 7, "[= $ =] cannot be read: unexpected char '$' at 3")]),
    ('[= a [= b [= c =] d', [(10, 17, 'c')], [(0, 5, '[= a is never closed: a call ends with =]'), (5, 10, '[= b is never closed: a call ends with =]')]),
    ('[= "[= a" =] b', [], [(0, 4, '[= " is never closed: a call ends with =]'), (4, 12, '[= a" =] opens a quote that it does not close: every " needs its partner')]),
    ('[= a "=]" =]', [], [(0, 8, '[= a "=] opens a quote that it does not close: every " needs its partner')]),
    ('[% for a in b %]', [], [(0, 16, 'a page holds calls, not statements: [% … %] belongs in a macro')]),
    ('[= [a, [= b =]', [(7, 14, 'b')], [(0, 7, '[= [a, is never closed: a call ends with =]')]),
    ('[= x[=y =]', [(4, 10, 'y')], [(0, 4, '[= x is never closed: a call ends with =]')]),
    ('a    [=- b -=] 60 [= c =]', [(18, 25, 'c')], [(5, 14, '[=- b -=] has a sign beside its brackets: a call is [= … =]')]),
    ('a  [=+b =] [= d =]', [(11, 18, 'd')], [(3, 10, '[=+b =] has a sign beside its brackets: a call is [= … =]')]),
    ('a  [%- set x = 1 -%]   [= c =]', [(23, 30, 'c')], [(3, 20, 'a page holds calls, not statements: [% … %] belongs in a macro')]),
    ('a  [##- b -##]  [= c =]', [(16, 23, 'c')], []),
    ('[= a -=] b', [], [(0, 8, '[= a -=] has a sign beside its brackets: a call is [= … =]')]),
    ('[=-=]', [], [(0, 5, '[=-=] has a sign beside its brackets: a call is [= … =]')]),
    ('[==]', [(0, 4, '')], []),
    ('[= a', [], [(0, 4, '[= a is never closed: a call ends with =]')]),
    ('  a [= $ =] [= "b =]', [], [(4, 11, "[= $ =] cannot be read: unexpected char '$' at 7"), (12, 20, '[= "b =] opens a quote that it does not close: every " needs its partner')]),
    ('a [= b %] c =]', [], [(2, 14, "[= b %] c =] cannot be read: unexpected ']'")]),
    ('[% end %]', [], [(0, 9, 'a page holds calls, not statements: [% … %] belongs in a macro')]),
    ('[%- else -%]', [], [(0, 12, 'a page holds calls, not statements: [% … %] belongs in a macro')]),
    ('a [% b', [], [(2, 6, 'a page holds calls, not statements: [% … %] belongs in a macro')]),
    ('[ a [## c d', [], [(4, 11, 'a comment is never closed: it ends with ##]')]),
    ('[a] [## c', [], [(4, 9, 'a comment is never closed: it ends with ##]')]),
    ('[% raw %] x', [], [(0, 11, 'a page holds calls, not statements: [% … %] belongs in a macro')]),
    ('a\n[## b', [], [(2, 7, 'a comment is never closed: it ends with ##]')]),
    ('[a] [% raw %] x [b', [], [(4, 18, 'a page holds calls, not statements: [% … %] belongs in a macro')]),
    ('[= \'"\' + "x =]" =]', [], [(0, 14, '[= \'"\' + "x =] cannot be read: it runs into the next call')]),
    ('a [= b =] [c [## d', [(2, 9, 'b')], [(13, 18, 'a comment is never closed: it ends with ##]')]),
    ('[## a ##] [## b', [], [(10, 15, 'a comment is never closed: it ends with ##]')]),
    ('[= x [=y =] b =]', [(5, 11, 'y')], [(0, 5, '[= x is never closed: a call ends with =]')]),
    ('[% if a %]b[% elif c %]d[% endif %]', [], [(0, 10, 'a page holds calls, not statements: [% … %] belongs in a macro')]),
    ('[%if a %]b[%else%]d[%endif%]', [], [(0, 9, 'a page holds calls, not statements: [% … %] belongs in a macro')]),
    ('[= x =] [% elif c %]', [(0, 7, 'x')], [(8, 20, 'a page holds calls, not statements: [% … %] belongs in a macro')]),
])  # fmt: skip
def test_where_a_call_begins_and_ends_and_what_is_wrong_with_one_that_cannot_be_read(
    source: str, calls: list[tuple[int, int, str]], broken: list[tuple[int, int, str]]
) -> None:
    assert scan._lex(source) == (calls, broken)


def test_a_fault_names_the_page_and_nothing_to_write_instead() -> None:
    said = Fault("x.md", 1, 3, "[= ( is never closed: a call ends with =]", "broken", "", "")
    assert scan.scan("x.md", "# [= (").faults == scan.scan_literal("x.md", "# [= (").faults == [said]
    assert {(fault.old, fault.fix) for fault in scan.scan("x.md", "# [= (").faults} == {("", "")}


def test_what_comes_before_moves_no_fault() -> None:
    for source, column in (("\ue000 =]", 3), ('[q("1", a)] and =]', 17)):
        assert scan.scan("x.md", source).faults[-1].column == column


def test_the_longest_of_what_is_bound_is_masked_first() -> None:
    assert prose.mask("a b, b", ["b", " ", "a b"]).replace(DROP, "") == f"{QUOTE}, {QUOTE}"
