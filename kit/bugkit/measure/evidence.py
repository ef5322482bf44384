"""What came of training one subject, and its JSON, which `evidence.schema.json` documents."""

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

from ..problems import Problem
from .comparison import Maps, Pair, difference, maps_of, pair_of, to_text
from .script import Stage
from .settings import ROUNDING, WINDOW, Setting

VERSION = 2
"""Of the layout; grows when a reader of the old one would go wrong."""

DIGITS = 4
"""Significant digits of a number in a file."""

LOSS_TOLERANCE = 0.02
"""Share by which a loss may differ on another computer. Training is far steadier than that (a
relative change of 1e-12 at the start is one of 1e-11 at the end), but a mutant that has gone astray
may be less so."""

LOSS_FLOOR = 0.01
"""Nats by which a loss may differ in any case: that of a mutant that sees what it should predict
comes near zero, where a share means little."""

DIFFERENCE_TOLERANCE = 0.001
"""Share by which a difference on the fixed batch may differ: nothing is trained there."""

PER_LINE = 10
"""Numbers of the curve in one line of a file."""


class Outcome(StrEnum):
    """How the script ended."""

    FINISHED = "finished"
    NOT_FINITE = "not_finite"
    """Finished, but some loss was infinite or no number."""
    RAISED = "raised"
    TIMEOUT = "timeout"
    CRASHED = "crashed"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a person would see. Numbers are rounded; None is one that is not finite, or that was
    never reached."""

    subject: str
    digest: str
    """Of the sources that were run, the subject's and the script's."""
    setting: Setting
    outcome: Outcome
    stage: Stage | None
    """Where it ended, unless it finished."""
    message: str
    """What was raised, or how the process ended; else empty."""
    first_loss: float | None
    """Before the first step."""
    steps: int
    """How many losses the training told."""
    losses: tuple[float | None, ...]
    """Means over WINDOW steps each; the last one over fewer where training broke off."""
    train_loss: float | None
    """After training, without dropout, on as much text as there is to validate with."""
    validation_loss: float | None
    sample: str | None
    """What the model writes after PROMPT."""
    logits_difference: float | None
    """Here and below: the largest from the correct GPT on the fixed batch."""
    cached_difference: float | None
    """Of the logits when the batch is read in two pieces, through the cache."""
    attention_difference: float | None
    gradient_difference: float | None
    attention: Maps | None
    """Of the head in which the two differ most. Here and below: of fixed parameters, for one to
    draw."""
    sampled: Pair | None
    """Shares of the tokens that are drawn from fixed logits."""
    by_position: Pair | None
    """The largest difference of logits between reading in pieces, through the cache, and reading
    at once, at each position."""

    @property
    def finished(self) -> bool:
        """Whether there is a loss to compare."""
        return self.outcome is Outcome.FINISHED


FIELDS = tuple(field.name for field in fields(Evidence))
NUMBERS = tuple(name for name in FIELDS if name.endswith(("_loss", "_difference")))
COMPARISONS: dict[str, Callable[[Any], Maps | Pair | None]] = {
    "attention": maps_of,
    "sampled": pair_of,
    "by_position": pair_of,
}


def rounded(number: float | None) -> float | None:
    """The number as a file holds it."""
    if number is None or not math.isfinite(number):
        return None
    return float(f"{number:.{DIGITS}g}")


def curve(losses: Sequence[float]) -> tuple[float | None, ...]:
    """The mean of every WINDOW losses."""
    windows = [losses[i : i + WINDOW] for i in range(0, len(losses), WINDOW)]
    return tuple(rounded(sum(window) / len(window)) for window in windows)


def to_json(evidence: Evidence) -> str:
    """One key a line, in the order of the fields; the curve in rows."""
    lines = [f' "version": {VERSION}']
    for name in FIELDS:
        value = getattr(evidence, name)
        if name == "losses":
            texts = [json.dumps(loss) for loss in value]
            rows = [", ".join(texts[i : i + PER_LINE]) for i in range(0, len(texts), PER_LINE)]
            text = "[" + ",".join(f"\n  {row}" for row in rows) + ("\n ]" if rows else "]")
        elif name in COMPARISONS:
            text = to_text(value)
        else:
            text = json.dumps(value)
        lines.append(f' "{name}": {text}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def from_json(text: str, place: str) -> Evidence:
    """The evidence in a file. Raises Problem with the place and the key."""
    try:
        table = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Problem(f"{place}: not valid JSON: {error}; {REPAIR}") from None
    if not isinstance(table, dict) or table.get("version") != VERSION:
        raise Problem(f"{place}: not evidence of version {VERSION}; {REPAIR}")
    expected = ["version", *FIELDS]
    for key in expected + list(table):
        if key not in table or key not in expected:
            what = "is missing" if key not in table else "is no key of evidence"
            raise Problem(f"{place}: {key} {what}; {REPAIR}")
    values = {}
    for key in FIELDS:
        try:
            values[key] = _read(key, table[key])
        except (ValueError, OverflowError):
            raise Problem(f"{place}: {key} cannot be {table[key]!r:.60}; {REPAIR}") from None
    return Evidence(**values)


REPAIR = "measure it anew with: bugkit measure --force"


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no number")


def _read(key: str, value: Any) -> Any:
    if key == "losses":
        if not isinstance(value, list):
            raise ValueError
        return tuple(map(_number, value))
    if key in NUMBERS:
        return _number(value)
    if key in COMPARISONS:
        return COMPARISONS[key](value)
    if key == "steps":
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise ValueError
        return value
    if key == "stage" and value is None:
        return None
    if key == "sample" and value is None:
        return None
    if not isinstance(value, str):
        raise ValueError
    kinds = {"setting": Setting, "outcome": Outcome, "stage": Stage}
    return kinds[key](value) if key in kinds else value


def _number(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError
    return float(value)


def deviations(recorded: Evidence, measured: Evidence) -> Iterator[str]:
    """Where a second measurement does not confirm the first, in words. What a model writes and
    what an error says may differ; how a run ended may not, nor when, unless it is the clock that
    ended it."""
    timed = Outcome.TIMEOUT in (recorded.outcome, measured.outcome)
    for name in ("setting", "outcome", "stage", *(() if timed else ("steps",))):
        old, new = getattr(recorded, name), getattr(measured, name)
        if old != new:
            yield f"{name}: {old} is recorded, {new} was measured"
    for name in NUMBERS:
        old, new = getattr(recorded, name), getattr(measured, name)
        if not _alike(name, old, new):
            yield f"{name}: {_shown(old)} is recorded, {_shown(new)} was measured"
    for name in () if timed else COMPARISONS:
        if said := difference(getattr(recorded, name), getattr(measured, name)):
            yield f"{name}: {said}"
    points = list(zip(recorded.losses, measured.losses, strict=False))
    if timed:  # the last window of the shorter one may be cut short
        points = points[: min(recorded.steps, measured.steps) // WINDOW]
    elif len(recorded.losses) != len(measured.losses):
        counts = len(recorded.losses), len(measured.losses)
        yield f"losses: {counts[0]} points are recorded, {counts[1]} were measured"
    for i, (old, new) in enumerate(points, 1):
        if not _alike("losses", old, new):
            yield f"losses, point {i}: {_shown(old)} is recorded, {_shown(new)} was measured"
            return  # the points after it follow from it


def _alike(name: str, old: float | None, new: float | None) -> bool:
    if old is None or new is None:
        return old is new
    if name.endswith("_difference"):
        return math.isclose(old, new, rel_tol=DIFFERENCE_TOLERANCE, abs_tol=ROUNDING)
    return math.isclose(old, new, rel_tol=LOSS_TOLERANCE, abs_tol=LOSS_FLOOR)


def _shown(number: float | None) -> str:
    return "no number" if number is None else f"{number:.{DIGITS}g}"
