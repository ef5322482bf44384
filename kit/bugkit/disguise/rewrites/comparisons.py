"""Comparisons and conditions."""

import ast

from ..evaluation import is_number
from ..marks import at, changed
from .base import Context, rewrite

MIRROR: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.Gt: ast.Lt,
    ast.LtE: ast.GtE,
    ast.GtE: ast.LtE,
    ast.Eq: ast.Eq,
    ast.NotEq: ast.NotEq,
}
OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


def constant(node: ast.AST) -> bool:
    """What the linter wants on the right: numbers, texts, names in capitals."""
    if isinstance(node, ast.Attribute):
        return node.attr.isupper()
    if isinstance(node, ast.Name):
        return node.id.isupper()
    if isinstance(node, ast.BinOp):
        return constant(node.left) and constant(node.right)
    if isinstance(node, ast.UnaryOp):
        return constant(node.operand)
    if isinstance(node, ast.Tuple | ast.List | ast.Dict | ast.Set):
        return True
    return is_number(node) or isinstance(node, ast.Constant)


@rewrite(
    ast.Compare,
    examples=[("return n < m", "return m > n"), ("return a == b", "return b == a")],
    never=["return n < 1", "return 1 < n < m", "return n in things", "return g(n) < g(m)"],
)
def mirrored(node: ast.Compare, context: Context) -> ast.AST | None:
    """A comparison read from the other side."""
    if len(node.ops) != 1 or type(node.ops[0]) not in MIRROR:
        return None
    left, right = node.left, node.comparators[0]
    if constant(left) or constant(right) or not context.facts.exchangeable(left, right):
        return None
    return changed(node, left=right, ops=[MIRROR[type(node.ops[0])]()], comparators=[left])


def negated(test: ast.expr) -> ast.expr | None:
    """The opposite, where it has a form of its own. `not a < b` is not `a >= b`: neither holds
    for what is no number."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in OPPOSITE:
        return changed(test, ops=[OPPOSITE[type(test.ops[0])]()])
    if isinstance(test, ast.Name | ast.Attribute | ast.Call):
        return at(ast.UnaryOp(ast.Not(), test), test)
    return None


@rewrite(
    ast.IfExp,
    examples=[
        ("return a if flag else b", "return b if not flag else a"),
        ("return a if b is None else n", "return n if b is not None else a"),
    ],
    never=["return a if n < m else b"],
)
def other_case_first(node: ast.IfExp, _context: Context) -> ast.AST | None:
    """The two cases in the other order."""
    test = negated(node.test)
    if test is None or isinstance(node.orelse, ast.IfExp):
        return None
    return changed(node, test=test, body=node.orelse, orelse=node.body)


@rewrite(
    ast.Compare,
    examples=[("return 1 <= n <= m", "return n >= 1 and n <= m")],
    never=["return 1 <= n", "return 1 <= g(n) <= m", "return n < m < len(things) < 9"],
    odds=40,
)
def between(node: ast.Compare, _context: Context) -> ast.AST | None:
    """A number between two others."""
    if len(node.ops) != 2 or not isinstance(node.comparators[0], ast.Name | ast.Attribute):
        return None
    if type(node.ops[0]) not in MIRROR or not constant(node.left):
        return None
    middle = node.comparators[0]
    if constant(middle):
        return None
    if isinstance(middle, ast.Attribute) and not isinstance(middle.value, ast.Name):
        return None
    lower = at(ast.Compare(middle, [MIRROR[type(node.ops[0])]()], [node.left]), node)
    upper = at(ast.Compare(middle, [node.ops[1]], [node.comparators[1]]), node)
    return at(ast.BoolOp(ast.And(), [lower, upper]), node)
