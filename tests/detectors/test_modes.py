"""What holds in one mode of use must hold in the others."""

from typing import TYPE_CHECKING

import numpy as np

from . import cases

if TYPE_CHECKING:
    from bugkit.contract import GPT

DROPPED = {"dropout": 0.25, "n_layers": 1}
DROPOUT_SEED = 5


def test_no_future_in_training(gpt: "GPT") -> None:
    """With dropout on, logits do not depend on later tokens either.

    Who may see whom is a property of the model and not of the mode. With one seed the same values
    are dropped in both passes.
    """
    cfg, params = cases.model(gpt, **DROPPED)
    token_ids = cases.tokens()
    for t in cases.STEPS:
        changed = token_ids.copy()
        changed[:, t + 1 :] = cases.other(changed[:, t + 1 :])
        with cases.optional("dropout_seed"):
            before, after = (
                np.asarray(gpt.gpt_forward(params, cfg, ids, dropout_seed=DROPOUT_SEED))
                for ids in (token_ids, changed)
            )
        what = f"with dropout, tokens from {t + 1} on were exchanged; logits up to {t}"
        cases.assert_same(after[:, : t + 1], before[:, : t + 1], what, cases.LOGITS)
