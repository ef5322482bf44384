"""Vectors -> one score for every word of the vocabulary.

Source: Press & Wolf 2017, arXiv:1608.05859, for reading the token embedding backwards; Radford
et al. 2019, section 2.3, for the norm after the last block.
"""

from typing import Any

import numpy as np


def head(x: np.ndarray, params: dict[str, Any]) -> np.ndarray:  # [B, T, C] -> [B, T, V]
    """Standardise the stream once more and compare every vector with every word's vector."""
    if "w_lm" in params:
        return x @ params["w_lm"]
    return x @ params["wte"].T


def head_backward(
    dout: np.ndarray, x: np.ndarray, params: dict[str, Any]
) -> tuple[np.ndarray, dict[str, Any]]:  # [B, T, V], [B, T, C] -> [B, T, C]
    """Gradients of the stream, and of the norm and the matrix in use, under their names."""
    dw = np.tensordot(x, dout, axes=([0, 1], [0, 1]))
    if "w_lm" in params:
        dx, grads = dout @ params["w_lm"].T, {"w_lm": dw}
    else:
        dx, grads = dout @ params["wte"], {"wte": dw.T}
    dln_f = {name: np.zeros_like(param) for name, param in params["ln_f"].items()}
    return dx, {**grads, "ln_f": dln_f}
