"""The weights of attention: who takes how much from whom."""

from typing import TYPE_CHECKING

import numpy as np

from . import cases

if TYPE_CHECKING:
    from bugkit.contract import GPT

SHIFT = -2e4
"""A score that finite mask values such as -1e4 do not undercut."""

COARSE = {"float64": 1.0, "float32": 10.0}
"""In single precision a score of -20,000 is known to 2e-3 only."""

WIDER = 2.5
"""Five times as wide: over seeds the ratio is 1.0 to 1.4 or, without a divisor, 4.8 to 7.1."""

FLATTER = 0.35
"""Six times as many: over seeds the ratio is 0.7 to 1.0 or, divided by sqrt(C), 0.12 to 0.17."""


def test_attention_rows_sum_to_one(gpt: "GPT") -> None:
    """What a token takes from all tokens together is one.

    A row of the map belongs to one query; the softmax shares out 1 among its keys.
    """
    cfg, params = cases.model(gpt)
    for layer, weights in enumerate(cases.maps_of(gpt, params, cfg, cases.tokens())):
        sums = weights.sum(axis=-1)
        what = f"layer {layer}: sum of a row of attention weights"
        cases.assert_same(sums, np.ones_like(sums), what, cases.MAP[:3])


def test_scores_have_unit_variance(gpt: "GPT") -> None:
    """Queries and keys of unit variance give scores of unit variance.

    A score sums D products of variance one, so it must be divided by sqrt(D).
    """
    variance = _score_variance(gpt, n_heads=3, head_width=10)
    assert 0.7 < variance < 1.45, f"the variance of the scores should be near 1, is {variance:.3g}"


def test_wider_heads_do_not_sharpen_attention(gpt: "GPT") -> None:
    """The spread of the scores does not grow with the width of a head.

    Without the right divisor, a model with wider heads would attend more sharply for no reason
    but its size.
    """
    narrow = _score_variance(gpt, n_heads=2, head_width=4)
    wide = _score_variance(gpt, n_heads=2, head_width=20)
    assert wide < WIDER * narrow, (
        f"heads of width 4 give scores of variance {narrow:.3g}, heads of width 20 {wide:.3g}"
    )


def test_more_heads_do_not_flatten_attention(gpt: "GPT") -> None:
    """The spread of the scores does not shrink with the number of heads.

    Heads of one width must score alike whether there are one or six of them: each sees only
    its own channels.
    """
    few = _score_variance(gpt, n_heads=1, head_width=6)
    many = _score_variance(gpt, n_heads=6, head_width=6)
    assert many > FLATTER * few, f"one head gives scores of variance {few:.3g}, six give {many:.3g}"


def test_attention_is_not_locked_on_one_token(gpt: "GPT") -> None:
    """A fresh head spreads its attention over several tokens.

    The effective number of tokens (the exponential of the entropy) of the last row, among 20
    tokens at head width 4: about 13 for scores of variance one, 7 without any divisor, and 3
    where sqrt(D) multiplies. A softmax that takes all from one token passes no gradient.
    """
    last = _unit_maps(gpt, n_heads=2, head_width=4)[:, :, -1]
    entropy = -np.sum(last * np.log(np.maximum(last, np.finfo(last.dtype).tiny)), axis=-1)
    tokens = float(np.exp(entropy).mean())
    assert tokens > 5, f"the last token attends to {tokens:.1f} of 20 tokens only"


def test_equal_keys_get_equal_shares(gpt: "GPT") -> None:
    """If all keys are equal, a query takes the same from every token it sees.

    The weights then have nothing to choose by. Here the key part of the projection is zero.
    """
    cfg, params = cases.model(gpt, n_layers=1)
    weight, bias = cases.part(params, "k")
    weight[:] = 0.0
    bias[:] = 0.0
    weights = cases.maps_of(gpt, params, cfg, cases.tokens())[0]
    _assert_equal_shares(weights, "with all keys zero: weight against that of key 0")


def test_heads_read_their_own_channels(gpt: "GPT") -> None:
    """Head h is made from slice h of the channels, and from nothing else.

    With queries and keys zero outside slice h, the other heads have nothing to choose by, and
    head h chooses as before.
    """
    cfg, params = cases.model(gpt, n_layers=1)
    token_ids = cases.tokens()
    before = cases.maps_of(gpt, params, cfg, token_ids)[0]
    H = cases.SIZES["n_heads"]
    D = cases.SIZES["d_model"] // H
    for head in range(H):
        cfg, params = cases.model(gpt, n_layers=1)
        outside = np.arange(H * D) // D != head
        for which in "qk":
            weight, bias = cases.part(params, which)
            weight[:, outside] = 0.0
            bias[outside] = 0.0
        after = cases.maps_of(gpt, params, cfg, token_ids)[0]
        what = f"queries and keys zero except in slice {head}: head {head}"
        cases.assert_same(after[:, head], before[:, head], what, ("batch row", *cases.MAP[2:]))
        for silent in set(range(H)) - {head}:
            what = f"queries and keys zero except in slice {head}: head {silent}"
            _assert_equal_shares(after[:, [silent]], what)


