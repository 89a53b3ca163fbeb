"""Whatever comes in: no quote, page, built page or program is read wrongly in silence, and none makes a crash or a hang.

The runs are the same each time; with FULL=1 there are many more of them. The oracles share no code with what they judge: `decimal` for quotes,
Python-Markdown and Chromium for what a reader sees, SimPy for programs.
"""

from __future__ import annotations

import math
import os
import random
import re
import tempfile
from contextlib import nullcontext
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from bs4 import BeautifulSoup
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from macros import naked
from macros.audit import apply_fixes, audit_sources
from macros.audit_html import _read
from macros.claims import known_words
from perfmodel import collectives
from perfmodel.streams import Task, run
from verify import simulate
from verify.asserts import same
from verify.audited import FRONT, audit_one
from verify.test_model import METHODS, schedule_faults
from verify.test_quotes import complaint, number
from verify.test_scan import parser

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FULL = os.environ.get("FULL", "") not in ("", "0")


def examples(quick: int, full: int) -> settings:
    """So many examples, the same each time. One that takes longer than half a minute, on a machine busy with other things, is a hang."""
    return settings(derandomize=True, deadline=timedelta(seconds=30), max_examples=full if FULL else quick)


# ---- Quotes ----------------------------------------------------------------------------

# How many of the SI unit one unit is, typed by hand.
SIZES = {
    "ns": "1e-9", "µs": "1e-6", "us": "1e-6", "μs": "1e-6", "ms": "1e-3", "s": "1", "min": "60", "h": "3600", "days": "86400", "years": "31536000", "ticks": "1",
    "B": "1", "KB": "1e3", "MB": "1e6", "GB": "1e9", "TB": "1e12", "KiB": "1024", "MiB": "1048576", "GiB": "1073741824", "B/s": "1", "MB/s": "1e6", "GB/s": "1e9",
    "kbit/s": "125", "Mbit/s": "125e3", "Gbit/s": "125e6", "Tbit/s": "125e9", "GFLOP": "1e9", "TFLOP/s": "1e12", "FLOP/B": "1", "IOPS": "1", "%": "0.01", "×": "1", "x": "1", "": "1",
}  # fmt: skip
BASE = {
    "ticks": "ticks",
    "IOPS": "IOPS",
    "FLOP/B": "FLOP/B",
    "GFLOP": "FLOP",
    "TFLOP/s": "FLOP/s",
    "%": "×",
    "×": "×",
    "x": "×",
    "": "",
}
BASE |= dict.fromkeys(("B", "KB", "MB", "GB", "TB", "KiB", "MiB", "GiB"), "B") | dict.fromkeys(
    (u for u in SIZES if u.endswith(("B/s", "bit/s"))), "B/s"
)
BLANKS = ["", " ", "  ", "\u00a0", "\u202f", "\u2009", "\u2007", "\u2003", "\u200b", "\u2060", "\ufeff", "\t", "\n", " \n  "]
PREFIXES = ["", "about ", "≈", "~", "roughly ", "Some ", "around\u00a0"]


class Quoted(NamedTuple):
    """A number as an author writes it, the same with its last digit one off both ways, and the value that makes the first right."""

    right: str
    wrong: tuple[str, str]
    value: float
    unit: str


@st.composite
def quoted(draw: st.DrawFn) -> Quoted:
    """Any value of up to 15 digits, in any unit and any form; the words are made by `decimal`."""
    unit = draw(st.sampled_from(sorted(SIZES)))
    shown = Decimal(draw(st.integers(1, 10**9 - 1)))  # the digits that are shown
    places, power = draw(st.integers(-6, 9)), draw(st.sampled_from([0, 0, 0, 3, -3, 6, 12, -9]))
    places = max(places, 0) if not power else places
    sign = draw(st.sampled_from(["", "", "", "-", "−", "+"]))
    beyond = (
        Decimal(draw(st.integers(-5000, 4999))) / 10_000
    )  # what rounding takes away, at most half of the last digit; a tie goes away from 0
    exact = (shown + beyond).scaleb(power - places) * (-1 if sign in ("-", "−") else 1) * Decimal(SIZES[unit])
    assume(len(exact.normalize().as_tuple().digits) <= 15)
    comma, scaled, blank = (
        draw(st.booleans()),
        draw(st.sampled_from(["×10^", " x 10^", "*10^", "e", "E"])),
        draw(st.sampled_from(BLANKS)),
    )

    def words(digits: Decimal) -> str:
        text = f"{digits.scaleb(-places):{',' if comma else ''}.{max(places, 0)}f}"
        text += f"{scaled}{power}" if power else ""
        return f"{draw(st.just(prefix))}{sign}{text}{blank}{unit}"

    prefix = draw(st.sampled_from(PREFIXES))
    assume(places >= 0 or power)
    if places < 0:  # 1500e3 would show its noughts as digits
        places = 0
        exact = (shown + beyond).scaleb(power) * (-1 if sign in ("-", "−") else 1) * Decimal(SIZES[unit])
        assume(len(exact.normalize().as_tuple().digits) <= 15)
    return Quoted(words(shown), (words(shown + 1), words(shown - 1)), float(exact), BASE.get(unit, "s"))


