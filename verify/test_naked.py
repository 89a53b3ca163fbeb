"""What is found in plain text, and what is left alone. Markdown is the business of test_scan, planted faults of test_audit."""

from __future__ import annotations

import importlib.util
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macros import naked, relations
from macros.claims import COMPARISONS
from macros.prose import PLAIN, QUOTE, RELATION, STOP
from perfmodel.units import UNITS

steady = settings(derandomize=True, deadline=None, max_examples=300)


def found(text: str) -> list[str]:
    return [finding.text for finding in naked.findings(text)]


@pytest.mark.parametrize(("text", "expected"), [
    ("It takes 60 ms.", ["60 ms"]), ("It takes 60.", ["60"]), ("60, 61 and 62", ["60", "61", "62"]), ("1,234.5 GB/s", ["1,234.5 GB/s"]), ("−3 ms", ["−3 ms"]),
    ("60-millisecond wait", ["60-millisecond"]), ("2.00× as fast", ["2.00×"]), ("×2", ["×2"]), ("25 %", ["25 %"]), ("½ of it", ["½"]), ("1½ of it", ["1½"]),
    ("⅚ of it", ["⅚"]), ("10⁻¹⁵", ["10⁻¹⁵"]), ("3×10⁻¹⁵", ["3×10⁻¹⁵"]), ("10^-15", ["10^-15"]), ("6\u00a0ms", ["6 ms"]), ("６０ ms", ["60 ms"]),
    ("Ⅻ of them", ["Ⅻ"]), ("③ of them", ["③"]), ("四 of them", ["四"]), ("⁶⁰ of them", ["⁶⁰"]), ("every 4th", ["every 4th"]), ("a 4th of", ["4"]), ("x86 and 60", ["60"]), ("v60", ["60"]),
    ("60ms", ["60ms"]), ("5 Mb", ["5 Mb"]), ("28 ticks", ["28 ticks"]), ("100 MB/s", ["100 MB/s"]), ("3 years", ["3 years"]), ("10 gigabytes per second", ["10 gigabytes per second"]),
    ("10–20 ms", ["10–20 ms"]), ("10 to 20 ms", ["10 to 20 ms"]), ("10 ms–2 s", ["10 ms–2 s"]), ("2-3 times", ["2-3 times"]), ("It is .5 s.", [".5 s"]), ("1e9 of them", ["1e9"]), ("1.5e-3 s", ["1.5e-3 s"]),
    ("on 4 May 2024", ["4 May 2024"]), ("May 4, 2024", ["May 4, 2024"]), ("May 2024", ["May 2024"]), ("2026-07-28", ["2026-07-28"]), ("in 2017", ["2017"]), ("top-5 ms", ["5 ms"]), ("an H100-80GB", ["80GB"]), ("eight cards", ["eight cards"]), ("eight rows", ["eight"]),
])  # fmt: skip
def test_numerals(text: str, expected: list[str]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize("text", [
    "twice", "Twice", "thrice", "half", "halves", "halved", "halving", "double", "doubled", "doubling", "triple", "tripled", "quadruple", "a quarter", "three quarters",
    "three-fold", "threefold", "tenfold", "n-fold", "manyfold", "hundredfold", "two thirds", "a third of", "a tenth of", "one-fifth", "an order of magnitude",
    "orders of magnitude", "one part in a million", "part in 10", "two milliseconds", "sixty seconds", "one millisecond", "one second", "one hour", "four ms", "ten GB/s", "two percent",
    "three times", "hundreds of hours", "a thousand bytes", "four GPUs", "two busy GPUs", "Three transfers", "six steps", "twenty-four tasks", "a dozen workers",
    "hundreds of GPUs", "ten thousand tasks", "all four", "with eight, it", "a hundred", "two million", "twelve of them", "sixteen",
    "faster than", "Faster than", "more than", "less than", "fewer links than", "slower by a lot than", "larger in every way than", "later than", "higher, than",
    "as fast as", "as slowly as", "as large as", "as many links as", "as much memory as", "takes as long as", "is as long as", "just as long as", "equals", "equal to",
    "is equal", "are equal", "the fastest", "the slowest way", "largest", "the same 60 ms", f"the same {QUOTE}", f"the same time {QUOTE}", "the same four GPUs",
    f"slower by {QUOTE} than", f"faster {PLAIN} than",
])  # fmt: skip
def test_results_in_words(text: str) -> None:
    assert found(text) != []


@pytest.mark.parametrize("text", [
    "", "It takes a while.", "Three labs, two ways, two acts and three small questions.", "the two, all three, both, one of them", "one GPU, a single GPU, no GPU",
    "As long as compute keeps up, as soon as it starts, as far as it goes, as well as that.", "as many as you like, as often as possible, as fast as possible, as needed",
    "easier than that, nicer than this, rather than wait, other than that", "the same sum, the same way, the same as before", "equally good, unequal, an equaliser",
    "Every GPU takes part in the sum.", "It parts in two directions.", "a second GPU, the first and the third step", "once, at once, alone, often, oftener",
    "tenth, tense, often, weighty, none, someone, stone, done", "double precision, half-precision, half-duplex, full-duplex, double-buffered, Double-click",
    "n², t₁, xⁿ and m³", "an hour hand, the minutes", f"{QUOTE} as fast", f"{QUOTE} as long as sharded", f"{RELATION} than that", "more or less", "no more, no less",
    "faster, slower, more, fewer", "a shorter way", "at the latest",
])  # fmt: skip
def test_what_claims_no_number(text: str) -> None:
    assert found(text) == []


CLAIMS: dict[str, tuple[str, ...]] = {
    "a multiple in words": (
        "a gain by a factor of two", "by a factor of about three", "a ratio of three", "two to one", "a two-to-one gain", "one to two", "It cuts the wait in two", "cut into three", "treble", "trebled", "quartered",
        "quintuples", "doubly", "k-fold", "half the work is finished", "doubles as fast",
    ),
    "a fraction in words": (
        "a third slower", "slower by a third.", "It fell to a third, then", "a third less time", "a sixth of it", "one sixth", "one-seventh", "a twentieth of", "a tenth the time", "a third as long", "three fourths", "by a third and",
    ),
    "a comparison": (
        "They take the same time.", "in the same time", "at the same speed", "the same latency", "the same total time as", "equally long", "just as fast", "equal times", "The times were equal", "The times are, again, equal",
        "identical to that", "on a par", "on par with", "ties with it", "It matches that", "no different from that", "as slow as it was to one GPU", "slower, in fact, than", "slower (on this server) than",
        "faster — by far — than", "better than", "worse than", "steeper than", "speedier than", "It outpaces that", "beats that", "outperforms", "overtakes", "exceeds", "surpasses", "lags behind", "trails", "inferior to",
        "faster compared to", "more work relative to",
    ),
    "a comparison of all": (
        "the most time", "the least time", "the fewest links", "the greatest", "the earliest", "the latest", "It is the best", "the worst way", "the heaviest", "the busiest", "deepest", "the maximum", "minimum",
        "most expensive", "the least costly",
    ),
    "a number in words before a unit": (
        "two per cent", "Each hop takes a millisecond", "It holds a gigabyte", "a few milliseconds", "several megabytes", "a couple of milliseconds", "zero bytes", "two terabits", "two petabytes", "two teraflops",
    ),
    "a number in words before something the model counts": (
        "two hosts", "three stages", "two processes", "two threads", "two images", "two passes", "two microbatches", "Two of the GPUs work", "three of its links", "zero GPUs", "a few million parameters", "a dozen images",
    ),
    "a number in words": (
        "seven groups", "four groups", "eight rows", "sixteen words", "twelve cases", "five acts", "millions of them", "several hundred", "every fiftieth", "each fourth task", "one every hundredth step", "every other task",
        "every second GPU",
    ),
    "a naked number": (
        "At step 17", "step 99", f"At step 7 of {QUOTE}", "after the 100th step", "a factor-8 gap", "batch-256", "a 2×8 server", "a 512×512 matrix", "a 256-bit bus", "Act VI", "IV GPUs", "step IV", "act 12",
    ),
    "a bound after a quote": (
        f"{QUOTE}, or more.", f"{QUOTE} at the most", f"{QUOTE} at the very least", f"{QUOTE}, if not more", f"{QUOTE} or longer still", f"{QUOTE}, tops", f"{QUOTE} (or more)", f"{QUOTE} – or less", f"{QUOTE}, at least", f"{QUOTE} and a bit.",
    ),
    "a unit after a quote": (f"{QUOTE} squared", f"{QUOTE} hundredths"),
    "a sign before a quote": (f"negative {QUOTE}",),
    "a bound before a quote": (
        f"upwards of {QUOTE}", f"in excess of {QUOTE}", f"just shy of {QUOTE}", f"well past {QUOTE}", f"short of {QUOTE}", f"within {QUOTE}", f"a minimum of {QUOTE}", f"not even {QUOTE}", f"at the least {QUOTE}",
        f"nothing more than {QUOTE}",
    ),
    "a relation turned around": (
        f"far from {RELATION}", f"anything but {RELATION}", f"Nothing is {RELATION}", f"None is {RELATION}", f"rarely {RELATION}", f"scarcely {RELATION}", f"less {RELATION}", f"It fails to be {RELATION}",
        f"not, in any way, {RELATION}", f"not (yet) {RELATION}", f"not in any way at all {RELATION}", f"None of the ways is {RELATION}",
    ),
}  # fmt: skip
NO_CLAIMS: dict[str, tuple[str, ...]] = {
    "advice": ("Send fewer, larger messages rather than many small ones.", "Take smaller buckets rather than one big one.", "Sooner rather than later it ends."),
    "turns of phrase": (
        "It is nothing more than a queue", "more than enough", "less than ideal", "later than you think", "lazier than it looks", "better than we deserve", "as fast as the hardware allows", "as large as memory allows",
        "as many as there are", "as fast as it can", "One day you will need it.", "The queue doubles as a buffer", "half finished", "The third quarter", "The equals sign", "All ranks are equals.", "the shortest path",
        "a highest-priority stream", "the lowest layer", "two steps back", "the first two steps", "the last three GPUs", "no two processes", "the best way to see it", "the latest version", "most of the time", "at the most",
        "at the same time", "at the very same time", "a third way", "by a third party", "a first, a second and a third", "one-to-one", "all-to-one", "every other way", "How long is a nanosecond?", "in two ways", "one for each other part", "They are of equal values.", "the same each time", "as many as it takes", "all the others",
    ),
    "beside calls": (
        f"It is no wonder {RELATION}", f"It is no doubt {RELATION}", f"not so much {RELATION} as that", f"Why not take the {RELATION} one?", f"If not, the {RELATION} one", f"In the table above {QUOTE}", f"The figure below {QUOTE}",
        f"more tasks, and a queue that is {RELATION} than that",
    ),
    "labels": (
        "Act 2, 3 and 6.", "Steps 1 through 4", "GPU 0 or 1 waits", "From GPU 0 to 3", "GPUs 0 through 3", "Acts 2 & 6", "GPU #0", "step 3 of Act 6",
    ),
    "names": (
        "TPU v4", "p99", "HTTP/2", "PEP 8", "GPT-3.5", "Llama 3.1 70B", "ImageNet-21k", "compute capability 8.0", "ROCm 6.1", "arXiv 1706.02677", "Smith and Jones (2018)", "port 8000", "between 0 and 1", "0-based",
    ),
}  # fmt: skip


@pytest.mark.parametrize("rule", CLAIMS)
def test_a_claim_in_words_is_found_by_its_rule(rule: str) -> None:
    rules = {text: {finding.rule for finding in naked.findings(text)} for text in CLAIMS[rule]}
    assert {text: others for text, others in rules.items() if rule not in others} == {}


@pytest.mark.parametrize("kind", NO_CLAIMS)
def test_what_only_sounds_like_a_claim_is_left_alone(kind: str) -> None:
    assert {text: found(text) for text in NO_CLAIMS[kind] if found(text)} == {}


@pytest.mark.parametrize("word", relations.VOCABULARY)
def test_every_word_of_a_relation_is_found_when_it_is_bare(word: str) -> None:
    after = {"er": "than this", "re": "than this", "ss": "than this"}.get(word[-2:], "time")
    [finding] = naked.findings(f"It is {word} {after}." if not word.endswith("st") else f"It is the {word}.")
    assert finding.rule.startswith("a comparison")
    assert naked.relation(finding.text) == {"as large as": "the same", "equal": "equal"}.get(word, word)


@pytest.mark.parametrize(("text", "cure"), [
    ("the Foo 8", 'say that it is a name: [= plain("8", why="a name") =], or bind it: [= q("8", name) =]'), ("x87", 'say that it is a name: [= plain("87", why="a name") =], or bind it: [= q("87", name) =]'),
    ("the Abcdefghijklmnopq 8", 'say that it is a name: [= plain("8", why="a name") =], or bind it: [= q("8", name) =]'), ("the Abcdefghijklmnopqr 8", 'bind it: [= q("8", name) =], or say why not: [= plain("8", why="…") =]'),
    ("the Foo 8 ms", 'bind it: [= q("8 ms", name) =], or say why not: [= plain("8 ms", why="…") =]'), ("It is so. Foo 8", 'bind it: [= q("8", name) =], or say why not: [= plain("8", why="…") =]'),
    ("by a factor of two", 'say it in words that a call can hold, such as [= q("twice", name) =], or say why not: [= plain("factor of two", why="…") =]'),
    ("each fiftieth", 'say it in words that a call can hold, such as [= q("every fourth", name) =], or say why not: [= plain("each fiftieth", why="…") =]'),
    ("quintupled", 'say it in words that a call can hold, such as [= q("twice", name) =], or say why not: [= plain("quintupled", why="…") =]'),
    ("a twentieth of", 'say it in words that a call can hold, such as [= q("a tenth", name) =], or say why not: [= plain("a twentieth of", why="…") =]'),
    ("the same time", 'bind it: [= rel("the same", first, second) =], or say why not: [= plain("the same time", why="…") =]'), ("on a par", 'bind it: [= rel("the same", first, second) =], or say why not: [= plain("on a par", why="…") =]'),
    ("equally long", 'bind it: [= rel("the same", first, second) =], or say why not: [= plain("equally long", why="…") =]'), ("the heaviest", 'bind it: [= rel("most", first, second) =], or say why not: [= plain("heaviest", why="…") =]'),
    ("outpaces", 'bind it: [= rel("more", first, second) =], or say why not: [= plain("outpaces", why="…") =]'), ("just as fast", 'bind it: [= rel("as fast as", first, second) =], or say why not: [= plain("just as fast", why="…") =]'),
    ("slower, in fact, than", 'bind it: [= rel("slower", first, second) =], or say why not: [= plain("slower, in fact, than", why="…") =]'),
    ("the minimum", 'bind it: [= rel("most", first, second) =], or say why not: [= plain("minimum", why="…") =]'), ("It is the worst", 'bind it: [= rel("most", first, second) =], or say why not: [= plain("is the worst", why="…") =]'),
    ("Just As Long", 'bind it: [= rel("as long as", first, second) =], or say why not: [= plain("Just As Long", why="…") =]'), ("just as wide", 'bind it: [= rel("the same", first, second) =], or say why not: [= plain("just as wide", why="…") =]'),
])  # fmt: skip
def test_a_claim_in_words_has_a_cure(text: str, cure: str) -> None:
    [finding] = naked.findings(text)
    assert naked.cure(finding) == cure


def test_a_name_is_called_one_with_the_number_it_could_be_and_not_where_nothing_is_exempt() -> None:
    [finding] = naked.findings("the Foo 8")
    assert naked.cure(finding, ["a.b", "a.c"]).endswith('or bind it: [= q("8", a.b) =]')
    assert naked.cure(finding, macro="qt") == 'bind it: [= qt("8", name) =]'
    named = [f.named for f in naked.findings("an x87, the Foo/8, some Foo, Bar 9, Foo 8, foo 8 and 8")]
    assert named == [True] * 4 + [False] * 2


def test_a_letter_that_would_become_two_keeps_its_place() -> None:
    assert [(f.start, f.text) for f in naked.findings("İİ Twice")] == [(3, "Twice")]


# One example at least of each exemption, and what must not pass under it.
EXEMPT: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "a label: which one, not how many": (
        ("Act 6", "act 2", "Acts 2 and 6", "acts 1–6", "acts 1, 2 and 3", "step 2", "Steps 1 and 2", "steps 2–4", "section 13.7", "Section 13.2 and 13.7", "sections 13.2 and 13.7",
         "§ 13.7", "chapter 13", "Table 1", "figure 2", "exercise 3", "GPU 0", "GPU #0", "GPU 0 or 1", "GPU 0 to 3", "Act 2, 3 and 6", "steps 1 through 4", "acts 2 & 6", "step 3 of Act 6", "rank 3", "worker 1", "chunk 2", "from GPU 0 to GPU 3", "GPUs 0 and 1", "layers 1 to 3",
         "epoch 12", "lab 2", "Figure 3a", "Fig. 3", "p. 12", "server 8", "level 2"),
        ("Act 600", "act 12", "step 17", f"step 7 of {QUOTE}", "Act 6 ms", "act of 6", "step 600", "step 2 ms", "In step 3, 60", "steps 1 and 2, 60", "steps 4", "section 13.7 ms", "table 160", "section of 13", "GPU 0 ms",
         "each GPU 4", "every worker 5", "per rank 2", "worker 3 tasks", "GPUs 3", "the figure 12", "a step 4", "in step 4 chunks", "in act 3 small bars", "of layer 2 copies",
         "to worker 3 times")),
    "a version": (("PyTorch 2.11", "Python 3.11", "CUDA 12", "version 1.6.1", "NumPy 2", "cuDNN 8", "Ubuntu 22.04", "gcc 11", "Llama 2", "Llama 3.1 70B", "NVLink 3", "ROCm 6.1", "TPU v4", "HTTP/2", "compute capability 8.0"),
                  ("PyTorch 28 ms", "CUDA 8 tasks", "Python 2 times", "Pythons 2", "NVLink 4 ms", "with Python 3 machines")),
    "a name: capitals and digits in one word": (
        ("V100", "V100s", "A100-SXM", "H100", "T4", "K80", "MI300X", "RTX 4090", "FP32", "BF16", "TF32", "VGG16", "DDR5", "GDDR6X", "HBM2e", "L2", "M1", "p3.16xlarge"),
        ("V100 ms", "100", "About60", "v60", "L2 ms", "FP32 ms", "takes60", "float 32")),
    "a name: a word and digits with a hyphen": (("ResNet-50", "GPT-2", "CIFAR-10", "ZeRO-3", "DGX-1", "COVID-19", "DDR4-3200", "UTF-8", "SHA-256", "top-5", "GPT-4o", "GPT-3.5", "ImageNet-21k"),
                                               ("ResNet-50 ms", "under-60", "sub-10 ms", "-60", "GPT-20000", "factor-8", "Batch-256")),
    "the name of a number format": (("int8", "uint8", "float64", "bfloat16", "fp16", "bf16", "32-bit", "4-bit"), ("int9", "33-bit", "32-bits", "256-bit", "int8 ms")),
    "the name of a link or a port": (("PCIe 4.0", "PCIe 3.0 ×16", "PCIe 4.0 x8", "PCIe Gen5", "10 GbE", "port 8000"), ("PCIe 4.0 GB/s", "PCIe 60", "10 Gb")),
    "the name of an instruction set": (("x86", "x86-64", "x86_64", "arm64"), ("x87", "x86 ms")),
    "an option of a command": (("-O3", "--fp16"), ("-3", "-O3 ms", "a -60")),
    "the name of a licence": (("CC BY-SA 4.0", "CC BY 4.0", "CC BY-NC-SA 4.0", "GPL v3"), ("CC 4.0", "CC BY-SA 4.0 ms")),
    "the name of a standard or a paper": (("IEEE 754", "ISO 8601", "C++17", "PEP 8", "arXiv 1706.02677"), ("IEEE 75", "IEEE 754 ms", "arXiv 17")),
    "where something is counted from, or a part of all": (("0-based", "p99", "p99.9", "between 0 and 1"), ("2-based", "p60", "p99 ms", "between 0 and 10")),
    "the year of a citation": (("Li et al. (2017)", "Li et al., 2017", "et al. 2014a", "Smith and Jones (2018)"), ("(2017)", "et al. 60", "et al. 2017 ms")),
    "the name of a schedule": (("1F1B",), ("1F1B ms", "1F", "2F2B 3")),
    "a section of the book": (("Dive into Deep Learning 13.7",), ("Dive into Deep Learning 13.7 ms", "Dive into Deep Learning 13", "Deep Learning 13.7")),
    "the status of a missing page": (("404 - Not found", "error 404"), ("404", "404 tasks", "takes 404")),
    "a number of dimensions, as a name": (("2D", "3-D"), ("4D", "2D ms")),
    "a shape": (("3×3", "224x224", "3x224x224"), ("3×3 ms", "3×3 tiles", "2×8 server", "3×10⁶", "3×10^6", "3.5×3", "×3")),
    "an ordinal: which one, not how many": (("1st", "2nd", "3rd", "4th", "11th", "21st"), ("every 4th", "a 4th", "the 4th of them", "1th", "100th")),
    "a name or a turn of phrase": (("half precision", "double-buffered", "More often than not", "more than once", "The fastest way to learn", "next quarter", "the third quarter", "The second half of"),
                                   ("half the precision", "double the buffers", "more than four", "the fastest way", "a quarter", "half of")),
}  # fmt: skip


