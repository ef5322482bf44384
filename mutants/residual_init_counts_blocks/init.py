"""The parameters of a GPT and the values they start from.

The tree:

    wte      (V, C)            token embedding, and the head as well unless w_lm exists
    wpe      (max_seq_len, C)  position embedding, unless positions are rotary
    blocks   a list of
        ln1   g (C,)       b (C,)
        attn  w_qkv (C, 3C)  b_qkv (3C,)   queries, keys, values, side by side; with K heads
                                           of keys and values, C + 2KD columns for 3C
              w_o (C, C)     b_o (C,)
        ln2   g (C,)       b (C,)
        mlp   w1 (C, 4C)     b1 (4C,)
              w2 (4C, C)     b2 (C,)
    ln_f     g (C,)  b (C,)    the norm before the head
    w_lm     (C, V)            a head of its own, only in an untied model

Sources: Radford et al. 2018, "Improving language understanding by generative pre-training" (GPT),
section 4.1: normal, standard deviation 0.02; biases zero and gains one as in the code of GPT-2.
Not taken from GPT-2: its smaller position embedding.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from .config import GPTConfig

INIT_STD = 0.02


def init_params(cfg: GPTConfig, seed: int = 0) -> dict[str, Any]:
    """The parameters before training, in float64.

    The order of the draws is part of the contract: whoever keeps it gets the same numbers.
    Each block's w_qkv, w_o, w1, w2; then wte; then wpe; then w_lm in an untied model.
    """
    rng = np.random.default_rng(seed)

    def normal(*shape: int) -> np.ndarray:
        return rng.normal(0.0, INIT_STD, shape)

    blocks = [init_block(cfg, normal) for _ in range(cfg.n_layers)]
    params = {"wte": normal(cfg.vocab_size, cfg.d_model), "blocks": blocks}
    if not cfg.rotary:
        params["wpe"] = normal(cfg.max_seq_len, cfg.d_model)
    params["ln_f"] = init_norm(cfg.d_model)
    if not cfg.tie_word_embeddings:
        params["w_lm"] = normal(cfg.d_model, cfg.vocab_size)
    return params


def param_shapes(cfg: GPTConfig) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The path of every array of the tree, such as "blocks.0.attn.w_o", and its shape."""
    V, C = cfg.vocab_size, cfg.d_model
    qkv = C + 2 * cfg.kv_heads * cfg.head_width
    norm = {"g": (C,), "b": (C,)}
    parts: dict[str, dict[str, tuple[int, ...]]] = {
        "ln1": norm,
        "attn": {"w_qkv": (C, qkv), "b_qkv": (qkv,), "w_o": (C, C), "b_o": (C,)},
        "ln2": norm,
        "mlp": {"w1": (C, 4 * C), "b1": (4 * C,), "w2": (4 * C, C), "b2": (C,)},
    }
    yield "wte", (V, C)
    for layer in range(cfg.n_layers):
        for part, arrays in parts.items():
            for name, shape in arrays.items():
                yield f"blocks.{layer}.{part}.{name}", shape
    if not cfg.rotary:
        yield "wpe", (cfg.max_seq_len, C)
    for name, shape in norm.items():
        yield f"ln_f.{name}", shape
    if not cfg.tie_word_embeddings:
        yield "w_lm", (C, V)


def init_block(cfg: GPTConfig, normal: Any) -> dict[str, Any]:
    """One block; `normal(*shape)` draws its weights."""
    C = cfg.d_model
    qkv = C + 2 * cfg.kv_heads * cfg.head_width
    # Every branch adds to the variance of the stream.
    branch = cfg.n_layers**-0.5 if cfg.scale_residual_init else 1.0
    return {
        "ln1": init_norm(C),
        "attn": {
            "w_qkv": normal(C, qkv),
            "b_qkv": np.zeros(qkv),
            "w_o": normal(C, C) * branch,
            "b_o": np.zeros(C),
        },
        "ln2": init_norm(C),
        "mlp": {
            "w1": normal(C, 4 * C),
            "b1": np.zeros(4 * C),
            "w2": normal(4 * C, C) * branch,
            "b2": np.zeros(C),
        },
    }


def init_norm(C: int) -> dict[str, np.ndarray]:
    """A layer norm that only standardises."""
    return {"g": np.ones(C), "b": np.zeros(C)}
