"""What `make mutants` plants: one fault at a time in every place that claims a number, as an edit of a source file.

A mutant says where the fault then stands. None is made that would leave the sources true: what decides that here is arithmetic of its
own (`true`), not the gate's. Nothing is written: an edit is applied to the text in memory.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import accumulate, pairwise
from typing import NamedTuple

from macros import labels
from macros.audit import CALLABLE, NAMED, pages_of
from macros.claims import read
from macros.evaluate import Evaluator, book
from macros.fingerprint import ROOT
from macros.quantity import Quantity
from macros.says import typed
from macros.scan import Page, scan, source_of
from macros.text import WORDS
from perfmodel.units import UNITS

RECORDS = ROOT / "docs" / "records"
WORDS_IN_PYTHON = (
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "macros" / "figures").glob("[a-z]*.py")),
    "macros/drawings.py",
    "macros/labs.py",
)
Edit = tuple[int, int, str]  # from, to, and what stands there instead


class Mutant(NamedTuple):
    """One fault: the edits that plant it, and the places (line, column) of which the audit must name one.

    Column 0 stands for the whole line, line 0 for the file.
    """

    kind: str
    file: str
    what: str
    edits: tuple[Edit, ...]
    places: tuple[tuple[int, int], ...]
    at: tuple[int, int] = (0, 0)  # where it is planted, when that is not the first of the places

    def __str__(self) -> str:
        line, column = self.at if self.at[0] else self.places[0]
        return f"{self.file}:{line}:{column}: {self.kind}: {self.what}"

    def applied(self, text: str) -> str:
        """The text of the file with the fault in it."""
        for start, end, new in sorted(self.edits, reverse=True):
            text = text[:start] + new + text[end:]
        return text


class Site(NamedTuple):
    """A call with words: its macro, where the words begin, the words, the names after them, and where the call stands."""

    file: str
    macro: str
    at: int
    words: str
    names: str
    start: int
    end: int
    places: tuple[tuple[int, int], ...]


def text_of(file: str) -> str:
    """The text of a source file of the project, as the audit reads it."""
    return (source_of(ROOT / file) or "") if file.endswith(".md") else (ROOT / file).read_text(encoding="utf-8")


@cache
def evaluator() -> Evaluator:
    """The evaluator of the sources as they are."""
    return Evaluator(book(), CALLABLE, NAMED)


@cache
def page(path: str) -> Page:
    """A page as it is."""
    return scan(path, text_of(path))


_CALL = re.compile(
    r"\[=\s*(?P<macro>qt?|rel|plain|formula)\(\s*(?:(?P<quote>[\"'])(?P<words>[^\"']*)(?P=quote)\s*(?:,\s*(?P<names>[^=]*?(?:why=.*?)?))?"
    r"|(?P<of>[\w.]+),(?:(?!=\]).)*?result=(?P<mark>[\"'])(?P<result>[^\"']*)(?P=mark)(?:(?!=\]).)*?)\)\s*=\]",
    re.DOTALL,
)


def sites(file: str) -> list[Site]:
    """Every call of a file that has words. What an f-string puts together is computed, not typed, and is left out."""
    text = text_of(file)
    calls = {call.start: call for call in page(file).calls if call.where != "comment"} if file.endswith(".md") else None
    texts = [] if calls is not None else _texts(text)
    found = []
    for m in _CALL.finditer(text):
        line, column = text.count("\n", 0, m.start()) + 1, m.start() - text.rfind("\n", 0, m.start())
        places: tuple[tuple[int, int], ...] = ((line, column),)
        if calls is not None:
            if m.start() not in calls:
                continue
        else:
            around = [span for span in texts if span[0] <= (line, column - 1) < span[1]]
            if not around:
                continue
            # A text put together from pieces is found by its longest: there, only the line is known.
            places += tuple((n, 0) for n in range(around[0][0][0], around[0][1][0] + 1))
        macro, words = m["macro"], m["words"] if m["words"] is not None else m["result"]
        names = m["names"] or m["of"] or ""
        if "{" not in words + names:
            found.append(
                Site(
                    file, macro, m.start("words" if m["words"] is not None else "result"), words, names, m.start(), m.end(), places
                )
            )
    return found


def _texts(source: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Where the texts of a Python file stand, as (line, column from 0) of both ends; a text of several strings is one. Without docstrings."""
    tree = ast.parse(source)
    lines = source.split("\n")
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    spans = []
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.JoinedStr | ast.Constant)
            and id(node) not in docs
            and not isinstance(getattr(node, "value", ""), int | float)
        ):
            begin, end = (
                (line, len(lines[line - 1].encode()[:column].decode()))
                for line, column in ((node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0))
            )
            spans.append((begin, end))
    return sorted(spans, key=lambda span: (span[0], -span[1][0], -span[1][1]))


