"""Who gets what: nothing that depends on the others, and nothing shared but within a group."""

from dataclasses import replace

import pytest

from bugkit.handout.form import form_of, parse_form
from bugkit.handout.plan import planned
from bugkit.handout.roster import Student
from bugkit.problems import Problem

from .asking import OTHER_SECRET, SECRET, TERMS

IDS = [f"{number:04}" for number in range(60)]


def students(*ids: str, group: str | None = None) -> list[Student]:
    return [Student(id_, "", group, line) for line, id_ in enumerate(ids, 1)]


# What must not happen.


def test_a_plan_depends_on_nobody_else() -> None:
    alone = [planned(SECRET, TERMS, students(id_))[0] for id_ in IDS]
    together = planned(SECRET, TERMS, students(*IDS[::-1]))
    assert [(h.form, h.folder, h.hunts) for h in alone] == [
        (h.form, h.folder, h.hunts) for h in together[::-1]
    ]


def test_no_two_students_share_a_form_a_folder_or_the_words_of_a_copy() -> None:
    handouts = planned(SECRET, replace(TERMS, per_student=2), students(*IDS))
    assert len({h.form for h in handouts}) == len(IDS)
    assert len({h.folder for h in handouts}) == len(IDS)
    assert len({hunt.seed for h in handouts for hunt in h.hunts}) == 2 * len(IDS)


def test_nothing_that_a_student_sees_follows_from_the_bug() -> None:
    handouts = planned(SECRET, TERMS, students(*IDS))
    other = planned(SECRET, replace(TERMS, pool=TERMS.pool[:1]), students(*IDS))
    assert [h.hunts[0].slug for h in handouts] != [h.hunts[0].slug for h in other]
    assert [(h.form, h.folder) for h in handouts] == [(h.form, h.folder) for h in other]


@pytest.mark.parametrize("change", ["secret", "assignment"])
def test_another_secret_or_assignment_changes_everything_but_the_folder(change: str) -> None:
    secret = OTHER_SECRET if change == "secret" else SECRET
    terms = replace(TERMS, assignment="Hunt 2") if change == "assignment" else TERMS
    before = planned(SECRET, TERMS, students(*IDS))
    after = planned(secret, terms, students(*IDS))
    assert {h.form for h in before}.isdisjoint(h.form for h in after)
    assert {h.hunts[0].seed for h in before}.isdisjoint(h.hunts[0].seed for h in after)
    assert [h.hunts[0].slug for h in before] != [h.hunts[0].slug for h in after]
    assert [h.folder for h in before] == [h.folder for h in after]


def test_who_works_alone_never_shares_with_a_group_of_the_same_name() -> None:
    alone, grouped = planned(SECRET, TERMS, [*students("owls"), *students("ada", group="owls")])
    assert alone.hunts[0].seed != grouped.hunts[0].seed


def test_a_pool_too_small_is_a_problem() -> None:
    with pytest.raises(Problem, match="holds 4 bugs, and a student may get 5"):
        planned(SECRET, replace(TERMS, per_student=5), students("ada"))


# What must happen.


def test_a_group_gets_one_program_and_each_member_a_form_of_their_own() -> None:
    terms = replace(TERMS, per_student=2)
    handouts = planned(SECRET, terms, students("ada", "bob", "cleo", group="owls"))
    assert len({tuple((hunt.slug, hunt.seed) for hunt in h.hunts) for h in handouts}) == 1
    assert [h.form for h in handouts] == [
        form_of(SECRET, TERMS.assignment, id_) for id_ in ("ada", "bob", "cleo")
    ]
    assert all(hunt.code == h.form for h in handouts for hunt in h.hunts)
    assert len({h.form for h in handouts}) == 3


def test_forms_are_as_the_course_can_check_them() -> None:
    assert all(parse_form(h.form) == h.form for h in planned(SECRET, TERMS, students(*IDS)))


def test_a_single_hunt_lies_in_the_folder_itself_and_several_in_folders() -> None:
    (one,) = planned(SECRET, TERMS, students("ada"))
    assert [(h.folder, h.number, h.of) for h in one.hunts] == [("", 1, 1)]
    (two,) = planned(SECRET, replace(TERMS, per_student=2), students("ada"))
    assert [(h.folder, h.number, h.of) for h in two.hunts] == [
        ("hunt-1/", 1, 2),
        ("hunt-2/", 2, 2),
    ]
    assert len({h.slug for h in two.hunts}) == 2


def test_the_plan_has_the_order_of_the_roster() -> None:
    ids = ("zoe", "ada", "007", "7")
    assert [h.student.id for h in planned(SECRET, TERMS, students(*ids))] == list(ids)
