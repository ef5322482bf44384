"""The engine: whatever a subject does, every cell is labelled and no other row is touched."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bugkit.catalogue import load_catalogue
from bugkit.engine import PATIENCE, run
from bugkit.matrix import Matrix, Outcome, Status
from bugkit.options import Options
from bugkit.places import DETECTORS
from bugkit.problems import ControlFailed, Problem
from bugkit.subject import CORRECT_SUBJECT, Kind, Subject, find_subject, subject_of
from bugkit.worker import Isolation, Worker

DEADLINE = 2.0
"""Seconds a cell may take here: the slowest takes hundredths, even on a busy machine."""

FEW = "finite or gelu or softmax_survives"
"""Three detectors: the first runs a whole model, the others one function."""

FORKS = pytest.mark.skipif(sys.platform != "linux", reason="forking is the default on Linux only")

GPT = """
from bugkit.correct import *
from bugkit.correct import gpt_forward as right_forward, gelu as right_gelu
"""
"""A correct GPT as a file of one's own, to be spoilt."""


def options(isolate: Isolation = Isolation.SUBJECT, jobs: int = 2, select: str = "") -> Options:
    return Options(select=select, jobs=jobs, isolate=isolate, timeout=DEADLINE, cache=False)


@pytest.fixture
def subject(tmp_path: Path) -> Callable[[str, str], Subject]:
    def make(name: str, body: str) -> Subject:
        path = tmp_path / f"{name}.py"
        path.write_text(GPT + body, encoding="utf-8")
        return find_subject(str(path), {})

    return make


@pytest.fixture
def mutant(tmp_path: Path) -> Callable[[str, str], Subject]:
    """A subject that may share its process with others: files never do."""

    def make(name: str, body: str) -> Subject:
        bug = replace(load_catalogue()["gelu_exact_for_tanh"], slug=name, folder=tmp_path / name)
        bug.folder.mkdir()
        source = bug.original.read_text(encoding="utf-8")
        bug.module.write_text(f"{source}\n\nright_gelu = gelu\n{body}\n", encoding="utf-8")
        return Subject(name, Kind.MUTANT, bug.title, bug.folder, bug)

    return make


def outcomes(matrix: Matrix, subject: Subject) -> dict[str, Outcome]:
    return {d.id: cell.outcome for d, cell in matrix.row(subject)}


def facts(matrix: Matrix) -> dict[tuple[str, str], tuple[str, str]]:
    """All that must not depend on how the matrix was made: everything but the seconds."""
    return {key: (cell.outcome, cell.message) for key, cell in sorted(matrix.cells.items())}


IN_A_CALL = {
    "endless loop": ("while True: pass", Outcome.TIMEOUT),
    "segmentation fault": ("import ctypes; ctypes.string_at(0)", Outcome.CRASHED),
    "os._exit(0)": ("import os; os._exit(0)", Outcome.CRASHED),
    "kills itself": ("import os; os.kill(os.getpid(), 9)", Outcome.CRASHED),
    "closes every file": ("import os; os.closerange(3, 256)", Outcome.CRASHED),
    "SystemExit": ("raise SystemExit(0)", Outcome.ERROR),
    "an assertion of its own": ("assert False, 'mine'", Outcome.ERROR),
    "pytest.fail": ("import pytest; pytest.fail('mine')", Outcome.ERROR),
    "pytest.skip": ("import pytest; pytest.skip('mine')", Outcome.ERROR),
    "KeyboardInterrupt": ("raise KeyboardInterrupt", Outcome.ERROR),
    "deep recursion": ("f = lambda n: f(n + 1); globals().update(f=f); f(0)", Outcome.ERROR),
    "50 GB": ("import numpy; numpy.ones(50 * 2**30 // 8)", Outcome.OUT_OF_MEMORY),
    "child that keeps the pipe": (
        "import os, time\n    if os.fork() == 0: time.sleep(60)\n    os._exit(0)",
        Outcome.CRASHED,
    ),
}


