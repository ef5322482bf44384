"""Numbers that any right implementation gives, from a model that is written down completely.

One layer, a vocabulary of five, 16 features, two heads, eight positions, an untied head; no bias,
no gain. Nothing here depends on the order in which this project draws its own parameters.
"""

import math
from typing import Any

import numpy as np
import pytest

from bugkit import correct

Params = dict[str, Any]

STD = 0.02
"""Standard deviation of every matrix, drawn with seed 0."""

LOSS = 1.6769
"""Of counting from 0 to 4 and over again, before any training."""

STEPS, RATE = 30, 2.0
"""Plain gradient descent, on the head alone."""

CFG = correct.GPTConfig(5, 16, 1, 2, 8, tie_word_embeddings=False)


def test_the_loss_before_training() -> None:
    token_ids, targets = counting(rows=1)
    logits = correct.gpt_forward(model(), CFG, token_ids)
    assert correct.cross_entropy(logits, targets) == pytest.approx(LOSS, abs=5e-5)
    assert correct.loss_and_grads(model(), CFG, token_ids, targets)[0] == pytest.approx(
        LOSS, abs=5e-5
    )


def test_thirty_steps_on_the_head_teach_it_to_count() -> None:
    params, (token_ids, targets) = model(), counting(rows=2)
    untrained = correct.generate(params, CFG, [[0, 1, 2]], 5, temperature=0.0)
    for _ in range(STEPS):
        _, grads = correct.loss_and_grads(params, CFG, token_ids, targets)
        params["w_lm"] = params["w_lm"] - RATE * grads["w_lm"]
    for use_cache in (True, False):
        counted = correct.generate(
            params, CFG, [[0, 1, 2]], 5, temperature=0.0, use_cache=use_cache
        )
        assert counted.tolist() == [[0, 1, 2, 3, 4, 0, 1, 2]]
    assert untrained.tolist() != counted.tolist()


def test_the_loss_of_a_model_that_knows_nothing_is_the_logarithm_of_the_vocabulary() -> None:
    token_ids, targets = counting(rows=2)
    params = model()
    params["w_lm"] = np.zeros_like(params["w_lm"])
    loss, _ = correct.loss_and_grads(params, CFG, token_ids, targets)
    assert loss == pytest.approx(math.log(5), rel=1e-15)


@pytest.mark.parametrize(
    ("step", "rate"), [(0, 0.1), (4, 0.5), (9, 1.0), (10, 1.0), (55, 0.55), (99, 0.1002741)]
)
def test_rates_of_a_schedule_by_hand(step: int, rate: float) -> None:
    """Ten steps up to 1, then a cosine down to a tenth over ninety: halfway it is halfway."""
    assert correct.learning_rate(step, 1.0, 10, 100, 0.1) == pytest.approx(rate, abs=5e-8)


def test_the_first_step_of_adamw_by_hand() -> None:
    """Whatever a gradient's size, the first step has the length of the rate: both moments, once
    their start at zero is made up for, are the gradient and its square."""
    params = {"matrix": np.array([[2.0, -4.0]]), "vector": np.array([2.0, -4.0])}
    grads = {"matrix": np.array([[1e-3, 500.0]]), "vector": np.array([-7.0, 1e-3])}
    moved, _ = correct.adamw_step(
        params, grads, correct.init_adamw(params), lr=0.5, weight_decay=0.1
    )
    np.testing.assert_allclose(moved["matrix"], [[2 - 0.1 - 0.5, -4 + 0.2 - 0.5]], rtol=1e-4)
    np.testing.assert_allclose(moved["vector"], [2 + 0.5, -4 - 0.5], rtol=1e-4)


def test_clipping_by_hand() -> None:
    grads = {"one": np.array([[3.0]]), "other": [np.array([0.0, 4.0])]}
    clipped, norm = correct.clip_grads(grads, 1.0)
    assert norm == 5.0
    np.testing.assert_allclose(clipped["one"], [[0.6]], rtol=1e-15)
    np.testing.assert_allclose(clipped["other"][0], [0.0, 0.8], rtol=1e-15)
    untouched, norm = correct.clip_grads(grads, 5.0)
    assert norm == 5.0
    np.testing.assert_equal(untouched, grads)


def test_rotation_by_hand() -> None:
    """A head of two channels: position p turns by p radians, whatever theta is."""
    turned = correct.apply_rotary(np.array([[1.0, 0.0]] * 3), theta=7.0)
    expected = [[math.cos(p), math.sin(p)] for p in range(3)]
    np.testing.assert_allclose(turned, expected, rtol=1e-15)


def model() -> Params:
    """The model, drawn in this order: both embeddings, attention, MLP, head."""
    rng = np.random.default_rng(0)
    V, C, longest = CFG.vocab_size, CFG.d_model, CFG.max_seq_len
    wte, wpe = rng.normal(0.0, STD, (V, C)), rng.normal(0.0, STD, (longest, C))
    w_qkv, w_o = rng.normal(0.0, STD, (C, 3 * C)), rng.normal(0.0, STD, (C, C))
    w1, w2 = rng.normal(0.0, STD, (C, 4 * C)), rng.normal(0.0, STD, (4 * C, C))
    w_lm = rng.normal(0.0, STD, (C, V))
    block = {
        "ln1": norm(C),
        "attn": {"w_qkv": w_qkv, "b_qkv": np.zeros(3 * C), "w_o": w_o, "b_o": np.zeros(C)},
        "ln2": norm(C),
        "mlp": {"w1": w1, "b1": np.zeros(4 * C), "w2": w2, "b2": np.zeros(C)},
    }
    return {"wte": wte, "wpe": wpe, "blocks": [block], "ln_f": norm(C), "w_lm": w_lm}


def norm(C: int) -> dict[str, np.ndarray]:
    """A norm that only standardises."""
    return {"g": np.ones(C), "b": np.zeros(C)}


def counting(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """0 1 2 3 4 0 1 2 and what follows each, the same in every row."""
    numbers = np.arange(9) % 5
    return np.tile(numbers[:-1], (rows, 1)), np.tile(numbers[1:], (rows, 1))
