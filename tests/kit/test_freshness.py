"""Is a generated module what its declaration makes? A stale one must never be judged."""

import shutil
from pathlib import Path

import pytest

from bugkit import freshness
from bugkit.catalogue import Bug, load_bug
from bugkit.freshness import is_current
from bugkit.places import MUTANTS


@pytest.fixture
def bug(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bug:
    monkeypatch.setenv("BUGKIT_CACHE_DIR", str(tmp_path / "cache"))
    freshness._remembered.cache_clear()
    folder = tmp_path / "post_norm"
    shutil.copytree(MUTANTS / "post_norm", folder)
    return load_bug(folder)


def test_a_module_edited_by_hand_is_not_current(bug: Bug) -> None:
    assert is_current(bug)
    bug.module.write_text(bug.module.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert not is_current(bug)


def test_a_changed_declaration_makes_the_module_stale(bug: Bug) -> None:
    assert is_current(bug)
    path = bug.folder / "bug.toml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("layer_norm(x + dropout", "layer_norm(x - dropout"))
    assert not is_current(load_bug(bug.folder))


def test_what_was_right_is_remembered_by_content(
    bug: Bug, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert is_current(bug)
    freshness._remembered.cache_clear()  # as in a new process
    monkeypatch.setattr(freshness, "mutate", None)  # to be made again would fail now
    assert is_current(bug)
    assert (tmp_path / "cache" / "current.txt").is_file()


@pytest.mark.parametrize("damage", [b"", b"\xff\xfe", b"nonsense\n"])
def test_a_damaged_store_is_no_reason_to_stop(damage: bytes, bug: Bug, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "current.txt").write_bytes(damage)
    assert is_current(bug)


def test_a_store_that_cannot_be_written_is_no_reason_to_stop(
    bug: Bug, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("BUGKIT_CACHE_DIR", str(tmp_path / "file" / "cache"))
    assert is_current(bug)
