"""Silence: what is not known is never taken for silent."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bugkit.measure.evidence import Evidence, Outcome
from bugkit.measure.settings import Setting
from bugkit.measure.silence import Silence, silence_of, silences
from bugkit.subject import CORRECT_SUBJECT, Subject


def test_nothing_known_is_not_silent(evidence: Evidence) -> None:
    assert silence_of(None, evidence) == Silence()
    assert silence_of(evidence, None) == Silence(Outcome.FINISHED)
    assert Silence().word == Silence(Outcome.FINISHED).word == "?"
    assert Silence().order > Silence(Outcome.FINISHED, 100.0).order


@pytest.mark.parametrize(
    ("outcome", "word"),
    [
        (Outcome.NOT_FINITE, "NaN"),
        (Outcome.RAISED, "raises"),
        (Outcome.TIMEOUT, "hangs"),
        (Outcome.CRASHED, "crashes"),
    ],
)
def test_what_does_not_finish_is_not_silent_however_small_its_loss(
    outcome: Outcome, word: str, evidence: Evidence
) -> None:
    silence = silence_of(replace(evidence, outcome=outcome), evidence)
    assert silence.word == word
    assert Silence(Outcome.FINISHED, 100.0).order < silence.order < Silence().order


def test_too_good_is_as_loud_as_too_bad(evidence: Evidence) -> None:
    better = silence_of(replace(evidence, validation_loss=0.125), evidence)
    worse = silence_of(replace(evidence, validation_loss=1.125), evidence)
    assert better.order == worse.order
    assert (better.word, worse.word) == ("-0.500", "+0.500")


def test_a_difference_has_the_digits_of_its_numbers(evidence: Evidence) -> None:
    ours, theirs = (replace(evidence, validation_loss=loss) for loss in (0.3286, 0.3287))
    assert silence_of(theirs, ours).difference == 0.0001
    assert silence_of(ours, theirs).word == "0.000"


@pytest.mark.usefixtures("correct_evidence")
def test_each_bug_is_compared_in_its_own_setting(
    subject_with: Callable[..., Subject], record: Callable[..., Path]
) -> None:
    record(CORRECT_SUBJECT, Setting.MODERN, validation_loss=0.25)
    old, new = subject_with("old_part", ""), subject_with("new_part", "")
    record(old, Setting.PLAIN)
    record(new, Setting.MODERN)
    bugs = [subject.bug for subject in (old, new) if subject.bug]
    found = silences(bugs)
    assert (found["old_part"].difference, found["new_part"].difference) == (0.0, 0.375)


@pytest.mark.usefixtures("correct_evidence")
def test_a_damaged_file_is_not_known(subject_with: Callable[..., Subject]) -> None:
    subject = subject_with("means", "")
    (subject.path / "evidence.json").write_text("{", encoding="utf-8")
    assert subject.bug is not None
    assert silences([subject.bug]) == {"means": Silence()}
