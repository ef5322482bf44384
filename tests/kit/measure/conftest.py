"""Subjects that are trained in no time, and evidence that nobody had to measure."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bugkit.catalogue import load_bug
from bugkit.measure import store
from bugkit.measure.comparison import Maps, Pair
from bugkit.measure.evidence import Evidence, Outcome, to_json
from bugkit.measure.settings import Setting
from bugkit.places import CORRECT
from bugkit.subject import CORRECT_SUBJECT, Kind, Subject

EVIDENCE = Evidence(
    subject="means",
    digest="0123456789abcdef",
    setting=Setting.PLAIN,
    outcome=Outcome.FINISHED,
    stage=None,
    message="",
    first_loss=3.1,
    steps=24,
    losses=(2.5, 1.5, 0.75),
    train_loss=0.5,
    validation_loss=0.625,
    sample="the cat.\nthe",
    logits_difference=0.25,
    cached_difference=0.25,
    attention_difference=0.125,
    gradient_difference=0.0,
    attention=Maps(1, 0, ((1.0, 0.0), (0.25, 0.75)), ((1.0, 0.0), (0.5, 0.5))),
    sampled=Pair((0.75, 0.25), (0.5, 0.5)),
    by_position=Pair((0.0, 3.125), (0.0, 0.0)),
)

THREE_STEPS = """

def train(params, cfg, data, on_step, **options):
    for step in range(3):
        on_step(step, 3.0 - step)
    return params, [3.0, 2.0, 1.0]
"""


@pytest.fixture
def subject_with(make_bug: Callable[..., Path]) -> Callable[..., Subject]:
    """A mutant whose module is the correct one with something written below it. With `quick` (the
    default), that module is train.py and training takes three steps."""

    def subject_with(slug: str, below: str, file: str = "train.py", quick: bool = True) -> Subject:
        folder = make_bug(slug, {"file": file})
        source = (CORRECT / file).read_text(encoding="utf-8")
        steps = THREE_STEPS if quick and file == "train.py" else ""
        (folder / file).write_text(source + steps + below, encoding="utf-8")
        bug = load_bug(folder)
        return Subject(slug, Kind.MUTANT, bug.title, folder, bug)

    return subject_with


@pytest.fixture
def evidence() -> Evidence:
    """Some evidence, to be changed with `replace`."""
    return EVIDENCE


@pytest.fixture
def record() -> Callable[..., Path]:
    """Writes evidence for a subject: by default such as its sources of today would give."""

    def record(subject: Subject, setting: Setting, **changes: Any) -> Path:
        today = {
            "subject": subject.id,
            "setting": setting,
            "digest": store.digest_of(subject, setting),
        }
        path = store.place_of(subject, setting)
        text = to_json(replace(EVIDENCE, **{**today, **changes}))
        path.write_text(text, encoding="utf-8")
        return path

    return record


@pytest.fixture
def correct_evidence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record: Callable[..., Path]
) -> Path:
    """Another folder for the evidence of the correct GPT, which is up to date there."""
    folder = tmp_path / "measured"
    folder.mkdir()
    monkeypatch.setattr(store, "FOLDER", folder)
    for setting in Setting:
        record(CORRECT_SUBJECT, setting)
    return folder
