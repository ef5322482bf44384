"""Token ids and positions on their way into the stream."""

from typing import TYPE_CHECKING

import numpy as np
import pytest

from . import cases

if TYPE_CHECKING:
    from bugkit.contract import GPT


def test_order_of_tokens_matters(gpt: "GPT") -> None:
    """Exchanging two earlier tokens changes the prediction.

    Attention alone is blind to order: it sees a set. In a model of one layer only the position
    vectors can tell one order from another. (With more layers the mask tells it too.)
    """
    cfg, params = cases.model(gpt, n_layers=1)
    token_ids = np.array([[3, 1, 4, 5, 9, 2, 6]])
    swapped = token_ids[:, [0, 3, 2, 1, 4, 5, 6]]
    before = cases.logits_of(gpt, params, cfg, token_ids)[:, -1]
    after = cases.logits_of(gpt, params, cfg, swapped)[:, -1]
    cases.assert_changed(
        before, after, "tokens 1 and 3 were exchanged, but the last logits did not move"
    )


def test_each_position_has_its_own_vector(gpt: "GPT") -> None:
    """Position t uses row t of the position embedding.

    A change of that row moves the logits at t, for the first position and the last; a row beyond
    the sequence moves nothing.
    """
    cfg, params = cases.model(gpt, n_layers=1)
    token_ids = cases.tokens()
    before = cases.logits_of(gpt, params, cfg, token_ids)
    for t in (0, cases.T - 1):
        changed = {**params, "wpe": params["wpe"].copy()}
        changed["wpe"][t] += np.arange(SIZE)
        after = cases.logits_of(gpt, changed, cfg, token_ids)
        cases.assert_changed(
            before[:, t], after[:, t], f"wpe[{t}] was changed, but the logits at {t} did not move"
        )
    changed = {**params, "wpe": params["wpe"].copy()}
    changed["wpe"][cases.T :] += np.arange(SIZE)
    after = cases.logits_of(gpt, changed, cfg, token_ids)
    what = f"after a change of wpe[{cases.T}:], which a sequence of {cases.T} tokens does not use"
    cases.assert_same(after, before, what, cases.LOGITS)


def test_the_full_context_fits(gpt: "GPT") -> None:
    """A sequence of max_seq_len tokens is allowed.

    There are max_seq_len position vectors, counted from zero, so the longest sequence uses the
    last one.
    """
    cfg, params = cases.model(gpt, n_layers=1)
    length = cases.SIZES["max_seq_len"]
    try:
        logits = cases.logits_of(gpt, params, cfg, cases.tokens(length=length))
    except (AssertionError, IndexError, ValueError) as error:
        pytest.fail(f"T = max_seq_len = {length} raises {type(error).__name__}: {error}")
    assert logits.shape[1] == length, f"{length} tokens gave {logits.shape[1]} rows of logits"


def test_token_and_position_count_alike(gpt: "GPT") -> None:
    """Only the sum of token vector and position vector matters.

    Adding a vector to the token's row and taking it from the position's leaves the stream as it
    was. A factor on one of the two would show.
    """
    cfg, params = cases.model(gpt, n_layers=1)
    token_ids = np.array([[3, 1, 4, 5, 9, 2, 6]])
    position, token = 2, 4
    moved = {**params, "wte": params["wte"].copy(), "wpe": params["wpe"].copy()}
    vector = np.linspace(-1.0, 2.0, SIZE)
    moved["wte"][token] += vector
    moved["wpe"][position] -= vector
    before = cases.logits_of(gpt, params, cfg, token_ids)
    after = cases.logits_of(gpt, moved, cfg, token_ids)
    # The head reads the embedding as well: the moved word's own score may change.
    what = "after moving a vector from the position's row to the token's"
    others = [word for word in range(cases.SIZES["vocab_size"]) if word != token]
    cases.assert_same(after[..., others], before[..., others], what, cases.LOGITS)


SIZE = cases.SIZES["d_model"]
