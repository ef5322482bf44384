"""The correct GPT against plain Python: loops over batch, heads, positions and features."""

import ast
import importlib
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from bugkit import correct, places

Params = dict[str, Any]
RandomParams = Callable[[Any, int], Params]

RELATIVE = 1e-10
"""Rounding in float64 gives some 1e-14 here; any error of thought gives far more than 1e-10."""

ABSOLUTE = 1e-12
"""The same for numbers that are small because larger ones cancel."""

WRONG = 1e-6
"""A relative error of one parameter array that the comparison must notice."""

APART = 80.0
"""How far queries and keys lie on opposite sides of zero: scores near -14,000, below the usual
stand-ins for minus infinity. Much further, and rounding would be in the way."""

RECORDED_DECIMALS = 9
"""Of the numbers in recorded_logits.json."""

SEED = 7
"""Any other does as well."""

assert_close = partial(
    np.testing.assert_allclose, rtol=RELATIVE, atol=ABSOLUTE, equal_nan=False, strict=True
)

# V, C, layers, H, longest, B, T
SIZES = {
    "mutually prime": (11, 15, 2, 3, 13, 2, 7),
    "one head": (7, 5, 2, 1, 4, 3, 3),
    "heads one wide": (5, 6, 2, 6, 7, 2, 5),
    "one layer": (13, 8, 1, 4, 9, 2, 5),
    "three layers": (5, 6, 3, 2, 7, 1, 5),
    "one token": (11, 15, 2, 3, 13, 2, 1),
    "longest": (7, 10, 2, 5, 9, 3, 9),
    "one word": (1, 6, 2, 3, 5, 2, 4),
    "one of everything": (1, 1, 1, 1, 1, 1, 1),
}

sizes = pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES.keys())
tied = pytest.mark.parametrize("tied", [True, False], ids=["tied", "untied"])


def test_the_reference_uses_no_code_of_the_model_and_no_arrays() -> None:
    source = Path(__file__).with_name("naive.py").read_text(encoding="utf-8")
    imported = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            imported |= {name.name for name in node.names}
        if isinstance(node, ast.ImportFrom):
            imported.add(f"{'.' * node.level}{node.module}")
    assert imported == {"cmath", "math", "typing"}


@tied
def test_no_parameter_can_be_slightly_wrong_unnoticed(
    naive: ModuleType, random_params: RandomParams, tied: bool
) -> None:
    cfg, token_ids = case(SIZES["three layers"], tied)
    params = random_params(cfg, SEED)
    expected, _ = naive.forward(params, cfg.n_heads, token_ids)
    unnoticed = []
    for path, array in leaves(params):
        right = array.copy()
        array *= 1 + WRONG
        logits = correct.gpt_forward(params, cfg, token_ids)
        array[:] = right
        if np.allclose(logits, expected, rtol=RELATIVE, atol=ABSOLUTE):
            unnoticed.append(path)
    assert unnoticed == []
    assert_close(correct.gpt_forward(params, cfg, token_ids), np.array(expected))


@sizes
@tied
def test_logits_and_maps_are_those_of_plain_python(
    naive: ModuleType, random_params: RandomParams, sizes: tuple[int, ...], tied: bool
) -> None:
    cfg, token_ids = case(sizes, tied)
    params = random_params(cfg, SEED)
    expected_logits, expected_maps = naive.forward(params, cfg.n_heads, token_ids)
    logits, maps = correct.gpt_forward(params, cfg, token_ids, return_attn=True)
    assert_close(logits, np.array(expected_logits))
    assert_close(np.array(maps), np.array(expected_maps))


@tied
@pytest.mark.parametrize("theta", [None, 10000.0, 20.0], ids=["learned", "rotary", "turns fast"])
@pytest.mark.parametrize("n_kv_heads", [1, 2, 3, 6])
def test_rotary_positions_and_grouped_queries_are_those_of_plain_python(
    naive: ModuleType,
    random_params: RandomParams,
    tied: bool,
    theta: float | None,
    n_kv_heads: int,
) -> None:
    rotary = {} if theta is None else {"rotary": True, "rope_theta": theta}
    cfg = correct.GPTConfig(
        7, 24, 2, 6, 9, tie_word_embeddings=tied, n_kv_heads=n_kv_heads, **rotary
    )
    token_ids = np.random.default_rng(SEED).integers(0, cfg.vocab_size, (2, 5))
    params = random_params(cfg, SEED)
    expected_logits, expected_maps = naive.forward(params, cfg.n_heads, token_ids, theta)
    logits, maps = correct.gpt_forward(params, cfg, token_ids, return_attn=True)
    assert_close(logits, np.array(expected_logits))
    assert_close(np.array(maps), np.array(expected_maps))


@pytest.mark.parametrize("start", [0, 1, 1000])
@pytest.mark.parametrize("theta", [None, 500.0], ids=["default theta", "another"])
def test_rotation_is_that_of_plain_python(
    naive: ModuleType, start: int, theta: float | None
) -> None:
    x = np.random.default_rng(SEED).normal(size=(2, 3, 5, 6))
    options = {} if theta is None else {"theta": theta}
    got = correct.apply_rotary(x, start, **options)
    expected = [
        naive.turned(vector, start + place, theta or 10000.0)
        for head in x.reshape(-1, 5, 6).tolist()
        for place, vector in enumerate(head)
    ]
    assert_close(got, np.array(expected).reshape(x.shape))


