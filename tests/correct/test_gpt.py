"""The contract of the correct GPT: names, shapes, types, errors, and how it is written."""

import ast
import copy
import dataclasses
import gc
import inspect
import math
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

from bugkit import contract, correct, places

Params = dict[str, Any]
RandomParams = Callable[[Any, int], Params]

V, C, LAYERS, H, LONGEST, B, T = 11, 15, 2, 3, 13, 2, 7
"""Sizes that differ and share no factor where they can, so that no axis passes for another."""

SEED = 3
"""Any other does as well."""

INIT_STD = 0.02
"""Standard deviation of the initial weights, as in GPT-2."""

ROUNDING = 1e-12
"""What another order of summation may change in float64, relative to numbers near 1."""

FLOAT32_ROUNDING = 1e-4
"""What float32 may change: its steps are 1e-7, and two layers add up some hundred of them."""

ALSO = {"gpt2.py": {"safetensors"}}
"""What a file may import besides NumPy and the standard library."""

INTEGERS = ("uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64")

SIZES = ("vocab_size", "d_model", "n_layers", "n_heads", "max_seq_len")

MODEL = {"params": None, "cfg": None}
BATCH = {**MODEL, "token_ids": None, "targets": None}
SAMPLING = {"temperature": 1.0, "top_k": None, "top_p": None}
FILE = {"path": None}

ARGUMENTS: dict[str, dict[str, Any]] = {
    "init_params": {"cfg": None, "seed": 0},
    "gpt_forward": {**MODEL, "token_ids": None, "return_attn": False, "dropout_seed": None},
    "softmax": {"x": None, "axis": -1},
    "layer_norm": {"x": None, "g": None, "b": None, "eps": 1e-5},
    "gelu": {"x": None},
    "cross_entropy": {"logits": None, "targets": None},
    "loss_and_grads": {**BATCH, "dropout_seed": None},
    "accumulate_grads": {**BATCH, "micro_batch_size": None, "dropout_seed": None},
    "clip_grads": {"grads": None, "max_norm": None},
    "init_adamw": {"params": None},
    "adamw_step": {
        "params": None,
        "grads": None,
        "state": None,
        "lr": None,
        "betas": (0.9, 0.95),
        "eps": 1e-8,
        "weight_decay": 0.1,
    },
    "learning_rate": {
        "step": None,
        "max_lr": None,
        "warmup_steps": None,
        "total_steps": None,
        "min_lr": 0.0,
    },
    "get_batch": {"data": None, "batch_size": None, "seq_len": None, "seed": None},
    "train": {
        **MODEL,
        "data": None,
        "steps": None,
        "batch_size": 8,
        "seq_len": None,
        "micro_batch_size": None,
        "max_lr": 1e-3,
        "min_lr": None,
        "warmup_steps": 0,
        "betas": (0.9, 0.95),
        "weight_decay": 0.1,
        "max_norm": 1.0,
        "only": None,
        "seed": 0,
        "on_step": None,
    },
    "evaluate": {**MODEL, "data": None, "batch_size": 8, "seq_len": None},
    "token_log_probs": {**MODEL, "token_ids": None},
    "sample_next": {"logits": None, **SAMPLING, "seed": 0},
    "generate": {
        **MODEL,
        "token_ids": None,
        "max_new_tokens": None,
        **SAMPLING,
        "stop_token": None,
        "seed": 0,
        "use_cache": True,
    },
    "init_cache": {"cfg": None, "batch_size": None, "dtype": "float64"},
    "forward_cached": {**MODEL, "token_ids": None, "cache": None},
    "apply_rotary": {"x": None, "start": 0, "theta": 10000.0},
    "build_vocabulary": {"text": None},
    "encode": {"text": None, "vocabulary": None},
    "decode": {"token_ids": None, "vocabulary": None},
    "split_data": {"data": None, "validation": 0.1},
    "save_checkpoint": {**FILE, **MODEL},
    "load_checkpoint": FILE,
    "load_gpt2": {**FILE, "n_heads": None},
}
"""Name -> default of each argument in order, None where there is none."""

