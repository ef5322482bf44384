"""Evidence and its JSON: no damaged file is believed, and what is written is what is read."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bugkit.measure
from bugkit.measure.comparison import Maps, Pair
from bugkit.measure.evidence import (
    FIELDS,
    NUMBERS,
    Evidence,
    Outcome,
    curve,
    deviations,
    from_json,
    rounded,
    to_json,
)
from bugkit.measure.script import Stage
from bugkit.measure.settings import WINDOW, Setting
from bugkit.problems import Problem

from .conftest import EVIDENCE

SCHEMA = json.loads(
    Path(bugkit.measure.__file__).with_name("evidence.schema.json").read_text(encoding="utf-8")
)

assert EVIDENCE.attention is not None
MAPS = EVIDENCE.attention

NUMBER = st.none() | st.floats(allow_nan=False, allow_infinity=False)
DIFFERENCE = st.none() | st.floats(min_value=0.0, allow_nan=False, allow_infinity=False)

FINITE = st.floats(allow_nan=False, allow_infinity=False)


def maps(size: int) -> st.SearchStrategy[Maps]:
    cells = st.tuples(*[st.tuples(*[FINITE] * size)] * size)
    return st.builds(Maps, st.integers(0, 9), st.integers(0, 9), cells, cells)


ROWS = st.tuples(FINITE, FINITE, FINITE)
PAIRS = st.none() | st.builds(Pair, ROWS, ROWS)

EVIDENCES = st.builds(
    Evidence,
    subject=st.text(),
    digest=st.text(),
    setting=st.sampled_from(Setting),
    outcome=st.sampled_from(Outcome),
    stage=st.none() | st.sampled_from(Stage),
    message=st.text(),
    steps=st.integers(min_value=0),
    losses=st.lists(NUMBER, max_size=40).map(tuple),
    sample=st.none() | st.text(),
    attention=st.none() | st.integers(1, 3).flatmap(maps),
    sampled=PAIRS,
    by_position=PAIRS,
    **{name: DIFFERENCE if name.endswith("_difference") else NUMBER for name in NUMBERS},
)


def check(text: str) -> None:
    def no_constant(name: str) -> Any:
        raise AssertionError(f"{name} is not JSON")

    document = json.loads(text, parse_constant=no_constant)
    jsonschema.Draft202012Validator(SCHEMA).validate(document)


# What must not be believed.

DAMAGED = {
    "nothing": ("", "not valid JSON"),
    "half a file": ('{"version": 2,', "not valid JSON"),
    "no object": ("[]", "not evidence of version 2"),
    "another version": ('{"version": 1}', "not evidence of version 2"),
    "a key too few": ('{"version": 2}', "subject is missing"),
    "NaN": ('{"version": NaN}', "NaN is no number"),
    "deep nesting": ("[" * 100_000, "not valid JSON"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_a_problem_that_names_it_and_the_repair(name: str) -> None:
    text, said = DAMAGED[name]
    with pytest.raises(Problem) as problem:
        from_json(text, "mutants/means/evidence.json")
    assert str(problem.value).startswith("mutants/means/evidence.json: ")
    assert said in str(problem.value)
    assert str(problem.value).endswith("bugkit measure --force")


WRONG: dict[str, Any] = {
    "subject": 1,
    "digest": None,
    "setting": "old",
    "outcome": "fine",
    "stage": "lunch",
    "message": ["a"],
    "first_loss": "3.1",
    "steps": -1,
    "losses": [1.0, True],
    "train_loss": True,
    "validation_loss": [],
    "sample": 3,
    "logits_difference": "0",
    "cached_difference": {},
    "attention_difference": False,
    "gradient_difference": "none",
    "attention": {"layer": 0, "head": 0, "observed": [[1.0]]},
    "sampled": {"observed": [], "expected": []},
    "by_position": {"observed": [1.0], "expected": [0.0, 0.0]},
}

RAGGED: list[tuple[str, Any]] = [
    ("attention", {"layer": 0, "head": -1, "observed": [[1.0]], "expected": [[1.0]]}),
    ("attention", {"layer": 0, "head": 0, "observed": [[1.0, 0.0]], "expected": [[1.0]]}),
    ("attention", {"layer": 0, "head": 0, "observed": [[1, 0], [1, 0]], "expected": [[1.0]]}),
    ("sampled", []),
    ("sampled", {"observed": [0.5], "expected": [True]}),
]


@pytest.mark.parametrize("key", FIELDS)
def test_a_wrong_value_is_a_problem_that_names_its_key(key: str, evidence: Evidence) -> None:
    table = json.loads(to_json(evidence))
    with pytest.raises(Problem, match=f"^evidence.json: {key} cannot be "):
        from_json(json.dumps({**table, key: WRONG[key]}), "evidence.json")
    del table[key]
    with pytest.raises(Problem, match=f"^evidence.json: {key} is missing"):
        from_json(json.dumps(table), "evidence.json")


@pytest.mark.parametrize(("key", "value"), RAGGED)
def test_numbers_that_fit_no_picture_are_a_problem(
    key: str, value: Any, evidence: Evidence
) -> None:
    table = json.loads(to_json(evidence))
    with pytest.raises(Problem, match=f"^evidence.json: {key} cannot be "):
        from_json(json.dumps({**table, key: value}), "evidence.json")


def test_an_unknown_key_is_a_problem(evidence: Evidence) -> None:
    table = {**json.loads(to_json(evidence)), "los": 1.0}
    with pytest.raises(Problem, match="los is no key of evidence"):
        from_json(json.dumps(table), "evidence.json")


# JSON


def test_the_schema_is_valid_and_knows_the_words_of_the_kit() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    properties = SCHEMA["properties"]
    assert SCHEMA["required"] == list(properties) == ["version", *FIELDS]
    assert properties["setting"]["enum"] == [*Setting]
    assert properties["outcome"]["enum"] == [*Outcome]
    assert properties["stage"]["enum"] == [None, *Stage]


@given(EVIDENCES)
def test_what_is_written_is_what_is_read(evidence: Evidence) -> None:
    text = to_json(evidence)
    check(text)
    assert from_json(text, "evidence.json") == evidence
    assert to_json(from_json(text, "evidence.json")) == text


def test_the_file_is_one_that_a_person_can_review(evidence: Evidence) -> None:
    text = to_json(replace(evidence, losses=(2.5,) * 12))
    assert text.startswith('{\n "version": 2,\n "subject": "means",\n "digest": ')
    assert '\n "losses": [\n  2.5, 2.5, ' in text
    assert text.endswith('\n  "observed": [0.0, 3.125],\n  "expected": [0.0, 0.0]\n }\n}\n')
    assert max(map(len, text.splitlines())) < 100
    assert text.isascii()


# Numbers


@pytest.mark.parametrize("value", [None, math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_null(value: float | None) -> None:
    assert rounded(value) is None


def test_numbers_have_four_digits() -> None:
    assert rounded(3.14159) == 3.142
    assert rounded(0.000123456) == 0.0001235
    assert rounded(123456.0) == 123500.0


def test_a_point_is_a_mean_and_one_nan_spoils_it() -> None:
    losses = [1.0] * WINDOW + [2.0, math.nan] + [2.0] * (WINDOW - 2) + [3.0, 5.0]
    assert curve(losses) == (1.0, None, 4.0)
    assert curve([]) == ()


# What counts as the same


def said(old: Evidence, **changes: Any) -> list[str]:
    return list(deviations(old, replace(old, **changes)))


@pytest.mark.parametrize(
    ("changes", "begins"),
    [
        ({"outcome": Outcome.CRASHED}, "outcome: finished is recorded, crashed"),
        ({"stage": Stage.TRAIN}, "stage: None is recorded, train"),
        ({"setting": Setting.MODERN}, "setting: plain is recorded, modern"),
        ({"steps": 23}, "steps: 24 is recorded, 23"),
        ({"validation_loss": 0.65}, "validation_loss: 0.625 is recorded, 0.65"),
        ({"validation_loss": None}, "validation_loss: 0.625 is recorded, no number"),
        ({"logits_difference": 0.251}, "logits_difference: 0.25 is recorded, 0.251"),
        ({"gradient_difference": 1e-8}, "gradient_difference: 0 is recorded, 1e-08"),
        ({"losses": (2.5, 1.6, 0.1)}, "losses, point 2: 1.5 is recorded, 1.6"),
        ({"losses": (2.5, 1.5)}, "losses: 3 points are recorded, 2 were measured"),
        ({"sampled": None}, "sampled: numbers are recorded, no numbers are measured"),
        ({"sampled": Pair((0.75, 0.25), (0.498, 0.502))}, "sampled: 0.5 is recorded, 0.498"),
        ({"sampled": Pair((1.0,), (1.0,))}, "sampled: 4 numbers are recorded, 2"),
        ({"by_position": Pair((0.0, 3.13), (0.0, 0.0))}, "by_position: 3.125 is recorded, 3.13"),
        ({"attention": replace(MAPS, head=1)}, "attention: layer 1 and head 0 are recorded, lay"),
        ({"attention": replace(MAPS, expected=MAPS.observed)}, "attention: 0.5 is recorded, 0.25"),
    ],
)
def test_another_result_is_not_the_same(
    changes: dict[str, Any], begins: str, evidence: Evidence
) -> None:
    (sentence,) = said(evidence, **changes)
    assert sentence.startswith(begins)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"message": "in other words", "sample": "the dog.", "digest": "f" * 16},
        {"validation_loss": 0.635, "train_loss": 0.495, "losses": (2.54, 1.48, 0.755)},
        {"logits_difference": 0.2501, "gradient_difference": 5e-10},
        {"sampled": Pair((0.751, 0.249), (0.5, 0.5)), "by_position": Pair((0.001, 3.128), (0, 0))},
    ],
)
def test_what_another_computer_may_change_is_the_same(
    changes: dict[str, Any], evidence: Evidence
) -> None:
    assert said(evidence, **changes) == []


def test_where_the_clock_ended_it_only_what_both_reached_counts(evidence: Evidence) -> None:
    slow = replace(
        evidence, outcome=Outcome.TIMEOUT, stage=Stage.TRAIN, steps=10, losses=(2.5, 0.1)
    )
    fast = replace(slow, steps=20, losses=(2.5, 1.5, 0.2))
    assert list(deviations(slow, fast)) == []
    other = replace(fast, losses=(2.6, 1.5, 0.2))
    assert [what.partition(":")[0] for what in deviations(slow, other)] == ["losses, point 1"]
