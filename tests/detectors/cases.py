"""What the detectors share: sizes, parameters, and comparisons that explain themselves.

Sizes differ from each other and share no factor where they can, so that no axis passes for
another. Parameters are random and large, biases and gains too: near the usual start, where
biases are zero and weights tiny, most bugs hide.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from .trees import as_float32 as as_float32
from .trees import clear as clear
from .trees import constant_channel as constant_channel
from .trees import copied as copied
from .trees import leave_out
from .trees import leaves as leaves
from .trees import make_gains_one as make_gains_one
from .trees import part as part

if TYPE_CHECKING:
    from bugkit.contract import GPT

SIZES = {"vocab_size": 11, "d_model": 15, "n_layers": 2, "n_heads": 3, "max_seq_len": 13}
B, T = 2, 7
CHOICES = (
    "tie_word_embeddings",
    "dropout",
    "n_kv_heads",
    "rotary",
    "rope_theta",
    "scale_residual_init",
)
"""What a configuration may ask for; not every implementation knows all of it."""

MODERN = {"d_model": 24, "n_heads": 6, "n_kv_heads": 2, "rotary": True}
"""Rotary positions and grouped queries: D = 4, and three query heads share a key."""

STEPS = (0, 2, T - 2)
"""Positions where a change is tried: the first, one inside, and the last that has a successor."""

ROUNDING = {"float64": 1e-8, "float32": 2e-3}
"""How far equal results may lie apart, relative to their size: rounding, with room to spare."""

INFLUENCE = {"float64": 1e-7, "float32": 1e-2}
"""The least change that counts as an influence, relative to the size of the results."""

SEED = 1
"""A fixed one makes every run tell the same. With others every correct GPT passes as well."""


def config(gpt: "GPT", **changes: Any) -> Any:
    """A configuration of the usual sizes, with changes; skips where a choice is not offered."""
    with optional(*CHOICES):
        return gpt.GPTConfig(**{**SIZES, **changes})


def model(gpt: "GPT", **changes: Any) -> tuple[Any, dict[str, Any]]:
    """A configuration and random parameters for it, which are the caller's to change.

    The tree has what the program's own has: without the biases that it lacks, and with w_lm where
    its head is never tied.
    """
    cfg = config(gpt, **changes)
    wanted = {**SIZES, "tie_word_embeddings": True, **changes}
    choices = {name: changes[name] for name in MATTERS if name in changes}
    own = _own_parts(gpt, **choices)  # type: ignore[arg-type]  # a protocol is not said to be hashable
    if own and "w_lm" in own:
        wanted["tie_word_embeddings"] = False
    shapes = {name: wanted[name] for name in wanted if name not in SHAPELESS}
    params = copied(_parameters(**shapes))
    if own:
        leave_out(params, own)
    return cfg, params


MATTERS = ("tie_word_embeddings", "rotary")
"""Choices that decide which arrays there are."""

SHAPELESS = ("dropout", "rope_theta", "scale_residual_init")
"""Choices that no shape depends on."""


@lru_cache(maxsize=8)
def _own_parts(gpt: "GPT", **choices: bool) -> frozenset[str] | None:
    """Paths of the arrays in the program's own tree; None where it cannot be had, or is none."""
    try:
        init_params = gpt.init_params
    except pytest.skip.Exception:
        return None
    sizes = {**SIZES, "d_model": 12, "n_layers": 1}  # even heads, for rotary positions
    try:
        tree = init_params(config(gpt, **{**sizes, **choices}))
        own = frozenset(path for path, _ in leaves(tree))
    except Exception:
        return None  # for the tests of init_params to tell
    return own if {"wte", "ln_f.g", "blocks.0.attn.w_qkv"} <= own else None