@examples(150, 1500)
@given(quoted())
def test_a_right_quote_is_accepted_and_one_off_in_its_last_digit_refused(quote: Quoted) -> None:
    q = number(quote.value, quote.unit)
    assert complaint(quote.right, q) == ""
    for wrong in quote.wrong:
        assert "the model says" in complaint(wrong, q) or "which is not 0 but" in complaint(wrong, q)


@examples(40, 500)
@given(
    st.integers(0, 10**5),
    st.integers(1, 10**5),
    st.integers(0, 3),
    st.sampled_from(["–", "-", " to ", " – ", "\u00a0–\u00a0"]),
    st.booleans(),
)
def test_a_range_with_a_wrong_end_is_refused(low: int, more: int, places: int, join: str, comma: bool) -> None:
    def words(a: int, b: int) -> str:
        one, other = (f"{Decimal(n).scaleb(-places):{',' if comma else ''}.{places}f}" for n in (a, b))
        return f"{one}{join}{other} ms"

    ends = [number(float(Decimal(n).scaleb(-places - 3)), "ms", name) for n, name in ((low, "a.low"), (low + more, "a.high"))]
    assert complaint(words(low, low + more), *ends) == ""
    for a, b in ((low + 1, low + more), (low, low + more + 1), (low, low + more - 1), (low + more, low)):
        assert complaint(words(a, b), *ends) != ""


_PIECES = [
    *"0123456789", *"0123456789", "10", "60", "61", "1,000", ",", ".", "-", "−", "+", "±", "–", "/", "^", "10^", "⁻¹⁵", "×", "x", "*", "e", "E", "%", "[", "]", "(", ")", "½", "Ⅻ", "٣", "６", "三",
    "about ", "under ", "at least ", "<", "≤ ", ">= ", "between ", "from ", " to ", " and ", "a ", "one ", "four", "twenty", "hundred ", "thousand ", "half", "twice", "fold", " parts in ",
    "orders of magnitude", "every ", "inf", "nan", "0x", "_", *BLANKS, "\u202e", "\u0301", "\U0001f600", "\x00", "\x02",
]  # fmt: skip
any_words = st.one_of(
    st.text(max_size=30),
    st.lists(st.one_of(st.sampled_from(_PIECES), st.sampled_from(sorted(known_words()))), max_size=12).map("".join),
    st.tuples(st.sampled_from(_PIECES), st.integers(2, 3000)).map(lambda t: t[0] * t[1]),
)
# What an independent reader makes of a quote: one number in digits, with nothing else that is a number.
_ONE = re.compile(r"([+-]?)(\d{1,3}(?:,\d{3})+|\d+)?(\.\d+)?(?:\s*[×x*]\s*10\^(-?\d+)|[eE]([+-]?\d+))?")


