"""Files: whatever goes wrong, the old text is still there whole, and nothing else is."""

import os
import shutil
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from bugkit.files import read_text, write_text
from bugkit.places import shown
from bugkit.problems import Problem

OLD = "the old text\n"

POSIX = pytest.mark.skipif(os.name != "posix", reason="permission bits and devices are POSIX")

IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


def write_in_private_mount(mount: Path, options: str, size: int) -> str:
    """Write `size` characters to a small file system of one's own, mounted anew with `options`."""
    if shutil.which("unshare") is None:
        pytest.skip("needs unshare, to mount a file system of its own")
    # The new namespace, and the mount with it, ends with this process.
    python = """
import os, sys
from pathlib import Path
from bugkit.files import read_text, write_text
from bugkit.problems import Problem
os.chdir(sys.argv[1])
path = Path("file.txt")
try:
    write_text(path, "x" * int(sys.argv[2]))
except Problem as problem:
    print(problem, "|", read_text(path).strip(), "|", *os.listdir("."))
else:
    print("written")
"""
    shell = (
        'mount -t tmpfs -o size=64k none "$0" && echo "the old text" > "$0/file.txt" '
        f'&& mount -o {options} none "$0" || exit 77; exec "$@"'
    )
    unshare = ["unshare", "--user", "--map-root-user", "--mount"]
    done = subprocess.run(
        [*unshare, "sh", "-c", shell, str(mount), sys.executable, "-c", python, mount, str(size)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 77 or done.stderr.startswith("unshare: "):
        pytest.skip(f"no file system of one's own here: {done.stderr.strip()}")
    assert done.stderr == ""
    return done.stdout


# What must not happen.


@pytest.mark.skipif(sys.platform != "linux", reason="mounts a file system as Linux does")
def test_a_full_disk_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    told = write_in_private_mount(tmp_path, "remount,size=64k", size=200_000)
    assert (
        told == "file.txt: cannot be written: No space left on device | the old text | file.txt\n"
    )


@pytest.mark.skipif(sys.platform != "linux", reason="mounts a file system as Linux does")
def test_a_read_only_disk_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    told = write_in_private_mount(tmp_path, "remount,ro", size=1)
    assert told == "file.txt: cannot be written: Read-only file system | the old text | file.txt\n"


@pytest.mark.skipif(sys.platform != "linux", reason="mounts a file system as Linux does")
def test_a_disk_with_room_takes_the_text(tmp_path: Path) -> None:
    assert write_in_private_mount(tmp_path, "remount,size=64k", size=10_000) == "written\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_device_is_a_problem() -> None:
    with pytest.raises(Problem, match="/dev/full: cannot be written: No space left on device"):
        write_text(Path("/dev/full"), "text")


def test_text_that_cannot_be_encoded_is_a_problem_and_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_text(OLD, encoding="utf-8")
    with pytest.raises(Problem, match="cannot be written"):
        write_text(path, "half of a pair: \ud800")
    assert path.read_text(encoding="utf-8") == OLD
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_is_not_written_to(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="is a folder; name a file to write to"):
        write_text(tmp_path, "text")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_parent_is_a_problem_that_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "no" / "such" / "file.txt"
    with pytest.raises(Problem) as caught:
        write_text(path, "text")
    assert str(caught.value).startswith(f"{shown(path)}: cannot be written: ")
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_no_parent(tmp_path: Path) -> None:
    (tmp_path / "file").write_text(OLD, encoding="utf-8")
    with pytest.raises(Problem, match="cannot be written"):
        write_text(tmp_path / "file" / "below.txt", "text")


@pytest.mark.skipif(IS_ROOT, reason="root may write everywhere")
@POSIX
def test_a_parent_that_may_not_be_written_to_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_text(OLD, encoding="utf-8")
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(Problem, match="cannot be written: Permission denied"):
            write_text(path, "text")
        assert path.read_text(encoding="utf-8") == OLD
    finally:
        tmp_path.chmod(0o700)


def test_a_name_that_is_too_long_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 300)
    with pytest.raises(Problem, match="cannot be written"):
        write_text(path, "text")
    with pytest.raises(Problem, match="cannot be read"):
        read_text(path)


def test_a_missing_file_is_a_problem_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    with pytest.raises(Problem) as caught:
        read_text(path)
    assert str(caught.value) == f"{shown(path)}: cannot be read: {os.strerror(2)}"


def test_a_folder_is_not_read(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="cannot be read"):
        read_text(tmp_path)


@pytest.mark.skipif(IS_ROOT, reason="root may read every file")
@POSIX
def test_a_file_that_may_not_be_read_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.touch(mode=0)
    with pytest.raises(Problem, match="cannot be read: Permission denied"):
        read_text(path)


@pytest.mark.parametrize("codec", ["latin-1", "utf-16"])
def test_text_of_another_encoding_is_a_problem_that_says_where(tmp_path: Path, codec: str) -> None:
    path = tmp_path / "file.txt"
    path.write_bytes("größe".encode(codec))
    with pytest.raises(Problem, match=r"not UTF-8 text \(line 1, byte \d\); save it as UTF-8"):
        read_text(path)


def test_the_path_is_shown_as_a_person_would_type_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Problem) as caught:
        read_text(tmp_path / "a" / "file.txt")
    assert str(caught.value).startswith(f"{Path('a', 'file.txt')}: ")


