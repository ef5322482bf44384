"""What stands on a worksheet and on its answer key, whatever the format.

Renderers take these values and nothing else. A Sheet has no field that holds an answer (but for
the worked example, which is no challenge), so no template can print one by mistake.
"""

from dataclasses import dataclass, field
from enum import StrEnum

from .words import Paragraph, Prose

MAX_EXCERPT = 45
"""Lines of code on the first page."""

MAX_LISTING = 80
"""Lines of code on the third page."""

HYPOTHESES = 3
LOG_ROWS = 5
MAX_POINTS = 2
"""Of one box."""


class Hints(StrEnum):
    """Where the hints go."""

    STRIP = "strip"
    """At the end, to be cut off."""
    NONE = "none"
    INLINE = "inline"
    """On the sheet; folded where the format can fold."""


class Paper(StrEnum):
    """Size of a page."""

    A4 = "a4"
    LETTER = "letter"


@dataclass(frozen=True, slots=True)
class Layout:
    """How a document is set."""

    paper: Paper = Paper.A4
    large_print: bool = False
    """Type of 17 points. A sheet then takes as many pages as it needs."""
    hints: Hints = Hints.STRIP


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text under a head. The first column names the row."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing of what a run gave, and the same in words and in numbers."""

    title: str
    """What is drawn, in one line."""
    alt: str
    """What is to be seen, for who cannot see it."""
    table: Table
    svg: str = ""
    """The drawing, a whole SVG document; empty where no plotting library is installed."""
    width: float = 90.0
    """Millimetres, at which the type in the drawing has the size of the caption."""
    height: float = 50.0


@dataclass(frozen=True, slots=True)
class Line:
    """A line of code."""

    number: int
    """In the file, from 1."""
    text: str


@dataclass(frozen=True, slots=True)
class Listing:
    """Lines of one file, whole definitions, in the order of the file."""

    file: str
    lines: tuple[Line, ...]
    whole: bool
    """Whether it is all of the file."""


@dataclass(frozen=True, slots=True)
class Signature:
    """A row of the table of shapes."""

    name: str
    takes: str
    """Such as `[B, T, C]`."""
    gives: str
    what: Paragraph
    """What it should do."""
    shaped: bool
    """Whether it tells shapes; else the arguments' names and the kind of the result."""


@dataclass(frozen=True, slots=True)
class Property:
    """What was checked first, and what came of it."""

    label: Paragraph
    """What holds for a correct GPT."""
    holds: bool
    """False for a bug; true for an innocent, of which every property holds."""
    said: Paragraph
    """Observed and expected numbers, as the test told them."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A filled row of the worked example."""

    place: str
    mechanism: Paragraph
    disproof: Paragraph


@dataclass(frozen=True, slots=True)
class Entry:
    """A filled row of the log."""

    goal: Paragraph
    probe: str
    """What was run: a few statements that print something."""
    printed: str
    """What they print, to the letter."""
    result: Paragraph
    """What follows from it."""


@dataclass(frozen=True, slots=True)
class Worked:
    """The boxes of a sheet as a good hunter filled them in."""

    predict: Prose
    confidence_before: int
    """Per cent, one of CONFIDENCES."""
    observe: Prose
    hypotheses: tuple[Hypothesis, ...]
    log: tuple[Entry, ...]
    diagnosis: Prose
    fix: tuple["DiffLine", ...]
    regression_test: str
    """Code."""
    regression_reason: Prose
    """Why the usual test misses it."""
    explain: Prose
    confidence_after: int
    hints_used: int


CONFIDENCES = (0, 25, 50, 75, 100)
"""Per cent: what the boxes to tick stand for."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """One challenge, as the student gets it."""

    code: str
    """Opaque; the same on the key."""
    course: str
    date: str
    minutes: int
    difficulty: int
    """From 1 to 5."""
    duty: Prose
    """What the part should do: about two lines."""
    shapes: tuple[Signature, ...]
    symptom: Prose
    property: Property
    figure: Figure
    excerpt: Listing
    """At most MAX_EXCERPT lines, on the first page."""
    listing: Listing | None
    """The rest of what the hunt needs, on a third page."""
    predict: Prose
    hints: tuple[Prose, ...]
    """Empty if the sheet goes without."""
    worked: Worked | None = None
    """Filled boxes, for the example that opens a set."""
    number: int = 1
    """In the set, from 1."""
    of: int = 1


@dataclass(frozen=True, slots=True)
class SheetSet:
    """Several sheets in one document."""

    title: str
    sheets: tuple[Sheet, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """What a notebook brings along so that the program of a sheet can be run there."""

    code: str
    """Of the sheet."""
    file: str
    """The one under suspicion."""
    files: tuple[tuple[str, str], ...]
    """Name and source of every file of the package, that one too."""
    check: str
    """Source of a program with the property of the sheet as tests."""
    tests: tuple[str, ...]
    """Their names. Several where every property holds."""

    @property
    def source(self) -> str:
        """Of the file under suspicion."""
        return dict(self.files)[self.file]


@dataclass(frozen=True, slots=True)
class Marking:
    """Further properties that a repaired program must have; for the teacher only."""

    code: str
    check: str
    """Source of a program with these tests; empty if there are none."""
    tests: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of the repair."""

    sign: str
    """`-` as handed out, `+` as it should be, or a space."""
    number: int
    """In the file as handed out; of an added line, where it belongs."""
    text: str


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
    number: int = 1
    of: int = 1


@dataclass(frozen=True, slots=True)
class KeySet:
    """The keys of a set, in the same order."""

    title: str
    keys: tuple[Key, ...] = field(default=())