@examples(300, 3000)
@given(any_words)
@example("9" * 5000)
@example("0." + "0" * 5000 + "1 ms")
@example("one part in " * 3000 + "10")
@example("[" + "1, " * 5000 + "1]")
def test_any_words_are_read_or_refused_and_what_is_accepted_is_right(words: str) -> None:
    """For what is accepted without a bound, a range or a list: the digits in it are the value, rounded."""
    for value, unit in ((0.06, "ms"), (60.0, ""), (0.0, "ms"), (4.0, "×")):
        message = complaint(words, number(value, unit))
        assert "\n" not in message
        assert "\u00a0" not in message
        if (
            message
            or not re.search(r"[0-9]", words)
            or re.search(r"[<>≤≥\[]|10\^|part|order|under|below|less|fewer|most|up to|more|over|above|least", words.lower())
        ):
            continue
        plain = re.sub(r"\s+", " ", "".join(" " if c in "".join(BLANKS) else c for c in words)).replace("−", "-").strip()
        found = re.search(r"[+-]?(?:\d[\d,]*)?\.?\d+(?:\s*[×x*]\s*10\^-?\d+|[eE][+-]?\d+)?", plain)
        assert found, words
        parts = _ONE.fullmatch(found[0])
        assert parts, words
        power = int(parts[4] or parts[5] or 0)
        claimed = Fraction((parts[1] + (parts[2] or "0") + (parts[3] or "")).replace(",", "")) * Fraction(10) ** power
        scale = [Fraction(Decimal(size)) for name, size in SIZES.items() if name and re.search(rf"{re.escape(name)}$", plain)] or [
            Fraction(1)
        ]
        step = Fraction(10) ** (power - len((parts[3] or ".")[1:]))
        half = step / 2
        assert any(
            abs(claimed - Fraction(str(value)) / size) <= half
            for size in [*scale, Fraction(1), Fraction(3600), Fraction(60), Fraction(1, 1000)]
        ), words


# ---- Programs --------------------------------------------------------------------------

durations = st.sampled_from(
    [0.0, -0.0, 0.25, 1.0, 3.5, 5e-324, 1e-300, 1e300, 1e308, 1.7e308, -1.0, -5e-324, math.nan, math.inf, -math.inf]
)


class Raw(NamedTuple):
    """A task before anything has looked at it."""

    name: str
    streams: tuple[str, ...]
    duration_s: float
    waits: tuple[int, ...]
    role: str


raw_tasks = st.lists(
    st.builds(
        Raw,
        name=st.sampled_from(["a", "b", "", "a\nb"]),
        streams=st.lists(st.sampled_from(["A", "B", "C", "D", "Z", ""]), max_size=3).map(tuple),
        duration_s=st.one_of(durations, st.integers(0, 40).map(lambda n: n / 4)),
        waits=st.lists(st.integers(-1, 6), max_size=3).map(tuple),
        role=st.sampled_from(["compute", "host", "transfer", "magic"]),
    ),
    max_size=7,
)
sound_tasks = st.lists(
    st.builds(
        Raw,
        name=st.sampled_from(["a", "a", "b"]),
        streams=st.lists(st.sampled_from("ABCD"), min_size=1, max_size=3, unique=True).map(tuple),
        duration_s=st.sampled_from([0.0, -0.0, 0.25, 1.0, 5e-324, 1e300, 1e308, 1.7e308]),
        waits=st.lists(st.integers(0, 5), max_size=3).map(tuple),
        role=st.just("compute"),
    ),
    max_size=8,
).map(lambda raws: [raw._replace(waits=tuple(w for w in raw.waits if w < i)) for i, raw in enumerate(raws)])


def is_sound(number: int, raw: Raw) -> bool:
    """Whether a task is one, from the words of `Task` and `run` alone."""
    return (
        raw.duration_s == raw.duration_s and 0 <= raw.duration_s < math.inf
        and 0 < len(raw.streams) == len(set(raw.streams)) and set(raw.streams) <= set("ABCD")
        and all(0 <= wait < number for wait in raw.waits) and raw.role != "magic"
    )  # fmt: skip


@examples(150, 1500)
@given(st.one_of(raw_tasks, sound_tasks))
def test_any_tasks_are_run_as_simulated_or_refused_in_one_line(raws: list[Raw]) -> None:
    """Cycles of waits, unknown streams, times that are none or that add up to none: refused. Names may come twice."""
    sound = all(is_sound(i, raw) for i, raw in enumerate(raws))
    seen = simulate.program([simulate.Issued(raw.streams, raw.duration_s, raw.waits) for raw in raws]) if sound else []
    refused = (
        ""
        if sound and all(math.isfinite(end) for _, end in seen)
        else r"^(?:(?:a|each|the) .*\bmust\b.* got |a task may only wait .* got )"
    )
    with pytest.raises(ValueError, match=re.compile(refused, re.DOTALL)) if refused else nullcontext():
        tasks = [Task(**raw._asdict()) for raw in raws]
        schedule = run(tasks, tuple("ABCD"))
    if refused:
        return
    assert [(span.start_s, span.end_s) for span in schedule.spans] == seen
    assert math.isfinite(schedule.total_s)
    assert [fault for fault in schedule_faults(tasks, schedule) if "starts" in fault] == []
    assert [span.name for span in schedule.spans] == [raw.name for raw in raws]


