"""Updating: what is right is never measured again, what is wrong is never passed over."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from bugkit.measure import update as module
from bugkit.measure.evidence import Evidence, Outcome, from_json
from bugkit.measure.run import Task
from bugkit.measure.script import Stage
from bugkit.measure.settings import Setting
from bugkit.measure.store import place_of
from bugkit.measure.update import Step, check, tasks_of, update
from bugkit.places import shown
from bugkit.problems import ControlFailed
from bugkit.subject import CORRECT_SUBJECT, Subject

pytestmark = pytest.mark.usefixtures("correct_evidence")


class Measured:
    """Stands in for the processes: gives the same evidence for everything."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.asked: list[str] = []

    def __call__(
        self, tasks: Sequence[Task], _jobs: int, _timeout: float
    ) -> Iterator[tuple[Task, Evidence]]:
        for task in tasks:
            self.asked.append(task.subject.id)
            yield (
                task,
                replace(
                    self.evidence,
                    subject=task.subject.id,
                    digest=task.digest,
                    setting=task.setting,
                ),
            )


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch, evidence: Evidence) -> Measured:
    stand_in = Measured(evidence)
    monkeypatch.setattr(module, "measure", stand_in)
    return stand_in


@pytest.fixture
def subject(subject_with: Callable[..., Subject]) -> Subject:
    return subject_with("means", "")


def updated(*subjects: Subject, force: bool = False) -> list[Step]:
    return list(update(tasks_of(subjects), jobs=1, timeout=60.0, force=force))


def checked(*subjects: Subject, quick: bool = False) -> list[Step]:
    return list(check(tasks_of(subjects), jobs=1, timeout=60.0, quick=quick))


def faults(steps: list[Step]) -> list[str]:
    return [fault for step in steps for fault in step.faults]


def test_a_correct_gpt_that_does_not_train_stops_everything(
    subject: Subject, measured: Measured
) -> None:
    measured.evidence = replace(
        measured.evidence, outcome=Outcome.RAISED, stage=Stage.INIT, message="ValueError: no"
    )
    place_of(CORRECT_SUBJECT, Setting.PLAIN).unlink()
    with pytest.raises(ControlFailed, match=r"not train in the plain setting \(init: ValueErr"):
        updated(subject)
    assert not place_of(CORRECT_SUBJECT, Setting.PLAIN).exists()
    assert measured.asked == ["correct"]


def test_a_check_writes_nothing(subject: Subject, measured: Measured) -> None:
    measured.evidence = replace(measured.evidence, validation_loss=9.0)
    before = {
        path: path.read_bytes()
        for path in place_of(CORRECT_SUBJECT, Setting.PLAIN).parent.iterdir()
    }
    assert len(faults(checked(subject))) == 2
    assert not place_of(subject, Setting.PLAIN).exists()
    assert {path: path.read_bytes() for path in before} == before


def test_missing_old_and_damaged_evidence_is_a_fault_without_training(
    subject: Subject, measured: Measured, record: Callable[..., Path]
) -> None:
    place = place_of(subject, Setting.PLAIN)
    assert faults(checked(subject, quick=True)) == [f"{shown(place)}: is missing"]
    record(subject, Setting.PLAIN, digest="0" * 16)
    (fault,) = faults(checked(subject, quick=True))
    assert "is out of date" in fault
    place.write_text("{", encoding="utf-8")
    (fault,) = faults(checked(subject, quick=True))
    assert "not valid JSON" in fault
    assert measured.asked == []
    # Without `quick`, only what could be confirmed is trained.
    assert len(faults(checked(subject))) == 1
    assert measured.asked == ["correct"]


@pytest.mark.usefixtures("measured")
def test_a_check_that_is_quick_believes_what_is_recorded(
    subject: Subject, record: Callable[..., Path]
) -> None:
    record(subject, Setting.PLAIN, validation_loss=0.1)
    assert faults(checked(subject, quick=True)) == []
    (fault,) = faults(checked(subject))
    assert fault.endswith("evidence.json: validation_loss: 0.1 is recorded, 0.625 was measured")


def test_what_is_up_to_date_is_measured_only_by_force(
    subject: Subject, measured: Measured, record: Callable[..., Path]
) -> None:
    place = record(subject, Setting.PLAIN)
    before = place.stat().st_mtime_ns
    assert [step.written for step in updated(subject)] == [False, False]
    assert place.stat().st_mtime_ns == before
    assert measured.asked == []
    assert all(step.written for step in updated(subject, force=True))
    assert measured.asked == ["correct", "means"]


@pytest.mark.usefixtures("measured")
def test_damaged_and_old_evidence_is_made_anew(
    subject: Subject, record: Callable[..., Path]
) -> None:
    place = place_of(subject, Setting.PLAIN)
    for text in ("{", record(subject, Setting.PLAIN, digest="").read_text(encoding="utf-8")):
        place.write_text(text, encoding="utf-8")
        assert faults(updated(subject)) == []
        assert faults(checked(subject)) == []
    found = from_json(place.read_text(encoding="utf-8"), "")
    assert found.subject == "means"


@pytest.mark.usefixtures("measured")
def test_a_place_that_is_a_folder_is_one_fault_and_the_rest_is_measured(
    subject_with: Callable[..., Subject],
) -> None:
    first, second = subject_with("a_first", ""), subject_with("b_second", "")
    place_of(first, Setting.PLAIN).mkdir()
    (fault,) = faults(updated(first, second))
    assert "a_first/evidence.json: is a folder" in fault.replace("\\", "/")
    assert place_of(second, Setting.PLAIN).is_file()


def test_a_folder_that_cannot_be_written_to_is_found_before_training(
    subject: Subject, measured: Measured, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Whoever is root may write everywhere, whatever the mode of a folder.
    monkeypatch.setattr("os.access", lambda path, _mode: Path(path) != subject.path)
    (fault,) = faults(updated(subject))
    assert "cannot be written" in fault
    assert measured.asked == []


def test_sources_that_change_meanwhile_give_no_evidence(
    subject: Subject, evidence: Evidence, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Changing(Measured):
        def __call__(
            self, tasks: Sequence[Task], _jobs: int, _timeout: float
        ) -> Iterator[tuple[Task, Evidence]]:
            for measured in super().__call__(tasks, _jobs, _timeout):
                assert subject.bug is not None
                subject.bug.module.write_text("\n", encoding="utf-8")
                yield measured

    monkeypatch.setattr(module, "measure", Changing(evidence))
    (fault,) = faults(updated(subject))
    assert "sources changed meanwhile" in fault
    assert not place_of(subject, Setting.PLAIN).exists()


def test_the_correct_gpt_comes_first_and_in_the_settings_that_are_needed(
    subject: Subject,
) -> None:
    def named(*subjects: Subject) -> list[tuple[str, str]]:
        return [(task.subject.id, task.setting) for task in tasks_of(subjects)]

    assert named(subject) == [("correct", "plain"), ("means", "plain")]
    assert named(CORRECT_SUBJECT) == [("correct", "plain"), ("correct", "modern")]
    assert named(subject, CORRECT_SUBJECT) == [*named(CORRECT_SUBJECT), ("means", "plain")]
