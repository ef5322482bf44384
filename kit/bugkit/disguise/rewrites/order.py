"""Statements in another order."""

import ast

from ..facts import Facts, bindings_in
from ..marks import binding_of, comments_of, nodes, trailing_of
from .base import Context, Replacement, block_rewrite

FAR = 3
"""Statements that one may move past."""

SHAPELY = ("shape", "ndim", "size", "dtype")
"""Attributes of arrays that never change."""


@block_rewrite(
    ast.Assign,
    examples=[
        ("n = a + 1\nm = b * 2\nreturn n, m", "m = b * 2\nn = a + 1\nreturn n, m"),
        ("n = a.shape[0]\nm = g(a)\nreturn n, m", "m = g(a)\nn = a.shape[0]\nreturn n, m"),
    ],
    never=[
        "n = a + 1\nm = n * 2\nreturn n, m",
        "n = a + 1\nm = g(a)\nreturn n, m",
        "n = a + 1\na = b * 2\nreturn n, a",
        "n = g(a)\nm = g(b)\nreturn n, m",
        "n = a + 1\nn = a + 2\nreturn n, n",
        "n = a + 1\nm = b * 2\nreturn n",
        "n = a.shape[0]\nif flag:\n    return a\nreturn n, m",
    ],
    odds=45,
)
def later(block: list[ast.stmt], i: int, context: Context) -> Replacement:
    """What is not needed yet may wait."""
    first = block[i]
    facts = context.facts
    if not _movable(first, facts):
        return None
    reach = i
    while reach - i < FAR and reach + 1 < len(block) and _passes(first, block[reach + 1], facts):
        reach += 1
    places = [j for j in range(i + 1, reach + 1) if not returned(first, block[j + 1 :])]
    if not places:
        return None
    end = context.dice.choose(places)
    return end - i + 1, [*block[i + 1 : end + 1], first]


def _movable(node: ast.stmt, facts: Facts) -> bool:
    """A value that can be computed at any time, put under names."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return False
    target = node.targets[0]
    names = target.elts if isinstance(target, ast.Tuple) else [target]
    if not all(isinstance(name, ast.Name) for name in names):
        return False
    if bindings_in([target]) & facts.captured or comments_of(node) or trailing_of(node):
        return False
    return facts.calm(node.value)


def _passes(first: ast.stmt, second: ast.stmt, facts: Facts) -> bool:
    """Whether two statements, the first of which is movable, give the same in either order."""
    if not isinstance(second, ast.Assign) or comments_of(second) or trailing_of(second):
        return False
    if not all(isinstance(t, ast.Name | ast.Tuple) for t in second.targets):
        return False
    if any(isinstance(n, ast.Attribute | ast.Subscript) for t in second.targets for n in nodes(t)):
        return False
    assert isinstance(first, ast.Assign)
    if bindings_in(first.targets) & bindings_in([second]):
        return False
    if bindings_in([first.value]) & bindings_in(second.targets):
        return False
    return facts.calm(second.value) or _of_shapes(first.value)


def _of_shapes(node: ast.AST) -> bool:
    """Whether a value is made of shapes and numbers alone: no call can change those."""
    if isinstance(node, ast.Attribute):
        return node.attr in SHAPELY and isinstance(node.value, ast.Name)
    if isinstance(node, ast.Name | ast.Call):
        return False
    return all(_of_shapes(child) for child in ast.iter_child_nodes(node))


def returned(node: ast.AST, rest: list[ast.stmt]) -> bool:
    """Whether the next statement returns just what was just assigned: the linter would object."""
    if not rest or not isinstance(rest[0], ast.Return) or not isinstance(rest[0].value, ast.Name):
        return False
    return binding_of(rest[0].value) in bindings_in([node])
