"""`bugkit check`: from the names a user types to a matrix, its text and its verdict."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from . import exits
from .catalogue import Bug
from .diagnosis import Diagnosis, diagnose, same_numbers
from .engine import run
from .matrix import Matrix, Status, broken_promises
from .options import Options
from .progress import Progress
from .report import FILE_FORMATS
from .report.story import as_story
from .report.table import as_table
from .subject import CORRECT_SUBJECT, Kind, Subject, find_subject, subject_of
from .worker import Isolation


def options_from(**given: Any) -> Options:
    """The default options, with those that were given."""
    if given.get("isolate"):
        given["isolate"] = Isolation(given["isolate"])
    return replace(Options(), **{key: value for key, value in given.items() if value is not None})


def check_subjects(
    names: Sequence[str],
    catalogue: dict[str, Bug],
    options: Options,
    form: str,
    width: int,
    blind: bool = False,
) -> tuple[Matrix, str]:
    """The matrix of the named subjects (all, if none is named) and its text, which names no known
    bug to somebody `blind`."""
    subjects = [find_subject(name, catalogue) for name in names] or _everything(catalogue)
    with Progress("cells") as progress:
        matrix = run(list(dict.fromkeys(subjects)), options, progress)
    if form in FILE_FORMATS:
        return matrix, FILE_FORMATS[form](matrix)
    if form == "table":
        return matrix, as_table(matrix, width)
    strangers = [] if blind else matrix.of_kind(Kind.FILE)
    diagnoses = {s.id: _diagnosed(matrix, s, catalogue, options) for s in strangers}
    return matrix, as_story(matrix, width, diagnoses)


def _diagnosed(
    matrix: Matrix, subject: Subject, catalogue: dict[str, Bug], options: Options
) -> Diagnosis:
    """Whose signature the stranger shares; then, since that may be short, whose numbers."""
    found = diagnose(matrix, subject, catalogue.values())
    if not found.exact:
        return found
    known = run([subject_of(bug) for bug in found.exact], options)
    said = {d.id: cell.message for d, cell in matrix.row(subject)}
    failed = [d.id for d in matrix.failed(subject)]
    same = tuple(
        s.bug
        for s in known.subjects
        if s.bug and same_numbers(said, {d.id: c.message for d, c in known.row(s)}, failed)
    )
    return replace(found, same_numbers=same)


def verdict(matrix: Matrix) -> int:
    """The exit code: a promise that does not hold is worse than a finding in a file."""
    if broken_promises(matrix):
        return exits.BROKEN_KIT
    if any(matrix.status(s) is not Status.GREEN for s in matrix.of_kind(Kind.FILE)):
        return exits.FINDING
    return exits.FINE


def _everything(catalogue: dict[str, Bug]) -> list[Subject]:
    return [CORRECT_SUBJECT, *map(subject_of, catalogue.values())]
