"""The module · Distributed and accelerated training: products, one step in two ways, memory, and when to scale out.

Its batch and its learning rate are those of act 5 (`batch.…`), its gradients and its link those of act 6 (`sync.…`). The package
enters the acts first.
"""

from __future__ import annotations

from typing import NamedTuple

from perfmodel import hardware, matmul, memory, scale_out, scaling, splitting
from perfmodel.book.ledger import LEDGER
from perfmodel.data_parallel import (
    PYTORCH_DP,
    Step,
    data_parallel_lanes,
    data_parallel_s,
    data_parallel_tasks,
    ddp_s,
    ddp_tasks,
)
from perfmodel.hardware import ROOFLINE, V100_SHEET, XEON_SHEET
from perfmodel.memory import ZERO
from perfmodel.number import Number
from perfmodel.scaling import GOYAL, SMITH
from perfmodel.sources import HERE, PYTORCH_DDP, SITE, Source
from perfmodel.streams import Schedule, Task, run
from perfmodel.units import DAY, GB, MB, MINUTE, MS, TB, B

_given, _model, _of = LEDGER.given, LEDGER.model, LEDGER.names.__getitem__
MODULE_MODEL = SITE.at("cost model, a hand calculation")

# A product of square matrices, and the sizes of the exercise.
SIDES = {"first": 512, "second": 1024, "third": 2048, "last": 4096}
for _name, _size in SIDES.items():
    _side = _given(f"cube.{_name}", _size, "", f"the {_name} side of the exercise", HERE)
    _model(f"cube.{_name}_adds", matmul.multiply_adds(rows=_size, inner=_size, columns=_size), "",
           f"the multiply-adds of a product of that side: {_size}", MODULE_MODEL, "n**3", n=_side)  # fmt: skip
_n = _of("cube.last")
_model("cube.results", _n.value**2, "", "the results of the largest product: none needs another", MODULE_MODEL, "n**2", n=_n)
_model("cube.growth", _of("cube.second_adds").value / _of("cube.first_adds").value, "×",
       "what the next side makes of the multiply-adds", MODULE_MODEL, "m**3/n**3", m=_of("cube.second"), n=_of("cube.first"))  # fmt: skip
_flop = _model("cube.flop", 2.0 * _n.value**3, "GFLOP", "the arithmetic of the largest product", MODULE_MODEL, "2*n**3", n=_n)
_tiny = _given("cube.tiny", 64, "", "the side of a product too small for a GPU", HERE)
_model("cube.tiny_results", _tiny.value**2, "", "the results of that product", MODULE_MODEL, "n**2", n=_tiny)
_model(
    "cube.tiny_adds", matmul.multiply_adds(rows=64, inner=64, columns=64), "", "its multiply-adds", MODULE_MODEL, "n**3", n=_tiny
)

# The same operation three times.
_in = _given("net.inputs", 784, "", "the inputs of the small network: one for each pixel of a small picture", HERE)
_hidden = _given("net.hidden", 256, "", "the outputs of its first layer", HERE)
_out = _given("net.outputs", 10, "", "the outputs of its second layer: one for each class", HERE)
_batch = _of("batch.effective")
_tokens = _given("same.tokens", 1024, "", "the tokens of the attention example", HERE)
_head = _given("same.head", 64, "", "the size of a query, a key or a value of one head", HERE)


class Product(NamedTuple):
    """A product that training makes: what it is called, its three sides, and the name of its number."""

    what: str
    rows: Number
    inner: Number
    columns: Number
    name: str


PRODUCTS = (
    Product("nn.Linear", _batch, _in, _hidden, "linear"),
    Product("Q·Kᵀ", _tokens, _head, _tokens, "scores"),
    Product("weights·V", _tokens, _tokens, _head, "mix"),
)
for _what, _rows, _inner, _columns, _name in PRODUCTS:
    _adds = matmul.multiply_adds(rows=int(_rows.value), inner=int(_inner.value), columns=int(_columns.value))
    _model(f"same.{_name}", _adds, "", f"the multiply-adds of {_what} in the example", MODULE_MODEL,
           "a*k*c", a=_rows, k=_inner, c=_columns)  # fmt: skip

