"""Act 1 · Two ways to run a program: a program small enough for the head, a small network, and one Python thread with several GPUs."""

from __future__ import annotations

from perfmodel import launch, program, splitting
from perfmodel.book.ledger import LEDGER
from perfmodel.hardware import GPU_MEMORY, move_s
from perfmodel.number import Number
from perfmodel.sources import D2L_HARDWARE, D2L_HYBRIDIZE, HERE
from perfmodel.units import US

_given, _model = LEDGER.given, LEDGER.model

# The program. Its numbers are entered once, and its text is written with them.
_a, _b, _c, _d = (
    _given(f"program.{name}", value, "", f"the argument {name} of fancy_func", D2L_HYBRIDIZE)
    for name, value in (("a", 1), ("b", 2), ("c", 3), ("d", 4))
)

_TEXT = """\
def add(a, b):
    return a + b

def fancy_func(a, b, c, d):
    e = add(a, b)
    f = add(c, d)
    g = add(e, f)
    return g

fancy_func({}, {}, {}, {})
"""
PROGRAM = _TEXT.format(*(number.value for number in (_a, _b, _c, _d)))
"""The program of the act, as a page shows it and as `perfmodel.program` reads it."""
LONGER = PROGRAM.replace("    return g\n", "    h = add(g, e)\n    return h\n")
"""The program of the act's first question: one line more."""


def _results(source: str) -> dict[str, float]:
    """What each statement of fancy_func assigns."""
    steps = program.trace(source)
    return {step.statement.partition(" = ")[0]: step.value for step in steps if " = " in step.statement}


_found, _longer_found = _results(PROGRAM), _results(LONGER)
_e = _model("program.e", _found["e"], "", "what the first addition gives", D2L_HYBRIDIZE, "a + b", a=_a, b=_b)
_f = _model("program.f", _found["f"], "", "what the second addition gives", D2L_HYBRIDIZE, "c + d", c=_c, d=_d)
_g = _model("program.g", _found["g"], "", "what the third addition gives, and the program", D2L_HYBRIDIZE, "e + f", e=_e, f=_f)
_model("program.folded", program.evaluate(program.fold(program.inline(PROGRAM))), "",
       "what is left of the program when a compiler has computed all it can", D2L_HYBRIDIZE, "(a + b) + (c + d)", a=_a, b=_b, c=_c, d=_d)  # fmt: skip
_model("longer.h", _longer_found["h"], "", "what the longer program computes", HERE, "g + e", g=_g, e=_e)

_COUNTS = (
    ("operations", "the operations that one execution computes"),
    ("calls", "the functions that one execution enters"),
    ("alive", "the most values alive at one moment"),
)
STAGES = {"as written": "written", "inlined": "inlined", "folded": "folded"}
"""The stages of `perfmodel.program`, and the names of their groups of numbers: `inlined.operations`, `inlined_longer.calls`, and so on."""

for _source, _suffix, _whose in ((PROGRAM, "", "the program"), (LONGER, "_longer", "the longer program")):
    for _stage in program.stages(_source):
        for (_name, _says), _value in zip(_COUNTS, (_stage.operations, _stage.calls, _stage.most_alive), strict=True):
            _model(f"{STAGES[_stage.name]}{_suffix}.{_name}", _value, "", f"{_says}, of {_whose} {_stage.name}", D2L_HYBRIDIZE)

_after_g = next(step for step in program.trace(PROGRAM) if step.statement.startswith("g = "))
_model("program.alive", len(_after_g.alive), "", "the values alive in fancy_func once g is made", D2L_HYBRIDIZE)
_model("program.held", sum(alive.why == "held" for alive in _after_g.alive), "",
       "those among them that nothing will read again", D2L_HYBRIDIZE)  # fmt: skip

# The network of step 3.
_in = _given("hybrid.inputs", 512, "", "the inputs of the network", D2L_HYBRIDIZE)
_wide = _given("hybrid.wide", 256, "", "the outputs of its first layer", D2L_HYBRIDIZE)
_narrow = _given("hybrid.narrow", 128, "", "the outputs of its second layer", D2L_HYBRIDIZE)
_out = _given("hybrid.outputs", 2, "", "the outputs of the network", D2L_HYBRIDIZE)
_element = _given("hybrid.element", 4, "B", "the bytes of a parameter in float32", HERE)
_relu = _given("hybrid.activations", 2, "", "the ReLU operations between its layers", D2L_HYBRIDIZE)

