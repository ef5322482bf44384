"""Puts text into a source in the place of other text, and proves that the result is what was
meant.

Pasting text can change its meaning: putting `q + k` for $X in `$X / d` gives `q + k / d`. So the
result is parsed and compared with a tree that was built from trees, where no text is ever pasted
into text; where they differ, parentheses are added until they agree, or the edit is refused.
"""

import ast
import itertools
import re
import textwrap
import warnings
from dataclasses import dataclass
from typing import Any

HOLE = re.compile(r"\$\$\$([A-Z_][A-Z0-9_]*)|\$([A-Z_][A-Z0-9_]*)")
# An identifier is atomic wherever it stands, so it marks a place without changing its neighbours.
_HERE = "splice__here"


class Refused(Exception):
    """Why an edit cannot be made."""


@dataclass(frozen=True, slots=True)
class Capture:
    text: str
    """Its first line without indent, and the others as deep as they stand beside it."""
    many: bool
    whole: str
    """The same with all its indents, if it begins a line."""
    statements: bool


def indent_before(source: str, at: int) -> str:
    line = source[source.rfind("\n", 0, at) + 1 : at]
    return line if not line.strip() else ""


def _indented(text: str, indent: str) -> str:
    return re.sub(r"\n(?=[^\n])", "\n" + indent, text)


def without_statement(source: str, start: int, end: int) -> str:
    first = source.rfind("\n", 0, start) + 1
    last = source.find("\n", end)
    last = len(source) if last < 0 else last + 1
    if source[first:start].strip() or source[end:last].strip():
        raise Refused("an empty `replace` deletes a statement that stands alone on its lines")
    result = _joined(source[:first], source[last:])
    marked = _parsed(source[:start] + _HERE + source[end:])
    tree = _Fill({_HERE: []}, statements_only=True).visit(marked)
    if not _same(_parsed(result), tree):
        raise Refused("an empty `replace` deletes a statement that stands alone on its lines")
    return result


def _joined(before: str, after: str) -> str:
    """Both texts; of the blank lines on the two sides of the cut only the longer run is kept."""
    upper, lower = before.rstrip("\n"), after.lstrip("\n")
    blank_above, blank_below = len(before) - len(upper) - 1, len(after) - len(lower)
    if not lower:
        return f"{upper}\n" if upper else ""
    if blank_above < 1 or blank_below < 1:
        return before + after
    return upper + "\n" * (max(blank_above, blank_below) + 1) + lower


def splice(source: str, start: int, end: int, template: str, captures: dict[str, Capture]) -> str:
    template = textwrap.dedent(template).strip("\n")
    intended = _intended(source, start, end, template, captures)
    names = [one for many, one in HOLE.findall(template) if one]
    choices = sorted({*names, _HERE})
    # Fewest parentheses first.
    for size in range(len(choices) + 1):
        for wrapped in itertools.combinations(choices, size):
            result = _paste(source, start, end, template, captures, frozenset(wrapped))
            try:
                tree = ast.parse(result)
            except SyntaxError:
                continue
            if _same(tree, intended):
                return result
    raise Refused(f"replacing with {template!r} would not give the code that was meant")


def _paste(
    source: str,
    start: int,
    end: int,
    template: str,
    captures: dict[str, Capture],
    wrapped: frozenset[str],
) -> str:
    """Plain text substitution, with parentheses around the named holes or around it all."""

    def fill(hole: re.Match[str]) -> str:
        many, one = hole.groups()
        text = captures[many or one].text
        if one:
            return f"({text})" if one in wrapped else text
        line = template[template.rfind("\n", 0, hole.start()) + 1 : hole.start()]
        return text if line.strip() else _indented(text, line)

    filled = HOLE.sub(fill, template)
    if _HERE in wrapped:
        filled = f"({filled})"
    indent = indent_before(source, start)
    return source[:start] + _indented(filled, indent) + source[end:]


