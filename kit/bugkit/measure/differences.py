"""The largest differences from the correct GPT on one fixed batch with the same parameters.

The parameters are random and large, gains and biases too: near the usual start attention is even
everywhere and most bugs hide. They are not trained, so that every computer gets the same numbers.
"""

import copy
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

from .settings import ROUNDING, SEED, Setting

VOCABULARY = 22
BATCH, TIME = 3, 17
"""A batch that is shorter than the context, and whose sizes differ from all others."""

SPREAD = 0.3
"""Standard deviation that is added to every parameter."""

PIECE = 5
"""Tokens that are read first where the cache takes part."""

DIFFERENCES = (
    "logits_difference",
    "cached_difference",
    "attention_difference",
    "gradient_difference",
)


def largest_differences(
    gpt: ModuleType, correct: ModuleType, setting: Setting
) -> dict[str, float | None]:
    """The largest absolute difference of logits, of those that come through the cache, of attention
    weights, and of gradients (which are taken with dropout, as in training). None where there is no
    number."""
    sizes = correct.GPTConfig(vocab_size=VOCABULARY, **setting.config)
    rng = np.random.default_rng(SEED)
    start = correct.init_params(sizes, seed=SEED)
    params = correct.tree.map_tree(lambda p: p + rng.normal(0.0, SPREAD, p.shape), start)
    token_ids, targets = rng.integers(VOCABULARY, size=(2, BATCH, TIME))

    def both(call: Callable[..., Any]) -> float | None:
        def result(module: ModuleType) -> Any:
            # Copies: a model may change what it is given.
            config = module.GPTConfig(vocab_size=VOCABULARY, **setting.config)
            return call(module, copy.deepcopy(params), config, token_ids.copy())

        try:
            return _largest(result(gpt), result(correct))
        except BaseException:  # what it raises is told by the training
            return None

    found = (
        both(lambda m, p, cfg, ids: m.gpt_forward(p, cfg, ids)),
        both(_through_cache),
        both(lambda m, p, cfg, ids: m.gpt_forward(p, cfg, ids, return_attn=True)[1]),
        both(lambda m, p, cfg, ids: m.loss_and_grads(p, cfg, ids, targets.copy(), SEED)[1]),
    )
    return dict(zip(DIFFERENCES, found, strict=True))


def _through_cache(m: ModuleType, p: Any, cfg: Any, ids: np.ndarray) -> list[np.ndarray]:
    first, cache = m.forward_cached(p, cfg, ids[:, :PIECE], m.init_cache(cfg, BATCH))
    second, _ = m.forward_cached(p, cfg, ids[:, PIECE:], cache)
    return [first, second]


def _largest(theirs: Any, ours: Any) -> float | None:
    """Raises ValueError where the two cannot be laid over each other."""
    largest = max(_each(theirs, ours))
    if not np.isfinite(largest):
        return None
    return 0.0 if largest < ROUNDING else largest


def _each(theirs: Any, ours: Any) -> Iterator[float]:
    if isinstance(ours, dict | list):
        if len(theirs) != len(ours):
            raise ValueError("not as many parts")
        for key in ours if isinstance(ours, dict) else range(len(ours)):
            yield from _each(theirs[key], ours[key])
        return
    if np.shape(theirs) != np.shape(ours):
        raise ValueError("another shape")
    difference = float(np.max(np.abs(theirs - ours)))
    yield difference if np.isfinite(difference) else float("inf")  # no number hides behind a NaN
