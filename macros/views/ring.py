"""The view of the lab "Walk the ring": what each GPU holds after each step, and how the time grows with the number of GPUs."""

from __future__ import annotations

from macros.views.core import bold, box, item, path, px, svg, words
from perfmodel.kernels import one_gpu_s, ring_chunk, ring_limit_s, ring_s, ring_state
from perfmodel.wording import bytes_text, counted, half_up, rate_text, time_text


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
    top = 66.0
    inside = words(left - 10, 46.0, "tick", "end", "chunk")
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
        inside += words(left + i * wide + wide / 2 - 2, 46.0, "tick", "middle", str(i))
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
    last = 8
    left = 62.0
    top = 26.0
    high = 130.0
    most = one_gpu_s(size_bytes, last, link_bytes_per_s, 0.0)
    limit = ring_limit_s(size_bytes, link_bytes_per_s)
    across = (width - left - 30) / (last - 1)
    naive = ""
    ring = ""
    dots = ""
    inside = ""
    for n in range(1, last + 1):
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
    label = (
        "Time to synchronize against the number of GPUs, up to "
        + str(last)
        + ". All to one GPU: a straight line up to "
        + time_text(most)
    )
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
        result = "One GPU has nobody to send to: " + bold(str(steps) + " steps") + ". Its gradient is the sum."
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
        does = "adds it to its own" if step < gpus - 1 else "keeps it as it is"
        notes += item(
            "Next, each GPU sends a different chunk to its neighbour, which "
            + does
            + ": GPU 0 chunk "
            + str(ring_chunk(gpus, 0, step))
            + " to GPU 1, GPU 1 chunk "
            + str(ring_chunk(gpus, 1, step))
            + " to GPU "
            + str(2 % gpus)
            + (", and so on around." if gpus > 2 else ".")
        )
    if gpus > 1:
        notes += item("The ring takes " + bold(time_text(ring)) + " instead of " + bold(time_text(naive)) + " over the same links.")
    return [result, figure, formula, notes]
