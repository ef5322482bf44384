"""The backward pass by what a gradient is: how much the loss moves with every single number."""

import copy
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from bugkit import correct

Params = dict[str, Any]
RandomParams = Callable[[Any, int], Params]

H = 1e-5
"""Half the distance of the two points that a slope is measured between: the error, H squared, and
rounding divided by H are then about equal."""

SLOPE = 1e-7
"""What may be wrong with a measured slope, relative to the largest of its array."""

FLOOR = 1e-9
"""The same for arrays without a slope: rounding of the loss, divided by H."""

FLOAT32 = 1e-4
"""What float32 may change, relative to the largest entry."""

SEED = 2
"""Any other does as well."""

B, T = 2, 4

SIZES = {"vocab_size": 5, "d_model": 4, "n_layers": 2, "n_heads": 2, "max_seq_len": 5}
GROUPED = {"d_model": 8, "n_heads": 4, "n_kv_heads": 2, "n_layers": 1}

CHOICES: dict[str, dict[str, Any]] = {
    "tied": {},
    "untied": {"tie_word_embeddings": False},
    "dropout": {"dropout": 0.3},
    "rotary": {"rotary": True},
    "grouped": GROUPED,
    "all at once": {"tie_word_embeddings": False, "dropout": 0.2, "rotary": True, **GROUPED},
}

choices = pytest.mark.parametrize(
    "cfg",
    [correct.GPTConfig(**{**SIZES, **choice}) for choice in CHOICES.values()],
    ids=CHOICES.keys(),
)


# What must not happen.


@choices
def test_no_function_of_training_changes_its_arguments(
    random_params: RandomParams, cfg: Any
) -> None:
    params, (token_ids, targets) = random_params(cfg, SEED), batch()
    grads = correct.tree.map_tree(np.ones_like, params)
    state = correct.init_adamw(params)
    # Loss, gradients, optimiser: whatever is written to raises, whatever is replaced is noticed.
    arguments = (params, token_ids, targets, grads, state)
    before = copy.deepcopy(arguments)
    for tree in arguments:
        for _, array in leaves(tree):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False
    correct.loss_and_grads(params, cfg, token_ids, targets, SEED)
    correct.accumulate_grads(params, cfg, token_ids, targets, 1, SEED)
    correct.clip_grads(grads, 0.5)
    correct.adamw_step(params, grads, state, lr=0.1)
    correct.gpt_forward(params, cfg, token_ids, dropout_seed=SEED)
    correct.token_log_probs(params, cfg, token_ids)
    correct.train(params, cfg, np.arange(20) % 5, 2)
    np.testing.assert_equal(arguments, before)


@choices
def test_gradients_are_arrays_of_their_own(random_params: RandomParams, cfg: Any) -> None:
    params, (token_ids, targets) = random_params(cfg, SEED), batch()
    _, grads = correct.loss_and_grads(params, cfg, token_ids, targets)
    arrays = list(leaves(grads))
    for i, (path, array) in enumerate(arrays):
        for other_path, other in [*leaves(params), *arrays[:i]]:
            assert not np.shares_memory(array, other), (path, other_path)


def test_the_gradient_of_a_position_that_was_not_read_is_zero(random_params: RandomParams) -> None:
    cfg = correct.GPTConfig(**SIZES)
    _, grads = correct.loss_and_grads(random_params(cfg, SEED), cfg, *batch())
    assert not grads["wpe"][T:].any()
    assert np.all(grads["wpe"][:T] != 0.0)


def test_the_embedding_of_a_word_that_was_not_read_has_no_gradient_in_an_untied_model(
    random_params: RandomParams,
) -> None:
    cfg = correct.GPTConfig(**SIZES, tie_word_embeddings=False)
    token_ids = np.array([[0, 3, 3, 1]])
    _, grads = correct.loss_and_grads(random_params(cfg, SEED), cfg, token_ids, token_ids)
    assert [bool(row.any()) for row in grads["wte"]] == [True, True, False, True, False]


# What a gradient is.


@choices
def test_every_entry_of_every_gradient_is_the_slope_of_the_loss(
    random_params: RandomParams, cfg: Any
) -> None:
    params, (token_ids, targets) = random_params(cfg, SEED), batch()

    def loss() -> float:
        logits = correct.gpt_forward(params, cfg, token_ids, dropout_seed=SEED)
        return float(correct.cross_entropy(logits, targets))

    got, grads = correct.loss_and_grads(params, cfg, token_ids, targets, SEED)
    assert got == loss()
    flat = dict(leaves(grads))
    for path, array in leaves(params):
        slopes = np.empty_like(array)
        for place in np.ndindex(array.shape):
            right = array[place]
            array[place] = right + H
            above = loss()
            array[place] = right - H
            slopes[place] = (above - loss()) / (2 * H)
            array[place] = right
        allowed = max(SLOPE * np.abs(slopes).max(), FLOOR)
        np.testing.assert_allclose(flat[path], slopes, rtol=0.0, atol=allowed, err_msg=path)
        assert flat[path].any(), f"{path}: nothing to compare"


