"""The evidence of one bug in words and a picture."""

from collections.abc import Iterator

import click

from ..report.text import one_line, wrapped
from .evidence import Evidence, Outcome
from .plot import Symbols, plot
from .script import Stage
from .settings import SEED_SPREAD, STEPS, WINDOW, Setting
from .silence import silence_of
from .text import ENTROPY, training_text

SETTINGS = {
    Setting.PLAIN: "A small GPT",
    Setting.MODERN: "A small GPT with rotary positions and grouped queries",
}

ROWS = {
    "first_loss": "before the first step",
    "train_loss": "after training, training text",
    "validation_loss": "after training, other text",
}

DIFFERENCES = {
    "logits_difference": "logits",
    "attention_difference": "attention weights",
    "gradient_difference": "gradients, with dropout",
}


def observed(
    evidence: Evidence, correct: Evidence | None, width: int, symbols: Symbols
) -> Iterator[str]:
    """What anybody sees who trains it: nothing here tells what is wrong, or whether anything is."""
    yield click.style("In training", bold=True)
    example = training_text().splitlines()[0]
    setting = SETTINGS[evidence.setting]
    yield from wrapped(f'{setting}, {STEPS} steps on lines such as "{example}"', width, "  ")
    if evidence.losses:
        yield ""
        ours = correct.losses if correct else ()
        yield from plot(evidence.losses, ours, width, STEPS, symbols)
        yield from wrapped(_legend(correct is not None, symbols), width, "  ")
    yield ""
    yield from _table(evidence, correct)
    for sentence in _ends(evidence, correct):
        yield from wrapped(sentence, width, "  ")
    yield from _samples(evidence, correct, width)


def compared(evidence: Evidence, width: int) -> Iterator[str]:
    """What a comparison with the correct GPT adds. It tells an innocent from a bug."""
    yield click.style(
        "Largest differences from the correct GPT, same parameters and batch", bold=True
    )
    for name, words in DIFFERENCES.items():
        value = getattr(evidence, name)
        yield f"  {words:<24}{'no number' if value is None else f'{value:.4g}'}"
    loss = evidence.validation_loss
    if loss is not None and loss < ENTROPY:
        yield from wrapped(
            f"A validation loss below {ENTROPY:.2f} cannot be earned: so much is drawn at random "
            "in this text. Such a model is shown what it should predict.",
            width,
            "  ",
        )


def _legend(with_correct: bool, symbols: Symbols) -> str:
    mean = f"mean losses of {WINDOW} steps"
    if not with_correct:
        return f"{symbols.theirs} this program; {mean}"
    return (
        f"{symbols.theirs} this program, {symbols.ours} the correct GPT, {symbols.both} both, "
        f"{symbols.above} higher; {mean}"
    )


def _table(evidence: Evidence, correct: Evidence | None) -> Iterator[str]:
    widest = max(map(len, ROWS.values()))
    yield f"  {'Loss':<{widest}}  {'here':>8}" + (f"  {'correct':>8}" if correct else "")
    for name, words in ROWS.items():
        ours = f"  {_number(getattr(correct, name)):>8}" if correct else ""
        yield f"  {words:<{widest}}  {_number(getattr(evidence, name)):>8}{ours}"


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if abs(value) < 1000 else f"{value:.3g}"


def _ends(evidence: Evidence, correct: Evidence | None) -> Iterator[str]:
    """How it ended."""
    stage = evidence.stage
    at = f"during {stage}" if stage is not Stage.IMPORT else "when imported"
    match evidence.outcome:
        case Outcome.RAISED:
            yield f"It raises {at}: {one_line(evidence.message)}"
        case Outcome.TIMEOUT:
            yield f"It hangs {at}: {one_line(evidence.message)}"
        case Outcome.CRASHED:
            yield f"It crashes {at}: {one_line(evidence.message)}"
        case Outcome.NOT_FINITE:
            yield "Some of the losses are infinite or no numbers."
        case Outcome.FINISHED:
            difference = silence_of(evidence, correct).difference
            if difference is not None and abs(difference) <= SEED_SPREAD:
                yield f"Another seed alone can move such a loss by {SEED_SPREAD:g}."


def _samples(evidence: Evidence, correct: Evidence | None, width: int) -> Iterator[str]:
    for words, text in (
        ("It writes", evidence.sample),
        ("The correct GPT writes", correct.sample if correct else None),
    ):
        if text is not None:
            yield ""
            yield f"  {words}:"
            yield from wrapped(text.replace("\n", " / "), width, "    ")
