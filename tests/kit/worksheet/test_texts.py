"""The texts that all sheets and keys share."""

import re
import tomllib
from string import Formatter

import pytest

from bugkit.catalogue import load_catalogue
from bugkit.files import read_text
from bugkit.places import CORRECT, TEMPLATES
from bugkit.worksheet.words import plain, prose

PARTS = tomllib.loads(read_text(TEMPLATES / "worksheet" / "parts.toml"))
RUBRIC = tomllib.loads(read_text(TEMPLATES / "worksheet" / "rubric.toml"))

MAX_DUTY = 200
"""Characters of two lines, and no more than that is read."""

BOXES = [
    "Predict",
    "Observe",
    "Hypotheses",
    "Log",
    "Diagnosis",
    "Fix",
    "Regression test",
    "Explain",
]


def test_every_file_of_the_correct_gpt_has_a_duty_and_nothing_else_has() -> None:
    assert set(PARTS) == {path.name for path in CORRECT.glob("*.py")}


@pytest.mark.parametrize("file", PARTS)
def test_a_duty_is_two_short_sentences(file: str) -> None:
    text = plain(prose(PARTS[file]))
    assert len(text) <= MAX_DUTY
    assert len(re.findall(r"[.](?=\s|$)", text)) == 2


@pytest.mark.parametrize("file", PARTS)
def test_a_duty_names_no_bug(file: str) -> None:
    text = plain(prose(PARTS[file])).lower()
    for bug in load_catalogue().values():
        if bug.file == file:
            assert bug.title.lower() not in text
    assert not re.search(r"\b(bug|wrong|mistake|careful|never|must not|instead|forget)\b", text)


@pytest.mark.parametrize("verdict", ["bug", "innocent"])
def test_the_rubric_has_a_row_for_every_box_in_the_order_of_the_sheet(verdict: str) -> None:
    assert [box["box"] for box in RUBRIC[verdict]["box"]] == BOXES
    for box in RUBRIC[verdict]["box"]:
        assert set(box) == {"box", "two", "one", "zero"}
    assert set(RUBRIC[verdict]) == {"box", "accepted", "prompts"}


@pytest.mark.parametrize("verdict", ["bug", "innocent"])
def test_the_rubric_has_no_hole_that_nothing_fills(verdict: str) -> None:
    boxes = [text for box in RUBRIC[verdict]["box"] for text in box.values()]
    texts = [*boxes, *RUBRIC[verdict]["accepted"], *RUBRIC[verdict]["prompts"]]
    for text in texts:
        assert {name for _, name, _, _ in Formatter().parse(text)} <= {None, "place"}
        assert text[-1] in ".?" or text in BOXES


def test_a_prompt_gives_no_place_away() -> None:
    for verdict in ("bug", "innocent"):
        assert not any("{" in prompt for prompt in RUBRIC[verdict]["prompts"])
