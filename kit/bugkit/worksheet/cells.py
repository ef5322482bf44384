"""Cells of a notebook, as nbformat and nbgrader describe them."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

NBFORMAT = (4, 5)


class Role(Enum):
    """What nbgrader does with a cell."""

    FREE = "free"
    """Nothing: the student's own."""
    READ = "read"
    """Put back as it was before the notebook is marked."""
    ANSWER = "answer"
    """Code that a test judges."""
    BOX = "box"
    """A text that a person judges."""
    TEST = "test"
    """Judges the answers by running."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell."""

    id: str
    """The sheet's code and the cell's name: the same in every build, and nbgrader's id too."""
    source: str
    is_code: bool = False
    role: Role = Role.READ
    points: int = 0
    folded: bool = False
    may_raise: bool = False
    """Whether the run goes on if it raises."""

    def as_json(self, released: bool) -> dict[str, Any]:
        """The cell in the format of notebooks; a released one is locked in the editor too."""
        metadata: dict[str, Any] = {}
        if self.role is not Role.FREE:
            metadata["nbgrader"] = self._grading(released)
        if released and self.role is not Role.FREE:
            metadata["deletable"] = False
            if self.role in (Role.READ, Role.TEST):
                metadata["editable"] = False
        if self.folded:
            metadata["jupyter"] = {"source_hidden": True}
        if self.may_raise:
            metadata["tags"] = ["raises-exception"]
        cell: dict[str, Any] = {
            "cell_type": self._kind,
            "id": self.id,
            "metadata": metadata,
            "source": self._text.splitlines(keepends=True),
        }
        return cell | {"execution_count": None, "outputs": []} if self.is_code else cell

    @property
    def _kind(self) -> str:
        return "code" if self.is_code else "markdown"

    @property
    def _text(self) -> str:
        return self.source.rstrip("\n")

    def _grading(self, released: bool) -> dict[str, Any]:
        grading: dict[str, Any] = {
            "cell_type": self._kind,
            "grade": self.role in (Role.BOX, Role.TEST),
            "grade_id": self.id,
            "locked": self.role in (Role.READ, Role.TEST),
            "schema_version": 3,
            "solution": self.role in (Role.BOX, Role.ANSWER),
            "task": False,
        }
        if grading["grade"]:
            grading["points"] = self.points
        if released:
            grading["checksum"] = self._checksum(grading)
        return grading

    def _checksum(self, grading: Mapping[str, Any]) -> str:
        """By which nbgrader sees that a cell was changed."""
        parts = [self._text, self._kind]
        parts += [str(grading[name]) for name in ("grade", "solution", "locked")]
        parts += [self.id, *([str(float(self.points))] if grading["grade"] else [])]
        return hashlib.md5("".join(parts).encode(), usedforsecurity=False).hexdigest()


def notebook(cells: Iterable[Cell], released: bool) -> str:
    """The file."""
    major, minor = NBFORMAT
    content = {
        "cells": [cell.as_json(released) for cell in cells],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": major,
        "nbformat_minor": minor,
    }
    return json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def quoted(text: str) -> str:
    """A literal of Python with this text, readable where that is possible."""
    if "'''" in text or text.endswith(("\\", "'")):
        return repr(text)
    return f"r'''{text}'''"
