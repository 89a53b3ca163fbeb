"""What a page must have, and what would come out as text, run or tear a paragraph apart: each fault with its place and all of its words."""

from __future__ import annotations

import pytest

from macros.scan import scan
from macros.structure import check_structure

FIGURE = '[= figure("x") =]'
ALONE = "stands on a line of its own, with a blank line above and below"
MODULE = "::: shows a module of perfmodel, on docs/api.md, alone on its line and without options"
ACTIVE = "cannot stand on a page: scripts and styles belong in docs/assets/"
ADDRESS = "leads to no page: an address is relative, or begins with https:"
NEEDS_ID = "a heading with a number needs an id of its own, or the number enters the URL: { #short-name }"
TWICE = "already: give this heading another one"
SHOWS = "a step needs a figure or a table: [= figure(…) =]"
NOTICE = "a step needs a line that says what to notice, ending with { .notice } on the next line"
FOLD = 'a fold is written ??? question "…", with straight quotes, and its text is indented by four blanks'
NOTE = 'a note is written !!! note "…", with straight quotes, and its text is indented by four blanks'
TAB = 'a tab is written === "…", with straight quotes, and its text is indented by four blanks'
AS_TEXT = "would be shown as text: it stands alone on the line right below its paragraph, a blank line after it"


def structure(source: str, path: str = "docs/x.md", front: dict[str, str] | None = None) -> list[str]:
    """The faults of a page, as line:column: message."""
    found = check_structure(scan(path, source), front or {}, {"figure", "table"})
    return [f"{fault.line}:{fault.column}: {fault.message}" for fault in found]


@pytest.mark.parametrize(("source", "expected"), [
    (f"{FIGURE}\n", []), (f"\n{FIGURE}", []), (f"Above\n\n{FIGURE}\n\nBelow", []), (f"## A\n{FIGURE}\n\nBelow\n", []), (f"a\n> \n> {FIGURE}\n>\n> b", []),
    (f'??? note "x"\n    {FIGURE}\n', []), (f'!!! note "x"\n    {FIGURE}\n', []), (f'=== "x"\n    {FIGURE}\n', []), (f"---\ntitle: x\n---\n{FIGURE}\n", []),
    (f"Look: {FIGURE}.\n", [f"1:7: figure(…) {ALONE}"]), (f"It {FIGURE}", [f"1:4: figure(…) {ALONE}"]), (f"{FIGURE} it.", [f"1:1: figure(…) {ALONE}"]),
    (f"Above\n{FIGURE}\n", [f"2:1: figure(…) {ALONE}"]), (f"{FIGURE}\nBelow\n", [f"1:1: figure(…) {ALONE}"]), (f"a\n\nb\n{FIGURE}\n", [f"4:1: figure(…) {ALONE}"]),
    (f"{FIGURE}\nb\n\nc", [f"1:1: figure(…) {ALONE}"]), ("[= formula(x, block=True) =] it.\n", [f"1:1: formula(…, block=True) {ALONE}"]),
    ("a\n[= formula(x, block = true) =]\n", [f"2:1: formula(…, block=True) {ALONE}"]), ("[= formula(x) =] it.\n", []), ("[= formula(x, block=False) =] it.\n", []),
    ('[= q("x", y, block=True) =] it.\n', []), (f"`{FIGURE}` it.\n", []), (f"`{FIGURE}`\n\na {FIGURE}", [f"3:3: figure(…) {ALONE}"]),
    (f"X {FIGURE}", [f"1:3: figure(…) {ALONE}"]), (f"X\n{FIGURE}", [f"2:1: figure(…) {ALONE}"]), (f"{FIGURE}\nX", [f"1:1: figure(…) {ALONE}"]),
    (f"---\ntitle: x\n---\n\nAbove\n{FIGURE}\n", [f"6:1: figure(…) {ALONE}"]), (f"---\ntitle: x\n---\n\n{FIGURE}\nBelow\n", [f"5:1: figure(…) {ALONE}"]),
])  # fmt: skip
def test_a_block_stands_on_a_line_of_its_own(source: str, expected: list[str]) -> None:
    assert structure(source) == expected


