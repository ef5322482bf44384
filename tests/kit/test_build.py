"""Building: a fault stops one bug and touches nothing; what is right is written once."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bugkit.build import Built, build
from bugkit.catalogue import load_bug, load_catalogue
from bugkit.edits import mutate
from bugkit.places import shown
from bugkit.subject import find_subject

MakeBug = Callable[..., Path]

NO_MATCH = {"edit.0.find": "np.median($X)"}
A_TELL = {"edit.0.replace": "np.mean( $X, axis=-2, keepdims=True )"}
NO_CHANGE = {"edit.0.replace": "np.mean($X, axis=-1, keepdims=True)"}
NO_CODE = {"inside": None, "edit.0.find": "import numpy as np", "edit.0.replace": "return"}

FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "no match": (NO_MATCH, "edit 1 in norm.py, standardise: 'np.median($X)' matches 0 times"),
    "a tell": (A_TELL, "the formatter would change it: "),
    "no change": (NO_CHANGE, "the edits change nothing"),
    "does not compile": (NO_CODE, "edit 1 in norm.py: "),
}


def build_one(folder: Path, check: bool = False) -> Built:
    (built,) = build([load_bug(folder)], check)
    return built


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    """What is in a folder, and when it was written."""
    return {p.name: (p.read_bytes(), p.stat().st_mtime_ns) for p in folder.iterdir()}


# What must not happen.


@pytest.mark.parametrize(("changes", "fault"), FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize("old", ["x = 1\n", None], ids=["old module", "no module"])
def test_a_faulty_bug_leaves_its_folder_as_it_was(
    make_bug: MakeBug, changes: dict[str, Any], fault: str, old: str | None
) -> None:
    folder = make_bug("means", changes)
    if old:
        (folder / "norm.py").write_text(old, encoding="utf-8")
        (folder / "stray.py").write_text(old, encoding="utf-8")
    before = contents(folder)
    built = build_one(folder)
    assert contents(folder) == before
    assert not built.changed
    (message,) = built.faults
    assert message.startswith(f"{shown(folder / 'bug.toml')}: ")
    assert fault in message


def test_every_tell_is_a_fault_of_its_own(make_bug: MakeBug) -> None:
    folder = make_bug("means", {"edit.0.replace": "np.mean($X,axis=-2)  # a bug"})
    faults = build_one(folder).faults
    assert len(faults) == 3  # formatter, comment, word
    assert all(fault.startswith(f"{shown(folder / 'bug.toml')}: ") for fault in faults)


def test_one_faulty_bug_does_not_stop_the_others(make_bug: MakeBug) -> None:
    make_bug("a_good")
    for number, (changes, _) in enumerate(FAULTS.values()):
        make_bug(f"b_faulty_{number}", changes)
    folder = make_bug("c_good")
    results = list(build(load_catalogue([folder.parent]).values(), check=False))
    assert [bool(built.faults) for built in results] == [False, *[True] * len(FAULTS), False]
    assert [built.changed for built in results] == [True, *[False] * len(FAULTS), True]
    assert (folder / "norm.py").is_file()


def test_a_folder_in_the_place_of_the_module_is_a_fault_of_that_bug_alone(
    make_bug: MakeBug,
) -> None:
    (make_bug("a_faulty") / "norm.py").mkdir()
    folder = make_bug("b_good")
    faulty, good = build(load_catalogue([folder.parent]).values(), check=False)
    assert "norm.py: is a folder" in faulty.faults[0]
    assert (good.changed, good.faults) == (True, ())


def test_an_old_module_that_is_no_text_is_written_anew(make_bug: MakeBug) -> None:
    folder = make_bug("means")
    (folder / "norm.py").write_bytes(b"\xff\xfe\x00")
    assert build_one(folder) == Built(load_bug(folder), changed=True, faults=())
    assert (folder / "norm.py").read_bytes() == mutate(load_bug(folder)).encode()


@pytest.mark.parametrize("old", ["x = 1\n", "", None], ids=["another", "empty", "missing"])
def test_a_check_reports_and_writes_nothing(make_bug: MakeBug, old: str | None) -> None:
    folder = make_bug("means")
    if old is not None:
        (folder / "norm.py").write_text(old, encoding="utf-8")
    before = contents(folder)
    built = build_one(folder, check=True)
    assert (built.changed, built.faults) == (True, ())
    assert contents(folder) == before


def test_a_check_reports_a_stray_module_and_leaves_it(make_bug: MakeBug) -> None:
    folder = make_bug("means")
    build_one(folder)
    (folder / "attention.py").touch()
    assert build_one(folder, check=True).changed
    assert (folder / "attention.py").exists()


def test_a_module_that_is_right_is_not_written_again(make_bug: MakeBug) -> None:
    folder = make_bug("means")
    build_one(folder)
    before = contents(folder)
    assert not build_one(folder).changed
    assert contents(folder) == before


# What is made.


def test_the_module_is_written_as_the_edits_make_it(make_bug: MakeBug) -> None:
    folder = make_bug("means")
    bug = load_bug(folder)
    assert build_one(folder) == Built(bug, changed=True, faults=())
    assert (folder / "norm.py").read_bytes() == mutate(bug).encode()
    assert set(contents(folder)) == {"bug.toml", "norm.py"}
    assert not build_one(folder, check=True).changed
    assert find_subject("means", {"means": bug}).path == folder


def test_an_old_module_is_replaced(make_bug: MakeBug) -> None:
    folder = make_bug("means")
    build_one(folder)
    make_bug("means", {"edit.0.replace": "np.mean($X, axis=0, keepdims=True)"})
    assert build_one(folder, check=True).changed
    assert build_one(folder).changed
    assert "axis=0" in (folder / "norm.py").read_text(encoding="utf-8")


def test_the_module_of_another_file_is_taken_away(make_bug: MakeBug) -> None:
    folder = make_bug("means")
    (folder / "attention.py").touch()
    (folder / "notes.txt").touch()
    assert build_one(folder).changed
    assert set(contents(folder)) == {"bug.toml", "norm.py", "notes.txt"}


def test_bugs_are_built_in_the_order_in_which_they_are_given(make_bug: MakeBug) -> None:
    bugs = [load_bug(make_bug(slug)) for slug in ("b", "a", "c")]
    assert [built.bug.slug for built in build(bugs, check=True)] == ["b", "a", "c"]


def test_nothing_to_build_is_nothing() -> None:
    assert list(build([], check=False)) == []
