"""Which shape a module has, if it does not offer the contract's names itself."""

import sys
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

from ..problems import Problem

Adapt = Callable[[ModuleType], dict[str, Any] | None]

READ_AS = "__bugkit_read_as__"
"""The attribute of a module that says which shape was recognised."""

SHAPES = (
    "functions gpt_forward, init_params, ...",
    "a class MiniGPT with arrays as attributes",
    "a class GPT with get_parameters and backward",
    "PyTorch modules laid out like nanoGPT, minGPT or the GPT-2 of Hugging Face",
)
"""In words, for those whose file has none of them."""


def adapted(module: ModuleType) -> ModuleType:
    """The module itself, or one with the contract's names in terms of the classes in it.

    Raises Problem if the shape is known, and yet something of it is missing.
    """
    if hasattr(module, "gpt_forward"):
        return module
    # Only here: NumPy takes its time, and most commands never look at somebody's file.
    from .shape import building_blocks

    for name, adapt in _shapes(module):
        try:
            names = adapt(module)
        except Problem as problem:
            raise Problem(f"was read as {name}, but {problem}") from problem
        if names is not None:
            wrapped = ModuleType(module.__name__, module.__doc__)
            blocks = {} if name.startswith("a PyTorch") else building_blocks(module)
            vars(wrapped).update(blocks | names)
            setattr(wrapped, READ_AS, name)
            return wrapped
    return module


def read_as(module: ModuleType) -> str | None:
    """What the module was recognised as; None where it offers the names itself."""
    return getattr(module, READ_AS, None)


def _shapes(module: ModuleType) -> list[tuple[str, Adapt]]:
    from . import layered, mini_gpt
    from .shape import classes

    shapes: list[tuple[str, Adapt]] = [
        (mini_gpt.NAME, mini_gpt.adapt),
        (layered.NAME, layered.adapt),
    ]
    if torch := sys.modules.get("torch"):  # only somebody who uses it has imported it
        module_of_torch = torch.nn.Module
        if any(issubclass(cls, module_of_torch) for cls in classes(module)):
            from .layouts import LAYOUTS
            from .pytorch import adapt

            shapes = [(layout.name, partial(adapt, layout)) for layout in LAYOUTS]
    return shapes