def test_every_exemption_has_its_reason_and_examples() -> None:
    assert sorted(EXEMPT) == sorted(reason for _, reason in naked.EXEMPT)


@pytest.mark.parametrize("reason", EXEMPT)
def test_an_exemption_frees_names_and_no_results(reason: str) -> None:
    names, results = EXEMPT[reason]
    assert [name for name in names if found(f"On {name} it is.")] == []
    assert [result for result in results if not found(f"On {result} it is.")] == []


@pytest.mark.parametrize("reason", EXEMPT)
@pytest.mark.parametrize("unit", [u for u in UNITS if len(u) > 1])
def test_no_name_hides_a_value_with_a_unit(reason: str, unit: str) -> None:
    for name in EXEMPT[reason][0]:
        if re.search(r"[\d.]$", name):
            assert found(f"On {name} {unit} it is.") != []


@steady
@given(
    st.integers(0, 10**7),
    st.integers(0, 3),
    st.sampled_from(["", " ", "\u00a0", "-"]),
    st.sampled_from([*UNITS, ""]),
    st.sampled_from(["It takes {}.", "({})", "{}, and", "“{}”", "—{}—", "a/{}/b", "{}: x", "{}!"]),
)
def test_every_numeral_is_found_wherever_it_stands(whole: int, places: int, gap: str, unit: str, frame: str) -> None:
    text = f"{whole:,}" + (f".{'7' * places}" if places else "")
    shown = text + (gap + unit if unit else "")
    finding = next(iter(naked.findings(frame.format(shown))))
    assert finding.start == frame.index("{}")
    assert finding.text.startswith(text)


