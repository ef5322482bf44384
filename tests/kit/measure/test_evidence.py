"""Evidence on disk: what comes back, what is refused, and what counts as the same."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bugkit.catalogue import load_catalogue
from bugkit.measure import evidence, store
from bugkit.measure.comparison import Maps, Pair
from bugkit.measure.evidence import Evidence, Outcome, curve, deviations, from_json, to_json
from bugkit.measure.script import Stage
from bugkit.measure.settings import Setting, setting_of
from bugkit.problems import Problem

from .conftest import EVIDENCE

SCHEMA = json.loads(
    (Path(evidence.__file__).parent / "evidence.schema.json").read_text(encoding="utf-8")
)

assert EVIDENCE.attention is not None
MAPS = EVIDENCE.attention

numbers = st.none() | st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(st.characters(exclude_categories=["Cs"]))
finite = st.floats(allow_nan=False, allow_infinity=False)


def maps(size: int) -> st.SearchStrategy[Maps]:
    cells = st.tuples(*[st.tuples(*[finite] * size)] * size)
    return st.builds(Maps, st.integers(0, 9), st.integers(0, 9), cells, cells)


rows = st.tuples(finite, finite, finite)
pairs = st.none() | st.builds(Pair, rows, rows)
pieces = st.builds(
    Evidence,
    subject=texts,
    digest=texts,
    setting=st.sampled_from(Setting),
    outcome=st.sampled_from(Outcome),
    stage=st.none() | st.sampled_from(Stage),
    message=texts,
    first_loss=numbers,
    steps=st.integers(0, 10**6),
    losses=st.lists(numbers, max_size=25).map(tuple),
    train_loss=numbers,
    validation_loss=numbers,
    sample=st.none() | texts,
    logits_difference=numbers,
    cached_difference=numbers,
    attention_difference=numbers,
    gradient_difference=numbers,
    attention=st.none() | st.integers(1, 3).flatmap(maps),
    sampled=pairs,
    by_position=pairs,
)


@given(pieces)
def test_what_is_written_comes_back(piece: Evidence) -> None:
    assert from_json(to_json(piece), "a file") == piece


@given(pieces)
def test_the_schema_describes_what_is_written(piece: Evidence) -> None:
    differences: dict[str, Any] = {
        name: None if (value := getattr(piece, name)) is None else abs(value)
        for name in evidence.NUMBERS
    }
    jsonschema.validate(json.loads(to_json(replace(piece, **differences))), SCHEMA)


def test_the_schema_is_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("bug", load_catalogue().values(), ids=lambda bug: bug.slug)
def test_evidence_of_the_catalogue_is_there_and_readable(bug: Any) -> None:
    path = store.place_of(store.mutant_of(bug), setting_of(bug))
    text = path.read_text(encoding="utf-8")
    jsonschema.validate(json.loads(text), SCHEMA)
    assert to_json(from_json(text, str(path))) == text
    assert store.is_current(from_json(text, str(path)), store.mutant_of(bug), setting_of(bug)), (
        "sources have changed: bugkit measure"
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("version", 1),
        ("setting", "ancient"),
        ("outcome", None),
        ("stage", "nap"),
        ("steps", -1),
        ("steps", True),
        ("losses", "many"),
        ("losses", [1.0, "two"]),
        ("train_loss", "low"),
        ("validation_loss", False),
        ("subject", 7),
        ("sample", 7),
        ("attention", {"layer": 0, "head": 0, "observed": [[1.0]]}),
        ("attention", {"layer": 0, "head": -1, "observed": [[1.0]], "expected": [[1.0]]}),
        ("attention", {"layer": 0, "head": 0, "observed": [[1.0, 0.0]], "expected": [[1.0]]}),
        ("attention", {"layer": 0, "head": 0, "observed": [[1, 0], [1, 0]], "expected": [[1.0]]}),
        ("sampled", []),
        ("sampled", {"observed": [], "expected": []}),
        ("sampled", {"observed": [0.5], "expected": [True]}),
        ("by_position", {"observed": [1.0], "expected": [0.0, 0.0]}),
    ],
)
def test_a_value_that_makes_no_sense_is_named(key: str, value: Any) -> None:
    table = json.loads(to_json(EVIDENCE)) | {key: value}
    with pytest.raises(Problem, match=f"mutants/x/evidence.json: .*{key}.*bugkit measure --force"):
        from_json(json.dumps(table), "mutants/x/evidence.json")


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"version": 2', "NaN"])
def test_a_damaged_file_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(Problem, match=r"^x\.json: not .*; measure it anew"):
        from_json(text, "x.json")


@pytest.mark.parametrize("key", evidence.FIELDS)
def test_a_missing_and_an_unknown_key_are_named(key: str) -> None:
    table = json.loads(to_json(EVIDENCE))
    value = table.pop(key)
    with pytest.raises(Problem, match=f"{key} is missing"):
        from_json(json.dumps(table), "x.json")
    with pytest.raises(Problem, match=f"{key}_too is no key"):
        from_json(json.dumps({**table, key: value, f"{key}_too": 1}), "x.json")


def test_no_number_stands_for_one_that_is_not_finite() -> None:
    assert curve([1.0] * 8 + [math.nan] + [2.0] * 7 + [3.0]) == (1.0, None, 3.0)
    assert evidence.rounded(math.inf) is None
    assert evidence.rounded(0.123456) == 0.1235


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"validation_loss": 0.625 * 1.05}, "validation_loss: 0.625 is recorded, 0.6562"),
        ({"train_loss": None}, "train_loss: 0.5 is recorded, no number"),
        ({"logits_difference": 0.26}, "logits_difference"),
        ({"gradient_difference": 1e-6}, "gradient_difference"),
        ({"losses": (2.5, 1.7, 0.9)}, "losses, point 2: 1.5 is recorded, 1.7"),
        ({"outcome": Outcome.CRASHED}, "outcome: finished is recorded, crashed"),
        ({"steps": 23}, "steps: 24"),
        ({"setting": Setting.MODERN}, "setting: plain"),
        ({"sampled": None}, "sampled: numbers are recorded, no numbers are measured"),
        ({"sampled": Pair((0.75, 0.25), (0.498, 0.502))}, "sampled: 0.5 is recorded, 0.498"),
        ({"sampled": Pair((1.0,), (1.0,))}, "sampled: 4 numbers are recorded, 2"),
        ({"by_position": Pair((0.0, 3.13), (0.0, 0.0))}, "by_position: 3.125 is recorded, 3.13"),
        ({"attention": replace(MAPS, head=1)}, "attention: layer 1 and head 0 are recorded, lay"),
        ({"attention": replace(MAPS, expected=MAPS.observed)}, "attention: 0.5 is recorded, 0.25"),
    ],
)
def test_what_another_measurement_does_not_confirm_is_said(
    change: dict[str, Any], said: str
) -> None:
    (found, *_) = deviations(EVIDENCE, replace(EVIDENCE, **change))
    assert found.startswith(said)


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"validation_loss": 0.625 * 1.01},
        {"losses": (2.52, 1.48, 0.745)},
        {"logits_difference": 0.2501},
        {"gradient_difference": 1e-10},
        {"sampled": Pair((0.751, 0.249), (0.5, 0.5))},
        {"by_position": Pair((0.001, 3.128), (0.0, 0.0))},
        {"sample": "another text", "message": "another word"},
    ],
    ids=str,
)
def test_what_another_computer_may_change_is_no_deviation(change: dict[str, Any]) -> None:
    assert list(deviations(EVIDENCE, replace(EVIDENCE, **change))) == []
