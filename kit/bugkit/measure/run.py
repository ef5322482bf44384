"""The parent's side: measures several subjects at a time, and ends what takes too long."""

import contextlib
import json
import math
import multiprocessing
import signal
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import connection, resource_tracker
from typing import Any

from ..processes import end, epitaph
from ..subject import Subject
from .child import END, RAISED, run_child
from .differences import DIFFERENCES
from .evidence import COMPARISONS, Evidence, Outcome, curve, rounded
from .script import Stage
from .settings import Setting

TIMEOUT = 60.0
"""Seconds that one subject may take. The correct GPT takes about two on one core."""

START_UP = 60.0
"""Seconds that a new process may take to import what it needs, on a slow or busy machine."""

HEARTBEAT = 0.1
"""Seconds between looks at the clock."""


@dataclass(frozen=True, slots=True)
class Task:
    """Something to measure."""

    subject: Subject
    setting: Setting
    digest: str
    """Of the sources as they are when it begins."""


def measure(
    tasks: Sequence[Task], jobs: int, timeout: float = TIMEOUT
) -> Iterator[tuple[Task, Evidence]]:
    """Evidence of each task, as it comes. Whatever a subject does, the others are measured."""
    waiting, children = deque(tasks), list[_Child]()
    try:
        while waiting or children:
            while waiting and len(children) < jobs:
                children.append(_Child(waiting.popleft(), timeout))
            connection.wait([child.pipe for child in children], HEARTBEAT)
            for child in list(children):
                if child.listen() or child.late():
                    child.kill()
                    children.remove(child)
                    yield child.task, child.evidence()
    finally:
        for child in children:
            child.kill()


@contextlib.contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """A process that is started here never hears of Ctrl-C, which is for the parent: one that comes
    meanwhile reaches the parent at the end."""
    if sys.platform == "win32":
        yield
        return
    resource_tracker.ensure_running()  # it lets signals through when it starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Child:
    def __init__(self, task: Task, timeout: float) -> None:
        self.task = task
        self.timeout = timeout
        self.told: dict[str, Any] = {}
        self.losses: list[float] = []
        self.end: tuple[Outcome, str] | None = None
        """How it ended, and what is to be said of that."""
        # A new Python, not a fork: the same on every system.
        context = multiprocessing.get_context("spawn")
        self.pipe, writer = context.Pipe(duplex=False)
        self.process = context.Process(
            target=run_child, args=(task.subject, task.setting, writer), daemon=True
        )
        with _interrupts_held_back():
            self.process.start()
        writer.close()
        self.deadline = time.monotonic() + START_UP

    def listen(self) -> bool:
        """Take in what was told; whether that was the end."""
        try:
            while self.end is None and self.pipe.poll():
                name, value = json.loads(self.pipe.recv_bytes())
                self._take(name, value)
        except (EOFError, OSError, ValueError, TypeError):
            self.end = Outcome.CRASHED, epitaph(self.process, "process")
        return self.end is not None

    def _take(self, name: str, value: Any) -> None:
        if not self.told:  # it has started
            self.deadline = time.monotonic() + self.timeout
        if name == "loss":
            self.losses.append(value)
        elif name == END:
            raised = self.told.get(RAISED)
            self.end = (Outcome.FINISHED, "") if raised is None else (Outcome.RAISED, raised)
        else:
            self.told[name] = value

    def late(self) -> bool:
        """Whether it has taken longer than it may."""
        if time.monotonic() > self.deadline:
            late = (
                f"finished within {self.timeout:g}" if self.told else f"started within {START_UP:g}"
            )
            self.end = Outcome.TIMEOUT, f"not {late} s"
        return self.end is not None

    def kill(self) -> None:
        """End the process and whatever it started."""
        end(self.process)
        self.pipe.close()

    def evidence(self) -> Evidence:
        """What was told, in order."""
        assert self.end is not None
        outcome, message = self.end
        after = [self.told.get("train_loss"), self.told.get("validation_loss")]
        finite = all(math.isfinite(loss) for loss in [*self.losses, *after] if loss is not None)
        stage = Stage(self.told.get("stage", Stage.IMPORT))
        if outcome is Outcome.FINISHED and not finite:
            outcome = Outcome.NOT_FINITE
        ended = outcome in (Outcome.FINISHED, Outcome.NOT_FINITE)
        numbers: dict[str, Any] = {name: rounded(self.told.get(name)) for name in DIFFERENCES}
        numbers |= {name: read(self.told.get(name)) for name, read in COMPARISONS.items()}
        return Evidence(
            subject=self.task.subject.id,
            digest=self.task.digest,
            setting=self.task.setting,
            outcome=outcome,
            stage=None if ended else stage,
            message=message,
            first_loss=rounded(self.losses[0]) if self.losses else None,
            steps=len(self.losses),
            losses=curve(self.losses),
            train_loss=rounded(after[0]),
            validation_loss=rounded(after[1]),
            sample=self.told.get("sample"),
            **numbers,
        )
