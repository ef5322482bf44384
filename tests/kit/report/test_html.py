"""The HTML page: nothing that a file says becomes markup, and the page loads nothing at all."""

import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from bugkit.matrix import Cell, Matrix, Outcome
from bugkit.report.html import as_html
from bugkit.report.symbols import SYMBOLS
from bugkit.subject import Kind

VOID = {"meta", "link", "input", "br", "wbr"}
"""The elements of the page that have no end tag."""

CONTROL = re.compile("[^\n\r\t\x20-\x7e\xa0-\ud7ff\ue000-\U0010ffff]")
"""What a document may not hold (HTML standard, 13.2.3.5)."""

LOADS = re.compile(r"url\(|@import|import\(|fetch\(|XMLHttpRequest|WebSocket|https?:|//[a-z]")
"""What a style or a script would need to load something."""


class Element:
    """A tag with its attributes, and the text under it."""

    def __init__(self, tag: str, attributes: dict[str, str]) -> None:
        self.tag = tag
        self.attributes = attributes
        self.text = ""

    @property
    def classes(self) -> list[str]:
        return self.attributes.get("class", "").split()


class Page(HTMLParser):
    """Reads a page strictly: every element is closed where it should be."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self.open: list[Element] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names), f"an attribute of {tag} is given twice"
        self.elements.append(Element(tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(self.elements[-1])

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.text += data

    def all(self, tag: str) -> list[Element]:
        return [element for element in self.elements if element.tag == tag]


def shape(page: Page) -> list[tuple[str, tuple[str, ...]]]:
    """All of the page but its texts."""
    return [(element.tag, tuple(element.attributes)) for element in page.elements]


def renamed(matrix: Matrix, old: str, new: str) -> Matrix:
    return replace(
        matrix,
        subjects=tuple(
            replace(s, id=new, title=new) if s.id == old else s for s in matrix.subjects
        ),
        cells={(new if id_ == old else id_, d): cell for (id_, d), cell in matrix.cells.items()},
    )


# What must not happen


def test_no_message_becomes_markup(told: tuple[str, Matrix]) -> None:
    text, matrix = told
    harmless = {
        key: replace(cell, message="harmless" if cell.message else "")
        for key, cell in matrix.cells.items()
    }
    page = Page(as_html(matrix))
    assert shape(page) == shape(Page(as_html(replace(matrix, cells=harmless))))
    said = [e.text for e in page.all("span") if "said" in e.classes]
    assert said == [CONTROL.sub("\ufffd", text)] * 3


def test_no_name_of_a_file_becomes_markup(named: tuple[str, Matrix]) -> None:
    name, matrix = named
    page = Page(as_html(renamed(matrix, name, name)))
    # Only the number of places where a name may break differs.
    bare = [e for e in shape(page) if e[0] != "wbr"]
    plain = Page(as_html(renamed(matrix, name, "gpt.py")))
    assert bare == [e for e in shape(plain) if e[0] != "wbr"]
    heads = [e.text for e in page.all("th") if e.attributes["scope"] == "row"]
    assert heads[1].startswith(CONTROL.sub("\ufffd", name) + " file")


def test_no_control_character_gets_through(odd_words: Matrix) -> None:
    assert not CONTROL.search(as_html(odd_words))


def test_the_page_loads_nothing(any_matrix: Matrix) -> None:
    page = Page(as_html(any_matrix))
    for element in page.elements:
        for name in ("src", "srcset", "action", "data", "poster", "background", "ping"):
            assert name not in element.attributes
        address = element.attributes.get("href", "#")
        assert address.startswith("#") or (element.tag, address) == ("link", "data:,")
        assert not LOADS.search(element.attributes.get("style", ""))
        assert not any(name.startswith("on") for name in element.attributes)
    code = [e.text for e in page.elements if e.tag in ("style", "script")]
    assert len(code) == 2
    assert not any(LOADS.search(re.sub("(?m)^ *// .*$", "", text)) for text in code)


def test_the_browser_is_told_to_load_nothing(matrix: Matrix) -> None:
    (policy,) = [
        e.attributes["content"]
        for e in Page(as_html(matrix)).all("meta")
        if e.attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert set(rules.values()) == {"'none'", "'unsafe-inline'", "data:"}


def test_no_link_leads_nowhere(any_matrix: Matrix) -> None:
    page = Page(as_html(any_matrix))
    ids = Counter(e.attributes["id"] for e in page.elements if "id" in e.attributes)
    assert max(ids.values()) == 1
    assert not any(re.search(r"\s", id_) for id_ in ids)
    targets = {e.attributes["href"] for e in page.all("a")}
    labels = {v for e in page.elements if (v := e.attributes.get("aria-labelledby"))}
    assert {target.removeprefix("#") for target in targets} | labels <= set(ids)


def test_the_same_matrix_gives_the_same_bytes(any_matrix: Matrix) -> None:
    backwards = replace(any_matrix, cells=dict(list(any_matrix.cells.items())[::-1]))
    assert as_html(any_matrix).encode() == as_html(any_matrix).encode()
    assert as_html(any_matrix).encode() == as_html(backwards).encode()


# What is there


def test_the_grid_is_the_matrix(any_matrix: Matrix) -> None:
    page = Page(as_html(any_matrix))
    cells = [(cell.outcome, s.kind) for s in any_matrix.subjects for _, cell in any_matrix.row(s)]
    grid = page.all("td")[: len(cells)]
    assert [cell.text for cell in grid] == [SYMBOLS[outcome] for outcome, _ in cells]
    for cell, (outcome, kind) in zip(grid, cells, strict=True):
        quiet = outcome in (Outcome.PASSED, Outcome.NOT_OFFERED)
        wanted = outcome is Outcome.FAILED and kind is Kind.MUTANT
        assert cell.classes[0] == (outcome if quiet else "kill" if wanted else "bad")


def test_every_subject_and_every_detector_is_named(any_matrix: Matrix) -> None:
    page = Page(as_html(any_matrix))
    rows = [e.text.split(" ", 1)[0] for e in page.all("th") if e.attributes["scope"] == "row"]
    subjects = [s.id.split(" ", 1)[0] for s in any_matrix.subjects]
    assert rows == [*subjects, *(d.key for d in any_matrix.detectors)]
    text = "".join(e.text for e in page.all("main"))
    assert all(d.label in text and d.id in text for d in any_matrix.detectors)


def test_every_marked_cell_leads_to_what_was_said(any_matrix: Matrix) -> None:
    page = Page(as_html(any_matrix))
    items = {e.attributes["id"]: e.text for e in page.all("li") if "id" in e.attributes}
    marked = [e for e in page.all("a") if "aria-label" in e.attributes]
    expected = [
        (s.id, d, cell)
        for s in any_matrix.subjects
        for d, cell in any_matrix.row(s)
        if cell.outcome not in (Outcome.PASSED, Outcome.NOT_OFFERED)
    ]
    assert len(items) == len(marked) == len(expected)
    for link, (id_, d, cell) in zip(marked, expected, strict=True):
        item = items[link.attributes["href"].removeprefix("#")]
        assert item.startswith(f"{d.key} {d.label} (")
        assert item.endswith(cell.message)
        assert link.attributes["aria-label"].startswith(f"{id_}, {d.key}: ")


def test_a_bad_verdict_is_a_word_beside_the_name(matrix: Matrix) -> None:
    rows = [e.text for e in Page(as_html(matrix)).all("th") if e.attributes["scope"] == "row"]
    assert rows[: len(matrix.subjects)] == [
        "correct correct",
        "mask_gone mask",
        "mask_late mask",
        "looks_wrong softmax, innocent",
        "looks_accused norm, innocent killed",
        "other_promise attention",
        "no_promise mlp",
        "only_recorded norm survived",
        "never_judged softmax invalid",
        "solutions/my gpt.py file killed",
        "unloadable.py file invalid",
        "fine.py file",
        "odd.py file survived",
    ]


def test_the_facts_are_in_words(matrix: Matrix) -> None:
    page = Page(as_html(matrix))
    facts = [
        (term.text, " ".join(fact.text.split()))
        for term, fact in zip(page.all("dt"), page.all("dd"), strict=True)
        if term.text != "Broken promise"
    ]
    assert dict(facts) == {
        "Mutants killed": "4 of 6; survived: only_recorded",
        "Signatures shared": "mask_gone = mask_late",
        "Idle detectors": "test_weights_are_shares, test_cache",
        "Minimal suite": "2 detectors kill all of these: A1 B1",
        "Innocents accused": "1 of 2",
        "Not judged": "never_judged, unloadable.py",
        "Colours": "a bug is caught, a test fails, or cannot finish, where it should not",
        "Symbols": "· passed, ✗ failed, E error, T timeout, C crashed, M out of memory, "
        "- not offered",
    }
    assert sum(term.text == "Broken promise" for term in page.all("dt")) == 5


@pytest.mark.parametrize("kind", [Kind.CORRECT, Kind.FILE])
def test_a_matrix_without_mutants_says_nothing_of_them(kind: Kind, matrix: Matrix) -> None:
    page = Page(as_html(replace(matrix, subjects=matrix.of_kind(kind))))
    assert not any("utant" in term.text for term in page.all("dt"))


def test_every_filter_offers_what_there_is(matrix: Matrix) -> None:
    options = [e.text for e in Page(as_html(matrix)).all("option")]
    assert options == [
        *("all", "attention", "mask", "mlp", "norm", "softmax"),
        *("all", "1", "2", "3"),
        *("all", "correct", "mutant", "innocent", "file"),
    ]


def test_a_message_that_passed_is_not_shown(matrix: Matrix) -> None:
    passed = {key: Cell(Outcome.PASSED) for key in matrix.cells}
    page = Page(as_html(replace(matrix, cells=passed)))
    assert [e.text.strip() for e in page.all("li")] == ["Nothing failed."] * len(matrix.subjects)
