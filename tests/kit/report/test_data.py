"""JSON and CSV: no program that reads them may be misled, whatever the texts in them say."""

import csv
import io
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bugkit.report
from bugkit import __version__
from bugkit.matrix import Cell, Detector, Matrix, Outcome, Status
from bugkit.report import FILE_FORMATS, SUFFIXES
from bugkit.report.data import as_csv, as_json, to_dict
from bugkit.subject import Kind, Subject

SCHEMA = json.loads(
    Path(bugkit.report.__file__).with_name("matrix.schema.json").read_text(encoding="utf-8")
)
DEFINITIONS = {"matrix": SCHEMA, **SCHEMA["$defs"]}
OBJECTS = {name: part for name, part in DEFINITIONS.items() if part["type"] == "object"}
REQUIRED = [(name, key) for name, part in OBJECTS.items() for key in part["required"]]

HEADER = ["subject", "kind", "detector", "outcome", "seconds", "message"]

FORMULA_STARTS = "=+-@\t\r\n"
"""What makes a spreadsheet take a text for a formula, or skip to where one begins."""


def no_constant(name: str) -> Any:
    raise AssertionError(f"{name} is not JSON")


def read(text: str) -> dict[str, Any]:
    """As a strict reader does: without NaN and Infinity."""
    document: dict[str, Any] = json.loads(text, parse_constant=no_constant)
    return document


def check(document: object) -> None:
    jsonschema.Draft202012Validator(SCHEMA).validate(document)


