"""Causal self-attention with several heads.

Source: Vaswani et al. 2017, section 3.2, equation 1, and section 3.2.3 for the mask.
"""

import math
from typing import Any

import numpy as np

from .softmax import softmax


def causal_self_attention(
    x: np.ndarray, p: dict[str, Any], n_heads: int
) -> tuple[np.ndarray, np.ndarray]:  # [B, T, C] -> [B, T, C], [B, H, T, T]
    """Let every token gather from itself and from those before it.

    Returns the gathered vectors and the weights: row i, column j is how much token i takes
    from token j.
    """
    qkv = x @ p["w_qkv"] + p["b_qkv"]
    q, k, v = np.split(qkv, 3, axis=-1)
    q, k, v = split_heads(q, n_heads), split_heads(k, n_heads), split_heads(v, n_heads)

    # [B, H, T, D] @ [B, H, D, T] -> [B, H, T, T]
    scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    future = np.triu(np.ones(scores.shape[-2:], dtype=bool), k=1)
    scores = np.where(future, -np.inf, scores)
    weights = softmax(scores)

    gathered = merge_heads(weights @ v)
    return gathered @ p["w_o"] + p["b_o"], weights


def split_heads(x: np.ndarray, n_heads: int) -> np.ndarray:  # [B, T, C] -> [B, H, T, D]
    """Give every head its own slice of the channels."""
    B, T, C = x.shape
    return x.reshape(B, n_heads, T, C // n_heads)


def merge_heads(x: np.ndarray) -> np.ndarray:  # [B, H, T, D] -> [B, T, C]
    """Lay the heads side by side again."""
    B, H, T, D = x.shape
    return x.reshape(B, T, H * D)
