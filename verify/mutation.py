"""`make mutation`: change the code of the model and of the audit in thousands of small ways, one at a time, and see a test fail each time.

mutmut makes the mutants, finds out which tests call which function, and runs these in forked children, two at a time. What it has
found stays in mutants/: a run that was interrupted goes on, and a later one tries only what is new, and what survived before.
verify/expected/mutants.json carries the verdicts from one machine to the next, under a hash of each function; without a row there, a
function's mutants are all tried. [tool.mutmut] in pyproject.toml names the modules and the tests.

A mutant that no test can kill, since it computes the same, stands with its reason in verify/expected/equivalent_mutants.csv. Any other
survivor fails the run; so does a row of that file which no survivor needs.

Not reached: code outside functions (tables of numbers, dataclass fields, the book's entries), which verify/expected/given.csv and
the audit hold, decorated functions, and text inside an f-string.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import doctest
import functools
import gc
import io
import json
import os
import re
import signal
import subprocess
import sys
import traceback
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import pytest
from hypothesis import Phase, settings
from mutmut.__main__ import create_mutants
from mutmut.configuration import config
from mutmut.mutation.data import SourceFileMutationData
from mutmut.mutation.diff_apply import get_diff_for_mutant
from mutmut.runners.harness import PytestRunner
from mutmut.state import state
from mutmut.stats import status_by_exit_code
from mutmut.utils.file_utils import change_cwd, copy_also_copy_files, copy_src_dir, walk_mutatable_files

EXPECTED = Path("verify/expected/equivalent_mutants.csv")
KEPT = Path("verify/expected/mutants.json")
MUTANTS = Path("mutants")
LETTERS = {"killed": "k", "timeout": "t", "survived": "s"}
KILLED = frozenset({"killed", "timeout"})
EXAMPLES = 25
"""As many as hypothesis draws for a test here, and it does not look for a smaller one: a mutant that needs more counts as a survivor."""
SUSPICIOUS = 35
"""mutmut's status of a child that could not run its tests: no kill."""
TIMEOUT = 36
"""And of one whose tests did not end."""
PATIENCE = 10
"""A test may take so many times what it took without a mutant and three seconds, in which a slow machine reads all pages for the first
time; mutmut's own limit is for all tests together."""


class Mutant(NamedTuple):
    """A change to one function, named by what stood there and what stands there instead: numbers shift, words stay."""

    module: str
    function: str
    was: str
    becomes: str


class Verdict(NamedTuple):
    """What became of a mutant. `name` is mutmut's, for `mutmut show`; `change` is read for survivors only."""

    name: str
    module: str
    status: str
    change: Mutant | None


def accepted(path: Path) -> dict[Mutant, str]:
    """The equivalent mutants, and the reason for each. Raises ValueError for one without a reason, or given twice."""
    rows: dict[Mutant, str] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            mutant = Mutant(row["module"], row["function"], row["was"], row["becomes"])
            if not row["reason"].strip() or mutant in rows:
                raise ValueError(f"an equivalent mutant stands once, with a reason, got {mutant}")
            rows[mutant] = row["reason"]
    return rows


def change_of(diff: str, module: str, name: str) -> Mutant:
    """The mutant that a unified diff shows.

    >>> change_of("--- a\\n+++ a\\n def f():\\n-    return 1\\n+    return 2\\n", "m", "m.x_f__mutmut_1")
    Mutant(module='m', function='f', was='return 1', becomes='return 2')
    """
    function = name.removeprefix(f"{module}.").partition("__mutmut_")[0].removeprefix("x_").lstrip("xǁ").replace("ǁ", ".")
    lines = [line for line in diff.splitlines() if not line.startswith(("---", "+++"))]
    was, becomes = (" ".join(line[1:].strip() for line in lines if line.startswith(sign)) for sign in "-+")
    return Mutant(module, function, was, becomes)


def verdicts() -> list[Verdict]:
    """What mutants/ holds of all mutants, in the order of modules and lines."""
    found = []
    for path in sorted(walk_mutatable_files()):
        data = SourceFileMutationData(path=path)
        data.load()
        module = ".".join(path.with_suffix("").parts)
        for name, code in data.exit_code_by_key.items():
            status = status_by_exit_code[code]
            change = None if status in KILLED or code is None else change_of(get_diff_for_mutant(name, path=path), module, name)
            found.append(Verdict(name, module, status, change))
    return found


