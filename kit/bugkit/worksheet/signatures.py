"""The table of shapes: read from what the functions say about themselves.

Array functions of the GPT tell their shapes as `[in] -> [out]`, behind the head of the function or
in the first sentence of its docstring.
"""

import ast
import re
from dataclasses import replace

from .edition import Edition
from .excerpt import lines_of
from .model import Listing, Signature
from .words import Span, paragraph

MIN_ROWS, MAX_ROWS = 3, 4
MAX_NAMES = 3
"""Arguments that are named where no shapes are told."""

_WORDS = (
    (r"\bnp\.ndarray\b", "array"),
    (r"\bNone\b", "nothing"),
    (r"\b(?:float|int)\b", "number"),
    (r"\bstr\b", "text"),
    (r"dict\[[^\[\]]*(?:\[[^\]]*\])?\]", "tree"),
    (r"\bAny\b", "value"),
    (r"tuple\[number, \.\.\.\]|list\[number\]", "numbers"),
    (r"tuple\[([^\[\]]*)\]", r"\1"),
    (r"Iterator\[(.*)\]", r"\1, one after another"),
    (r"tuple\[(.*)\]", r"\1"),
    (r"Callable.*", "function"),
)

_SHAPE = r"(?:twice )?\[[^\]]*\](?:, (?:twice )?\[[^\]]*\])*(?:, \w[\w ]*)?"
_ARROW = re.compile(rf"(?P<takes>{_SHAPE})?\s*->\s*(?P<gives>{_SHAPE}|[^.\n]+)")


def signatures(edition: Edition, *shown: Listing) -> tuple[Signature, ...]:
    """Rows for functions that stand in the listings: those that the hunt needs, then those that
    tell their shapes, and others if these are few; in the order of the file."""
    numbers = {line.number for listing in shown for line in listing.lines if line.text}
    functions = [
        node
        for node in ast.parse(edition.source).body
        if isinstance(node, ast.FunctionDef) and node.lineno in numbers
    ]
    forward = [node for node in functions if not edition.is_backward(node.name)] or functions
    needed = {piece.name for piece in edition.needed}
    rows = [_described(node, edition) for node in forward]
    first = sorted(rows, key=lambda row: (row.name not in needed, not row.shaped))
    telling = [row for row in rows if row.name in needed or row.shaped]
    chosen = first[: min(max(len(telling), MIN_ROWS), MAX_ROWS)]
    return tuple(row for row in rows if row in chosen)


def _described(node: ast.FunctionDef, edition: Edition) -> Signature:
    """A copy may say less about a function than the original, whose words are taken then."""
    original = edition.originals.get(node.name)
    if original is None:
        return _row(node, lines_of(edition.source))
    (first, *_) = (n for n in ast.parse(original).body if isinstance(n, ast.FunctionDef))
    row = _row(first, lines_of(original))
    takes = row.takes if row.shaped and row.takes.startswith("[") else _arguments(node)
    what = tuple(Span(edition.renamed(s.text), True) if s.code else s for s in row.what)
    return replace(row, name=node.name, takes=takes, what=what)


def _row(node: ast.FunctionDef, lines: list[str]) -> Signature:
    docstring = ast.get_docstring(node) or ""
    first = " ".join(docstring.split("\n\n")[0].split())
    body = max(node.body[0].lineno - 1, node.lineno)
    comments = " ".join(
        line.split("#", 1)[1].strip() for line in lines[node.lineno - 1 : body] if "#" in line
    )
    match = _ARROW.search(comments) or _ARROW.search(first)
    what, found = _ARROW.subn("", first)
    if found:
        what = what.strip(" ,.") + "."
    takes = _arguments(node)
    if match:
        gives = match["gives"].strip()
        return Signature(node.name, match["takes"] or takes, gives, paragraph(what), True)
    return Signature(node.name, takes, _result(node), paragraph(what), False)


def _arguments(node: ast.FunctionDef) -> str:
    """The first names; dots for the others."""
    names = [arg.arg for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    return ", ".join([*names[:MAX_NAMES], *(["..."] if len(names) > MAX_NAMES else [])])


def _result(node: ast.FunctionDef) -> str:
    """The annotation of the result, in words."""
    text = ast.unparse(node.returns) if node.returns else ""
    for pattern, word in _WORDS:
        text = re.sub(pattern, word, text)
    return text.strip()
