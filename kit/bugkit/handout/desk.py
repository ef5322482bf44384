"""The folder that handouts are written to, and the folder of their keys beside it."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..files import write_bytes
from ..places import shown
from ..problems import Problem, reason
from .folder import folder_name
from .plan import Handout
from .roster import Student

MAKING = ".making-"
"""What begins the name of a folder that is not finished."""

TOLERATED = (".DS_Store", "Thumbs.db", "desktop.ini", "__MACOSX")
"""What systems leave behind wherever a person looks."""

SECRET = "secret.txt"


@dataclass(frozen=True, slots=True)
class Desk:
    """Where everything lies."""

    out: Path

    @property
    def keys(self) -> Path:
        """Never inside of what students get, so that nobody sends both."""
        out = self.out if self.out.name not in ("", "..") else self.out.resolve()
        return out.with_name(f"{out.name}-keys")

    @property
    def secret(self) -> Path:
        """Where the secret is unless the teacher has one elsewhere."""
        return self.keys / SECRET

    def folder(self, handout: Handout) -> Path:
        """Of one student."""
        return self.out / handout.folder

    def archive(self, handout: Handout) -> Path:
        """The same to send."""
        return self.out / f"{handout.folder}.zip"

    def page(self, handout: Handout) -> Path:
        """The key to it."""
        return self.keys / "pages" / f"{handout.folder}.html"

    def require_free(self) -> None:
        """Raise Problem if one of the two folders is something else, or cannot be written to."""
        if not self.out.name and not self.out.resolve().name:
            raise Problem(f"{shown(self.out)}: no folder fits beside it; name another with --out")
        for folder in (self.out, self.keys):
            if folder.exists() and not folder.is_dir():
                raise Problem(f"{shown(folder)}: is a file; name another folder with --out")
            if folder.exists() and not os.access(folder, os.W_OK | os.X_OK):
                raise Problem(
                    f"{shown(folder)}: you may not write to it; change that, or name another "
                    "folder with --out"
                )

    def used(self) -> list[str]:
        """Names of what lies among the handouts."""
        if not self.out.is_dir():
            return []
        names = sorted(os.listdir(self.out))  # noqa: PTH208  names are all that is wanted
        return [n for n in names if n not in TOLERATED and not n.startswith(MAKING)]

    def require_own(self, students: Iterable[Student]) -> None:
        """Raise Problem if something lies there that is nobody's handout."""
        folders = [folder_name(student.id) for student in students]
        own = {*folders, *(f"{folder}.zip" for folder in folders)}
        for name in self.used():
            if name not in own:
                raise Problem(
                    f"{shown(self.out / name)}: belongs to no student of this roster; take it "
                    "away, or name another folder with --out"
                )

    def prepare(self) -> None:
        """Make the folders, and clear away what a killed run left unfinished."""
        make_folder(self.out)
        make_folder(self.keys, mode=0o700)
        make_folder(self.keys / "pages")
        for folder in (self.out, self.keys, self.keys / "pages"):
            for unfinished in folder.glob(f"{MAKING}*"):
                shutil.rmtree(unfinished, ignore_errors=True)


def make_folder(folder: Path, mode: int = 0o777) -> None:
    """With its parents, unless it exists."""
    try:
        folder.mkdir(mode=mode, parents=True, exist_ok=True)
    except OSError as error:
        raise Problem(f"{shown(folder)}: cannot be made: {reason(error)}") from None


def put(folder: Path, files: Mapping[str, bytes]) -> None:
    """Make this folder with these files, as a whole or not at all; one that exists stays."""
    try:
        with _unfinished(folder.parent) as making:
            for name, content in files.items():
                path = making / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            if not folder.exists():
                making.rename(folder)
    except OSError as error:
        if folder.is_dir() and not isinstance(error, PermissionError):
            return  # another run has made it meanwhile
        raise Problem(f"{shown(folder)}: cannot be written: {reason(error)}") from None


def put_file(path: Path, data: bytes) -> None:
    """Write a file as a whole or not at all; what a killed run leaves of it is cleared away by the
    next one, as with folders."""
    try:
        with _unfinished(path.parent) as making:
            write_bytes(making / path.name, data)
            (making / path.name).replace(path)
    except OSError as error:
        raise Problem(f"{shown(path)}: cannot be written: {reason(error)}") from None


@contextlib.contextmanager
def _unfinished(parent: Path) -> Iterator[Path]:
    """A folder that is gone at the end unless it has got its name."""
    making = Path(tempfile.mkdtemp(prefix=MAKING, dir=parent))
    try:
        # Others may not look into a temporary folder, but students shall.
        making.chmod(0o755)
        yield making
    finally:
        shutil.rmtree(making, ignore_errors=True)
