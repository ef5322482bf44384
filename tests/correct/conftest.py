"""What the tests of the correct GPT share: a naive reference, and parameters that hide nothing."""

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest


@pytest.fixture(scope="session")
def naive() -> ModuleType:
    """The module naive.py of this folder."""
    path = Path(__file__).with_name("naive.py")
    spec = importlib.util.spec_from_file_location("naive", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def random_params() -> Callable[..., dict[str, Any]]:
    """(cfg, seed) -> parameters of that configuration, all random and far from their start."""

    def random_params(cfg: Any, seed: int) -> dict[str, Any]:
        rng = np.random.default_rng(seed)
        V, C = cfg.vocab_size, cfg.d_model
        qkv = C + 2 * (cfg.n_kv_heads or cfg.n_heads) * (C // cfg.n_heads)

        def weight(rows: int, columns: int) -> np.ndarray:
            # Outputs about as large as standardised inputs, so that nothing saturates: with much
            # larger weights, softmax picks one token and GELU is a ramp.
            return rng.normal(0.0, 1.5 * rows**-0.5, (rows, columns))

        def vector(size: int) -> np.ndarray:
            return rng.normal(0.0, 1.0, size)

        def norm() -> dict[str, np.ndarray]:
            return {"g": vector(C), "b": vector(C)}

        params: dict[str, Any] = {
            "wte": rng.normal(0.0, 1.0, (V, C)),
            "wpe": rng.normal(0.0, 1.0, (cfg.max_seq_len, C)),
            "blocks": [
                {
                    "ln1": norm(),
                    "attn": {
                        "w_qkv": weight(C, qkv),
                        "b_qkv": vector(qkv),
                        "w_o": weight(C, C),
                        "b_o": vector(C),
                    },
                    "ln2": norm(),
                    "mlp": {
                        "w1": weight(C, 4 * C),
                        "b1": vector(4 * C),
                        "w2": weight(4 * C, C),
                        "b2": vector(C),
                    },
                }
                for _ in range(cfg.n_layers)
            ],
            "ln_f": norm(),
        }
        if cfg.rotary:
            del params["wpe"]
        if not cfg.tie_word_embeddings:
            params["w_lm"] = weight(C, V)
        return params

    return random_params
