"""Recorded numbers. They catch nearly all and explain nothing, so they come last."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from . import cases

if TYPE_CHECKING:
    from bugkit.contract import GPT

RECORDED = Path(__file__).with_name("recorded_logits.json")
"""Logits [B, T, V] of the model below, as an independent scalar implementation computes them."""

PRECISION = 100.0
"""The recorded numbers have nine decimals, hence a tolerance a hundred times that of rounding."""


@pytest.mark.backstop
def test_logits_match_the_record(gpt: "GPT") -> None:
    """The logits of one fixed model are the recorded ones.

    The parameters come from a fixed generator; any correct GPT gives these logits. Recorded is one
    with every bias, a tied head and GELU in the tanh form; another sort is not judged by them.
    """
    cfg, params = cases.model(gpt)
    _ = gpt.gelu  # not offered: there may be another activation inside
    if {path for path, _ in cases.leaves(params)} != cases.USUAL:
        pytest.skip("a tied head with every bias is not offered")
    expected = np.array(json.loads(RECORDED.read_text(encoding="utf-8")))
    logits = cases.logits_of(gpt, params, cfg, cases.tokens())
    cases.assert_same(logits, expected, "logits", cases.LOGITS, loose=PRECISION)
