"""Learning curves for a terminal."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

ROWS = 9
"""Lines of the plot."""

OVER, UNDER = -1, ROWS

LABEL = 6
"""Characters of a number on the axis."""

MARGIN = LABEL + 3
"""Characters before the first column: the indent, the label and the axis."""

FEWEST = 8
"""Columns at least, however narrow the terminal."""

REACH = 0.5
"""How far beyond the losses of the correct GPT the plot reaches, as a share of their maximum. What
lies further out stands in the top or the bottom line, as ABOVE or BELOW."""

Curve = Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Symbols:
    """What is drawn with. No two mean the same, so that no colour is needed."""

    theirs: str
    ours: str
    both: str
    above: str
    below: str
    axis: str
    corner: str
    floor: str

    @property
    def drawable(self) -> str:
        """All of them, to see whether an output can take them."""
        return "".join(
            (
                self.theirs,
                self.ours,
                self.both,
                self.above,
                self.below,
                self.axis,
                self.corner,
                self.floor,
            )
        )


UNICODE = Symbols("●", "·", "◉", "▲", "▼", "┤", "└", "─")
ASCII = Symbols("o", ".", "@", "^", "v", "|", "+", "-")


def plot(
    theirs: Curve, ours: Curve, points: int, steps: int, width: int, symbols: Symbols
) -> Iterator[str]:
    """Both curves in one frame, in lines of at most `width` characters where that can be. A whole
    curve has `points` points, the last of them at `steps`; what is no number leaves its place
    empty."""
    room = max(FEWEST, width - MARGIN)
    columns = points * min(2, room // points) or room
    low, high = _range(theirs, ours)
    theirs_at = [_row(value, low, high) for value in _spread(theirs, points, columns)]
    ours_at = [_row(value, low, high) for value in _spread(ours, points, columns)]
    for row in range(ROWS):
        value = high - (high - low) * row / (ROWS - 1)
        cells = (_cell(row, t, o, symbols) for t, o in zip(theirs_at, ours_at, strict=True))
        start = f" {_label(value) if row % 4 == 0 else '':>{LABEL}}{symbols.axis} "
        yield f"{start}{''.join(cells)}".rstrip()
    yield f" {'':>{LABEL}}{symbols.corner}{symbols.floor * (columns + 1)}"
    yield f" {'':>{LABEL}}  step 1{steps:>{max(columns - len('step 1'), len(str(steps)) + 1)}}"


def _label(value: float) -> str:
    if abs(value) < 100:
        return f"{value:.2f}"
    return f"{value:.0f}" if abs(value) < 1e4 else f"{value:.0e}"


def _range(theirs: Curve, ours: Curve) -> tuple[float, float]:
    """From the lowest to the highest value, but not far from the correct GPT."""
    known = [value for value in ours if value is not None]
    every = known + [value for value in theirs if value is not None]
    if not every:
        return 0.0, 1.0
    low, high = min(every), max(every)
    if known:
        reach = REACH * abs(max(known))
        low, high = max(low, min(known) - reach), min(high, max(known) + reach)
    # Some height in any case, so that a flat curve is flat.
    return low, max(high, low + 0.01 * max(1.0, abs(low)))


def _spread(curve: Curve, points: int, columns: int) -> list[float | None]:
    """One value a column."""
    padded = [*curve, *[None] * (points - len(curve))]
    return [padded[column * points // columns] for column in range(columns)]


def _row(value: float | None, low: float, high: float) -> int | None:
    """Line of a value, counted from the top; one that lies further out is at OVER or UNDER."""
    if value is None:
        return None
    if not low <= value <= high:
        return OVER if value > high else UNDER
    return ROWS - 1 - math.floor((value - low) / (high - low) * (ROWS - 1) + 0.5)


def _cell(row: int, theirs: int | None, ours: int | None, symbols: Symbols) -> str:
    if row == 0 and theirs == OVER:
        return symbols.above
    if row == ROWS - 1 and theirs == UNDER:
        return symbols.below
    if theirs == ours == row:
        return symbols.both
    if theirs == row:
        return symbols.theirs
    return symbols.ours if ours == row else " "