@choices
def test_a_small_step_against_the_gradient_lowers_the_loss_by_its_squared_length(
    random_params: RandomParams, cfg: Any
) -> None:
    params, (token_ids, targets) = random_params(cfg, SEED), batch()
    loss, grads = correct.loss_and_grads(params, cfg, token_ids, targets, SEED)
    moved = correct.tree.map_tree(lambda array, grad: array - H * grad, params, grads)
    after, _ = correct.loss_and_grads(moved, cfg, token_ids, targets, SEED)
    squared = sum(float(np.sum(grad**2)) for _, grad in leaves(grads))
    assert (loss - after) / H == pytest.approx(squared, rel=0.01)


@choices
def test_the_tree_of_gradients_looks_like_the_tree_of_parameters(cfg: Any) -> None:
    params = correct.init_params(cfg)
    _, grads = correct.loss_and_grads(params, cfg, *batch(), SEED)
    _, accumulated = correct.accumulate_grads(params, cfg, *batch(), 1, SEED)
    expected = [(path, array.shape) for path, array in leaves(params)]
    assert [(path, array.shape) for path, array in leaves(grads)] == expected
    assert [(path, array.shape) for path, array in leaves(accumulated)] == expected
    assert list(grads) == list(params)


def test_gradients_of_logits_sum_to_zero_over_the_words() -> None:
    rng = np.random.default_rng(SEED)
    logits, targets = rng.normal(size=(B, T, 5)), rng.integers(0, 5, (B, T))
    grad = correct.loss.cross_entropy_backward(logits, targets)
    np.testing.assert_allclose(grad.sum(axis=-1), 0.0, atol=1e-16)


@choices
def test_the_order_of_the_rows_does_not_matter(random_params: RandomParams, cfg: Any) -> None:
    if cfg.dropout:
        cfg = dataclasses.replace(cfg, dropout=0.0)
    params, (token_ids, targets) = random_params(cfg, SEED), batch()
    loss, grads = correct.loss_and_grads(params, cfg, token_ids, targets)
    turned_loss, turned = correct.loss_and_grads(params, cfg, token_ids[::-1], targets[::-1])
    assert turned_loss == pytest.approx(loss, rel=1e-14)
    for (path, got), (_, expected) in zip(leaves(turned), leaves(grads), strict=True):
        np.testing.assert_allclose(got, expected, rtol=0.0, atol=1e-14, err_msg=path)


# Dropout.


def test_dropout_drops_the_stated_part_and_keeps_the_mean() -> None:
    cfg = correct.GPTConfig(d_model=60, n_heads=6, dropout=0.3, n_layers=3)
    masks = dict(leaves(correct.dropout.dropout_masks(cfg, (8, 16), SEED)))
    assert len(masks) == 1 + 3 * 3
    for path, mask in masks.items():
        assert set(np.unique(mask)) == {0.0, 1 / (1 - 0.3)}, path
        # Four standard deviations of a share among so many.
        assert abs(np.mean(mask == 0.0) - 0.3) < 4 * np.sqrt(0.3 * 0.7 / mask.size), path


def test_every_value_of_the_batch_has_a_place_in_a_mask_of_its_own() -> None:
    """Else the rows of a batch, or the heads, would lose the same values together."""
    cfg = correct.GPTConfig(d_model=15, n_heads=3, n_layers=2, dropout=0.5)
    masks = correct.dropout.dropout_masks(cfg, (2, 7), SEED)
    assert masks["embedding"].shape == (2, 7, 15)
    for block in masks["blocks"]:
        assert block["weights"].shape == (2, 3, 7, 7)
        assert block["attended"].shape == block["mlp"].shape == (2, 7, 15)
        for mask in (block["weights"], block["attended"], block["mlp"]):
            assert not np.array_equal(mask[0], mask[1])
        assert not np.array_equal(block["weights"][0, 0], block["weights"][0, 1])


