"""What stands on an answer key, for the teacher only: nothing that makes a Sheet knows of it."""

from dataclasses import dataclass, field

from .model import DiffLine
from .words import Paragraph, Prose


@dataclass(frozen=True, slots=True)
class Criterion:
    """A row of the rubric: what earns 2, 1 and 0 points."""

    box: str
    two: Paragraph
    one: Paragraph
    zero: Paragraph


@dataclass(frozen=True, slots=True)
class Verdict:
    """A detector, as the key names it."""

    key: str
    """As in the columns of `bugkit check`."""
    id: str
    label: Paragraph


@dataclass(frozen=True, slots=True)
class Reference:
    """A real report of the bug."""

    url: str
    says: Paragraph


@dataclass(frozen=True, slots=True)
class Received:
    """Where the repair goes in a file of a student's copy."""

    file: str
    lines: tuple[DiffLine, ...]
    """`-` is what the repair replaces or takes out, `+` says that something is missing there."""


@dataclass(frozen=True, slots=True)
class Key:
    """The answers to one sheet, for the teacher only."""

    code: str
    slug: str
    title: str
    component: str
    level: int
    difficulty: int
    minutes: int
    innocent: bool
    course: str
    date: str
    file: str
    fix: tuple[DiffLine, ...]
    explanation: Prose
    misconception: Prose
    predict: Prose
    """The question again, for the rubric."""
    hints: tuple[Prose, ...]
    rubric: tuple[Criterion, ...]
    accepted: tuple[Paragraph, ...]
    """Answers that differ from ours and are right."""
    wrong: tuple[Paragraph, ...]
    """Common wrong answers, and what tells them from the right one."""
    prompts: tuple[Paragraph, ...]
    """Questions that a teacher may ask; they give nothing away."""
    caught_by: tuple[Verdict, ...]
    missed_by: tuple[Verdict, ...]
    sources: tuple[Reference, ...]
    holder: str = ""
    """Whose sheet it is, if it is one student's alone."""
    received: tuple[Received, ...] = ()
    """Where the student has a copy in other words: its lines that the repair touches and those
    around them, the suspected file first. `fix` is then in the words of the catalogue."""
    names: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Names in the lines of the fix that the copy calls otherwise: the catalogue's, the copy's.
    Two functions of the copy may have two names for it."""
    number: int = 1
    of: int = 1


@dataclass(frozen=True, slots=True)
class KeySet:
    """The keys of a set, in the same order."""

    title: str
    keys: tuple[Key, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Marking:
    """Further properties that a repaired program must have; for the teacher only."""

    code: str
    check: str
    """Source of a program with these tests; empty if there are none."""
    tests: tuple[str, ...]
