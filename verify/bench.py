"""`make bench`: the budgets, measured. Prints a table and writes bench.json.

Times depend on the machine and on what else it does; where a peer is at hand, the figure is a ratio taken in one run.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from verify.bench_model import Row, runner_bench, size_bench
from verify.checkout import ROOT, build, copy


def row(what: str, value: float, unit: str, limit: float) -> Row:
    """One line, with a budget of at most `limit`."""
    return Row(what=what, value=value, unit=unit, budget=f"at most {limit:g} {unit}", ok=value <= limit)


def numbers_s() -> float:
    """Seconds of `make numbers`, process and all: the best of three."""
    best = float("inf")
    for _ in range(3):
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-m", "macros.audit"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        best = min(best, time.perf_counter() - begin)
    return best


def reality_s() -> float:
    """Seconds of `make reality`, process and all."""
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-m", "verify.reality"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def build_s(site: Path) -> float:
    """Seconds of a whole build, process and all: the best of two."""
    best = float("inf")
    for _ in range(2):
        begin = time.perf_counter()
        done = build(ROOT, site)
        best = min(best, time.perf_counter() - begin)
        if done.returncode:
            raise RuntimeError(f"the site must build to be measured:\n{done.stdout}")
    return best


def rebuild_s(project: Path) -> float:
    """Seconds that a running `make serve` takes to build again after a change, by its own account."""
    command = [sys.executable, "-m", "mkdocs", "serve", "-a", "127.0.0.1:0"]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, cwd=project, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as server:
        try:
            assert server.stdout is not None
            times: list[float] = []
            for line in server.stdout:
                built = re.search(r"built in ([\d.]+) seconds", line)
                if built:
                    times.append(float(built[1]))
                if len(times) > 1:
                    return times[-1]
                if "Serving on" in line:
                    page = project / "docs" / "index.md"
                    page.write_text(page.read_text(encoding="utf-8") + "\nOne more line.\n", encoding="utf-8")
        finally:
            server.terminate()
    raise RuntimeError("the server ended before it built again")


def browser_rows(site: Path) -> list[Row]:
    """Weight and first paint of the acts, and what the labs cost to drive, in Chromium."""
    from verify import perf
    from verify.browser import acts

    rows = []
    for act in acts(site):
        rows.append(row(f"{act}: weight before Plotly, gzip", perf.page_weight(site, act) / 1000, "kB", 120))
        paint = perf.first_paint(site, act)
        rows.append(row(f"{act}: first contentful paint, slow phone", paint["fcp_s"], "s", 1.2))
        rows.append(
            Row(
                what=f"{act}: figures visible as SVG at that point",
                value=float(paint["svg_visible"]),
                unit="",
                budget="yes",
                ok=bool(paint["svg_visible"]),
            )
        )
    code = [gzip.compress((site / "assets" / name).read_bytes(), 6) for name in ("kernels.js", "labs.js")]
    rows.append(row("labs: kernels.js and front end, gzip", sum(map(len, code)) / 1000, "kB", 25))
    for what, lab, control, query in (
        ("a pipeline of 64 tasks", "pipeline", "compute", "?pipeline.tasks=64"),
        ("a ring of 8", "ring", "step", "?ring.gpus=8"),
        ("a cluster", "cluster", "latency", ""),
    ):
        took = perf.drive(site, lab, control, query)
        rows.append(row(f"labs: {what}, first interaction after load, slow phone", took["first_s"], "s", 1.5))
        rows.append(row(f"labs: {what}, input to paint, p95", took["p95_ms"], "ms", 30))
    return rows


def main() -> int:
    """Measure, print, write. The status is 0 whatever the figures: a noisy machine is no fault."""
    rows = [*runner_bench(), *size_bench()]
    rows.append(row("make reality", reality_s(), "s", 3))
    rows.append(row("make numbers", numbers_s(), "s", 2))
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder) / "site"
        rows.append(row("a whole build", build_s(site), "s", 8))
        rows.append(row("a rebuild under make serve", rebuild_s(copy(Path(folder) / "project")), "s", 2))
        if os.environ.get("CHROMIUM") or shutil.which("chromium"):
            rows += browser_rows(site)
        else:
            print("weight and first paint NOT RUN: needs Chromium; apt-get install chromium, or set CHROMIUM to its path")
    for r in rows:
        print(f"{r['what']:<62} {r['value']:>10.3g} {r['unit']:<4} {r['budget']:<18} {'met' if r['ok'] else 'NOT MET'}")
    (ROOT / "bench.json").write_text(json.dumps(rows, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
