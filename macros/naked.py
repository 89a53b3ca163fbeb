"""The naked number: a numeral, a number in words or a comparison in running text that is bound to nothing.

`findings` reads plain text in which calls are already replaced by marks (see `markdown`). It serves Markdown sources and built HTML alike.
What may stand unbound is a short list, each entry with its reason.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from macros import relations
from macros.claims import COMPARISONS, known_words, read
from macros.formulas import LETTERS
from macros.prose import OTHER, PLAIN, QUOTE, RELATION, STOP
from macros.quantity import QuoteError
from macros.text import WORDS


class Finding(NamedTuple):
    """Naked text: where, what, the rule it breaks, and whether it could belong to a name."""

    start: int
    end: int
    text: str
    rule: str
    named: bool = False


def _either(words: set[str] | tuple[str, ...] | list[str]) -> str:
    return "|".join(sorted((re.escape(w) for w in words), key=len, reverse=True))


_UNIT = _either(known_words() | {"fold"})
_UNIT_SYMBOLS = _either({w for w in known_words() if len(w) > 1 and not w.islower()} | {"ns", "µs", "ms", "×", "%"})
_PREFIXED = r"(?:nano|micro|milli)seconds?|(?:kilo|mega|giga|tera|peta|exa|kibi|mebi|gibi|tebi)(?:bytes?|bits?|flops?)|per\s?cent"
_UNIT_WORDS = rf"{_PREFIXED}|seconds?|minutes?|hours?|days?|weeks?|months?|years?|ticks?|bytes?|bits?|flops?|times"
# Nouns that the model counts. "Three labs" counts things on the page and is free; "three GPUs" is an input of the model.
_MODEL_NOUNS = (
    r"GPUs?|CPUs?|tasks?|transfers?|workers?|servers?|machines?|devices?|replicas?|links?|chunks?|shards?|hops?|kernels?|statements?|"
    r"barriers?|ranks?|cores?|lanes?|messages?|results?|parts|rounds?|copies|neighbours?|epochs?|samples?|minibatch(?:es)?|layers?|pipes?|steps|"
    r"streams?|switch(?:es)?|nodes?|ports?|queues?|buckets?|gradients?|(?:micro)?batch(?:es)?|hosts?|stages?|process(?:es)?|threads?|images?|passes|"
    r"cards?|cables?|parameters?"
)

# A label says which one, not how many: "step 4", "GPU 0", "section 13.7", "layers 1 and 2".
_LABELLED = (
    r"(?i:act|step|lab|section|chapter|exercise|table|figure|page|equation|gpu|cpu|rank|worker|server|device|machine|node|replica|stage|layer|"
    r"epoch|level|chunk|shard|task|lane|port|stream|row|column)"
)
# A word before a number; acts and steps are fewer than ten.
_ONE = rf"\b(?=[A-Za-z]+\s+#?\d)(?!(?i:act|step)s?\s+#?\d\d){_LABELLED}"
_LABEL = (
    rf"{_ONE}(?i:s?)\s+#?\d{{1,2}}(?:,\s+\d{{1,2}})*(?:,?\s+(?:and|or|to|through|&)\s+|\s?[–-]\s?)\d{{1,2}}\b"
    rf"|(?:{_ONE}(?i:s?)\s+(?=\d+\.\d)|§\s?|\b(?i:eq|fig|sec|tab|ch|pp?)\.\s|{_ONE}\s+#?)\d{{1,2}}(?:\.\d{{1,3}})*(?:(?:\s+and\s+|,\s+)\d{{1,2}}(?:\.\d{{1,3}})+)*[a-d]?(?!\w|\sof\s[{QUOTE}\d])"
)
_PRODUCT = (
    r"\b(?:PyTorch|Python|CUDA|cuDNN|NCCL|NumPy|SciPy|TensorFlow|JAX|MXNet|Plotly|MkDocs|Ubuntu|Linux|Windows|macOS|gcc|GCC|clang|Llama|NVLink|ROCm|version|compute\scapability)"
    r"\s\d+(?:\.\d+)*(?:\s\d+B(?=\W|$))?\+?(?!\w)|\bTPU\sv\d[a-z]?\b|\bHTTP/\d(?:\.\d)?"
)
# It is none after a word that says of what there are several, nor before what there would then be several of.
_DETERMINERS = re.compile(
    r"(?:a|an|all|another|any|both|each|every|her|his|its|my|no|one|our|per|some|that|the|their|these|this|those|your)"
)
_PREPOSITIONS = re.compile(
    r"(?:across|after|at|before|between|by|during|for|from|in|into|of|on|over|per|since|through|to|under|until|via|with|within)"
)
_COUNTED = re.compile(
    r"\s(?:GPUs|CPUs|tasks|workers|servers|machines|devices|replicas|nodes|shards|chunks|statements|barriers|ranks|cores|layers|samples|kernels|"
    r"messages|gradients|copies|bars|times)\b"
)
_LITTLE = (
    r"a|all|alone|already|also|always|an|and|are|as|at|be|both|but|by|can|each|every|for|from|had|has|have|he|if|in|into|is|it|its|no|not|now|of|on|or|"
    r"our|she|so|than|that|the|their|them|then|there|they|this|thus|to|too|us|was|we|were|when|where|which|while|who|with|you|your"
)
_VERBS = r"does|shows|waits|sends|starts|ends|begins|gets|takes|runs|holds|gives|goes|needs|says|uses|stands|makes|comes|lets|means|tells"
_PERHAPS_COUNTED = re.compile(rf"\s(?:(?!(?:{_LITTLE})\b)[a-z-]+\s)?(?!(?:{_LITTLE}|{_VERBS})\b)[A-Za-z]+s\b")

# What a numeral may be without being a result: (pattern, reason).
LABEL, VERSION = "a label: which one, not how many", "a version"
EXEMPT: tuple[tuple[str, str], ...] = (
    (_LABEL, LABEL),
    (_PRODUCT, VERSION),
    (r"\b(?!(?i:about|above|almost|batch|below|depth|factor|level|nearly|over|size|sub|under|width)-)[A-Za-z]+\d*-\d{1,4}(?:\.\d)?[ok]?\b(?!-)", "a name: a word and digits with a hyphen"),
    (r"\b(?:[A-Z]|[A-Za-z]*[A-Z][a-z]*[A-Z][A-Za-z]*)\d{1,4}(?:[A-Z]|e|s)?(?:-[A-Z]\w+)?\b|\b(?:[RG]TX|Xeon(?:\s(?:Platinum|Gold|Silver|Bronze))?|EPYC)\s\d{4}\b|\b[a-z]\d[a-z]*\.\d{0,2}x?large\b",
     "a name: capitals and digits in one word"),
    (r"\b(?:[Uu]?int|b?float|fp|bf|tf)(?:4|8|16|32|64)\b|\b(?:4|8|16|32|64)-bit\b", "the name of a number format"),
    (r"\bPCIe\s(?:[1-7]\.0|Gen\s?[1-7])(?:\s[×x](?:16|8|4|2|1))?|\b\d+\sGbE\b|\bport\s\d{4,5}\b", "the name of a link or a port"),
    (r"\bx86[-_]?(?:64)?\b|\b(?:arm|aarch|amd)64\b", "the name of an instruction set"),
    (r"(?<![^\s(])--?[A-Za-z][\w-]*\d\w*\b", "an option of a command"),
    (r"\bCC\sBY(?:-[A-Z]{2})*\s\d\.\d|\b(?:GPL|Apache)[\s-](?:v|License\s)?\d(?:\.\d)?", "the name of a licence"),
    (r"\b(?:IEEE|ISO|RFC)\s\d{3,5}(?:\.\d+)?\b|\bPEP\s\d{1,4}\b|\bC\+\+\d\d\b|\barXiv[:\s]\d{4}\.\d{4,5}\b", "the name of a standard or a paper"),
    (r"\b(?:et\sal\.,?\s\(?|[A-Z][a-z]+\sand\s[A-Z][a-z]+,?\s\()(?:19|20)\d\d[a-z]?\b\)?", "the year of a citation"),
    (r"\b404\s[–-]\s[Nn]ot\s[Ff]ound\b|\b[Ee]rror\s404\b", "the status of a missing page"),
    (r"\b[123]-?D\b", "a number of dimensions, as a name"),
    (r"\b1F1B\b", "the name of a schedule"),
    (r"\bDive\sinto\sDeep\sLearning\s\d{1,2}\.\d{1,2}\b", "a section of the book"),
    (r"\b\d{1,4}(?:[×x]\d{1,4})+\b(?![\^⁰¹²³⁴⁵⁶⁷⁸⁹⁻])(?!\s(?:\w+s|server|machine|node|cluster|grid|matrix|matrices)\b)", "a shape"),
    (r"\bbetween\s0\sand\s1\b|\b[01]-based\b|\bp(?:50|9\d(?:\.9+)?)\b", "where something is counted from, or a part of all"),
    (r"(?<!\bevery\s)(?<!\ba\s)\b\d?(?:1st|2nd|3rd|[04-9]th|1[1-3]th)\b(?!\sof\b)", "an ordinal: which one, not how many"),
    (r"\b(?i:half|double|single)[\s-](?:precision|duplex)\b|\b[Dd]ouble[\s-](?:buffer\w*|click\w*|check\w*|quotes?)\b"
     r"|\b(?i:more\soften\sthan\snot|more\sthan\sonce|(?:fast|quick|short)est\sway\sto\s(?:learn|see|find|understand|check|tell|know|start))\b"
     r"|\b(?i:next|last|this|first|second|third|fourth)\squarter\b(?!\sof\b)|\b(?i:first|second|other|upper|lower|left|right)\shalf\b", "a name or a turn of phrase"),
)  # fmt: skip
_RESULT = rf"(?![\d]|[.,]\d|[\s-]?(?:{_UNIT})(?![\w/]))"  # a name is not followed by a unit: "on GPU 0 ms" is a result
_EXEMPT = [(re.compile(rf"(?:{pattern}){_RESULT}"), reason) for pattern, reason in EXEMPT]

_SCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻₀₁₂₃₄₅₆₇₈₉"
_FRACTIONS = "½¼¾⅓⅔⅛⅜⅝⅞⅕⅖⅗⅘⅙⅚"
_MANTISSA = rf"(?:\d[\d.,]*\d|\d|(?<![\w.])\.\d+|[{_FRACTIONS}])[{_FRACTIONS}]?(?:[eE][+-]?\d+(?!\w))?"
_POWER = r"(?:\s?[×x]\s?10(?:\^-?\d+|[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+))?(?:\^-?\d+|[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)?"
_UNIT_AFTER = rf"(?:[\s-]?(?:{_UNIT})(?![A-Za-z/]))?"
_NUMERAL = re.compile(
    rf"(?:[×]\s?)?(?:(?<![\w){OTHER}])[+\-−±])?{_MANTISSA}{_POWER}(?:{_UNIT_AFTER}(?:\s?[–-]\s?|\sto\s){_MANTISSA}{_POWER}(?!-\d))?{_UNIT_AFTER}"
)
# Before a number that could belong to a name: a letter, or a word with a capital that begins no sentence.
_NAMED = re.compile(r"(?:[A-Za-z][-/.]?|[a-z,]\s[A-Z]\w+\s)$")
_COUNT = _either([w for w, n in WORDS.items() if 1 < n < 100])
_BIG = _either([w for w, n in WORDS.items() if 3 < n < 100])
_LARGE = r"(?:hundred|thousand|million|billion|trillion)"
_DOZENS = (
    rf"(?:(?:an?|one|two|three|(?:a\s)?few|many|several|some)\s(?:{_LARGE}|dozen)s?|(?:{_LARGE}|dozen)s)(?:\sof)?(?:\s{_LARGE}s)?"
)
_MANY = rf"(?:{_DOZENS}|tens(?:\sof)?)"
_ORDINAL = r"(?:third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|[a-z]+teenth|[a-z]+tieth|hundredth|thousandth|[mb]illionth)"
# What compares: the words of relations, and others of their kind, that no relation has but that claim as much.
_COMPARATIVE = _either([w for w in relations.VOCABULARY if w.endswith("er") or w in ("more", "less")]) + (
    r"|better|worse|heavier|lighter|deeper|shallower|denser|busier|closer|costlier|dearer|speedier|steeper|flatter|stronger|weaker|finer|coarser"
)
_SUPERLATIVE = _either([w for w in relations.VOCABULARY if w.endswith("est") and w != "least"]) + (
    r"|heaviest|lightest|deepest|densest|busiest|costliest|dearest|speediest|steepest|maximum|minimum"
)
_ADJECTIVE = (
    r"fast|slow|quick|quickly|slowly|long|short|big|large|small|much|many|high|low|wide|cheap|expensive|great|few|little|deep|heavy"
)
# What "the same" compares when it is a quantity: "the same code as" claims nothing of a number. Of some "as" must say that it compares.
_PACE = r"times?|durations?|speeds?|pace|rates?|bandwidths?|throughputs?|latency|latencies|costs?|amounts?"
_MEASURE = rf"{_PACE}|sizes?|lengths?|widths?|heights?|numbers?|counts?|memory|bytes|traffic|work|waits?|prices?|capacity|share"
_WORD = rf"[\w'’\-{QUOTE}{RELATION}{PLAIN}{OTHER}]+"
_MARK = f"[{QUOTE}{PLAIN}]"
_MARKS = re.compile(f"[{QUOTE}{RELATION}{PLAIN}{OTHER}]")
_BOUND = f"(?<![{QUOTE}{PLAIN}] )(?<![{QUOTE}{PLAIN}])"
# "As fast as you like" compares nothing, nor does "as the hardware allows".
_FREE = (
    r"(?!\s(?:possible|needed|necessary|before|ever|usual|there\s(?:are|is)|(?:[\w-]+\s){1,3}?(?:allows?|permits?)|"
    r"(?:you|it|we|they)\s(?:can|could|likes?|wants?|needs?|please|may|must|gets?|goes|fits?|takes?))\b)"
)
_BOUNDS = rf"{_either([w for w in (*COMPARISONS, 'nearly', 'almost') if w.isascii() and w[0].isalpha()])}|" + (
    r"at\s(?:the\s)?(?:very\s)?(?:least|most)|upwards\sof|in\sexcess\sof|(?:shy|short)\sof|past|beyond|within|not\seven|an?\s(?:minimum|maximum)\sof"
)
_MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"

# What stands at a call and changes what it says. The words of calls are known to the audit of the sources alone.
AFTER, SIGN, BEFORE, TOO_LATE, NEGATED = (
    "a unit after a quote", "a sign before a quote", "a bound before a quote", "a bound after a quote", "a relation turned around",
)  # fmt: skip
AT_A_CALL = (AFTER, SIGN, BEFORE, TOO_LATE, NEGATED)
DATE = "a date"

_GAP = r"[\s,()–—]+"  # between words that belong together: "slower, in fact, than", "faster (on this server) than", "not, in any way, slower"
_APART = r"and|because|but|if|it|so|that|they|when|which|while|who"  # what follows one of these, "not" does not reach
_HOW_MANY = rf"(?:zero|{_COUNT}|{_MANY})"

# Read in lower case, but for those that a capital letter makes what they are.
_RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), rule)
    for pattern, rule in (
        (rf"{QUOTE}(?:[\s-]?(?!times\b|[×x]\s?(?:\d|{QUOTE}))(?:{_UNIT.lower()}|per\s?cent)(?![\w/])|[\s-]?times(?=\s(?:(?:{_COMPARATIVE}|as|that|the)\b))"
         rf"|[\s-]?[×x]\s?(?={_COMPARATIVE})|\s?/\s?(?:{_UNIT.lower()}|{_UNIT_WORDS})\b|\sper\s(?:\w*second|byte)s?\b|\s(?:{_LARGE}|dozen)s?\b|\s(?:{_ORDINAL}s|squared|cubed)\b)", AFTER),
        (rf"[-−+±–](?<![^\s(“\"].){QUOTE}|minus(?<=\b(?:is|of|to)\sminus)\s{QUOTE}|negative\s{QUOTE}", SIGN),
        (rf"(?:\b(?<!range\s)(?<!ranges\s)(?:{_BOUNDS})|[<>≤≥](?<![-=].)=?)\s?(?:(?:about|around|roughly|some|just|the|a)\s)?{QUOTE}", BEFORE),
        (rf"{QUOTE}{_GAP}or\s(?:more|less|fewer)\b(?!\sthan)|{QUOTE}{_GAP}(?:or|and|if\snot)\s(?:even\s)?(?:more|less|fewer|above|below|over|under|up|longer|shorter|larger|smaller|higher|lower|"
         rf"faster|slower|a\sbit|a\slittle)(?:\sstill)?(?=\s?(?:[.,;:!?)”\"{STOP}]|$))|{QUOTE}{_GAP}at\s(?:the\s)?(?:very\s)?(?:least|most)\b|{QUOTE},?\stops\b|{QUOTE}\+(?!\s?[\d{QUOTE}])", TOO_LATE),
        (rf"(?:\b(?:not|never|no|nor|neither|hardly|cannot|rarely|seldom|scarcely|barely|nothing|none|nobody|far\sfrom|anything\sbut|fail(?:s|ed)?\sto\sbe)(?!\s(?:only|just|merely)\b)"
         rf"|n['’]t){_GAP}(?:(?!(?:{_APART})\b){_WORD}{_GAP}){{0,5}}?{RELATION}|\bless\s{RELATION}", NEGATED),
        (rf"\b{_HOW_MANY}[\s-]+(?:(?:{_UNIT_WORDS})\b|(?:{_UNIT_SYMBOLS.lower()})(?![a-z/]))", "a number in words before a unit"),
        (rf"\bone[\s-]+(?!times)(?:(?:{_UNIT_WORDS})\b|(?:{_UNIT_SYMBOLS.lower()})(?![a-z/]))", "a number in words before a unit"),
        (rf"\b(?:an?|few|several|couple\sof)\s(?<!long\sis\sa\s)(?:{_PREFIXED})\b", "a number in words before a unit"),
        (rf"\b(?<!\bno\s)(?<!first\s)(?<!last\s)(?<!next\s){_HOW_MANY}[\s-]+(?:of\s(?:the|its|these|those|our|their)\s)?(?:[a-z-]+[\s-]+)?(?:{_MODEL_NOUNS.lower()})\b", "a number in words before something the model counts"),
        (rf"\b(?:(?:{_COUNT})-)?(?:{_BIG})\b(?:\s{_LARGE})?|\b{_DOZENS}\b", "a number in words"),
        (rf"\b(?:every|each)\s(?:{_ORDINAL}\b|(?:(?<!each\s)other|second)\s(?:{_MODEL_NOUNS.lower()}|step|part|copy|pass)\b|\d+(?:st|nd|rd|th)\b)", "a number in words"),
        (r"\b(?:twice|thrice|halves|halved|halving|half(?![\s-](?:finished|done|written|built)\b)|doubl(?:e[sd]?|ing|y)(?!\sas\san?\b)|(?:tripl|trebl|quadrupl|quintupl|sextupl)(?:e[sd]?|ing)"
         r"|quarter(?:ed|ing)|(?:(?:an?|one|three)\s)?quarters?)\b", "a multiple in words"),
        (rf"\b(?:{_COUNT}|{_MANY}|{_LARGE}|[a-z]|many|several)-?fold\b", "a multiple in words"),
        (rf"\b(?:factors?|ratios?)\s(?:of|to)\s(?:(?:about|around|roughly|nearly|almost|over|some)\s)?(?:{_COUNT}|{_MANY})\b|\b(?:one|{_COUNT})[\s-]to[\s-](?:{_COUNT})\b"
         rf"|\b(?:{_COUNT})[\s-]to[\s-]one\b|\bcut(?:s|ting)?\s(?:{_WORD}\s){{0,4}}?in(?:to)?\s(?:{_COUNT})\b", "a multiple in words"),
        (rf"\b(?:one|{_COUNT})[\s-]{_ORDINAL}s?\b|\ban?\s{_ORDINAL}\s(?:of|the|as|{_COMPARATIVE})\b|\b(?:by|to)\sa\s{_ORDINAL}\b(?!\s(?!(?:{_LITTLE})\b)[a-z])", "a fraction in words"),
        (rf"\b(?:(?:an?|one|{_COUNT})\s)?orders?\sof\smagnitude\b", "a multiple in words"),
        (rf"\b(?:(?:an?|one|{_COUNT}|\d+)\s)?parts?\s(?:in|per)\s(?:(?:(?:an?|one|{_COUNT})\s)?{_LARGE}\b|{_MANTISSA}{_POWER}|(?={_MARK}))", "a precision in words"),
        (rf"\b(?:{_COMPARATIVE})\b(?:{_GAP}(?!(?:rather|other)\b|{RELATION}){_WORD}){{0,5}}?{_GAP}(?:than\b|(?:compared|relative)\s(?:to|with)\b)", "a comparison"),
        (r"\b(?:outpac|outperform|outrun|overtak|overtook|exceed|surpass)\w*|\b(?:beats|trails|inferior\sto|superior\sto|lag(?:s|ging)?\sbehind)\b", "a comparison"),
        (rf"{_BOUND}\bas\s(?:{_ADJECTIVE})(?:\s{_WORD}){{0,2}}?\sas\b{_FREE}", "a comparison"),
        (rf"\bthe\ssame\s(?:[\w-]+\s)?(?={_MARK}|\d|(?:{_COUNT})\s(?:{_UNIT_WORDS}|{_MODEL_NOUNS.lower()}))", "a comparison"),
        (rf"\bthe\s(?:very\s)?same\s(?:(?!(?:times?|each|every|at)\b)[a-z-]+\s)?(?:(?:{_MEASURE})(?:\sof\s[\w-]+)?\sas\b|(?:{_PACE})\b(?!\sscale))", "a comparison"),
        (rf"\b(?:equals|equal\s(?:to|{_PACE})|(?:is|are|was|were)(?:[\s,]+(?!(?:no|not|never|of)\b){_WORD}){{0,2}}?[\s,]+equal(?:\sto)?|(?:equally|just\sas)\s(?:{_ADJECTIVE})(?!(?:\s{_WORD}){{0,2}}\sas\b))\b", "a comparison"),
        (r"\b(?:identical\sto|on\s(?:a\s)?par|t(?:ies|ied)\swith|matches|no\sdifferent\sfrom)\b", "a comparison"),
        (rf"\b(?:{_SUPERLATIVE}|(?<!\bat\s)the\s(?:most|least)|(?:most|least)\s(?:expensive|costly|efficient)|(?:is|are|was|were)\sthe\s(?:best|worst)|the\s(?:best|worst)\s(?:way|route|time)(?!\sto\b))\b", "a comparison of all"),
    )
)  # fmt: skip
_CASED: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(
        rf"\b\d{{4}}-\d\d-\d\d\b|\b\d{{1,2}}(?:st|nd|rd|th)?(?:\sof)?\s{_MONTH}\b(?:,?\s\d{{4}}\b)?|\b{_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s\d{{4}}\b)?|\b{_MONTH}\s\d{{4}}\b"), DATE),
    (re.compile(rf"\b(?:Acts?\s[IVX]+|(?:GPU|[Rr]ank|[Ss]tep|[Ss]ection|[Cc]hapter|[Tt]able|[Ff]igure)s?\s[IVX]{{2,}}|[IVX]{{2,}}\s(?:[a-z-]+\s)?(?:{_MODEL_NOUNS}))\b"), "a naked number"),
)  # fmt: skip
# Turns of phrase that compare nothing and bound nothing, in lower case. "As long as compute keeps up" sets a condition, and "as soon as" a time;
# after a verb that measures, "takes as long as", they compare.
_IDIOMS = re.compile(
    r"\bas\s(?:soon|far|well)\sas\b|\bas\slong\sas\b(?<!\btake\sas\slong\sas)(?<!\btakes\sas\slong\sas)(?<!\btook\sas\slong\sas)(?<!\blasts\sas\slong\sas)(?<!\bis\sas\slong\sas)"
    r"(?<!\bare\sas\slong\sas)(?<!\bjust\sas\slong\sas)(?<!\bexactly\sas\slong\sas)(?<!\babout\sas\slong\sas)"
    r"|\bat\sthe\s(?:very\s)?(?:same\stime|latest|earliest)\b"
    r"|\bthan\s(?:ideal|enough|(?:it|you|we|they)\s(?:looks?|thinks?|deserve|seems?|expect)\b)|\bnothing\smore\sthan\b(?!\s<Q>)"
    r"|\bequals(?<=\bare\sequals)(?=\s?[^\w\s])|\b(?:the\s)?equals\ssign\b|\bshortest\spaths?\b|\b(?:high|low)est[\s-](?:priority|layers?|levels?)\b|\blatest\s(?:version|release)\b"
    r"|\b(?:table|figure|chart|drawing|formula|picture|lines?|section|step)\s(?:above|below)\b|\bone\sday\s(?:you|we|they|it)\b|\btwo\ssteps\sback\b"
    r"|\bno\s(?:wonder|doubt)\b|\bnot\sso\smuch\b|\bwhy\snot\b|\b(?:or|if)\snot\b(?=\s?,)".replace("<Q>", QUOTE)
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


@lru_cache(maxsize=10_000)
def findings(text: str) -> tuple[Finding, ...]:
    """Every naked number and unbound comparison in `text`, in order.

    >>> [f.text for f in findings("It takes 60 ms on a V100, twice the 30 ms of Act 6.")]
    ['60 ms', 'twice', '30 ms']
    >>> findings("Three labs, as long as you like, on PCIe 4.0.")
    ()
    """
    text = re.sub(r"\s", " ", plain_characters(text))
    at = [i for i, c in enumerate(text) if c != " " or text[i - 1 : i] != " "]  # a line may be wrapped and indented anywhere
    if len(at) == len(text):
        return tuple(_findings(text))
    return tuple(f._replace(start=at[f.start], end=at[f.end - 1] + 1) for f in _findings("".join([text[i] for i in at])))


def _findings(shown: str) -> list[Finding]:
    text = shown
    for pattern, reason in _EXEMPT:
        text = pattern.sub(lambda m: m[0] if _counts(m, reason) else OTHER * len(m[0]), text)  # noqa: B023
    found = _unusual(text)
    for match in _NUMERAL.finditer(text):
        named = match[0].isdigit() and bool(_NAMED.search(text, max(match.start() - 20, 0), match.start()))
        found.append(Finding(match.start(), match.end(), match[0], "a naked number", named))
    relaxed = _IDIOMS.sub(lambda m: " " * len(m[0]), text.replace("İ", "i").lower())  # the one letter that would become two
    for rules, words in ((_RULES, relaxed), (_CASED, text)):
        for pattern, rule in rules:
            for match in pattern.finditer(words):
                said = shown[match.start() : match.end()].strip()
                found.append(Finding(match.start(), match.end(), _MARKS.sub("…", said), rule))
    found.sort(key=lambda f: (f.start, -f.end))
    kept: list[Finding] = []
    for finding in found:
        if not kept or finding.start >= kept[-1].end:
            kept.append(finding)
    return kept


def _counts(m: re.Match[str], reason: str) -> bool:
    """Whether what looks like a label or a version may count what follows: "in step 4 chunks move", "in every step 4 of them"."""
    if reason not in (LABEL, VERSION):
        return False
    before = re.search(r"(\w+)\s+$", m.string[max(m.start() - 12, 0) : m.start()])
    word = before[1].lower() if before else ""
    if reason == LABEL and _DETERMINERS.fullmatch(word):
        return True
    return bool(_COUNTED.match(m.string, m.end()) or (_PREPOSITIONS.fullmatch(word) and _PERHAPS_COUNTED.match(m.string, m.end())))


# What to write for words that no quote can hold, and what a quote says instead.
_INSTEAD = (
    (r"doubl", "twice"), (r"tripl|trebl", "three times"), (r"quadrupl", "four times"), (r"hal(?:v|f)", "half"), (r"quarter", "a quarter"),
    (r"orders? of magnitude", "two orders of magnitude"), (r"parts? (?:in|per)", "one part in a million"), (r"every|each", "every fourth"),
    (r"factor|ratio|fold|upl|to[ -]|\bin(?:to)? ", "twice"), (r"th\b", "a tenth"),
)  # fmt: skip
_AS = {
    "fast": "fast",
    "quick": "fast",
    "quickly": "fast",
    "slow": "slow",
    "slowly": "slow",
    "long": "long",
    "much": "much",
    "many": "many",
}
IN_THE_TEXT = "say it in the text, where it can be bound"


def readable(words: str) -> bool:
    """Whether a quote can hold these words."""
    try:
        read(words)
    except QuoteError:
        return False
    return True


def quotable(words: str) -> str:
    """The longest beginning of some words that a quote can hold: all of "60 ms", the first of "eight tasks", nothing of "doubled"."""
    if readable(words.replace("-", " ")):
        return words.replace("-", " ") if not readable(words) else words
    ends = [m.start() for m in re.finditer(r"[\s-]|$", words)]
    return next((words[:end] for end in reversed(ends) if readable(words[:end])), "")


def cure(finding: Finding, names: Sequence[str] = (), macro: str = "q", quote: str = "") -> str:
    """How to mend a finding: a call that is accepted once the right name stands in it, or advice in words.

    `names` are numbers that it could quote; for what stands at a call, `quote` are the words of the call and `names` its numbers.
    """
    words, rule = finding.text, finding.rule
    if rule in AT_A_CALL:
        return _at_a_call(words, rule, quote, ", ".join(names) or "name")
    if macro == "qt" and (rule == DATE or not readable(words)):
        return IN_THE_TEXT
    why_not = "" if macro == "qt" else f', or say why not: [= plain("{words}", why="…") =]'
    if rule == DATE:
        return f'say that it is one: [= plain("{words}", why="a date") =]'
    if rule.startswith("a comparison"):
        return f'bind it: [= rel("{relation(words)}", first, second) =]{why_not}'
    if re.fullmatch(r"(?:19|20)\d\d", words) and not names:
        why_not = why_not.replace("…", "a year")
    said = quotable(words)
    if finding.named and said and why_not:
        return f'say that it is a name: [= plain("{words}", why="a name") =], or bind it: [= q("{said}", {names[0] if names else "name"}) =]'
    if said:
        name = "first, second" if len(read(said)) == 2 else names[0] if names else "name"
        return f'bind it: [= {macro}("{said}", {name}) =]{words[len(said) :]}{why_not}'
    instead = next((new for old, new in _INSTEAD if re.search(old, words, re.IGNORECASE)), "60 ms")
    return f'say it in words that a call can hold, such as [= {macro}("{instead}", name) =]{why_not}'


_KNOWN = re.compile(rf"\b(?:{_either(relations.VOCABULARY)})\b")
_EQUAL = re.compile(r"equally|identical|on\b|t(?:ies|ied)\b|no different|just as|as\b|the (?:very )?same\b")


def relation(words: str) -> str:
    """The relation that a comparison in words states, in a word that `rel` knows: "faster" of "faster in all ways than"."""
    lower = words.lower()
    as_as = re.match(r"(?:just )?as (\w+)", lower)
    if as_as and as_as[1] in _AS:
        return f"as {_AS[as_as[1]]} as"
    known = _KNOWN.search(lower)
    if _EQUAL.match(lower):
        return "the same"
    if known:
        return known[0]
    return "most" if re.search(r"est\b|best|worst|most|maximum|minimum", lower) else "more"


def _at_a_call(words: str, rule: str, quote: str, names: str) -> str:
    """What to do about a word that stands at a call and changes what it says."""
    if rule == NEGATED:
        return "say what does hold, with the opposite word in the call"
    beside = " ".join(words.replace("…", " ").split())
    inside = {
        AFTER: f"{quote} {beside}" if words.startswith("… ") else f"{quote}{beside}",
        SIGN: f"−{quote}" if beside.isalpha() else f"{beside}{quote}",
        BEFORE: f"{beside} {quote}",
        TOO_LATE: f"{'at most' if re.search('less|few|below|under|short|small|low|most', beside) else 'at least'} {quote}",
    }[rule]
    forms = (inside, re.sub(r" per seconds?$", "/s", inside), re.sub(r" (?:about|around|roughly|some|just|the|a)\b", "", inside))
    said = next((form for form in forms if quote and readable(form)), "")
    if said and rule == BEFORE:
        return f'put it inside, with the number that it bounds: [= q("{said}", name) =]; where it bounds none, take another word'
    if said:
        return f'put it inside: [= q("{said}", {names}) =]'
    if rule in (BEFORE, TOO_LATE):
        return 'say on which side it lies, with the number that it bounds: [= q("under 60 ms", sync.one_gpu) =]'
    return 'the words in the quotes of the call must hold it, such as q("60 ms", sync.one_gpu)'


_LETTER_IN_TEX = re.compile(rf"\\(?:{_either(LETTERS)})(?![A-Za-z])")
_COMMAND_IN_TEX = re.compile(r"\\[A-Za-z]+")
_NUMBER_IN_TEX = re.compile(r"\d[\d.,]*")
_EQUAL_IN_TEX = re.compile(r"\\(?:approx|simeq|sim|equiv|to)(?![A-Za-z])")
_BOUND_IN_TEX = re.compile(r"\\(?:leq?|geq?|lt|gt)(?![A-Za-z])")
_WORDS_IN_TEX = re.compile(r"\\(?:text|mathrm|textrm|mbox|textbf|mathbf)\s*\{([^{}]*)\}")
_SCRIPT = re.compile(r"[_^]\s*(?:\{([^{}]*)\}|\\[A-Za-z]+|\w)")
_LONG_UNIT = _either({w for w in known_words() if len(w) > 1})
_TEX_UNIT = re.compile(
    rf"(?<!\d)\d[\d.,{{}}]*+(?:\\[,;:! ]|~|\s)*(?:\\(?:text|mathrm|textrm)\s*\{{\s*(?:\\[,;:! ]|~|\s)*(?:{_UNIT})\s*\}}|(?:{_LONG_UNIT})(?![A-Za-z])|\\?%)"
)


def _structure(script: re.Match[str]) -> str:
    """An exponent is structure while its whole numbers have one digit, an index while they have two: e^{-1} and t_{12}, not 10^{15}.

    Of structure a letter stays where it holds one: 2^k is no number.
    """
    digits = r"\d\s*[\d.,]" if script[0][0] == "^" else r"\d\s*[.,]|\d\s*\d\s*\d"
    if re.search(digits, script[1] or ""):
        return script[0]
    return "x" if re.search("[A-Za-z]", _COMMAND_IN_TEX.sub("", script[0])) else " "


def _sides(tex: str) -> Iterator[tuple[str, str]]:
    """The sides of the relations of a formula, in brackets too, each with the signs of relation beside it. Of brackets in it one part stays."""
    outer: list[tuple[str, str, str]] = []
    before = side = sign = ""  # what stands before the side in the same brackets, the side so far, the sign before it
    for c in re.sub(r"[.,](?!\d)", ";", tex):
        if c in "({[":
            outer.append((before, side, sign))
            before = side = sign = ""
        elif c in ")}]" and outer:
            yield side, sign
            inside = before + side
            before, side, sign = outer.pop()
            part = re.search("[A-Za-z]", inside) or _NUMBER_IN_TEX.search(inside)
            side += f" {part[0]} " if part else " "
        elif c in "=≈<>≤≥":
            yield side, sign + c
            before, side, sign = before + side, "", c
        elif c in ";&":
            yield side, sign
            before, side, sign = before + side, "", ""
        else:
            side += c
    yield side, sign
    for _, side, sign in outer:
        yield side, sign


def in_formula(tex: str) -> str:
    """The naked number of a formula typed by hand, "" when it has only structure.

    Structure is what would stay if every input changed: indices, exponents, where a sequence begins, as in i = 0, 1, …, n−1, and the whole
    numbers 1 and 2 beside symbols, as in 2(n−1).
    A value with a unit, a decimal, a larger number, or a side of a relation without a symbol is a result; so is a number in words.

    >>> in_formula(r"2\\,(n-1)\\,S / B"), in_formula(r"t_1 + n\\,t_2 + t_3"), in_formula("e^{-1}"), in_formula(r"T = 2\\alpha")
    ('', '', '', '')
    >>> in_formula(r"n = 8"), in_formula(r"60\\,\\mathrm{ms}"), in_formula("0.5 n"), in_formula(r"n = 1 \\cdot 2")
    ('8', '60\\\\,\\\\mathrm{ms}', '0.5', '1')
    """
    tex = plain_characters(tex)
    unit = _TEX_UNIT.search(tex)
    if unit:
        return unit[0]
    for words in _WORDS_IN_TEX.finditer(tex):
        naked = findings(words[1])
        if naked:
            return naked[0].text
    tex = _LETTER_IN_TEX.sub(" x", tex)
    symbols = bool(re.search(r"[A-Za-z]", _COMMAND_IN_TEX.sub("", _WORDS_IN_TEX.sub("", tex))))
    tex = _BOUND_IN_TEX.sub("≥", _EQUAL_IN_TEX.sub("=", re.sub(r"\\q?quad(?![A-Za-z])|\\\\", ";", tex)))
    tex = re.sub(r"=\s*[01]\s*,(?:\s*\d\s*,)*\s*\\[lc]?dots(?![A-Za-z])", " ", tex)
    bare = re.sub(r"\\[,;:!]|~", " ", _COMMAND_IN_TEX.sub("·", _SCRIPT.sub(_structure, tex)))
    bare = re.sub(r"(?<=\d)\s+(?=\d)", "", re.sub(r"(?<=\d)\{(\d+)\}", r"\1", bare))  # 6\,0 and 6{0} are 60
    for side, signs in _sides(bare):
        value = bool(signs) and not re.search("[A-Za-z]", side)
        if value and symbols and "=" not in signs and "≈" not in signs and re.fullmatch(r"[\s·-]*[01][\s·]*", side):
            continue  # n ≥ 1 says what n may be
        for number in _NUMBER_IN_TEX.finditer(side):
            if value or not symbols or number[0] not in ("1", "2"):
                return number[0]
    return ""


_WORDS_IN_CODE = re.compile(
    rf"(?:[a-z]+[ -])*(?!half\b|double\b)(?:{_COUNT}|{_LARGE}|twice|thrice|doubled|tripled|halved)(?:[ -][a-z]+)*", re.IGNORECASE
)
_IN_CODE = re.compile(
    rf"(?<![\w.])\d[\d.,]*(?:\s(?:{_LONG_UNIT}|[sBhx×]|{_MODEL_NOUNS}|{_LARGE}s?)|(?:{_UNIT_SYMBOLS})|[xskM])(?![\w/(])"
)


def in_code(code: str) -> bool:
    """Whether inline code is a result dressed as code: only numbers or number words, or a number with a unit, which no programming language has.

    >>> in_code("60 ms"), in_code("28"), in_code("t = 60 ms"), in_code("(60 ms)"), in_code("torch.ones(2)"), in_code("z = x * y + 2")
    (True, True, True, True, False, False)
    >>> in_code("8 GPUs"), in_code("4x"), in_code("twice"), in_code("x.double()"), in_code("double")
    (True, True, True, False, False)
    """
    code = re.sub(r"^(?:#!|:{3,})[\w.+-]+\s+", "", plain_characters(code).strip())  # `#!python …` names a language
    numbers = re.search(r"\d", code) and not re.search(r"[A-Za-z_]", code)  # 1e5 is how a program writes it
    if numbers and re.fullmatch(rf"(?:{_NUMERAL.pattern}|[\s,;:≈~<>≤≥=–-])+", code):
        return True
    return bool(_WORDS_IN_CODE.fullmatch(code) or _IN_CODE.search(code))
