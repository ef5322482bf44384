"""Sums, means and their kind."""

import ast

from ..evaluation import atomic
from ..marks import at, changed, known_of
from .base import Context, call, method, only_keywords, rewrite

NAMES = ("sum", "mean", "max", "min", "var", "cumsum", "argmax", "argsort", "repeat")


@rewrite(
    ast.Call,
    examples=[("return np.sum(a, axis=-1, keepdims=True)", "return a.sum(axis=-1, keepdims=True)")],
    never=["return np.sum(things)", "return np.exp(a)"],
)
def reduced_by_method(node: ast.Call, context: Context) -> ast.AST | None:
    """A function of NumPy as a method of the array."""
    name = known_of(node.func).removeprefix("np.")
    if name not in NAMES or not node.args or not context.facts.is_array(node.args[0]):
        return None
    return changed(node, func=at(ast.Attribute(node.args[0], name, ast.Load()), node),
                   args=node.args[1:])  # fmt: skip


@rewrite(
    ast.Call,
    examples=[("return a.sum(axis=(0, 1))", "return np.sum(a, axis=(0, 1))")],
    never=["return things.sum(axis=0)"],
)
def reduced_by_function(node: ast.Call, context: Context) -> ast.AST | None:
    """And the other way round."""
    function = node.func
    if not isinstance(function, ast.Attribute) or function.attr not in NAMES:
        return None
    if known_of(function) or not context.facts.is_array(function.value):
        return None
    new = call(f"np.{function.attr}", [function.value, *node.args], node)
    return changed(new, keywords=node.keywords)


AXIS_SECOND = ("sum", "mean", "max", "min", "var", "cumsum", "argmax", "argsort", "expand_dims")
AXIS_SECOND_TOO = ("concatenate", "stack")
AXIS_THIRD = ("split", "repeat", "take_along_axis")


@rewrite(
    ast.Call,
    examples=[
        ("return np.sum(a, axis=-1, keepdims=True)", "return np.sum(a, -1, keepdims=True)"),
        ("return np.split(a, n, axis=-1)", "return np.split(a, n, -1)"),
        ("return a.sum(axis=1)", "return a.sum(1)"),
    ],
    never=["return np.sum(a, keepdims=True, axis=1)", "return np.tensordot(a, b, axes=1)"],
)
def axis_by_place(node: ast.Call, context: Context) -> ast.AST | None:
    """The axis needs no name."""
    if not node.keywords or node.keywords[0].arg != "axis":
        return None
    name = known_of(node.func).removeprefix("np.")
    function = node.func
    if name in (*AXIS_SECOND, *AXIS_SECOND_TOO):
        places = 1
    elif name in AXIS_THIRD:
        places = 2
    elif isinstance(function, ast.Attribute) and function.attr in AXIS_SECOND and not name:
        if not context.facts.is_array(function.value):
            return None
        places = 0
    else:
        return None
    if len(node.args) != places or any(isinstance(a, ast.Starred) for a in node.args):
        return None
    axis = node.keywords[0].value
    return changed(node, args=[*node.args, axis], keywords=node.keywords[1:])


@rewrite(
    ast.Call,
    examples=[("return np.square(a)", "return a * a")],
    never=["return np.square(a + b)", "return np.square(things)"],
)
def square_as_product(node: ast.Call, context: Context) -> ast.AST | None:
    """A square is a product."""
    if known_of(node.func) != "np.square" or len(node.args) != 1 or node.keywords:
        return None
    value = node.args[0]
    if not isinstance(value, ast.Name) or not context.facts.is_array(value):
        return None
    return at(ast.BinOp(value, ast.Mult(), value), node)


@rewrite(
    ast.BinOp,
    examples=[("return a * a", "return np.square(a)"), ("return 1 - a * a", "return 1 - a**2")],
    never=["return a * b", "return n * n"],
    odds=30,
)
def product_as_square(node: ast.BinOp, context: Context) -> ast.AST | None:
    """A product of a thing with itself is a square."""
    left, right = node.left, node.right
    if not isinstance(node.op, ast.Mult) or not isinstance(left, ast.Name):
        return None
    if not isinstance(right, ast.Name) or left.id != right.id or not context.facts.is_array(left):
        return None
    if context.dice.maybe(50):
        return call("np.square", [left], node)
    return at(ast.BinOp(left, ast.Pow(), at(ast.Constant(2), node)), node)


@rewrite(
    ast.Call,
    examples=[("return float(-np.mean(a))", "return -float(np.mean(a))")],
    never=["return float(np.mean(a))", "return int(-np.mean(a))"],
)
def sign_outside(node: ast.Call, _context: Context) -> ast.AST | None:
    """Minus may stand inside of float() or outside."""
    if not isinstance(node.func, ast.Name) or node.func.id != "float" or len(node.args) != 1:
        return None
    value = node.args[0]
    if not isinstance(value, ast.UnaryOp) or not isinstance(value.op, ast.USub):
        return None
    if atomic(value.operand) or not only_keywords(node):
        return None
    inner = changed(node, args=[value.operand])
    return at(ast.UnaryOp(ast.USub(), inner), node)


@rewrite(
    ast.Call,
    examples=[("return np.argmax(a, axis=-1)", "return a.argmax(axis=-1)")],
    never=["return np.argmax(things)"],
)
def largest_by_method(node: ast.Call, context: Context) -> ast.AST | None:
    """The place of the largest entry, asked of the array."""
    if known_of(node.func) != "np.argmax" or not node.args:
        return None
    if not context.facts.is_array(node.args[0]) or not only_keywords(node, "axis"):
        return None
    new = method(node.args[0], "argmax", node.args[1:], node)
    return changed(new, keywords=node.keywords)
