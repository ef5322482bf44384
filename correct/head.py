"""Vectors -> one score for every word of the vocabulary.

Source: Press & Wolf 2017, arXiv:1608.05859, for reading the token embedding backwards; Radford
et al. 2019, section 2.3, for the norm after the last block.
"""

from typing import Any

import numpy as np

from .norm import layer_norm, layer_norm_backward


def head(x: np.ndarray, params: dict[str, Any]) -> np.ndarray:  # [B, T, C] -> [B, T, V]
    """Standardise the stream once more and compare every vector with every word's vector."""
    normed = layer_norm(x, **params["ln_f"])
    if "w_lm" in params:
        return normed @ params["w_lm"]
    return normed @ params["wte"].T


def head_backward(
    dout: np.ndarray, x: np.ndarray, params: dict[str, Any]
) -> tuple[np.ndarray, dict[str, Any]]:  # [B, T, V], [B, T, C] -> [B, T, C]
    """Gradients of the stream, and of the norm and the matrix in use, under their names."""
    normed = layer_norm(x, **params["ln_f"])
    dw = np.tensordot(normed, dout, axes=([0, 1], [0, 1]))
    if "w_lm" in params:
        dnormed, grads = dout @ params["w_lm"].T, {"w_lm": dw}
    else:
        dnormed, grads = dout @ params["wte"], {"wte": dw.T}
    dx, dln_f = layer_norm_backward(dnormed, x, params["ln_f"]["g"])
    return dx, {**grads, "ln_f": dln_f}
