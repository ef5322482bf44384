"""Causal self-attention with several heads.

Source: Vaswani et al. 2017, section 3.2, equation 1, and section 3.2.3 for the mask; groups of
query heads that share keys and values as in Ainslie et al. 2023, arXiv:2305.13245.
"""

import math
from typing import Any

import numpy as np

from .config import GPTConfig
from .dropout import dropout
from .linear import linear, linear_backward
from .rotary import apply_rotary, apply_rotary_backward
from .softmax import softmax, softmax_backward


def causal_self_attention(
    x: np.ndarray,
    p: dict[str, Any],
    cfg: GPTConfig,
    mask: np.ndarray | None = None,
    past: dict[str, np.ndarray] | None = None,
) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Let every token gather from itself and from those before it, [B, T, C] -> [B, T, C].

    `mask` is the dropout mask of the weights; `past` holds the keys and values of the S tokens
    before these. Also returns the weights [B, H, T, S + T], where row i, column j is how much
    token i takes from token j, and the keys and values [B, K, S + T, D] of all tokens.
    """
    q, k, v = project(x, p, cfg, start=past["k"].shape[2] if past else 0)
    if past:
        k = np.concatenate([past["k"], k], axis=2)
        v = np.concatenate([past["v"], v], axis=2)
    weights = attention_weights(q, share_heads(k, cfg))
    gathered = merge_heads(dropout(weights, mask) @ share_heads(v, cfg))
    return linear(gathered, p["w_o"], p["b_o"]), weights, {"k": k, "v": v}


def causal_self_attention_backward(
    dout: np.ndarray,
    x: np.ndarray,
    p: dict[str, Any],
    cfg: GPTConfig,
    mask: np.ndarray | None = None,
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Gradients of the input [B, T, C] and of the parameters."""
    q, k, v = project(x, p, cfg)
    k, v = share_heads(k, cfg), share_heads(v, cfg)
    weights = attention_weights(q, k)
    used = dropout(weights, mask)

    gathered = merge_heads(used @ v)
    dgathered, dw_o, db_o = linear_backward(dout, gathered, p["w_o"])
    dgathered = split_heads(dgathered, cfg.n_heads)
    dv = np.swapaxes(used, -1, -2) @ dgathered
    dweights = dropout(dgathered @ np.swapaxes(v, -1, -2), mask)
    dq, dk = attention_weights_backward(dweights, weights, q, k)

    dk, dv = share_heads_backward(dk, cfg), share_heads_backward(dv, cfg)
    dx, dw_qkv, db_qkv = project_backward(dq, dk, dv, x, p, cfg)
    return dx, {"w_qkv": dw_qkv, "b_qkv": db_qkv, "w_o": dw_o, "b_o": db_o}


def project(
    x: np.ndarray, p: dict[str, Any], cfg: GPTConfig, start: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # [B, T, C] -> [B, H, T, D], twice [B, K, T, D]
    """Queries, keys and values of tokens at the positions from `start` on."""
    H, K, D = cfg.n_heads, cfg.kv_heads, cfg.head_width
    qkv = linear(x, p["w_qkv"], p["b_qkv"])
    q, k, v = np.split(qkv, [H * D, (H + K) * D], axis=-1)
    q, k, v = split_heads(q, H), split_heads(k, K), split_heads(v, K)
    if cfg.rotary:
        q = apply_rotary(q, start, cfg.rope_theta)
        k = apply_rotary_backward(k, start, cfg.rope_theta)
    return q, k, v


def project_backward(
    dq: np.ndarray, dk: np.ndarray, dv: np.ndarray, x: np.ndarray, p: dict[str, Any], cfg: GPTConfig
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gradients of the input, the weights and the bias."""
    if cfg.rotary:
        dq = apply_rotary_backward(dq, theta=cfg.rope_theta)
        dk = apply_rotary(dk, theta=cfg.rope_theta)
    dqkv = np.concatenate([merge_heads(dq), merge_heads(dk), merge_heads(dv)], axis=-1)
    return linear_backward(dqkv, x, p["w_qkv"])


def attention_weights(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    """How much each query takes from each key, [B, H, T, D], [B, H, S, D] -> [B, H, T, S]."""
    scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    return softmax(np.where(future(*scores.shape[-2:]), -np.inf, scores))


def attention_weights_backward(
    dweights: np.ndarray, weights: np.ndarray, q: np.ndarray, k: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:  # -> [B, H, T, D], [B, H, T, D]
    """Gradients of queries and keys; hidden scores are constants and pass nothing on."""
    dscores = softmax_backward(dweights, weights)
    dscores = np.where(future(*dscores.shape[-2:]), 0.0, dscores) / math.sqrt(q.shape[-1])
    return dscores @ k, np.swapaxes(dscores, -1, -2) @ q


def future(T: int, S: int) -> np.ndarray:  # -> [T, S]
    """Which of S keys each of the last T queries may not see: those that come after it."""
    return np.triu(np.ones((T, S), dtype=bool), k=1 + S - T)


def split_heads(x: np.ndarray, n_heads: int) -> np.ndarray:  # [B, T, C] -> [B, H, T, D]
    """Give every head its own slice of the channels."""
    B, T, C = x.shape
    return x.reshape(B, T, n_heads, C // n_heads).transpose(0, 2, 1, 3)


def merge_heads(x: np.ndarray) -> np.ndarray:  # [B, H, T, D] -> [B, T, C]
    """Lay the heads side by side again."""
    B, H, T, D = x.shape
    return x.transpose(0, 2, 1, 3).reshape(B, T, H * D)


def share_heads(x: np.ndarray, cfg: GPTConfig) -> np.ndarray:  # [B, K, S, D] -> [B, H, S, D]
    """Let H / K neighbouring query heads read the same keys or values."""
    return np.repeat(x, cfg.n_heads // cfg.kv_heads, axis=1)


def share_heads_backward(dout: np.ndarray, cfg: GPTConfig) -> np.ndarray:
    """Add up what the query heads of a group send back, [B, H, S, D] -> [B, K, S, D]."""
    B, H, S, D = dout.shape
    return dout.reshape(B, cfg.kv_heads, H // cfg.kv_heads, S, D).sum(axis=2)
