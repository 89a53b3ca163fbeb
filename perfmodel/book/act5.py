"""Act 5 · One batch, many GPUs. What a training run showed is not here: `macros.runs` enters it from its record."""

from __future__ import annotations

from collections.abc import Sequence

from perfmodel import scaling, splitting
from perfmodel.book.ledger import LEDGER
from perfmodel.number import Number
from perfmodel.sources import D2L_MULTIPLE_GPUS, D2L_MULTIPLE_GPUS_CONCISE, HERE
from perfmodel.streams import Schedule, Task, run
from perfmodel.units import B

_given, _model = LEDGER.given, LEDGER.model
_book, _concise = D2L_MULTIPLE_GPUS, D2L_MULTIPLE_GPUS_CONCISE

# The batch, and how it grows with the GPUs.
_k = _given("batch.gpus", 4, "", "the GPUs that share one batch", HERE)
_each = _given("batch.per_gpu", 32, "", "the samples that each GPU gets", HERE)
_batch = _model("batch.effective", scaling.effective_batch(per_gpu_batch=int(_each.value), gpus=int(_k.value)), "",
                "the samples in one step of all GPUs: the effective batch", scaling.GOYAL, "k*b", k=_k, b=_each)  # fmt: skip
_rate = _given("batch.base_lr", 0.001, "", "the learning rate that suits one GPU", HERE)
_scaled = _model("batch.scaled_lr", scaling.linear_rule(base_lr=_rate.value, base_batch=int(_each.value), batch=_batch.value), "",
                 "the learning rate by the linear rule", scaling.GOYAL, "r*B/b", r=_rate, B=_batch, b=_each)  # fmt: skip
_two = _given("batch.two", 2, "", "the smallest number of GPUs that can share a batch", HERE)
_eight = _given("batch.more_gpus", 8, "", "the GPUs of a larger server", HERE)
_larger = _model("batch.larger", scaling.effective_batch(per_gpu_batch=int(_each.value), gpus=int(_eight.value)), "",
                 "the effective batch of a larger server", scaling.GOYAL, "k*b", k=_eight, b=_each)  # fmt: skip
_model("batch.larger_lr", scaling.linear_rule(base_lr=_rate.value, base_batch=int(_each.value), batch=_larger.value), "",
       "the learning rate of a larger server by the linear rule", scaling.GOYAL, "r*B/b", r=_rate, B=_larger, b=_each)  # fmt: skip

# The book's own experiment: it follows the rule.
_one_batch = _given("concise.batch", 256, "", "the batch of the book's network on one GPU", _concise)
_one_rate = _given("concise.lr", 0.1, "", "its learning rate on one GPU", _concise)
_two_batch = _given("concise.batch_two", 512, "", "the batch of the same network on several GPUs", _concise)
_given("concise.lr_two", 0.2, "", "its learning rate on as many", _concise)
_model("concise.rule", scaling.linear_rule(base_lr=_one_rate.value, base_batch=int(_one_batch.value), batch=int(_two_batch.value)), "",
       "what the linear rule gives for the book's larger batch", scaling.GOYAL, "r*B/b", r=_one_rate, B=_two_batch, b=_one_batch)  # fmt: skip

# Warm-up.
_warm = _given("warm.steps", 200, "", "the steps over which the learning rate climbs", HERE)
_middle = _given("warm.middle", 100, "", "a step in the middle of the climb", HERE)
_model("warm.middle_lr", scaling.warm_up_lr(step=int(_middle.value), steps=int(_warm.value), start_lr=_rate.value, peak_lr=_scaled.value), "",
       "the learning rate in the middle of the climb", scaling.GOYAL, "r + (p-r)*i/n", r=_rate, p=_scaled, i=_middle, n=_warm)  # fmt: skip

# Three ways to split one network.
_in = _given("split.inputs", 784, "", "the inputs of the network: one for each pixel of a small picture", HERE)
_w1 = _given("split.first", 512, "", "the outputs of its first layer", HERE)
_w2 = _given("split.second", 256, "", "the outputs of its second layer", HERE)
_w3 = _given("split.third", 128, "", "the outputs of its third layer", HERE)
_out = _given("split.outputs", 10, "", "the outputs of its last layer: one for each class", HERE)
_layers = _given("split.layers", 4, "", "the layers of the network", HERE)
_element = _given("split.element", 4 * B, "B", "the size of one number in FP32", HERE)
NETWORK = splitting.mlp(*(int(width.value) for width in (_in, _w1, _w2, _w3, _out)))

