"""What an author may write cannot run anything while the site is built, nor read anything outside docs/: each way in is planted in one real build."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from macros.files import check_files
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
    script = '<{0}svg xmlns{1}="http://www.w3.org/2000/svg">\n  <{0}script>alert()</{0}script></{0}svg>'
    html = '<html xmlns="http://www.w3.org/1999/xhtml"><script>alert()</script></html>'
    planted = {
        "own.html": (html, "a name here ends in .md"),
        "own.xml": (html, "a name here ends in .md"),
        "own.xht": (html, "a name here ends in .md"),
        "own.shtml": (html, "a name here ends in .md"),
        "_worker.js": ("alert()", "a name that begins with _"),
        "_redirects": ("/* https://example.org/ 302", "a name that begins with _"),
        "own.js": ("alert()", "a name here ends in .md"),
        "drawing.svg": (script.format("", ""), "a drawing holds no script, style sheet or page, got <script>"),
        "prefix.svg": (script.format("svg:", ":svg"), "a drawing holds no script, style sheet or page, got <script>"),
        "utf-16.svg": (script.format("", ""), "this drawing is not saved as UTF-8"),
    }
    for name, (text, _) in planted.items():
        (docs / name).write_text(text, encoding="utf-16" if name.startswith("utf-16") else "utf-8")
    with (docs / "index.md").open("a", encoding="utf-8") as page:
        page.write('\n[= code("sample.py") =]\n')
    wanted = [f"{name}: what is published lies under docs/ itself" for name in wanted]
    wanted += [f"docs/{name}{':2:3' if '<script>' in says else ''}: {says}" for name, (_, says) in planted.items()]
    wanted.append('docs/index.md:8:1: there is no code "sample.py"')

    done = build(project, project / "site")

    assert done.returncode != 0
    assert "Traceback" not in done.stdout, done.stdout
    assert [want for want in wanted if want not in done.stdout.replace(":1:1: ", ": ")] == [], done.stdout
    assert SECRET not in done.stdout
    built = [path for path in (project / "site").rglob("*") if path.is_file()]
    assert [path for path in built if SECRET.encode() in path.read_bytes() or path.name in planted] == []


# What a drawing may hold. `▸` marks the place that the message must name.
ACTIVE = "a drawing holds no script, style sheet or page, got"
ADDRESS = "an address in a drawing is #… within it, or data:image/… of a picture, got"
ANIMATED = "a drawing animates no address, style or script, got"
SVG = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:x="http://www.w3.org/1999/xlink" xmlns:h="http://www.w3.org/1999/xhtml">\n'
DRAWINGS = {
    "▸<script>alert()</script>": f"{ACTIVE} <script>",
    '<g>▸<s:script xmlns:s="http://www.w3.org/2000/svg">alert()</s:script></g>': f"{ACTIVE} <script>",
    "▸<h:script>alert()</h:script>": f"{ACTIVE} <script>",
    "▸<h:p>x</h:p>": f"{ACTIVE} <p>",
    "<g>ä ▸<foreignObject/></g>": f"{ACTIVE} <foreignObject>",
    '▸<iframe xmlns="" src="#x"/>': f"{ACTIVE} <iframe>",
    '▸<object data="x"/>': f"{ACTIVE} <object>",
    '▸<embed type="x"/>': f"{ACTIVE} <embed>",
    "▸<style>p { color: red }</style>": f"{ACTIVE} <style>",
    '▸<g style="fill: red"/>': f"{ACTIVE} style=",
    '▸<g onload="alert()"/>': f"{ACTIVE} onload=",
    '▸<g OnClick = "alert()"/>': f"{ACTIVE} OnClick=",
    '▸<set attributeName="x" onbegin="alert()"/>': f"{ACTIVE} onbegin=",
    '▸<?xml-stylesheet href="x.xsl" type="text/xsl"?>': f"{ACTIVE} <?xml-stylesheet?>",
    '▸<a href="javascript:alert()"/>': f"{ADDRESS} href='javascript:alert()'",
    '▸<a x:href="java&#115;cript:alert()"/>': f"{ADDRESS} href='javascript:alert()'",
    '▸<a xmlns:y="http://www.w3.org/1999/xlink" y:href=" #a"/>': f"{ADDRESS} href=' #a'",
    '▸<a href="https://example.org/"/>': f"{ADDRESS} href='https://example.org/'",
    '▸<use href="other.svg#a"/>': f"{ADDRESS} href='other.svg#a'",
    '▸<image href="data:image/svg+xml;base64,AAAA"/>': f"{ADDRESS} href='data:image/svg+xml;base64,AAAA'",
    '▸<use href="data:text/html,x"/>': f"{ADDRESS} href='data:text/html,x'",
    '▸<a href="#a" ping="https://example.org/"/>': f"{ADDRESS} ping='https://example.org/'",
    '▸<g xml:base="https://example.org/"/>': f"{ADDRESS} base='https://example.org/'",
    '▸<g fill="url(https://example.org/a.svg#a)"/>': f"{ADDRESS} fill='url(https://example.org/a.svg#a)'",
    "▸<g fill=\"url(#a) url( 'b')\"/>": f"{ADDRESS} fill=\"url(#a) url( 'b')\"",
    '▸<g cursor="u\\72l(b)"/>': f"{ADDRESS} cursor='u\\\\72l(b)'",
    '▸<set attributeName="href" to="javascript:alert()"/>': f'{ANIMATED} attributeName="href"',
    '▸<animate attributeName=" x:href " values="javascript:alert()"/>': f'{ANIMATED} attributeName=" x:href "',
    '▸<set attributeName="onclick" to="alert()"/>': f'{ANIMATED} attributeName="onclick"',
    "<text>▸Ring: 6&#49; ms</text>": "a naked number in a drawing, where nothing holds it: 61 ms; take it out, or have macros/drawings.py make the drawing",
    "<g><title>▸twice as fast</title></g>": "a multiple in words in a drawing, where nothing holds it: twice",
    "<g></▸p>": "an SVG is XML, and this is not: mismatched tag; save it again with a program that draws",
    "▸<z:script/>": "an SVG is XML, and this is not: unbound prefix",
    "▸&a;": "an SVG is XML, and this is not: undefined entity",
}  # fmt: skip


def faults_of(docs: Path, data: bytes) -> list[str]:
    (docs / "a.svg").write_bytes(data)
    return [str(fault).removeprefix("docs/a.svg:") for fault in check_files(docs)]


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    return tmp_path / "docs"


@pytest.mark.parametrize(("body", "says"), DRAWINGS.items())
def test_a_drawing_that_runs_or_fetches_something_is_refused_where_it_does(docs: Path, body: str, says: str) -> None:
    text = f"{SVG}{body}</svg>"
    (place,) = marks(text)
    (fault,) = faults_of(docs, text.replace(HERE, "").encode())
    assert fault.startswith("{}:{}: {}".format(*place, says)), fault


@pytest.mark.parametrize(
    ("head", "encoding", "says"),
    [
        ("", "utf-16", "1:1: this drawing is not saved as UTF-8: save it again with that encoding"),
        ("", "utf-16-le", "1:1: this drawing is not saved as UTF-8"),
        ("<!-- ä -->", "latin-1", "1:1: this drawing is not saved as UTF-8"),
        (
            '<?xml version="1.0" encoding="utf-7"?>',
            "utf-8",
            '1:1: a drawing is saved as UTF-8 and says so, got encoding="utf-7": write encoding="UTF-8"',
        ),
        ("<!DOCTYPE svg>", "utf-8", "1:14: a drawing has no <!DOCTYPE>: take it out"),
        ('<!-- -->\n<!DOCTYPE svg [<!ENTITY a "<script/>">]>', "utf-8", "2:15: a drawing has no <!DOCTYPE>"),
        ('<!DOCTYPE svg SYSTEM "file:///etc/passwd">', "utf-8", "1:42: a drawing has no <!DOCTYPE>"),
        ('<?xml-stylesheet href="a.xsl"?>', "utf-8", f"1:1: {ACTIVE} <?xml-stylesheet?>: take it out"),
    ],
)
def test_a_drawing_that_can_be_read_in_two_ways_is_refused(docs: Path, head: str, encoding: str, says: str) -> None:
    (fault,) = faults_of(docs, f"{head}{SVG}<g/></svg>".encode(encoding))
    assert fault.startswith(says), fault


def test_an_empty_drawing_is_refused_and_all_faults_of_another_are_named(docs: Path) -> None:
    assert faults_of(docs, b"") == [
        "1:1: an SVG is XML, and this is not: no element found; save it again with a program that draws"
    ]
    assert len(faults_of(docs, f'{SVG}<script onload="x" href="y"/><style/></svg>'.encode())) == 4


def test_what_a_drawing_needs_it_may_hold(docs: Path) -> None:
    body = (
        '<!-- <script> --><title>on="load" &lt;script></title><metadata><r:Work xmlns:r="urn:x" r:file="C:\\a" r:about="https://example.org"/></metadata>'
        '<defs><linearGradient id="a"/></defs><path fill="url(#a)" mask="url( \'#a\' )" d="M0 0" transform="translate(1)" opacity="1"/>'
        '<use href="#a"/><use x:href="#a"/><image href="data:image/png;base64,AAAA"/><animate attributeName="opacity" to="0"/><text>ä</text>'
    )
    assert faults_of(docs, f'\ufeff<?xml version="1.0" encoding="utf-8"?>\r\n{SVG}{body}</svg>'.encode()) == []