CFG = correct.GPTConfig(V, C, LAYERS, H, LONGEST)
UNTIED = dataclasses.replace(CFG, tie_word_embeddings=False)

MODERN = correct.GPTConfig(V, 24, LAYERS, 6, LONGEST, n_kv_heads=2, rotary=True)

tied_or_not = pytest.mark.parametrize("cfg", [CFG, UNTIED], ids=["tied", "untied"])


# What is refused.


@pytest.mark.parametrize("size", [0, -1, 4.0, True, False], ids=repr)
@pytest.mark.parametrize("name", SIZES)
def test_a_size_that_is_no_positive_integer_is_refused(name: str, size: object) -> None:
    message = f"{name} must be a positive integer, got {size!r}"
    with pytest.raises(ValueError, match=re.escape(message)):
        correct.GPTConfig(**{name: size})


@pytest.mark.parametrize(("d_model", "n_heads"), [(15, 4), (4, 8)])
def test_heads_that_cannot_share_the_width_are_refused(d_model: int, n_heads: int) -> None:
    message = f"d_model must be divisible by n_heads, got {d_model} and {n_heads}"
    with pytest.raises(ValueError, match=message):
        correct.GPTConfig(d_model=d_model, n_heads=n_heads)


@pytest.mark.parametrize("n_kv_heads", [0, -1, 2.0, True], ids=repr)
def test_a_number_of_key_heads_that_is_no_positive_integer_is_refused(n_kv_heads: object) -> None:
    message = f"n_kv_heads must be a positive integer, got {n_kv_heads!r}"
    with pytest.raises(ValueError, match=re.escape(message)):
        correct.GPTConfig(n_kv_heads=n_kv_heads)


@pytest.mark.parametrize("n_kv_heads", [3, 8])
def test_groups_that_cannot_share_the_heads_evenly_are_refused(n_kv_heads: int) -> None:
    message = f"n_heads must be divisible by n_kv_heads, got 4 and {n_kv_heads}"
    with pytest.raises(ValueError, match=message):
        correct.GPTConfig(n_heads=4, n_kv_heads=n_kv_heads)


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"dropout": 1.0}, "dropout must be from 0 up to below 1, got 1.0"),
        ({"dropout": -0.1}, "dropout must be from 0 up to below 1, got -0.1"),
        ({"dropout": math.nan}, "dropout must be from 0 up to below 1, got nan"),
        ({"rope_theta": 0.0}, "rope_theta must be positive, got 0.0"),
        ({"rope_theta": math.nan}, "rope_theta must be positive, got nan"),
        ({"d_model": 15, "n_heads": 3, "rotary": True}, "must be even, got 5"),
        ({"rotary": "False"}, "rotary must be True or False, got 'False'"),
        ({"tie_word_embeddings": 0}, "tie_word_embeddings must be True or False, got 0"),
        ({"scale_residual_init": None}, "scale_residual_init must be True or False, got None"),
        ({"dropout": "0.1"}, "dropout must be a number, got '0.1'"),
        ({"rope_theta": None}, "rope_theta must be a number, got None"),
    ],
    ids=str,
)
def test_a_choice_that_is_out_of_range_is_refused(choice: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        correct.GPTConfig(**choice)


@pytest.mark.parametrize("blocks", [LAYERS - 1, LAYERS + 1])
def test_parameters_of_another_number_of_layers_are_refused(blocks: int) -> None:
    params = correct.init_params(dataclasses.replace(CFG, n_layers=blocks))
    message = f"params hold {blocks} blocks, the configuration says {LAYERS}"
    with pytest.raises(ValueError, match=message):
        correct.gpt_forward(params, CFG, tokens())
    with pytest.raises(ValueError, match=message):
        correct.loss_and_grads(params, CFG, tokens(), tokens())
    with pytest.raises(ValueError, match=message):
        correct.forward_cached(params, CFG, tokens(), correct.init_cache(CFG, B))


@pytest.mark.parametrize("positions", [1, LONGEST - 1])
def test_parameters_of_fewer_positions_are_refused(positions: int) -> None:
    params = correct.init_params(dataclasses.replace(CFG, max_seq_len=positions))
    message = f"params hold {positions} positions, the configuration says {LONGEST}"
    with pytest.raises(ValueError, match=message):
        correct.gpt_forward(params, CFG, tokens())
    with pytest.raises(ValueError, match=message):
        correct.loss_and_grads(params, CFG, tokens(), tokens())
    with pytest.raises(ValueError, match=message):
        correct.forward_cached(params, CFG, tokens(), correct.init_cache(CFG, B))


@pytest.mark.parametrize("wrong", [-1, V], ids=["below", "above"])
def test_a_target_outside_the_vocabulary_is_refused(wrong: int) -> None:
    targets = np.full((B, T), 4)
    targets[1, 2] = wrong
    message = f"targets must be from 0 to {V - 1}, got {min(wrong, 4)} to {max(wrong, 4)}"
    with pytest.raises(ValueError, match=message):
        correct.loss_and_grads(correct.init_params(CFG), CFG, tokens(), targets)


@pytest.mark.parametrize("shape", [(B, T - 1), (B - 1, T), (B, T, 1), (B * T,)], ids=str)
def test_targets_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=re.escape(f"got shape {shape}")):
        correct.loss_and_grads(correct.init_params(CFG), CFG, tokens(), np.zeros(shape, int))


