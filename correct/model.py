"""The whole forward pass: token ids in, a score for every possible next token out.

Source: Radford et al. 2019 (GPT-2), section 2.3.
"""

from typing import Any

import numpy as np

from .block import block
from .config import GPTConfig
from .embedding import check_token_ids, embed
from .head import head
from .norm import layer_norm


def gpt_forward(
    params: dict[str, Any], cfg: GPTConfig, token_ids: np.ndarray, return_attn: bool = False
) -> np.ndarray | tuple[np.ndarray, list[np.ndarray]]:  # [B, T] -> [B, T, V]
    """Logits: row t scores what may follow the tokens up to and including t.

    With `return_attn` the result is (logits, maps), where maps holds one [B, H, T, T] array
    of attention weights for each layer.

    Raises ValueError for token ids of the wrong shape, type, length or range.
    """
    token_ids = np.asarray(token_ids)
    check_token_ids(token_ids, cfg)
    x = embed(params, token_ids)
    maps = []
    for p in params["blocks"]:
        x, weights = block(x, p, cfg.n_heads)
        if return_attn:
            maps.append(weights)
    logits = head(layer_norm(x, **params["ln_f"]), params)
    return (logits, maps) if return_attn else logits
