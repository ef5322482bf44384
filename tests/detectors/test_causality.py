"""Who may know what: the past, the whole past, and nothing but the past."""

from typing import TYPE_CHECKING

import numpy as np

from . import cases

if TYPE_CHECKING:
    from bugkit.contract import GPT


def test_far_future_does_not_change_the_past(gpt: "GPT") -> None:
    """Logits do not depend on tokens two or more steps ahead.

    A model that sees the future while it is trained has nothing to go by when it generates.
    """
    cfg, params = cases.model(gpt, n_layers=1)
    token_ids = cases.tokens()
    before = cases.logits_of(gpt, params, cfg, token_ids)
    for t in cases.STEPS[:-1]:
        changed = token_ids.copy()
        changed[:, t + 2 :] = cases.other(changed[:, t + 2 :])
        after = cases.logits_of(gpt, params, cfg, changed)
        what = f"tokens from {t + 2} on were exchanged; logits up to {t}"
        cases.assert_same(after[:, : t + 1], before[:, : t + 1], what, cases.LOGITS)


def test_next_token_is_hidden(gpt: "GPT") -> None:
    """Logits do not depend on the very next token, which they predict.

    If they did, predicting it would be copying: the loss falls to nearly nothing and the model
    has learnt nothing.
    """
    cfg, params = cases.model(gpt, n_layers=1)
    token_ids = cases.tokens()
    before = cases.logits_of(gpt, params, cfg, token_ids)
    for t in cases.STEPS:
        changed = token_ids.copy()
        changed[:, t + 1] = cases.other(changed[:, t + 1])
        after = cases.logits_of(gpt, params, cfg, changed)
        what = f"token {t + 1} was exchanged; logits at {t}"
        cases.assert_same(after[:, [t]], before[:, [t]], what, cases.LOGITS)


def test_no_weight_on_the_future(gpt: "GPT") -> None:
    """Attention weights above the diagonal are exactly zero.

    Row i is what token i takes; a later token j > i has nothing to give yet.
    """
    cfg, params = cases.model(gpt)
    for layer, weights in enumerate(cases.maps_of(gpt, params, cfg, cases.tokens())):
        future = np.where(cases.visible(weights.shape[-1]), 0.0, np.nan_to_num(weights))
        if future.max() > 0:
            worst = np.unravel_index(np.argmax(future), future.shape)
            raise AssertionError(
                f"layer {layer}, {cases.place(worst, cases.MAP)}: "
                f"the weight should be 0, but is {future[worst]:.3g}"
            )


def test_every_earlier_token_matters(gpt: "GPT") -> None:
    """The last logits depend on every token before.

    A model can be causal and still blind: a wrong reshape may hide most of the past.
    """
    cfg, params = cases.model(gpt, n_layers=1)
    token_ids = cases.tokens()
    before = cases.logits_of(gpt, params, cfg, token_ids)[:, -1]
    for t in cases.STEPS:
        changed = token_ids.copy()
        changed[:, t] = cases.other(changed[:, t])
        after = cases.logits_of(gpt, params, cfg, changed)[:, -1]
        cases.assert_changed(
            before, after, f"token {t} was exchanged, but the last logits did not move"
        )


def test_each_token_attends_to_itself(gpt: "GPT") -> None:
    """Attention weights on the diagonal are positive.

    A token is part of its own past. The first one has nothing else to attend to.
    """
    cfg, params = cases.model(gpt, n_layers=1)
    weights = cases.maps_of(gpt, params, cfg, cases.tokens())[0]
    own = np.diagonal(weights, axis1=-2, axis2=-1)
    positions = sorted(set(np.nonzero(~(own > 0))[2].tolist()))
    assert not positions, f"the tokens at positions {positions} give no weight to themselves"
