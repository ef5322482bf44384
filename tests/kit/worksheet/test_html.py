"""Sheets and keys as HTML, read by an independent parser."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import pairwise

import pytest

from bugkit.catalogue import Bug, Source, Teach
from bugkit.matrix import Matrix
from bugkit.worksheet import html
from bugkit.worksheet.answers import key_of
from bugkit.worksheet.content import Header, one_line, sheet_of
from bugkit.worksheet.edition import public
from bugkit.worksheet.html import GAP, laid_out
from bugkit.worksheet.key import Key, KeySet
from bugkit.worksheet.model import (
    Hints,
    Layout,
    Line,
    Listing,
    Paper,
    Sheet,
    SheetSet,
)
from bugkit.worksheet.words import plain
from bugkit.worksheet.worked import worked_sheet

from .conftest import HEADER, HOSTILE, listings
from .page import parsed, seen, with_class

SLUGS = ("scores_not_scaled", "gradients_never_cleared", "no_causal_mask")
"""The second one needs a listing."""

WORKED = "eps_inside_the_root"
INNOCENT = "queries_scaled_before_scores"


def numbered(sheets: Iterable[Sheet]) -> SheetSet:
    found = tuple(sheets)
    return SheetSet(
        "Bug hunts",
        tuple(replace(s, number=i, of=len(found)) for i, s in enumerate(found, 1)),
    )


def sheet_page(*sheets: Sheet, hints: Hints = Hints.STRIP) -> str:
    return html.sheets(numbered(sheets), Layout(hints=hints))


def key_page(*keys: Key) -> str:
    return html.keys(KeySet("Answer keys", keys), Layout())


# What must not happen


def test_no_page_of_a_student_holds_a_text_of_its_key(
    catalogue: dict[str, Bug], sheet: Callable[[str], Sheet], secrets: Callable[[str], set[str]]
) -> None:
    for slug in list(catalogue)[::3]:  # of the texts themselves, test_content looks at all
        page = sheet_page(sheet(slug))
        text = seen(parsed(page)) + page
        assert not [secret for secret in secrets(slug) if secret in text], slug


def shape(page: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(e.tag, tuple(e.attributes)) for e in parsed(page)]


@pytest.mark.parametrize("name", HOSTILE)
def test_what_came_from_outside_is_text_and_nothing_else(
    name: str, catalogue: dict[str, Bug], matrix: Matrix
) -> None:
    pages = []
    for text in (HOSTILE[name], "plain"):
        bug = catalogue["scores_not_scaled"]
        teach = Teach(text, text, (text,) * 4, text, text)
        source = Source("https://example.org/", text)
        bug = replace(bug, title=text, teach=teach, sources=(source,))
        header = Header(text, text)
        sheet = sheet_of(public(bug), matrix, header, Hints.STRIP)
        figure = replace(sheet.figure, title=text, alt=text)
        sheet = replace(sheet, figure=figure)
        key = key_of(public(bug), matrix, catalogue, header)
        found = parsed(sheet_page(sheet))
        if text == HOSTILE[name] and name not in ("control characters", "backticks"):
            course = next(e for e in with_class(found, "course"))
            assert course.text == one_line(text)
            assert " ".join(text.split()) in " ".join(seen(found).split())
        pages.append([shape(sheet_page(sheet)), shape(key_page(key))])
    hostile, plain_ = pages
    if name != "backticks":  # which stand around code
        assert hostile == plain_


def test_no_character_is_left_that_a_page_cannot_hold(sheet: Callable[[str], Sheet]) -> None:
    page = sheet_page(replace(sheet(SLUGS[0]), course="bell\x07 nul\x00 red\x1b[31m half\ud800"))
    assert not {"\x07", "\x00", "\x1b", "\ud800"} & set(page)
    assert "bell\ufffd nul\ufffd" in page


def test_a_page_loads_nothing(sheet: Callable[[str], Sheet], key: Callable[[str], Key]) -> None:
    drawn = replace(sheet(SLUGS[0]), figure=replace(sheet(SLUGS[0]).figure, svg="<svg/>"))
    for page in (sheet_page(drawn), key_page(key(SLUGS[0]))):
        for element in parsed(page):
            if element.tag != "a":
                assert element.attributes.get("href", "data:,") == "data:,"
            assert element.attributes.get("src", "data:").startswith("data:")
            assert not {"srcset", "action", "background"} & set(element.attributes)
        assert "url(" not in page
        assert "@import" not in page


def test_no_id_stands_twice_and_none_is_missing(sheet: Callable[[str], Sheet]) -> None:
    for hints in Hints:
        elements = parsed(sheet_page(*map(sheet, SLUGS), hints=hints))
        ids = [e.attributes["id"] for e in elements if "id" in e.attributes]
        assert len(ids) == len(set(ids)) > 100
        for e in elements:
            for attribute in ("for", "aria-labelledby"):
                assert set(e.attributes.get(attribute, ids[0]).split()) <= set(ids)
            if e.attributes.get("href", "").startswith("#"):
                assert e.attributes["href"][1:] in ids


def test_no_heading_skips_a_level(sheet: Callable[[str], Sheet], key: Callable[[str], Key]) -> None:
    for page in (
        sheet_page(sheet(SLUGS[0])),
        sheet_page(*map(sheet, SLUGS)),
        key_page(key(SLUGS[0])),
        key_page(*map(key, SLUGS)),
    ):
        levels = [int(e.tag[1]) for e in parsed(page) if e.tag in ("h1", "h2", "h3", "h4")]
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(b <= a + 1 for a, b in pairwise(levels))


# A sheet


def test_every_line_of_code_stands_there_with_its_number(sheet: Callable[[str], Sheet]) -> None:
    for slug in (*SLUGS, WORKED, INNOCENT):
        one = sheet(slug)
        shown = [e.text for e in with_class(parsed(sheet_page(one)), "line")]
        lines = [
            f"{line.number} {line.text}\n"
            for listing in listings(one)
            for line in listing
            if line.text
        ]
        assert [text for text in shown if text.strip(" \n0123456789")] == lines


def test_a_gap_is_where_numbers_jump_and_swallows_the_empty_lines_beside_it() -> None:
    text = {3: "", 4: "a", 5: "", 6: "b", 7: "", 20: "", 21: "", 22: "c", 30: "d", 31: " "}
    code = laid_out(tuple(Line(n, t) for n, t in text.items()))
    assert [(row.number, row.text) for row in code.rows] == [
        (4, "a"), (5, ""), (6, "b"), (None, ""), (22, "c"), (None, ""), (30, "d"),
    ]  # fmt: skip
    assert code.height == pytest.approx(4 + 2 * GAP + html.EMPTY_LINE)


def test_the_parts_come_in_one_order(sheet: Callable[[str], Sheet]) -> None:
    for slug in SLUGS:
        titles = [e.text.split("  ")[0] for e in parsed(sheet_page(sheet(slug))) if e.tag == "h2"]
        names = [
            "What this part should do", "Symptom", "The code", "Predict", "Observe", "Hypotheses",
            "Log", "Diagnosis", "Fix", "Regression test", "Explain",
        ]  # fmt: skip
        names += ["More of the code"] if sheet(slug).listing else []
        assert len(titles) == len(names) + 1
        assert all(t.startswith(n) for t, n in zip(titles, [*names, "Hints"], strict=True))


def test_every_field_has_a_label_of_its_own(sheet: Callable[[str], Sheet]) -> None:
    elements = parsed(sheet_page(sheet(SLUGS[0])))
    labels = {e.attributes["for"]: e.text for e in elements if "for" in e.attributes}
    fields = [e for e in elements if e.tag == "textarea" or e.attributes.get("type") == "text"]
    assert len(fields) == 3 * 3 + 3 * 5 + 11
    assert {e.attributes["id"] for e in fields} == set(labels)
    assert len(set(labels.values())) == len(labels)
    for e in elements:
        if e.attributes.get("type") == "radio":
            assert e.inside[-1].tag == "label"
            assert e.inside[-2].tag == "fieldset"


def test_a_date_is_asked_for_where_none_is_given(sheet: Callable[[str], Sheet]) -> None:
    one = sheet(SLUGS[0])
    assert HEADER.date in seen(parsed(sheet_page(one)))
    assert 'id="s1-date"' not in sheet_page(one)
    assert 'id="s1-date"' in sheet_page(replace(one, date=""))


def test_the_property_that_holds_is_no_failure(sheet: Callable[[str], Sheet]) -> None:
    assert "A property that fails" in sheet_page(sheet(SLUGS[0]))
    page = sheet_page(sheet(INNOCENT))
    assert "A property that fails" not in page
    assert "Is there a bug at all?" in page


def test_a_figure_without_a_drawing_is_a_table(sheet: Callable[[str], Sheet]) -> None:
    one = sheet(SLUGS[0])
    for svg in ("", "<svg xmlns='http://www.w3.org/2000/svg'/>"):
        elements = parsed(sheet_page(replace(one, figure=replace(one.figure, svg=svg))))
        images = [e for e in elements if e.tag == "img"]
        assert [e.attributes["alt"] for e in images] == ([one.figure.alt] if svg else [])
        table = with_class(elements, "values")[0]
        assert all(cell in table.text for row in one.figure.table.rows for cell in row)
        assert ("details" in [e.tag for e in table.inside]) is bool(svg)


@pytest.mark.parametrize("where", Hints)
def test_hints_stand_where_they_are_wanted(where: Hints, sheet: Callable[[str], Sheet]) -> None:
    sheets = [replace(sheet(slug), hints=sheet(slug).hints) for slug in SLUGS]
    if where is Hints.NONE:
        sheets = [replace(s, hints=()) for s in sheets]
    elements = parsed(sheet_page(*sheets, hints=where))
    found = [
        e for e in elements if e.tag == "details" and "numbers" not in e.attributes.get("class", "")
    ]
    assert "open" not in {name for e in found for name in e.attributes}
    inside = ["article" in [outer.tag for outer in e.inside] for e in found]
    if where is Hints.NONE:
        assert found == []
        assert not with_class(elements, "hints")
    elif where is Hints.INLINE:
        assert inside == [True] * 4 * len(sheets)
    else:
        assert inside == [False] * len(sheets)
        for one, shown in zip(sheets, found, strict=True):
            assert shown.text.count(one.code) == 5
            assert all(plain(hint) in shown.text for hint in one.hints)
            assert shown.text.count("cut here") == 4


def test_a_set_names_its_sheets_first(sheet: Callable[[str], Sheet]) -> None:
    elements = parsed(sheet_page(*map(sheet, SLUGS)))
    cells = [e.text for e in elements if e.tag in ("th", "td") and with_class(e.inside, "list")]
    rows = [tuple(cells[i : i + 5]) for i in range(5, len(cells), 5)]
    assert [row[:2] for row in rows] == [
        (str(i), sheet(slug).code) for i, slug in enumerate(SLUGS, 1)
    ]
    # Two sides of contents, two of the first, three and an empty one of the second.
    assert [row[-1] for row in rows] == ["3", "5", "9"]
    assert "sheet 2 of 3" in seen(elements)
    assert not with_class(parsed(sheet_page(sheet(SLUGS[0]))), "list")


def test_a_sheet_of_three_sides_is_followed_by_an_empty_one(
    sheet: Callable[[str], Sheet],
) -> None:
    def empty(*slugs: str, hints: Hints = Hints.STRIP) -> int:
        page = parsed(sheet_page(*map(sheet, slugs), hints=hints))
        return len(with_class(page, "empty-side"))

    two, three = SLUGS[0], SLUGS[1]
    assert empty(two) == 0
    assert empty(three) == 1  # the strips that follow are cut up
    assert empty(three, hints=Hints.INLINE) == 0  # four sides
    assert empty(two, hints=Hints.INLINE) == 0  # nothing follows
    assert empty(two, two) == 1  # after the contents
    assert empty(three, two) == 2
    assert empty(two, two, hints=Hints.INLINE) == 2


def test_the_worked_example_is_filled_in(
    catalogue: dict[str, Bug], sheet: Callable[[str], Sheet]
) -> None:
    one = worked_sheet(sheet(WORKED), catalogue[WORKED])
    assert one.worked is not None
    elements = parsed(sheet_page(one))
    text = seen(elements)
    assert text.count("Worked example") == 2
    assert not [e for e in elements if e.tag == "textarea"]
    worked = one.worked
    for words in (worked.predict, worked.observe, worked.diagnosis, worked.explain):
        assert plain(words) in text
    for entry in worked.log:
        assert entry.probe in text
        assert entry.printed in text
    assert worked.regression_test in text
    ticked = [e.attributes["value"] for e in elements if "checked" in e.attributes]
    assert ticked == [
        str(worked.confidence_before), "a bug", str(worked.confidence_after),
        str(worked.hints_used),
    ]  # fmt: skip


@pytest.mark.parametrize("paper", Paper)
def test_the_page_has_the_size_of_the_paper(paper: Paper, sheet: Callable[[str], Sheet]) -> None:
    page = html.sheets(numbered([sheet(SLUGS[0])]), Layout(paper))
    size = {Paper.A4: "210.0mm 297.0mm", Paper.LETTER: "215.9mm 279.4mm"}[paper]
    assert f"size: {size}; margin: 15.0mm" in page


def test_the_same_sheets_give_the_same_bytes(sheet: Callable[[str], Sheet]) -> None:
    assert sheet_page(*map(sheet, SLUGS)) == sheet_page(*map(sheet, SLUGS))


def test_a_code_cannot_end_the_text_of_a_margin(sheet: Callable[[str], Sheet]) -> None:
    listing = Listing("a.py", (Line(1, "x"),), True)
    one = replace(sheet(SLUGS[0]), code='A"; } </style>', excerpt=listing)
    page = sheet_page(one)
    assert 'content: "Sheet A\\22 \\3b  \\7d  \\3c \\2f style\\3e ";' in page
    assert len([e for e in parsed(page) if e.tag == "style"]) == 1
