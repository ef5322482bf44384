"""The function layer_norm by itself."""

from typing import TYPE_CHECKING

import numpy as np

from . import cases

if TYPE_CHECKING:
    from bugkit.contract import GPT

NARROW = 4
"""Few features, so that dividing by C and by C - 1 are far apart: 1 against 0.75."""

WIDE = 2000
"""Many features, so that the estimator of the variance does not matter."""


def test_layer_norm_standardises_each_token(gpt: "GPT") -> None:
    """A normalised token has mean 0 and mean square 1 over its features.

    With gain one and bias zero, for each token by itself; the variance is the mean of squares,
    divided by C.
    """
    x = np.random.default_rng(cases.SEED).normal(5.0, 3.0, (cases.B, cases.T, NARROW))
    y = np.asarray(gpt.layer_norm(x, np.ones(NARROW), np.zeros(NARROW)))
    means, squares = y.mean(axis=-1), (y**2).mean(axis=-1)
    # eps moves the mean square by about 1e-6 here, single precision both.
    worst = float(np.abs(means).max())
    assert worst < 1e-3, f"the mean of a token should be 0, but is off by {worst:.3g}"
    worst = float(np.abs(squares - 1.0).max())
    assert worst < 1e-3, f"the mean square of a token should be 1, but is off by {worst:.3g}"


def test_layer_norm_leaves_tokens_apart(gpt: "GPT") -> None:
    """Normalising one token does not look at another.

    The statistics are those of one token. If they ran over time, every token would see the
    future.
    """
    x = np.random.default_rng(cases.SEED).normal(0.0, 1.0, (cases.B, cases.T, NARROW))
    g, b = np.ones(NARROW), np.zeros(NARROW)
    changed = x.copy()
    changed[:, -1] += np.arange(NARROW)
    before, after = (np.asarray(gpt.layer_norm(tokens, g, b)) for tokens in (x, changed))
    axes = ("batch row", "position", "feature")
    cases.assert_same(after[:, :-1], before[:, :-1], "after a change of the last token", axes)


def test_layer_norm_adds_eps_to_the_variance(gpt: "GPT") -> None:
    """eps stands under the root.

    Features of plus and minus sqrt(eps) have the variance eps, so they become
    sqrt(eps) / sqrt(eps + eps) = 0.707. With eps outside the root they would become nearly 1.
    """
    eps = 1e-2
    with cases.optional("eps"):
        y = gpt.layer_norm(_alternating(eps), np.ones(WIDE), np.zeros(WIDE), eps=eps)
    got = float(y[0][0])
    assert abs(got - 0.5**0.5) < 1e-2, f"expected 0.707 for variance = eps = {eps}, got {got:.3f}"


def test_layer_norm_uses_the_eps_of_gpt2(gpt: "GPT") -> None:
    """eps is 1e-5 unless said otherwise.

    Weights are trained with one eps. Another one changes every activation of small variance.
    """
    eps = 1e-5
    got = float(gpt.layer_norm(_alternating(eps), np.ones(WIDE), np.zeros(WIDE))[0][0])
    assert abs(got - 0.5**0.5) < 1e-2, f"expected 0.707 for variance = 1e-5, got {got:.3f}"


def _alternating(variance: float) -> np.ndarray:
    """One token with mean 0 and this variance, [1, WIDE]."""
    signs: np.ndarray = np.tile([1.0, -1.0], WIDE // 2)[None]
    return np.asarray(variance**0.5 * signs)
