"""Training, batches and evaluation: what is learnt, and that nothing else happens on the way."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from bugkit import correct

Params = dict[str, Any]
RandomParams = Callable[[Any, int], Params]

POEM = """Tyger Tyger, burning bright,
In the forests of the night;
What immortal hand or eye,
Could frame thy fearful symmetry?
"""
"""William Blake, "The Tyger", from Songs of Innocence and of Experience, 1794: its first stanza."""

REMEMBERED = 0.2
"""Nats a character, after 250 steps: three times what was measured. Who knows only which letter
follows which stays at 1.4."""

SEED = 4
"""Any other does as well, except where a test says what was tried."""

CFG = correct.GPTConfig(7, 12, 2, 3, 6)
UNTIED = correct.GPTConfig(7, 12, 2, 3, 6, tie_word_embeddings=False)
DROPPING = correct.GPTConfig(7, 12, 2, 3, 6, dropout=0.4)

DATA = np.random.default_rng(SEED).integers(0, 7, 41)


# What must not happen.


@pytest.mark.parametrize(
    ("only", "part"),
    [
        (("w_lm",), "w_lm"),
        (("blocks.2",), "blocks.2"),
        (("wte", "blocks.0.at"), "blocks.0.at"),
        (("",), ""),
    ],
    ids=str,
)
def test_a_part_that_the_tree_does_not_have_is_refused(only: tuple[str, ...], part: str) -> None:
    with pytest.raises(ValueError, match=f"params have no part {part!r}"):
        correct.train(correct.init_params(CFG), CFG, DATA, 1, only=only)


@pytest.mark.parametrize("micro_batch_size", [0, -1])
def test_a_micro_batch_without_rows_is_refused(micro_batch_size: int) -> None:
    with pytest.raises(ValueError, match="micro_batch_size must be at least 1"):
        correct.train(correct.init_params(CFG), CFG, DATA, 1, micro_batch_size=micro_batch_size)


@pytest.mark.parametrize("length", [0, 6])
def test_a_text_that_is_too_short_is_refused(length: int) -> None:
    message = f"data hold {length} tokens; sequences of 6 need at least 7"
    with pytest.raises(ValueError, match=message):
        correct.train(correct.init_params(CFG), CFG, DATA[:length], 1)
    with pytest.raises(ValueError, match=message):
        correct.get_batch(DATA[:length], 2, 6, SEED)


@pytest.mark.parametrize(
    ("name", "value"), [("batch_size", 0), ("batch_size", -1), ("seq_len", 0), ("seq_len", -2)]
)
def test_a_batch_without_a_size_is_refused(name: str, value: int) -> None:
    with pytest.raises(ValueError, match=f"{name} must be at least 1, got {value}"):
        correct.get_batch(DATA, **{"batch_size": 2, "seq_len": 6, name: value}, seed=SEED)


def test_gradients_of_no_rows_are_refused() -> None:
    nothing = np.zeros((0, 4), dtype=np.int64)
    with pytest.raises(ValueError, match="token_ids hold no row"):
        correct.accumulate_grads(correct.init_params(CFG), CFG, nothing, nothing, 2)


def test_large_gradients_of_float32_are_clipped_and_not_cut_to_zero() -> None:
    clipped, norm = correct.clip_grads({"w_lm": np.full((2, 2), 1e25, dtype=np.float32)}, 1.0)
    assert norm == pytest.approx(2e25, rel=1e-6)
    np.testing.assert_allclose(clipped["w_lm"], 0.5, rtol=1e-6)
    assert clipped["w_lm"].dtype == np.float32


def test_after_the_last_step_the_rate_is_the_smallest_even_where_the_warm_up_is_longer() -> None:
    rates = [correct.learning_rate(step, 1.0, 10, 4, 0.1) for step in range(6)]
    assert rates == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.1, 0.1])


@pytest.mark.parametrize("length", [0, 1])
def test_a_text_without_a_prediction_cannot_be_evaluated(length: int) -> None:
    message = f"data hold {length} tokens; a prediction needs at least 2"
    with pytest.raises(ValueError, match=message):
        correct.evaluate(correct.init_params(CFG), CFG, DATA[:length])


@pytest.mark.parametrize(
    ("name", "value"), [("batch_size", 0), ("batch_size", -1), ("seq_len", 0), ("seq_len", -2)]
)
def test_an_evaluation_without_a_size_is_refused(name: str, value: int) -> None:
    with pytest.raises(ValueError, match=f"{name} must be at least 1, got {value}"):
        correct.evaluate(correct.init_params(CFG), CFG, DATA, **{name: value})


@pytest.mark.parametrize("validation", [0.0, 1.0, -0.1, 1.5, math.nan])
def test_a_part_for_validation_that_is_no_part_is_refused(validation: float) -> None:
    with pytest.raises(ValueError, match="validation must be between 0 and 1"):
        correct.split_data(DATA, validation)


@pytest.mark.parametrize("only", [("w_lm",), ("blocks.0.attn", "ln_f.g"), ("blocks",)], ids=str)
def test_what_is_not_trained_stays_bit_for_bit(
    random_params: RandomParams, only: tuple[str, ...]
) -> None:
    params = random_params(UNTIED, SEED)
    trained, _ = correct.train(params, UNTIED, DATA, 4, max_lr=0.1, only=only)
    for (path, before), (_, after) in zip(leaves(params), leaves(trained), strict=True):
        within = any(path == part or path.startswith(f"{part}.") for part in only)
        assert np.array_equal(before, after) is not within, path


def test_blocks_1_is_not_a_part_of_blocks_10() -> None:
    cfg = correct.GPTConfig(3, 2, 11, 1, 2)
    params = correct.init_params(cfg)
    trained, _ = correct.train(params, cfg, DATA % 3, 2, max_lr=0.1, only=("blocks.1",))
    moved = {
        path.split(".")[1]
        for (path, before), (_, after) in zip(leaves(params), leaves(trained), strict=True)
        if not np.array_equal(before, after)
    }
    assert moved == {"1"}


def test_what_is_not_trained_does_not_count_in_the_clipping(random_params: RandomParams) -> None:
    params = random_params(UNTIED, SEED)
    token_ids, targets = first_batch(seed=SEED)
    _, grads = correct.loss_and_grads(params, UNTIED, token_ids, targets)
    whole, part = (correct.clip_grads(tree, 1e9)[1] for tree in (grads, {"w_lm": grads["w_lm"]}))
    max_norm = (whole + part) / 2
    assert part < max_norm < whole
    options: dict[str, Any] = {"only": ("w_lm",), "betas": (0.0, 0.0), "weight_decay": 0.0}
    once, _ = correct.train(params, UNTIED, DATA, 1, seed=SEED, max_norm=max_norm, **options)
    free, _ = correct.train(params, UNTIED, DATA, 1, seed=SEED, max_norm=1e9, **options)
    np.testing.assert_array_equal(once["w_lm"], free["w_lm"])


# The loop.


@pytest.mark.parametrize("cfg", [CFG, UNTIED, DROPPING], ids=["tied", "untied", "dropout"])
def test_every_loss_is_from_before_its_step(random_params: RandomParams, cfg: Any) -> None:
    """One step less gives the same losses but the last; the first is the loss of the start."""
    params = random_params(cfg, SEED)
    # A constant rate, or the schedule would depend on the number of steps.
    options: dict[str, Any] = {"max_lr": 0.03, "min_lr": 0.03, "seed": SEED}
    _, losses = correct.train(params, cfg, DATA, 5, **options)
    before, fewer = correct.train(params, cfg, DATA, 4, **options)
    assert losses[:4] == fewer
    assert len(set(losses)) == 5
    batch_seed, dropout_seed = seeds(SEED, steps=5)[4]
    token_ids, targets = correct.get_batch(DATA, 8, cfg.max_seq_len, batch_seed)
    loss, _ = correct.loss_and_grads(before, cfg, token_ids, targets, dropout_seed)
    assert losses[4] == pytest.approx(loss, rel=1e-13)


def test_training_is_batch_gradient_clipping_rate_and_step(random_params: RandomParams) -> None:
    params = random_params(CFG, SEED)
    got, losses = correct.train(
        params,
        CFG,
        DATA,
        6,
        batch_size=3,
        seq_len=4,
        max_lr=0.05,
        min_lr=0.01,
        warmup_steps=2,
        betas=(0.8, 0.9),
        weight_decay=0.3,
        max_norm=0.2,
        seed=SEED,
    )
    state = correct.init_adamw(params)
    expected_losses = []
    for step, (batch_seed, _) in enumerate(seeds(SEED, steps=6)):
        token_ids, targets = correct.get_batch(DATA, 3, 4, batch_seed)
        loss, grads = correct.loss_and_grads(params, CFG, token_ids, targets)
        clipped, norm = correct.clip_grads(grads, 0.2)
        assert norm > 0.2, "nothing is clipped here"
        lr = correct.learning_rate(step, 0.05, 2, 6, 0.01)
        params, state = correct.adamw_step(
            params, clipped, state, lr, betas=(0.8, 0.9), weight_decay=0.3
        )
        expected_losses.append(loss)
    assert losses == pytest.approx(expected_losses, rel=1e-10)
    # A gradient that is zero but for rounding, that of the keys' bias, moves by eps at most.
    assert_close(got, params, rtol=1e-9)


def test_the_defaults_are_the_longest_sequence_and_a_tenth_of_the_rate(
    random_params: RandomParams,
) -> None:
    params = random_params(CFG, SEED)
    got = correct.train(params, CFG, DATA, 3, max_lr=0.02)
    stated = correct.train(
        params, CFG, DATA, 3, seq_len=CFG.max_seq_len, micro_batch_size=8, max_lr=0.02, min_lr=0.002
    )
    np.testing.assert_equal(got, stated)


def test_each_step_is_reported_with_its_loss() -> None:
    calls: list[tuple[int, float]] = []
    _, losses = correct.train(
        correct.init_params(CFG), CFG, DATA, 4, on_step=lambda *call: calls.append(call)
    )
    assert calls == list(enumerate(losses))


def test_no_steps_change_nothing() -> None:
    params = correct.init_params(CFG)
    trained, losses = correct.train(params, CFG, DATA, 0)
    assert losses == []
    np.testing.assert_equal(trained, params)


@pytest.mark.parametrize("cfg", [CFG, DROPPING], ids=["plain", "dropout"])
def test_the_seed_decides_everything(random_params: RandomParams, cfg: Any) -> None:
    params = random_params(cfg, SEED)
    one, same, other = (correct.train(params, cfg, DATA, 3, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_equal(one, same)
    assert all(a != b for a, b in zip(one[1], other[1], strict=True))


@pytest.mark.parametrize("micro_batch_size", [1, 3, 5])
def test_accumulation_changes_nothing_but_rounding(
    random_params: RandomParams, micro_batch_size: int
) -> None:
    params = random_params(CFG, SEED)
    options: dict[str, Any] = {"batch_size": 5, "max_lr": 0.01}
    expected, losses = correct.train(params, CFG, DATA, 8, **options)
    got, got_losses = correct.train(
        params, CFG, DATA, 8, micro_batch_size=micro_batch_size, **options
    )
    assert got_losses == pytest.approx(losses, rel=1e-9)
    assert_close(got, expected, rtol=1e-7)


def test_dropout_is_active_in_training_and_nowhere_else(random_params: RandomParams) -> None:
    params = random_params(CFG, SEED)
    _, plain = correct.train(params, CFG, DATA, 1)
    _, dropped = correct.train(params, DROPPING, DATA, 1)
    assert plain != dropped
    prompt = DATA[None, :3]
    for function, arguments in (
        (correct.evaluate, (DATA,)),
        (correct.token_log_probs, (DATA[None, :6],)),
        (correct.generate, (prompt, 9)),
        (correct.gpt_forward, (prompt,)),
    ):
        np.testing.assert_array_equal(
            function(params, DROPPING, *arguments), function(params, CFG, *arguments)
        )


def test_every_step_of_a_training_has_masks_of_its_own(
    random_params: RandomParams, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    inside = correct.gradients.dropout_masks

    def noticed(cfg: Any, shape: tuple[int, int], seed: int, dtype: Any) -> Any:
        seen.append(seed)
        return inside(cfg, shape, seed, dtype)

    monkeypatch.setattr(correct.gradients, "dropout_masks", noticed)
    correct.train(random_params(DROPPING, SEED), DROPPING, DATA, 5, micro_batch_size=3)
    assert len(set(seen)) == len(seen) == 5 * 3


def test_a_small_model_learns_four_lines_by_heart() -> None:
    """Seeds 0 to 3 end at 0.065 to 0.074, and all of them can recite."""
    vocabulary = correct.build_vocabulary(POEM)
    data = correct.encode(POEM, vocabulary)
    cfg = correct.GPTConfig(len(vocabulary), 32, 2, 4, 32)
    params, losses = correct.train(
        correct.init_params(cfg), cfg, data, 250, batch_size=8, max_lr=1e-2, warmup_steps=10
    )
    assert losses[0] == pytest.approx(math.log(len(vocabulary)), abs=0.2)
    assert np.mean(losses[-20:]) < REMEMBERED
    written = correct.generate(params, cfg, data[None, :8], 60, temperature=0.0)
    text = correct.decode(written[0], vocabulary)
    assert text == POEM[: len(text)]
    sampled = correct.generate(params, cfg, data[None, :8], 100, temperature=0.5, seed=SEED)
    # The last word may be cut off.
    words = correct.decode(sampled[0], vocabulary).split()[:-1]
    assert set(words) <= set(POEM.split())


# Batches.


def test_targets_are_the_inputs_one_token_later() -> None:
    data = np.arange(100, 120)
    token_ids, targets = correct.get_batch(data, 50, 7, SEED)
    assert token_ids.shape == targets.shape == (50, 7)
    np.testing.assert_array_equal(targets, token_ids + 1)
    np.testing.assert_array_equal(np.diff(token_ids), 1)


def test_every_window_can_come_the_first_and_the_last_too() -> None:
    data = np.arange(10)
    token_ids, targets = correct.get_batch(data, 500, 7, SEED)
    assert set(token_ids[:, 0]) == {0, 1, 2}
    assert targets.max() == 9
    # Four standard deviations of a share of a third.
    shares = np.bincount(token_ids[:, 0]) / 500
    assert np.abs(shares - 1 / 3).max() < 4 * math.sqrt(2 / 9 / 500)


def test_a_text_of_one_window_always_gives_it() -> None:
    token_ids, targets = correct.get_batch(np.arange(8), 3, 7, SEED)
    np.testing.assert_array_equal(token_ids, [np.arange(7)] * 3)
    np.testing.assert_array_equal(targets, [np.arange(1, 8)] * 3)


def test_the_seed_decides_the_batch() -> None:
    one, same, other = (correct.get_batch(DATA, 8, 5, seed) for seed in (1, 1, 2))
    np.testing.assert_equal(one, same)
    assert not np.array_equal(one[0], other[0])


@pytest.mark.parametrize("length", [0, 1, 2, 5, 10, 41, 1000])
@pytest.mark.parametrize("validation", [None, 0.01, 0.25, 0.5, 0.9])
def test_a_split_is_disjoint_and_complete_and_in_order(
    length: int, validation: float | None
) -> None:
    data = np.arange(length)
    options = {} if validation is None else {"validation": validation}
    training, validating = correct.split_data(data, **options)
    np.testing.assert_array_equal(np.concatenate([training, validating]), data)
    share = 0.1 if validation is None else validation
    assert abs(len(validating) - share * length) <= 0.5


# Evaluation.


@pytest.mark.parametrize("length", [2, 3, 6, 7, 8, 13, 20, 41])
@pytest.mark.parametrize("seq_len", [None, 1, 4, 6])
def test_an_evaluation_is_the_plain_mean_over_all_tokens(
    random_params: RandomParams, length: int, seq_len: int | None
) -> None:
    params, data = random_params(CFG, SEED), DATA[:length]
    T = seq_len or CFG.max_seq_len
    losses: list[float] = []
    for start in range(0, length - 1, T):
        window = data[start : min(start + T, length - 1)]
        logits = correct.gpt_forward(params, CFG, window[None])[0]
        for i, row in enumerate(logits):
            losses.append(math.log(sum(math.exp(x) for x in row)) - row[data[start + i + 1]])
    assert len(losses) == length - 1
    expected = math.fsum(losses) / len(losses)
    for batch_size in (1, 2, 8, 100):
        got = correct.evaluate(params, CFG, data, batch_size, seq_len)
        assert isinstance(got, float)
        assert got == pytest.approx(expected, rel=1e-12)


def test_log_probabilities_add_up_to_the_loss(random_params: RandomParams) -> None:
    params, token_ids = random_params(CFG, SEED), DATA[:18].reshape(3, 6)
    log_probs = correct.token_log_probs(params, CFG, token_ids)
    assert log_probs.shape == (3, 5)
    loss, _ = correct.loss_and_grads(params, CFG, token_ids[:, :-1], token_ids[:, 1:])
    assert log_probs.sum() == pytest.approx(-loss * log_probs.size, rel=1e-13)
    probs = correct.softmax(correct.gpt_forward(params, CFG, token_ids))
    for b, t in np.ndindex(log_probs.shape):
        assert math.exp(log_probs[b, t]) == pytest.approx(probs[b, t, token_ids[b, t + 1]])


def test_log_probabilities_of_the_impossible_are_finite(random_params: RandomParams) -> None:
    params = random_params(UNTIED, SEED)
    params["w_lm"] *= 1e4
    log_probs = correct.token_log_probs(params, UNTIED, DATA[None, :6])
    assert np.isfinite(log_probs).all()
    assert log_probs.min() < -1000, "exp of it must be zero in float64, or this shows nothing"


def seeds(seed: int, steps: int) -> list[tuple[int, int]]:
    """What a training draws for each step: the seed of the batch and that of dropout."""
    rng = np.random.default_rng(seed)
    pairs = [rng.integers(2**32, size=2) for _ in range(steps)]
    return [(int(one), int(other)) for one, other in pairs]


def first_batch(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The first batch of a training with this seed."""
    token_ids, targets = correct.get_batch(DATA, 8, CFG.max_seq_len, seeds(seed, 1)[0][0])
    return token_ids, targets


def assert_close(got: Any, expected: Any, rtol: float = 1e-12) -> None:
    """Two trees are equal up to rounding."""
    for (path, one), (_, other) in zip(leaves(got), leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol, err_msg=path)


def leaves(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every array of a tree, with its path as `only` takes it."""
    if not isinstance(tree, dict | list):
        yield path, tree
        return
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        yield from leaves(value, f"{path}.{key}" if path else str(key))
