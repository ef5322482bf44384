"""Branches: which case comes first, and where one returns."""

import ast

from ..marks import at, changed
from .base import Context, Replacement, block_rewrite
from .comparisons import negated


def _constant_pair(one: ast.expr | None, other: ast.expr | None) -> bool:
    """True and False are returned without a branch."""
    return all(isinstance(v, ast.Constant) and isinstance(v.value, bool) for v in (one, other))


@block_rewrite(
    ast.Return,
    examples=[("return a if flag else b", "if flag:\n    return a\nreturn b")],
    never=["return True if flag else False", "return a"],
    odds=45,
)
def early_return(block: list[ast.stmt], i: int, _context: Context) -> Replacement:
    """A choice between two results as an early return."""
    match block[i]:
        case ast.Return(value=ast.IfExp(test=test, body=body, orelse=other)):
            pass
        case _:
            return None
    if _constant_pair(body, other):
        return None
    branch = ast.If(test, [at(ast.Return(body), body)], [])
    return 1, [at(branch, block[i]), at(ast.Return(other), other)]


@block_rewrite(
    ast.If,
    examples=[("if flag:\n    return a\nreturn b", "return a if flag else b")],
    never=[
        "if flag:\n    return a\nelse:\n    n = 1\nreturn b",
        "if flag:\n    n = 1\n    return a\nreturn b",
        "if flag:\n    return True\nreturn False",
    ],
    odds=30,
)
def returned_choice(block: list[ast.stmt], i: int, _context: Context) -> Replacement:
    """And back."""
    match block[i : i + 2]:
        case [
            ast.If(test=test, body=[ast.Return(value=ast.expr() as body)], orelse=[]),
            ast.Return(value=ast.expr() as other),
        ]:
            pass
        case _:
            return None
    if _constant_pair(body, other) or isinstance(body, ast.IfExp) or isinstance(other, ast.IfExp):
        return None
    if isinstance(body, ast.Tuple) or isinstance(other, ast.Tuple):
        return None
    return 2, [at(ast.Return(at(ast.IfExp(test, body, other), block[i])), block[i])]


@block_rewrite(
    ast.If,
    examples=[("if flag:\n    return a\nreturn b", "if not flag:\n    return b\nreturn a")],
    never=["if n < m:\n    return a\nreturn b", "if flag:\n    n = 1\nreturn b"],
    odds=25,
)
def other_return_first(block: list[ast.stmt], i: int, _context: Context) -> Replacement:
    """The two ends of a function in the other order."""
    match block[i : i + 2]:
        case [ast.If(test=test, body=[ast.Return() as one], orelse=[]), ast.Return() as other]:
            pass
        case _:
            return None
    opposite = negated(test)
    if opposite is None or _constant_pair(one.value, other.value):
        return None
    branch = at(ast.If(opposite, [other], []), block[i])
    return 2, [branch, one]


@block_rewrite(
    ast.If,
    examples=[
        (
            "if flag:\n    n = 1\nelse:\n    n = m\n    m = 2",
            "if not flag:\n    n = m\n    m = 2\nelse:\n    n = 1",
        )
    ],
    never=["if flag:\n    n = 1", "if n < m:\n    n = 1\nelse:\n    n = 2"],
    odds=45,
)
def other_branch_first(block: list[ast.stmt], i: int, _context: Context) -> Replacement:
    """`if` and `else` exchanged."""
    node = block[i]
    if not isinstance(node, ast.If) or not node.orelse or isinstance(node.orelse[0], ast.If):
        return None
    test = negated(node.test)
    if test is None:
        return None
    return 1, [changed(node, test=test, body=node.orelse, orelse=node.body)]
