"""Softmax: scores -> weights that are positive and sum to one.

Source: Bridle 1990; the stable form as in Goodfellow, Bengio & Courville 2016, "Deep
learning", section 4.1.
"""

import numpy as np


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:  # [..., N] -> [..., N]
    """Exponentials, normalised along `axis`; finite for finite scores of any size."""
    exps = np.exp(x)
    return exps / np.sum(exps, axis=axis, keepdims=True)
