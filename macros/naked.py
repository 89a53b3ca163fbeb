"""The naked number: a numeral, a number in words or a comparison in running text that is bound to nothing.

`findings` reads plain text in which calls are already replaced by marks (see `scan`). It serves Markdown sources and built HTML alike.
What may stand unbound is a short list, each entry with its reason.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from macros.quotes import known_words
from macros.scan import PLAIN, QUOTE
from macros.text import WORDS


class Finding(NamedTuple):
    """Naked text: where, what, and the rule it breaks."""

    start: int
    end: int
    text: str
    rule: str


_SERIES = r"(?:(?:\s?[–-]\s?|,\s|\sand\s|\sto\s|,\sand\s)\d+)*"
# What a numeral may be without being a result: (pattern, reason).
EXEMPT: tuple[tuple[str, str], ...] = (
    (r"\b(?:[VPAHB]\d{2,3}|T4|K80|A40|MI\d{3}X?)(?:s|-\w+)?\b", "the name of an accelerator"),
    (r"\b(?:FP|BF|TF|INT|U?int|float|bfloat)\d+\b", "the name of a number format"),
    (r"\bPCIe\s\d\.\d(?:\s×\d+)?|\bNVLink\s\d\b|\b\d+\sGbE\b|\bDDR\d\b|\bHBM\d\w?\b", "the name of a link or a memory"),
    (r"\bL[123]\b", "the name of a cache"),
    (r"\bCC\sBY(?:-SA)?\s\d\.\d", "the name of a licence"),
    (r"\b(?:PyTorch|Python|CUDA|NumPy|NCCL|Plotly|MkDocs|version)\s\d+(?:\.\d+)*\+?", "a version"),
    (r"\b[Aa]cts?\s\d+" + _SERIES, "the number of an act"),
    (r"\b[Ss]teps?\s\d+" + _SERIES, "the number of a step"),
    (r"(?:\b(?:[Ss]ections?|[Cc]hapters?|[Ee]xercises?|[Tt]ables?|[Ff]igures?)\s|§\s?)\d+(?:\.\d+)*(?:(?:\sand\s|,\s)\d+(?:\.\d+)+)*",
     "a place in a book or paper"),
    (r"\b(?:GPU|CPU|rank|worker|server|device|chunk|replica|node|stage|task|shard|lane|layer)\s\d+\b", "an index: which one, not how many"),
    (r"\b404\b", "the status of a missing page"),
    (r"\b[123]-?D\b", "a number of dimensions, as a name"),
)  # fmt: skip
_EXEMPT = [re.compile(pattern) for pattern, _ in EXEMPT]

_UNIT = "|".join(sorted((re.escape(w) for w in known_words() | {"fold"}), key=len, reverse=True))
_NUMERAL = re.compile(
    rf"(?:[×]\s?)?[+\-−±]?(?:\d[\d.,]*\d|\d|[½¼¾⅓⅔])(?:\s?[×x]\s?10(?:\^-?\d+|[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+))?(?:\^-?\d+|[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)?"
    rf"(?:[\s-]?(?:{_UNIT})(?![A-Za-z/]))?"
)
_COUNT = "|".join(w for w in sorted(WORDS, key=len, reverse=True) if w not in ("zero", "one", "hundred", "thousand", "million", "billion"))
_MANY = r"(?:\w+\s)?(?:hundreds?|thousands?|millions?|billions?)(?:\sof)?"
_UNIT_WORDS = (
    r"(?:nano|micro|milli)?seconds?|minutes?|hours?|days?|weeks?|months?|years?|ticks?|(?:kilo|mega|giga|tera|kibi|mebi|gibi)?bytes?|"
    r"(?:kilo|mega|giga)?bits?|percent|times"
)
# Nouns that the model counts. "Three labs" counts things on the page and is free; "three GPUs" is an input of the model.
_MODEL_NOUNS = (
    r"GPUs?|CPUs?|tasks?|transfers?|workers?|servers?|machines?|devices?|replicas?|links?|chunks?|shards?|hops?|kernels?|statements?|"
    r"barriers?|ranks?|cores?|lanes?|messages?|results?|parts|rounds?|copies|neighbours?|epochs?|samples?|minibatch(?:es)?|layers?|pipes?"
)
_COMPARATIVE = (
    r"more|less|fewer|faster|slower|quicker|larger|smaller|bigger|greater|higher|lower|longer|shorter|cheaper|wider|narrower|later|"
    r"earlier|sooner"
)
_ADJECTIVE = r"fast|slow|quick|long|short|big|large|small|much|many|high|low|wide|cheap|expensive|great|few|little"
_MARK = f"[{QUOTE}{PLAIN}]"
_BOUND = f"(?<![{QUOTE}{PLAIN}] )(?<![{QUOTE}{PLAIN}])"

_RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), rule)
    for pattern, rule in (
        (rf"\b(?:{_COUNT}|{_MANY})[\s-]+(?:{_UNIT_WORDS})\b", "a number in words before a unit"),
        (rf"\bone[\s-]+(?:{_UNIT_WORDS.replace('seconds?', 'seconds').replace('|times', '')})\b", "a number in words before a unit"),
        (rf"\b(?:{_COUNT}|{_MANY})[\s-]+(?:[a-z-]+[\s-]+)?(?:{_MODEL_NOUNS})\b", "a number in words before something the model counts"),
        (r"\b(?:twice|thrice|halves|halved|halving|half|doubl(?:e[sd]?|ing)|tripl(?:e[sd]?|ing)|quadrupl(?:e[sd]?|ing)|quarters?)\b",
         "a multiple in words"),
        (rf"\b(?:{_COUNT}|{_MANY}|n|many|several)-?fold\b|\bn-fold\b", "a multiple in words"),
        (r"\b(?:one|two|three)[\s-](?:thirds?|fifths?|eighths?|tenths?)\b|\ba\s(?:third|fifth|tenth|hundredth|thousandth)\sof\b",
         "a fraction in words"),
        (r"\borders?\sof\smagnitude\b", "a multiple in words"),
        (r"\bparts?\sin\s", "a precision in words"),
        (rf"\b(?:{_COMPARATIVE})\b(?:\s[\w'’-]+){{0,4}}?\sthan\b", "a comparison"),
        (rf"{_BOUND}\bas\s(?:{_ADJECTIVE})(?:\s[\w-]+)?\sas\b(?!\s(?:possible|you|it|needed|necessary|before|ever)\b)", "a comparison"),
        (rf"\bthe\ssame\s(?:[\w-]+\s)?(?={_MARK}|\d)", "a comparison"),
        (r"\b(?:equals|equal\sto|is\sequal)\b", "a comparison"),
        (r"\b(?:fastest|slowest|quickest|cheapest|largest|smallest|biggest|longest|shortest|widest|narrowest|highest|lowest)\b",
         "a comparison of all"),
    )
)  # fmt: skip
# "As long as compute keeps up" sets a condition. Only after a number is it a comparison, and then the number is what is found.
_CONDITION = re.compile(r"\bas\s(?:long|soon|far|well|much|many)\sas\b", re.IGNORECASE)


def findings(text: str) -> list[Finding]:
    """Every naked number and unbound comparison in `text`, in order.

    >>> [f.text for f in findings("It takes 60 ms on a V100, twice the 30 ms of Act 6.")]
    ['60 ms', 'twice', '30 ms']
    >>> findings("Three labs, as long as you like, on PCIe 4.0.")
    []
    """
    for pattern in _EXEMPT:
        text = pattern.sub(lambda m: " " * len(m[0]), text)
    text = re.sub("[\u00a0\u2009\u202f]", " ", text)
    found: list[Finding] = []
    for match in _NUMERAL.finditer(text):
        shown = match[0].strip().rstrip(".,")
        found.append(Finding(match.start(), match.start() + len(shown), shown, "a naked number"))
    relaxed = _CONDITION.sub(lambda m: " " * len(m[0]), text)
    for pattern, rule in _RULES:
        for match in pattern.finditer(relaxed):
            found.append(Finding(match.start(), match.end(), match[0].strip(), rule))
    found.sort()
    kept: list[Finding] = []
    for finding in found:
        if not kept or finding.start >= kept[-1].end:
            kept.append(finding)
    return kept


def cure(finding: Finding, suggestion: str = "") -> str:
    """How to mend a finding."""
    if finding.rule.startswith("a comparison"):
        word = finding.text.lower().removesuffix(" than").split()[0] if finding.text.lower().endswith(" than") else finding.text.lower()
        return f'bind it: [= rel("{word}", first, second) =], or say why not: [= plain("{finding.text}", why="…") =]'
    name = suggestion or "name"
    return f'bind it: [= q("{finding.text}", {name}) =], or say why not: [= plain("{finding.text}", why="…") =]'


_STRUCTURE = re.compile(r"(?:[_^]\s*(?:\{[^{}]*\}|\\?\w))|\\(?:text|mathrm|textrm)\{[A-Za-z ]*\}|\\[A-Za-z]+")
_TEX_UNIT = re.compile(rf"\d[\d.,{{}}]*\s*(?:\\[,;:! ]|~|\s)*\s*\\?(?:text|mathrm|textrm)?\s*\{{?\s*(?:{_UNIT})(?![A-Za-z])")


def in_formula(tex: str) -> str:
    """The naked number of a formula typed by hand, "" when it has only structure.

    Structure is what would stay if every input changed: indices, exponents, and the whole numbers 1 and 2 beside symbols, as in 2(n−1).
    A value with a unit, a decimal, a larger number, or a number after a relation sign is a result.

    >>> in_formula(r"2\\,(n-1)\\,S / B"), in_formula(r"t_1 + n\\,t_2 + t_3")
    ('', '')
    >>> in_formula(r"n = 8"), in_formula(r"60\\,\\mathrm{ms}"), in_formula("0.5 n")
    ('8', '60\\\\,\\\\mathrm{ms', '0.5')
    """
    unit = _TEX_UNIT.search(tex)
    if unit:
        return unit[0]
    bare = _STRUCTURE.sub(lambda m: " " * len(m[0]), tex)
    for match in re.finditer(r"\d[\d.,]*", bare):
        number = match[0].rstrip(".,")
        before = tex[: match.start()].rstrip()
        after_relation = re.search(r"(?:[=<>≤≥≈]|\\(?:approx|le|ge|lt|gt|leq|geq))$", before)
        whole_side = after_relation and re.match(r"\s*(?:$|[,.;]|\\(?:quad|,|;))", tex[match.end() :])
        if number not in ("1", "2") or whole_side or not re.search(r"[A-Za-z]", bare):
            return number
    return ""


def in_code(code: str) -> bool:
    """Whether inline code is a result dressed as code: a number, or a number with a unit that no expression explains.

    >>> in_code("60 ms"), in_code("28"), in_code("torch.ones(2)"), in_code("z = x * y + 2")
    (True, True, False, False)
    """
    if _NUMERAL.fullmatch(code.strip()):
        return True
    return not re.search(r"[=(_\[]", code) and bool(re.search(rf"(?<![\w.])\d[\d.,]*\s?(?:{_UNIT})(?![\w/(])", code))
