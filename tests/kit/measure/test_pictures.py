"""The numbers of figures: the right ones of a known fault, and none where there are none."""

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from bugkit.measure.pictures import DRAWS, LOGITS, OPTIONS, PIECES, TOKENS, pictures
from bugkit.measure.settings import Setting
from bugkit.subject import CORRECT_SUBJECT, load


@pytest.fixture(scope="module")
def correct() -> ModuleType:
    return load(CORRECT_SUBJECT)


def changed(correct: ModuleType, **names: Any) -> ModuleType:
    module = ModuleType("changed")
    module.__dict__.update(vars(correct), **names)
    return module


@pytest.mark.parametrize("setting", Setting)
def test_a_correct_model_differs_from_itself_nowhere(correct: ModuleType, setting: Setting) -> None:
    found = pictures(correct, correct, setting)
    assert found == pictures(correct, correct, setting)
    for picture in found.values():
        assert picture["observed"] == picture["expected"]
    assert np.shape(found["attention"]["observed"]) == (TOKENS, TOKENS)
    assert (found["attention"]["layer"], found["attention"]["head"]) == (0, 0)
    assert found["by_position"]["observed"] == [0.0] * sum(PIECES)


def test_shares_are_those_that_the_options_leave(correct: ModuleType) -> None:
    shares = pictures(correct, correct, Setting.PLAIN)["sampled"]["expected"]
    logits = np.array([LOGITS])
    probs = correct.sampling.next_probs(logits, **OPTIONS)[0]
    assert sum(shares) == pytest.approx(1.0)
    assert np.max(np.abs(shares - probs)) < 4 * np.sqrt(0.25 / DRAWS)
    # Both options cut, and cut something else.
    kept = [
        np.count_nonzero(correct.sampling.next_probs(logits, 0.8, k, p))
        for k, p in ((OPTIONS["top_k"], None), (None, OPTIONS["top_p"]), (5, 0.9))
    ]
    assert kept[2] < kept[0] < len(LOGITS)
    assert kept[2] < kept[1] < len(LOGITS)


def test_the_head_that_differs_most_is_shown(correct: ModuleType) -> None:
    def forward(*arguments: Any) -> Any:
        logits, maps = correct.gpt_forward(*arguments)
        maps[0][0, 3, 5, 0] += 0.25
        maps[1][0, 2, 4, 1] += 0.5
        maps[1][0, 3, 4, 1] += 0.5
        return logits, maps

    found = pictures(changed(correct, gpt_forward=forward), correct, Setting.PLAIN)["attention"]
    assert (found["layer"], found["head"]) == (1, 2)
    apart = np.array(found["observed"]) - np.array(found["expected"])
    assert np.argwhere(apart).tolist() == [[4, 1]]
    assert apart[4, 1] == pytest.approx(0.5)


def test_a_fault_after_the_first_piece_shows_from_there_on(correct: ModuleType) -> None:
    def cached(params: Any, cfg: Any, token_ids: Any, cache: Any) -> Any:
        logits, grown = correct.forward_cached(params, cfg, token_ids, cache)
        return logits + 2.0 * (correct.cache.cache_length(cache) > 0), grown

    found = pictures(changed(correct, forward_cached=cached), correct, Setting.PLAIN)["by_position"]
    assert found["observed"] == [0.0] * PIECES[0] + [2.0] * sum(PIECES[1:])
    assert found["expected"] == [0.0] * sum(PIECES)


@pytest.mark.parametrize(
    "value", [None, np.nan, np.ones(3), SystemExit], ids=["nothing", "nan", "shape", "exit"]
)
def test_what_gives_no_numbers_gives_none_and_hides_nothing_else(
    correct: ModuleType, value: Any
) -> None:
    def broken(*_: Any, **_options: Any) -> Any:
        if value is SystemExit:
            raise SystemExit
        return value

    found = pictures(changed(correct, sample_next=broken), correct, Setting.PLAIN)
    assert found["sampled"] is None
    assert found["attention"] is not None
    found = pictures(changed(correct, gpt_forward=broken), correct, Setting.PLAIN)
    assert found["attention"] is found["by_position"] is None
    assert found["sampled"] is not None


def test_no_number_hides_behind_a_nan(correct: ModuleType) -> None:
    def forward(*arguments: Any) -> Any:
        logits, maps = correct.gpt_forward(*arguments)
        maps[0][0, 0, 0, 0] = np.nan
        return logits, maps

    found = pictures(changed(correct, gpt_forward=forward), correct, Setting.PLAIN)
    assert found["attention"] is None