@examples(80, 800)
@given(
    st.sampled_from(sorted(METHODS)),
    st.integers(-1, 6),
    *[st.one_of(durations, st.floats(0, 1e12))] * 3,
)
def test_any_collective_is_as_simulated_or_refused(method: str, gpus: int, size: float, rate: float, latency: float) -> None:
    closed, program, simulated = METHODS[method]
    inputs: dict[str, Any] = {"gradient_bytes": size, "gpus": gpus, "link_bytes_per_s": rate, "latency_s": latency}
    if not (
        gpus >= 1 and 0 <= size < math.inf and 0 < rate < math.inf and 0 <= latency < math.inf and latency + size / rate < math.inf
    ):
        for function in (closed, program):
            with pytest.raises(
                ValueError, match=r"^(?:latency_s \+ gradient_bytes / )?\w+ must be a (?:finite|whole) number .*, got "
            ):
                function(**inputs)
        return
    expected = simulated(**inputs)
    if math.isfinite(expected):
        assert same(closed(**inputs), expected)
        assert same(run(program(**inputs), collectives.ports(gpus, cpu=method == "cpu")).total_s, expected)
    else:  # each transfer can be timed, and all together cannot
        with pytest.raises(ValueError, match=r"^\w+_s must be a finite number, got inf$"):
            closed(**inputs)
        with pytest.raises(ValueError, match=r" must (?:be a|end at a) finite .*, got inf"):
            run(program(**inputs))


@pytest.mark.full
def test_twenty_thousand_tasks_run_as_simulated() -> None:
    draw = random.Random(1)
    tasks = [
        Task(
            name=str(i % 7),
            streams=tuple(draw.sample("ABCDEFGHIJKL", draw.randint(1, 3))),
            duration_s=draw.randint(0, 40) / 4,
            waits=tuple(draw.randrange(max(i - 1000, 0), i) for _ in range(draw.randint(0, 3))) if i else (),
        )
        for i in range(20_000)
    ]
    seen = simulate.program([simulate.Issued(task.streams, task.duration_s, task.waits) for task in tasks])
    assert [(span.start_s, span.end_s) for span in run(tasks).spans] == seen


# ---- Pages -----------------------------------------------------------------------------