@steady
@given(st.text(max_size=60))
def test_any_text_is_read_without_failing(text: str) -> None:
    for finding in naked.findings(text):
        assert 0 <= finding.start < finding.end <= len(text)
    naked.in_code(text)
    naked.in_formula(text)


@steady
@given(st.text(st.characters(categories=["Nd"]), min_size=1, max_size=6))
def test_digits_of_any_script_are_digits(digits: str) -> None:
    assert found(f"It takes {digits} ms.") != []


def test_a_line_may_be_wrapped_and_indented_anywhere() -> None:
    text = "It is faster\n    by far\n      than all\n\t four\n    GPUs, in step\n    3; 60\n    ms."
    assert [(f.text, text[f.start : f.end]) for f in naked.findings(text)] == [
        ("faster by far than", "faster\n    by far\n      than"), ("four GPUs", "four\n    GPUs"), ("60 ms", "60\n    ms"),
    ]  # fmt: skip


def test_a_stop_parts_words() -> None:
    assert found(f"all of it is faster{STOP}than ever") == []
    assert found(f"the number is four{STOP}GPUs wait") == ["four"]


@pytest.mark.parametrize(("tex", "number"), [
    ("2\\,(n-1)\\,S/B", ""), ("2S/B", ""), ("t_1 + n\\,t_2 + t_3", ""), ("(n-1)/n", ""), ("\\min(t_1, t_2)", ""), ("t_2 \\ge t_1", ""), ("e^{-1}", ""), ("e^{{-1}}", ""),
    ("O(n^2)", ""), ("2^{n-1}", ""), ("\\frac{S}{2}", ""), ("T = 2\\,n\\,S/B", ""), ("n \\ge 1", ""), ("n > 0", ""), ("\\sum_{i=1}^{n} t_i", ""), ("2\\,m\\,S/B", ""), ("2k", ""),
    ("\\text{if } n > k", ""), ("x_{ij}", ""), ("60", "60"), ("n = 8", "8"), ("n = 2", "2"), ("n \\approx 2", "2"), ("T > 2", "2"), ("0.5\\,n", "0.5"), ("3n", "3"), ("60\\,\\mathrm{ms}", "60\\,\\mathrm{ms}"),
    ("60~\\text{ms}", "60~\\text{ms}"), ("60\\%", "60\\%"), ("x^{60}", "60"), ("^{60}", "60"), ("x_{60}", ""), ("x_{600}", "600"), ("x_{6.5}", "6.5"), ("i = 0, 1, \\dots, n-1", ""), ("i = 1, 2, \\ldots, n", ""), ("i = 0, 60", "0"), ("t = 60", "60"), ("10^{15}", "15"), ("\\frac{1}{2}", "1"), ("\\frac12", "12"),
    ("6\\,0\\,n", "60"), ("6{0}n", "60"), ("\\text{sixty ms}", "sixty ms"), ("\\text{twice}", "twice"), ("\\mathrm{60}", "60"), ("1.5", "1.5"), ("６０", "60"), ("S = 160\\,\\text{MB}", "160\\,\\text{MB}"),
])  # fmt: skip
def test_formulas(tex: str, number: str) -> None:
    assert naked.in_formula(tex) == number


