"""What the adapters share: sizes, the building blocks beside a class, calls of unknown form."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from ..contract import NotOffered
from ..problems import Problem, said

PARTS = {
    "ln1": ("g", "b"),
    "attn": ("w_qkv", "b_qkv", "w_o", "b_o"),
    "ln2": ("g", "b"),
    "mlp": ("w1", "b1", "w2", "b2"),
}
"""The arrays of a block, in the contract's words."""


@dataclass(frozen=True)
class Sizes:
    """What the contract's configuration says, as far as a shape can be asked for it."""

    vocab_size: int = 64
    d_model: int = 32
    n_layers: int = 2
    n_heads: int = 4
    max_seq_len: int = 16


PROBE = Sizes(vocab_size=11, d_model=12, n_layers=2, n_heads=3, max_seq_len=9)
"""Sizes of the model that is looked at when a file is loaded; no two axes are alike."""

PROBE_IDS = np.array([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]])
"""More positions than rows, so that a class that reads one row at a time is known by it."""


USUAL = {"dropout": 0.0, "n_kv_heads": None, "rotary": False, "scale_residual_init": False}
"""Choices that a shape makes in one way only."""


def configuration(tied: bool) -> Callable[..., Sizes]:
    """GPTConfig of a shape whose head is always tied, or never."""
    fixed = {**USUAL, "tie_word_embeddings": tied}

    def config(*args: Any, **given: Any) -> Sizes:
        for name in set(given) - set(Sizes.__annotations__):
            if name not in fixed or given[name] != fixed[name]:
                raise NotOffered(f"{name}={given[name]}")
        return Sizes(*args, **{name: given[name] for name in given if name not in fixed})

    return config


def shapes_of(cfg: Sizes) -> dict[str, tuple[int, ...]]:
    """What shape each array of the tree has."""
    C = cfg.d_model
    vectors = dict.fromkeys(
        ("ln_f.g", "ln_f.b", "ln1.g", "ln1.b", "ln2.g", "ln2.b", "attn.b_o", "mlp.b2"), (C,)
    )
    thirds: dict[str, tuple[int, ...]] = {f"attn.w_{part}": (C, C) for part in "qkv"}
    thirds |= {f"attn.b_{part}": (C,) for part in "qkv"}
    return {
        **vectors,
        **thirds,
        "wte": (cfg.vocab_size, C),
        "wpe": (cfg.max_seq_len, C),
        "w_lm": (C, cfg.vocab_size),
        "attn.w_qkv": (C, 3 * C),
        "attn.b_qkv": (3 * C,),
        "attn.w_o": (C, C),
        "mlp.w1": (C, 4 * C),
        "mlp.b1": (4 * C,),
        "mlp.w2": (4 * C, C),
    }


def empty_tree(n_layers: int) -> dict[str, Any]:
    """The contract's tree before anything is in it."""
    return {"ln_f": {}, "blocks": [{part: {} for part in PARTS} for _ in range(n_layers)]}


def pick(tree: Any, path: str) -> np.ndarray:
    """What a path such as blocks.0.attn.w_o names; an array that is missing is a KeyError."""
    for key in path.split("."):
        tree = tree[int(key)] if key.isdigit() else tree[key]
    return np.asarray(tree)


def put(tree: Any, path: str, array: np.ndarray) -> None:
    """Set what a path names."""
    *outer, name = path.split(".")
    for key in outer:
        tree = tree[int(key)] if key.isdigit() else tree[key]
    tree[name] = array


def short(path: str) -> str:
    """A path without the number of its block: attn.w_o."""
    return path.split(".", 2)[2] if path.startswith("blocks.") else path


def classes(module: ModuleType) -> Iterator[type]:
    """The classes that the module defines or imports, its own first."""
    found = [value for value in vars(module).values() if isinstance(value, type)]
    yield from sorted(set(found), key=lambda c: (c.__module__ != module.__name__, found.index(c)))


def arguments(function: Callable[..., Any]) -> tuple[str, ...]:
    """Names of its parameters, without self; nothing for what hides them."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return ()
    return tuple(name for name in parameters if name != "self")


def fits(array: Any, wanted: tuple[int, ...], what: str) -> np.ndarray:
    """The array, if it has this shape."""
    shape = getattr(array, "shape", None)
    if shape is None or tuple(shape) != wanted:
        found = f"shape {tuple(shape)}" if shape is not None else f"a {type(array).__name__}"
        raise Problem(f"{what} should be an array of shape {wanted}, not {found}")
    return np.asarray(array)


def built(make: Callable[[], Any], what: str) -> Any:
    """The probe's model, or why there is none."""
    try:
        return make()
    except Exception as error:
        raise Problem(f"{what} raises {said(error)}") from error