def test_a_list_in_a_paragraph_is_one_fault() -> None:
    assert structure("Steps:\n- one\n- two\n") == ["2:1: leave a blank line above the list"]
    assert structure("Steps:\n- one\n- two\n\nSee [a][b].\n") == [
        "2:1: leave a blank line above the list",
        "5:8: [b] leads nowhere: write [b]: and the address on a line of its own",
    ]


@pytest.mark.parametrize(("path", "source", "expected"), [
    ("docs/api.md", "::: perfmodel\n", []), ("docs/api.md", "x\n\n::: perfmodel.units\n\n::: perfmodel.a.b", []),
    ("docs/api.md", "::: perfmodel.units\n    options: x\n", [f"1:1: {MODULE}"]), ("docs/api.md", "::: perfmodel.units\n\n    options: x\n", [f"1:1: {MODULE}"]),
    ("docs/api.md", "::: os\n\n::: perfmodel\n", [f"1:1: {MODULE}"]), ("docs/api.md", "A ::: perfmodel", [f"1:3: {MODULE}"]), ("docs/x.md", "::: perfmodel\n", [f"1:1: {MODULE}"]),
    ("docs/x.md", "It ::: x\n\n::: y", [f"1:4: {MODULE}", f"3:1: {MODULE}"]),
])  # fmt: skip
def test_only_the_library_page_shows_modules(path: str, source: str, expected: list[str]) -> None:
    assert structure(source, path) == expected


def test_what_would_run_is_named_where_it_begins() -> None:
    for source, expected in {
        "a <SCRIPT>x</script>\n": [f"1:3: <script> {ACTIVE}"],
        "a <iframe src=x></iframe>": [f"1:3: <iframe> {ACTIVE}"],
        '<p STYLE="x">a</p>\n': [f"1:4: style= {ACTIVE}"],
        "<p>a</p>\n\n<b onclick=x>b</b> <form>\n": [f"3:4: onclick= {ACTIVE}", f"3:20: <form> {ACTIVE}"],
        'a *b*{ .c style="x" }\n': [f"1:11: style= {ACTIVE}"],
        "*b*{: ONload=x }\n": [f"1:7: onload= {ACTIVE}"],
        "`<script>` <scripts> style=x <b data-style=x>\n": [],
        "[a](javascript:x)\n": [f"1:5: javascript: {ADDRESS}"],
        "[a](b.md) [c](file:///x)\n": [f"1:15: file: {ADDRESS}"],
        '<a href="data:x">b</a>\n': [f"1:10: data: {ADDRESS}"],
        "[a](https://x.org) [b](mailto:a@b) [c](HTTP://x) [d](JAVA&#10;script&colon;x)\n": [f"1:54: javascript: {ADDRESS}"],
    }.items():
        assert structure(source) == expected, source


@pytest.mark.parametrize(("source", "expected"), [
    ("## It [= q(x) =]\n", [f"1:1: {NEEDS_ID}"]), ("It [= q(x) =]\n---\n", [f"1:1: {NEEDS_ID}"]), ("[= q(x) =]\n---\n", [f"1:1: {NEEDS_ID}"]), ("## It [= q(x) =] { #a }\n", []),
    ("a [= q(x) =]\n\n## B\n\n[= q(x) =]\n", []), ("## It\n[= q(x) =]\n", []),
    ("# A { #a }\n\n## B { #a }\n\n## C { .x #a }\n\n## D { #d }\n", [f"3:1: line 1 has the id #a {TWICE}", f"5:1: line 1 has the id #a {TWICE}"]),
    ("a\n\n# A { #a }\n\n## B { #a }\n", [f"5:1: line 3 has the id #a {TWICE}"]),
    (f"# A {{ #a }}\n\n## B {{ .step #a }}\n\n{FIGURE}\n\nx\n{{ .notice }}\n", ["3:1: this is step 1 of the page: its heading ends with { .step #step-1 }"]),
])  # fmt: skip
def test_a_heading_has_an_address_of_its_own(source: str, expected: list[str]) -> None:
    assert structure(source) == expected


def step(number: int, figure: str = FIGURE, notice: str = "See.\n{ .notice }") -> str:
    return f"## S {{ .step #step-{number} }}\n\n{figure}\n\n{notice}\n\n"


BARE = step(1, "", "")
WHOLE = f"{FIGURE}\n\nSee.\n{{ .notice }}\n\n"


