"""Grouped queries: several query heads share one head of keys and values."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from . import cases
from .slopes import Case, assert_slopes, change_along

if TYPE_CHECKING:
    from bugkit.contract import GPT

pytestmark = pytest.mark.level(4)

GROUPED: dict[str, Any] = {"d_model": 24, "n_heads": 6, "n_kv_heads": 2, "n_layers": 1}
H, K, D = 6, 2, 4

STEP = {"float64": 1e-5, "float32": 3e-2}
"""How far the parameters are moved to measure a slope."""

SLOPE = {"float64": 1e-5, "float32": 5e-2}
"""How far a measured slope may be from the gradient's, relative to its size."""


def test_query_heads_read_the_keys_of_their_group(gpt: "GPT") -> None:
    """Query head h uses key head h // (H / K): neighbours form a group.

    With the keys of one group zero, its heads have nothing to choose by and share out evenly; the
    heads of the other group choose as before.
    """
    token_ids = cases.tokens()
    cfg, params = cases.model(gpt, **GROUPED)
    before = cases.maps_of(gpt, params, cfg, token_ids)[0]
    for group in range(K):
        cfg, params = cases.model(gpt, **GROUPED)
        for columns in _columns(params["blocks"][0]["attn"]):
            columns[..., H * D + group * D : H * D + (group + 1) * D] = 0.0
        after = cases.maps_of(gpt, params, cfg, token_ids)[0]
        for head in range(H):
            even = np.where(cases.visible(cases.T), after[:, head, :, :1], 0.0)
            expected = even if head // (H // K) == group else before[:, head]
            what = f"keys of group {group} of {K} are zero: weights of query head {head}"
            cases.assert_same(after[:, head], expected, what, ("batch row", *cases.MAP[2:]))


def test_query_heads_of_a_group_choose_by_themselves(gpt: "GPT") -> None:
    """A query head of its own is what each head of a group has.

    With the queries of one head zero, this head shares out evenly, and the others, also those of
    its group, choose as before. Only keys and values are shared.
    """
    token_ids = cases.tokens()
    cfg, params = cases.model(gpt, **GROUPED)
    before = cases.maps_of(gpt, params, cfg, token_ids)[0]
    silent = 1
    for columns in _columns(params["blocks"][0]["attn"]):
        columns[..., silent * D : (silent + 1) * D] = 0.0
    after = cases.maps_of(gpt, params, cfg, token_ids)[0]
    even = np.where(cases.visible(cases.T), after[:, silent, :, :1], 0.0)
    for head in range(H):
        expected = even if head == silent else before[:, head]
        what = f"queries of head {silent} are zero: weights of query head {head}"
        cases.assert_same(after[:, head], expected, what, ("batch row", *cases.MAP[2:]))


def test_shared_heads_equal_copies(gpt: "GPT") -> None:
    """A model that shares keys and values equals one in which each head has its own copy.

    Sharing saves memory; it does not change the computation. The copies stand side by side, in
    the order of the groups.
    """
    token_ids = cases.tokens()
    cfg, params = cases.model(gpt, **GROUPED)
    shared = cases.logits_of(gpt, params, cfg, token_ids)
    attention = params["blocks"][0]["attn"]
    for name in {"w_qkv", "b_qkv"} & attention.keys():
        q, k, v = np.split(attention[name], [H * D, (H + K) * D], axis=-1)
        attention[name] = np.concatenate([q, _copied_heads(k), _copied_heads(v)], axis=-1)
    cfg = cases.config(gpt, **{**GROUPED, "n_kv_heads": None})
    copies = cases.logits_of(gpt, params, cfg, token_ids)
    cases.assert_same(shared, copies, "shared keys and values against copies", cases.LOGITS)


def test_shared_heads_gather_every_gradient(gpt: "GPT") -> None:
    """The gradient of shared keys and values is the slope of the loss.

    Each query head of a group sends something back, and all of it adds up, as it would for any
    parameter that is used several times.
    """
    cfg, params = cases.model(gpt, **GROUPED)
    token_ids = cases.tokens()
    targets = cases.other(token_ids)
    _, grads = gpt.loss_and_grads(params, cfg, token_ids, targets)
    weight = params["blocks"][0]["attn"]["w_qkv"]

    def loss() -> float:
        return gpt.loss_and_grads(params, cfg, token_ids, targets)[0]

    for name, start in (("keys", H * D), ("values", (H + K) * D)):
        columns = slice(start, start + K * D)
        grad = np.asarray(grads["blocks"][0]["attn"]["w_qkv"])[:, columns]
        precision = cases.precision(grad)
        way = np.random.default_rng(cases.SEED).normal(size=grad.shape)
        step = STEP[precision]
        slope = change_along(loss, weight[:, columns], step * way) / step
        told = float(np.sum(grad * way))
        if np.isfinite(slope):
            assert abs(told - slope) <= SLOPE[precision] * max(1.0, abs(slope)), (
                f"moving the weights of the shared {name} changes the loss by {slope:.6g} for each "
                f"unit, but the gradient says {told:.6g}"
            )


def test_each_query_head_gets_its_own_gradient(gpt: "GPT") -> None:
    """With grouped queries, the gradient of each query head is the slope of the loss.

    A group shares keys and values. What each of its heads asks is its own, and so is what comes
    back.
    """
    cfg, params = cases.model(gpt, **GROUPED, tie_word_embeddings=False)
    cases.make_gains_one(params)
    cases.silence_mlp(params)
    token_ids = cases.tokens()
    case = Case(cfg, params, token_ids, cases.other(token_ids))
    for head in range(H):
        columns = np.s_[:, head * D : (head + 1) * D]
        assert_slopes(gpt, case, {"blocks.0.attn.w_qkv": columns}, f"query head {head}")


def _columns(attention: dict[str, Any]) -> list[np.ndarray]:
    """Weights and, if there are any, biases of queries, keys and values, side by side."""
    return [attention[name] for name in ("w_qkv", "b_qkv") if name in attention]


def _copied_heads(x: np.ndarray) -> np.ndarray:
    """[..., K * D] -> [..., H * D], each head H / K times."""
    heads = x.reshape(*x.shape[:-1], K, D)
    return np.repeat(heads, H // K, axis=-2).reshape(*x.shape[:-1], H * D)
