"""Who gets what: students + secret + terms -> a plan, which is a pure function of these."""

from collections.abc import Iterable
from dataclasses import dataclass

from .draw import Draw
from .folder import folder_name
from .form import forms_of
from .roster import Student
from .secret import Secret
from .terms import Terms
from .variant import variant_of


@dataclass(frozen=True, slots=True)
class Hunt:
    """One broken program for one student."""

    slug: str
    number: int
    """From 1."""
    of: int
    code: str
    """The form id, or whatever tells the sheet from others."""
    seed: bytes
    """Decides the words of the copy."""

    @property
    def folder(self) -> str:
        """Inside of the student's; empty where it is the only one."""
        return f"hunt-{self.number}/" if self.of > 1 else ""


@dataclass(frozen=True, slots=True)
class Handout:
    """All that one student gets."""

    student: Student
    form: str
    folder: str
    hunts: tuple[Hunt, ...]


def planned(secret: Secret, terms: Terms, students: Iterable[Student]) -> tuple[Handout, ...]:
    """One handout a student, in their order. Who is in a group gets the program of the group."""
    by_id = {student.id: student for student in students}
    forms = forms_of(secret, terms.assignment, by_id)
    return tuple(
        Handout(student, forms[id_], folder_name(id_), _hunts(secret, terms, student, forms[id_]))
        for id_, student in by_id.items()
    )


def _hunts(secret: Secret, terms: Terms, student: Student, form: str) -> tuple[Hunt, ...]:
    unit = student.unit
    slugs = variant_of(
        secret, terms.assignment, unit, terms.pool, terms.per_student, terms.innocent_share
    )
    return tuple(
        Hunt(
            slug=slug,
            number=number,
            of=len(slugs),
            code=form,
            seed=Draw(secret, terms.assignment, unit, f"copy {slug}").seed(),
        )
        for number, slug in enumerate(slugs, 1)
    )
