"""The training script: what anybody would write who has these names and a text."""

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from types import ModuleType
from typing import Any

from .settings import PROMPT, SAMPLING, SEED, TRAINING, Setting
from .text import training_text

Tell = Callable[[str, Any], None]
"""Called with the name of something that was found, and its value."""


class Stage(StrEnum):
    """Where in the script something went wrong."""

    IMPORT = "import"
    DATA = "data"
    INIT = "init"
    TRAIN = "train"
    SAVE = "save"
    LOAD = "load"
    EVALUATE = "evaluate"
    GENERATE = "generate"


def train_and_sample(gpt: ModuleType, setting: Setting, folder: Path, tell: Tell) -> None:
    """Train, save, load what was saved, evaluate and generate.

    Tells each `stage` when it begins, each `loss` of the training, then `train_loss`,
    `validation_loss` and `sample`. Whatever the model raises comes through.
    """
    tell("stage", Stage.DATA)
    text = training_text()
    vocabulary = gpt.build_vocabulary(text)
    training, validation = gpt.split_data(gpt.encode(text, vocabulary))

    tell("stage", Stage.INIT)
    cfg = gpt.GPTConfig(vocab_size=len(vocabulary), **setting.config)
    params = gpt.init_params(cfg, seed=SEED)

    tell("stage", Stage.TRAIN)
    params, _ = gpt.train(
        params, cfg, training, on_step=lambda _step, loss: tell("loss", float(loss)), **TRAINING
    )

    tell("stage", Stage.SAVE)
    gpt.save_checkpoint(folder / "checkpoint.npz", params, cfg)
    tell("stage", Stage.LOAD)
    params, cfg = gpt.load_checkpoint(folder / "checkpoint.npz")

    tell("stage", Stage.EVALUATE)
    tell("train_loss", float(gpt.evaluate(params, cfg, training[-len(validation) :])))
    tell("validation_loss", float(gpt.evaluate(params, cfg, validation)))

    tell("stage", Stage.GENERATE)
    prompt = gpt.encode(PROMPT, vocabulary)[None]
    written = gpt.generate(params, cfg, prompt, **SAMPLING)
    tell("sample", str(gpt.decode(written[0], vocabulary)))