@pytest.mark.parametrize("rows", [B - 1, B + 1])
def test_targets_of_another_shape_are_refused_when_gradients_are_accumulated(rows: int) -> None:
    with pytest.raises(ValueError, match="targets must have the shape"):
        correct.accumulate_grads(
            correct.init_params(CFG), CFG, tokens(), np.zeros((rows, T), int), micro_batch_size=1
        )


@pytest.mark.parametrize("wrong", [-1, -V, V, V + 100])
@pytest.mark.parametrize("place", [(0, 0), (B - 1, T - 1)], ids=["first", "last"])
def test_a_token_id_outside_the_vocabulary_is_refused(wrong: int, place: tuple[int, int]) -> None:
    token_ids = np.full((B, T), 4)
    token_ids[place] = wrong
    got = f"{min(wrong, 4)} to {max(wrong, 4)}"
    message = f"token ids must be from 0 to {V - 1}, got {got}"
    with pytest.raises(ValueError, match=re.escape(message)):
        forward(token_ids)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_a_token_id_outside_the_vocabulary_is_refused_in_any_integer_type(dtype: str) -> None:
    with pytest.raises(ValueError, match=f"from 0 to {V - 1}, got {V} to {V}"):
        forward(np.full((B, T), V, dtype=dtype))


@pytest.mark.parametrize("length", [0, LONGEST + 1, 5 * LONGEST])
@pytest.mark.parametrize("rows", [0, B])
def test_a_sequence_that_is_empty_or_too_long_is_refused(rows: int, length: int) -> None:
    message = f"T must be from 1 to max_seq_len = {LONGEST}, got {length}"
    with pytest.raises(ValueError, match=message):
        forward(np.zeros((rows, length), dtype=int))


@pytest.mark.parametrize("shape", [(), (T,), (B, T, 1), (0,)], ids=str)
def test_token_ids_of_another_rank_are_refused(shape: tuple[int, ...]) -> None:
    message = f"token_ids must have shape (B, T), got shape {shape}"
    with pytest.raises(ValueError, match=re.escape(message)):
        forward(np.zeros(shape, dtype=int))


@pytest.mark.parametrize("dtype", ["float64", "float32", "bool", "complex128", "object", "<U1"])
def test_token_ids_that_are_no_integers_are_refused(dtype: str) -> None:
    with pytest.raises(ValueError, match=f"token_ids must be integers, got {dtype}"):
        forward(np.ones((B, T), dtype=dtype))


@pytest.mark.parametrize("token_ids", [[[1, 2], [3]], [[1.0, 2.0]], [[True, False]], [[]], []])
def test_lists_that_are_no_batch_of_integers_are_refused(token_ids: list[Any]) -> None:
    with pytest.raises(ValueError):
        forward(token_ids)


