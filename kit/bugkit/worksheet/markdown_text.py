"""Any text as Markdown that says just that text, on GitHub, in Jupyter and by CommonMark."""

import re
from collections.abc import Iterable

from .model import DiffLine
from .words import Paragraph, Prose

_SPECIAL = re.compile(r"[\\`*_{}\[\]<>#|~$&^]")
_ENTITIES = {"\\": "&#92;", "$": "&#36;", "<": "&lt;", ">": "&gt;", "&": "&amp;", "|": "&#124;"}
"""Where a backslash would not do: before a dollar or a parenthesis some readers take it for the
beginning of a formula, and in a table a bar ends the cell."""

_BLOCK = re.compile(r"(?P<digits>\d*)(?P<mark>[-+=.)])")
"""What makes a list, a rule or a heading at the beginning of a line."""


def escape(text: str) -> str:
    """The text, on one line, with nothing left that is markup. Not for the inside of code."""
    text = " ".join(text.split())
    return _SPECIAL.sub(lambda m: _ENTITIES.get(m[0], "\\" + m[0]), text)


def code(text: str) -> str:
    """A code span. Backticks may be in it; a bar would end the cell of a table."""
    text = " ".join(text.split()).replace("|", "\\|") if "|" in text else " ".join(text.split())
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}" if text else ""


def inline(words: Paragraph) -> str:
    """A paragraph, on one line."""
    text = "".join(code(span.text) if span.code else _kept(span.text) for span in words)
    match = _BLOCK.match(text)
    return f"{match['digits']}\\{text[match.end('digits') :]}" if match else text


def blocks(words: Prose) -> str:
    """Paragraphs with empty lines between them."""
    return "\n\n".join(inline(paragraph) for paragraph in words)


def fence(text: str, language: str = "") -> str:
    """A block of code, whatever stands in it."""
    ticks = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{ticks}{language}\n{text}\n{ticks}"


def statements(program: str) -> str:
    """Lines of code in a cell of a table, one below the other."""
    return "<br>".join(code(line) for line in program.splitlines() if line.strip())


def repair(lines: Iterable[DiffLine]) -> str:
    """The text of a difference, with the numbers of its lines."""
    return "\n".join(f"{line.sign}{line.number:>4}  {line.text}".rstrip() for line in lines)


def _kept(text: str) -> str:
    """Escaped, with the blanks at its ends: a span stands between others."""
    start = " " if text[:1].isspace() else ""
    end = " " if text[-1:].isspace() and text.strip() else ""
    return f"{start}{escape(text)}{end}"
