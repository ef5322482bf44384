"""Runs detectors on subjects: collect once, a process for each subject, one record a cell.

The parent never runs the code of a mutant or a stranger. It holds a deadline for each cell; a
hang, a crash or an exit costs that one cell, and the row goes on in a new process at the next
cell. Every run has two controls: the correct GPT, on which every detector must pass, and an empty
module, which every detector must notice. If they do not hold, no verdict on anything else is
given.
"""

import gc
from collections import Counter, deque
from collections.abc import Callable, Sequence
from multiprocessing import connection, get_all_start_methods
from typing import Any

from .cache import CellCache
from .contract import Offer
from .matrix import Cell, Detector, Matrix, Outcome
from .options import Options
from .problems import ControlFailed, Problem
from .runner import CONTROLS, LOADING, MESSAGE_LIMIT, Row, run_cell, with_next
from .subject import BLANK_SUBJECT, CORRECT_SUBJECT, Kind, Subject, load
from .suite import Suite, with_suite
from .worker import Isolation, Worker

CHUNK = 25
"""Mutants that share a worker in chunk mode. Each chunk ends with the controls, which cost as much
as one more row."""

PATIENCE = 3
"""Cells of one subject that may take the whole timeout; what hangs so often hangs everywhere."""

IMPATIENCE = 5
"""Which part of the timeout each cell gets after that: a fifth, but never less than this many times
what the slowest cell took that the subject did finish."""

