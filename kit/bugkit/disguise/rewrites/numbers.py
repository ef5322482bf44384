"""How a number is spelled."""

import ast

from ..marks import changed, literal_of
from .base import Context, rewrite

OTHERS = {
    "1e-5": ("0.00001", "1.0e-5"),
    "1e-6": ("0.000001", "1.0e-6"),
    "1e-8": ("0.00000001", "1.0e-8"),
    "1e-3": ("0.001", "1.0e-3"),
    "1e-4": ("0.0001", "1.0e-4"),
    "1e4": ("10000.0", "1.0e4"),
    "10000.0": ("1e4", "10_000.0"),
    "0.044715": ("4.4715e-2",),
    "0.02": ("2e-2",),
}


@rewrite(
    ast.Constant,
    examples=[("return 1e-5", "return 0.00001"), ("return 10000.0", "return 1e4")],
    never=["return 1", "return 1.5", "return '1e-5'"],
    odds=40,
)
def spelled(node: ast.Constant, context: Context) -> ast.AST | None:
    """The same number in other digits; the two are equal to the last bit."""
    others = OTHERS.get(literal_of(node) or "")
    if not others:
        return None
    return changed(node, literal=context.dice.choose(others))
