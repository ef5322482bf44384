"""What a run of a program gave, drawn, in words and in numbers: Bug -> Figure.

The numbers are those of the evidence, so that nothing is run here. Of a bug the figure knows the
component alone, not whether it is one: an innocent gets the figure that a bug would.
"""

import math
import textwrap
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum

from ..catalogue import Bug
from ..measure.comparison import Maps, Pair
from ..measure.evidence import Evidence, Outcome
from ..measure.pictures import DRAWS, OPTIONS, PIECES
from ..measure.plot import CEILING, Curve
from ..measure.script import Stage
from ..measure.settings import STEPS, WINDOW, Setting, setting_of
from ..measure.store import is_current, mutant_of, recorded
from ..measure.story import WHEN
from ..problems import Problem
from ..subject import CORRECT_SUBJECT, Subject, place_option
from . import drawing
from .drawing import HEIGHT, OURS, THEIRS, WIDTH
from .model import Figure, Table


class Kind(StrEnum):
    """What is drawn."""

    MAPS = "maps"
    SHARES = "shares"
    GAPS = "gaps"
    CURVES = "curves"


MAPPED = ("positions", "attention", "mask", "softmax", "gqa")
"""Components whose work is seen in attention weights. Other bugs change them as well, but as they
change every number that comes after them."""

CACHED = ("positions", "cache")
"""Components that have to know how many tokens came before."""

VISIBLE = 0.02
"""A smaller difference between two cells, or two bars, cannot be seen."""

ALIKE = 0.03
"""Nats: curves that are nowhere further apart lie on each other."""

NOTE = 32
"""Characters of a line beside the curves."""

NOTHING = "-"
"""Stands for what is no number, or was never reached."""

POINTS = (0, 6, 12, 17, 23, 29)
"""Of the curve, in the table."""


def kind_of(component: str, evidence: Evidence) -> Kind:
    """What shows the symptom best. Whether the program is a bug is no argument, so that the kind of
    a figure tells nothing about it."""
    maps, gaps = evidence.attention, evidence.by_position
    if component in MAPPED and maps and maps.largest >= VISIBLE:
        return Kind.MAPS
    if component == "sampling" and evidence.sampled:
        return Kind.SHARES
    if component in CACHED and gaps and max(*gaps.observed, *gaps.expected) >= VISIBLE:
        return Kind.GAPS
    return Kind.CURVES


def figure_of(bug: Bug, code: str) -> Figure:
    """The figure of a bug; `code` tells it from the others in a document, and is nothing that a
    student may not see. Without matplotlib it has no drawing. Raises Problem if the bug was never
    measured, or has changed since."""
    evidence, correct = _evidence(bug)
    kind = kind_of(bug.component, evidence)
    if kind is Kind.MAPS and evidence.attention:
        return _maps(evidence.attention, code)
    if kind is Kind.SHARES and evidence.sampled:
        return _shares(evidence.sampled, code)
    if kind is Kind.GAPS and evidence.by_position:
        return _gaps(evidence.by_position, code)
    return _curves(evidence, correct, code)


def _evidence(bug: Bug) -> tuple[Evidence, Evidence]:
    """Of the bug and of the correct GPT."""
    setting = setting_of(bug)
    mend = f"run: bugkit measure {bug.slug}{place_option(bug.folder)}"  # measures both
    return (
        _current(mutant_of(bug), setting, f"{bug.slug}: its evidence", mend),
        _current(CORRECT_SUBJECT, setting, f"{bug.slug}: the evidence of the correct GPT", mend),
    )


def _current(subject: Subject, setting: Setting, what: str, mend: str) -> Evidence:
    try:
        evidence = recorded(subject, setting)
    except Problem:
        raise Problem(f"{what} cannot be read; {mend}") from None
    if evidence is None:
        raise Problem(f"{what} is missing; {mend}")
    if not is_current(evidence, subject, setting):
        raise Problem(f"{what} is out of date; {mend}")
    return evidence


def _maps(maps: Maps, code: str) -> Figure:
    size = len(maps.observed)
    cells = [(i, j) for i in range(size) for j in range(size)]
    apart = {(i, j): abs(maps.observed[i][j] - maps.expected[i][j]) for i, j in cells}
    i, j = max(cells, key=lambda cell: apart[cell])
    count = sum(each >= VISIBLE for each in apart.values())
    names = tuple(f"token {k + 1}" for k in range(size))
    rows = [
        (f"{name}, {whose}", *(f"{value:.2f}" for value in row))
        for k, name in enumerate(names)
        for whose, row in ((THEIRS, maps.observed[k]), (OURS, maps.expected[k]))
    ]
    return Figure(
        title=f"Attention weights of layer {maps.layer + 1}, head {maps.head + 1}, for {size} "
        "tokens",
        alt=f"Two maps of {size} by {size} attention weights. Of {len(cells)} weights {count} "
        f"differ by {VISIBLE} or more, most of all that with which token {i + 1} reads token "
        f"{j + 1}: {maps.observed[i][j]:.2f} in this program, {maps.expected[i][j]:.2f} in the "
        "reference.",
        table=Table(
            "Rows: tokens that read. Columns: tokens that are read.", ("", *names), (*rows,)
        ),
        svg=_drawn(lambda: drawing.draw_maps(maps, code)),
        width=WIDTH,
        height=HEIGHT,
    )


