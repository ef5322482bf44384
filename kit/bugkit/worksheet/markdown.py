"""Sheets and keys as Markdown: CommonMark with the tables of GitHub, for the site of a course."""

import re
from collections.abc import Callable, Iterable

from ..render import render
from .key import Key, KeySet
from .markdown_text import blocks, code, escape, fence, inline, repair, statements
from .model import (
    CONFIDENCES,
    HYPOTHESES,
    LOG_ROWS,
    MAX_POINTS,
    Hints,
    Layout,
    Listing,
    Sheet,
    SheetSet,
)

FIGURE = "figure-{code}.svg"
"""Name of the file with the figure: pages on the web show no drawing that stands in the text."""


def sheets(collection: SheetSet, layout: Layout) -> str:
    """The document of the students."""
    parts = [_sheet(sheet, layout) for sheet in collection.sheets]
    if len(parts) == 1:
        return parts[0]
    rows = [
        (f"{'Worked example' if s.worked else 'Bug hunt'} {s.code}", s.minutes, s.difficulty)
        for s in collection.sheets
    ]
    return "\n".join([_contents(collection.title, rows), *parts])


def keys(collection: KeySet, _layout: Layout) -> str:
    """The document of the teacher."""
    parts = [_key(key) for key in collection.keys]
    if len(parts) == 1:
        return parts[0]
    rows = [(f"Answer key {k.code}: {k.title}", k.minutes, k.difficulty) for k in collection.keys]
    return "\n".join([_contents(collection.title, rows), *parts])


def figures(collection: SheetSet) -> dict[str, str]:
    """The drawings that the document shows, by the names of their files."""
    return {
        FIGURE.format(code=sheet.code): sheet.figure.svg
        for sheet in collection.sheets
        if sheet.figure.svg
    }


def _sheet(sheet: Sheet, layout: Layout) -> str:
    return _tidy(
        render(
            "worksheet/sheet.md",
            sheet=sheet,
            figure=FIGURE.format(code=sheet.code) if sheet.figure.svg else "",
            inline_hints=layout.hints is Hints.INLINE,
            confidences=CONFIDENCES,
            hypotheses=HYPOTHESES,
            log_rows=LOG_ROWS,
            **_words,
        )
    )


def _key(key: Key) -> str:
    return _tidy(render("worksheet/key.md", key=key, points=MAX_POINTS, **_words))


def _contents(title: str, rows: Iterable[tuple[str, int, int]]) -> str:
    lines = [f"# {escape(title)}", ""]
    lines += ["| | | Minutes | Difficulty |", "| --- | --- | --- | --- |"]
    lines += [
        f"| {i} | [{escape(heading)}](#{_anchor(heading)}) | {minutes} | {difficulty} of 5 |"
        for i, (heading, minutes, difficulty) in enumerate(rows, 1)
    ]
    return "\n".join([*lines, ""])


def _anchor(heading: str) -> str:
    """The name that GitHub gives to a heading: lower case, without punctuation, hyphenated."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _listing(listing: Listing) -> str:
    """Numbered lines; an ellipsis where the numbers jump."""
    width = len(str(listing.lines[-1].number))
    rows: list[str] = []
    last = listing.lines[0].number - 1
    for line in listing.lines:
        jump = line.number > last + 2  # two empty lines are shown as one
        if jump:
            rows.append(f"{'…':>{width}}")
        if line.text or not jump:
            rows.append(f"{line.number:>{width}}  {line.text}".rstrip())
        last = line.number
    return fence("\n".join(rows), "text")


def _tidy(text: str) -> str:
    """No more than one empty line at a time outside of code, and one end of line at the end."""
    parts = re.split(r"(?ms)(^(`{3,})[^\n]*\n.*?^\2$)", text)
    # Every third part is the fence itself, which the pattern needs.
    kept = [
        part if part.startswith("```") else re.sub(r"\n{3,}", "\n\n", part)
        for i, part in enumerate(parts)
        if i % 3 != 2
    ]
    return "".join(kept).strip("\n") + "\n"


_words: dict[str, Callable[..., str]] = {
    "blocks": blocks,
    "code": code,
    "diff": repair,
    "escape": escape,
    "fence": fence,
    "inline": inline,
    "listing": _listing,
    "probe": statements,
}
