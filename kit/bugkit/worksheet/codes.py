"""The code of a sheet: what stands on paper in place of the bug's name.

It hides the name from a reader. It is no secret: who has the catalogue can work out the code of
every bug, which is how a teacher finds the key of a lost sheet.
"""

import hashlib
from collections.abc import Iterable, Mapping

from ..catalogue import Bug

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Crockford's base 32: no letter that looks like a digit."""

LENGTH = 6
"""Among a thousand bugs, two share a code with a probability below one in two thousand."""

_READ_AS = str.maketrans("OIL", "011", "-\u2010\u2011\u2013")


def spelt(number: int, length: int) -> str:
    """The number in this many letters, the lowest digit first; what is higher is left out."""
    letters = []
    for _ in range(length):
        number, letter = divmod(number, len(ALPHABET))
        letters.append(ALPHABET[letter])
    return "".join(letters)


def as_read(text: str) -> str:
    """The letters that a person meant: small ones are capitals, O is 0, I and L are 1; spaces and
    hyphens only make groups."""
    return "".join(text.split()).upper().translate(_READ_AS)


def code_of(slug: str) -> str:
    """The code of the sheet of this bug, such as K7Q2MX."""
    digest = hashlib.sha256(f"bugkit worksheet {slug}".encode()).digest()
    return spelt(int.from_bytes(digest[:8], "big"), LENGTH)


def with_code(text: str, catalogue: Mapping[str, Bug]) -> Bug | None:
    """The bug whose sheet has this code, as a person may have copied it."""
    wanted = as_read(text)
    return next((bug for bug in catalogue.values() if code_of(bug.slug) == wanted), None)


def shared(bugs: Iterable[Bug]) -> tuple[Bug, Bug] | None:
    """Two bugs that have one code, if there are such."""
    seen: dict[str, Bug] = {}
    for bug in bugs:
        other = seen.setdefault(code_of(bug.slug), bug)
        if other is not bug:
            return other, bug
    return None
