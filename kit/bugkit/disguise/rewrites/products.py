"""Matrix products."""

import ast

from ..evaluation import is_extent, is_number
from ..marks import at, changed, known_of
from .base import Context, call, library, method, number, rewrite, whole, wholes


def last_two_swapped(node: ast.AST) -> ast.expr | None:
    """What `np.swapaxes(x, -1, -2)` or `x.swapaxes(-1, -2)` turns over."""
    if not isinstance(node, ast.Call) or node.keywords:
        return None
    if known_of(node.func) == "np.swapaxes" and len(node.args) == 3:
        value, axes = node.args[0], node.args[1:]
    elif isinstance(node.func, ast.Attribute) and node.func.attr == "swapaxes":
        value, axes = node.func.value, node.args
    else:
        return None
    return value if sorted(whole(axis) or 0 for axis in axes) == [-2, -1] else None


@rewrite(
    ast.BinOp,
    examples=[("return a @ b", "return np.matmul(a, b)")],
    never=["return a * b"],
    odds=16,
)
def product_by_name(node: ast.BinOp, context: Context) -> ast.AST | None:
    """`@` is np.matmul for arrays."""
    if not isinstance(node.op, ast.MatMult):
        return None
    if not (context.facts.is_array(node.left) or context.facts.is_array(node.right)):
        return None
    return call("np.matmul", [node.left, node.right], node)


@rewrite(
    ast.BinOp,
    examples=[
        ("return a @ np.swapaxes(b, -1, -2)", 'return np.einsum("...ik,...jk->...ij", a, b)'),
    ],
    never=["return a @ np.swapaxes(b, -1, -3)", "return a @ b"],
)
def product_with_turned(node: ast.BinOp, context: Context) -> ast.AST | None:
    """The right factor is turned over by the letters of einsum. Both have at least two axes, or
    einsum refuses."""
    right = last_two_swapped(node.right) if isinstance(node.op, ast.MatMult) else None
    if right is None or not context.facts.is_array(node.left):
        return None
    letters = at(ast.Constant("...ik,...jk->...ij"), node)
    return call("np.einsum", [letters, node.left, right], node)


@rewrite(
    ast.BinOp,
    examples=[
        ("return np.swapaxes(a, -1, -2) @ b", 'return np.einsum("...ki,...kj->...ij", a, b)'),
    ],
    never=["return a @ b"],
)
def turned_product(node: ast.BinOp, context: Context) -> ast.AST | None:
    """The same for the left factor."""
    left = last_two_swapped(node.left) if isinstance(node.op, ast.MatMult) else None
    if left is None or not context.facts.is_array(node.right):
        return None
    letters = at(ast.Constant("...ki,...kj->...ij"), node)
    return call("np.einsum", [letters, left, node.right], node)


@rewrite(
    ast.Call,
    examples=[
        ('return np.einsum("bhid,bhjd->bhij", a, b)', "return a @ np.swapaxes(b, -1, -2)"),
    ],
    never=['return np.einsum("bhid,bhjd->bhji", a, b)'],
)
def einsum_as_product(node: ast.Call, _context: Context) -> ast.AST | None:
    """And back, where the letters say so."""
    if known_of(node.func) != "np.einsum" or len(node.args) != 3 or node.keywords:
        return None
    letters = node.args[0]
    if not isinstance(letters, ast.Constant) or letters.value != "bhid,bhjd->bhij":
        return None
    minus = [number(-1, node), number(-2, node)]
    turned = call("np.swapaxes", [node.args[2], *minus], node)
    return at(ast.BinOp(node.args[1], ast.MatMult(), turned), node)


@rewrite(
    ast.Call,
    examples=[
        (
            "return np.tensordot(a, b, axes=([0, 1], [0, 1]))",
            'return np.einsum("bti,bto->io", a, b)',
        ),
    ],
    never=["return np.tensordot(a, b, axes=([0, 1], [1, 0]))", "return np.tensordot(a, b, axes=2)"],
)
def sum_over_tokens(node: ast.Call, _context: Context) -> ast.AST | None:
    """The gradient of a matrix sums over batch and time. Both arrays have three axes, or einsum
    refuses."""
    if known_of(node.func) != "np.tensordot" or len(node.args) != 2 or len(node.keywords) != 1:
        return None
    axes = node.keywords[0].value
    if not isinstance(axes, ast.Tuple) or [wholes(e) for e in axes.elts] != [[0, 1], [0, 1]]:
        return None
    return call("np.einsum", [at(ast.Constant("bti,bto->io"), node), *node.args], node)


@rewrite(
    ast.Call,
    examples=[
        (
            "return np.tensordot(a, b, axes=([0, 1], [0, 1]))",
            "return np.tensordot(a, b, axes=([1, 0], [1, 0]))",
        ),
    ],
    never=["return np.tensordot(a, b, axes=1)"],
)
def pairs_of_axes(node: ast.Call, _context: Context) -> ast.AST | None:
    """Pairs of axes that are summed over may be named in any order."""
    if known_of(node.func) != "np.tensordot" or len(node.keywords) != 1:
        return None
    axes = node.keywords[0]
    if not isinstance(axes.value, ast.Tuple) or len(axes.value.elts) != 2:
        return None
    first, second = axes.value.elts
    if not isinstance(first, ast.List) or not isinstance(second, ast.List):
        return None
    if len(first.elts) != 2 or len(second.elts) != 2:
        return None
    turned: list[ast.expr] = [changed(e, elts=e.elts[::-1]) for e in (first, second)]
    pair = changed(axes.value, elts=turned)
    return changed(node, keywords=[changed(axes, value=pair)])


def is_scale(node: ast.AST) -> bool:
    """A number of Python by its form: written out, or the root of one."""
    if is_number(node) or is_extent(node):
        return True
    if isinstance(node, ast.Call):
        return known_of(node.func) == "math.sqrt"
    if isinstance(node, ast.BinOp):
        return is_scale(node.left) and is_scale(node.right)
    return False


@rewrite(
    ast.BinOp,
    examples=[
        ("return a @ b / math.sqrt(a.shape[-1])", "return a / math.sqrt(a.shape[-1]) @ b"),
        ("return a @ b * 2.0", "return a * 2.0 @ b"),
    ],
    never=["return a @ b / c", "return a @ b + 2.0"],
)
def scaled_factor(node: ast.BinOp, context: Context) -> ast.AST | None:
    """Scale the left factor (queries) in place of the product (scores)."""
    product = node.left
    if not isinstance(node.op, ast.Mult | ast.Div) or not isinstance(product, ast.BinOp):
        return None
    if not isinstance(product.op, ast.MatMult) or not is_scale(node.right):
        return None
    facts = context.facts
    if not facts.is_array(product.left) or not facts.calm(product.right, node.right):
        return None
    scaled = at(ast.BinOp(product.left, node.op, node.right), node)
    return at(ast.BinOp(scaled, ast.MatMult(), product.right), node)


@rewrite(
    ast.Attribute,
    examples=[("return a.T", "return a.transpose()"), ("return a.T", "return np.transpose(a)")],
    never=["return things.T"],
    odds=30,
)
def turned_over(node: ast.Attribute, context: Context) -> ast.AST | None:
    """Three ways to say transpose."""
    if node.attr != "T" or not context.facts.is_array(node.value):
        return None
    if context.dice.maybe(50):
        return call(library("np.transpose", node), [node.value], node)
    return method(node.value, "transpose", [], node)