def test_every_mask_is_another_one_and_the_seed_decides_all() -> None:
    cfg = correct.GPTConfig(dropout=0.5)
    masks, same, other = (
        [mask for _, mask in leaves(correct.dropout.dropout_masks(cfg, (2, 16), seed))]
        for seed in (SEED, SEED, SEED + 1)
    )
    np.testing.assert_equal(masks, same)
    for i, mask in enumerate(masks):
        assert not np.array_equal(mask, other[i])
        for earlier in masks[:i]:
            assert mask.shape != earlier.shape or not np.array_equal(mask, earlier)


def test_dropout_needs_a_seed_and_changes_the_logits(random_params: RandomParams) -> None:
    cfg = correct.GPTConfig(**SIZES, dropout=0.3)
    params, (token_ids, _) = random_params(cfg, SEED), batch()
    plain = correct.gpt_forward(params, dataclasses.replace(cfg, dropout=0.0), token_ids)
    np.testing.assert_array_equal(correct.gpt_forward(params, cfg, token_ids), plain)
    seeded = [correct.gpt_forward(params, cfg, token_ids, dropout_seed=seed) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(seeded[0], seeded[1])
    assert np.all(seeded[0] != seeded[2])
    assert np.all(seeded[0] != plain)


# Precision.


@choices
def test_float32_stays_float32_through_training_and_generation(
    random_params: RandomParams, cfg: Any
) -> None:
    double, (token_ids, targets) = random_params(cfg, SEED), batch()
    params = correct.tree.map_tree(lambda array: array.astype(np.float32), double)
    loss, grads = correct.loss_and_grads(params, cfg, token_ids, targets, SEED)
    assert isinstance(loss, float)
    _, accumulated = correct.accumulate_grads(params, cfg, token_ids, targets, 1, SEED)
    clipped, _ = correct.clip_grads(grads, 0.01)
    moved, state = correct.adamw_step(
        params, clipped, correct.init_adamw(params), correct.learning_rate(3, 0.1, 2, 9)
    )
    trained, losses = correct.train(params, cfg, np.arange(20) % 5, 3, batch_size=2, seq_len=3)
    assert all(isinstance(loss, float) for loss in losses)
    logits, cache = correct.forward_cached(
        params, cfg, token_ids, correct.init_cache(cfg, B, "float32")
    )
    dropping = correct.gpt_forward(params, cfg, token_ids, dropout_seed=SEED)
    masks = correct.dropout.dropout_masks(cfg, (B, T), SEED, np.float32)
    for tree in (grads, accumulated, clipped, moved, state["m"], state["v"], trained, cache):
        for path, array in leaves(tree):
            assert array.dtype == np.float32, path
    assert logits.dtype == dropping.dtype == np.float32
    assert correct.token_log_probs(params, cfg, token_ids).dtype == np.float32
    assert all(mask is None or mask.dtype == np.float32 for _, mask in leaves(masks))
    turned = correct.apply_rotary(np.ones((3, 4), dtype=np.float32), start=2)
    assert turned.dtype == np.float32

    _, expected = correct.loss_and_grads(double, cfg, token_ids, targets, SEED)
    for (path, got), (_, exact) in zip(leaves(grads), leaves(expected), strict=True):
        allowed = FLOAT32 * max(np.abs(exact).max(), 1e-2)
        np.testing.assert_allclose(got, exact, rtol=0.0, atol=allowed, err_msg=path)


@pytest.mark.parametrize("number", [float, np.float64], ids=["float", "NumPy's float64"])
def test_float32_stays_float32_whatever_type_a_setting_has(number: type[float]) -> None:
    cfg = correct.GPTConfig(**SIZES, dropout=number(0.3), rope_theta=number(100.0))
    params = correct.tree.map_tree(lambda array: array.astype(np.float32), correct.init_params(cfg))
    _, grads = correct.loss_and_grads(params, cfg, *batch(), SEED)
    clipped, _ = correct.clip_grads(grads, number(1e-3))
    moved, state = correct.adamw_step(
        params,
        grads,
        correct.init_adamw(params),
        number(0.1),
        betas=(number(0.9), number(0.95)),
        eps=number(1e-8),
        weight_decay=number(0.1),
    )
    for tree in (grads, clipped, moved, state["m"], state["v"]):
        for path, array in leaves(tree):
            assert array.dtype == np.float32, path


def leaves(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every array of a tree, with its path."""
    if not isinstance(tree, dict | list):
        yield path, tree
        return
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        yield from leaves(value, f"{path}.{key}")


def batch() -> Any:
    """Token ids and targets, both [B, T]; some tokens come twice."""
    return np.random.default_rng(SEED).integers(0, SIZES["vocab_size"], (2, B, T))
