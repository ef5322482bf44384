"""Many items in several processes: above all, how that ends."""

import contextlib
import operator
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bugkit.parallel import spread
from bugkit.problems import ControlFailed, MissingTool

KILLS = pytest.mark.skipif(os.name != "posix", reason="sends signals")

WORK = """
import multiprocessing, os, pathlib, sys, time
from bugkit.parallel import spread
from bugkit.problems import ControlFailed, MissingTool, Problem

HERE = pathlib.Path(__file__).parent
ADDED = 0

class Odd(Exception):
    def __init__(self, a, b):
        super().__init__(f"{a} and {b}")

def prepare(number):
    global ADDED
    ADDED += number
    (HERE / f"prepared-{os.getpid()}").touch()

def note_workers():
    for child in multiprocessing.active_children():
        (HERE / f"pid-{child.pid}").touch()

def added(item):
    end = time.monotonic() + 20
    while len(list(HERE.glob("prepared-*"))) < 2 and time.monotonic() < end:
        time.sleep(0.01)  # for the other worker
    return item + ADDED, os.getpid()

def sleep(item):
    (HERE / f"pid-{os.getpid()}").touch()
    time.sleep(item)

def refuse(item):
    if item == 3:
        raise MissingTool("no tool", "extra")
    if item == 4:
        raise ControlFailed("number 4")
    if item == 5:
        raise Odd("one", "two")
    if item == 6:
        raise ValueError("six")
    (HERE / f"done-{item}").touch()
    time.sleep(0.02)

def unprepared():
    raise Problem("not prepared")

def die(item):
    os.kill(os.getpid(), 9)

def leave(item):
    os._exit(7)
"""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "some_work.py").write_text(WORK, encoding="utf-8")
    return tmp_path


@contextlib.contextmanager
def started(here: Path, body: str) -> Iterator["subprocess.Popen[str]"]:
    """A program that does something with all of `some_work`."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    text = f"from some_work import *\nif __name__ == '__main__':\n{lines}"
    (here / "program.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "program.py"]
    pipe = subprocess.PIPE
    # A session of its own, as in a terminal: Ctrl-C goes to all processes in it.
    with subprocess.Popen(
        command, cwd=here, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    ) as program:
        try:
            yield program
        finally:
            program.kill()


def outcome(here: Path, body: str) -> tuple[str, str]:
    """What a program says that runs to its end, and what it complains of."""
    with started(here, body) as program:
        said, complaint = program.communicate(timeout=30)
    return said.strip(), complaint


def until(condition: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def workers(here: Path) -> list[int]:
    return [int(path.name.removeprefix("pid-")) for path in here.glob("pid-*")]


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rsplit(")", 1)[1].split()[0] != "Z"


def gone(here: Path) -> bool:
    return not any(map(alive, workers(here)))


@KILLS
@pytest.mark.parametrize("item", [0, 60], ids=["waiting", "working"])
def test_a_killed_program_leaves_no_worker(item: int, here: Path) -> None:
    body = f"""\
for _ in spread(sleep, [{item}] * 4, 2):
    note_workers()
    time.sleep(60)
"""
    with started(here, body) as program:
        assert until(lambda: len(workers(here)) == 2, 20)
        assert all(map(alive, workers(here)))
        program.kill()
        assert until(lambda: gone(here), 2)


@KILLS
@pytest.mark.parametrize("signals", [1, 2], ids=["once", "twice"])
def test_ctrl_c_ends_all_at_once_and_only_the_program_speaks(signals: int, here: Path) -> None:
    body = """\
try:
    list(spread(sleep, [60] * 100, 2))
except KeyboardInterrupt:
    print("stopped")
