"""Structural find/replace that proves what it did.

Patterns are those of ast-grep: code with holes. `$NAME` stands for one node, `$$$NAME` for any
number. A pattern must match exactly once inside its function; text outside the match is kept
byte for byte.

Pasting text can change its meaning: putting `q + k` for $X in `$X / d` gives `q + k / d`. So
the result is parsed and compared with the tree that was meant; where they differ,
parentheses are added until they agree, or the edit is refused.
"""

import ast
import itertools
import re
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .catalogue import Bug, Edit
from .files import read_text
from .places import shown
from .problems import Problem

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_HOLE = re.compile(r"\$\$\$([A-Z_][A-Z0-9_]*)|\$([A-Z_][A-Z0-9_]*)")
# An identifier is atomic wherever it stands, so it marks a place without changing its neighbours.
_HERE = "splice__here"


def mutate(bug: Bug) -> str:
    """The source of the mutant's module."""
    source = read_text(bug.original)
    for number, edit in enumerate(bug.edits, 1):
        try:
            source = apply(source, edit)
        except Refused as refused:
            place = f"{bug.file}, {edit.inside}" if edit.inside else bug.file
            raise Problem(
                f"{shown(bug.folder / 'bug.toml')}: edit {number} in {place}: {refused}"
            ) from None
    return source


class Refused(Exception):
    """Why an edit cannot be made."""


def apply(source: str, edit: Edit) -> str:
    """`source` with the one match of the edit replaced. Raises Refused."""
    match = _find(source, edit)
    start, end = _span(match)
    if not edit.replace.strip():
        return _without_statement(source, start, end)
    return _splice(source, start, end, edit.replace, _captures(source, edit.find, match))


def _find(source: str, edit: Edit) -> "SgNode":
    scope = _function(source, edit.inside)
    rule: Any = {"pattern": edit.find}
    if edit.after:
        rule["follows"] = {"pattern": edit.after, "stopBy": "end"}
    if edit.before:
        rule["precedes"] = {"pattern": edit.before, "stopBy": "end"}
    try:
        found = scope.find_all({"rule": rule})
    except RuntimeError:
        raise Refused(f"not a pattern of one Python node: {edit.find!r}") from None
    # A statement and the expression it consists of are two nodes with one text.
    spans = {_span(node): node for node in found}
    if len(spans) != 1:
        advice = "mend the pattern" if not spans else "say what stands `after` or `before` it"
        raise Refused(f"{edit.find!r} matches {len(spans)} times, not once; {advice}")
    return next(iter(spans.values()))


def _function(source: str, name: str) -> "SgNode":
    try:
        from ast_grep_py import SgRoot
    except ImportError:
        raise Problem(
            "edits need the library ast-grep-py; install it with: pip install 'bugkit[author]'"
        ) from None
    root: SgNode = SgRoot(source, "python").root()
    if not name:
        return root
    functions = [
        node
        for node in root.find_all(kind="function_definition")
        if (field := node.field("name")) is not None and field.text() == name
    ]
    if len(functions) != 1:
        raise Refused(f"there are {len(functions)} functions of this name, not one")
    return functions[0]


def _span(node: "SgNode") -> tuple[int, int]:
    at = node.range()
    return at.start.index, at.end.index


@dataclass(frozen=True, slots=True)
class _Capture:
    text: str
    many: bool


def _captures(source: str, find: str, match: "SgNode") -> dict[str, _Capture]:
    captures = {}
    for many, one in _HOLE.findall(find):
        if one:
            node = match.get_match(one)
            nodes = [] if node is None else [node]
        else:
            nodes = match.get_multiple_matches(many)
        spans = [_span(node) for node in nodes]
        text = source[spans[0][0] : spans[-1][1]] if spans else ""
        if many and spans:
            # Statements keep their layout; the first line's indent lies before the match.
            text = textwrap.dedent(_indent_before(source, spans[0][0]) + text)
        captures[many or one] = _Capture(text, bool(many))
    return captures


def _indent_before(source: str, at: int) -> str:
    line = source[source.rfind("\n", 0, at) + 1 : at]
    return line if not line.strip() else ""


def _without_statement(source: str, start: int, end: int) -> str:
    first = source.rfind("\n", 0, start) + 1
    last = source.find("\n", end)
    last = len(source) if last < 0 else last + 1
    if source[first:start].strip() or source[end:last].strip():
        raise Refused("an empty `replace` deletes a statement that stands alone on its lines")
    result = source[:first] + source[last:]
    _parsed(result)
    return result


