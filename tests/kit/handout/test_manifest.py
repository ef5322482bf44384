"""The record of what was handed out: nothing but what bugkit wrote is taken for it."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bugkit.disguise import Level
from bugkit.handout.manifest import (
    NAME,
    Manifest,
    read,
    require_known,
    require_same,
    write,
)
from bugkit.handout.pool import Candidate
from bugkit.handout.roster import Student
from bugkit.handout.secret import fingerprint
from bugkit.handout.terms import Texts
from bugkit.problems import Problem
from bugkit.worksheet.forms import Form

from .asking import OTHER_SECRET, POOL, SECRET, TERMS

RICH = Manifest(
    fingerprint(SECRET),
    replace(
        TERMS,
        assignment="Übung „1“",
        per_student=2,
        innocent_share=0.25,
        group_by="Groups",
        disguise=Level.LIGHT,
        worksheet=Form.IPYNB,
        texts=Texts.HINTS,
        visible=("test_one", "test_two"),
        pool=(*POOL, Candidate("qkv_sliced", True, 8, 1)),
    ),
    (Student("007", 'Seán "S" Neill', None, 0), Student("=1+1", "", "owls, larks", 0)),
)

KEYS = (
    *("version", "assignment", "secret", "per_student", "innocent_share", "group_by"),
    *("disguise", "worksheet", "texts", "visible", "pool", "students"),
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    keys = tmp_path / "keys"
    keys.mkdir()
    write(keys, RICH)
    return keys


@pytest.fixture
def content(folder: Path) -> dict[str, Any]:
    """Of the file."""
    loaded = json.loads((folder / NAME).read_text(encoding="utf-8"))
    assert isinstance(loaded, dict)
    return loaded


def save(folder: Path, content: dict[str, Any]) -> None:
    (folder / NAME).write_text(json.dumps(content), encoding="utf-8")


def told(folder: Path) -> str:
    """Why it cannot be read."""
    with pytest.raises(Problem) as caught:
        read(folder)
    message = str(caught.value)
    assert message.startswith(f"keys{os.sep}{NAME}: ")
    assert "\n" not in message
    assert "hand out to another folder with --out" in message
    return message


# What must not happen.


@pytest.mark.parametrize("text", ["", "no", "{", "[]", "null", '"text"', "[" * 100_000])
def test_what_is_no_manifest_is_not_read_as_one(folder: Path, text: str) -> None:
    (folder / NAME).write_text(text, encoding="utf-8")
    assert "not as bugkit wrote it: " in told(folder)


@pytest.mark.parametrize("part", [0.1, 0.5, 0.99])
def test_a_manifest_that_was_cut_off_is_told_with_a_line(folder: Path, part: float) -> None:
    text = (folder / NAME).read_text(encoding="utf-8")
    (folder / NAME).write_text(text[: int(part * len(text))], encoding="utf-8")
    assert ": line " in told(folder)


@pytest.mark.parametrize("version", [0, 2, "1", None, 1.5])
def test_another_version_is_told_as_such(
    folder: Path, content: dict[str, Any], version: object
) -> None:
    save(folder, content | {"version": version})
    assert f"has the version {version!r}, and this bugkit reads version 1" in told(folder)


@pytest.mark.parametrize("key", KEYS)
def test_a_key_that_is_missing_is_named(folder: Path, content: dict[str, Any], key: str) -> None:
    del content[key]
    save(folder, content)
    assert f"'{key}' is missing" in told(folder)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("assignment", 1),
        ("secret", None),
        ("per_student", "2"),
        ("per_student", True),
        ("per_student", 0),
        ("innocent_share", "0.25"),
        ("innocent_share", 1.5),
        ("innocent_share", float("nan")),
        ("group_by", 3),
        ("visible", "test_one"),
        ("visible.0", 1),
        ("pool", {}),
        ("pool.0", "post_norm"),
        ("pool.0", ["post_norm"]),
        ("pool.0.0", 1),
        ("pool.0.1", 0),
        ("pool.0.2", "3"),
        ("students", None),
        ("students.0", ["007", "Ada"]),
        ("students.0.0", 7),
        ("students.0.1", None),
        ("students.0.2", 1),
    ],
)
def test_a_wrong_value_is_named(
    folder: Path, content: dict[str, Any], path: str, value: object
) -> None:
    *outer, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    place: Any = content
    for key in outer:
        place = place[key]
    place[last] = value
    save(folder, content)
    assert f"{path.split('.')[0]} cannot be " in told(folder)


@pytest.mark.parametrize("key", ["disguise", "worksheet", "texts"])
def test_an_unknown_choice_is_quoted(folder: Path, content: dict[str, Any], key: str) -> None:
    save(folder, content | {key: "purple"})
    assert "'purple'" in told(folder)


def test_the_secret_is_not_in_it(folder: Path) -> None:
    data = (folder / NAME).read_bytes()
    assert SECRET.value not in data
    assert SECRET.value.hex().encode() not in data.lower()


def test_another_secret_does_not_fit(folder: Path) -> None:
    with pytest.raises(
        Problem, match=rf"{fingerprint(SECRET)}, and this one is {fingerprint(OTHER_SECRET)}"
    ):
        require_same(folder, RICH, OTHER_SECRET, RICH.terms)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"assignment": "Hunt 2"}, "--assignment: 'Übung „1“', and not 'Hunt 2'; keep to it"),
        ({"per_student": 1}, "--per-student: 2, and not 1; keep to it"),
        ({"innocent_share": 0.5}, "--innocent-share: 0.25, and not 0.5; keep to it"),
        ({"group_by": None}, "--group-by: 'Groups', and not none; keep to it"),
        ({"disguise": Level.FULL}, "--disguise: light, and not full; keep to it"),
        ({"worksheet": Form.PDF}, "--worksheet: ipynb, and not pdf; keep to it"),
        ({"texts": Texts.NEUTRAL}, "--texts: hints, and not neutral; keep to it"),
        ({"visible": ()}, "--visible: test_one test_two, and not none; keep to it"),
        ({"pool": POOL}, "than --bugs selects now; leave --bugs out to keep to them"),
    ],
)
def test_other_terms_are_told_as_they_are_typed(
    folder: Path, changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(Problem) as caught:
        require_same(folder, RICH, SECRET, replace(RICH.terms, **changes))
    assert str(caught.value).startswith(f"keys{os.sep}{NAME}: the handouts were ")
    assert f"{words}, or hand out to another folder with --out" in str(caught.value)


def test_a_bug_that_is_gone_is_named(folder: Path) -> None:
    require_known(folder, RICH, {c.slug for c in RICH.terms.pool})
    with pytest.raises(Problem, match=r"drawn from post_norm among others.*--catalogue"):
        require_known(folder, RICH, {c.slug for c in RICH.terms.pool} - {"post_norm"})


# What must happen.


def test_nothing_was_handed_out_where_there_is_no_manifest(tmp_path: Path) -> None:
    assert read(tmp_path) is None
    assert read(tmp_path / "nowhere") is None


def test_what_is_written_is_read_again(folder: Path) -> None:
    assert read(folder) == RICH
    require_same(folder, RICH, SECRET, RICH.terms)


def test_the_same_is_not_written_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr("bugkit.handout.manifest.write_bytes", never)
    write(folder, RICH)
    with pytest.raises(AssertionError):
        write(folder, replace(RICH, students=()))


def test_a_student_takes_a_line_and_letters_stay_as_they_are(folder: Path) -> None:
    lines = (folder / NAME).read_text(encoding="utf-8").splitlines()
    assert '  ["007", "Seán \\"S\\" Neill", null],' in lines
    assert '  ["=1+1", "", "owls, larks"]' in lines
