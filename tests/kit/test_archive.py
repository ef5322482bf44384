"""A folder as a zip."""

import hashlib
import io
import shutil
import stat
import subprocess
import zipfile
from pathlib import Path

import pytest

from bugkit.archive import zipped

FILES = {
    "parts/block.py": b"import numpy\n" * 100,
    "README.md": b"",
    "sheet.html": "<p>größer</p>\n".encode() * 50,
    "Übung/größer 1.txt": b"\x00\xff\r\n",
}

FOLDER = "Zoë Nguyễn"


def entries(data: bytes) -> list[zipfile.ZipInfo]:
    return zipfile.ZipFile(io.BytesIO(data)).infolist()


@pytest.mark.parametrize(
    "name",
    [
        *("/a", "../a", "a/../../b", "a/..", "..", ".", "a/./b", "a//b", "a/", ""),
        *("a\\b", "C:/a", "a:b", "a\x00b", "a\nb", "a\x7f", "\ud800"),
    ],
)
def test_nothing_unpacks_elsewhere_or_under_another_name(name: str) -> None:
    with pytest.raises(ValueError):
        zipped("folder", {"fine.txt": b"", name: b""})
    with pytest.raises(ValueError):
        zipped(name, {"fine.txt": b""})


def test_the_folder_is_not_a_path() -> None:
    with pytest.raises(ValueError, match="one folder"):
        zipped("a/b", {"fine.txt": b""})


def test_the_bytes_are_these_on_any_machine_with_any_python() -> None:
    data = zipped(FOLDER, FILES)
    assert data == zipped(FOLDER, dict(reversed(FILES.items())))
    assert (
        hashlib.sha256(data).hexdigest()
        == "7e98f59c0c0da0cd39d1189be4de90f6aa13845f182dd1aa86032b6d7321b5d8"
    )


def test_the_contents_and_names_are_the_same_again() -> None:
    archive = zipfile.ZipFile(io.BytesIO(zipped(FOLDER, FILES)))
    assert archive.testzip() is None
    assert archive.namelist() == [f"{FOLDER}/{name}" for name in sorted(FILES)]
    assert {n: archive.read(f"{FOLDER}/{n}") for n in FILES} == FILES


def test_an_entry_says_nothing_of_the_machine() -> None:
    for entry in entries(zipped(FOLDER, FILES)):
        assert entry.date_time == (1980, 1, 1, 0, 0, 0)
        assert entry.create_system == 3
        assert entry.external_attr >> 16 == stat.S_IFREG | 0o644
        assert entry.compress_type == zipfile.ZIP_STORED
        assert not entry.extra
        assert not entry.comment


@pytest.mark.skipif(not shutil.which("unzip"), reason="unzip is not installed")
def test_another_program_unpacks_the_same_files(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(zipped(FOLDER, FILES))
    command = ["unzip", "-q", "a.zip", "-d", "out"]
    environment = {"LC_ALL": "C.UTF-8", "PATH": str(Path(shutil.which("unzip") or "").parent)}
    subprocess.run(command, cwd=tmp_path, check=True, env=environment)
    top = tmp_path / "out"
    assert [path.name for path in top.iterdir()] == [FOLDER]
    found = [path for path in top.rglob("*") if path.is_file()]
    assert {p.relative_to(top / FOLDER).as_posix(): p.read_bytes() for p in found} == FILES
    assert {path.stat().st_mode & 0o777 for path in found} == {0o644}
