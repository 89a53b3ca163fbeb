"""What a publication rests on: the policy of the pages, the lock of what is installed, the records, the workflow, the version."""

from __future__ import annotations

import importlib.metadata
import json
import re
import shutil
import tomllib
import urllib.request
from collections.abc import Collection, Iterable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from macros import fingerprint, policy
from macros.audit import CALLABLE, NAMED, Audit, audit_page
from macros.evaluate import Evaluator, book
from verify import publish
from verify.checkout import ROOT, build, copy, replace
from verify.server import headers_of

WORKFLOW = ROOT / ".github/workflows/publish.yml"


# ---- The policy ------------------------------------------------------------------------


class Inline(HTMLParser):
    """What a page has of scripts, styles and handlers in its own text, and the first element of its head."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=False)
        self.found: list[str] = []
        self.first: dict[str, str | None] = {}
        self._last = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._last == "head":
            self.first = dict(attrs)
        self._last = tag
        self.found += [f"{tag} {name}=" for name, _ in attrs if name == "style" or name.startswith("on")]
        self.found += ["style"] if tag == "style" else []


def test_every_page_begins_with_the_policy_that_the_headers_hold(site: Path) -> None:
    text = (site / policy.HEADERS).read_text(encoding="utf-8")
    rules = headers_of("/index.html", text)["Content-Security-Policy"]
    assert "unsafe" not in rules
    assert rules.endswith("; frame-ancestors 'none'")
    scripts: set[str] = set()
    for path in sorted(site.rglob("*.html")):
        html = path.read_text(encoding="utf-8")
        page = Inline(html)
        assert page.first.get("http-equiv") == "Content-Security-Policy", path.name
        assert page.first["content"] == rules.removesuffix("; frame-ancestors 'none'"), path.name  # browsers don't read it there
        assert '<meta charset="utf-8">' in html.encode()[:1024].decode(), path.name  # or a browser guesses
        assert page.found == [], path.name
        scripts |= policy.inline_scripts(html)
    assert policy.policy(scripts) == rules.removesuffix("; frame-ancestors 'none'")
    assert len(scripts) == 4  # Material's


def test_what_is_served_has_the_headers(served: str) -> None:
    with urllib.request.urlopen(f"{served}/index.html") as answer:
        page = dict(answer.headers)
    assert page["X-Content-Type-Options"] == "nosniff"
    assert page["Referrer-Policy"] == "strict-origin-when-cross-origin"
    assert "camera=()" in page["Permissions-Policy"]
    assert "script-src 'self' 'sha256-" in page["Content-Security-Policy"]
    assert "immutable" not in page["Cache-Control"]


def test_only_what_is_named_after_its_content_is_kept_for_good(site: Path) -> None:
    text = (site / policy.HEADERS).read_text(encoding="utf-8")
    kept = [
        path.name
        for path in sorted(site.rglob("*"))
        if path.is_file() and "immutable" in headers_of(f"/{path.relative_to(site).as_posix()}", text).get("Cache-Control", "")
    ]
    assert kept
    assert [name for name in kept if not re.search(r"\.[0-9a-f]{8}\.min\.css", name)] == []
    names = [re.sub(r":.*", "", line.strip()) for line in text.splitlines() if line.startswith(" ")]
    assert len(names) == len(set(names))  # a host joins what two paths say


@pytest.mark.parametrize(
    ("html", "allowed"),
    [
        ("<script>ours()</script>", False),
        ("<SCRIPT type=module>ours()</SCRIPT>", False),
        ('<script data-src="x">ours()</script>', False),
        ("<script>theme()</script>", True),
        ('<script src="ours.js"></script>', True),
        ('<script type="application/json">{"data": 1}</script>', True),
    ],
)
def test_a_script_that_the_theme_did_not_put_there_is_named_and_not_allowed(tmp_path: Path, html: str, allowed: bool) -> None:
    (tmp_path / "page.html").write_text(f"<html><head><script>theme()</script></head><body>{html}</body></html>", encoding="utf-8")
    named = list(policy.apply(tmp_path, {"theme()"}))
    assert named == ([] if allowed else [("page.html", "ours()")])
    assert policy.policy({"theme()"}) in (tmp_path / "page.html").read_text(encoding="utf-8")


# ---- The lock --------------------------------------------------------------------------


def pins(text: str) -> dict[str, set[str]]:
    """The versions that a file of requirements names, by package; torch, which comes by itself, left out."""
    found: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([A-Za-z0-9_.-]+)==([^\s;\\]+)", text, re.MULTILINE):
        found.setdefault(canonicalize_name(name), set()).add(version)
    found.pop("torch", None)
    return found


def lock_faults(requirements: str, lock: str) -> list[str]:
    """Where requirements.lock is not what `make lock` would make of requirements.txt."""
    wanted, locked = pins(requirements), pins(lock)
    direct = {
        canonicalize_name(block.split("==")[0]) for block in re.split(r"\n(?=\w)", lock) if re.search(r"#\s+(?:via )?-r ", block)
    }
    faults = [
        f"requirements.txt pins {name}=={', '.join(versions)}, requirements.lock {', '.join(sorted(locked.get(name, {'nothing'})))}"
        for name, versions in wanted.items()
        if not versions <= locked.get(name, set())
    ]
    faults += [f"requirements.lock has {name}, which requirements.txt no longer names" for name in sorted(direct - wanted.keys())]
    faults += [
        f"requirements.lock has no hash for {block.split()[0]}"
        for block in re.split(r"\n(?=\w)", lock)
        if "==" in block and "--hash=sha256:" not in block
    ]
    return [f"{fault}: run `make lock`" for fault in faults]


def _texts() -> tuple[str, str]:
    return (ROOT / "requirements.txt").read_text(encoding="utf-8"), (ROOT / "requirements.lock").read_text(encoding="utf-8")


def test_the_lock_is_of_the_requirements() -> None:
    assert lock_faults(*_texts()) == []
    assert "://" not in _texts()[1]
    assert "--index" not in _texts()[1]


@pytest.mark.parametrize(
    ("which", "old", "new", "says"),
    [
        (0, "Jinja2==3.1.6", "Jinja2==3.1.7", "requirements.txt pins jinja2==3.1.7, requirements.lock 3.1.6: run `make lock`"),
        (1, "jinja2==3.1.6", "jinja2==3.1.5", "requirements.txt pins jinja2==3.1.6, requirements.lock 3.1.5: run `make lock`"),
        (0, "Jinja2==3.1.6", "Jinja2==3.1.6\nnew-one==1.0", "requirements.txt pins new-one==1.0, requirements.lock nothing: run `make lock`"),
        (0, "simpy==4.1.2\n", "", "requirements.lock has simpy, which requirements.txt no longer names: run `make lock`"),
        (1, "simpy==4.1.2 \\\n", "simpy==4.1.2\nother==1 \\\n", "requirements.lock has no hash for simpy==4.1.2: run `make lock`"),
    ],
)  # fmt: skip
def test_a_lock_left_behind_is_named_with_its_cure(which: int, old: str, new: str, says: str) -> None:
    texts = list(_texts())
    assert texts[which].count(old) == 1
    texts[which] = texts[which].replace(old, new)
    assert says in lock_faults(*texts)


# Torch, and what only its CUDA builds bring, differ by index; pip comes with Python.
UNLOCKED = re.compile(r"torch|triton|(?:nvidia|cuda)-[a-z0-9-]+|pip")


def unlocked(installed: Iterable[tuple[str, str]], lock: str) -> list[str]:
    """What is installed and not in the lock."""
    locked = pins(lock)
    return [
        f"{name}=={version} is installed, requirements.lock has {', '.join(sorted(locked.get(name, {'nothing'})))}: run `make clean`"
        for name, version in ((canonicalize_name(name), version) for name, version in installed)
        if not UNLOCKED.fullmatch(name) and version not in locked.get(name, set())
    ]


def test_nothing_is_installed_that_is_not_in_the_lock() -> None:
    installed = [(found.name, found.version) for found in importlib.metadata.distributions()]
    assert {"torch", "sympy", "mkdocs"} <= {name for name, _ in installed}
    assert unlocked(installed, _texts()[1]) == []


def test_what_is_installed_and_not_in_the_lock_is_named_with_its_cure() -> None:
    installed = [
        ("torch", "2.13.0+cu130"),
        ("pip", "1"),
        ("triton", "3.7"),
        ("nvidia-nccl-cu13", "2"),
        ("cuda_bindings", "13"),
        ("SymPy", "1.14.0"),
    ]
    assert unlocked(installed, _texts()[1]) == []
    assert unlocked([*installed, ("new.one", "1.0"), ("mpmath", "1.4")], _texts()[1]) == [
        "new-one==1.0 is installed, requirements.lock has nothing: run `make clean`",
        "mpmath==1.4 is installed, requirements.lock has 1.3.0: run `make clean`",
    ]


def needs(name: str) -> list[str]:
    """What a package says it needs; nothing is known of one that this Python has no use for."""
    try:
        return importlib.metadata.requires(name) or []
    except importlib.metadata.PackageNotFoundError:
        return []


def unmet(locked: Collection[str]) -> list[str]:
    """What the packages of a lock and torch need that is not in it, on any system and Python."""
    systems = [("linux", "Linux", "posix"), ("darwin", "Darwin", "posix"), ("win32", "Windows", "nt")]
    worlds = [
        {"python_version": python, "python_full_version": f"{python}.9", "sys_platform": system, "platform_system": name, "os_name": os_, "extra": ""}
        for python in ("3.11", "3.12", "3.13", "3.14")
        for system, name, os_ in systems
    ]  # fmt: skip
    return [
        f"{name} needs {needed}: pin it in requirements.txt and run `make lock`"
        for name in [*locked, "torch"]
        for needed in map(Requirement, needs(name))
        if canonicalize_name(needed.name) not in locked
        and not UNLOCKED.fullmatch(canonicalize_name(needed.name))
        and any(not needed.marker or needed.marker.evaluate(world) for world in worlds)
    ]


def test_the_lock_holds_what_other_systems_and_later_pythons_need() -> None:
    """With --require-hashes pip installs nothing that isn't listed; torch, which comes without, would bring it unlocked."""
    locked = pins(_texts()[1])
    assert sum(bool(needs(name)) for name in locked) > 25
    assert unmet(locked) == []