HEARTBEAT = 0.1
"""Seconds between looks at whether workers are alive. A dead one closes its pipe, which is seen
at once, unless it left a child that holds it open."""


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
    ids = Counter(subject.id for subject in subjects)
    if twice := [id_ for id_, count in ids.items() if count > 1]:
        raise Problem(f"two subjects are called {twice[0]}; check them one at a time")
    if options.isolate is not Isolation.PROCESS and "fork" not in get_all_start_methods():
        raise Problem(f"--isolate {options.isolate}: this system has no fork; use process")
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
        self.cells: dict[Subject, dict[Detector, Cell]] = {}
        self.queue: deque[list[Row]] = deque()
        self.workers: list[Worker] = []
        self.timeouts: Counter[Subject] = Counter()
        self.read_as: dict[str, str] = {}
        self.total = 0

    def matrix(self) -> Matrix:
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
                    cache.write(subject, self._trusted(subject))
        self._check_controls()
        return Matrix(
            subjects=self.subjects,
            detectors=self.suite.detectors,
            cells={(s.id, d.id): self.cells[s][d] for s in self.subjects for d in self.cells[s]},
            suite=self.suite.names,
            read_as=self.read_as,
        )

    def _trusted(self, subject: Subject) -> dict[Detector, Cell]:
        """What may be remembered: not that a control once failed, for whatever reason."""
        cells = self.cells[subject]
        expected = CONTROLS.get(subject)
        return {d: cell for d, cell in cells.items() if expected in (None, cell.outcome)}

    def _enqueue(self, subjects: Sequence[Subject], cache: CellCache | None) -> None:
        for subject in subjects:
            stored = cache.read(subject) if cache else {}
            known = {d: stored[d.digest] for d in self.suite.detectors if d.digest in stored}
            self.cells[subject] = known
        rows = [row for subject in subjects if (row := self._missing(subject)).cells]
        if any(row.subject not in CONTROLS for row in rows):
            # What the controls did in another run says nothing about this one.
            for control in CONTROLS:
                self.cells[control] = {}
            others = [row for row in rows if row.subject not in CONTROLS]
            rows = [*map(self._missing, CONTROLS), *others]
        self.total = sum(len(row.cells) for row in rows)
        # What nobody has looked at gets a process of its own.
        alone = {Kind.CORRECT, Kind.FILE}
        mutants = [row for row in rows if row.subject.kind not in alone]
        size = 1
        if self.options.isolate is Isolation.CHUNK:
            size = max(1, min(CHUNK, -(-len(mutants) // self.options.jobs)))
        self.queue.extend([row] for row in rows if row.subject.kind in alone)
        self.queue.extend(mutants[i : i + size] for i in range(0, len(mutants), size))

    def _missing(self, subject: Subject) -> Row:
        """The cells of the subject that are not known."""
        detectors = enumerate(self.suite.detectors)
        return Row(subject, tuple(i for i, d in detectors if d not in self.cells[subject]))

    def _run_controls_here(self) -> None:
        """The controls are ours, so they need no process of their own; and what they load and
        fill is there for every worker that is forked later."""
        while self.queue and self.queue[0][0].subject in CONTROLS:
            row = self.queue.popleft()[0]
            offer = Offer(load(row.subject))
            cells = [run_cell(self.suite, i, offer, after) for i, after in with_next(row.cells)]
            self._store(row, cells)
        self._check_controls()
        gc.collect()
        gc.freeze()

    def _work(self) -> None:
        while self.queue or self.workers:
            while self.queue and len(self.workers) < self.options.jobs:
                self.workers.append(self._start(self.queue.popleft()))
            self._listen()
            for worker in [w for w in self.workers if w.late()]:
                if not worker.shared:
                    self.timeouts[worker.rows[0].subject] += 1
                self._lost(worker, Outcome.TIMEOUT, f"not finished within {worker.timeout:g} s")
            if self.progress:
                self.progress(self.total - self._left(), self.total)

    def _left(self) -> int:
        """How many cells are neither known nor held back."""
        rows = [row for waiting in self.queue for row in waiting]
        rows += [row for w in self.workers for row in w.rows[len(w.finished) :]]
        return sum(len(row.cells) for row in rows) - sum(w.told for w in self.workers)

    def _start(self, rows: list[Row]) -> Worker:
        options = self.options
        memory = options.memory * 1024 * 1024
        timeout = self._timeout(rows[0].subject)
        select, isolate = options.select, options.isolate
        return Worker(self.suite, select, rows, isolate, timeout, memory, self.workers)

    def _timeout(self, subject: Subject) -> float:
        """Seconds for each cell of the subject that is still to be run."""
        whole = self.options.timeout
        if self.timeouts[subject] < PATIENCE:
            return whole
        slowest = max((cell.seconds for cell in self.cells[subject].values()), default=0.0)
        return min(whole, max(whole / IMPATIENCE, IMPATIENCE * slowest))

    def _listen(self) -> None:
        connection.wait([w.pipe for w in self.workers], min(HEARTBEAT, self.options.timeout / 4))
        for worker in list(self.workers):
            try:
                for record in worker.records():
                    if worker in self.workers:
                        self._record(worker, record)
            except (EOFError, OSError, ValueError, TypeError, LookupError):
                message = worker.epitaph()
                worker.moved()
                self._lost(worker, Outcome.CRASHED, message)

    def _record(self, worker: Worker, record: list[Any]) -> None:
        kind, *values = record
        if kind == "changed":
            raise Problem("the detectors have changed since the run began; start it again")
        if kind == "control":
            (holds,) = values
            self._end(worker)
            if holds is True:
                for row, cells in zip(worker.rows, worker.finished, strict=True):
                    self._store(row, cells)
            else:
                self._apart(worker)
        elif kind == "shape":
            self.read_as[worker.rows[0].subject.id] = str(values[0])[:MESSAGE_LIMIT]
        elif kind == "row":
            (told,) = values
            row = worker.rows[len(worker.finished)]
            cells = [Cell(Outcome(o), str(m)[:MESSAGE_LIMIT], float(s)) for o, m, s in told]
            left = row.cells[worker.told :]
            least = len(left) if worker.shared else 1
            if not least <= len(cells) <= len(left):
                raise ValueError("not the cells that were asked for")
            if worker.shared:
                worker.finished.append(cells)
                return
            self._store(Row(row.subject, left), cells)
            worker.told += len(cells)
            rest = left[len(cells) :]
            if rest and cells[-1].outcome is not Outcome.OUT_OF_MEMORY:
                return  # more will come
            self._end(worker)
            if rest:
                self.queue.appendleft([Row(row.subject, rest)])
        else:
            raise ValueError("an unknown record")

    def _lost(self, worker: Worker, outcome: Outcome, message: str) -> None:
        """Label what a dead or hanging worker was at, and queue the rest of its row."""
        self._end(worker)
        if worker.shared:
            self._apart(worker)
            return
        (row,) = worker.rows
        if worker.position == LOADING:
            cell = Cell(outcome, f"when imported: {message}")
            self._store(row, [cell] * len(row.cells))
            return
        lost = row.cells[max(worker.position, worker.told)]
        self._store(Row(row.subject, (lost,)), [Cell(outcome, message)])
        # The cells before it that were not told of are known to the dead alone; they run again.
        if rest := tuple(index for index in row.cells[worker.told :] if index != lost):
            self.queue.appendleft([Row(row.subject, rest)])

    def _apart(self, worker: Worker) -> None:
        """Run all rows of a shared worker again, each by itself: so it is seen who is to blame."""
        self.queue.extend([row] for row in worker.rows)

    def _end(self, worker: Worker) -> None:
        worker.kill()
        self.workers.remove(worker)

    def _store(self, row: Row, cells: Sequence[Cell]) -> None:
        for index, cell in zip(row.cells, cells, strict=False):
            self.cells[row.subject][self.suite.detectors[index]] = cell
        if row.subject in CONTROLS:
            self._check_controls()

    def _check_controls(self) -> None:
        for subject, expected in CONTROLS.items():
            bad = [
                f"  {detector.id}: {cell.outcome}: {cell.message}"
                for detector, cell in self.cells[subject].items()
                if cell.outcome is not expected
            ]
            if bad:
                raise ControlFailed(f"{CONTROL_FAULTS[subject]}:\n" + "\n".join(bad))
