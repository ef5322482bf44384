"""What other libraries than the one that made it say about a PDF."""

import io
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest

EXTRAS = {"typst": "worksheets", "pikepdf": "paper", "pypdfium2": "paper"}
ABSENT = [library for library in EXTRAS if find_spec(library) is None]

needs_paper = pytest.mark.skipif(
    bool(ABSENT), reason="".join(f"needs {x}: pip install -e '.[{EXTRAS[x]}]' " for x in ABSENT)
)


def _library(name: str) -> Any:
    """None where it is absent: then the tests that need it are skipped."""
    return None if name in ABSENT else import_module(name)


pikepdf = _library("pikepdf")
pypdfium2 = _library("pypdfium2")

SIZES = {"a4": (595, 842), "letter": (612, 792)}
"""Points."""
MARGIN = 15 / 25.4 * 72

SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="249.45pt" height="130.39pt" '
    'viewBox="0 0 249.45 130.39"><path d="M20 5V115H245M20 10L90 80L240 100" fill="none" '
    'stroke="black"/></svg>'
)
"""A drawing of the size of the real ones, 88 by 46 mm."""


def opened(data: bytes) -> Any:
    """The document as a tree of objects."""
    return pikepdf.open(io.BytesIO(data))


def printed(data: bytes) -> list[str]:
    """The text of each page, with single spaces."""
    document = pypdfium2.PdfDocument(data)
    return [" ".join(page.get_textpage().get_text_range().split()) for page in document]


def outside(data: bytes) -> list[str]:
    """Text and lines that stand in the margins; the foot of a page may stand in the lower one."""
    found = []
    for number, page in enumerate(pypdfium2.PdfDocument(data), 1):
        width, height = page.get_size()
        for thing in page.get_objects(max_depth=1):
            left, bottom, right, top = thing.get_bounds()
            across = left < MARGIN - 2 or right > width - MARGIN + 2
            if across or top > height - MARGIN + 22 or bottom < MARGIN - 26:
                found.append(f"page {number}: {left:.0f} {bottom:.0f} {right:.0f} {top:.0f}")
    return found


def type_sizes(data: bytes) -> list[float]:
    """In points, of every character."""
    sizes = []
    for page in pypdfium2.PdfDocument(data):
        text = page.get_textpage()
        sizes += [
            pypdfium2.raw.FPDFText_GetFontSize(text.raw, i) for i in range(text.count_chars())
        ]
    return [size for size in sizes if size > 1]


def structure(pdf: Any) -> Iterator[Any]:
    """Every element of the structure tree, in the order in which it is read."""
    yield from _below(pdf.Root.StructTreeRoot)


def _below(node: Any) -> Iterator[Any]:
    kids = node.get("/K", [])
    for kid in kids if isinstance(kids, pikepdf.Array) else [kids]:
        if isinstance(kid, pikepdf.Dictionary) and "/S" in kid:
            yield kid
            yield from _below(kid)


def fonts(pdf: Any) -> dict[str, bool]:
    """Name of each font, and whether it is in the file."""
    found = {}
    for item in pdf.objects:
        if isinstance(item, pikepdf.Dictionary) and item.get("/Type") == "/FontDescriptor":
            found[str(item.FontName).split("+")[-1]] = any(
                key in item for key in ("/FontFile", "/FontFile2", "/FontFile3")
            )
    return found


def links(pdf: Any) -> set[str]:
    """Addresses outside the document that a click leads to."""
    actions = [note.A for page in pdf.pages for note in page.get("/Annots", []) if "/A" in note]
    return {str(action.URI) for action in actions if action.S == "/URI"}
