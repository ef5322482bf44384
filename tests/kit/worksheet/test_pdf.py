"""PDF, as other libraries read it."""

import hashlib
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from bugkit.catalogue import Bug
from bugkit.problems import MissingTool, Problem
from bugkit.worksheet import pdf
from bugkit.worksheet.key import Key, KeySet
from bugkit.worksheet.many import Job, render_all
from bugkit.worksheet.model import (
    Hints,
    Layout,
    Line,
    Listing,
    Paper,
    Sheet,
    SheetSet,
)
from bugkit.worksheet.words import paragraph, plain, prose
from bugkit.worksheet.worked import worked_bugs, worked_sheet

from . import pages
from .conftest import HOSTILE

pytestmark = pages.needs_paper

SLUGS = ("scores_not_scaled", "causal_only_in_training", "mask_added")
"""With a figure or without, one of three pages, and an innocent."""

FRONT = [
    "What this part should do",
    "Symptom",
    "Code: attention.py",
    "Predict, before you run anything",
]
BACK = [
    "Observe",
    "Hypotheses, the likeliest first",
    "Log: change one thing at a time",
    "Diagnosis",
    "Fix: at most three lines",
    "Regression test",
    "Explain: why did it look plausible?",
]


def drawn(sheet: Sheet) -> Sheet:
    return replace(sheet, figure=replace(sheet.figure, svg=pages.SVG))


def one(sheet: Sheet) -> SheetSet:
    return SheetSet("Bug hunts", (sheet,))


@pytest.fixture(scope="module")
def hunts(sheet: Callable[[str], Sheet]) -> SheetSet:
    first, second, third = (replace(sheet(s), number=i, of=3) for i, s in enumerate(SLUGS, 1))
    tables_only = replace(second, figure=replace(second.figure, svg=""))
    return SheetSet("Bug hunts", (drawn(first), tables_only, drawn(third)))


@pytest.fixture(scope="module")
def document(hunts: SheetSet) -> bytes:
    """Contents, three sheets and strips of hints."""
    return pdf.sheets(hunts, Layout())


@pytest.fixture(scope="module")
def answers(key: Callable[[str], Key]) -> KeySet:
    return KeySet(
        "Answer keys", tuple(replace(key(s), number=i, of=3) for i, s in enumerate(SLUGS, 1))
    )


@pytest.fixture(scope="module")
def key_document(answers: KeySet) -> bytes:
    return pdf.keys(answers, Layout())


@pytest.mark.parametrize("paper", Paper)
def test_no_bug_of_the_catalogue_needs_more_than_its_leaf(
    paper: Paper, catalogue: dict[str, Bug], sheet: Callable[[str], Sheet], tmp_path: Path
) -> None:
    # Letter is the shorter paper: what fits there is only sampled on A4.
    slugs = list(catalogue)[:: 1 if paper is Paper.LETTER else 4]
    challenges = {slug: drawn(sheet(slug)) for slug in slugs}
    layout = Layout(paper, hints=Hints.NONE)
    render_all(
        [
            Job(tmp_path / f"{slug}.pdf", pdf.sheets, (one(challenge), layout))
            for slug, challenge in challenges.items()
        ],
        workers=2,
    )
    for slug, challenge in challenges.items():
        data = (tmp_path / f"{slug}.pdf").read_bytes()
        found = pages.opened(data).pages
        assert len(found) == (2 if challenge.listing is None else 3), slug
        assert {tuple(map(round, page.MediaBox[2:])) for page in found} == {pages.SIZES[paper]}
        assert not pages.outside(data), slug


@pytest.mark.parametrize("paper", Paper)
def test_no_worked_example_runs_over(
    paper: Paper, catalogue: dict[str, Bug], sheet: Callable[[str], Sheet]
) -> None:
    for bug in worked_bugs(catalogue):
        example = worked_sheet(drawn(sheet(bug.slug)), bug)
        made = pdf.sheets(one(example), Layout(paper, hints=Hints.NONE))
        front, back = pages.printed(made)
        assert example.worked
        assert "Worked example" in front
        assert "Worked example" in back
        for box in (example.worked.observe, example.worked.explain):
            assert squeezed(plain(box)) in squeezed(back)


