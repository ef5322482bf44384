"""The parent's side of a worker process: starts it, listens to it, and ends it."""

import contextlib
import json
import multiprocessing
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from .runner import LOADING, Job, run_job, run_job_in_new_process
from .subject import Subject
from .suite import Suite

if TYPE_CHECKING:
    from .runner import Place

START_UP = 60.0
"""Seconds that a new process may take to import and collect, on a slow or busy machine."""

RECORD_LIMIT = 16 * 1024 * 1024
"""Bytes of one record; a longer one is not ours."""


NOT_STARTED = -1
"""The number of the row before the first."""


class Isolation(StrEnum):
    """What separates one subject from the next. A file always has a process of its own."""

    SUBJECT = "subject"
    """A fork each."""
    CHUNK = "chunk"
    """A fork for several mutants, with the controls once more at its end; if anything leaked
    from one row to another, all are run again, a fork each."""
    PROCESS = "process"
    """A new Python each."""


@dataclass(frozen=True, slots=True)
class Row:
    """Cells of one subject that are still to be run."""

    subject: Subject
    cells: tuple[int, ...]


class Worker:
    """The parent's side of one worker process."""

    def __init__(
        self,
        suite: Suite,
        select: str,
        rows: list[Row],
        isolate: Isolation,
        timeout: float,
        memory: int,
    ) -> None:
        self.job_rows = list(rows)
        self.rows = list(rows)
        """Rows that are not finished; the first is being run."""
        self.controlled = isolate is Isolation.CHUNK and len(rows) > 1
        job = Job(
            subjects=tuple(row.subject for row in rows),
            cells=tuple(row.cells for row in rows),
            memory=memory,
            control=self.controlled,
        )
        self.pipe, writer = multiprocessing.Pipe(duplex=False)
        new_process = isolate is Isolation.PROCESS
        context: Any = multiprocessing.get_context("spawn" if new_process else "fork")
        self.place: Place = context.RawArray("i", [NOT_STARTED, LOADING])
        self.seen = tuple(self.place)
        self.timeout = timeout
        common = (job, writer, self.place)
        self.process = context.Process(
            target=run_job_in_new_process if new_process else _run_forked,
            args=(select, *common) if new_process else (self.pipe, suite, *common),
            daemon=True,
        )
        self.process.start()
        writer.close()
        self.deadline = time.monotonic() + (START_UP if new_process else timeout)

    def records(self) -> Iterator[list[Any]]:
        """What has arrived. Raises EOFError when the worker is gone."""
        while self.pipe.poll():
            yield json.loads(self.pipe.recv_bytes(RECORD_LIMIT))
            if self.pipe.closed:
                return
        if not self.process.is_alive() and not self.pipe.poll():
            raise EOFError

    def late(self) -> bool:
        """Whether it has been at one place for too long."""
        now = time.monotonic()
        if (place := tuple(self.place)) != self.seen:
            self.seen = place
            self.deadline = now + self.timeout
        return now > self.deadline

    @property
    def position(self) -> int:
        """The cell of the first row that it is at, or LOADING."""
        done = len(self.job_rows) - len(self.rows)
        number, position = self.place
        return position if number == done else LOADING

    def epitaph(self) -> str:
        """How the process ended."""
        self.process.join(1.0)
        code = self.process.exitcode
        if code is None:
            return "the worker lost its connection"
        if code < 0:
            with contextlib.suppress(ValueError):
                return f"killed by signal {signal.Signals(-code).name}"
            return f"killed by signal {-code}"
        return f"the process ended with exit code {code}"

    def kill(self) -> None:
        """End the process and whatever it started."""
        if hasattr(os, "killpg") and self.process.pid:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        if self.process.is_alive():
            self.process.kill()
        self.process.join()
        self.pipe.close()


def _run_forked(reader: Any, suite: Suite, job: Job, writer: Any, place: "Place") -> None:
    reader.close()
    run_job(suite, job, writer, place)
