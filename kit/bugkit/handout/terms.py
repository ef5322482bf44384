"""What a teacher decides for everybody who gets a handout of one assignment."""

from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec

from ..disguise import Level
from ..problems import MissingTool
from ..worksheet.forms import Form
from .pool import Candidate


class Texts(StrEnum):
    """How much a worksheet says. Who searches the public catalogue for its words finds the bug."""

    NEUTRAL = "neutral"
    """The property that fails, what the check said, and the figure."""
    CATALOGUE = "catalogue"
    """Also the symptom and the question of the catalogue."""
    HINTS = "hints"
    """Also the four hints, folded where the format can fold."""


@dataclass(frozen=True, slots=True)
class Terms:
    """With the secret and a student, this decides every byte of the student's folder."""

    assignment: str
    pool: tuple[Candidate, ...]
    """What is drawn from."""
    per_student: int = 1
    innocent_share: float = 0.0
    group_by: str | None = None
    disguise: Level = Level.FULL
    worksheet: Form = Form.HTML
    texts: Texts = Texts.NEUTRAL
    visible: tuple[str, ...] = ()
    """Ids of the detectors that students get; none for those that suit each bug."""

    def require(self) -> None:
        """Raise MissingTool, before any work, if this cannot be made here."""
        self.worksheet.require()
        if self.disguise is not Level.NONE and find_spec("libcst") is None:
            raise MissingTool(f"--disguise {self.disguise} needs the library LibCST", "handout")
        if find_spec("matplotlib") is None:
            # A table would do as well, but then the same command would make other bytes elsewhere.
            raise MissingTool("the figures of worksheets need the library matplotlib", "handout")
