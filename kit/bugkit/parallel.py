"""One function for many items, in several processes that never outlive this one.

Not a ProcessPoolExecutor: at Ctrl-C it waits for what is running, when this process is killed its
workers wait for ever, and when one of them dies it does not say of what. Here each worker has a
pipe of its own and one item at a time, so there is no lock that a dead one could hold.
"""

import atexit
import contextlib
import functools
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from .problems import Problem, said
from .processes import epitaph

T = TypeVar("T")
R = TypeVar("R")

MOST = 30 if sys.platform == "win32" else 1000
"""Workers. Windows waits for at most 63 things, and each worker is two: it and its pipe."""

GRACE = 0.5
"""Seconds that a worker has for its last item when no more are wanted."""


def spread(
    work: Callable[[T], R],
    items: Sequence[T],
    workers: int,
    prepare: Callable[..., None] | None = None,
    arguments: tuple[Any, ...] = (),
) -> Iterator[tuple[int, R]]:
    """The index of each item and what `work` makes of it, as they are done, in any order.

    `prepare(*arguments)` runs once in each worker, or here if one worker is enough. What goes to a
    worker is pickled, and it gets its next item only when this iterator is asked for more. An
    exception of either function is raised here and ends the others; so does closing the iterator.
    """
    workers = min(workers, len(items), MOST)
    if workers > 1:
        yield from _in_processes(pickle.dumps((work, prepare, arguments)), items, workers)
    elif items:
        if prepare:
            prepare(*arguments)
        yield from ((i, work(item)) for i, item in enumerate(items))


@dataclass(slots=True)
class _Worker:
    """A process, our end of its pipe, and the index of what it has in hand (None: starting)."""

    process: BaseProcess
    pipe: "Connection[Any, Any]"
    index: int | None = None

    def lost(self) -> Problem:
        return Problem(
            f"a worker process died ({epitaph(self.process, 'worker')}); "
            "if memory is short, take fewer workers"
        )

    def receive(self) -> Any:
        """What it says next: waits only if it is in the middle of that."""
        with contextlib.suppress(EOFError, OSError):
            if self.pipe.poll():
                return self.pipe.recv()
        raise self.lost() from None

    def send(self, data: bytes) -> None:
        try:
            self.pipe.send_bytes(data)
        except OSError:
            raise self.lost() from None


def _in_processes(setup: bytes, items: Sequence[T], count: int) -> Iterator[tuple[int, Any]]:
    crew: list[_Worker] = []
    waiting = iter(range(len(items)))
    stop = functools.partial(_dismiss, crew)
    # At exit, Python would wait for workers that wait for work.
    atexit.register(stop)
    try:
        for _ in range(count):
            _hire(crew)
        busy = list(crew)
        while busy:
            ready = wait([w.pipe for w in busy] + [w.process.sentinel for w in busy])
            finished: list[tuple[int, Any]] = []
            for worker in list(busy):
                if worker.pipe not in ready and worker.process.sentinel not in ready:
                    continue
                done, (good, value) = worker.index, worker.receive()
                if not good:
                    raise value
                if done is None:
                    worker.send(setup)
                worker.index = next(waiting, None)
                if worker.index is None:
                    busy.remove(worker)
                else:
                    worker.send(pickle.dumps(items[worker.index]))
                if done is not None:
                    finished.append((done, value))
            yield from finished
    finally:
        stop()
        atexit.unregister(stop)


def _hire(crew: list[_Worker]) -> None:
    """Start one more worker.

    Not a fork: libraries that draw and set pages have threads, which a fork would lose.
    """
    context = get_context("spawn")
    ends: Any = context.Pipe()  # of another type on Windows, with the same methods
    ours, theirs = ends
    with theirs, _no_interrupt():
        process = context.Process(target=_serve, args=(theirs,))
        process.start()
        crew.append(_Worker(process, ours))


@contextlib.contextmanager
def _no_interrupt() -> Iterator[None]:
    """Ctrl-C waits until this is over, and never comes to a process that is started here."""
    if sys.platform == "win32":
        yield
        return
    from multiprocessing import resource_tracker  # which Windows does without

    resource_tracker.ensure_running()  # which would let Ctrl-C through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _dismiss(crew: list[_Worker]) -> None:
    """No more items: a worker that has none ends at once, the others soon or by force."""
    until = time.monotonic() + GRACE
    try:
        for worker in crew:
            worker.pipe.close()
        for worker in crew:
            worker.process.join(max(0.0, until - time.monotonic()))
    finally:
        for worker in crew:
            worker.process.kill()
            worker.process.join()


def _serve(pipe: "Connection[Any, Any]") -> None:
    """The life of a worker: says that it is there, then answers each item."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Windows: there is nothing that blocks it
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with contextlib.suppress(EOFError, OSError):
        pipe.send((True, None))
        setup = pipe.recv_bytes()
        work: Callable[[Any], Any] | None = None
        while True:
            item = pipe.recv_bytes()
            try:
                if work is None:
                    work, prepare, arguments = pickle.loads(setup)
                    if prepare:
                        prepare(*arguments)
                assert work is not None
                answer = pickle.dumps((True, work(pickle.loads(item))))
            except BaseException as error:
                answer = _complaint(error)
            pipe.send_bytes(answer)


def _complaint(error: BaseException) -> bytes:
    """An exception for the other process; one that pickle cannot bring there is told in words."""
    if not isinstance(error, Problem):
        error.add_note(f"In a worker process:\n{''.join(traceback.format_exception(error))}")
    try:
        answer = pickle.dumps((False, error))
        pickle.loads(answer)
    except Exception:
        told = Problem(str(error)) if isinstance(error, Problem) else RuntimeError(said(error))
        return pickle.dumps((False, told))
    return answer


def _end_with_parent() -> None:
    """When the parent is killed, an item may still take long: it is dropped."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
