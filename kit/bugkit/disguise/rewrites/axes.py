"""Axes: exchanged, moved, named in another order."""

import ast

from ..marks import changed, known_of
from .base import Context, call, method, number, only_keywords, rewrite, tuple_of, whole, wholes


@rewrite(
    ast.Call,
    examples=[("return np.swapaxes(a, -1, -2)", "return np.swapaxes(a, -2, -1)")],
    never=["return np.moveaxis(a, -1, -2)"],
)
def exchanged_axes(node: ast.Call, _context: Context) -> ast.AST | None:
    """Which of the two axes is named first does not matter."""
    if known_of(node.func) != "np.swapaxes" or len(node.args) != 3 or node.keywords:
        return None
    value, one, other = node.args
    if whole(one) is None or whole(other) is None:
        return None
    return changed(node, args=[value, other, one])


@rewrite(
    ast.Call,
    examples=[("return np.swapaxes(a, -1, -2)", "return a.swapaxes(-1, -2)")],
    never=["return np.swapaxes(things, 0, 1)"],
)
def swapaxes_as_method(node: ast.Call, context: Context) -> ast.AST | None:
    """A function of NumPy or a method of the array."""
    if known_of(node.func) != "np.swapaxes" or len(node.args) != 3 or node.keywords:
        return None
    if not context.facts.is_array(node.args[0]):
        return None
    return method(node.args[0], "swapaxes", node.args[1:], node)


@rewrite(
    ast.Call,
    examples=[
        ("return a.transpose(0, 2, 1, 3)", "return a.swapaxes(1, 2)"),
        ("return a.transpose(1, 0)", "return a.swapaxes(0, 1)"),
    ],
    never=["return a.transpose(1, 2, 0, 3)", "return things.transpose(0, 2, 1)"],
)
def transpose_of_two(node: ast.Call, context: Context) -> ast.AST | None:
    """A transposition that exchanges just two axes."""
    order = _order(node, context)
    moved = [i for i, axis in enumerate(order or []) if i != axis]
    if order is None or len(moved) != 2 or sorted(order) != list(range(len(order))):
        return None
    axes = [number(axis, node) for axis in moved]
    assert isinstance(node.func, ast.Attribute)
    if context.dice.maybe(50):
        return call("np.swapaxes", [node.func.value, *axes], node)
    return method(node.func.value, "swapaxes", axes, node)


@rewrite(
    ast.Call,
    examples=[("return a.transpose(1, 2, 0)", "return np.transpose(a, (1, 2, 0))")],
    never=["return things.transpose(0, 1)", "return a.transpose(*things)"],
)
def transpose_by_name(node: ast.Call, context: Context) -> ast.AST | None:
    """A method of the array or a function of NumPy."""
    if _order(node, context) is None:
        return None
    assert isinstance(node.func, ast.Attribute)
    return call("np.transpose", [node.func.value, tuple_of(node.args, node)], node)


def _order(node: ast.Call, context: Context) -> list[int] | None:
    function = node.func
    if not isinstance(function, ast.Attribute) or function.attr != "transpose" or node.keywords:
        return None
    order = [whole(argument) for argument in node.args]
    if None in order or len(order) < 2 or not context.facts.is_array(function.value):
        return None
    return [axis for axis in order if axis is not None]


@rewrite(
    ast.Call,
    examples=[
        ("return np.sum(a, axis=(0, 1))", "return np.sum(a, axis=(1, 0))"),
        ("return a.mean(axis=(0, 1))", "return a.mean(axis=(1, 0))"),
    ],
    never=["return np.transpose(a, axes=(0, 1))", "return np.sum(a, axis=0)"],
)
def axes_in_any_order(node: ast.Call, context: Context) -> ast.AST | None:
    """A sum over two axes does not ask which comes first."""
    summing = ("sum", "mean", "max", "min", "var")
    of_numpy = known_of(node.func) in [f"np.{name}" for name in summing]
    function = node.func
    of_array = isinstance(function, ast.Attribute) and function.attr in summing
    if not of_numpy and not (
        of_array and isinstance(function, ast.Attribute) and context.facts.is_array(function.value)
    ):
        return None
    for i, keyword in enumerate(node.keywords):
        axes = keyword.value
        if keyword.arg == "axis" and isinstance(axes, ast.Tuple) and len(wholes(axes) or ()) == 2:
            turned = changed(keyword, value=changed(axes, elts=axes.elts[::-1]))
            return changed(node, keywords=[*node.keywords[:i], turned, *node.keywords[i + 1 :]])
    return None


@rewrite(
    ast.Call,
    examples=[("return np.concatenate([a, b], axis=1)", "return np.concatenate((a, b), axis=1)")],
    never=["return np.concatenate([x for x in things])", "return np.array([a, b])"],
)
def joined_from_a_tuple(node: ast.Call, _context: Context) -> ast.AST | None:
    """What is joined may stand in a list or a tuple."""
    if known_of(node.func) not in ("np.concatenate", "np.stack") or not node.args:
        return None
    parts = node.args[0]
    if not isinstance(parts, ast.List) or len(parts.elts) < 2 or not only_keywords(node, "axis"):
        return None
    return changed(node, args=[tuple_of(parts.elts, parts), *node.args[1:]])
