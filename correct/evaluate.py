"""How well a model predicts a text."""

from typing import Any

import numpy as np

from .config import GPTConfig
from .loss import cross_entropy, log_softmax, pick
from .model import gpt_forward


def evaluate(
    params: dict[str, Any],
    cfg: GPTConfig,
    data: np.ndarray,
    batch_size: int = 8,
    seq_len: int | None = None,
) -> float:  # [N] -> one number, in nats
    """The mean loss of every token but the first, in windows that follow one another.

    The last window may be shorter, and counts by its tokens. The perplexity is the exponential.
    """
    T = cfg.max_seq_len if seq_len is None else seq_len
    for name, size in (("batch_size", batch_size), ("seq_len", T)):
        if size < 1:
            raise ValueError(f"{name} must be at least 1, got {size}")
    if len(data) < 2:
        raise ValueError(f"data hold {len(data)} tokens; a prediction needs at least 2")
    inputs, targets = data[:-1], data[1:]
    whole = len(inputs) // T * T
    rows = list(zip(inputs[:whole].reshape(-1, T), targets[:whole].reshape(-1, T), strict=True))
    batches = [rows[i : i + batch_size] for i in range(0, len(rows), batch_size)]
    if whole < len(inputs):
        batches.append([(inputs[whole:], targets[whole:])])
    total = 0.0
    for batch in batches:
        token_ids, wanted = (np.stack(part) for part in zip(*batch, strict=True))
        total += cross_entropy(gpt_forward(params, cfg, token_ids), wanted) * wanted.size
    return total / targets.size


def token_log_probs(
    params: dict[str, Any], cfg: GPTConfig, token_ids: np.ndarray
) -> np.ndarray:  # [B, T] -> [B, T - 1]
    """The log-probability of each token but the first, given those before it."""
    token_ids = np.asarray(token_ids)
    log_probs = log_softmax(gpt_forward(params, cfg, token_ids))
    return pick(log_probs[:, :-1], token_ids[:, 1:])
