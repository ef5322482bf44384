"""Many documents into files, on all cores. Each file is there as a whole or not at all."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..files import write_bytes
from ..parallel import spread
from ..problems import Problem

ALONE = 12
"""So few documents are done before another process has started."""


@dataclass(frozen=True, slots=True)
class Job:
    """One file. What makes it and the arguments go to another process, so pickle must know them."""

    path: Path
    render: Callable[..., bytes]
    arguments: tuple[Any, ...]

    def run(self) -> str:
        """Write the file; the message of the Problem, if there was one."""
        try:
            write_bytes(self.path, self.render(*self.arguments))
        except Problem as problem:
            return str(problem)
        return ""


def render_all(
    jobs: Sequence[Job],
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Write all that can be written, then raise a Problem if something could not.

    `progress(done, total)` counts files.
    """
    wrong: dict[int, str] = {}
    count = 1 if len(jobs) <= ALONE else workers or os.cpu_count() or 1
    for done, (i, message) in enumerate(spread(Job.run, jobs, count), start=1):
        if message:
            wrong[i] = message
        if progress:
            progress(done, len(jobs))
    if wrong:
        others = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        raise Problem(wrong[min(wrong)] + others)
