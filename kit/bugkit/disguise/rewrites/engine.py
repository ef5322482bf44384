"""Goes through a definition and rewrites what chance picks."""

import ast
from collections.abc import Sequence
from typing import Any

from ..marks import changed, comments_of, has_gap, trailing_of
from .base import BLOCK_REWRITES, REWRITES, BlockRewrite, Context, Rewrite

TURNS = 2
"""How many rewrites one expression may go through."""

SKIPPED = frozenset(("annotation", "returns", "decorator_list", "targets", "target", "ctx", "op"))
"""Fields that no rewrite looks into: what is assigned to, and what is never run."""

BLOCKS = ("body", "orelse", "finalbody")

_BY_KIND: dict[type[ast.AST], list[Rewrite]] = {}


_BLOCKS: dict[type[ast.stmt], list[BlockRewrite]] = {}


def prepare() -> None:
    """Sort the rewrites by what they look at, once all are registered."""
    for attempt in BLOCK_REWRITES:
        for kind in attempt.kinds:
            _BLOCKS.setdefault(kind, []).append(attempt)


def _rewrites_of(kind: type[ast.AST]) -> list[Rewrite]:
    if kind not in _BY_KIND:
        _BY_KIND[kind] = [r for r in REWRITES if kind in r.kinds]
    return _BY_KIND[kind]


def rewrite_block(statements: Sequence[ast.stmt], context: Context) -> list[ast.stmt]:
    """The statements in other forms."""
    block = [_statement(statement, context) for statement in statements]
    i = 0
    while i < len(block):
        for attempt in context.dice.turned(_BLOCKS.get(type(block[i]), ())):
            if not context.dice.maybe(attempt.odds):
                continue
            result = attempt.apply(block, i, context)
            if result is not None:
                count, new = result
                _keep_comments(block[i : i + count], new)
                block[i : i + count] = new
                i += len(new) - 1
                break
        i += 1
    return block


def _keep_comments(old: Sequence[ast.stmt], new: list[ast.stmt]) -> None:
    """What stood above and beside the old statements stands above and beside the first new one."""
    if not new:
        return
    above = tuple(text for statement in old for text in comments_of(statement))
    beside = next((t for s in old if (t := trailing_of(s))), "")
    new[0] = changed(new[0], comments=above, trailing=beside, gap=has_gap(old[0]))
    for i in range(1, len(new)):
        new[i] = changed(new[i], comments=(), trailing="", gap=False)


def _statement(node: ast.stmt, context: Context) -> ast.stmt:
    if isinstance(node, ast.FunctionDef):
        outer = context.path
        context.path = f"{outer}.{node.name}" if outer else node.name
        new = changed(node, body=rewrite_block(node.body, context))
        context.path = outer
        return new
    if isinstance(node, ast.ClassDef):
        body = [_statement(s, context) if isinstance(s, ast.FunctionDef) else s for s in node.body]
        return changed(node, body=body)
    fields = _fields(node, context)
    return changed(node, **fields) if fields else node


def _fields(node: ast.AST, context: Context) -> dict[str, Any]:
    """The fields that come out different."""
    found: dict[str, Any] = {}
    for name in node._fields:
        if name in SKIPPED:
            continue
        value = node.__dict__.get(name)
        if isinstance(value, list):
            if name in BLOCKS and value and isinstance(value[0], ast.stmt):
                found[name] = rewrite_block(value, context)
                continue
            new = [_expression(v, context) if isinstance(v, ast.AST) else v for v in value]
            if any(a is not b for a, b in zip(new, value, strict=True)):
                found[name] = new
        elif isinstance(value, ast.AST):
            other = _expression(value, context)
            if other is not value:
                found[name] = other
    return found


def _expression(node: ast.AST, context: Context) -> ast.AST:
    if isinstance(node, ast.Name | ast.Constant | ast.JoinedStr):
        if not isinstance(node, ast.Constant):
            return node
    else:
        fields = _fields(node, context)
        if fields:
            node = changed(node, **fields)
    for _ in range(TURNS):
        before = node
        options = _rewrites_of(type(node))
        for attempt in context.dice.turned(options):
            if context.dice.maybe(attempt.odds):
                new = attempt.apply(node, context)
                if new is not None:
                    node = new
                    break
        if node is before:
            break
    return node