def test_scores_far_below_zero_are_those_of_plain_python(
    naive: ModuleType, random_params: RandomParams
) -> None:
    cfg, token_ids = case(SIZES["mutually prime"], tied=True)
    params = random_params(cfg, SEED)
    for block in params["blocks"]:
        block["attn"]["b_qkv"][: cfg.d_model] += APART
        block["attn"]["b_qkv"][cfg.d_model : 2 * cfg.d_model] -= APART
    expected_logits, expected_maps = naive.forward(params, cfg.n_heads, token_ids)
    logits, maps = correct.gpt_forward(params, cfg, token_ids, return_attn=True)
    assert_close(logits, np.array(expected_logits))
    assert_close(np.array(maps), np.array(expected_maps))


def test_recorded_logits_are_those_of_plain_python(naive: ModuleType) -> None:
    cases: Any = importlib.import_module("bugkit.detectors.cases")
    cfg, params = cases.model(correct)
    logits, _ = naive.forward(params, cfg.n_heads, cases.tokens())
    text = (places.DETECTORS / "recorded_logits.json").read_text(encoding="utf-8")
    recorded = np.array(json.loads(text))
    half_a_digit = 0.5 * 10.0**-RECORDED_DECIMALS
    # The hundredth is for numbers that lie on the border between two roundings.
    np.testing.assert_allclose(
        recorded, np.array(logits), rtol=0.0, atol=1.01 * half_a_digit, strict=True
    )


@pytest.mark.parametrize("axis", [None, 0, 1, 2, -1, -2, -3])
def test_softmax_is_that_of_plain_python(naive: ModuleType, axis: int | None) -> None:
    x = np.random.default_rng(SEED).normal(0.0, 5.0, (3, 4, 5))
    got = correct.softmax(x) if axis is None else correct.softmax(x, axis=axis)
    along = -1 if axis is None else axis
    assert_close(got, np.apply_along_axis(lambda row: naive.softmax(row.tolist()), along, x))


@pytest.mark.parametrize("shift", [-1e4, 1e4])
def test_softmax_is_that_of_plain_python_however_large_the_scores(
    naive: ModuleType, shift: float
) -> None:
    # Eighths, so that adding the shift does not round them.
    scores = [-1.25, 0.5, 3.0, -0.125]
    assert_close(correct.softmax(np.array(scores) + shift), np.array(naive.softmax(scores)))


def test_softmax_gives_no_weight_to_a_masked_score(naive: ModuleType) -> None:
    expected = [*naive.softmax([0.5, -2.0]), 0.0]
    assert_close(correct.softmax(np.array([0.5, -2.0, -np.inf])), np.array(expected))


@pytest.mark.parametrize("shape", [(5,), (4, 5), (2, 3, 5), (4, 1)], ids=str)
@pytest.mark.parametrize("eps", [None, 1e-5, 0.3], ids=["default eps", "small eps", "large eps"])
def test_layer_norm_is_that_of_plain_python(
    naive: ModuleType, shape: tuple[int, ...], eps: float | None
) -> None:
    rng = np.random.default_rng(SEED)
    # The scale makes the default eps matter: the variance is about 1e-4.
    x = rng.normal(3.0, 0.01, shape)
    g, b = rng.normal(0.0, 2.0, shape[-1]), rng.normal(0.0, 2.0, shape[-1])
    options = {} if eps is None else {"eps": eps}
    expected = [
        naive.layer_norm(token, g.tolist(), b.tolist(), 1e-5 if eps is None else eps)
        for token in x.reshape(-1, shape[-1]).tolist()
    ]
    assert_close(correct.layer_norm(x, g, b, **options), np.array(expected).reshape(shape))


def test_layer_norm_of_equal_features_is_the_bias() -> None:
    b = np.array([1.0, -2.0, 0.5])
    got = correct.layer_norm(np.full((2, 3), 4.0), np.full(3, 9.0), b)
    assert_close(got, np.array([b, b]))


def test_gelu_is_that_of_plain_python(naive: ModuleType) -> None:
    x = np.linspace(-8.0, 8.0, 161).reshape(7, 23)
    assert_close(correct.gelu(x), np.array([[naive.gelu(v) for v in row] for row in x.tolist()]))


def test_gelu_far_from_zero_is_the_identity_or_nothing() -> None:
    assert_close(correct.gelu(np.array([-40.0, 0.0, 40.0])), np.array([0.0, 0.0, 40.0]))


def case(sizes: tuple[int, ...], tied: bool) -> tuple[Any, np.ndarray]:
    """A configuration, and token ids for it."""
    V, C, n_layers, n_heads, longest, B, T = sizes
    cfg = correct.GPTConfig(V, C, n_layers, n_heads, longest, tie_word_embeddings=tied)
    return cfg, np.random.default_rng(SEED).integers(0, V, (B, T))


def leaves(tree: Any, path: str = "params") -> Iterator[tuple[str, np.ndarray]]:
    """Every array of a tree, with its path."""
    if isinstance(tree, np.ndarray):
        yield path, tree
        return
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        yield from leaves(value, f"{path}[{key!r}]")
