"""`make verify`: every leg, a table with a line a leg, verification.json, and the site built last.

A leg that could not run is named, with the reason and the cure. VERIFY_REQUIRE=browser,cuda turns that into a failure. FULL=1 adds the long suites.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Literal, NamedTuple

from macros.audit import audit_sources
from macros.fingerprint import sources
from macros.records import write_whole
from verify.checkout import ROOT

BUILD = ROOT / "build"
# The leg that each test module belongs to, by the beginning of its name. A test sees to it that none is left out.
LEGS = {
    "perfmodel": "model", "verify.test_model": "model", "verify.test_right_values": "model", "verify.test_units": "model",
    "verify.test_program": "model", "verify.test_arguments": "model", "verify.test_overlap": "model", "verify.test_hardware": "model",
    "verify.test_ladder": "model", "verify.test_scaling": "model", "verify.test_alphabeta": "model", "verify.test_stages": "model",
    "verify.test_buckets": "model", "verify.test_cli": "model", "verify.test_sharding": "model", "verify.test_reality": "model", "verify.test_module": "model", "verify.reality": "model",
    "macros": "numbers", "verify.test_quotes": "numbers", "verify.test_relations": "numbers", "verify.test_naked": "numbers",
    "verify.test_scan": "numbers", "verify.test_formulas": "numbers", "verify.test_audit": "numbers", "verify.test_structure": "numbers", "verify.test_fixes": "numbers", "verify.test_links": "numbers", "verify.test_frontmatter": "numbers", "verify.test_labels": "numbers", "verify.test_mutants": "numbers", "verify.test_measured": "numbers",
    "verify.test_public_cases": "numbers", "verify.test_public_cases_browser": "browser", "verify.test_fuzz": "numbers",
    "verify.test_module_measure": "numbers", "verify.test_module_pages": "numbers", "verify.measure": "numbers",
    "verify.test_translate": "labs", "verify.test_labs": "labs", "verify.labs": "labs",
    "verify.test_code": "code", "verify.test_verify": "code", "verify.mutation": "code", "verify.test_mutation": "code", "verify.publish": "site", "verify.test_publish": "site", "verify.test_attacks": "site",
    "verify.test_site": "site", "verify.test_hostile": "site", "verify.test_svg": "site", "verify.test_colours": "site", "verify.test_figures": "site",
    "verify.test_browser": "browser", "verify.browser": "browser", "verify.server": "site",
    "perfmodel.lockstep": "lockstep", "verify.test_lockstep": "lockstep", "verify.test_records": "lockstep", "verify.test_processes": "lockstep",
    "verify.lockstep": "lockstep", "verify.faults": "lockstep", "verify.hosts": "lockstep",
    "verify.test_cuda": "cuda", "verify.test_cuda_parts": "lockstep", "verify.cuda": "lockstep", "verify.gpu": "lockstep", "verify.test_codechips": "code",
    "verify.test_train_ddp": "lockstep", "verify.ddp_rank": "lockstep",
}  # fmt: skip
ORDER = ("code", "numbers", "model", "lockstep", "cuda", "labs", "site", "browser")
WHAT = {
    "code": "ruff, mypy --strict, the arrows between the rooms",
    "numbers": "planted faults caught, harmless edits silent",
    "model": "closed forms = engine = independent simulation; right values; published measurements within their gates",
    "lockstep": "k replicas = 1 replica: in process, over processes, on two hosts; each mutant caught",
    "cuda": "on a GPU: lockstep, the queue, copies, overlap, memory, products, programs",
    "labs": "model, wording and views give the same in JavaScript; what it would read otherwise is refused; values by hand",
    "site": "pages, links, outside requests, byte-identical rebuild, faults through a real build",
    "browser": "steps, cards, figures, labs, palettes, no script, print, accessibility, policy",
}
Status = Literal["passed", "failed", "NOT RUN"]


class Leg(NamedTuple):
    """How one leg ended."""

    leg: str
    status: Status
    detail: str
    checks: int = 0
    cure: str = ""


def leg_of(module: str) -> str:
    """The leg of a test module, by the longest prefix in LEGS. Raises ValueError for a module that belongs to none."""
    fits = [prefix for prefix in LEGS if module == prefix or module.startswith((prefix + ".", prefix + "_"))]
    if not fits:
        raise ValueError(f"every test module belongs to a leg of verify/__main__.py, got {module}")
    return LEGS[max(fits, key=len)]


def parse_required(text: str) -> set[str]:
    """The legs of VERIFY_REQUIRE. Raises ValueError for one that does not exist."""
    names = {name.strip() for name in text.split(",") if name.strip()}
    for name in sorted(names - set(ORDER)):
        raise ValueError(f"VERIFY_REQUIRE names legs of {', '.join(ORDER)}; got {name}")
    return names


def read_junit(path: Path) -> list[Leg]:
    """The legs of a pytest run, from its JUnit report."""
    passed: dict[str, int] = dict.fromkeys(ORDER, 0)
    failed: dict[str, list[str]] = {leg: [] for leg in ORDER}
    skipped: dict[str, list[str]] = {leg: [] for leg in ORDER}
    for case in ET.parse(path).iter("testcase"):
        leg = leg_of(case.get("classname") or case.get("name") or "")
        trouble = case.find("failure") if case.find("failure") is not None else case.find("error")
        skip = case.find("skipped")
        if trouble is not None:
            failed[leg].append(case.get("name", ""))
        elif skip is not None:
            skipped[leg].append(skip.get("message", ""))
        else:
            passed[leg] += 1
    legs = []
    for leg in ORDER:
        reasons = sorted(set(skipped[leg]))
        if failed[leg]:
            names = ", ".join(failed[leg][:3]) + (" …" if len(failed[leg]) > 3 else "")
            legs.append(Leg(leg, "failed", f"{len(failed[leg])} of {passed[leg] + len(failed[leg])} failed: {names}", passed[leg]))
        elif not passed[leg]:
            reason, _, cure = (reasons[0] if reasons else "no test ran; ").rpartition("; ")  # "why; and more; what to do about it"
            legs.append(Leg(leg, "NOT RUN", reason or cure, 0, cure if reason else ""))
        else:
            left_out = f"; {len(skipped[leg])} skipped: {'; '.join(reasons)}" if reasons else ""
            legs.append(Leg(leg, "passed", f"{passed[leg]} checks: {WHAT[leg]}{left_out}", passed[leg]))
    return legs


def run_tests(full: bool, report: Path) -> tuple[list[Leg], int]:
    """All tests, two at a time. Returns the legs and pytest's exit status; pytest writes its report."""
    arguments = ["-q", "-n", "2", "--dist", "worksteal", f"--junitxml={report}", "-m", "not quick" if full else "not full"]
    # A make that a test starts is none within this one, which would tell of the folders it enters.
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    status = subprocess.run([sys.executable, "-m", "pytest", *arguments], cwd=ROOT, env=environment, check=False).returncode
    if not report.stat().st_size:
        return [Leg(leg, "failed", f"pytest ended with status {status} and left no report") for leg in ORDER], status or 1
    return read_junit(report), status


