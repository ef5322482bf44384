"""How much of a bug the losses show: the difference of the validation loss after training."""

from collections.abc import Iterable
from dataclasses import dataclass

from ..catalogue import Bug
from ..problems import Problem
from ..subject import CORRECT_SUBJECT, Subject
from .evidence import Evidence, Outcome
from .settings import Setting, setting_of
from .store import mutant_of, recorded

WORDS = {
    Outcome.NOT_FINITE: "NaN",
    Outcome.RAISED: "raises",
    Outcome.TIMEOUT: "hangs",
    Outcome.CRASHED: "crashes",
}

UNKNOWN = "?"


@dataclass(frozen=True, slots=True)
class Silence:
    """Sorts from what nobody can see in the losses to what nobody can miss."""

    outcome: Outcome | None = None
    """None where nothing is recorded."""
    difference: float | None = None
    """Nats: the bug's validation loss less that of the correct GPT, where both have one."""

    @property
    def word(self) -> str:
        """In a few characters."""
        if self.difference is not None:
            # A difference that is seen as zero has no sign.
            text = f"{self.difference:+.3f}"
            return text.lstrip("+-") if not float(text) else text
        return WORDS.get(self.outcome, UNKNOWN) if self.outcome else UNKNOWN

    @property
    def order(self) -> tuple[int, float]:
        """Differences by size, then what does not finish, then what is not known."""
        if self.difference is not None:
            return 0, abs(self.difference)
        return (1, 0.0) if self.outcome in WORDS else (2, 0.0)


def silence_of(evidence: Evidence | None, correct: Evidence | None) -> Silence:
    """How silent this evidence is."""
    if evidence is None:
        return Silence()
    theirs = evidence.validation_loss if evidence.finished else None
    ours = correct.validation_loss if correct else None
    if theirs is None or ours is None:
        return Silence(evidence.outcome)
    # The digits that the two numbers have.
    return Silence(evidence.outcome, round(theirs - ours, 6))


def silences(bugs: Iterable[Bug]) -> dict[str, Silence]:
    """Slug -> how silent the bug is, by what is recorded. Evidence that cannot be read counts as
    none."""
    correct = {setting: _readable(CORRECT_SUBJECT, setting) for setting in Setting}
    found = {}
    for bug in bugs:
        evidence = _readable(mutant_of(bug), setting_of(bug))
        ours = correct[evidence.setting] if evidence else None
        found[bug.slug] = silence_of(evidence, ours)
    return found


def _readable(subject: Subject, setting: Setting) -> Evidence | None:
    try:
        return recorded(subject, setting)
    except Problem:
        return None