WRONG, RIGHT = '[= q("61 ms", sync.one_gpu) =]', '[= q("60 ms", sync.one_gpu) =]'
MARKDOWN = [
    "word ", "It takes ", "\n", "\n\n", "\r\n", "\r", "\r\r", "\t", "    ", "  ", "- ", "* ", "1. ", "10) ", "> ", ">> ", "| a | b |\n|---|---|\n| ", "| ", " |\n", "```\n", "```python\n", "~~~\n",
    "````\n", "`", "``", "$", "$$\n", "$$", "\\(", "\\)", "<div>", "</div>", "<div markdown>", "<b>", "</b>", "<p>", "</p>", "<pre>", "</pre>", "<code>", "</code>", "<script>", "</script>", "<style>",
    "</style>", "<textarea>", "<!--", "-->", "<!-- x -->", "<!-", "<?", "?>", "<![CDATA[", "]]>", '<a href="', '">', '<img alt="', "# ", "## ", "===\n", "---\n", "***\n", "[", "]", "(", "x.md)", '](x "', '")',
    "![", "[^1]", "[^1]: ", "[x]: ", '[x]: y "', "!!! note\n", '!!! note "x"\n    ', '??? question "x"\n    ', '=== "A"\n    ', "{ .notice }", '{: title="', '" }', "{", "}", "*", "**", "_", "~~", "&amp;",
    "&#54;", "&lt;", "\\", '"', "'", "“", "\u00a0", "\u200b", "\u2028", "\x85", "\x0c", "\x0b", "\ufeff", "é", "日本", "𝟔", "\U0001f600", "\u202e", "\x02", "\x03", "[##", "##]", "[%", "%]", "{{", "}}", "{%", "%}",
    "[[", "]]", "Term\n:   ", "<details>", "<summary>", "</details>", "<https://x.y/", "http://x.y/", ">", "<", "#", "=", "-", "\\begin{align}\n", "\\end{align}\n", "<br>", "<hr>\n", "<math>", "<svg>",
    "</svg>", "<template>", "*[ms]: ", "\\`", "[= ", " =]", "[=", '[= plain("x", why="y") =]',
]  # fmt: skip
# What may hold a call in its %, one in another; what is indented below the first line belongs to it.
HOLDERS = [
    "%", "a %.", "a <!-- x --> %", "**%**", "`%`", "`` a ` % ``", "```\n%\n```", "```python title=\"x\"\n%\n```", "~~~\n%\n~~~", "    %", "$%$", "$$\n%\n$$", "\\(%\\)", "<!-- % -->", "[## % ##]", "# % { #x }", "%\n===",
    "<div>%</div>", "<div>\n\n%\n\n</div>", "<div markdown>\n%\n</div>", "<b>%</b>", "<pre>%</pre>", "<pre><code>%</code></pre>", "<script>%</script>", "<p>`%`</p>", '<i title="%">x</i>', "<i class='%'>x</i>",
    "[%](x.md)", '[x](y "%")', "[x](%)", "![%](x.png)", "[x]: y '%'", "[^1]\n\n[^1]: %", "<https://x.y/%>", "| a | b |\n|---|---|\n| % | c |", "> %", "- %", "1. %", "- a\n\n    %", "- a\n\n        %",
    "!!! note\n    %", '??? question "%"\n    x', '=== "A"\n    %', "Term\n:   %", "{{ % }}", "{% % %}", "*x*{ title=\"%\" }", "*[ms]: %", "&lt;%&gt;", "\\%", "<%>", "a\n%", "%\n{ .x }", "\\begin{align}\n%\n\\end{align}",
]  # fmt: skip


def held(holders: list[str]) -> tuple[str, str]:
    """What stands before and after a call that these hold, the first of them innermost."""
    text = "%"
    for holder in holders:
        begin, end = holder.split("%") if holder.count("%") == 1 else ("{% ", " %}")
        blanks = re.search(r"(?:^|\n)([ >]*)$", begin)
        text = begin + text.replace("\n", "\n" + (blanks[1] if blanks else "")) + end
    before, _, after = text.replace("{% ", "{\0 ").replace(" %}", " \0}").partition("%")
    return before.replace("\0", "%"), after.replace("\0", "%")


noise = st.one_of(st.lists(st.sampled_from(MARKDOWN), max_size=7).map("".join), st.text(max_size=20))
places = st.one_of(
    st.lists(st.sampled_from(HOLDERS), max_size=3).map(held),
    st.tuples(noise, noise),
    st.tuples(noise, st.lists(st.sampled_from(HOLDERS), max_size=3).map(held), noise).map(
        lambda t: (f"{t[0]}\n\n{t[1][0]}", t[1][1] + t[2])
    ),
)
fronts = st.sampled_from([FRONT, FRONT, FRONT, "\ufeff" + FRONT, FRONT.replace("\n", "\r\n"), FRONT.replace("\n", "\r"), "", "\n" + FRONT, "---\ntitle: A page\n"])  # fmt: skip
_SHOWN = parser()


def is_shown(source: str) -> bool:
    """Whether a reader sees QZQ on a page, by Python-Markdown with the extensions of this site."""
    _SHOWN.reset()
    return "QZQ" in BeautifulSoup(_SHOWN.convert(re.sub(r"\[##.*?##\]", "", source, flags=re.DOTALL)), "html.parser").get_text()


