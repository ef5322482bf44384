"""The head: from the stream to a score for every word."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from . import cases

if TYPE_CHECKING:
    from bugkit.contract import GPT


def test_tied_head_reads_the_embedding(gpt: "GPT") -> None:
    """Doubling a word's vector doubles that word's logit, and no other.

    In a tied model the head is the token embedding. The word must not be part of the input,
    where it would change the stream as well. A head of its own has a column for the word.
    """
    cfg = _tied_if_it_can_be(gpt)
    params = gpt.init_params(cfg, seed=cases.SEED)
    token_ids = np.array([[3, 1, 4, 5, 9, 2, 6]])
    word = 8
    before = cases.logits_of(gpt, params, cfg, token_ids)
    if "w_lm" in params:
        doubled = {**params, "w_lm": np.array(params["w_lm"])}
        doubled["w_lm"][:, word] *= 2.0
    else:
        doubled = {**params, "wte": np.array(params["wte"])}
        doubled["wte"][word] *= 2.0
    after = cases.logits_of(gpt, doubled, cfg, token_ids)
    expected = before.copy()
    expected[..., word] *= 2.0
    cases.assert_same(after, expected, f"after doubling the vector of word {word}", cases.LOGITS)


def _tied_if_it_can_be(gpt: "GPT") -> Any:
    """A configuration with a tied head; skips no implementation that has a head of its own."""
    try:
        cfg = gpt.GPTConfig(**SIZES, tie_word_embeddings=True)
    except pytest.skip.Exception:
        return gpt.GPTConfig(**SIZES)
    assert "w_lm" not in gpt.init_params(cfg), "tied, and yet init_params gives w_lm"
    return cfg


SIZES = {**cases.SIZES, "n_layers": 1}