@pytest.mark.parametrize(("code", "result"), [
    ("60 ms", True), ("60ms", True), ("60", True), ("60 s", True), ("8 GPUs", True), ("4x", True), ("60k", True), ("60 million", True), ("twice", True), ("sixty ms", True), ("half", False), ("double", False), ("x2", False), ("x.half()", False), ("i < 8", False), ("a[1:4]", False), ("rank 0", False), ("-1", True), ("28, 56", True), ("10–20 ms", True), ("≈ 60 ms", True), ("t = 60 ms", True), ("0.5 GB/s per GPU", True),
    ("#!python 60", True), (":::python 60", True), ("６０", True), ("torch.ones(2)", False), ("z = x * y + 2", False), ("[[1,2]]", False), ("x[0]", False), ("range(10)", False), ("FP32", False), ("V100", False), ("x.view(-1, 2)", False),
    ("make FULL=1", False), ("", False), ("n", False), ("python3", False), ("2 * sync.one_gpu", False), ("__init__", False), ("0x10", False), ("1e5", False), ("1E5", False), ("60 %", True), ("for i in range(3)", False),
])  # fmt: skip
def test_inline_code(code: str, result: bool) -> None:
    assert naked.in_code(code) is result


@pytest.mark.parametrize(("words", "word"), [
    ("is faster than", "faster"), ("are slower, in fact, than", "slower"), ("is equal", "equal"), ("are equal to", "equal to"), ("Lower than", "lower"), ("heavier than", "more"),
])  # fmt: skip
def test_a_comparison_is_proposed_in_a_word_that_can_be_bound(words: str, word: str) -> None:
    assert naked.relation(words) == word


