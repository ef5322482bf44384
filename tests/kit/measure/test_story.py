"""The story: says what was seen, gives nothing away, and cannot be commanded by a message."""

from dataclasses import replace
from typing import Any

import click
import pytest

from bugkit.measure.evidence import Evidence, Outcome
from bugkit.measure.plot import ASCII
from bugkit.measure.script import Stage
from bugkit.measure.settings import SEED_SPREAD, Setting
from bugkit.measure.story import compared, observed
from bugkit.measure.text import ENTROPY


def text(evidence: Evidence, correct: Evidence | None, width: int = 90) -> str:
    lines = observed(evidence, correct, width, ASCII)
    return click.unstyle("\n".join(lines))


def test_an_innocent_and_a_silent_bug_look_alike_until_they_are_compared(
    evidence: Evidence,
) -> None:
    innocent = replace(evidence, logits_difference=0.0)
    assert text(innocent, evidence) == text(evidence, evidence)
    assert list(compared(innocent, 90)) != list(compared(evidence, 90))


def test_a_message_is_shown_without_its_control_characters(evidence: Evidence) -> None:
    raised = replace(
        evidence,
        outcome=Outcome.RAISED,
        stage=Stage.TRAIN,
        message="ValueError: \x1b[2J\x07 wrong\nagain",
        sample="the \x1b[31mcat",
    )
    shown = text(raised, evidence)
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "It raises in training after 24 steps: ValueError: " in shown


ENDS: list[tuple[dict[str, Any], str]] = [
    ({"outcome": Outcome.TIMEOUT, "stage": Stage.GENERATE}, "It hangs while writing text"),
    ({"outcome": Outcome.CRASHED, "stage": Stage.IMPORT}, "It crashes when imported"),
    ({"outcome": Outcome.NOT_FINITE}, "infinite or no numbers"),
    ({"validation_loss": 0.625 + SEED_SPREAD / 2}, "Another seed alone can move such a loss"),
]


@pytest.mark.parametrize(("changes", "said"), ENDS)
def test_how_it_ended_is_said(changes: dict[str, Any], said: str, evidence: Evidence) -> None:
    assert said in text(replace(evidence, **changes), evidence)


def test_a_difference_that_is_seen_is_not_laid_on_the_seed(evidence: Evidence) -> None:
    worse = replace(evidence, validation_loss=0.625 + 2 * SEED_SPREAD)
    assert "Another seed" not in text(worse, evidence)


def test_losses_and_samples_stand_side_by_side(evidence: Evidence) -> None:
    other = replace(evidence, validation_loss=0.25, sample="the owl.")
    shown = text(evidence, other)
    assert "on other text     0.625     0.250" in shown
    assert "the cat. / the" in shown
    assert "the owl." in shown


def test_what_was_never_reached_is_a_dash(evidence: Evidence) -> None:
    broken = replace(
        evidence,
        outcome=Outcome.RAISED,
        stage=Stage.IMPORT,
        first_loss=None,
        losses=(),
        steps=0,
        train_loss=None,
        validation_loss=None,
        sample=None,
    )
    shown = text(broken, evidence)
    assert "step 1" not in shown
    assert "at the start          -     3.100" in shown
    assert "It writes" not in shown


def test_without_the_correct_evidence_only_this_is_shown(evidence: Evidence) -> None:
    shown = text(evidence, None)
    assert "correct" not in shown
    assert "0.625" in shown


def test_only_symbols_that_occur_are_explained(evidence: Evidence) -> None:
    assert "higher" not in text(evidence, evidence)
    assert "^ higher" in text(replace(evidence, losses=(2.5, 99.0, 99.0)), evidence)


def test_the_setting_is_said(evidence: Evidence) -> None:
    assert "rotary" not in text(evidence, None)
    assert "rotary" in text(replace(evidence, setting=Setting.MODERN), None)


@pytest.mark.parametrize("width", [40, 60, 90])
def test_lines_keep_the_width(width: int, evidence: Evidence) -> None:
    long = replace(
        evidence, outcome=Outcome.RAISED, stage=Stage.TRAIN, message="word " * 50, sample="o" * 120
    )
    assert max(map(len, text(long, evidence, width).splitlines())) <= width


def test_a_loss_that_cannot_be_earned_is_named_in_the_comparison_alone(
    evidence: Evidence,
) -> None:
    leaking = replace(evidence, validation_loss=ENTROPY / 2)
    said = "cannot be earned"
    assert said in "\n".join(compared(leaking, 90))
    assert said not in text(leaking, evidence)
    assert said not in "\n".join(compared(evidence, 90))
