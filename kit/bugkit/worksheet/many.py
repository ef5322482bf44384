"""Many documents into files, on all cores. Each file is there as a whole or not at all."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from ..files import write_bytes
from ..problems import Problem

BATCH = 8
"""Documents that a process takes at a time: few enough to see progress."""

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
    done = 0
    for start, messages in _results(jobs, workers or os.cpu_count() or 1):
        wrong |= {start + i: message for i, message in enumerate(messages) if message}
        done += len(messages)
        if progress:
            progress(done, len(jobs))
    if wrong:
        others = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        raise Problem(wrong[min(wrong)] + others)


def _results(jobs: Sequence[Job], workers: int) -> Iterator[tuple[int, list[str]]]:
    """Index of the first job of a batch, and what was said about each; in any order."""
    if workers == 1 or len(jobs) <= ALONE:
        yield from ((i, [job.run()]) for i, job in enumerate(jobs))
        return
    # Not a fork: libraries that draw and set pages have threads, which a fork would lose.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        waiting: dict[Future[list[str]], int] = {}
        try:
            for start, batch in enumerate(_batches(jobs)):
                waiting[pool.submit(_run, batch)] = start * BATCH
            for future in as_completed(waiting):
                yield waiting[future], future.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _batches(jobs: Sequence[Job]) -> Iterator[Sequence[Job]]:
    return (jobs[i : i + BATCH] for i in range(0, len(jobs), BATCH))


def _run(batch: Sequence[Job]) -> list[str]:
    return [job.run() for job in batch]
