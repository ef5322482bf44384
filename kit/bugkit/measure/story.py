"""The evidence of one bug in words and a picture."""

from collections.abc import Iterator

import click

from ..report.text import one_line, wrapped
from .evidence import Evidence, Outcome
from .plot import MARGIN, Symbols, plot
from .script import Stage
from .settings import SEED_SPREAD, STEPS, WINDOW, Setting
from .silence import silence_of
from .text import ENTROPY, training_text

SETTINGS = {
    Setting.PLAIN: "A small GPT",
    Setting.MODERN: "A small GPT with rotary positions and grouped queries",
}

ROWS = {
    "first_loss": "at the start",
    "train_loss": "at the end",
    "validation_loss": "on other text",
}

WHEN = {
    Stage.IMPORT: "when imported",
    Stage.DATA: "while preparing the text",
    Stage.INIT: "while making the parameters",
    Stage.TRAIN: "in training",
    Stage.SAVE: "while saving",
    Stage.LOAD: "while loading what it saved",
    Stage.EVALUATE: "while evaluating",
    Stage.GENERATE: "while writing text",
}

DIFFERENCES = {
    "logits_difference": "logits",
    "cached_difference": "logits, through the cache",
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
        lines = list(plot(evidence.losses, ours, STEPS // WINDOW, STEPS, width, symbols))
        yield from lines
        yield from wrapped(_legend(lines, correct is not None, symbols), width, "  ")
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
        yield f"  {words:<27}{'no number' if value is None else f'{value:.4g}'}"
    loss = evidence.validation_loss
    if loss is not None and loss < ENTROPY:
        yield from wrapped(
            f"A validation loss below {ENTROPY:.2f} cannot be earned: so much is drawn at random "
            "in this text. Such a model is shown what it should predict.",
            width,
            "  ",
        )


def _legend(lines: list[str], with_correct: bool, symbols: Symbols) -> str:
    """The symbols that occur."""
    words = {symbols.theirs: "this program", symbols.above: "higher", symbols.below: "lower"}
    if with_correct:
        words |= {symbols.ours: "the correct GPT", symbols.both: "both"}
    cells = "".join(line[MARGIN:] for line in lines[:-2])
    used = ", ".join(f"{symbol} {said}" for symbol, said in words.items() if symbol in cells)
    return f"{used}; mean losses of {WINDOW} steps"


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


def when(evidence: Evidence) -> str:
    """Where a run ended that did not come to its end."""
    at = WHEN[evidence.stage] if evidence.stage else ""
    return f"{at} after {evidence.steps} steps" if evidence.stage is Stage.TRAIN else at


def _ends(evidence: Evidence, correct: Evidence | None) -> Iterator[str]:
    """How it ended."""
    at = when(evidence)
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
