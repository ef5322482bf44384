"""What is known of a node of a syntax tree beyond its fields.

Trees are shared between disguises and never changed: a rewrite builds new nodes (`changed`). Their
marks and their line, which says where in the original they come from, go with them.
"""

import ast
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
