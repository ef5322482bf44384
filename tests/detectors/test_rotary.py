"""Rotary positions: queries and keys turned by an angle that grows with their position."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from . import cases
from .slopes import Case, assert_slopes

if TYPE_CHECKING:
    from bugkit.contract import GPT

pytestmark = pytest.mark.level(4)

ROTARY: dict[str, Any] = {**cases.MODERN, "n_kv_heads": None, "n_layers": 1}
"""One layer, so that only the rotation can tell one order of tokens from another."""

WIDTH = 4
"""D: two pairs of channels."""

FAR, THETA = 1900, 3.0
"""Half precision has no fractions above 1,024. With this base the second pair is there by then."""

HALF = 0.02
"""What rounding to half precision may do to a product of two unit vectors, with room to spare."""


def test_rotary_pairs_channels_half_a_head_apart(gpt: "GPT") -> None:
    """Channel i is turned together with channel i + D / 2, and with no other.

    A vector along one channel stays in the plane of its pair. The pairs could be chosen
    otherwise, but stored weights fix the choice.
    """
    D = 6
    turned = _one_step(gpt, D)
    for channel, vector in enumerate(turned):
        partner = (channel + D // 2) % D
        reached = set(np.nonzero(np.abs(vector) > cases.ROUNDING["float32"])[0].tolist())
        assert reached <= {channel, partner}, (
            f"of {D} channels, number {channel} should be turned together with number {partner}, "
            f"but turning it reaches {sorted(reached)}"
        )


def test_rotary_first_pair_turns_one_radian_a_token(gpt: "GPT") -> None:
    """The first pair of channels turns by one radian from each position to the next.

    Its frequency is theta to the power of zero. So the first channel keeps cos(t) of itself at
    position t.
    """
    T = 6
    kept = gpt.apply_rotary(np.tile(np.eye(WIDTH)[0], (T, 1)))[:, 0]
    cases.assert_same(kept, np.cos(np.arange(T)), "what channel 0 keeps of itself", ("position",))


def test_rotary_pairs_slow_down_by_one_factor(gpt: "GPT") -> None:
    """From the first pair to the last, the speed falls to theta^(2 / D - 1).

    Speeds fall by the same factor from each pair to the next, so that some pairs tell neighbours
    apart and others distant tokens. The angles are taken from what the first and the last channel
    keep of themselves.
    """
    theta, D = 2.0, 6
    turned = _one_step(gpt, D, theta=theta)
    first, last = (float(np.arccos(np.clip(turned[i, i], -1, 1))) for i in (0, D - 1))
    expected = theta ** (2 / D - 1)
    assert abs(last / max(first, 1e-9) - expected) < cases.ROUNDING["float32"], (
        f"with theta = {theta:g} and D = {D}, the last pair should turn {expected:.4f} times as "
        f"far as the first; they turn by {last:.4f} and {first:.4f}"
    )


def test_rotary_products_depend_on_distance_alone(gpt: "GPT") -> None:
    """Far from the start, turned vectors have the same products as at the start.

    Turning two vectors by the same angle keeps their product. Also in half precision, if only the
    vectors are rounded: an angle near 1,900 would lose its fraction.
    """
    rng = np.random.default_rng(cases.SEED)
    x = rng.normal(size=(2, cases.T, WIDTH))
    queries, keys = x / np.linalg.norm(x, axis=-1, keepdims=True)
    for dtype, allowed in (("float64", cases.ROUNDING["float32"]), ("float16", HALF)):
        near, far = (
            _products(gpt, queries.astype(dtype), keys.astype(dtype), start) for start in (0, FAR)
        )
        i, j = np.unravel_index(np.argmax(np.abs(far - near)), near.shape)
        assert np.abs(far - near).max() < allowed, (
            f"in {dtype}, the product of query {i} and key {j} is {near[i, j]:.3f} at the start, "
            f"but {far[i, j]:.3f} from position {FAR} on"
        )


def test_rotary_start_is_a_position(gpt: "GPT") -> None:
    """The second half of a text is turned as it is within the whole text.

    `start` says at which position the vectors stand. Whoever decodes with a cache turns one
    vector at a time.
    """
    x = np.random.default_rng(cases.SEED).normal(size=(cases.T, WIDTH))
    whole = gpt.apply_rotary(x)
    border = 3
    part = gpt.apply_rotary(x[border:], start=border)
    what = f"vectors from position {border} on, turned by themselves"
    cases.assert_same(part, whole[border:], what, ("vector", "channel"))


def test_rotary_attention_depends_on_distance_alone(gpt: "GPT") -> None:
    """In a text that repeats itself, each token compares the earlier ones as two steps before.

    Positions enter a score only as the distance of query and key. A score is read off the
    logarithm of the weight, compared with the token's weight on itself.
    """
    cfg, params = cases.model(gpt, **ROTARY)
    token_ids = np.array([[3, 8, 3, 8, 3, 8, 3, 8, 3]])
    weights = cases.maps_of(gpt, params, cfg, token_ids)[0]
    scores = np.log(np.maximum(weights, np.finfo(weights.dtype).tiny))
    scores = scores - np.diagonal(scores, axis1=-2, axis2=-1)[..., None]
    seen = cases.visible(token_ids.shape[1] - 2)
    earlier, later = (
        np.where(seen, part, 0.0) for part in (scores[..., :-2, :-2], scores[..., 2:, 2:])
    )
    cases.assert_same(later, earlier, "score two steps later", cases.MAP)


def test_rotary_model_knows_the_order(gpt: "GPT") -> None:
    """Without position vectors, exchanging two earlier tokens changes the prediction.

    In a model of one layer, only the angles between queries and keys can tell one order from
    another.
    """
    cfg, params = cases.model(gpt, **ROTARY)
    token_ids = np.array([[3, 1, 4, 5, 9, 2, 6]])
    before = cases.logits_of(gpt, params, cfg, token_ids)[:, -1]
    after = cases.logits_of(gpt, params, cfg, token_ids[:, [0, 3, 2, 1, 4, 5, 6]])[:, -1]
    cases.assert_changed(
        before, after, "tokens 1 and 3 were exchanged, but the last logits did not move"
    )


def test_rotary_theta_reaches_the_model(gpt: "GPT") -> None:
    """A model with another base of the wavelengths gives other logits.

    A base in the configuration means nothing until the rotation gets it.
    """
    token_ids = cases.tokens()
    short, usual = (
        cases.logits_of(gpt, params, cfg, token_ids)
        for cfg, params in (cases.model(gpt, **ROTARY, rope_theta=t) for t in (10.0, 10000.0))
    )
    cases.assert_changed(
        usual, short, "rope_theta = 10 gives the same logits as rope_theta = 10000"
    )


def test_rotary_gradients_are_turned_back(gpt: "GPT") -> None:
    """With rotary positions, gradients of queries and keys are slopes of the loss.

    Both are turned before they meet. So what their products send back is turned back, by the same
    angles and in the same pairs, before it reaches the projection.
    """
    cfg, params = cases.model(gpt, **ROTARY, rope_theta=THETA, tie_word_embeddings=False)
    cases.make_gains_one(params)
    cases.silence_mlp(params)
    token_ids = cases.tokens()
    case = Case(cfg, params, token_ids, cases.other(token_ids))
    C = ROTARY["d_model"]
    for what, columns in (("queries", np.s_[:, :C]), ("keys", np.s_[:, C : 2 * C])):
        assert_slopes(gpt, case, {"blocks.0.attn.w_qkv": columns}, what)


def _one_step(gpt: "GPT", width: int, **options: float) -> np.ndarray:
    """A vector along each channel as it is turned at position 1, [D, D]."""
    x = np.repeat(np.eye(width)[:, None], 2, axis=1)
    return np.asarray(gpt.apply_rotary(x, **options)[:, 1])


def _products(gpt: "GPT", queries: np.ndarray, keys: np.ndarray, start: int) -> np.ndarray:
    """Every query times every key, [T, T], when both stand from `start` on."""
    q, k = (gpt.apply_rotary(x, start=start, theta=THETA) for x in (queries, keys))
    return np.asarray(q, np.float64) @ np.asarray(k, np.float64).T
