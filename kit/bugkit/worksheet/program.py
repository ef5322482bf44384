"""Edition + row of the matrix -> what its notebook runs."""

from collections.abc import Iterable

from ..catalogue import Bug
from ..matrix import Matrix
from ..standalone import standalone
from ..subject import subject_of
from .codes import code_of
from .content import accusations, first_failure
from .edition import Edition
from .key import Marking
from .model import (
    Program,
)

CHECKED = 6
"""Properties that are run for an innocent, of which every one holds."""


def program_of(edition: Edition, matrix: Matrix) -> Program:
    """The mutant as a package, and the property of its sheet. `matrix` holds the row of the bug."""
    tests = shown_tests(edition.bug, matrix, edition.visible)
    return Program(
        code=edition.code,
        file=edition.file,
        files=tuple(edition.files.items()),
        check=standalone(tests),
        tests=tests,
    )


def marking_of(bug: Bug, matrix: Matrix) -> Marking:
    """The other properties that fail on the bug."""
    shown = shown_tests(bug, matrix)
    tests = tuple(id_ for id_ in matrix.killers(subject_of(bug)) if id_ not in shown)
    return Marking(code_of(bug.slug), standalone(tests) if tests else "", tests)


def shown_tests(bug: Bug, matrix: Matrix, visible: frozenset[str] | None = None) -> tuple[str, ...]:
    """The property on the sheet; for an innocent, those that bugs of the same file fail most."""
    if not bug.innocent:
        return (first_failure(bug, matrix, visible)[0].id,)
    known = [d.id for d in matrix.properties if visible is None or d.id in visible]
    return tuple(telling(bug, known)[:CHECKED])


def telling(bug: Bug, properties: Iterable[str]) -> list[str]:
    """Those that bugs of the same file fail, the most frequent first; all, if there are none."""
    counts = accusations(bug.file)
    most = sorted(properties, key=lambda id_: -counts[id_])
    return [id_ for id_ in most if counts[id_]] or most
