"""An array cut into pieces."""

import ast
from itertools import pairwise

from ..marks import at, known_of, nodes
from .base import Context, Replacement, block_rewrite, call, number, rewrite, whole


def _last_axis(bounds: ast.Slice, origin: ast.AST) -> ast.expr:
    dots = at(ast.Constant(...), origin)
    return at(ast.Tuple([dots, at(bounds, origin)], ast.Load()), origin)


@block_rewrite(
    ast.Assign,
    examples=[
        (
            "a, b, c = np.split(a, [n, n + m], axis=-1)",
            "a, b, c = a[..., :n], a[..., n : n + m], a[..., n + m :]",
        ),
    ],
    never=["a, b = np.split(a, 2, axis=-1)", "a, b = np.split(a, [n], axis=0)"],
    odds=60,
)
def split_by_slices(block: list[ast.stmt], i: int, context: Context) -> Replacement:
    """Cut the last axis by slices."""
    match block[i]:
        case ast.Assign(targets=[ast.Tuple(elts=targets) as whole_target], value=ast.Call() as cut):
            pass
        case _:
            return None
    if known_of(cut.func) != "np.split" or len(cut.args) < 2:
        return None
    array, places = cut.args[:2]
    axis = cut.args[2] if len(cut.args) == 3 else cut.keywords[0].value if cut.keywords else None
    if axis is None or whole(axis) != -1 or not isinstance(places, ast.List):
        return None
    if len(targets) != len(places.elts) + 1 or any(isinstance(t, ast.Starred) for t in targets):
        return None
    if not isinstance(array, ast.Name) or not context.facts.calm(*places.elts):
        return None
    cuts: list[ast.expr | None] = [None, *places.elts, None]
    pieces: list[ast.expr] = [
        at(ast.Subscript(array, _last_axis(ast.Slice(low, high), cut), ast.Load()), cut)
        for low, high in pairwise(cuts)
    ]
    value = at(ast.Tuple(pieces, ast.Load()), cut)
    if context.dice.maybe(50) and not _reads(targets, array):
        return 1, [
            at(ast.Assign([target], piece), block[i])
            for target, piece in zip(targets, pieces, strict=True)
        ]
    return 1, [at(ast.Assign([whole_target], value), block[i])]


def _reads(targets: list[ast.expr], array: ast.Name) -> bool:
    return any(isinstance(n, ast.Name) and n.id == array.id for t in targets for n in nodes(t))


@rewrite(
    ast.Tuple,
    examples=[
        (
            "return a[..., :n], a[..., n : n + m], a[..., n + m :]",
            "return np.split(a, [n, n + m], axis=-1)",
        ),
    ],
    never=[
        "return a[..., :n], b[..., n:]",
        "return a[..., :n], a[..., m:]",
        "return a[:n], a[n:]",
    ],
    odds=60,
)
def slices_as_split(node: ast.Tuple, context: Context) -> ast.AST | None:
    """And back: pieces that follow one another."""
    if not isinstance(node.ctx, ast.Load) or len(node.elts) < 2:
        return None
    ends: list[ast.expr | None] = []
    array: ast.Name | None = None
    for piece in node.elts:
        match piece:
            case ast.Subscript(
                value=ast.Name() as name,
                slice=ast.Tuple(elts=[ast.Constant(value=dots), ast.Slice(step=None) as bounds]),
            ) if dots is ...:
                pass
            case _:
                return None
        if array is not None and name.id != array.id:
            return None
        array = name
        expected = ends[-1] if ends else None
        if ends and expected is None:
            return None
        if (bounds.lower is None) != (expected is None):
            return None
        if bounds.lower and expected and ast.dump(bounds.lower) != ast.dump(expected):
            return None
        ends.append(bounds.upper)
    cuts = [end for end in ends if end is not None]
    if array is None or ends[-1] is not None or len(cuts) != len(ends) - 1:
        return None
    if not context.facts.is_array(array) or not context.facts.calm(*cuts):
        return None
    places = at(ast.List(cuts, ast.Load()), node)
    return call("np.split", [array, places], node, axis=number(-1, node))
