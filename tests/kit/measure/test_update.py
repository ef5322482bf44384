"""What is measured, what is skipped, what is found out of date."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bugkit.measure import update
from bugkit.measure.evidence import Evidence, from_json
from bugkit.measure.run import Task
from bugkit.measure.settings import Setting
from bugkit.measure.store import place_of
from bugkit.measure.update import check, tasks_of
from bugkit.subject import CORRECT_SUBJECT, Subject

from .conftest import EVIDENCE, record

SubjectWith = Callable[..., Subject]


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The subjects that were trained; every training gives EVIDENCE."""
    names: list[str] = []

    def measure(tasks: list[Task], _jobs: int, _timeout: float) -> Any:
        for task in tasks:
            names.append(task.subject.id)
            yield task, evidence_for(task)

    monkeypatch.setattr(update, "measure", measure)
    return names


def evidence_for(task: Task) -> Evidence:
    return replace(EVIDENCE, subject=task.subject.id, digest=task.digest, setting=task.setting)


def faults(steps: Any) -> list[str]:
    return [fault for step in steps for fault in step.faults]


def test_only_what_is_missing_or_out_of_date_is_trained(
    subject_with: SubjectWith, correct_evidence: Path, trained: list[str]
) -> None:
    new, old, known = (subject_with(name, "") for name in ("new", "old", "known"))
    record(old, Setting.PLAIN, digest="of another day")
    record(known, Setting.PLAIN)
    steps = list(update.update(tasks_of([new, old, known]), 2, 60.0, force=False))
    assert sorted(trained) == ["new", "old"]
    assert [step.written for step in steps].count(True) == 2
    stored = from_json(place_of(new, Setting.PLAIN).read_text(encoding="utf-8"), "x")
    assert stored.subject == "new"
    trained.clear()
    list(update.update(tasks_of([new, old, known]), 2, 60.0, force=False))
    assert trained == []
    list(update.update(tasks_of([known]), 2, 60.0, force=True))
    assert sorted(trained) == ["correct", "known"]
    assert correct_evidence.is_dir()


def test_what_was_written_before_a_stop_is_kept(
    subject_with: SubjectWith,
    correct_evidence: Path,
    trained: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    del correct_evidence
    one, two = subject_with("one", ""), subject_with("two", "")

    def stopped(tasks: list[Task], _jobs: int, _timeout: float) -> Any:
        yield tasks[0], evidence_for(tasks[0])
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(update, "measure", stopped)
        with pytest.raises(KeyboardInterrupt):
            list(update.update(tasks_of([one, two]), 1, 60.0, force=False))
    list(update.update(tasks_of([one, two]), 1, 60.0, force=False))
    assert trained == ["two"]


def test_a_check_writes_nothing_and_finds_what_is_wrong(
    subject_with: SubjectWith, correct_evidence: Path, trained: list[str]
) -> None:
    del correct_evidence
    good, stale, missing, other = (
        subject_with(name, "") for name in ("good", "stale", "missing", "other")
    )
    record(good, Setting.PLAIN)
    record(stale, Setting.PLAIN, digest="of another day")
    record(other, Setting.PLAIN, validation_loss=0.7)
    before = {
        place: place.read_bytes()
        for s in (good, stale, other)
        if (place := place_of(s, Setting.PLAIN))
    }
    tasks = tasks_of([good, stale, missing, other])
    quick = faults(check(tasks, 2, 60.0, quick=True))
    assert trained == []
    assert [("out of date" in f, "is missing" in f) for f in quick] == [
        (True, False),
        (False, True),
    ]
    whole = faults(check(tasks, 2, 60.0, quick=False))
    assert any("other" in f and "validation_loss: 0.7 is recorded" in f for f in whole)
    assert not any("good" in fault for fault in whole)
    assert not place_of(missing, Setting.PLAIN).exists()
    assert before == {place: place.read_bytes() for place in before}


def test_a_mutant_is_out_of_date_when_its_source_or_the_correct_gpt_changes(
    subject_with: SubjectWith, correct_evidence: Path, trained: list[str]
) -> None:
    del correct_evidence, trained
    subject = subject_with("changing", "")
    record(subject, Setting.PLAIN)
    assert faults(check(tasks_of([subject]), 1, 60.0, quick=True)) == []
    assert subject.bug is not None
    subject.bug.module.write_text("changed = True\n", encoding="utf-8")
    (fault,) = faults(check(tasks_of([subject]), 1, 60.0, quick=True))
    assert "out of date" in fault


def test_the_correct_gpt_comes_first() -> None:
    assert [task.setting for task in tasks_of([CORRECT_SUBJECT])] == list(Setting)
