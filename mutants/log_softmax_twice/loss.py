"""Cross-entropy: how surprised the model is by the token that really comes next."""

import numpy as np

from .softmax import softmax


def cross_entropy(
    logits: np.ndarray, targets: np.ndarray
) -> float:  # [..., V], [...] -> one number, in nats
    """Minus the log-probability of the right token, averaged over all positions.

    Raises ValueError if the shapes do not fit or a target is no word of the vocabulary.
    """
    check_targets(logits, targets)
    return float(-np.mean(pick(log_softmax(log_softmax(logits)), targets)))


def cross_entropy_backward(
    logits: np.ndarray, targets: np.ndarray
) -> np.ndarray:  # [..., V], [...] -> [..., V]
    """Gradient of the logits: the probabilities, less one for the right token."""
    right = np.zeros_like(logits)
    np.put_along_axis(right, targets[..., None], 1.0, axis=-1)
    return (softmax(logits) - right) / targets.size


def log_softmax(x: np.ndarray) -> np.ndarray:  # [..., V] -> [..., V]
    """Logarithm of the softmax, without ever computing the softmax, which may be zero."""
    shifted = x - np.max(x, axis=-1, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=-1, keepdims=True))


def pick(log_probs: np.ndarray, targets: np.ndarray) -> np.ndarray:  # [..., V], [...] -> [...]
    """The entry of each row that its target names."""
    return np.take_along_axis(log_probs, targets[..., None], axis=-1)[..., 0]


def check_targets(logits: np.ndarray, targets: np.ndarray) -> None:
    """Raise ValueError unless there is one word of the vocabulary for every row of logits."""
    if targets.shape != logits.shape[:-1]:
        raise ValueError(
            f"targets must have the shape {logits.shape[:-1]} of the logits without their last "
            f"axis, got shape {targets.shape}"
        )
    V = logits.shape[-1]
    if targets.size == 0:
        raise ValueError("targets are empty: there is nothing to average")
    if not np.issubdtype(targets.dtype, np.integer):
        raise ValueError(f"targets must be integers, got {targets.dtype}")
    if targets.min() < 0 or targets.max() >= V:
        raise ValueError(
            f"targets must be from 0 to {V - 1}, got {targets.min()} to {targets.max()}"
        )