def objects(document: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The parts of the document that the definition of this name describes."""
    if name == "matrix":
        return [document]
    return [document["summary"]] if name == "summary" else list(document[f"{name}s"])


def lines(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


def unguarded(value: str) -> str:
    guarded = value[:1] == "'" and value[1:2] != "" and value[1] in FORMULA_STARTS
    return value[1:] if guarded else value


def one_cell(message: str) -> Matrix:
    subject = Subject("gpt.py", Kind.FILE, "gpt.py", Path("gpt.py"))
    detector = Detector("test_a", "A", "", "softmax", 1, False, "A1", "test_a", "")
    return Matrix((subject,), (detector,), {("gpt.py", "test_a"): Cell(Outcome.FAILED, message)})


# What must not happen


@pytest.mark.parametrize(("name", "key"), REQUIRED)
def test_the_schema_does_not_let_a_key_be_left_out(name: str, key: str, matrix: Matrix) -> None:
    document = to_dict(matrix)
    del objects(document, name)[0][key]
    with pytest.raises(jsonschema.ValidationError, match=f"'{key}' is a required property"):
        check(document)


@pytest.mark.parametrize("name", OBJECTS)
def test_the_schema_does_not_let_a_key_be_added(name: str, matrix: Matrix) -> None:
    document = to_dict(matrix)
    objects(document, name)[0]["another"] = 1
    with pytest.raises(jsonschema.ValidationError, match="another"):
        check(document)


@pytest.mark.parametrize("start", FORMULA_STARTS)
def test_no_cell_of_the_csv_is_run_as_a_formula(start: str) -> None:
    message = f"{start}cmd|' /C calc'!A1"
    assert lines(as_csv(one_cell(message)))[1][-1] == f"'{message}"


def test_no_name_of_a_file_is_run_as_a_formula(named: tuple[str, Matrix]) -> None:
    name, matrix = named
    guarded = f"'{name}" if name.startswith("=") else name
    assert [line[0] for line in lines(as_csv(matrix))[-6:]] == [guarded] * 6


@pytest.mark.parametrize("form", FILE_FORMATS)
def test_no_format_shows_in_which_order_the_cells_came(form: str, matrix: Matrix) -> None:
    backwards = replace(matrix, cells=dict(list(matrix.cells.items())[::-1]))
    assert FILE_FORMATS[form](backwards) == FILE_FORMATS[form](matrix)


def test_no_format_changes_its_bytes_with_the_hash_seed(matrix: Matrix) -> None:
    code = """
import pickle, sys
from bugkit.report import FILE_FORMATS
matrix = pickle.load(sys.stdin.buffer)
sys.stdout.buffer.write("".join(form(matrix) for form in FILE_FORMATS.values()).encode())
"""
    texts = {
        subprocess.run(
            [sys.executable, "-c", code],
            input=pickle.dumps(matrix),
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert texts == {"".join(form(matrix) for form in FILE_FORMATS.values()).encode()}


@pytest.mark.parametrize("form", FILE_FORMATS)
def test_no_file_can_say_what_a_report_cannot_hold(form: str, odd_words: Matrix) -> None:
    assert FILE_FORMATS[form](odd_words).encode("utf-8")


# JSON


def test_the_schema_is_itself_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", OBJECTS)
def test_every_key_of_the_schema_is_required(name: str) -> None:
    assert set(OBJECTS[name]["required"]) == set(OBJECTS[name]["properties"])


def test_the_schema_knows_exactly_the_words_of_the_kit() -> None:
    subject, cell = OBJECTS["subject"]["properties"], OBJECTS["cell"]["properties"]
    assert subject["kind"]["enum"] == [*Kind]
    assert subject["status"]["enum"] == [*Status]
    assert cell["outcome"]["enum"] == [*Outcome]


def test_the_json_of_every_matrix_is_valid(any_matrix: Matrix) -> None:
    check(read(as_json(any_matrix)))


def test_the_json_holds_one_cell_for_every_pair_in_the_order_of_the_matrix(
    any_matrix: Matrix,
) -> None:
    document = read(as_json(any_matrix))
    assert [s["id"] for s in document["subjects"]] == [s.id for s in any_matrix.subjects]
    assert [d["id"] for d in document["detectors"]] == [d.id for d in any_matrix.detectors]
    cells = {
        (c["subject"], c["detector"]): Cell(Outcome(c["outcome"]), c["message"], c["seconds"])
        for c in document["cells"]
    }
    assert len(cells) == len(document["cells"])
    assert list(cells) == [(s.id, d.id) for s in any_matrix.subjects for d in any_matrix.detectors]
    assert cells == any_matrix.cells


def test_the_json_holds_a_message_as_it_was_said(told: tuple[str, Matrix]) -> None:
    text, matrix = told
    document = read(as_json(matrix))
    check(document)
    assert {c["message"] for c in document["cells"] if c["outcome"] == "error"} == {text}


def test_the_json_tells_what_follows_from_the_cells(matrix: Matrix) -> None:
    document = read(as_json(matrix))
    subjects = {s["id"]: s for s in document["subjects"]}
    assert document["version"] == 1
    assert document["bugkit"] == __version__
    assert {id_: s["status"] for id_, s in subjects.items()} == {
        "correct": "green",
        "mask_gone": "killed",
        "mask_late": "killed",
        "looks_wrong": "green",
        "looks_accused": "killed",
        "other_promise": "killed",
        "no_promise": "killed",
        "only_recorded": "survived",
        "never_judged": "invalid",
        "solutions/my gpt.py": "killed",
        "unloadable.py": "invalid",
        "fine.py": "green",
        "odd.py": "survived",
    }
    assert subjects["mask_gone"]["killed_by"] == ["test_no_future"]
    assert subjects["mask_gone"]["signature_shared_with"] == ["mask_late"]
    assert subjects["solutions/my gpt.py"]["signature_shared_with"] == []
    assert (subjects["mask_late"]["component"], subjects["mask_late"]["level"]) == ("mask", 2)
    assert (subjects["odd.py"]["component"], subjects["odd.py"]["level"]) == (None, None)
    summary = document["summary"]
    sentences = summary.pop("broken_promises")
    assert [sentence.partition(":")[0] for sentence in sentences] == [
        "looks_accused",
        "other_promise",
        "no_promise",
        "only_recorded",
        "never_judged",
    ]
    assert summary == {
        "mutants": 6,
        "killed": 4,
        "survived": ["only_recorded"],
        "invalid": ["never_judged", "unloadable.py"],
        "innocents": 2,
        "accused": ["looks_accused"],
        "shared_signatures": [["mask_gone", "mask_late"]],
        "idle": ["test_weights_are_shares", "test_cache"],
        "minimal_suite": ["test_rows_sum_to_one", "test_no_future"],
    }


# CSV


def expected(matrix: Matrix) -> Iterator[list[str]]:
    for s in matrix.subjects:
        for d, cell in matrix.row(s):
            yield [s.id, s.kind, d.id, cell.outcome, str(cell.seconds), cell.message]


def test_the_csv_of_every_matrix_gives_its_cells_back(any_matrix: Matrix) -> None:
    header, *rest = lines(as_csv(any_matrix))
    assert header == HEADER
    assert [[unguarded(value) for value in line] for line in rest] == list(expected(any_matrix))


def test_the_csv_gives_a_hostile_message_back(told: tuple[str, Matrix]) -> None:
    _, matrix = told
    _, *rest = lines(as_csv(matrix))
    assert [[unguarded(value) for value in line] for line in rest] == list(expected(matrix))


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_the_csv_gives_any_message_back(message: str) -> None:
    _, line = lines(as_csv(one_cell(message)))
    assert len(line) == len(HEADER)
    assert unguarded(line[-1]) == message or line[-1] == message


# All formats


def test_every_ending_of_a_file_name_stands_for_a_format() -> None:
    assert set(SUFFIXES.values()) == set(FILE_FORMATS)


@pytest.mark.parametrize("form", FILE_FORMATS)
def test_rendering_twice_gives_the_same_bytes(form: str, catalogue_matrix: Matrix) -> None:
    once, twice = (FILE_FORMATS[form](catalogue_matrix).encode() for _ in range(2))
    assert once == twice
    assert once.endswith(b"\n")
    assert not once.endswith(b"\n\n")