def _intended(
    source: str, start: int, end: int, template: str, captures: dict[str, Capture]
) -> ast.Module:
    """The tree that is meant: built from trees, where text is never pasted into text."""
    for many, one in HOLE.findall(template):
        if (many or one) not in captures:
            raise Refused(f"`replace` has the hole ${many or one}, which `find` does not")
    filling: dict[str, list[ast.stmt] | list[ast.expr]] = {}
    for many, one in HOLE.findall(template):
        capture = captures[many or one]
        filling[_hole_name(many or one)] = (
            _many_parsed(capture) if capture.many else [_expression(capture.text)]
        )
    marked = HOLE.sub(lambda hole: _hole_name(hole[1] or hole[2]), template)
    try:
        tree = ast.parse(marked)
    except SyntaxError:
        # f(axis=0, $$$REST): a name cannot stand behind a keyword, a starred name can.
        starred = HOLE.sub(lambda h: "*" * bool(h[1]) + _hole_name(h[1] or h[2]), template)
        tree = _parsed(starred)
    body: list[ast.stmt] = _Fill(filling).visit(tree).body
    outer = _parsed(source[:start] + _HERE + source[end:])
    result: ast.Module = _Fill({_HERE: body}).visit(outer)
    return result


def _hole_name(name: str) -> str:
    return f"hole__{name}"


class _Fill(ast.NodeTransformer):
    """Puts trees in the place of names: expressions for a name, or statements for a line."""

    def __init__(self, filling: dict[str, Any], statements_only: bool = False) -> None:
        self.filling = filling
        self.statements_only = statements_only

    def visit_Expr(self, node: ast.Expr) -> Any:
        if isinstance(node.value, ast.Name) and node.value.id in self.filling:
            return [
                item if isinstance(item, ast.stmt) else ast.Expr(item)
                for item in self.filling[node.value.id]
            ]
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> Any:
        if node.id not in self.filling or self.statements_only:
            return node
        items = [i.value if isinstance(i, ast.Expr) else i for i in self.filling[node.id]]
        if not all(isinstance(item, ast.expr) for item in items):
            raise Refused("a statement cannot take the place of an expression")
        return items[0] if len(items) == 1 else items

    def visit_Call(self, node: ast.Call) -> Any:
        # f($$$ARGS): what the hole holds may have keywords, which are no expressions.
        keywords = list(node.keywords)
        for argument in node.args:
            name = argument.value if isinstance(argument, ast.Starred) else argument
            filled = self.filling.get(name.id) if isinstance(name, ast.Name) else None
            if isinstance(filled, _Arguments):
                at = sum(_position(keyword) < _position(argument) for keyword in node.keywords)
                keywords[at:at] = filled.keywords
        self.generic_visit(node)
        node.keywords = keywords
        return node

    def visit_Starred(self, node: ast.Starred) -> Any:
        if isinstance(node.value, ast.Name):
            filled = self.filling.get(node.value.id)
            if isinstance(filled, _Arguments):
                return list(filled)
        return self.generic_visit(node)


def _position(node: ast.keyword | ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


class _Arguments(list[ast.expr]):
    """Positional arguments, and the keywords that came with them."""

    def __init__(self, call: ast.Call) -> None:
        super().__init__(call.args)
        self.keywords = call.keywords


def _many_parsed(capture: Capture) -> list[ast.stmt] | list[ast.expr]:
    """What a $$$ hole may hold: statements, or else arguments of a call."""
    if capture.statements:
        if capture.whole[:1].isspace():
            block = _parsed(f"if 1:\n{capture.whole}").body[0]
            assert isinstance(block, ast.If)
            return block.body
        return _parsed(capture.whole).body
    try:
        call = ast.parse(f"f({capture.text}\n)", mode="eval").body
    except SyntaxError:
        raise Refused(
            f"a $$$HOLE must hold statements or arguments, got {capture.text!r}"
        ) from None
    return _Arguments(call) if isinstance(call, ast.Call) else []


def _expression(text: str) -> ast.expr:
    try:
        return ast.parse(f"({text}\n)", mode="eval").body
    except SyntaxError:
        pass
    try:
        subscript = ast.parse(f"x[{text}\n]", mode="eval").body
    except SyntaxError:
        raise Refused(f"a $HOLE must hold an expression, got {text!r}") from None
    assert isinstance(subscript, ast.Subscript)
    return subscript.slice


def _parsed(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except SyntaxError as error:
        raise Refused(f"the result would not be Python: {error.msg}") from None


def compiled(text: str) -> str:
    """The same text, if it is a program: `return` may parse and yet stand in no function."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            compile(text, "<mutant>", "exec", dont_inherit=True)
    except SyntaxError as error:
        raise Refused(f"the result would not be Python: {error.msg}") from None
    return text


def _same(one: ast.AST, other: ast.AST) -> bool:
    return _shape(one) == _shape(other)


def _shape(tree: ast.AST) -> str:
    # Load and Store follow from the place; a tree built by hand need not have them right.
    return re.sub(r"ctx=(Load|Store|Del)\(\)", "ctx", ast.dump(tree))