def test_a_cure_names_the_macro_that_fits() -> None:
    [number, comparison] = naked.findings("60 ms, faster than that")
    assert (
        naked.cure(number, ["sync.one_gpu"])
        == 'bind it: [= q("60 ms", sync.one_gpu) =], or say why not: [= plain("60 ms", why="…") =]'
    )
    assert naked.cure(number, macro="qt").startswith('bind it: [= qt("60 ms", name) =]')
    assert naked.cure(comparison).startswith('bind it: [= rel("faster", first, second) =]')


def test_every_fourth_is_a_number() -> None:
    """ "Every second" may be a time, and stays free."""
    assert [f.text for f in naked.findings("A barrier after every fourth task.")] == ["every fourth"]
    assert naked.findings("It ticks every second.") == ()


@pytest.mark.parametrize(("text", "rule"), [
    (f"{QUOTE} ms", naked.AFTER), (f"{QUOTE}ms", naked.AFTER), (f"{QUOTE} %", naked.AFTER), (f"{QUOTE} percent", naked.AFTER), (f"{QUOTE} × faster", naked.AFTER),
    (f"{QUOTE}×", naked.AFTER), (f"{QUOTE} times faster", naked.AFTER), (f"{QUOTE} times as long", naked.AFTER), (f"{QUOTE}/s", naked.AFTER), (f"{QUOTE} per second", naked.AFTER),
    (f"{QUOTE}-megabyte", naked.AFTER), (f"{QUOTE}-fold", naked.AFTER), (f"{QUOTE} thousand", naked.AFTER), (f"{QUOTE} GB/s", naked.AFTER), (f"{QUOTE} milliseconds", naked.AFTER),
    (f"−{QUOTE}", naked.SIGN), (f"is -{QUOTE}", naked.SIGN), (f"(−{QUOTE})", naked.SIGN), (f"is minus {QUOTE}", naked.SIGN), (f"+{QUOTE}", naked.SIGN),
    *((f"It is {word} {QUOTE}.", naked.BEFORE) for word in (*COMPARISONS, "nearly", "almost")),
    (f"<{QUOTE}", naked.BEFORE), (f"under about {QUOTE}", naked.BEFORE), (f"over the {QUOTE}", naked.BEFORE),
    (f"under\n    {QUOTE}", naked.BEFORE), (f"{QUOTE}\n    ms", naked.AFTER), (f"{QUOTE} or more GPUs", naked.TOO_LATE),
    (f"{QUOTE} or more", naked.TOO_LATE), (f"{QUOTE} (or less)", naked.TOO_LATE), (f"{QUOTE} at most", naked.TOO_LATE), (f"{QUOTE}+ of them", naked.TOO_LATE), (f"{QUOTE} and up", naked.TOO_LATE),
    (f"is not {RELATION} than", naked.NEGATED), (f"is never {RELATION}", naked.NEGATED), (f"no {RELATION} than", naked.NEGATED), (f"isn't {RELATION}", naked.NEGATED),
    (f"isn’t any {RELATION}", naked.NEGATED), (f"does not get much {RELATION}", naked.NEGATED), (f"neither {RELATION} nor", naked.NEGATED),
    ("takes exactly the same time as that", "a comparison"), ("at the same speed as that", "a comparison"), ("in the same amount of time as that", "a comparison"),
    ("has the very same size as", "a comparison"), ("the same number of links as", "a comparison"),
])  # fmt: skip
def test_what_stands_at_a_call_and_changes_it(text: str, rule: str) -> None:
    assert [f.rule for f in naked.findings(text)] == [rule]


