"""Act 2 · The queue behind your code. Ticks: the cost model has no seconds in it."""

from __future__ import annotations

from perfmodel.book.ledger import LEDGER
from perfmodel.number import Number
from perfmodel.pipeline import AsyncPipeline
from perfmodel.sources import D2L_ASYNC, HERE, SITE

_given, _model = LEDGER.given, LEDGER.model

QUEUE_MODEL = SITE.at("cost model, after Dive into Deep Learning 13.2")

_t1 = _given("queue.enqueue", 2, "ticks", "the time Python takes to put one task in the queue", HERE)
_t2 = _given("queue.compute", 3, "ticks", "the time the GPU takes to compute one task", HERE)
_t3 = _given("queue.fetch", 2, "ticks", "the time it takes to bring one result back to Python", HERE)
_three = _given("queue.statements", 3, "", "the statements of the first example: x, y and z", HERE)
_eight = _given("queue.tasks", 8, "", "the tasks of the longer example", HERE)
_four = _given("queue.every", 4, "", "the tasks from one barrier to the next, where there are barriers in between", HERE)
_nine = _given("queue.odd_tasks", 9, "", "a number of tasks that the barrier interval does not divide", HERE)
_seven = _given("queue.fewer_tasks", 7, "", "a slightly shorter queue", HERE)


def _queue(tasks: Number, every: int | None = None) -> AsyncPipeline:
    return AsyncPipeline(enqueue=_t1.value, compute=_t2.value, fetch=_t3.value, tasks=int(tasks.value), barrier_every=every)


_short = _queue(_three).schedule()
_once = "t1 + (n-1)*max(t1, t2) + t2 + t3"
_group = "(t1 + (k-1)*max(t1, t2) + t2 + t3)"
_k = int(_four.value)

_free_at = max(span.end_s for span in _short.spans if span.role == "host")
_done_at = max(span.end_s for span in _short.spans if span.role == "compute")
_model("queue.free", _free_at, "ticks", "when Python has queued every statement and is free", D2L_ASYNC, "n*t1", n=_three, t1=_t1)
_model("queue.done", _done_at, "ticks", "when the GPU has computed the last statement", D2L_ASYNC,
       "t1 + n*t2", n=_three, t1=_t1, t2=_t2)  # fmt: skip
_model("queue.printed", _queue(_three).total, "ticks", "when print(z) returns", D2L_ASYNC,
       "t1 + n*t2 + t3", n=_three, t1=_t1, t2=_t2, t3=_t3)  # fmt: skip
_model("queue.wait", _done_at - _free_at, "ticks", "how long print(z) waits before it can fetch anything", QUEUE_MODEL,
       "t1 + n*t2 - n*t1", n=_three, t1=_t1, t2=_t2)  # fmt: skip
_model("queue.each", _queue(_eight, 1).total, "ticks", "the total with a barrier after every task", D2L_ASYNC,
       "n*(t1 + t2 + t3)", n=_eight, t1=_t1, t2=_t2, t3=_t3)  # fmt: skip
_model("queue.once", _queue(_eight).total, "ticks", "the total with one barrier, at the end", QUEUE_MODEL,
       _once, n=_eight, t1=_t1, t2=_t2, t3=_t3)  # fmt: skip
_model("queue.every_four", _queue(_eight, _k).total, "ticks", "the total with a barrier after every k tasks", QUEUE_MODEL,
       f"n/k*{_group}", n=_eight, k=_four, t1=_t1, t2=_t2, t3=_t3)  # fmt: skip
_model("queue.nine_every_four", _queue(_nine, _k).total, "ticks", "the total of nine tasks with a barrier after every k", QUEUE_MODEL,
       f"floor(n/k)*{_group} + t1 + t2 + t3", n=_nine, k=_four, t1=_t1, t2=_t2, t3=_t3)  # fmt: skip
_model("queue.price", _queue(_eight).barrier_price, "ticks", "what each barrier before the last one adds", QUEUE_MODEL,
       "min(t1, t2) + t3", t1=_t1, t2=_t2, t3=_t3)  # fmt: skip
_model("queue.peak", _queue(_eight).queue_peak, "", "the most tasks that are pending at one moment", QUEUE_MODEL,
       "n - floor((n-1)*t1/t2)", n=_eight, t1=_t1, t2=_t2)  # fmt: skip
_model("queue.peak_every_four", _queue(_eight, _k).queue_peak, "", "the same with a barrier after every k tasks", QUEUE_MODEL,
       "k - floor((k-1)*t1/t2)", k=_four, t1=_t1, t2=_t2)  # fmt: skip