# Two machines of one year: a few cores with wide SIMD, and thousands of simple ones.
_cores = _given("chip.cpu_cores", hardware.XEON_CORES, "", "the cores of a Xeon Platinum 8180", XEON_SHEET)
_units = _given(
    "chip.cpu_units", hardware.XEON_FMA_UNITS, "", "the AVX-512 units of a core, each with a multiply-add a cycle", XEON_SHEET
)
_width = _given("chip.cpu_width", hardware.XEON_WIDTH, "", "the FP32 lanes of an AVX-512 unit", XEON_SHEET)
_clock = _given("chip.cpu_clock", hardware.XEON_CLOCK_PER_S, "", "its cycles in a second, at base clock", XEON_SHEET)
_channels = _given("chip.cpu_channels", hardware.XEON_CHANNELS, "", "its channels of memory", XEON_SHEET)
_transfers = _given("chip.cpu_transfers", hardware.XEON_TRANSFERS_PER_S, "", "the transfers of DDR4-2666 in a second", XEON_SHEET)
_cpu_lanes = _model("chip.cpu_lanes", _cores.value * _units.value * _width.value, "", "all FP32 lanes of the CPU", XEON_SHEET,
                    "c*u*w", c=_cores, u=_units, w=_width)  # fmt: skip
_cpu_peak = _model("chip.cpu_peak", hardware.XEON_FP32.flop_per_s, "TFLOP/s", "all its FP32 lanes at once", XEON_SHEET,
                   "2*l*f", l=_cpu_lanes, f=_clock)  # fmt: skip
_model("chip.cpu_memory", hardware.XEON_MEMORY.bytes_per_s, "GB/s", "what its memory carries at most", XEON_SHEET,
       "c*f*w", c=_channels, f=_transfers, w=_of("memory.word"))  # fmt: skip
_peak, _bandwidth, _fp32 = _of("roofline.peak"), _of("roofline.memory"), _of("roofline.fp32")
_lanes = _of("v100.lanes")
_cpu_time = _model("chip.cpu_time", 2 * _n.value**3 / _cpu_peak.value, "ms", "the largest product on the CPU, at best", ROOFLINE,
                   "F/P", F=_flop, P=_cpu_peak)  # fmt: skip
_launch = _of("bill.launch")
_gpu = {
    "element_bytes": _fp32.value,
    "peak_flop_per_s": _peak.value,
    "bytes_per_s": _bandwidth.value,
    "overhead_s": _launch.value,
}
_gpu_time = _model("chip.gpu_time", matmul.matmul_s(n=int(_n.value), **_gpu), "ms", "the largest product on a V100, at best, with a launch",
                   ROOFLINE, "L + F/P", L=_launch, F=_flop, P=_peak)  # fmt: skip
_product = _model(
    "chip.product", 2 * _n.value**3 / _peak.value, "ms", "the same without the launch", ROOFLINE, "F/P", F=_flop, P=_peak
)
_tiny_time = _model("chip.tiny_time", matmul.matmul_s(n=int(_tiny.value), **_gpu), "µs", "the tiny product on a V100, at best, with a launch",
                    ROOFLINE, "L + 3*b*n**2/B", L=_launch, b=_fp32, n=_tiny, B=_bandwidth)  # fmt: skip
_model("chip.tiny_launch", _launch.value / _tiny_time.value, "%", "how much of that the launch takes", ROOFLINE,
       "L/t", L=_launch, t=_tiny_time)  # fmt: skip
_model("chip.tiny_cpu_time", 2 * _tiny.value**3 / _cpu_peak.value, "µs", "the tiny product on the CPU, at best", ROOFLINE,
       "2*n**3/P", n=_tiny, P=_cpu_peak)  # fmt: skip
_model("chip.half_side", matmul.half_speed_side(overhead_s=_launch.value, each_s=2 / _peak.value), "",
       "the side at which launching a product takes a V100 as long as computing it", MODULE_MODEL,
       "(L*P/2)**(1/3)", L=_launch, P=_peak)  # fmt: skip


