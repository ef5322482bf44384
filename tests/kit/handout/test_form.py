"""Form ids: every slip of a hand is found, and nobody's changes when somebody joins."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bugkit.handout import form as module
from bugkit.handout.form import LENGTH, form_of, forms_of, parse_form
from bugkit.handout.secret import SIZE, Secret
from bugkit.problems import Problem
from bugkit.worksheet.codes import ALPHABET

SECRET = Secret(bytes(range(SIZE)))
IDS = st.text(st.characters(exclude_categories=["Cs"]))
FORMS = [form_of(SECRET, "hunt-1", str(number)) for number in range(5)]


def right(letters: str) -> bool:
    try:
        parse_form(letters)
    except Problem:
        return False
    return True


# What must not happen.


@pytest.mark.parametrize("form", FORMS)
def test_no_single_wrong_character_passes(form: str) -> None:
    letters = form.replace("-", "")
    for place, letter in itertools.product(range(LENGTH), ALPHABET):
        wrong = letters[:place] + letter + letters[place + 1 :]
        assert right(wrong) == (wrong == letters)


@pytest.mark.parametrize("place", range(LENGTH - 1))
def test_no_swap_of_neighbours_passes(place: int) -> None:
    # All pairs that differ, in a form that is right with them.
    for one, two in itertools.permutations(ALPHABET, 2):
        letters = list("0" * LENGTH)
        letters[place], letters[place + 1] = one, two
        free = LENGTH - 1 if place < LENGTH - 2 else 0
        found = [c for c in ALPHABET if right("".join([*letters[:free], c, *letters[free + 1 :]]))]
        assert len(found) == 1
        letters[free] = found[0]
        assert right("".join(letters))
        letters[place], letters[place + 1] = two, one
        assert not right("".join(letters))


def test_no_two_places_weigh_the_same_so_no_swap_at_all_passes() -> None:
    for form in FORMS:
        for i, j in itertools.combinations(range(LENGTH), 2):
            letters = list(form.replace("-", ""))
            letters[i], letters[j] = letters[j], letters[i]
            assert right("".join(letters)) == (letters[i] == letters[j])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "has 0 characters, and needs 8"),
        ("K7Q2-MX4", "has 7 characters"),
        ("0000-00000", "has 9 characters"),
        ("0000-000U", "'U' does not occur in form ids"),
        ("0000-000*", "'*' does not occur"),
        ("0000-0001", "a character is wrong or two have changed places"),
    ],
)
def test_a_wrong_form_id_is_told_as_it_was_typed(text: str, told: str) -> None:
    with pytest.raises(Problem) as caught:
        parse_form(text)
    assert str(caught.value).startswith(f"form id {text!r}: ") and told in str(caught.value)


@given(st.text())
def test_any_text_is_a_form_id_or_one_problem(text: str) -> None:
    try:
        form = parse_form(text)
    except Problem:
        return
    assert parse_form(form) == form


def test_two_students_with_one_form_id_do_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "form_of", lambda *_: FORMS[0])
    with pytest.raises(Problem, match=f"students 1 and 2: both drew the form id {FORMS[0]}"):
        forms_of(SECRET, "hunt-1", ["1", "2"])


@given(st.lists(IDS, unique=True, max_size=10), IDS)
def test_nobodys_form_changes_when_somebody_joins(students: list[str], late: str) -> None:
    before = forms_of(SECRET, "hunt-1", students)
    after = forms_of(SECRET, "hunt-1", [late, *students])
    assert {student: after[student] for student in students} == before


# What it is.


def test_a_form_id_is_the_same_everywhere() -> None:
    assert FORMS[0] == "70JN-82BG"


def test_it_is_another_for_another_secret_assignment_or_student() -> None:
    other = Secret(bytes(SIZE))
    forms = {FORMS[0], form_of(other, "hunt-1", "0"), form_of(SECRET, "hunt-2", "0"), FORMS[1]}
    assert len(forms) == 4


@given(IDS)
def test_what_is_printed_is_read(student: str) -> None:
    form = form_of(SECRET, "hunt-1", student)
    assert form[4] == "-" and len(form) == LENGTH + 1
    assert set(form) <= {*ALPHABET, "-"}
    assert parse_form(form) == form


@pytest.mark.parametrize("form", [*FORMS, "0000-0000"])
def test_it_may_be_typed_in_any_way(form: str) -> None:
    letters = form.replace("-", "")
    spelt = letters.replace("0", "O").replace("1", "I")
    for typed in (
        letters,
        form.lower(),
        f"  {form}\n",
        " ".join(letters),
        form.replace("-", " – "),  # noqa: RUF001
        spelt,
        spelt.lower(),
        letters.replace("1", "l"),
    ):
        assert parse_form(typed) == form


def test_a_thousand_students_have_a_thousand_forms() -> None:
    students = [f"{number:04}" for number in range(1000)]
    forms = forms_of(SECRET, "hunt-1", students)
    assert list(forms) == students
    assert len(set(forms.values())) == 1000
