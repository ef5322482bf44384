"""What a teacher is told when all is handed out."""

from collections.abc import Iterator, Sequence

from ..places import shown
from .make import Order
from .record import HuntRecord, Record


def told(order: Order, records: Sequence[Record], new: int) -> Iterator[str]:
    """Line by line; `new` is how many folders were not there before."""
    desk, roster = order.desk, order.roster
    students = _count(len(roster.students), "student")
    column = roster.id_column
    yield f"{shown(roster.path)}: {students}, " + (
        f"{roster.format} roster, ids from {column}" if column else "one id a line"
    )
    yield (
        f"{shown(desk.out)}: {_count(len(records), 'folder')} for students, "
        f"{'all' if new == len(records) else new} new"
        + (", each also as .zip" if order.with_archives else "")
    )
    yield f"{shown(desk.keys)}: key.csv, key.json, and a page for each student in pages"
    hunts = _hunts(records)
    right = sum(hunt.verdict == "innocent" for hunt in hunts)
    yield (
        f"{_count(len(hunts), 'hunt')}, {len({hunt.slug for hunt in hunts})} different"
        + (f", {right} without a bug" if right else "")
    )


def warned(records: Sequence[Record]) -> str:
    """What is odd, or nothing."""
    bugs = [hunt for hunt in _hunts(records) if hunt.verdict == "bug"]
    unseen = sum(not hunt.visible_that_fail for hunt in bugs)
    if not unseen:
        return ""
    return (
        f"in {_count(unseen, 'hunt')} no visible test fails: to choose more with --visible, name "
        "another folder with --out as well"
    )


def _hunts(records: Sequence[Record]) -> list[HuntRecord]:
    return [hunt for record in records for hunt in record.hunts]


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"
