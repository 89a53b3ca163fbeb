"""Edits that change no claim, each made wherever it can be: the audit must stay silent.

They change what stands in the sources. New paragraphs of every form are in `verify.planted.HARMLESS`.
"""

from __future__ import annotations

import csv
import io
import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from macros.audit import PINS, pages_of
from macros.claims import read
from macros.fingerprint import ROOT
from verify.mutations import RECORDS, WORDS_IN_PYTHON, Site, page, sites, text_of, true, values

KIND = "harmless"


class Edit(NamedTuple):
    """One edit, by its name, of one file."""

    name: str
    file: str

    def __str__(self) -> str:
        return f"{self.file}: {self.name}"

    def applied(self) -> str:
        """The text of the file with the edit made."""
        return KINDS[self.name](self.file)


def _blocks(file: str) -> list[tuple[int, int]]:
    """The plain paragraphs of a page: no heading, no list, no mark below, no code."""
    text, found = text_of(file), page(file)
    spans = []
    for m in re.finditer(r"(?<=\n\n)(?:[A-Z*]|\[= (?:q|rel)\b)(?:.+\n)+(?=\n)", text[found.body :]):
        start, end = m.start() + found.body, m.end() + found.body
        apart = any(a < end and start < b for kind in ("fence", "comment") for a, b in found.prose.places[kind])
        if not apart and not re.search(r"\{ [.#]|^[|>#-]|^\d+\. ", m[0], re.MULTILINE):
            spans.append((start, end))
    return spans


_NO_WORDS = re.compile(r"\[=.*?=\]|`[^`]*`|\$[^$]*\$|\]\([^)]*\)|<[^>]*>|https?://\S+|\[\^\w+\]", re.DOTALL)


def _in_prose(change: Callable[[str], str]) -> Callable[[str], str]:
    """An edit of the words of plain paragraphs, calls, code, formulas and addresses left alone."""

    def words(block: str) -> str:
        out, at = [], 0
        for m in _NO_WORDS.finditer(block):
            out += [change(block[at : m.start()]), m[0]]
            at = m.end()
        return "".join([*out, change(block[at:])])

    return _in_blocks(words)


def _in_blocks(change: Callable[[str], str]) -> Callable[[str], str]:
    def make(file: str) -> str:
        text = text_of(file)
        for start, end in reversed(_blocks(file) if file.endswith(".md") else []):
            text = text[:start] + change(text[start:end]) + text[end:]
        return text

    return make


def _after_first(new: str) -> Callable[[str], str]:
    """A new paragraph below the first plain one."""

    def make(file: str) -> str:
        text = text_of(file)
        at = next((end for _, end in _blocks(file)), 0) if file.endswith(".md") else 0
        return f"{text[:at]}\n{new}\n{text[at:]}" if at else text

    return make


def _in_calls(change: Callable[[str], str]) -> Callable[[str], str]:
    """An edit of every call that has words, as it stands between [= and =]."""

    def make(file: str) -> str:
        text = text_of(file)
        for site in reversed(sites(file)):
            text = text[: site.start] + change(text[site.start : site.end]) + text[site.end :]
        return text

    return make


def _in_words(change: Callable[[Site], str]) -> Callable[[str], str]:
    """An edit of the words of every quote."""

    def make(file: str) -> str:
        text = text_of(file)
        for site in reversed(sites(file)):
            if site.macro in ("q", "qt"):
                text = text[: site.at] + change(site) + text[site.at + len(site.words) :]
        return text

    return make


def _sub(pattern: str, new: str | Callable[[re.Match[str]], str]) -> Callable[[str], str]:
    return lambda text: re.sub(pattern, new, text)


def _words(pattern: str, new: str | Callable[[re.Match[str]], str]) -> Callable[[str], str]:
    return _in_words(lambda site: re.sub(pattern, new, site.words))