def values(names: str) -> list[Quantity]:
    """The quantities that a call names; a list of values is one quantity for each."""
    node = ast.parse(f"f({names})", mode="eval").body
    assert isinstance(node, ast.Call)
    found: list[Quantity] = [evaluator().value(ast.unparse(argument)) for argument in node.args]
    return found


# The words of a quote ------------------------------------------------------------------------------------------------------------------

_NUMERAL = re.compile(r"(?<![\^\d.,])\d+(?:,\d{3})*(?:\.\d+)?")
_BOUNDS = {
    "under": "over", "below": "above", "less than": "more than", "fewer than": "more than", "at most": "at least", "up to": "at least",
    "no more than": "no less than", "<=": ">=", "≤": "≥", "<": ">",
}  # fmt: skip
TURNED = {**_BOUNDS, **{more: less for less, more in _BOUNDS.items() if more not in ("at least", "more than")}, "at least": "at most", "more than": "less than"}  # fmt: skip
_BOUND = re.compile(rf"(?:{'|'.join(sorted(map(re.escape, TURNED), key=len, reverse=True))})(?![a-z])")
_COUNTING = [word for word, number in WORDS.items() if number <= 20]
_OTHER_WORD = {
    **dict(zip(_COUNTING, [*_COUNTING[1:], "thirty"], strict=True)), "thirty": "forty", "forty": "fifty", "fifty": "sixty", "hundred": "thousand",
    "thousand": "million", "million": "billion", "billion": "million",
    "once": "twice", "twice": "thrice", "thrice": "twice", "double": "triple", "triple": "double", "half": "a third", "third": "quarter", "quarter": "third",
    "fifth": "tenth", "tenth": "fifth", "fourth": "fifth", "hundredth": "thousandth", "thousandth": "hundredth",
}  # fmt: skip
_NUMBER_WORD = re.compile(
    rf"(?<![a-z])(?:(?:an? )?half|{'|'.join(sorted(_OTHER_WORD, key=len, reverse=True))})(?=s?(?![a-z])|fold)", re.IGNORECASE
)
# For a unit, others that a slip would write: the next ones of its family, its binary or decimal twin, bits for bytes.
OTHER_UNITS: dict[str, tuple[str, ...]] = {
    "ns": ("µs", "ms"), "µs": ("ns", "ms"), "us": ("ms",), "ms": ("µs", "s"), "s": ("ms", "min"), "min": ("s", "h"), "h": ("min", "days"), "days": ("h", "months"),
    "months": ("days", "years"), "years": ("months", "days"), "B": ("KB", "KiB"), "KB": ("MB", "KiB", "B"), "MB": ("GB", "MiB", "KB"), "GB": ("MB", "GiB", "TB"),
    "TB": ("GB", "TiB"), "KiB": ("KB", "MiB"), "MiB": ("MB", "GiB"), "GiB": ("GB", "MiB"), "MB/s": ("Mbit/s", "GB/s"), "GB/s": ("Gbit/s", "MB/s", "TB/s"),
    "TB/s": ("GB/s", "Tbit/s"), "Gbit/s": ("GB/s", "Mbit/s"), "Mbit/s": ("MB/s", "Gbit/s"), "×": ("%",), "%": ("×",), "ticks": ("ms", "s"), "tick": ("ms",),
    "MFLOP": ("GFLOP",), "GFLOP": ("TFLOP", "MFLOP"), "TFLOP": ("GFLOP",), "GFLOP/s": ("TFLOP/s", "GFLOP"), "TFLOP/s": ("GFLOP/s",), "MFLOP/s": ("GFLOP/s",),
    "FLOP/B": ("FLOP", "FLOP/s"), "IOPS": ("MB/s", "ms"), "bytes": ("KB", "bits"), "reads per second": ("MB/s",), "second": ("minute", "millisecond"), "seconds": ("minutes",),
    "millisecond": ("second", "microsecond"), "milliseconds": ("seconds",), "megabyte": ("mebibyte", "gigabyte"), "gigabyte": ("gibibyte", "megabyte"),
}  # fmt: skip
_UNIT = re.compile(rf"(?<![A-Za-z/])(?:{'|'.join(sorted(map(re.escape, OTHER_UNITS), key=len, reverse=True))})(?![A-Za-z/])")


