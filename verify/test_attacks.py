"""What an author may write cannot run anything while the site is built, nor read anything outside docs/: each way in is planted in one real build."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from verify.checkout import build, copy
from verify.planted import HERE

SECRET = "the-secret-that-lies-outside-docs"


class Attack(NamedTuple):
    """What an author might try. `▸` marks the place that the message must name; without `says` there is nothing to refuse, and nothing runs.

    RUN stands for the file that shows that it ran, SECRET for a file to read.
    """

    name: str
    body: str
    says: str
    title: str = ""
    front: str = ""


RUN = "cycler.__init__.__globals__.os.system('touch RUN')"
ATTACKS = [
    Attack("attribute", f"▸[= {RUN} =]", "is not a macro"),
    Attack("globals", "▸[= q.__globals__ =]", "q.__globals__ is not a number of the book"),
    Attack("of-an-argument", '▸[= q("60 ms", sync.one_gpu.__class__.__mro__) =]', "is not a number of the book"),
    Attack("of-a-text", "▸[= q(''.__class__.__mro__[1].__subclasses__(), sync.one_gpu) =]", "is not a macro"),
    Attack("filter", "▸[= 'touch RUN' | pprint =]", "pprint is not a number of the book"),
    Attack("filter-of-names", "▸[= self | attr('__init__') =]", "self is not a number of the book"),
    Attack("lambda", "▸[= q((lambda: 1)(), sync.one_gpu) =]", "is not a macro"),
    Attack("comprehension", '▸[= q("60 ms", [sync for x in "a"]) =]', "x is not a number of the book"),
    Attack("subscript", '▸[= q("60 ms", sync["one_gpu"]) =]', "cannot stand in a call"),
    Attack("endless-sum", '▸[= q("60 ms", 9**9**9**9 * sync.one_gpu) =]', "a call combines numbers with + - * / only"),
    Attack("endless-text", '▸[= q("60 ms", "a" * 99999999999999) =]', "cannot be calculated"),
    Attack("endless-list", '▸[= q("60 ms", [sync.one_gpu] * 99999999999999) =]', "cannot be calculated"),
    Attack("import", "▸[= __import__('os').system('touch RUN') =]", "is not a macro"),
    Attack("open", "▸[= open('SECRET').read() =]", "is not a macro"),
    Attack("format", "▸[= q('{0.__class__}'.format(q), sync.one_gpu) =]", "is not a macro"),
    Attack("config", "▸[= config.load_file('SECRET') =]", "is not a macro"),
    Attack("environment", "▸[= environment.system =]", "is not a number of the book"),
    Attack("macros-info", "▸[= macros_info() =]", "macros_info(…) is not a macro"),
    Attack("context", "▸[= context() =]", "context(…) is not a macro"),
    Attack("now", "▸[= now() =]", "now(…) is not a macro"),
    Attack("fix-url", '▸[= fix_url("SECRET") =]', "fix_url(…) is not a macro"),
    Attack("include", '▸[% include "SECRET" %]', "a page holds calls, not statements"),
    Attack("import-statement", "▸[% set x = RUN %]", "a page holds calls, not statements"),
    # One text for Python, three arguments for a template engine: shown as the text it is.
    Attack("three-marks", f'[= plain("""a", {RUN}, "b""", why="x") =]', ""),
    # Two halves that would meet where a call is taken out of a comment.
    Attack("in-a-comment", f'<!-- [[= plain("x", why="y") =]= {RUN} =] -->', ""),
    Attack("in-the-title", "▸# Probe", "the title at the top of the page", title=f"[= {RUN} =]"),
    Attack("chip-above", '▸[= code("../../SECRET.py") =]', "there is no code "),
    Attack("chip-absolute", '▸[= code("SECRET") =]', "there is no code "),
    Attack("chip-linked", '▸[= code("linked.py") =]', "there is no code "),
    Attack("record", '▸[= measured("../../SECRET") =]', "names no section"),
    Attack("figure", '▸[= figure("../SECRET") =]', "there is no figure"),
    Attack("lab", '▸[= lab("../SECRET") =]', "there is no lab"),
    Attack("docstrings", "▸::: wsgiref.util\n    options:\n      show_source: true", "::: shows a module of perfmodel"),
    Attack("docstrings-that-run", "▸::: perfmodel.units\n    options:\n      extensions: [docs/code/evil.py]", "::: shows a module"),
    Attack("docstrings-in-a-fold", '??? note "x"\n    ▸::: wsgiref.util', "::: shows a module of perfmodel"),
    Attack("a-tag-of-yaml", "x", "a tag means nothing in front matter", front="hide: ▸!!python/object/apply:os.system ['touch RUN']"),
    Attack("another-template", "x", "the front matter holds title, description", front="▸template: ../../SECRET"),
    Attack("another-macro", "x", "the front matter holds title, description", front="▸render_macros: true"),
    Attack("a-script", "▸<script>alert()</script>", "<script> cannot stand on a page"),
    Attack("a-script-in-words", "It ▸<ScRiPt src=x></script> runs.", "<script> cannot stand on a page"),
    Attack("a-style", "▸<style>p { color: red }</style>", "<style> cannot stand on a page"),
    Attack("a-style-attribute", '<p ▸style="color: red">x</p>', "style= cannot stand on a page"),
    Attack("a-listed-style", 'A word.\n{ .lede ▸style="color: red" }', "style= cannot stand on a page"),
    Attack("a-handler", '<img src="x.png" alt="" ▸onerror="alert()">', "onerror= cannot stand on a page"),
    Attack("a-listed-handler", 'A [word](index.md){ ▸onclick="alert()" }.', "onclick= cannot stand on a page"),
    Attack("a-frame", '▸<iframe src="file:///etc/passwd"></iframe>', "<iframe> cannot stand on a page"),
    Attack("an-address-that-runs", "A [word](▸javascript:alert()).", "javascript: leads to no page"),
    Attack("a-file", "A [word](▸file:///etc/passwd).", "file: leads to no page"),
]  # fmt: skip


def pages_of(attacks: list[Attack]) -> dict[str, list[Attack]]:
    """What goes on which page: all that stands in a text and is refused on one, and each that is not, or that needs a title or front matter,
    on one of its own."""
    apart = [attack for attack in attacks if attack.front or attack.title or not attack.says]
    return {"together": [attack for attack in attacks if attack not in apart]} | {attack.name: [attack] for attack in apart}


def page_of(attacks: list[Attack]) -> str:
    """The page, its marks still in it."""
    front, title = attacks[0].front, attacks[0].title or "Probe"
    lines = [
        "---",
        f"title: '{title.replace(chr(39), chr(39) * 2)}'",
        "description: A probe.",
        *([front] if front else []),
        "---",
        "",
    ]
    lines += [] if any(attack.title for attack in attacks) else [f"# {title}", ""]
    return "\n".join([*lines, *(f"{attack.body}\n" for attack in attacks)])


def marks(text: str) -> list[tuple[int, int]]:
    """Line and column of each mark, once all of them are taken out."""
    return [(n, at + 1) for n, line in enumerate(text.split("\n"), start=1) for at in [line.find(HERE)] if at >= 0]


def small(tmp_path: Path) -> Path:
    """This project with no page but an empty home page, so that a build is short."""
    project = copy(tmp_path / "project")
    for file in (project / "docs").rglob("*.md"):
        file.unlink()
    (project / "docs/index.md").write_text("---\ntitle: Home\ndescription: Home.\n---\n\n# Home\n", encoding="utf-8")
    config = (project / "mkdocs.yml").read_text(encoding="utf-8")
    config = re.sub(r"^(?:nav|not_in_nav):.*\n(?:  .*\n)+", "", config, flags=re.MULTILINE)
    (project / "mkdocs.yml").write_text(config, encoding="utf-8")
    return project


@pytest.mark.build
def test_each_attack_is_refused_where_it_stands_and_does_nothing(tmp_path: Path) -> None:
    project = small(tmp_path)
    docs = project / "docs"
    secret, ran = tmp_path / "SECRET", tmp_path / "ran"
    ran.mkdir()
    secret.write_text(SECRET, encoding="utf-8")
    (docs / "code/evil.py").write_text(f"open({str(ran / 'docstrings')!r}, 'w')\n", encoding="utf-8")
    wanted: list[tuple[str, int, int, str]] = []
    for name, attacks in pages_of(ATTACKS).items():
        text = re.sub(r"\bSECRET\b", str(secret), re.sub(r"\bRUN\b", str(ran / name), page_of(attacks)))
        says = [attack.says for attack in attacks if attack.says]
        wanted += [(f"docs/{name}.md", *place, words) for place, words in zip(marks(text), says, strict=True)]
        (docs / f"{name}.md").write_text(text.replace(HERE, ""), encoding="utf-8")
    by_name = "[= cycler.__init__.__globals__.os.mkdir('ran') =].md"  # a page without a title is called after its file
    (docs / by_name).write_text("Words.\n", encoding="utf-8")
    wanted.append((f"docs/{by_name}", 1, 1, "a page begins with ---"))

    done = build(project, project / "site")

    assert done.returncode != 0
    assert "Traceback" not in done.stdout, done.stdout
    lines = done.stdout.splitlines()
    missed = [want for want in wanted if not any(line.startswith("{}:{}:{}: ".format(*want)) and want[3] in line for line in lines)]
    assert missed == [], done.stdout
    assert len(wanted) == 1 + sum(bool(attack.says) for attack in ATTACKS)
    assert [*ran.iterdir(), *project.glob("ran")] == []
    built = [path for path in (project / "site").rglob("*") if path.is_file()]
    assert {"together.html", "three-marks.html", "in-a-comment.html"} <= {path.name for path in built}
    assert [path for path in built if SECRET.encode() in path.read_bytes()] == []
    assert SECRET not in done.stdout


@pytest.mark.build
def test_files_that_lie_elsewhere_or_that_no_check_reads_are_not_published(tmp_path: Path) -> None:
    project = small(tmp_path)
    docs = project / "docs"
    secret = tmp_path / "secret"
    secret.mkdir()
    for name in ("page.md", "data.csv", "sample.py"):
        (secret / name).write_text(f"# {SECRET}\n", encoding="utf-8")
    wanted = ["docs/page.md", "docs/data.csv", "docs/code/sample.py", "docs/folder"]
    for name in wanted[:3]:
        (project / name).symlink_to(secret / Path(name).name)
    (docs / "folder").symlink_to(secret)
    (docs / "own.html").write_text("<script>alert()</script>", encoding="utf-8")
    (docs / "drawing.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg">\n  <script>alert()</script></svg>', encoding="utf-8"
    )
    with (docs / "index.md").open("a", encoding="utf-8") as page:
        page.write('\n[= code("sample.py") =]\n')
    wanted = [f"{name}: what is published lies under docs/ itself" for name in wanted]
    wanted += ["docs/own.html: a page is written in Markdown", "docs/drawing.svg:2:3: a drawing holds no script"]
    wanted.append('docs/index.md:8:1: there is no code "sample.py"')

    done = build(project, project / "site")

    assert done.returncode != 0
    assert "Traceback" not in done.stdout, done.stdout
    assert [want for want in wanted if want not in done.stdout.replace(":1:1: ", ": ")] == [], done.stdout
    assert SECRET not in done.stdout
    assert [path for path in (project / "site").rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()] == []
