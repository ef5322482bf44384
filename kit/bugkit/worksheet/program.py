"""Bug + row of the matrix -> what its notebook runs."""

from collections import Counter

from ..catalogue import Bug, load_catalogue
from ..matrix import Matrix
from ..package import modest, package
from ..standalone import standalone
from ..subject import subject_of
from .codes import code_of
from .content import first_failure
from .key import Marking
from .model import (
    Program,
)

CHECKED = 6
"""Properties that are run for an innocent, of which every one holds."""


def program_of(bug: Bug, matrix: Matrix) -> Program:
    """The mutant as a package, and the property of its sheet. `matrix` holds the row of the bug."""
    tests = shown_tests(bug, matrix)
    return Program(
        code=code_of(bug.slug),
        file=bug.file,
        files=tuple(modest(package(bug)).items()),
        check=standalone(tests),
        tests=tests,
    )


def marking_of(bug: Bug, matrix: Matrix) -> Marking:
    """The other properties that fail on the bug."""
    shown = shown_tests(bug, matrix)
    tests = tuple(id_ for id_ in matrix.killers(subject_of(bug)) if id_ not in shown)
    return Marking(code_of(bug.slug), standalone(tests) if tests else "", tests)


def shown_tests(bug: Bug, matrix: Matrix) -> tuple[str, ...]:
    """The property on the sheet; for an innocent, those that bugs of the same file fail most."""
    if not bug.innocent:
        return (first_failure(bug, matrix)[0].id,)
    counts = Counter(
        id_
        for other in load_catalogue().values()
        if other.file == bug.file
        for id_ in other.killed_by
    )
    known = [d.id for d in matrix.properties]
    most = sorted(known, key=lambda id_: -counts[id_])[:CHECKED]
    return tuple(id_ for id_ in most if counts[id_]) or tuple(most)
