"""The form id: what stands on a student's handout in place of the bug and of the name.

Seven characters are drawn and the eighth checks them. Characters stand for the elements of a field
of 32 elements, and a form id is right if the sum of its characters, each times a weight of its
place, is zero. No weight is zero and no two are equal, so that one wrong character, or any two that
have changed places, give another sum than zero: every such slip is found.

Among a thousand students, two share a form id with a probability of one in 70 000. That is a
Problem and no second draw: who of the two drew first would depend on the roster, and a late
student must change nobody's form.
"""

from collections.abc import Iterable

from ..problems import Problem
from ..worksheet.codes import ALPHABET, as_read
from .draw import Draw
from .secret import Secret

LENGTH = 8

_MODULUS = 0b100101
"""x^5 + x^2 + 1, of which x is a primitive root: its first 31 powers differ."""


def form_of(secret: Secret, assignment: str, student: str) -> str:
    """Such as K7Q2-MX4B."""
    draw = Draw(secret, assignment, student, "form")
    letters = "".join(draw.choice(ALPHABET) for _ in range(LENGTH - 1))
    return _shown(letters + _check_character(letters))


def parse_form(text: str) -> str:
    """The form id that a person copied, as form_of gives it."""
    letters = as_read(text)
    for letter in letters:
        if letter not in ALPHABET:
            raise Problem(f"form id {text!r}: {letter!r} does not occur in form ids; read it again")
    if len(letters) != LENGTH:
        raise Problem(
            f"form id {text!r}: has {len(letters)} characters, and needs {LENGTH}: XXXX-XXXX"
        )
    if _sum(letters) != 0:
        raise Problem(
            f"form id {text!r}: a character is wrong or two have changed places; read it again"
        )
    return _shown(letters)


def forms_of(secret: Secret, assignment: str, students: Iterable[str]) -> dict[str, str]:
    """Student -> form id, for the whole roster."""
    holders: dict[str, str] = {}
    for student in dict.fromkeys(students):
        form = form_of(secret, assignment, student)
        other = holders.setdefault(form, student)
        if other is not student:
            raise Problem(
                f"students {other} and {student}: both drew the form id {form}, which is rare; "
                "give the assignment another name, or one of the two a handout of its own"
            )
    return {student: form for form, student in holders.items()}


def _shown(letters: str) -> str:
    return f"{letters[:4]}-{letters[4:]}"


def _check_character(letters: str) -> str:
    # The last weight is one, so the sum of the others is what it takes to make zero.
    return ALPHABET[_sum(letters + ALPHABET[0])]


def _sum(letters: str) -> int:
    """Horner's rule at x: the last character has the weight 1, the one before x, and so on."""
    total = 0
    for letter in letters:
        total <<= 1
        if total & 0b100000:
            total ^= _MODULUS
        total ^= ALPHABET.index(letter)
    return total
