"""Text from somebody's file, made fit to be shown.

A message or a file name may hold anything: control characters that command a terminal, lone
surrogates that no file can hold, newlines where a line is meant.
"""

import re
import textwrap

_LONE = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def storable(text: str) -> str:
    """The text with a stand-in for what no file can hold: for data, which keeps the rest."""
    return _LONE.sub("\ufffd", text)


def clean(text: str) -> str:
    """The text with a stand-in for every character that cannot be shown; newlines stay."""
    return _CONTROL.sub("\ufffd", storable(text).replace("\r\n", "\n").replace("\r", "\n"))


def one_line(text: str) -> str:
    """The same on a single line."""
    return " ".join(clean(text).split())


def wrapped(text: str, width: int, first: str = "", rest: str | None = None) -> list[str]:
    """Lines of at most `width` characters, the first indented by `first`, the others by `rest`
    (or alike). A word that is longer is broken."""
    return textwrap.wrap(
        one_line(text),
        max(width, len(first) + 8),
        initial_indent=first,
        subsequent_indent=first if rest is None else rest,
        break_on_hyphens=False,
    ) or [first.rstrip()]


def promise_lines(sentence: str, width: int) -> list[str]:
    """A broken promise: the prose is wrapped, lines to copy into a bug.toml stay as they are."""
    prose, mark, lines = sentence.partition("\nkilled_by = [")
    return [*wrapped(prose, width, "  ", "    "), *(mark + lines).splitlines()[1:]]