@pytest.mark.parametrize(("source", "expected"), [
    (step(1) + step(2) + "## End\n\nx\n", []), (step(1) + "## End\n\n" + step(2), []), (step(1) + "# A\n\n## B\n\nx\n", []), (BARE + "### In it\n\n" + WHOLE, []),
    (step(1, '[= table("x") =]', "x\n{ #a .notice }"), []), (step(2), ["1:1: this is step 1 of the page: its heading ends with { .step #step-1 }"]),
    (step(11), ["1:1: this is step 1 of the page: its heading ends with { .step #step-1 }"]),
    (step(1) + step(3) + step(3), ["8:1: this is step 2 of the page: its heading ends with { .step #step-2 }"]),
    (step(1) + "## A\n\n" + step(3), ["10:1: this is step 2 of the page: its heading ends with { .step #step-2 }"]),
    (step(1, ""), [f"1:1: {SHOWS}"]), (step(1, '[= lab("x") =]'), [f"1:1: {SHOWS}"]), (step(1, notice=""), [f"1:1: {NOTICE}"]), (step(1, notice="x\n{ .noticed }"), [f"1:1: {NOTICE}"]),
    (step(1) + "## End\n\n" + step(2, ""), [f"10:1: {SHOWS}"]), (f"{FIGURE} {{ .step #step-1 }}\n---\n\nx\n{{ .notice }}\n", []),
    (BARE + f"{FIGURE} {{ #b }}\n---\n", [f"1:1: {SHOWS}", f"1:1: {NOTICE}"]),
    (BARE + "## End\n\n" + WHOLE, [f"1:1: {SHOWS}", f"1:1: {NOTICE}"]), (BARE + "# End\n\n" + WHOLE, [f"1:1: {SHOWS}", f"1:1: {NOTICE}"]),
    (WHOLE + BARE, [f"6:1: {SHOWS}", f"6:1: {NOTICE}"]), (BARE + step(2), [f"1:1: {SHOWS}", f"1:1: {NOTICE}"]), ("## A\n\n" + BARE, [f"3:1: {SHOWS}", f"3:1: {NOTICE}"]),
])  # fmt: skip
def test_a_step_shows_something_and_says_what_to_notice(source: str, expected: list[str]) -> None:
    assert structure(source) == expected


@pytest.mark.parametrize(("source", "expected"), [
    ('??? question "How?"\n    So.\n', []), ('???+ question "How?" \n\n    So.\n', []), ('??? question "How?"\n\tSo.\n', []), ("!!! note\n    x\n", []), ('!!! note inline end "x"\n    y\n', []),
    ('=== "One"\n    x\n', []), ('===+ "One"\n    x\n', []), ("a\n===\nb\n", []), ("a\n=====  \nb", []), ('- x\n\n    ??? note "y"\n        z\n', []), ('- x\n\n\t??? note "y"\n\t\tz\n', []),
    ("```\n??? x\n```\n", []), ("---\n??? x: y\ntitle: z\n---\nx\n", []), ("It ??? x\n", []),
    ("x\n\n  ?? question\n", [f"3:3: {FOLD}"]), ("??? question “How?”\n    So.\n", [f"1:1: {FOLD}"]), ('??? question "How?"\n   So.\n', [f"1:1: {FOLD}"]), ('??? question "How?"', [f"1:1: {FOLD}"]),
    ('??? question "How?"\n\n\n', [f"1:1: {FOLD}"]), ("!!! Note “x”\n    y\n", [f"1:1: {NOTE}"]), ("=== One\n    x\n", [f"1:1: {TAB}"]), ('- x\n\n    ??? note "y"\n    z\n', [f"3:5: {FOLD}"]),
    ('- x\n\n    ??? note "y"\n       z\n', [f"3:5: {FOLD}"]), ('- x\n\n    ??? note "y"\n\t   z\n', [f"3:5: {FOLD}"]), ("---\ntitle: z\n---\n??? x\n", [f"4:1: {FOLD}"]), ("a\n\n??? x\n\nb\n\n!!! y\n", [f"3:1: {FOLD}", f"7:1: {NOTE}"]),
])  # fmt: skip
def test_a_fold_a_note_and_a_tab_hold_what_is_indented(source: str, expected: list[str]) -> None:
    assert structure(source) == expected


