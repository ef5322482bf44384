"""Progress of long work: one line on standard error where that is a terminal."""

import os
import sys
import time

import click

QUIET = 0.5
"""Seconds before progress is shown."""

BAR = 20
"""Characters of the bar."""


class Progress:
    """Shows nothing of what is soon done, and is gone at the end."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.start = time.monotonic()
        self.showing = False

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def __call__(self, done: int, total: int) -> None:
        """So much is done."""
        if _can_go_back() and time.monotonic() - self.start > QUIET:
            self.showing = True
            bar = "#" * (BAR * done // max(total, 1))
            line = f"[{bar:-<{BAR}}] {done} of {total} {self.what}"
            # What another bar left to the right of it goes.
            click.echo(f"\r{line}\x1b[K", err=True, nl=False)

    def clear(self) -> None:
        """Make room for a line of something else."""
        if self.showing:
            click.echo("\r\x1b[K", err=True, nl=False)
            self.showing = False


def _can_go_back() -> bool:
    """Whether a line can be written over."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
