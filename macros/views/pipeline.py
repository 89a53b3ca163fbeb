"""The view of the lab "Drive the pipeline": two timelines of Python and a GPU, with and without barriers."""

from __future__ import annotations

from macros.views.core import bold, box, idle, item, key, legend, nice_step, path, px, said, svg, times, words
from perfmodel.kernels import (
    pipeline_barriers,
    pipeline_durations,
    pipeline_group,
    pipeline_kinds,
    pipeline_streams,
    pipeline_total,
    pipeline_waits,
    queue_peak,
    run_streams,
)
from perfmodel.wording import counted, half_up, number, ticks_text


def lanes(kinds: list[int], enqueue: float, compute: float, fetch: float, left: float, top: float, scale: float, hatch: str) -> str:
    """Two lanes of a schedule: Python above, the GPU below; `scale` is in px a tick. Waiting is drawn too."""
    durations = pipeline_durations(kinds, enqueue, compute, fetch)
    starts = run_streams(pipeline_streams(kinds), pipeline_waits(kinds), durations, 2)
    paths = ["", "", ""]
    waits = ""
    gaps = ""
    labels = ""
    python = 0.0
    gpu = 0.0
    task = [0, 0, 0]
    for i in range(len(kinds)):
        kind = kinds[i]
        start = starts[i]
        end = start + durations[i]
        task[kind] += 1
        y = top + 26 if kind == 1 else top
        if kind == 1:
            if start > gpu:
                gaps += box(left + gpu * scale, y, (start - gpu) * scale, 20.0)
            gpu = end
        else:
            if start > python:
                waits += box(left + python * scale, y, (start - python) * scale, 20.0)
            python = end
        if end > start:
            paths[kind] += box(left + start * scale, y, (end - start) * scale, 20.0)
            text = str(task[kind])
            if kind < 2 and (end - start) * scale > 8.5 * len(text) + 4:
                cls = "bar-label r-host" if kind == 0 else "bar-label r-compute"
                labels += words(left + (start + end) / 2 * scale, y + 14.5, cls, "middle", text)
    if python > gpu:
        gaps += box(left + gpu * scale, top + 26, (python - gpu) * scale, 20.0)
    drawn = path("bar r-host", paths[0]) + path("bar r-compute", paths[1]) + path("bar r-fetch", paths[2])
    names = words(left - 8, top + 14.5, "lane", "end", "Python") + words(left - 8, top + 40.5, "lane", "end", "GPU")
    ending = path("total", "M" + px(left + python * scale) + " " + px(top - 6) + "v58")
    return names + idle(gaps, hatch) + path("bar r-fetch muted", waits) + drawn + labels + ending


def pipeline_words(tasks: int, every: int) -> str:
    """The way of waiting that the reader has chosen, in words.

    >>> pipeline_words(8, 0), pipeline_words(8, 1), pipeline_words(8, 4), pipeline_words(8, 9)
    ('one barrier at the end', 'a barrier after every task', 'a barrier every 4 tasks', 'one barrier at the end')
    """
    if every == 0 or every >= tasks:
        return "one barrier at the end"
    if every == 1:
        return "a barrier after every task"
    return "a barrier every " + str(every) + " tasks"


def pipeline_sum(tasks: int, enqueue: float, compute: float, fetch: float) -> str:
    """The time of a group with its numbers filled in: t₁ + (m−1)·max(t₁, t₂) + t₂ + t₃."""
    slower = number(max(enqueue, compute))
    return number(enqueue) + " + " + str(tasks - 1) + "·" + slower + " + " + number(compute) + " + " + number(fetch)