@pytest.mark.parametrize(("source", "expected"), [
    ("It.\n{ .notice }\n", []), ("It.\n{ .notice }\n\nThen.\n", []), ("It.\n{: #x .y }", []), ("a\n  { .b }\n", []), ("a\nb\n{ .c }", []), ("a\n{ .b }\n \nc", []), ("> It.\n> { .notice }\n", []),
    ("> It.\n> { .notice }\n>\n> Then.\n", []), ("## A { #a }\n", []), ("## A { #a } \n\nb", []), ("A { #a }\n---\n", []), ("[a](b.md){ .c } x\n", []), ("*a*{ .c } x\n", []), ("_a_{ .c } x\n", []),
    ("~~a~~{ .c }\n", []), ("![a]{ .c } x\n", []), ("| a { .c } | b |\n|---|---|\n| c { .d }| e |\n", []), ("`{ .notice }` a { b }\n", []), ("It { .a\nb }\n", []),
    ("It.\n\n{ .notice }\n", [f"3:1: {{ .notice }} {AS_TEXT}"]), ("It. { .notice }\n", [f"1:5: {{ .notice }} {AS_TEXT}"]), ("It.\n{ .notice }\nThen.\n", [f"2:1: {{ .notice }} {AS_TEXT}"]),
    ("It.\n{ .notice }\nThen.\n\nx", [f"2:1: {{ .notice }} {AS_TEXT}"]), ("It.\n{ .notice } x\n", [f"2:1: {{ .notice }} {AS_TEXT}"]), ("{ .notice }\n", [f"1:1: {{ .notice }} {AS_TEXT}"]),
    ("\n{ .a }\n", [f"2:1: {{ .a }} {AS_TEXT}"]), ("## A { #a } b\n", [f"1:6: {{ #a }} {AS_TEXT}"]), ("## A\n{ #a }\n", [f"2:1: {{ #a }} {AS_TEXT}"]), ("X{ .c } x\n", [f"1:2: {{ .c }} {AS_TEXT}"]), ("a` { .c } x\n", [f"1:4: {{ .c }} {AS_TEXT}"]), ("*a* { .c }\n", [f"1:5: {{ .c }} {AS_TEXT}"]),
    ("X { .c }\n", [f"1:3: {{ .c }} {AS_TEXT}"]), ("X\n{ .c }\n", []), ("a\n{ .c }\nX\n", [f"2:1: {{ .c }} {AS_TEXT}"]),
    ("a{ .c }", [f"1:2: {{ .c }} {AS_TEXT}"]), ("| a { .c } b |\n|---|\n", [f"1:5: {{ .c }} {AS_TEXT}"]), ("> It.\n>\n> { .notice }\n", [f"3:3: {{ .notice }} {AS_TEXT}"]),
    ("> It.\n> { .notice }\n> Then.\n", [f"2:3: {{ .notice }} {AS_TEXT}"]), ("a { .b }\n\n*c*{ .d }\n\n{ .e }\n", [f"1:3: {{ .b }} {AS_TEXT}", f"5:1: {{ .e }} {AS_TEXT}"]),
    ("# A\n\nb { .c }\n", [f"3:3: {{ .c }} {AS_TEXT}"]), ("b { .c }\n\n# A\n", [f"1:3: {{ .c }} {AS_TEXT}"]),
])  # fmt: skip
def test_attributes_that_fit_nothing_would_be_shown(source: str, expected: list[str]) -> None:
    assert structure(source) == expected


ACT, PART = "docs/acts/1-x.md", "docs/module/x.md"
BOTH = {"title": "T", "description": "D"}


def parts(
    head: str = "# T { #t }", lede: str = "{ .lede }", bridge: str = "{ .bridge }", credit: str = '[= credit("13.7") =]'
) -> str:
    return f"---\nx: y\n---\n\n{head}\n\nIt.\n{lede}\n\nOn.\n{bridge}\n\n{credit}\n"


OF_MODULE = "[= credit() =]"
TITLE = 'the title at the top of the page is "T": write the same words here, or there'


