"""Runs detectors on subjects: collect once, a process for each subject, one record a cell.

The parent never runs the code of a mutant or a stranger. It holds a deadline for each cell; a
hang, a crash or an exit costs that one cell, and the row goes on in a new process at the next
cell. Every run has two controls: the correct GPT, on which every detector must pass, and an empty
module, which every detector must notice. If they do not hold, no verdict on anything else is
given.
"""

import gc
import os
import sys
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing import connection
from typing import Any

from .cache import CellCache
from .contract import Offer
from .matrix import Cell, Detector, Matrix, Outcome
from .problems import Problem
from .runner import CONTROLS, LOADING, MESSAGE_LIMIT, run_cell, with_next
from .subject import BLANK_SUBJECT, CORRECT_SUBJECT, Kind, Subject, load
from .suite import Suite, with_suite
from .worker import Isolation, Row, Worker

CHUNK = 25
"""Mutants that share a worker in chunk mode. Each chunk ends with the controls, which cost as much
as one more row."""

PATIENCE = 3
"""Cells of one subject that may take the whole timeout; what hangs so often hangs everywhere."""

IMPATIENT = 1.0
"""Seconds for each cell after that."""

HEARTBEAT = 0.1
"""Seconds between looks at whether workers are alive. A dead one closes its pipe, which is seen
at once, unless it left a child that holds it open."""


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


class ControlFailed(Problem):
    """A detector is wrong about a control, so its other verdicts are worth nothing."""


CONTROL_FAULTS = {
    CORRECT_SUBJECT: "the correct GPT is not green, so nothing else can be judged; mend first",
    BLANK_SUBJECT: "these detectors do not look at the subject, since an empty module does not "
    "stop them; they must reach the GPT through the fixture `gpt`",
}


def run(
    subjects: Sequence[Subject],
    options: Options,
    progress: Callable[[int, int], None] | None = None,
) -> Matrix:
    """The matrix of these subjects. `progress(done, total)` counts cells."""
    matrices: list[Matrix] = []

    def use(suite: Suite) -> None:
        matrices.append(_Run(suite, subjects, options, progress).matrix())

    with_suite(options.select, use)
    return matrices[0]


