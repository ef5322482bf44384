"""A few subjects for a terminal: for each one what fails, in words, most fundamental first."""

import shlex
from collections.abc import Iterator, Mapping
from itertools import groupby

import click

from ..adapters.recognise import SHAPES
from ..contract import NAMES
from ..diagnosis import Diagnosis
from ..matrix import Cell, Detector, Matrix, Outcome, Status, broken_promises
from ..subject import Kind, Subject
from .symbols import SYMBOLS, WORDS
from .text import one_line, promise_lines, wrapped

MIN_WIDTH = 30


def as_story(matrix: Matrix, width: int, diagnoses: Mapping[str, Diagnosis]) -> str:
    """One paragraph a subject; `diagnoses` holds one for each file, or none."""
    paragraphs = [
        "\n".join(_subject(matrix, s, max(MIN_WIDTH, width), diagnoses.get(s.id, Diagnosis())))
        for s in matrix.subjects
    ]
    if promises := broken_promises(matrix):
        lines = [
            line for promise in promises for line in promise_lines(promise, max(MIN_WIDTH, width))
        ]
        paragraphs.append("\n".join([click.style("Broken promises", bold=True), *lines]))
    return "\n\n".join(paragraphs)


def _subject(matrix: Matrix, subject: Subject, width: int, known: Diagnosis) -> Iterator[str]:
    row = matrix.row(subject)
    failed = matrix.failed(subject)
    broken = matrix.broken(subject)
    headline = f"{subject.id}: {_verdict(matrix, subject)}"
    yield click.style("\n".join(wrapped(headline, width, "", "  ")), bold=True)
    if shape := matrix.read_as.get(subject.id):
        yield from wrapped(f"read as {one_line(shape)}", width, "  ")
    if len({cell for _, cell in broken}) == 1 and len(broken) == len(row):
        # One reason for all: it does not even load.
        yield from wrapped(broken[0][1].message, width, "  ")
        return
    if all(cell.outcome is Outcome.NOT_OFFERED for _, cell in row):
        names = ", ".join(NAMES)
        yield from wrapped(f"offers none of the names that detectors use: {names}", width, "  ")
        if subject.kind is Kind.FILE:
            shapes = "; ".join(SHAPES)
            yield from wrapped(
                f"It has none of the shapes that are recognised: {shapes}.", width, "  "
            )
            yield from wrapped(
                "For another one, begin an adapter with: bugkit adapter class", width, "  "
            )
        return
    told = [(d, cell) for d, cell in row if d in failed or (d, cell) in broken]
    for (_, said), group in groupby(told, key=lambda pair: (pair[1].outcome, pair[1].message)):
        alike = list(group)
        if len(alike) > 1 and said:
            yield from _alike([d for d, _ in alike], alike[0][1], width)
            continue
        for detector, cell in alike:
            yield from _cell(detector, cell, width)
    passed = sum(cell.outcome is Outcome.PASSED for _, cell in row)
    yield ""
    yield f"  {passed} of {len(row)} detectors pass."
    if missing := sorted({c.message for _, c in row if c.outcome is Outcome.NOT_OFFERED}):
        count = sum(c.outcome is Outcome.NOT_OFFERED for _, c in row)
        were = "was" if count == 1 else "were"
        yield from wrapped(f"{count} {were} not run: {'; '.join(missing)}", width, "  ")
    if subject.kind is Kind.FILE and (failed or broken):
        yield from _advice(matrix, subject, width, known)


def _verdict(matrix: Matrix, subject: Subject) -> str:
    status = matrix.status(subject)
    killers = len(matrix.killers(subject))
    if status is Status.GREEN:
        outcomes = {cell.outcome for _, cell in matrix.row(subject)}
        return "all green" if outcomes == {Outcome.PASSED} else "green, as far as it could be run"
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


def _alike(detectors: list[Detector], cell: Cell, width: int) -> Iterator[str]:
    """Several detectors of which the same is to be said, which is then no verdict of theirs."""
    yield ""
    sign = click.style(SYMBOLS[cell.outcome], fg="red", bold=True)
    keys = " ".join(d.key for d in detectors)
    first, *rest = wrapped(f"{len(detectors)} detectors: {keys}", width, "    ")
    yield f"  {sign} {first.strip()}"
    yield from rest
    yield from wrapped(_broken(cell), width, "    ")


def _broken(cell: Cell) -> str:
    return f"{WORDS[cell.outcome]}: {cell.message}"


def _diagnosis(known: Diagnosis, width: int) -> Iterator[str]:
    """What the stranger has in common with the catalogue."""
    others = [bug for bug in known.exact if bug not in known.same_numbers]
    groups: list[tuple[str, list[str]]] = [
        (
            "A known bug fails exactly these properties, and with the same numbers:",
            [f"{bug.slug}: {bug.title}" for bug in known.same_numbers],
        ),
        (
            "A known bug fails exactly these properties, though with other numbers; yours may be "
            "another one in the same place:",
            [f"{bug.slug}: {bug.title}" for bug in others if not known.same_numbers],
        ),
        (
            "Two known bugs together fail exactly these properties:",
            [f"{a.slug} and {b.slug}: {a.title}; {b.title}" for a, b in known.pairs],
        ),
        (
            "Known bugs that fail nearly these properties, nearest first:",
            [f"{bug.slug}: {bug.title}" for bug in known.close],
        ),
    ]
    for sentence, items in groups:
        if items:
            yield ""
            yield from wrapped(sentence, width, "  ")
            for item in items:
                yield from wrapped(item, width, "    ", "      ")


def _advice(matrix: Matrix, subject: Subject, width: int, known: Diagnosis) -> Iterator[str]:
    yield from _diagnosis(known, width)
    yield ""
    failed = matrix.failed(subject)
    first = (failed or [d for d, _ in matrix.broken(subject)])[0]
    yield from wrapped(
        "Begin with the first: what comes later often follows from it. To see more:", width, "  "
    )
    yield f"    bugkit explain {shlex.quote(one_line(subject.id))} {first.id}"