@FORKS
@pytest.mark.parametrize("name", IN_A_CALL)
def test_a_hostile_call_costs_its_own_cell_and_nothing_else(
    name: str, subject: Callable[[str, str], Subject]
) -> None:
    body, expected = IN_A_CALL[name]
    hostile = subject("hostile", f"def gelu(x):\n    {body}\n")
    harmless = subject("harmless", "")
    matrix = run([hostile, harmless], options(select=FEW))
    row = outcomes(matrix, hostile)
    assert row.pop("test_gelu_is_the_tanh_form") is expected
    assert set(row.values()) == {Outcome.PASSED}
    assert set(outcomes(matrix, harmless).values()) == {Outcome.PASSED}
    assert matrix.status(hostile) is Status.INVALID


@FORKS
@pytest.mark.parametrize("name", IN_A_CALL)
def test_a_hostile_mutant_costs_its_neighbours_in_a_chunk_nothing(
    name: str, mutant: Callable[[str, str], Subject]
) -> None:
    body, expected = IN_A_CALL[name]
    rows = [mutant("one", ""), mutant("hostile", f"def gelu(x):\n    {body}\n"), mutant("two", "")]
    # Here the hostile function is part of the model: most cells meet it.
    matrix = run(rows, options(Isolation.CHUNK, jobs=1, select="gelu or softmax_survives"))
    row = outcomes(matrix, rows[1])
    assert row == {
        "test_softmax_survives_large_scores": Outcome.PASSED,
        "test_gelu_is_the_tanh_form": expected,
    }
    for neighbour in (rows[0], rows[2]):
        assert set(outcomes(matrix, neighbour).values()) == {Outcome.PASSED}


AT_IMPORT = {
    "endless loop": ("while True: pass", Outcome.TIMEOUT, "not finished"),
    "os._exit(0)": ("import os; os._exit(0)", Outcome.CRASHED, "exit code 0"),
    "segmentation fault": ("import ctypes; ctypes.string_at(0)", Outcome.CRASHED, "SIGSEGV"),
    "sys.exit": ("import sys; sys.exit('bye')", Outcome.ERROR, "sys.exit('bye')"),
    "KeyboardInterrupt": ("raise KeyboardInterrupt", Outcome.ERROR, "KeyboardInterrupt"),
    "missing package": ("import no_such_package", Outcome.ERROR, "'no_such_package'"),
    "syntax error": ("def f(:", Outcome.ERROR, "syntax error in line"),
    "exception": ("1 / 0", Outcome.ERROR, "ZeroDivisionError"),
    "50 GB": ("import numpy; x = numpy.ones(50 * 2**30 // 8)", Outcome.OUT_OF_MEMORY, "memory"),
}


@FORKS
@pytest.mark.parametrize("name", AT_IMPORT)
def test_a_hostile_import_is_labelled_in_every_cell_with_one_reason(
    name: str, subject: Callable[[str, str], Subject]
) -> None:
    body, expected, reason = AT_IMPORT[name]
    hostile = subject("hostile", f"\n{body}\n")
    matrix = run([hostile], options(select=FEW))
    assert set(outcomes(matrix, hostile).values()) == {expected}
    assert all(reason in cell.message for _, cell in matrix.row(hostile))
    assert matrix.status(hostile) is Status.INVALID


def test_an_exception_that_cannot_be_told_is_an_error(
    subject: Callable[[str, str], Subject],
) -> None:
    body = "class E(Exception):\n    def __str__(self): return 1 / 0\ndef gelu(x): raise E\n"
    matrix = run([mute := subject("mute", body)], options(select="gelu"))
    assert set(outcomes(matrix, mute).values()) == {Outcome.ERROR}


@FORKS
def test_half_a_record_does_not_hold_up_the_run(subject: Callable[[str, str], Subject]) -> None:
    free = os.dup(0)  # what is opened from here on is the engine's
    os.close(free)
    body = (
        f"def gelu(x):\n    import contextlib, os\n    for fd in range({free}, 64):\n"
        "        with contextlib.suppress(OSError): os.write(fd, b'[')\n    while True: pass\n"
    )
    matrix = run([chatty := subject("chatty", body)], options(select=FEW))
    row = outcomes(matrix, chatty)
    assert row.pop("test_gelu_is_the_tanh_form") is Outcome.TIMEOUT
    assert set(row.values()) == {Outcome.PASSED}