def clock_tasks() -> list[Task]:
    """What a GPU has in its queue when a clock is read too early: a product from before, and the one that is to be timed."""
    return [
        Task(name="earlier product", streams=("GPU",), duration_s=_product.value),
        Task(name="launch", streams=("Python",), duration_s=_launch.value, role="host"),
        Task(name="product", streams=("GPU",), duration_s=_product.value, waits=(1,)),
    ]


_model("clock.after", run(clock_tasks()).total_s, "ms", "what a clock shows that is read before the GPU has done what came before", MODULE_MODEL,
       "max(p, L) + p", p=_product, L=_launch)  # fmt: skip

# The small network.
NETWORK = splitting.mlp(int(_in.value), int(_hidden.value), int(_out.value))
_parameters = _model("net.parameters", splitting.parameters(NETWORK), "", "the weights and biases of the small network", MODULE_MODEL,
                     "i*h + h + h*o + o", i=_in, h=_hidden, o=_out)  # fmt: skip
_forward = _model("net.forward", float(matmul.dense_forward_flop(NETWORK, batch=int(_batch.value))), "MFLOP",
                  "the arithmetic of its forward pass, of the effective batch", MODULE_MODEL,
                  "2*B*(i*h + h*o)", B=_batch, i=_in, h=_hidden, o=_out)  # fmt: skip
_backward = _model("net.backward", float(matmul.dense_backward_flop(NETWORK, batch=int(_batch.value))), "MFLOP",
                   "the arithmetic of its backward pass: two products for each of forward, but one in the first layer", MODULE_MODEL,
                   "2*F - 2*B*i*h", F=_forward, B=_batch, i=_in, h=_hidden)  # fmt: skip
_model(
    "net.step",
    _forward.value + _backward.value,
    "MFLOP",
    "forward and backward together",
    MODULE_MODEL,
    "F + G",
    F=_forward,
    G=_backward,
)
_state = _model("net.state", memory.model_state(parameters=int(_parameters.value), recipe=memory.FP32_ADAM).total_bytes, "MB",
                "its parameters, gradients and Adam's two moments, in FP32", memory.ADAM, "4*b*p", b=_fp32, p=_parameters)  # fmt: skip
_kept = _model("net.activations", memory.dense_activations_bytes(NETWORK, batch=int(_of("batch.per_gpu").value), element_bytes=_fp32.value),
               "KB", "the activations that a GPU keeps for backward, of its part of the batch", MODULE_MODEL,
               "b*(i + h + o)*e", b=_of("batch.per_gpu"), i=_in, h=_hidden, o=_out, e=_fp32)  # fmt: skip

_others = _model("net.others", float(2 * _hidden.value + _out.value), "FLOP", "what else it computes for a sample: a sum for each bias, a ReLU",
               MODULE_MODEL, "2*h + o", h=_hidden, o=_out)  # fmt: skip
_model("net.share", 1 / (1 + _others.value * _batch.value / _forward.value), "%", "how much of the arithmetic of its forward pass is products",
       MODULE_MODEL, "1/(1 + e*B/F)", e=_others, B=_batch, F=_forward)  # fmt: skip

# What the linear rule does to the scatter of the steps.
_r, _R, _b32 = _of("batch.base_lr"), _of("batch.scaled_lr"), _of("batch.per_gpu")
_rates = {"R": _R, "r": _r, "b": _b32, "B": _batch}
_model("scatter.step", scaling.step_noise(lr=_R.value, batch=int(_batch.value)) / scaling.step_noise(lr=_r.value, batch=int(_b32.value)), "×",
       "the scatter of one step with the larger batch and the scaled rate, against before", SMITH, "(R/r)**2*b/B", **_rates)  # fmt: skip
_model("scatter.for_length", (scaling.step_noise(lr=1.0, batch=int(_batch.value)) / scaling.step_noise(lr=1.0, batch=int(_b32.value))) ** 0.5, "×",
       "the spread of one step for its length with the larger batch, against before", SMITH, "(b/B)**0.5", b=_b32, B=_batch)  # fmt: skip
