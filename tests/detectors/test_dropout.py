"""Dropout: when it acts, how much it drops, and that it changes nothing on average."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from . import cases
from .slopes import change_along

if TYPE_CHECKING:
    from bugkit.contract import GPT

pytestmark = pytest.mark.level(2)

P = 0.3
"""Not a half, where dropping and keeping look alike."""

FAR = 0.1
"""Of 420 values the dropped share lies within 0.1 of P but once in a hundred thousand seeds."""

MORE = 0.35
"""The least share of tokens that should gather more, or less, than without dropout. By seeds it is
0.45 to 0.53; without scaling at most 0.1 gather more, and scaled by p none gathers less."""


def test_nothing_is_dropped_without_a_seed(gpt: "GPT") -> None:
    """Outside training, a model with dropout computes what one without computes.

    Dropping values is a means of training. What is evaluated or generated is the whole model.
    """
    plain, params = cases.model(gpt)
    cfg = cases.config(gpt, dropout=P)
    token_ids = cases.tokens()
    expected = cases.logits_of(gpt, params, plain, token_ids)
    got = cases.logits_of(gpt, params, cfg, token_ids)
    cases.assert_same(got, expected, "logits with dropout configured, not asked for", cases.LOGITS)


def test_generation_is_without_dropout(gpt: "GPT") -> None:
    """A model trained with dropout writes the same text as one trained without.

    Dropping values is a means of training; a text would suffer from it.
    """
    plain, params = cases.model(gpt)
    cfg = cases.config(gpt, dropout=0.9)
    prompt = cases.tokens(length=3)
    for use_cache in (True, False):
        options = {"max_new_tokens": 6, "temperature": 0.0, "use_cache": use_cache}
        expected = np.asarray(gpt.generate(params, plain, prompt, **options))
        got = np.asarray(gpt.generate(params, cfg, prompt, **options))
        which = "with" if use_cache else "without"
        assert np.array_equal(got, expected), (
            f"greedy generation {which} a cache: {expected[0].tolist()} with dropout 0, "
            f"{got[0].tolist()} with dropout 0.9"
        )


def test_the_dropped_share_is_the_probability(gpt: "GPT") -> None:
    """With dropout 0.3, three values in ten are dropped.

    Here nothing but embeddings reaches the head, and each word reads one channel.
    """
    C = cases.SIZES["d_model"]
    cfg, params = dropping(gpt, vocab_size=C + 1)
    cases.silence_attention(params)
    params["wte"] = np.vstack([np.ones(C), np.eye(C)])
    token_ids = np.zeros((4, cases.T), dtype=np.int64)
    channels = dropped_logits(gpt, params, cfg, token_ids, seed=0)[..., 1:]
    middle = (channels.max(axis=-1, keepdims=True) + channels.min(axis=-1, keepdims=True)) / 2
    share = float(np.mean(channels < middle))
    if share == 0.0:  # many a GPT drops in its branches only, which have a detector of their own
        pytest.skip("dropout of embeddings is not offered")
    assert abs(share - P) < FAR, f"with dropout {P} the dropped share is {share:.3g}"


def test_what_a_branch_adds_is_dropped(gpt: "GPT") -> None:
    """Three in ten values that attention and MLP add to the stream are dropped.

    Here one of them adds the same vector to an empty stream, and each word reads one channel.
    """
    C = cases.SIZES["d_model"]
    pattern = np.where(np.arange(C) % 2 == 0, 1.0, -1.0)
    for part, bias in (("attn", "b_o"), ("mlp", "b2")):
        cfg, params = dropping(gpt, vocab_size=C + 1)
        cases.silence_attention(params)
        params["wte"] = np.vstack([np.zeros(C), np.diag(pattern)])
        if bias not in params["blocks"][0][part]:
            pytest.skip(f"{bias} is not offered")
        params["blocks"][0][part][bias][:] = pattern
        token_ids = np.zeros((4, cases.T), dtype=np.int64)
        channels = dropped_logits(gpt, params, cfg, token_ids, seed=0)[..., 1:]
        share = float(np.mean(channels < channels.max(axis=-1, keepdims=True) / 2))
        which = "attention" if part == "attn" else "the MLP"
        assert abs(share - P) < FAR, (
            f"with dropout {P}, of what {which} adds a share of {share:.3g} is dropped"
        )


def test_gradients_pass_the_mask_that_was_used(gpt: "GPT") -> None:
    """What is dropped in the forward pass gets no gradient, and what is kept does.

    With silent blocks only the mask of the embedding matters: the gradient of the positions is
    compared with what a small change of them does to the loss, under the same seed.
    """
    cfg, params = cases.model(gpt, n_layers=1, dropout=P)
    cases.silence_attention(params)
    cases.silence_mlp(params)
    token_ids, targets = cases.tokens(), cases.other(cases.tokens())
    change = np.random.default_rng(cases.SEED).normal(0.0, 1e-5, params["wpe"].shape)
    with cases.optional("dropout_seed"):
        _, grads = gpt.loss_and_grads(params, cfg, token_ids, targets, dropout_seed=1)
    if cases.precision(np.asarray(grads["wpe"])) == "float32":
        pytest.skip("central differences need float64")

    def loss() -> float:
        return float(gpt.loss_and_grads(params, cfg, token_ids, targets, dropout_seed=1)[0])

    found, told = change_along(loss, params["wpe"], change), float(np.sum(grads["wpe"] * change))
    assert np.isnan(found) or abs(found - told) < 1e-3 * abs(found) + 1e-12, (
        f"a small change of the positions changes the loss by {found:.6g}, the gradient says "
        f"{told:.6g}"
    )


def test_dropping_does_not_weaken_attention(gpt: "GPT") -> None:
    """As often as less, a token gathers more than it would without dropout.

    What is kept is enlarged, so that the mean stays. Here every token gathers from equal values,
    and what it would gather without dropout is taken off.
    """
    share = gathers_more(gpt)
    assert share > MORE, f"only {share:.2g} of all tokens gather more than without dropout"


def test_dropping_does_not_strengthen_attention(gpt: "GPT") -> None:
    """As often as more, a token gathers less than it would without dropout.

    What is kept is enlarged by 1 / (1 - p) and no more, so that the mean stays.
    """
    share = 1.0 - gathers_more(gpt)
    assert share > MORE, f"only {share:.2g} of all tokens gather less than without dropout"


def dropping(gpt: "GPT", **changes: Any) -> tuple[Any, dict[str, Any]]:
    """One layer with dropout; nothing but token embeddings and attention adds to the stream."""
    cfg, params = cases.model(gpt, n_layers=1, dropout=P, **changes)
    cases.silence_mlp(params)
    params["wpe"][:] = 0.0
    for norm in (params["ln_f"], params["blocks"][0]["ln1"], params["blocks"][0]["ln2"]):
        norm["g"][:] = 1.0
        if "b" in norm:
            norm["b"][:] = 0.0
    return cfg, params


def dropped_logits(
    gpt: "GPT", params: dict[str, Any], cfg: Any, token_ids: np.ndarray, seed: int
) -> np.ndarray:
    """Logits of a pass with dropout, [B, T, V]; skips where they are not finite."""
    with cases.optional("dropout_seed"):
        logits = np.asarray(gpt.gpt_forward(params, cfg, token_ids, dropout_seed=seed))
    if not np.isfinite(logits).all():
        pytest.skip("logits are not finite, as other detectors will say")
    return logits


def gathers_more(gpt: "GPT") -> float:
    """The share of tokens for which attention adds more than it would without dropout."""
    cfg, params = dropping(gpt, n_heads=1, max_seq_len=40)
    C = cases.SIZES["d_model"]
    pattern = np.where(np.arange(C) % 2 == 0, 1.0, -1.0)
    attention = params["blocks"][0]["attn"]
    if "b_qkv" not in attention or "b_o" not in attention:
        pytest.skip("biases of attention are not offered")
    for which in "qkv":
        weight, bias = cases.part(params, which)
        weight[:] = 0.0
        bias[:] = pattern if which == "v" else 0.0
    attention["w_o"][:] = np.eye(C)
    attention["b_o"][:] = -pattern
    params["wte"][0] = 0.0
    params["wte"][1] = pattern
    token_ids = np.zeros((8, 40), dtype=np.int64)
    logits = dropped_logits(gpt, params, cfg, token_ids, seed=0)
    added = logits[:, 4:, 1]
    if np.abs(added).max() < 1e-3:  # nothing but rounding
        pytest.skip("dropout of attention weights is not offered")
    return float(np.mean(added > 0.0))
