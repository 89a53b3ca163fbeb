"""The naked number: a numeral, a number in words or a comparison in running text that is bound to nothing.

`findings` reads plain text in which calls are already replaced by marks (see `markdown`). It serves Markdown sources and built HTML alike.
What may stand unbound is a short list, each entry with its reason.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from macros.claims import known_words
from macros.prose import OTHER, PLAIN, QUOTE, RELATION
from macros.text import WORDS


class Finding(NamedTuple):
    """Naked text: where, what, and the rule it breaks."""

    start: int
    end: int
    text: str
    rule: str


def _either(words: set[str] | tuple[str, ...] | list[str]) -> str:
    return "|".join(sorted((re.escape(w) for w in words), key=len, reverse=True))


_UNIT = _either(known_words() | {"fold"})
_UNIT_SYMBOLS = _either({w for w in known_words() if len(w) > 1 and not w.islower()} | {"ns", "µs", "ms", "×", "%"})
_UNIT_WORDS = (
    r"(?:nano|micro|milli)?seconds?|minutes?|hours?|days?|weeks?|months?|years?|ticks?|(?:kilo|mega|giga|tera|kibi|mebi|gibi)?bytes?|"
    r"(?:kilo|mega|giga)?bits?|percent|times"
)
# Nouns that the model counts. "Three labs" counts things on the page and is free; "three GPUs" is an input of the model.
_MODEL_NOUNS = (
    r"GPUs?|CPUs?|tasks?|transfers?|workers?|servers?|machines?|devices?|replicas?|links?|chunks?|shards?|hops?|kernels?|statements?|"
    r"barriers?|ranks?|cores?|lanes?|messages?|results?|parts|rounds?|copies|neighbours?|epochs?|samples?|minibatch(?:es)?|layers?|pipes?|steps|"
    r"streams?|switch(?:es)?|nodes?|ports?|queues?|buckets?|gradients?|batch(?:es)?"
)
# Things on the page, and words that only point: a number in words before one of them is no result.
_PAGE_NOUNS = (
    r"acts?|labs?|pages?|figures?|tables?|charts?|pictures?|sections?|chapters?|exercises?|questions?|answers?|sentences?|lines?|words?|rules?|"
    r"ideas?|reasons?|ways?|kinds?|sorts?|things?|points?|cases?|columns?|rows?|colours?|promises?|names?|groups?|halves|phases?|sides?|examples?|"
    r"formulas?|names?|books?|people|readers?|hints?|notes?|letters?|terms?|others?"
)
_THINGS = rf"(?!\s(?:more|other|big|small|simple|new|old|different|short|long)?\s?(?:{_PAGE_NOUNS})\b)"
# An index names one of many, and is not followed by what it would count, nor preceded by a word for all of them.
_EACH = r"(?<!\beach\s)(?<!\bevery\s)(?<!\bper\s)(?<!\ba\s)(?<!\ban\s)(?<!\bone\s)(?<!\bany\s)"
_NOT_COUNTED = r"(?!\s(?:GPUs|CPUs|tasks|workers|servers|machines|devices|shards|chunks|statements|barriers|ranks|cores|layers|samples|kernels)\b)"
_SERIES = r"(?:(?:,\s\d{1,2})*,?\s(?:and|or|to)\s\d{1,2}|\s?[–-]\s?\d{1,2})?"
_PLACE = r"\d{1,2}(?:\.\d{1,3})*"
# What a numeral may be without being a result: (pattern, reason).
EXEMPT: tuple[tuple[str, str], ...] = (
    (r"\b(?:[VPAHBL]\d{2,3}|T4|K80|MI\d{3}X?|[RG]TX\s\d{4})(?:s|-\w+)?\b", "the name of an accelerator"),
    (r"\b(?:FP|BF|TF|U?INT|[Uu]?int|float|bfloat)(?:4|8|16|19|32|64)\b", "the name of a number format"),
    (r"\b(?:ResNet|VGG|GPT|BERT|CIFAR|LeNet|ImageNet)-?\d{1,4}\b", "the name of a network or a data set"),
    (r"\bPCIe\s(?:[1-7]\.0|Gen\s?[1-7])(?:\s[×x](?:16|8|4|2|1))?|\bNVLink\s[1-5]\b|\b\d+\sGbE\b|\bG?DDR\d\w?\b|\bHBM\d\w?\b",
     "the name of a link or a memory"),
    (r"\bL[123]\b", "the name of a cache"),
    (r"\bx86(?:[-_]64)?\b|\b(?:arm|aarch|amd)64\b", "the name of an instruction set"),
    (r"\bCC\sBY(?:-[A-Z]{2})*\s\d\.\d|\b(?:GPL|Apache)[\s-](?:v|License\s)?\d(?:\.\d)?", "the name of a licence"),
    (r"\b(?:PyTorch|Python|CUDA|NumPy|NCCL|Plotly|MkDocs|version)\s\d+(?:\.\d+)*\+?" + _NOT_COUNTED, "a version"),
    (r"\b[Aa]cts\s\d{1,2}" + _SERIES + r"|\b[Aa]ct\s\d{1,2}", "the number of an act"),
    (r"\b[Ss]teps\s\d{1,2}" + _SERIES + r"|\b[Ss]tep\s\d{1,2}", "the number of a step"),
    (rf"(?:\b(?:[Ss]ections?|[Cc]hapters?|[Ee]xercises?|[Tt]ables?|[Ff]igures?|[Pp]ages?|[Ee]quations?)\s|§\s?){_PLACE}"
     rf"(?:(?:\sand\s|,\s)\d{{1,2}}(?:\.\d{{1,3}})+)*", "a place in a book or paper"),
    (_EACH + r"\b(?:GPU|CPU|rank|worker|server|device|chunk|replica|node|stage|task|shard|lane|layer)\s\d\b" + _NOT_COUNTED,
     "an index: which one, not how many"),
    (r"\b(?:IEEE|ISO|RFC)\s\d{3,5}(?:\.\d+)?\b|\bUTF-(?:8|16|32)\b|\bSHA-?\d{1,3}\b|\bC\+\+\d\d\b", "the name of a standard"),
    (r"\b404\s[–-]\s[Nn]ot\s[Ff]ound\b|\b[Ee]rror\s404\b", "the status of a missing page"),
    (r"\b[123]-?D\b", "a number of dimensions, as a name"),
    (r"\b(?:[Hh]alf|[Dd]ouble|[Ss]ingle)[\s-](?:precision|duplex)\b|\b[Dd]ouble[\s-](?:buffer\w*|click\w*|check\w*|quotes?)\b", "a name or a turn of phrase"),
)  # fmt: skip
_RESULT = rf"(?![\d]|[.,]\d|[\s-]?(?:{_UNIT})(?![A-Za-z/]))"  # a name is not followed by a unit: "on GPU 0 ms" is a result
_EXEMPT = [re.compile(rf"(?:{pattern}){_RESULT}") for pattern, _ in EXEMPT]

_SCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻₀₁₂₃₄₅₆₇₈₉"
_FRACTIONS = "½¼¾⅓⅔⅛⅜⅝⅞⅕⅖⅗⅘⅙⅚"
_NUMERAL = re.compile(
    rf"(?:[×]\s?)?[+\-−±]?(?:\d[\d.,]*\d|\d|[{_FRACTIONS}])[{_FRACTIONS}]?(?:\s?[×x]\s?10(?:\^-?\d+|[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+))?(?:\^-?\d+|[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)?"
    rf"(?:[\s-]?(?:{_UNIT})(?![A-Za-z/]))?"
)
_COUNT = _either([w for w, n in WORDS.items() if 1 < n < 100])
_BIG = _either([w for w, n in WORDS.items() if 3 < n < 100])
_MANY = r"(?:(?:(?:an?|one|two|three|few|many|several|some)\s)?(?:hundreds?|thousands?|millions?|billions?)|(?:a\s)?dozens?|tens)(?:\sof)?"
_COMPARATIVE = (
    r"more|less|fewer|faster|slower|quicker|larger|smaller|bigger|greater|higher|lower|longer|shorter|cheaper|wider|narrower|later|"
    r"earlier|sooner|heavier|lighter|deeper|shallower|denser|busier"
)
_ADJECTIVE = (
    r"fast|slow|quick|quickly|slowly|long|short|big|large|small|much|many|high|low|wide|cheap|expensive|great|few|little|deep|heavy"
)
_WORD = rf"[\w'’\-{QUOTE}{RELATION}{PLAIN}{OTHER}]+"
_MARK = f"[{QUOTE}{PLAIN}]"
_MARKS = re.compile(f"[{QUOTE}{RELATION}{PLAIN}{OTHER}]")
_BOUND = f"(?<![{QUOTE}{PLAIN}] )(?<![{QUOTE}{PLAIN}])"
_FREE = r"(?!\s(?:possible|you|it|we|they|needed|necessary|before|ever|usual)\b)"

_RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), rule)
    for pattern, rule in (
        (rf"\b(?:{_COUNT}|{_MANY})[\s-]+(?:(?:{_UNIT_WORDS})\b|(?:{_UNIT_SYMBOLS})(?![A-Za-z/]))", "a number in words before a unit"),
        (rf"\bone[\s-]+(?!times)(?:(?:{_UNIT_WORDS})\b|(?:{_UNIT_SYMBOLS})(?![A-Za-z/]))", "a number in words before a unit"),
        (rf"\b(?:{_COUNT}|{_MANY})[\s-]+(?:[a-z-]+[\s-]+)?(?:{_MODEL_NOUNS})\b", "a number in words before something the model counts"),
        (rf"\b(?:(?:{_COUNT})-)?(?:{_BIG})\b(?:\s(?:hundred|thousand|million|billion))?{_THINGS}|\b(?:an?|one|{_COUNT})\s(?:hundred|thousand|million|billion)\b",
         "a number in words"),
        (r"\bevery\s(?:third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth)\b", "a number in words"),
        (r"\b(?:twice|thrice|halves|halved|halving|half|doubl(?:e[sd]?|ing)|tripl(?:e[sd]?|ing)|quadrupl(?:e[sd]?|ing)|quarters?)\b",
         "a multiple in words"),
        (rf"\b(?:{_COUNT}|{_MANY}|n|many|several)-?fold\b", "a multiple in words"),
        (r"\b(?:one|two|three)[\s-](?:thirds?|fifths?|eighths?|tenths?)\b|\ba\s(?:third|fifth|eighth|tenth|hundredth|thousandth)\sof\b",
         "a fraction in words"),
        (r"\borders?\sof\smagnitude\b", "a multiple in words"),
        (rf"\bparts?\s(?:in|per)\s(?={_MARK}|\d|(?:(?:an?|one|{_COUNT})\s)?(?:hundred|thousand|million|billion)\b)", "a precision in words"),
        (rf"\b(?:{_COMPARATIVE})\b(?:\s{_WORD}){{0,4}}?,?\sthan\b", "a comparison"),
        (rf"{_BOUND}\bas\s(?:{_ADJECTIVE})(?:\s{_WORD}){{0,2}}?\sas\b{_FREE}", "a comparison"),
        (rf"\bthe\ssame\s(?:[\w-]+\s)?(?={_MARK}|\d|(?:{_COUNT})\s(?:{_UNIT_WORDS}|{_MODEL_NOUNS}))", "a comparison"),
        (r"\b(?:equals|equal\sto|is\sequal|are\sequal)\b", "a comparison"),
        (r"\b(?:fastest|slowest|quickest|cheapest|largest|smallest|biggest|longest|shortest|widest|narrowest|highest|lowest)\b",
         "a comparison of all"),
    )
)  # fmt: skip
# "As long as compute keeps up" sets a condition, and "as soon as" a time. After a verb that measures, "takes as long as", they compare.
_CONDITION = re.compile(
    r"(?<!\btake\s)(?<!\btakes\s)(?<!\btook\s)(?<!\blasts\s)(?<!\bis\s)(?<!\bare\s)(?<!\bjust\s)(?<!\bexactly\s)(?<!\babout\s)\bas\slong\sas\b"
    r"|\bas\s(?:soon|far|well)\sas\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def _plain_character(c: str) -> str:
    """One character in its plain form: any digit as 0–9, any blank as a blank, full-width letters as letters. Never more than one."""
    if c.isdecimal():
        return str(unicodedata.decimal(c))
    if c.isspace():
        return " "
    if c in _SCRIPTS or unicodedata.category(c) == "No":  # ² is an exponent and ½ a fraction: they have rules of their own
        return c
    plain = unicodedata.normalize("NFKC", c)
    return plain.replace("μ", "µ") if len(plain) == 1 else c


def plain_characters(text: str) -> str:
    """`text` with every character in its plain form, each in its place."""
    return text if text.isascii() else "".join([c if c < "\x7f" else _plain_character(c) for c in text])


_UNUSUAL = re.compile(rf"(?<![\w)\]}}{_SCRIPTS}])[{_SCRIPTS}]+|[^\x00-\x7f{_SCRIPTS}{_FRACTIONS}]")


def _unusual(text: str) -> list[Finding]:
    """Numbers in other characters than digits: Ⅻ, ①, 三; and ⁶⁰ that is the power of nothing."""
    return [
        Finding(m.start(), m.end(), m[0], "a naked number")
        for m in _UNUSUAL.finditer(text)
        if any(unicodedata.numeric(c, None) is not None for c in m[0])
    ]


def findings(text: str) -> list[Finding]:
    """Every naked number and unbound comparison in `text`, in order.

    >>> [f.text for f in findings("It takes 60 ms on a V100, twice the 30 ms of Act 6.")]
    ['60 ms', 'twice', '30 ms']
    >>> findings("Three labs, as long as you like, on PCIe 4.0.")
    []
    """
    text = plain_characters(text)
    for pattern in _EXEMPT:
        text = pattern.sub(lambda m: " " * len(m[0]), text)
    found = _unusual(text)
    for match in _NUMERAL.finditer(text):
        shown = match[0].strip().rstrip(".,")
        found.append(Finding(match.start(), match.start() + len(shown), shown, "a naked number"))
    relaxed = _CONDITION.sub(lambda m: " " * len(m[0]), text)
    for pattern, rule in _RULES:
        for match in pattern.finditer(relaxed):
            found.append(Finding(match.start(), match.end(), _MARKS.sub("…", " ".join(match[0].split())), rule))
    found.sort(key=lambda f: (f.start, -f.end))
    kept: list[Finding] = []
    for finding in found:
        if not kept or finding.start >= kept[-1].end:
            kept.append(finding)
    return kept


def cure(finding: Finding, suggestion: str = "", macro: str = "q") -> str:
    """How to mend a finding."""
    words = finding.text
    why_not = f'or say why not: [= plain("{words}", why="…") =]'
    if finding.rule.startswith("a comparison"):
        lower = words.lower()
        word = lower.split()[0].rstrip(",") if lower.endswith(" than") else lower
        return f'bind it: [= rel("{word}", first, second) =], {why_not}'
    return f'bind it: [= {macro}("{words}", {suggestion or "name"}) =], {why_not}'


_EQUAL_IN_TEX = re.compile(r"\\(?:approx|simeq|sim|equiv|to)(?![A-Za-z])")
_BOUND_IN_TEX = re.compile(r"\\(?:leq?|geq?|lt|gt)(?![A-Za-z])")
_WORDS_IN_TEX = re.compile(r"\\(?:text|mathrm|textrm|mbox|textbf|mathbf)\s*\{([^{}]*)\}")
_SCRIPT = re.compile(r"[_^]\s*(?:\{([^{}]*)\}|\\[A-Za-z]+|\w)")
_LONG_UNIT = _either({w for w in known_words() if len(w) > 1})
_TEX_UNIT = re.compile(
    rf"\d[\d.,{{}}]*(?:\\[,;:! ]|~|\s)*(?:\\(?:text|mathrm|textrm)\s*\{{\s*(?:\\[,;:! ]|~|\s)*(?:{_UNIT})\s*\}}|(?:{_LONG_UNIT})(?![A-Za-z])|\\?%)"
)


def _structure(script: re.Match[str]) -> str:
    """An index or an exponent is structure while its whole numbers have one digit: e^{-1}, t_{12} is not."""
    inside = script[1] or ""
    return script[0] if re.search(r"\d\s*[\d.,]", inside) else " " * len(script[0])


def in_formula(tex: str) -> str:
    """The naked number of a formula typed by hand, "" when it has only structure.

    Structure is what would stay if every input changed: indices, exponents, and the whole numbers 1 and 2 beside symbols, as in 2(n−1).
    A value with a unit, a decimal, a larger number, or a number after a relation sign is a result; so is a number in words.

    >>> in_formula(r"2\\,(n-1)\\,S / B"), in_formula(r"t_1 + n\\,t_2 + t_3"), in_formula("e^{-1}")
    ('', '', '')
    >>> in_formula(r"n = 8"), in_formula(r"60\\,\\mathrm{ms}"), in_formula("0.5 n")
    ('8', '60\\\\,\\\\mathrm{ms}', '0.5')
    """
    tex = plain_characters(tex)
    unit = _TEX_UNIT.search(tex)
    if unit:
        return unit[0]
    for words in _WORDS_IN_TEX.finditer(tex):
        naked = findings(words[1])
        if naked:
            return naked[0].text
    symbols = bool(re.search(r"[A-Za-z]", re.sub(r"\\[A-Za-z]+", "", _WORDS_IN_TEX.sub("", tex))))
    tex = _BOUND_IN_TEX.sub("≥", _EQUAL_IN_TEX.sub("=", re.sub(r"\\q?quad(?![A-Za-z])|\\\\", ";", tex)))
    bare = re.sub(r"\\[A-Za-z]+", lambda m: " " * len(m[0]), _SCRIPT.sub(_structure, tex))
    bare = re.sub(r"(?<=\d)(?:\\[,;:!]|~|\s)+(?=\d)", "", re.sub(r"(?<=\d)\{(\d+)\}", r"\1", bare))  # 6\,0 and 6{0} are 60
    for match in re.finditer(r"\d[\d.,]*", bare):
        number = match[0].rstrip(".,")
        relation = re.search(r"[=<>≤≥≈]\s*-?$", bare[: match.start()])
        whole_side = relation and re.match(r"\s*(?:$|[,.;&=<>≤≥≈)])", bare[match.end() :])
        if whole_side and number in ("0", "1") and symbols and relation and relation[0][0] in "<>≤≥":
            continue  # n ≥ 1 says what n may be
        if number not in ("1", "2") or whole_side or not symbols:
            return number
    return ""


def in_code(code: str) -> bool:
    """Whether inline code is a result dressed as code: only numbers, or a number with a unit, which no programming language has.

    >>> in_code("60 ms"), in_code("28"), in_code("t = 60 ms"), in_code("torch.ones(2)"), in_code("z = x * y + 2")
    (True, True, True, False, False)
    """
    code = re.sub(r"^(?:#!|:{3,})[\w.+-]+\s+", "", plain_characters(code).strip())  # `#!python …` names a language
    if re.search(r"\d", code) and not re.search(r"[A-Za-z_]", re.sub(rf"(?<=[\d\s])(?:{_UNIT})(?![A-Za-z/0-9])", "", code)):
        return bool(re.fullmatch(rf"(?:{_NUMERAL.pattern}|[\s,;:≈~<>≤≥=–-])+", code))
    return bool(re.search(rf"(?<![\w.])\d[\d.,]*(?:\s(?:{_LONG_UNIT})|(?:{_UNIT_SYMBOLS}))(?![\w/(])", code))
