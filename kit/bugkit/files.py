"""Reading and writing text so that nothing is ever half there."""

import codecs
import contextlib
import os
import tempfile
from pathlib import Path

from .places import shown
from .problems import Problem, reason

UNFINISHED = ".making-"
"""What begins the name of something that is not all there. A killed process may leave it behind."""


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, or a Problem that names the file."""
    data = b""
    try:
        data = path.read_bytes()
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        raise Problem(
            f"{shown(path)}: {'UTF-16, ' * utf16}not UTF-8 text "
            f"(line {line}, byte {error.start}); save it as UTF-8"
        ) from None
    except OSError as error:
        raise Problem(f"{shown(path)}: cannot be read: {reason(error)}") from None


def write_text(path: Path, text: str) -> None:
    """Replace the file as a whole, or leave the old one as it was and raise a Problem."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise Problem(f"{shown(path)}: cannot be written: {error}") from None
    write_bytes(path, data)


def write_bytes(path: Path, data: bytes, private: bool = False) -> None:
    """Replace the file as a whole, or leave the old one as it was and raise a Problem; a private
    one is for its owner alone."""
    if os.path.isdir(path):  # noqa: PTH112  Path.is_dir raises for a name that is too long
        raise Problem(f"{shown(path)}: is a folder; name a file to write to")
    temporary = None
    try:
        # A pipe or a device takes the text as it comes: there is no old file to save. Asked before
        # links are followed: that of /dev/stdout may lead to a pipe, which has no path.
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        path = path.resolve()  # the target of a link, not the link
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f"{UNFINISHED}{path.name}.")
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if not private:  # which is how a temporary file is made
            mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~umask()
            Path(temporary).chmod(mode)
        Path(temporary).replace(path)
    except OSError as error:
        raise Problem(f"{shown(path)}: cannot be written: {reason(error)}") from None
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()


def umask() -> int:
    """What new files and folders do not allow."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