def generate() -> None:
    """Write the mutants of what is new or has changed: mutmut keeps the verdicts of functions that are as they were.

    mutmut takes a file of mutants for whole once it is there. One that it was writing when it was stopped has no .meta, or an older one,
    and goes first.
    """
    for source in walk_mutatable_files():
        mutated = MUTANTS / source
        meta = mutated.with_suffix(".py.meta")
        if mutated.exists() and (not meta.exists() or meta.stat().st_mtime < mutated.stat().st_mtime):
            mutated.unlink()
    MUTANTS.mkdir(exist_ok=True)
    with contextlib.redirect_stdout(io.StringIO()):
        copy_src_dir()
        copy_also_copy_files()
        create_mutants(2)


def functions(data: SourceFileMutationData) -> dict[str, list[str]]:
    """The names of the mutants of each function, in their order, under the function's name."""
    names: dict[str, list[str]] = {}
    for name in data.exit_code_by_key:
        names.setdefault(name.rpartition(".")[2].partition("__mutmut_")[0], []).append(name)
    return names


def keep() -> None:
    """Write what mutants/ holds to `KEPT`: for each module and function a hash of its code, and a letter a mutant ("." for none yet).

    A mutant that this run did not try keeps the letter it had, while its function is as it was.
    """
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    paths = {".".join(path.with_suffix("").parts): path for path in walk_mutatable_files()}
    kept = {module: rows for module, rows in kept.items() if module in paths}
    for module, path in paths.items():
        data = SourceFileMutationData(path=path)
        data.load()
        rows = {}
        for function, names in functions(data).items():
            code = data.hash_by_function_name[function]
            was, before = kept.get(module, {}).get(function, ("", ""))
            if was != code or len(before) != len(names):
                before = "." * len(names)
            found = [status_by_exit_code[data.exit_code_by_key[name]] for name in names]
            verdicts = "".join(LETTERS.get(now, then) for now, then in zip(found, before, strict=True))
            if verdicts.strip("."):
                rows[function] = [code, verdicts]
        if rows:
            kept[module] = rows
    lines = (f"{json.dumps(module)}: {{\n" + ",\n".join(f" {json.dumps(f)}: {json.dumps(row)}" for f, row in rows.items()) + "\n}"
             for module, rows in sorted(kept.items()))  # fmt: skip
    KEPT.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def take_up() -> None:
    """Give the mutants of functions that are as they were the verdicts that `KEPT` has; `to_run` decides which survivors are tried again."""
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    codes = {LETTERS[status]: code for code, status in reversed(status_by_exit_code.items()) if status in LETTERS}
    for path in walk_mutatable_files():
        data = SourceFileMutationData(path=path)
        data.load()
        rows = kept.get(".".join(path.with_suffix("").parts), {})
        before = dict(data.exit_code_by_key)
        for function, names in functions(data).items():
            code, verdicts = rows.get(function, ("", ""))
            if code == data.hash_by_function_name[function] and len(verdicts) == len(names):
                for name, verdict in zip(names, verdicts, strict=True):
                    if data.exit_code_by_key[name] is None:
                        data.exit_code_by_key[name] = codes.get(verdict)
        if data.exit_code_by_key != before:
            data.save()


def to_run(found: Iterable[Verdict], known: Iterable[Mutant], modules: Sequence[str]) -> list[str]:
    """What to hand to mutmut: what has no verdict yet, and what survived and is not known to be equivalent."""
    known = set(known)
    return [v.name for v in found if v.module in modules and v.status not in KILLED and v.change not in known]


