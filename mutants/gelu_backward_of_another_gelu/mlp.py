"""GELU and the two-layer perceptron.

Source: Hendrycks & Gimpel 2016, "Gaussian error linear units", arXiv:1606.08415, section 2;
GPT-2 uses the tanh form.
"""

import math
from typing import Any

import numpy as np

from .linear import linear, linear_backward


def gelu(x: np.ndarray) -> np.ndarray:  # [...] -> [...]
    """Gaussian error linear unit, tanh form."""
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
    return 0.5 * x * (1 + np.tanh(inner))


def gelu_backward(dout: np.ndarray, x: np.ndarray) -> np.ndarray:  # [...], [...] -> [...]
    """Gradient of the input: the product rule, and the chain rule through tanh."""
    cdf = 0.5 * (1 + np.vectorize(math.erf, otypes=[x.dtype])(x / math.sqrt(2)))
    density = np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    return dout * (cdf + x * density)


def mlp(x: np.ndarray, p: dict[str, Any]) -> np.ndarray:  # [B, T, C] -> [B, T, C]
    """Four times wider, through the nonlinearity, and back; every token by itself."""
    hidden = gelu(linear(x, p["w1"], p["b1"]))
    return linear(hidden, p["w2"], p["b2"])


def mlp_backward(
    dout: np.ndarray, x: np.ndarray, p: dict[str, Any]
) -> tuple[np.ndarray, dict[str, np.ndarray]]:  # -> [B, T, C], and one gradient a parameter
    """Gradients of the input and of the parameters."""
    wide = linear(x, p["w1"], p["b1"])
    dhidden, dw2, db2 = linear_backward(dout, gelu(wide), p["w2"])
    dwide = gelu_backward(dhidden, wide)
    dx, dw1, db1 = linear_backward(dwide, x, p["w1"])
    return dx, {"w1": dw1, "b1": db1, "w2": dw2, "b2": db2}