@pytest.mark.parametrize("text", [
    f"{QUOTE} GPUs wait", f"{QUOTE} per step", f"{QUOTE} of memory", f"{QUOTE} times a minute", f"{QUOTE} × {QUOTE}", f"{QUOTE}–{QUOTE}", f"{QUOTE} − {QUOTE}", f"{QUOTE} minus {QUOTE}",
    f"n = {QUOTE}", f"about {QUOTE}", f"only {QUOTE}", f"some {QUOTE}", f"across {QUOTE} servers", f"until {QUOTE}", f"lists range over {QUOTE}", f"so: {QUOTE}", f"—{QUOTE}—",
    f"{QUOTE} or {QUOTE}", f"{QUOTE} and a queue", f"{QUOTE} as fast", f"not {QUOTE}", f"not only {RELATION} than that", f"It waits, not asks, and is {RELATION}", f"{QUOTE}, more or less",
    f"a -> {QUOTE}", f"{QUOTE} and over the years", f"{QUOTE} and up to here", f"{QUOTE} per minute", f"No hardware changed, and it is {RELATION}", f"It is not clear that it is {RELATION}",
    "at the same time as that", "the same way as before", "the same code as on one GPU", "the same time scale as above",
])  # fmt: skip
def test_what_stands_at_a_call_and_leaves_it_alone(text: str) -> None:
    assert naked.findings(text) == ()


@pytest.mark.parametrize(("text", "quote", "says"), [
    (f"{QUOTE} ms", "8", 'q("8 ms", a.b)'), (f"{QUOTE} %", "8", 'q("8 %", a.b)'), (f"{QUOTE} percent", "8", 'q("8 percent", a.b)'), (f"{QUOTE} × faster", "8", 'q("8 ×", a.b)'),
    (f"{QUOTE} times faster", "8", 'q("8 times", a.b)'), (f"{QUOTE}/s", "160 MB", 'q("160 MB/s", a.b)'), (f"{QUOTE} per second", "160 MB", 'q("160 MB/s", a.b)'),
    (f"−{QUOTE}", "60 ms", 'q("−60 ms", a.b)'), (f"is minus {QUOTE}", "60 ms", 'q("−60 ms", a.b)'), (f"under {QUOTE}", "60 ms", 'q("under 60 ms", name)'), (f"under about {QUOTE}", "60 ms", 'q("under 60 ms", name)'),
    (f"{QUOTE} or more", "60 ms", 'q("at least 60 ms", a.b)'), (f"{QUOTE} or less", "60 ms", 'q("at most 60 ms", a.b)'), (f"{QUOTE} ms", "60 ms", "must hold it"), (f"nearly {QUOTE}", "60 ms", 'q("under 60 ms"'),
    (f"not {RELATION}", "", "say what does hold"),
])  # fmt: skip
def test_what_stands_at_a_call_goes_into_it(text: str, quote: str, says: str) -> None:
    [finding] = naked.findings(text)
    assert says in naked.cure(finding, ["a.b"], quote=quote)