def forget_changed_tests() -> None:
    """mutmut asks only once which functions a test calls. Make it ask again for each test in a file that has changed since.

    When other tests are selected it would forget all verdicts, not only what tests call: then it is left nothing to compare with.
    """
    path = MUTANTS / "mutmut-stats.json"
    if not path.exists():
        return
    stats = json.loads(path.read_text(encoding="utf-8"))
    if stats.get("config_fingerprint", now := config().config_fingerprint()) != now:
        path.unlink()
        return
    files = {test.partition("::")[0] for test in stats["duration_by_test"]}
    changed = tuple(f"{f}::" for f in files if Path(f).exists() and Path(f).stat().st_mtime > path.stat().st_mtime)
    if changed:
        stats["duration_by_test"] = {t: s for t, s in stats["duration_by_test"].items() if not t.startswith(changed)}
        calls = stats["tests_by_mangled_function_name"]
        stats["tests_by_mangled_function_name"] = {f: [t for t in tests if not t.startswith(changed)] for f, tests in calls.items()}
        path.write_text(json.dumps(stats), encoding="utf-8")


def report(found: Sequence[Verdict], known: dict[Mutant, str]) -> tuple[str, bool]:
    """A table with a line a module, then each survivor that nobody has accepted. The second value says whether all is well."""
    lines, faults = (
        [f"{'module':<28}{'mutants':>8}{'killed':>8}{'timeout':>8}{'equivalent':>11}{'survived':>9}{'not run':>8}{'score':>8}"],
        [],
    )
    total: Counter[str] = Counter()
    for module in dict.fromkeys(v.module for v in found):
        mine = [v for v in found if v.module == module]
        count = Counter("equivalent" if v.change in known else "killed" if v.status == "killed" else v.status for v in mine)
        total.update(count)
        lines.append(row(module, count))
        for v in mine:
            if v.change is None and v.status not in KILLED:
                faults.append(f"{v.name}: {v.status}")
            elif v.change is not None and v.change not in known:
                faults.append(f"{v.name}: {v.status}\n  - {v.change.was}\n  + {v.change.becomes}")
    seen = {v.change for v in found}
    ran = {v.module for v in found}
    faults += [f"{EXPECTED.name} lists what no survivor needs: {m}" for m in known if m.module in ran and m not in seen]
    return "\n".join([*lines, row("all", total), *faults]), not faults


def row(name: str, count: Counter[str]) -> str:
    """A line of the table. The score is the part killed of those that were run and could be: an equivalent mutant can't."""
    killed, left = count["killed"] + count["timeout"], count["not checked"]
    could_be = count.total() - count["equivalent"] - left
    score = f"{killed / could_be:8.1%}" if could_be else f"{'–':>8}"
    return f"{name:<28}{count.total():>8}{count['killed']:>8}{count['timeout']:>8}{count['equivalent']:>11}{could_be - killed:>9}{left:>8}{score}"


class Children:
    """A plugin for the pytest that mutmut runs, with `-p verify.mutation`, which makes a mutant cost what its tests cost.

    mutmut calls pytest anew in each forked child, which reads the tests all over again. Here the parent reads them once, and a child
    runs those it was given, one by one, until one fails. The run without a mutant goes the same way, so a test that only fails in
    such a child shows there, and does not pass for a kill.
    """

    def __init__(self) -> None:
        self.items: dict[str, pytest.Item] = {}
        self.caches: list[Any] = []
        self.failure = ""

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.items = {item.nodeid: item for item in session.items}
        mutated = {f"{meta.parent.name}.{meta.name.removesuffix('.py.meta')}" for meta in Path().glob("*/*.py.meta")}
        caches = [thing for thing in gc.get_objects() if type(thing) is functools._lru_cache_wrapper]
        self.caches = [cache for cache in caches if cache.__module__ in mutated]
        for item in session.items:
            test: Any = getattr(item, "obj", None)
            if full := getattr(test, "_hypothesis_internal_use_settings", None):
                quick = settings(full, max_examples=min(full.max_examples, EXAMPLES), phases=(Phase.explicit, Phase.generate))
                test._hypothesis_internal_use_settings = quick

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failure = f"{report.nodeid}: {report.longreprtext}"

    def run(self, tests: Iterable[str], function: str = "") -> NoReturn:
        """Run tests, and end this process: with 1 when one failed, with 0 when none did, as pytest does.

        With the function that has a mutant, the tests that killed others of its mutants go first, then the short ones.
        """
        status = SUSPICIOUS

        def complain(text: str) -> None:
            if not function:  # there is no mutant that it could be the fault of, and sys.stdout is a text of the parent's
                os.write(2, f"\n{text}\n".encode())

        try:
            os.chdir(MUTANTS)
            killers = Path(f"{function}.killers")
            kills = Counter(killers.read_text(encoding="utf-8").splitlines() if killers.exists() else ())
            config = next(iter(self.items.values())).config
            plugins: Any = config.pluginmanager  # the parent's session is over, and what it had is gone
            for name in ("terminalreporter", "unraisableexception", "threadexception"):
                plugins.unregister(name=name)
            plugins.getplugin("tmpdir").pytest_configure(config)
            capture = plugins.getplugin("capturemanager")
            capture.start_global_capturing()
            for cache in self.caches:
                cache.cache_clear()  # what the parent worked out, without a mutant
            took = state().duration_by_test
            test = ""

            def late(*_: object) -> NoReturn:
                capture.suspend_global_capture()
                complain(f"{test} did not end")
                os._exit(TIMEOUT)

            signal.signal(signal.SIGPROF, late)
            for test in sorted(tests, key=lambda test: (-kills[test], took.get(test, 0.0))):
                # The clock is that of this process alone, on however busy a machine.
                signal.setitimer(signal.ITIMER_PROF, PATIENCE * (3 + took.get(test, 0.0)))
                self.items[test].ihook.pytest_runtest_protocol(item=self.items[test], nextitem=None)
                if self.failure:
                    if function:
                        with killers.open("a", encoding="utf-8") as file:
                            file.write(f"{test}\n")
                    break
            capture.stop_global_capturing()
            if self.failure:
                complain(self.failure)
            status = int(bool(self.failure))
        finally:
            if status == SUSPICIOUS:
                complain(traceback.format_exc())
            os._exit(status)


