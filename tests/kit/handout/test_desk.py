"""Where handouts and keys lie: never in one folder, nothing half made, nothing foreign touched."""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bugkit.files import UNFINISHED, write_bytes
from bugkit.handout import manifest
from bugkit.handout.desk import TOLERATED, Desk, make_folder, put
from bugkit.handout.manifest import Manifest
from bugkit.handout.plan import planned
from bugkit.handout.roster import Student
from bugkit.handout.secret import store
from bugkit.problems import Problem

from .asking import SECRET, TERMS, tree

ADA = Student("ada", "Ada", None, 1)
POSIX = pytest.mark.skipif(os.name != "posix", reason="permission bits are POSIX")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


# What must not happen.


@pytest.mark.parametrize("out", ["out", "out/", "./out", "../out", ".", "..", "a/..", "a/b"])
def test_keys_never_lie_within_the_handouts(here: Path, out: str) -> None:
    (here / "a").mkdir()
    desk = Desk(Path(out))
    whole, keys = desk.out.resolve(), desk.keys.resolve()
    assert keys.parent == whole.parent
    assert keys.name == f"{whole.name}-keys"
    assert desk.secret.resolve().is_relative_to(keys)


def test_the_top_of_a_disk_is_refused(here: Path) -> None:
    with pytest.raises(Problem, match="no folder fits beside it; name another with --out"):
        Desk(Path(here.anchor)).require_free()


@pytest.mark.parametrize("name", ["out", "out-keys"])
def test_a_file_is_not_taken_for_a_folder(here: Path, name: str) -> None:
    (here / name).write_text("mine", encoding="utf-8")
    with pytest.raises(Problem, match=f"^{name}: is a file; name another folder with --out$"):
        Desk(Path("out")).require_free()


@pytest.mark.parametrize("name", ["bob", "bob.zip", "ada.txt", ".hidden", "making-x"])
def test_what_is_nobodys_is_named(here: Path, name: str) -> None:
    desk = Desk(here)
    (here / "ada").mkdir()
    (here / "ada.zip").write_bytes(b"")
    desk.require_own([ADA])
    (here / name).write_text("mine", encoding="utf-8")
    with pytest.raises(Problem, match=f"^{name}: belongs to no student of this roster; take it"):
        desk.require_own([ADA])


def test_a_folder_that_exists_is_never_changed(here: Path) -> None:
    (here / "ada").mkdir()
    (here / "ada" / "answers.txt").write_text("mine", encoding="utf-8")
    before = tree(here)
    put(here / "ada", {"answers.txt": b"new", "other.txt": b""})
    assert tree(here) == before