def true(sign: str, number: str, size: Fraction, value: float) -> bool:
    """Whether a numeral, in units of `size`, is true of a value: rounded at its last digit, or on its side of the value."""
    claimed, exact = Fraction(number.replace(",", "")) * size, Fraction(f"{value:.15g}")
    match sign:
        case "<":
            return exact < claimed
        case "≤":
            return exact <= claimed
        case ">":
            return exact > claimed
        case "≥":
            return exact >= claimed
    return bool(abs(exact - claimed) <= size / 10 ** len(number.partition(".")[2]) / 2)


def _raised(number: str) -> str:
    """A numeral with another last digit: one more, and 8 for 9."""
    return number[:-1] + ("8" if number[-1] == "9" else str(int(number[-1]) + 1))


def slips(words: str, quantities: Sequence[Quantity]) -> Iterator[tuple[str, str]]:
    """What a slip could make of the words of a quote, each with its kind. None of it is true of the values."""
    claims = read(words)
    flat = [(v, q) for q in quantities for v in (q.value if isinstance(q.value, tuple) else (q.value,))]
    sign = claims[0].sign
    numerals = [*_NUMERAL.finditer(words)]
    power = re.search(r"10\^?", words)
    if sign == "=":  # a bound stays true when its digits move away from the value
        for m in numerals:
            if not (power and m.start() == power.start()):
                yield "last digit", words[: m.start()] + _raised(m[0]) + words[m.end() :]
        for m in re.finditer(r"(?<=10\^)-?\d+", words):
            yield "last digit", words[: m.start()] + str(int(m[0]) + 1) + words[m.end() :]
        for m in re.finditer(r"(?<=10)[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+", words):
            yield "last digit", words[: m.end() - 1] + ("⁸" if m[0][-1] == "⁹" else "⁹") + words[m.end() :]
        for m in numerals[:1] if flat[0][0] else ():  # −0 is 0
            before = words[: m.start()].rstrip()
            signed = before[-1:] in ("−", "-", "+") and not before[:-1].strip()
            yield "sign", words[m.start() :] if signed and before[-1] != "+" else f"{words[: m.start()]}−{words[m.start() :]}"
    bound = _BOUND.match(words)
    if bound:
        size = Fraction(claims[0].unit.size) if claims[0].unit else Fraction(1)
        claimed, value = claims[0].value * size, Fraction(f"{flat[0][0]:.15g}")
        if value != claimed:  # "at most two" of two is true both ways
            yield "bound turned", TURNED[bound[0]] + words[bound.end() :]
        for m in numerals[:1] if value and not power else ():  # to the other side of the value, by half of it or as much again
            moved = Fraction(m[0].replace(",", "")) * value / claimed * (Fraction(1, 2) if sign in "<≤" else 2)
            yield "bound moved", words[: m.start()] + f"{float(moved):.2f}" + words[m.end() :]
    for m in _NUMBER_WORD.finditer(words):
        other = _OTHER_WORD.get(m[0].lower().removeprefix("a ").removeprefix("an "), "")
        if sign == "=" or (sign in "<≤" and other in _COUNTING and _COUNTING.index(other) > 1):
            if sign in "<≤":  # "at most two" becomes "at most one"
                other = _COUNTING[_COUNTING.index(other) - 2]
            yield "number word", words[: m.start()] + (other.capitalize() if m[0][0].isupper() else other) + words[m.end() :]
    yield from _other_units(words, claims[0].sign, [v for v, _ in flat])


