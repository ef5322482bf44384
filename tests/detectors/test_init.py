"""The parameters before training."""

import math
from typing import TYPE_CHECKING

import numpy as np

from . import cases

if TYPE_CHECKING:
    from bugkit.contract import GPT


NEAR = 3.0
"""How far the first loss may be from log V. Logits of variance s put it about s / 2 above: 0.5 for
an embedding drawn with variance 1 / C and a norm before the head, 1 for 2 / C, 16 for 1."""


def test_first_loss_is_near_log_vocab(gpt: "GPT") -> None:
    """Before training, every word is about equally likely.

    So the cross entropy starts near log V. Far above means confident and wrong: something
    starts too large.
    """
    V = 64
    cfg = cases.config(gpt, vocab_size=V, d_model=32, n_heads=4, n_layers=1)
    params = gpt.init_params(cfg, seed=cases.SEED)
    token_ids = cases.tokens(rows=3, length=13, vocab_size=V)
    logits = cases.logits_of(gpt, params, cfg, token_ids[:, :-1])
    logits = logits - logits.max(axis=-1, keepdims=True)
    log_probs = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
    loss = -float(np.mean(np.take_along_axis(log_probs, token_ids[:, 1:, None], axis=-1)))
    assert abs(loss - math.log(V)) < NEAR, (
        f"the first loss should be near log {V} = {math.log(V):.2f}, but is {loss:.2f}"
    )


def test_layers_start_apart(gpt: "GPT") -> None:
    """No two layers start with the same weights.

    Equal layers get equal gradients or are one array with two names; then a deep model is a
    shallow one applied many times.
    """
    cfg = cases.config(gpt, n_layers=3)
    blocks = gpt.init_params(cfg, seed=cases.SEED)["blocks"]
    for name, of in (("w_qkv", "attn"), ("w1", "mlp")):
        first = np.asarray(blocks[0][of][name])
        for layer, block in enumerate(blocks[1:], 1):
            equal = np.array_equal(first, np.asarray(block[of][name]))
            assert not equal, f"{name} of layer 0 and of layer {layer} are equal"