@FORKS
def test_memory_that_is_used_up_costs_its_own_cell(subject: Callable[[str, str], Subject]) -> None:
    body = (
        "import numpy\nhoard = []\nright_norm = layer_norm\n"
        "def softmax(x, axis=-1):\n    while True: hoard.append(numpy.ones(2**17))\n"
        "def layer_norm(*a, **k):\n    numpy.ones(2**21)\n    return right_norm(*a, **k)\n"
    )
    chosen = replace(options(select="softmax_survives or layer_norm"), memory=200)
    row = outcomes(matrix := run([greedy := subject("greedy", body)], chosen), greedy)
    assert row.pop("test_softmax_survives_large_scores") is Outcome.OUT_OF_MEMORY
    assert set(row.values()) == {Outcome.PASSED}, matrix.row(greedy)


@FORKS
def test_a_cell_is_late_by_its_own_time_and_not_by_what_came_after(
    subject: Callable[[str, str], Subject], monkeypatch: pytest.MonkeyPatch
) -> None:
    # As on a busy machine: between the look at the clock and the end of the worker, it goes on.
    kill = Worker.kill

    def kill_late(worker: Worker) -> None:
        time.sleep(1.0)
        kill(worker)

    monkeypatch.setattr(Worker, "kill", kill_late)
    body = "import time\ndef gelu(x):\n    time.sleep(1.5)\n    return right_gelu(x)\n"
    chosen = replace(options(select="gelu or switch_off or softmax"), timeout=1.0)
    row = outcomes(run([slow := subject("slow", body)], chosen), slow)
    assert row.pop("test_gelu_is_the_tanh_form") is Outcome.TIMEOUT
    assert set(row.values()) == {Outcome.PASSED}


def test_slow_cells_that_are_finished_are_not_run_again(
    subject: Callable[[str, str], Subject], tmp_path: Path
) -> None:
    calls = tmp_path / "calls"
    body = (
        "import time\nright_norm = layer_norm\n"
        "def gelu(x):\n    while True: pass\n"
        f"def layer_norm(*a, **k):\n    time.sleep(0.2)\n    open({str(calls)!r}, 'a').write('.')\n"
        "    return right_norm(*a, **k)\n"
    )
    row = outcomes(run([slow := subject("slow", body)], options(select="layer_norm or gelu")), slow)
    assert row.pop("test_gelu_is_the_tanh_form") is Outcome.TIMEOUT
    assert set(row.values()) == {Outcome.PASSED}
    assert len(calls.read_text()) == 5  # one each, and two for a comparison


@FORKS
def test_after_three_hangs_what_is_slow_still_has_its_time(
    subject: Callable[[str, str], Subject],
) -> None:
    body = (
        "import time\nright_norm = layer_norm\n"
        "def softmax(*a, **k):\n    while True: pass\n"
        "def gpt_forward(*a, **k):\n    while True: pass\n"
        "def layer_norm(*a, **k):\n    time.sleep(0.12)\n    return right_norm(*a, **k)\n"
        "def gelu(x):\n    time.sleep(0.25)\n    return right_gelu(x)\n"
    )
    chosen = replace(
        options(select="softmax_survives or normalises_the_last or layer_norm or causal or gelu"),
        timeout=1.0,
    )
    matrix = run([slow := subject("slow", body)], chosen)
    row = outcomes(matrix, slow)
    assert sum(outcome is Outcome.TIMEOUT for outcome in row.values()) >= PATIENCE
    assert row["test_gelu_is_the_tanh_form"] is Outcome.PASSED, matrix.row(slow)


