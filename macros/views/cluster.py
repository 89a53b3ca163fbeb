"""The view of the lab "Your cluster": a training step for each way to synchronize, and how it scales."""

from __future__ import annotations

from macros.views.core import bold, box, cell, item, key, legend, path, px, svg, words
from perfmodel.kernels import bucket_count, sync_step_s, sync_terms
from perfmodel.wording import brief_time, bytes_text, counted, grouped, half_up, number, percent


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
    return sync_step_s(
        way,
        values[6] * 1e6 * values[7],
        gpus,
        nodes,
        values[2] * 1e9,
        values[3] * 1e9,
        values[4] * 1e9,
        values[5] * 1e-6,
        values[8] * 1e-3,
        values[9] * 1048576 if overlapped else 0.0,
    )


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