@pytest.mark.parametrize("text", [
    "Rank 0 prints", "Layer 1 feeds layer 2", "GPU 0 sums, GPU 1 waits", "Step 4 moves a chunk", "in step 4 the chunks move", "In Act 2 you met it", "See step 3: chunks move", "On GPU 0 it waits",
    "Give GPU 0 a gradient of ones, GPU 1 twos, and so on.",
])  # fmt: skip
def test_a_label_before_a_verb(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize("text", [
    "In every step 4 chunks move.", "In the figure 12 bars show it.", "Per act 3 figures are shown.", "In step 4 chunks move.", "Each step 4 tasks wait.", "They give worker 3 tasks.",
    "With CUDA 8 kernels run.", "On every GPU 2 big layers fit.",
])  # fmt: skip
def test_a_count_after_a_word_that_could_be_labelled(text: str) -> None:
    assert len(found(text)) == 1


@pytest.mark.parametrize(("text", "call"), [
    ("eight tasks", '[= q("eight", name) =] tasks'), ("two busy GPUs", '[= q("two", name) =] busy GPUs'), ("doubles", 'q("twice", name)'), ("doubled", 'q("twice", name)'),
    ("halving", 'q("half", name)'), ("a fifth of", '[= q("a fifth", name) =] of'), ("an order of magnitude", 'q("an order of magnitude", name)'), ("orders of magnitude", 'q("two orders of magnitude", name)'),
    ("hundreds of milliseconds", 'q("60 ms", name)'), ("a quarter", 'q("a quarter", name)'), ("one-third", '[= q("one third", name) =],'), ("three quarters", 'q("three quarters", name)'), ("one part in a million", 'q("one part in a million", name)'),
    ("as quick as", 'rel("as fast as", first, second)'), ("are equal", 'rel("equal", first, second)'), ("heavier than", 'rel("more", first, second)'), ("as large as", 'rel("the same", first, second)'),
    ("fewer links in use than", 'rel("fewer", first, second)'), ("10–20 ms", 'q("10–20 ms", first, second)'), ("4 May 2024", 'plain("4 May 2024", why="a date")'), ("2017", 'plain("2017", why="a year")'),
])  # fmt: skip
def test_a_cure_can_be_pasted(text: str, call: str) -> None:
    [finding] = naked.findings(text)
    assert call in naked.cure(finding)


def test_where_html_cannot_go_what_no_quote_holds_belongs_in_the_text() -> None:
    for text in ("faster than that", "4 May 2024", "doubled"):
        assert naked.cure(naked.findings(text)[0], macro="qt") == naked.IN_THE_TEXT
    assert "plain" not in naked.cure(naked.findings("60 ms")[0], macro="qt")


WHY = ', or say why not: [= plain("{}", why="…") =]'
INSIDE = "put it inside: [= q({}) =]"
BOUNDING = 'put it inside, with the number that it bounds: [= q("{}", name) =]; where it bounds none, take another word'
MUST = 'the words in the quotes of the call must hold it, such as q("60 ms", sync.one_gpu)'
A_SIDE = 'say on which side it lies, with the number that it bounds: [= q("under 60 ms", sync.one_gpu) =]'


@pytest.mark.parametrize(("text", "names", "cure"), [
    ("60 ms", ["a.b", "a.c"], 'bind it: [= q("60 ms", a.b) =]' + WHY.format("60 ms")), ("60 ms", [], 'bind it: [= q("60 ms", name) =]' + WHY.format("60 ms")),
    ("eight tasks", [], 'bind it: [= q("eight", name) =] tasks' + WHY.format("eight tasks")), ("one-third", [], 'bind it: [= q("one third", name) =]' + WHY.format("one-third")),
    ("two busy GPUs", ["a.b"], 'bind it: [= q("two", a.b) =] busy GPUs' + WHY.format("two busy GPUs")), ("60-millisecond", [], 'bind it: [= q("60-millisecond", name) =]' + WHY.format("60-millisecond")),
    ("10–20 ms", ["a.b"], 'bind it: [= q("10–20 ms", first, second) =]' + WHY.format("10–20 ms")), ("2017", [], 'bind it: [= q("2017", name) =], or say why not: [= plain("2017", why="a year") =]'),
    ("1985", ["a.b"], 'bind it: [= q("1985", a.b) =]' + WHY.format("1985")), ("2100", [], 'bind it: [= q("2100", name) =]' + WHY.format("2100")), ("4 May 2024", [], 'say that it is one: [= plain("4 May 2024", why="a date") =]'),
    ("doubled", [], 'say it in words that a call can hold, such as [= q("twice", name) =]' + WHY.format("doubled")), ("tripling", [], 'say it in words that a call can hold, such as [= q("three times", name) =]' + WHY.format("tripling")),
    ("Quadrupled", [], 'say it in words that a call can hold, such as [= q("four times", name) =]' + WHY.format("Quadrupled")), ("halved", [], 'say it in words that a call can hold, such as [= q("half", name) =]' + WHY.format("halved")),
    ("quarters", [], 'say it in words that a call can hold, such as [= q("a quarter", name) =]' + WHY.format("quarters")),
    ("hundreds of bytes", [], 'say it in words that a call can hold, such as [= q("60 ms", name) =]' + WHY.format("hundreds of bytes")),
    ("as quick as", [], 'bind it: [= rel("as fast as", first, second) =]' + WHY.format("as quick as")), ("as quickly as", [], 'bind it: [= rel("as fast as", first, second) =]' + WHY.format("as quickly as")),
    ("as fast as", [], 'bind it: [= rel("as fast as", first, second) =]' + WHY.format("as fast as")), ("as slow as", [], 'bind it: [= rel("as slow as", first, second) =]' + WHY.format("as slow as")),
    ("as slowly as", [], 'bind it: [= rel("as slow as", first, second) =]' + WHY.format("as slowly as")), ("just as long as", [], 'bind it: [= rel("as long as", first, second) =]' + WHY.format("as long as")),
    ("as much work as", [], 'bind it: [= rel("as much as", first, second) =]' + WHY.format("as much work as")), ("As many links as", [], 'bind it: [= rel("as many as", first, second) =]' + WHY.format("As many links as")),
    ("as large as", [], 'bind it: [= rel("the same", first, second) =]' + WHY.format("as large as")), ("has the same size as", [], 'bind it: [= rel("the same", first, second) =]' + WHY.format("the same size as")),
    ("Faster by far than", [], 'bind it: [= rel("faster", first, second) =]' + WHY.format("Faster by far than")), ("higher, than", [], 'bind it: [= rel("higher", first, second) =]' + WHY.format("higher, than")),
    ("heavier than", [], 'bind it: [= rel("more", first, second) =]' + WHY.format("heavier than")), ("is equal to", [], 'bind it: [= rel("equal to", first, second) =]' + WHY.format("is equal to")),
    ("are equal", [], 'bind it: [= rel("equal", first, second) =]' + WHY.format("are equal")), ("the Slowest", [], 'bind it: [= rel("slowest", first, second) =]' + WHY.format("Slowest")),
])  # fmt: skip
def test_a_cure_is_a_call_to_paste_and_a_way_out(text: str, names: list[str], cure: str) -> None:
    [finding] = naked.findings(text)
    assert naked.cure(finding, names) == cure


@pytest.mark.parametrize(("text", "quote", "cure"), [
    (f"{QUOTE} ms", "8", INSIDE.format('"8 ms", a.b')), (f"{QUOTE}ms", "8", INSIDE.format('"8ms", a.b')), (f"{QUOTE}-megabyte", "8", INSIDE.format('"8-megabyte", a.b')),
    (f"{QUOTE} × faster", "8", INSIDE.format('"8 ×", a.b')), (f"{QUOTE} times as long", "8", INSIDE.format('"8 times", a.b')), (f"{QUOTE} per second", "160 MB", INSIDE.format('"160 MB/s", a.b')),
    (f"{QUOTE} per seconds", "160 MB", INSIDE.format('"160 MB/s", a.b')), (f"−{QUOTE}", "60 ms", INSIDE.format('"−60 ms", a.b')), (f"is minus {QUOTE}", "60 ms", INSIDE.format('"−60 ms", a.b')),
    (f"is +{QUOTE}", "60 ms", INSIDE.format('"+60 ms", a.b')), (f"negative {QUOTE}", "60 ms", INSIDE.format('"−60 ms", a.b')),
    (f"under {QUOTE}", "60 ms", BOUNDING.format("under 60 ms")), (f"under about {QUOTE}", "60 ms", BOUNDING.format("under 60 ms")), (f"At most just {QUOTE}", "60 ms", BOUNDING.format("At most 60 ms")),
    (f"over the {QUOTE}", "60 ms", BOUNDING.format("over 60 ms")), (f"nearly {QUOTE}", "60 ms", A_SIDE), (f"Almost {QUOTE}", "60 ms", A_SIDE), (f"{QUOTE} ms", "60 ms", MUST), (f"{QUOTE} ms", "", MUST),
    (f"{QUOTE} or more", "60 ms", INSIDE.format('"at least 60 ms", a.b')), (f"{QUOTE} and up", "60 ms", INSIDE.format('"at least 60 ms", a.b')), (f"{QUOTE}+ of them", "60 ms", INSIDE.format('"at least 60 ms", a.b')),
    (f"{QUOTE} at least", "60 ms", INSIDE.format('"at least 60 ms", a.b')), (f"{QUOTE} or less", "60 ms", INSIDE.format('"at most 60 ms", a.b')), (f"{QUOTE} or fewer", "60", INSIDE.format('"at most 60", a.b')),
    (f"{QUOTE} and below", "60 ms", INSIDE.format('"at most 60 ms", a.b')), (f"{QUOTE} and under", "60 ms", INSIDE.format('"at most 60 ms", a.b')), (f"{QUOTE} or shorter", "60 ms", INSIDE.format('"at most 60 ms", a.b')),
    (f"{QUOTE} or smaller", "60 ms", INSIDE.format('"at most 60 ms", a.b')), (f"{QUOTE} or lower", "60 ms", INSIDE.format('"at most 60 ms", a.b')), (f"{QUOTE} at most", "60 ms", INSIDE.format('"at most 60 ms", a.b')),
    (f"never {RELATION}", "", "say what does hold, with the opposite word in the call"),
])  # fmt: skip
def test_what_stands_at_a_call_goes_into_it_as_it_was_meant(text: str, quote: str, cure: str) -> None:
    [finding] = naked.findings(text)
    assert naked.cure(finding, ["a.b"], quote=quote) == cure
    if "a.b" in cure:
        assert naked.cure(finding, ["a.b", "a.c"], quote=quote) == cure.replace("a.b", "a.b, a.c")
        assert naked.cure(finding, quote=quote) == cure.replace("a.b", "name")


def test_the_rules_come_out_the_same_when_they_are_made_again() -> None:
    spec = naked.__spec__
    assert spec is not None
    assert spec.loader is not None
    again = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(again)
    for rules in ("_RULES", "_EXEMPT"):
        assert [(p.pattern, why) for p, why in getattr(again, rules)] == [(p.pattern, why) for p, why in getattr(naked, rules)]
    for pattern in ("_NUMERAL", "_TEX_UNIT"):
        assert getattr(again, pattern).pattern == getattr(naked, pattern).pattern


@pytest.mark.parametrize(("text", "expected"), [
    ("It takes 60 ms.", [("60 ms", "60 ms", "a naked number")]), ("Ⅻ of them", [("Ⅻ", "Ⅻ", "a naked number")]), ("Ⅻ60", [("Ⅻ", "Ⅻ", "a naked number"), ("60", "60", "a naked number")]),
    ("60,  or\n 61.", [("60", "60", "a naked number"), ("61", "61", "a naked number")]), ("６０\u00a0ms", [("６０\u00a0ms", "60 ms", "a naked number")]),
    ("As long as it waits, as soon as it can, it is faster than that.", [("faster than", "faster than", "a comparison")]),
    ("On a V100 it takes twice the time of an A100, or 3 s.", [("twice", "twice", "a multiple in words"), ("3 s", "3 s", "a naked number")]),
    (f"{QUOTE} ms", [(f"{QUOTE} ms", "… ms", "a unit after a quote")]), (f"under {QUOTE}", [(f"under {QUOTE}", "under …", "a bound before a quote")]),
    (f"is not {RELATION}", [(f"not {RELATION}", "not …", "a relation turned around")]), ("four GPUs", [("four GPUs", "four GPUs", "a number in words before something the model counts")]),
    ("2024-05-01", [("2024-05-01", "2024-05-01", "a date")]), ("the fastest", [("fastest", "fastest", "a comparison of all")]), ("two ms", [("two ms", "two ms", "a number in words before a unit")]),
])  # fmt: skip
def test_a_finding_says_where_and_what_and_why(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert [(text[f.start : f.end], f.text, f.rule) for f in naked.findings(text)] == expected


def test_ascii_stays_and_every_other_character_keeps_its_place() -> None:
    assert naked.plain_characters("a\tb\n ½ é６\u00a0²①ﬁ μ") == "a\tb\n ½ é6 ²①ﬁ µ"
    assert naked.plain_characters("a\t60") == "a\t60"


@pytest.mark.parametrize(("tex", "number"), [
    ("n = 2^{1}", "2"), ("\\Rightarrow 2", "2"), ("2 \\text{ or more}", "2"), ("T \\ge 2", "2"), ("T \\leq 2", "2"), ("T \\lt 2", "2"), ("T \\simeq 2", "2"), ("n = 2 \\quad m = k", "2"), ("n = 2 \\qquad m", "2"),
    ("n = 2 \\\\ m = k", "2"), ("n = 2 \\quadB m", ""), ("i = 0, 1, \\dotsB", "0"), ("k = 2 = 0, 1, \\dots, n", "2"), ("\\left(n = 2\\right)", "2"), ("\\Big(n = 2\\Big)", "2"), ("n \\ge 1, m = 8", "8"),
    ("n \\ge 0", ""), ("n \\le 1", ""), ("1 \\ge 1", "1"), ("n = -1", "1"), ("n \\ge 1 m", ""), ("x^{2.5}", "2.5"), ("x^{12}", "12"), ("x_{1,2}", "1,2"), ("x^2", ""), ("x_\\alpha", ""), ("2 n = m", ""),
    # a letter with a name is a symbol; a sign between two numbers parts them
    ("2\\alpha", ""), ("2\\,\\sigma^2", ""), ("T = 2\\alpha", ""), ("\\alpha = 2", "2"), ("2\\alphaB", "2"), ("2\\cdot\\ell", ""), ("2\\infty", "2"), ("1\\cdot 2", "1"), ("1\\cdot 2 n", ""), ("3\\cdot 2 n", "3"),
    # a side without a symbol is a result, however it is written, and on whichever side it stands
    ("n = 1 \\cdot 2", "1"), ("n = 1 + 2", "1"), ("t = \\frac{1}{2}", "1"), ("n = 2, m = k", "2"), ("n = 2; m", "2"), ("n = 2. So", "2"), ("n &= 2 & k", "2"), ("2 = n", "2"), ("2 \\le n", "2"), ("n = \\max(1, 2)", "1"), ("f(n = 2, m)", "2"), ("f(m, n = 2)", "2"),
    ("m(n = 2", "2"), ("2(n = k", ""), ("60(n = k", "60"), ("n = (2)", "2"), ("n = ((1) + 1)", "1"), ("n = 2 + () + 1", "2"), ("k = m = 2", "2"), ("k = 2 = m", "2"), ("n \\ge 1 = k", "1"), ("n \\ge 1 + 1", "1"), ("n \\ge \\frac{1}{1}", "1"), ("[n = 2)", "2"),
    ("n = 2^k", ""), ("n = 2^{k-1}", ""), ("n = 2^\\alpha", ""), ("n = 2_\\infty", "2"), ("n = \\max(m, 2)", ""), ("n = 2(m = k)", ""), ("n = 2(m, 1)", ""), ("1 \\le i \\le n", ""), ("0 \\le i < n", ""), ("n \\ge {1}", ""), ("i_1,i_2", ""), ("n ) = m", ""), ("N = 2^K", ""), ("N = 2M", ""), ("N = 2(M, 1)", ""), ("n = 2X", ""), ("2X", ""), ("n = 2(X)", ""), ("n ≈ 1", "1"),
])  # fmt: skip
def test_structure_and_results_of_a_formula(tex: str, number: str) -> None:
    assert naked.in_formula(tex) == number


def test_a_formula_of_many_digits_is_read_at_once() -> None:
    digits = "6" * 20_000
    began = time.process_time()
    assert naked.in_formula(digits) == digits
    assert time.process_time() - began < 2  # a search from every digit to the end of them takes minutes
