"""The formats, and the one place that knows which module makes which.

A document is one file, or one with the drawings that it shows: {name: content}.
"""

from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec

from ..problems import MissingTool
from .key import KeySet, Marking
from .model import Layout, Program, SheetSet


@dataclass(frozen=True, slots=True)
class Material:
    """What the students' document is made of."""

    sheets: SheetSet
    programs: tuple[Program, ...] = ()
    """For notebooks: one for each sheet."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What only the teacher's document is made of."""

    keys: KeySet
    markings: tuple[Marking, ...] = ()
    """For notebooks: one for each key."""


class Form(StrEnum):
    """A format, by the name that `--format` takes."""

    HTML = "html"
    PDF = "pdf"
    MARKDOWN = "markdown"
    IPYNB = "ipynb"

    @property
    def suffix(self) -> str:
        """Of its files."""
        return ".md" if self is Form.MARKDOWN else f".{self}"

    @property
    def runs(self) -> bool:
        """Whether it brings the program along."""
        return self is Form.IPYNB

    def require(self) -> None:
        """Raise MissingTool, before any work, if this format cannot be made here."""
        library, what = _NEEDS.get(self, ("", ""))
        if library and find_spec(library) is None:
            raise MissingTool(what, "worksheets")

    def sheets(self, name: str, material: Material, layout: Layout) -> dict[str, bytes]:
        """The document for the students; `name` is that of its file, without the suffix."""
        sheets = material.sheets
        if self is Form.MARKDOWN:
            from . import markdown

            drawings = {file: svg.encode() for file, svg in markdown.figures(sheets).items()}
            return {name + self.suffix: markdown.sheets(sheets, layout).encode(), **drawings}
        if self is Form.PDF:
            from . import pdf

            content = pdf.sheets(sheets, layout)
        elif self is Form.IPYNB:
            from . import notebook

            content = notebook.sheets(sheets, material.programs, layout).encode()
        else:
            from . import html

            content = html.sheets(sheets, layout).encode()
        return {name + self.suffix: content}

    def keys(
        self, name: str, material: Material, answers: Answers, layout: Layout
    ) -> dict[str, bytes]:
        """The document for the teacher."""
        if self is Form.MARKDOWN:
            from . import markdown

            content = markdown.keys(answers.keys, layout).encode()
        elif self is Form.PDF:
            from . import pdf

            content = pdf.keys(answers.keys, layout)
        elif self is Form.IPYNB:
            from . import notebook

            content = notebook.keys(
                material.sheets, answers.keys, material.programs, answers.markings, layout
            ).encode()
        else:
            from . import html

            content = html.keys(answers.keys, layout).encode()
        return {name + self.suffix: content}


_NEEDS = {
    Form.PDF: ("typst", "a PDF is made by Typst"),
    Form.IPYNB: ("nbformat", "a notebook is checked by nbformat"),
}
"""Library, and what it is for."""
