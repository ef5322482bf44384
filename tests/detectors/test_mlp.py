"""The nonlinearity and the perceptron around it."""

import math
from typing import TYPE_CHECKING

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
    mlp = params["blocks"][0]["mlp"]
    mlp["b1"][:] = FAR_BELOW_ZERO
    off = cases.logits_of(gpt, params, cfg, cases.tokens())
    mlp["w2"][:] = 0.0
    absent = cases.logits_of(gpt, params, cfg, cases.tokens())
    what = f"hidden units near {FAR_BELOW_ZERO:g} against none at all"
    cases.assert_same(off, absent, what, cases.LOGITS)
