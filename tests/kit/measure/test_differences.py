"""Differences: nothing that a subject does may make it look more alike than it is."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from bugkit import correct
from bugkit.measure.differences import DIFFERENCES, largest_differences
from bugkit.measure.settings import Setting

ALIKE = dict.fromkeys(DIFFERENCES, 0.0)


def changed(**changes: Any) -> Any:
    return SimpleNamespace(**{**vars(correct), **changes})


def differences(gpt: Any, setting: Setting = Setting.PLAIN) -> dict[str, float | None]:
    return largest_differences(gpt, correct, setting)


def fail(*_: Any, **__: Any) -> Any:
    raise SystemExit(1)


def test_a_nan_is_no_small_difference() -> None:
    def one_nan(*arguments: Any, **options: Any) -> Any:
        logits = np.array(correct.gpt_forward(*arguments, **options))
        logits[1, 2, 3] = np.nan
        return logits

    def no_maps(*arguments: Any, return_attn: bool = False) -> Any:
        return (None, []) if return_attn else one_nan(*arguments)

    found = differences(changed(gpt_forward=no_maps))
    assert found == {**ALIKE, "logits_difference": None, "attention_difference": None}


def test_a_shape_that_would_broadcast_is_no_small_difference() -> None:
    def one_row(*arguments: Any, **options: Any) -> Any:
        logits = correct.gpt_forward(*arguments, **options)
        return logits if options else logits[:1]

    assert differences(changed(gpt_forward=one_row))["logits_difference"] is None


@pytest.mark.parametrize(
    ("name", "lost"),
    {
        "gpt_forward": ("logits_difference", "attention_difference"),
        "forward_cached": ("cached_difference",),
        "loss_and_grads": ("gradient_difference",),
        "GPTConfig": DIFFERENCES,
    }.items(),
)
def test_what_ends_one_comparison_leaves_the_others(name: str, lost: tuple[str, ...]) -> None:
    assert differences(changed(**{name: fail})) == {**ALIKE, **dict.fromkeys(lost)}


def test_a_subject_that_changes_its_arguments_changes_only_its_own() -> None:
    def forward(params: Any, cfg: Any, token_ids: Any, **options: Any) -> Any:
        result = correct.gpt_forward(params, cfg, token_ids, **options)
        params["wte"] *= 0.0
        token_ids *= 0
        return result

    assert differences(changed(gpt_forward=forward)) == ALIKE


@pytest.mark.parametrize("setting", Setting)
def test_the_correct_gpt_does_not_differ_from_itself(setting: Setting) -> None:
    assert differences(correct, setting) == ALIKE


def test_rounding_is_no_difference_and_a_millionth_is() -> None:
    def shifted(by: float) -> Any:
        def forward(*arguments: Any, **options: Any) -> Any:
            logits = correct.gpt_forward(*arguments, **options)
            return logits if options else logits + by

        return changed(gpt_forward=forward)

    assert differences(shifted(1e-12))["logits_difference"] == 0.0
    assert differences(shifted(1e-6))["logits_difference"] == pytest.approx(1e-6, rel=1e-6)


@pytest.mark.parametrize(
    ("name", "differs"),
    {
        "gpt_forward": {"logits_difference"},
        "forward_cached": {"cached_difference"},
        "loss_and_grads": {"gradient_difference"},
    }.items(),
)
def test_each_difference_is_that_of_its_own_numbers(name: str, differs: set[str]) -> None:
    def doubled(*arguments: Any, **options: Any) -> Any:
        result = getattr(correct, name)(*arguments, **options)
        if name == "loss_and_grads":
            return result[0], {**result[1], "wte": 2 * result[1]["wte"]}
        if isinstance(result, tuple):
            return 2 * result[0], result[1]
        return 2 * result

    found = differences(changed(**{name: doubled}))
    assert {key for key, value in found.items() if value != 0.0} == differs


def test_dropout_takes_part_in_the_gradients() -> None:
    def without_dropout(params: Any, cfg: Any, ids: Any, targets: Any, _seed: int) -> Any:
        return correct.loss_and_grads(params, cfg, ids, targets)

    found = differences(changed(loss_and_grads=without_dropout))["gradient_difference"]
    assert found is not None
    assert found > 0.01
