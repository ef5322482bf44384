"""The state of a process that one subject could leave behind for the next."""

import math
import os
import random
import sys
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

_MODULES = (np, np.linalg, np.random, math)
"""Modules whose functions a subject might replace."""


@dataclass(frozen=True)
class State:
    """A snapshot that can be put back."""

    errors: dict[str, Any]
    numpy_random: Any
    python_random: Any
    environment: dict[str, str]
    directory: str
    path: list[str]
    recursion_limit: int
    threads: int
    identities: tuple[int, ...]

    @classmethod
    def now(cls) -> "State":
        """Take the snapshot."""
        return cls(
            errors=np.geterr(),  # type: ignore[arg-type]
            numpy_random=np.random.get_state(),
            python_random=random.getstate(),
            environment=dict(os.environ),
            directory=os.getcwd(),  # noqa: PTH109
            path=list(sys.path),
            recursion_limit=sys.getrecursionlimit(),
            threads=threading.active_count(),
            identities=_identities(),
        )

    def restore(self) -> None:
        """Put back what can be put back."""
        np.seterr(**self.errors)
        np.random.set_state(self.numpy_random)
        random.setstate(self.python_random)
        if dict(os.environ) != self.environment:
            os.environ.clear()
            os.environ.update(self.environment)
        os.chdir(self.directory)
        sys.setrecursionlimit(self.recursion_limit)

    def restored(self) -> bool:
        """Put back what can be put back, and tell whether nothing else has changed."""
        try:
            self.restore()
        except Exception:  # the folder is gone, or a function that puts something back
            return False
        sys.path[:] = self.path
        return threading.active_count() <= self.threads and _identities() == self.identities


def _identities() -> tuple[int, ...]:
    return tuple(id(value) for module in _MODULES for value in vars(module).values())
