"""Numbers of a subject beside those of the correct GPT, and how a file holds them."""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Row = tuple[float, ...]

TOLERANCE = 0.0015
"""By which a number may differ on another computer: one more or less of its last decimal."""

SHARE = 0.001
"""The same, as a share of a larger number."""


@dataclass(frozen=True, slots=True)
class Maps:
    """Attention weights of one head for one sequence: a row for each token that reads."""

    layer: int
    """Here and below: counted from 0."""
    head: int
    observed: tuple[Row, ...]
    expected: tuple[Row, ...]

    @property
    def largest(self) -> float:
        """Difference between two cells, at most."""
        pairs = zip(self.observed, self.expected, strict=True)
        return max(abs(a - b) for rows in pairs for a, b in zip(*rows, strict=True))


@dataclass(frozen=True, slots=True)
class Pair:
    """A row of numbers each."""

    observed: Row
    expected: Row


def maps_of(value: Any) -> Maps | None:
    """What JSON holds. Raises ValueError."""
    if value is None:
        return None
    table = _table(value, ["layer", "head", "observed", "expected"])
    for key in ("layer", "head"):
        if type(table[key]) is not int or table[key] < 0:
            raise ValueError(key)
    observed, expected = (_square(table[key]) for key in ("observed", "expected"))
    if len(observed) != len(expected):
        raise ValueError("not as many rows")
    return Maps(table["layer"], table["head"], observed, expected)


def pair_of(value: Any) -> Pair | None:
    """What JSON holds. Raises ValueError."""
    if value is None:
        return None
    table = _table(value, ["observed", "expected"])
    pair = Pair(_row(table["observed"]), _row(table["expected"]))
    if not pair.observed or len(pair.observed) != len(pair.expected):
        raise ValueError("not as many numbers")
    return pair


def _table(value: Any, keys: list[str]) -> dict[str, Any]:
    if not isinstance(value, dict) or list(value) != keys:
        raise ValueError("other keys")
    return value


def _square(value: Any) -> tuple[Row, ...]:
    if not isinstance(value, list) or not value:
        raise ValueError("no rows")
    rows = tuple(map(_row, value))
    if any(len(row) != len(rows) for row in rows):
        raise ValueError("not a square")
    return rows


def _row(value: Any) -> Row:
    if not isinstance(value, list) or any(type(v) not in (int, float) for v in value):
        raise ValueError("not numbers")
    row = tuple(map(float, value))
    if not all(map(math.isfinite, row)):
        raise ValueError("not finite")
    return row


def to_text(value: Maps | Pair | None) -> str:
    """JSON, a row of numbers a line, for a key that is indented by one."""
    if value is None:
        return "null"
    if isinstance(value, Pair):
        head, texts = [], [json.dumps(row) for row in (value.observed, value.expected)]
    else:
        head = [f'"layer": {value.layer}, "head": {value.head}']
        texts = [
            "[\n" + ",\n".join(f"   {json.dumps(row)}" for row in rows) + "\n  ]"
            for rows in (value.observed, value.expected)
        ]
    parts = [*head, *(f'"{k}": {t}' for k, t in zip(("observed", "expected"), texts, strict=True))]
    return "{\n  " + ",\n  ".join(parts) + "\n }"


def difference(old: Maps | Pair | None, new: Maps | Pair | None) -> str:
    """Where the second does not confirm the first, in words; empty if it does."""
    if old is None or new is None:
        return "" if old is new else f"{_known(old)} recorded, {_known(new)} measured"
    if isinstance(old, Maps) and isinstance(new, Maps):
        heads = [f"layer {each.layer} and head {each.head}" for each in (old, new)]
        if heads[0] != heads[1]:
            return f"{heads[0]} are recorded, {heads[1]} were measured"
    before, after = list(_numbers(old)), list(_numbers(new))
    if len(before) != len(after):
        return f"{len(before)} numbers are recorded, {len(after)} were measured"
    for a, b in zip(before, after, strict=True):
        if not math.isclose(a, b, rel_tol=SHARE, abs_tol=TOLERANCE):
            return f"{a:g} is recorded, {b:g} was measured"
    return ""


def _known(value: Maps | Pair | None) -> str:
    return "no numbers are" if value is None else "numbers are"


def _numbers(value: Maps | Pair) -> Iterator[float]:
    for part in (value.observed, value.expected):
        for row in part:
            yield from row if isinstance(row, tuple) else (row,)
