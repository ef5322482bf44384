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

from bugkit.files import UNFINISHED, write_bytes
from bugkit.handout.desk import Desk, put
from bugkit.problems import Problem

from .conftest import SHARE, SLUGS, Course, HandOut, files_of

pytest.importorskip("libcst", reason="needs the extra handout")

KILLS = pytest.mark.skipif(os.name != "posix", reason="sends signals")

OTHERS = {
    **os.environ,
    "PYTHONHASHSEED": "4711",
    "TZ": "Asia/Kathmandu",
    "LC_ALL": "C",
    "COLUMNS": "40",
}
"""Variables of another user's machine."""


def command(course: Course) -> list[str]:
    """The command that makes the same as this course."""
    bugs = " or ".join(SLUGS)
    return [
        *(sys.executable, "-m", "bugkit", "handout", "--roster", str(course.folder / "roster.csv")),
        *(
            "--assignment",
            course.terms.assignment,
            "--secret-file",
            str(course.folder / "mine.txt"),
        ),
        *("--bugs", bugs, "--innocent-share", str(SHARE), "--zip", "--out", "out"),
    ]


def until(condition: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.001)
    return condition()


def alive_in(group: int) -> set[int]:
    """Processes of this group; those that are dead and not yet buried do not count."""
    listed = subprocess.run(
        ["ps", "-A", "-o", "pid=,pgid=,stat="], capture_output=True, text=True, check=True
    )
    rows = map(str.split, listed.stdout.splitlines())
    return {int(pid) for pid, of, state in rows if int(of) == group and state[0] != "Z"}


def names(folder: Path) -> list[str]:
    return os.listdir(folder) if folder.is_dir() else []  # noqa: PTH208  names are wanted


def require_whole(course: Course, here: Path) -> None:
    """Whatever has its final name is as in the run that nobody stopped."""
    wanted = course.files()
    found = files_of(Desk(here / "out"))
    last = {"keys/key.json", "keys/key.csv"}
    assert not last & found.keys() or last <= found.keys()
    for name, data in found.items():
        if UNFINISHED not in name and not Path(name).name.startswith("."):
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


@KILLS
def test_no_run_that_is_stopped_leaves_anything_half_made_or_changes_the_result(
    course: Course, hand_out: HandOut, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with stopped(course, tmp_path, lambda: bool(folders_in(course, out))) as program:
        os.killpg(program.pid, signal.SIGINT)  # as Ctrl-C in a terminal: all get it
        os.killpg(program.pid, signal.SIGCONT)
        said, complaint = program.communicate(timeout=10)
        assert program.returncode == 130
        assert complaint == "bugkit: stopped; what is finished is kept for the next run\n"
        assert said == ""
    # In the middle of a folder, if the machine lets it be seen in time.
    with stopped(course, tmp_path, lambda: making(out) or folders_in(course, out) > 3) as program:
        os.killpg(program.pid, signal.SIGKILL)  # as when the machine stops
    with stopped(course, tmp_path, lambda: folders_in(course, out) > 6) as program:
        program.kill()
        os.killpg(program.pid, signal.SIGCONT)  # workers go on, and must notice
    litter(Desk(out))
    done = subprocess.run(
        command(course), cwd=tmp_path, env=OTHERS, umask=0o077, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert files_of(Desk(out)) == course.files()
    before = stamps(Desk(out))
    hand_out(tmp_path, course.terms)
    assert stamps(Desk(out)) == before


@contextlib.contextmanager
def stopped(
    course: Course, here: Path, moment: Callable[[], bool]
) -> Iterator["subprocess.Popen[str]"]:
    """The command, in a session of its own, frozen with its workers at this moment. Afterwards
    nothing of it may be alive, and what it has made must be whole."""
    with subprocess.Popen(
        command(course),
        cwd=here,
        env=OTHERS,
        umask=0o077,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as program:
        try:
            assert until(lambda: moment() or program.poll() is not None, 60)
            os.killpg(program.pid, signal.SIGSTOP)
            assert len(alive_in(program.pid)) > 1
            yield program
            assert until(lambda: alive_in(program.pid) <= {program.pid}, 5)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(program.pid, signal.SIGKILL)
    require_whole(course, here)
    assert not (here / "out-keys" / "key.json").exists()


def folders_in(course: Course, out: Path) -> int:
    """How many students have theirs."""
    return len({handout.folder for handout in course.handouts} & set(names(out)))


def making(out: Path) -> bool:
    return any(name.startswith(UNFINISHED) for name in names(out))


def litter(desk: Desk) -> None:
    """What a run leaves that is killed at the worst moment."""
    for folder in (desk.out, desk.keys, desk.keys / "pages"):
        (folder / f"{UNFINISHED}12345678" / "gpt").mkdir(parents=True)
        (folder / f"{UNFINISHED}12345678" / "gpt" / "model.py").write_text("half")


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

    def cut_short(_handle: int) -> None:
        seen.extend(path.name for path in tmp_path.iterdir())
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", cut_short)
    with pytest.raises(Problem, match="cannot be written: No space left"):
        write_bytes(tmp_path / "zq.zip", b"archive")
    (made,) = seen
    assert made.startswith(UNFINISHED)  # whoever is killed here leaves this, which is cleared away
    assert list(tmp_path.iterdir()) == []
