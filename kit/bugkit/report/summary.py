"""What a matrix comes down to, in a few facts that every format shows alike."""

from dataclasses import dataclass

from ..matrix import Matrix, Status, broken_promises
from ..subject import Kind


@dataclass(frozen=True, slots=True)
class Summary:
    """The facts. Lists hold ids."""

    mutants: int
    killed: int
    """Mutants that at least one property detector kills."""
    survived: list[str]
    invalid: list[str]
    """Subjects on which nothing could be judged."""
    innocents: int
    accused: list[str]
    """Innocents that some detector fails on."""
    shared_signatures: list[list[str]]
    """Groups of mutants that the property detectors cannot tell apart."""
    idle: list[str]
    """Property detectors that kill no mutant."""
    minimal_suite: list[str]
    """Property detectors that still kill every killed mutant."""
    broken_promises: list[str]
    """Sentences."""


def summarise(matrix: Matrix) -> Summary:
    """The facts of a matrix."""
    mutants = matrix.of_kind(Kind.MUTANT)
    innocents = matrix.of_kind(Kind.INNOCENT)
    status = {subject.id: matrix.status(subject) for subject in matrix.subjects}
    groups = {(id_, *others) for id_, others in matrix.signature_shared_with.items()}
    return Summary(
        mutants=len(mutants),
        killed=sum(status[s.id] is Status.KILLED for s in mutants),
        survived=[s.id for s in mutants if status[s.id] is Status.SURVIVED],
        invalid=[id_ for id_, verdict in status.items() if verdict is Status.INVALID],
        innocents=len(innocents),
        accused=[s.id for s in innocents if matrix.failed(s)],
        shared_signatures=sorted(
            {tuple(sorted(group)): sorted(group) for group in groups}.values()
        ),
        idle=list(matrix.idle) if mutants else [],
        minimal_suite=list(matrix.minimal_suite),
        broken_promises=broken_promises(matrix),
    )
