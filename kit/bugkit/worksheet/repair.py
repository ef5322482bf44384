"""The lines of a repair, as a notebook applies them: number -> what stands there instead."""

from collections.abc import Sequence

from .model import DiffLine


def repair_of(fix: Sequence[DiffLine], source: str) -> dict[int, tuple[str, ...] | None]:
    """Number of a line as handed out -> the lines in its place, or None where it goes."""
    old = source.splitlines()
    repair: dict[int, tuple[str, ...] | None] = {
        line.number: None for line in fix if line.sign == "-"
    }
    for line in fix:
        if line.sign != "+":
            continue
        place = line.number
        before = repair.get(place, ())
        if place not in repair:  # a line that is added before one that stays
            repair[place] = (line.text, old[place - 1])
        elif _stays(fix, place):
            assert before
            repair[place] = (*before[:-1], line.text, before[-1])
        else:
            repair[place] = (*(before or ()), line.text)
    return dict(sorted(repair.items()))


def _stays(fix: Sequence[DiffLine], number: int) -> bool:
    return not any(line.sign == "-" and line.number == number for line in fix)