_model("queue.peak_of_seven", _queue(_seven).queue_peak, "", "the most tasks pending when there is one task fewer", QUEUE_MODEL,
       "n - floor((n-1)*t1/t2)", n=_seven, t1=_t1, t2=_t2)  # fmt: skip

# Where Python is the slow side (t2 < t1).
_s1 = _given("slow.enqueue", 3, "ticks", "the time to queue one task, where Python is the slow side", HERE)
_s2 = _given("slow.compute", 1, "ticks", "the time to compute one task, where Python is the slow side", HERE)
_s3 = _given("slow.fetch", 2, "ticks", "the time to bring one result back, where Python is the slow side", HERE)


def _slow(every: int | None = None) -> AsyncPipeline:
    return AsyncPipeline(enqueue=_s1.value, compute=_s2.value, fetch=_s3.value, tasks=int(_eight.value), barrier_every=every)


_model("slow.once", _slow().total, "ticks", "the total with one barrier at the end, where Python is the slow side", QUEUE_MODEL,
       _once, n=_eight, t1=_s1, t2=_s2, t3=_s3)  # fmt: skip
_model("slow.each", _slow(1).total, "ticks", "the total with a barrier after every task there", QUEUE_MODEL,
       "n*(t1 + t2 + t3)", n=_eight, t1=_s1, t2=_s2, t3=_s3)  # fmt: skip
_model("slow.short_form", _slow().short_form, "ticks", "what the short form would give there", D2L_ASYNC,
       "t1 + n*t2 + t3", n=_eight, t1=_s1, t2=_s2, t3=_s3)  # fmt: skip
_model("slow.every_four", _slow(_k).total, "ticks", "the total with a barrier after every k tasks there", QUEUE_MODEL,
       f"n/k*{_group}", n=_eight, k=_four, t1=_s1, t2=_s2, t3=_s3)  # fmt: skip
_model("slow.price", _slow().barrier_price, "ticks", "what each barrier before the last one adds there", QUEUE_MODEL,
       "min(t1, t2) + t3", t1=_s1, t2=_s2, t3=_s3)  # fmt: skip
_model("slow.familiar_price", _s1.value + _s3.value, "ticks", "what the familiar price of a barrier, to queue and to fetch, would give there", QUEUE_MODEL,
       "t1 + t3", t1=_s1, t3=_s3)  # fmt: skip
_model("slow.peak", _slow().queue_peak, "", "the most tasks pending where Python is the slow side", QUEUE_MODEL)

# The book's exercise: ten thousand tasks, and the condition under which its short form is claimed to hold.
_many = _given("many.tasks", 10_000, "", "the tasks of the book's exercise", D2L_ASYNC)
_m1 = _given("many.enqueue", 2, "ticks", "the time to queue one of them, with a slow Python", HERE)
_m2 = _given("many.compute", 1, "ticks", "the time to compute one of them", HERE)
_m3 = _given("many.fetch", 1, "ticks", "the time to bring a result back", HERE)
_ten = AsyncPipeline(enqueue=_m1.value, compute=_m2.value, fetch=_m3.value, tasks=int(_many.value))
_model("many.total", _ten.total, "ticks", "the exact total of ten thousand tasks with a slow Python", QUEUE_MODEL,
       _once, n=_many, t1=_m1, t2=_m2, t3=_m3)  # fmt: skip
_model("many.short_form", _ten.short_form, "ticks", "what the short form gives for them", D2L_ASYNC,
       "t1 + n*t2 + t3", n=_many, t1=_m1, t2=_m2, t3=_m3)  # fmt: skip
_e1 = _given("edge.enqueue", 1, "ticks", "the time to queue one task, just above the time to compute it", HERE)
_e2 = _given("edge.compute", 0.99995, "ticks", "the time to compute one task, just below the time to queue it", HERE)
_e3 = _given("edge.fetch", 0.5, "ticks", "the time to bring a result back, in the edge case", HERE)
_edge = AsyncPipeline(enqueue=_e1.value, compute=_e2.value, fetch=_e3.value, tasks=int(_many.value))
_model("edge.left", _many.value * _e2.value, "ticks", "the left side of the book's condition", D2L_ASYNC, "n*t2", n=_many, t2=_e2)
_model("edge.right", (_many.value - 1) * _e1.value, "ticks", "its right side", D2L_ASYNC, "(n-1)*t1", n=_many, t1=_e1)
_model("edge.total", _edge.total, "ticks", "the exact total of the edge case", QUEUE_MODEL, _once, n=_many, t1=_e1, t2=_e2, t3=_e3)
_model("edge.short_form", _edge.short_form, "ticks", "what the short form gives for the edge case", D2L_ASYNC,
       "t1 + n*t2 + t3", n=_many, t1=_e1, t2=_e2, t3=_e3)  # fmt: skip
