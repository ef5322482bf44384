"""Worked hunts: every mistake in the file is told; every hunt of the catalogue is a real one."""

import contextlib
import io
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from bugkit.catalogue import Bug, load_bug, load_catalogue
from bugkit.contract import Offer
from bugkit.files import read_text
from bugkit.places import shown
from bugkit.problems import Problem
from bugkit.subject import CORRECT_SUBJECT, load, subject_of
from bugkit.worksheet.excerpt import changed_lines, difference, pieces
from bugkit.worksheet.model import Sheet
from bugkit.worksheet.words import paragraph, plain, prose
from bugkit.worksheet.worked import (
    MAX_BOX,
    MAX_CELL,
    MAX_GOAL,
    MAX_PRINTED,
    MAX_REASON,
    MAX_RESULT,
    PROBE_LINES,
    PROBE_WIDTH,
    TEST_LINES,
    TEST_WIDTH,
    WORKED,
    load_worked,
    worked_bugs,
    worked_sheet,
)

from ..conftest import as_toml, change

CATALOGUE = load_catalogue()
HUNTS = worked_bugs(CATALOGUE)

every_hunt = pytest.mark.parametrize("bug", HUNTS, ids=[bug.slug for bug in HUNTS])

MakeHunt = Callable[[dict[str, Any]], Bug]

TEST = "def test_means(gpt):\n    assert gpt.gelu(0.0) == 0.0"


def hunt_table() -> dict[str, Any]:
    """A valid worked.toml as a new table."""
    return {
        "predict": "1.0, of `x`.",
        "confidence_before": 75,
        "observe": "0.5. No match.",
        "diagnosis": "The wrong axis.",
        "explain": "Other numbers\nare right.",
        "confidence_after": 100,
        "hints_used": 0,
        "regression_test": f"\n{TEST}\n",
        "regression_reason": "The usual test takes one token.",
        "hypothesis": [
            {"place": f"`f{i}`", "mechanism": "It adds.", "disproof": "It is 0."} for i in range(3)
        ],
        "log": [
            {"goal": "Is it 1?", "probe": f"print({i})\n", "printed": f"{i}", "result": "No."}
            for i in range(5)
        ],
    }


@pytest.fixture
def make_hunt(make_bug: Callable[..., Path]) -> MakeHunt:
    """A bug with a worked hunt in which some values are changed; None takes a key away."""

    def make_hunt(changes: dict[str, Any]) -> Bug:
        table = hunt_table()
        change(table, changes)
        bug = load_bug(make_bug("means"))
        text = bug.original.read_text(encoding="utf-8")
        bug.module.write_text(text.replace("axis=-1", "axis=-2"), encoding="utf-8")
        (bug.folder / WORKED).write_text(as_toml(table), encoding="utf-8")
        return bug

    return make_hunt


# What must not happen: a mistake that is taken, or told without its place.

LINES_10 = "\n".join(["def test_means(gpt):", *["    gpt.gelu(0.0)"] * TEST_LINES])

MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    **{f"no {key}": ({key: None}, f"{key}: is missing") for key in hunt_table()},
    "no place": ({"hypothesis.1.place": None}, "[hypothesis 2] place: is missing"),
    "no mechanism": ({"hypothesis.0.mechanism": None}, "[hypothesis 1] mechanism: is missing"),
    "no disproof": ({"hypothesis.2.disproof": None}, "[hypothesis 3] disproof: is missing"),
    "no goal": ({"log.0.goal": None}, "[log 1] goal: is missing"),
    "no probe": ({"log.4.probe": None}, "[log 5] probe: is missing"),
    "no printed": ({"log.1.printed": None}, "[log 2] printed: is missing"),
    "no result": ({"log.1.result": None}, "[log 2] result: is missing"),
    "a fix by hand": ({"fix": "axis=-1"}, "fix: unknown key"),
    "misspelt explain": ({"explian": "x"}, "explian: unknown key; did you mean explain?"),
    "misspelt place": (
        {"hypothesis.0.plase": "x"},
        "[hypothesis 1] plase: unknown key; did you mean place?",
    ),
    "misspelt probe": ({"log.2.prob": "x"}, "[log 3] prob: unknown key; did you mean probe?"),
    "predict a number": ({"predict": 1}, "predict: must be a text in quotes, got 1"),
    "explain empty": ({"explain": " \n"}, "explain: is empty"),
    "goal empty": ({"log.0.goal": ""}, "[log 1] goal: is empty"),
    "probe a list": ({"log.0.probe": []}, "[log 1] probe: must be a text in quotes, got []"),
    "printed a number": ({"log.0.printed": 1}, "[log 1] printed: must be a text in quotes, got 1"),
    "log a text": ({"log": "x"}, "log: must be a list of tables: write [[log]]"),
    "hypothesis a table": (
        {"hypothesis": {"place": "x"}},
        "hypothesis: must be a list of tables: write [[hypothesis]]",
    ),
    "two hypotheses": ({"hypothesis.2": None}, "hypothesis: there must be 3 [[hypothesis]], got 2"),
    "four rows": ({"log.3": None}, "log: there must be 5 [[log]], got 4"),
    "no row": ({"log": []}, "log: there must be 5 [[log]], got 0"),
    "confidence that has no box": (
        {"confidence_before": 80},
        "confidence_before: must be one of 0, 25, 50, 75, 100, got 80",
    ),
    "confidence a bool": ({"confidence_before": False}, "confidence_before: must be one of 0, "),
    "confidence a text": ({"confidence_after": "75"}, "confidence_after: must be one of 0, "),
    "five hints": ({"hints_used": 5}, "hints_used: must be a whole number from 0 to 4, got 5"),
    "long predict": ({"predict": "x" * (MAX_BOX + 1)}, "predict: has 251 characters; the box"),
    "long observe": ({"observe": "x" * (MAX_BOX + 1)}, "observe: has 251 characters; the box"),
    "long diagnosis": ({"diagnosis": "x" * (MAX_BOX + 1)}, "diagnosis: has 251 characters; the"),
    "long explain": ({"explain": "x" * (MAX_BOX + 1)}, "explain: has 251 characters; the box"),
    "long reason": (
        {"regression_reason": "x" * (MAX_REASON + 1)},
        "regression_reason: has 201 characters; the box holds 200",
    ),
    "long place": (
        {"hypothesis.0.place": "x" * (MAX_CELL + 1)},
        "[hypothesis 1] place: has 91 characters; the box holds 90",
    ),
    "long mechanism": (
        {"hypothesis.0.mechanism": "x" * (MAX_CELL + 1)},
        "[hypothesis 1] mechanism: has 91 characters; the box holds 90",
    ),
    "long disproof": (
        {"hypothesis.0.disproof": "x" * (MAX_CELL + 1)},
        "[hypothesis 1] disproof: has 91 characters; the box holds 90",
    ),
    "long goal": ({"log.0.goal": "x" * (MAX_GOAL + 1)}, "[log 1] goal: has 71 characters"),
    "long result": ({"log.0.result": "x" * (MAX_RESULT + 1)}, "[log 1] result: has 81 characters"),
    "long printed": ({"log.0.printed": "1" * (MAX_PRINTED + 1)}, "[log 1] printed: has 61 "),
    "two printed lines": ({"log.0.printed": "1\n2"}, "[log 1] printed: must be one line"),
    "probe of four lines": (
        {"log.0.probe": "a = 1\n" * (PROBE_LINES + 1)},
        "[log 1] probe: has 4 lines; the box holds 3",
    ),
    "wide probe": (
        {"log.0.probe": "a = 1" + "0" * (PROBE_WIDTH - 4)},
        "[log 1] probe: has a line of 61 characters; the box holds 60",
    ),
    "probe that is no Python": ({"log.0.probe": "print("}, "[log 1] probe: is not Python: "),
    "probe that holds a null": ({"log.0.probe": "a\0"}, "[log 1] probe: is not Python: "),
    "probe of comments": ({"log.0.probe": "# ?"}, "[log 1] probe: holds no statement"),
    "long test": ({"regression_test": LINES_10}, "regression_test: has 10 lines; the box holds 9"),
    "wide test": (
        {"regression_test": TEST + "#" * TEST_WIDTH},
        "regression_test: has a line of 116 characters; the box holds 85",
    ),
    "test that is no Python": ({"regression_test": "def"}, "regression_test: is not Python: "),
    "test of another name": (
        {"regression_test": "def means(gpt):\n    pass"},
        "regression_test: must be one function: def test_...(gpt)",
    ),
    "test of nothing": (
        {"regression_test": "def test_means():\n    pass"},
        "regression_test: must be one function: ",
    ),
    "two tests": (
        {"regression_test": f"{TEST}\n{TEST}"},
        "regression_test: must be one function: ",
    ),
    "test without a function": (
        {"regression_test": "assert True"},
        "regression_test: must be one function: ",
    ),
}


