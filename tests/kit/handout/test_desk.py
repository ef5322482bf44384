"""Where handouts and keys lie: never in one folder, nothing half made, nothing foreign touched."""

import os
import stat
from pathlib import Path

import pytest

from bugkit.handout.desk import MAKING, TOLERATED, Desk, make_folder, put
from bugkit.handout.plan import planned
from bugkit.handout.roster import Student
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
    desk.prepare()
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
    (desk.out / f"{MAKING}1" / "gpt").mkdir(parents=True)
    (desk.out / "ada").mkdir()
    assert desk.used() == ["ada"]
    desk.require_own([ADA])
    desk.prepare()
    assert list(tree(desk.out)) == ["ada"]


@pytest.mark.parametrize("name", TOLERATED)
def test_what_systems_leave_behind_counts_for_nothing(here: Path, name: str) -> None:
    (here / name).write_text("", encoding="utf-8")
    assert Desk(here).used() == []
    Desk(here).require_own([])


def test_folders_are_made_twice_without_harm(here: Path) -> None:
    desk = Desk(here / "deep" / "out")
    desk.prepare()
    before = tree(here)
    desk.prepare()
    desk.require_free()
    assert tree(here) == before


def test_everything_of_a_student_has_the_name_of_the_folder() -> None:
    (handout,) = planned(SECRET, TERMS, [ADA])
    desk = Desk(Path("x") / "out")
    assert desk.folder(handout) == Path("x/out/ada")
    assert desk.archive(handout) == Path("x/out/ada.zip")
    assert desk.page(handout) == Path("x/out-keys/pages/ada.html")
