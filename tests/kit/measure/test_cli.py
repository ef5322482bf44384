"""The commands that measure and show evidence, as a user meets them."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bugkit import exits
from bugkit.catalogue import load_catalogue
from bugkit.cli import cli
from bugkit.measure.evidence import Outcome
from bugkit.measure.silence import Silence, silence_of, silences

from .conftest import EVIDENCE


def run(*arguments: str, **environment: str) -> Result:
    return CliRunner().invoke(cli, arguments, env=environment, color=True)


def test_an_unknown_slug_is_named() -> None:
    result = run("measure", "no_such_bug")
    assert result.exit_code == exits.WRONG_USE
    assert "no bug is called no_such_bug" in result.output


@pytest.mark.parametrize("options", [["--quick"], ["--force", "--check"]])
def test_options_that_contradict_each_other_are_refused(options: list[str]) -> None:
    result = run("measure", "no_causal_mask", *options)
    assert result.exit_code == exits.WRONG_USE
    assert "Traceback" not in result.output


def test_the_evidence_of_the_catalogue_is_up_to_date() -> None:
    result = run("measure", "--check", "--quick")
    assert result.exit_code == exits.FINE, result.output


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="a folder no one may write to")
def test_a_folder_that_cannot_be_written_is_told_before_anything_is_trained(
    tmp_path: Path,
) -> None:
    assert run("new", "mine", "--catalogue", str(tmp_path)).exit_code == exits.FINE
    (tmp_path / "mine").chmod(0o500)
    result = run("measure", "mine", "--catalogue", str(tmp_path))
    (tmp_path / "mine").chmod(0o700)
    assert result.exit_code != exits.FINE
    assert "Traceback" not in result.output


def test_show_draws_the_curves_and_spoils_nothing() -> None:
    text = run("show", "gelu_by_sigmoid", COLUMNS="60").output
    assert "In training" in text
    assert "Largest differences" not in text
    assert max(map(len, text.splitlines())) <= 60
    assert "Largest differences" in run("show", "gelu_by_sigmoid", "--key").output


def test_no_colour_is_needed() -> None:
    assert "\x1b" not in run("show", "no_causal_mask", NO_COLOR="1").output


def test_list_sorts_by_silence() -> None:
    rows = json.loads(run("list", "--sort", "silence", "--format", "json").output)
    rows = rows["bugs"] if isinstance(rows, dict) else rows
    known = [abs(row["loss_difference"]) for row in rows if row["loss_difference"] is not None]
    assert known == sorted(known)
    assert len(known) > 50
    last = [row["loss_difference"] is None for row in rows]
    assert last == sorted(last)


def test_an_innocent_is_silent() -> None:
    bugs = load_catalogue().values()
    found = silences(bugs)
    for bug in bugs:
        if bug.innocent and bug.slug not in OTHER_DRAWS:
            assert found[bug.slug].difference == pytest.approx(0.0, abs=0.002), bug.slug


OTHER_DRAWS = ("masks_by_greater_than",)
"""Innocents that drop other values from the same seed, so that training takes another course."""


def test_silence_in_words() -> None:
    assert silence_of(None, EVIDENCE).word == "?"
    assert silence_of(EVIDENCE, EVIDENCE).word == "0.000"
    assert Silence(Outcome.FINISHED, 0.25).word == "+0.250"
    assert Silence(Outcome.FINISHED, -0.0001).word == "0.000"
    assert Silence(Outcome.NOT_FINITE).word == "NaN"
    orders = [Silence(Outcome.FINISHED, d).order for d in (0.0, -0.1, 0.2)]
    assert orders == sorted(orders) < [Silence(Outcome.RAISED).order, Silence().order]
