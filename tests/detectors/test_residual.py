"""The stream that every block reads and adds to, and the norms that stand beside it."""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import cases

if TYPE_CHECKING:
    from bugkit.contract import GPT

LOUD = 10.0
"""Factor on the stream. eps makes a difference of about 1e-5, hence the loose comparisons."""
LOOSE = {"float64": 1e5, "float32": 5.0}


def test_silent_blocks_change_nothing(gpt: "GPT") -> None:
    """Blocks whose branches add nothing leave the stream as it was.

    So one silent block and two give the same logits. What would change the stream is a norm
    on the stream itself instead of inside a branch.
    """
    results = []
    _, outside = cases.model(gpt)
    for n_layers in (1, 2):
        cfg, params = cases.model(gpt, n_layers=n_layers)
        # The draws differ with the number of layers: take what is outside the blocks from one.
        params |= {key: outside[key] for key in outside if key != "blocks"}
        cases.silence_attention(params)
        cases.silence_mlp(params)
        results.append(cases.logits_of(gpt, params, cfg, cases.tokens()))
    cases.assert_same(results[1], results[0], "two silent blocks against one", cases.LOGITS)


def test_stream_passes_by_attention(gpt: "GPT") -> None:
    """With silent attention, a token still reaches its own logits.

    The stream goes around the branch.
    """
    cfg, params = cases.model(gpt, n_layers=1)
    cases.silence_attention(params)
    token_ids = cases.tokens()
    before = cases.logits_of(gpt, params, cfg, token_ids)
    after = cases.logits_of(gpt, params, cfg, cases.other(token_ids))
    cases.assert_changed(
        before, after, "attention adds nothing, and all tokens gave the same logits"
    )


def test_stream_passes_by_the_mlp(gpt: "GPT") -> None:
    """With a silent MLP, what attention gathered still reaches the logits.

    The stream goes around the branch.
    """
    cfg, params = cases.model(gpt, n_layers=1)
    cases.silence_mlp(params)
    token_ids = cases.tokens()
    before = cases.logits_of(gpt, params, cfg, token_ids)
    after = cases.logits_of(gpt, params, cfg, cases.other(token_ids))
    cases.assert_changed(before, after, "the MLP adds nothing, and all tokens gave the same logits")


def test_both_branches_count_alike(gpt: "GPT") -> None:
    """It does not matter which of the two branches adds a vector.

    The stream is a sum. Here both branches add a constant, to a token whose own vector is zero;
    exchanging the two constants changes nothing.
    """
    one, two = np.linspace(-1.0, 2.0, SIZE), np.cos(np.arange(SIZE))
    results = []
    for from_attention, from_mlp in ((one, two), (two, one)):
        cfg, params = cases.model(gpt, n_layers=1)
        params["wte"][TOKEN] = 0.0
        params["wpe"][:] = 0.0
        _let_attention_add(params, from_attention)
        _let_mlp_add(params, from_mlp)
        results.append(cases.logits_of(gpt, params, cfg, np.full((1, 3), TOKEN)))
    what = "after exchanging the constants that attention and MLP add"
    cases.assert_same(results[1], results[0], what, cases.LOGITS)


def test_attention_ignores_the_scale_of_the_stream(gpt: "GPT") -> None:
    """A stream ten times as large gives the same attention weights.

    Each branch starts with a layer norm, which removes the scale.
    """
    cfg, params = cases.model(gpt, n_layers=1)
    token_ids = cases.tokens()
    before = cases.maps_of(gpt, params, cfg, token_ids)[0]
    loud = {**params, "wte": LOUD * params["wte"], "wpe": LOUD * params["wpe"]}
    after = cases.maps_of(gpt, loud, cfg, token_ids)[0]
    what = "weights with embeddings ten times as large"
    cases.assert_same(after, before, what, cases.MAP, loose=LOOSE[cases.precision(after)])


def test_logits_ignore_the_scale_of_the_stream(gpt: "GPT") -> None:
    """A stream ten times as large gives the same logits.

    The head stands behind a layer norm of its own, which removes the scale. Here the token's
    vector is zero, so that the stream can be scaled without the head.
    """
    cfg, params = cases.model(gpt, n_layers=1)
    cases.silence_attention(params)
    cases.silence_mlp(params)
    params["wte"][TOKEN] = 0.0
    token_ids = np.full((1, cases.T), TOKEN)
    before = cases.logits_of(gpt, params, cfg, token_ids)
    loud = {**params, "wpe": LOUD * params["wpe"]}
    after = cases.logits_of(gpt, loud, cfg, token_ids)
    what = "logits with a stream ten times as large"
    cases.assert_same(after, before, what, cases.LOGITS, loose=LOOSE[cases.precision(after)])


def _let_attention_add(params: dict[str, Any], vector: np.ndarray) -> None:
    """Make attention add this vector to every token."""
    attention = params["blocks"][0]["attn"]
    attention["w_o"][:] = 0.0
    if "b_o" in attention:
        attention["b_o"][:] = vector
        return
    # Every value is 1 in channel 0, and the weights of a query sum to one.
    row = cases.constant_channel(params, "ln1")
    weight, bias = cases.part(params, "v")
    weight[:] = 0.0
    weight[row, 0] = 1.0
    bias[:] = 0.0
    attention["w_o"][0] = vector


def _let_mlp_add(params: dict[str, Any], vector: np.ndarray) -> None:
    """Make the MLP add this vector to every token."""
    mlp = params["blocks"][0]["mlp"]
    mlp["w2"][:] = 0.0
    if "b2" in mlp:
        mlp["b2"][:] = vector
        return
    # Hidden unit 0 is far above zero, where every activation in use leaves it as it is.
    row = cases.constant_channel(params, "ln2")
    mlp["w1"][:] = 0.0
    mlp["w1"][row, 0] = LOUD
    cases.clear(mlp, "b1")
    mlp["w2"][0] = vector / LOUD


SIZE = cases.SIZES["d_model"]
TOKEN = 3
