"""GELU and the two-layer perceptron.

Source: Hendrycks & Gimpel 2016, "Gaussian error linear units", arXiv:1606.08415, section 2;
GPT-2 uses the tanh form.
"""

import math
from typing import Any

import numpy as np


def gelu(x: np.ndarray) -> np.ndarray:  # [...] -> [...]
    """Gaussian error linear unit, tanh form."""
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
    return 0.5 * x * (1 + np.tanh(inner))


def mlp(x: np.ndarray, p: dict[str, Any]) -> np.ndarray:  # [B, T, C] -> [B, T, C]
    """Four times wider, through the nonlinearity, and back; every token by itself."""
    hidden = gelu(x @ p["w1"] + p["b1"])
    return hidden @ p["w2"] + p["b2"]
