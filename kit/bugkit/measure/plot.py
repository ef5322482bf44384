"""Learning curves for a terminal."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

ROWS = 9
"""Lines of the plot."""

LABEL = 5
"""Characters of a number on the axis."""

MARGIN = LABEL + 3
"""Characters before the first column: the indent, the label and the axis."""

FEWEST = 8
"""Columns at least, however narrow the terminal."""

CEILING = 1.5
"""How far above the highest loss of the correct GPT the plot reaches; what is higher stands in the
top line as ABOVE."""

Curve = Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Symbols:
    """What is drawn with. No two mean the same, so that no colour is needed."""

    theirs: str
    ours: str
    both: str
    above: str
    axis: str
    corner: str
    floor: str

    @property
    def drawable(self) -> str:
        """All of them, to see whether an output can take them."""
        return "".join((self.theirs, self.ours, self.both, self.above, self.axis, self.corner))


UNICODE = Symbols("●", "·", "◉", "▲", "┤", "└", "─")
ASCII = Symbols("o", ".", "@", "^", "|", "+", "-")


def plot(theirs: Curve, ours: Curve, width: int, steps: int, symbols: Symbols) -> Iterator[str]:
    """Both curves in one frame, in lines of at most `width` characters where that can be. A point
    that is no number leaves its place empty."""
    points = max(len(theirs), len(ours))
    room = max(FEWEST, width - MARGIN)
    columns = min(room // points * points, 2 * points) if room >= points else room
    low, high = _range(theirs, ours)
    theirs_at = [_row(value, low, high) for value in _spread(theirs, points, columns)]
    ours_at = [_row(value, low, high) for value in _spread(ours, points, columns)]
    for row in range(ROWS):
        value = high - (high - low) * row / (ROWS - 1)
        label = f"{value:.2f}" if row % 4 == 0 else ""
        cells = (_cell(row, t, o, symbols) for t, o in zip(theirs_at, ours_at, strict=True))
        yield f" {label:>{LABEL}}{symbols.axis} {''.join(cells)}".rstrip()
    yield f" {'':>{LABEL}}{symbols.corner}{symbols.floor * (columns + 1)}"
    yield f" {'':>{LABEL}}  step 1{f'{steps}':>{max(columns - 6, len(str(steps)) + 1)}}"


def _range(theirs: Curve, ours: Curve) -> tuple[float, float]:
    """From the lowest to the highest value, but not far above the correct GPT."""
    known = [value for value in ours if value is not None]
    every = known + [value for value in theirs if value is not None]
    if not every:
        return 0.0, 1.0
    low, high = min(every), max(every)
    if known:
        high = min(high, CEILING * max(known))
    # Some height in any case, so that a flat curve is flat.
    return low, max(high, low + 0.01)


def _spread(curve: Curve, points: int, columns: int) -> list[float | None]:
    """One value a column."""
    padded = [*curve, *[None] * (points - len(curve))]
    return [padded[column * points // columns] for column in range(columns)]


def _row(value: float | None, low: float, high: float) -> int | None:
    """Line of a value, counted from the top; -1 for one that is above."""
    if value is None:
        return None
    if value > high:
        return -1
    return ROWS - 1 - math.floor((value - low) / (high - low) * (ROWS - 1) + 0.5)


def _cell(row: int, theirs: int | None, ours: int | None, symbols: Symbols) -> str:
    if row == 0 and theirs == -1:
        return symbols.above
    if theirs == ours == row:
        return symbols.both
    if theirs == row:
        return symbols.theirs
    return symbols.ours if ours == row else " "
