"""The kill matrix for a terminal: narrow columns under short keys, and a legend."""

from collections.abc import Iterator, Sequence
from itertools import groupby

import click

from ..matrix import Cell, Detector, Matrix, Outcome, Status
from ..subject import Kind, Subject
from .summary import Summary, summarise
from .symbols import SYMBOLS, legend

MIN_GRID = 24
"""Characters of a row that must at least be left for cells, however narrow the terminal."""


def as_table(matrix: Matrix, width: int) -> str:
    """Legend, grid and summary, in lines of at most `width` characters where that can be."""
    return "\n".join([*_columns(matrix), "", *_grid(matrix, width), "", *summary_lines(matrix)])


def _columns(matrix: Matrix) -> Iterator[str]:
    mutants = matrix.of_kind(Kind.MUTANT)
    yield "Detectors: key, bugs killed, property"
    for family, group in groupby(matrix.detectors, key=lambda d: d.family):
        yield ""
        yield click.style(family, bold=True)
        for d in group:
            kills = sum(d in matrix.failed(s) for s in mutants)
            yield f"  {d.key} {kills:3d}  {d.label}"


def _grid(matrix: Matrix, width: int) -> Iterator[str]:
    rows = _ordered(matrix)
    groups = [_group(s) for s in rows]
    left = max(map(len, groups)) + 2
    names = max(len(s.id) for s in rows)
    gap = left + names + 2
    for columns in _panels(matrix.detectors, max(MIN_GRID, width - gap - 4)):
        yield " " * gap + _header([d.key[:-1] for d in columns], columns, merge=True)
        yield " " * gap + _header([d.key[-1] for d in columns], columns, merge=False)
        last = ""
        for subject, group in zip(rows, groups, strict=True):
            cells = "".join(
                (" " if i and d.family != columns[i - 1].family else "")
                + _styled(subject, matrix.cells[subject.id, d.id])
                for i, d in enumerate(columns)
            )
            shown = group if group != last else ""
            last = group
            yield f"{shown:<{left}}{subject.id:<{names}}  {cells} {_note(matrix, subject)}".rstrip()
        yield ""
    yield legend({cell.outcome for cell in matrix.cells.values()}) + "   (number: killers)"


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
    return click.style(status.upper(), fg="red", bold=True)


def summary_lines(matrix: Matrix) -> list[str]:
    """The facts in sentences."""
    facts = summarise(matrix)
    lines: list[str] = []
    if facts.mutants:
        lines += _about_mutants(matrix, facts)
    if facts.innocents:
        lines.append(f"Innocents accused: {len(facts.accused)} of {facts.innocents}")
        lines += [f"  {id_}" for id_ in facts.accused]
    if facts.invalid:
        lines.append("Could not be judged:")
        lines += [f"  {id_}" for id_ in facts.invalid]
    if facts.mutants or facts.innocents:
        kept = "all kept" if not facts.broken_promises else f"{len(facts.broken_promises)} broken"
        lines.append(f"Promises: {kept}")
        lines += [f"  {line}" for p in facts.broken_promises for line in p.splitlines()]
    return lines


def _about_mutants(matrix: Matrix, facts: Summary) -> Iterator[str]:
    yield f"Killed: {facts.killed} of {facts.mutants} mutants"
    if facts.survived:
        yield "Survived: " + ", ".join(facts.survived)
    shared = [" = ".join(group) for group in facts.shared_signatures]
    yield "Signatures shared: " + ("; ".join(shared) or "none: every bug can be told apart")
    yield "Idle detectors: " + (", ".join(facts.idle) or "none")
    keys = {d.id: d.key for d in matrix.detectors}
    minimal = [keys[id_] for id_ in facts.minimal_suite]
    yield f"Enough to kill all of these: {len(minimal)} detectors ({' '.join(minimal)})"
