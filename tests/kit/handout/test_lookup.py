"""From a form back to the student: no slip leads to another student, and nothing is guessed."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bugkit.disguise import Level
from bugkit.handout.form import form_of
from bugkit.handout.lookup import find, told, with_form
from bugkit.handout.manifest import NAME
from bugkit.handout.plan import planned
from bugkit.handout.roster import Student
from bugkit.handout.secret import fingerprint, store
from bugkit.handout.terms import Terms
from bugkit.problems import Problem
from bugkit.worksheet.codes import ALPHABET

from .asking import OTHER_SECRET, SECRET, TERMS, Course, catalogue

GROUPS = "First name,Last name,ID number,Groups\nÅda,O'Hara,0042,owls\nBob,B,bob,\n"
NOBODY = Terms("", TERMS.pool)
"""What the command line says if nothing but a form is given."""
FORM = form_of(SECRET, TERMS.assignment, "0042")


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    monkeypatch.chdir(tmp_path)
    return Course(tmp_path)


@pytest.fixture
def problem() -> Callable[..., str]:
    """Why this look-up fails."""

    def problem(
        form: str = FORM, terms: Terms = NOBODY, course: Course | None = None, **other: Path | None
    ) -> str:
        options = {"roster": None, "secret_file": None, **other}
        desk = course.desk if course else None
        with pytest.raises(Problem) as caught:
            find(form, terms=terms, desk=desk, catalogue=catalogue(), **options)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    return problem


# What must not happen.


def test_a_slip_in_a_form_is_told_before_anything_is_asked_for(
    problem: Callable[..., str],
) -> None:
    wrong = FORM[:-1] + ALPHABET[(ALPHABET.index(FORM[-1]) + 1) % len(ALPHABET)]
    swapped = FORM[1] + FORM[0] + FORM[2:]
    assert swapped != FORM
    for slip in (wrong, swapped):
        assert f"form id {slip!r}: a character is wrong or two have changed" in problem(slip)
    assert "has 7 characters, and needs 8" in problem(FORM[:-1])
    assert "'!' does not occur in form ids" in problem(f"{FORM[:-1]}!")


def test_a_form_of_nobody_is_told(course: Course, problem: Callable[..., str]) -> None:
    course.ask("ada\nbob\n", secret_file=None)
    stranger = form_of(SECRET, TERMS.assignment, "cleo")
    assert f"form {stranger}: is no student's" in problem(stranger, course=course)


def test_nothing_is_guessed_where_too_little_is_given(
    course: Course, problem: Callable[..., str]
) -> None:
    roster = course.roster("0042\n")
    for given in (
        {},
        {"roster": roster, "secret_file": course.secret},
        {"roster": roster, "terms": TERMS},
        {"secret_file": course.secret, "terms": TERMS},
    ):
        message = problem(**given)
        assert message.startswith("--lookup: give --out DIR, the folder of the handouts, or else")
        assert all(option in message for option in ("--secret-file", "--roster", "--assignment"))


def test_a_folder_without_a_record_is_told(course: Course, problem: Callable[..., str]) -> None:
    message = problem(course=course)
    assert message.startswith(f"out-keys{os.sep}{NAME}: is not there, so it is not known what was")
    assert "--secret-file, --roster and --assignment" in message


def test_another_secret_is_told(course: Course, problem: Callable[..., str]) -> None:
    course.ask("0042\n")
    other = course.folder / "other.txt"
    store(OTHER_SECRET, other)
    message = problem(course=course, secret_file=other)
    assert all(mark in message for mark in (fingerprint(SECRET), fingerprint(OTHER_SECRET)))
    message = problem(roster=course.roster("0042\n"), secret_file=other, terms=TERMS)
    assert "is no student's; look whether roster, assignment and secret" in message


def test_a_secret_that_is_gone_is_told(course: Course, problem: Callable[..., str]) -> None:
    course.ask("0042\n")
    message = problem(course=course)
    assert "secret.txt: is not there" in message
    assert "--secret-file" in message


def test_a_bug_that_has_left_the_catalogue_is_told(course: Course) -> None:
    course.ask("0042\n")
    fewer = {slug: bug for slug, bug in catalogue().items() if slug != "post_norm"}
    with pytest.raises(Problem, match=r"post_norm.*--catalogue"):
        find(FORM, None, NOBODY, course.desk, course.secret, fewer)


# What must happen.


def test_the_record_and_the_roster_tell_the_same(course: Course) -> None:
    terms = replace(TERMS, group_by="Groups", per_student=2)
    course.ask(GROUPS, terms)
    recorded = find(FORM, None, NOBODY, course.desk, course.secret, catalogue())
    (course.desk.keys / NAME).unlink()
    given = find(FORM, course.folder / "roster.csv", terms, None, course.secret, catalogue())
    texts = [told(handout, those, catalogue()) for handout, those in (recorded, given)]
    assert texts[0] == texts[1]
    assert recorded[1] == terms


@pytest.mark.parametrize("copied", [FORM.lower(), FORM.replace("-", ""), f" {FORM} "])
def test_a_form_is_found_however_it_was_copied(copied: str) -> None:
    handouts = planned(SECRET, TERMS, [Student("0042", "", None, 1), Student("7", "", None, 2)])
    assert with_form(copied, handouts) == handouts[0]


def test_who_has_left_is_found(course: Course) -> None:
    course.ask("0042\nbob\n")
    course.ask("bob\n")
    handout, _ = find(FORM, None, NOBODY, course.desk, course.secret, catalogue())
    assert handout.student.id == "0042"


def test_the_answer_names_student_group_folder_and_each_bug_with_its_lines() -> None:
    terms = replace(TERMS, per_student=2, disguise=Level.NONE)
    (handout,) = planned(SECRET, terms, [Student("0042", "Åda", "owls", 1)])
    text = told(handout, terms, catalogue())
    lines = text.splitlines()
    assert lines[:4] == [f"{FORM}  Åda", "  student 0042", "  group owls", "  folder 0042"]
    for hunt in handout.hunts:
        bug = catalogue()[hunt.slug]
        head = f"Hunt {hunt.number} of 2: {bug.slug}, difficulty {bug.difficulty} of 5"
        assert head in lines
        assert lines[lines.index(head) + 1].startswith(f"  gpt/{bug.file}: line")
        assert bug.title in text


def test_who_has_no_name_is_called_by_the_id() -> None:
    (handout,) = planned(SECRET, TERMS, [Student("0042", "", None, 1)])
    lines = told(handout, TERMS, catalogue()).splitlines()
    assert lines[:2] == [f"{FORM}  0042", "  folder 0042"]
