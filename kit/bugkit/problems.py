"""What goes wrong for a reason that the user can mend."""

import difflib
from collections.abc import Iterable

from .places import IN_CHECKOUT


class Problem(Exception):
    """One message that says where, what is wrong, and what to do. Shown without a traceback."""


class MissingTool(Problem):
    """A library that an extra brings is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        source = "-e '.[{}]'" if IN_CHECKOUT else "'bugkit[{}]'"
        super().__init__(f"{what}; install it with: pip install {source.format(extra)}")


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint at the names that `name` may have meant, or an empty string."""
    close = difflib.get_close_matches(name, list(known), n=3, cutoff=0.5)
    return f"; did you mean {' or '.join(close)}?" if close else ""


def reason(error: OSError) -> str:
    """What the operating system said, without its number and path."""
    return error.strerror or str(error)