def test_a_folder_is_made_as_a_whole_or_not_at_all(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Path.write_bytes

    def full(path: Path, data: bytes) -> int:
        if path.name == "b":
            raise OSError(28, "No space left on device")
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(Problem, match=r"^ada: cannot be written: No space left on device$"):
        put(here / "ada", {"a": b"1", "b": b"2"})
    assert tree(here) == {}


@POSIX
def test_others_may_read_handouts_and_not_keys(here: Path) -> None:
    desk = Desk(here / "out")
    with desk.open():
        pass
    put(desk.out / "ada", {"gpt/model.py": b""})
    assert stat.S_IMODE((desk.out / "ada").stat().st_mode) == 0o755
    assert stat.S_IMODE(desk.keys.stat().st_mode) == 0o700


def test_a_folder_that_cannot_be_made_is_a_problem(here: Path) -> None:
    (here / "file").write_text("", encoding="utf-8")
    with pytest.raises(Problem, match=r"file.x: cannot be made: "):
        make_folder(here / "file" / "x")


# What must happen.


def test_what_a_killed_run_left_is_cleared_away(here: Path) -> None:
    desk = Desk(here / "out")
    (desk.out / f"{UNFINISHED}1" / "gpt").mkdir(parents=True)
    (desk.out / "ada").mkdir()
    assert desk.used() == ["ada"]
    desk.require_own([ADA])
    with desk.open():
        pass
    assert list(tree(desk.out)) == ["ada"]


def test_a_second_run_waits_for_nobody_and_takes_nothing_away(here: Path) -> None:
    desk = Desk(here / "out")
    with desk.open():
        (desk.out / f"{UNFINISHED}1").mkdir()
        with pytest.raises(Problem, match="out-keys: another run is at work here"), desk.open():
            pass
        assert (desk.out / f"{UNFINISHED}1").is_dir()


def test_who_is_still_at_work_on_what_was_cleared_away_ends_with_nothing(here: Path) -> None:
    files = dict.fromkeys(["a/x", "b/y", "c"], b"")
    desk = Desk(here / "out")

    class Late(dict[str, bytes]):
        """Another run clears away in the middle of it."""

        def items(self) -> Any:
            for number, item in enumerate(files.items()):
                if number == 1:
                    with desk.open():
                        pass
                yield item

    with desk.open():
        pass
    with pytest.raises(Problem, match="cannot be written"):
        put(desk.out / "ada", Late())
    assert list(tree(desk.out)) == []


@pytest.mark.parametrize("inside", ["out/ada", "out/ada/gpt/more", "out"])
def test_no_key_lies_among_handouts(here: Path, inside: str) -> None:
    desk = Desk(here / "out")
    with desk.open():
        (desk.keys / manifest.NAME).write_text("{}", encoding="utf-8")
    with pytest.raises(Problem, match=r"lies among the handouts in out, .* another folder"):
        Desk(here / inside / "late").require_free()


def test_no_key_lies_beside_what_is_none(here: Path) -> None:
    (here / "out-keys" / "ada").mkdir(parents=True)
    with pytest.raises(Problem, match=r"out-keys.ada: is no key; .* another folder with --out"):
        Desk(here / "out").require_free()


@POSIX
def test_keys_are_private_even_in_a_folder_that_was_not(here: Path) -> None:
    desk = Desk(here / "out")
    desk.keys.mkdir(mode=0o755)
    with desk.open():
        write_bytes(desk.keys / "key.csv", b"", private=True)
    assert stat.S_IMODE(desk.keys.stat().st_mode) == 0o700
    assert stat.S_IMODE((desk.keys / "key.csv").stat().st_mode) == 0o600


def test_what_a_kill_leaves_of_a_file_among_the_keys_stops_no_later_run(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(here / "out")
    with desk.open():
        pass

    def killed(_handle: int) -> None:
        for path in list(desk.keys.iterdir()):
            path.with_name(f"{path.name}-left").write_bytes(path.read_bytes())
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", killed)
    (manifested,) = planned(SECRET, TERMS, [ADA])
    record = Manifest("0000-0000", TERMS, (manifested.student,))
    writes: list[Callable[[], None]] = [
        lambda: manifest.write(desk.keys, record),
        lambda: store(SECRET, desk.secret),
        lambda: write_bytes(desk.keys / "key.csv", b"x", private=True),
    ]
    for write in writes:
        with pytest.raises(Problem, match="cannot be written: No space left"):
            write()
    assert len(list(desk.keys.iterdir())) >= 3
    desk.require_free()
    with desk.open():
        assert list(tree(desk.keys)) == []


@pytest.mark.parametrize("name", TOLERATED)
def test_what_systems_leave_behind_counts_for_nothing(here: Path, name: str) -> None:
    (here / name).write_text("", encoding="utf-8")
    assert Desk(here).used() == []
    Desk(here).require_own([])


def test_folders_are_made_twice_without_harm(here: Path) -> None:
    desk = Desk(here / "deep" / "out")
    with desk.open():
        before = tree(here)
    with desk.open():
        pass
    desk.require_free()
    assert tree(here) == before


def test_everything_of_a_student_has_the_name_of_the_folder() -> None:
    (handout,) = planned(SECRET, TERMS, [ADA])
    desk = Desk(Path("x") / "out")
    assert desk.folder(handout) == Path("x/out/ada")
    assert desk.archive(handout) == Path("x/out/ada.zip")
    assert desk.page(handout) == Path("x/out-keys/pages/ada.html")
