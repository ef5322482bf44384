"""The figure of losses in training, which is there for every program."""

import math
import textwrap
from collections.abc import Iterator

from ..measure.evidence import Evidence, Outcome
from ..measure.plot import REACH, Curve
from ..measure.settings import STEPS, WINDOW
from ..measure.story import when
from . import drawing
from .comparisons import drawn, two_rows
from .drawing import HEIGHT, THEIRS, WIDTH
from .model import Figure

ALIKE = 0.03
"""Nats: curves that are nowhere further apart lie on each other."""

NOTE = 32
"""Characters of a line beside the curves."""

NOTHING = "-"
"""Stands for what is no number, or was never reached."""

POINTS = (0, 6, 12, 17, 23, 29)
"""Of the curve, in the table."""


def curves_figure(evidence: Evidence, correct: Evidence, code: str) -> Figure:
    """Both curves. In words: where they begin and end, and how the run ended."""
    theirs, ours = evidence.losses, correct.losses
    theirs_row = [*(_loss(theirs, i) for i in POINTS), _number(evidence.validation_loss)]
    dash = f" {NOTHING} stands for what is no number, or was not reached."
    columns = [*(f"step {(i + 1) * WINDOW}" for i in POINTS), "other text"]
    return Figure(
        title=f"Loss in training, a mean of {WINDOW} steps each",
        alt=" ".join(_said(evidence, correct)),
        table=two_rows(
            f"Mean loss of the {WINDOW} steps that end there; then the loss on other text."
            + (dash if NOTHING in theirs_row else ""),
            columns,
            theirs_row,
            [*(_loss(ours, i) for i in POINTS), _number(correct.validation_loss)],
        ),
        svg=drawn(
            lambda: drawing.draw_curves(
                theirs, ours, _ends(theirs, ours), _note(evidence, ours), code
            )
        ),
        width=WIDTH,
        height=HEIGHT,
    )


def _ends(theirs: Curve, ours: Curve) -> tuple[float, float]:
    """Of the axis: zero, or lower where a loss is, and not far above the correct GPT."""
    known = [loss for loss in ours if loss is not None]
    every = [*known, *(loss for loss in theirs if loss is not None)]
    # To the next half: the axis ends in a number.
    top = math.floor(2 * min(max(every), (1 + REACH) * max(known)) + 1) / 2
    return max(-top, min(0.0, math.floor(2 * min(every)) / 2)), top


def _said(evidence: Evidence, correct: Evidence) -> Iterator[str]:
    """Both curves in words, and how the run ended."""
    theirs, ours = evidence.losses, correct.losses
    yield f"Two curves of the loss over {STEPS} steps."
    if _empty(theirs):
        yield "That of this program is empty;"
    elif _alike(theirs, ours):
        yield f"They lie on each other: this program goes {_way(theirs)},"
    else:
        yield f"This program goes {_way(theirs)},"
    yield f"the reference {_way(ours)}."
    if evidence.validation_loss is not None:
        yield (
            f"On other text its loss is {_number(evidence.validation_loss)} at the end, that of "
            f"the reference {_number(correct.validation_loss)}."
        )
    if end := _end(evidence):
        yield f"This program {end}."


def _note(evidence: Evidence, ours: Curve) -> str:
    """What the drawing says beside the curves: what could be taken for a fault of the drawing."""
    lines = ["the two lie on each other"] if _alike(evidence.losses, ours) else []
    if end := _end(evidence):
        lines += textwrap.wrap(f"{THEIRS} {end}", NOTE)
    return "\n".join(lines)


def _end(evidence: Evidence) -> str:
    """How the run ended, unless as it should. What an error says may name the cause: not that."""
    at = f" {when(evidence)}".rstrip()
    match evidence.outcome:
        case Outcome.RAISED:
            return f"ends with an error{at}"
        case Outcome.TIMEOUT:
            return f"hangs{at}"
        case Outcome.CRASHED:
            return f"crashes{at}"
        case Outcome.NOT_FINITE:
            return "has losses that are no numbers"
        case Outcome.FINISHED:
            return ""


def _empty(curve: Curve) -> bool:
    return all(loss is None for loss in curve)


def _alike(theirs: Curve, ours: Curve) -> bool:
    if len(theirs) != len(ours):
        return False
    pairs = zip(theirs, ours, strict=True)
    return all(a is not None and b is not None and abs(a - b) <= ALIKE for a, b in pairs)


def _way(curve: Curve) -> str:
    first, *_, last = [loss for loss in curve if loss is not None] * 2
    return f"from {_number(first)} to {_number(last)}"


def _loss(curve: Curve, i: int) -> str:
    return _number(curve[i]) if i < len(curve) else NOTHING


def _number(value: float | None) -> str:
    if value is None:
        return NOTHING
    return f"{value:.2f}" if abs(value) < 1000 else f"{value:.2g}"
