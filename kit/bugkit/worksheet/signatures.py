"""The table of shapes: read from what the functions say about themselves.

Array functions of the GPT tell their shapes as `[in] -> [out]`, behind the head of the function or
in the first sentence of its docstring.
"""

import ast
import re

from .model import Listing, Signature
from .words import paragraph

MAX_ROWS = 4
MAX_NAMES = 3
"""Arguments that are named where no shapes are told."""

_WORDS = (
    (r"\bNone\b", "nothing"),
    (r"\bfloat\b", "number"),
    (r"tuple\[(.*)\]", r"\1"),
    (r"dict\[[^\[\]]*(?:\[[^\]]*\])?\]", "tree"),
    (r"Callable.*", "function"),
)

_SHAPE = r"(?:twice )?\[[^\]]*\](?:, (?:twice )?\[[^\]]*\])*(?:, \w[\w ]*)?"
_ARROW = re.compile(rf"(?P<takes>{_SHAPE})?\s*->\s*(?P<gives>{_SHAPE}|[^.,\n]+)")


def signatures(source: str, shown: Listing) -> tuple[Signature, ...]:
    """Rows for the functions of the file that stand in the listing and tell their shapes."""
    lines = source.splitlines()
    numbers = {line.number for line in shown.lines}
    functions = [
        node
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef) and node.lineno in numbers
    ]
    forward = [node for node in functions if not node.name.endswith("_backward")] or functions
    rows = [_row(node, lines) for node in forward]
    with_shapes = [row for row in rows if row.shaped]
    return tuple((with_shapes or rows)[:MAX_ROWS])


def _row(node: ast.FunctionDef, lines: list[str]) -> Signature:
    docstring = ast.get_docstring(node) or ""
    first = " ".join(docstring.split("\n\n")[0].split())
    body = node.body[0].lineno - 1
    comments = " ".join(
        line.split("#", 1)[1].strip() for line in lines[node.lineno - 1 : body] if "#" in line
    )
    match = _ARROW.search(comments) or _ARROW.search(first)
    what = paragraph(_ARROW.sub("", first).strip(" ,.") + ".")
    if match:
        return Signature(node.name, match["takes"] or "", match["gives"].strip(), what, True)
    takes = ", ".join(arg.arg for arg in (*node.args.posonlyargs, *node.args.args)[:MAX_NAMES])
    return Signature(node.name, takes, _result(node), what, False)


def _result(node: ast.FunctionDef) -> str:
    """The annotation of the result, in words."""
    text = ast.unparse(node.returns) if node.returns else ""
    text = re.sub(r"np\.ndarray", "array", text)
    for pattern, word in _WORDS:
        text = re.sub(pattern, word, text)
    return text.strip()