def _shares(shares: Pair, code: str) -> Figure:
    tokens = range(len(shares.observed))
    t = max(tokens, key=lambda i: abs(shares.observed[i] - shares.expected[i]))
    told = f"{shares.observed[t]:.2f} in this program, {shares.expected[t]:.2f} in the reference"
    options = (
        f"temperature {OPTIONS['temperature']}, top-k {OPTIONS['top_k']}, top-p {OPTIONS['top_p']}"
    )
    return Figure(
        title=f"Tokens in {DRAWS} draws from the same logits: {options}",
        alt=f"Two bars for each of {len(tokens)} tokens: its share of {DRAWS} draws. "
        + (
            "The bars of this program and of the reference are equally high."
            if shares.observed == shares.expected
            else f"They differ most for token {t}: {told}; chance alone may move a share by 0.02."
        ),
        table=_table(
            f"Share of {DRAWS} draws.",
            [f"token {i}" for i in tokens],
            [f"{v:.2f}" for v in shares.observed],
            [f"{v:.2f}" for v in shares.expected],
        ),
        svg=_drawn(lambda: drawing.draw_shares(shares, DRAWS, code)),
        width=WIDTH,
        height=HEIGHT,
    )


def _gaps(gaps: Pair, code: str) -> Figure:
    places = range(len(gaps.observed))
    p = max(places, key=lambda i: gaps.observed[i])
    wrong = [str(i + 1) for i in places if gaps.observed[i] >= VISIBLE]
    *first, last = map(str, PIECES)
    return Figure(
        title="Logits of a text read in pieces, against those of the same text read at once",
        alt=f"A bar for each of {len(places)} positions, read through the cache in pieces of "
        f"{', '.join(first)} and {last} tokens: how far the two logits are apart at most. In this "
        f"program {VISIBLE} or more at {len(wrong)} positions ({', '.join(wrong)}), and most at "
        f"position {p + 1}, {gaps.observed[p]:.2f}; in the reference {max(gaps.expected):.2f} "
        "everywhere.",
        table=_table(
            "Largest difference of logits at each position.",
            [str(i + 1) for i in places],
            [f"{v:.2f}" for v in gaps.observed],
            [f"{v:.2f}" for v in gaps.expected],
        ),
        svg=_drawn(lambda: drawing.draw_gaps(gaps, PIECES, code)),
        width=WIDTH,
        height=HEIGHT,
    )


def _curves(evidence: Evidence, correct: Evidence, code: str) -> Figure:
    theirs, ours = evidence.losses, correct.losses
    known = [loss for loss in ours if loss is not None]
    every = [*known, *(loss for loss in theirs if loss is not None)]
    # The next half above: the axis ends in a number.
    top = math.floor(2 * min(max(every), CEILING * max(known)) + 1) / 2
    theirs_row = [*(_loss(theirs, i) for i in POINTS), _number(evidence.validation_loss)]
    dash = f" {NOTHING} stands for what is no number, or was not reached."
    columns = [*(f"step {(i + 1) * WINDOW}" for i in POINTS), "other text"]
    return Figure(
        title=f"Loss in training, a mean of {WINDOW} steps each",
        alt=" ".join(_said(evidence, correct)),
        table=_table(
            f"Mean loss of the {WINDOW} steps that end there; then the loss on other text."
            + (dash if NOTHING in theirs_row else ""),
            columns,
            theirs_row,
            [*(_loss(ours, i) for i in POINTS), _number(correct.validation_loss)],
        ),
        svg=_drawn(
            lambda: drawing.draw_curves(theirs, ours, STEPS, top, _note(evidence, ours), code)
        ),
        width=WIDTH,
        height=HEIGHT,
    )


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
            f"On other text the loss is {_number(evidence.validation_loss)} at the end, that of the "
            f"reference {_number(correct.validation_loss)}."
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
    when = f" {WHEN[evidence.stage]}" if evidence.stage else ""
    if evidence.stage is Stage.TRAIN:
        when += f" after {evidence.steps} steps"
    match evidence.outcome:
        case Outcome.RAISED:
            return f"ends with an error{when}"
        case Outcome.TIMEOUT:
            return f"hangs{when}"
        case Outcome.CRASHED:
            return f"crashes{when}"
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
    return f"from {_loss(curve, 0)} to {_loss(curve, len(curve) - 1)}"


def _loss(curve: Curve, i: int) -> str:
    return _number(curve[i]) if i < len(curve) else NOTHING


def _number(value: float | None) -> str:
    if value is None:
        return NOTHING
    return f"{value:.2f}" if abs(value) < 1000 else f"{value:.2g}"


def _table(
    caption: str, columns: Sequence[str], theirs: Sequence[str], ours: Sequence[str]
) -> Table:
    return Table(caption, ("", *columns), ((THEIRS, *theirs), (OURS, *ours)))


def _drawn(draw: Callable[[], str]) -> str:
    """The drawing, or nothing where the library for it is absent."""
    try:
        return draw()
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":
            raise
        return ""