@examples(120, 1500)
@given(fronts, places)
@example(FRONT, ("a\r\rb ", "\r"))
@example(FRONT, ("<summary><!-\n\n<!-- <b>- a\n\n    ", "</b> --><textarea>"))
def test_a_wrong_quote_is_named_at_its_place_whatever_stands_around_it(front: str, place_of: tuple[str, str]) -> None:
    """Or no reader sees it: it stands in a comment. Or the page is refused for what looks like one."""
    before, after = place_of
    lead = re.sub("\r\n?", "\n", front + before + "\0").removesuffix("\0")
    place = (lead.count("\n") + 1, len(lead) - lead.rfind("\n"))
    faults = audit_one("docs/x.md", front + before + WRONG + after).faults
    for fault in faults:
        assert 1 <= fault.line <= lead.count("\n") + after.count("\n") + after.count("\r") + 1
        assert "\n" not in str(fault)
    refused = any("takes for a comment" in fault.message or "a comment is never closed" in fault.message for fault in faults)
    if place not in {(fault.line, fault.column) for fault in faults} and not refused:
        assert not is_shown(before + "QZQ" + after), "\n".join(map(str, faults))


@examples(50, 800)
@given(fronts, places)
def test_a_right_quote_does_no_harm_whatever_stands_around_it(front: str, place_of: tuple[str, str]) -> None:
    before, after = place_of
    source = front + before + RIGHT + after
    for fault in audit_one("docs/x.md", source).faults:
        assert "quotes 6" not in fault.message
        assert 1 <= fault.line <= source.count("\n") + source.count("\r") + 1


@examples(50, 400)
@given(st.lists(st.sampled_from(["x: y\n", "description: A page.\n", "tags: [a, b]\n", "# note\n", "\n", "  \n", "hide: [toc]\n", "a: |\n  b\n", "é: 'ü'\n"]), max_size=4), st.sampled_from(['"61 ms"', "'61 ms'", "61 ms"]), st.integers(1, 4), st.booleans())  # fmt: skip
def test_a_wrong_quote_in_a_title_is_named_at_its_place(lines: list[str], words: str, deep: int, windows: bool) -> None:
    above = "---\ntitle: It takes 61 ms\n" + "".join(dict.fromkeys(lines)) + "title_quotes:\n" + " " * deep
    source = f"{above}{words}: sync.one_gpu\n---\n\n# It takes {WRONG} {{ #x }}\n"
    found = audit_one("docs/x.md", source.replace("\n", "\r\n") if windows else source).faults
    column = deep + 1 + (words[0] in "\"'")
    assert (above.count("\n") + 1, column) in {(f.line, f.column) for f in found if "quotes 61 ms" in f.message}