@pytest.mark.parametrize("name", [*SIZES, "tie_word_embeddings"])
def test_a_configuration_cannot_be_changed(name: str) -> None:
    cfg = correct.GPTConfig()
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(cfg, name, 1)


# What is left alone.


@tied_or_not
def test_the_forward_pass_changes_none_of_its_arguments(
    random_params: RandomParams, cfg: Any
) -> None:
    params, token_ids = random_params(cfg, SEED), tokens()
    before = copy.deepcopy((params, token_ids))
    for _, array in leaves(params):
        array.flags.writeable = False
    token_ids.flags.writeable = False
    correct.gpt_forward(params, cfg, token_ids, return_attn=True)
    np.testing.assert_equal((params, token_ids), before)


@tied_or_not
def test_the_results_are_arrays_of_their_own(random_params: RandomParams, cfg: Any) -> None:
    params, token_ids = random_params(cfg, SEED), tokens()
    logits, maps = correct.gpt_forward(params, cfg, token_ids, return_attn=True)
    for path, array in leaves(params):
        for result in (logits, *maps):
            assert not np.shares_memory(result, array), path
    assert not any(np.shares_memory(logits, weights) for weights in maps)
    assert not np.shares_memory(maps[0], maps[1])


def test_the_parts_change_none_of_their_arguments() -> None:
    arrays = [np.random.default_rng(SEED).normal(size=shape) for shape in ((B, T, C), (C,), (C,))]
    before = copy.deepcopy(arrays)
    for array in arrays:
        array.flags.writeable = False
    x, g, b = arrays
    correct.softmax(x)
    correct.layer_norm(x, g, b)
    correct.gelu(x)
    np.testing.assert_equal(arrays, before)


@tied_or_not
def test_no_two_parameters_are_one_array(cfg: Any) -> None:
    arrays = list(leaves(correct.init_params(cfg)))
    again = list(leaves(correct.init_params(cfg)))
    for i, (path, array) in enumerate(arrays):
        for other_path, other in arrays[:i] + again:
            assert not np.shares_memory(array, other), (path, other_path)


# What is offered.


def test_the_model_offers_the_names_of_the_contract_and_no_others() -> None:
    assert sorted(correct.__all__) == sorted(contract.NAMES)
    assert all(hasattr(correct, name) for name in correct.__all__)


def test_the_kit_gives_the_model_that_it_was_built_with() -> None:
    assert correct.__name__ == "bugkit.correct"
    assert correct.__file__ is not None
    assert Path(correct.__file__) == places.CORRECT / "__init__.py"


def test_the_configuration_starts_with_the_sizes_of_the_contract() -> None:
    assert parameters(correct.GPTConfig) == {
        "vocab_size": 64,
        "d_model": 32,
        "n_layers": 2,
        "n_heads": 4,
        "max_seq_len": 16,
        "tie_word_embeddings": True,
        "dropout": 0.0,
        "n_kv_heads": None,
        "rotary": False,
        "rope_theta": 10000.0,
        "scale_residual_init": False,
    }
    cfg = correct.GPTConfig()
    assert dataclasses.asdict(cfg) == parameters(correct.GPTConfig)
    assert cfg == correct.GPTConfig()
    assert hash(cfg) == hash(correct.GPTConfig())


@pytest.mark.parametrize("name", [name for name in contract.NAMES if name != "GPTConfig"])
def test_the_functions_take_the_arguments_of_the_contract(name: str) -> None:
    assert parameters(getattr(correct, name)) == ARGUMENTS[name]


# The parameters.


@tied_or_not
def test_the_parameter_tree_has_the_names_and_shapes_of_the_contract(cfg: Any) -> None:
    norm = {"g": (C,), "b": (C,)}
    block = {
        "ln1": norm,
        "attn": {"w_qkv": (C, 3 * C), "b_qkv": (3 * C,), "w_o": (C, C), "b_o": (C,)},
        "ln2": norm,
        "mlp": {"w1": (C, 4 * C), "b1": (4 * C,), "w2": (4 * C, C), "b2": (C,)},
    }
    expected = {"wte": (V, C), "wpe": (LONGEST, C), "blocks": [block] * LAYERS, "ln_f": norm}
    if not cfg.tie_word_embeddings:
        expected["w_lm"] = (C, V)
    params = correct.init_params(cfg)
    assert shapes(params) == expected
    assert {array.dtype for _, array in leaves(params)} == {np.dtype("float64")}


