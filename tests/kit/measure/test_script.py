"""The script: tells where it is before anything goes wrong, and uses what it has saved."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bugkit import correct
from bugkit.measure.script import Stage, train_and_sample
from bugkit.measure.settings import PROMPT, SAMPLING, Setting

NAMES = {
    "build_vocabulary": Stage.DATA,
    "split_data": Stage.DATA,
    "GPTConfig": Stage.INIT,
    "init_params": Stage.INIT,
    "train": Stage.TRAIN,
    "save_checkpoint": Stage.SAVE,
    "load_checkpoint": Stage.LOAD,
    "evaluate": Stage.EVALUATE,
    "generate": Stage.GENERATE,
    "decode": Stage.GENERATE,
}


def quick_gpt(**changes: Any) -> Any:
    """The correct GPT, which takes two steps."""

    def train(params: Any, cfg: Any, data: Any, on_step: Any, **_: Any) -> Any:
        return correct.train(params, cfg, data, 2, seed=0, on_step=on_step)

    return SimpleNamespace(**{**vars(correct), "train": train, **changes})


def run(gpt: Any, folder: Path, setting: Setting = Setting.PLAIN) -> list[tuple[str, Any]]:
    told: list[tuple[str, Any]] = []
    train_and_sample(gpt, setting, folder, lambda name, value: told.append((name, value)))
    return told


@pytest.mark.parametrize(("name", "stage"), NAMES.items())
def test_what_raises_is_at_the_stage_that_was_told_last(
    name: str, stage: Stage, tmp_path: Path
) -> None:
    told: list[tuple[str, Any]] = []

    def fail(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError(name)

    gpt = quick_gpt(**{name: fail})
    with pytest.raises(ZeroDivisionError, match=name):
        train_and_sample(gpt, Setting.PLAIN, tmp_path, lambda *record: told.append(record))
    assert [value for key, value in told if key == "stage"][-1] == stage


@pytest.mark.parametrize("setting", Setting)
def test_everything_is_told_in_order(setting: Setting, tmp_path: Path) -> None:
    told = run(quick_gpt(), tmp_path, setting)
    names = [value if name == "stage" else name for name, value in told]
    assert names == [
        *("data", "init", "train", "loss", "loss", "save", "load"),
        *("evaluate", "train_loss", "validation_loss", "generate", "sample"),
    ]
    sample = dict(told)["sample"]
    assert sample.startswith(PROMPT)
    assert len(sample) == len(PROMPT) + SAMPLING["max_new_tokens"]


def test_what_a_checkpoint_loses_shows_in_the_losses(tmp_path: Path) -> None:
    def save_untrained(path: Path, _params: Any, cfg: Any) -> None:
        correct.save_checkpoint(path, correct.init_params(cfg, seed=7), cfg)

    right = dict(run(quick_gpt(), tmp_path))
    wrong = dict(run(quick_gpt(save_checkpoint=save_untrained), tmp_path))
    assert wrong["loss"] == right["loss"]
    assert abs(wrong["validation_loss"] - right["validation_loss"]) > 0.01
