"""Weights laid out like Hugging Face's GPT-2.

There, a checkpoint holds transformer.wte.weight, transformer.h.0.attn.c_attn.weight and so on;
older files leave out "transformer." Its Conv1D stores matrices input by output, as here, and
queries, keys and values side by side, as here. lm_head.weight, output by input, is there only if
the head is not tied, or as a second name of wte.
"""

import os
from typing import Any

import numpy as np

from .checkpoint import as_tree, read_npz
from .config import GPTConfig

HEAD_WIDTH = 64
"""D in every size of GPT-2."""

BUFFERS = (".attn.bias", ".attn.masked_bias")
"""Endings of entries that are masks, not parameters."""

NAMES = {
    "ln_1.weight": "ln1.g",
    "ln_1.bias": "ln1.b",
    "attn.c_attn.weight": "attn.w_qkv",
    "attn.c_attn.bias": "attn.b_qkv",
    "attn.c_proj.weight": "attn.w_o",
    "attn.c_proj.bias": "attn.b_o",
    "ln_2.weight": "ln2.g",
    "ln_2.bias": "ln2.b",
    "mlp.c_fc.weight": "mlp.w1",
    "mlp.c_fc.bias": "mlp.b1",
    "mlp.c_proj.weight": "mlp.w2",
    "mlp.c_proj.bias": "mlp.b2",
}
"""Their name within a block -> ours."""

OUTSIDE = {"wte.weight": "wte", "wpe.weight": "wpe", "ln_f.weight": "ln_f.g", "ln_f.bias": "ln_f.b"}
"""The same outside of the blocks."""


def load_gpt2(
    path: str | os.PathLike[str], n_heads: int | None = None
) -> tuple[dict[str, Any], GPTConfig]:
    """Parameters and configuration from a .safetensors or .npz file.

    The file does not say how many heads there are; without `n_heads` they are 64 wide.

    Raises ValueError, with the name of the file, if it does not hold such a model.
    """
    theirs = {name.removeprefix("transformer."): array for name, array in read(path).items()}
    arrays = {}
    for name, array in theirs.items():
        if not name.endswith(BUFFERS):
            arrays[ours(name)] = array.T if name.endswith("attn.c_proj.weight") else array
    if "wte" not in arrays or "wpe" not in arrays:
        raise ValueError(f"{path}: not a GPT-2: it has no wte.weight or no wpe.weight")
    for name in ("wte", "wpe"):
        if arrays[name].ndim != 2:
            raise ValueError(f"{path}: {name} should have two axes, has {arrays[name].ndim}")
    if "lm_head.weight" in arrays:
        head = arrays.pop("lm_head.weight")
        if not np.array_equal(head, arrays["wte"]):
            arrays["w_lm"] = head.T
    V, C = arrays["wte"].shape
    layers = {name.split(".")[1] for name in arrays if name.startswith("blocks.")}
    if n_heads is None and C % HEAD_WIDTH != 0:
        raise ValueError(f"{path}: heads of GPT-2 are 64 wide, the model {C}; give n_heads")
    try:
        cfg = GPTConfig(
            vocab_size=V,
            d_model=C,
            n_layers=len(layers),
            n_heads=C // HEAD_WIDTH if n_heads is None else n_heads,
            max_seq_len=len(arrays["wpe"]),
            tie_word_embeddings="w_lm" not in arrays,
        )
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return as_tree(path, arrays, cfg), cfg


def ours(name: str) -> str:
    """The path in the tree for a name of theirs; an unknown name stays as it is."""
    start, _, rest = name.partition(".")
    if start == "h":
        layer, _, part = rest.partition(".")
        return f"blocks.{layer}.{NAMES.get(part, part)}"
    return OUTSIDE.get(name, name)


def read(path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """Every array of the file by its name."""
    if os.fspath(path).endswith(".npz"):
        return read_npz(path)
    try:
        from safetensors.numpy import load_file
    except ImportError:
        raise ImportError(f"{path}: to read it: pip install safetensors; or save as .npz") from None
    try:
        arrays: dict[str, np.ndarray] = load_file(path)
    except FileNotFoundError:
        raise
    except Exception as error:
        why = f"not a whole .safetensors file, or of numbers that NumPy does not have: {error}"
        raise ValueError(f"{path}: {why}") from None
    return arrays