def _page(change: Callable[[str], str]) -> Callable[[str], str]:
    return lambda file: change(text_of(file)) if file.endswith(".md") else text_of(file)


def _front(change: Callable[[str], str]) -> Callable[[str], str]:
    def make(file: str) -> str:
        text, body = text_of(file), page(file).body if file.endswith(".md") else 0
        return change(text[:body]) + text[body:]

    return make


def _python(change: Callable[[str], str]) -> Callable[[str], str]:
    return lambda file: change(text_of(file)) if file in WORDS_IN_PYTHON else text_of(file)


def _digits(more: int) -> Callable[[Site], str]:
    """The one number of a quote with more digits or fewer, rounded anew from its value."""

    def change(site: Site) -> str:
        numeral = re.fullmatch(r"(\d+(?:,\d{3})*(?:\.\d+)?)( ?[A-Za-zµ×%/]*)", site.words)
        claims = read(site.words)
        found = values(site.names)
        if not numeral or len(found) != 1 or isinstance(found[0].value, tuple):
            return site.words
        size = Fraction(claims[0].unit.size) if claims[0].unit else Fraction(1)
        places = len(numeral[1].partition(".")[2]) + more
        if places < 0:
            return site.words
        exact = Fraction(f"{found[0].value:.15g}") / size
        scaled = exact * 10**places
        rounded = int(scaled + Fraction(1, 2))
        if not rounded:
            return site.words
        new = f"{rounded // 10**places}.{rounded % 10**places:0{places}d}" if places else str(rounded)
        assert true("=", new, size, found[0].value)
        return new + numeral[2] if places or numeral[2] != " tick" or new == "1" else site.words

    return change


_SAY = {
    1: "one",
    2: "two",
    3: "three",
    4: "four",
    5: "five",
    6: "six",
    7: "seven",
    8: "eight",
    9: "nine",
    10: "ten",
    12: "twelve",
    16: "sixteen",
    20: "twenty",
}


def _spelled(site: Site) -> str:
    """A plain count in words: four for 4."""
    exact = site.words.isdecimal() and [q.value for q in values(site.names)] == [int(site.words)]
    return _SAY.get(int(site.words), site.words) if exact else site.words


def _in_digits(site: Site) -> str:
    return next((str(n) for n, word in _SAY.items() if word == site.words.lower()), site.words)


def _scaled(site: Site) -> str:
    """Milliseconds as seconds, with as many digits: 0.060 s for 60 ms."""
    m = re.fullmatch(r"(\d+(?:\.\d+)?) ms", site.words)
    places = len(m[1].partition(".")[2]) + 3 if m else 0
    return f"{float(m[1]) / 1000:.{places}f} s" if m else site.words


def _wrapped(block: str) -> str:
    return re.sub(r"(?<=[a-z,]) (?=[a-z])", "\n", block)


def _paragraphs_swapped(file: str) -> str:
    text, blocks = text_of(file), _blocks(file) if file.endswith(".md") else []
    for (a, b), (c, d) in reversed([*zip(blocks[::2], blocks[1::2], strict=False)]):
        if b + 1 == c:
            text = text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]
    return text


def _sum_turned(call: str) -> str:
    return re.sub(r"(?<=, )([\w.]+) ([+*]) ([\w.]+)(?=\))", r"\3 \2 \1", call)


def _shuffled_keys(front: str) -> str:
    """The keys of the front matter in another order, the lines that belong to a key with it."""
    m = re.fullmatch(r"(\ufeff?---\n)(.*)(---\n)", front, re.DOTALL)
    return m[1] + "".join(reversed(re.findall(r"^[a-z].*\n(?:[ -].*\n)*", m[2], re.MULTILINE))) + m[3] if m else front


def _aside(lines: str) -> Callable[[str], str]:
    """Comment lines in Python, between two functions."""
    return lambda text: re.sub(r"\n\n\n(?=def )", f"\n\n\n{lines}\n", text)