def _splice(source: str, start: int, end: int, template: str, captures: dict[str, _Capture]) -> str:
    template = textwrap.dedent(template).strip("\n")
    intended = _intended(source, start, end, template, captures)
    names = [one for many, one in _HOLE.findall(template) if one]
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
    captures: dict[str, _Capture],
    wrapped: frozenset[str],
) -> str:
    """Plain text substitution, with parentheses around the named holes or around it all."""

    def fill(hole: re.Match[str]) -> str:
        many, one = hole.groups()
        text = captures[many or one].text
        if one:
            return f"({text})" if one in wrapped else text
        line = template[template.rfind("\n", 0, hole.start()) + 1 : hole.start()]
        return text if line.strip() else text.replace("\n", "\n" + line)

    filled = _HOLE.sub(fill, template)
    if _HERE in wrapped:
        filled = f"({filled})"
    indent = _indent_before(source, start)
    return source[:start] + filled.replace("\n", "\n" + indent) + source[end:]


def _intended(
    source: str, start: int, end: int, template: str, captures: dict[str, _Capture]
) -> ast.Module:
    """The tree that is meant: built from trees, where text is never pasted into text."""
    for many, one in _HOLE.findall(template):
        if (many or one) not in captures:
            raise Refused(f"`replace` has the hole ${many or one}, which `find` does not")
    filling: dict[str, list[ast.stmt] | list[ast.expr]] = {}
    for name, capture in captures.items():
        filling[_hole_name(name)] = (
            _many_parsed(capture.text) if capture.many else [_expression(capture.text)]
        )
    marked = _HOLE.sub(lambda hole: _hole_name(hole[1] or hole[2]), template)
    body: list[ast.stmt] = _Fill(filling).visit(_parsed(marked)).body
    outer = _parsed(source[:start] + _HERE + source[end:])
    tree: ast.Module = _Fill({_HERE: body}).visit(outer)
    return tree


def _hole_name(name: str) -> str:
    return f"hole__{name}"


class _Fill(ast.NodeTransformer):
    """Puts trees in the place of names: expressions for a name, or statements for a line."""

    def __init__(self, filling: dict[str, Any]) -> None:
        self.filling = filling

    def visit_Expr(self, node: ast.Expr) -> Any:
        if isinstance(node.value, ast.Name) and node.value.id in self.filling:
            return [
                item if isinstance(item, ast.stmt) else ast.Expr(item)
                for item in self.filling[node.value.id]
            ]
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> Any:
        if node.id not in self.filling:
            return node
        items = [i.value if isinstance(i, ast.Expr) else i for i in self.filling[node.id]]
        if not all(isinstance(item, ast.expr) for item in items):
            raise Refused("a statement cannot take the place of an expression")
        return items[0] if len(items) == 1 else items

    def visit_Call(self, node: ast.Call) -> Any:
        # f($$$ARGS): what the hole holds may have keywords, which are no expressions.
        keywords: list[ast.keyword] = []
        for argument in node.args:
            if isinstance(argument, ast.Name):
                filled = self.filling.get(argument.id)
                if isinstance(filled, _Arguments):
                    keywords += filled.keywords
        self.generic_visit(node)
        node.keywords = keywords + node.keywords
        return node


class _Arguments(list[ast.expr]):
    """Positional arguments, and the keywords that came with them."""

    def __init__(self, call: ast.Call) -> None:
        super().__init__(call.args)
        self.keywords = call.keywords


def _many_parsed(text: str) -> list[ast.stmt] | list[ast.expr]:
    """What a $$$ hole may hold: arguments of a call, or else statements."""
    try:
        call = ast.parse(f"f({text}\n)", mode="eval").body
    except SyntaxError:
        return _parsed(text).body
    return _Arguments(call) if isinstance(call, ast.Call) else []


def _expression(text: str) -> ast.expr:
    try:
        return ast.parse(f"({text}\n)", mode="eval").body
    except SyntaxError:
        raise Refused(f"a $HOLE must hold an expression, got {text!r}") from None


def _parsed(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except SyntaxError as error:
        raise Refused(f"the result would not be Python: {error.msg}") from None


def _same(one: ast.AST, other: ast.AST) -> bool:
    return _shape(one) == _shape(other)


def _shape(tree: ast.AST) -> str:
    # Load and Store follow from the place; a tree built by hand need not have them right.
    return re.sub(r"ctx=(Load|Store|Del)\(\)", "ctx", ast.dump(tree))