@pytest.mark.parametrize(("changes", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_with_file_and_key(
    make_hunt: MakeHunt, changes: dict[str, Any], message: str
) -> None:
    bug = make_hunt(changes)
    with pytest.raises(Problem) as caught:
        load_worked(bug)
    assert str(caught.value).startswith(f"{shown(bug.folder / WORKED)}: {message}")


def test_what_is_no_toml_is_told(make_hunt: MakeHunt) -> None:
    bug = make_hunt({})
    (bug.folder / WORKED).write_text("predict = ", encoding="utf-8")
    with pytest.raises(Problem, match=r"worked\.toml: not valid TOML: "):
        load_worked(bug)


def test_a_hunt_that_is_not_there_is_told(make_hunt: MakeHunt) -> None:
    bug = make_hunt({})
    (bug.folder / WORKED).unlink()
    with pytest.raises(Problem, match=r"worked\.toml: cannot be read: "):
        load_worked(bug)


def test_a_module_that_was_never_built_is_told(make_hunt: MakeHunt) -> None:
    bug = make_hunt({})
    bug.module.unlink()
    with pytest.raises(Problem, match=r"norm\.py: cannot be read: "):
        load_worked(bug)


def test_an_innocent_has_no_worked_hunt(make_hunt: MakeHunt) -> None:
    bug = replace(make_hunt({}), verdict="innocent")
    with pytest.raises(Problem, match=r"worked\.toml: means is innocent"):
        load_worked(bug)


# What is read.


def test_all_boxes_are_read(make_hunt: MakeHunt) -> None:
    worked = load_worked(make_hunt({}))
    assert worked.predict == prose("1.0, of `x`.")
    assert (worked.confidence_before, worked.confidence_after, worked.hints_used) == (75, 100, 0)
    assert worked.observe == prose("0.5. No match.")
    assert worked.diagnosis == prose("The wrong axis.")
    assert worked.explain == prose("Other numbers are right.")
    assert worked.regression_test == TEST
    assert worked.regression_reason == prose("The usual test takes one token.")
    assert [h.place for h in worked.hypotheses] == ["f0", "f1", "f2"]
    assert worked.hypotheses[0].mechanism == paragraph("It adds.")
    assert worked.hypotheses[0].disproof == paragraph("It is 0.")
    assert [e.probe for e in worked.log] == [f"print({i})" for i in range(5)]
    assert [e.printed for e in worked.log] == ["0", "1", "2", "3", "4"]
    assert (worked.log[0].goal, worked.log[0].result) == (paragraph("Is it 1?"), paragraph("No."))


def test_the_fix_is_made_from_the_sources(make_hunt: MakeHunt) -> None:
    bug = make_hunt({})
    fix = load_worked(bug).fix
    assert fix == difference(read_text(bug.module), read_text(bug.original))
    assert {line.sign for line in fix} == {"-", "+", " "}


def test_what_fits_to_the_last_character_is_taken(make_hunt: MakeHunt) -> None:
    changes = {
        "predict": "`" + "x" * MAX_BOX + "`",  # the marks are not printed
        "log.0.probe": "\n".join(["a = 1" + "0" * (PROBE_WIDTH - 5)] * PROBE_LINES),
        "regression_test": LINES_10.rsplit("\n", 1)[0],
    }
    assert plain(load_worked(make_hunt(changes)).predict) == "x" * MAX_BOX


def test_a_hunt_beside_bug_toml_changes_nothing_about_the_bug(make_hunt: MakeHunt) -> None:
    bug = make_hunt({})
    assert load_catalogue([bug.folder.parent]) == {"means": bug}
    assert worked_bugs({"means": bug}) == [bug]
    (bug.folder / WORKED).unlink()
    assert worked_bugs({"means": bug}) == []


def test_the_sheet_of_a_worked_hunt_is_the_challenge_with_filled_boxes(
    sheet: Callable[[str], Sheet],
) -> None:
    bug = HUNTS[0]
    challenge = sheet(bug.slug)
    filled = worked_sheet(challenge, bug)
    assert filled.worked == load_worked(bug)
    assert replace(filled, worked=None) == challenge


# The hunts of the catalogue. A probe that prints something else, or a test that tells nothing,
# would teach the wrong thing with every sheet.


@cache
def program(bug: Bug | None) -> ModuleType:
    return load(subject_of(bug) if bug else CORRECT_SUBJECT)


def run_test(code: str, bug: Bug | None) -> None:
    """Call the regression test as pytest would, with a program that offers the contract alone."""
    scope: dict[str, Any] = {"np": np}
    exec(code, scope)
    (test,) = [value for name, value in scope.items() if name.startswith("test_")]
    test(Offer(program(bug)))


def numbers(text: str) -> set[float]:
    """Numbers that a run gave: those with a point or an exponent."""
    return {float(n) for n in re.findall(r"\d+\.\d+(?:e-?\d+)?|\d+e-?\d+", text)}


def test_there_is_a_hunt_of_each_kind_and_from_easy_to_hard() -> None:
    components = {bug.component for bug in HUNTS}
    assert components & {"attention", "mask"}
    assert components & {"sampling", "cache"}
    assert components & {"optimizer", "loss", "backward"}
    difficulties = [bug.difficulty for bug in HUNTS]
    assert difficulties == sorted(set(difficulties))


@every_hunt
def test_every_probe_prints_what_the_log_says(bug: Bug) -> None:
    for entry in load_worked(bug).log:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(entry.probe, {"gpt": program(bug), "np": np})
        assert said.getvalue() == f"{entry.printed}\n", entry.probe


@every_hunt
def test_the_log_tells_the_bug_from_a_correct_program(bug: Bug) -> None:
    differ = 0
    for entry in load_worked(bug).log:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(entry.probe, {"gpt": program(None), "np": np})
        differ += said.getvalue() != f"{entry.printed}\n"
    assert differ >= 2


@every_hunt
def test_the_regression_test_fails_on_the_bug(bug: Bug) -> None:
    with pytest.raises(AssertionError):
        run_test(load_worked(bug).regression_test, bug)


@every_hunt
def test_the_regression_test_accuses_neither_the_correct_gpt_nor_an_innocent(bug: Bug) -> None:
    code = load_worked(bug).regression_test
    run_test(code, None)
    innocents = [b for b in CATALOGUE.values() if b.innocent and b.level == bug.level]
    assert innocents
    for innocent in innocents:
        run_test(code, innocent)


@every_hunt
def test_the_first_guess_is_wrong_and_corrected(bug: Bug) -> None:
    worked = load_worked(bug)
    assert worked.confidence_before != worked.confidence_after
    assert re.search(r"\bnot?\b", plain(worked.observe).lower())
    results = [plain(entry.result) for entry in worked.log]
    assert any("ypothesis 1 is out" in result for result in results)
    assert any("ypothesis 3 stands" in result for result in results)


@every_hunt
def test_lines_and_places_are_those_of_the_program(bug: Bug) -> None:
    worked, broken = load_worked(bug), read_text(bug.module)
    (line,) = re.findall(r"line (\d+)", plain(worked.diagnosis))
    assert int(line) in changed_lines(broken, read_text(bug.original))
    for hypothesis in worked.hypotheses:
        (name, line) = re.findall(r"^(\w+).*, line (\d+)$", hypothesis.place)[0]
        (piece,) = [piece for piece in pieces(broken) if piece.name == name]
        assert int(line) in piece


@every_hunt
def test_every_number_of_a_text_was_printed_or_is_told_by_the_bug(bug: Bug) -> None:
    worked, teach = load_worked(bug), bug.teach
    told = [entry.printed for entry in worked.log]
    told += [teach.symptom, teach.predict, *teach.hints, teach.explanation, plain(worked.predict)]
    known = numbers(" ".join(told))
    for text in (worked.observe, worked.diagnosis, worked.explain):
        assert numbers(plain(text)) <= known
