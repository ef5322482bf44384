"""The KV cache: keys and values of earlier tokens, kept so that a new token costs O(T).

A cache is a list with one {"k", "v"} of [B, K, S, D] arrays a layer, for S tokens so far. It is
never changed: a step returns a longer one.

Source: Shazeer 2019, arXiv:1911.02150, section 2.4, for decoding a token at a time.
"""

from typing import Any

import numpy as np

from .block import block
from .config import GPTConfig
from .dropout import dropout_masks
from .embedding import check_token_ids, embed
from .head import head
from .model import check_params


def init_cache(cfg: GPTConfig, batch_size: int, dtype: str = "float64") -> list[dict[str, Any]]:
    """A cache without any token."""
    empty = np.zeros((batch_size, cfg.kv_heads, 0, cfg.head_width), dtype)
    return [{"k": empty, "v": empty} for _ in range(cfg.n_layers)]


def cache_length(cache: list[dict[str, Any]]) -> int:
    """S: how many tokens the cache holds."""
    return cache[0]["k"].shape[2]


def forward_cached(
    params: dict[str, Any], cfg: GPTConfig, token_ids: np.ndarray, cache: list[dict[str, Any]]
) -> tuple[np.ndarray, list[dict[str, Any]]]:  # [B, T] -> [B, T, V]
    """Logits of tokens that follow the cached ones, and the cache with them.

    One call may bring any number of tokens: the whole prompt (prefill), a piece of it, or one
    (decoding). Raises ValueError if all together are more than `max_seq_len`.
    """
    token_ids = np.asarray(token_ids)
    check_token_ids(token_ids, cfg)
    check_params(params, cfg)
    B, T = token_ids.shape
    if len(cache) != cfg.n_layers:
        raise ValueError(f"the cache has {len(cache)} layers, the model has {cfg.n_layers}")
    if len(cache[0]["k"]) != B:
        raise ValueError(f"the cache is for {len(cache[0]['k'])} rows, token_ids have {B}")
    S = cache_length(cache)
    if cfg.max_seq_len < S + T:
        raise ValueError(f"{S} cached tokens and {T} new ones are more than {cfg.max_seq_len}")
    masks = dropout_masks(cfg, (B, T), seed=None)
    x = embed(params, token_ids)
    grown = []
    for p, layer_masks, past in zip(params["blocks"], masks["blocks"], cache, strict=True):
        x, _, present = block(x, p, cfg, layer_masks, past)
        grown.append(present)
    return head(x, params), grown
