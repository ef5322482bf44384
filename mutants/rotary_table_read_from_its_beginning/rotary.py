"""Rotary positions: queries and keys are turned by an angle that grows with their position.

The product of a turned query and a turned key depends on their distance alone.

Source: Su et al. 2021, "RoFormer", arXiv:2104.09864, section 3.2.2, equation 15; channels are
paired as in GPT-NeoX and Llama, i with i + D / 2.
"""

import numpy as np


def apply_rotary(
    x: np.ndarray, start: int = 0, theta: float = 10000.0
) -> np.ndarray:  # [..., T, D] -> [..., T, D]
    """Turn the vectors of positions start, start + 1, ..."""
    angles = rotary_angles(x.shape[-2], x.shape[-1], start, theta)
    return turn(x, np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype))


def apply_rotary_backward(
    dout: np.ndarray, start: int = 0, theta: float = 10000.0
) -> np.ndarray:  # [..., T, D] -> [..., T, D]
    """Turn the gradient back."""
    angles = rotary_angles(dout.shape[-2], dout.shape[-1], start, theta)
    return turn(dout, np.cos(angles).astype(dout.dtype), -np.sin(angles).astype(dout.dtype))


def rotary_angles(T: int, D: int, start: int, theta: float) -> np.ndarray:  # -> [T, D / 2]
    """Position times frequency; the first pair turns fastest, by one radian a token."""
    frequencies = theta ** (-np.arange(0, D, 2) / D)
    table = np.outer(np.arange(start + T), frequencies)
    return table[:T]


def turn(x: np.ndarray, cos: np.ndarray, sin: np.ndarray) -> np.ndarray:  # [..., T, D] -> same
    """Turn each pair of channels in its plane."""
    first, second = np.split(x, 2, axis=-1)
    return np.concatenate([first * cos - second * sin, first * sin + second * cos], axis=-1)
