"""The linear layer: every output is a weighted sum of all inputs, plus a bias."""

import numpy as np


def linear(
    x: np.ndarray, w: np.ndarray, b: np.ndarray
) -> np.ndarray:  # [B, T, I], [I, O], [O] -> [B, T, O]
    """Weights stand input by output."""
    return x @ w + b


def linear_backward(
    dout: np.ndarray, x: np.ndarray, w: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # -> [B, T, I], [I, O], [O]
    """Gradients of the input, the weights and the bias; every token adds to the latter two."""
    dw = np.tensordot(x, dout, axes=([0, 1], [0, 1]))
    return dout @ w.T, dw, dout.mean(axis=(0, 1))
