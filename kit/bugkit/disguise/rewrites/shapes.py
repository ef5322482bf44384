"""Shapes: asked for and changed."""

import ast

from ..evaluation import is_number
from ..marks import at, changed, known_of
from .base import Context, call, library, method, number, rewrite, tuple_of, whole


@rewrite(
    ast.Call,
    examples=[
        ("return a.reshape(n, m)", "return a.reshape((n, m))"),
        ("return a.reshape(n, m)", "return np.reshape(a, (n, m))"),
    ],
    never=["return things.reshape(n, m)", "return a.reshape(*things)", "return a.reshape(n)"],
)
def reshape_in_other_words(node: ast.Call, context: Context) -> ast.AST | None:
    """The new shape as one tuple, or the function of NumPy."""
    function = node.func
    if not isinstance(function, ast.Attribute) or function.attr != "reshape" or node.keywords:
        return None
    if len(node.args) < 2 or any(isinstance(a, ast.Starred) for a in node.args):
        return None
    if known_of(function) or not context.facts.is_array(function.value):
        return None
    shape = tuple_of(node.args, node)
    if context.dice.maybe(50):
        return call("np.reshape", [function.value, shape], node)
    return changed(node, args=[shape])


@rewrite(
    ast.Call,
    examples=[("return len(a)", "return a.shape[0]")],
    never=["return len(things)"],
)
def length_as_shape(node: ast.Call, context: Context) -> ast.AST | None:
    """How many rows an array has."""
    if not isinstance(node.func, ast.Name) or node.func.id != "len" or len(node.args) != 1:
        return None
    value = node.args[0]
    if not isinstance(value, ast.Name) or not context.facts.is_array(value):
        return None
    shape = at(ast.Attribute(value, "shape", ast.Load()), node)
    return at(ast.Subscript(shape, number(0, node), ast.Load()), node)


@rewrite(
    ast.Subscript,
    examples=[("return a.shape[0]", "return len(a)")],
    never=["return a.shape[1]", "return things.shape[0]"],
)
def shape_as_length(node: ast.Subscript, context: Context) -> ast.AST | None:
    """And back."""
    shape = node.value
    if not isinstance(shape, ast.Attribute) or shape.attr != "shape" or whole(node.slice) != 0:
        return None
    if not isinstance(shape.value, ast.Name) or not context.facts.is_array(shape.value):
        return None
    return call(at(ast.Name("len", ast.Load()), node), [shape.value], node)


@rewrite(
    ast.Subscript,
    examples=[("return a[..., None]", "return np.expand_dims(a, -1)")],
    never=["return a[None]", "return things[..., None]", "return a[..., None, 0]"],
)
def new_last_axis(node: ast.Subscript, context: Context) -> ast.AST | None:
    """A new last axis by its function."""
    index = node.slice
    if not isinstance(index, ast.Tuple) or len(index.elts) != 2:
        return None
    dots, none = index.elts
    if not isinstance(dots, ast.Constant) or dots.value is not ...:
        return None
    if not isinstance(none, ast.Constant) or none.value is not None:
        return None
    if not isinstance(node.ctx, ast.Load) or not context.facts.is_array(node.value):
        return None
    return call("np.expand_dims", [node.value, number(-1, node)], node)


@rewrite(
    ast.Subscript,
    examples=[("return a[:, None]", "return a[:, np.newaxis]")],
    never=["return things[None]", "return a[0]", "return things[:, None]"],
    odds=40,
)
def new_axis_by_name(node: ast.Subscript, context: Context) -> ast.AST | None:
    """None in an index has a name of its own."""
    index = node.slice
    if not isinstance(index, ast.Tuple) or not context.facts.is_array(node.value):
        return None
    new: list[ast.expr] = [
        library("np.newaxis", e) if isinstance(e, ast.Constant) and e.value is None else e
        for e in index.elts
    ]
    if all(a is b for a, b in zip(new, index.elts, strict=True)):
        return None
    return changed(node, slice=changed(index, elts=new))


@rewrite(
    ast.Attribute,
    examples=[("return a.ndim", "return len(a.shape)"), ("return a.ndim", "return np.ndim(a)")],
    never=["return things.ndim"],
    odds=35,
)
def number_of_axes(node: ast.Attribute, context: Context) -> ast.AST | None:
    """How many axes there are."""
    if node.attr != "ndim" or not context.facts.is_array(node.value):
        return None
    if context.dice.maybe(50):
        return call("np.ndim", [node.value], node)
    shape = at(ast.Attribute(node.value, "shape", ast.Load()), node)
    return call(at(ast.Name("len", ast.Load()), node), [shape], node)


@rewrite(
    ast.Attribute,
    examples=[("return a.size", "return np.size(a)")],
    never=["return things.size"],
    odds=30,
)
def number_of_entries(node: ast.Attribute, context: Context) -> ast.AST | None:
    """How many entries there are."""
    if node.attr != "size" or not context.facts.is_array(node.value):
        return None
    return call("np.size", [node.value], node)


@rewrite(
    ast.Call,
    examples=[("return np.zeros_like(a)", "return np.zeros(a.shape, a.dtype)")],
    never=["return np.zeros_like(things)"],
    odds=40,
)
def zeros_by_shape(node: ast.Call, context: Context) -> ast.AST | None:
    """Zeros of a shape and a kind, for `like`."""
    name = known_of(node.func)
    if name not in ("np.zeros_like", "np.empty_like") or len(node.args) != 1 or node.keywords:
        return None
    value = node.args[0]
    if not isinstance(value, ast.Name) or not context.facts.is_array(value):
        return None
    parts: list[ast.expr] = [
        at(ast.Attribute(value, attribute, ast.Load()), node) for attribute in ("shape", "dtype")
    ]
    return call(name.removesuffix("_like"), parts, node)


@rewrite(
    ast.Subscript,
    examples=[("return np.exp(a)[..., 0]", "return np.exp(a).take(0, axis=-1)")],
    never=["return np.exp(a)[..., n]", "return a[..., 0]", "return np.exp(a)[0]"],
    odds=25,
)
def taken(node: ast.Subscript, context: Context) -> ast.AST | None:
    """One entry of the last axis, by its method. That copies, so only of what is new anyway."""
    index = node.slice
    if not isinstance(index, ast.Tuple) or len(index.elts) != 2:
        return None
    dots, place = index.elts
    if not isinstance(dots, ast.Constant) or dots.value is not ... or not is_number(place):
        return None
    if not isinstance(node.ctx, ast.Load) or not context.facts.is_array(node.value):
        return None
    if whole(place) is None or not isinstance(node.value, ast.Call):
        return None
    return method(node.value, "take", [place], node, axis=number(-1, node))
