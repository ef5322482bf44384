"""Which bugs a student gets.

The bugs of the pool stand in a row from the easiest to the hardest. The row is cut into as many
strata as a student gets entries, all of one size, and one bug is drawn from each: so everybody's
work is about as hard, and no bug comes twice. If the pool does not divide evenly, the odd ones sit
out, drawn for each student anew: so no bug is handed out more often than another.

Then each entry becomes an innocent with the given probability, and the order is drawn, which says
nothing about difficulty. A student's variant depends on nobody else.
"""

from collections.abc import Iterable, Sequence

from ..problems import Problem
from .draw import Draw
from .pool import Candidate
from .secret import Secret


def variant_of(
    secret: Secret,
    assignment: str,
    student: str,
    pool: Iterable[Candidate],
    per_student: int = 1,
    innocent_share: float = 0.0,
) -> tuple[str, ...]:
    """The slugs for this student (or for the group, see Student.unit), in the order to hand out."""

    def draw(purpose: str) -> Draw:
        return Draw(secret, assignment, student, f"variant {purpose}")

    entries = {candidate.slug: candidate for candidate in pool}.values()
    bugs = [one.slug for one in sorted(entries, key=lambda one: one.order) if not one.innocent]
    innocents = sorted(one.slug for one in entries if one.innocent)
    _check(len(bugs), len(innocents), per_student, innocent_share)

    verdicts = draw("verdicts")
    innocent = [verdicts.chance(innocent_share) for _ in range(per_student)]
    drawn = [""] * per_student if all(innocent) else _spread(draw("bugs"), bugs, per_student)
    spare = iter(draw("innocents").shuffled(innocents))
    variant = [next(spare) if innocent[i] else drawn[i] for i in range(per_student)]
    return tuple(draw("order").shuffled(variant))


def _spread(draw: Draw, row: Sequence[str], count: int) -> list[str]:
    """One from each of `count` strata of the row."""
    size, odd = divmod(len(row), count)
    out = set(draw.shuffled(range(len(row)))[:odd])
    kept = [slug for place, slug in enumerate(row) if place not in out]
    return [draw.choice(kept[size * stratum : size * (stratum + 1)]) for stratum in range(count)]


def _check(bugs: int, innocents: int, per_student: int, share: float) -> None:
    if per_student < 1:
        raise ValueError(f"a student gets at least one entry, not {per_student}")
    if not 0 <= share <= 1:
        raise ValueError(f"no share: {share}")
    for have, needed, what in (
        (bugs, per_student if share < 1 else 0, "bug"),
        (innocents, per_student if share > 0 else 0, "innocent"),
    ):
        if have < needed:
            raise Problem(
                f"the pool holds {have} {what}{'s' * (have != 1)}, and a student may get {needed}: "
                "select more with --bugs, or hand out fewer with --per-student"
            )
