"""Who takes the course: the export of a course system, or a text file with one id a line.

An id is text: leading zeros stay. It is put into NFC, so that an accent typed in two ways is one.
In a text file, lines that begin with # and empty ones are no ids.
"""

import csv
import io
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..files import read_text
from ..places import shown
from ..problems import Problem, nearest
from .formats import FORMATS, KNOWN, Format, recognised, same

DELIMITERS = ",;\t"


@dataclass(frozen=True, slots=True)
class Student:
    """A row of the roster."""

    id: str
    name: str
    """Empty where the roster names nobody."""
    group: str | None
    """None for who works alone."""
    line: int
    """In the roster, from 1."""

    @property
    def unit(self) -> str:
        """Who shares a variant: the group, or the student alone. Never the same text for both."""
        return f"student {self.id}" if self.group is None else f"group {self.group}"


@dataclass(frozen=True, slots=True)
class Roster:
    """The students in the order of the file, each id once."""

    path: Path
    format: str
    id_column: str
    """Empty for a text file."""
    students: tuple[Student, ...]


@dataclass(frozen=True, slots=True)
class _Line:
    """Cells, and the line on which they begin."""

    number: int
    cells: tuple[str, ...]


def read_roster(path: Path, group_by: str | None = None) -> Roster:
    """The students of this file; with `group_by`, their groups by the column of this name."""
    text = read_text(path)
    if "\0" in text:
        raise Problem(f"{shown(path)}: not UTF-8 text, perhaps UTF-16; save it as UTF-8")
    first = next((number for number, line in _lines(text) if line), None)
    if first is None:
        raise Problem(f"{shown(path)}: line 1: the roster is empty")
    for delimiter in DELIMITERS:
        header = _header(text, first, delimiter)
        columns = _columns(header)
        if form := recognised(columns):
            found = _table(path, text, delimiter, header.number, form, group_by)
            return _checked(Roster(path, form.name, form.id_column(columns), tuple(found)), first)
    return _checked(Roster(path, "text", "", tuple(_list(path, text, first, group_by))), first)


def _table(
    path: Path, text: str, delimiter: str, head: int, form: Format, group_by: str | None
) -> Iterator[Student]:
    rows = (row for row in _rows(path, text, delimiter) if row.number >= head)
    header = next(rows)
    columns = _columns(header)
    if group_by is not None and same(group_by) not in columns:
        raise Problem(
            f"{shown(path)}: line {head}: has no column {group_by!r} to group by"
            f"{nearest(group_by, header.cells)}; it has {_listed(header)}"
        )
    id_column = form.id_column(columns)
    for row in rows:
        cells = {name: row.cells[i] for name, i in columns.items() if i < len(row.cells)}
        if form.skips(cells):
            continue
        if any(row.cells[len(header.cells) :]):
            raise Problem(
                f"{shown(path)}: line {row.number}: has {len(row.cells)} cells and the header "
                f"{len(header.cells)}; put quotes around a cell that holds {delimiter!r}"
            )
        name = form.name_in(cells)
        student = form.id_in(cells.get(same(id_column), ""))
        if not student:
            others = [other for other in form.ids if other != id_column]
            raise Problem(
                f"{shown(path)}: line {row.number}: nothing under {id_column!r}"
                + (f" for {name}" if name else "")
                + "; fill it in"
                + (f", or take the column away to use {' or '.join(others)}" if others else "")
            )
        group = cells.get(same(group_by)) or None if group_by is not None else None
        yield Student(student, name, group, row.number)


def _list(path: Path, text: str, first: int, group_by: str | None) -> Iterator[Student]:
    """The students of a text file with one id a line."""
    ids = [(number, line) for number, line in _lines(text) if line and not line.startswith("#")]
    for number, line in ids:
        if number == ids[0][0] and same(line.strip('"')) in KNOWN:
            raise Problem(
                f"{shown(path)}: line {number}: {line!r} looks like the head of a column; "
                "take it out, so that there is one id a line"
            )
        if any(delimiter in line for delimiter in DELIMITERS):
            delimiter = max(DELIMITERS, key=_lines_at(text, first).count)
            found = _listed(_header(text, first, delimiter))
            expected = "; ".join(form.told for form in FORMATS)
            raise Problem(
                f"{shown(path)}: line {first}: no known roster: it has the columns {found}. "
                f"Expected is one of: {expected}; or a text file with one id a line, in which "
                f"line {number} would be no id: it holds a comma, a semicolon or a tab"
            )
        if group_by is not None:
            raise Problem(
                f"{shown(path)}: line {number}: a list of ids has no column {group_by!r} "
                "to group by; take an export of your course system"
            )
        yield Student(line, "", None, number)


def _checked(roster: Roster, first: int) -> Roster:
    if not roster.students:
        raise Problem(f"{shown(roster.path)}: line {first}: no student follows in this roster")
    lines: dict[str, list[int]] = {}
    for student in roster.students:
        lines.setdefault(student.id, []).append(student.line)
    twice = [
        f"{student!r} on lines {', '.join(map(str, those))}"
        for student, those in lines.items()
        if len(those) > 1
    ]
    if twice:
        raise Problem(f"{shown(roster.path)}: an id must occur once: {'; '.join(twice)}")
    return roster


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Each line with its number. Line ends are those of the reader of tables, and no others."""
    for number, line in enumerate(io.StringIO(text, newline=None), 1):
        yield number, _clean(line)


def _lines_at(text: str, number: int) -> str:
    return next(line for at, line in _lines(text) if at == number)


def _header(text: str, first: int, delimiter: str) -> _Line:
    """The first row with anything in it, as it reads with this delimiter, right or wrong."""
    lines = io.StringIO(text, newline="")
    for _ in range(first - 1):
        lines.readline()
    try:
        return _Line(first, tuple(map(_clean, next(csv.reader(lines, delimiter=delimiter)))))
    except csv.Error:
        return _Line(first, ())


def _rows(path: Path, text: str, delimiter: str) -> Iterator[_Line]:
    """All rows that hold anything."""
    # Strict: a quote that is never closed would swallow the students below it.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    begin = 1
    try:
        for row in reader:
            cells = tuple(map(_clean, row))
            if any(cells):
                yield _Line(begin, cells)
            begin = reader.line_num + 1
    except csv.Error as error:
        raise Problem(
            f"{shown(path)}: line {begin}: this row cannot be read ({error}); "
            "look for a quote that is never closed"
        ) from None


def _clean(cell: str) -> str:
    # Not before the text is taken apart: NFC turns a Greek question mark into a semicolon.
    return unicodedata.normalize("NFC", cell).strip()


def _columns(header: _Line) -> dict[str, int]:
    """Name of a column -> its place; the first of two that are alike."""
    columns: dict[str, int] = {}
    for place, cell in enumerate(header.cells):
        if cell:
            columns.setdefault(same(cell), place)
    return columns


def _listed(header: _Line) -> str:
    return ", ".join(repr(cell) for cell in header.cells if cell) or "no names"