"""
    with started(here, body) as program:
        assert until(lambda: len(workers(here)) == 2, 20)
        sent = time.monotonic()
        for _ in range(signals):
            os.killpg(program.pid, signal.SIGINT)
            time.sleep(0.05)
        said, complaint = program.communicate(timeout=10)
    assert time.monotonic() - sent < 5
    assert (said, complaint) == ("stopped\n", "")
    assert gone(here)


@KILLS
@pytest.mark.parametrize("wait", [0.01, 0.03, 0.06])
def test_ctrl_c_while_workers_start_shows_no_traceback_of_theirs(wait: float, here: Path) -> None:
    body = """\
try:
    print("go", flush=True)
    list(spread(sleep, [60] * 100, 2))
except KeyboardInterrupt:
    print("stopped")
"""
    with started(here, body) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "go\n"
        time.sleep(wait)
        os.killpg(program.pid, signal.SIGINT)
        assert program.communicate(timeout=10) == ("stopped\n", "")


@KILLS
def test_an_iterator_that_is_closed_or_forgotten_ends_its_workers(here: Path) -> None:
    body = """\
done = spread(sleep, [0] + [60] * 9, 2)
next(done)
note_workers()
done.close()
print(len(multiprocessing.active_children()))
left = spread(sleep, [0] + [60] * 9, 2)
next(left)
note_workers()
"""
    assert outcome(here, body) == ("0", "")
    assert len(workers(here)) == 4
    assert gone(here)


@KILLS
@pytest.mark.parametrize(
    ("work", "ending"), [("die", "killed by signal SIGKILL"), ("leave", "exit code 7")]
)
def test_a_worker_that_dies_is_one_problem(work: str, ending: str, here: Path) -> None:
    body = f"""\
try:
    list(spread({work}, range(100), 2))
except Problem as problem:
    print(problem)
"""
    said, complaint = outcome(here, body)
    assert said.startswith("a worker process died (")
    assert ending in said
    assert complaint == ""


def test_an_exception_ends_the_rest_and_is_itself(here: Path) -> None:
    body = """\
for first in (3, 4, 5, 6):
    try:
        list(spread(refuse, [first, *range(100, 400)], 2))
    except Exception as error:
        print(type(error).__name__, error, "in refuse" in "".join(getattr(error, "__notes__", ())))
try:
    list(spread(refuse, range(300), 2, unprepared))
except Problem as error:
    print(error)
"""
    said, complaint = outcome(here, body)
    assert complaint == ""
    tool = str(MissingTool("no tool", "extra"))
    assert said.splitlines() == [
        f"MissingTool {tool} False",
        "ControlFailed number 4 False",
        "RuntimeError Odd: one and two False",
        "ValueError six True",
        "not prepared",
    ]
    assert len(list(here.glob("done-*"))) < 150


def test_each_worker_is_prepared_once_and_no_result_is_lost_or_exchanged(here: Path) -> None:
    body = """\
seen = list(spread(added, range(1000), 2, prepare, (1000,)))
assert sorted((i, value) for i, (value, _) in seen) == [(i, 1000 + i) for i in range(1000)]
assert {f"prepared-{pid}" for _, (_, pid) in seen} == {x.name for x in HERE.glob("prepared-*")}
print(len(list(HERE.glob("prepared-*"))), ADDED)
"""
    assert outcome(here, body) == ("2 0", "")


def test_large_items_and_results_do_not_block_each_other() -> None:
    items = [bytes([i]) * 2_000_000 for i in range(4)]
    assert sorted(spread(bytes.upper, items, 2)) == [(i, x.upper()) for i, x in enumerate(items)]


def test_nothing_to_do_starts_and_prepares_nothing() -> None:
    def fail() -> None:
        raise AssertionError

    assert list(spread(operator.neg, [], 2, fail)) == []


def test_one_worker_is_this_process() -> None:
    prepared: list[str] = []
    done = spread(lambda item: (item, os.getpid()), "ab", 1, prepared.append, ("once",))
    assert list(done) == [(0, ("a", os.getpid())), (1, ("b", os.getpid()))]
    assert prepared == ["once"]
    with pytest.raises(ControlFailed):
        list(spread(_fail, "ab", 1))


def _fail(item: str) -> None:
    raise ControlFailed(item)