_parameters = _model("split.parameters", splitting.parameters(NETWORK), "", "the weights and biases of the network", HERE,
                     "(i+1)*u + (u+1)*v + (v+1)*w + (w+1)*o", i=_in, u=_w1, v=_w2, w=_w3, o=_out)  # fmt: skip
_S = _model(
    "split.gradient",
    _parameters.value * _element.value,
    "MB",
    "the gradient of the whole network",
    HERE,
    "P*e",
    P=_parameters,
    e=_element,
)
_cuts = _model("split.at_cuts", _element.value * sum(layer.outputs for layer in NETWORK[:-1]), "KB",
               "what one sample has at the cuts between the layers", HERE, "e*(u + v + w)", e=_element, u=_w1, v=_w2, w=_w3)  # fmt: skip
_inside = _model("split.inside", _element.value * (sum(layer.outputs for layer in NETWORK) + sum(layer.inputs for layer in NETWORK[1:])), "KB",
                 "what one sample has after every layer, and its gradient before every layer but the first", HERE,
                 "e*(2*(u + v + w) + o)", e=_element, u=_w1, v=_w2, w=_w3, o=_out)  # fmt: skip

WAYS = {"between layers": splitting.between_layers, "across layers": splitting.across_layers, "across data": splitting.across_data}


def traffic(way: str, batch: int) -> splitting.Traffic:
    """What the network of this act sends in one minibatch of `batch` samples, split in one of `WAYS`."""
    return WAYS[way](NETWORK, batch=batch, element_bytes=_element.value, gpus=int(_k.value))


_between, _across, _data = (traffic(way, int(_batch.value)) for way in WAYS)
_model("split.between", _between.total_bytes, "MB", "what all GPUs send in one minibatch when the network is cut between layers", _book,
       "2*B*A", B=_batch, A=_cuts)  # fmt: skip
_model("split.across", _across.total_bytes, "MB", "what all GPUs send in one minibatch when every layer is cut", _book,
       "(k-1)*B*C", k=_k, B=_batch, C=_inside)  # fmt: skip
_model(
    "split.data",
    _data.total_bytes,
    "MB",
    "what all GPUs send in one minibatch when the data is cut",
    _book,
    "2*(k-1)*S",
    k=_k,
    S=_S,
)
_model("split.between_waits", _between.synchronizations, "", "the synchronizations of one minibatch when the network is cut between layers", _book,
       "2*(k-1)", k=_k)  # fmt: skip
_model("split.across_waits", _across.synchronizations, "", "the synchronizations of one minibatch when every layer is cut", _book,
       "2*L - 1", L=_layers)  # fmt: skip
_model("split.data_waits", _data.synchronizations, "", "the synchronizations of one minibatch when the data is cut", _book)


def _even(way: str) -> int:
    """The smallest batch for which `way` sends at least as much as door three."""
    batch = 1
    while traffic(way, batch).total_bytes < _data.total_bytes:
        batch += 1
    return batch


_model("split.across_even", _even("across layers"), "", "the batch from which cutting every layer sends more than cutting the data", _book,
       "ceil(2*S/C)", S=_S, C=_inside)  # fmt: skip
_model("split.between_even", _even("between layers"), "", "the batch from which cutting between layers sends more than cutting the data", _book,
       "ceil((k-1)*S/A)", k=_k, S=_S, A=_cuts)  # fmt: skip
_deep = _given("split.deep", 50, "", "the layers of a deep network", HERE)
_model("split.deep_waits", splitting.across_layers(splitting.mlp(*[int(_w1.value)] * int(_deep.value + 1)), batch=int(_batch.value),
                                                   element_bytes=_element.value, gpus=int(_k.value)).synchronizations, "",
       "the synchronizations of one minibatch when every layer of a deep network is cut", _book, "2*L - 1", L=_deep)  # fmt: skip