_model("scatter.whole",
       scaling.pass_noise(lr=_R.value, batch=int(_batch.value), samples=int(_batch.value))
       / scaling.pass_noise(lr=_r.value, batch=int(_b32.value), samples=int(_batch.value)),
       "×", "the scatter of all steps over the same samples, against before", SMITH, "(R/r)**2*(b/B)**2", **_rates)  # fmt: skip

# One step in two ways.
_gpus, _S, _link = _of("sync.gpus"), _of("sync.gradient"), _of("sync.link")
_x = _given("dp.input", 16 * MB, "MB", "the samples of one GPU", HERE)
_o = _given("dp.output", 16 * MB, "MB", "the outputs of one GPU", HERE)
_f = _given("dp.forward", 20 * MS, "ms", "the forward pass of one GPU", HERE)
_b = _given("dp.backward", 40 * MS, "ms", "the backward pass of one GPU", HERE)
_l = _given("dp.loss", 4 * MS, "ms", "the loss of the whole batch on one GPU", HERE)
_u = _given("dp.update", 2 * MS, "ms", "the update of all parameters on one GPU", HERE)
_eight = _given("dp.more_gpus", 8, "", "the GPUs of a larger server", HERE)


def step(gpus: int) -> Step:
    """The step of the example on that many GPUs: each of them has the same part, so more GPUs take a larger batch."""
    return Step(
        gpus=gpus, link_bytes_per_s=_link.value, parameters_bytes=_S.value, input_bytes=_x.value, output_bytes=_o.value,
        forward_s=_f.value, backward_s=_b.value, loss_s=_l.value * gpus / _gpus.value, update_s=_u.value,
    )  # fmt: skip


def schedules() -> dict[str, Schedule]:
    """Both ways on the GPUs of the example, by name."""
    lanes = data_parallel_lanes(int(_gpus.value))
    example = step(int(_gpus.value))
    return {"DataParallel": run(data_parallel_tasks(example), lanes), "DDP": run(ddp_tasks(example), lanes)}


_DP = "(n-1)*(x + 2*o + 2*S)/B + f + L*n/k + b + u"
_DDP = "x/B + f + L/k + b + 2*(n-1)*S/(n*B) + u"
_parts = {"x": _x, "S": _S, "B": _link, "f": _f, "L": _l, "k": _gpus, "b": _b, "u": _u}
_parallel = _model("dp.parallel", data_parallel_s(step(int(_gpus.value))), "ms", "one step of DataParallel", PYTORCH_DP,
                   "(n-1)*(x + 2*o + 2*S)/B + f + L + b + u", n=_gpus, o=_o, **{s: v for s, v in _parts.items() if s != "k"})  # fmt: skip
_ddp = _model("dp.ddp", ddp_s(step(int(_gpus.value))), "ms", "the same step with DistributedDataParallel", PYTORCH_DDP,
              "x/B + f + L/n + b + 2*(n-1)*S/(n*B) + u", n=_gpus, **{s: v for s, v in _parts.items() if s != "k"})  # fmt: skip
_model("dp.parallel_more", data_parallel_s(step(int(_eight.value))), "ms", "a step of DataParallel on a larger server", PYTORCH_DP,
       _DP, n=_eight, o=_o, **_parts)  # fmt: skip
_model("dp.ddp_more", ddp_s(step(int(_eight.value))), "ms", "a step with DistributedDataParallel there", PYTORCH_DDP, _DDP, n=_eight, **_parts)  # fmt: skip
_one = _model("dp.one", _gpus.value * (_f.value + _b.value) + _l.value + _u.value, "ms", "the same batch on one GPU, samples already there",
              MODULE_MODEL, "n*(f + b) + L + u", n=_gpus, f=_f, b=_b, L=_l, u=_u)  # fmt: skip
_copies = _model("dp.copies", (_gpus.value - 1) * (_x.value + 2 * _o.value + 2 * _S.value) / _link.value, "ms",
                 "how long the link of GPU 0 is busy in that step", PYTORCH_DP, "(n-1)*(x + 2*o + 2*S)/B", n=_gpus, x=_x, o=_o, S=_S, B=_link)  # fmt: skip
