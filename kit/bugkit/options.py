"""How to run the detectors."""

import os
import sys
from dataclasses import dataclass, field

from .worker import Isolation

DEFAULT_ISOLATION = Isolation.CHUNK if sys.platform == "linux" else Isolation.PROCESS
"""Forks of a warm process where that is safe, else new processes."""


def _cores() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Options:
    """How to run."""

    select: str = ""
    """Which detectors, in pytest's -k syntax; empty for all."""
    jobs: int = field(default_factory=_cores)
    isolate: Isolation = DEFAULT_ISOLATION
    timeout: float = 5.0
    """Seconds that one cell, or an import, may take. The slowest cell of the correct GPT takes
    a few hundredths."""
    memory: int = 1024
    """MiB that a subject may take beyond what the kit itself has (Linux)."""
    cache: bool = True
