"""AdamW, clipping and the schedule of the learning rate."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from . import cases

if TYPE_CHECKING:
    from bugkit.contract import GPT

pytestmark = pytest.mark.level(2)

RATE = 0.01
ALIKE = 1e-3
"""How far equal steps may lie apart, relative to their size: eps is small, not zero."""

WARMUP, TOTAL = 4, 24
MAX_RATE, MIN_RATE = 0.3, 0.1


def some_params() -> dict[str, Any]:
    """A matrix [3, 4] and a vector [4]: what decays and what does not."""
    rng = np.random.default_rng(cases.SEED)
    return {"w_o": rng.uniform(1.0, 2.0, (3, 4)), "b_o": rng.uniform(1.0, 2.0, 4)}


def some_grads(size: float = 1.0) -> dict[str, Any]:
    """Gradients of both signs, none near zero."""
    rng = np.random.default_rng(cases.SEED + 1)
    params = some_params()
    signs = {name: rng.choice([-1.0, 1.0], array.shape) for name, array in params.items()}
    return {name: size * sign * rng.uniform(0.5, 1.5, sign.shape) for name, sign in signs.items()}


def moves(gpt: "GPT", grads: list[dict[str, Any]], **options: Any) -> list[dict[str, Any]]:
    """What each step of AdamW adds to the parameters; the rate is RATE unless it is given."""
    before, state = some_params(), gpt.init_adamw(some_params())
    lr = options.pop("lr", RATE)
    steps = []
    for grad in grads:
        after, state = gpt.adamw_step(before, grad, state, lr, **options)
        steps.append({name: np.asarray(after[name]) - before[name] for name in before})
        before = after
    return steps


def assert_alike(got: np.ndarray, expected: np.ndarray, what: str, allowed: float = ALIKE) -> None:
    """Equal up to a part of their size."""
    __tracebackhide__ = True
    got = np.asarray(got)
    apart = np.abs(got - expected)
    worst = np.unravel_index(np.argmax(apart), apart.shape)
    assert apart[worst] <= allowed * np.abs(expected).max(), (
        f"{what}: expected {expected[worst]:.6g}, got {got[worst]:.6g}"
    )


def test_clipping_keeps_the_direction_of_an_array(gpt: "GPT") -> None:
    """A clipped gradient points where it pointed before.

    Clipping shortens; whoever cuts single entries turns the gradient.
    """
    grad = np.array([3.0, -0.5, 0.1, 0.0])
    clipped, _ = gpt.clip_grads({"b_o": grad}, 1.0)
    factor = 1.0 / np.linalg.norm(grad)
    assert_alike(clipped["b_o"], grad * factor, "an entry of a gradient of length 3, clipped to 1")


def test_clipping_measures_all_arrays_together(gpt: "GPT") -> None:
    """All arrays are shortened by one factor, so that their lengths keep their proportions.

    The norm is that of the whole gradient: with lengths 3 and 4 it is 5.
    """
    grads = {"w_o": np.full((3, 3), 1.0), "b_o": np.full(4, 2.0)}
    clipped, _ = gpt.clip_grads(grads, 2.5)
    for name in grads:
        assert_alike(clipped[name], grads[name] / 2, f"{name}, clipped from 5 to 2.5 in all")


def test_short_gradients_are_left_alone(gpt: "GPT") -> None:
    """A gradient below the limit stays as it is.

    The limit is no target: near a minimum, gradients are small for good reason.
    """
    grads = {"b_o": np.array([0.03, -0.04])}
    clipped, _ = gpt.clip_grads(grads, 1.0)
    assert_alike(clipped["b_o"], grads["b_o"], "an entry of a gradient of length 0.05, limit 1")


def test_first_step_has_the_length_of_the_rate(gpt: "GPT") -> None:
    """From the first step on, a steady gradient moves every parameter by the learning rate.

    The moments start at zero; the correction makes up for it, at the first step and after.
    """
    grads = some_grads()
    for i, step in enumerate(moves(gpt, [grads, grads, grads], weight_decay=0.0)):
        for name, move in step.items():
            expected = -RATE * np.sign(grads[name])
            assert_alike(move, expected, f"step {i + 1} of {name} along a steady gradient")


def test_steps_do_not_depend_on_the_size_of_gradients(gpt: "GPT") -> None:
    """A gradient a hundred thousand times smaller moves the parameters as far.

    The step is a ratio of moments. eps only keeps it from dividing by zero; it is added to the
    root of the second moment.
    """
    (large,) = moves(gpt, [some_grads()], weight_decay=0.0)
    (small,) = moves(gpt, [some_grads(1e-5)], weight_decay=0.0)
    for name in large:
        assert_alike(small[name], large[name], f"a step of {name} along tiny gradients", 0.1)


def test_second_moment_remembers_longer(gpt: "GPT") -> None:
    """After one large gradient, the steps along small ones are short for a long time.

    With betas 0.9 and 0.95 the first moment forgets the large gradient sooner than the second.
    """
    grads = [some_grads(10.0), *[some_grads(0.1)] * 3]
    last = moves(gpt, grads, weight_decay=0.0)[-1]
    beta1, beta2 = 0.9, 0.95
    m = v = 0.0
    for size in (10.0, 0.1, 0.1, 0.1):
        m, v = beta1 * m + (1 - beta1) * size, beta2 * v + (1 - beta2) * size**2
    length = (m / (1 - beta1**4)) / (v / (1 - beta2**4)) ** 0.5
    for name, move in last.items():
        expected = -RATE * length * np.sign(some_grads()[name])
        assert_alike(move, expected, f"step 4 of {name}: one large gradient, then three small")


def test_matrices_decay_whatever_their_gradient(gpt: "GPT") -> None:
    """Weight decay takes the same part of a matrix away, whatever the gradient is.

    It takes lr * weight_decay of each weight, and is no part of the gradient.
    """
    for size in (0.0, 1.0):
        (with_decay,) = moves(gpt, [some_grads(size)], weight_decay=0.5)
        (without,) = moves(gpt, [some_grads(size)], weight_decay=0.0)
        taken = with_decay["w_o"] - without["w_o"]
        what = f"what decay adds to a weight whose gradient is {'zero' if size == 0 else 'one'}"
        assert_alike(taken, -RATE * 0.5 * some_params()["w_o"], what)


def test_the_rate_scales_the_whole_step(gpt: "GPT") -> None:
    """Twice the learning rate makes a step twice as long, decay and all.

    So the schedule governs both.
    """
    (once,) = moves(gpt, [some_grads()], weight_decay=0.5)
    (twice,) = moves(gpt, [some_grads()], weight_decay=0.5, lr=2 * RATE)
    for name in once:
        assert_alike(twice[name], 2 * once[name], f"a step of {name} at twice the rate")


def test_gains_and_biases_do_not_decay(gpt: "GPT") -> None:
    """A vector with no gradient stays as it is.

    Decay is for matrices: pulling gains to zero would silence the layers behind them.
    """
    (step,) = moves(gpt, [some_grads(0.0)], weight_decay=0.5)
    moved = np.abs(step["b_o"]).max()
    assert moved < 1e-9, f"a bias without a gradient should stay, but moves by {moved:.3g}"


def rate(gpt: "GPT", step: int) -> float:
    """The rate of this step, in a schedule of 4 and 20 steps."""
    return float(gpt.learning_rate(step, MAX_RATE, WARMUP, TOTAL, min_lr=MIN_RATE))


def test_first_warmup_step_moves(gpt: "GPT") -> None:
    """The first step of the warm-up has a rate above zero.

    A step of rate zero costs a batch and changes nothing.
    """
    first = rate(gpt, 0)
    assert 0.0 < first < MAX_RATE, (
        f"the first of {WARMUP} warm-up steps should have a rate above 0 and below {MAX_RATE}, "
        f"has {first:.3g}"
    )


def test_the_rate_peaks_where_warmup_ends(gpt: "GPT") -> None:
    """The rate right after the warm-up is the largest.

    The cosine starts there, at its top.
    """
    peak = rate(gpt, WARMUP)
    assert abs(peak - MAX_RATE) < 1e-9, f"the first rate after warm-up should be 0.3, is {peak:.6g}"
    rates = [rate(gpt, step) for step in range(WARMUP)]
    assert rates == sorted(rates), f"the rates of the warm-up should rise, but are {rates}"


def test_the_rate_falls_along_a_cosine(gpt: "GPT") -> None:
    """Halfway between the warm-up and the end, the rate is halfway; at the end it is the least.

    It falls slowly at first and at last, and fastest in between.
    """
    middle = rate(gpt, (WARMUP + TOTAL) // 2)
    assert abs(middle - (MAX_RATE + MIN_RATE) / 2) < 1e-9, (
        f"halfway the rate should be 0.2, is {middle:.6g}"
    )
    end = rate(gpt, TOTAL)
    assert abs(end - MIN_RATE) < 1e-9, f"at the end the rate should be 0.1, is {end:.6g}"
    quarter = rate(gpt, WARMUP + (TOTAL - WARMUP) // 4)
    expected = MIN_RATE + (MAX_RATE - MIN_RATE) * (0.5 + 0.5**1.5)
    assert quarter == pytest.approx(expected), (
        f"a quarter of the way the rate should be {expected:.6g}, is {quarter:.6g}"
    )