def with_audit(legs: list[Leg]) -> list[Leg]:
    """The numbers leg, with the audit of the pages themselves in front of the tests of the gate."""
    audit = audit_sources()
    for fault in audit.faults:
        print(fault)
    coverage = audit.coverage().removeprefix("numbers").strip()
    out = []
    for leg in legs:
        if leg.leg == "numbers":
            bad = bool(audit.faults) or leg.status != "passed"
            leg = Leg("numbers", "failed" if bad else "passed", f"{coverage}; {leg.detail}", leg.checks + len(audit.uses))
        out.append(leg)
    return out


def table(legs: Sequence[Leg]) -> str:
    """A line a leg."""
    lines = []
    for leg in legs:
        cure = f" → {leg.cure}" if leg.cure else ""
        lines.append(f"{leg.leg:<9} {leg.status:<8} {leg.detail}{cure}")
    return "\n".join(lines)


def write(legs: Sequence[Leg], began: float, path: Path) -> None:
    """verification.json: what the site shows of this run, under the hash of the sources it belongs to."""
    seconds = round(time.monotonic() - began)
    took = f"{seconds // 60} min {seconds % 60} s" if seconds >= 60 else f"{seconds} s"
    content = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"), "took": took, "sources": sources(ROOT),
        "passed": all(leg.status != "failed" for leg in legs), "legs": [leg._asdict() for leg in legs],
    }  # fmt: skip
    write_whole(path, json.dumps(content, ensure_ascii=False, indent=1) + "\n")


def build_site() -> int:
    """`make site`, with the Python that runs this: the site shows the verification it has just passed."""
    return subprocess.run([sys.executable, "-m", "macros.site"], cwd=ROOT, check=False).returncode


def main() -> int:
    """Run everything. The exit status is 0 when no leg failed and no required leg was left out."""
    began = time.monotonic()
    try:
        required = parse_required(os.environ.get("VERIFY_REQUIRE", ""))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    try:
        (ROOT / "verification.json").unlink(missing_ok=True)  # what it says is in doubt until this run has ended
        BUILD.mkdir(exist_ok=True)
        with NamedTemporaryFile(dir=BUILD, prefix="junit-", suffix=".xml") as report:  # its own: another run may be at work
            legs, status = run_tests(os.environ.get("FULL", "") not in ("", "0"), Path(report.name))
    except OSError as error:
        print(f"make verify writes to build/ and to verification.json: {error.strerror}: {error.filename}", file=sys.stderr)
        return 2
    legs = with_audit(legs)
    legs = [
        leg._replace(status="failed", detail=f"required, and NOT RUN: {leg.detail}")
        if leg.leg in required and leg.status == "NOT RUN"
        else leg
        for leg in legs
    ]
    bad = status not in (0, 5) or any(leg.status == "failed" for leg in legs)
    write(legs, began, ROOT / "verification.json")
    if build_site():
        bad = True
    print("\n" + table(legs))
    print(f"\n{'FAILED' if bad else 'verified'} in {time.monotonic() - began:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