CHANGES = {
    "NumPy's error state": "import numpy; numpy.seterr(all='raise')",
    "the random state": "import numpy, random; numpy.random.seed(3); random.seed(3)",
    "the environment": "import os; os.environ.clear()",
    "the working directory": "import os; os.chdir('/')",
    "a NumPy function": "import numpy; numpy.tanh = numpy.sin; numpy.exp = numpy.cos",
    "the recursion limit": "import sys; sys.setrecursionlimit(60)",
    "a thread that stays": "import threading, time; "
    "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
    "a flood of output": "print('x' * 10_000_000); import os; os.write(2, b'y' * 10_000_000)",
}


@FORKS
@pytest.mark.parametrize("isolate", [Isolation.SUBJECT, Isolation.CHUNK])
@pytest.mark.parametrize("when", ["imported", "called"])
@pytest.mark.parametrize("name", CHANGES)
def test_no_change_of_the_process_reaches_another_row(
    name: str, when: str, isolate: Isolation, mutant: Callable[[str, str], Subject]
) -> None:
    body = CHANGES[name]
    if when == "called":
        body = f"def gelu(x):\n    {body}\n    return right_gelu(x)\n"
    rows = [mutant("before", ""), mutant("meddler", body), mutant("after", "")]
    matrix = run(rows, options(isolate, jobs=1, select=FEW))
    for row in (rows[0], rows[2]):
        assert set(outcomes(matrix, row).values()) == {Outcome.PASSED}
    assert len(matrix.row(rows[1])) == 3


LEAVINGS = {
    "a change that nobody looks for, and a crash": (
        "import sys\nfor name, module in list(sys.modules.items()):\n"
        "    if name.endswith('.cases'): module.ROUNDING['float64'] = -1.0\n",
        "def gelu(x):\n    import os; os._exit(0)\n",
    ),
    "a change by a module that cannot be imported": ("np.tanh = np.sin\n1 / 0\n", ""),
    "memory": ("hoard = np.ones(100 * 2**17)\n", "np.ones(50 * 2**17)\n"),
}


@FORKS
@pytest.mark.usefixtures("plain_assertions")
@pytest.mark.parametrize("name", LEAVINGS)
def test_nothing_that_a_mutant_leaves_is_charged_to_another(
    name: str, mutant: Callable[[str, str], Subject]
) -> None:
    first, last = LEAVINGS[name]
    rows = [mutant("first", first), mutant("between", ""), mutant("last", last)]
    chosen = replace(options(Isolation.CHUNK, jobs=1), memory=130)
    apart = replace(chosen, isolate=Isolation.SUBJECT)
    assert facts(run(rows, chosen)) == facts(matrix := run(rows, apart))
    assert set(outcomes(matrix, rows[1]).values()) == {Outcome.PASSED}


def test_two_subjects_of_one_name_are_not_mixed_up(
    subject: Callable[[str, str], Subject], mutant: Callable[[str, str], Subject]
) -> None:
    twin = replace(mutant("twin", ""), id=subject("twin", "").id)
    with pytest.raises(Problem, match=r"two subjects are called .*twin\.py"):
        run([subject("twin", ""), twin], options(select=FEW))


def test_a_file_may_be_called_like_a_control(
    subject: Callable[[str, str], Subject],
) -> None:
    blank = replace(subject("blank", "gelu = softmax\n"), id="blank")
    assert outcomes(run([blank], options(select="gelu")), blank) == {
        "test_gelu_is_the_tanh_form": Outcome.FAILED
    }


def matrix_of(folder: Path, *arguments: str, cached: bool = False) -> dict[str, Any]:
    """The matrix as the command line gives it, less what differs between runs.

    In a process of its own: here, the outer pytest rewrites the detectors' assertions, which
    makes a failing cell ten times as slow.
    """
    out = folder / "matrix.json"
    command = [sys.executable, "-m", "bugkit", "check", "--out", str(out)]
    command += [] if cached else ["--no-cache"]
    subprocess.run([*command, *arguments], check=True, capture_output=True)
    matrix: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    for cell in matrix["cells"]:
        del cell["seconds"]
    return matrix


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return matrix_of(tmp_path_factory.mktemp("whole"), cached=True)


