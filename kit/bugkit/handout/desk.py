"""The folder that handouts are written to, and the folder of their keys beside it."""

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..files import UNFINISHED, umask
from ..places import shown
from ..problems import Problem, reason
from . import manifest
from .folder import folder_name
from .plan import Handout
from .roster import Student

TOLERATED = (".DS_Store", "Thumbs.db", "desktop.ini", "__MACOSX")
"""What systems leave behind wherever a person looks."""

SECRET = "secret.txt"

PAGES, RECORDS = "pages", "records"

KEYS = ("key.csv", "key.json", "key.html", manifest.NAME, SECRET, PAGES, RECORDS)
"""What may lie beside handouts."""

_RUN_LEFTOVERS = ("__pycache__",)


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
        return self.keys / PAGES / f"{handout.folder}.html"

    def record(self, handout: Handout) -> Path:
        """The same as data."""
        return self.keys / RECORDS / f"{handout.folder}.json"

    def require_free(self) -> None:
        """Raise Problem if one of the two folders is something else, or cannot be written to, or
        if keys would lie where students may find them."""
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
        for parent in self.out.resolve().parents[:-1]:
            if parent.with_name(f"{parent.name}-keys").joinpath(manifest.NAME).exists():
                raise Problem(
                    f"{shown(self.out)}: lies among the handouts in {shown(parent)}, where "
                    "students may get the keys; name another folder with --out"
                )
        for name in _names(self.keys):
            if name not in KEYS:
                raise Problem(
                    f"{shown(self.keys / name)}: is no key; keys come to {shown(self.keys)} and "
                    "to nothing else, so take it away, or name another folder with --out"
                )

    def used(self) -> list[str]:
        """Names of what lies among the handouts."""
        return _names(self.out)

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

    @contextlib.contextmanager
    def open(self) -> Iterator[None]:
        """Make the folders, keep other runs away, and clear what a killed one left unfinished."""
        make_folder(self.out)
        make_folder(self.keys)
        with contextlib.suppress(OSError):  # a file system without permissions
            self.keys.chmod(0o700)
        with _alone(self.keys):
            for folder in (self.out, self.keys, self.keys / PAGES, self.keys / RECORDS):
                for unfinished in folder.glob(f"{UNFINISHED}*"):
                    _discard(unfinished)
            yield


def make_folder(folder: Path) -> None:
    """With its parents, unless it exists."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Problem(f"{shown(folder)}: cannot be made: {reason(error)}") from None


def put(folder: Path, files: Mapping[str, bytes]) -> None:
    """Make this folder with these files, as a whole or not at all; one that exists stays."""
    try:
        with _unfinished(folder.parent) as making:
            for name, content in files.items():
                for parent in reversed(Path(name).parents[:-1]):
                    # Not with its parents: if somebody took `making` away, it must not come back.
                    (making / parent).mkdir(exist_ok=True)
                (making / name).write_bytes(content)
            if not folder.exists():
                making.rename(folder)
    except OSError as error:
        if folder.is_dir() and error.errno in (errno.EEXIST, errno.ENOTEMPTY):
            return  # another run has made it meanwhile
        raise Problem(f"{shown(folder)}: cannot be written: {reason(error)}") from None


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a handout; not what appears when somebody runs it."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        hidden = any(part.startswith(".") or part in _RUN_LEFTOVERS for part in name.parts)
        if path.is_file() and not hidden:
            found[name.as_posix()] = path.read_bytes()
    return found


def _names(folder: Path) -> list[str]:
    """What lies in a folder and was put there."""
    if not folder.is_dir():
        return []
    names = sorted(os.listdir(folder))  # noqa: PTH208  names are all that is wanted
    return [n for n in names if n not in TOLERATED and not n.startswith(UNFINISHED)]


@contextlib.contextmanager
def _unfinished(parent: Path) -> Iterator[Path]:
    """A folder that is gone at the end unless it has got its name."""
    making = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=parent))
    try:
        # Others may not look into a temporary folder, but students shall.
        making.chmod(0o777 & ~umask())
        yield making
    finally:
        _discard(making)


def _discard(unfinished: Path) -> None:
    """Under another name first: whoever is still at work on it then fails, and cannot give its name
    to a folder of which half is gone already."""
    doomed = unfinished.with_name(f"{UNFINISHED}{unfinished.name.removeprefix(UNFINISHED)}x")
    with contextlib.suppress(OSError):
        unfinished.rename(doomed)
        if doomed.is_dir():
            shutil.rmtree(doomed, ignore_errors=True)
        else:
            doomed.unlink()


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Nobody else is at work here. Where the system cannot tell (Windows, some network drives), it
    is believed."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Problem(
                f"{shown(folder)}: another run is at work here; wait until it has ended"
            ) from None
        except OSError:
            pass
        yield
    finally:
        os.close(handle)
