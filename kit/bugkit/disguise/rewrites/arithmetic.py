"""Sums, products, quotients."""

import ast

from ..evaluation import is_extent, is_number
from ..marks import at, changed, known_of
from .base import Context, call, rewrite, whole


def _numeric(node: ast.AST, context: Context) -> bool:
    return is_number(node) or is_extent(node) or context.facts.is_array(node)


@rewrite(
    ast.BinOp,
    examples=[
        ("return a * b", "return b * a"),
        ("return 0.5 * a * b", "return b * (0.5 * a)"),
        ("return 2 * n", "return n * 2"),
    ],
    never=["return a @ b", "return a / b", "return things * n", "return (a + g(a)) * g(b)"],
    odds=30,
)
def product_turned(node: ast.BinOp, context: Context) -> ast.AST | None:
    """Numbers multiply in either order, to the last bit."""
    if not isinstance(node.op, ast.Mult):
        return None
    return _turned(node, context)


@rewrite(
    ast.BinOp,
    examples=[("return a + b", "return b + a"), ("return 1 + n", "return n + 1")],
    never=["return a - b", "return things + [1]", "return n + m"],
    odds=30,
)
def sum_turned(node: ast.BinOp, context: Context) -> ast.AST | None:
    """Numbers add in either order, to the last bit; lists do not."""
    if not isinstance(node.op, ast.Add):
        return None
    return _turned(node, context)


def _turned(node: ast.BinOp, context: Context) -> ast.AST | None:
    left, right = node.left, node.right
    if isinstance(left, ast.Name) and isinstance(right, ast.Name) and left.id == right.id:
        return None
    # With a number or an array on one side, even a list on the other may change sides.
    known = _numeric(left, context) or _numeric(right, context)
    if not known or not context.facts.exchangeable(left, right):
        return None
    return changed(node, left=right, right=left)


@rewrite(
    ast.BinOp,
    examples=[("return 0.5 * a", "return a / 2")],
    never=["return 0.25 * a", "return 0.5 * n"],
    odds=35,
)
def half(node: ast.BinOp, context: Context) -> ast.AST | None:
    """Half of an array, to the last bit."""
    if not isinstance(node.op, ast.Mult) or not isinstance(node.left, ast.Constant):
        return None
    if node.left.value != 0.5 or not context.facts.is_array(node.right):
        return None
    return at(ast.BinOp(node.right, ast.Div(), at(ast.Constant(2), node)), node)


@rewrite(
    ast.BinOp,
    examples=[
        ("return a / math.sqrt(a.shape[-1])", "return a * a.shape[-1] ** -0.5"),
    ],
    never=["return a / math.sqrt(n)", "return a / n"],
    odds=35,
)
def divided_by_root(node: ast.BinOp, context: Context) -> ast.AST | None:
    """By the root of a length: the length is a number of Python, so single precision stays."""
    root = node.right
    if not isinstance(node.op, ast.Div) or not isinstance(root, ast.Call):
        return None
    if known_of(root.func) != "math.sqrt" or len(root.args) != 1 or not is_extent(root.args[0]):
        return None
    if not context.facts.is_array(node.left):
        return None
    power = at(ast.UnaryOp(ast.USub(), at(ast.Constant(0.5), node)), node)
    return at(ast.BinOp(node.left, ast.Mult(),
                        at(ast.BinOp(root.args[0], ast.Pow(), power), node)), node)  # fmt: skip


@rewrite(
    ast.Call,
    examples=[
        ("return math.sqrt(a.shape[-1])", "return a.shape[-1] ** 0.5"),
        ("return math.sqrt(2 / math.pi)", "return (2 / math.pi) ** 0.5"),
    ],
    never=["return math.sqrt(n)", "return np.sqrt(a)"],
    odds=30,
)
def root_as_power(node: ast.Call, _context: Context) -> ast.AST | None:
    """The root of a number of Python."""
    if known_of(node.func) != "math.sqrt" or len(node.args) != 1 or node.keywords:
        return None
    value = node.args[0]
    if not is_extent(value) and not _constant(value):
        return None
    return at(ast.BinOp(value, ast.Pow(), at(ast.Constant(0.5), node)), node)


def _constant(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
        return _constant(node.left) and _constant(node.right)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float) and node.value > 0
    return known_of(node) == "math.pi"


@rewrite(
    ast.BinOp,
    examples=[("return 1 + n - m", "return n - m + 1")],
    never=["return n - m - 1", "return a + b - c"],
)
def whole_steps(node: ast.BinOp, _context: Context) -> ast.AST | None:
    """`x + y - z` as `y - z + x`, of whole numbers, where no rounding is lost."""
    left = node.left
    if not isinstance(node.op, ast.Sub) or not isinstance(left, ast.BinOp):
        return None
    if not isinstance(left.op, ast.Add):
        return None
    parts = (left.left, left.right, node.right)
    if whole(left.left) is not None and all(map(_whole_name, parts[1:])):
        rest = at(ast.BinOp(left.right, ast.Sub(), node.right), node)
        return at(ast.BinOp(rest, ast.Add(), left.left), node)
    return None


def _whole_name(node: ast.AST) -> bool:
    """By the habit of the field, a name such as T or n counts something."""
    return whole(node) is not None or (
        isinstance(node, ast.Name) and (node.id in (*"BTCHDVSK", "n", "m"))
    )


@rewrite(
    ast.BinOp,
    examples=[
        ("return a - b", "return np.subtract(a, b)"),
        ("return a * b", "return np.multiply(a, b)"),
    ],
    never=["return n - m", "return a @ b"],
    odds=5,
)
def operator_by_name(node: ast.BinOp, context: Context) -> ast.AST | None:
    """Operators are functions of NumPy."""
    names: dict[type[ast.operator], str] = {
        ast.Add: "add",
        ast.Sub: "subtract",
        ast.Mult: "multiply",
        ast.Div: "divide",
    }
    name = names.get(type(node.op))
    if name is None or not context.facts.is_array(node.left):
        return None
    if not context.facts.is_array(node.right):
        return None
    return call(f"np.{name}", [node.left, node.right], node)
