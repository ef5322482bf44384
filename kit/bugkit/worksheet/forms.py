"""The formats, and the one place that knows which module makes which.

A document is one file, or one with the drawings that it shows: {name: content}.
"""

from enum import StrEnum
from importlib.util import find_spec

from ..problems import MissingTool
from .model import KeySet, Layout, SheetSet


class Form(StrEnum):
    """A format, by the name that `--format` takes."""

    HTML = "html"
    PDF = "pdf"
    MARKDOWN = "markdown"

    @property
    def suffix(self) -> str:
        """Of its files."""
        return ".md" if self is Form.MARKDOWN else f".{self}"

    def require(self) -> None:
        """Raise MissingTool, before any work, if this format cannot be made here."""
        if self is Form.PDF and find_spec("typst") is None:
            raise MissingTool("a PDF needs Typst", "worksheets")

    def sheets(self, name: str, collection: SheetSet, layout: Layout) -> dict[str, bytes]:
        """The document for the students; `name` is that of its file, without the suffix."""
        if self is Form.PDF:
            from . import pdf

            return {name + self.suffix: pdf.sheets(collection, layout)}
        if self is Form.HTML:
            from . import html

            return {name + self.suffix: html.sheets(collection, layout).encode()}
        from . import markdown

        drawings = {file: svg.encode() for file, svg in markdown.figures(collection).items()}
        return {name + self.suffix: markdown.sheets(collection, layout).encode(), **drawings}

    def keys(self, name: str, collection: KeySet, layout: Layout) -> dict[str, bytes]:
        """The document for the teacher."""
        if self is Form.PDF:
            from . import pdf

            return {name + self.suffix: pdf.keys(collection, layout)}
        if self is Form.HTML:
            from . import html

            return {name + self.suffix: html.keys(collection, layout).encode()}
        from . import markdown

        return {name + self.suffix: markdown.keys(collection, layout).encode()}
