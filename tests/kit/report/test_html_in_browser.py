"""The HTML page in a real browser: no error, no request, nobody shut out.

Takes some twenty seconds: a browser has to start, and to look at two thousand cells many times.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bugkit.matrix import Matrix, Outcome
from bugkit.report.html import as_html
from bugkit.subject import Kind

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

WHY = "the HTML page is tested in a browser with: pip install bugkit[browser]"
playwright = pytest.importorskip("playwright.sync_api", reason=WHY)
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason=WHY)

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""Browsers to look for, unless CHROMIUM names one."""

FLAGS = (
    "--no-sandbox",  # containers have none
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

PATIENCE = 10_000.0
"""Milliseconds to wait for what never comes; a page that works takes a few."""

TELEPHONE = {"width": 360, "height": 740}

A4_LANDSCAPE = {"width": 1031, "height": 703}
"""297 x 210 mm without margins of 12 mm, in pixels of 1/96 inch."""

WHOLE, PART, BY_HAND = "whole catalogue", "every fourth of the catalogue", "made by hand"


@pytest.fixture(scope="module")
def addresses(
    catalogue_matrix: Matrix, matrix: Matrix, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, str]:
    folder = tmp_path_factory.mktemp("pages")
    found = {}
    part = replace(catalogue_matrix, subjects=catalogue_matrix.subjects[::4])
    for name, shown in ((WHOLE, catalogue_matrix), (PART, part), (BY_HAND, matrix)):
        path = folder / f"{name}.html"
        path.write_text(as_html(shown), encoding="utf-8")
        found[name] = path.as_uri()
    return found


@pytest.fixture(scope="module")
def browser(addresses: Mapping[str, str]) -> Iterator["Browser"]:
    """One browser for all. It needs the addresses first: the engine forks, and a process should
    be alone for that."""
    assert addresses
    program = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip("no Chromium found; CHROMIUM=/path/to/one names it")
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=program, args=list(FLAGS))
        yield found
        found.close()


Open = Callable[..., "Page"]


