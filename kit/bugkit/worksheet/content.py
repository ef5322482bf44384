"""Edition + evidence + row of the matrix -> Sheet."""

from collections import Counter
from dataclasses import dataclass, replace
from functools import cache

from ..catalogue import Bug, load_catalogue
from ..matrix import Cell, Detector, Matrix
from ..places import TEMPLATES
from ..problems import Problem
from ..subject import subject_of
from ..tables import read_toml
from .edition import Edition
from .excerpt import excerpt_of
from .figures import figure_of
from .model import Figure, Hints, Property, Sheet
from .signatures import signatures
from .words import Prose, paragraph, prose

MAX_HEADER = 60
"""Characters of a course or a date that fit into the header; more is cut."""

MINUTES = {1: 20, 2: 25, 3: 30, 4: 40, 5: 50}
"""Time budget by difficulty, unless the teacher sets one."""

ALL_HOLD = "Every property of the suite holds. Is there a bug at all?"


@dataclass(frozen=True, slots=True)
class Header:
    """What the teacher writes on all sheets of a course."""

    course: str = ""
    date: str = ""
    minutes: int | None = None
    """None for a budget by difficulty."""

    def minutes_for(self, difficulty: int) -> int:
        """The time budget of one sheet."""
        return self.minutes if self.minutes is not None else MINUTES[difficulty]


def sheet_of(edition: Edition, matrix: Matrix, header: Header, hints: Hints) -> Sheet:
    """The challenge. `matrix` holds the row of this bug."""
    bug, code = edition.bug, edition.code
    excerpt, listing = excerpt_of(edition.file, edition.source, edition.needed, edition.is_backward)

    def worded(text: str) -> Prose:
        return prose(edition.wording(text))

    return Sheet(
        code=code,
        course=one_line(header.course),
        date=one_line(header.date),
        minutes=header.minutes_for(bug.difficulty),
        difficulty=bug.difficulty,
        duty=worded(_parts()[bug.file]),
        shapes=signatures(edition, excerpt, *([listing] if listing else [])),
        symptom=worded(bug.teach.symptom),
        property=_property(edition, matrix),
        figure=_figure(bug, code),
        excerpt=excerpt,
        listing=listing,
        predict=worded(bug.teach.predict),
        hints=() if hints is Hints.NONE else tuple(map(worded, bug.teach.hints)),
    )


def one_line(text: str) -> str:
    """Printable, on one line, and short enough for the header."""
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return text if len(text) <= MAX_HEADER else text[: MAX_HEADER - 1].rstrip() + "…"


def first_failure(
    bug: Bug, matrix: Matrix, visible: frozenset[str] | None = None
) -> tuple[Detector, Cell]:
    """The failing property that a sheet shows: the one that gives least away.

    Of the properties that need no more than the level of the bug, that which the most bugs fail;
    one of those that are `visible`, if any of them fails.
    """
    failed = set(matrix.killers(subject_of(bug)))
    row = [(d, cell) for d, cell in matrix.row(subject_of(bug)) if d.id in failed]
    if not row:
        raise Problem(
            f"{bug.slug}: no property fails, so there is no symptom to print; "
            f"see: bugkit check {bug.slug}"
        )
    if visible is not None:
        row = [pair for pair in row if pair[0].id in visible] or row
    simple = [pair for pair in row if pair[0].level <= bug.level] or row
    return max(simple, key=lambda pair: accusations()[pair[0].id])


def _property(edition: Edition, matrix: Matrix) -> Property:
    if edition.bug.innocent:
        return Property(paragraph(ALL_HOLD), True, ())
    detector, cell = first_failure(edition.bug, matrix, edition.visible)
    return Property(paragraph(detector.label), False, paragraph(cell.message))


def _figure(bug: Bug, code: str) -> Figure:
    """The figure; where nothing can draw it, it says that it consists of numbers."""
    figure = figure_of(bug, code)
    return figure if figure.svg else replace(figure, title=f"{figure.title}, in numbers")


@cache
def accusations(file: str = "") -> Counter[str]:
    """How many bugs of the kit's own catalogue, or of those in this file, fail each property."""
    bugs = [bug for bug in load_catalogue().values() if file in ("", bug.file)]
    return Counter(id_ for bug in bugs for id_ in bug.killed_by)


@cache
def _parts() -> dict[str, str]:
    return read_toml(TEMPLATES / "worksheet" / "parts.toml")
