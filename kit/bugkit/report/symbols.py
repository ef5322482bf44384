"""One symbol for each outcome; a symbol never depends on colour to be read."""

from ..matrix import Outcome

SYMBOLS = {
    Outcome.PASSED: "·",
    Outcome.FAILED: "✗",
    Outcome.ERROR: "E",
    Outcome.TIMEOUT: "T",
    Outcome.CRASHED: "C",
    Outcome.OUT_OF_MEMORY: "M",
    Outcome.NOT_OFFERED: "-",
}

ASCII = {"·": ".", "✗": "x"}
"""Stand-ins for a terminal that cannot print the others."""

WORDS = {outcome: outcome.replace("_", " ") for outcome in Outcome}
"""Outcomes as a sentence has them."""


def legend(used: set[Outcome]) -> str:
    """The symbols that occur, in words."""
    return ", ".join(f"{SYMBOLS[o]} {WORDS[o]}" for o in Outcome if o in used)
