"""What goes wrong for a reason that the user can mend."""

import difflib
from collections.abc import Iterable


class Problem(Exception):
    """One message that says where, what is wrong, and what to do. Shown without a traceback."""


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint at the names that `name` may have meant, or an empty string."""
    close = difflib.get_close_matches(name, list(known), n=3, cutoff=0.5)
    return f"; did you mean {' or '.join(close)}?" if close else ""


def reason(error: OSError) -> str:
    """What the operating system said, without its number and path."""
    return error.strerror or str(error)
