"""Softmax: scores -> weights that are positive and sum to one.

Source: Bridle 1990; the stable form as in Goodfellow, Bengio & Courville 2016, "Deep
learning", section 4.1.
"""

import numpy as np


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:  # [..., N] -> [..., N]
    """Exponentials, normalised along `axis`; finite for finite scores of any size."""
    exps = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return exps / np.sum(exps, axis=axis, keepdims=True)


def softmax_backward(
    dout: np.ndarray, weights: np.ndarray
) -> np.ndarray:  # [..., N], [..., N] -> [..., N]
    """Gradient of the scores; `weights` is what softmax returned.

    A score raises its own weight and lowers all others, since their sum is fixed.
    """
    return dout * weights * (1 - weights)