@examples(2, 8)
@given(st.lists(st.tuples(fronts.filter(lambda front: "page\n---\n" in front.replace("\r\n", "\n").replace("\r", "\n").lstrip("\n")), noise), min_size=1, max_size=3), st.sampled_from(["\n", "\r\n", "\r"]))  # fmt: skip
def test_every_page_of_a_project_is_audited_and_mended_and_keeps_its_line_ends(pages: list[tuple[str, str]], end: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        docs = Path(folder) / "docs"
        (docs / "b").mkdir(parents=True)
        sources = {}
        for name, (front, words) in zip(("a.md", "b/c d.md", "é.md"), pages, strict=False):
            sources[name] = f"{front}{end}It takes {WRONG} or so.{end}{end}{words}".replace("\0", "")
            (docs / name).write_bytes(sources[name].encode())
        named = {f"{fault.path}:{fault.line}:{fault.column}" for fault in audit_sources(docs=docs).faults}
        for name, (front, _) in zip(sources, pages, strict=True):
            line = len(re.findall("\r\n|\r|\n", front + end + "It")) + 1
            assert f"docs/{name}:{line}:10" in named
        apply_fixes(docs=docs)
        for name, source in sources.items():
            assert (docs / name).read_bytes().decode() == source.replace("61 ms", "60 ms")


# ---- Built pages -----------------------------------------------------------------------

HTML = [
    "word ", "<p>", "</p>", "<div>", "</div>", "<b>", "</b>", '<span class="x">', "</span>", "<ul><li>", "</li></ul>", "<table><tr><td>", "</td></tr></table>", "<td>", "</table>", "<table>", "<h2>", "</h2>",
    '<a href="x">', "</a>", "<br>", '<img alt="x">', "</svg>", "</script>", "</style>", "</template>", "-->", "<!-- x -->", "<!-- <svg> -->", "<svg/>", "<math/>", "</pre>", "</math>", "</title>", "<button>", "</button>",
    "<object>", "</object>", "<details><summary>", "</summary>", "&amp;", "&lt;", "&shy;", "&nbsp;", "< ", "</x>", "]]>", "?>", "<html>", "<body>", "</body>", "</html>", "</article>", "<article>", "<main>", "</main>",
    "<head>", "</head>", "<dl><dt>", "</dt><dd>", "<x-y>", "</x-y>", "<figcaption>", "<form>", "</form>", "<input>", "<label>", "\u00a0", "\u200b", "\x0c", "\x00", "é", "\U0001f600", "<noscript>", "</noscript>", "<ruby>", "<rt>", "<font>",
]  # fmt: skip
HIDES = [
    "<script>",
    "<style>",
    "<template>",
    "<!--",
    "<svg><text>",
    "<math><mn>",
    "<pre>",
    "<title>",
    '<div class="',
    "<scr",
    "<a href='",
    "<?php",
    "<!",
    "<![CDATA[",
]
IN = [("<script>", "</script>"), ("<style>", "</style>"), ("<template>", "</template>"), ("<!--", "-->"), ("<svg><text>", "</text></svg>"), ("<pre><code>", "</code></pre>"), ("<p id='", "'></p>")]  # fmt: skip
html = st.lists(st.sampled_from(HTML), max_size=12).map("".join)


def found_in(body: str) -> bool:
    """Whether the audit of built pages finds 4711 ms in a page around this."""
    read = _read(
        f"<!doctype html><html><head><title>A page</title></head><body><main><article>{body}</article></main></body></html>"
    )
    words = [passage.words for passage in (*read.passages, *read.spoken)]
    return any("4711" in finding.text for text in words for finding in naked.findings(text)) or "4711" in str(read.quotes)


@examples(200, 4000)
@given(html, html)
@example("<svg/>", "<svg></svg>")
@example("<!-- <svg> -->", "<svg></svg>")
@example("</body></html>", "")
@example("</article></main>", "")
@example("\x00", "")
@example("<b>" * 3000, "")
def test_a_number_in_broken_html_is_found(before: str, after: str) -> None:
    """None of these pieces hides what follows it, whichever is missing its other half."""
    assert found_in(f"{before}4711 ms{after}")


@examples(100, 1500)
@given(html, st.sampled_from(IN), html)
def test_a_number_that_is_not_shown_is_not_found(before: str, hidden: tuple[str, str], after: str) -> None:
    assert not found_in(f"{before} {hidden[0]}4711 ms{hidden[1]} {after}")


@examples(50, 800)
@given(st.one_of(st.text(max_size=200), st.lists(st.sampled_from(HTML + HIDES), max_size=30).map("".join)))
def test_any_html_is_read(source: str) -> None:
    found_in(source)
    _read(source)


@pytest.mark.full
@pytest.mark.browser
def test_a_number_that_chromium_shows_is_found(browser: Browser) -> None:
    """Broken HTML with what hides in it, too: what is left is up to the parser, and Chromium's is another."""
    draw, page, missed, shown = random.Random(5), browser.new_page(), [], 0
    for _ in range(40):
        pages = [
            ("".join(draw.choices(HTML + HIDES, k=draw.randint(0, 9))), "".join(draw.choices(HTML + HIDES, k=draw.randint(0, 6))))
            for _ in range(200)
        ]
        words: list[str] = page.evaluate(
            """(pages) => pages.map((html) => { const { body } = new DOMParser().parseFromString(html, "text/html"); let words = "";
              const walk = (node) => { for (const child of node.childNodes) {
                if (child.nodeType === Node.TEXT_NODE) words += child.data;
                else if (!["SCRIPT", "STYLE", "TEMPLATE", "PRE", "SVG", "MATH", "TITLE"].includes(child.nodeName.toUpperCase())) walk(child); } };
              walk(body); return words; })""",
            [f"<body><main><article>{before}4711 ms{after}</article></main></body>" for before, after in pages],
        )
        for (before, after), text in zip(pages, words, strict=True):
            shown += "4711" in text
            if "4711" in text and not found_in(f"{before}4711 ms{after}"):
                missed.append((before, after))
    assert missed == []
    assert shown > 2000
