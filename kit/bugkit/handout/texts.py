"""The texts of a handout: how to start, the form to fill in, the stub of a test, and settings.

A student reads them, so they name nothing that leads to the bug, and no tool: they hold plain
ASCII, which every editor and every terminal shows.
"""

from dataclasses import dataclass
from pathlib import PurePosixPath

from ..render import render
from ..worksheet.model import CONFIDENCES, HYPOTHESES

README = "README.md"
ANSWERS = "answers.toml"
REGRESSION = "test_regression.py"
VISIBLE = "test_visible.py"
SETTINGS = "pytest.ini"

_PRINTED = "The symptom, a figure, code, and boxes for notes. Print it or read it."
_HOW_TO_READ = {
    ".html": "The symptom, a figure, code, and boxes for notes. Open it in a browser.",
    ".ipynb": "The symptom, a figure and code, as a notebook. Open it with Jupyter or VS Code.",
}


@dataclass(frozen=True, slots=True)
class Words:
    """What differs between the texts of two handouts."""

    form: str
    """Form id, such as K7Q2-MX4B."""
    assignment: str
    """Its name, in one line."""
    number: int
    """Of the hunt, from 1."""
    of: int
    """Hunts that the student has; their folders stand side by side as hunt-1, hunt-2."""
    test: str
    """Name of one of the visible tests, for an example."""
    worksheet: str = "worksheet.html"
    """Name of its file."""


def readme(words: Words) -> str:
    """How to start, to work and to hand in."""
    return _text(README, words)


def answers_form(words: Words) -> str:
    """TOML, with nothing answered."""
    return _text(ANSWERS, words)


def regression_stub(words: Words) -> str:
    """A module with one test, which is skipped until it is written."""
    # The ending keeps linters and pytest from taking the template for a test.
    return _text(f"{REGRESSION}.txt", words)


def settings(words: Words) -> str:
    """pytest looks for its settings in this folder and in those above it, and takes the first that
    it finds: this one, which sets nothing."""
    return f"# Form {words.form}\n\n[pytest]\n"


def _text(template: str, words: Words) -> str:
    return render(
        f"handout/{template}",
        words=words,
        worksheet=_HOW_TO_READ.get(PurePosixPath(words.worksheet).suffix, _PRINTED),
        visible=VISIBLE,
        answers=ANSWERS,
        regression=REGRESSION,
        settings=SETTINGS,
        confidences=CONFIDENCES,
        hypotheses=HYPOTHESES,
    )
