"""The cache of cells: never a stale verdict, and never a reason to stop."""

import json
import shutil
from pathlib import Path

import pytest

from bugkit.cache import CellCache
from bugkit.catalogue import load_bug
from bugkit.matrix import Cell, Detector, Outcome
from bugkit.places import MUTANTS
from bugkit.subject import CORRECT_SUBJECT, Kind, Subject, subject_of


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CellCache:
    monkeypatch.setenv("BUGKIT_CACHE_DIR", str(tmp_path / "cells"))
    return CellCache()


def detector(digest: str) -> Detector:
    return Detector(digest, digest, "", "f", 1, False, "A1", digest, digest)


PASSED = Cell(Outcome.PASSED, "", 0.01)


def test_a_changed_mutant_is_not_answered_from_the_cache(cache: CellCache, tmp_path: Path) -> None:
    folder = tmp_path / "post_norm"
    shutil.copytree(MUTANTS / "post_norm", folder)
    subject = subject_of(load_bug(folder))
    cache.write(subject, {detector("d"): PASSED})
    assert cache.read(subject) == {"d": PASSED}
    module = folder / "block.py"
    module.write_text(module.read_text(encoding="utf-8") + "\n# changed\n", encoding="utf-8")
    assert cache.read(subject) == {}


def test_what_was_edited_while_it_ran_is_not_remembered(cache: CellCache, tmp_path: Path) -> None:
    folder = tmp_path / "post_norm"
    shutil.copytree(MUTANTS / "post_norm", folder)
    subject = subject_of(load_bug(folder))
    assert cache.read(subject) == {}
    module = folder / "block.py"
    old = module.read_text(encoding="utf-8")
    module.write_text(old + "\n# changed\n", encoding="utf-8")
    cache.write(subject, {detector("d"): PASSED})
    assert cache.read(subject) == {}
    module.write_text(old, encoding="utf-8")
    assert cache.read(subject) == {}


def test_a_stranger_is_never_cached(cache: CellCache, tmp_path: Path) -> None:
    # What it imports from elsewhere may change without notice.
    subject = Subject("my_gpt.py", Kind.FILE, "my_gpt.py", tmp_path / "my_gpt.py")
    cache.write(subject, {detector("d"): PASSED})
    assert cache.read(subject) == {}
    assert not cache.folder.exists()


@pytest.mark.parametrize("outcome", [Outcome.TIMEOUT, Outcome.CRASHED, Outcome.OUT_OF_MEMORY])
def test_what_depends_on_the_machine_is_not_cached(outcome: Outcome, cache: CellCache) -> None:
    cache.write(CORRECT_SUBJECT, {detector("d"): Cell(outcome), detector("e"): PASSED})
    assert cache.read(CORRECT_SUBJECT) == {"e": PASSED}


@pytest.mark.parametrize(
    "damage", ["", "{", "[]", '{"d": 1}', '{"d": ["no such outcome", "", 0]}', "\x00"]
)
def test_a_damaged_file_counts_as_empty(damage: str, cache: CellCache) -> None:
    cache.write(CORRECT_SUBJECT, {detector("d"): PASSED})
    next(cache.folder.iterdir()).write_text(damage, encoding="utf-8")
    assert cache.read(CORRECT_SUBJECT) == {}


def test_a_folder_that_cannot_be_made_is_no_reason_to_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("BUGKIT_CACHE_DIR", str(tmp_path / "file" / "cells"))
    CellCache().write(CORRECT_SUBJECT, {detector("d"): PASSED})
    assert CellCache().read(CORRECT_SUBJECT) == {}


def test_other_versions_have_other_files(cache: CellCache) -> None:
    cache.write(CORRECT_SUBJECT, {detector("d"): PASSED})
    cache.salt += "another version"
    assert cache.read(CORRECT_SUBJECT) == {}


def test_a_selection_does_not_forget_the_other_columns(cache: CellCache) -> None:
    cache.write(CORRECT_SUBJECT, {detector("d"): PASSED, detector("e"): PASSED})
    cache.write(CORRECT_SUBJECT, {detector("f"): PASSED})
    assert {"d", "e", "f"} <= set(cache.read(CORRECT_SUBJECT))


def test_the_file_is_plain_json(cache: CellCache) -> None:
    cache.write(CORRECT_SUBJECT, {detector("d"): Cell(Outcome.FAILED, "said", 0.5)})
    stored = json.loads(next(cache.folder.iterdir()).read_text(encoding="utf-8"))
    assert stored == {"d": ["failed", "said", 0.5]}
