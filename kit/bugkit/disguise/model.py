"""What a disguise is: the new files, and where everything of the old ones went."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How much is changed."""

    NONE = "none"
    LIGHT = "light"
    """The surface: names, comments, docstrings, order."""
    FULL = "full"
    """Also the forms in which the same is computed, and which module it stands in."""


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A line of a file of the package."""

    file: str
    line: int
    """From 1."""


@dataclass(frozen=True, slots=True)
class Disguised:
    """A package that computes the same and looks different."""

    files: Mapping[str, str]
    """Name of the file -> source."""
    lines: Mapping[Place, tuple[Place, ...]]
    """Where each line of the original went; empty for what was left out: a docstring, a blank."""
    names: Mapping[str, str]
    """`attention.project` -> `heads.queries_keys_values`, `attention.project.q` -> `asks`:
    what is called by another name or lives in another module."""

    def where(self, file: str, line: int) -> tuple[Place, ...]:
        """Where a line went. What stands on no line of its own any more is found where the
        nearest line above it in the original file went."""
        for above in range(line, 0, -1):
            if places := self.lines.get(Place(file, above)):
                return places
        return ()
