"""Dropout: in training, values are dropped at random and the others enlarged to make up for it.

Masks are drawn once, before the forward pass, and handed to forward and backward alike.

Source: Srivastava et al. 2014, "Dropout: a simple way to prevent neural networks from
overfitting", JMLR 15, in the form that scales in training; places as in GPT-2.
"""

from typing import Any

import numpy as np

from .config import GPTConfig


def dropout(x: np.ndarray, mask: np.ndarray | None) -> np.ndarray:  # [...] -> [...]
    """Multiply by the mask, if there is one. Its own backward pass."""
    return x if mask is None else x * mask


def dropout_masks(
    cfg: GPTConfig, shape: tuple[int, int], seed: int | None, dtype: Any = np.float64
) -> dict[str, Any]:
    """All masks of one pass over a batch of shape (B, T); None everywhere without a seed.

    {"embedding": [B, T, C], "blocks": [{"weights": [B, H, T, T], "attended": [B, T, C],
    "mlp": [B, T, C]}, ...]}, drawn in this order. An entry is 0 with probability `cfg.dropout`
    and 1 / (1 - cfg.dropout) otherwise, so that the mean of a value stays what it was.
    """
    B, T = shape
    keep = 1.0 - cfg.dropout
    rng = np.random.default_rng(seed)

    def mask(*shape: int) -> np.ndarray | None:
        if seed is None or cfg.dropout == 0.0:
            return None
        return (rng.random(shape) >= cfg.dropout).astype(dtype) / keep

    stream = (B, T, cfg.d_model)
    return {
        "embedding": mask(*stream),
        "blocks": [
            {
                "weights": mask(B, cfg.n_heads, T, T),
                "attended": mask(*stream),
                "mlp": mask(*stream),
            }
            for _ in range(cfg.n_layers)
        ],
    }
