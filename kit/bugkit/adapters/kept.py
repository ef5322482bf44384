"""Weights of attention that a class keeps after a forward pass, for its backward pass or to look
at: one array (B, H, T, T) for each layer, under the same name."""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

NOT_WEIGHTS = re.compile(r"score|mask|grad|logit", re.IGNORECASE)
"""Names of other arrays that have this shape."""

DEPTH = 6
"""How far down attributes are followed: model, blocks, block, attention, cache, array."""


def name_of_kept(model: Any, shape: tuple[int, ...], n_layers: int) -> str | None:
    """The name under which weights are kept, if there is one beyond doubt.

    Weights lie between 0 and 1, and some of them in between: scores and masks do not.
    """
    groups: dict[str, list[np.ndarray]] = {}
    for name, array in _arrays(model, shape):
        groups.setdefault(name, []).append(array)
    found = [
        name
        for name, arrays in groups.items()
        if len(arrays) == n_layers and not NOT_WEIGHTS.search(name) and all(map(_weighs, arrays))
    ]
    alike = [
        name
        for name in found
        if all(np.array_equal(*pair) for pair in zip(groups[name], groups[found[0]], strict=True))
    ]
    return found[0] if found and alike == found else None


def kept(model: Any, shape: tuple[int, ...], name: str) -> list[np.ndarray]:
    """What is kept under this name, layer by layer."""
    return [array for found, array in _arrays(model, shape) if found == name]


def _weighs(array: np.ndarray) -> bool:
    between = (array > 0) & (array < 1)
    return bool(((array >= 0) & (array <= 1 + 1e-6)).all() and between.any())


def _arrays(root: Any, shape: tuple[int, ...]) -> Iterator[tuple[str, np.ndarray]]:
    """Arrays of this shape with the names of their attributes, in the order of the layers."""
    seen: set[int] = set()

    def walk(value: Any, name: str, depth: int) -> Iterator[tuple[str, np.ndarray]]:
        if isinstance(value, np.ndarray):
            if value.shape == shape and id(value) not in seen:
                seen.add(id(value))
                yield name, value
            return
        if depth == DEPTH or id(value) in seen:
            return
        seen.add(id(value))
        if isinstance(value, dict):
            items = [(f"{name}.{key}", item) for key, item in value.items()]
        elif isinstance(value, tuple):
            items = [(f"{name}.{i}", item) for i, item in enumerate(value)]
        elif isinstance(value, list):
            items = [(name, item) for item in value]
        else:
            items = list(getattr(value, "__dict__", {}).items())
        for key, item in items:
            yield from walk(item, key, depth + 1)

    yield from walk(root, "", 0)
