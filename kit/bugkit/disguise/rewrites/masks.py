"""Masks: which entries are taken."""

import ast

from ..marks import at, known_of
from .base import Context, call, method, rewrite


@rewrite(
    ast.Call,
    examples=[("return np.where(flag, a, b)", "return np.where(np.logical_not(flag), b, a)")],
    never=["return np.where(flag)", "return np.where(np.logical_not(flag), b, a)"],
    odds=25,
)
def where_not(node: ast.Call, context: Context) -> ast.AST | None:
    """What is taken where it holds, and what where it does not."""
    if known_of(node.func) != "np.where" or len(node.args) != 3 or node.keywords:
        return None
    test, one, other = node.args
    if isinstance(test, ast.Call) and known_of(test.func) == "np.logical_not":
        return None
    if not context.facts.exchangeable(one, other):
        return None
    return call("np.where", [call("np.logical_not", [test], node), other, one], node)


def minus_infinity(node: ast.AST) -> bool:
    """`-np.inf` or `float("-inf")`."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return known_of(node.operand) in ("np.inf", "math.inf")
    return False


@rewrite(
    ast.Call,
    examples=[
        (
            "return np.where(flag, -np.inf, a)",
            "return a + np.where(flag, -np.inf, 0.0).astype(a.dtype)",
        ),
    ],
    never=["return np.where(flag, 0.0, a)", "return np.where(flag, a, -np.inf)"],
)
def mask_added(node: ast.Call, context: Context) -> ast.AST | None:
    """Minus infinity put in place of a score, or added to it; scores are finite."""
    if known_of(node.func) != "np.where" or len(node.args) != 3 or node.keywords:
        return None
    test, hidden, scores = node.args
    if not minus_infinity(hidden) or not isinstance(scores, ast.Name):
        return None
    if not context.facts.is_array(scores):
        return None
    mask = call("np.where", [test, hidden, at(ast.Constant(0.0), node)], node)
    kind = at(ast.Attribute(scores, "dtype", ast.Load()), node)
    return at(ast.BinOp(scores, ast.Add(), method(mask, "astype", [kind], node)), node)


@rewrite(
    ast.UnaryOp,
    examples=[("return -np.inf", 'return float("-inf")')],
    never=["return -np.pi", "return np.inf"],
    odds=25,
)
def infinity_by_name(node: ast.UnaryOp, _context: Context) -> ast.AST | None:
    """Infinity has no literal, so there are many."""
    if not minus_infinity(node):
        return None
    word = at(ast.Constant("-inf"), node)
    return call(at(ast.Name("float", ast.Load()), node), [word], node)


@rewrite(
    ast.Call,
    examples=[
        (
            "return np.triu(np.ones((n, m), dtype=bool), k=1)",
            "return np.arange(m) >= np.arange(n)[:, None] + 1",
        ),
        (
            "return np.tril(np.ones((n, m), dtype=bool), k=1)",
            "return np.arange(m) <= np.arange(n)[:, None] + 1",
        ),
    ],
    never=["return np.triu(a, k=1)", "return np.triu(np.ones((n, m)), k=1)"],
    odds=35,
)
def triangle_by_indices(node: ast.Call, context: Context) -> ast.AST | None:
    """A triangle is a comparison of column and row."""
    found = _triangle(node, context)
    if found is None:
        return None
    upper, rows, columns, shift = found
    row: ast.expr = call("np.arange", [rows], node)
    none = at(ast.Constant(None), node)
    index = at(ast.Tuple([at(ast.Slice(), node), none], ast.Load()), node)
    row = at(ast.Subscript(row, index, ast.Load()), node)
    compare: ast.cmpop = ast.GtE() if upper else ast.LtE()
    limit = at(ast.BinOp(row, ast.Add(), shift), node)
    return at(ast.Compare(call("np.arange", [columns], node), [compare], [limit]), node)


@rewrite(
    ast.Call,
    examples=[
        (
            "return np.triu(np.ones((n, m), dtype=bool), k=1)",
            "return ~np.tril(np.ones((n, m), dtype=bool), k=0)",
        ),
        (
            "return np.triu(np.ones((n, m), dtype=bool), k=m - n)",
            "return ~np.tril(np.ones((n, m), dtype=bool), k=m - n - 1)",
        ),
    ],
    never=["return np.triu(a, k=1)"],
    odds=35,
)
def other_triangle(node: ast.Call, context: Context) -> ast.AST | None:
    """What is not in the lower triangle is in the upper one."""
    found = _triangle(node, context)
    if found is None:
        return None
    upper, _rows, _columns, shift = found
    limit = _moved(shift, -1 if upper else 1, node)
    name = "np.tril" if upper else "np.triu"
    return at(ast.UnaryOp(ast.Invert(), call(name, [node.args[0]], node, k=limit)), node)


def _moved(shift: ast.expr, by: int, origin: ast.AST) -> ast.expr:
    if isinstance(shift, ast.Constant) and isinstance(shift.value, int) and shift.value + by >= 0:
        return at(ast.Constant(shift.value + by), origin)
    sign: ast.operator = ast.Add() if by > 0 else ast.Sub()
    return at(ast.BinOp(shift, sign, at(ast.Constant(1), origin)), origin)


def _triangle(node: ast.Call, context: Context) -> tuple[bool, ast.expr, ast.expr, ast.expr] | None:
    """Whether it is the upper one, rows, columns, shift."""
    name = known_of(node.func)
    if name not in ("np.triu", "np.tril") or len(node.args) != 1 or len(node.keywords) != 1:
        return None
    ones, shift = node.args[0], node.keywords[0]
    if shift.arg != "k" or not isinstance(ones, ast.Call) or known_of(ones.func) != "np.ones":
        return None
    if len(ones.args) != 1 or [k.arg for k in ones.keywords] != ["dtype"]:
        return None
    kind, shape = ones.keywords[0].value, ones.args[0]
    if not isinstance(kind, ast.Name) or kind.id != "bool" or not isinstance(shape, ast.Tuple):
        return None
    if len(shape.elts) != 2 or not context.facts.calm(shape, shift):
        return None
    return name == "np.triu", shape.elts[0], shape.elts[1], shift.value


@rewrite(
    ast.Call,
    examples=[
        ("return np.ones((n, m), dtype=bool)", "return np.full((n, m), True)"),
        ("return np.zeros(n, dtype=bool)", "return np.full(n, False)"),
    ],
    never=["return np.ones((n, m))", "return np.ones(n, dtype=int)"],
    odds=30,
)
def filled_with(node: ast.Call, _context: Context) -> ast.AST | None:
    """Ones that are true."""
    name = known_of(node.func)
    if name not in ("np.ones", "np.zeros") or len(node.args) != 1 or len(node.keywords) != 1:
        return None
    kind = node.keywords[0].value
    if node.keywords[0].arg != "dtype" or not isinstance(kind, ast.Name) or kind.id != "bool":
        return None
    return call("np.full", [node.args[0], at(ast.Constant(name == "np.ones"), node)], node)
