"""The key as data: what a spreadsheet would run or round is kept as text."""

import csv
import io
import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from bugkit.handout.record import COLUMNS, HuntRecord, Record, as_csv, as_json

HUNT = HuntRecord(
    number=1,
    slug="post_norm",
    title="Normalised, then added",
    verdict="bug",
    component="block",
    level=2,
    difficulty=3,
    lines={"layers.py": (7, 12)},
    original_file="block.py",
    original_lines=(9,),
    visible=("test_a", "test_b"),
    visible_that_fail=("test_b",),
)
ADA = Record("0042", 'Åda, the "1st"\nof all', None, "K7Q2-MX4B", "0042", (HUNT,))


def rows(records: Iterable[Record]) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(as_csv(records), newline=""), strict=True))


# What must not happen.


@pytest.mark.parametrize(
    "text",
    [
        *("=1+1", "+1", "-1", "@SUM(A1)", '=HYPERLINK("x")'),
        *("\t=1", "\r=1", "\n=1", "\uff1d1", "\uff0b1", "\uff0d1", "\uff20SUM(A1)"),
    ],
)
@pytest.mark.parametrize("field", ["student", "name", "group"])
def test_no_cell_is_a_formula(text: str, field: str) -> None:
    changes: dict[str, Any] = {field: text}
    record = replace(ADA, **changes)
    (row,) = rows([record])
    assert row[field] == f"'{text}"
    assert json.loads(as_json("Hunt 1", [record]))["students"][0][field] == text


def test_zeros_that_lead_stay() -> None:
    (row,) = rows([ADA])
    assert (row["student"], row["folder"]) == ("0042", "0042")
    assert json.loads(as_json("Hunt 1", [ADA]))["students"][0]["student"] == "0042"


def test_no_cell_breaks_its_row() -> None:
    assert [row["name"] for row in rows([ADA, ADA])] == [ADA.name, ADA.name]
    assert all(None not in row and None not in row.values() for row in rows([ADA]))


# What must happen.


def test_a_row_tells_all_about_a_hunt() -> None:
    second = replace(HUNT, number=2, slug="qkv_sliced", verdict="innocent", visible_that_fail=())
    record = replace(ADA, group="owls", hunts=(HUNT, second))
    assert tuple(rows([record])[0]) == COLUMNS
    assert rows([record]) == [
        {
            "student": "0042",
            "name": ADA.name,
            "group": "owls",
            "form": "K7Q2-MX4B",
            "folder": "0042",
            "hunt": number,
            "slug": slug,
            "title": "Normalised, then added",
            "verdict": verdict,
            "component": "block",
            "level": "2",
            "difficulty": "3",
            "faulty lines": "layers.py:7 layers.py:12",
            "in the catalogue": "block.py:9",
            "visible tests that fail": fails,
        }
        for number, slug, verdict, fails in (
            ("1", "post_norm", "bug", "test_b"),
            ("2", "qkv_sliced", "innocent", ""),
        )
    ]


def test_lines_of_further_files_are_named() -> None:
    hunt = replace(HUNT, lines={"layers.py": (7, 12), "model.py": (3,)})
    (row,) = rows([replace(ADA, hunts=(hunt,))])
    assert row["faulty lines"] == "layers.py:7 layers.py:12 model.py:3"


def test_the_data_for_programs_is_all_of_it() -> None:
    content = json.loads(as_json("Übung", [ADA]))
    assert (content["version"], content["assignment"]) == (1, "Übung")
    (student,) = content["students"]
    (hunt,) = student.pop("hunts")
    assert student == {
        "student": "0042",
        "name": ADA.name,
        "group": None,
        "form": "K7Q2-MX4B",
        "folder": "0042",
    }
    assert hunt["lines"] == {"layers.py": [7, 12]}
    assert hunt["visible"] == ["test_a", "test_b"]
    assert "Åda" in as_json("Übung", [ADA])