def the_logits(result: Any, vocab_size: int) -> np.ndarray:
    """The logits among what a forward pass returns: the array, or the first of several."""
    for item in result if isinstance(result, tuple | list) else (result,):
        array = np.asarray(item) if hasattr(item, "shape") else None
        if array is not None and array.ndim >= 2 and array.shape[-1] == vocab_size:
            return array
    raise Problem(f"forward should return logits (B, T, {vocab_size}), not {_form(result)}")


def _form(result: Any) -> str:
    shape = getattr(result, "shape", None)
    return f"shape {tuple(shape)}" if shape is not None else f"a {type(result).__name__}"


def in_type_of(params: dict[str, Any], array: np.ndarray) -> np.ndarray:
    """No wider than the parameters that came in: a class chooses its own precision inside, and
    is not judged by it."""
    if params["wte"].dtype.itemsize < array.dtype.itemsize:
        return array.astype(params["wte"].dtype)
    return array


def tree_in_type_of(params: dict[str, Any], tree: Any) -> Any:
    """The same for every array of a tree of gradients."""
    if isinstance(tree, dict):
        return {key: tree_in_type_of(params, branch) for key, branch in tree.items()}
    if isinstance(tree, list):
        return [tree_in_type_of(params, branch) for branch in tree]
    return in_type_of(params, np.asarray(tree))


def cross_entropy_of(logits: np.ndarray, targets: np.ndarray) -> tuple[float, np.ndarray]:
    """The loss and its gradient, for a class that leaves both to its caller."""
    shifted = np.asarray(logits, np.float64)
    shifted = shifted - shifted.max(axis=-1, keepdims=True)
    log_probs = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    right = np.expand_dims(targets, -1)
    loss = -float(np.mean(np.take_along_axis(log_probs, right, axis=-1)))
    gradient = np.exp(log_probs)
    picked = np.take_along_axis(gradient, right, axis=-1)
    np.put_along_axis(gradient, right, picked - 1.0, axis=-1)
    return loss, gradient / targets.size


def building_blocks(module: ModuleType) -> dict[str, Any]:
    """softmax, layer_norm and gelu, where they are functions that take the contract's arguments.

    Another eps and the exact form of GELU are as right beside a class, whose description says
    nothing of them: such a function is not offered.
    """
    found = {
        name: value
        for name, count in (("softmax", 1), ("layer_norm", 3), ("gelu", 1))
        if callable(value := getattr(module, name, None)) and _takes(value, count)
    }
    if "gelu" in found and is_exact_gelu(found["gelu"]):
        del found["gelu"]
    if "layer_norm" in found:
        theirs = found.pop("layer_norm")
        if "eps" in arguments(theirs):
            # The detectors of eps ask for one by name or mean the usual one.
            found["layer_norm"] = lambda x, g, b, eps=1e-5: theirs(x, g, b, eps=eps)
        elif not _has_another_eps(theirs):
            found["layer_norm"] = theirs
    return found


def _takes(function: Callable[..., Any], count: int) -> bool:
    """Whether it can be called with so many arguments."""
    try:
        inspect.signature(function).bind(*[0.0] * count)
    except (TypeError, ValueError):
        return False
    return True


def is_exact_gelu(function: Callable[..., Any]) -> bool:
    """Whether it is the form with the error function, which is as right as that with tanh."""
    from math import erf

    x = np.linspace(-3.0, 3.0, 13)
    exact = np.array([0.5 * v * (1 + erf(v / 2**0.5)) for v in x])
    try:
        return bool(np.allclose(np.asarray(function(x)), exact, rtol=0, atol=2e-6))
    except Exception:
        return False


def _has_another_eps(layer_norm: Callable[..., Any]) -> bool:
    """Whether its constant is another than 1e-5 (or stands elsewhere, which looks the same): then
    features of plus and minus sqrt(1e-5) do not become 0.707."""
    x = np.tile([1.0, -1.0], 8) * 1e-5**0.5
    try:
        got = float(layer_norm(x[None], np.ones(16), np.zeros(16))[0][0])
    except Exception:
        return False
    return not 0.697 < got < 0.717
