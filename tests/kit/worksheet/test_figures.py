"""Figures: what a student sees of a run. They are drawn alike everywhere and tell no answer."""

import hashlib
import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from bugkit.catalogue import Bug, Teach, load_bug, load_catalogue
from bugkit.measure import store
from bugkit.measure.comparison import Pair
from bugkit.measure.evidence import Evidence, Outcome
from bugkit.measure.script import Stage
from bugkit.measure.settings import Setting, setting_of
from bugkit.measure.store import mutant_of, recorded
from bugkit.problems import Problem
from bugkit.subject import CORRECT_SUBJECT
from bugkit.worksheet import drawing
from bugkit.worksheet.figures import Kind, figure_of, kind_of
from bugkit.worksheet.model import Figure

from ..measure.conftest import EVIDENCE, write_evidence

CATALOGUE = load_catalogue()

EXAMPLES = {
    Kind.MAPS: "no_causal_mask",
    Kind.SHARES: "top_p_complement",
    Kind.GAPS: "cached_mask_upper_left",
    Kind.CURVES: "loss_summed_over_positions",
}

needs_matplotlib = pytest.mark.skipif(
    importlib.util.find_spec("matplotlib") is None, reason="the extra worksheets is not installed"
)


def evidence_of(bug: Bug) -> Evidence:
    evidence = recorded(mutant_of(bug), setting_of(bug))
    assert evidence is not None
    return evidence


def kind(bug: Bug) -> Kind:
    return kind_of(bug.component, evidence_of(bug))


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """No plotting library: figures come in no time."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)


@pytest.fixture(scope="module")
def drawn() -> dict[Kind, Figure]:
    """One of each kind, drawn with other codes."""
    return {
        of: figure_of(CATALOGUE[slug], f"K{i}") for i, (of, slug) in enumerate(EXAMPLES.items())
    }


# --- what they say ---


@pytest.mark.parametrize("bug", CATALOGUE.values(), ids=lambda bug: bug.slug)
@pytest.mark.usefixtures("undrawn")
def test_no_figure_says_a_word_of_the_answer(bug: Bug) -> None:
    figure = figure_of(bug, "Q")
    other = replace(
        bug,
        title="Nothing",
        verdict="bug" if bug.innocent else "innocent",
        file="x.py",
        edits=(),
        killed_by=(),
        teach=Teach("s", "p", (), "e", "m"),
        sources=(),
        difficulty=1,
    )
    # The evidence is found by the module: as if it were still the same.
    assert figure == figure_of(replace(other, file=bug.file), "Q")
    said = " ".join([figure.title, figure.alt, figure.table.caption, *figure.table.head])
    said = plain(said)
    for secret in (bug.title, bug.slug.replace("_", " ")):
        assert plain(secret) not in said
    for words in phrases(bug.teach.explanation):
        assert words not in said


def plain(text: str) -> str:
    return " ".join(re.findall(r"[a-z]+", text.lower()))


def phrases(text: str, length: int = 5) -> set[str]:
    """Every five words in a row."""
    words = plain(text).split()
    return {" ".join(words[i : i + length]) for i in range(len(words) - length + 1)}


@pytest.mark.parametrize("bug", CATALOGUE.values(), ids=lambda bug: bug.slug)
@pytest.mark.usefixtures("undrawn")
def test_tables_hold_the_numbers_of_the_evidence_and_no_other(bug: Bug) -> None:
    evidence, table = evidence_of(bug), figure_of(bug, "Q").table
    assert {len(row) for row in table.rows} == {len(table.head)}
    assert all(table.head), "a column without a name, which a screen reader could not tell"
    found = [row[1:] for row in table.rows]
    match kind(bug):
        case Kind.MAPS:
            assert evidence.attention is not None
            assert found[::2] == [two_decimals(row) for row in evidence.attention.observed]
            assert found[1::2] == [two_decimals(row) for row in evidence.attention.expected]
        case Kind.SHARES | Kind.GAPS:
            pair = evidence.sampled if kind(bug) is Kind.SHARES else evidence.by_position
            assert pair is not None
            assert found == [two_decimals(pair.observed), two_decimals(pair.expected)]
        case Kind.CURVES:
            correct = recorded(CORRECT_SUBJECT, setting_of(bug))
            assert correct is not None
            for row, of in zip(found, (evidence, correct), strict=True):
                losses = [*of.losses, *[None] * (30 - len(of.losses))]
                ends = [int(name.removeprefix("step ")) // 8 - 1 for name in table.head[1:-1]]
                assert row == two_decimals([*(losses[i] for i in ends), of.validation_loss])


def two_decimals(values: Any) -> tuple[str, ...]:
    return tuple("-" if value is None else f"{value:.2f}" for value in values)


@pytest.mark.usefixtures("undrawn")
def test_words_name_what_is_to_be_seen() -> None:
    assert figure_of(CATALOGUE["no_causal_mask"], "Q").alt == (
        "Two maps of 6 by 6 attention weights. Of 36 weights 25 differ by 0.02 or more, most of "
        "all that with which token 1 reads token 1: 0.01 in this program, 1.00 in the reference."
    )
    assert (
        "for token 2: 1.00 in this program, 0.44 in"
        in figure_of(CATALOGUE["top_p_complement"], "Q").alt
    )
    assert "(5, 6, 7, 8, 9, 10, 11, 12)" in figure_of(CATALOGUE["cached_mask_upper_left"], "Q").alt
    silent = figure_of(CATALOGUE["unstable_softmax"], "Q").alt
    assert "They lie on each other: this program goes from 2.89 to 0.42, the reference" in silent
    assert "lie on each other" not in figure_of(CATALOGUE["final_norm_missing"], "Q").alt


# --- which one ---


@pytest.mark.parametrize("of", EXAMPLES)
def test_examples_are_of_their_kind(of: Kind) -> None:
    assert kind(CATALOGUE[EXAMPLES[of]]) is of


@pytest.mark.parametrize(
    ("component", "changes", "expected"),
    [
        ("mask", {}, Kind.MAPS),
        ("mask", {"attention": None}, Kind.CURVES),
        ("norm", {}, Kind.CURVES),
        ("sampling", {}, Kind.SHARES),
        ("sampling", {"sampled": None}, Kind.CURVES),
        ("cache", {}, Kind.GAPS),
        ("cache", {"by_position": Pair((0.0, 0.0), (0.0, 0.0))}, Kind.CURVES),
        ("positions", {"attention": None}, Kind.GAPS),
    ],
)
def test_the_kind_follows_from_the_component_and_the_numbers(
    component: str, changes: dict[str, Any], expected: Kind
) -> None:
    assert kind_of(component, replace(EVIDENCE, **changes)) is expected


def test_no_kind_is_for_innocents_alone() -> None:
    """Whoever knows the component and sees which figure it is knows no more than before."""
    seen: dict[tuple[str, Kind], set[str]] = {}
    for bug in CATALOGUE.values():
        seen.setdefault((bug.component, kind(bug)), set()).add(bug.verdict)
    assert [where for where, verdicts in seen.items() if verdicts == {"innocent"}] == []


# --- where there is nothing to draw, or nothing to draw with ---


@pytest.mark.usefixtures("undrawn")
def test_without_the_library_the_table_stands_alone() -> None:
    figure = figure_of(CATALOGUE["no_causal_mask"], "Q")
    assert figure.svg == ""
    assert len(figure.table.rows) == 12


@pytest.fixture
def private(
    make_bug: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., Bug]:
    """A bug of one's own, with evidence of today that is changed as told."""
    monkeypatch.setattr(store, "FOLDER", tmp_path)
    write_evidence(CORRECT_SUBJECT, Setting.PLAIN)

    def private(measured: bool = True, **changes: Any) -> Bug:
        folder = make_bug("mine")
        (folder / "norm.py").write_text("x = 1\n", encoding="utf-8")
        bug = load_bug(folder)
        if measured:
            write_evidence(mutant_of(bug), Setting.PLAIN, **changes)
        return bug

    return private


