"""Slopes of the loss, which check a gradient without a second opinion on how it is computed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from . import cases

if TYPE_CHECKING:
    from bugkit.contract import GPT

STEP = 1e-5
"""Length of a step: the error of central differences is about its square, and rounding about
1e-16 divided by it."""

CLOSE, NEGLIGIBLE = 1e-6, 1e-8
"""How far slope and gradient may lie apart: relative to the slope, and in any case."""


@dataclass(frozen=True)
class Case:
    """A model and a batch."""

    cfg: Any
    params: dict[str, Any]
    token_ids: np.ndarray
    targets: np.ndarray
    options: Mapping[str, int] = field(default_factory=dict)


def loss_of(gpt: "GPT", case: Case) -> float:
    """The loss, by a forward pass."""
    logits = gpt.gpt_forward(case.params, case.cfg, case.token_ids, **case.options)
    return cases.loss_of(gpt, logits, case.targets)


def change_along(loss: Callable[[], float], array: np.ndarray, step: np.ndarray) -> float:
    """What a step of the array adds to the loss: half of the difference between a step ahead and
    a step back. The array, which is part of the model, ends as it was."""
    before = array.copy()
    array[:] = before + step
    ahead = loss()
    array[:] = before - step
    back = loss()
    array[:] = before
    return (ahead - back) / 2


def assert_slopes(gpt: "GPT", case: Case, parts: Mapping[str, Any], what: str = "") -> None:
    """Each part of these arrays: the gradient along a random step is the slope of the loss.

    `what` says in words what these parts are. Skips where float64 is not offered, and says nothing
    about a loss that is not finite.
    """
    __tracebackhide__ = True
    with cases.optional("dropout_seed"):
        loss = loss_of(gpt, case)
        told, grads = gpt.loss_and_grads(
            case.params, case.cfg, case.token_ids, case.targets, **case.options
        )
    if not np.isfinite(loss):
        return
    gradients = dict(cases.leaves(grads))
    if any(cases.precision(grad) == "float32" for grad in gradients.values()):
        pytest.skip("central differences need float64")
    assert near(told, loss), (
        f"loss_and_grads tells a loss of {told:.6g}, the logits give {loss:.6g}"
    )
    arrays = dict(cases.leaves(case.params))
    rng = np.random.default_rng(cases.SEED)
    of = f"{what}, " if what else ""
    for path, where in parts.items():
        if path not in arrays:
            continue  # a bias that this implementation does without
        step = np.zeros_like(arrays[path])
        step[where] = rng.normal(size=step[where].shape)
        step *= STEP / np.sqrt(np.sum(step**2))
        slope = change_along(lambda: loss_of(gpt, case), arrays[path], step) / STEP
        # An implementation without this array has no gradient for it either.
        expected = float(np.sum(gradients.get(path, np.zeros(1)) * step)) / STEP
        assert abs(slope - expected) <= CLOSE * abs(slope) + NEGLIGIBLE, (
            f"{of}{path}: along a small step the loss changes at a rate of {slope:.6g}, but the "
            f"gradient says {expected:.6g}"
        )


def near(got: float, expected: float) -> bool:
    """Equal up to the rounding of single precision, which a loss may have been through; NaN is not
    for here to say."""
    return not abs(got - expected) > cases.ROUNDING["float32"] * max(1.0, abs(expected))
