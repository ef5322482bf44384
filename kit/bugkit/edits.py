"""Structural find/replace.

Patterns are those of ast-grep: code with holes. `$NAME` stands for one node, `$$$NAME` for any
number. A pattern must match exactly once inside its function; text outside the match is kept
byte for byte, but for blank lines around a deleted statement: two runs of them become one.
"""

import textwrap
from typing import TYPE_CHECKING, Any

from .catalogue import Bug, Edit
from .files import read_text
from .places import shown
from .problems import MissingTool, Problem, nearest
from .splice import HOLE, Capture, Refused, compiled, indent_before, splice, without_statement

if TYPE_CHECKING:
    from ast_grep_py import SgNode


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


def apply(source: str, edit: Edit) -> str:
    """`source` with the one match of the edit replaced. Raises Refused."""
    match = _find(source, edit)
    start, end = _span(match)
    if edit.replace.strip():
        captures = _captures(source, edit.find, match)
        result = splice(source, start, end, edit.replace, captures)
    else:
        result = without_statement(source, start, end)
    return compiled(result)


def _find(source: str, edit: Edit) -> "SgNode":
    scope = _function(source, edit.inside)
    for pattern in (edit.find, *filter(None, (edit.after, edit.before))):
        try:
            scope.find({"rule": {"pattern": pattern}})
        except RuntimeError:
            raise Refused(f"not a pattern of one Python node: {pattern!r}") from None
    rules: list[Any] = [{"pattern": edit.find}]
    if edit.after:
        rules.append(_beside("follows", edit.after))
    if edit.before:
        rules.append(_beside("precedes", edit.before))
    found = scope.find_all({"rule": {"all": rules}})
    # A statement and the expression it consists of are two nodes with one text.
    spans = {_span(node): node for node in found}
    if len(spans) != 1:
        advice = "mend the pattern" if not spans else "say what stands `after` or `before` it"
        raise Refused(f"{edit.find!r} matches {len(spans)} times, not once; {advice}")
    return next(iter(spans.values()))


def _beside(relation: str, pattern: str) -> Any:
    """Stands beside the pattern, or is all of a statement that stands beside it as a statement."""
    other = [{"pattern": pattern}, {"kind": "expression_statement", "has": {"pattern": pattern}}]
    rule = {relation: {"any": other, "stopBy": "end"}}
    return {"any": [rule, {"inside": {"kind": "expression_statement"} | rule}]}


def _function(source: str, name: str) -> "SgNode":
    try:
        from ast_grep_py import SgRoot
    except ImportError:
        raise MissingTool("edits need the library ast-grep-py", "author") from None
    root: SgNode = SgRoot(source, "python").root()
    if not name:
        return root
    found = root.find_all(kind="function_definition")
    functions = [n for n in found if (field := _name(n)) is not None and field.text() == name]
    if len(functions) != 1:
        others = {field.text() for field in map(_name, found) if field is not None} - {name}
        near = nearest(name, sorted(others))
        raise Refused(f"there are {len(functions)} functions {name}, not one{near}")
    return functions[0]


def _name(function: "SgNode") -> "SgNode | None":
    return function.field("name")


def _span(node: "SgNode") -> tuple[int, int]:
    at = node.range()
    return at.start.index, at.end.index


def _captures(source: str, find: str, match: "SgNode") -> dict[str, Capture]:
    captures = {}
    for many, one in HOLE.findall(find):
        if (many or one).startswith("_"):
            continue  # ast-grep keeps nothing of these
        if one:
            node = match.get_match(one)
            nodes = [] if node is None else [node]
        else:
            nodes = match.get_multiple_matches(many)
        if not nodes:
            captures[many or one] = Capture("", bool(many), "", False)
            continue
        start, end = _span(nodes[0])[0], _span(nodes[-1])[1]
        whole = indent_before(source, start) + source[start:end]
        statements = bool(many) and nodes[0].kind() == "block"
        if many:
            # Statements keep their layout; the first line's indent lies before the match.
            text = textwrap.dedent(whole)
        else:
            text = _shifted(source[start:end], indent_before(source, _span(match)[0]))
        captures[many or one] = Capture(text, bool(many), whole, statements)
    return captures


def _shifted(text: str, indent: str) -> str:
    """The text with `indent` taken off every line but the first, if they all have it."""
    first, *others = text.split("\n")
    if not all(line.startswith(indent) or not line.strip() for line in others):
        return text
    return "\n".join([first, *(line.removeprefix(indent) for line in others)])
