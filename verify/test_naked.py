"""What is found in plain text, and what is left alone. Markdown is the business of test_scan, planted faults of test_audit."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macros import naked
from macros.prose import PLAIN, QUOTE, RELATION, STOP
from perfmodel.units import UNITS

steady = settings(derandomize=True, deadline=None, max_examples=300)


def found(text: str) -> list[str]:
    return [finding.text for finding in naked.findings(text)]


@pytest.mark.parametrize(("text", "expected"), [
    ("It takes 60 ms.", ["60 ms"]), ("It takes 60.", ["60"]), ("60, 61 and 62", ["60", "61", "62"]), ("1,234.5 GB/s", ["1,234.5 GB/s"]), ("−3 ms", ["−3 ms"]),
    ("60-millisecond wait", ["60-millisecond"]), ("2.00× as fast", ["2.00×"]), ("×2", ["×2"]), ("25 %", ["25 %"]), ("½ of it", ["½"]), ("1½ of it", ["1½"]),
    ("⅚ of it", ["⅚"]), ("10⁻¹⁵", ["10⁻¹⁵"]), ("3×10⁻¹⁵", ["3×10⁻¹⁵"]), ("10^-15", ["10^-15"]), ("6\u00a0ms", ["6 ms"]), ("６０ ms", ["60 ms"]),
    ("Ⅻ of them", ["Ⅻ"]), ("③ of them", ["③"]), ("四 of them", ["四"]), ("⁶⁰ of them", ["⁶⁰"]), ("the 4th", ["4"]), ("x86 and 60", ["60"]), ("v60", ["60"]),
    ("60ms", ["60ms"]), ("5 Mb", ["5 Mb"]), ("28 ticks", ["28 ticks"]), ("100 MB/s", ["100 MB/s"]), ("3 years", ["3 years"]), ("10 gigabytes per second", ["10 gigabytes per second"]),
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
    "", "It takes a while.", "Three labs, two ways, five acts and four small questions.", "the two, all three, both, one of them", "one GPU, a single GPU, no GPU",
    "As long as compute keeps up, as soon as it starts, as far as it goes, as well as that.", "as many as you like, as often as possible, as fast as possible, as needed",
    "easier than that, nicer than this, rather than wait, other than that", "the same sum, the same way, the same as before", "equally good, unequal, an equaliser",
    "Every GPU takes part in the sum.", "It parts in two directions.", "a second GPU, the first and the third step", "once, at once, alone, often, oftener",
    "tenth, tense, often, weighty, none, someone, stone, done", "double precision, half-precision, half-duplex, full-duplex, double-buffered, Double-click",
    "n², t₁, xⁿ and m³", "an hour hand, the minutes", f"{QUOTE} as fast", f"{QUOTE} as long as sharded", f"{RELATION} than that", "more or less", "no more, no less",
    "faster, slower, more, fewer", "a shorter way", "at the latest",
])  # fmt: skip
def test_what_claims_no_number(text: str) -> None:
    assert found(text) == []


# One example at least of each exemption, and what must not pass under it.
EXEMPT: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "the name of an accelerator": (("V100", "V100s", "A100-SXM", "H100", "T4", "K80", "MI300X", "RTX 4090"), ("V100 ms", "Q100", "V1000", "100")),
    "the name of a number format": (("FP32", "BF16", "TF32", "int8", "uint8", "float64", "bfloat16", "FP8"), ("FP60", "float 32", "FP32 ms")),
    "the name of a network or a data set": (("ResNet-50", "VGG16", "GPT-2", "CIFAR-10"), ("ResNet-50 ms", "Net-50")),
    "the name of a link or a memory": (("PCIe 4.0", "PCIe 3.0 ×16", "PCIe 4.0 x8", "PCIe Gen5", "NVLink 3", "10 GbE", "DDR5", "GDDR6X", "HBM2e"), ("PCIe 4.0 GB/s", "PCIe 60", "NVLink 6", "NVLink 4 ms", "10 Gb")),
    "the name of a cache": (("L1", "L2", "L3"), ("L4", "L2 ms")),
    "the name of an instruction set": (("x86", "x86-64", "arm64"), ("x87", "x86 ms")),
    "the name of a licence": (("CC BY-SA 4.0", "CC BY 4.0", "CC BY-NC-SA 4.0", "GPL v3"), ("CC 4.0", "CC BY-SA 4.0 ms")),
    "a version": (("PyTorch 2.11", "Python 3.11", "CUDA 12", "version 1.6.1", "NumPy 2"), ("PyTorch 28 ms", "CUDA 8 tasks", "Python 2 times", "TensorFlow 2")),
    "the number of an act": (("Act 6", "act 2", "Acts 2 and 6", "acts 1–6", "acts 1, 2 and 3"), ("Act 600", "Act 6 ms", "act of 6")),
    "the number of a step": (("step 2", "Steps 1 and 2", "steps 1, 2 and 3", "steps 2–4"), ("step 600", "step 2 ms", "In step 3, 60", "steps 1 and 2, 60")),
    "a place in a book or paper": (("section 13.7", "Section 13.2 and 13.7", "§ 13.7", "chapter 13", "Table 1", "figure 2", "exercise 3"), ("section 13.7 ms", "table 160", "section of 13")),
    "an index: which one, not how many": (("GPU 0", "rank 3", "worker 1", "chunk 2", "from GPU 0 to GPU 3"), ("GPU 0 ms", "each GPU 4", "every worker 5", "per rank 2", "worker 3 tasks", "GPU 12", "GPUs 3")),
    "the name of a standard": (("IEEE 754", "UTF-8", "SHA-256", "ISO 8601"), ("IEEE 75", "UTF-9", "IEEE 754 ms")),
    "the status of a missing page": (("404 - Not found", "error 404"), ("404", "404 tasks", "takes 404")),
    "a number of dimensions, as a name": (("2D", "3-D"), ("4D", "2D ms")),
    "a name or a turn of phrase": (("half precision", "double-buffered"), ("half the precision", "double the buffers")),
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


def test_a_stop_parts_words() -> None:
    assert found(f"all of it is faster{STOP}than ever") == []
    assert found(f"the number is four{STOP}GPUs wait") == ["four"]


@pytest.mark.parametrize(("tex", "number"), [
    ("2\\,(n-1)\\,S/B", ""), ("2S/B", ""), ("t_1 + n\\,t_2 + t_3", ""), ("(n-1)/n", ""), ("\\min(t_1, t_2)", ""), ("t_2 \\ge t_1", ""), ("e^{-1}", ""), ("e^{{-1}}", ""),
    ("O(n^2)", ""), ("2^{n-1}", ""), ("\\frac{S}{2}", ""), ("T = 2\\,n\\,S/B", ""), ("n \\ge 1", ""), ("n > 0", ""), ("\\sum_{i=1}^{n} t_i", ""), ("2\\,m\\,S/B", ""), ("2k", ""),
    ("\\text{if } n > k", ""), ("x_{ij}", ""), ("60", "60"), ("n = 8", "8"), ("n = 2", "2"), ("n \\approx 2", "2"), ("T > 2", "2"), ("0.5\\,n", "0.5"), ("3n", "3"), ("60\\,\\mathrm{ms}", "60\\,\\mathrm{ms}"),
    ("60~\\text{ms}", "60~\\text{ms}"), ("60\\%", "60\\%"), ("x^{60}", "60"), ("^{60}", "60"), ("x_{60}", "60"), ("10^{15}", "10"), ("\\frac{1}{2}", "1"), ("\\frac12", "12"),
    ("6\\,0\\,n", "60"), ("6{0}n", "60"), ("\\text{sixty ms}", "sixty ms"), ("\\text{twice}", "twice"), ("\\mathrm{60}", "60"), ("1.5", "1.5"), ("６０", "60"), ("S = 160\\,\\text{MB}", "160\\,\\text{MB}"),
])  # fmt: skip
def test_formulas(tex: str, number: str) -> None:
    assert naked.in_formula(tex) == number


@pytest.mark.parametrize(("code", "result"), [
    ("60 ms", True), ("60ms", True), ("60", True), ("-1", True), ("28, 56", True), ("10–20 ms", True), ("≈ 60 ms", True), ("t = 60 ms", True), ("0.5 GB/s per GPU", True),
    ("#!python 60", True), (":::python 60", True), ("６０", True), ("torch.ones(2)", False), ("z = x * y + 2", False), ("[[1,2]]", False), ("x[0]", False), ("range(10)", False), ("FP32", False), ("V100", False), ("x.view(-1, 2)", False),
    ("make FULL=1", False), ("", False), ("n", False), ("python3", False), ("2 * sync.one_gpu", False), ("__init__", False), ("0x10", False), ("for i in range(3)", False),
])  # fmt: skip
def test_inline_code(code: str, result: bool) -> None:
    assert naked.in_code(code) is result


def test_a_cure_names_the_macro_that_fits() -> None:
    [number, comparison] = naked.findings("60 ms, faster than that")
    assert (
        naked.cure(number, "sync.one_gpu")
        == 'bind it: [= q("60 ms", sync.one_gpu) =], or say why not: [= plain("60 ms", why="…") =]'
    )
    assert naked.cure(number, macro="qt").startswith('bind it: [= qt("60 ms", name) =]')
    assert naked.cure(comparison).startswith('bind it: [= rel("faster", first, second) =]')


def test_every_fourth_is_a_number() -> None:
    """ "Every second" may be a time, and stays free."""
    assert [f.text for f in naked.findings("A barrier after every fourth task.")] == ["every fourth"]
    assert naked.findings("It ticks every second.") == []
