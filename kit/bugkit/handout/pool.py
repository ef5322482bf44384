"""What is handed out: bugs and innocents, and how hard each bug is to find.

The score of a bug is the sum of two numbers from 0 to 4:

- Detectors. The fewer of them a bug fails, the fewer tests would have found it: 4 for one
  detector, 3 for 2 or 3, 2 for 4 to 7, 1 for 8 to 15, 0 for more.
- Silence. The less the validation loss after training differs from that of the correct GPT, the
  less there is to see: 4 below 0.001 nats, 3 below 0.01, 2 below 0.1, 1 below 1, and 0 beyond or
  where training ends without a loss. Where nothing is recorded, 2.

So 8 is the hardest. Both count the same, whole numbers do not depend on the machine, and bugs of
one score stand in the order of the difficulty in their bug.toml.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..catalogue import Bug
from ..measure.silence import WORDS, Silence

UNKNOWN = 2
_MOST = 4
_STEPS = (0.001, 0.01, 0.1, 1.0)
"""Nats."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entry of the catalogue that a student may get."""

    slug: str
    innocent: bool = False
    score: int = 0
    """How hard a bug is; of an innocent, it means nothing."""
    difficulty: int = 0
    """As in bug.toml."""

    @property
    def order(self) -> tuple[int, int, str]:
        """Sorts the easy ones before the hard ones."""
        return self.score, self.difficulty, self.slug


def pool_of(bugs: Iterable[Bug], silences: Mapping[str, Silence]) -> tuple[Candidate, ...]:
    """The candidates for these entries, given how silent each is."""
    return tuple(
        Candidate(
            bug.slug,
            bug.innocent,
            score_of(len(bug.killed_by), silences.get(bug.slug, Silence())),
            bug.difficulty,
        )
        for bug in bugs
    )


def score_of(detectors: int, silence: Silence) -> int:
    """From 0, which everything finds, to 8."""
    # The bit length is one more than the power of two that is reached.
    return max(0, _MOST + 1 - max(1, detectors.bit_length())) + _points(silence)


def _points(silence: Silence) -> int:
    if silence.difference is not None:
        return sum(abs(silence.difference) < step for step in _STEPS)
    return 0 if silence.outcome in WORDS else UNKNOWN
