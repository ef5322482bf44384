"""How models are trained. Every number here is part of what makes two pieces of evidence alike."""

from enum import StrEnum
from typing import Any

from ..catalogue import Bug

MODERN_LEVEL = 4
"""Bugs of this level concern what only the modern setting has."""

SEED = 0

SIZES: dict[str, Any] = {
    "d_model": 32,
    "n_layers": 2,
    "n_heads": 4,
    "max_seq_len": 24,
    "dropout": 0.1,
    "scale_residual_init": True,
}

STEPS = 240
WINDOW = 8
"""Steps whose mean loss is one point of the curve: 30 points, with less noise than single steps."""

TRAINING: dict[str, Any] = {
    "steps": STEPS,
    "batch_size": 6,
    "micro_batch_size": 4,  # four rows and two: whoever weighs them alike is wrong
    "max_lr": 1e-2,
    "warmup_steps": 20,
    "seed": SEED,
}

PROMPT = "the "
SAMPLING: dict[str, Any] = {
    "max_new_tokens": 110,  # over four times the context: the window has to move
    "temperature": 0.8,
    "top_k": 10,
    "top_p": 0.95,
    "seed": SEED,
}

SEED_SPREAD = 0.04
"""Nats. How far the validation loss of the correct GPT, trained from six other seeds, lay at most
from the recorded one, in either setting. A smaller difference tells nobody anything."""


ROUNDING = 1e-9
"""A difference on the fixed batch below this: two programs that compute the same in another
order."""


class Setting(StrEnum):
    """Which GPT is trained."""

    PLAIN = "plain"
    """Learned positions, every head with keys and values of its own, a tied head: GPT-2."""
    MODERN = "modern"
    """Rotary positions, two query heads a key head, a head of its own."""

    @property
    def config(self) -> dict[str, Any]:
        """Arguments of GPTConfig, without the vocabulary."""
        if self is Setting.PLAIN:
            return SIZES
        return {**SIZES, "rotary": True, "n_kv_heads": 2, "tie_word_embeddings": False}


def setting_of(bug: Bug) -> Setting:
    """The setting in which a bug can show itself."""
    return Setting.MODERN if bug.level == MODERN_LEVEL else Setting.PLAIN