def test_a_modern_tree_has_fewer_keys_and_values_and_no_positions() -> None:
    params = correct.init_params(MODERN)
    usual = shapes(correct.init_params(dataclasses.replace(MODERN, n_kv_heads=None, rotary=False)))
    del usual["wpe"]
    for block in usual["blocks"]:
        block["attn"] |= {"w_qkv": (24, 24 + 2 * 2 * 4), "b_qkv": (24 + 2 * 2 * 4,)}
    assert shapes(params) == usual


def test_the_smaller_start_of_the_branches_divides_by_the_root_of_their_number() -> None:
    usual = correct.init_params(CFG, SEED)
    for block in usual["blocks"]:
        block["attn"]["w_o"] /= math.sqrt(2 * LAYERS)
        block["mlp"]["w2"] /= math.sqrt(2 * LAYERS)
    scaled = correct.init_params(dataclasses.replace(CFG, scale_residual_init=True), SEED)
    for (path, got), (_, expected) in zip(leaves(scaled), leaves(usual), strict=True):
        np.testing.assert_allclose(got, expected, rtol=ROUNDING, err_msg=path)


@tied_or_not
@pytest.mark.parametrize("seed", [None, 0, 5])
def test_the_initial_values_are_drawn_in_the_order_of_the_contract(
    cfg: Any, seed: int | None
) -> None:
    params = correct.init_params(cfg) if seed is None else correct.init_params(cfg, seed)

    rng = np.random.default_rng(0 if seed is None else seed)
    blocks = []
    for _ in range(LAYERS):
        w_qkv = rng.normal(0.0, INIT_STD, (C, 3 * C))
        w_o = rng.normal(0.0, INIT_STD, (C, C))
        w1 = rng.normal(0.0, INIT_STD, (C, 4 * C))
        w2 = rng.normal(0.0, INIT_STD, (4 * C, C))
        blocks.append(
            {
                "ln1": {"g": np.ones(C), "b": np.zeros(C)},
                "attn": {"w_qkv": w_qkv, "b_qkv": np.zeros(3 * C), "w_o": w_o, "b_o": np.zeros(C)},
                "ln2": {"g": np.ones(C), "b": np.zeros(C)},
                "mlp": {"w1": w1, "b1": np.zeros(4 * C), "w2": w2, "b2": np.zeros(C)},
            }
        )
    expected: Params = {"blocks": blocks, "ln_f": {"g": np.ones(C), "b": np.zeros(C)}}
    expected["wte"] = rng.normal(0.0, INIT_STD, (V, C))
    expected["wpe"] = rng.normal(0.0, INIT_STD, (LONGEST, C))
    if not cfg.tie_word_embeddings:
        expected["w_lm"] = rng.normal(0.0, INIT_STD, (C, V))
    np.testing.assert_equal(params, expected)


@tied_or_not
def test_the_seed_decides_every_drawn_value(cfg: Any) -> None:
    one, same, other = (correct.init_params(cfg, seed) for seed in (SEED, SEED, SEED + 1))
    np.testing.assert_equal(one, same)
    drawn = {"wte", "wpe", "w_qkv", "w_o", "w1", "w2", "w_lm"}
    for (path, array), (_, other_array) in zip(leaves(one), leaves(other), strict=True):
        equal = array == other_array
        assert not equal.any() if path.split(".")[-1] in drawn else equal.all(), path


def test_a_tied_and_an_untied_model_start_from_the_same_values() -> None:
    params = correct.init_params(UNTIED, SEED)
    del params["w_lm"]
    np.testing.assert_equal(params, correct.init_params(CFG, SEED))


# The forward pass.