CHILDREN = Children()


def pytest_configure(config: pytest.Config) -> None:
    """Take over from mutmut what a child does; and of all its copies of a docstring, a function's own and each mutant's, try one."""
    if config.pluginmanager.is_registered(CHILDREN):
        return
    config.pluginmanager.register(CHILDREN)
    find = doctest.DocTestFinder._find  # type: ignore[attr-defined]

    def once(self: Any, tests: Any, found: Any, name: str, *rest: Any) -> None:
        if not re.search(r"__mutmut_\d+$", name):
            find(self, tests, found, name, *rest)

    def run_tests(self: PytestRunner, *, mutant_name: str | None, tests: Iterable[str]) -> int:
        if mutant_name:
            CHILDREN.run(tests, mutant_name.partition("__mutmut_")[0])
        with change_cwd(MUTANTS):
            self.execute_pytest(["--collect-only", *self._pytest_args_regular_run(tests)])
        child = os.fork()
        if not child:
            CHILDREN.run(CHILDREN.items)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    if "once" not in find.__name__:  # mutmut calls pytest several times in its process
        doctest.DocTestFinder._find = once  # type: ignore[attr-defined]
        PytestRunner.run_tests = run_tests  # type: ignore[method-assign]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what has no verdict yet, print the table. The exit status is 0 when each mutant was killed or is known to be equivalent."""
    parser = argparse.ArgumentParser(prog="python -m verify.mutation", description=main.__doc__)
    parser.add_argument("modules", nargs="*", help="such as perfmodel.scaling; without any, all that pyproject.toml names")
    parser.add_argument("--report", action="store_true", help="run nothing, print what is known")
    options = parser.parse_args(arguments)
    everything = [".".join(path.with_suffix("").parts) for path in walk_mutatable_files()]
    for module in options.modules:
        if module not in everything:
            parser.error(f"a module is one that pyproject.toml lets mutate, got {module}")
    modules = options.modules or everything
    known = accepted(EXPECTED)
    if not options.report:
        generate()
        take_up()
        forget_changed_tests()
    if not options.report and (names := to_run(verdicts(), known, modules)):
        command = [sys.executable, "-m", "mutmut", "run", "--max-children", "2", *names]
        alone = {**os.environ, "OMP_NUM_THREADS": "1"}  # a child has none of the threads that torch has started in its parent
        done = subprocess.run(command, env=alone, check=False)
        keep()
        if done.returncode:
            return done.returncode
    text, well = report([v for v in verdicts() if v.module in modules], known)
    print(text)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
