"""Folders of students: none leaves its place, none is another's, every system takes it."""

import unicodedata
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bugkit.handout.folder import folder_name

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
AWKWARD = st.text(st.sampled_from("aAbB.~-_/\\: \u00e9e\u0301ß\u017fI\u0131\u0130i"), max_size=6)


# What must not happen.


@pytest.mark.parametrize(
    "student",
    ["..", ".", "", "../x", "/etc/passwd", "C:\\x", "a/b", "a\\b", "~", "~root", "-rf", ".git"],
)
def test_no_id_leaves_its_place_or_hides(student: str) -> None:
    assert_safe(folder_name(student))


@pytest.mark.parametrize(
    "student",
    ["CON", "con", "nul.txt", "com1", "lpt9.x.y", "a.", "a ", *(f"a{c}b" for c in '<>:"|?*\n\0')],
)
def test_no_name_that_windows_refuses(student: str) -> None:
    assert folder_name(student) != student
    assert_safe(folder_name(student))


@given(TEXTS | AWKWARD)
def test_any_id_has_a_safe_folder(student: str) -> None:
    assert_safe(folder_name(student))


@given(AWKWARD | TEXTS, AWKWARD | TEXTS)
def test_no_two_ids_share_a_folder_even_where_capitals_do_not_count(one: str, two: str) -> None:
    if unicodedata.normalize("NFC", one) != unicodedata.normalize("NFC", two):
        assert as_stored(folder_name(one)) != as_stored(folder_name(two))


def test_an_id_that_imitates_the_folder_of_another_does_not_get_it() -> None:
    taken = folder_name("CON")
    assert folder_name(taken) != taken


@given(st.text("aZ é葵😀/", min_size=70, max_size=200))
def test_a_long_id_is_cut(student: str) -> None:
    name = folder_name(student)
    assert len(name.encode()) <= 200
    assert folder_name(student + "x") != name


# What it is.


@pytest.mark.parametrize("student", ["0042", "anna", "anna.b@x.example", "s-1_2", "console", "a~b"])
def test_a_plain_id_is_its_own_folder(student: str) -> None:
    assert (folder_name(student) == student) == ("~" not in student)


def test_what_is_readable_is_kept() -> None:
    assert {student: folder_name(student).partition("~")[0] for student in READABLE} == READABLE
    # The mark is the same everywhere and always: folders that are handed out are found again.
    assert folder_name("Zoë") == folder_name("Zoe\u0308") == "zoë~479hwyd2qc"


READABLE = {
    "Anna": "anna",
    "Participant 430012": "participant-430012",
    "../Müller": "müller",
    "葵/1": "葵-1",
    "יעל": "יעל",
    "???": "id",
}


DEVICES = {"con", "prn", "aux", "nul", *(f"{d}{i}" for d in ("com", "lpt") for i in range(10))}


def assert_safe(name: str) -> None:
    assert name and name == name.strip(" .") and name[0] not in "~-."
    assert not set(name) & set('<>:"|?*/\\') and name.isprintable()
    assert name.split(".")[0] not in DEVICES
    assert PurePosixPath(name).parts == PureWindowsPath(name).parts == (name,)
    assert (Path("out") / name).resolve().parent == Path("out").resolve()
    assert len(name.encode()) < 200


def as_stored(name: str) -> str:
    """As a system stores it that knows neither capitals nor how an accent was typed."""
    return unicodedata.normalize("NFD", name).casefold()
