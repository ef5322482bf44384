"""Vectors -> one score for every word of the vocabulary.

Source: Press & Wolf 2017, arXiv:1608.05859, for reading the token embedding backwards.
"""

from typing import Any

import numpy as np


def head(x: np.ndarray, params: dict[str, Any]) -> np.ndarray:  # [B, T, C] -> [B, T, V]
    """Compare every vector of the stream with every word's vector."""
    if "w_lm" in params:
        return x @ params["w_lm"]
    return x @ params["wte"].T