_model(
    "dp.share",
    _copies.value / _parallel.value,
    "%",
    "how much of the step of DataParallel that is",
    PYTORCH_DP,
    "c/t",
    c=_copies,
    t=_parallel,
)

# The memory of training.
_psi = _given("state.parameters", 1_500_000_000, "", "the parameters of the largest GPT-2, as the ZeRO paper counts them", ZERO)
_half_w = _given("state.half_weights", 2 * B, "B", "a parameter in FP16", ZERO)
_half_g = _given("state.half_gradients", 2 * B, "B", "a gradient in FP16", ZERO)
_adam_k = _given("state.optimizer", 12 * B, "B", "what Adam keeps for a parameter in mixed precision, with a copy in FP32", ZERO)
_moments = _given("state.moments", 8 * B, "B", "Adam's two moments of a parameter in FP32", memory.ADAM)
_velocity = _given("state.velocity", 4 * B, "B", "what momentum keeps for a parameter in FP32", HERE)
_each = _model("state.mixed", memory.MIXED_ADAM.total_bytes, "B", "what a parameter costs in mixed precision with Adam", ZERO,
               "w + g + k", w=_half_w, g=_half_g, k=_adam_k)  # fmt: skip
_adam = _model("state.adam", memory.FP32_ADAM.total_bytes, "B", "what a parameter costs in FP32 with Adam", memory.ADAM,
               "2*w + m", w=_fp32, m=_moments)  # fmt: skip
_model("state.sgd", memory.FP32_SGD.total_bytes, "B", "what a parameter costs in FP32 with plain gradient descent", MODULE_MODEL,
       "2*w", w=_fp32)  # fmt: skip
_model("state.momentum", memory.FP32_MOMENTUM.total_bytes, "B", "what a parameter costs in FP32 with momentum", MODULE_MODEL,
       "2*w + v", w=_fp32, v=_velocity)  # fmt: skip
_model("state.weights", _psi.value * _half_w.value, "GB", "the parameters of GPT-2 alone, in FP16", ZERO, "p*w", p=_psi, w=_half_w)
_gpt = memory.model_state(parameters=int(_psi.value), recipe=memory.MIXED_ADAM)
_gpt_state = _model("state.gpt", _gpt.total_bytes, "GB", "parameters, gradients and Adam of GPT-2, in mixed precision", ZERO,
                    "p*s", p=_psi, s=_each)  # fmt: skip
_gpt_kept = _given(
    "state.activations", 60 * GB, "GB", "the activations of GPT-2 for a batch of some sequences, as the paper has it", ZERO
)
_gpt_again = _given("state.recomputed", 8 * GB, "GB", "the same when most are computed again in backward", ZERO)
_card = _given("state.card", 32 * GB, "GB", "the memory of a V100, in its larger form", V100_SHEET)
_model("state.gpt_whole", _gpt_state.value + _gpt_kept.value, "GB", "state and activations of GPT-2", ZERO, "s + a", s=_gpt_state, a=_gpt_kept)  # fmt: skip
_model("state.gpt_lean", _gpt_state.value + _gpt_again.value, "GB", "state and activations of GPT-2, most computed again", ZERO,
       "s + a", s=_gpt_state, a=_gpt_again)  # fmt: skip

# When to scale out: four jobs, one machine.
_storage = _given("jobs.storage", 30 * TB, "TB", "the drives of the machine of the example", HERE)
MACHINE = scale_out.Machine(card_bytes=_card.value, storage_bytes=_storage.value)
_efficiency = _given("jobs.efficiency", 0.9, "%", "what each of several GPUs does of what one alone would: an input, about as Goyal et al. measured",
                     GOYAL)  # fmt: skip


class Example(NamedTuple):
    """A job of the example: in words, the name of its numbers, and the job."""

    what: str
    name: str
    job: scale_out.Job