@pytest.fixture
def open_page(browser: "Browser", addresses: Mapping[str, str]) -> Iterator[Open]:
    """Opens a page. Whatever a test does with it: no error, no request, no alert."""
    faults: list[str] = []
    contexts = []

    def open_page(name: str, fragment: str = "", **options: Any) -> "Page":
        context = browser.new_context(**options)
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda said: faults.append(f"console: {said.text}"))
        page.on("pageerror", lambda error: faults.append(f"error: {error}"))
        page.on("dialog", lambda dialog: faults.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(addresses[name] + fragment)
        return page

    requests: list[str] = []
    yield open_page
    for context in contexts:
        context.close()
    assert faults == []
    addressed = {url for url in requests if url.partition("#")[0] not in addresses.values()}
    assert {url for url in addressed if not url.startswith("data:,")} == set()


def shown_rows(page: "Page") -> list[str]:
    """Names of the rows that a person sees."""
    names = page.locator(".grid tbody tr:visible th a").all_inner_texts()
    return [name.replace("\n", "") for name in names]


def marked(page: "Page") -> "Locator":
    return page.locator(".grid td a")


def box(place: "Locator") -> dict[str, float]:
    found = place.bounding_box()
    assert found is not None
    return {
        "left": found["x"],
        "top": found["y"],
        "right": found["x"] + found["width"],
        "bottom": found["y"] + found["height"],
    }


def uncovered(place: "Locator") -> bool:
    """Whether a click in the middle of the place would meet it, and nothing over it."""
    return bool(
        place.evaluate(
            """(element) => {
                const box = element.getBoundingClientRect();
                const hit = document.elementFromPoint(
                    (box.left + box.right) / 2, (box.top + box.bottom) / 2);
                return hit !== null && element.contains(hit);
            }"""
        )
    )


def violations(page: "Page") -> list[str]:
    response = axe.Axe().run(page).response
    return [
        f"{fault['id']}: {node['target']}: {node.get('failureSummary')}"
        for fault in response["violations"]
        for node in fault["nodes"]
    ]


# What must not happen


# A part has whatever the whole has, and axe looks at each cell for a millisecond.
@pytest.mark.parametrize("name", [PART, BY_HAND])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nobody_is_shut_out_of_the_page(name: str, scheme: str, open_page: Open) -> None:
    page = open_page(name, color_scheme=scheme)
    page.locator("details").first.locator("summary").click()
    assert violations(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nobody_is_shut_out_of_an_open_dialog(scheme: str, open_page: Open) -> None:
    page = open_page(BY_HAND, color_scheme=scheme)
    marked(page).first.click()
    assert page.get_by_role("dialog", name="mask_gone").is_visible()
    assert violations(page) == []


def test_nobody_is_shut_out_on_a_telephone(open_page: Open) -> None:
    page = open_page(BY_HAND, viewport=TELEPHONE)
    assert violations(page) == []


def test_a_telephone_scrolls_the_grid_and_never_the_page_sideways(open_page: Open) -> None:
    page = open_page(WHOLE, viewport=TELEPHONE)
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") == TELEPHONE["width"]
    assert page.evaluate("document.body.scrollWidth") <= TELEPHONE["width"]
    grid = page.locator(".grid")
    assert grid.evaluate("(grid) => grid.scrollWidth > 2 * grid.clientWidth")
    names, whole = box(page.locator(".grid .corner")), box(grid)
    assert names["right"] - names["left"] < (whole["right"] - whole["left"]) / 2


def test_a_telephone_shows_the_whole_message(open_page: Open) -> None:
    page = open_page(WHOLE, viewport=TELEPHONE)
    marked(page).nth(5).click()
    dialog = box(page.locator("dialog"))
    assert dialog["left"] >= 0
    assert dialog["right"] <= TELEPHONE["width"]
    assert uncovered(page.get_by_role("button", name="Close"))


@pytest.mark.parametrize("index", [0, 40, 80])
def test_the_focus_is_never_under_a_header(index: int, open_page: Open) -> None:
    page = open_page(WHOLE, viewport={"width": 700, "height": 500})
    cell = marked(page).nth(index)
    cell.evaluate(
        """(link) => {
            const cell = link.closest('td');
            link.closest('.grid').scrollTo(cell.offsetLeft, cell.offsetTop);
        }"""
    )
    cell.evaluate("(link) => link.focus()")
    assert uncovered(cell)


def test_nothing_is_lost_without_javascript(open_page: Open, catalogue_matrix: Matrix) -> None:
    page = open_page(WHOLE, java_script_enabled=False)
    assert not page.locator("form#filters").is_visible()
    assert shown_rows(page) == [s.id for s in catalogue_matrix.subjects]
    assert uncovered(marked(page).first)
    message = page.locator("details .said").first
    assert not message.is_visible()
    page.locator("details:has(.said) summary").first.click()
    assert message.is_visible()


def test_a_marked_cell_leads_to_its_message_without_javascript(open_page: Open) -> None:
    page = open_page(WHOLE, java_script_enabled=False)
    cell = marked(page).nth(5)
    target = page.locator(cell.get_attribute("href") or "")
    assert not target.is_visible()
    cell.click()
    target.wait_for(state="visible")


# Reading a cell


def message_of(matrix: Matrix, index: int) -> tuple[str, str, str]:
    """Subject, label and message of the marked cell with this number."""
    cells = [
        (s.id, d.label, cell.message)
        for s in matrix.subjects
        for d, cell in matrix.row(s)
        if cell.outcome not in (Outcome.PASSED, Outcome.NOT_OFFERED)
    ]
    return cells[index]


@pytest.mark.parametrize("index", [0, 15, 16])
def test_clicking_a_marked_cell_tells_what_the_test_said(
    index: int, open_page: Open, matrix: Matrix
) -> None:
    page = open_page(BY_HAND)
    subject, label, message = message_of(matrix, index)
    dialog = page.locator("dialog")
    assert not dialog.is_visible()
    marked(page).nth(index).click()
    assert dialog.locator("h2").inner_text() == subject
    assert label in (dialog.locator("strong").text_content() or "")
    assert dialog.locator(".said").text_content() == message
    page.get_by_role("button", name="Close").click()
    assert not dialog.is_visible()


def test_a_click_beside_the_dialog_closes_it(open_page: Open) -> None:
    page = open_page(BY_HAND)
    if not page.evaluate("'closedBy' in HTMLDialogElement.prototype"):
        pytest.skip("this browser is too old to close a dialog by a click beside it")
    marked(page).first.click()
    page.mouse.click(5, 5)
    page.locator("dialog").wait_for(state="hidden")


def test_the_keyboard_alone_is_enough(open_page: Open, matrix: Matrix) -> None:
    page = open_page(BY_HAND)
    focused = page.locator(":focus")
    stops = page.locator("select, input, .grid, .grid a").count()
    for _ in range(stops):
        page.keyboard.press("Tab")
        if focused.evaluate("(element) => element.closest('td') !== null"):
            break
    name = focused.get_attribute("aria-label")
    assert name == "mask_gone, B1: failed"
    assert focused.evaluate("(element) => getComputedStyle(element).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    assert page.locator("dialog .said").text_content() == message_of(matrix, 0)[2]
    assert focused.inner_text() == "Close"
    page.keyboard.press("Escape")
    assert not page.locator("dialog").is_visible()
    assert focused.get_attribute("aria-label") == name


@pytest.mark.parametrize("follow", [False, True], ids=["opened with it", "followed later"])
def test_an_address_with_a_fragment_shows_its_message(follow: bool, open_page: Open) -> None:
    page = open_page(WHOLE, "" if follow else "#said-3")
    if follow:
        page.locator(".grid tbody tr:nth-child(3) th a").click()
    page.locator("#said-3 .said").first.wait_for(state="visible")


def test_a_key_leads_to_its_property(open_page: Open) -> None:
    page = open_page(WHOLE)
    page.locator(".grid thead a").first.click()
    assert page.evaluate("location.hash") == "#key-A1"
    assert page.locator("#key-A1").evaluate(
        "(row) => row.getBoundingClientRect().top < innerHeight"
    )


# Filters


def test_every_row_is_shown_at_first(open_page: Open, catalogue_matrix: Matrix) -> None:
    page = open_page(WHOLE)
    ids = [s.id for s in catalogue_matrix.subjects]
    assert shown_rows(page) == ids
    assert page.locator("#count").inner_text() == f"{len(ids)} of {len(ids)} rows"


@pytest.mark.parametrize(
    ("label", "value"), [("Component", "mask"), ("Level", "1"), ("Kind", "innocent")]
)
def test_a_list_filters_the_rows(
    label: str, value: str, open_page: Open, catalogue_matrix: Matrix
) -> None:
    page = open_page(WHOLE)
    page.get_by_label(label).select_option(value)
    facts = {
        s.id: {"Component": s.component, "Level": str(s.level), "Kind": s.kind}[label]
        for s in catalogue_matrix.subjects
    }
    wanted = [id_ for id_, fact in facts.items() if fact == value]
    assert shown_rows(page) == wanted
    assert page.locator("#count").inner_text() == f"{len(wanted)} of {len(facts)} rows"


@pytest.mark.parametrize("text", ["softmax", "  SoftMax ", "lowest finite"])
def test_a_name_or_a_title_filters_the_rows(
    text: str, open_page: Open, catalogue_matrix: Matrix
) -> None:
    page = open_page(WHOLE)
    page.get_by_label("Name", exact=True).fill(text)
    wanted = [
        s.id
        for s in catalogue_matrix.subjects
        if text.strip().lower() in f"{s.id} {s.title}".lower()
    ]
    assert wanted
    assert shown_rows(page) == wanted


def test_filters_hold_together_and_can_leave_nothing(
    open_page: Open, catalogue_matrix: Matrix
) -> None:
    page = open_page(WHOLE)
    page.get_by_label("Component").select_option("mask")
    page.get_by_label("Kind").select_option("mutant")
    masks = [s for s in catalogue_matrix.of_kind(Kind.MUTANT) if s.component == "mask"]
    assert shown_rows(page) == [s.id for s in masks]
    page.get_by_label("Name", exact=True).fill("no such name")
    assert shown_rows(page) == []
    assert page.locator("#count").inner_text().startswith("0 of ")
    page.get_by_label("Name", exact=True).press("Enter")
    assert page.get_by_label("Kind").input_value() == "mutant"


# Scrolling and printing


@pytest.mark.parametrize("viewport", [{"width": 1000, "height": 600}, TELEPHONE])
def test_the_headers_stay_in_view_when_the_grid_is_scrolled(
    viewport: dict[str, int], open_page: Open
) -> None:
    page = open_page(WHOLE, viewport=viewport)
    grid = page.locator(".grid")
    grid.scroll_into_view_if_needed()
    last_row, last_key = page.locator(".grid tbody th").last, page.locator(".grid thead a").last
    grid.evaluate("(grid) => grid.scrollTo(grid.scrollWidth, grid.scrollHeight)")
    assert grid.evaluate("(grid) => grid.scrollTop > 0 && grid.scrollLeft > 0")
    last_family = page.locator(".grid thead tr:first-child th").last
    for place in (page.locator(".grid .corner"), last_row.locator("a"), last_key, last_family):
        assert uncovered(place)
    assert box(last_row)["left"] == pytest.approx(box(grid)["left"], abs=2)  # its border
    last_cell = page.locator(".grid tbody tr").last.locator("td").last
    assert uncovered(last_cell)
    assert box(last_cell)["left"] == pytest.approx(box(last_key)["left"], abs=2)


def test_the_printed_grid_is_complete(open_page: Open, catalogue_matrix: Matrix) -> None:
    page = printed(open_page(WHOLE, viewport=A4_LANDSCAPE))
    hidden = page.locator("form, dialog")
    assert not any(place.is_visible() for place in hidden.all())
    cut = page.evaluate(
        """() => [...document.querySelectorAll('.grid, .grid table, .grid th, .grid td')].filter(
            (e) => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflow !== 'visible'
                || e.getBoundingClientRect().right > innerWidth + 1
                || getComputedStyle(e).position === 'sticky').length"""
    )
    assert cut == 0
    keys: list[str] = []
    for part in page.locator(".part").all():
        grid = box(part)
        for place in (part.locator("tbody th").last, part.locator("tbody td").last):
            assert box(place)["bottom"] <= grid["bottom"] + 1
            assert box(place)["right"] <= grid["right"] + 1
        links = part.locator("thead a").all()
        lefts = [box(link)["left"] for link in links]
        assert lefts == sorted(set(lefts))
        keys += [link.inner_text() for link in links]
    assert keys == [d.key for d in catalogue_matrix.detectors]
    # Every cell that is not passed is on paper.
    marked = page.locator(".part td:not(.passed)").count()
    assert marked == page.locator(".in-parts td:not(.passed)").count()


def test_keys_do_not_run_into_each_other_in_print(open_page: Open) -> None:
    page = printed(open_page(WHOLE, viewport=A4_LANDSCAPE))
    gaps = page.evaluate(
        """() => [...document.querySelectorAll('.part')].flatMap((part) => {
            const texts = [...part.querySelectorAll('thead a')].map((a) => {
                const range = document.createRange();
                range.selectNodeContents(a);
                return range.getBoundingClientRect();
            });
            return texts.slice(1).map((box, i) => box.left - texts[i].right);
        })"""
    )
    assert len(gaps) > 50
    assert min(gaps) >= 2


def test_after_printing_the_grid_is_whole_again(open_page: Open) -> None:
    page = printed(open_page(WHOLE, viewport=A4_LANDSCAPE))
    assert not page.locator(".grid").first.is_visible()
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    assert page.locator(".grid").count() == 1
    assert page.locator(".grid").is_visible()


def printed(page: "Page") -> "Page":
    """The page as it is when a browser lays it out for paper."""
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    return page


def test_printing_to_pdf_opens_every_message(open_page: Open, tmp_path: Path) -> None:
    page = open_page(WHOLE, color_scheme="dark")
    path = tmp_path / "matrix.pdf"
    page.pdf(path=path, prefer_css_page_size=True)
    written = path.read_bytes()
    assert written.startswith(b"%PDF-")
    width, height = (
        float(n) for n in re.findall(rb"/MediaBox \[0 0 ([0-9.]+) ([0-9.]+)\]", written)[0]
    )
    assert width > height
    assert page.locator("details:not([open])").count() == 0


def test_paper_is_white_in_the_dark_scheme_too(open_page: Open) -> None:
    page = open_page(BY_HAND, color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    colour = "(body) => getComputedStyle(body).backgroundColor"
    assert page.locator("body").evaluate(colour) == "rgb(255, 255, 255)"
