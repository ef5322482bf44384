"""What a piece of Python reads of the names at the top of its own and of other files."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from .problems import Problem

Symbol = tuple[str, str]
"""A module and a name in it. What comes from outside has the module "" and the text of the import
that brings it."""

ANY: Symbol = ("", "from typing import Any")


@dataclass(frozen=True, slots=True)
class Reference:
    """A place in the source that reads a name of some module's top level."""

    line: int
    """From 1."""
    start: int
    end: int
    """Bytes in the line, as `ast` counts them; all within one line."""
    symbol: Symbol
    qualified: bool
    """Whether it is written `module.name`, so that a local variable may have the plain name."""


@dataclass(slots=True)
class Head:
    """The names at the top of a file, before anything is looked at that reads them."""

    siblings: dict[str, str] = field(default_factory=dict)
    """Modules of the same package that were imported whole: their names here."""
    imported: dict[str, Symbol] = field(default_factory=dict)
    defined: set[str] = field(default_factory=set)


def bound(node: ast.AST) -> Iterator[str]:
    """Names that get a value anywhere inside."""
    for inner in ast.walk(node):
        if inner is not node:
            yield from _binds(inner)


def _binds(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.arg(arg=name):
            yield name
        case ast.alias(name=name, asname=asname):
            yield asname or name.partition(".")[0]
        case (
            ast.ExceptHandler(name=str(name))
            | ast.MatchAs(name=str(name))
            | ast.MatchStar(name=str(name))
            | ast.MatchMapping(rest=str(name))
        ):
            yield name
        case _:
            pass


class References(ast.NodeVisitor):
    """Finds what a definition reads of the top level of its own and of other files."""

    def __init__(self, module: str, head: Head) -> None:
        self.module = module
        self.head = head
        self.found: list[Reference] = []
        self.scopes: list[frozenset[str]] = []

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        args = node.args
        outside = [*node.decorator_list, *args.defaults, *[d for d in args.kw_defaults if d]]
        every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
        for expression in outside:
            self.visit(expression)
        for annotation in [node.returns, *(a.annotation for a in every if a)]:
            if annotation:
                self._annotation(annotation)
        self._scope(node, node.body)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for expression in [*node.decorator_list, *node.bases]:
            self.visit(expression)
        self._scope(node, node.body)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for default in [*node.args.defaults, *[d for d in node.args.kw_defaults if d]]:
            self.visit(default)
        self._scope(node, [node.body])

    def visit_ListComp(self, node: ast.ListComp) -> None:
        self._comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> None:
        self._comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._comprehension(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._annotation(node.annotation)
        self.visit(node.target)
        if node.value:
            self.visit(node.value)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.value, ast.Name) and node.value.id in self.head.siblings:
            if not self._is_local(node.value.id):
                self._add(node, (self.head.siblings[node.value.id], node.attr), qualified=True)
            return
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        own = isinstance(node.ctx, ast.Load) or not self.scopes
        if own and not self._is_local(node.id) and (symbol := self._symbol(node.id)):
            self._add(node, symbol)

    def _symbol(self, name: str) -> Symbol | None:
        if name in self.head.defined:
            return (self.module, name)
        if name in self.head.siblings:
            raise Problem(
                f"{self.module}.py: {name} is a file, which only its names can be used of"
            )
        return self.head.imported.get(name)

    def _is_local(self, name: str) -> bool:
        return any(name in scope for scope in self.scopes)

    def _annotation(self, node: ast.expr) -> None:
        """Types that are named only for checkers stand in quotes."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if self.head.imported.get(node.value) != ANY:
                raise Problem(f"{self.module}.py, line {node.lineno}: quotes around {node.value}")
            self._add(node, ANY)
        else:
            self.visit(node)

    def _scope(self, node: ast.AST, body: list[ast.stmt] | list[ast.expr]) -> None:
        local = frozenset(_local_names(node))
        self.scopes.append(local)
        for inner in body:
            self.visit(inner)
        self.scopes.pop()

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
    ) -> None:
        self.visit(node.generators[0].iter)  # read outside
        self.scopes.append(
            frozenset(n for g in node.generators for t in ast.walk(g.target) for n in _binds(t))
        )
        for number, generator in enumerate(node.generators):
            parts = [generator.target, *generator.ifs]
            for part in parts if number == 0 else [*parts, generator.iter]:
                self.visit(part)
        for value in [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]:
            self.visit(value)
        self.scopes.pop()

    def _add(self, node: ast.expr, symbol: Symbol, qualified: bool = False) -> None:
        if node.end_lineno != node.lineno or node.end_col_offset is None:
            raise Problem(f"{self.module}.py, line {node.lineno}: a name over several lines")
        self.found.append(
            Reference(node.lineno, node.col_offset, node.end_col_offset, symbol, qualified)
        )


def _local_names(function: ast.AST) -> Iterator[str]:
    """Names that are local to a function: bound in it, but not in a scope inside it."""
    todo = list(ast.iter_child_nodes(function))
    while todo:
        node = todo.pop()
        yield from _binds(node)
        if isinstance(node, ast.Global | ast.Nonlocal):
            raise Problem(f"line {node.lineno}: global and nonlocal are not understood")
        scopes = ast.FunctionDef, ast.ClassDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp
        if not isinstance(node, (*scopes, ast.GeneratorExp)):
            todo += ast.iter_child_nodes(node)
