"""Variants: no student's depends on another, no bug is favoured, nobody gets only hard ones."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bugkit.handout.pool import Candidate
from bugkit.handout.secret import SIZE, Secret
from bugkit.handout.variant import variant_of
from bugkit.problems import Problem

SECRET = Secret(bytes(range(SIZE)))
IDS = st.text(st.characters(exclude_categories=["Cs"]))


def pool_with(bugs: int, innocents: int = 0) -> list[Candidate]:
    """Bugs b00, b01 ... from easy to hard, three of each score, and innocents i00, i01 ..."""
    return [Candidate(f"b{i:02}", score=i // 3) for i in range(bugs)] + [
        Candidate(f"i{i:02}", innocent=True) for i in range(innocents)
    ]


def variants(
    students: int, pool: list[Candidate], per_student: int = 1, share: float = 0.0
) -> list[tuple[str, ...]]:
    return [
        variant_of(SECRET, "hunt-1", str(student), pool, per_student, share)
        for student in range(students)
    ]


def too_uneven(counts: Iterable[int], chance: float, trials: int) -> bool:
    """Whether one of them is four standard deviations off. The secret is fixed: no game of luck."""
    allowed = 4 * (trials * chance * (1 - chance)) ** 0.5
    return any(abs(count - trials * chance) > allowed for count in counts)


# What must not happen.


@pytest.mark.parametrize(
    ("bugs", "innocents", "per_student", "share", "told"),
    [
        (0, 9, 1, 0.0, "the pool holds 0 bugs, and a student may get 1"),
        (2, 9, 3, 0.5, "the pool holds 2 bugs, and a student may get 3"),
        (9, 0, 1, 0.1, "the pool holds 0 innocents, and a student may get 1"),
        (9, 1, 2, 1.0, "the pool holds 1 innocent, and a student may get 2"),
    ],
)
def test_too_small_a_pool_is_a_problem(
    bugs: int, innocents: int, per_student: int, share: float, told: str
) -> None:
    with pytest.raises(Problem) as caught:
        variant_of(SECRET, "hunt-1", "1", pool_with(bugs, innocents), per_student, share)
    assert str(caught.value).startswith(told) and "select more" in str(caught.value)


@pytest.mark.parametrize(("per_student", "share"), [(0, 0.0), (1, -0.1), (1, 1.1)])
def test_numbers_without_sense_are_refused(per_student: int, share: float) -> None:
    with pytest.raises(ValueError, match=r"at least one entry|no share"):
        variant_of(SECRET, "hunt-1", "1", pool_with(5, 5), per_student, share)


@given(IDS, st.permutations(pool_with(7, 4)), st.integers(1, 4), st.sampled_from([0, 0.5, 1]))
def test_the_order_of_the_pool_does_not_matter_nor_an_entry_given_twice(
    student: str, pool: list[Candidate], per_student: int, share: float
) -> None:
    drawn = variant_of(SECRET, "hunt-1", student, pool_with(7, 4), per_student, share)
    assert variant_of(SECRET, "hunt-1", student, pool, per_student, share) == drawn
    assert variant_of(SECRET, "hunt-1", student, pool + pool[:3], per_student, share) == drawn


@given(IDS, st.integers(1, 4), st.floats(0, 1))
def test_no_entry_comes_twice_and_none_from_elsewhere(
    student: str, per_student: int, share: float
) -> None:
    pool = pool_with(5, 4)
    drawn = variant_of(SECRET, "hunt-1", student, pool, per_student, share)
    assert len(set(drawn)) == len(drawn) == per_student
    assert set(drawn) <= {one.slug for one in pool}


@pytest.mark.parametrize(("bugs", "per_student"), [(7, 1), (7, 2), (7, 3), (7, 7), (20, 3)])
def test_no_bug_is_favoured_even_where_the_pool_does_not_divide(
    bugs: int, per_student: int
) -> None:
    counts = Counter(s for v in variants(3000, pool_with(bugs), per_student) for s in v)
    assert len(counts) == bugs
    assert not too_uneven(counts.values(), per_student / bugs, 3000)


def test_the_bound_would_catch_strata_of_unequal_size() -> None:
    # Of 7 bugs, 3 and 4 in a stratum: those of the smaller one would come a third more often.
    assert too_uneven([1000, 1000, 1000, 750, 750, 750, 750], 2 / 7, 3000)


@pytest.mark.parametrize("per_student", [2, 3, 4])
def test_nobody_gets_only_easy_or_only_hard_bugs(per_student: int) -> None:
    bugs = 12
    size = bugs // per_student
    for drawn in variants(200, pool_with(bugs), per_student):
        assert sorted(int(slug[1:]) // size for slug in drawn) == list(range(per_student))


def test_where_odd_ones_sit_out_entries_are_still_far_apart() -> None:
    # 11 bugs, 3 entries: strata of 3 and two odd ones, so the k-th entry is near the k-th third.
    for drawn in variants(200, pool_with(11), 3):
        first, second, third = sorted(int(slug[1:]) for slug in drawn)
        assert first <= 4 and 3 <= second <= 7 and third >= 6


def test_the_order_says_nothing_about_difficulty() -> None:
    first = sum(v == tuple(sorted(v)) for v in variants(1500, pool_with(10), 2))
    assert not too_uneven([first], 1 / 2, 1500)


def test_two_students_draw_on_their_own() -> None:
    drawn = [v[0] for v in variants(3000, pool_with(5))]
    pairs = Counter(pairwise(drawn))
    assert len(pairs) == 25
    assert not too_uneven(pairs.values(), 1 / 25, 2999)


def test_an_innocent_in_the_pool_changes_no_bug_and_a_share_no_other_entry() -> None:
    pool = pool_with(9)
    for student in map(str, range(60)):
        plain = variant_of(SECRET, "hunt-1", student, pool, 3)
        assert variant_of(SECRET, "hunt-1", student, [*pool, *pool_with(0, 5)], 3) == plain
        mixed = variant_of(SECRET, "hunt-1", student, pool_with(9, 5), 3, 0.4)
        assert all(
            now in (was, *(f"i{i:02}" for i in range(5)))
            for was, now in zip(plain, mixed, strict=True)
        )


# What it is.


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_each_entry_is_an_innocent_with_this_probability(share: float) -> None:
    drawn = variants(1000, pool_with(8, 6), 3, share)
    for place in range(3):
        assert not too_uneven([sum(v[place][0] == "i" for v in drawn)], share, 1000)
    counts = Counter(slug for v in drawn for slug in v)
    assert not too_uneven((counts[f"b{i:02}"] for i in range(8)), 3 / 8 * (1 - share), 1000)
    assert not too_uneven((counts[f"i{i:02}"] for i in range(6)), 3 / 6 * share, 1000)


def test_a_pool_of_innocents_will_do_where_all_are_innocent() -> None:
    drawn = variant_of(SECRET, "hunt-1", "1", pool_with(0, 2), 2, 1.0)
    assert sorted(drawn) == ["i00", "i01"]


def test_another_secret_or_assignment_gives_other_variants() -> None:
    students = [str(number) for number in range(40)]
    pool = pool_with(20)

    def all_of(secret: Secret, assignment: str) -> list[tuple[str, ...]]:
        return [variant_of(secret, assignment, student, pool) for student in students]

    usual = all_of(SECRET, "hunt-1")
    for other in (all_of(Secret(bytes(SIZE)), "hunt-1"), all_of(SECRET, "hunt-2")):
        # One in twenty is the same by chance.
        assert sum(a == b for a, b in zip(usual, other, strict=True)) < 12


GOLDEN = """\
b03 i03 i00
i02 b12 i00
i03 b17 b11
"""
PROGRAM = """
from bugkit.handout.pool import Candidate
from bugkit.handout.secret import Secret
from bugkit.handout.variant import variant_of
pool = {Candidate(f"b{i:02}", score=i // 3) for i in range(20)}
pool |= {Candidate(f"i{i:02}", innocent=True) for i in range(5)}
secret = Secret(bytes(range(32)))
for student in ("0042", "Zoë", "group red"):
    print(*variant_of(secret, "hunt-1", student, pool, 3, 0.25))
"""


@pytest.mark.parametrize("seed", ["0", "1"])
def test_variants_are_the_same_everywhere_and_always(seed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == GOLDEN
