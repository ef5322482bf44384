"""Matrix -> text, one module a format."""

from collections.abc import Callable

from ..matrix import Matrix
from .data import as_csv, as_json
from .html import as_html
from .junit import as_junit
from .markdown import as_markdown

FILE_FORMATS: dict[str, Callable[[Matrix], str]] = {
    "json": as_json,
    "csv": as_csv,
    "markdown": as_markdown,
    "html": as_html,
    "junit": as_junit,
}
"""The formats that need to know nothing of a terminal."""

SUFFIXES = {".json": "json", ".csv": "csv", ".md": "markdown", ".html": "html", ".xml": "junit"}
"""File name ending -> the format that it stands for."""