NETWORK = splitting.mlp(*(int(width.value) for width in (_in, _wide, _narrow, _out)))
"""The network of the act, layer by layer."""
_layers = _model("hybrid.layers", len(NETWORK), "", "its linear layers", D2L_HYBRIDIZE)
_names = (("first", _in, _wide), ("second", _wide, _narrow), ("third", _narrow, _out))
for _layer, (_name, _n, _m) in zip(NETWORK, _names, strict=True):
    _model(
        f"hybrid.{_name}",
        _layer.parameters,
        "",
        f"the weights and biases of its {_name} layer",
        D2L_HYBRIDIZE,
        "n*m + m",
        n=_n,
        m=_m,
    )
_parameters = _model("hybrid.parameters", splitting.parameters(NETWORK), "", "all weights and biases of the network", D2L_HYBRIDIZE,
                     "p1 + p2 + p3", p1=LEDGER["hybrid.first"], p2=LEDGER["hybrid.second"], p3=LEDGER["hybrid.third"])  # fmt: skip
_operations = _model("hybrid.operations", len(NETWORK) + int(_relu.value), "", "the operations of one pass through it", D2L_HYBRIDIZE,
                     "n + m", n=_layers, m=_relu)  # fmt: skip

# The bill of step 4: one Python thread, several GPUs.
_launch = _given("bill.launch", 10 * US, "µs", "what it costs a Python thread to launch one operation", D2L_HARDWARE)
_op = _given("bill.op", 20 * US, "µs", "how long the GPU computes one operation of the example", HERE)
_ops = _given("bill.ops", 4, "", "the operations that each GPU of the example computes", HERE)
_one = _given("bill.one", 1, "", "a single GPU", HERE)
_four = _given("bill.four", 4, "", "the GPUs of the example", HERE)
_eight = _given("bill.eight", 8, "", "the GPUs of a large server", HERE)
_memory = _given("bill.memory", GPU_MEMORY.bytes_per_s, "GB/s", "what the memory of a GPU moves", D2L_HARDWARE)


def _bound(name: str, gpus: Number) -> Number:
    value = launch.launch_bound_s(gpus=int(gpus.value), launch_s=_launch.value)
    says = f"the duration of an operation below which Python is the bottleneck, for {name} GPU{'s' if gpus.value > 1 else ''}"
    return _model(f"bill.bound_{name}", value, "µs", says, D2L_HYBRIDIZE, "k*L", k=gpus, L=_launch)


def _total(name: str, gpus: Number) -> Number:
    value = launch.python_bound_step_s(ops=int(_ops.value), gpus=int(gpus.value), launch_s=_launch.value, op_s=_op.value)
    says = f"when {name} GPU{'s have' if gpus.value > 1 else ' has'} computed the operations of the example"
    return _model(f"bill.total_{name}", value, "µs", says, D2L_HYBRIDIZE,
                  "k*L + (n-1)*max(k*L, t) + t", k=gpus, L=_launch, n=_ops, t=_op)  # fmt: skip


_bound("one", _one)
_bound_four, _bound_eight = _bound("four", _four), _bound("eight", _eight)
_total("one", _one)
_total("four", _four)
_model("bill.share", _op.value / _bound_four.value, "%", "the part of the time that each of the four GPUs computes, once all are fed",
       D2L_HYBRIDIZE, "t/(k*L)", t=_op, k=_four, L=_launch)  # fmt: skip
_model("bill.fed", int(_op.value // _launch.value), "", "the GPUs that one Python thread keeps busy with the operations of the example",
       D2L_HYBRIDIZE, "floor(t/L)", t=_op, L=_launch)  # fmt: skip
_model("bill.elements", _bound_eight.value * _memory.value / (2 * _element.value), "",
       "the elements of an elementwise sum in float32 that a GPU's memory reads and writes in that time", HERE,
       "k*L*B/(2*b)", k=_eight, L=_launch, B=_memory, b=_element)  # fmt: skip
_model("hybrid.launches", _operations.value * _launch.value, "µs", "what launching one pass through the network costs Python", HERE,
       "n*L", n=_operations, L=_launch)  # fmt: skip
_size = _model("hybrid.size", _parameters.value * _element.value, "KB", "the parameters of the network in float32", HERE,
               "n*b", n=_parameters, b=_element)  # fmt: skip
_model("hybrid.read", move_s(size_bytes=_size.value, bytes_per_s=_memory.value), "µs", "how long a GPU's memory takes to read them", HERE,
       "S/B", S=_size, B=_memory)  # fmt: skip
