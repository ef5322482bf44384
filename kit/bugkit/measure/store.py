"""Where evidence lies, and whether it is of today's sources."""

import hashlib
from functools import cache
from pathlib import Path

from ..catalogue import Bug
from ..files import read_text
from ..places import shown
from ..subject import Kind, Subject
from .evidence import Evidence, from_json
from .settings import Setting

HERE = Path(__file__).parent
FOLDER = HERE
"""Where the evidence of the correct GPT lies."""

NAME = "evidence.json"
DIGEST = 16
"""Hexadecimal digits that are kept."""

MEASURING = ("text", "settings", "script", "differences", "pictures")
"""The modules that the numbers come from."""


def place_of(subject: Subject, setting: Setting) -> Path:
    """The file for the evidence of a subject. That of the correct GPT, which has no folder among
    the bugs, lies beside the code that measures it."""
    return subject.bug.folder / NAME if subject.bug else FOLDER / f"correct.{setting}.json"


def digest_of(subject: Subject, setting: Setting) -> str:
    """Names what is run by content: the correct GPT, the mutant's module and the script; no text
    that teaches."""
    summary = hashlib.sha256(f"{setting} {subject.digest()} {_measuring()}".encode())
    return summary.hexdigest()[:DIGEST]


@cache
def _measuring() -> str:
    sources = [(HERE / f"{module}.py").read_bytes() for module in MEASURING]
    return hashlib.sha256(b"\0".join(sources)).hexdigest()


def recorded(subject: Subject, setting: Setting) -> Evidence | None:
    """What is stored, of whatever sources; None if nothing is. Raises Problem if it is damaged."""
    path = place_of(subject, setting)
    if not path.exists():
        return None
    return from_json(read_text(path), shown(path))


def mutant_of(bug: Bug) -> Subject:
    """The subject that the evidence of a bug is about, whether or not it has been built here."""
    return Subject(bug.slug, Kind.MUTANT, bug.title, bug.folder, bug)


def is_current(evidence: Evidence, subject: Subject, setting: Setting) -> bool:
    """Whether this is what the subject's sources of today would give in this setting."""
    try:
        today = subject.id, setting, digest_of(subject, setting)
    except OSError:  # a module that was never built
        return False
    return (evidence.subject, evidence.setting, evidence.digest) == today
