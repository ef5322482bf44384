"""The texts of a notebook's cells: Markdown that Jupyter shows as it is meant."""

import json
import re
from collections.abc import Sequence

from ..render import render
from .markdown_text import blocks, code, escape, fence, inline, repair, statements
from .model import CONFIDENCES, HYPOTHESES, LOG_ROWS, DiffLine, Listing
from .repair import repair_of
from .svg import data_uri
from .words import Paragraph, Prose

FAR = 4
"""Lines between two definitions that are not shown, from which on they are told apart."""


def region(text: str) -> str:
    """What nbgrader takes out of the students' version."""
    return f"### BEGIN SOLUTION\n{text.strip()}\n### END SOLUTION"


def fix_source(fix: Sequence[DiffLine], source: str) -> str:
    """The repair as the notebook takes it."""
    lines = []
    for number, new in repair_of(fix, source).items():
        if new is None:
            lines.append(f"    {number}: None,\n")
        elif len(new) == 1:
            lines.append(f"    {number}: {json.dumps(new[0], ensure_ascii=False)},\n")
        else:
            parts = "".join(f"        {json.dumps(n, ensure_ascii=False)},\n" for n in new)
            lines.append(f"    {number}: [\n{parts}    ],\n")
    return f"fix = {{\n{''.join(lines)}}}"


def drawing(svg: str) -> str:
    """In the text itself: JupyterLab shows no attachments of this kind."""
    return data_uri(svg) if svg else ""


def spans(*listings: Listing | None) -> str:
    """The lines that a sheet on paper shows, such as 3 to 9 and 20 to 31."""
    numbers = sorted({x.number for listing in listings if listing for x in listing.lines if x.text})
    spans = [[numbers[0], numbers[0]]]
    for number in numbers[1:]:
        if number > spans[-1][1] + FAR:
            spans.append([number, number])
        spans[-1][1] = number
    return " and ".join(f"{first} to {last}" for first, last in spans)


def paragraphs(words: Prose) -> str:
    """Paragraphs with empty lines between them."""
    return _without_formulas(blocks(words))


def block(template: str, **values: object) -> str:
    """One Markdown cell, from the template of this name."""
    text = render(
        f"worksheet/notebook/{template}.md",
        blocks=paragraphs,
        code=code,
        confidence=_confidence,
        diff=repair,
        escape=lambda text: _without_formulas(escape(text)),
        fence=fence,
        inline=_inline,
        lines=statements,
        hypotheses=HYPOTHESES,
        log_rows=LOG_ROWS,
        **values,
    )
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n")


def _inline(words: Paragraph) -> str:
    return _without_formulas(inline(words))


_FORMULA = re.compile(
    r"\\.|(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`)|(?P<marks>(?:&#36;|&#92;)+)", re.S
)
"""The marks of formulas, outside of code spans and of what is escaped."""


def _without_formulas(text: str) -> str:
    """Jupyter looks for formulas in what a reader sees, wherever that is no code."""
    return _FORMULA.sub(lambda m: f"<code>{m[0]}</code>" if m["marks"] else m[0], text)


def _confidence(filled: int | None) -> str:
    return " &nbsp; ".join(f"{'☒' if filled == c else '☐'} {c} %" for c in CONFIDENCES)