@tied_or_not
@pytest.mark.parametrize(("rows", "length"), [(B, T), (1, 1), (0, T), (0, 1), (1, LONGEST)])
def test_shapes_follow_the_token_ids(
    random_params: RandomParams, cfg: Any, rows: int, length: int
) -> None:
    params, token_ids = random_params(cfg, SEED), np.zeros((rows, length), dtype=int)
    logits, maps = correct.gpt_forward(params, cfg, token_ids, return_attn=True)
    assert logits.shape == (rows, length, V)
    assert isinstance(maps, list)
    assert [weights.shape for weights in maps] == [(rows, H, length, length)] * LAYERS


@tied_or_not
def test_asking_for_the_maps_does_not_change_the_logits(
    random_params: RandomParams, cfg: Any
) -> None:
    params = random_params(cfg, SEED)
    logits = correct.gpt_forward(params, cfg, tokens())
    assert isinstance(logits, np.ndarray)
    with_maps, _ = correct.gpt_forward(params, cfg, tokens(), return_attn=True)
    np.testing.assert_array_equal(logits, with_maps)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_any_integer_type_gives_the_same_logits(random_params: RandomParams, dtype: str) -> None:
    params, token_ids = random_params(CFG, SEED), tokens()
    expected = correct.gpt_forward(params, CFG, token_ids)
    got = correct.gpt_forward(params, CFG, token_ids.astype(dtype))
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_a_vocabulary_larger_than_the_integer_type_is_no_trouble(dtype: str) -> None:
    cfg = dataclasses.replace(CFG, vocab_size=300)
    token_ids = np.full((B, T), np.iinfo(dtype).max, dtype=dtype)
    assert correct.gpt_forward(correct.init_params(cfg), cfg, token_ids).shape == (B, T, 300)


def test_a_nested_list_gives_the_same_logits(random_params: RandomParams) -> None:
    params, token_ids = random_params(CFG, SEED), tokens()
    expected = correct.gpt_forward(params, CFG, token_ids)
    np.testing.assert_array_equal(correct.gpt_forward(params, CFG, token_ids.tolist()), expected)


@tied_or_not
def test_a_sequence_gives_the_same_numbers_alone_and_in_a_batch(
    random_params: RandomParams, cfg: Any
) -> None:
    params, token_ids = random_params(cfg, SEED), tokens()
    logits, maps = correct.gpt_forward(params, cfg, token_ids, return_attn=True)
    for row in range(B):
        alone, alone_maps = correct.gpt_forward(params, cfg, token_ids[row : row + 1], True)
        np.testing.assert_allclose(alone[0], logits[row], rtol=ROUNDING, atol=ROUNDING)
        for layer in range(LAYERS):
            np.testing.assert_allclose(
                alone_maps[layer][0], maps[layer][row], rtol=ROUNDING, atol=ROUNDING
            )


@tied_or_not
def test_float32_parameters_give_float32_results_near_those_of_float64(
    random_params: RandomParams, cfg: Any
) -> None:
    single = mapped(random_params(cfg, SEED), lambda array: array.astype(np.float32))
    double = mapped(single, lambda array: array.astype(np.float64))
    logits, maps = correct.gpt_forward(single, cfg, tokens(), return_attn=True)
    exact, exact_maps = correct.gpt_forward(double, cfg, tokens(), return_attn=True)
    for got, expected in zip((logits, *maps), (exact, *exact_maps), strict=True):
        assert got.dtype == np.float32
        assert expected.dtype == np.float64
        allowed = FLOAT32_ROUNDING * max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(got, expected, rtol=0.0, atol=allowed)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_parts_keep_the_precision_of_their_input(dtype: str) -> None:
    x = np.random.default_rng(SEED).normal(size=(B, T, C)).astype(dtype)
    g = b = np.ones(C, dtype=dtype)
    results = (correct.softmax(x), correct.layer_norm(x, g, b), correct.gelu(x))
    assert [result.dtype for result in results] == [dtype] * 3
    assert [result.shape for result in results] == [x.shape] * 3


# How it is written.


