"""Act 3 · Free parallelism. Ticks: the cost model has no seconds in it, and launching a task costs nothing."""

from __future__ import annotations

from perfmodel import overlap
from perfmodel.book.ledger import LEDGER
from perfmodel.number import Number
from perfmodel.sources import D2L_PARALLELISM, HERE, SITE
from perfmodel.streams import run

_given, _model = LEDGER.given, LEDGER.model

OVERLAP_MODEL = SITE.at("cost model, after Dive into Deep Learning 13.3")

_n = _given("overlap.kernels", 10, "", "the kernels of each GPU: the matrix products of the book's example", D2L_PARALLELISM)
_d = _given("overlap.devices", 2, "", "the GPUs of the first example", HERE)
_t = _given("overlap.kernel", 1, "ticks", "the time of one kernel", HERE)
_c = _given("overlap.copy", 1, "ticks", "the time to copy one result off the GPU", HERE)
_slow = _given("overlap.slow_copy", 3, "ticks", "the time of one copy over a slow link", HERE)
_four = _given("overlap.more_devices", 4, "", "the GPUs of the check question", HERE)
_brisk = _given("overlap.brisk_kernel", 0.5, "ticks", "the time of one kernel on a GPU that is faster", HERE)

_kernels = int(_n.value)


def _devices(devices: Number, *, barrier: bool) -> float:
    return overlap.devices_s(kernels=_kernels, kernel_s=_t.value, barrier=barrier, devices=int(devices.value))


def _copies(copy: Number, *, together: bool, kernel: Number = _t) -> float:
    return overlap.copies_s(kernels=_kernels, kernel_s=kernel.value, copy_s=copy.value, overlap=together)


_model("overlap.turns", _devices(_d, barrier=True), "ticks", "two GPUs with a barrier between them", D2L_PARALLELISM,
       "d*n*t", d=_d, n=_n, t=_t)  # fmt: skip
_model("overlap.together", _devices(_d, barrier=False), "ticks", "the same work without the barrier", D2L_PARALLELISM,
       "n*t", n=_n, t=_t)  # fmt: skip
_model("overlap.barrier", _kernels * _t.value, "ticks", "when the first GPU is done, and the barrier lets Python go on", OVERLAP_MODEL,
       "n*t", n=_n, t=_t)  # fmt: skip
_model("overlap.four_turns", _devices(_four, barrier=True), "ticks", "four GPUs with a barrier after each", OVERLAP_MODEL,
       "d*n*t", d=_four, n=_n, t=_t)  # fmt: skip
_model("overlap.four_together", _devices(_four, barrier=False), "ticks", "the same work without barriers", OVERLAP_MODEL,
       "n*t", n=_n, t=_t)  # fmt: skip

_once = "t + (n-1)*max(t, c) + c"
_model("overlap.in_turn", _copies(_c, together=False), "ticks", "compute and copy in turn: each waits for the other", OVERLAP_MODEL,
       "n*(t + c)", n=_n, t=_t, c=_c)  # fmt: skip
_model("overlap.copies", _copies(_c, together=True), "ticks", "copy each result while the next is computed", OVERLAP_MODEL,
       _once, n=_n, t=_t, c=_c)  # fmt: skip
_model("overlap.best", (_t.value + _c.value) / max(_t.value, _c.value), "×", "what overlap can gain at most, however many kernels there are",
       OVERLAP_MODEL, "(t + c)/max(t, c)", t=_t, c=_c)  # fmt: skip
_model("overlap.slow_in_turn", _copies(_slow, together=False), "ticks", "compute and copy in turn over the slow link", OVERLAP_MODEL,
       "n*(t + c)", n=_n, t=_t, c=_slow)  # fmt: skip
_model("overlap.slow", _copies(_slow, together=True), "ticks", "copy while computing, over the slow link", OVERLAP_MODEL,
       _once, n=_n, t=_t, c=_slow)  # fmt: skip
_model("overlap.slow_copies", _kernels * _slow.value, "ticks", "the copies over the slow link alone", OVERLAP_MODEL,
       "n*c", n=_n, c=_slow)  # fmt: skip
_model("overlap.slow_best", (_t.value + _slow.value) / max(_t.value, _slow.value), "×", "what overlap can gain at most over the slow link",
       OVERLAP_MODEL, "(t + c)/max(t, c)", t=_t, c=_slow)  # fmt: skip
_model("overlap.brisk", _copies(_slow, together=True, kernel=_brisk), "ticks", "the slow link again, with kernels that are faster", OVERLAP_MODEL,
       _once, n=_n, t=_brisk, c=_slow)  # fmt: skip

_spans = run(overlap.copies_tasks(kernels=_kernels, kernel_s=_t.value, copy_s=_slow.value, overlap=True), overlap.COPY_LANES).spans
_computed = max(span.end_s for span in _spans if span.role == "compute")
_left = sum(span.role == "transfer" and span.end_s > _computed for span in _spans)
_model("overlap.piled", float(_left), "", "results still in GPU memory when the last one is computed, over the slow link", OVERLAP_MODEL,
       "n - floor((n-1)*t/c)", n=_n, t=_t, c=_slow)  # fmt: skip
