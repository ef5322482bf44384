"""The text that models are trained on: made here, the same everywhere, and easy to judge.

Sentences such as "the fox hears the owl." have few words, so that a model learns to spell them in
seconds, and who acts on whom is drawn at random, so that nothing but the spelling can be learnt:
a loss far below `ENTROPY` is a sign that the model has seen what it should predict.
"""

import math
from collections.abc import Iterator

ANIMALS = ("cat", "dog", "fox", "hen", "owl", "pig")
VERBS = ("hears", "likes", "sees")
SENTENCES = 300

CHOICES = len(ANIMALS) * len(VERBS) * (len(ANIMALS) - 1)
"""Nobody acts on themselves."""


def training_text() -> str:
    """One sentence a line."""
    return "".join(f"{sentence(draw)}\n" for draw in draws(SENTENCES))


def sentence(draw: int) -> str:
    """The sentence of this number, from 0 to CHOICES - 1."""
    draw, first = divmod(draw, len(ANIMALS))
    other, verb = divmod(draw, len(VERBS))
    second = (first + 1 + other) % len(ANIMALS)
    return f"the {ANIMALS[first]} {VERBS[verb]} the {ANIMALS[second]}."


def draws(count: int) -> Iterator[int]:
    """Numbers below CHOICES that follow no pattern a small model could learn.

    A linear congruence with the constants of Knuth & Lewis: unlike the generators of Python and
    NumPy, it can never change from one version to the next.
    """
    state = 1
    for _ in range(count):
        state = (1664525 * state + 1013904223) % 2**32
        yield state * CHOICES >> 32


ENTROPY = math.log(CHOICES) * SENTENCES / len(training_text())
"""Nats a character that no model can do without, on average."""
