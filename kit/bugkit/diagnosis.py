"""Which known bug a stranger has: the one whose signature it shows."""

from collections.abc import Iterable
from dataclasses import dataclass

from .catalogue import Bug
from .matrix import Matrix, Outcome
from .subject import Subject

CLOSE = 0.5
"""Share of failed properties that two signatures must have in common to be called alike."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Known bugs that explain what fails."""

    exact: tuple[Bug, ...]
    """Bugs that fail exactly these properties."""
    close: tuple[Bug, ...]
    """If there is no such bug: those that come nearest, best first."""


def diagnose(matrix: Matrix, subject: Subject, catalogue: Iterable[Bug]) -> Diagnosis:
    """Compare the failed properties with every bug's promise, over the properties that could
    be judged on this subject."""
    judged = {
        d.id
        for d, cell in matrix.row(subject)
        if not d.backstop and cell.outcome in (Outcome.PASSED, Outcome.FAILED)
    }
    failed = set(matrix.killers(subject))
    if not failed:
        return Diagnosis((), ())
    bugs = [bug for bug in catalogue if not bug.innocent]
    promised = {bug.slug: set(bug.killed_by) & judged for bug in bugs}
    exact = tuple(bug for bug in bugs if promised[bug.slug] == failed)
    if exact:
        return Diagnosis(exact, ())

    def likeness(bug: Bug) -> float:
        return len(promised[bug.slug] & failed) / len(promised[bug.slug] | failed)

    close = sorted((b for b in bugs if likeness(b) >= CLOSE), key=likeness, reverse=True)
    return Diagnosis((), tuple(close[:3]))
