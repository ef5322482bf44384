"""Cells by content: the same sources under the same versions give the same cell."""

import json
import os
import platform
from hashlib import sha256
from pathlib import Path

import numpy as np
import platformdirs
import pytest

from .files import write_text
from .matrix import Cell, Detector, Outcome
from .problems import Problem
from .subject import Subject

REPRODUCIBLE = frozenset({Outcome.PASSED, Outcome.FAILED, Outcome.ERROR, Outcome.NOT_OFFERED})
"""Outcomes that do not depend on how fast or how large the machine is."""


ENTRIES = 1000
"""Cells kept of one subject: those of today's detectors and of some that have changed since."""


def cache_folder() -> Path:
    """The user's cache folder, or what $BUGKIT_CACHE_DIR names."""
    named = os.environ.get("BUGKIT_CACHE_DIR")
    return Path(named or platformdirs.user_cache_dir("bugkit", appauthor=False))


class CellCache:
    """One small JSON file a subject in the cache folder."""

    def __init__(self) -> None:
        self.folder = cache_folder()
        versions = (platform.python_version(), np.__version__, pytest.__version__)
        machine = (platform.machine(), platform.system())
        self.salt = "/".join([*versions, *machine])
        self.asked: dict[str, Path | None] = {}
        """Subject id -> the file that was read for it, which names its sources as they were."""

    def read(self, subject: Subject) -> dict[str, Cell]:
        """Detector digest -> cell. Empty where nothing usable is stored."""
        path = self.asked[subject.id] = self._path(subject)
        if path is None:
            return {}
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            return {
                digest: Cell(Outcome(outcome), str(message), float(seconds))
                for digest, (outcome, message, seconds) in stored.items()
            }
        except (OSError, ValueError, TypeError, AttributeError):
            return {}

    def write(self, subject: Subject, row: dict[Detector, Cell]) -> None:
        """Store a row. A cache that cannot be written is no reason to stop."""
        path = self._path(subject)
        # Who edits a source while it is run gets cells of the old one, the new one, or of both.
        if path is None or path != self.asked.get(subject.id, path):
            return
        kept = {
            detector.digest: [cell.outcome, cell.message, cell.seconds]
            for detector, cell in row.items()
            if cell.outcome in REPRODUCIBLE
        }
        old = {k: [c.outcome, c.message, c.seconds] for k, c in self.read(subject).items()}
        if kept.items() <= old.items():
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            newest = list((old | kept).items())[-ENTRIES:]
            write_text(path, json.dumps(dict(newest)))
        except (OSError, Problem):
            return

    def _path(self, subject: Subject) -> Path | None:
        try:
            digest = subject.digest()
        except OSError:  # deleted meanwhile
            return None
        if digest is None:
            return None
        return self.folder / f"{sha256(f'{self.salt}/{digest}'.encode()).hexdigest()[:32]}.json"