def test_evidence_that_is_missing_or_old_is_named_with_what_mends_it(
    private: Callable[..., Bug],
) -> None:
    command = r"; run: bugkit measure mine --catalogue .*bugs$"
    with pytest.raises(Problem, match=r"^mine: its evidence is missing" + command):
        figure_of(private(measured=False), "Q")
    with pytest.raises(Problem, match=r"^mine: its evidence is out of date" + command):
        figure_of(private(digest="of another day"), "Q")
    bug = private()
    store.place_of(mutant_of(bug), Setting.PLAIN).write_text('{"version": 1}', encoding="utf-8")
    with pytest.raises(Problem, match=r"^mine: its evidence cannot be read" + command):
        figure_of(bug, "Q")
    bug = private()
    store.place_of(CORRECT_SUBJECT, Setting.PLAIN).unlink()
    with pytest.raises(Problem, match=r"^mine: the evidence of the correct GPT is missing"):
        figure_of(bug, "Q")


@needs_matplotlib
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"outcome": Outcome.RAISED, "stage": Stage.IMPORT, "losses": (), "steps": 0},
            "is empty; the reference from 2.50 to 0.75. This program ends with an error when imp",
        ),
        (
            {"outcome": Outcome.TIMEOUT, "stage": Stage.TRAIN, "losses": (2.0,), "steps": 9},
            "hangs in training after 9 steps.",
        ),
        (
            {"outcome": Outcome.NOT_FINITE, "losses": (2.0, None, None)},
            "from 2.00 to 2.00, the reference from 2.50 to 0.75. This program has losses that",
        ),
        ({"outcome": Outcome.CRASHED, "stage": Stage.SAVE}, "crashes while saving."),
        ({"losses": (1e30, -3.0, -1e30)}, "from 1e+30 to -1e+30"),
    ],
    ids=["raises", "hangs", "nan", "crashes", "huge"],
)
def test_whatever_became_of_a_run_it_is_drawn_without_its_message(
    private: Callable[..., Bug], changes: dict[str, Any], said: str
) -> None:
    nothing = {"train_loss": None, "validation_loss": None, "message": "Culprit: the mean"}
    figure = figure_of(private(**nothing, **changes), "Q")
    assert said in figure.alt
    assert "Culprit" not in repr(figure)
    ElementTree.fromstring(figure.svg)