def pipeline_view(values: list[float], names: list[str], numbers: list[float], width: float) -> list[str]:
    """Drive the pipeline. Values: tasks, enqueue, compute, fetch (ticks), a barrier every so many tasks (0: at the end only)."""
    tasks = half_up(values[0])
    enqueue = values[1]
    compute = values[2]
    fetch = values[3]
    every = half_up(values[4])
    each = pipeline_total(enqueue, compute, fetch, tasks, 1)
    total = pipeline_total(enqueue, compute, fetch, tasks, every)
    how = pipeline_words(tasks, every)
    how_many = said(values[0], "tasks", "")
    result = "With " + how + ": " + bold(ticks_text(total))
    if total == 0:
        result += ". Nothing takes any time here."
    elif every == 1:
        result += ". Nothing overlaps."
    else:
        result += ", " + bold(times(each / total)) + " as fast as with a barrier after every task."

    left = 60.0
    upto = max(each, 1.0)
    scale = (width - left - 14) / upto
    hatch = "lab-pipeline-" + px(width)
    step = nice_step(upto, (width - left) / 56)
    axis = ""
    for i in range(half_up(upto / step + 0.49)):
        x = left + i * step * scale
        if i * step <= upto:
            axis += path("grid", "M" + px(x) + " 24v176") + words(x, 218.0, "tick", "middle", number(i * step))
    label = "Two timelines of " + how_many + " on one axis. A barrier after every task: " + ticks_text(each) + ". Below it, "
    label += how + ": " + ticks_text(total) + "."
    kinds = pipeline_kinds(tasks, every)
    inside = axis + words(0.0, 16.0, "note", "start", "a barrier after every task: " + ticks_text(each))
    inside += lanes(pipeline_kinds(tasks, 1), enqueue, compute, fetch, left, 32.0, scale, hatch)
    inside += words(0.0, 116.0, "note", "start", how + ": " + ticks_text(total))
    inside += lanes(kinds, enqueue, compute, fetch, left, 132.0, scale, hatch)
    inside += words(left + (width - left) / 2, 240.0, "axis-title", "middle", "time (ticks)")
    figure = svg(hatch, width, 248.0, label, inside)
    figure += legend(
        key("r-host", "queue")
        + key("r-compute", "compute")
        + key("r-fetch", "fetch")
        + key("r-fetch muted", "Python waits")
        + key("hatched", "idle")
    )

    sums = number(enqueue) + " + " + number(compute) + " + " + number(fetch)
    formula = "<p>after every task: n·(t₁ + t₂ + t₃) = " + str(tasks) + "·(" + sums + ") = " + bold(ticks_text(each)) + "</p>"
    if every == 0 or every >= tasks:
        formula += "<p>one at the end: t₁ + (n−1)·max(t₁, t₂) + t₂ + t₃ = " + pipeline_sum(tasks, enqueue, compute, fetch)
    else:
        full = tasks // every
        rest = tasks - full * every
        formula += "<p>in groups of " + str(every) + ", each t₁ + (k−1)·max(t₁, t₂) + t₂ + t₃: "
        formula += str(full) + "·(" + pipeline_sum(every, enqueue, compute, fetch) + ")"
        if rest > 0:
            formula += " + (" + pipeline_sum(rest, enqueue, compute, fetch) + ")"
    formula += " = " + bold(ticks_text(total)) + "</p>"

    peak = queue_peak(enqueue, compute, tasks, every)
    notes = item("The queue peaks at " + bold(counted(str(peak), "pending tasks")) + ".")
    if every == 1 or tasks == 1:
        notes += item("Nothing overlaps here: each task is queued, computed and fetched on its own.")
    elif compute < enqueue:
        notes += item("Queueing takes longer than computing: the GPU starves, and Python sets the pace.")
    elif compute > enqueue:
        notes += item("Computing takes longer than queueing: the GPU sets the pace, and queueing hides behind it.")
    else:
        notes += item("Queueing and computing take equally long: between barriers neither waits for the other.")
    barriers = pipeline_barriers(tasks, every)
    if barriers > 1:
        price = total - pipeline_group(enqueue, compute, fetch, tasks)
        notes += item(
            ("The one barrier" if barriers == 2 else "Each of the " + str(barriers - 1) + " barriers")
            + " before the end adds min(t₁, t₂) + t₃ = "
            + ticks_text(min(enqueue, compute) + fetch)
            + ", "
            + ticks_text(price)
            + " in all."
        )
    if every > tasks:
        notes += item("There are fewer tasks than that: the only barrier is the one at the end.")
    return [result, figure, formula, notes]
