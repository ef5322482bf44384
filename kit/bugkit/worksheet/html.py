"""Sheets and keys as HTML: one file that loads nothing, to print or to fill in on a screen.

On paper a sheet is one leaf: the challenge on the front, the boxes on the back. Code that does not
fit there is a third page. In a set every sheet begins on a leaf of its own; sides that stay empty
for that say so. Hints to cut off are pages of their own at the very end, with all strips of the
set, so that no sheet is cut up. Hints inline are folded on a screen, and on paper they are a page
after the sheet. Large print has no fixed pages: it takes as many as it needs.
"""

import base64
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..files import read_text
from ..places import TEMPLATES
from ..render import printable, render
from .key import Key, KeySet
from .model import (
    CONFIDENCES,
    HYPOTHESES,
    LOG_ROWS,
    MAX_POINTS,
    DiffLine,
    Hints,
    Layout,
    Line,
    Paper,
    Sheet,
    SheetSet,
)
from .svg import data_uri

SIZES = {Paper.A4: (210.0, 297.0), Paper.LETTER: (215.9, 279.4)}
"""Width and height of a page in millimetres."""

MARGIN = 15.0
"""Millimetres on every side."""

CONTENTS_ROWS = 34
"""Sheets named on one page of contents."""

DIFFICULTIES = 5

WARNING = "Answer key - not for students"
"""On every page of a key."""

GUTTER = 7
"""Characters that line numbers take."""

EMPTY_LINE, GAP = 0.6, 0.8
"""Heights of an empty line and of a gap, in lines of code."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line of code as it is printed; without a number it is the gap before lines that follow."""

    text: str
    number: int | None = None
    sign: str = " "


@dataclass(frozen=True, slots=True)
class Code:
    """Rows and the room they take, from which the style sheet works out the size of the type."""

    rows: tuple[Row, ...]
    height: float
    """In lines."""
    width: int
    """In characters, with line numbers."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A sheet and its place in the document."""

    sheet: Sheet
    page: int
    """Of its front, from 1."""
    padded: bool
    """Whether an empty side follows, so that what comes next begins on a leaf of its own."""


def sheets(collection: SheetSet, layout: Layout) -> str:
    """The document of these sheets; with a page of contents if there are several."""
    placed = tuple(_placed(collection, layout))
    contents = [
        placed[first : first + CONTENTS_ROWS] for first in range(0, len(placed), CONTENTS_ROWS)
    ]
    script = "\n".join(read_text(TEMPLATES / "worksheet" / "save.js").splitlines())
    page = render(
        "worksheet/sheet.html",
        **_shared(layout),
        title=collection.title,
        placed=placed,
        contents=contents if len(placed) > 1 else [],
        rows_a_page=CONTENTS_ROWS,
        # How long large print gets is known to the printer alone.
        paged=not layout.large_print,
        strips=[s for s in collection.sheets if s.hints] if layout.hints is Hints.STRIP else [],
        inline=layout.hints is Hints.INLINE,
        difficulties=DIFFICULTIES,
        confidences=CONFIDENCES,
        hypotheses=HYPOTHESES,
        log_rows=LOG_ROWS,
        script=script,
        digest=_digest(script),
        data_uri=data_uri,
    )
    return printable(page)


def keys(keys: KeySet, layout: Layout) -> str:
    """The document of these keys, in the order of their sheets."""
    page = render(
        "worksheet/key.html",
        **_shared(layout),
        title=keys.title,
        keys=keys.keys,
        warning=WARNING,
        points=MAX_POINTS,
        difficulties=DIFFICULTIES,
        diff_of=_difference,
        families_of=_families_of,
    )
    return printable(page)


def laid_out(lines: tuple[Line, ...]) -> Code:
    """Lines with a gap where numbers jump. Empty lines at the edge of a gap are part of it."""
    rows: list[Row] = []
    last = None
    for line in lines:
        if last is not None and line.number > last + 2:  # two empty lines are shown as one
            _drop_empty(rows)
            rows.append(Row(""))
        last = line.number
        text = line.text.rstrip()
        if text or (rows and rows[-1].number is not None):
            rows.append(Row(text, line.number))
    _drop_empty(rows)
    return _measured(tuple(rows))


def _drop_empty(rows: list[Row]) -> None:
    """Take empty lines and gaps off the end."""
    while rows and not rows[-1].text:
        rows.pop()


def _difference(lines: tuple[DiffLine, ...]) -> Code:
    rows: list[Row] = []
    last = lines[0].number if lines else 0
    for line in lines:
        if line.number > last + 1:
            rows.append(Row(""))
        rows.append(Row(line.text, line.number, line.sign))
        last = max(last, line.number)
    return _measured(tuple(rows))


def _measured(rows: tuple[Row, ...]) -> Code:
    height = sum(GAP if r.number is None else 1 if r.text else EMPTY_LINE for r in rows)
    return Code(rows, round(height, 1), max((len(r.text) for r in rows), default=0) + GUTTER)


def _placed(collection: SheetSet, layout: Layout) -> Iterator[Placed]:
    count = len(collection.sheets)
    before = -(-count // CONTENTS_ROWS) if count > 1 else 0
    before += before % 2
    strips = layout.hints is Hints.STRIP and any(sheet.hints for sheet in collection.sheets)
    for index, sheet in enumerate(collection.sheets, 1):
        pages = 2 + (sheet.listing is not None)
        pages += layout.hints is Hints.INLINE and bool(sheet.hints)
        padded = pages % 2 == 1 and (index < count or strips) and not layout.large_print
        yield Placed(sheet, before + 1, padded)
        before += pages + padded


def _shared(layout: Layout) -> dict[str, object]:
    width, height = SIZES[layout.paper]
    return {
        "large": layout.large_print,
        "paper_width": width,
        "paper_height": height,
        "margin": MARGIN,
        "laid_out": laid_out,
        "css": _css_string,
    }


def _css_string(text: str) -> str:
    """The text as it may stand between quotes in a style sheet inside HTML."""
    return re.sub("[^A-Za-z0-9 ]", lambda found: f"\\{ord(found[0]):x} ", text)


def _digest(script: str) -> str:
    """What the page's policy calls the one script that may run."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")


def _families_of(key: Key) -> list[str]:
    """Keys of the detectors that miss the bug, a family a string: `A1 A2 A5`."""
    families: dict[str, list[str]] = {}
    for verdict in key.missed_by:
        families.setdefault(verdict.key[:-1], []).append(verdict.key)
    return [" ".join(family) for family in families.values()]
