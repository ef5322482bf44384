"""Generation: one token after another, each chosen from what the model expects next."""

from typing import Any

import numpy as np

from .cache import cache_length, forward_cached, init_cache
from .config import GPTConfig
from .embedding import check_token_ids
from .model import gpt_forward
from .sampling import sample_next


def generate(
    params: dict[str, Any],
    cfg: GPTConfig,
    token_ids: np.ndarray,
    max_new_tokens: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    stop_token: int | None = None,
    seed: int = 0,
    use_cache: bool = True,
) -> np.ndarray:  # [B, T] -> [B, T + n]
    """The prompts and what follows them, the same with and without a cache.

    The model reads the last `max_seq_len` tokens. A row that has chosen the stop token is filled
    up with it; the end comes when all rows have, or after `max_new_tokens`.
    """
    token_ids = np.asarray(token_ids)
    check_token_ids(token_ids[..., -cfg.max_seq_len :], cfg)
    # Together with signed token ids, NumPy would turn unsigned ones of 64 bits into floats.
    token_ids = token_ids.astype(np.int64)
    if max_new_tokens < 0:
        raise ValueError(f"max_new_tokens must be 0 or more, got {max_new_tokens}")
    cache = init_cache(cfg, len(token_ids), params["wte"].dtype)
    stopped = np.zeros(len(token_ids), dtype=bool)
    for _ in range(max_new_tokens):
        window = token_ids[:, -cfg.max_seq_len :]
        if use_cache:
            # Once the window moves, every position changes and nothing kept holds any longer.
            if cache_length(cache) == cfg.max_seq_len:
                cache = init_cache(cfg, len(token_ids), params["wte"].dtype)
            logits, cache = forward_cached(params, cfg, window[:, cache_length(cache) :], cache)
        else:
            logits = gpt_forward(params, cfg, window)
        chosen = sample_next(logits[:, -1], temperature, top_k, top_p, seed)
        if stop_token is not None:
            chosen = np.where(stopped, stop_token, chosen)
            stopped = stopped | (chosen == stop_token)
        token_ids = np.concatenate([token_ids, chosen[:, None]], axis=1)
        if len(stopped) and stopped.all():
            break
    return token_ids