@pytest.mark.parametrize(("left_out", "says"), [("networkx", "torch needs networkx>="), ("mpmath", "sympy needs mpmath<")])
def test_what_is_needed_and_not_in_the_lock_is_named_with_its_cure(left_out: str, says: str) -> None:
    (fault,) = unmet(pins(_texts()[1]).keys() - {left_out})
    assert fault.startswith(says)
    assert fault.endswith(": pin it in requirements.txt and run `make lock`")


# ---- Records and the verification ------------------------------------------------------


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What is looked at before a site is published, as it is when all is well."""
    for folder in ("docs/records", "perfmodel/lockstep", "perfmodel/noise"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "verify").mkdir()
    for name in ("cuda.py", "gpu.py", "measure.py"):
        shutil.copy(ROOT / "verify" / name, tmp_path / "verify")
    verified(tmp_path)
    return tmp_path


def verified(root: Path, **changes: Any) -> None:
    """A verification of these sources, and the site that was built after it."""
    legs = [{"leg": leg, "status": "passed", "detail": "fine"} for leg in ("code", "model", "browser")]
    legs.append({"leg": "cuda", "status": "NOT RUN", "detail": "no CUDA device"})
    content = {"sources": fingerprint.sources(root), "passed": True, "legs": legs, **changes}
    (root / "verification.json").write_text(json.dumps(content), encoding="utf-8")
    (root / "site").mkdir(exist_ok=True)
    (root / "site/verification.html").write_text(f"<code>{content['sources']}</code>", encoding="utf-8")


def test_this_checkout_has_no_stale_record() -> None:
    assert list(publish.stale()) == []


def test_what_is_verified_is_published_with_its_verification(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert publish.main([], checkout) == 0, capsys.readouterr().err
    assert (checkout / "site/verification.json").read_bytes() == (checkout / "verification.json").read_bytes()


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        ("perfmodel/lockstep/shown.py", "import annotations", "import annotations  # changed", "docs/records/lockstep.json was made by another version of perfmodel/lockstep: run `python -m macros.records lockstep` and commit"),
        ("perfmodel/noise/shown.py", "import annotations", "import annotations  # changed", "docs/records/noise.json was made by another version of perfmodel/noise"),
        ("verify/measure.py", "import annotations", "import annotations  # changed", "docs/records/matmul.json was made by another version of verify/measure.py: run make measure"),
        ("docs/records/lost.json", '"digest": "', '"digest": "0', "docs/records/lost.json was changed after the run that made it: run"),
        ("docs/records/matmul.json", '"digest": "', '"digest": "0', "docs/records/matmul.json was changed after the run that made it"),
        ("docs/records/lockstep.json", '"what"', '"what', "docs/records/lockstep.json is torn"),
    ],
)  # fmt: skip
def test_a_stale_record_is_refused_and_trains_nothing(
    checkout: Path, capsys: pytest.CaptureFixture[str], file: str, old: str, new: str, says: str
) -> None:
    replace(checkout / file, old, new)
    verified(checkout)
    before = (checkout / "docs/records/lockstep.json").read_bytes()
    for arguments in (["--records"], []):
        assert publish.main(arguments, checkout) == 1
        assert says in capsys.readouterr().err
    assert (checkout / "docs/records/lockstep.json").read_bytes() == before
    assert not (checkout / "site/verification.json").exists()


def test_a_record_that_is_missing_is_refused(checkout: Path) -> None:
    (checkout / "docs/records/noise.json").unlink()
    (checkout / "docs/records/matmul.json").unlink()  # nobody has to have measured
    assert [problem[:42] for problem in publish.stale(checkout)] == ["docs/records/noise.json does not exist: ru"]


BAD = {"leg": "model", "status": "failed", "detail": "1 of 9 failed: t"}
NOT_RUN = {"leg": "browser", "status": "NOT RUN", "detail": "needs Chromium"}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"legs": [BAD], "passed": False}, "the leg model has to pass, and reads failed: 1 of 9 failed: t"),
        ({"legs": [BAD], "passed": True}, "the leg model has to pass, and reads failed"),
        ({"legs": [NOT_RUN]}, "the leg browser has to pass, and reads NOT RUN: needs Chromium"),
        ({"passed": False}, "the last verification did not pass"),
        ({"legs": []}, "the last verification did not pass"),
        ({"legs": [{}]}, "verification.json cannot be read (KeyError('leg')): run `make verify`"),
        ({"sources": "0" * 64}, "verification.json is of other sources than these: run `make verify`"),
    ],
)
def test_what_did_not_pass_is_not_published(
    checkout: Path, capsys: pytest.CaptureFixture[str], changes: dict[str, Any], says: str
) -> None:
    assert publish.main([], checkout) == 0  # a publication before this one
    verified(checkout, **changes)
    assert publish.main([], checkout) == 1
    assert says in capsys.readouterr().err
    assert not (checkout / "site/verification.json").exists()


@pytest.mark.parametrize(
    "name", ["README.md", "AUTHORING.md", "CONTRIBUTING.md", "CHANGELOG.md", ".github/workflows/publish.yml", "docs/a.png"]
)
def test_nor_what_was_changed_after_its_verification(checkout: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    (checkout / name).parent.mkdir(parents=True, exist_ok=True)
    (checkout / name).write_text("as it was verified", encoding="utf-8")
    verified(checkout)
    assert publish.main([], checkout) == 0
    (checkout / name).write_text("as it is", encoding="utf-8")
    assert publish.main([], checkout) == 1
    assert "verification.json is of other sources than these: run `make verify`" in capsys.readouterr().err


def test_neither_is_a_site_without_a_verification_or_one_that_was_built_before(checkout: Path) -> None:
    (checkout / "site/verification.html").write_text("not verified in this checkout", encoding="utf-8")
    assert list(publish.unverified(checkout)) == ["site/ does not show this verification: run `make site`"]
    (checkout / "verification.json").write_text("{ torn", encoding="utf-8")
    assert next(iter(publish.unverified(checkout))).startswith("verification.json cannot be read (JSONDecodeError(")
    (checkout / "verification.json").unlink()
    assert list(publish.unverified(checkout)) == ["there is no verification.json: run `make verify`"]


# ---- The workflow ----------------------------------------------------------------------


def workflow_faults(text: str, readme: str) -> list[str]:
    """What in a workflow gives more than it must, or is not what a reader of the README would run."""
    found = yaml.safe_load(text)
    jobs = found["jobs"]
    faults = [] if found.get("permissions") == {} else ["the workflow gives permissions to every job"]
    faults += [] if "concurrency" in found else ["two runs may publish at once"]
    faults += [f"{line.strip()}: an action is pinned by a commit, its version behind it" for line in text.splitlines()
               if "uses:" in line and not re.fullmatch(r"\s*(?:- )?uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line)]  # fmt: skip
    allowed = {"verify": {"contents": "read"}, "deploy": {"pages": "write", "id-token": "write"}}
    for name, job in jobs.items():
        faults += [] if job.get("permissions") == allowed.get(name) else [f"{name} has other permissions than {allowed.get(name)}"]
        faults += [] if "timeout-minutes" in job else [f"{name} may run for hours"]
        for step in job["steps"]:
            command = step.get("run")
            if command and f"`{command}`" not in readme:
                faults.append(f"`{command}` is no command of the README")
            if "deploy-pages" in str(step.get("uses")) and (
                job.get("needs") != "verify" or "!= 'pull_request'" not in str(job.get("if"))
            ):
                faults.append(f"{name} publishes what did not pass, or a pull request")
    commands = [step["run"] for step in jobs["verify"]["steps"] if "run" in step]
    order = ["make records", "make site", "make verify FULL=1", "make publish"]
    faults += (
        [] if [command for command in commands if command in order] == order else [f"what is run is not {', then '.join(order)}"]
    )
    return faults


def test_the_workflow_runs_the_commands_of_the_readme_and_may_do_no_more() -> None:
    assert workflow_faults(WORKFLOW.read_text(encoding="utf-8"), (ROOT / "README.md").read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("actions/checkout@de0fac2e4500dabe0009e67214ff5f5447ce83dd", "actions/checkout@v6", "an action is pinned by a commit"),
        ("5447ce83dd # v6.0.2", "5447ce83dd", "an action is pinned by a commit"),
        ("permissions: {}", "permissions: write-all", "the workflow gives permissions to every job"),
        ("contents: read", "contents: write", "verify has other permissions"),
        ("    timeout-minutes: 10\n", "", "deploy may run for hours"),
        ("    needs: verify\n", "", "deploy publishes what did not pass"),
        ("    if: github.event_name != 'pull_request' && ", "    if: ", "deploy publishes what did not pass, or a pull request"),
        ("run: make audit", "run: pip install something", "`pip install something` is no command of the README"),
        ("      - run: make records\n", "", "what is run is not make records, then"),
        ("- run: make verify FULL=1", "- run: make site", "what is run is not make records, then"),
    ],
)
def test_a_workflow_that_gives_more_is_refused(old: str, new: str, says: str) -> None:
    text = WORKFLOW.read_text(encoding="utf-8")
    assert text.count(old) == 1
    faults = workflow_faults(text.replace(old, new), (ROOT / "README.md").read_text(encoding="utf-8"))
    assert any(says in fault for fault in faults), faults


# ---- The version -----------------------------------------------------------------------


def test_one_version_stands_in_pyproject_in_the_changelog_and_on_the_site(site: Path) -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    sections = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    numbered = [section for section in sections if section != "Unreleased"]
    assert sections[0] in ("Unreleased", numbered[0])
    assert all(re.fullmatch(r"\d+\.\d+\.\d+ - \d{4}-\d\d-\d\d", section) for section in numbered), numbered
    assert numbered[0].split()[0] == version
    assert f'Version <data class="data">{version}</data>' in (site / "verification.html").read_text(encoding="utf-8")


# ---- The guide for a first change ------------------------------------------------------


def test_the_guide_for_a_first_change_shows_what_will_happen() -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    path = "docs/acts/6-allreduce.md"
    page = (ROOT / path).read_text(encoding="utf-8")
    (call,) = re.findall(r"^\[= q\(.*$", guide, re.MULTILINE)
    assert page.count(call) == 1
    audit = Audit()
    audit_page(path, page.replace(call, call.replace("30", "31")), Evaluator(book(), CALLABLE, NAMED), audit)
    assert [line for line in guide.splitlines() if line.startswith(f"{path}:")] == [
        f"{path}:…: {fault.message}" for fault in audit.faults
    ]


# ---- The address -----------------------------------------------------------------------


@pytest.mark.build
def test_a_site_below_a_path_has_its_address_in_the_canonical_link_and_the_site_map_and_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = copy(tmp_path / "project")
    for file in (*(project / "docs").rglob("*.md"),):
        if file.name != "404.md":
            file.unlink()
    for name in ("index", "numbers", "sub/page"):
        (project / f"docs/{name}.md").parent.mkdir(exist_ok=True)
        (project / f"docs/{name}.md").write_text("---\ntitle: Probe\ndescription: A probe.\n---\n\n# Probe\n", encoding="utf-8")
    config = (project / "mkdocs.yml").read_text(encoding="utf-8")
    config = re.sub(r"^nav:.*\n(?:  .*\n)+", "nav: [index.md, numbers.md, sub/page.md]\n", config, flags=re.MULTILINE)
    (project / "mkdocs.yml").write_text(config, encoding="utf-8")
    monkeypatch.setenv("SITE_URL", "https://example.org/below")
    site = project / "site"
    done = build(project, site)
    assert done.returncode == 0, done.stdout
    text = {path.relative_to(site).as_posix(): path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    address = "https://example.org/below/"
    for name in ("index.html", "sub/page.html"):
        assert re.findall(r'<link rel="canonical" href="([^"]*)">', text[name]) == [address + name]
        assert text[name].count("example.org") == 1
    names = re.findall(r"<loc>(.*?)</loc>", (site / "sitemap.xml").read_text(encoding="utf-8"))
    assert sorted(names) == [f"{address}{name}" for name in ("index.html", "numbers.html", "sub/page.html")]
    lost = text["404.html"]
    assert "example.org" not in lost
    links = re.findall(r'\s(?:href|src)="([^"]*)"', lost)
    assert [link for link in links if not link.startswith(("/below/", "#", "https://"))] == []
    assert {"/below/index.html", "/below/numbers.html", "/below/assets/site.js"} <= set(links)
    assert 'new URL("/below/",location)' in lost
    assert '"base": "/below/"' in lost
    assert (site / re.findall(r'"search": "/below/([^"]*)"', lost)[0]).is_file()
