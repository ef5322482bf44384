"""The nonlinearity and the perceptron around it."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from . import cases

if TYPE_CHECKING:
    from bugkit.contract import GPT

FAR_BELOW_ZERO = -100.0


def test_gelu_is_the_tanh_form(gpt: "GPT") -> None:
    """GELU is the tanh form that GPT-2's weights were trained with.

    It differs from the exact form by up to 5e-4, which adds up over units and layers.
    """
    x = np.linspace(-4.0, 4.0, 33)
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    expected = x / 2 * (1 + np.tanh(inner))
    cases.assert_same(np.asarray(gpt.gelu(x)), expected, "gelu", ("point",))


def test_hidden_units_switch_off(gpt: "GPT") -> None:
    """A hidden unit that is pushed far below zero contributes nothing.

    That is what a nonlinearity is for: without one, two matrices in a row are one matrix.
    """
    cfg, params = cases.model(gpt, n_layers=1)
    token_ids = cases.tokens()
    mlp = params["blocks"][0]["mlp"]
    if "b1" in mlp:
        mlp["b1"][:] = FAR_BELOW_ZERO
    else:
        token_ids = _known_tokens(params)
        mlp["w1"][:] = FAR_BELOW_ZERO * KNOWN[:, None] / SIZE
    off = cases.logits_of(gpt, params, cfg, token_ids)
    mlp["w2"][:] = 0.0
    absent = cases.logits_of(gpt, params, cfg, token_ids)
    what = f"hidden units near {FAR_BELOW_ZERO:g} against none at all"
    cases.assert_same(off, absent, what, cases.LOGITS)


SIZE = cases.SIZES["d_model"]
KNOWN = np.linspace(-1.0, 1.0, SIZE) / np.linspace(-1.0, 1.0, SIZE).std()
"""A vector that a norm leaves as it is: mean 0, mean square 1."""


def _known_tokens(params: dict[str, Any]) -> np.ndarray:
    """Token ids for which KNOWN comes to the MLP of the first block, without any bias."""
    cases.silence_attention(params)
    params["wte"][0] = KNOWN
    params["wpe"][:] = 0.0
    params["blocks"][0]["ln2"]["g"][:] = 1.0
    cases.clear(params["blocks"][0]["ln2"], "b")
    return np.zeros((1, 3), dtype=int)
