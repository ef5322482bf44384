"""Stored evidence: that of other sources is never taken for today's."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bugkit.catalogue import load_bug
from bugkit.measure import script, store
from bugkit.measure.settings import Setting
from bugkit.measure.store import digest_of, is_current, mutant_of, place_of, recorded
from bugkit.problems import Problem
from bugkit.subject import CORRECT_SUBJECT, Subject

PLAIN, MODERN = Setting


@pytest.fixture
def subject(subject_with: Callable[..., Subject]) -> Subject:
    return subject_with("means", "")


def test_nothing_stored_is_nothing_known(subject: Subject) -> None:
    assert recorded(subject, PLAIN) is None


def test_a_damaged_file_is_a_problem(subject: Subject) -> None:
    place_of(subject, PLAIN).write_bytes(b"\xff{}")
    with pytest.raises(Problem, match=r"evidence\.json: not UTF-8"):
        recorded(subject, PLAIN)


def test_a_changed_mutant_makes_evidence_old(subject: Subject, record: Callable[..., Path]) -> None:
    record(subject, PLAIN)
    found = recorded(subject, PLAIN)
    assert found is not None
    assert is_current(found, subject, PLAIN)
    assert subject.bug is not None
    subject.bug.module.write_text("\n", encoding="utf-8")
    assert not is_current(found, subject, PLAIN)
    subject.bug.module.unlink()
    assert not is_current(found, subject, PLAIN)


def test_another_setting_makes_evidence_old(subject: Subject, record: Callable[..., Path]) -> None:
    record(subject, PLAIN)
    found = recorded(subject, PLAIN)
    assert found is not None
    assert not is_current(found, subject, MODERN)


def test_evidence_of_another_subject_is_not_this_ones(
    subject: Subject, record: Callable[..., Path]
) -> None:
    place = record(subject, PLAIN)
    text = place.read_text(encoding="utf-8")
    place.write_text(text.replace('"means"', '"means_copied"'), encoding="utf-8")
    found = recorded(subject, PLAIN)
    assert found is not None
    assert not is_current(found, subject, PLAIN)


def test_a_changed_script_makes_evidence_old(
    subject: Subject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = digest_of(subject, PLAIN)
    changed = tmp_path / "script.py"
    changed.write_bytes(Path(script.__file__).read_bytes() + b"\n")
    monkeypatch.setattr(script, "__file__", str(changed))
    store._measuring.cache_clear()
    assert digest_of(subject, PLAIN) != before
    monkeypatch.undo()
    store._measuring.cache_clear()
    assert digest_of(subject, PLAIN) == before


def test_texts_that_teach_do_not_make_evidence_old(
    make_bug: Callable[..., Path], subject_with: Callable[..., Subject]
) -> None:
    before = digest_of(subject_with("means", ""), PLAIN)
    folder = make_bug(
        "means",
        {
            "file": "train.py",
            "title": "Another",
            "difficulty": 5,
            "teach.symptom": "In other words.",
        },
    )
    assert digest_of(mutant_of(load_bug(folder)), PLAIN) == before


def test_every_piece_of_evidence_has_a_place_of_its_own(subject: Subject) -> None:
    assert place_of(subject, PLAIN) == subject.path / "evidence.json"
    places = {place_of(CORRECT_SUBJECT, setting) for setting in Setting}
    assert {place.name for place in places} == {"correct.plain.json", "correct.modern.json"}