def test_no_innocent_is_accused_and_every_bug_is_told_apart(whole: dict[str, Any]) -> None:
    summary = whole["summary"]
    assert summary["accused"] == []
    assert summary["broken_promises"] == []
    assert summary["killed"] == summary["mutants"] >= 27
    assert summary["innocents"] >= 8
    assert summary["shared_signatures"] == []
    assert summary["idle"] == []
    properties = [d for d in whole["detectors"] if not d["backstop"]]
    assert len(properties) >= 25
    assert len(whole["detectors"]) - len(properties) == 1
    assert whole["subjects"][0]["status"] == "green"


@FORKS
def test_the_matrix_does_not_depend_on_jobs_or_isolation(
    whole: dict[str, Any], tmp_path: Path
) -> None:
    some = ["correct", *list(load_catalogue())[::4]]
    alone = matrix_of(tmp_path, *some, "--jobs", "1", "--isolate", "subject")
    assert matrix_of(tmp_path, *some, "--jobs", "3", "--isolate", "chunk") == alone
    assert [cell for cell in whole["cells"] if cell["subject"] in some] == alone["cells"]


@FORKS
@pytest.mark.parametrize("isolate", list(Isolation))
def test_the_matrix_does_not_depend_on_the_order_of_subjects(isolate: Isolation) -> None:
    catalogue = load_catalogue()
    bugs = ["mask_added", "no_causal_mask", "unstable_softmax", "mask_inverted", "qkv_sliced"]
    rows = [CORRECT_SUBJECT, *(subject_of(catalogue[slug]) for slug in bugs)]
    forwards = run(rows, options(isolate, jobs=1, select=FEW))
    backwards = run(rows[::-1], options(isolate, jobs=1, select=FEW))
    assert facts(forwards) == facts(backwards)
    assert {c.outcome for c in forwards.cells.values()} == {Outcome.PASSED, Outcome.FAILED}


def test_new_processes_give_the_same_matrix_as_forks(
    subject: Callable[[str, str], Subject],
) -> None:
    catalogue = load_catalogue()
    bugs = ["no_causal_mask", "unstable_softmax", "mask_inverted", "mask_added"]
    rows = [*(subject_of(catalogue[slug]) for slug in bugs), subject("exits", "raise SystemExit")]
    assert facts(run(rows, options(Isolation.PROCESS))) == facts(run(rows, options()))


def test_a_name_that_is_missing_is_not_offered(subject: Callable[[str, str], Subject]) -> None:
    without = subject("without", "del gelu\n")
    matrix = run([without], options(select=FEW))
    assert outcomes(matrix, without)["test_gelu_is_the_tanh_form"] is Outcome.NOT_OFFERED
    assert matrix.status(without) is Status.GREEN


def test_what_prints_or_has_a_self_test_is_checked_quietly(
    subject: Callable[[str, str], Subject], capfd: pytest.CaptureFixture[str]
) -> None:
    loud = subject("loud", "print('hello')\nif __name__ == '__main__': raise SystemExit(1)\n")
    matrix = run([loud], options(select=FEW))
    assert matrix.status(loud) is Status.GREEN
    assert capfd.readouterr() == ("", "")


WRONG_DETECTORS = {
    "fails on the correct GPT": (
        """assert gpt.gelu(1.0) == 7, "not 7\"""",
        r"correct GPT is not green.*\n.*test_wrong: failed: not 7",
    ),
    "never looks at the subject": (
        "import bugkit.correct; assert bugkit.correct.gelu(0.0) == 0",
        r"do not look at the subject.*\n.*test_wrong: passed",
    ),
}


