"""What is known of a node of a syntax tree beyond its fields.

Trees are shared between disguises and never changed: a rewrite builds new nodes (`changed`). Their
marks and their line, which says where in the original they come from, go with them.
"""

import ast
from collections.abc import Iterator
from typing import Any, TypeVar

from .scopes import Binding

Node = TypeVar("Node", bound=ast.AST)


def mark(node: ast.AST, **marks: Any) -> None:
    """Set marks on a node that was just made."""
    node.__dict__.update(marks)


def binding_of(node: ast.AST) -> Binding | None:
    """What a Name, a parameter, a definition or an `except ... as` stands for; None: a builtin."""
    return node.__dict__.get("binding")


def literal_of(node: ast.AST) -> str | None:
    """How a number or a text is spelled in the source, if on one line."""
    return node.__dict__.get("literal")


def in_parentheses(node: ast.Tuple) -> bool:
    """Whether a tuple stands in parentheses that it could do without."""
    return bool(node.__dict__.get("parentheses", False))


def known_of(node: ast.AST) -> str:
    """`np.sum` for that attribute of NumPy, however deep; "" for what is not of a known library."""
    name: str = node.__dict__.get("known", "")
    return name


def comments_of(node: ast.AST) -> tuple[str, ...]:
    """Comments on lines of their own above a statement."""
    texts: tuple[str, ...] = node.__dict__.get("comments", ())
    return texts


def trailing_of(node: ast.AST) -> str:
    """The comment at the end of a statement's (first) line, or ""."""
    text: str = node.__dict__.get("trailing", "")
    return text


def has_gap(node: ast.AST) -> bool:
    """Whether a blank line stands above."""
    return bool(node.__dict__.get("gap", False))


def is_text(node: ast.stmt) -> bool:
    """Whether a statement is a docstring or a comment in quotes."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def nodes(root: ast.AST) -> Iterator[ast.AST]:
    """The node and all below it: ast.walk without what has no place, and in a third of its time."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        values = node.__dict__
        for name in node._fields:
            value = values.get(name)
            if isinstance(value, list):
                stack.extend([v for v in value if isinstance(v, ast.AST)])
            elif isinstance(value, ast.AST) and value.__class__ not in _PLACELESS:
                stack.append(value)


_PLACELESS = frozenset(
    [ast.Load, ast.Store, ast.Del]
    + [kind for base in (ast.operator, ast.unaryop, ast.boolop) for kind in base.__subclasses__()]
)


def changed(node: Node, **fields: Any) -> Node:
    """The same node with other fields or marks."""
    new = node.__class__.__new__(node.__class__)
    new.__dict__.update(node.__dict__)
    new.__dict__.update(fields)
    return new


def at(node: Node, origin: ast.AST) -> Node:
    """A new node as if it stood where the origin stands. Children that have a place keep it."""
    line = origin.__dict__.get("lineno", 1)
    stack: list[ast.AST] = [node]
    while stack:
        child = stack.pop()
        if "lineno" not in child.__dict__:
            child.__dict__["lineno"] = line
            stack.extend(ast.iter_child_nodes(child))
    return node
