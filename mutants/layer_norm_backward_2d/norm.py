"""Layer normalisation.

Source: Ba, Kiros & Hinton 2016, "Layer normalization", arXiv:1607.06450, equation 3 with
the statistics of one token; eps as in GPT-2.
"""

import numpy as np


def layer_norm(
    x: np.ndarray, g: np.ndarray, b: np.ndarray, eps: float = 1e-5
) -> np.ndarray:  # [..., C], [C], [C] -> [..., C]
    """Standardise every token over its features, then scale by the gain and add the bias."""
    standardised, _ = standardise(x, eps)
    return g * standardised + b


def standardise(
    x: np.ndarray, eps: float
) -> tuple[np.ndarray, np.ndarray]:  # -> [..., C], [..., 1]
    """Mean zero and variance one for every token; also the spread it was divided by."""
    mean = np.mean(x, axis=-1, keepdims=True)
    variance = np.var(x, axis=-1, keepdims=True)
    spread = np.sqrt(variance + eps)
    return (x - mean) / spread, spread


def layer_norm_backward(
    dout: np.ndarray, x: np.ndarray, g: np.ndarray, eps: float = 1e-5
) -> tuple[np.ndarray, dict[str, np.ndarray]]:  # [..., C], [..., C], [C] -> [..., C], [C] each
    """Gradients of the input, and of gain and bias.

    Mean and variance depend on every feature of the token, so two averages come off.
    """
    standardised, spread = standardise(x, eps)
    tokens = tuple(range(x.ndim - 1))
    grads = {"g": np.sum(dout * standardised, axis=tokens), "b": np.sum(dout, axis=tokens)}
    d = dout * g
    features = tuple(range(1, x.ndim))
    along_mean = np.mean(d, axis=features, keepdims=True)
    along_variance = np.mean(d * standardised, axis=features, keepdims=True)
    dx = (d - along_mean - standardised * along_variance) / spread
    return dx, grads
