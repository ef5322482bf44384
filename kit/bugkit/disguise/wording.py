"""Docstrings, comments and blank lines: said in other words, or not at all."""

import ast
import re
from collections.abc import Mapping
from functools import cache

from ..tables import read_toml
from .chance import Dice
from .marks import changed, comments_of, has_gap, is_text, trailing_of
from .naming import FOLDER
from .source import Unit

Texts = Mapping[str, Mapping[str, list[str]]]


@cache
def texts() -> Texts:
    """Prepared variants, by the first line of what they replace."""
    found: Texts = read_toml(FOLDER / "texts.toml")
    return found


def reword(text: str, dice: Dice) -> str:
    """A docstring as it is, in other words, cut to its first sentence, or empty."""
    first = text.strip().split("\n")[0]
    variants = texts()["docstrings"].get(first, [])
    draw = dice.below(100)
    if draw < 18:
        return ""
    if draw < 60 and variants:
        return dice.choose(variants)
    return _first_sentence(text) if draw < 85 else text


def _first_sentence(text: str) -> str:
    """It ends where a line does, or before a word that begins with a capital."""
    found = re.match(r"\s*(.+?[.:])(?=\n|\s+[A-Z`]|\s*$)", text, re.DOTALL)
    return found[1] if found else text


def reworded_unit(unit: Unit, dice: Dice) -> Unit:
    """The same definition with other texts and blank lines."""
    body = [_statement(s, dice) for s in unit.body if not is_text(s)]
    for s in unit.body:
        if is_text(s) and (new := _text(s, dice)) is not None:
            body.append(new)
    return Unit(tuple(body), unit.names, unit.locals)


def _text(node: ast.stmt, dice: Dice) -> ast.stmt | None:
    assert isinstance(node, ast.Expr)
    assert isinstance(node.value, ast.Constant)
    new = reword(str(node.value.value), dice)
    return changed(node, value=changed(node.value, value=new)) if new else None


def _statement(node: ast.stmt, dice: Dice) -> ast.stmt:
    marks: dict[str, object] = {}
    if comments := comments_of(node):
        marks["comments"] = _comments(comments, dice)
    if (trailing := trailing_of(node)) and not _for_a_tool(trailing) and dice.maybe(50):
        marks["trailing"] = ""
    for field in ("body", "orelse", "finalbody", "handlers"):
        inner = node.__dict__.get(field)
        if isinstance(inner, list) and inner:
            marks[field] = _block(inner, dice)
    return changed(node, **marks) if marks else node


def _block(statements: list[ast.stmt], dice: Dice) -> list[ast.stmt]:
    block: list[ast.stmt] = []
    for statement in statements:
        if isinstance(statement, ast.ExceptHandler):
            block.append(changed(statement, body=_block(statement.body, dice)))
            continue
        if is_text(statement):
            if (new := _text(statement, dice)) is not None:
                block.append(new)
            continue
        new = _statement(statement, dice)
        gap = dice.maybe(55 if has_gap(statement) else 7)
        block.append(changed(new, gap=gap) if gap != has_gap(new) else new)
    return block


def _comments(comments: tuple[str, ...], dice: Dice) -> tuple[str, ...]:
    """Comments for a tool stay; the others are kept, said in other words, or dropped."""
    if any(map(_for_a_tool, comments)):
        return comments
    draw = dice.below(100)
    variants = texts()["comments"].get(comments[0].removeprefix("# "), [])
    if draw < 45:
        return ()
    if variants and draw < 85:
        return tuple(f"# {line}" for line in dice.choose(variants).split("\n"))
    return comments


def _for_a_tool(comment: str) -> bool:
    return bool(re.match(r"#\s*(type|noqa|fmt|pyright|ruff|pragma)\b", comment))