def _other_units(words: str, sign: str, of: Sequence[float]) -> Iterator[tuple[str, str]]:
    found = [*_UNIT.finditer(words)]
    numerals = _NUMERAL.findall(words)
    if found:
        unit = found[-1]
        for other in OTHER_UNITS[unit[0]]:
            named = UNITS.get(other)
            ours = UNITS.get(unit[0])
            if not any(of) and (named is None or ours is None or named.dim == ours.dim):
                continue  # nothing is as much in any unit
            alike = named and ours and named.dim == ours.dim and len(numerals) == len(of) and "10^" not in words
            # 1 KB is 1 KiB, to a digit; and 20 s is over 18 ms as 20 ms is.
            if alike and all(true(sign, n, Fraction(named.size), value) for n, value in zip(numerals, of, strict=True)):  # type: ignore[union-attr]
                continue
            yield "unit", words[: unit.start()] + other + words[unit.end() :]
        if unit[0] != "×":  # 4× is 4
            yield "unit", words[: unit.start()].rstrip(" -") + words[unit.end() :]
    elif numerals and re.fullmatch(r"[\d.,\[\] ]+", words):
        yield "unit", f"{words} ms"


# Relations -----------------------------------------------------------------------------------------------------------------------------

_PAIRS = (
    ("slower", "faster"), ("more", "less"), ("greater", "less"), ("larger", "smaller"), ("bigger", "smaller"), ("longer", "shorter"), ("later", "earlier"),
    ("higher", "lower"), ("wider", "narrower"), ("more", "fewer"), ("more", "cheaper"), ("slowest", "fastest"), ("largest", "smallest"), ("longest", "shortest"),
    ("most", "least"), ("most", "fewest"), ("highest", "lowest"), ("widest", "narrowest"), ("biggest", "smallest"), ("greatest", "least"), ("latest", "earliest"),
)  # fmt: skip
_SAME = (
    "the same",
    "same",
    "equal",
    "equals",
    "equal to",
    "as large as",
    "as much as",
    "matches",
    "as long as",
    "as fast as",
    "as slow as",
    "as many as",
)


def opposites(word: str) -> list[str]:
    """Every word that says the opposite of a relation, and that the two are the same; both ways for "the same"."""
    core = word.lower().removeprefix("the ").removesuffix(" than") if word.lower() not in _SAME else word.lower()
    if core in _SAME:
        return ["more", "less"]
    other = [b for a, b in _PAIRS if a == core] + [a for a, b in _PAIRS if b == core]
    return [re.sub(re.escape(core), new, word, flags=re.IGNORECASE) for new in dict.fromkeys(other)] + ["the same"]


# Pages and the words in Python -----------------------------------------------------------------------------------------------------------


def _reworded(site: Site, words: str) -> tuple[Edit, ...]:
    return ((site.at, site.at + len(site.words), words),)


def of_quotes(file: str) -> Iterator[Mutant]:
    """Every quote of a file with a slip in it, and two neighbours swapped."""
    found = sites(file)
    where = "" if file.endswith(".md") else " in Python"
    quotes: list[tuple[Site, list[Quantity]]] = []
    for site in found:
        if site.macro not in ("q", "qt", "formula"):
            continue
        quantities = values(site.names)
        quotes.append((site, quantities))
        for kind, words in slips(site.words, quantities):
            yield Mutant(f"{kind}{where}", file, f'"{site.words}" becomes "{words}"', _reworded(site, words), site.places)
        # After a word such as "step" a number typed bare is a label, which says which one: naked.EXEMPT has it by design.
        label = re.search(r"(?i)\b(?:act|step|stage|rank|layer|level|row|column|gpu|cpu)s?\s$", text_of(file)[: site.start])
        if re.search(r"\d", site.words) and site.macro != "formula" and not label:
            # Typed bare, it is found where its number begins, or a × before it.
            (line, column), *more = site.places
            around = ((line, column), *((line, column + i) for i in range(-2, len(site.words))), *more)
            yield Mutant(
                f"typed bare{where}", file, f'"{site.words}" without its call', ((site.start, site.end, site.words),), around
            )
    for (a, of_a), (b, of_b) in pairwise(quotes):
        if _plainly(a.words) != _plainly(b.words) and not _alike(of_a, of_b) and "formula" not in (a.macro, b.macro):
            edits = (*_reworded(a, b.words), *_reworded(b, a.words))
            shift = len(b.words) - len(a.words)
            places = (*a.places, *((line, column + shift if line == a.places[0][0] else column) for line, column in b.places))
            yield Mutant(f"swapped{where}", file, f'"{a.words}" and "{b.words}" swapped', edits, places)


