"""Loops and what they collect."""

import ast

from ..marks import at, binding_of, changed, nodes
from .base import Context, Replacement, block_rewrite, method, number, read, rewrite


@block_rewrite(
    ast.Assign,
    examples=[
        (
            "n = [g(thing) for thing in things]\nreturn n",
            "n = []\nfor thing in things:\n    n.append(g(thing))\nreturn n",
        ),
    ],
    never=[
        "n = [x for row in things for x in row]\nreturn n",
        "n = [x for x in things if x]\nreturn n",
        "things = [g(x) for x in things]\nreturn things",
        "n = {x: 1 for x in things}\nreturn n",
    ],
    odds=45,
)
def list_by_appending(block: list[ast.stmt], i: int, context: Context) -> Replacement:
    """A list grown item by item."""
    match block[i]:
        case ast.Assign(
            targets=[ast.Name() as target],
            value=ast.ListComp(elt=element, generators=[ast.comprehension(ifs=[]) as clause]),
        ):
            pass
        case _:
            return None
    wanted = binding_of(target)
    inside = [n for part in (element, clause) for n in nodes(part)]
    if wanted is None or wanted in context.facts.captured:
        return None
    if any(binding_of(n) is wanted for n in inside):
        return None
    if any(isinstance(n, ast.Lambda | ast.NamedExpr) for n in inside):
        return None
    empty = at(ast.Assign([target], at(ast.List([], ast.Load()), target)), block[i])
    grown = method(read(wanted, element), "append", [element], element)
    step: ast.stmt = at(ast.Expr(grown), element)
    return 1, [empty, at(ast.For(clause.target, clause.iter, [step], []), block[i])]


@rewrite(
    ast.Call,
    examples=[("return reversed(range(n))", "return range(n - 1, -1, -1)")],
    never=["return reversed(things)", "return reversed(range(n, m))"],
)
def counted_down(node: ast.Call, _context: Context) -> ast.AST | None:
    """Numbers from the last to the first."""
    if not isinstance(node.func, ast.Name) or node.func.id != "reversed" or len(node.args) != 1:
        return None
    numbers = node.args[0]
    if not isinstance(numbers, ast.Call) or not isinstance(numbers.func, ast.Name):
        return None
    if numbers.func.id != "range" or len(numbers.args) != 1 or binding_of(numbers.func):
        return None
    last = at(ast.BinOp(numbers.args[0], ast.Sub(), number(1, node)), node)
    return changed(numbers, args=[last, number(-1, node), number(-1, node)])


@block_rewrite(
    ast.AugAssign,
    examples=[
        ("total = 0.0\ntotal += m\nreturn total", "total = 0.0\ntotal = total + m\nreturn total"),
    ],
    never=[
        "a += b\nreturn a",
        "things += [1]\nreturn things",
        "total = a\ntotal += m\nreturn total",
        "total = 0.0\ntotal += a\nreturn total",
    ],
    odds=45,
)
def added_anew(block: list[ast.stmt], i: int, context: Context) -> Replacement:
    """A sum of numbers; arrays would be changed in place, so not of those."""
    node = block[i]
    if not isinstance(node, ast.AugAssign) or not isinstance(node.target, ast.Name):
        return None
    binding = binding_of(node.target)
    if binding is None or binding not in context.facts.numbers:
        return None
    if context.facts.is_array(node.value):
        return None
    value = at(ast.BinOp(read(binding, node), node.op, node.value), node)
    return 1, [at(ast.Assign([node.target], value), node)]


@rewrite(
    ast.Dict,
    examples=[("return {**things, 'k': n}", "return things | {'k': n}")],
    never=["return {'k': n, **things}", "return {**things}", "return {**things, **things}"],
    odds=45,
)
def dict_joined(node: ast.Dict, _context: Context) -> ast.AST | None:
    """A dictionary with more entries. What is unpacked is a dictionary, or `|` refuses."""
    if len(node.keys) < 2 or node.keys[0] is not None or any(k is None for k in node.keys[1:]):
        return None
    more = at(ast.Dict(node.keys[1:], node.values[1:]), node)
    return at(ast.BinOp(node.values[0], ast.BitOr(), more), node)
