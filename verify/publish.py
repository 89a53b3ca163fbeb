"""`make records` and `make publish`: what must hold before a site is published.

A build may train again when a record is stale; a publication may not, since what it shows would be in no commit. And it takes a verification
of these very sources, which passed, and a site that was built after it. When all holds, `make publish` lays verification.json into the site.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from macros import cpu_record, gpu_record, records
from macros.fingerprint import ROOT, sources

MAY_BE_LEFT_OUT = ("cuda",)  # it needs a GPU, and its line says that there was none


def stale(root: Path = ROOT) -> Iterator[str]:
    """Each record that is torn, edited, missing where a page needs it, or made by other code than this; with its cure."""
    folder = root / "docs" / "records"
    for name in records.MAKERS:
        why = records.trouble(name, folder=folder, root=root)
        if why:
            yield f"docs/records/{name}.json {why}: run `python -m macros.records {name}` and commit what it writes"
    for file, code, cure in (
        (gpu_record.PATH.name, gpu_record.CODE, gpu_record.CURE),
        (cpu_record.PATH.name, cpu_record.CODE, cpu_record.CURE),
    ):
        try:
            record = gpu_record.read(folder / file, cure)
        except records.RecordError as error:
            yield str(error)
        else:
            if record and record.code != gpu_record.code_hash(root, code):
                yield f"docs/records/{file} was made by another version of {', '.join(code)}: {cure}, or delete it"


def unverified(root: Path = ROOT) -> Iterator[str]:
    """Why the site in site/ is none that was verified."""
    path = root / "verification.json"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        hash_, passed, legs = (
            found["sources"],
            found["passed"],
            [(leg["leg"], leg["status"], leg["detail"]) for leg in found["legs"]],
        )
    except FileNotFoundError:
        yield "there is no verification.json: run `make verify`"
        return
    except (ValueError, TypeError, KeyError) as error:
        yield f"verification.json cannot be read ({error!r}): run `make verify`"
        return
    if hash_ != sources(root):
        yield "verification.json is of other sources than these: run `make verify`"
    for leg, status, detail in legs:
        if status != "passed" and not (status == "NOT RUN" and leg in MAY_BE_LEFT_OUT):
            yield f"the leg {leg} has to pass, and reads {status}: {detail}"
    if not legs or (not passed and all(status != "failed" for _, status, _ in legs)):
        yield "the last verification did not pass: run `make verify`"
    page = root / "site" / "verification.html"
    if not page.is_file() or hash_ not in page.read_text(encoding="utf-8"):
        yield "site/ does not show this verification: run `make site`"


def main(arguments: list[str], root: Path = ROOT) -> int:
    """`make records` looks at the records alone; `make publish` at everything. The exit status is 1 when anything is in the way."""
    if arguments not in ([], ["--records"]):
        print(f"usage: python -m verify.publish [--records], got {' '.join(arguments)}", file=sys.stderr)
        return 2
    (root / "site" / "verification.json").unlink(missing_ok=True)  # an earlier one would pass for this one
    problems = [*stale(root), *([] if arguments else unverified(root))]
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        print("nothing is published until this is mended", file=sys.stderr)
        return 1
    if arguments:
        print("every record is of this code")
    else:
        shutil.copy(root / "verification.json", root / "site")
        print("site/ can be published, verification.json with it")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