def test_without_values_attention_adds_nothing(gpt: "GPT") -> None:
    """What a token gathers is made of values alone.

    With the value part of the projection zero, only the output bias is left, whatever the
    queries and keys are.
    """
    cfg, params = cases.model(gpt, n_layers=1)
    weight, bias = cases.part(params, "v")
    weight[:] = 0.0
    bias[:] = 0.0
    without_values = cases.logits_of(gpt, params, cfg, cases.tokens())
    params["blocks"][0]["attn"]["w_o"][:] = 0.0
    without_output = cases.logits_of(gpt, params, cfg, cases.tokens())
    what = "values zero against output projection zero"
    cases.assert_same(without_values, without_output, what, cases.LOGITS)


def test_a_common_shift_of_scores_changes_nothing(gpt: "GPT") -> None:
    """Adding one number to all scores of a query leaves its weights as they were.

    A softmax sees differences only. A key bias adds such a number, here -20,000; if a masked
    key then gets weight, its stand-in for minus infinity was not low enough.
    """
    cfg, params = cases.model(gpt, n_layers=1)
    (weight, bias), (keys, key_bias) = cases.part(params, "q"), cases.part(params, "k")
    queries = bias.copy()
    if "b_qkv" not in params["blocks"][0]["attn"]:
        row = cases.constant_channel(params, "ln1")
        queries = weight[row].copy()
        bias, key_bias = weight[row], keys[row]
    weight[:] = 0.0
    bias[:] = queries  # every query is the bias, so a key bias adds the same to every score
    token_ids = cases.tokens()
    before = cases.maps_of(gpt, params, cfg, token_ids)[0]
    D = cases.SIZES["d_model"] // cases.SIZES["n_heads"]
    of_heads = queries.reshape(-1, D)
    shift = SHIFT * D**0.5 * of_heads / np.sum(of_heads**2, axis=-1, keepdims=True)
    key_bias[:] += shift.ravel()
    after = cases.maps_of(gpt, params, cfg, token_ids)[0]
    what = f"weights with all scores shifted by {SHIFT:g}"
    cases.assert_same(after, before, what, cases.MAP, loose=COARSE[cases.precision(after)])


def _assert_equal_shares(weights: np.ndarray, what: str) -> None:
    """Every visible key of a query has the same weight; hidden ones are not looked at."""
    expected = np.broadcast_to(weights[..., :1], weights.shape)
    seen = cases.visible(weights.shape[-1])
    cases.assert_same(np.where(seen, weights, 0), np.where(seen, expected, 0), what, cases.MAP)


def _unit_maps(gpt: "GPT", n_heads: int, head_width: int) -> np.ndarray:
    """Attention weights [B, H, T, T] for queries and keys of unit variance: both are the tokens as
    the norm leaves them."""
    T, V = 20, 61
    C = n_heads * head_width
    cfg, params = cases.model(
        gpt, vocab_size=V, d_model=C, n_layers=1, n_heads=n_heads, max_seq_len=T + 3
    )
    params["wpe"][:] = 0.0
    params["blocks"][0]["ln1"]["g"][:] = 1.0
    cases.clear(params["blocks"][0]["ln1"], "b")
    for which in "qk":
        weight, bias = cases.part(params, which)
        weight[:] = np.eye(C)
        bias[:] = 0.0
    return cases.maps_of(gpt, params, cfg, cases.tokens(rows=2, length=T, vocab_size=V))[0]


def _score_variance(gpt: "GPT", n_heads: int, head_width: int) -> float:
    """Variance of the scores of a query over the keys before it.

    The logarithm of a weight is the score less a number that is the same for the whole row.
    """
    weights = _unit_maps(gpt, n_heads, head_width)
    scores = np.log(np.maximum(weights, np.finfo(weights.dtype).tiny))
    long_rows = range(weights.shape[-1] // 2, weights.shape[-1])
    return float(np.mean([scores[:, :, i, :i].var(axis=-1, ddof=1) for i in long_rows]))
