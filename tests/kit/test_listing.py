"""Listings: what is not known is not called silent, and showing a bug gives nothing away."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest

from bugkit.catalogue import Bug, load_bug
from bugkit.listing import as_json, as_table, by_silence, evidence
from bugkit.measure import store
from bugkit.measure.evidence import Evidence, Outcome, to_json
from bugkit.measure.plot import ASCII
from bugkit.measure.settings import Setting
from bugkit.measure.silence import Silence
from bugkit.subject import CORRECT_SUBJECT

LOUD, QUIET, BROKEN = (
    Silence(Outcome.FINISHED, -0.5),
    Silence(Outcome.FINISHED, 0.001),
    Silence(Outcome.RAISED),
)


@pytest.fixture
def bugs(make_bug: Callable[..., Path]) -> list[Bug]:
    slugs = ("a_unknown", "b_broken", "c_loud", "d_quiet")
    return [load_bug(make_bug(slug)) for slug in slugs]


SILENCES = {"a_unknown": Silence(), "b_broken": BROKEN, "c_loud": LOUD, "d_quiet": QUIET}


def recorded_for(bug: Bug, **changes: Any) -> Path:
    """Evidence such as the bug's sources of today would give."""
    known = Evidence(
        subject=bug.slug,
        digest=store.digest_of(store.mutant_of(bug), Setting.PLAIN),
        setting=Setting.PLAIN,
        outcome=Outcome.FINISHED,
        stage=None,
        message="",
        first_loss=3.1,
        steps=240,
        losses=(2.0, 1.0),
        train_loss=0.5,
        validation_loss=0.75,
        sample="the cat hears the owl.",
        logits_difference=0.25,
        cached_difference=0.25,
        attention_difference=0.125,
        gradient_difference=0.0,
    )
    path = bug.folder / "evidence.json"
    path.write_text(to_json(replace(known, **changes)), encoding="utf-8")
    return path


@pytest.fixture
def built(make_bug: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bug:
    """A bug that is built, with nothing recorded of it or of the correct GPT."""
    monkeypatch.setattr(store, "FOLDER", tmp_path)
    bug = load_bug(make_bug("means", {"file": "norm.py"}))
    shutil.copy(bug.original, bug.module)
    return bug


def shown(bug: Bug, key: bool = False) -> str:
    return click.unstyle(evidence(bug, key, ASCII))


def test_without_evidence_nothing_is_shown(built: Bug) -> None:
    assert shown(built) == shown(built, key=True) == ""


def test_damaged_evidence_is_one_line_that_names_the_file(built: Bug) -> None:
    (built.folder / "evidence.json").write_text("{", encoding="utf-8")
    (line,) = shown(built).splitlines()
    assert "evidence.json: not valid JSON" in line


def test_evidence_of_other_sources_says_so(built: Bug) -> None:
    recorded_for(built)
    assert "Sources have changed" not in shown(built)
    built.module.write_text("\n", encoding="utf-8")
    assert "Sources have changed" in shown(built)
    assert f"bugkit measure means --catalogue {built.folder.parent}" in shown(built)


def test_only_the_key_compares_with_the_correct_gpt(built: Bug) -> None:
    recorded_for(built)
    assert "Largest differences" not in shown(built)
    assert "Largest differences" in shown(built, key=True)
    assert built.title not in shown(built)


def test_the_correct_curve_is_shown_where_it_is_known(built: Bug) -> None:
    path = recorded_for(built)
    assert "correct GPT" not in shown(built)
    shutil.copy(path, store.place_of(CORRECT_SUBJECT, Setting.PLAIN))
    assert "The correct GPT writes" in shown(built)


def test_the_order_is_from_silent_to_loud_and_the_unknown_comes_last(bugs: list[Bug]) -> None:
    ordered = [bug.slug for bug in by_silence(bugs, SILENCES)]
    assert ordered == ["d_quiet", "c_loud", "b_broken", "a_unknown"]


def test_the_table_has_a_word_for_each(bugs: list[Bug]) -> None:
    header, *lines = as_table(bugs, SILENCES).splitlines()
    place = header.index("LOSS")
    words = [line[place:].split()[0] for line in lines[:4]]
    assert words == ["?", "raises", "-0.500", "+0.001"]
    assert as_table([], {}) == "No bug fits."


def test_the_json_has_a_number_or_null(bugs: list[Bug]) -> None:
    listed = json.loads(as_json(bugs, SILENCES))
    assert [bug["loss_difference"] for bug in listed["bugs"]] == [None, None, -0.5, 0.001]
    assert [bug["training"] for bug in listed["bugs"]] == [None, "raised", "finished", "finished"]