@needs_matplotlib
def test_what_lies_beyond_the_frame_is_marked_at_its_edge() -> None:
    ours = (2.5, 1.5, 0.5)
    within, higher, lower = (
        drawing.draw_curves((2.5, loss, 0.5), ours, (-3.0, 3.0), "", "Q").count("<use ")
        for loss in (0.0, 9.0, -9.0)
    )
    # A triangle in the frame, one in the legend, and the letters beside it.
    assert higher - within == 2 + len("higher")
    assert lower - within == 2 + len("lower")


# --- the drawings ---

SCRIPT = """
import hashlib, sys
from bugkit.catalogue import load_catalogue
from bugkit.worksheet.figures import figure_of
bugs = load_catalogue()
for i, slug in enumerate(sys.argv[1:]):
    print(hashlib.sha256(figure_of(bugs[slug], f"K{i}").svg.encode()).hexdigest())
"""


@needs_matplotlib
def test_no_process_and_no_settings_of_a_person_change_a_byte(
    drawn: dict[Kind, Figure], tmp_path: Path
) -> None:
    mine = tmp_path / "matplotlibrc"
    mine.write_text(
        "font.size: 20\nfont.family: serif\nsvg.fonttype: none\naxes.grid: True\n"
        "svg.hashsalt: mine\nsavefig.transparent: True\nlines.linewidth: 9\n",
        encoding="utf-8",
    )
    expected = [hashlib.sha256(figure.svg.encode()).hexdigest() for figure in drawn.values()]
    for seed, settings in (("1", ""), ("2", str(mine))):
        run = subprocess.run(
            [sys.executable, "-W", "error", "-c", SCRIPT, *EXAMPLES.values()],
            env={
                **os.environ,
                "PYTHONHASHSEED": seed,
                "MATPLOTLIBRC": settings,
                "PYTHONPATH": os.pathsep.join(sys.path),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert (run.returncode, run.stderr) == (0, "")
        assert run.stdout.split() == expected


@needs_matplotlib
def test_drawings_in_one_document_share_no_name(drawn: dict[Kind, Figure]) -> None:
    every: list[str] = []
    for figure in drawn.values():
        names = re.findall(r'\bid="([^"]+)"', figure.svg)
        assert len(names) == len(set(names)) > 0
        referred = re.findall(r'(?:url\(|href=")#([^")]+)', figure.svg)
        assert set(referred) == set(names)
        every += names
    assert len(every) == len(set(every))


@needs_matplotlib
@pytest.mark.parametrize("of", EXAMPLES)
def test_a_drawing_brings_nothing_from_elsewhere(drawn: dict[Kind, Figure], of: Kind) -> None:
    svg = drawn[of].svg
    root = ElementTree.fromstring(svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    points = [72 / 25.4 * side for side in (drawing.WIDTH, drawing.HEIGHT)]
    assert [float(root.attrib[k].removesuffix("pt")) for k in ("width", "height")] == pytest.approx(
        points
    )
    left = re.sub(r' xmlns(:xlink)?="http://www\.w3\.org/[^"]*"', "", svg)
    for word in ("http", "<!", "<?", "<style", "style=", "metadata", "<title", "matplotlib"):
        assert word not in left
    assert not re.search(r"\b20\d\d-\d\d", left)
    assert len(svg) < 100_000


@needs_matplotlib
def test_a_code_of_any_sort_makes_a_name() -> None:
    pair = Pair((0.25, 0.75), (0.5, 0.5))
    for code in ('a "b" & <c>', "ä", "7", ""):
        svg = drawing.draw_shares(pair, 4, code)
        names = re.findall(r'\bid="([^"]+)"', svg)
        assert all(re.fullmatch(r"[A-Za-z_][\w.-]*", name, re.ASCII) for name in names)
        ElementTree.fromstring(svg)


def test_numbers_stand_out_from_every_shade() -> None:
    for step in range(101):
        light = drawing.light(drawing.shade(step / 100))
        ink = 1.0 if light < drawing.INK else 0.0
        contrast = (max(light, ink) + 0.05) / (min(light, ink) + 0.05)
        assert contrast >= 4.5, step


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.0, "0"),
        (1.0, "1"),
        (0.374, ".37"),
        (0.001, ".00"),
        (0.996, "1.0"),
        (3.0, "3.0"),
        (12.3, "12"),
        (-0.25, "\N{MINUS SIGN}.25"),
    ],
)
def test_short_numbers(value: float, expected: str) -> None:
    assert drawing.short(value) == expected
