"""Runs that are stopped: nothing half-made has its final name, and the next run goes on."""

import contextlib
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bugkit.handout.desk import MAKING, Desk, put, put_file
from bugkit.problems import Problem

from .conftest import SHARE, SLUGS, Course, files_of

pytest.importorskip("libcst", reason="needs the extra handout")

KILLS = pytest.mark.skipif(os.name != "posix", reason="sends signals")

OTHERS = {"PYTHONHASHSEED": "4711", "TZ": "Asia/Kathmandu", "LC_ALL": "C", "COLUMNS": "40"}


def command(course: Course, out: str = "out") -> list[str]:
    """The command that makes the same as this course."""
    bugs = " or ".join(SLUGS)
    return [
        *(sys.executable, "-m", "bugkit", "handout", "--roster", str(course.folder / "roster.csv")),
        *("--assignment", course.terms.assignment, "--secret-file", str(course.folder / "mine.txt")),
        *("--bugs", bugs, "--innocent-share", str(SHARE), "--zip", "--out", out),
    ]


@contextlib.contextmanager
def started(course: Course, here: Path) -> Iterator["subprocess.Popen[str]"]:
    """The command at work in a session of its own: Ctrl-C goes to all processes in it."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command(course),
        cwd=here,
        stdout=pipe,
        stderr=pipe,
        text=True,
        start_new_session=True,
    ) as program:
        try:
            yield program
        finally:
            program.kill()


def finished(course: Course, here: Path, **more: object) -> "subprocess.CompletedProcess[str]":
    done = subprocess.run(command(course), cwd=here, capture_output=True, text=True, **more)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done  # type: ignore[no-any-return]


def until(condition: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.001)
    return condition()


def members(session: int) -> set[int]:
    """Processes of this session that live; of Linux, those that nobody has buried do not count."""
    found = set()
    listed = subprocess.run(
        ["ps", "-A", "-o", "pid=,sess=,stat="], capture_output=True, text=True, check=True
    )
    for line in listed.stdout.splitlines():
        pid, of, state = line.split()
        if int(of) == session and not state.startswith("Z"):
            found.add(int(pid))
    return found


def names(folder: Path) -> list[str]:
    return os.listdir(folder) if folder.is_dir() else []  # noqa: PTH208  names are wanted


def require_whole(course: Course, here: Path) -> None:
    """Whatever has its final name is as in the run that nobody stopped."""
    wanted = course.files()
    found = files_of(Desk(here / "out"))
    last = {"keys/key.json", "keys/key.csv"}
    assert not last & found.keys() or last <= found.keys()
    for name, data in found.items():
        if MAKING not in name and not Path(name).name.startswith("."):
            assert wanted[name] == data, name
    for handout in course.handouts:
        made = {name for name in found if name.startswith(f"out/{handout.folder}/")}
        assert not made or made == {n for n in wanted if n.startswith(f"out/{handout.folder}/")}
    for archive in (here / "out").glob("*.zip"):
        with zipfile.ZipFile(archive) as opened:
            assert opened.testzip() is None


def stamps(desk: Desk) -> dict[Path, int]:
    """When each file and each folder was changed."""
    paths = [path for top in (desk.out, desk.keys) for path in (top, *top.rglob("*"))]
    return {path: path.stat().st_mtime_ns for path in paths}


FIRST, UNFINISHED, LAST = "the first folder", "an unfinished folder", "all folders but no key"


@KILLS
def test_no_kill_leaves_anything_half_made_or_changes_the_result(
    course: Course, tmp_path: Path
) -> None:
    out, folders = tmp_path / "out", {handout.folder for handout in course.handouts}

    def begun(moment: str) -> bool:
        there = names(out)
        if moment == UNFINISHED:
            return any(name.startswith(MAKING) for name in there)
        return len(folders & set(there)) >= (1 if moment == FIRST else len(folders))

    (tmp_path / "out").mkdir()
    for moment in (FIRST, UNFINISHED, LAST):
        with started(course, tmp_path) as program:
            assert until(lambda moment=moment: begun(moment), 60), moment  # type: ignore[misc]
            crew = members(program.pid) - {program.pid}
            if moment == UNFINISHED:
                os.killpg(program.pid, signal.SIGKILL)  # as when the machine stops
            else:
                program.kill()
            program.wait()
            assert until(lambda: not members(program.pid), 5), moment
        assert crew, moment
        require_whole(course, tmp_path)
        assert not (tmp_path / "out-keys" / "key.json").exists(), moment
        assert len(folders & set(names(out))) < len(folders) or moment == LAST
    litter(Desk(out))
    finished(course, tmp_path)
    assert files_of(Desk(out)) == course.files()
    before = stamps(Desk(out))
    finished(course, tmp_path)
    assert stamps(Desk(out)) == before


def litter(desk: Desk) -> None:
    """What a run leaves that is killed at the worst moment."""
    for folder in (desk.out, desk.keys, desk.keys / "pages"):
        (folder / f"{MAKING}12345678" / "gpt").mkdir(parents=True)
        (folder / f"{MAKING}12345678" / "gpt" / "model.py").write_text("half")


@KILLS
def test_ctrl_c_says_one_line_and_leaves_nothing_half_made(course: Course, tmp_path: Path) -> None:
    with started(course, tmp_path) as program:
        assert until(lambda: bool(set(names(tmp_path / "out"))), 60)
        assert members(program.pid) - {program.pid}
        os.killpg(program.pid, signal.SIGINT)
        said, complaint = program.communicate(timeout=10)
        assert program.returncode == 130
        assert (said, complaint.count("\n")) == ("", 1)
        assert complaint == "bugkit: stopped; what is finished is kept for the next run\n"
        assert until(lambda: not members(program.pid), 5)
    require_whole(course, tmp_path)
    assert not (tmp_path / "out-keys" / "key.json").exists()
    finished(
        course,
        tmp_path,
        env={**os.environ, **OTHERS},
        **({"umask": 0o077} if os.name == "posix" else {}),
    )
    assert files_of(Desk(tmp_path / "out")) == course.files()


def test_no_folder_is_left_with_a_part_of_its_files(tmp_path: Path) -> None:
    files = {"a.py": b"a", "b/c.py": b"c", "b": b"a folder is there already"}
    with pytest.raises(Problem, match="cannot be written"):
        put(tmp_path / "student", files)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_exists_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "student").mkdir()
    (tmp_path / "student" / "a.py").write_bytes(b"worked on")
    put(tmp_path / "student", {"a.py": b"a", "b.py": b"b"})
    assert (tmp_path / "student" / "a.py").read_bytes() == b"worked on"
    assert [path.name for path in tmp_path.rglob("*")] == ["student", "a.py"]


def test_no_file_is_left_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def cut_short(handle: int) -> None:
        seen.extend(path.name for path in tmp_path.iterdir())
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", cut_short)
    with pytest.raises(Problem, match="cannot be written: No space left"):
        put_file(tmp_path / "zq.zip", b"archive")
    (made,) = seen
    assert made.startswith(MAKING)  # whoever is killed here leaves this, which is cleared away
    assert list(tmp_path.iterdir()) == []
