"""What runs in a worker process: rows of cells.

A worker is given some subjects and a pipe. It trusts nothing that a subject does: it can hang,
crash or exit, and the parent will know at which cell.
"""

import contextlib
import ctypes
import faulthandler
import itertools
import json
import multiprocessing
import os
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .adapters.recognise import read_as
from .contract import Offer, raised_by_subject
from .matrix import Cell, Outcome
from .plugin import SUBJECT
from .problems import said, text_of
from .state import State
from .subject import BLANK_SUBJECT, CORRECT_SUBJECT, Subject, import_fault, load
from .suite import Suite, with_suite

CONTROLS = {CORRECT_SUBJECT: Outcome.PASSED, BLANK_SUBJECT: Outcome.NOT_OFFERED}
"""What every detector must say of the controls, in every run."""

MESSAGE_LIMIT = 2000
"""Characters of a failure message that are kept."""


TELL = 0.1
"""Seconds after which a process tells what it has found so far. What is not told is run again if
the process is lost."""

if TYPE_CHECKING:
    from ctypes import Array, c_int

    Place = Array[c_int]
    """Shared with the parent: the number of the row, and that of the cell in it or LOADING."""

LOADING = -1
"""The place of a worker that is importing a subject."""


@dataclass(frozen=True, slots=True)
class Row:
    """Cells of one subject that are still to be run."""

    subject: Subject
    cells: tuple[int, ...]
    """Indices of the detectors."""


@dataclass(frozen=True, slots=True)
class Job:
    """Some rows to run in one process."""

    rows: tuple[Row, ...]
    memory: int
    """How many bytes a subject may take."""
    suite: str
    """Digest of the detectors: what is collected anew may have changed since."""


def run_job(suite: Suite, job: Job, pipe: Connection, place: "Place") -> None:
    """Run every row of the job. Sends records, as JSON:

    ["row", [[outcome, message, seconds], ...]] for each subject; where it is the only one, as many
    of these as it takes to tell of slow cells in time, the last of which may end early, with a cell
    that used up the memory
    ["shape", name] before its row, if the subject was recognised as a class of a known shape
    ["control", holds] where there are several subjects: at the end, or as soon as one has left
    something behind
    ["changed"] and nothing else, if the detectors are not those that the parent has

    A record a row, not a cell: most cells take less time than telling of them. Where the process
    is, the parent sees in `place`, whatever happens to the process.
    """
    settle(job.memory)
    if suite.digest != job.suite:
        _send(pipe, "changed")
        return
    shared = len(job.rows) > 1
    state = State.now() if shared else None
    for number, row in enumerate(job.rows):
        place[:] = [number, LOADING]
        found: list[Cell] = []
        begun = time.monotonic()
        for cell in _cells(suite, row, place, pipe):
            found.append(cell)
            if not shared and time.monotonic() - begun > TELL:
                _tell(pipe, found)
                found, begun = [], time.monotonic()
        if state and (found[-1].outcome is Outcome.OUT_OF_MEMORY or not state.restored()):
            _send(pipe, "control", False)
            return
        if found:
            _tell(pipe, found)
    if shared:
        place[:] = [len(job.rows), LOADING]
        _send(pipe, "control", _controls_hold(suite))


def _tell(pipe: Connection, cells: Sequence[Cell]) -> None:
    _send(pipe, "row", [(cell.outcome, cell.message, cell.seconds) for cell in cells])


def _send(pipe: Connection, *record: Any) -> None:
    line = json.dumps(record).encode() + b"\n"
    if sys.platform == "win32":  # there a pipe takes whole messages
        pipe.send_bytes(line)
        return
    while line:
        line = line[os.write(pipe.fileno(), line) :]


def _cells(suite: Suite, row: Row, place: "Place", pipe: Connection) -> Iterator[Cell]:
    try:
        module = load(row.subject)
        offer = Offer(module)
    except MemoryError:
        message = "needs more than --memory when imported"
        yield from [Cell(Outcome.OUT_OF_MEMORY, message)] * len(row.cells)
        return
    except BaseException as error:
        message = import_fault(row.subject, error)[:MESSAGE_LIMIT]
        yield from [Cell(Outcome.ERROR, message)] * len(row.cells)
        return
    if shape := read_as(module):
        _send(pipe, "shape", shape)
    for position, (index, following) in enumerate(with_next(row.cells)):
        place[1] = position
        cell = run_cell(suite, index, offer, following)
        yield cell
        if cell.outcome is Outcome.OUT_OF_MEMORY:
            return  # what holds the memory may hold it still


