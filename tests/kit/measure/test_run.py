"""Running: whatever a subject does, it costs only its own evidence."""

import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bugkit.measure.evidence import Evidence, Outcome
from bugkit.measure.run import Task, measure
from bugkit.measure.script import Stage
from bugkit.measure.settings import Setting
from bugkit.subject import CORRECT_SUBJECT, Subject

SubjectWith = Callable[..., Subject]

LONG = 60.0
"""Seconds that are enough on any computer."""

ENOUGH = 6.0
"""Seconds in which a subject on three steps of training comes to where it hangs."""

CASES: dict[str, tuple[str, str, Outcome, Stage | None, str]] = {
    "a syntax error": ("train.py", "def (", Outcome.RAISED, Stage.IMPORT, "syntax error in line"),
    "an exit when imported": ("train.py", "raise SystemExit(3)", Outcome.RAISED, Stage.IMPORT, ""),
    "an exit in training": (
        "train.py",
        "def train(*_, **__): raise SystemExit(3)",
        Outcome.RAISED,
        Stage.TRAIN,
        "SystemExit: 3",
    ),
    "an error of its own": (
        "data.py",
        "def split_data(data): raise AssertionError('one\\x00two')",
        Outcome.RAISED,
        Stage.DATA,
        "AssertionError: one\x00two",
    ),
    "a crash": (
        "train.py",
        "import os\ndef train(*_, on_step, **__):\n    on_step(0, 1.0)\n    os._exit(7)",
        Outcome.CRASHED,
        Stage.TRAIN,
        "the process ended with exit code 7",
    ),
    "too much memory": (
        "data.py",
        "def split_data(data): return bytearray(1 << 40)",
        Outcome.RAISED,
        Stage.DATA,
        "MemoryError",
    ),
    "endless recursion": (
        "data.py",
        "def split_data(data): return split_data(data)",
        Outcome.RAISED,
        Stage.DATA,
        "RecursionError",
    ),
    "a folder in the message": (
        "checkpoint.py",
        "def save_checkpoint(path, *_): raise ValueError(f'{path}: full')",
        Outcome.RAISED,
        Stage.SAVE,
        "ValueError: checkpoint.npz: full",
    ),
    "no number": (
        "train.py",
        "def train(p, *_, on_step, **__):\n    on_step(0, float('nan'))\n    return p, []",
        Outcome.NOT_FINITE,
        None,
        "",
    ),
}


def run(
    *subjects: Subject, jobs: int = 2, timeout: float = LONG, setting: Setting = Setting.PLAIN
) -> dict[str, Evidence]:
    tasks = [Task(subject, setting, f"digest of {subject.id}") for subject in subjects]
    return {task.subject.id: evidence for task, evidence in measure(tasks, jobs, timeout)}


def named(case: str) -> str:
    return case.replace(" ", "_")


@pytest.fixture(scope="module")
def ended() -> dict[str, Evidence]:
    """Filled by the first test that needs it: all cases in one run, as in a catalogue."""
    return {}


@pytest.mark.parametrize("case", CASES)
def test_what_goes_wrong_is_evidence(
    case: str,
    ended: dict[str, Evidence],
    subject_with: SubjectWith,
    capfd: pytest.CaptureFixture[str],
) -> None:
    if not ended:
        subjects = [subject_with(named(c), v[1], v[0], quick=False) for c, v in CASES.items()]
        ended |= run(*subjects)
        assert capfd.readouterr() == ("", "")
    found = ended[named(case)]
    _, _, outcome, stage, message = CASES[case]
    assert (found.outcome, found.stage) == (outcome, stage)
    assert found.message.startswith(message)
    assert found.digest == f"digest of {named(case)}"


def test_a_hang_ends_in_time_and_what_was_told_before_is_kept(subject_with: SubjectWith) -> None:
    hangs = subject_with("hangs", "def generate(*_, **__):\n    while True: pass", "generate.py")
    slow_start = subject_with("never_starts", "\nwhile True:\n    pass")
    found = run(hangs, slow_start, timeout=ENOUGH)
    assert found["never_starts"].outcome is Outcome.TIMEOUT
    assert found["never_starts"].stage is Stage.IMPORT
    assert found["hangs"].message == f"not finished within {ENOUGH:g} s"
    assert found["hangs"].stage is Stage.GENERATE
    assert found["hangs"].validation_loss is not None
    assert found["hangs"].sample is None


@pytest.mark.skipif(sys.platform == "win32", reason="there are no process groups here")
def test_what_a_subject_starts_ends_with_it(subject_with: SubjectWith, tmp_path: Path) -> None:
    mark = tmp_path / "child.pid"
    below = (
        "\nimport subprocess, sys, pathlib\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"pathlib.Path({str(mark)!r}).write_text(str(child.pid))\n"
    )
    run(subject_with("starts_another", below))
    pid = int(mark.read_text(encoding="ascii"))
    with pytest.raises(ProcessLookupError):  # or it is a zombie that nobody waits for
        for _ in range(100):
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text(encoding="ascii").split()[2] == "Z":
                raise ProcessLookupError
            time.sleep(0.05)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals here")
def test_stopping_ends_every_process(subject_with: SubjectWith) -> None:
    subjects = [subject_with(f"hangs_{i}", "\nwhile True:\n    pass") for i in range(2)]

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(2)
    try:
        with pytest.raises(KeyboardInterrupt):
            run(*subjects)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    assert multiprocessing.active_children() == []


def test_three_steps_are_a_curve_of_one_point(subject_with: SubjectWith) -> None:
    found = run(subject_with("three_steps", ""))["three_steps"]
    assert found.outcome is Outcome.FINISHED
    assert (found.steps, found.first_loss, found.losses) == (3, 3.0, (2.0,))
    assert found.sample is not None
    assert found.logits_difference == found.gradient_difference == 0.0


@pytest.mark.parametrize("setting", Setting)
def test_the_correct_gpt_learns_and_is_the_same_twice(setting: Setting) -> None:
    first = run(CORRECT_SUBJECT, setting=setting)
    assert first == run(CORRECT_SUBJECT, setting=setting)
    found = first["correct"]
    assert found.outcome is Outcome.FINISHED
    assert found.validation_loss is not None
    assert found.validation_loss < 0.5
    assert found.sample is not None
    assert " the " in found.sample
