"""A folder for each student, whatever the id is made of."""

import hashlib
import re
import unicodedata

from ..worksheet.codes import spelt

_PLAIN = re.compile(r"[a-z0-9](?:[a-z0-9._@-]{0,62}[a-z0-9_-])?")
"""What every system takes as it stands. No capitals: to some systems they are small letters."""

_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?")
"""Names that Windows keeps for itself, with any ending."""

_READABLE = 40
"""Characters."""

_MARK = 10
"""Characters: for a thousand students, two marks are alike with a probability of one in 10^9."""


def is_odd(student: str) -> bool:
    """Whether systems disagree on the id as a name, or would take it for something else or cut it;
    letters of any script, capitals and spaces are nothing odd."""
    plain = all(unicodedata.category(c)[0] in "LMN" or c in " ._@-'" for c in student)
    ends = student[:1] in ".-" or student[-1:] == "."
    return not plain or ends or bool(_DEVICE.fullmatch(student.lower()))


def folder_name(student: str) -> str:
    """The id itself, if it can be a folder's name; else what is readable of it, ~ and a mark.

    It depends on the id alone, and no two are alike, even where capitals do not count: the mark
    tells ids apart, and a name without one holds no ~.
    """
    student = unicodedata.normalize("NFC", student)
    archive = student.endswith(".zip")  # which is what another's folder may be packed into
    if _PLAIN.fullmatch(student) and not _DEVICE.fullmatch(student) and not archive:
        return student
    # Letters of any script and the marks on them, digits; the rest is what systems disagree on.
    kept = [c if unicodedata.category(c)[0] in "LMN" else "-" for c in student.lower()]
    readable = re.sub("-+", "-", "".join(kept)).lstrip("-")[:_READABLE].rstrip("-")
    digest = hashlib.sha256(f"bugkit folder {student}".encode()).digest()
    return f"{readable or 'id'}~{spelt(int.from_bytes(digest[:8], 'big'), _MARK).lower()}"
