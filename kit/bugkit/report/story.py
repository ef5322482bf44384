"""A few subjects for a terminal: for each one what fails, in words, most fundamental first."""

import shlex
from collections.abc import Iterable, Iterator

import click

from ..catalogue import Bug
from ..contract import NAMES
from ..diagnosis import diagnose
from ..matrix import Cell, Detector, Matrix, Outcome, Status, broken_promises
from ..subject import Kind, Subject
from .symbols import SYMBOLS, WORDS
from .text import one_line, promise_lines, wrapped

MIN_WIDTH = 30


def as_story(matrix: Matrix, width: int, catalogue: Iterable[Bug]) -> str:
    """One paragraph a subject."""
    bugs = list(catalogue)
    paragraphs = [
        "\n".join(_subject(matrix, s, max(MIN_WIDTH, width), bugs)) for s in matrix.subjects
    ]
    if promises := broken_promises(matrix):
        lines = [
            line for promise in promises for line in promise_lines(promise, max(MIN_WIDTH, width))
        ]
        paragraphs.append("\n".join([click.style("Broken promises", bold=True), *lines]))
    return "\n\n".join(paragraphs)


def _subject(matrix: Matrix, subject: Subject, width: int, bugs: list[Bug]) -> Iterator[str]:
    row = matrix.row(subject)
    failed = matrix.failed(subject)
    broken = matrix.broken(subject)
    headline = f"{subject.id}: {_verdict(matrix, subject)}"
    yield click.style("\n".join(wrapped(headline, width, "", "  ")), bold=True)
    if len({cell for _, cell in broken}) == 1 and len(broken) == len(row):
        # One reason for all: it does not even load.
        yield from wrapped(broken[0][1].message, width, "  ")
        return
    if all(cell.outcome is Outcome.NOT_OFFERED for _, cell in row):
        names = ", ".join(NAMES)
        yield from wrapped(f"offers none of the names that detectors use: {names}", width, "  ")
        return
    for detector, cell in row:
        if detector in failed or (detector, cell) in broken:
            yield from _cell(detector, cell, width)
    passed = sum(cell.outcome is Outcome.PASSED for _, cell in row)
    yield ""
    yield f"  {passed} of {len(row)} detectors pass."
    if missing := sorted({c.message for _, c in row if c.outcome is Outcome.NOT_OFFERED}):
        count = sum(c.outcome is Outcome.NOT_OFFERED for _, c in row)
        were = "was" if count == 1 else "were"
        yield from wrapped(f"{count} {were} not run: {'; '.join(missing)}.", width, "  ")
    if subject.kind is Kind.FILE and (failed or broken):
        yield from _advice(matrix, subject, width, bugs)


def _verdict(matrix: Matrix, subject: Subject) -> str:
    status = matrix.status(subject)
    killers = len(matrix.killers(subject))
    if status is Status.GREEN:
        return "all green"
    if status is Status.INVALID:
        return "could not be judged"
    if subject.kind is Kind.INNOCENT:
        return "innocent, and yet accused"
    if status is Status.SURVIVED and subject.kind is Kind.FILE:
        return "no property fails, but its numbers are not those of the correct GPT"
    if status is Status.SURVIVED:
        return "survives: no property fails"
    properties = f"{killers} {'property' if killers == 1 else 'properties'}"
    if subject.kind is Kind.FILE:
        return f"{properties} of a correct GPT {'does' if killers == 1 else 'do'} not hold"
    return f"killed by {properties}"


def _cell(detector: Detector, cell: Cell, width: int) -> Iterator[str]:
    sign = click.style(SYMBOLS[cell.outcome], fg="red", bold=True)
    aside = " (backstop)" if detector.backstop else ""
    yield ""
    first, *rest = wrapped(f"{detector.key} {detector.label}{aside}", width, "    ")
    yield f"  {sign} {first.strip()}"
    yield from rest
    said = cell.message if cell.outcome is Outcome.FAILED else _broken(cell)
    yield from wrapped(said, width, "    ")
    yield click.style(f"    {detector.id}", dim=True)


def _broken(cell: Cell) -> str:
    return f"{WORDS[cell.outcome]}: {cell.message}"


def _advice(matrix: Matrix, subject: Subject, width: int, bugs: list[Bug]) -> Iterator[str]:
    yield ""
    known = diagnose(matrix, subject, bugs)
    if known.exact:
        yield from wrapped("Exactly these properties fail for a known bug:", width, "  ")
    elif known.close:
        nearly = "Nearly these properties fail for known bugs, nearest first:"
        yield from wrapped(nearly, width, "  ")
    for bug in known.exact or known.close:
        yield from wrapped(f"{bug.slug}: {bug.title}", width, "    ", "      ")
    if known.exact or known.close:
        yield ""
    failed = matrix.failed(subject)
    first = (failed or [d for d, _ in matrix.broken(subject)])[0]
    yield from wrapped(
        "Begin with the first: what comes later often follows from it. To see more:", width, "  "
    )
    yield f"    bugkit explain {shlex.quote(one_line(subject.id))} {first.id}"