# One step of training, in ticks. Forward and backward are those of one part: a k-th of the batch.
_scatter = _given("step.scatter", 1, "ticks", "the time to copy one part of the batch to a GPU", HERE)
_forward = _given("step.forward", 3, "ticks", "the forward pass of one part", HERE)
_backward = _given("step.backward", 6, "ticks", "the backward pass of one part", HERE)
_allreduce = _given("step.allreduce", 4, "ticks", "the time to add up all gradients and give everyone the sum", HERE)
_update = _given("step.update", 1, "ticks", "the time to update the parameters", HERE)


def replica_step(gpus: int) -> Schedule:
    """One step of data-parallel training of the same batch, on one GPU or on as many as there are parts.

    The CPU copies the parts out one after the other. Each GPU computes its parts as soon as it has them; the allreduce holds all
    GPUs at once and waits for the last gradient; then every GPU updates its own copy. A single GPU needs no allreduce.
    """
    parts = int(_k.value)
    names = [f"GPU {gpu}" for gpu in range(gpus)]
    share = parts // gpus
    tasks = [Task(name=f"part {i + 1}" if gpus > 1 else "batch", streams=("CPU", name), duration_s=share * _scatter.value, role="transfer")
             for i, name in enumerate(names)]  # fmt: skip
    for number, name in enumerate(names):
        tasks.append(Task(name="forward", streams=(name,), duration_s=share * _forward.value, waits=(number,)))
        tasks.append(Task(name="backward", streams=(name,), duration_s=share * _backward.value))
    if gpus > 1:
        tasks.append(Task(name="allreduce", streams=tuple(names), duration_s=_allreduce.value, role="transfer"))
    tasks += [Task(name="update", streams=(name,), duration_s=_update.value, role="update") for name in names]
    return run(tasks, ("CPU", *names))


_ticks: dict[str, Number] = {"k": _k, "s": _scatter, "f": _forward, "g": _backward, "u": _update}
_model("step.one", replica_step(1).total_s, "ticks", "one step on one GPU", _book, "k*(s + f + g) + u", **_ticks)
_model(
    "step.many",
    replica_step(int(_k.value)).total_s,
    "ticks",
    "the same step on all GPUs",
    _book,
    "k*s + f + g + a + u",
    a=_allreduce,
    **_ticks,
)
_first = replica_step(int(_k.value)).idle["GPU 0"][0]
_model(
    "step.wait",
    _first.end_s - _first.start_s,
    "ticks",
    "how long the first GPU waits for the last one",
    _book,
    "(k-1)*s",
    k=_k,
    s=_scatter,
)
_model("step.whole", _k.value * _scatter.value + _allreduce.value + _update.value, "ticks", "the part of a step that more GPUs do not shorten", _book,
       "k*s + a + u", k=_k, s=_scatter, a=_allreduce, u=_update)  # fmt: skip


# Allreduce from scratch.
def allreduce_states(data: Sequence[tuple[float, ...]]) -> list[list[tuple[float, ...]]]:
    """What the replicas hold at first, when all is added up on the first of them, and when the others have their copies.

    >>> allreduce_states([(1, 1), (2, 2)])
    [[(1, 1), (2, 2)], [(3, 3), (2, 2)], [(3, 3), (3, 3)]]
    """
    total = tuple(sum(column) for column in zip(*data, strict=True))
    return [list(data), [total, *data[1:]], [total] * len(data)]


ALLREDUCE = allreduce_states([(i + 1, i + 1) for i in range(int(_two.value))])
_model("allreduce.first", ALLREDUCE[0][0], "", "what the first replica holds: ones", _book)
_model("allreduce.second", ALLREDUCE[0][1], "", "what the second replica holds: twos", _book)
_model("allreduce.after", ALLREDUCE[-1][-1], "", "what every replica holds after the allreduce", _book)

# What counts as lockstep.
_given("lockstep.limit", 1e-15, "", "the largest relative L2 distance that counts as lockstep", HERE)
_given("lockstep.limit_fp32", 1e-6, "", "the same in FP32", HERE)
_given("lockstep.limit_elsewhere", 1e-13, "", "the same on a GPU or with another BLAS, whose sums round in another order", HERE)
