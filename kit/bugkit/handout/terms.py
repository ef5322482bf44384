"""What a teacher decides for everybody who gets a handout of one assignment."""

from dataclasses import dataclass
from importlib.util import find_spec

from ..disguise import Level
from ..problems import MissingTool
from ..worksheet.forms import Form
from ..worksheet.model import Hints
from .pool import Candidate


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
    hints: Hints = Hints.STRIP
    visible: tuple[str, ...] = ()
    """Ids of the detectors that students get; none for those that suit each bug."""

    def require(self) -> None:
        """Raise MissingTool, before any work, if this cannot be made here."""
        self.worksheet.require()
        if self.disguise is not Level.NONE and find_spec("libcst") is None:
            raise MissingTool(f"--disguise {self.disguise} needs the library LibCST", "handout")
