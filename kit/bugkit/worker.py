"""The parent's side of a worker process: starts it, listens to it, and ends it."""

import json
import multiprocessing
import os
import sys
import time
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from .matrix import Cell
from .processes import end, epitaph
from .runner import LOADING, Job, Row, run_job, run_job_in_new_process
from .suite import Suite

if TYPE_CHECKING:
    from .runner import Place

START_UP = 60.0
"""Seconds that a new process may take to import and collect, on a slow or busy machine."""

RECORD_LIMIT = 16 * 1024 * 1024
"""Bytes of one record; a longer one is not ours."""

READ = 1024 * 1024
"""Bytes that are taken from a pipe at a time."""

NOT_STARTED = -1
"""The number of the row before the first."""


class Isolation(StrEnum):
    """What separates one subject from the next. A file always has a process of its own."""

    SUBJECT = "subject"
    """A fork each."""
    CHUNK = "chunk"
    """A fork for several mutants, with the controls once more at its end; if they do not hold, or
    anything else is out of the ordinary, all are run again, a fork each."""
    PROCESS = "process"
    """A new Python each."""


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
        others: Sequence["Worker"] = (),
    ) -> None:
        self.rows = tuple(rows)
        self.finished: list[list[Cell]] = []
        """Rows that a shared process has finished: they count once the controls at its end hold."""
        self.told = 0
        """How many cells the process of a single subject has told of: they count at once."""
        job = Job(self.rows, memory, suite.digest)
        self.pipe, writer = multiprocessing.Pipe(duplex=False)
        self.received = b""
        new_process = isolate is Isolation.PROCESS
        context: Any = multiprocessing.get_context("spawn" if new_process else "fork")
        self.place: Place = context.RawArray("i", [NOT_STARTED, LOADING])
        self.seen = tuple(self.place)
        self.timeout = timeout
        common = (job, writer, self.place)
        self.process = context.Process(
            target=run_job_in_new_process if new_process else _run_forked,
            args=(select, *common)
            if new_process
            else ([self.pipe, *(other.pipe for other in others)], suite, *common),
            daemon=True,
        )
        self.process.start()
        writer.close()
        self.deadline = time.monotonic() + (START_UP if new_process else timeout)

    @property
    def shared(self) -> bool:
        """Whether one subject could leave something behind for the next."""
        return len(self.rows) > 1

    def records(self) -> list[list[Any]]:
        """What has arrived since the last look. Raises EOFError when the worker is gone."""
        if not self.pipe.poll():
            if self.process.is_alive() or self.pipe.poll():
                return []
            raise EOFError
        self.received += self._read()
        *lines, self.received = self.received.split(b"\n")
        if len(self.received) > RECORD_LIMIT:
            raise ValueError("a record without an end")
        return [json.loads(line) for line in lines]

    def _read(self) -> bytes:
        if sys.platform == "win32":  # there a pipe gives whole messages
            return self.pipe.recv_bytes(RECORD_LIMIT)
        # Whatever is there and no more: to wait for the rest of a record is to wait for a stranger.
        part = os.read(self.pipe.fileno(), READ)
        if not part:
            raise EOFError
        return part

    def late(self) -> bool:
        """Whether it has been at one place for too long."""
        if self.moved():
            self.deadline = time.monotonic() + self.timeout
        return time.monotonic() > self.deadline

    def moved(self) -> bool:
        """Whether it has gone on since the last look."""
        before, self.seen = self.seen, tuple(self.place)
        return self.seen != before

    @property
    def position(self) -> int:
        """The cell that it was last seen at, or LOADING."""
        _, position = self.seen
        return int(position)

    def epitaph(self) -> str:
        """How the process ended."""
        return epitaph(self.process, "worker")

    def kill(self) -> None:
        """End the process and whatever it started."""
        end(self.process)
        self.pipe.close()


def _run_forked(readers: list[Any], suite: Suite, job: Job, writer: Any, place: "Place") -> None:
    for reader in readers:  # what others say is not for this one to hear
        reader.close()
    run_job(suite, job, writer, place)
