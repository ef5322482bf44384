"""The kill matrix, and what follows from it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from .subject import Kind, Subject


class Outcome(StrEnum):
    """What became of one detector on one subject."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    OUT_OF_MEMORY = "out_of_memory"
    NOT_OFFERED = "not_offered"


BROKEN = frozenset({Outcome.ERROR, Outcome.TIMEOUT, Outcome.CRASHED, Outcome.OUT_OF_MEMORY})
"""Outcomes in which the detector could not finish: neither a pass nor a failure."""


class Status(StrEnum):
    """The verdict on a subject."""

    GREEN = "green"
    KILLED = "killed"
    SURVIVED = "survived"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class Detector:
    """A pytest test of one property."""

    id: str
    """Name of the test function."""
    label: str
    """First line of its docstring."""
    story: str
    """The rest of its docstring."""
    family: str
    """Name of its file, less `test_`."""
    level: int
    backstop: bool
    """Whether it only compares with recorded numbers."""
    key: str
    """Short column key, unique in the matrix: a letter for the family and a number."""
    node: str
    """What pytest calls it."""
    digest: str
    """Names its source by content."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One detector on one subject."""

    outcome: Outcome
    message: str = ""
    """What the assertion said; empty for a pass."""
    seconds: float = 0.0


@dataclass(frozen=True)
class Matrix:
    """Subjects x detectors."""

    subjects: tuple[Subject, ...]
    detectors: tuple[Detector, ...]
    """Most fundamental first."""
    cells: Mapping[tuple[str, str], Cell]
    """(subject id, detector id) -> Cell, for every pair."""
    suite: frozenset[str] = frozenset()
    """Ids of all detectors there are, those that were not selected as well."""
    read_as: Mapping[str, str] = field(default_factory=dict)
    """Subject id -> the shape that it was recognised as, for those that have another one than the
    contract's."""

    def row(self, subject: Subject) -> list[tuple[Detector, Cell]]:
        """The subject's cells, in the order of the columns."""
        return [(d, self.cells[subject.id, d.id]) for d in self.detectors]

    def failed(self, subject: Subject) -> tuple[Detector, ...]:
        """Every detector that fails on the subject, backstops too."""
        return tuple(d for d, cell in self.row(subject) if cell.outcome is Outcome.FAILED)

    def killers(self, subject: Subject) -> tuple[str, ...]:
        """Ids of the property detectors that fail on the subject: its signature."""
        return tuple(d.id for d in self.failed(subject) if not d.backstop)

    def broken(self, subject: Subject) -> list[tuple[Detector, Cell]]:
        """The cells in which the detector could not finish."""
        return [(d, cell) for d, cell in self.row(subject) if cell.outcome in BROKEN]

    def status(self, subject: Subject) -> Status:
        """The verdict. A subject that broke without a failure, or that offers nothing to
        judge, was not judged: it is invalid."""
        if self.killers(subject):
            return Status.KILLED
        row = self.row(subject)
        if self.broken(subject) or all(c.outcome is Outcome.NOT_OFFERED for _, c in row):
            return Status.INVALID
        if self.failed(subject) or subject.kind is Kind.MUTANT:
            return Status.SURVIVED
        return Status.GREEN

    def of_kind(self, *kinds: Kind) -> tuple[Subject, ...]:
        """The subjects of these kinds."""
        return tuple(s for s in self.subjects if s.kind in kinds)

    @property
    def properties(self) -> tuple[Detector, ...]:
        """The detectors that are no backstops."""
        return tuple(d for d in self.detectors if not d.backstop)

    @cached_property
    def signature_shared_with(self) -> Mapping[str, tuple[str, ...]]:
        """Mutant id -> the other mutants that fail exactly the same property detectors."""
        groups: dict[frozenset[str], list[str]] = {}
        for subject in self.of_kind(Kind.MUTANT):
            if signature := frozenset(self.killers(subject)):
                groups.setdefault(signature, []).append(subject.id)
        return {
            id_: tuple(other for other in group if other != id_)
            for group in groups.values()
            for id_ in group
            if len(group) > 1
        }

    @property
    def idle(self) -> tuple[str, ...]:
        """Property detectors that fail on no mutant."""
        busy = {id_ for subject in self.of_kind(Kind.MUTANT) for id_ in self.killers(subject)}
        return tuple(d.id for d in self.properties if d.id not in busy)

    @property
    def minimal_suite(self) -> tuple[str, ...]:
        """Property detectors that kill every killed mutant, none of which can be left out.

        Greedy cover, then pruning: small, though not always the smallest.
        """
        left = {s.id: set(self.killers(s)) for s in self.of_kind(Kind.MUTANT) if self.killers(s)}
        targets = dict(left)
        order = [d.id for d in self.properties]
        chosen: list[str] = []
        while left:
            best = max(order, key=lambda d: sum(d in killers for killers in left.values()))
            chosen.append(best)
            left = {id_: killers for id_, killers in left.items() if best not in killers}
        for candidate in list(chosen):
            rest = set(chosen) - {candidate}
            if all(killers & rest for killers in targets.values()):
                chosen.remove(candidate)
        return tuple(d for d in order if d in chosen)


def broken_promises(matrix: Matrix) -> list[str]:
    """What the catalogue says and the matrix does not, one sentence each.

    Promises are judged over the detectors that were run.
    """
    run = {d.id for d in matrix.properties}
    broken = []
    for subject in matrix.subjects:
        if subject.bug is None:
            continue
        status = matrix.status(subject)
        killers = set(matrix.killers(subject))
        promised = set(subject.bug.killed_by) & run
        if status is Status.INVALID:
            detector, cell = [*matrix.broken(subject), *matrix.row(subject)][0]
            broken.append(f"{subject.id}: {cell.outcome} in {detector.id}: {cell.message}")
        elif subject.bug.innocent:
            if failed := [d.id for d in matrix.failed(subject)]:
                broken.append(f"{subject.id}: is innocent, yet accused by {', '.join(failed)}")
        elif not subject.bug.killed_by and len(matrix.detectors) < len(matrix.suite):
            broken.append(
                f"{subject.id}: promises no killer; run all detectors to see who kills it"
            )
        elif not subject.bug.killed_by and not killers:
            broken.append(
                f"{subject.id}: no property fails; if the two programs are equivalent, set "
                'verdict = "innocent", else the suite needs a detector for it'
            )
        elif not subject.bug.killed_by:
            lines = "".join(f'\n    "{id_}",' for id_ in sorted(killers))
            broken.append(
                f"{subject.id}: promises no killer; if these are right, write under [expect]:\n"
                f"killed_by = [{lines}\n]"
            )
        elif killers != promised:
            parts = [f"{id_} fails as well" for id_ in sorted(killers - promised)]
            parts += [f"{id_} does not fail" for id_ in sorted(promised - killers)]
            broken.append(f"{subject.id}: {'; '.join(parts)}")
        for id_ in sorted(set(subject.bug.killed_by) - run - matrix.suite):
            broken.append(f"{subject.id}: promises {id_}, but there is no such detector")
    return broken
