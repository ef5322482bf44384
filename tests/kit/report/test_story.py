"""The story of a few subjects: a student must be able to read it, believe it and act on it."""

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import click
import pytest

from bugkit.catalogue import Bug
from bugkit.diagnosis import Diagnosis, diagnose
from bugkit.engine import run
from bugkit.matrix import Matrix, Outcome
from bugkit.options import Options
from bugkit.report.story import MIN_WIDTH, as_story
from bugkit.subject import Kind, find_subject

WIDTH = 80

OTHER_ESCAPES = re.compile("\x1b(?!\\[[0-9;]*m)|[^\n\x1b\x20-\x7e\xa0-\U0010ffff]")
"""Control characters, unless they begin a colour."""


def story(matrix: Matrix, bugs: Mapping[str, Bug], width: int = WIDTH) -> str:
    return click.unstyle(as_story(matrix, width, diagnoses(matrix, bugs)))


def diagnoses(matrix: Matrix, bugs: Mapping[str, Bug]) -> dict[str, Diagnosis]:
    return {s.id: diagnose(matrix, s, bugs.values()) for s in matrix.of_kind(Kind.FILE)}


def only(matrix: Matrix, *ids: str) -> Matrix:
    return replace(matrix, subjects=tuple(s for s in matrix.subjects if s.id in ids))


def failing(matrix: Matrix, *detectors: str) -> Matrix:
    """The file that is fine, with these properties failing."""
    (subject,) = only(matrix, "fine.py").subjects
    cells = dict(matrix.cells)
    for id_ in detectors:
        cells[subject.id, id_] = replace(cells[subject.id, id_], outcome=Outcome.FAILED)
    return replace(matrix, subjects=(subject,), cells=cells)


def known_bugs(text: str) -> tuple[str, list[str]]:
    """How well known bugs fit, and their slugs; empty if none is named."""
    text = text.replace("\n  another one in\n  the same place", "")
    found = re.search(
        r"fails? (exactly|nearly) these properties[^:]*:\n((?:    .*\n)+)", text, re.MULTILINE
    )
    if found is None:
        return "", []
    slugs = re.findall(r"^    (\w[^:]*):", found[2], re.MULTILINE)
    return found[1], slugs


# What must not happen


def test_no_line_of_prose_is_wider_than_asked_for(matrix: Matrix, bugs: Mapping[str, Bug]) -> None:
    """Names and commands are copied, so they stay whole; everything else is wrapped."""
    wide = [line for line in story(matrix, bugs, MIN_WIDTH).splitlines() if len(line) > MIN_WIDTH]
    prose = [
        line
        for line in wide
        if len(line.split()) > 1 and not line.startswith("    bugkit explain ")
    ]
    assert prose == []


def test_no_width_is_too_small(matrix: Matrix, bugs: Mapping[str, Bug]) -> None:
    assert story(matrix, bugs, 1) == story(matrix, bugs, MIN_WIDTH)


def test_no_message_brings_in_an_escape_code(told: tuple[str, Matrix]) -> None:
    text = as_story(told[1], WIDTH, {})
    assert not OTHER_ESCAPES.search(text)
    assert "red\x1b[31m" not in text


def test_no_message_is_cut_short(told: tuple[str, Matrix]) -> None:
    message, matrix = told
    shown = "".join(story(matrix, {}).split())
    assert [word for word in message.split() if word.isprintable() and word not in shown] == []


def test_no_name_of_a_file_breaks_the_story(named: tuple[str, Matrix]) -> None:
    name, matrix = named
    correct, file = matrix.subjects
    renamed = replace(
        matrix,
        subjects=(correct, replace(file, id="gpt.py")),
        cells={("gpt.py" if id_ == name else id_, d): c for (id_, d), c in matrix.cells.items()},
    )
    assert len(story(matrix, {}).splitlines()) == len(story(renamed, {}).splitlines())


def test_no_name_of_a_file_brings_in_a_colour(named: tuple[str, Matrix]) -> None:
    text = as_story(named[1], WIDTH, {})
    assert not OTHER_ESCAPES.search(text)
    assert "\x1b[31mb.py" not in text


def test_no_name_of_a_file_spoils_the_command_to_copy(named: tuple[str, Matrix]) -> None:
    name, matrix = named
    (line,) = [line for line in story(matrix, {}).splitlines() if "bugkit explain" in line]
    program, command, file, detector = shlex.split(line)
    assert (program, command, detector) == ("bugkit", "explain", "test_rows_sum_to_one")
    if name.isprintable():
        assert file == name


def test_an_innocent_is_never_named_as_the_bug(matrix: Matrix, bugs: Mapping[str, Bug]) -> None:
    accused = {slug: replace(bug, killed_by=("test_cache",)) for slug, bug in bugs.items()}
    innocents = {slug: bug for slug, bug in accused.items() if bug.innocent}
    assert innocents
    assert known_bugs(story(failing(matrix, "test_cache"), innocents)) == ("", [])


