"""A folder as a zip: the same bytes on any machine, so that they can be compared and hashed.

Nothing is compressed: zlib and zlib-ng, which one Python or the other brings, make different bytes
of the same text.
"""

import io
import stat
import zipfile
from collections.abc import Mapping

UNIX = 3
"""The system whose permissions an entry has, whichever system wrote it."""

DATE = (1980, 1, 1, 0, 0, 0)
"""The first that a zip can hold."""


def zipped(folder_name: str, files: Mapping[str, bytes]) -> bytes:
    """A zip that unpacks to one folder. `files`: contents by path in it, with forward slashes.

    A ValueError for a path that would be another on some system, or outside of the folder.
    """
    if "/" in folder_name:
        raise ValueError(f"not the name of one folder: {folder_name!r}")
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(_checked(f"{folder_name}/{name}"), DATE)
            entry.create_system = UNIX
            entry.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(entry, files[name], zipfile.ZIP_STORED)
    return stream.getvalue()


def _checked(path: str) -> str:
    if any(part in ("", ".", "..") for part in path.split("/")):
        raise ValueError(f"not a path within a folder: {path!r}")
    if any(letter in "\\:\x7f" or letter < " " for letter in path):
        raise ValueError(f"a letter that not every system takes in a path: {path!r}")
    return path
