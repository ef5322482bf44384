"""A subject in this process, with nothing of the kit around it.

`standalone` copies these definitions into programs of their own, so they use NumPy alone.
"""

from collections.abc import Callable
from typing import Any

import numpy as np


class Plain:
    """The functions of a package, with their arguments and results copied: neither side can change
    the arrays of the other."""

    def __init__(self, package: Any) -> None:
        self._package = package

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function = getattr(self._package, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            return duplicated(function(*duplicated(args), **duplicated(kwargs)))

        return call


def duplicated(tree: Any) -> Any:
    """The same tree with arrays of its own, so that neither side can change the other's: a program
    may write every result into one buffer."""
    # This runs before every call, over a whole tree of parameters: commonest first.
    kind = type(tree)
    if kind is np.ndarray:
        return tree.copy()
    if kind is dict:
        return {key: duplicated(value) for key, value in tree.items()}
    if kind is list:
        return [duplicated(value) for value in tree]
    if kind is tuple:
        return tuple([duplicated(value) for value in tree])
    return tree
