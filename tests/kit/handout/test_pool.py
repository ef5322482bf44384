"""How hard a bug is: by what finds it, and by what it shows."""

import pytest

from bugkit.catalogue import load_catalogue
from bugkit.handout.pool import Candidate, pool_of, score_of
from bugkit.measure.evidence import Outcome
from bugkit.measure.silence import Silence, silences

LOUD = Silence(Outcome.FINISHED, 5.0)


@pytest.mark.parametrize(
    ("detectors", "points"),
    [(0, 4), (1, 4), (2, 3), (3, 3), (4, 2), (7, 2), (8, 1), (15, 1), (16, 0), (100, 0)],
)
def test_the_fewer_detectors_find_a_bug_the_harder_it_is(detectors: int, points: int) -> None:
    assert score_of(detectors, LOUD) == points


@pytest.mark.parametrize(
    ("silence", "points"),
    [
        (Silence(Outcome.FINISHED, 0.0), 4),
        (Silence(Outcome.FINISHED, -0.000999), 4),
        (Silence(Outcome.FINISHED, 0.001), 3),
        (Silence(Outcome.FINISHED, -0.01), 2),
        (Silence(Outcome.FINISHED, 0.1), 1),
        (Silence(Outcome.FINISHED, -1.0), 0),
        (Silence(Outcome.NOT_FINITE), 0),
        (Silence(Outcome.RAISED), 0),
        (Silence(Outcome.TIMEOUT), 0),
        (Silence(Outcome.CRASHED), 0),
        (Silence(), 2),
        (Silence(Outcome.FINISHED), 2),
    ],
)
def test_the_less_training_shows_of_a_bug_the_harder_it_is(silence: Silence, points: int) -> None:
    assert score_of(16, silence) == points
    assert score_of(1, silence) == points + 4


def test_the_hand_set_difficulty_and_the_slug_only_break_ties() -> None:
    row = [
        Candidate("z", score=1, difficulty=5),
        Candidate("y", score=2, difficulty=1),
        Candidate("a", score=2, difficulty=3),
        Candidate("b", score=2, difficulty=3),
    ]
    assert sorted([row[i] for i in (2, 0, 3, 1)], key=lambda one: one.order) == row


def test_the_catalogue_has_easy_and_hard_bugs_and_keeps_its_innocents() -> None:
    catalogue = load_catalogue()
    pool = pool_of(catalogue.values(), silences(catalogue.values()))
    assert [one.slug for one in pool] == list(catalogue)
    assert {one.slug for one in pool if one.innocent} == {
        slug for slug, bug in catalogue.items() if bug.innocent
    }
    assert {0, 8} <= {one.score for one in pool if not one.innocent} <= set(range(9))
    without = pool_of(catalogue.values(), {})
    assert all(2 <= one.score <= 6 for one in without)
