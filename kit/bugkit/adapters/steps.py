"""Gradients of a class that only has train_step(ids, targets, lr): what a step of plain gradient
descent moves, divided by the rate.

That is a gradient only if the step is nothing but that. Before it is offered, steps with large
random parameters are looked at, where clipping, momentum, weight decay or Adam would show; and
most arrays must move, since a step that trains the head alone has no gradient of the rest.
"""

from typing import Any

import numpy as np

from .shape import PROBE, PROBE_IDS, Sizes, arguments, tree_in_type_of

RATE = 1.0
"""Any rate gives the same gradient; one rounds nothing."""

SAME = 1e-4
"""Relative difference that rounding explains, in single precision too."""


def gradients_by_steps(adapter: Any) -> dict[str, Any]:
    """loss_and_grads, if the class trains by plain gradient descent."""
    try:
        offered = _is_plain(adapter)
    except Exception:
        return {}

    def loss_and_grads(
        params: dict[str, Any], cfg: Sizes, token_ids: np.ndarray, targets: np.ndarray
    ) -> tuple[float, dict[str, Any]]:
        """The loss as `loss` says it, the gradients as `train_step` uses them."""
        rows = list(zip(token_ids, targets, strict=True)) if adapter.by_rows else None
        batches = rows or [(token_ids, targets)]
        losses = [adapter.with_params(params, cfg).loss(*batch) for batch in batches]
        steps = [moved(adapter, params, cfg, *batch) for batch in batches]
        return float(np.mean(losses)), tree_in_type_of(params, mean_tree(steps))

    return {"loss_and_grads": loss_and_grads} if offered else {}


def moved(
    adapter: Any,
    params: dict[str, Any],
    cfg: Sizes,
    token_ids: np.ndarray,
    targets: np.ndarray,
    rate: float = RATE,
) -> dict[str, Any]:
    """How far one step moves every parameter, over the rate."""
    model = adapter.with_params(params, cfg)
    before = mean_tree([adapter.read(model, cfg)])
    model.train_step(token_ids, targets, rate)
    after = adapter.read(model, cfg)
    gradient: dict[str, Any] = mean_tree([before, after], [1 / rate, -1 / rate])
    return gradient


def mean_tree(trees: list[Any], weights: list[float] | None = None) -> Any:
    """The weighted sum of trees of one shape, in arrays of its own; by default their mean."""
    weights = weights or [1 / len(trees)] * len(trees)
    first = trees[0]
    if isinstance(first, dict):
        return {key: mean_tree([tree[key] for tree in trees], weights) for key in first}
    if isinstance(first, list):
        return [mean_tree(list(branches), weights) for branches in zip(*trees, strict=True)]
    total = sum(w * np.asarray(tree) for w, tree in zip(weights, trees, strict=True))
    return np.asarray(total, first.dtype)


def _is_plain(adapter: Any) -> bool:
    model = adapter.model(PROBE)
    if not hasattr(model, "loss") or len(arguments(model.train_step)) < 3:
        return False
    rng = np.random.default_rng(0)
    params = _random_like(adapter.read(model, PROBE), rng)
    ids = PROBE_IDS[0] if adapter.by_rows else PROBE_IDS
    targets = (ids + 1) % PROBE.vocab_size
    if not np.isscalar(adapter.model(PROBE).loss(ids, targets)):
        return False
    whole, half, other = (
        moved(adapter, params, PROBE, ids, wanted, rate)
        for wanted, rate in ((targets, RATE), (targets, RATE / 2), (ids, RATE))
    )
    arrays = _arrays(whole)
    linear = all(
        np.allclose(one, two, rtol=SAME, atol=SAME * (1 + np.abs(one).max()))
        for one, two in zip(arrays, _arrays(half), strict=True)
    )
    unused = [word for word in range(PROBE.vocab_size) if word not in ids]
    decays = bool(np.abs(whole["wte"][unused]).max() > 0) and "w_lm" in whole
    clipped = bool(np.isclose(_norm(whole), _norm(other), rtol=SAME))
    sizes = np.abs(whole["blocks"][0]["mlp"]["w1"])
    by_sign = bool(sizes.max() < 1.01 * np.median(sizes))
    trained = sum(bool(np.abs(array).max() > 0) for array in arrays)
    return linear and not decays and not clipped and not by_sign and trained > len(arrays) / 2


def _random_like(tree: Any, rng: np.random.Generator) -> Any:
    if isinstance(tree, dict):
        return {key: _random_like(value, rng) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_random_like(value, rng) for value in tree]
    return rng.normal(0.0, 1.0, tree.shape)


def _arrays(tree: Any) -> list[np.ndarray]:
    if isinstance(tree, np.ndarray):
        return [tree]
    branches = tree.values() if isinstance(tree, dict) else tree
    return [array for branch in branches for array in _arrays(branch)]


def _norm(tree: Any) -> float:
    return float(np.sqrt(sum(np.sum(np.square(array)) for array in _arrays(tree))))
