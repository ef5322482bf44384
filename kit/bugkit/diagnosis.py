"""Which known bug a stranger has: the one whose signature it shows, and whose numbers."""

import itertools
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .catalogue import Bug
from .matrix import Matrix, Outcome
from .subject import Subject

CLOSE = 0.5
"""Share of failed properties that two signatures must have in common to be called alike."""

SHOWN = 3
"""How many are named at most where nothing fits exactly."""

SAME = 1e-3
"""Relative difference up to which two numbers in messages are the same: they have six digits, and
another order of summation may change the last ones."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Known bugs that explain what fails."""

    exact: tuple[Bug, ...] = ()
    """Bugs that fail exactly these properties."""
    pairs: tuple[tuple[Bug, Bug], ...] = ()
    """If there is none: two bugs that together do."""
    close: tuple[Bug, ...] = ()
    """If there is no such pair either: those that come nearest, best first."""
    same_numbers: tuple[Bug, ...] = ()
    """Of the exact ones, those whose tests also say the same numbers."""


def diagnose(matrix: Matrix, subject: Subject, catalogue: Iterable[Bug]) -> Diagnosis:
    """Compare the failed properties with every bug's promise.

    Bugs are compared over the properties that this subject offers; of what was not selected nothing
    is known, and while anything could not be judged for an error, nothing fits exactly.
    """
    failed = set(matrix.killers(subject))
    if not failed:
        return Diagnosis()
    row = [(d, cell) for d, cell in matrix.row(subject) if not d.backstop]
    judged = {d.id for d, cell in row if cell.outcome in (Outcome.PASSED, Outcome.FAILED)}
    bugs = [bug for bug in catalogue if not bug.innocent]
    if not matrix.broken(subject):
        run = {d.id for d, _ in row}
        expected = {
            bug: promised
            for bug in bugs
            if set(bug.killed_by) <= run and (promised := set(bug.killed_by) & judged)
        }
        if exact := tuple(bug for bug, promised in expected.items() if promised == failed):
            return Diagnosis(exact=exact)
        parts = [bug for bug, promised in expected.items() if promised < failed]
        pairs = [
            (one, two)
            for one, two in itertools.combinations(parts, 2)
            if expected[one] | expected[two] == failed
        ]
        if pairs:
            return Diagnosis(pairs=tuple(pairs[:SHOWN]))

    def likeness(bug: Bug) -> float:
        promised = set(bug.killed_by) & judged
        return len(promised & failed) / len(promised | failed)

    close = sorted((b for b in bugs if likeness(b) >= CLOSE), key=likeness, reverse=True)
    return Diagnosis(close=tuple(close[:SHOWN]))


def same_numbers(
    stranger: Mapping[str, str], mutant: Mapping[str, str], properties: Iterable[str]
) -> bool:
    """Whether the tests said the same of both (detector id -> message), rounding aside."""
    return all(_alike(stranger[id_], mutant.get(id_, "")) for id_ in properties)


_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?|nan|inf")


def _alike(one: str, other: str) -> bool:
    if _NUMBER.sub("#", one) != _NUMBER.sub("#", other):
        return False
    pairs = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)
    return all(a == b or math.isclose(float(a), float(b), rel_tol=SAME) for a, b in pairs)
