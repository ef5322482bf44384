"""The kill matrix for a terminal: narrow columns under short keys, and a legend."""

from collections.abc import Iterator, Sequence
from itertools import groupby

import click

from ..matrix import Cell, Detector, Matrix, Outcome, Status
from ..subject import Kind, Subject
from .summary import summarise
from .symbols import SYMBOLS, legend
from .text import one_line, promise_lines, wrapped

MIN_GRID = 24
"""Characters of a row that must at least be left for cells, however narrow the terminal."""


MANY = 10
"""Rows from which on a grid of several parts leaves out, in each, those that pass everything."""


def as_table(matrix: Matrix, width: int) -> str:
    """Legend, grid and summary, in lines of at most `width` characters where that can be."""
    parts = [*_columns(matrix, width), "", *_grid(matrix, width), "", *_summary(matrix, width)]
    return "\n".join(parts)


def _columns(matrix: Matrix, width: int) -> Iterator[str]:
    mutants = matrix.of_kind(Kind.MUTANT)
    yield "Detectors: key, bugs killed, property"
    for family, group in groupby(matrix.detectors, key=lambda d: d.family):
        yield ""
        yield click.style(family, bold=True)
        for d in group:
            kills = sum(d in matrix.failed(s) for s in mutants)
            yield from wrapped(d.label, width, f"  {d.key} {kills:3d}  ", " " * 11)


def _grid(matrix: Matrix, width: int) -> Iterator[str]:
    rows = _ordered(matrix)
    groups = [_group(s) for s in rows]
    notes = [_note(matrix, s) for s in rows]
    ids = [one_line(s.id) for s in rows]
    left = max(map(len, groups)) + 2
    names = max(map(len, ids))
    gap = left + names + 2
    room = width - gap - max(len(click.unstyle(note)) for note in notes) - 1
    panels = list(_panels(matrix.detectors, max(MIN_GRID, room)))
    for columns in panels:
        yield " " * gap + _header([d.key[:-1] for d in columns], columns, merge=True)
        yield " " * gap + _header([d.key[-1] for d in columns], columns, merge=False)
        last = ""
        quiet = 0
        for subject, id_, group, note in zip(rows, ids, groups, notes, strict=True):
            if len(panels) > 1 and len(rows) > MANY and _quiet(matrix, subject, columns):
                quiet += 1
                continue
            cells = "".join(
                (" " if i and d.family != columns[i - 1].family else "")
                + _styled(subject, matrix.cells[subject.id, d.id])
                for i, d in enumerate(columns)
            )
            shown = group if group != last else ""
            last = group
            yield f"{shown:<{left}}{id_:<{names}}  {cells} {note}".rstrip()
        if quiet:
            yield f"{'':<{left}}and {quiet} others that pass all of these"
        yield ""
    used = legend({cell.outcome for cell in matrix.cells.values()})
    yield from wrapped(f"{used}; the number counts killers", width)


def _ordered(matrix: Matrix) -> list[Subject]:
    kinds = list(Kind)
    return sorted(matrix.subjects, key=lambda s: kinds.index(s.kind))


def _group(subject: Subject) -> str:
    return (subject.component or "") if subject.kind is Kind.MUTANT else subject.kind


def _panels(detectors: Sequence[Detector], room: int) -> Iterator[Sequence[Detector]]:
    """The columns in as many runs as the width needs, cut between families where possible."""
    panel: list[Detector] = []
    used = 0
    for _, family in groupby(detectors, key=lambda d: d.family):
        group = list(family)
        if panel and used + 1 + len(group) > room:
            yield panel
            panel, used = [], 0
        panel += group
        used += len(group) + 1
    if panel:
        yield panel


def _quiet(matrix: Matrix, subject: Subject, columns: Sequence[Detector]) -> bool:
    """Whether nothing is to be seen of the subject in these columns."""
    passes = {matrix.cells[subject.id, d.id].outcome for d in columns} == {Outcome.PASSED}
    return passes and matrix.status(subject) in (Status.KILLED, Status.GREEN)


def _header(signs: Sequence[str], columns: Sequence[Detector], merge: bool) -> str:
    text = ""
    for i, sign in enumerate(signs):
        new = not i or columns[i].family != columns[i - 1].family
        text += " " if i and new else ""
        text += sign if new or not merge else " "
    return text.rstrip()


def _styled(subject: Subject, cell: Cell) -> str:
    symbol = SYMBOLS[cell.outcome]
    if cell.outcome in (Outcome.PASSED, Outcome.NOT_OFFERED):
        return click.style(symbol, dim=True)
    wanted = subject.kind is Kind.MUTANT and cell.outcome is Outcome.FAILED
    return click.style(symbol, fg="green" if wanted else "red", bold=True)


def _note(matrix: Matrix, subject: Subject) -> str:
    status = matrix.status(subject)
    if status is Status.GREEN:
        return ""
    if status is Status.KILLED and subject.kind is Kind.MUTANT:
        return str(len(matrix.killers(subject)))
    said = "ACCUSED" if subject.kind is Kind.INNOCENT else status.upper()
    return click.style(said, fg="red", bold=True)


def _summary(matrix: Matrix, width: int) -> Iterator[str]:
    """The facts in sentences."""
    facts = summarise(matrix)
    if facts.mutants:
        yield f"Killed: {facts.killed} of {facts.mutants} mutants"
        if facts.survived:
            yield from wrapped("Survived: " + ", ".join(facts.survived), width, "", "  ")
        shared = [" = ".join(group) for group in facts.shared_signatures]
        alike = "; ".join(shared) or "none: every bug can be told apart"
        yield from wrapped(f"Signatures shared: {alike}", width, "", "  ")
        yield from wrapped("Idle detectors: " + (", ".join(facts.idle) or "none"), width, "", "  ")
        keys = {d.id: d.key for d in matrix.detectors}
        minimal = " ".join(keys[id_] for id_ in facts.minimal_suite)
        count = len(facts.minimal_suite)
        enough = f"Enough to kill all of these: {count} detectors ({minimal})"
        yield from wrapped(enough, width, "", "  ")
    if facts.innocents:
        accused = f": {', '.join(facts.accused)}" if facts.accused else ""
        line = f"Innocents accused: {len(facts.accused)} of {facts.innocents}{accused}"
        yield from wrapped(line, width, "", "  ")
    if facts.invalid:
        yield from wrapped("Could not be judged: " + ", ".join(facts.invalid), width, "", "  ")
    if facts.mutants or facts.innocents:
        broken = facts.broken_promises
        yield "Promises: " + (f"{len(broken)} broken" if broken else "all kept")
        for sentence in broken:
            yield from promise_lines(sentence, width)
