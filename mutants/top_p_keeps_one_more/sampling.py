"""The choice of the next token.

Sources: Fan, Lewis & Dauphin 2018, arXiv:1805.04833, for top-k; Holtzman et al. 2020,
arXiv:1904.09751, section 3.1, for top-p.
"""

import numpy as np

from .softmax import softmax

ROUNDING = 1e-10
"""What rounding may add to a sum of a hundred thousand probabilities, relative to it, and no draw
tells. Without it, of ten equal tokens nine would be kept at p = 0.8: eight of them add up to
0.7999999999999999."""


def sample_next(
    logits: np.ndarray,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int = 0,
) -> np.ndarray:  # [B, V] -> [B]
    """One token a row, drawn from `next_probs`; at temperature 0 the most likely one."""
    check_options(temperature, top_k, top_p)
    if temperature == 0.0:
        return np.argmax(logits, axis=-1)
    probs = next_probs(logits, temperature, top_k, top_p)
    up_to = np.cumsum(probs, axis=-1)
    # The last sum may miss one by rounding.
    draws = np.random.default_rng(seed).random((len(probs), 1)) * up_to[:, -1:]
    return np.sum(up_to <= draws, axis=-1)


def next_probs(
    logits: np.ndarray, temperature: float, top_k: int | None, top_p: float | None
) -> np.ndarray:  # [B, V] -> [B, V]
    """Probabilities after the temperature, then top-k, then top-p; each time normalised anew."""
    # In float64 and from the largest down, a temperature near zero is no danger.
    logits = logits.astype(np.float64)
    logits = logits - np.max(logits, axis=-1, keepdims=True)
    logits = logits / temperature
    # Stable: of equal logits the lower token id comes first, so that exactly k are kept.
    order = np.argsort(-logits, axis=-1, kind="stable")
    sorted_logits = np.take_along_axis(logits, order, axis=-1)
    if top_k is not None:
        sorted_logits[:, top_k:] = -np.inf
    probs = softmax(sorted_logits)
    if top_p is not None:
        before = np.cumsum(probs, axis=-1) - probs
        probs = np.where(before <= top_p * (1 + ROUNDING), probs, 0.0)
        probs = probs / np.sum(probs, axis=-1, keepdims=True)
    unsorted = np.empty_like(probs)
    np.put_along_axis(unsorted, order, probs, axis=-1)
    return unsorted


def check_options(temperature: float, top_k: int | None, top_p: float | None) -> None:
    """Raise ValueError for options without a meaning."""
    if not temperature >= 0.0:
        raise ValueError(f"temperature must be 0 or more, got {temperature!r}")
    if top_k is not None and not isinstance(top_k, int | np.integer):
        raise ValueError(f"top_k must be a whole number, got {top_k!r}")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k must be at least 1, got {top_k!r}")
    if top_p is not None and not 0.0 < top_p <= 1.0:
        raise ValueError(f"top_p must be above 0 and at most 1, got {top_p!r}")
