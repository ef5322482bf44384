"""The table of shapes: read from what the functions say about themselves.

Array functions of the GPT tell their shapes as `[in] -> [out]`, behind the head of the function or
in the first sentence of its docstring.
"""

import ast
import re
from collections.abc import Callable

from .excerpt import is_backward, lines_of
from .model import Listing, Signature
from .words import paragraph

MAX_ROWS = 4
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


def signatures(
    source: str, *shown: Listing, is_backward: Callable[[str], bool] = is_backward
) -> tuple[Signature, ...]:
    """Rows for the functions of the file that stand in the listings and tell their shapes."""
    lines = lines_of(source)
    numbers = {line.number for listing in shown for line in listing.lines if line.text}
    functions = [
        node
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef) and node.lineno in numbers
    ]
    forward = [node for node in functions if not is_backward(node.name)] or functions
    rows = [_row(node, lines) for node in forward]
    with_shapes = [row for row in rows if row.shaped]
    return tuple((with_shapes or rows)[:MAX_ROWS])


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