def _plainly(words: str) -> str:
    return re.sub(r"\s+", " ", words.replace("\u00a0", " ").lower())


def _alike(a: list[Quantity], b: list[Quantity]) -> bool:
    """Whether two quotes are of equal values: words that are right for the one are right for the other."""
    return [(q.value, q.dim) for q in a] == [(q.value, q.dim) for q in b]


def of_relations(file: str) -> Iterator[Mutant]:
    """Every relation of a file with its opposite, and with its numbers changing places."""
    where = "" if file.endswith(".md") else " in Python"
    for site in sites(file):
        if site.macro != "rel":
            continue
        for word in opposites(site.words):
            yield Mutant(f"relation turned{where}", file, f'"{site.words}" becomes "{word}"', _reworded(site, word), site.places)
        first, *others = [name.strip() for name in site.names.split(",")]
        if site.words not in _SAME:
            swapped = ", ".join((others[0], first, *others[1:]))
            start = text_of(file).index(site.names, site.at)
            edit = (start, start + len(site.names), swapped)
            yield Mutant(f"relation turned{where}", file, f"{site.names} becomes {swapped}", (edit,), site.places)


def of_exemptions(file: str) -> Iterator[Mutant]:
    """Every `plain` of a file: another digit or word in it, another of its words, and no reason."""
    where = "" if file.endswith(".md") else " in Python"
    for site in sites(file):
        if site.macro != "plain":
            continue
        numeral, word = _NUMERAL.search(site.words), _NUMBER_WORD.search(site.words)
        found = numeral or word
        if found:
            new = _raised(found[0]) if numeral else _OTHER_WORD[found[0].lower()]
            words = site.words[: found.start()] + new + site.words[found.end() :]
            yield Mutant(f"exempt{where}", file, f'"{site.words}" becomes "{words}"', _reworded(site, words), site.places)
        reason = (site.at + len(site.words) + 1, site.end, ") =]")
        yield Mutant(f"exempt{where}", file, f'"{site.words}" without its reason', (reason,), site.places)


def of_words() -> Iterator[Mutant]:
    """Every number in the words of a number of the book, one more than it is."""
    for number in book():
        for words in typed(number):
            numeral, word = _NUMERAL.search(words), _NUMBER_WORD.search(words)
            if found := numeral or word:
                new = _raised(found[0]) if numeral else _OTHER_WORD[found[0].lower()]
                says = number.says.replace(words, words[: found.start()] + new + words[found.end() :], 1)
                yield Mutant("words of the book", number.path, f"{number.name}: {says}", (), ((number.line, 1),))


