"""The key of an assignment as data: key.json and key.csv."""

import csv
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..files import read_text
from ..places import shown
from ..problems import Problem

VERSION = 1

COLUMNS = (
    *("student", "name", "group", "form", "folder", "hunt", "slug", "title", "verdict"),
    *("component", "level", "difficulty", "faulty lines", "in the catalogue"),
    "visible tests that fail",
)

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What makes a spreadsheet take a cell for a formula; the last four do so in Chinese, Japanese and
Korean ones, where the signs are as wide as letters."""


@dataclass(frozen=True, slots=True)
class HuntRecord:
    """What one program of a student is."""

    number: int
    slug: str
    title: str
    verdict: str
    component: str
    level: int
    difficulty: int
    lines: Mapping[str, tuple[int, ...]]
    """File of the student's package -> lines that the repair touches; where the bug is first."""
    original_file: str
    original_lines: tuple[int, ...]
    """The same in the catalogue's module."""
    visible: tuple[str, ...]
    """Ids of detectors."""
    visible_that_fail: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Record:
    """What one student got."""

    student: str
    name: str
    group: str | None
    form: str
    folder: str
    hunts: tuple[HuntRecord, ...]


def as_text(hunts: Iterable[HuntRecord]) -> str:
    """What is kept of each student, so that a later kit cannot tell another story."""
    return json.dumps([asdict(hunt) for hunt in hunts], indent=1, ensure_ascii=False) + "\n"


def read_hunts(path: Path) -> tuple[HuntRecord, ...]:
    """What was kept."""
    try:
        return tuple(HuntRecord(**_tuples(hunt)) for hunt in json.loads(read_text(path)))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Problem(
            f"{shown(path)}: not as bugkit wrote it ({error}); put the original back, or take away "
            "this file and the student's folder, and hand out again"
        ) from None


def _tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    """JSON knows lists alone."""
    lines = {file: tuple(numbers) for file, numbers in values["lines"].items()}
    return {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()} | {"lines": lines}


def as_json(assignment: str, records: Iterable[Record]) -> str:
    """All of it, for programs."""
    content = {
        "version": VERSION,
        "assignment": assignment,
        "students": [asdict(record) for record in records],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def as_csv(records: Iterable[Record]) -> str:
    """A row a hunt, for spreadsheets. A text that would be a formula has an apostrophe before it;
    key.json has it as it is."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    writer.writerow(COLUMNS)
    for record in records:
        for hunt in record.hunts:
            cells = (
                *(record.student, record.name, record.group or "", record.form, record.folder),
                *(hunt.number, hunt.slug, hunt.title, hunt.verdict, hunt.component, hunt.level),
                *(hunt.difficulty, _places(hunt.lines)),
                _places({hunt.original_file: hunt.original_lines}),
                " ".join(hunt.visible_that_fail),
            )
            writer.writerow(map(_cell, cells))
    return stream.getvalue()


def _places(lines: Mapping[str, Iterable[int]]) -> str:
    """As students name them in their answers."""
    return " ".join(f"{file}:{number}" for file, numbers in lines.items() for number in numbers)


def _cell(value: object) -> str:
    text = str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text
