"""Weights of attention of a class with a method `attention`: the places where they may be had.

Each function takes the adapter, a model, ids [B, T] and the sizes, and gives one array
[B, H, T, T] a layer, or None.
"""

from typing import Any

import numpy as np

from .kept import kept, name_of_kept
from .shape import Sizes


def maps_within_forward(
    adapter: Any, model: Any, token_ids: np.ndarray, cfg: Sizes
) -> list[np.ndarray] | None:
    """The weights that `attention` returns to `forward`, layer by layer."""
    theirs = model.attention
    seen: list[np.ndarray] = []

    def attention(*args: Any, **more: Any) -> Any:
        result = theirs(*args, **more)
        seen.extend(weights_among(result, token_ids, cfg, adapter.by_rows)[:1])
        return result

    model.attention = attention
    try:
        adapter.run(model, token_ids)
    finally:
        del model.attention
    return by_layers(seen, token_ids, cfg, adapter.by_rows)


def maps_of_ids(
    adapter: Any, model: Any, token_ids: np.ndarray, cfg: Sizes
) -> list[np.ndarray] | None:
    """The weights of all layers that `attention(ids)` returns."""
    inputs = list(token_ids) if adapter.by_rows else [token_ids]
    seen = [w for ids in inputs for w in weights_among(model.attention(ids), ids, cfg, False)]
    return by_layers(seen, token_ids, cfg, adapter.by_rows)


def maps_kept(
    adapter: Any, model: Any, token_ids: np.ndarray, cfg: Sizes
) -> list[np.ndarray] | None:
    """The weights that the class keeps after a forward pass."""
    if adapter.by_rows:
        return None
    adapter.run(model, token_ids)
    B, T = token_ids.shape
    shape = (B, cfg.n_heads, T, T)
    if adapter.keeps is None:
        adapter.keeps = name_of_kept(model, shape, cfg.n_layers)
    return kept(model, shape, adapter.keeps) if adapter.keeps else None


def weights_among(
    result: Any, token_ids: np.ndarray, cfg: Sizes, by_rows: bool
) -> list[np.ndarray]:
    """Arrays (B, H, T, T), or (H, T, T) for one row, among what a method returned."""
    T = token_ids.shape[-1]
    wanted: tuple[int, ...] = (cfg.n_heads, T, T)
    if token_ids.ndim == 2 and not by_rows:
        wanted = (len(token_ids), *wanted)
    if isinstance(result, tuple | list):
        return [w for item in result for w in weights_among(item, token_ids, cfg, by_rows)]
    shape = tuple(getattr(result, "shape", ()))
    if shape == wanted:
        return [result]
    return list(result) if shape == (cfg.n_layers, *wanted) else []


def by_layers(
    seen: list[np.ndarray], token_ids: np.ndarray, cfg: Sizes, by_rows: bool
) -> list[np.ndarray] | None:
    """One array [B, H, T, T] a layer; None if there is not one for each."""
    if not by_rows:
        return seen if len(seen) == cfg.n_layers else None
    if len(seen) != cfg.n_layers * len(token_ids):
        return None
    return [np.stack(seen[layer :: cfg.n_layers]) for layer in range(cfg.n_layers)]
