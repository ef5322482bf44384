"""Whether a generated module is what its declaration makes of the correct GPT today.

Making it again to compare takes some milliseconds; what was found right is remembered by content.
"""

import contextlib
import importlib.util
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from . import catalogue, edits, splice
from .cache import cache_folder
from .catalogue import Bug
from .edits import mutate


def is_current(bug: Bug) -> bool:
    """Whether the module on disk is right. Where the library for edits is not installed, it is
    taken to be. Raises Problem if an edit no longer fits."""
    if importlib.util.find_spec("ast_grep_py") is None:
        return True
    digest = _digest(bug)
    if digest in _remembered():
        return True
    if bug.module.read_bytes() != mutate(bug).encode():
        return False
    _remembered().add(digest)
    with contextlib.suppress(OSError):
        _store().parent.mkdir(parents=True, exist_ok=True)
        with _store().open("a", encoding="ascii") as store:
            store.write(f"{digest}\n")
    return True


def _digest(bug: Bug) -> str:
    summary = sha256(_tools())
    for path in (bug.folder / "bug.toml", bug.original, bug.module):
        source = path.read_bytes()
        summary.update(f"{len(source)}\n".encode() + source)
    return summary.hexdigest()


@cache
def _tools() -> bytes:
    """The code that makes modules: with another one, nothing is known."""
    sources = [Path(module.__file__ or "").read_bytes() for module in (catalogue, edits, splice)]
    return b"".join([version("ast-grep-py").encode(), *sources])


@cache
def _remembered() -> set[str]:
    try:
        return set(_store().read_text(encoding="ascii").split())
    except (OSError, ValueError):
        return set()


def _store() -> Path:
    return cache_folder() / "current.txt"
