"""The evidence of the catalogue: it is all there, of today's sources, and what it says is so."""

import json

import pytest
from click.testing import CliRunner

from bugkit.catalogue import Bug, load_catalogue
from bugkit.cli import cli
from bugkit.measure.evidence import Evidence, to_json
from bugkit.measure.settings import SEED_SPREAD, Setting, setting_of
from bugkit.measure.silence import silences
from bugkit.measure.store import is_current, mutant_of, place_of, recorded
from bugkit.measure.text import ENTROPY
from bugkit.subject import CORRECT_SUBJECT, Subject

BUGS = load_catalogue()

OTHER_DRAWS = ("masks_by_greater_than",)
"""Innocents that drop other values from the same seed: for training, that is another seed."""

SAME = 0.002
"""Nats by which rounding may move the loss of an equivalent program."""


def known(subject: Subject, setting: Setting) -> Evidence:
    found = recorded(subject, setting)
    assert found is not None, "not measured: bugkit measure"
    assert is_current(found, subject, setting), "sources have changed: bugkit measure"
    text = place_of(subject, setting).read_text(encoding="utf-8")
    assert to_json(found) == text
    return found


@pytest.mark.parametrize("bug", BUGS.values(), ids=BUGS)
def test_every_bug_has_evidence_of_todays_sources(bug: Bug) -> None:
    known(mutant_of(bug), setting_of(bug))


@pytest.mark.parametrize("setting", Setting)
def test_the_correct_gpt_comes_near_what_can_be_earned_and_not_below(setting: Setting) -> None:
    found = known(CORRECT_SUBJECT, setting)
    assert found.finished
    assert found.validation_loss is not None
    assert ENTROPY < found.validation_loss < 2 * ENTROPY


def test_an_innocent_is_silent() -> None:
    innocents = [bug for bug in BUGS.values() if bug.innocent]
    for slug, silence in silences(innocents).items():
        assert silence.difference is not None, slug
        limit = SEED_SPREAD if slug in OTHER_DRAWS else SAME
        assert abs(silence.difference) <= limit, slug


def test_the_list_runs_from_silent_to_loud() -> None:
    result = CliRunner().invoke(cli, ["list", "--sort", "silence", "--format", "json"])
    differences = [bug["loss_difference"] for bug in json.loads(result.stdout)["bugs"]]
    sizes = [abs(d) for d in differences if d is not None]
    assert len(sizes) > 50
    assert sizes == sorted(sizes)
    assert differences[len(sizes) :] == [None] * (len(differences) - len(sizes))
