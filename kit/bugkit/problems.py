"""What goes wrong for a reason that the user can mend."""

import difflib
from collections.abc import Iterable
from typing import Self

from .places import IN_CHECKOUT


class Problem(Exception):
    """One message that says where, what is wrong, and what to do. Shown without a traceback."""


class ControlFailed(Problem):
    """A detector is wrong about a control, so its other verdicts are worth nothing."""


class MissingTool(Problem):
    """A library that an extra brings is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        source = "-e '.[{}]'" if IN_CHECKOUT else "'bugkit[{}]'"
        super().__init__(f"{what}; install it with: pip install {source.format(extra)}")
        self._made_of = what, extra

    def __reduce__(self) -> tuple[type[Self], tuple[str, str]]:
        # Pickle would call it with the message alone.
        return type(self), self._made_of


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint at the names that `name` may have meant, or an empty string."""
    close = difflib.get_close_matches(name, list(known), n=3, cutoff=0.5)
    return f"; did you mean {' or '.join(close)}?" if close else ""


def said(error: BaseException) -> str:
    """Its type and its message."""
    text = text_of(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def text_of(error: BaseException) -> str:
    """Its message alone. An exception that somebody wrote may fail even at that."""
    try:
        return str(error).strip()
    except Exception:
        return ""


def reason(error: OSError) -> str:
    """What the operating system said, without its number and path."""
    return error.strerror or str(error)