def _docstrings(text: str) -> str:
    return re.sub(r'(?<=\n    """)(?=[A-Z])', "In 60 ms, twice as fast as in 61 ms. ", text)


def _strings_split(text: str) -> str:
    """A string as two: each that is broken at a blank after a call."""
    return re.sub(r"(?<= =\])(?= [a-z]+ [^'\"{}\\]*',?\n)", "'\n        '", text)


def _pins(change: Callable[[list[list[str]]], list[list[str]]]) -> Callable[[str], str]:
    def make(file: str) -> str:
        head, *rows = csv.reader(io.StringIO(text_of(file)))
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([head, *change(rows)])
        return out.getvalue()

    return make


def _shuffled(rows: list[list[str]]) -> list[list[str]]:
    return random.Random(1).sample(rows, len(rows))


def _in_json(indent: int | None, *, ordered: bool = False) -> Callable[[str], str]:
    return lambda file: json.dumps(json.loads(text_of(file)), indent=indent, sort_keys=ordered, ensure_ascii=False)


def _windows(file: str) -> str:
    return text_of(file).replace("\n", "\r\n")


IN_PAGES: dict[str, Callable[[str], str]] = {
    # layout
    "wrapped at every blank": _in_blocks(_wrapped), "one line a paragraph": _in_blocks(lambda block: " ".join(block.split()) + "\n"),
    "a blank at the end of lines": _in_blocks(_sub(r"(?<=[a-z.,])\n", " \n")), "blank lines doubled": _in_blocks(lambda block: f"\n{block}\n"),
    "two blanks for one": _in_prose(_sub(r"(?<=[a-z]) (?=[a-z])", "  ")), "lines indented": _in_blocks(_sub(r"\n(?=[a-z])", "\n  ")),
    "no line end at the end": _page(str.rstrip), "blank lines at the end": _page(lambda text: f"{text}\n\n"), "Windows line ends": _page(lambda text: text.replace("\n", "\r\n")),
    "a byte-order mark": _page(lambda text: f"\ufeff{text}"), "paragraphs swapped": _paragraphs_swapped,
    # new paragraphs
    "a paragraph without numbers": _after_first("It is worth a second look, and then another."), "a paragraph of names": _after_first("A V100 on PCIe 4.0 computes in FP32, and GPT-2 fits on it."),
    "a comment": _after_first("<!-- 61 ms, twice as fast as before -->"), "a Jinja comment": _after_first('[## 61 ms [= q("61 ms", sync.one_gpu) =] ##]'),
    "a list": _after_first("- one thing\n- another thing"), "a quotation": _after_first("> So it goes."), "a table without numbers": _after_first("| here | there |\n|---|---|\n| this | that |"),
    "a note": _after_first('!!! note "By the way"\n    It goes on.'), "a fence": _after_first("```python\nx = 60  # ms\n```"), "a formula of symbols": _after_first("So $t_1 + n\\,t_2$ it is."),
    "a footnote": _after_first("Look below.[^aside]\n\n[^aside]: It goes on."), "a true quote": _after_first('It takes [= q("60 ms", sync.one_gpu) =].'),
    "a true relation": _after_first('That is [= rel("slower", sync.cpu, sync.one_gpu) =].'),
    # words
    "a comment in a sentence": _in_prose(_sub(r"(?<=[a-z]{3}) (?=[a-z]{3})", lambda m: " <!-- 61 ms --> " if m.start() % 5 == 0 else " ")),
    "begins for starts": _in_prose(lambda t: t.replace("starts", "begins")), "machine for server": _in_prose(lambda t: t.replace("server", "machine")),
    "yet for but": _in_prose(_sub(r"\bbut\b", "yet")), "hence for so": _in_prose(_sub(r"\bso\b", "hence")), "can for may": _in_prose(_sub(r"\bcan\b", "may")),
    "bold words": _in_prose(_sub(r"\b(waits|sends|memory|time)\b", r"**\1**")), "words in italics": _in_prose(_sub(r"\b(waits|sends|memory|time)\b", r"*\1*")),
    "code words": _in_prose(_sub(r"\b(gradients?|bandwidth)\b", r"`\1`")), "curly apostrophes": _in_prose(_sub(r"(?<=[a-z])'(?=[a-z])", "’")),
    "straight apostrophes": _in_prose(_sub(r"(?<=[a-z])’(?=[a-z])", "'")), "a soft hyphen": _in_prose(_sub(r"\b(gra)(dient)", "\\1\u00ad\\2")),
    "no-break blanks": _in_prose(_sub(r"(?<=[a-z]{3}) (?=of\b)", "\u00a0")), "an entity for a blank": _in_prose(_sub(r"(?<=[a-z]{3}) (?=of\b)", "&nbsp;")),
    "a dash for a colon": _in_prose(_sub(r"(?<=[a-z]): (?=[a-z])", " – ")), "a long dash": _in_prose(_sub(r"(?<=[a-z]), (?=which\b)", " — ")),
    "a link in a word": _in_prose(_sub(r"\b(gradient)\b", r"[\1](https://d2l.ai)")), "a tag around words": _in_prose(_sub(r"\b(memory)\b", r"<em>\1</em>")),
    # calls
    "calls in bold": _in_calls(lambda c: f"**{c}**" if c.startswith("[= q(") else c), "calls in italics": _in_calls(lambda c: f"*{c}*" if c.startswith("[= q(") else c),
    "calls over lines": _in_blocks(_sub(r'(?<=q\()(?="[^"]*", [\w.]+\) =\])', "\n  ")), "tight calls": _in_calls(lambda c: c.replace("[= ", "[=").replace(" =]", "=]")),
    "calls with blanks": _in_calls(_sub(r"\((?=\")", "(  ")), "single quotes in calls": _in_calls(lambda c: c.replace('"', "'") if "'" not in c else c),
    "sums turned": _in_calls(_sum_turned), "rel with than": _in_calls(_sub(r'rel\("(slower|faster|more|less|greater|lower|fewer)"', r'rel("\1 than"')),
    "rel with a capital": _in_calls(lambda c: re.sub(r'(?<=rel\(")[a-z]', lambda m: m[0].upper(), c)),
    # the words of quotes
    "a no-break blank before units": _words(r"(?<=\d) (?=[A-Za-zµ%])", "\u00a0"), "a thin blank before units": _words(r"(?<=\d) (?=[A-Za-zµ%])", "\u2009"),
    "a narrow blank before units": _words(r"(?<=\d) (?=[A-Za-zµ%])", "\u202f"), "no blank before units": _words(r"(?<=\d) (?=(?:ms|µs|ns|GB|MB|KB|%)(?![A-Za-z/]))", ""),
    "a Greek mu": _words("µ", "μ"), "us for µs": _words(r"\bµs", "us"), "x for ×": _words(r"(?<=\d)×", "x"), "× first": _words(r"^(\d[\d.,]*)×$", r"×\1"),
    "a hyphen for a minus": _words("^−", "-"), "a hyphen in ranges": _words(r"(?<=\d)–(?=\d)", "-"), "to in ranges": _words(r"(?<=\d)–(?=\d)", " to "),
    "about": _words(r"^(?=\d[\d.,]*(?: ?[A-Za-zµ×%/]+)?$)", "about "), "≈": _words(r"^(?=\d[\d.,]*(?: ?[A-Za-zµ×%/]+)?$)", "≈ "), "a tilde": _words(r"^(?=\d[\d.,]*(?: ?[A-Za-zµ×%/]+)?$)", "~"),
    "no commas": _words(r"(?<=\d),(?=\d{3}\b)", lambda m: "" if "[" not in m.string else ","), "milliseconds spelled out": _words(r"(?<=\d) ms$", " milliseconds"),
    "gigabytes spelled out": _words(r"(?<=\d) GB$", " gigabytes"), "per second": _words(r"(?<=\d) GB/s$", " gigabytes per second"), "a digit more": _in_words(_digits(1)),
    "three digits more": _in_words(_digits(3)), "a digit fewer": _in_words(_digits(-1)), "counts in words": _in_words(_spelled), "words in digits": _in_words(_in_digits),
    "words with a capital": _words(r"^[a-z](?=[a-z]{2})", lambda m: m[0].upper()), "seconds for milliseconds": _in_words(_scaled),
    # the front matter
    "a title in quotes": _front(_sub(r"(?m)^title: ([^\"'\n]*)$", r'title: "\1"')), "a description in single quotes": _front(_sub(r"(?m)^description: ([^\"'\n]*)$", r"description: '\1'")),
    "keys in another order": _front(_shuffled_keys), "a comment in the front matter": _front(_sub(r"(?m)^(?=title:)", "# 61 ms\n")),
    "a folded description": _front(_sub(r"(?m)^description: ([^\"'\n]*)$", r"description: >-\n  \1")),
}  # fmt: skip
IN_PYTHON: dict[str, Callable[[str], str]] = {
    "a comment in Python": _python(_aside("# 61 ms, twice as fast as before")), "another docstring": _python(_docstrings), "strings split": _python(_strings_split),
    "blank lines in Python": _python(lambda text: text.replace("\n\n\n", "\n\n\n\n\n")),
}  # fmt: skip
IN_RECORDS: dict[str, Callable[[str], str]] = {
    "a table with Windows line ends": _windows, "a record without indents": _in_json(None), "a record with wide indents": _in_json(4), "a record in order": _in_json(1, ordered=True),
}  # fmt: skip
IN_PINS: dict[str, Callable[[str], str]] = {
    "pins in another order": _pins(_shuffled), "another place of a pin": _pins(lambda rows: [[name, value, f"{where}, page 60"] for name, value, where in rows]),
    "pins with Windows line ends": _windows, "pins in seconds": _pins(lambda rows: [[n, re.sub(r"^(\d+) ms$", lambda m: f"{int(m[1]) / 1000} s", v), w] for n, v, w in rows]),
    "pins in MB": _pins(lambda rows: [[n, re.sub(r"^(\d+) GB$", lambda m: f"{m[1]}000 MB", v), w] for n, v, w in rows]), "pins without commas": _pins(lambda rows: [[n, re.sub(r"(?<=\d),(?=\d{3}\b)", "", v) if "[" not in v else v, w] for n, v, w in rows]),
}  # fmt: skip
KINDS = {**IN_PAGES, **IN_PYTHON, **IN_RECORDS, **IN_PINS}


def edits(files: Sequence[str] = ()) -> Iterator[Edit]:
    """Every edit of every file in which it changes something; of some files alone, where they are named."""
    pages = [*pages_of(ROOT / "docs")]
    tables = [path.relative_to(ROOT).as_posix() for path in sorted((RECORDS / "published").glob("*.csv"))]
    made = [path.relative_to(ROOT).as_posix() for path in sorted(RECORDS.glob("*.json"))]
    for file in (*pages, *WORDS_IN_PYTHON, *tables, *made, PINS):
        if files and file not in files:
            continue
        names = (
            IN_PAGES
            if file in pages
            else [*IN_PAGES, *IN_PYTHON]
            if file in WORDS_IN_PYTHON
            else IN_PINS
            if file == PINS
            else IN_RECORDS
        )
        for name in names:
            if (file in WORDS_IN_PYTHON and name in _PAGES_ALONE) or (
                name in IN_RECORDS and (name == "a table with Windows line ends") != (file in tables)
            ):
                continue
            edit = Edit(name, file)
            if edit.applied() != text_of(file):
                yield edit


# What would change a string of Python into something else.
_PAGES_ALONE = {"single quotes in calls", "calls over lines", "calls in bold", "calls in italics"}
