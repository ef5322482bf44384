"""The names a subject offers, by level, and how detectors reach them.

Only data crosses: arrays, numbers, texts, lists and dictionaries. So a detector cannot tell in
which process, or behind which adapter, a subject lives.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any, Protocol

import numpy as np
import pytest

from .problems import nearest

NAMES_BY_LEVEL = {
    1: ("GPTConfig", "init_params", "gpt_forward", "softmax", "layer_norm", "gelu"),
}
"""Level 1 is the forward pass."""

NAMES = tuple(name for names in NAMES_BY_LEVEL.values() for name in names)


class GPT(Protocol):
    """What the `gpt` fixture gives a detector."""

    GPTConfig: Callable[..., Any]
    """(vocab_size, d_model, n_layers, n_heads, max_seq_len) -> frozen configuration."""
    init_params: Callable[..., dict[str, Any]]
    """(cfg, seed=0) -> tree of parameters."""
    gpt_forward: Callable[..., Any]
    """(params, cfg, token_ids [B, T], return_attn=False) -> logits [B, T, V], and with
    return_attn also a list of weights [B, H, T, T], one a layer."""
    softmax: Callable[..., Any]
    """(x, axis=-1) -> weights of the same shape."""
    layer_norm: Callable[..., Any]
    """(x [..., C], g [C], b [C], eps=1e-5) -> [..., C]."""
    gelu: Callable[..., Any]
    """(x) -> activations of the same shape, tanh form."""


class Offer:
    """A subject's module, seen through the contract. Asking for a name that it lacks skips the
    test: a detector that cannot be run is not failed."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        if name not in NAMES:
            raise AttributeError(f"the contract has no name {name}")
        value = getattr(self._module, name, None)
        if value is None:
            near = nearest(name, (n for n in vars(self._module) if not n.startswith("_")))
            pytest.skip(f"{name} is not offered{near.replace(';', ',')}")

        def call_subject(*args: Any, **kwargs: Any) -> Any:
            return _copied(value(*_copied(args), **_copied(kwargs)))

        return call_subject


def raised_by_subject(error: BaseException) -> bool:
    """Whether an exception came out of a subject's code, and not of the test that called it."""
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_name == "call_subject":
            return trace.tb_next is not None
        trace = trace.tb_next
    return False


def _copied(tree: Any) -> Any:
    """The same tree with arrays of its own, so that neither side can change the other's: a subject
    may write every result into one buffer."""
    # This runs before every call, over a whole tree of parameters: commonest first.
    kind = type(tree)
    if kind is np.ndarray:
        return tree.copy()
    if kind is dict:
        return {key: _copied(value) for key, value in tree.items()}
    if kind is list:
        return [_copied(value) for value in tree]
    if kind is tuple:
        return tuple([_copied(value) for value in tree])
    return tree
