"""Trees of dictionaries, lists and arrays: parameters, gradients, the optimiser's memory."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np


def leaves(tree: Any, path: str = "") -> Iterator[tuple[str, np.ndarray]]:
    """Every array with its path, such as "blocks.0.attn.w_o"."""
    if not isinstance(tree, dict | list):
        yield path, tree
        return
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, branch in items:
        yield from leaves(branch, f"{path}.{key}" if path else str(key))


def from_leaves(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """The tree of these paths and leaves; names that are numbers make a list."""
    tree: dict[str, Any] = {}
    for path, leaf in pairs:
        *above, name = path.split(".")
        branch = tree
        for step in above:
            branch = branch.setdefault(step, {})
        branch[name] = leaf

    def with_lists(branch: Any) -> Any:
        if not isinstance(branch, dict):
            return branch
        branches = {name: with_lists(part) for name, part in branch.items()}
        return list(branches.values()) if all(n.isdigit() for n in branches) else branches

    return {name: with_lists(branch) for name, branch in tree.items()}


def map_tree(function: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """A tree of the same shape: the function of each array, and of its counterparts."""
    if isinstance(tree, dict):
        return {key: map_tree(function, tree[key], *[o[key] for o in others]) for key in tree}
    if isinstance(tree, list):
        return [map_tree(function, *branches) for branches in zip(tree, *others, strict=True)]
    return function(tree, *others)
