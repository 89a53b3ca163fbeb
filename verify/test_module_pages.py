"""The pages of the module: the parts of an act, and no credit to a book that is not theirs."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from weakref import WeakKeyDictionary

import pytest

from macros import drawings, figures
from macros.audit import audit_sources
from macros.drawings import server
from macros.evaluate import book
from macros.figures import act6
from macros.pages import act_of, credit
from perfmodel.book import module
from verify.audited import FRONT, SMALL, audit_one
from verify.browser import acts

MODULE = "docs/module/4-next.md"
OWN = SMALL.replace('[= credit("13.7") =]', "[= credit() =]")


def test_a_page_of_the_module_credits_no_section() -> None:
    assert audit_one(MODULE, OWN).faults == []
    [fault] = audit_one(MODULE, SMALL).faults
    assert fault.message == "a page of the module is adapted from no section of the book: [= credit() =]"
    assert SMALL.splitlines()[fault.line - 1] == '[= credit("13.7") =]'


def test_an_act_credits_one() -> None:
    [fault] = audit_one("docs/acts/7-next.md", OWN).faults
    assert fault.message == 'an act ends with the section of the book it is adapted from: [= credit("13.7") =]'


QUOTED = SMALL.replace("And goes on.", 'It takes [= q("15 ms", sync.ring) =].')


def test_an_act_credits_the_section_that_its_numbers_come_from() -> None:
    assert audit_one("docs/acts/7-next.md", QUOTED).faults == []
    assert audit_one("docs/acts/7-next.md", QUOTED.replace('"13.7"', '"13.5", "13.7"')).faults == []
    [fault] = audit_one("docs/acts/7-next.md", QUOTED.replace("13.7", "13.5")).faults
    assert fault.message == 'most numbers of this page come from section 13.7, which its credit leaves out: credit("13.7")'


def test_a_badge_names_the_section_that_its_numbers_come_from(monkeypatch: pytest.MonkeyPatch) -> None:
    page = '[= figure("sync-compare") =]\n\n[= drawing("server") =]\n'
    assert audit_one("docs/x.md", f"{FRONT}{page}").faults == []
    monkeypatch.setitem(figures.FIGURES, "sync-compare", lambda: replace(act6.sync_compare(), badge="Dive into Deep Learning 13.2"))
    monkeypatch.setattr(figures, "_made", WeakKeyDictionary())
    monkeypatch.setitem(drawings.DRAWINGS, "server", lambda: server().replace("Learning 13.7", "Learning 13.1"))
    found = [f.message for f in audit_one("docs/x.md", f"{FRONT}{page}").faults]
    assert found == [f"the badge names section {section}, and the numbers beside it come from 13.7" for section in ("13.2", "13.1")]


@pytest.mark.parametrize(
    ("part", "says"),
    [
        ("It is one.\n{ .lede }\n\n", "a page of the module has a first paragraph that says what it is about, with { .lede } on the line below it"),
        ("And goes on.\n{ .bridge }\n\n", "a page of the module has a last paragraph that leads on, with { .bridge } on the line below it"),
        ("[= credit() =]\n", "a page of the module ends with whose words it has: [= credit() =]"),
        ("# A page { #page }\n", "a page of the module begins with its title: # A page"),
        ("description: A page for a test.\n", "a page of the module has a line description: between its two lines ---: the home page shows it"),
    ],
)  # fmt: skip
def test_a_page_without_one_of_its_parts_is_refused(part: str, says: str) -> None:
    page = OWN.replace(part, "", 1)
    assert page != OWN
    [fault] = audit_one(MODULE, page).faults
    assert fault.message == says


def test_the_words_at_the_end() -> None:
    html = credit().html
    assert "Report a wrong number" in html
    assert "CC BY-SA" in html
    assert "d2l.ai" not in html


def test_no_page_of_the_module_leans_on_the_book() -> None:
    """The module has a source of its own: the book is named in none of its pages, and the ledger's sources are others for its models."""
    audit = audit_sources()
    pages = {path: page.source for path, page in audit.pages.items() if path.startswith("docs/module/")}
    assert len(pages) == 3
    for path, source in pages.items():
        assert "Dive into Deep Learning" not in source, path
        assert "d2l" not in source.lower(), path


def test_the_code_on_the_page_runs_and_says_what_the_table_says() -> None:
    """The example of the decision aid is GPT-2, with the numbers of the table above it."""
    source = audit_sources().pages["docs/module/3-scale.md"].source
    [code] = re.findall(r"^```python\n(.*?)^```", source, re.MULTILINE | re.DOTALL)
    printed: list[object] = []
    names: dict[str, object] = {"print": printed.append}
    exec(code, names)
    assert printed == [("save activations",)]
    [gpt] = [example.job for example in module.EXAMPLES if example.name == "gpt"]
    assert names["job"] == gpt


def test_symbols_of_the_module_have_a_table_of_their_own() -> None:
    names = book().names
    assert act_of(names["dp.ddp"]) == "module"
    assert act_of(names["sync.ring"]) == "act-6"
    assert act_of(names["products.each"]) == "runs"


def test_the_browser_looks_at_the_module_as_at_the_acts(tmp_path: Path) -> None:
    for path in ("acts/1-a.html", "module/1-b.html", "numbers.html"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text("", encoding="utf-8")
    assert acts(tmp_path) == ["acts/1-a.html", "module/1-b.html"]
