"""Settings: what a bug needs to show itself is really in them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bugkit import correct
from bugkit.catalogue import LEVELS, load_bug
from bugkit.measure.settings import (
    PROMPT,
    SAMPLING,
    SIZES,
    STEPS,
    TRAINING,
    WINDOW,
    Setting,
    setting_of,
)
from bugkit.measure.text import training_text


def config(setting: Setting) -> Any:
    vocabulary = correct.build_vocabulary(training_text())
    return correct.GPTConfig(vocab_size=len(vocabulary), **setting.config)


def test_the_modern_setting_has_what_the_plain_one_lacks() -> None:
    plain, modern = config(Setting.PLAIN), config(Setting.MODERN)
    assert not plain.rotary
    assert plain.kv_heads == plain.n_heads
    assert plain.tie_word_embeddings
    assert modern.rotary
    assert 1 < modern.kv_heads < modern.n_heads
    assert not modern.tie_word_embeddings


def test_dropout_and_unequal_micro_batches_and_a_moving_window_are_in_play() -> None:
    assert SIZES["dropout"] > 0.0
    assert TRAINING["batch_size"] % TRAINING["micro_batch_size"] != 0
    assert TRAINING["warmup_steps"] > 0
    assert SAMPLING["max_new_tokens"] + len(PROMPT) > 2 * SIZES["max_seq_len"]
    assert SAMPLING["temperature"] not in (0.0, 1.0)


def test_the_curve_has_whole_windows() -> None:
    assert STEPS % WINDOW == 0
    assert STEPS // WINDOW == 30


@pytest.mark.parametrize("level", LEVELS)
def test_modern_parts_are_trained_in_the_modern_setting(
    level: int, make_bug: Callable[..., Path]
) -> None:
    setting = setting_of(load_bug(make_bug("means", {"level": level})))
    assert setting is (Setting.MODERN if level == 4 else Setting.PLAIN)
