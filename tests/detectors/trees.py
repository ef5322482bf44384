"""Trees of parameters: dictionaries and lists of arrays, and parts of them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

BIASES = ("ln1.b", "attn.b_qkv", "attn.b_o", "ln2.b", "mlp.b1", "mlp.b2")
"""Arrays of a block that a GPT may do without, as it may without the bias of the last norm."""


def leaves(tree: Any, path: str = "") -> Iterator[tuple[str, np.ndarray]]:
    """Every array of a tree with its path, such as blocks.0.attn.w_o."""
    if not isinstance(tree, dict | list):
        yield path, np.asarray(tree)
        return
    for key, branch in tree.items() if isinstance(tree, dict) else enumerate(tree):
        yield from leaves(branch, f"{path}.{key}" if path else str(key))


def copied(tree: Any) -> Any:
    """The same parameters in arrays of their own."""
    if isinstance(tree, dict):
        return {key: copied(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [copied(value) for value in tree]
    return tree.copy()


def as_float32(tree: Any) -> Any:
    """The same parameters in single precision."""
    if isinstance(tree, dict):
        return {key: as_float32(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [as_float32(value) for value in tree]
    return tree.astype(np.float32)


def clear(arrays: dict[str, np.ndarray], *names: str) -> None:
    """Fill those of these arrays with zeros that there are."""
    for name in names:
        if name in arrays:
            arrays[name][:] = 0.0


def make_gains_one(params: dict[str, Any]) -> None:
    """Let every norm only standardise and add its bias."""
    for path, array in leaves(params):
        if path.split(".")[-1] == "g":
            array[:] = 1.0


def leave_out(params: dict[str, Any], own: frozenset[str]) -> None:
    """Take away the biases that the program does not have."""
    if "ln_f.b" not in own:
        del params["ln_f"]["b"]
    for bias in BIASES:
        if f"blocks.0.{bias}" not in own:
            of, name = bias.split(".")
            for block in params["blocks"]:
                del block[of][name]


def part(params: dict[str, Any], which: str, layer: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Views of the weight [C, C] and the bias [C] that make "q", "k" or "v".

    Where there is no bias, zeros that nobody reads.
    """
    attention = params["blocks"][layer]["attn"]
    C = attention["w_o"].shape[0]
    start = "qkv".index(which) * C
    bias = attention.get("b_qkv", np.zeros(3 * C))
    return attention["w_qkv"][:, start : start + C], bias[start : start + C]


def constant_channel(params: dict[str, Any], norm: str, layer: int = 0) -> int:
    """A channel that is 1 in every token behind this norm of a block: row 0 of a matrix that reads
    it then serves as a bias. Skips where the norm has no bias."""
    arrays = params["blocks"][layer][norm]
    if "b" not in arrays:
        pytest.skip("a bias is not offered")
    arrays["g"][0], arrays["b"][0] = 0.0, 1.0
    return 0
