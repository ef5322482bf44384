"""Token ids -> vectors.

Attention by itself cannot tell one order of tokens from another, so each position adds a
learned vector of its own, unless positions are rotary.

Source: Vaswani et al. 2017, section 3.4 and 3.5; learned positions as in GPT-2, where the
sum is not scaled.
"""

from typing import Any

import numpy as np

from .config import GPTConfig


def embed(
    params: dict[str, Any], token_ids: np.ndarray, start: int = 0
) -> np.ndarray:  # [B, T] -> [B, T, C]
    """Token vector plus position vector, for tokens at the positions from `start` on."""
    tokens = params["wte"][token_ids]
    if "wpe" not in params:
        return tokens
    positions = params["wpe"][start : start + token_ids.shape[1]]
    return tokens + positions


def embed_backward(
    dout: np.ndarray, params: dict[str, Any], token_ids: np.ndarray
) -> dict[str, np.ndarray]:  # [B, T, C] -> [V, C], [max_seq_len, C]
    """Gradients of the tables. A token that occurs several times adds up what it gets."""
    dwte = np.zeros_like(params["wte"])
    dwte[token_ids] += dout
    if "wpe" not in params:
        return {"wte": dwte}
    dwpe = np.zeros_like(params["wpe"])
    dwpe[: token_ids.shape[1]] = dout.sum(axis=0)
    return {"wte": dwte, "wpe": dwpe}


def check_token_ids(token_ids: np.ndarray, cfg: GPTConfig) -> None:
    """Raise ValueError unless `token_ids` is a batch that the model can read."""
    if token_ids.ndim != 2:
        raise ValueError(f"token_ids must have shape (B, T), got shape {token_ids.shape}")
    T = token_ids.shape[1]
    if not 1 <= T <= cfg.max_seq_len:
        raise ValueError(f"T must be from 1 to max_seq_len = {cfg.max_seq_len}, got {T}")
    if not np.issubdtype(token_ids.dtype, np.integer):
        raise ValueError(f"token_ids must be integers, got {token_ids.dtype}")
    if token_ids.size and (token_ids.min() < 0 or token_ids.max() >= cfg.vocab_size):
        raise ValueError(
            f"token ids must be from 0 to {cfg.vocab_size - 1}, "
            f"got {token_ids.min()} to {token_ids.max()}"
        )
