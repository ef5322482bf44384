"""Numbers to draw: what a reader of a figure sees of a model that nobody has trained.

The parameters are random and large, like those of `differences`, so that every computer gets the
same numbers up to the digits that are kept.
"""

import copy
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from .settings import SEED, Setting

VOCABULARY = 22
SPREAD = 0.2
"""Standard deviation that is added to every parameter: attention has a choice, and is not so sharp
that a map holds nothing but zeros and ones."""

PLACES = 3
"""Decimals that are kept."""

TOKENS = 6
"""Of the sequence whose attention is drawn."""

PIECES = (4, 1, 3, 1, 1, 2)
"""Tokens that are read at a time where the cache takes part: one, and several after others."""

ROWS = 3
"""Sequences that are read through the cache together."""

LOGITS = (1.2, -0.3, 2.0, 0.4, 1.6, 0.4, -1.0, 0.9)
"""Of the tokens to draw from: in no order, and two alike where top-k cuts."""

OPTIONS: dict[str, Any] = {"temperature": 0.8, "top_k": 5, "top_p": 0.9}
"""Top-k drops three tokens, and top-p one more."""

SEEDS = 40
PER_SEED = 50
"""Rows that are drawn from at once. DRAWS in all."""

DRAWS = SEEDS * PER_SEED

Rng = np.random.Generator

PICTURES = ("attention", "sampled", "by_position")


def pictures(gpt: ModuleType, correct: ModuleType, setting: Setting) -> dict[str, Any]:
    """What the evidence holds under each of PICTURES, as JSON takes it: a `Maps` and two `Pair`s of
    `comparison`. None where either model raises, or where a number is not finite."""

    def drawn(
        numbers: Callable[[ModuleType], np.ndarray],
        laid: Callable[[np.ndarray, np.ndarray], dict[str, Any]],
    ) -> dict[str, Any] | None:
        try:
            return laid(numbers(gpt), numbers(correct))
        except BaseException:  # what it raises is told by the training
            return None

    found = (
        drawn(lambda m: _maps(m, *_model(m, setting, correct)), _attention),
        drawn(_shares, _both),
        drawn(lambda m: _gaps(m, *_model(m, setting, correct)), _both),
    )
    return dict(zip(PICTURES, found, strict=True))


def _both(theirs: np.ndarray, ours: np.ndarray) -> dict[str, Any]:
    return {"observed": _listed(theirs), "expected": _listed(ours)}


def _listed(numbers: np.ndarray) -> Any:
    """Raises ValueError if one is not finite."""
    if not np.all(np.isfinite(numbers)):
        raise ValueError("not finite")
    return (np.round(numbers, PLACES) + 0.0).tolist()  # no minus zero


def _model(m: ModuleType, setting: Setting, correct: ModuleType) -> tuple[Any, Any, Rng]:
    """Parameters and sizes for the module, and what its tokens are drawn from."""
    sizes = correct.GPTConfig(vocab_size=VOCABULARY, **setting.config)
    rng = np.random.default_rng(SEED)
    start = correct.init_params(sizes, seed=SEED)
    params = correct.tree.map_tree(lambda p: p + rng.normal(0.0, SPREAD, p.shape), start)
    return copy.deepcopy(params), m.GPTConfig(vocab_size=VOCABULARY, **setting.config), rng


def _maps(m: ModuleType, params: Any, cfg: Any, rng: Rng) -> np.ndarray:  # [layers, H, T, T]
    """Who reads whom, and how much."""
    token_ids = rng.integers(VOCABULARY, size=(1, TOKENS))
    maps = np.array([layer[0] for layer in m.gpt_forward(params, cfg, token_ids, True)[1]])
    if maps.shape != (cfg.n_layers, cfg.n_heads, TOKENS, TOKENS):
        raise ValueError("another shape")
    return maps


def _attention(theirs: np.ndarray, ours: np.ndarray) -> dict[str, Any]:
    """The map of the head in which the two differ most."""
    # In the digits that are kept: where two heads differ alike, every computer takes the first.
    largest = np.round(np.abs(theirs - ours).max(axis=(2, 3)), PLACES)
    layer, head = (int(i) for i in np.unravel_index(np.argmax(largest), largest.shape))
    return {"layer": layer, "head": head, **_both(theirs[layer, head], ours[layer, head])}


def _shares(m: ModuleType) -> np.ndarray:  # [V]
    """How often each token is drawn."""
    # A constant that is added to a row changes nothing in it.
    logits = np.array(LOGITS) + np.linspace(-1.0, 1.0, PER_SEED)[:, None]
    counts = np.zeros(len(LOGITS))
    for seed in range(SEED, SEED + SEEDS):
        drawn = np.asarray(m.sample_next(logits.copy(), **OPTIONS, seed=seed))
        if drawn.shape != (PER_SEED,):
            raise ValueError("another shape")
        counts += np.bincount(drawn, minlength=len(LOGITS))
    return counts / DRAWS


def _gaps(m: ModuleType, params: Any, cfg: Any, rng: Rng) -> np.ndarray:  # [T]
    """How far the logits that come through the cache are from those of one reading, at most, at
    each position."""
    token_ids = rng.integers(VOCABULARY, size=(ROWS, sum(PIECES)))
    whole = m.gpt_forward(copy.deepcopy(params), cfg, token_ids.copy())
    cache, parts = m.init_cache(cfg, ROWS), []
    for piece in np.split(token_ids, np.cumsum(PIECES)[:-1], axis=1):
        logits, cache = m.forward_cached(params, cfg, piece, cache)
        parts.append(logits)
    pieces = np.concatenate(parts, axis=1)
    if pieces.shape != whole.shape:
        raise ValueError("another shape")
    return np.array(np.abs(pieces - whole).max(axis=(0, 2)))