def test_the_model_imports_nothing_of_the_kit() -> None:
    files = sorted(places.CORRECT.rglob("*.py"))
    assert files
    for file in files:
        allowed = sys.stdlib_module_names | {"numpy", *ALSO.get(file.name, ())}
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert all(name.name.split(".")[0] in allowed for name in node.names), file
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                assert str(node.module).split(".")[0] in allowed, file
            elif isinstance(node, ast.ImportFrom):
                siblings = {other.stem for other in files}
                assert node.level == 1, file
                assert node.module in siblings, file


def test_the_count_of_steps_sees_a_loop_over_an_axis() -> None:
    def looping(x: np.ndarray) -> list[Any]:
        return [row.sum() for row in x]

    def whole(x: np.ndarray) -> Any:
        return x.sum(axis=-1)

    few, many = np.ones((4, 3)), np.ones((5, 3))
    assert steps(looping, few) < steps(looping, many)
    assert steps(whole, few) == steps(whole, many) > 0


@tied_or_not
@pytest.mark.parametrize("return_attn", [False, True], ids=["logits", "maps"])
def test_python_does_not_loop_over_batch_heads_or_positions(cfg: Any, return_attn: bool) -> None:
    def count(rows: int, length: int, n_heads: int) -> int:
        sized = dataclasses.replace(cfg, n_heads=n_heads)
        params = correct.init_params(sized)
        token_ids = np.zeros((rows, length), dtype=int)
        return steps(correct.gpt_forward, params, sized, token_ids, return_attn)

    usual = count(2, 4, 3)
    assert {"2B": count(4, 4, 3), "2T": count(2, 8, 3), "5H": count(2, 4, 15)} == {
        "2B": usual,
        "2T": usual,
        "5H": usual,
    }


@pytest.mark.parametrize("cfg", [CFG, MODERN], ids=["usual", "modern"])
def test_python_does_not_loop_over_batch_or_positions_in_the_backward_pass(cfg: Any) -> None:
    params = correct.init_params(cfg)

    def count(rows: int, length: int) -> int:
        token_ids = np.zeros((rows, length), dtype=int)
        return steps(correct.loss_and_grads, params, cfg, token_ids, token_ids)

    assert count(4, 4) == count(2, 8) == count(2, 4)


def steps(function: Callable[..., Any], *args: Any) -> int:
    """How many bytecodes Python runs in this call, those of NumPy's Python code included."""
    function(*args)  # once before, so that caches are filled
    count = 0

    def trace(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal count
        del event, arg
        frame.f_trace_opcodes = True
        count += 1
        return trace

    before = sys.gettrace()
    collecting = gc.isenabled()
    gc.disable()  # what it runs would count
    sys.settrace(trace)
    try:
        function(*args)
    finally:
        sys.settrace(before)
        if collecting:
            gc.enable()
    return count


def forward(token_ids: Any) -> Any:
    """Logits of a model of the usual sizes."""
    return correct.gpt_forward(correct.init_params(CFG), CFG, token_ids)


def tokens() -> np.ndarray:
    """Token ids of the usual sizes, [B, T]."""
    return np.random.default_rng(SEED).integers(0, V, (B, T))


def parameters(function: Callable[..., Any]) -> dict[str, Any]:
    """Name -> default of each argument in order, None where there is none."""
    found = inspect.signature(function).parameters.values()
    assert all(parameter.kind is parameter.POSITIONAL_OR_KEYWORD for parameter in found)
    return {p.name: None if p.default is p.empty else p.default for p in found}


def leaves(tree: Any, path: str = "params") -> Iterator[tuple[str, np.ndarray]]:
    """Every array of a tree, with its path."""
    if isinstance(tree, np.ndarray):
        yield path, tree
        return
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        yield from leaves(value, f"{path}.{key}")


def mapped(tree: Any, function: Callable[[np.ndarray], Any]) -> Any:
    """The same tree with other leaves."""
    if isinstance(tree, dict):
        return {key: mapped(value, function) for key, value in tree.items()}
    if isinstance(tree, list):
        return [mapped(value, function) for value in tree]
    return function(tree)


def shapes(tree: Any) -> Any:
    """The same tree with shapes in place of arrays."""
    return mapped(tree, lambda array: array.shape)
