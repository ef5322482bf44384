"""The training loop: what it does with gradients, and when."""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import cases

if TYPE_CHECKING:
    from bugkit.contract import GPT

SAME = {"vocab_size": 5, "d_model": 6, "n_heads": 2, "n_layers": 1, "max_seq_len": 4}
DATA = np.full(24, 3)
"""One token again and again: every batch is the same, whatever a seed draws."""

TOKENS = np.full((2, 4), 3)
NO_LIMIT = 1e9
RATE = 0.01
FEW = {"batch_size": 2, "weight_decay": 0.0, "max_norm": NO_LIMIT}


def by_hand(gpt: "GPT", params: dict[str, Any], cfg: Any, rates: list[float]) -> dict[str, Any]:
    """What a training loop should do on DATA, from the subject's own parts."""
    state = gpt.init_adamw(params)
    for lr in rates:
        _, grads = gpt.loss_and_grads(params, cfg, TOKENS, TOKENS)
        params, state = gpt.adamw_step(params, grads, state, lr, weight_decay=0.0)
    return params


def assert_same_params(got: dict[str, Any], expected: dict[str, Any], what: str) -> None:
    """The same tree up to rounding, which the ratio of small moments enlarges."""
    __tracebackhide__ = True
    if any(np.isnan(array).any() for _, array in cases.leaves(expected)):
        return  # other detectors look for NaN
    found = dict(cases.leaves(got))
    for path, array in cases.leaves(expected):
        axes = tuple(f"axis {i}" for i in range(array.ndim))
        cases.assert_same(found[path], array, f"{what}: {path}", axes, loose=100)


def test_each_step_uses_the_gradient_of_its_batch(gpt: "GPT") -> None:
    """A training step is: gradients of this batch, then one step of the optimiser.

    Three steps at one rate, on a text whose batches are all the same, by the loop and by hand.
    """
    cfg, params = cases.model(gpt, **SAME)
    got, _ = gpt.train(params, cfg, DATA, 3, max_lr=RATE, min_lr=RATE, **FEW)
    expected = by_hand(gpt, params, cfg, [RATE] * 3)
    assert_same_params(got, expected, "after three steps")


def test_the_first_step_uses_the_first_rate(gpt: "GPT") -> None:
    """The rate of the first step is the first of the schedule.

    Steps are counted from zero by the loop and by the schedule alike.
    """
    cfg, params = cases.model(gpt, **SAME)
    got, _ = gpt.train(params, cfg, DATA, 1, max_lr=RATE, min_lr=0.0, warmup_steps=1, **FEW)
    expected = by_hand(gpt, params, cfg, [gpt.learning_rate(0, RATE, 1, 1, min_lr=0.0)])
    assert_same_params(got, expected, "after the only step, which is the warm-up")


def test_the_schedule_runs_over_the_whole_training(gpt: "GPT") -> None:
    """The rate of a step is that of its number in the whole training.

    Warm-up happens once, however often the text has been read.
    """
    cfg, params = cases.model(gpt, **SAME)
    steps, warmup = 5, 2
    got, _ = gpt.train(
        params, cfg, DATA, steps, max_lr=RATE, min_lr=0.0, warmup_steps=warmup, **FEW
    )
    rates = [gpt.learning_rate(step, RATE, warmup, steps, min_lr=0.0) for step in range(steps)]
    expected = by_hand(gpt, params, cfg, rates)
    assert_same_params(got, expected, f"after {steps} steps with warm-up")


def test_clipping_comes_before_the_step(gpt: "GPT") -> None:
    """A limit of nearly nothing leaves the parameters where they are.

    Gradients are clipped before the optimiser sees them. Its eps then outweighs them.
    """
    cfg, params = cases.model(gpt, **SAME)
    options = {**FEW, "max_norm": 1e-12}
    got, _ = gpt.train(params, cfg, DATA, 1, max_lr=RATE, min_lr=RATE, **options)
    found = dict(cases.leaves(got))
    moved = max(float(np.abs(found[path] - old).max()) for path, old in cases.leaves(params))
    assert np.isnan(moved) or moved < RATE / 100, (
        f"gradients clipped to 1e-12 should move no parameter, but one moves by {moved:.3g}"
    )


def test_only_the_chosen_parts_are_trained(gpt: "GPT") -> None:
    """What is not chosen stays as it is, to the last bit; what is chosen moves.

    Weight decay is training too: a part that is not chosen does not shrink either.
    """
    cfg, params = cases.model(gpt, **SAME)
    options = {**FEW, "weight_decay": 0.5, "only": ("blocks.0.mlp",)}
    got, _ = gpt.train(params, cfg, DATA, 1, max_lr=RATE, **options)
    found = dict(cases.leaves(got))
    for path, old in cases.leaves(params):
        moved = float(np.nan_to_num(np.abs(found[path] - old)).max())
        if path.startswith("blocks.0.mlp."):
            assert moved > 0.0, f"{path} is chosen but does not move"
        else:
            assert moved == 0.0, f"{path} is not chosen but moves by {moved:.3g}"


def test_residual_projections_start_smaller(gpt: "GPT") -> None:
    """If asked for, the projections onto the stream start smaller than otherwise.

    Each block adds to the stream twice; smaller additions keep a deep stream from growing.
    """
    ratio = start_ratio(gpt)
    assert ratio < 0.75, f"their spread is {ratio:.3g} of that without it"


def test_residual_projections_shrink_with_all_branches(gpt: "GPT") -> None:
    """The projections start smaller by the root of the number of branches, two a block.

    With 4 blocks that is the root of 8: a spread of 0.35 of what it is if not asked for.
    """
    ratio = start_ratio(gpt)
    assert abs(ratio - 8**-0.5) < 0.06, (
        f"their spread should be 0.354 of that without it, is {ratio:.3g}"
    )


def start_ratio(gpt: "GPT") -> float:
    """The spread of the projections onto the stream, asked to be smaller against not.

    How weights of different kinds compare is the implementation's own affair.
    """
    sizes = {**cases.SIZES, "d_model": 18, "n_layers": 4}
    spreads: list[list[float]] = []
    for smaller in (True, False):
        with cases.optional("scale_residual_init"):
            cfg = gpt.GPTConfig(**sizes, scale_residual_init=smaller)
        blocks = gpt.init_params(cfg)["blocks"]
        # Each kind by its own scale, so that they count alike.
        kinds = [[b["attn"]["w_o"] for b in blocks], [b["mlp"]["w2"] for b in blocks]]
        spreads.append([float(np.std(kind)) for kind in kinds])
    return float(np.mean(np.divide(spreads[0], spreads[1])))