# What is written and read.


@pytest.mark.parametrize(
    "text",
    ["", "no line end", "größe 数 😀 e\u0301\n", "a\r\nb\rc\n", "\0\x0c\u2028\n", "x" * 100_000],
    ids=["empty", "no line end", "any language", "line ends", "controls", "long"],
)
def test_text_comes_back_as_it_was_written(tmp_path: Path, text: str) -> None:
    path = tmp_path / "file.txt"
    write_text(path, text)
    assert path.read_bytes() == text.encode("utf-8")
    assert read_text(path) == text
    assert list(tmp_path.iterdir()) == [path]


def test_a_byte_order_mark_is_not_part_of_the_text(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_bytes(b"\xef\xbb\xbftext")
    assert read_text(path) == "text"


@pytest.mark.skipif(os.name != "posix", reason="Windows does not replace a file that is open")
def test_an_old_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_text(OLD * 1000, encoding="utf-8")
    with path.open(encoding="utf-8") as reader:
        write_text(path, "new")
        # Whoever had it open reads on in the old file.
        assert reader.read() == OLD * 1000
    assert read_text(path) == "new"


@POSIX
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755, 0o444])
def test_permission_bits_are_kept(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "file.txt"
    path.touch()
    path.chmod(mode)
    write_text(path, "text")
    assert stat.S_IMODE(path.stat().st_mode) == mode


@POSIX
@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_has_the_permissions_of_any_new_file(
    tmp_path: Path, umask: int, mode: int
) -> None:
    before = os.umask(umask)
    try:
        write_text(tmp_path / "file.txt", "text")
        assert os.umask(umask) == umask
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file.txt").stat().st_mode) == mode


@POSIX
def test_a_link_stays_a_link_and_its_target_is_written(tmp_path: Path) -> None:
    target = tmp_path / "target.txt"
    target.write_text(OLD, encoding="utf-8")
    link = tmp_path / "link.txt"
    link.symlink_to("target.txt")
    write_text(link, "new")
    assert link.is_symlink()
    assert read_text(target) == "new"
    assert {path.name for path in tmp_path.iterdir()} == {"link.txt", "target.txt"}


@POSIX
def test_a_device_takes_the_text_and_stays_a_device() -> None:
    write_text(Path("/dev/null"), "text")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_takes_the_text(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    got: list[str] = []
    reader = threading.Thread(
        target=lambda: got.append(path.read_text(encoding="utf-8")), daemon=True
    )
    reader.start()
    write_text(path, "größe\n")
    reader.join()
    assert got == ["größe\n"]
    assert list(tmp_path.iterdir()) == [path]
