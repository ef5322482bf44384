"""Where evidence lies, and whether it is of today's sources."""

import hashlib
from functools import cache
from pathlib import Path

from .. import subject as subjects
from ..files import read_text
from ..places import shown
from ..problems import Problem
from ..subject import Subject
from . import differences, script, settings, text
from .evidence import Evidence, from_json
from .settings import Setting

FOLDER = Path(__file__).parent
NAME = "evidence.json"
DIGEST = 16
"""Hexadecimal digits that are kept."""

MEASURING = (text, settings, script, differences)
"""The code that the numbers come from."""


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
    sources = [Path(module.__file__ or "").read_bytes() for module in MEASURING]
    return hashlib.sha256(b"\0".join(sources)).hexdigest()


def recorded(subject: Subject, setting: Setting) -> Evidence | None:
    """What is stored, of whatever sources; None if nothing is. Raises Problem if it is damaged."""
    path = place_of(subject, setting)
    if not path.exists():
        return None
    return from_json(read_text(path), shown(path))


def recorded_correct(setting: Setting) -> Evidence | None:
    """What the correct GPT did; None if that is not known."""
    try:
        return recorded(subjects.CORRECT_SUBJECT, setting)
    except Problem:
        return None