def test_what_does_not_fit_is_no_crowded_page_but_a_problem(
    sheet: Callable[[str], Sheet],
) -> None:
    words = prose("\n\n".join(["Too many words for a page."] * 100))
    usual = sheet(SLUGS[0])
    for challenge in (replace(usual, symptom=words), replace(usual, predict=words)):
        with pytest.raises(Problem, match=rf"{usual.code}: the first page holds too much"):
            pdf.sheets(one(challenge), Layout())
        assert complete(pdf.sheets(one(challenge), Layout(large_print=True)), 100)


def complete(made: bytes, count: int) -> bool:
    """Whether the sentence is on the pages so many times, and nothing beside them."""
    text = " ".join(pages.printed(made))
    return text.count("Too many words for a page.") == count and not pages.outside(made)


def test_a_worked_example_that_does_not_fit_is_a_problem(
    catalogue: dict[str, Bug], sheet: Callable[[str], Sheet]
) -> None:
    bug = worked_bugs(catalogue)[0]
    example = worked_sheet(sheet(bug.slug), bug)
    assert example.worked
    long = replace(example.worked, explain=prose("Too many words for a page. " * 300))
    with pytest.raises(Problem, match=rf"{example.code}: the second page holds too much"):
        pdf.sheets(one(replace(example, worked=long)), Layout())


@pytest.mark.parametrize("hints", [Hints.STRIP, Hints.INLINE])
def test_a_hint_longer_than_a_page_is_cut_nowhere(
    hints: Hints, sheet: Callable[[str], Sheet]
) -> None:
    words = prose("\n\n".join(["Too many words for a page."] * 100))
    long = replace(sheet(SLUGS[0]), hints=(words, words))
    assert complete(pdf.sheets(one(long), Layout(hints=hints)), 200)


def test_a_line_of_code_that_is_too_long_is_a_problem(sheet: Callable[[str], Sheet]) -> None:
    long = Listing("a.py", (Line(1, "x" * 200),), whole=True)
    with pytest.raises(Problem, match="a line of code is too long"):
        pdf.sheets(one(replace(sheet(SLUGS[0]), excerpt=long)), Layout())


def test_code_is_never_torn_and_its_gaps_are_told(document: bytes, hunts: SheetSet) -> None:
    text = pages.printed(document)[2]
    lines = hunts.sheets[0].excerpt.lines
    for line in lines:
        if line.text:
            assert squeezed(f"{line.number}{line.text}") in squeezed(text)
    jumps = [b for a, b in pairwise(lines) if b.number - a.number > 2]
    assert text.count("not shown") == len(jumps) > 0


def squeezed(text: str) -> str:
    """Without spaces, and with the minus sign that is typed."""
    return re.sub(r"[\s\u200b]", "", text)


@pytest.mark.parametrize("name", HOSTILE)
def test_no_text_is_markup(name: str, sheet: Callable[[str], Sheet]) -> None:
    text = HOSTILE[name]
    words = " ".join(text.split())[:90]
    challenge = replace(
        sheet(SLUGS[0]),
        course=text,
        date=text,
        symptom=(paragraph(words),),
        excerpt=Listing("a.py", (Line(1, text[:90]), Line(2, "")), whole=True),
    )
    made = pdf.sheets(SheetSet(text, (challenge,)), Layout(hints=Hints.NONE))
    assert not pages.links(pages.opened(made))
    front, _ = pages.printed(made)
    if words.isascii() and words.isprintable():
        shown = squeezed(plain(paragraph(words)))
        assert squeezed(front).count(shown[:40]) >= 2  # in the symptom and the header