def with_next(indices: Sequence[int]) -> Iterator[tuple[int, int | None]]:
    """Each index with the one that follows it, the last one with None."""
    return itertools.zip_longest(indices, indices[1:])


def run_job_in_new_process(select: str, job: Job, pipe: Connection, place: "Place") -> None:
    """`run_job` where nothing was inherited: collects the detectors first."""
    with_suite(select, lambda suite: run_job(suite, job, pipe, place))


def settle(memory: int) -> None:
    """Cut the process off: own group, no output, limits, no pytest chatter."""
    if hasattr(os, "setsid"):
        with contextlib.suppress(OSError):
            os.setsid()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    sink = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(sink, descriptor)
    # Objects that a parent put there (a test's capture, a notebook) have buffers of their own.
    nothing = Path(os.devnull)
    sys.stdin = nothing.open(encoding="utf-8")
    sys.stdout = sys.stderr = nothing.open("w", encoding="utf-8")
    sys.dont_write_bytecode = True
    warnings.simplefilter("ignore")
    faulthandler.disable()
    _limit(memory)


def _limit(memory: int) -> None:
    if sys.platform == "linux":
        die_with_parent = 1  # PR_SET_PDEATHSIG
        ctypes.CDLL(None).prctl(die_with_parent, signal.SIGKILL)
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        taken = pages * resource.getpagesize()
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (taken + memory, taken + memory))


def _controls_hold(suite: Suite) -> bool:
    for subject, expected in CONTROLS.items():
        offer = Offer(load(subject))
        for index, following in with_next(range(len(suite.items))):
            if run_cell(suite, index, offer, following).outcome is not expected:
                return False
    return True


def run_cell(suite: Suite, index: int, subject: Offer, following: int | None = None) -> Cell:
    """Run one detector with its real fixtures and marks; no report is written. What the detector
    `following` needs too is left set up."""
    item = suite.items[index]
    item.config.stash[SUBJECT] = subject
    # An item keeps the fixture values of its last run: without this, it would judge the subject
    # before. There is no public way; pytest-rerunfailures does the same.
    item._initrequest()  # type: ignore[attr-defined]
    start = time.perf_counter()
    outcome, message = Outcome.PASSED, ""
    try:
        item.ihook.pytest_runtest_setup(item=item)
        item.ihook.pytest_runtest_call(item=item)
    except BaseException as error:
        _stop_if_asked(error)
        outcome, message = _judged(error)
    try:
        next_item = None if following is None else suite.items[following]
        item.ihook.pytest_runtest_teardown(item=item, nextitem=next_item)
    except BaseException as error:
        _stop_if_asked(error)
        outcome, message = Outcome.ERROR, said(error)
    return Cell(outcome, message[:MESSAGE_LIMIT], round(time.perf_counter() - start, 4))


def _stop_if_asked(error: BaseException) -> None:
    """Where no stranger's code runs, an interrupt comes from the user."""
    if isinstance(error, KeyboardInterrupt) and multiprocessing.parent_process() is None:
        raise error


def _judged(error: BaseException) -> tuple[Outcome, str]:
    if isinstance(error, MemoryError):
        return Outcome.OUT_OF_MEMORY, said(error)
    if raised_by_subject(error):  # an assertion of its own is no verdict of ours
        return Outcome.ERROR, f"{said(error)} ({_where(error)})"
    if isinstance(error, AssertionError | pytest.fail.Exception):
        # Where an outer pytest rewrites assertions, its introspection follows the message.
        message = text_of(error).split("\nassert ")[0].strip()
        return Outcome.FAILED, message or _last_line(error)
    if isinstance(error, pytest.skip.Exception):
        return Outcome.NOT_OFFERED, text_of(error)
    return Outcome.ERROR, said(error)


def _where(error: BaseException) -> str:
    """The place in the subject that raised, or that called what did."""
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [f for f in frames if "site-packages" not in f.filename and "<" not in f.filename]
    frame = (theirs or frames)[-1]
    return f"{Path(frame.filename).name}, line {frame.lineno}, in {frame.name}"


def _last_line(error: BaseException) -> str:
    """The line of code that raised, for an assertion without a message."""
    frames = traceback.extract_tb(error.__traceback__)
    return (frames[-1].line or "") if frames else ""
