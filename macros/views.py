"""What the labs show: each view takes the values of its controls and returns HTML, a string for each part of the lab.

The build calls a view once, for the state a reader finds; the browser calls the same functions, translated, for every other. So
nothing here may differ between the two languages (`macros.translate` refuses what would), and no style stands in the markup:
classes name roles, and the palette's colours come from `figures.css`. Values are as the controls show them; SI begins inside.
"""

from __future__ import annotations

from perfmodel.kernels import (
    bucket_count,
    one_gpu_s,
    overlapped_step_s,
    pipeline_barriers,
    pipeline_durations,
    pipeline_group,
    pipeline_kinds,
    pipeline_streams,
    pipeline_total,
    pipeline_waits,
    queue_peak,
    ring_chunk,
    ring_limit_s,
    ring_s,
    ring_state,
    run_streams,
    sync_terms,
)
from perfmodel.wording import (
    brief_time,
    bytes_text,
    counted,
    feels_like,
    fixed,
    grouped,
    half_up,
    number,
    percent,
    rate_text,
    ticks_text,
    time_text,
)

# ---- Drawing --------------------------------------------------------------------------------------------------------------------


def px(value: float) -> str:
    """A place in the drawing (at least 0), to a tenth of a pixel.

    >>> px(12.34), px(3.0)
    ('12.3', '3')
    """
    tenths = half_up(value * 10)
    if tenths % 10 == 0:
        return str(tenths // 10)
    return str(tenths // 10) + "." + str(tenths % 10)


def box(x: float, y: float, wide: float, high: float) -> str:
    """A rectangle as part of a path: many bars of one role make one element, which is drawn faster.

    >>> box(1.0, 2.0, 10.5, 4.0)
    'M1 2h10.5v4H1z'
    """
    return "M" + px(x) + " " + px(y) + "h" + px(wide) + "v" + px(high) + "H" + px(x) + "z"


def path(cls: str, d: str) -> str:
    """A path, or nothing where there is nothing to draw."""
    if d == "":
        return ""
    return '<path class="' + cls + '" d="' + d + '"/>'


def idle(d: str, hatch: str) -> str:
    """Hatched bars: a resource that waits."""
    if d == "":
        return ""
    return '<path class="bar r-idle" fill="url(#' + hatch + ')" d="' + d + '"/>'


def words(x: float, y: float, cls: str, anchor: str, text: str) -> str:
    """A line of text; `anchor` is start, middle or end."""
    return '<text class="' + cls + '" x="' + px(x) + '" y="' + px(y) + '" text-anchor="' + anchor + '">' + text + "</text>"


def svg(name: str, width: float, height: float, label: str, inside: str) -> str:
    """A drawing with its hatch, and what it shows in words for who can't see it."""
    size = ' width="' + px(width) + '" height="' + px(height) + '" viewBox="0 0 ' + px(width) + " " + px(height) + '"'
    hatch = '<defs><pattern id="' + name + '" width="6" height="6" patternUnits="userSpaceOnUse">'
    lines = '<path class="hatch" d="M-1 1L1 -1M0 6L6 0M5 7L7 5"/></pattern></defs>'
    shown = '<g class="keep" aria-hidden="true">' + inside + "</g>"  # the label says it, and is not said twice
    return '<svg role="img" aria-label="' + label + '"' + size + ">" + hatch + lines + shown + "</svg>"


def nice_step(upto: float, most: float) -> float:
    """The distance of the marks on an axis that ends at `upto`: 1, 2 or 5 times a power of ten, so that there are at most `most`.

    >>> nice_step(56.0, 8.0), nice_step(700.0, 8.0), nice_step(0.3, 4.0)
    (10.0, 100.0, 0.1)
    """
    step = 1.0
    while upto / step <= most / 10:
        step = step / 10
    k = 0
    while upto / step > most:
        step = step * 2.5 if k % 3 == 1 else step * 2
        k += 1
    return step


def bold(text: str) -> str:
    """Text that stands out."""
    return "<strong>" + text + "</strong>"


def item(text: str) -> str:
    """A remark under a lab."""
    return "<li>" + text + "</li>"


def cell(text: str) -> str:
    """A number in a table."""
    return '<td class="num">' + text + "</td>"


def times(value: float) -> str:
    """A ratio: 2.00×."""
    return fixed(value, 2) + "×"


def key(role: str, text: str) -> str:
    """An entry of a legend: a swatch in the colour of a role, and what it stands for."""
    return '<span><span class="key ' + role + '"></span>' + text + "</span> "


def legend(entries: str) -> str:
    """A legend under a drawing."""
    return '<p class="lab-legend">' + entries + "</p>"


def said(value: float, unit: str, zero: str) -> str:
    """The value of a control in words, for who hears it: 3 ticks, at the end only.

    >>> said(3.0, "ticks", ""), said(0.0, "tasks", "at the end only"), said(1.0, "tasks", "")
    ('3\\xa0ticks', 'at the end only', '1\\xa0task')
    """
    if value == 0 and zero != "":
        return zero
    return number(value) if unit == "" else counted(number(value), unit)


# ---- Drive the pipeline ---------------------------------------------------------------------------------------------------------


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
    if total > 0:
        result += ", " + bold(times(each / total)) + " as fast as with a barrier after every task."
    else:
        result += ". Nothing takes any time here."

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
    if compute < enqueue:
        notes += item("Queueing takes longer than computing: the GPU starves, and Python sets the pace.")
    elif compute > enqueue:
        notes += item("Computing takes longer than queueing: the GPU sets the pace, and queueing hides behind it.")
    else:
        notes += item("Queueing and computing take equally long: neither waits for the other.")
    barriers = pipeline_barriers(tasks, every)
    if barriers > 1:
        price = total - pipeline_group(enqueue, compute, fetch, tasks)
        notes += item(
            "Each of the "
            + counted(str(barriers - 1), "barriers")
            + " before the end adds min(t₁, t₂) + t₃ = "
            + ticks_text(min(enqueue, compute) + fetch)
            + ", "
            + ticks_text(price)
            + " in all."
        )
    if every > tasks:
        notes += item("There are fewer tasks than that: the only barrier is the one at the end.")
    return [result, figure, formula, notes]


# ---- How long is a nanosecond? --------------------------------------------------------------------------------------------------


def scaled_bar(felt: float) -> str:
    """A bar on a linear scale on which one second is 24 px; what is longer than 96 px is cut, and drawn with an open end."""
    wide = min(felt * 24, 96.0)
    start = '<svg class="rung" width="104" height="12" viewBox="0 0 104 12" aria-hidden="true">'
    if felt * 24 > 96:
        return start + '<path class="bar r-transfer" d="M0 1h96l6 5l-6 5H0z"/></svg>'
    return start + path("bar r-transfer", box(0.0, 1.0, max(wide, 0.4), 10.0)) + "</svg>"


def ladder_view(values: list[float], names: list[str], numbers: list[float], width: float) -> list[str]:
    """How long is a nanosecond? Value: the row that takes one second. Names: the actions; numbers: their seconds, shortest first."""
    reference = half_up(values[0])
    one = numbers[reference]
    last = len(numbers) - 1
    result = "If “" + names[reference] + "” took one second, "
    if reference != last:
        result += "“" + names[last] + "” would take " + bold(feels_like(numbers[last] / one, False))
    if reference != 0:
        if reference != last:
            result += ", and "
        result += "“" + names[0] + "” would take " + bold(feels_like(numbers[0] / one, False))
    result += "."
    head = '<table class="data rungs"><thead><tr><th scope="col">Action</th><th scope="col" class="num">Takes</th>'
    head += '<th scope="col" class="num">Feels like</th><th scope="col">To scale</th></tr></thead><tbody>'
    rows = ""
    for i in range(len(numbers)):
        felt = numbers[i] / one
        mark = ' class="chosen"' if i == reference else ""
        pressed = "true" if i == reference else "false"
        rows += (
            "<tr"
            + mark
            + '><th scope="row"><button type="button" data-set="reference" data-to="'
            + str(i)
            + '" aria-pressed="'
            + pressed
        )
        rows += '">' + names[i] + "</button></th>" + cell(feels_like(numbers[i], False)) + cell(feels_like(felt, i == reference))
        rows += "<td>" + scaled_bar(felt) + "</td></tr>"
    formula = "<p>t / t<sub>ref</sub> · 1 s, for the last row: "
    formula += feels_like(numbers[last], False) + " / " + feels_like(one, False) + " · 1 s = "
    formula += bold(feels_like(numbers[last] / one, last == reference)) + "</p>"
    return [result, head + rows + "</tbody></table>", formula, ""]


# ---- Walk the ring --------------------------------------------------------------------------------------------------------------


def ring_highs(values: list[float], highs: list[float]) -> list[float]:
    """The largest value that each control of the ring may take now: a ring of n GPUs is walked in 2·(n−1) steps.

    >>> ring_highs([3.0, 0.0, 160.0, 16.0], [8.0, 14.0, 10000.0, 1000.0])
    [8.0, 4.0, 10000.0, 1000.0]
    """
    return [highs[0], 2 * (values[0] - 1), highs[2], highs[3]]


def ring_phase(gpus: int, step: int) -> str:
    """Where in its two phases a ring is after so many steps.

    >>> ring_phase(4, 0), ring_phase(4, 2), ring_phase(4, 3), ring_phase(4, 6), ring_phase(1, 0)
    ('the start', 'reduce-scatter, step 2 of 3', 'reduce-scatter, step 3 of 3', 'all-gather, step 3 of 3', 'the start')
    """
    each = gpus - 1
    if step == 0:
        return "the start"
    if step <= each:
        return "reduce-scatter, step " + str(step) + " of " + str(each)
    return "all-gather, step " + str(step - each) + " of " + str(each)


def ring_grid(gpus: int, step: int, width: float, name: str, label: str) -> str:
    """What each GPU holds of each chunk; a heavy frame marks what has just arrived, and an arrow where it came from."""
    grid = ring_state(gpus, step)
    whole = gpus * (gpus + 1) // 2
    left = 56.0
    wide = min((width - left - 4) / gpus, 84.0)
    high = 30.0
    gap = 16.0
    top = 52.0
    inside = ""
    each = gpus - 1
    pip = min((width - left - 14) / max(2 * each, 1), 60.0)
    pips = ["", "", "", ""]
    for t in range(2 * each):
        x = left + t * pip + (10.0 if t >= each else 0.0)
        pips[(0 if t < each else 2) + (0 if t < step else 1)] += box(x, 20.0, max(pip - 3, 2.0), 9.0)
    inside += path("bar r-transfer", pips[0]) + path("bar r-transfer muted", pips[1])
    inside += path("bar r-update", pips[2]) + path("bar r-update muted", pips[3])
    if each > 0:
        inside += words(left, 14.0, "tick", "start", "reduce-scatter")
        inside += words(left + each * pip + 10.0, 14.0, "tick", "start", "all-gather")
    partial = ""
    done = ""
    held = ""
    frames = ""
    wires = ""
    for i in range(gpus):
        y = top + i * (high + gap)
        held += words(left - 10, y + 20, "lane", "end", "GPU " + str(i))
        arrived = -1
        if step > 0:
            arrived = ring_chunk(gpus, (i + gpus - 1) % gpus, step - 1)
        for c in range(gpus):
            x = left + c * wide
            value = grid[i][c]
            if value == whole:
                done += box(x, y, wide - 4, high)
            else:
                partial += box(x, y, wide - 4, high)
            held += words(
                x + wide / 2 - 2, y + 20, "bar-label r-update" if value == whole else "bar-label muted", "middle", str(value)
            )
            if c == arrived:
                frames += box(x, y, wide - 4, high)
                wires += "M" + px(x + wide / 2 - 2) + " " + px(y - gap + 1) + "v" + px(gap - 4) + "m-4 -4l4 4l4 -4"
    inside += path("bar r-transfer muted", partial) + path("bar r-update", done) + held
    inside += path("arrived", frames) + path("wire", wires)
    return svg(name, width, top + gpus * (high + gap), label, inside)


def ring_growth(gpus: int, size_bytes: float, link_bytes_per_s: float, width: float, name: str) -> str:
    """The time to synchronize for 1 to 8 GPUs: all to one GPU, which grows with them, and the ring, which stays under its limit."""
    left = 62.0
    top = 26.0
    high = 130.0
    most = one_gpu_s(size_bytes, 8, link_bytes_per_s, 0.0)
    limit = ring_limit_s(size_bytes, link_bytes_per_s)
    across = (width - left - 30) / 7
    naive = ""
    ring = ""
    dots = ""
    inside = ""
    for n in range(1, 9):
        x = left + (n - 1) * across
        y = top + high - one_gpu_s(size_bytes, n, link_bytes_per_s, 0.0) / most * high
        z = top + high - ring_s(size_bytes, n, link_bytes_per_s, 0.0) / most * high
        naive += ("M" if n == 1 else "L") + px(x) + " " + px(y)
        ring += ("M" if n == 1 else "L") + px(x) + " " + px(z)
        inside += words(x, top + high + 18, "tick", "middle", str(n))
        if n == gpus:
            dots = '<circle class="dot r-transfer" r="5" cx="' + px(x) + '" cy="' + px(y) + '"/>'
            dots += '<circle class="dot r-update" r="5" cx="' + px(x) + '" cy="' + px(z) + '"/>'
    y = top + high - limit / most * high
    inside += path("grid", "M" + px(left) + " " + px(top) + "H" + px(width - 30))
    inside += words(left - 8, top + 4.5, "tick", "end", time_text(most)) + words(left - 8, top + high + 4.5, "tick", "end", "0")
    inside += '<path class="limit r-update" stroke-dasharray="7 4" d="M' + px(left) + " " + px(y) + "H" + px(width - 30) + '"/>'
    close = "ring, and its limit 2·S/B = " if width > 480 else "ring, under "
    inside += words(width - 30, y - 7, "note r-update", "end", close + time_text(limit))
    inside += path("line r-transfer", naive) + path("line r-update", ring) + dots
    inside += words(left + 5.4 * across, top + 14, "note r-transfer", "end", "all to one GPU")
    inside += path("axis", "M" + px(left) + " " + px(top + high) + "H" + px(width - 30))
    inside += words(left + (width - left) / 2, top + high + 38, "axis-title", "middle", "GPUs")
    label = "Time to synchronize against the number of GPUs, from 1 to 8. All to one GPU: a straight line up to " + time_text(most)
    label += ". The ring: a curve that stays under " + time_text(limit) + "."
    return svg(name, width, top + high + 46, label, inside)


def ring_view(values: list[float], names: list[str], numbers: list[float], width: float) -> list[str]:
    """Walk the ring. Values: GPUs, steps made, gradient (MB), link (GB/s each way)."""
    gpus = half_up(values[0])
    step = half_up(values[1])
    size_bytes = values[2] * 1e6
    link_bytes_per_s = values[3] * 1e9
    steps = 2 * (gpus - 1)
    whole = gpus * (gpus + 1) // 2
    grid = ring_state(gpus, step)
    finished = 0
    for i in range(gpus):
        for c in range(gpus):
            if grid[i][c] == whole:
                finished += 1
    target = "Every chunk is to become " + bold(str(whole)) + "."
    if gpus == 1:
        result = "One GPU has nobody to send to: " + bold("0 steps") + ". Its gradient is the sum."
    elif step == 0:
        result = "At the start each GPU holds its own gradient: GPU 0 ones, GPU 1 twos, and so on. " + target
    elif step < gpus - 1:
        result = "After step " + str(step) + " of " + str(steps) + ": partial sums travel, and grow. " + target
    elif step == gpus - 1:
        result = "After step " + str(step) + " of " + str(steps) + ": each GPU has " + bold("one finished chunk")
        result += ". Reduce-scatter is done."
    elif step < steps:
        result = "After step " + str(step) + " of " + str(steps) + ": finished sums travel, and are copied. " + bold(str(finished))
        result += " of " + str(gpus * gpus) + " chunks are there."
    else:
        result = "After " + counted(str(steps), "steps") + ": every chunk is " + bold(str(whole)) + ", on every GPU."
    label = "A grid of what each of " + str(gpus) + " GPUs holds, at " + ring_phase(gpus, step) + ". "
    for i in range(gpus):
        label += "GPU " + str(i) + ":"
        for c in range(gpus):
            label += " " + str(grid[i][c])
        label += ". "
    figure = ring_grid(gpus, step, width, "lab-ring-" + px(width), label)
    figure += ring_growth(gpus, size_bytes, link_bytes_per_s, width, "lab-ring-growth-" + px(width))
    naive = one_gpu_s(size_bytes, gpus, link_bytes_per_s, 0.0)
    ring = ring_s(size_bytes, gpus, link_bytes_per_s, 0.0)
    filled = str(gpus - 1) + "·" + bytes_text(size_bytes) + " / "
    formula = "<p>steps: 2·(n−1) = 2·" + str(gpus - 1) + " = " + bold(str(steps)) + "</p>"
    formula += (
        "<p>per link per step: S / n = " + bytes_text(size_bytes) + " / " + str(gpus) + " = " + bold(bytes_text(size_bytes / gpus))
    )
    formula += "</p><p>ring: 2·(n−1)·S / (n·B) = 2·" + filled + "(" + str(gpus) + "·" + rate_text(link_bytes_per_s) + ") = "
    formula += (
        bold(time_text(ring)) + "</p><p>all to one GPU and back: 2·(n−1)·S / B = 2·" + filled + rate_text(link_bytes_per_s) + " = "
    )
    formula += bold(time_text(naive)) + "</p>"
    notes = item("Phase: " + bold(ring_phase(gpus, step)) + ".")
    if step < steps:
        chunk = ring_chunk(gpus, 0, step)
        does = "which adds it to its own" if step < gpus - 1 else "which keeps it as it is"
        notes += item(
            "Next, GPU 0 sends chunk " + str(chunk) + " to GPU " + str(1 % gpus) + ", " + does + ". So does every other GPU."
        )
    if gpus > 1:
        notes += item("The ring takes " + bold(time_text(ring)) + " instead of " + bold(time_text(naive)) + " over the same links.")
    return [result, figure, formula, notes]


# ---- Your cluster ---------------------------------------------------------------------------------------------------------------


def way_name(way: int) -> str:
    """A way to synchronize, by its number."""
    if way == 0:
        return "all to one GPU"
    if way == 1:
        return "through one CPU"
    if way == 2:
        return "in shards"
    if way == 3:
        return "one ring"
    return "two levels of rings"


def cluster_terms(values: list[float], way: int, gpus: int, nodes: int, messages: int) -> list[float]:
    """What a way costs when the gradient travels in so many messages: [latency, bytes inside, bytes between], in seconds."""
    terms = sync_terms(
        way,
        values[6] * 1e6 * values[7],
        gpus,
        nodes,
        values[2] * 1e9,
        values[3] * 1e9,
        values[4] * 1e9,
        values[5] * 1e-6,
    )
    return [terms[0] * messages, terms[1], terms[2]]


def cluster_step(values: list[float], way: int, gpus: int, nodes: int, overlapped: bool) -> float:
    """Seconds of a training step on so many GPUs, with the gradient sent at the end or bucket by bucket on the way."""
    compute = values[8] * 1e-3
    if gpus * nodes == 1:
        return compute
    buckets = bucket_count(values[6] * 1e6 * values[7], values[9] * 1048576)
    if not overlapped:
        terms = cluster_terms(values, way, gpus, nodes, 1)
        return compute + (terms[0] + terms[1] + terms[2])
    terms = cluster_terms(values, way, gpus, nodes, buckets)
    return overlapped_step_s(compute, buckets, (terms[0] + terms[1] + terms[2]) / buckets)


def cluster_best(values: list[float], gpus: int, nodes: int) -> list[int]:
    """The quickest way, and whether overlapped (1) or not (0), on so many GPUs. The first of equals counts; rings come first."""
    best = [3, 1]
    least = cluster_step(values, 3, gpus, nodes, True)
    for overlap in range(1, -1, -1):
        for way in range(4, -1, -1):
            took = cluster_step(values, way, gpus, nodes, overlap == 1)
            if took < least * (1 - 1e-9):
                least = took
                best = [way, overlap]
    return best


def cluster_bars(values: list[float], gpus: int, nodes: int, width: float) -> str:
    """A pair of bars for each way: a step with its gradient sent at the end, and one that sends it on the way."""
    compute = values[8] * 1e-3
    slowest = compute
    for way in range(5):
        slowest = max(slowest, cluster_step(values, way, gpus, nodes, False), cluster_step(values, way, gpus, nodes, True))
    # The scale ends where the second slowest way does: one that is far behind is cut, and says so.
    second = compute
    for way in range(5):
        took = max(cluster_step(values, way, gpus, nodes, False), cluster_step(values, way, gpus, nodes, True))
        if took < slowest * (1 - 1e-9):
            second = max(second, took)
    upto = min(slowest, max(second * 1.25, 2 * compute))
    room = width - 86
    scale = room / upto if upto > 0 else 0.0
    inside = ""
    y = 0.0
    label = "Bars of a training step for each way to synchronize. "
    for way in range(5):
        inside += words(0.0, y + 14, "note", "start", way_name(way))
        y += 20
        label += way_name(way) + ": "
        for overlap in range(2):
            took = cluster_step(values, way, gpus, nodes, overlap == 1)
            inside += path("bar r-compute" + (" muted" if overlap == 1 else ""), box(0.0, y, compute * scale, 16.0))
            end = min(took, upto)
            if end > compute:
                inside += path("bar r-transfer", box(compute * scale, y, (end - compute) * scale, 16.0))
            if took > upto * (1 + 1e-9):
                inside += path("cut", "M" + px(room - 9) + " " + px(y - 2) + "l-5 20h5l5 -20z")
            inside += words(end * scale + 5, y + 12.5, "bar-label out", "start", brief_time(took))
            label += brief_time(took) + (" sent at the end, " if overlap == 0 else " sent on the way; ")
            y += 18
        y += 6
    return svg("lab-cluster-" + px(width), width, y, label, inside)


def cluster_curve(values: list[float], width: float) -> str:
    """Scaling efficiency against the number of GPUs: first one machine fills up, then machines are added."""
    gpus = half_up(values[0])
    here = gpus * half_up(values[1])
    counts = [1]
    sizes = [[1, 1]]
    n = 2
    while n < gpus:
        counts.append(n)
        sizes.append([n, 1])
        n = n * 2
    nodes = 1
    while gpus * nodes <= 1024:
        if gpus * nodes > 1:
            counts.append(gpus * nodes)
            sizes.append([gpus, nodes])
        nodes = nodes * 2
    left = 52.0
    top = 26.0
    high = 130.0
    compute = values[8] * 1e-3
    across = (width - left - 26) / max(len(counts) - 1, 1)
    every = 2 if across < 44 else 1
    naive = ""
    end = ""
    best = ""
    inside = ""
    label = "Scaling efficiency. "
    for i in range(len(counts)):
        x = left + i * across
        g = sizes[i][0]
        m = sizes[i][1]
        way = cluster_best(values, g, m)
        share = compute / cluster_step(values, way[0], g, m, way[1] == 1)
        least = compute / cluster_step(values, 3, g, m, False)
        worst = compute / cluster_step(values, 0, g, m, False)
        start = "M" if i == 0 else "L"
        best += start + px(x) + " " + px(top + high * (1 - share))
        end += start + px(x) + " " + px(top + high * (1 - least))
        naive += start + px(x) + " " + px(top + high * (1 - worst))
        label += grouped(counts[i]) + " GPUs: " + percent(share) + " at best. "
        if i % every == 0:
            inside += words(x, top + high + 18, "tick", "middle", str(counts[i]))
        if counts[i] == here:
            inside += path("total", "M" + px(x) + " " + px(top - 4) + "v" + px(high + 4))
    for k in range(3):
        y = top + high * k / 2
        inside += path("grid", "M" + px(left) + " " + px(y) + "H" + px(width - 26)) + words(
            left - 8, y + 4.5, "tick", "end", str(100 - 50 * k) + "\u00a0%"
        )
    inside += (
        path("line r-transfer", naive)
        + '<path class="line r-host" stroke-dasharray="7 4" d="'
        + end
        + '"/>'
        + path("line r-update", best)
    )
    inside += path("axis", "M" + px(left) + " " + px(top + high) + "H" + px(width - 26))
    inside += words(left + (width - left) / 2, top + high + 38, "axis-title", "middle", "GPUs, first in one machine, then in more")
    return svg("lab-cluster-curve-" + px(width), width, top + high + 46, label, inside)


def cluster_view(values: list[float], names: list[str], numbers: list[float], width: float) -> list[str]:
    """Your cluster. Values: GPUs a machine, machines, link, link to the CPU, network port (GB/s each way), latency (µs), parameters
    (millions), bytes a gradient, computing a step (ms), bucket (MiB)."""
    gpus = half_up(values[0])
    nodes = half_up(values[1])
    total = gpus * nodes
    compute = values[8] * 1e-3
    size_bytes = values[6] * 1e6 * values[7]
    buckets = bucket_count(size_bytes, values[9] * 1048576)
    best = cluster_best(values, gpus, nodes)
    step = cluster_step(values, best[0], gpus, nodes, best[1] == 1)
    share = compute / step
    if total == 1:
        result = "One GPU has nobody to wait for: a step takes " + bold(brief_time(step)) + "."
    else:
        result = "At best a step takes " + bold(brief_time(step)) + " (" + way_name(best[0])
        result += ", sent on the way)" if best[1] == 1 else ", sent at the end)"
        result += ": the GPUs compute " + bold(percent(share)) + " of the time."
    figure = (
        '<p class="lab-caption">'
        + bold("A training step, for each way to synchronize")
        + "</p>"
        + cluster_bars(values, gpus, nodes, width)
    )
    figure += legend(
        key("r-compute", "computing")
        + key("r-compute muted", "computing, while gradients travel")
        + key("r-transfer", "waiting for gradients")
    )
    figure += '<p class="lab-caption">Each upper bar: gradients sent at the end of the step. Each lower bar: sent on the way.</p>'
    figure += '<p class="lab-caption">' + bold("How much of the time the GPUs compute, as the cluster grows") + "</p>"
    figure += cluster_curve(values, width)
    figure += legend(
        key("line r-update", "the best way")
        + key("line dashed r-host", "one ring, sent at the end")
        + key("line r-transfer", "all to one GPU, sent at the end")
    )

    formula = (
        "<p>gradients: " + grouped(half_up(values[6])) + " million · " + number(values[7]) + " B = " + bold(bytes_text(size_bytes))
    )
    formula += ", in " + bold(counted(grouped(buckets), "buckets")) + "</p>"
    terms = cluster_terms(values, best[0], gpus, nodes, buckets if best[1] == 1 else 1)
    sent = terms[0] + terms[1] + terms[2]
    if total > 1:
        formula += "<p>" + way_name(best[0]) + ": " + brief_time(terms[0]) + " of latency + " + brief_time(terms[1])
        formula += " of bytes inside a machine + " + brief_time(terms[2]) + " between machines = " + bold(brief_time(sent)) + "</p>"
        if best[1] == 1:
            formula += (
                "<p>step: forward pass "
                + brief_time(compute - 2 * compute / 3)
                + ", then backward pass and sending side by side = "
            )
        else:
            formula += "<p>step: " + brief_time(compute) + " + " + brief_time(sent) + " = "
        formula += bold(brief_time(step)) + "</p>"
    notes = ""
    if total > 1:
        hidden = 1 - (step - compute) / sent if sent > 0 else 1.0
        if step - compute <= 0.05 * step:
            notes += item(
                "Largest term: " + bold("computing") + ". The wait left over is " + brief_time(step - compute) + " a step."
            )
        elif terms[0] >= max(terms[1], terms[2]):
            notes += item(
                "What the GPUs wait for is mostly "
                + bold("latency")
                + ": send fewer, larger buckets, or take fewer steps in a row."
            )
        elif terms[1] >= terms[2]:
            notes += item(
                "What the GPUs wait for is mostly "
                + bold("bytes inside a machine")
                + ": a faster link or smaller gradients would help."
            )
        else:
            notes += item(
                "What the GPUs wait for is mostly "
                + bold("bytes between machines")
                + ": a faster network or smaller gradients would help."
            )
        if best[1] == 1:
            notes += item(bold(percent(max(hidden, 0.0))) + " of the sending hides behind the backward pass.")
        table = '<table class="data"><thead><tr><th scope="col">Way</th><th scope="col" class="num">Sync</th>'
        table += '<th scope="col" class="num">Step, sent at the end</th><th scope="col" class="num">Step, sent on the way</th>'
        table += '<th scope="col" class="num">Efficiency at best</th></tr></thead><tbody>'
        for way in range(5):
            one = cluster_terms(values, way, gpus, nodes, 1)
            first = cluster_step(values, way, gpus, nodes, False)
            second = cluster_step(values, way, gpus, nodes, True)
            table += (
                '<tr><th scope="row">'
                + way_name(way)
                + "</th>"
                + cell(brief_time(one[0] + one[1] + one[2]))
                + cell(brief_time(first))
            )
            table += cell(brief_time(second)) + cell(percent(compute / min(first, second))) + "</tr>"
        formula += table + "</tbody></table>"
    return [result, figure, formula, notes]