def test_bytes_do_not_differ_from_run_to_run(hunts: SheetSet, tmp_path: Path) -> None:
    first = replace(hunts.sheets[0], course="שלום 深い Ελλ")
    material = SheetSet(hunts.title, (first, *hunts.sheets[1:]))
    stored = tmp_path / "material"
    stored.write_bytes(pickle.dumps(material))
    program = (
        "import hashlib, pathlib, pickle, sys; from bugkit.worksheet import model, pdf; "
        "material = pickle.loads(pathlib.Path(sys.argv[1]).read_bytes()); "
        "print(hashlib.sha256(pdf.sheets(material, model.Layout())).hexdigest())"
    )
    other = subprocess.run(
        [sys.executable, "-c", program, str(stored)], capture_output=True, text=True, check=True
    )
    made = [pdf.sheets(material, Layout()) for _ in range(2)]
    assert made[0] == made[1]
    assert hashlib.sha256(made[0]).hexdigest() == other.stdout.strip()


@pytest.mark.parametrize("kind", ["document", "key_document"])
def test_a_screen_reader_lacks_nothing(kind: str, request: pytest.FixtureRequest) -> None:
    made = pages.opened(request.getfixturevalue(kind))
    assert made.Root.MarkInfo.Marked
    assert str(made.Root.Lang) == "en"
    assert made.Root.ViewerPreferences.DisplayDocTitle
    with made.open_metadata() as about:
        assert about["pdfuaid:part"] == "1"
        assert about["dc:title"] == {"document": "Bug hunts"}.get(kind, "Answer keys")
    elements = list(pages.structure(made))
    tables = [e for e in elements if e.S == "/Table"]
    heads = [next(part for part in table.K if part.S == "/THead") for table in tables]
    assert len(heads) > 3
    for head in heads:
        assert {str(cell.S) for row in head.K for cell in row.K} == {"/TH"}
    assert all(str(e.get("/Alt", "")) for e in elements if e.S == "/Figure")
    assert all(pages.fonts(made).values())
    assert len(pages.fonts(made)) == 4


def test_figures_are_told_in_words(document: bytes, hunts: SheetSet) -> None:
    elements = pages.structure(pages.opened(document))
    alts = [str(e.Alt) for e in elements if e.S == "/Figure"]
    assert alts == [sheet.figure.alt for sheet in hunts.sheets if sheet.figure.svg]


def test_the_order_of_reading_is_that_of_working(document: bytes) -> None:
    made = pages.opened(document)
    levels = [str(e.S) for e in pages.structure(made) if str(e.S) in ("/H1", "/H2")]
    more = ["/H2"]  # the third page
    hunt = ["/H1", *["/H2"] * len(FRONT + BACK)]
    assert levels == ["/H1", *hunt, *hunt, *more, *hunt, "/H1"]
    front, back = pages.printed(document)[2:4]
    for page, titles in ((front, FRONT), (back, BACK)):
        places = [page.index(title) for title in titles]
        assert places == sorted(places)


def test_every_sheet_has_a_bookmark_and_starts_on_an_odd_page(
    document: bytes, hunts: SheetSet
) -> None:
    made = pages.opened(document)
    text = pages.printed(document)
    starts = [i for i, page in enumerate(text, 1) if page.startswith("Bug hunt ")]
    assert [s % 2 for s in starts] == [1, 1, 1]
    with made.open_outline() as outline:
        titles = [str(item.title) for item in outline.root]
    assert titles == ["Bug hunts", *(f"Bug hunt {s.code}" for s in hunts.sheets), "Hints"]
    for sheet, start in zip(hunts.sheets, starts, strict=True):
        assert re.search(rf"{sheet.code} .*?{sheet.minutes} {start}\b", text[0])
        for page in text[start - 1 : start + 1]:
            assert f"{sheet.code} page " in page  # at the foot
    assert text[-1].endswith(f"page {len(text)} of {len(text)}")


def test_strips_are_no_part_of_a_leaf_and_have_empty_backs(
    document: bytes, hunts: SheetSet
) -> None:
    text = pages.printed(document)
    strips = [i for i, page in enumerate(text, 1) if "Hint 1 of 4" in page or "Hints" in page[:6]]
    assert min(strips) % 2 == 1
    assert not [i for i in range(1, min(strips)) if "Hint 1" in text[i - 1]]
    joined = squeezed(" ".join(text[min(strips) - 1 :]))
    for sheet in hunts.sheets:
        for number, hint in enumerate(sheet.hints, 1):
            assert f"Hint{number}of4·sheet{sheet.code}{squeezed(plain(hint))}" in joined


