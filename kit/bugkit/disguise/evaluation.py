"""What is evaluated when: the order of the parts of an expression."""

import ast
from itertools import pairwise

from .library import METHODS
from .marks import known_of


def atomic(node: ast.AST) -> bool:
    """A name or a number: it is the same before and after anything else is evaluated."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return isinstance(node.operand, ast.Constant)
    return isinstance(node, ast.Name | ast.Constant)


def is_number(node: ast.AST) -> bool:
    """A number written out."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return is_number(node.operand)
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def is_extent(node: ast.AST) -> bool:
    """The length of an axis: `x.shape[0]`, a whole number of Python."""
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "shape"
        and is_number(node.slice)
    )


def first_evaluated(whole: ast.expr, wanted: ast.expr) -> bool:
    """Whether nothing that could matter is evaluated in an expression before a part of it."""
    path = _path_to(whole, wanted)
    if path is None:
        return False
    for node, child in pairwise(path):
        if isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp):
            return False
        if isinstance(node, ast.GeneratorExp | ast.IfExp | ast.BoolOp | ast.JoinedStr | ast.Dict):
            return False
        if isinstance(node, ast.Compare) and len(node.ops) > 1:
            return False
        for sibling in ast.iter_child_nodes(node):
            if sibling is child:
                break
            if isinstance(sibling, ast.expr) and not _steady(sibling):
                return False
            if isinstance(sibling, ast.keyword) and not _steady(sibling.value):
                return False
    return True


def _steady(node: ast.AST) -> bool:
    """Whether it may be evaluated after something unknown: names and numbers, a library's names."""
    if isinstance(node, ast.Attribute):
        return bool(known_of(node)) or (node.attr in METHODS and isinstance(node.value, ast.Name))
    if isinstance(node, ast.Starred):
        return False
    return atomic(node)


def _path_to(node: ast.AST, wanted: ast.AST) -> list[ast.AST] | None:
    if node is wanted:
        return [node]
    for child in ast.iter_child_nodes(node):
        path = _path_to(child, wanted)
        if path is not None:
            return [node, *path]
    return None
