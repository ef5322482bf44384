"""The head: from the stream to a score for every word."""

from typing import TYPE_CHECKING

import numpy as np

from . import cases

if TYPE_CHECKING:
    from bugkit.contract import GPT


def test_tied_head_reads_the_embedding(gpt: "GPT") -> None:
    """Doubling a word's vector doubles that word's logit, and no other.

    In a tied model the head is the token embedding. The word must not be part of the input,
    where it would change the stream as well.
    """
    cfg = cases.config(gpt, n_layers=1)
    params = gpt.init_params(cfg, seed=cases.SEED)
    token_ids = np.array([[3, 1, 4, 5, 9, 2, 6]])
    word = 8
    before = cases.logits_of(gpt, params, cfg, token_ids)
    doubled = {**params, "wte": np.array(params["wte"])}
    doubled["wte"][word] *= 2.0
    after = cases.logits_of(gpt, doubled, cfg, token_ids)
    expected = before.copy()
    expected[..., word] *= 2.0
    cases.assert_same(after, expected, f"after doubling the vector of word {word}", cases.LOGITS)
