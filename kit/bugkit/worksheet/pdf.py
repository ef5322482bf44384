"""Sheets and keys as PDF, set by Typst: tagged (PDF/UA-1), on paper as on a screen.

Values go in as JSON and come out as text. The templates are `templates/worksheet/*.typ`.
"""

import json
import re
from dataclasses import fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from ..places import TEMPLATES
from ..problems import MissingTool, Problem
from . import model
from .content import one_line
from .fonts import FONTS, Fallback, fallback_for, visible
from .key import KeySet, Reference
from .model import (
    DiffLine,
    Layout,
    Line,
    Paper,
    SheetSet,
)
from .words import Span

if TYPE_CHECKING:
    import typst

FOLDER = TEMPLATES / "worksheet"
PAPERS = {Paper.A4: "a4", Paper.LETTER: "us-letter"}

RAW = ("svg", "url")
"""What is not printed as text."""

LONG_WORD = 26
"""Characters that fit into any column. Longer words may be broken, without a hyphen."""

_LONG_WORD = re.compile(rf"\S{{{LONG_WORD + 1},}}")
_PART = re.compile(rf"[^_.,/(\[]{{1,{LONG_WORD}}}[_.,/(\[]*|[_.,/(\[]{{1,{LONG_WORD}}}")
_PANIC = re.compile(r"^panicked with: (.*)$", re.DOTALL)


def sheets(set: SheetSet, layout: Layout) -> bytes:  # noqa: A002
    """The challenges of a set: a leaf each, and strips with hints at the end if wanted."""
    return _pdf("sheet.typ", layout, {"title": set.title, "sheets": set.sheets})


def keys(keys: KeySet, layout: Layout) -> bytes:
    """The answer keys of a set, for the teacher only."""
    return _pdf("key.typ", layout, {"title": keys.title, "keys": keys.keys})


def _pdf(template: str, layout: Layout, content: dict[str, Any]) -> bytes:
    data = _plain(content)
    data["title"] = data["title"] or "Worksheets"  # PDF/UA wants one
    data |= {
        "paper": PAPERS[layout.paper],
        "large": layout.large_print,
        "hints": layout.hints.value,
        "confidences": model.CONFIDENCES,
        "hypotheses": model.HYPOTHESES,
        "log_rows": model.LOG_ROWS,
    }
    fallback = fallback_for(_characters(data))
    if fallback.absent:
        data = _without(data, fallback)
    data["fallback"] = fallback.families
    return _compiled(template, json.dumps(data, ensure_ascii=False), fallback)


def _compiled(template: str, data: str, fallback: Fallback) -> bytes:
    try:
        import typst
    except ImportError:
        raise MissingTool("PDF needs the library typst", "worksheets") from None
    try:
        made, warnings = _compiler(fallback.folders, fallback.system).compile_with_warnings(
            FOLDER / template,
            format="pdf",
            sys_inputs={"data": data},
            pdf_standards="ua-1",
            timestamp=0,
        )
    except typst.TypstError as error:
        panic = _PANIC.match(error.message)
        hints = "".join(f"; {hint}" for hint in error.hints)
        told = panic[1] if panic else f"Typst cannot set the pages: {error.message}{hints}"
        raise Problem(told) from None
    if warnings:
        raise Problem(f"Typst is not content with {template}: {warnings[0].message}")
    assert isinstance(made, bytes)
    return made


@cache
def _compiler(folders: tuple[str, ...], system: bool) -> "typst.Compiler":
    """One a process: what it has read and laid out once, it knows the next time."""
    import typst

    fonts = typst.Fonts(
        include_system_fonts=system,
        include_embedded_fonts=False,
        font_paths=[str(FONTS), *folders],
    )
    return typst.Compiler(root=FOLDER, font_paths=fonts, ignore_system_fonts=True)


def _plain(value: Any, name: str = "") -> Any:
    """What JSON can hold, of text that can be printed."""
    if isinstance(value, str):
        return value if name in RAW else _breakable(_cleaned(value, name))
    if isinstance(value, Span):
        return [_breakable(visible(value.text)), value.code]
    if isinstance(value, Line):
        return [value.number, _code(value.text)]
    if isinstance(value, Reference):
        shown = _breakable(visible(value.url))
        return {"url": value.url, "url_shown": shown, "says": _plain(value.says)}
    if isinstance(value, DiffLine):
        return {"sign": value.sign, "number": value.number, "text": _code(value.text)}
    if is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name), f.name) for f in fields(value)}
    if isinstance(value, dict):
        return {key: _plain(item, key) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_plain(item, name) for item in value]
    return value


def _cleaned(text: str, name: str) -> str:
    if name in ("probe", "printed", "regression_test"):
        return "\n".join(_code(line) for line in text.splitlines())
    return one_line(text) if name in ("title", "course", "date") else visible(text)


def _code(line: str) -> str:
    return visible(line.expandtabs(4))


def _breakable(text: str) -> str:
    """With places to break in words that are too long for a column."""
    if len(text) <= LONG_WORD:
        return text
    return _LONG_WORD.sub(lambda word: "\u200b".join(_PART.findall(word[0])), text)


def _characters(value: Any, name: str = "") -> set[str]:
    if isinstance(value, str):
        return set() if name in RAW else set(value)
    if isinstance(value, dict):
        return {c for key, item in value.items() for c in _characters(item, key)}
    if isinstance(value, list):
        return {c for item in value for c in _characters(item)}
    return set()


def _without(value: Any, fallback: Fallback, name: str = "") -> Any:
    if isinstance(value, str):
        return value if name in RAW else value.translate(fallback.absent)
    if isinstance(value, dict):
        return {key: _without(item, fallback, key) for key, item in value.items()}
    if isinstance(value, list):
        return [_without(item, fallback) for item in value]
    return value