@pytest.mark.parametrize(("hints", "count"), [(Hints.INLINE, 3), (Hints.NONE, 2)])
def test_hints_are_where_they_are_wanted(
    hints: Hints, count: int, sheet: Callable[[str], Sheet]
) -> None:
    text = pages.printed(pdf.sheets(one(sheet(SLUGS[0])), Layout(hints=hints)))
    assert len(text) == count
    assert ["Hint 4 of 4" in page for page in text] == [False, False, True][:count]


def test_large_print_has_no_small_type_and_keeps_the_order(sheet: Callable[[str], Sheet]) -> None:
    made = pdf.sheets(one(drawn(sheet(SLUGS[0]))), Layout(large_print=True, hints=Hints.INLINE))
    assert min(pages.type_sizes(made)) >= 14
    text = " ".join(pages.printed(made))
    places = [text.index(title) for title in (*FRONT, *BACK)]
    assert places == sorted(places)
    assert not pages.outside(made)


def test_a_worked_example_in_large_print_stays_within_its_pages(
    catalogue: dict[str, Bug], sheet: Callable[[str], Sheet]
) -> None:
    for bug in worked_bugs(catalogue):
        example = worked_sheet(drawn(sheet(bug.slug)), bug)
        made = pdf.sheets(one(example), Layout(large_print=True, hints=Hints.NONE))
        assert not pages.outside(made)
        text = squeezed(" ".join(pages.printed(made)))
        assert example.worked
        for entry in example.worked.log:
            assert squeezed(entry.probe) in text
            assert squeezed(plain(entry.result)) in text


def test_usual_print_is_not_too_small(document: bytes) -> None:
    assert min(pages.type_sizes(document)) >= 6.4


@pytest.mark.parametrize("slug", SLUGS)
def test_no_sheet_holds_an_answer_a_script_or_a_link(
    slug: str, sheet: Callable[[str], Sheet], secrets: Callable[[str], set[str]]
) -> None:
    made = pdf.sheets(one(sheet(slug)), Layout())
    assert not pages.links(pages.opened(made))
    assert not re.search(rb"/(JavaScript|JS|Launch|EmbeddedFile|RichMedia)\b", made)
    text = squeezed(" ".join(pages.printed(made)))
    assert len(secrets(slug)) > 20
    assert not {secret for secret in secrets(slug) if squeezed(secret) in text}


def test_every_page_of_a_key_says_what_it_is(key_document: bytes, answers: KeySet) -> None:
    text = pages.printed(key_document)
    assert all("Answer key - not for students" in page for page in text)
    whole = squeezed(" ".join(text))
    for key in answers.keys:
        for words in (key.title, key.slug, key.code, plain(key.explanation).split(".")[0]):
            assert squeezed(words) in whole
        for verdict in key.caught_by:
            assert squeezed(f"{verdict.key}{plain(verdict.label)}{verdict.id}") in whole
    made = pages.opened(key_document)
    assert pages.links(made) == {source.url for key in answers.keys for source in key.sources}
    assert not pages.outside(key_document)


def test_without_typst_it_is_said_what_to_install(
    hunts: SheetSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    with pytest.raises(MissingTool, match="worksheets"):
        pdf.sheets(hunts, Layout())


def test_a_mistake_in_a_template_is_one_problem(
    hunts: SheetSet, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "sheet.typ").write_text("#nonsense", encoding="utf-8")
    monkeypatch.setattr(pdf, "FOLDER", tmp_path)
    pdf._compiler.cache_clear()
    try:
        with pytest.raises(Problem, match=r"Typst cannot set the pages: .*nonsense"):
            pdf.sheets(hunts, Layout())
    finally:
        pdf._compiler.cache_clear()