class _Run:
    def __init__(
        self,
        suite: Suite,
        subjects: Sequence[Subject],
        options: Options,
        progress: Callable[[int, int], None] | None,
    ) -> None:
        self.suite = suite
        self.subjects = tuple(subjects)
        self.options = options
        self.progress = progress
        self.cells: dict[tuple[str, str], Cell] = {}
        self.queue: deque[list[Row]] = deque()
        self.workers: list[Worker] = []
        self.timeouts: Counter[str] = Counter()
        self.total = 0

    def matrix(self) -> Matrix:
        detectors = self.suite.detectors
        cache = CellCache() if self.options.cache else None
        everyone = list(dict.fromkeys([*CONTROLS, *self.subjects]))
        self._enqueue(everyone, cache)
        try:
            if self.options.isolate is not Isolation.PROCESS:
                self._run_controls_here()
            self._work()
        finally:
            for worker in self.workers:
                worker.kill()
            if cache:  # a stopped run goes on from here
                for subject in everyone:
                    cache.write(subject, self._known(subject))
        self._check_controls()
        kept = {subject.id for subject in self.subjects}
        return Matrix(
            subjects=self.subjects,
            detectors=detectors,
            cells={key: cell for key, cell in self.cells.items() if key[0] in kept},
            suite=self.suite.names,
        )

    def _known(self, subject: Subject) -> dict[Detector, Cell]:
        detectors = self.suite.detectors
        return {d: self.cells[key] for d in detectors if (key := (subject.id, d.id)) in self.cells}

    def _enqueue(self, subjects: Sequence[Subject], cache: CellCache | None) -> None:
        rows = []
        for subject in subjects:
            stored = cache.read(subject) if cache else {}
            missing = []
            for index, detector in enumerate(self.suite.detectors):
                if detector.digest in stored:
                    self.cells[subject.id, detector.id] = stored[detector.digest]
                else:
                    missing.append(index)
            if missing:
                rows.append(Row(subject, tuple(missing)))
        self.total = sum(len(row.cells) for row in rows)
        # What nobody has looked at gets a process of its own.
        alone = [r for r in rows if r.subject in CONTROLS or r.subject.kind is Kind.FILE]
        known = [row for row in rows if row not in alone]
        size = 1
        if self.options.isolate is Isolation.CHUNK:
            size = max(1, min(CHUNK, -(-len(known) // self.options.jobs)))
        self.queue.extend([row] for row in alone)
        self.queue.extend(known[i : i + size] for i in range(0, len(known), size))
        self.start_total = len(self.cells)

    def _run_controls_here(self) -> None:
        """The controls are ours, so they need no process of their own; and what they load and
        fill is there for every worker that is forked later."""
        while self.queue and self.queue[0][0].subject in CONTROLS:
            row = self.queue.popleft()[0]
            offer = Offer(load(row.subject))
            for index, following in with_next(row.cells):
                cell = run_cell(self.suite, index, offer, following)
                self._store(row.subject, index, cell)
        self._check_controls()
        gc.collect()
        gc.freeze()

    def _work(self) -> None:
        while self.queue or self.workers:
            while self.queue and len(self.workers) < self.options.jobs:
                self.workers.append(self._start(self.queue.popleft()))
            self._listen()
            for worker in [w for w in self.workers if w.late()]:
                self.timeouts[worker.rows[0].subject.id if worker.rows else ""] += 1
                self._lost(worker, Outcome.TIMEOUT, f"not finished within {worker.timeout:g} s")
            if self.progress:
                self.progress(len(self.cells) - self.start_total, self.total)

    def _start(self, rows: list[Row]) -> Worker:
        options = self.options
        memory = options.memory * 1024 * 1024
        hung = self.timeouts[rows[0].subject.id] >= PATIENCE
        timeout = min(options.timeout, IMPATIENT) if hung else options.timeout
        return Worker(self.suite, options.select, rows, options.isolate, timeout, memory)

    def _listen(self) -> None:
        connection.wait([w.pipe for w in self.workers], min(HEARTBEAT, self.options.timeout / 4))
        for worker in list(self.workers):
            try:
                for record in worker.records():
                    self._record(worker, record)
            except (EOFError, OSError, ValueError, TypeError, LookupError):
                self._lost(worker, Outcome.CRASHED, worker.epitaph())

    def _record(self, worker: Worker, record: list[Any]) -> None:
        kind, *values = record
        if kind == "ready":
            return
        if kind == "control":
            (holds,) = values
            if not holds:
                self.queue.extend([row] for row in worker.job_rows)
            self._retire(worker)
            return
        row = worker.rows[0]
        leak, *values = values
        if kind == "row":
            (cells,) = values
            for index, (outcome, message, seconds) in zip(row.cells, cells, strict=True):
                cell = Cell(Outcome(outcome), str(message)[:MESSAGE_LIMIT], float(seconds))
                self._store(row.subject, index, cell)
        elif kind == "unloadable":
            outcome, message = values
            self._store_all(row, Cell(Outcome(outcome), str(message)[:MESSAGE_LIMIT]))
        else:
            raise ValueError("an unknown record")
        if row.subject in CONTROLS:
            self._check_controls()
        worker.rows.pop(0)
        if leak and worker.rows:
            self.queue.append(worker.rows)
        if leak or not (worker.rows or worker.controlled):
            self._retire(worker)

    def _lost(self, worker: Worker, outcome: Outcome, message: str) -> None:
        """Label what a dead or hanging worker was at, and queue what it leaves."""
        worker.kill()
        self.workers.remove(worker)
        if not worker.rows:  # lost in its control
            self.queue.extend([row] for row in worker.job_rows)
            return
        position = worker.position
        row = worker.rows.pop(0)
        if position == LOADING:
            self._store_all(row, Cell(outcome, f"when imported: {message}"))
        else:
            # The cells before it are known to the dead alone; they are run again.
            lost = row.cells[position]
            self._store(row.subject, lost, Cell(outcome, message))
            rest = tuple(index for index in row.cells if index != lost)
            worker.rows[:0] = [Row(row.subject, rest)] if rest else []
        if worker.rows:
            self.queue.appendleft(worker.rows)

    def _retire(self, worker: Worker) -> None:
        worker.kill()
        self.workers.remove(worker)

    def _store(self, subject: Subject, index: int, cell: Cell) -> None:
        self.cells[subject.id, self.suite.detectors[index].id] = cell

    def _store_all(self, row: Row, cell: Cell) -> None:
        for index in row.cells:
            self._store(row.subject, index, cell)

    def _check_controls(self) -> None:
        for subject, expected in CONTROLS.items():
            bad = [
                f"  {detector.id}: {cell.outcome}: {cell.message}"
                for detector, cell in self._known(subject).items()
                if cell.outcome is not expected
            ]
            if bad:
                raise ControlFailed(f"{CONTROL_FAULTS[subject]}:\n" + "\n".join(bad))
