"""Layer normalisation.

Source: Ba, Kiros & Hinton 2016, "Layer normalization", arXiv:1607.06450, equation 3 with
the statistics of one token; eps as in GPT-2.
"""

import numpy as np


def layer_norm(
    x: np.ndarray, g: np.ndarray, b: np.ndarray, eps: float = 1e-5
) -> np.ndarray:  # [..., C], [C], [C] -> [..., C]
    """Standardise every token over its features, then scale by the gain and add the bias."""
    mean = np.mean(x, axis=-2, keepdims=True)
    variance = np.var(x, axis=-2, keepdims=True)
    standardised = (x - mean) / np.sqrt(variance + eps)
    return g * standardised + b
