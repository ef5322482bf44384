"""What the tests of the kit share: private catalogues, and detectors as the tool runs them."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def plain_assertions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps this pytest from rewriting the assertions of detectors that are collected within it:
    the tool leaves them plain, and rewritten ones make a failing cell ten times as slow."""
    finders = [f for f in sys.meta_path if type(f).__name__ != "AssertionRewritingHook"]
    assert len(finders) < len(sys.meta_path)
    monkeypatch.setattr(sys, "meta_path", finders)


@pytest.fixture
def bug_table() -> Callable[[], dict[str, Any]]:
    """Gives a valid bug.toml as a new table each time: the mean is taken over the wrong axis."""

    def bug_table() -> dict[str, Any]:
        return {
            "title": "Means over time",
            "component": "norm",
            "level": 1,
            "difficulty": 2,
            "file": "norm.py",
            "inside": "standardise",
            "edit": [
                {
                    "find": "np.mean($X, axis=-1, keepdims=True)",
                    "replace": "np.mean($X, axis=-2, keepdims=True)",
                }
            ],
            "expect": {"killed_by": ["test_of_one_token", "test_of_features"]},
            "teach": {
                "symptom": "A longer text gets other numbers.",
                "predict": "Which numbers stay?",
                "hints": ["A question?", "A stage.", "What never changes.", "A region."],
                "explanation": "Tokens are mixed.",
                "misconception": "Every axis is alike.",
            },
            "source": [{"url": "https://example.org/1", "says": "Seen in a course."}],
        }

    return bug_table


@pytest.fixture
def write_bug(tmp_path: Path) -> Callable[[str, dict[str, Any]], Path]:
    """Writes a table as bug.toml of the catalogue `bugs` in tmp_path; gives the bug's folder."""

    def write_bug(slug: str, table: dict[str, Any]) -> Path:
        folder = tmp_path / "bugs" / slug
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "bug.toml").write_text(as_toml(table), encoding="utf-8")
        return folder

    return write_bug


@pytest.fixture
def make_bug(
    bug_table: Callable[[], dict[str, Any]], write_bug: Callable[[str, dict[str, Any]], Path]
) -> Callable[..., Path]:
    """Writes a valid bug with changes, such as {"teach.hints": []}; None takes a key away."""

    def make_bug(slug: str, changes: dict[str, Any] | None = None) -> Path:
        table = bug_table()
        change(table, changes or {})
        return write_bug(slug, table)

    return make_bug


def change(table: dict[str, Any], changes: dict[str, Any]) -> None:
    """Set values of a tree of tables and lists by their paths; None takes a key away."""
    for path, value in changes.items():
        *outer, last = [int(key) if key.isdigit() else key for key in path.split(".")]
        place: Any = table
        for key in outer:
            place = place[key]
        if value is None:
            del place[last]
        else:
            place[last] = value


def as_toml(table: dict[str, Any]) -> str:
    return "".join(f"{_toml(key)} = {_toml(value)}\n" for key, value in table.items())


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml(key)} = {_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, str):
        # The escapes of JSON are those of TOML, except for one character.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
    return json.dumps(value)
