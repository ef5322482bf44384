"""The loss: what it is for logits whose loss is known, and over which tokens it is a mean."""

from typing import TYPE_CHECKING

import numpy as np
import pytest

from . import cases

if TYPE_CHECKING:
    from bugkit.contract import GPT

pytestmark = pytest.mark.level(2)

B, T, V = 3, 4, 7
"""Rows, positions and words: all different, so that no axis passes for another."""

LENGTH, WINDOW = 24, 5
"""Tokens of a text and of a window: the 23 predictions make 4 whole windows and one of 3."""

CLOSE = 1e-4
"""How far two losses may lie apart, relative to their size: single precision is enough."""


def test_undecided_logits_cost_log_v(gpt: "GPT") -> None:
    """Equal logits for all words cost log V.

    Whoever has no idea gives each of V words the probability 1 / V, at every position, and however
    large the equal logits are: only their differences count.
    """
    levels = np.linspace(-20.0, 20.0, B * T).reshape(B, T, 1)
    loss = gpt.cross_entropy(levels + np.zeros(V), some_targets())
    assert_loss(loss, float(np.log(V)), f"equal logits for {V} words")


def test_a_certain_right_answer_costs_nothing(gpt: "GPT") -> None:
    """Certainty about the right words costs nothing.

    With a logit 100 above all others, the right word has probability 1, and its logarithm is 0.
    """
    targets = some_targets()
    loss = gpt.cross_entropy(100.0 * np.eye(V)[targets], targets)
    assert_loss(loss, 0.0, "the right word 100 above all others")


def test_a_certain_mistake_costs_its_logit(gpt: "GPT") -> None:
    """Certainty about a wrong word costs as much as its logit lies above the right one.

    The probability of the right word is then exp(-1000), which no floating-point number can hold;
    its logarithm is -1000 all the same.
    """
    targets = some_targets()
    loss = gpt.cross_entropy(1000.0 * np.eye(V)[(targets + 1) % V], targets)
    assert_loss(loss, 1000.0, "a wrong word 1000 above all others")


def test_loss_is_the_mean_over_positions(gpt: "GPT") -> None:
    """The loss of a batch is the mean of what its positions cost one by one.

    So it depends neither on their number nor on how they are laid out in rows.
    """
    logits, targets = some_logits(), some_targets()
    alone = [
        float(gpt.cross_entropy(logits[b : b + 1, t : t + 1], targets[b : b + 1, t : t + 1]))
        for b, t in np.ndindex(B, T)
    ]
    loss = gpt.cross_entropy(logits, targets)
    assert_loss(loss, float(np.mean(alone)), "logits of several positions")


def test_token_scores_are_made_before_the_token_is_seen(gpt: "GPT") -> None:
    """Every word gets, as the last token, the score that the text before it gives.

    Each word is tried as the last token of one text. Whoever scores it has seen the same tokens
    before it, and not the word itself.
    """
    cfg, params = cases.model(gpt, n_layers=1)
    words = cases.SIZES["vocab_size"]
    texts = np.repeat(cases.tokens(1, T), words, axis=0)
    texts[:, -1] = np.arange(words)
    scores = np.asarray(gpt.token_log_probs(params, cfg, texts))
    assert scores.shape == (words, T - 1), (
        f"token_log_probs must have the shape {(words, T - 1)}, one score for every token but the "
        f"first, not {scores.shape}"
    )
    logits = cases.logits_of(gpt, params, cfg, texts[:1, :-1])[0, -1]
    expected = logits - logits.max()
    expected = expected - np.log(np.exp(expected).sum())
    what = "log-probability of a word as the last token"
    cases.assert_same(scores[:, -1], expected, what, ("word",), loose=10)


def test_evaluation_counts_every_token_alike(gpt: "GPT") -> None:
    """The loss of a text is the mean over its tokens, however they are batched.

    Windows follow one another without overlap, and a shorter last one counts by its tokens.
    """
    cfg, params = cases.model(gpt, n_layers=1)
    data = cases.tokens(1, LENGTH)[0]
    costs = []
    for start in range(0, LENGTH - 1, WINDOW):
        window = data[start : start + WINDOW + 1]
        logits = cases.logits_of(gpt, params, cfg, window[None, :-1])[0].astype(np.float64)
        logits -= logits.max(axis=-1, keepdims=True)
        normaliser = np.log(np.sum(np.exp(logits), axis=-1))
        costs += list(normaliser - logits[np.arange(len(window) - 1), window[1:]])
    for batch_size in (1, 3, 8):
        loss = gpt.evaluate(params, cfg, data, batch_size=batch_size, seq_len=WINDOW)
        what = f"{LENGTH - 1} predictions in windows of {WINDOW}, {batch_size} windows a batch"
        assert_loss(loss, float(np.mean(costs)), what)


def some_logits() -> np.ndarray:
    """Random logits, [B, T, V]."""
    return np.random.default_rng(cases.SEED).normal(0.0, 3.0, (B, T, V))


def some_targets() -> np.ndarray:
    """Random words, [B, T]."""
    return np.random.default_rng(cases.SEED).integers(0, V, (B, T))


def assert_loss(loss: float, expected: float, what: str) -> None:
    """The loss is what is expected; NaN is not for here to say."""
    __tracebackhide__ = True
    assert not abs(float(loss) - expected) > CLOSE * max(1.0, expected), (
        f"{what}: expected a loss of {expected:.6g}, got {float(loss):.6g}"
    )
