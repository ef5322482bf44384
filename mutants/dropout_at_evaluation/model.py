"""The whole forward pass: token ids in, a score for every possible next token out.

Source: Radford et al. 2019 (GPT-2), section 2.3.
"""

from typing import Any

import numpy as np

from .block import block
from .config import GPTConfig
from .dropout import dropout, dropout_masks
from .embedding import check_token_ids, embed
from .head import head


def gpt_forward(
    params: dict[str, Any],
    cfg: GPTConfig,
    token_ids: np.ndarray,
    return_attn: bool = False,
    dropout_seed: int | None = None,
) -> np.ndarray | tuple[np.ndarray, list[np.ndarray]]:  # [B, T] -> [B, T, V]
    """Logits: row t scores what may follow the tokens up to and including t.

    With `return_attn` the result is (logits, maps), where maps holds one [B, H, T, T] array
    of attention weights for each layer. Dropout is active only if a seed is given.

    Raises ValueError for token ids of the wrong shape, type, length or range, and for parameters
    of another number of layers or of fewer positions.
    """
    token_ids = np.asarray(token_ids)
    check_token_ids(token_ids, cfg)
    check_params(params, cfg)
    masks = dropout_masks(cfg, token_ids.shape, dropout_seed or 0, params["wte"].dtype)
    x = dropout(embed(params, token_ids), masks["embedding"])
    maps = []
    for p, layer_masks in zip(params["blocks"], masks["blocks"], strict=True):
        x, weights, _ = block(x, p, cfg, layer_masks)
        if return_attn:
            maps.append(weights)
    logits = head(x, params)
    return (logits, maps) if return_attn else logits


def check_params(params: dict[str, Any], cfg: GPTConfig) -> None:
    """Raise ValueError unless the tree has the blocks and positions of the configuration."""
    if len(params["blocks"]) != cfg.n_layers:
        raise ValueError(
            f"params hold {len(params['blocks'])} blocks, the configuration says {cfg.n_layers}"
        )
    # A table of one row would even be added to every token.
    if "wpe" in params and len(params["wpe"]) < cfg.max_seq_len:
        raise ValueError(
            f"params hold {len(params['wpe'])} positions, the configuration says {cfg.max_seq_len}"
        )