def of_labels(file: str) -> Iterator[Mutant]:
    """Every text of a module of figures or views with a number typed at its end: axes, legends, notes and badges, and the words with calls too.

    Left out are single words, which may be names of the book; code that is shown as code; errors; and the words of HTML.
    """
    text = text_of(file)
    tree = ast.parse(text)
    lines = text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]

    def offset(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    apart: set[int] = set()
    whole: dict[int, ast.expr] = {}  # texts that are added up are named where the first of them stands
    for node in ast.walk(tree):
        match node:
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                whole[id(left)] = whole[id(right)] = whole.get(id(node), node)
            case (
                ast.Raise()
                | ast.Expr(value=ast.Constant())
                | ast.Call(func=ast.Name(id="Code") | ast.Attribute(value=ast.Name(id="re")))
            ):
                apart |= {id(part) for part in ast.walk(node)}
            case ast.JoinedStr() | ast.FormattedValue():
                apart |= {id(part) for part in ast.walk(node) if part is not node and isinstance(part, ast.Constant)}
                apart |= (
                    {id(node.format_spec)} if isinstance(node, ast.FormattedValue) else set()
                )  # how a value is shown is no text
            case ast.Dict(keys=keys, values=words) if all(
                isinstance(word, ast.Constant) and isinstance(word.value, str) for word in words
            ):
                apart |= {id(key) for key in keys}  # names, for which the words stand
    for node in ast.walk(tree):
        if id(node) in apart or not isinstance(node, ast.JoinedStr | ast.Constant):
            continue
        last = node.end_lineno or 0
        end = offset(last, node.end_col_offset or 0) - 1
        shown = text[offset(node.lineno, node.col_offset) : end + 1]
        if text[end] not in "\"'" or not re.search(r"[a-z)] [a-z(·{]", shown) or "<" in shown:
            continue
        first = whole.get(id(node), node)
        at = (first.lineno, first.col_offset + 1)
        places = tuple((line, 0) for line in range(first.lineno, last + 1))
        yield Mutant("number in a label", file, f"… {shown[-30:-1].split(chr(10))[-1]} 47 ms", ((end, end, " 47 ms"),), places, at)


def of_titles(file: str) -> Iterator[Mutant]:
    """Every number of a title: the title alone changed, its declaration alone, and both."""
    text = text_of(file)
    block = re.search(r"^title_quotes:\n((?: +.*\n)+)", text[: page(file).body], re.MULTILINE)
    for line in re.finditer(r"^( +[\"']?)(?P<words>[^\"':\n]+)[\"']?: *(?P<names>\S.*)$", block[1], re.MULTILINE) if block else ():
        assert block is not None
        at = block.start(1) + line.start("words")
        words = line["words"]
        here = (text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at) - (text[at - 1] in "\"'"))
        title = re.search(rf"^(?:title|description):.*?(?P<words>{re.escape(words)})", text[: block.start()], re.MULTILINE)
        assert title is not None
        there = (text.count("\n", 0, title.start()) + 1, title.start("words") - text.rfind("\n", 0, title.start("words")))
        if line["names"].startswith("plain"):
            continue
        for kind, new in slips(words, values(line["names"])):
            both = ((at, at + len(words), new), (title.start("words"), title.end("words"), new))
            yield Mutant(f"{kind} in a title", file, f'"{words}" becomes "{new}" in both places', both, (here,))
            yield Mutant(f"{kind} in a title", file, f'"{words}" becomes "{new}" in the declaration', both[:1], (here,))
            if kind != "sign":  # a sign before a number that is bound is read with it, and is refused at the number
                yield Mutant(f"{kind} in a title", file, f'"{words}" becomes "{new}" in the title', both[1:], (there,))


# Constants -----------------------------------------------------------------------------------------------------------------------------

PER_CENT = "1 % more"


def of_givens() -> Iterator[Mutant]:
    """Every given of the book, 1 % larger. Its edit is made by the ledger, since several givens may stand in one line of code."""
    for number in book():
        if number.kind == "given":
            yield Mutant("given", number.path, f"{number.name} is {PER_CENT}", (), ((number.line, 1),))


_IN_JSON = re.compile(r"(?<=[\s\[:,])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?=[\s,\]}])")


def of_records() -> Iterator[Mutant]:
    """Every number of every record and of every published table, 1 % larger."""
    for path in sorted(RECORDS.glob("*.json")):
        file, text = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
        for m in _IN_JSON.finditer(text):
            yield _larger("record", file, text, m)
    for path in sorted((RECORDS / "published").glob("*.csv")):
        file, text = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
        for m in re.finditer(r"(?<=[,\n])-?\d+(?:\.\d+)?(?=[,\n])", text):
            yield _larger("published", file, text, m)


def _larger(kind: str, file: str, text: str, number: re.Match[str]) -> Mutant:
    at = (text.count("\n", 0, number.start()) + 1, number.start() - text.rfind("\n", 0, number.start()))
    edit = (number.start(), number.end(), repr(float(number[0]) * 1.01 or 1e-12))
    return Mutant(kind, file, f"{number[0]} is {PER_CENT}", (edit,), ((0, 0),), at)


def all_of(files: Sequence[str] = ()) -> Iterator[Mutant]:
    """Every mutant of the project, in an order that is always the same; of some files alone, where they are named."""
    pages = [path for path in pages_of(ROOT / "docs") if not files or path in files]
    for file in (*pages, *(file for file in WORDS_IN_PYTHON if not files or file in files)):
        yield from of_quotes(file)
        yield from of_relations(file)
        yield from of_exemptions(file)
    for file in labels.files():
        if not files or file in files:
            yield from of_labels(file)
    for file in pages:
        yield from of_titles(file)
    if not files:
        yield from of_words()
        yield from of_givens()
        yield from of_records()
