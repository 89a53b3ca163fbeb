"""The audit of built pages: a number is found whatever way it came in, and mapped to its line; what macros made is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from macros import audit_html
from macros.audit import CALLABLE, Audit, audit_page, audit_sources
from macros.audit_html import audit_site
from macros.evaluate import Evaluator, using
from macros.scan import Fault, scan
from perfmodel.book import LEDGER

SOURCE = """---
title: A page
---

# A page

It takes [= q("60 ms", sync.one_gpu) =] here.
Before it, 60 ms pass; after it, <b>some 7</b> more.

## Later

The ring is faster *than* that. It takes **5 s** and 60 ms.
"""


def built(folder: Path, article: str, title: str = "A page", outside: str = "") -> Path:
    """A built page around some HTML, in a theme with things of its own."""
    site = folder / "site"
    site.mkdir()
    (site / "page.html").write_text(
        f'<!doctype html><html><head><title>{title} - Site</title><meta name="description" content="A page."><meta name="generator" content="mkdocs-1.6.1">'
        f'<style>p {{ margin: 60px }}</style><script>var x = 60;</script></head><body>{outside}<header title="60 ms">Step 60 of 61</header><nav><a href="x">61 ms</a></nav>'
        f"<main><article>{article}</article></main><footer>Made with 60 ms</footer></body></html>",
        encoding="utf-8",
    )
    return site


def check(folder: Path, article: str, source: str = "", title: str = "A page") -> list[Fault]:
    """The faults of a built page whose source is `source`, as if the audit of the source had found none."""
    audit = Audit()
    if source:
        with using(LEDGER):
            audit_page("docs/page.md", source, Evaluator(LEDGER, CALLABLE), audit)
        audit.faults.clear()
        audit.unread.clear()
    return list(audit_site(built(folder, article, title), audit))


@pytest.mark.parametrize(("article", "says"), [
    ("<p>It takes 60 ms.</p>", "a naked number: 60 ms"), ("<p>It takes 60 <em>ms</em>.</p>", "a naked number: 60 ms"), ("<p>It takes 6<b>0</b> ms.</p>", "a naked number: 60 ms"),
    ("<p>It takes 60<br>ms.</p>", "a naked number: 60"), ("<p>faster <em>than</em> that</p>", "a comparison: faster than"), ("<p>tw<i>ice</i> that</p>", "a multiple in words: twice"),
    ("<p>It takes &#54;&#48; ms.</p>", "a naked number: 60 ms"), ("<p>It takes 6\u200b0 ms.</p>", "a naked number: 60 ms"), ("<p>It takes 6\u00ad0 ms.</p>", "a naked number: 60 ms"),
    ("<table><tr><td>60 ms</td></tr></table>", "a naked number: 60 ms"), ("<table><tr><th>60</th><th>ms</th></tr></table>", "a naked number: 60"),
    ("<table><caption>60 ms</caption></table>", "a naked number: 60 ms"), ("<figure><figcaption>60 ms</figcaption></figure>", "a naked number: 60 ms"),
    ('<img alt="60 ms" src="x">', "a naked number: 60 ms"), ('<span title="60 ms">x</span>', "a naked number: 60 ms"), ('<a href="x" aria-label="60 ms">x</a>', "a naked number: 60 ms"),
    ("<h2>It takes 60 ms</h2>", "a naked number: 60 ms"), ("<ul><li>60 ms</li></ul>", "a naked number: 60 ms"), ("<dl><dt>60 ms</dt><dd>x</dd></dl>", "a naked number: 60 ms"),
    ("<blockquote>60 ms</blockquote>", "a naked number: 60 ms"), ("<details><summary>60 ms</summary></details>", "a naked number: 60 ms"), ("<p><code>60 ms</code></p>", "a naked number: 60 ms"),
    ("60 ms", "a naked number: 60 ms"), ("<section><div><div>60 ms</div></div></section>", "a naked number: 60 ms"), ("<label>60 ms</label>", "a naked number: 60 ms"),
    ('<p>All <span class="x">four</span> GPUs wait.</p>', "a number in words before something the model counts: four GPUs"),
    ('<p><span class="q" data-q="x">61 ms</span></p>', "61 ms is marked as a quote, and no call quotes it"),
    ('<p>the same <span class="rel">x</span> 60 ms</p>', "a naked number: 60 ms"), ('<p>It takes <a href="x.html">60 ms</a>.</p>', "a naked number: 60 ms"),
    ("<p>It takes 6<a></a>0 ms.</p>", "a naked number: 60 ms"), ('<p><b>x</b></p><p title="60 ms">x</p>', "a naked number: 60 ms"),
    ("<div><nav><p>60 ms</p></nav></div>", "a naked number: 60 ms"), ('<aside class="md-sidebar">60 ms</aside>', "a naked number: 60 ms"),
])  # fmt: skip
def test_a_number_is_found_whatever_way_it_came_in(tmp_path: Path, article: str, says: str) -> None:
    found = check(tmp_path, article)
    assert found != []
    assert says in found[0].message


@pytest.mark.parametrize("article", [
    "<p>Words.</p>", "<p>A V100 in Act 6, step 2, section 13.7, GPU 0.</p>", "<pre><code>x = 60 ms</code></pre>", "<p><code>torch.ones(2)</code></p>", "<svg><text>60 ms</text></svg>",
    "<!-- 60 ms -->", '<template class="card">60 ms</template>', '<p><span class="plain">60 ms</span></p>', '<span class="formula"><math><mn>60</mn></math></span>',
    '<table class="data"><caption>x</caption><tr><td class="num" title="60 ms">60 ms</td></tr></table>', '<div class="fig-svg">60 ms</div>', '<dl class="live"><dd>60</dd></dl>',
    '<p class="credit">section 13.7</p>', '<a class="headerlink" href="#x" title="Link to this place">#</a>', '<p><a href="https://x.org/60">https://x.org/60</a></p>',
    "<p>See https://x.org/v1.2/60 too.</p>", '<p><a href="mailto:a60@x.org">a60@x.org</a></p>', "<p>faster</p><p>than</p>",
    '<p>So<sup id="fnref:1"><a class="footnote-ref" href="#fn:1">1</a></sup> it is.<a class="footnote-backref" href="#x" title="Jump back to footnote 1 in the text">↩</a></p>', '<img alt="A ring" src="60.png" width="60">', '<div id="x60" class="w60" data-n="60">x</div>',
    '<mark class="fault" title="quotes 61 ms for sync.one_gpu">61 ms</mark>', '<div class="faults"><p>quotes 61 ms</p></div>',
    '<div class="entry"><p title="60 ms">60</p></div>', '<div class="doc-module"><form></form></div>', "<a href>x</a>", '<p title="data: so it is">x</p>',
])  # fmt: skip
def test_what_is_made_or_unread_is_left_alone(tmp_path: Path, article: str) -> None:
    assert [str(f) for f in check(tmp_path, article)] == []


@pytest.mark.parametrize(
    ("article", "what"),
    [
        ("<script>60</script>", "<script>"),
        ("<ul><li><iframe></iframe></li></ul>", "<iframe>"),
        ('<p style="width: 60px">x</p>', "style="),
        ('<p ONCLICK="x()">x</p>', "onclick="),
        ('<a href=" java\nscript:x()">x</a>', "javascript:"),
        ('<img alt="x" src="file:///x.png">', "file:"),
        ('<p action="data:text/html,x">x</p>', "data:"),
        ('<button formaction="javascript:x()">x</button>', "javascript:"),
        ('<a xlink:href="javascript:x()">x</a>', "javascript:"),
    ],
)
def test_what_runs_is_refused_whatever_way_it_came_in(tmp_path: Path, article: str, what: str) -> None:
    assert [str(f) for f in check(tmp_path, article)] == [f"page.html: in the built page: {what} cannot stand on a page"]


def test_the_theme_around_a_page_raises_no_alarm(tmp_path: Path) -> None:
    outside = '<form></form><div class="md-sidebar md-sidebar--primary"><p>60 ms</p></div>'
    assert [str(f) for f in audit_site(built(tmp_path, "<p>Words.</p>", outside=outside), Audit())] == []


@pytest.mark.parametrize(("html", "says"), [
    ("<form></form><main><iframe></iframe></main>", "in the built page: <iframe> cannot stand on a page"), ("<main><form></form><article><iframe></iframe></article></main>", "<iframe> cannot"),
    ("<form></form>", "in the built page: <form> cannot stand on a page"),
    ("<title>60 ms</title><frameset><frame></frameset>", "near “60 ms”: a naked number: 60 ms"),
])  # fmt: skip
def test_a_page_of_another_theme_is_read_too(tmp_path: Path, html: str, says: str) -> None:
    """Without an article its main part is the content; without that, the whole body."""
    (tmp_path / "page.html").write_text(html, encoding="utf-8")
    [fault] = audit_site(tmp_path, Audit())
    assert says in fault.message


def test_the_title_of_a_page_is_read(tmp_path: Path) -> None:
    assert "a naked number: 60 ms" in check(tmp_path, "<p>Words.</p>", title="60 ms")[0].message


def test_a_description_is_read(tmp_path: Path) -> None:
    site = built(tmp_path, "<p>x</p>")
    page = site / "page.html"
    page.write_text(page.read_text(encoding="utf-8").replace('content="A page."', 'content="60 ms"'), encoding="utf-8")
    [fault] = audit_site(site, Audit())
    assert "in the built page, in the description, near" in fault.message


@pytest.mark.parametrize(("article", "line", "column"), [
    ("<p>Before it, 60 ms pass; after it</p>", 8, 12), ("<p>It takes <strong>5 s</strong> and 60 ms.</p>", 12, 45), ("<p>some 7 more</p>", 8, 45),
    ("<p>The ring is faster <em>than</em> that.</p>", 12, 13), ('<p>here. Before it, 60 <a href="x">ms</a> pass</p>', 8, 12), ('<h2>Later</h2><p>60 ms.</p>', 12, 57),
    ("<p>60 ms pass</p>", 8, 12), ("<h2>Later</h2><p>some 7 more</p>", 8, 45), ("<p>7<code>x</code></p>", 8, 45),
])  # fmt: skip
def test_a_finding_is_mapped_to_its_line_by_its_neighbours(tmp_path: Path, article: str, line: int, column: int) -> None:
    found = check(tmp_path, article, SOURCE)
    assert (found[0].path, found[0].line) == ("docs/page.md", line)
    assert abs(found[0].column - column) <= 4


@pytest.mark.parametrize(("source", "article", "line", "column"), [
    ("60 ms pass.\n\nThen 60 ms pass.\n", "<p>60 ms pass</p>", 1, 1),
    ("It takes 60 ms.\n\n60 ms\n-----\n", "<h2>60 ms</h2>", 3, 1),
    ("A flag `x`60 ms long.\n", "<p>A flag <code>x</code>60 ms long.</p>", 1, 11),
])  # fmt: skip
def test_a_finding_at_an_edge_is_mapped_to_its_first_character(
    tmp_path: Path, source: str, article: str, line: int, column: int
) -> None:
    [fault] = check(tmp_path, article, source)
    assert (fault.line, fault.column) == (line, column)


@pytest.mark.parametrize("alike", range(5))
def test_the_place_with_the_most_neighbours_in_common_is_named(tmp_path: Path, alike: int) -> None:
    """The same number several times, with 0, 1, 2 … of its neighbours on each side as they are built."""
    before, after = ["red", "green", "blue", "white"], ["north", "east", "south", "west"]
    lines = [" ".join(["so", *before[4 - n :], "60 ms", *after[:n], "so"]) for n in range(alike + 1)]
    [fault] = check(tmp_path, f"<p>{' '.join(['then', *before, '60 ms', *after, 'then'])}</p>", "\n\n".join(lines))
    assert (fault.line, fault.column) == (2 * alike + 1, lines[-1].index("60 ms") + 1)


NAKED = 'a naked number: 99 ms; bind it: [= q("99 ms", name) =], or say why not: [= plain("99 ms", why="…") =]'
AS_TEXT = "{ .notice } is shown as text: it stands alone on the line right below its paragraph"


@pytest.mark.parametrize(("article", "place", "message", "sort"), [
    ("<p>97 ms</p>", (14, 1), NAKED.replace("99", "97"), "unbound"),
    ("<h2>Not <em>in</em> it</h2><p>From a plugin that\nnobody knows comes a time, <span class='plain'>x</span> 99 ms, and nobody can say what it is of.</p>", (0, 0),
     f"in the built page under “Not in it”, near “ows comes a time, … 99 ms, and nobody can say”: {NAKED}", "unbound"),
    ("<img alt='Some 99 ms' src='x.png'>", (0, 0), f"in the built page, in the alt of a img, near “Some 99 ms”: {NAKED}", "unbound"),
    ("<p>{ .notice }</p>", (16, 1), AS_TEXT, "broken"), ("<p>{ .lede }</p>", (0, 0), AS_TEXT.replace("notice", "lede"), "broken"),
    ("<form></form>", (0, 0), "in the built page: <form> cannot stand on a page", "broken"),
    ("<p><b class='q'>99</b></p>", (0, 0), "in the built page, in a b: 99 is marked as a quote, and no call quotes it", "broken"),
])  # fmt: skip
def test_a_fault_names_place_thing_and_cure(tmp_path: Path, article: str, place: tuple[int, int], message: str, sort: str) -> None:
    source = SOURCE + "\n97 ms\n\n{ .notice }\n\n{ .notice }\n"
    assert check(tmp_path, article, source) == [Fault("docs/page.md", *place, message, sort)]


@pytest.mark.parametrize(("article", "message"), [
    ("<p>{ .notice }</p>", AS_TEXT), ("<form></form>", "in the built page: <form> cannot stand on a page"),
    ("<p><b class='q'>99</b></p>", "in the built page, in a b: 99 is marked as a quote, and no call quotes it"),
])  # fmt: skip
def test_without_a_source_a_fault_names_the_built_page(tmp_path: Path, article: str, message: str) -> None:
    assert check(tmp_path, article) == [Fault("page.html", 0, 0, message)]


@pytest.mark.parametrize(
    "article",
    ["<p>{ .notice }</p>", "<p>It waits. { .lede }</p>", "<div>{: #x .y }</div>", "<p>It waits.\n{ .bridge title='x' }</p>"],
)
def test_an_attribute_list_that_a_reader_sees_is_a_fault(tmp_path: Path, article: str) -> None:
    [fault] = check(tmp_path, article)
    assert "is shown as text: it stands alone on the line right below its paragraph" in fault.message


def test_an_attribute_list_that_a_reader_sees_is_mapped_to_its_line(tmp_path: Path) -> None:
    [fault] = check(tmp_path, "<p>{ .notice }</p>", SOURCE + "\n{ .notice }\n")
    assert (fault.path, fault.line, fault.column) == ("docs/page.md", 14, 1)


@pytest.mark.parametrize("article", ["<p><code>{ .notice }</code></p>", "<pre>{ .x }</pre>", "<p>A set {a, b}.</p>"])
def test_braces_that_are_no_attributes_are_left_alone(tmp_path: Path, article: str) -> None:
    assert [str(f) for f in check(tmp_path, article)] == []


def test_a_page_refused_as_a_whole_is_not_read_again(tmp_path: Path) -> None:
    audit = Audit()
    with using(LEDGER):
        audit_page("docs/page.md", "title: A page\n\nIt waits.\n", Evaluator(LEDGER, CALLABLE), audit)
    assert [f.line for f in audit.faults] == [1]
    site = built(tmp_path, "<p>title: 60 ms</p>")
    assert list(audit_site(site, audit)) == []
    (site / "then.html").write_text("<p>It takes 99 ms.</p>", encoding="utf-8")
    assert [f.path for f in audit_site(site, audit)] == ["then.html"]


def test_the_cards_of_the_home_page_name_no_fault_of_an_act(tmp_path: Path) -> None:
    assert (
        check(tmp_path, '<div class="cards"><a class="card-link" href="x"><strong>docs/acts/6-allreduce.md</strong></a></div>')
        == []
    )


def test_what_is_in_no_source_is_named_by_page_and_heading(tmp_path: Path) -> None:
    [fault] = check(tmp_path, "<h2>Elsewhere<a class='headerlink' href='#x'>#</a></h2><p>From a plugin: 99 ms.</p>", SOURCE)
    assert str(fault).startswith(
        "docs/page.md: in the built page under “Elsewhere”, near “From a plugin: 99 ms.”: a naked number: 99 ms; bind it"
    )


def test_a_page_without_a_source_is_named_by_its_file(tmp_path: Path) -> None:
    [fault] = check(tmp_path, "<p>From a template: 99 ms.</p>")
    assert str(fault).startswith("page.html: in the built page, near “From a template: 99 ms.”")


def test_what_the_source_audit_has_named_is_not_named_again(tmp_path: Path) -> None:
    audit = Audit()
    with using(LEDGER):
        audit_page("docs/page.md", SOURCE, Evaluator(LEDGER, CALLABLE), audit)
    known = len(audit.faults)
    site = built(
        tmp_path, "<p>Before it, 60 ms pass; after it, <b>some 7</b> more.</p><p>It takes <strong>5 s</strong> and 60 ms.</p>"
    )
    assert known >= 5
    assert [str(f) for f in audit_site(site, audit)] == []


@pytest.mark.parametrize(("article", "line", "message", "named"), [
    ("<p>Before it, 60 ms pass</p>", 8, "a naked number: 60 ms", True), ("<p>Before it, 60 ms pass</p>", 9, "a naked number: 60 ms", False),
    ("<p>Before it, 60 ms pass</p>", 8, "a naked number: 61 ms", False), ("<p>From a plugin: 99 ms.</p>", 9, "a naked number: 99 ms", True),
    ("<p>From a plugin: 99 ms.</p>", 9, "a naked number: 98 ms", False), ("<p>{ .notice }</p>", 14, "{ .notice } would be shown", True),
    ("<p>{ .notice }</p>", 13, "{ .notice } would be shown", False), ("<form></form>", 9, "<form> cannot stand", True), ("<form></form>", 9, "<embed> cannot stand", False),
])  # fmt: skip
def test_only_the_same_fault_is_known(tmp_path: Path, article: str, line: int, message: str, named: bool) -> None:
    """By its line and its words; by its words alone, where the line in the source is not known."""
    audit = Audit(pages={"docs/page.md": scan("docs/page.md", SOURCE + "\n{ .notice }\n")})
    audit.faults.append(Fault("docs/page.md", line, 1, message))
    assert len([*audit_site(built(tmp_path, article), audit)]) == (0 if named else 1)


def test_the_words_of_quotes_may_stand_where_html_cannot_go(tmp_path: Path) -> None:
    source = '# It takes [= q("60 ms", sync.one_gpu) =] { #x }\n\n![It takes [= qt("60 ms", sync.one_gpu) =]](x.png) and [= qt("5 us", tiny.latency) =].\n'
    article = '<h1>It takes 60\u00a0ms</h1><p><img alt="It takes 60\u00a0ms" src="x.png"> and 5\u00a0µs.</p>'
    assert [str(f) for f in check(tmp_path, article, source)] == []


def test_words_that_are_bound_free_no_longer_number(tmp_path: Path) -> None:
    source = '# It takes [= q("60 ms", sync.one_gpu) =] { #x }\n'
    [fault] = check(tmp_path, "<h1>It takes 60\u00a0ms</h1><p>It takes 60\u00a0ms, not 160\u00a0ms.</p>", source)
    assert "near “It takes …, not 160 ms.”: a naked number: 160 ms" in fault.message


def test_the_built_site_is_clean(site: Path) -> None:
    assert [str(f) for f in audit_site(site, audit_sources())] == []


INTO_A_PAGE = [
    ("a paragraph", '<p class="lede">', '<p>Some 99 ms.</p><p class="lede">', "a naked number: 99 ms"),
    ("an alt text", "<h2", '<img alt="Some 99 ms" src="x.png"><h2', "a naked number: 99 ms"),
    ("a table", "<h2", "<table><tbody><tr><td>99 ms</td></tr></tbody></table><h2", "a naked number: 99 ms"),
    ("a heading", "<h2", "<h3>Some 99 ms</h3><h2", "a naked number: 99 ms"),
    ("a comparison over tags", "<h2", "<p>It is faster <em>than</em> all.</p><h2", "a comparison: faster than"),
    ("a quote of its own", "<h2", '<p><span class="q">99 ms</span></p><h2', "99 ms is marked as a quote"),
]


@pytest.mark.parametrize(("what", "old", "new", "says"), INTO_A_PAGE, ids=[p[0] for p in INTO_A_PAGE])
def test_a_number_that_enters_a_built_page_is_found(site: Path, tmp_path: Path, what: str, old: str, new: str, says: str) -> None:
    html = (site / "acts" / "6-allreduce.html").read_text(encoding="utf-8")
    start = html.index("<article")
    assert old in html[start:]
    folder = tmp_path / "acts"
    folder.mkdir()
    (folder / "6-allreduce.html").write_text(html[:start] + html[start:].replace(old, new, 1), encoding="utf-8")
    found = list(audit_site(tmp_path, audit_sources()))
    assert len(found) == 1, [str(f) for f in found]
    assert says in found[0].message
    assert found[0].path == "docs/acts/6-allreduce.md"


def test_a_quote_changed_after_the_build_is_found(site: Path, tmp_path: Path) -> None:
    html = (site / "acts" / "6-allreduce.html").read_text(encoding="utf-8")
    (tmp_path / "acts").mkdir()
    changed = html.replace(">60\u00a0ms<", ">61\u00a0ms<", 1)
    assert changed != html
    (tmp_path / "acts" / "6-allreduce.html").write_text(changed, encoding="utf-8")
    assert any("61" in f.message for f in audit_site(tmp_path, audit_sources()))


def test_it_runs_on_its_own(site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert audit_html.main([str(site)]) == 0
    assert capsys.readouterr().out.startswith("numbers   ")
    assert audit_html.main([str(tmp_path / "nowhere")]) == 2
    assert "holds no built page: run make site first" in capsys.readouterr().err


def test_the_command_reads_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(audit_html, "audit_sources", Audit)
    assert audit_html.main([]) == 2
    assert capsys.readouterr() == ("", "site holds no built page: run make site first\n")
    (tmp_path / "empty" / "assets").mkdir(parents=True)
    assert audit_html.main(["empty"]) == 2
    assert capsys.readouterr().err == "empty holds no built page: run make site first\n"
    other = built(tmp_path, "<p>Words.</p>").rename("other")
    built(tmp_path, "<p>It takes 60 ms.</p>")
    assert audit_html.main([]) == 1
    shown = capsys.readouterr().out
    assert shown.startswith("page.html: in the built page, near “It takes 60 ms.”: a naked number: 60 ms;")
    assert shown.splitlines()[1].startswith("numbers   0 quoted: ")
    assert audit_html.main([str(other)]) == 0
    assert capsys.readouterr().out.startswith("numbers   0 quoted: ")


def test_a_page_of_marks_has_places() -> None:
    page = scan("docs/x.md", SOURCE)
    assert page.place(page.source.index("Before it")) == (8, 1)
