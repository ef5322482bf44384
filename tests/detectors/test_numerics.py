"""Numbers: finite, of the right type, the same wherever the input stands, and all of them used."""

from typing import TYPE_CHECKING

import numpy as np
import pytest

from . import cases

if TYPE_CHECKING:
    from bugkit.contract import GPT


def test_logits_are_finite(gpt: "GPT") -> None:
    """Logits are finite numbers.

    Ordinary parameters and tokens must not produce NaN or infinity anywhere. NaN comes from
    infinity minus infinity or 0 / 0, for example in a softmax row without any visible key.
    """
    cfg, params = cases.model(gpt)
    finite = np.isfinite(cases.logits_of(gpt, params, cfg, cases.tokens()))
    positions = sorted(set(np.nonzero(~finite)[1].tolist()))
    assert finite.all(), f"the logits at positions {positions} are not finite numbers"


def test_one_token_is_enough(gpt: "GPT") -> None:
    """A prompt of one token gets finite logits.

    The first token sees only itself, and that must do: every generation starts with it.
    """
    cfg, params = cases.model(gpt, n_layers=1)
    logits = cases.logits_of(gpt, params, cfg, cases.tokens(length=1))
    assert np.isfinite(logits).all(), "with T = 1 the logits are not finite numbers"


def test_float32_stays_float32(gpt: "GPT") -> None:
    """float32 parameters give float32 logits.

    One float64 scalar on the way makes everything after it float64: twice the memory, half the
    speed, and other numbers than on the hardware that the model is meant for.
    """
    cfg, params = cases.model(gpt, n_layers=1)
    logits = gpt.gpt_forward(cases.as_float32(params), cfg, cases.tokens())
    if not hasattr(logits, "dtype"):
        pytest.skip("arrays with a type are not offered")
    assert logits.dtype == np.float32, f"float32 parameters gave {logits.dtype} logits"


def test_batch_rows_do_not_mix(gpt: "GPT") -> None:
    """A sequence gets the same logits alone and in a batch.

    Nothing in a GPT looks across the batch axis. Whoever shares the batch must not matter, nor
    the row that a sequence happens to be in.
    """
    cfg, params = cases.model(gpt, n_layers=1)
    token_ids = cases.tokens()
    together = cases.logits_of(gpt, params, cfg, token_ids)
    alone = np.concatenate([cases.logits_of(gpt, params, cfg, row[None]) for row in token_ids])
    cases.assert_same(together, alone, "logits in a batch against alone", cases.LOGITS)


def test_every_bias_gain_and_block_matters(gpt: "GPT") -> None:
    """Every bias, every gain and every block moves the logits.

    They are easy to forget, since a model without them still learns: a bias that is never added, a
    block that is never run.
    """
    cfg, params = cases.model(gpt, n_layers=1)
    before = cases.logits_of(gpt, params, cfg, cases.tokens())
    vectors = [(f"ln_f {name}", params["ln_f"], name) for name in params["ln_f"]]
    for part, arrays in params["blocks"][0].items():
        vectors += [(f"{part} {name}", arrays, name) for name in arrays if arrays[name].ndim == 1]
    for what, arrays, name in vectors:
        saved = arrays[name]
        arrays[name] = saved + np.linspace(-1.0, 1.0, saved.size)
        after = cases.logits_of(gpt, params, cfg, cases.tokens())
        arrays[name] = saved
        cases.assert_changed(before, after, f"{what} was changed, but no logit moved")
    cfg, params = cases.model(gpt, n_layers=2)
    before = cases.logits_of(gpt, params, cfg, cases.tokens())
    for layer, block in enumerate(params["blocks"]):
        saved = block["attn"]["w_o"]
        block["attn"]["w_o"] = -saved
        after = cases.logits_of(gpt, params, cfg, cases.tokens())
        block["attn"]["w_o"] = saved
        cases.assert_changed(before, after, f"block {layer} was changed, but no logit moved")
    params["blocks"].reverse()
    after = cases.logits_of(gpt, params, cfg, cases.tokens())
    cases.assert_changed(before, after, "two blocks changed places, but no logit moved")
