"""The matrix, and what follows from it."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bugkit.catalogue import Bug, Teach
from bugkit.diagnosis import diagnose, same_numbers
from bugkit.matrix import BROKEN, Cell, Detector, Matrix, Outcome, Status, broken_promises
from bugkit.subject import CORRECT_SUBJECT, Kind, Subject

NAMES = ("test_a", "test_b", "test_c", "test_d")
BACKSTOP = "test_backstop"


def detector(name: str) -> Detector:
    return Detector(
        id=name,
        label=name,
        story="",
        family="family",
        level=1,
        backstop=name == BACKSTOP,
        key=name[-1],
        node=name,
        digest=name,
    )


def bug(slug: str, killed_by: tuple[str, ...] = (), verdict: str = "bug") -> Bug:
    teach = Teach("s", "p", ("1", "2", "3", "4"), "e", "m")
    place = Path(slug)
    return Bug(slug, place, slug, "mask", 1, 1, verdict, "attention.py", (), killed_by, teach, ())


def mutant(slug: str, killed_by: tuple[str, ...] = (), kind: Kind = Kind.MUTANT) -> Subject:
    verdict = "innocent" if kind is Kind.INNOCENT else "bug"
    declared = None if kind is Kind.FILE else bug(slug, killed_by, verdict)
    return Subject(slug, kind, slug, Path(slug), declared)


def matrix(rows: Mapping[Subject, Mapping[str, Outcome]]) -> Matrix:
    """A matrix that passes where nothing else is said."""
    detectors = tuple(detector(name) for name in (*NAMES, BACKSTOP))
    cells = {
        (subject.id, d.id): Cell(row.get(d.id, Outcome.PASSED), "said")
        for subject, row in rows.items()
        for d in detectors
    }
    return Matrix(tuple(rows), detectors, cells, frozenset({*NAMES, BACKSTOP, "test_unselected"}))


FAILED = Outcome.FAILED


def test_a_backstop_alone_kills_nothing() -> None:
    subject = mutant("m")
    assert matrix({subject: {BACKSTOP: FAILED}}).status(subject) is Status.SURVIVED


@pytest.mark.parametrize("outcome", sorted(BROKEN))
def test_what_only_broke_was_not_judged(outcome: Outcome) -> None:
    subject = mutant("m")
    assert matrix({subject: {"test_a": outcome}}).status(subject) is Status.INVALID


def test_what_offers_nothing_was_not_judged() -> None:
    subject = mutant("f", kind=Kind.FILE)
    row: dict[str, Outcome] = dict.fromkeys((*NAMES, BACKSTOP), Outcome.NOT_OFFERED)
    assert matrix({subject: row}).status(subject) is Status.INVALID


def test_a_failure_counts_whatever_else_broke() -> None:
    subject = mutant("m")
    row = {"test_a": FAILED, "test_b": Outcome.CRASHED}
    assert matrix({subject: row}).status(subject) is Status.KILLED


def test_only_a_mutant_survives_by_passing() -> None:
    for kind, status in ((Kind.MUTANT, Status.SURVIVED), (Kind.INNOCENT, Status.GREEN)):
        subject = mutant("m", kind=kind)
        assert matrix({subject: {}}).status(subject) is status


def test_one_signature_is_shared_and_an_empty_one_is_not() -> None:
    one, two, other, none = mutant("one"), mutant("two"), mutant("other"), mutant("none")
    rows = {one: {"test_a": FAILED, BACKSTOP: FAILED}, two: {"test_a": FAILED}}
    shared = matrix({**rows, other: {"test_b": FAILED}, none: {}}).signature_shared_with
    assert shared == {"one": ("two",), "two": ("one",)}


def test_innocents_and_files_make_no_detector_busy() -> None:
    file, innocent = mutant("f", kind=Kind.FILE), mutant("i", kind=Kind.INNOCENT)
    table = matrix({file: {"test_a": FAILED}, innocent: {"test_b": FAILED}})
    assert table.idle == NAMES


@given(
    st.dictionaries(
        st.sampled_from([f"m{i}" for i in range(8)]),
        st.frozensets(st.sampled_from(NAMES)),
        max_size=8,
    )
)
def test_the_minimal_suite_kills_all_and_can_spare_nothing(
    signatures: dict[str, frozenset[str]],
) -> None:
    rows = {mutant(slug): dict.fromkeys(names, FAILED) for slug, names in signatures.items()}
    chosen = set(matrix(rows).minimal_suite)
    killed = [names for names in signatures.values() if names]
    assert all(names & chosen for names in killed)
    for spared in chosen:
        assert not all(names & (chosen - {spared}) for names in killed)


PROMISES = {
    "kept": (("test_a",), {"test_a": FAILED}, None),
    "kept, backstop aside": (("test_a",), {"test_a": FAILED, BACKSTOP: FAILED}, None),
    "one too many": (("test_a",), {"test_a": FAILED, "test_b": FAILED}, "test_b fails as well"),
    "one missing": (("test_a", "test_b"), {"test_a": FAILED}, "test_b does not fail"),
    "survived": (("test_a",), {}, "test_a does not fail"),
    "none given": ((), {"test_a": FAILED}, "promises no killer"),
    "broken": (("test_a",), {"test_b": Outcome.CRASHED}, "crashed in test_b: said"),
    "no such detector": (("test_a", "test_z"), {"test_a": FAILED}, "there is no such detector"),
    "not selected": (("test_a", "test_unselected"), {"test_a": FAILED}, None),
}


@pytest.mark.parametrize("name", PROMISES)
def test_promises(name: str) -> None:
    killed_by, row, said = PROMISES[name]
    broken = broken_promises(matrix({CORRECT_SUBJECT: {}, mutant("m", killed_by): row}))
    assert len(broken) == (said is not None)
    assert said is None or said in broken[0]


def test_an_accused_innocent_is_a_broken_promise_even_by_the_backstop() -> None:
    innocent = mutant("i", kind=Kind.INNOCENT)
    assert "accused by test_backstop" in broken_promises(matrix({innocent: {BACKSTOP: FAILED}}))[0]


def test_the_known_bug_is_found_by_its_whole_signature() -> None:
    known = [bug("one", ("test_a",)), bug("both", ("test_a", "test_b")), bug("i", (), "innocent")]
    stranger = mutant("f", kind=Kind.FILE)
    table = matrix({stranger: {"test_a": FAILED, "test_b": FAILED}})
    assert [b.slug for b in diagnose(table, stranger, known).exact] == ["both"]


def test_a_bug_is_no_more_than_near_while_one_of_its_properties_could_not_be_judged() -> None:
    known = [bug("one", ("test_a", "test_d"))]
    stranger = mutant("f", kind=Kind.FILE)
    table = matrix({stranger: {"test_a": FAILED, "test_d": Outcome.ERROR}})
    found = diagnose(table, stranger, known)
    assert found.exact == ()
    assert [b.slug for b in found.close] == ["one"]


def test_a_bug_is_found_in_what_offers_only_a_part() -> None:
    known = [bug("one", ("test_a", "test_d")), bug("other", ("test_d",))]
    stranger = mutant("f", kind=Kind.FILE)
    table = matrix({stranger: {"test_a": FAILED, "test_d": Outcome.NOT_OFFERED}})
    assert [b.slug for b in diagnose(table, stranger, known).exact] == ["one"]


def test_nothing_is_exact_while_anything_broke() -> None:
    known = [bug("one", ("test_a",))]
    stranger = mutant("f", kind=Kind.FILE)
    table = matrix({stranger: {"test_a": FAILED, "test_d": Outcome.TIMEOUT}})
    assert diagnose(table, stranger, known).exact == ()


def test_two_bugs_at_once_are_named_as_a_pair() -> None:
    known = [bug("one", ("test_a",)), bug("two", ("test_b", "test_c")), bug("no", ("test_d",))]
    stranger = mutant("f", kind=Kind.FILE)
    table = matrix({stranger: dict.fromkeys(("test_a", "test_b", "test_c"), FAILED)})
    found = diagnose(table, stranger, known)
    assert [(a.slug, b.slug) for a, b in found.pairs] == [("one", "two")]
    assert found.close == ()


NUMBERS = {
    "equal": ("got 1.5", "got 1.5", True),
    "rounding": ("expected 0, got 1.23456e-05", "expected 0, got 1.23457e-05", True),
    "nan": ("got nan", "got nan", True),
    "other number": ("got 1.5", "got 1.6", False),
    "other sign": ("got 1.5", "got -1.5", False),
    "other words": ("mean 1.5", "square 1.5", False),
    "more numbers": ("got 1.5", "got 1.5 2", False),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_same_numbers_means_the_same_words_and_numbers_but_for_rounding(name: str) -> None:
    one, other, same = NUMBERS[name]
    assert same_numbers({"test_a": one}, {"test_a": other}, ["test_a"]) is same


def test_a_near_signature_is_called_near_and_a_green_file_has_no_diagnosis() -> None:
    known = [bug("near", ("test_a", "test_b", "test_c")), bug("far", ("test_d",))]
    stranger = mutant("f", kind=Kind.FILE)
    found = diagnose(matrix({stranger: {"test_a": FAILED, "test_b": FAILED}}), stranger, known)
    assert found.exact == ()
    assert [b.slug for b in found.close] == ["near"]
    assert diagnose(matrix({stranger: {}}), stranger, known).exact == ()
