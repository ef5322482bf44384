"""The function softmax by itself."""

from typing import TYPE_CHECKING

import numpy as np

from . import cases

if TYPE_CHECKING:
    from bugkit.contract import GPT

SHIFT = 1000.0
"""exp overflows at 710 in float64; scores of a trained model do reach hundreds in float32."""


def test_softmax_survives_large_scores(gpt: "GPT") -> None:
    """Softmax does not change when all scores grow by the same amount.

    exp(s + c) / sum exp(s + c) = exp(s) / sum exp(s). The left side overflows for large c unless
    the row maximum is subtracted first.
    """
    x = np.random.default_rng(cases.SEED).normal(0.0, 1.0, (2, 3, 5))
    expected = np.asarray(gpt.softmax(x))
    for shift in (SHIFT, -SHIFT):
        what = f"softmax of scores shifted by {shift:+g}"
        shifted = np.asarray(gpt.softmax(x + shift))
        cases.assert_same(shifted, expected, what, ("index", "row", "column"))


def test_softmax_normalises_the_last_axis(gpt: "GPT") -> None:
    """Softmax sums to one along the last axis, whatever the rank.

    Without an axis argument the last axis is meant, for scores [B, H, T, T] too.
    """
    x = np.random.default_rng(cases.SEED).normal(0.0, 1.0, (2, 3, 4, 5))
    sums = np.sum(np.asarray(gpt.softmax(x)), axis=-1)
    cases.assert_same(
        sums, np.ones((2, 3, 4)), "sum along the last axis", ("index", "row", "column")
    )