@pytest.mark.parametrize(("path", "source", "front", "expected"), [
    (ACT, parts(), BOTH, []), (ACT, "x", {}, []), (PART, parts(credit=OF_MODULE), BOTH, []), ("docs/x.md", "x\n", BOTH, []), ("docs/index.md", "# U\n", BOTH, []), ("docs/x.md", "# U\n", {"description": "D"}, []),
    (ACT, parts(), {"title": "T"}, ["1:1: an act has a line description: between its two lines ---: the home page shows it"]),
    (ACT, parts(), {"description": "D"}, ["1:1: an act has a line title: between its two lines ---: the menu shows it"]),
    (ACT, parts(), {"title": "T", "description": " "}, ["1:1: an act has a line description: between its two lines ---: the home page shows it"]),
    (ACT, parts("## T"), BOTH, ["5:1: an act begins with its title: # T"]), (ACT, parts("\n\n"), BOTH, ["9:1: an act begins with its title: # T"]),
    (ACT, parts(""), {"description": "D"}, ["1:1: an act has a line title: between its two lines ---: the menu shows it", "7:1: an act begins with its title: # "]),
    (ACT, parts(lede=""), BOTH, ["13:21: an act has a first paragraph that says what it is about, with { .lede } on the line below it"]),
    (ACT, parts(lede="{ .ledes }"), BOTH, ["13:21: an act has a first paragraph that says what it is about, with { .lede } on the line below it"]),
    (ACT, parts(bridge="`{ .bridge }`"), BOTH, ["13:21: an act has a last paragraph that leads to the next act, with { .bridge } on the line below it"]),
    (ACT, parts(credit=""), BOTH, ['11:12: an act ends with the section of the book it is adapted from: [= credit("13.7") =]']),
    (ACT, parts(credit="[= credit( ) =]"), BOTH, ['13:16: an act ends with the section of the book it is adapted from: [= credit("13.7") =]']),
    (PART, parts(credit=""), BOTH, ["11:12: a page of the module ends with whose words it has: [= credit() =]"]),
    (PART, parts(), BOTH, ["13:1: a page of the module is adapted from no section of the book: [= credit() =]"]),
    (PART, parts(lede="", credit=OF_MODULE), BOTH, ["13:15: a page of the module has a first paragraph that says what it is about, with { .lede } on the line below it"]),
    (PART, parts(bridge="", credit=OF_MODULE), BOTH, ["13:15: a page of the module has a last paragraph that leads on, with { .bridge } on the line below it"]),
    (PART, parts("", credit=OF_MODULE), BOTH, ["7:1: a page of the module begins with its title: # T"]),
    (PART, parts(credit=OF_MODULE), {"title": "T"}, ["1:1: a page of the module has a line description: between its two lines ---: the home page shows it"]),
    ("docs/x.md", "# U\n", BOTH, [f"1:1: {TITLE}"]), ("docs/x.md", "## T\n\n# V\n\n# T", BOTH, [f"3:1: {TITLE}"]),
])  # fmt: skip
def test_a_page_in_steps_has_all_its_parts(path: str, source: str, front: dict[str, str], expected: list[str]) -> None:
    assert structure(source, path, front) == expected


@pytest.mark.parametrize(("heading", "title", "same"), [
    ("# A b\n", "A b", True), ("A  b\n===\n", "A b", True), ("# A   b\n", " A  b ", True), ("# A b #\n", "A b", True), ("# A- b -\n", "A- b", True), ("# A *b* `c` \\_d\n", "A b c _d", True),
    ('# A [= q("1", x) =] b { #a }\n', "A 1 b", True), ('# A [= q("1", x) =] b { #a }\n', "A one or two b", True), ('# [= q("1", x) =] b [= q("2", x) =]{ #a }\n', "one b two", True),
    ('[= q("1", x) =] b { #a }\n===\n', "one b", True), ("# X b X\n", "X b X", True), ('# A b\n\n[= q("1", x) =]\n', "A b", True), ('[= q("1", x) =]\n\n# A b\n', "A b", True), ("# A. b\n", "Ax b", False), ("# A b\n", "xA b", False), ("# A b\n", "A bc", False), ("# A b\n", "A 1 b", False),
    ('# A [= q("1", x) =] b { #a }\n', "Ab", False), ('# A [= q("1", x) =] b { #a }\n', "A 1 c", False), ('# A [= q("1", x) =] b [= q("2", x) =] c { #a }\n', "A 1 c", False),
])  # fmt: skip
def test_the_first_heading_is_the_title(heading: str, title: str, same: bool) -> None:
    expected = [] if same else [f'1:1: the title at the top of the page is "{title}": write the same words here, or there']
    assert structure(heading, front={"title": title}) == expected
