"""What a rewrite is: one form of code that people use in place of another."""

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..chance import Dice
from ..facts import Facts
from ..marks import at, mark
from ..scopes import Binding, Role
from ..source import MATH, NUMPY


@dataclass(slots=True)
class Context:
    """What a rewrite may ask about the definition in which it works."""

    facts: Facts
    dice: Dice
    signature: Callable[[Binding], tuple[str, ...]]
    """The names of a function's parameters that can be given by place or by name; empty if it is
    no function of the package."""
    path: str = ""
    new: list[Binding] = field(default_factory=list)
    """Names that were introduced."""

    def name(self, *hints: str, array: bool = False) -> Binding:
        """A new local name."""
        binding = Binding(hints[0], self.path, Role.LOCAL, hints=hints)
        self.new.append(binding)
        if array:
            self.facts.arrays.add(binding)
        return binding


Examples = Sequence[tuple[str, str]]
Replacement = tuple[int, list[ast.stmt]] | None
BlockApply = Callable[[list[ast.stmt], int, Context], Replacement]
Apply = Callable[[Any, Context], ast.AST | None]


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A form and the other form that it may take.

    The examples are its tests: statements of a function `f(a, b, c, n, m, flag, things)`, where a,
    b and c are arrays, n and m whole numbers."""

    name: str
    why: str
    kinds: tuple[type[ast.AST], ...]
    apply: Apply
    examples: Examples
    never: Sequence[str]
    """What looks alike and must stay."""
    odds: int
    """Of a hundred places, how many are rewritten."""


@dataclass(frozen=True, slots=True)
class BlockRewrite:
    """The same for statements that follow one another. `apply` gets the block and an index, and
    returns how many statements from there it replaces, and with what."""

    name: str
    why: str
    kinds: tuple[type[ast.stmt], ...]
    """What the first of the statements may be."""
    apply: BlockApply
    examples: Examples
    never: Sequence[str]
    odds: int


REWRITES: list[Rewrite] = []
BLOCK_REWRITES: list[BlockRewrite] = []


def rewrite(
    *kinds: type[ast.AST], examples: Examples, never: Sequence[str] = (), odds: int = 45
) -> Callable[[Apply], Apply]:
    """Register a rewrite of nodes of these kinds."""

    def register(apply: Apply) -> Apply:
        why = apply.__doc__ or ""
        REWRITES.append(Rewrite(apply.__name__, why, kinds, apply, examples, never, odds))
        return apply

    return register


def block_rewrite(
    *kinds: type[ast.stmt], examples: Examples, never: Sequence[str] = (), odds: int = 40
) -> Callable[[BlockApply], BlockApply]:
    """Register a rewrite of statements, the first of which is of one of these kinds."""

    def register(apply: BlockApply) -> BlockApply:
        why = apply.__doc__ or ""
        attempt = BlockRewrite(apply.__name__, why, kinds, apply, examples, never, odds)
        BLOCK_REWRITES.append(attempt)
        return apply

    return register


def library(name: str, origin: ast.AST) -> ast.Attribute:
    """`np.sum` as a node."""
    module, *attributes = name.split(".")
    base: ast.expr = ast.Name(module, ast.Load())
    mark(base, binding=NUMPY if module == "np" else MATH)
    known = module
    for attribute in attributes:
        base = ast.Attribute(base, attribute, ast.Load())
        known += f".{attribute}"
        mark(base, known=known)
    assert isinstance(base, ast.Attribute)
    return at(base, origin)


def call(
    function: ast.expr | str,
    arguments: Sequence[ast.expr],
    origin: ast.AST,
    **keywords: ast.expr,
) -> ast.Call:
    """A call of a library's function, or of any expression."""
    name = library(function, origin) if isinstance(function, str) else function
    named = [ast.keyword(key, value) for key, value in keywords.items()]
    return at(ast.Call(name, list(arguments), named), origin)


def method(
    value: ast.expr, name: str, arguments: Sequence[ast.expr], origin: ast.AST, **keywords: ast.expr
) -> ast.Call:
    """`value.name(arguments)`."""
    return call(at(ast.Attribute(value, name, ast.Load()), origin), arguments, origin, **keywords)


def number(value: float, origin: ast.AST) -> ast.expr:
    """A number, negative ones as the formatter parses them."""
    if value < 0:
        return at(ast.UnaryOp(ast.USub(), at(ast.Constant(-value), origin)), origin)
    return at(ast.Constant(value), origin)


def read(binding: Binding, origin: ast.AST) -> ast.Name:
    """A use of a name."""
    node = ast.Name(binding.name, ast.Load())
    mark(node, binding=binding)
    return at(node, origin)


def assign(binding: Binding, value: ast.expr, origin: ast.AST) -> ast.Assign:
    """`name = value`."""
    target = ast.Name(binding.name, ast.Store())
    mark(target, binding=binding)
    return at(ast.Assign([at(target, origin)], value), origin)


def tuple_of(elements: Sequence[ast.expr], origin: ast.AST) -> ast.Tuple:
    """`(a, b)` with its parentheses."""
    node = ast.Tuple(list(elements), ast.Load())
    mark(node, parentheses=True)
    return at(node, origin)


def whole(node: ast.AST) -> int | None:
    """The value of a whole number written out."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = whole(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    return None


def wholes(node: ast.AST) -> list[int] | None:
    """The values of a tuple or list of whole numbers."""
    if not isinstance(node, ast.Tuple | ast.List):
        return None
    values = [whole(element) for element in node.elts]
    return None if None in values or not values else [v for v in values if v is not None]


def only_keywords(node: ast.Call, *allowed: str) -> bool:
    """Whether the call names no other arguments, and unpacks none."""
    plain = not any(isinstance(argument, ast.Starred) for argument in node.args)
    return plain and all(keyword.arg in allowed for keyword in node.keywords)