@pytest.mark.parametrize("name", WRONG_DETECTORS)
def test_a_detector_that_is_wrong_about_a_control_stops_the_run(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    body, said = WRONG_DETECTORS[name]
    suite = tmp_path / f"suite_{len(name)}"  # a module of its own for each case
    suite.mkdir()
    (suite / "__init__.py").write_text('FAMILIES = ("wrong", "backstop")\n', encoding="utf-8")
    (suite / "test_wrong.py").write_text(f"def test_wrong(gpt):\n    {body}\n", encoding="utf-8")
    monkeypatch.setattr("bugkit.suite.DETECTORS", suite)
    with pytest.raises(ControlFailed, match=said):
        run([CORRECT_SUBJECT], options())


def test_what_a_control_once_did_is_not_remembered(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    suite = tmp_path / "suite_of_one"
    suite.mkdir()
    (suite / "__init__.py").write_text('FAMILIES = ("one", "backstop")\n', encoding="utf-8")
    body = "def test_one(gpt):\n    import os\n    gpt.gelu\n    assert 'WELL' in os.environ\n"
    (suite / "test_one.py").write_text(body, encoding="utf-8")
    monkeypatch.setattr("bugkit.suite.DETECTORS", suite)
    monkeypatch.setenv("BUGKIT_CACHE_DIR", str(tmp_path / "cells"))
    remembering = replace(options(), cache=True)
    with pytest.raises(ControlFailed):
        run([CORRECT_SUBJECT], remembering)
    monkeypatch.setenv("WELL", "yes")
    assert run([CORRECT_SUBJECT], remembering).status(CORRECT_SUBJECT) is Status.GREEN


@FORKS
def test_an_interrupt_during_the_controls_stops_the_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    suite = tmp_path / "suite_interrupted"
    suite.mkdir()
    (suite / "__init__.py").write_text('FAMILIES = ("one", "backstop")\n', encoding="utf-8")
    body = "def test_one(gpt):\n    raise KeyboardInterrupt\n"
    (suite / "test_one.py").write_text(body, encoding="utf-8")
    monkeypatch.setattr("bugkit.suite.DETECTORS", suite)
    with pytest.raises(KeyboardInterrupt):
        run([CORRECT_SUBJECT], options())


def test_detectors_that_change_meanwhile_stop_a_run_in_new_processes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # The new process collects the real ones.
    changed = tmp_path / "changed_detectors"
    shutil.copytree(DETECTORS, changed, ignore=shutil.ignore_patterns("__pycache__"))
    cases = changed / "cases.py"
    cases.write_text(cases.read_text(encoding="utf-8") + "\nMORE = 1\n", encoding="utf-8")
    monkeypatch.setattr("bugkit.suite.DETECTORS", changed)
    with pytest.raises(Problem, match="the detectors have changed"):
        run([CORRECT_SUBJECT], options(Isolation.PROCESS, select="gelu"))


@pytest.mark.parametrize("bad", ["and", "test_gelu(", "a b"])
def test_a_bad_selection_is_one_clear_message(bad: str) -> None:
    with pytest.raises(Problem) as caught:
        run([CORRECT_SUBJECT], options(select=bad))
    assert bad in str(caught.value)
    assert "Traceback" not in str(caught.value)


def test_a_selection_of_nothing_says_so() -> None:
    with pytest.raises(Problem, match="no detector matches 'nothing_like_it'"):
        run([CORRECT_SUBJECT], options(select="nothing_like_it"))


@FORKS
@pytest.mark.parametrize("interrupt", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_ends_at_once_and_leaves_no_process(
    interrupt: signal.Signals, tmp_path: Path
) -> None:
    marker = tmp_path / "pid"
    body = f"import os, pathlib\npathlib.Path({str(marker)!r}).write_text(str(os.getpid()))\n"
    (tmp_path / "hang.py").write_text(body + "while True: pass\n", encoding="utf-8")
    command = [sys.executable, "-m", "bugkit", "check", "hang.py", "--timeout", "60", "--no-cache"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    until = time.monotonic() + 60
    while not (marker.exists() and marker.read_text()) and time.monotonic() < until:
        time.sleep(0.01)
    process.send_signal(interrupt)
    _, said = process.communicate(timeout=30)
    assert process.returncode not in (0, 2, 3)
    assert "Traceback" not in said
    worker = int(marker.read_text())
    until = time.monotonic() + 10
    while _alive(worker) and time.monotonic() < until:
        time.sleep(0.01)
    assert not _alive(worker)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rsplit(")", 1)[1].split()[0] != "Z"