def _job(
    what: str, name: str, state: Number, kept: Number, days: float, deadline: float, data_bytes: float, source: Source
) -> Example:
    unit = "days" if days >= 1 else "min"
    one = _given(f"jobs.{name}_time", days * DAY, unit, f"how long {what} trains on one GPU", HERE)
    by = _given(f"jobs.{name}_deadline", deadline * DAY, "days", f"when {what} must be trained", HERE)
    data = _given(
        f"jobs.{name}_data",
        data_bytes,
        "TB" if data_bytes >= TB else "GB" if data_bytes >= GB else "MB",
        f"the data of {what}",
        source,
    )
    job = scale_out.Job(
        state_bytes=state.value, activations_bytes=kept.value, one_gpu_s=one.value, deadline_s=by.value, data_bytes=data.value
    )
    _model(f"jobs.{name}_memory", state.value + kept.value, "GB" if state.value >= GB else "MB", f"state and activations of {what}", MODULE_MODEL,
           "s + a", s=state, a=kept)  # fmt: skip
    return Example(what, name, job)


MNIST = Source(
    title="The MNIST database of handwritten digits",
    authors="Yann LeCun, Corinna Cortes and Christopher Burges",
    url="https://yann.lecun.com/exdb/mnist/",
    place="60,000 training pictures of 784 bytes",
)
_mid = _given("jobs.mid_parameters", 25_000_000, "", "the parameters of the vision network", HERE)
_mid_state = _model("jobs.mid_state", _mid.value * _each.value, "GB", "parameters, gradients and Adam of the vision network, in mixed precision",
                    MODULE_MODEL, "p*s", p=_mid, s=_each)  # fmt: skip
_mid_kept = _given("jobs.mid_activations", 12 * GB, "GB", "its activations for the batch of one GPU", HERE)
_large = _given("jobs.large_parameters", 7_000_000_000, "", "the parameters of the larger language model", HERE)
_large_state = _model("jobs.large_state", _large.value * _each.value, "GB",
                      "parameters, gradients and Adam of the larger language model, in mixed precision", MODULE_MODEL, "p*s", p=_large, s=_each)  # fmt: skip
_large_kept = _given("jobs.large_activations", 16 * GB, "GB", "its activations, most computed again in backward", HERE)
EXAMPLES = (
    _job("the small network on MNIST", "small", _state, _kept, 10 * MINUTE / DAY, 1, 47.04 * MB, MNIST),
    _job("a vision network", "vision", _mid_state, _mid_kept, 10, 3, 150 * GB, HERE),
    _job("GPT-2", "gpt", _gpt_state, _gpt_kept, 20, 30, 40 * GB, HERE),
    _job("a larger language model", "large", _large_state, _large_kept, 300, 60, 2 * TB, HERE),
    _job("the vision network on video", "video", _mid_state, _mid_kept, 60, 7, 100 * TB, HERE),
)
for _what, _name, _item in (each for each in EXAMPLES if each.job.one_gpu_s > each.job.deadline_s):
    _inputs, _ceil = {"t": _of(f"jobs.{_name}_time"), "d": _of(f"jobs.{_name}_deadline"), "e": _efficiency}, "ceil(t/(d*e))"
    _split = scale_out.gpus_to_hold(_item, MACHINE) if "split the model" in scale_out.advise(_item, MACHINE) else 1
    if _split > 1:
        _inputs["p"] = _model(f"jobs.{_name}_split", _split, "", f"the GPUs that hold one copy of {_what}", MODULE_MODEL,
                              "ceil(m/c)", m=_of(f"jobs.{_name}_memory"), c=_card)  # fmt: skip
        _ceil = "p*ceil(t/(d*e*p))"
    _k = scale_out.gpus_for_deadline(
        one_gpu_s=_item.one_gpu_s, deadline_s=_item.deadline_s, efficiency=_efficiency.value, replica_gpus=_split
    )
    _model(f"jobs.{_name}_gpus", _k, "", f"the GPUs that bring {_what} within its deadline", MODULE_MODEL, _ceil, **_inputs)
_model("jobs.video_machines", scale_out.machines_for_data(EXAMPLES[-1].job, MACHINE), "", "the machines that hold the video", MODULE_MODEL,
       "ceil(D/s)", D=_of("jobs.video_data"), s=_storage)  # fmt: skip
