"""Sheets and keys in a real browser: on paper, on a screen, and filled in.

Takes some thirty seconds: every sheet of the catalogue is printed on both papers.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bugkit.catalogue import Bug
from bugkit.worksheet import html
from bugkit.worksheet.html import MARGIN, SIZES
from bugkit.worksheet.key import Key, KeySet
from bugkit.worksheet.model import (
    Hints,
    Layout,
    Paper,
    Sheet,
    SheetSet,
)
from bugkit.worksheet.words import prose
from bugkit.worksheet.worked import worked_bugs, worked_sheet

from ..browser import PATIENCE, TELEPHONE, WHY, started_browser, violations
from .conftest import HOSTILE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pypdfium2 = pytest.importorskip("pypdfium2", reason=WHY)

ONE, LISTED, INNOCENT = "scores_not_scaled", "gradients_never_cleared", "mask_added"
PER_INCH = 96 / 25.4
"""Pixels of a millimetre."""

CHUNK = 44
"""Sheets printed at a time: a browser takes longer than twice as long for twice as many."""

SMALLEST = 6.3
"""Points of the smallest type of code on a sheet of usual size."""

SVG = """<svg xmlns="http://www.w3.org/2000/svg" width="88mm" height="46mm" viewBox="0 0 88 46">
<path d="M4 4 C 30 30 50 40 84 42" fill="none" stroke="#000"/></svg>"""

NOT_CLIPPED = """() => [...document.querySelectorAll('body *')].filter((e) =>
    e.clientWidth > 0 && !e.closest('.unseen, .gap, .empty, .numbers, .large thead, svg')
    && getComputedStyle(e).display !== 'inline'
    && (e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 2)
  ).map((e) => `${e.closest('article')?.id} ${e.tagName}.${e.className}: ` +
    `${e.scrollWidth} of ${e.clientWidth}, ${e.scrollHeight} of ${e.clientHeight}`)"""
"""Boxes that hold more than they show."""


@pytest.fixture(scope="module")
def browser(sheet: Callable[[str], Sheet]) -> Iterator["Browser"]:
    """One browser for all; first the matrix, for which processes are forked."""
    assert sheet(ONE)
    with started_browser() as found:
        yield found


Open = Callable[..., "Page"]


@pytest.fixture
def open_page(browser: "Browser", tmp_path: Path) -> Iterator[Open]:
    """Opens a text as a page. Whatever a test does with it: no error, no request, no alert."""
    faults: list[str] = []
    requests: list[str] = []
    contexts = []
    path = tmp_path / "a sheet é.html"

    def open_page(text: str, **options: Any) -> "Page":
        path.write_text(text, encoding="utf-8")
        context = browser.new_context(**options)
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda said: faults.append(f"console: {said.text}"))
        page.on("pageerror", lambda error: faults.append(f"error: {error}"))
        page.on("dialog", lambda dialog: faults.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert faults == []
    others = {url for url in requests if url.partition("#")[0] != path.as_uri()}
    assert {url for url in others if not url.startswith(("data:", "blob:"))} == set()


def set_of(*sheets: Sheet) -> SheetSet:
    count = len(sheets)
    return SheetSet(
        "Bug hunts", tuple(replace(s, number=i, of=count) for i, s in enumerate(sheets, 1))
    )


def text_of(sheet: Sheet, paper: Paper = Paper.A4, hints: Hints = Hints.STRIP) -> str:
    return html.sheets(set_of(sheet), Layout(paper, hints=hints))


def drawn(sheet: Sheet) -> Sheet:
    return replace(sheet, figure=replace(sheet.figure, svg=SVG, width=88.0, height=46.0))


def printed(page: "Page") -> list[str]:
    """The text of each page that comes out of the printer."""
    document = pypdfium2.PdfDocument(page.pdf(prefer_css_page_size=True))
    pages = []
    for leaf in document:
        pages.append(leaf.get_textpage().get_text_range().replace("\r\n", "\n"))
    document.close()
    return pages


def on_paper(page: "Page", paper: Paper) -> None:
    """The page as it is laid out between the margins of the paper."""
    page.set_viewport_size(
        {"width": round((SIZES[paper][0] - 2 * MARGIN) * PER_INCH), "height": 900}
    )
    page.emulate_media(media="print")
    # The marks of wrapped lines run on behind the edge, where nobody sees them.
    page.add_style_tag(content=".line::after { display: none; }")


# What must not happen


@pytest.mark.parametrize("paper", Paper)
def test_no_sheet_of_the_catalogue_leaves_its_leaf(
    paper: Paper, catalogue: dict[str, Bug], sheet: Callable[[str], Sheet], open_page: Open
) -> None:
    # Letter is the shorter paper: what fits there is only sampled on A4.
    sheets = [sheet(slug) for slug in list(catalogue)[:: 1 if paper is Paper.LETTER else 4]]
    # With a drawing and with a table in its place, in turns.
    sheets = [drawn(s) if i % 2 else s for i, s in enumerate(sheets)]
    for first in range(0, len(sheets), CHUNK):
        some = set_of(*sheets[first : first + CHUNK])
        page = open_page(html.sheets(some, Layout(paper, hints=Hints.NONE)))
        pages = printed(page)
        while "Contents" in pages[0] or "This side is empty" in pages[0]:
            del pages[0]
        expected = []
        for one in some.sheets:
            expected += [f"Sheet {one.code}\n", f"Sheet {one.code} back"]
            if one.listing:
                expected.append(f"Sheet {one.code} more of the code")
                expected.append("This side is empty" if one is not some.sheets[-1] else "")
        expected = [text for text in expected if text]
        assert len(pages) == len(expected)
        for number, (text, words) in enumerate(zip(pages, expected, strict=True)):
            assert words in text
            if "This side" not in words:
                assert re.search(r"Sheet \w+ page \d+ of \d+|page \d+ of \d+", text)
                assert ("What this part should do" in text) is (
                    number % 2 == 0 and "more" not in words
                )
                assert ("Predict before" in text) is ("What this part should do" in text)
                assert ("Hints used" in text) is words.endswith("back")
        on_paper(page, paper)
        assert page.evaluate(NOT_CLIPPED) == []
        sizes = page.evaluate(
            "[...document.querySelectorAll('.code pre')].map((e) =>"
            " parseFloat(getComputedStyle(e).fontSize) * .75)"
        )
        assert min(sizes) >= SMALLEST
        assert max(sizes) <= 8.3


def test_no_worked_example_takes_a_third_page(
    catalogue: dict[str, Bug], sheet: Callable[[str], Sheet], open_page: Open
) -> None:
    for bug in worked_bugs(catalogue):
        for paper in Paper:
            one = worked_sheet(drawn(sheet(bug.slug)), bug)
            page = open_page(text_of(one, paper, Hints.NONE))
            pages = printed(page)
            assert ["Worked example" in text for text in pages] == [True, True]
            on_paper(page, paper)
            assert page.evaluate(NOT_CLIPPED) == []


@pytest.mark.parametrize("paper", Paper)
def test_large_print_clips_nothing_and_has_no_small_type(
    paper: Paper, sheet: Callable[[str], Sheet], open_page: Open
) -> None:
    layout = Layout(paper, large_print=True)
    page = open_page(html.sheets(set_of(*map(sheet, (ONE, LISTED))), layout))
    pages = printed(page)
    assert not any("This side is empty" in text for text in pages)
    assert sum("What this part should do" in text for text in pages) == 2
    on_paper(page, paper)
    assert page.evaluate(NOT_CLIPPED) == []
    sizes = page.evaluate(
        """() => [...document.querySelectorAll('body *')].filter((e) =>
            e.clientWidth > 0 && !e.closest('.unseen, thead') && [...e.childNodes].some((n) =>
            n.nodeType === 3 && n.data.trim())).map((e) => [Math.round(
            parseFloat(getComputedStyle(e).fontSize) * 7.5) / 10, e.tagName, e.className])"""
    )
    assert min(size for size, *_ in sizes) >= 14
    assert {size for size, tag, _ in sizes if tag == "P"} >= {17.0}
    widths = page.evaluate(
        "[...document.querySelectorAll('.line')].map((e) => e.getBoundingClientRect().height)"
    )
    assert max(widths) > 1.5 * min(w for w in widths if w > 15)  # some lines wrap


def test_a_text_too_long_for_the_leaf_takes_more_pages_and_is_not_lost(
    sheet: Callable[[str], Sheet], open_page: Open
) -> None:
    long = replace(sheet(ONE), symptom=prose("word " * 900 + "ENDOFIT"), course="x" * 10_000)
    page = open_page(text_of(long, hints=Hints.NONE))
    pages = printed(page)
    assert len(pages) > 2
    assert "ENDOFIT" in "".join(pages)
    assert sum("Hints used" in text for text in pages) == 1
    assert "Does it match the prediction?" in pages[-1]
    page.set_viewport_size({"width": TELEPHONE["width"], "height": TELEPHONE["height"]})
    assert page.evaluate("document.documentElement.scrollWidth") == TELEPHONE["width"]


@pytest.mark.parametrize("width", [360, 1200])
def test_nobody_is_shut_out(
    width: int, sheet: Callable[[str], Sheet], key: Callable[[str], Key], open_page: Open
) -> None:
    for text in (
        html.sheets(set_of(drawn(sheet(ONE)), sheet(LISTED)), Layout()),
        text_of(sheet(INNOCENT), hints=Hints.INLINE),
        html.keys(KeySet("Answer keys", (key(ONE), key(INNOCENT))), Layout()),
    ):
        page = open_page(text, viewport={"width": width, "height": 740})
        page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_a_script_in_a_text_never_runs(
    sheet: Callable[[str], Sheet], key: Callable[[str], Key], open_page: Open
) -> None:
    script = HOSTILE["script"] + "<img src=x onerror=alert(1)>" + HOSTILE["end of a comment"]
    svg = SVG.replace(
        "<path", "<script>alert(1)</script><image href='https://example.org/x'/><path"
    )
    one = replace(sheet(ONE), course=script, symptom=prose(script), predict=prose(script))
    one = replace(one, figure=replace(one.figure, svg=svg, alt=script))
    page = open_page(text_of(one))
    assert script in page.locator(".symptom p").first.inner_text()
    assert page.locator("script").count() == 1
    page = open_page(html.keys(KeySet(script, (replace(key(ONE), title=script),)), Layout()))
    assert page.locator("script").count() == 0


# What is typed


def fill(page: "Page") -> dict[str, str]:
    """Something different in every field."""
    values = {}
    for number, box in enumerate(page.locator("textarea, input[type=text]").all()):
        id_ = box.get_attribute("id") or ""
        values[id_] = f"{number} <b>&amp; \"'"
        if box.evaluate("(e) => e.tagName") == "TEXTAREA":
            values[id_] = f"\n{values[id_]}\n</textarea>\n"
        box.evaluate("(e) => e.scrollIntoView()")
        box.fill(values[id_])
    return values


def test_what_is_typed_survives_saving_and_opening_again(
    sheet: Callable[[str], Sheet], open_page: Open, tmp_path: Path
) -> None:
    page = open_page(text_of(sheet(ONE)))
    values = fill(page)
    page.locator("input[name=s1-before][value='75']").check()
    page.locator("input[name=s1-before][value='25']").check()
    page.get_by_label("no bug").check()
    with page.expect_download() as coming:
        page.get_by_role("button", name="Save").click()
    assert coming.value.suggested_filename == "a sheet é.html"
    assert "a sheet é.html" in page.get_by_role("status").inner_text()
    coming.value.save_as(tmp_path / "saved.html")
    saved = (tmp_path / "saved.html").read_text(encoding="utf-8")
    for options in ({}, {"java_script_enabled": False}):
        again = open_page(saved, **options)
        for id_, value in values.items():
            assert again.locator(f"#{id_}").input_value() == value
        ticked = again.locator("input:checked").evaluate_all("(all) => all.map((e) => e.value)")
        assert ticked == ["25", "no bug"]
        assert again.get_by_role("button", name="Save").is_visible() is not bool(options)


def test_what_is_typed_is_printed_and_a_long_text_whole(
    sheet: Callable[[str], Sheet], open_page: Open
) -> None:
    page = open_page(text_of(sheet(ONE), hints=Hints.NONE))
    page.get_by_label("Name").fill("Ada")
    page.get_by_label("The cause, in one sentence").fill("The scores are too wide.")
    pages = printed(page)
    assert len(pages) == 2
    assert "Ada" in pages[0]
    assert "The scores are too wide." in pages[1]
    page.get_by_label("What I ran").fill("first\n" + "more\n" * 30 + "last")
    assert "last" in "".join(printed(page))


def test_boxes_are_as_high_on_every_sheet(sheet: Callable[[str], Sheet], open_page: Open) -> None:
    heights = []
    for slug in (ONE, LISTED, INNOCENT):
        page = open_page(text_of(sheet(slug)))
        on_paper(page, Paper.A4)
        heights.append(
            page.locator("textarea").evaluate_all(
                "(all) => all.map((e) => Math.round(e.getBoundingClientRect().height))"
            )
        )
    assert heights[0] == heights[1] == heights[2]
    assert min(heights[0]) > 8 * PER_INCH


def test_without_javascript_only_the_button_is_missing(
    sheet: Callable[[str], Sheet], open_page: Open
) -> None:
    page = open_page(text_of(sheet(ONE)), java_script_enabled=False)
    assert not page.get_by_role("button", name="Save").is_visible()
    hint = page.locator(".strip").first
    assert not hint.is_visible()
    page.get_by_text("Hints for sheet").click()
    assert hint.is_visible()
    page.get_by_label("Name").fill("Ada")
    assert page.get_by_label("Name").input_value() == "Ada"


@pytest.mark.parametrize("where", [Hints.STRIP, Hints.INLINE])
def test_folded_hints_are_printed_on_a_page_of_their_own(
    where: Hints, sheet: Callable[[str], Sheet], open_page: Open
) -> None:
    page = open_page(text_of(sheet(ONE), hints=where), java_script_enabled=False)
    pages = printed(page)
    assert len(pages) == 3
    assert [text.count("cut here") for text in pages] == [0, 0, 4 * (where is Hints.STRIP)]
    assert [all(f"Hint {n} of 4" in text for n in range(1, 5)) for text in pages] == [
        False, False, True,
    ]  # fmt: skip


# Keys


@pytest.mark.parametrize("large", [False, True], ids=["usual size", "large print"])
def test_every_page_of_a_key_warns(large: bool, key: Callable[[str], Key], open_page: Open) -> None:
    keys = KeySet("Answer keys", (key(ONE), key(INNOCENT)))
    page = open_page(html.keys(keys, Layout(Paper.LETTER, large_print=large)))
    pages = printed(page)
    assert len(pages) >= 5
    assert all(text.count(html.WARNING) == 1 for text in pages)
    for one in keys.keys:
        assert sum(f"Key {one.code}" in text for text in pages) >= 2
    on_paper(page, Paper.LETTER)
    assert page.evaluate(NOT_CLIPPED) == []