def test_nothing_is_advised_where_nothing_failed(matrix: Matrix, bugs: Mapping[str, Bug]) -> None:
    text = story(only(matrix, "correct", "looks_wrong", "fine.py"), bugs)
    assert "bugkit explain" not in text
    assert "known bug" not in text


# A file that does not load


def test_a_file_that_does_not_load_gives_one_message(
    matrix: Matrix, bugs: Mapping[str, Bug]
) -> None:
    assert story(only(matrix, "unloadable.py"), bugs) == (
        "unloadable.py: could not be judged\n  syntax error in line 3 of unloadable.py: '(' was"
    )


UNLOADABLE = {
    "syntax error": ("def f(:\n", "  syntax error in line 1 of gpt.py: "),
    "missing package": (
        "import a_package_that_nobody_has\n",
        "  imports 'a_package_that_nobody_has': no package of that name is installed here",
    ),
    "exits": ("import sys\nsys.exit(3)\n", "  calls sys.exit(3) when imported; "),
    "raises": (
        "\n\n1 / 0\n",
        "  cannot be imported: line 3 of gpt.py: ZeroDivisionError: division by zero",
    ),
}


@pytest.mark.parametrize("name", UNLOADABLE)
def test_a_real_file_that_does_not_load_gives_one_message_that_says_why(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body, message = UNLOADABLE[name]
    monkeypatch.chdir(tmp_path)
    Path("gpt.py").write_text(body, encoding="utf-8")
    options = Options(select="softmax or gelu", cache=False)
    lines = story(run([find_subject("gpt.py", {})], options), {}, 100).splitlines()
    assert lines[0] == "gpt.py: could not be judged"
    assert lines[1].startswith(message)
    assert len(lines) <= 3


# The known bug that a file looks like


def test_the_bug_with_exactly_the_same_failures_is_named(
    matrix: Matrix, bugs: Mapping[str, Bug]
) -> None:
    text = story(failing(matrix, "test_no_future"), bugs)
    assert known_bugs(text) == (
        "exactly",
        ["mask_gone", "mask_late", "never_judged"],
    )


def test_a_backstop_does_not_stand_in_the_way_of_a_name(
    matrix: Matrix, bugs: Mapping[str, Bug]
) -> None:
    text = story(failing(matrix, "test_rows_sum_to_one", "test_weights_are_shares"), bugs)
    with_backstop = failing(
        matrix, "test_rows_sum_to_one", "test_weights_are_shares", "test_recorded"
    )
    assert known_bugs(text)[1] == ["other_promise"]
    assert known_bugs(story(with_backstop, bugs)) == known_bugs(text)


def test_bugs_that_are_only_close_are_named_nearest_first(
    matrix: Matrix, bugs: Mapping[str, Bug]
) -> None:
    stranger = failing(matrix, "test_rows_sum_to_one", "test_weights_are_shares", "test_no_future")
    near = {
        "half": replace(bugs["mask_gone"], slug="half", killed_by=("test_no_future", "test_scale")),
        "two": replace(
            bugs["mask_gone"], slug="two", killed_by=("test_no_future", "test_rows_sum_to_one")
        ),
        "three": replace(
            bugs["mask_gone"],
            slug="three",
            killed_by=(
                "test_no_future",
                "test_rows_sum_to_one",
                "test_scale",
                "test_weights_are_shares",
            ),
        ),
    }
    assert known_bugs(story(stranger, near)) == ("nearly", ["three", "two"])


def test_no_bug_is_named_where_none_is_alike(matrix: Matrix, bugs: Mapping[str, Bug]) -> None:
    text = story(failing(matrix, "test_scale"), bugs)
    assert known_bugs(text) == ("", [])
    assert "bugkit explain fine.py test_scale" in text


# What is there


def test_the_matrix_made_by_hand_reads_as_it_should(
    matrix: Matrix, bugs: Mapping[str, Bug], golden: Callable[[str, str], None]
) -> None:
    golden("story.txt", story(matrix, bugs) + "\n")


def test_the_most_fundamental_failure_comes_first_and_is_the_one_to_explain(
    matrix: Matrix, bugs: Mapping[str, Bug]
) -> None:
    text = story(failing(matrix, "test_recorded", "test_scale", "test_no_future"), bugs)
    named = re.findall("^    (test_[a-z_]+)$", text, re.MULTILINE)
    assert named == ["test_no_future", "test_scale", "test_recorded"]
    assert text.endswith("bugkit explain fine.py test_no_future")


def test_the_same_matrix_gives_the_same_story(matrix: Matrix, bugs: Mapping[str, Bug]) -> None:
    assert story(matrix, bugs) == story(matrix, bugs)
