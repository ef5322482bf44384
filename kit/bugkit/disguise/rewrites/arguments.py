"""Arguments by name or by place."""

import ast

from ..marks import at, binding_of, changed
from .base import Context, rewrite


def _parameters(node: ast.Call, context: Context) -> tuple[str, ...]:
    binding = binding_of(node.func)
    if binding is None or any(isinstance(a, ast.Starred) for a in node.args):
        return ()
    if any(keyword.arg is None for keyword in node.keywords):
        return ()
    return context.signature(binding)


@rewrite(
    ast.Call,
    examples=[("return helper(a, b, n)", "return helper(a, b, count=n)")],
    never=["return g(a, b)", "return helper(*things)", "return helper(a, **things)"],
    odds=30,
)
def last_by_name(node: ast.Call, context: Context) -> ast.AST | None:
    """The last arguments by their names: the order in which they are evaluated stays."""
    parameters = _parameters(node, context)
    places = len(node.args)
    if not parameters or places < 2 or places > len(parameters):
        return None
    first = places - 1 - context.dice.below(min(2, places - 1))
    named = [
        at(ast.keyword(parameters[i], node.args[i]), node.args[i]) for i in range(first, places)
    ]
    return changed(node, args=node.args[:first], keywords=[*named, *node.keywords])


@rewrite(
    ast.Call,
    examples=[("return helper(a, b, count=n)", "return helper(a, b, n)")],
    never=["return helper(a, count=n, b=b)", "return g(a, b=b)"],
    odds=50,
)
def next_by_place(node: ast.Call, context: Context) -> ast.AST | None:
    """The first of the named arguments without its name, if it is next in order."""
    parameters = _parameters(node, context)
    places = len(node.args)
    if not node.keywords or places >= len(parameters):
        return None
    if node.keywords[0].arg != parameters[places]:
        return None
    return changed(node, args=[*node.args, node.keywords[0].value], keywords=node.keywords[1:])