@cache
def _parameters(
    vocab_size: int,
    d_model: int,
    n_layers: int,
    n_heads: int,
    max_seq_len: int,
    tie_word_embeddings: bool = True,
    n_kv_heads: int | None = None,
    rotary: bool = False,
) -> dict[str, Any]:
    """Random parameters: every array is filled, and none with small numbers."""
    rng = np.random.default_rng(SEED)
    C = d_model
    qkv = C + 2 * (n_kv_heads or n_heads) * (C // n_heads)

    def matrix(rows: int, columns: int) -> np.ndarray:
        return rng.normal(0.0, rows**-0.5, (rows, columns))

    def norm() -> dict[str, np.ndarray]:
        return {"g": rng.uniform(0.5, 1.5, C), "b": rng.normal(0.0, 0.5, C)}

    def bias(n: int) -> np.ndarray:
        return rng.normal(0.0, 0.5, n)

    blocks = [
        {
            "ln1": norm(),
            "attn": {
                "w_qkv": matrix(C, qkv),
                "b_qkv": bias(qkv),
                "w_o": matrix(C, C),
                "b_o": bias(C),
            },
            "ln2": norm(),
            "mlp": {
                "w1": matrix(C, 4 * C),
                "b1": bias(4 * C),
                "w2": matrix(4 * C, C),
                "b2": bias(C),
            },
        }
        for _ in range(n_layers)
    ]
    params = {
        "wte": rng.normal(0.0, 1.0, (vocab_size, C)),
        "wpe": rng.normal(0.0, 1.0, (max_seq_len, C)),
        "blocks": blocks,
        "ln_f": norm(),
    }
    if rotary:
        del params["wpe"]
    if not tie_word_embeddings:
        params["w_lm"] = matrix(C, vocab_size)
    return params


def tokens(rows: int = B, length: int = T, vocab_size: int = SIZES["vocab_size"]) -> np.ndarray:
    """Token ids, [rows, length]."""
    return np.random.default_rng(SEED).integers(0, vocab_size, (rows, length))


def other(token_ids: np.ndarray, vocab_size: int = SIZES["vocab_size"]) -> np.ndarray:
    """Every token exchanged for another one."""
    return (token_ids + 1) % vocab_size


def silence_attention(params: dict[str, Any]) -> None:
    """Make every attention branch add nothing."""
    for block in params["blocks"]:
        clear(block["attn"], "w_o", "b_o")


def silence_mlp(params: dict[str, Any]) -> None:
    """Make every MLP branch add nothing."""
    for block in params["blocks"]:
        clear(block["mlp"], "w2", "b2")


def logits_of(gpt: "GPT", params: dict[str, Any], cfg: Any, token_ids: np.ndarray) -> np.ndarray:
    """Logits, [B, T, V]."""
    __tracebackhide__ = True
    result = gpt.gpt_forward(params, cfg, token_ids)
    assert not isinstance(result, tuple), (
        "gpt_forward returned a tuple; without return_attn it must return the logits alone"
    )
    logits = np.asarray(result)
    expected = (*token_ids.shape, len(params["wte"]))
    assert logits.shape == expected, (
        f"gpt_forward must return logits of shape (B, T, V) = {expected}, not {logits.shape}"
    )
    return logits


def loss_of(gpt: "GPT", logits: np.ndarray, targets: np.ndarray) -> float:
    """Mean cross-entropy: the program's own, or ours where it leaves the loss to its caller."""
    try:
        cross_entropy = gpt.cross_entropy
    except pytest.skip.Exception:
        shifted = logits - logits.max(axis=-1, keepdims=True)
        log_probs = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
        return -float(np.mean(np.take_along_axis(log_probs, targets[..., None], axis=-1)))
    return float(cross_entropy(logits, targets))


def maps_of(
    gpt: "GPT", params: dict[str, Any], cfg: Any, token_ids: np.ndarray
) -> list[np.ndarray]:
    """Attention weights [B, H, T, T] of each layer; skips where they are not offered."""
    __tracebackhide__ = True
    with optional("return_attn"):
        result = gpt.gpt_forward(params, cfg, token_ids, return_attn=True)
    if not (isinstance(result, tuple | list) and len(result) == 2):
        pytest.skip("return_attn is not offered")
    maps = [np.asarray(weights) for weights in result[1]]
    B, T = token_ids.shape
    shapes = [weights.shape for weights in maps]
    right = [len(shape) == 4 and (shape[0], *shape[2:]) == (B, T, T) for shape in shapes]
    assert right == [True] * len(params["blocks"]), (
        f"return_attn must give one map of shape (B, H, T, T) = ({B}, H, {T}, {T}) for each of "
        f"{len(params['blocks'])} layers, not {shapes}"
    )
    return maps


@contextmanager
def optional(*arguments: str) -> Iterator[None]:
    """Skips the test if the function that is called does not know one of these arguments."""
    try:
        yield
    except TypeError as error:
        for argument in arguments:
            if f"'{argument}'" in str(error):
                pytest.skip(f"{argument} is not offered")
        raise


def visible(T: int) -> np.ndarray:
    """Which key j a query i may see, [T, T]."""
    return np.tril(np.ones((T, T), dtype=bool))


def assert_same(
    got: np.ndarray, expected: np.ndarray, what: str, axes: tuple[str, ...], loose: float = 1.0
) -> None:
    """Equal up to rounding (times `loose`), or a message about the place that is worst.

    NaN in the same place counts as equal: other tests look for NaN.
    """
    __tracebackhide__ = True
    assert got.shape == expected.shape, (
        f"{what}: the shape should be {expected.shape}, but is {got.shape}"
    )
    apart = np.abs(got - expected)
    apart = np.where(np.isnan(got) & np.isnan(expected), 0.0, apart)
    apart = np.where(np.isnan(apart), np.inf, apart)
    allowed = loose * ROUNDING[precision(got)] * max(1.0, size(expected))
    if apart.size and apart.max() > allowed:
        worst = np.unravel_index(np.argmax(apart), apart.shape)
        raise AssertionError(
            f"{what}, at {place(worst, axes)}: expected {expected[worst]:.6g}, got {got[worst]:.6g}"
        )


def assert_changed(before: np.ndarray, after: np.ndarray, message: str) -> None:
    """Some entry has moved by more than rounding could move it."""
    __tracebackhide__ = True
    moved = np.nan_to_num(np.abs(after - before)).max(initial=0.0)
    assert moved > INFLUENCE[precision(before)] * max(1.0, size(before)), message


def size(x: np.ndarray) -> float:
    """The largest finite magnitude."""
    finite = np.abs(x[np.isfinite(x)])
    return float(finite.max(initial=0.0))


def precision(x: np.ndarray) -> str:
    """Which tolerance applies."""
    return "float32" if x.dtype.itemsize < 8 else "float64"


def place(index: Any, axes: tuple[str, ...]) -> str:
    """An index in words: batch 0, position 3."""
    return ", ".join(f"{axis} {i}" for axis, i in zip(axes, index, strict=True))


USUAL = frozenset(path for path, _ in leaves(_parameters(**SIZES)))
"""The arrays of a GPT of the usual sizes, with every bias and a tied head."""

LOGITS = ("batch row", "position", "word")
MAP = ("batch row", "head", "query position", "key position")
