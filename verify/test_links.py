"""Links that lead nowhere are named with their line, and those that lead somewhere are left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from macros.audit import audit_sources
from macros.links import check_links, check_places
from macros.links import places as link_places
from macros.scan import scan
from verify.audited import FRONT, source_of
from verify.planted import ACT2

LINKS = [
    ("9-none.md", "9-none.md leads nowhere: there is no file docs/acts/9-none.md; did you mean"), ("../numbres.md", "did you mean ../numbers.md?"), ("x.png", "there is no file docs/acts/x.png"),
    ("6-allreduce.md#chekc", "docs/acts/6-allreduce.md has no place #chekc; did you mean #check?"), ("#nope", "docs/acts/2-queue.md has no place #nope"), ("9-none.html", "there is no file docs/acts/9-none.html"),
]  # fmt: skip


def test_a_link_that_leads_nowhere_is_named_with_its_line() -> None:
    forms = ("See [it]({}).", "See ![it]({}).", 'See <a href="{}">it</a>.', "See [it][there{n}].\n\n[there{n}]: {}")
    source, expected = source_of(ACT2).rstrip() + "\n", []
    for n, (address, says) in enumerate(LINKS):
        for form in forms:
            source += "\n" + form.replace("{n}", str(n)).format(address) + "\n"
            at = source.rindex(address)
            expected.append((source.count("\n", 0, at) + 1, at - source.rfind("\n", 0, at), says))
    found = audit_sources(overrides={ACT2: source}).faults
    assert [(f.path, f.line, f.column) for f in found] == [(ACT2, line, column) for line, column, _ in expected]
    assert [f.message for f, (_, _, says) in zip(found, expected, strict=True) if says not in f.message] == []


def test_links_that_lead_somewhere_are_silent() -> None:
    places = (
        "6-allreduce.md", "../numbers.md#sync.one_gpu", "#step-1", "6-allreduce.md#check", "../assets/site.css", "https://d2l.ai/none", "mailto:a@b.c", "#fig-queue-depth", "6-allreduce.html",
        "../code/multiple_gpus.py", "../index.md#start-here", "#act-2-the-queue-behind-your-code",
    )  # fmt: skip
    source = source_of(ACT2) + "\n" + " ".join(f"[it]({place})" for place in places)
    assert [str(f) for f in audit_sources(overrides={ACT2: source}).faults] == []


@pytest.mark.parametrize(("link", "says"), [
    ("[Act 4](5-replicas.md)", "5-replicas.md is act 5, and the words of the link say act 4"), ("[the server of\nact 5, step 2](6-allreduce.html#step-2)", "is act 6, and the words of the link say act 5"),
    ("[step 3](#step-2)", "#step-2 is step 2, and the words of the link say step 3"), ("[Act 5, step 4](<5-replicas.md#step-3>)", "is step 3, and the words of the link say step 4"),
    ("[section 13.2](https://d2l.ai/chapter_computational-performance/parameterserver.html#x)", "https://d2l.ai/chapter_computational-performance/parameterserver.html#x is section 13.7, and the words of the link say section 13.2"),
    ("[section 13.2](https://d2l.ai/chapter_computational-performance/parameterserver.html)", "parameterserver.html is section 13.7, and the words of the link say section 13.2"), ("][Act 4](5-replicas.md) [1", "5-replicas.md is act 5, and"),
    ("[Act 5](5-replicas.md#step-3)", ""), ("[acts 4 and 5](5-replicas.md)", ""), ("[as Act 4 and Act 5 say](5-replicas.md)", ""), ("[Act 4's disks, in a lab](../lab.md#ladder)", ""), ("[step 2](6-allreduce.md)", ""),
    ("[section 13.7](https://d2l.ai/chapter_computational-performance/parameterserver.html)", ""), ("[section 9.9](https://d2l.ai/x.html)", ""), ("[Module, page 3](../module/1-gpu.md)", ""),
])  # fmt: skip
def test_a_link_leads_to_what_its_words_name(link: str, says: str) -> None:
    source = f"{source_of(ACT2)}\n{link}\n"
    found = [f for f in audit_sources(overrides={ACT2: source}).faults if "the words of the link" in f.message]
    assert [says in f.message for f in found] == [True] * bool(says)
    at = source.rindex("](") + 2
    assert [(f.line, f.column) for f in found] == [(source.count("\n", 0, at) + 1, at - source.rfind("\n", 0, at))] * bool(says)


def test_a_link_at_the_very_beginning_leads_to_what_its_words_name(tmp_path: Path) -> None:
    pages = {name: scan(name, text) for name, text in {"docs/acts/2-b.md": "# B\n", "docs/x.md": "[Act 1](acts/2-b.md)\n"}.items()}
    pages["docs/y.md"] = scan("docs/y.md", f"{pages['docs/x.md'].source}\nAnd [it](acts/2-b.md).\n")
    [fault], [again] = (list(check_links(pages[name], tmp_path, pages)) for name in ("docs/x.md", "docs/y.md"))
    assert again.message == fault.message
    assert (fault.line, fault.column, fault.message) == (1, 9, "acts/2-b.md is act 2, and the words of the link say act 1")


def test_the_places_of_a_page() -> None:
    page = scan(
        "docs/x.md",
        f"{FRONT}# The Queue: a `call`, again! {{ #queue .x }}\n\n## Two -  words\n\nA line.\n{{ #below }}\n\n<a id=\"raw\"></a> <b  id = 'one'> <i id=two>\n\nUnderlined\n---\n",
    )
    assert link_places(page) == {"queue", "below", "raw", "one", "two", "the-queue-a-call-again", "two-words", "underlined"}


@pytest.mark.parametrize(("link", "says"), [
    ("[it](y.md)", ""), ("[it](./z/../y.md)", ""), ("[it](y.html)", ""), ("[it](y.md#here)", ""), ("[it](#there)", ""), ("[it](y.md#fig-a)", ""), ("[it](#lab-a)", ""), ("[it](https://x.y/z)", ""),
    ("[it](//x.y/z)", ""), ("[it](/z)", ""), ("[it](mailto:a@b.c)", ""), ("[it](http://[x)", ""), ("[it](%79.md)", ""), ("[it](made.md#any)", ""), ("[it](doc.md#any)", ""), ("[it](lost.md#any)", ""), ("[it](../mkdocs.yml)", ""),
    ("[it](y.md#h%65re)", ""), ('[it]([= q("1", a.b) =].md)', ""), ("[it](y)", "y leads nowhere: there is no file docs/y"),
    ("[it](w.md)", "w.md leads nowhere: there is no file docs/w.md; did you mean y.md?"), ("[it](yy.md)", "yy.md leads nowhere: there is no file docs/yy.md; did you mean y.md?"), ("[it](madde.md)", "madde.md leads nowhere: there is no file docs/madde.md; did you mean made.md?"),
    ("[it](nothing.bin)", "nothing.bin leads nowhere: there is no file docs/nothing.bin"), ("[it](w.html)", "w.html leads nowhere: there is no file docs/w.html"), ("[it](y.md#hre)", "y.md#hre leads nowhere: docs/y.md has no place #hre; did you mean #here?"), ("[it](#zzz)", "#zzz leads nowhere: docs/x.md has no place #zzz"),
    ("[it](y.html#zzz)", "y.html#zzz leads nowhere: docs/y.md has no place #zzz"), ("[it](sub/deep)", "sub/deep leads nowhere: there is no file docs/sub/deep; did you mean sub/deeper.md?"),
])  # fmt: skip
def test_where_a_link_leads(tmp_path: Path, link: str, says: str) -> None:
    (tmp_path / "mkdocs.yml").touch()
    texts = {
        "docs/y.md": "# Here { #here }\n", "docs/made.md": "[= ledger() =]\n", "docs/doc.md": "\n::: perfmodel\n", "docs/lost.md": " \n", "docs/x.md": f"# There\n\nSee {link}.\n", "docs/sub/deeper.md": "# x\n",
    }  # fmt: skip
    texts["docs/x.md"] = texts["docs/x.md"].replace("See", "See [a](http://[x), [b](/z),")  # what leads away hides nothing after it
    pages = {path: scan(path, text) for path, text in texts.items()}
    assert [(f.message, f.line, f.sort) for f in check_links(pages["docs/x.md"], tmp_path, pages)] == (
        [(says, 3, "broken")] if says else []
    )


@pytest.mark.parametrize(("text", "says"), [
    ("See Act ▸9.", "there is no Act 9: the acts are 1, 2, 3, 4, 5, 6"), ("See acts 2, 3 and ▸7.", "there is no Act 7"), ("See step ▸9.", "there is no step 9: this page has 4"), ("See step ▸5 of Act 1.", "there is no step 5: Act 1 has 4"),
    ("See Act 3, step ▸4.", "there is no step 4: Act 3 has 3"), ("See steps 2–▸6.", "there is no step 6: this page has 4"),
    ("See Act ▸9, step 9.", "there is no Act 9: the acts are 1, 2, 3, 4, 5, 6"), ("See step 1 of Act ▸8.", "there is no Act 8"), ("See Act ▸7, step 3 of Act 1.", "there is no Act 7"),
    ("See Act 6, acts 2 to 4, step 4, steps 1 and 2, step 5 of Act 6, and section 9.1.", ""), ("See step 1.5 of it.", ""),
])  # fmt: skip
def test_an_act_and_a_step_that_are_named_exist(text: str, says: str) -> None:
    source = source_of(ACT2).rstrip() + f"\n\n{text}\n"
    line, column = source.count("\n"), text.find("▸") + 1
    found = [f for f in audit_sources(overrides={ACT2: source.replace("▸", "")}).faults if "there is no" in f.message]
    assert [(f.line, f.column, f.message[: len(says)]) for f in found] == ([(line, column, says)] if says else [])


def test_each_act_and_step_that_does_not_exist_is_named() -> None:
    page = scan(ACT2, source_of(ACT2).rstrip() + "\n\nSee Act 9. See step 1 of Act 8, and step 7.\n")
    said = [fault.message.partition(":")[0] for fault in check_places(page, {ACT2: page})]
    assert said == ["there is no Act 9", "there is no Act 8", "there is no step 7"]


def test_where_there_are_no_acts_and_no_steps_none_is_missed() -> None:
    page = scan("docs/x.md", f"{FRONT}See Act 9 and step 9.\n")
    assert [*check_places(page, {"docs/x.md": page})] == []
