"""The definitions at the top of a Python file, and the names that each of them reads."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from .problems import Problem
from .references import ANY, Head, Reference, References, Symbol, bound


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, class or assignment with the comment above it and the docstring below."""

    module: str
    names: tuple[str, ...]
    first: int
    last: int
    """Lines of the file, from 1."""
    is_block: bool
    """Whether it is a function or class, which stands between two empty lines."""
    references: tuple[Reference, ...]
    bound: frozenset[str]
    """Names that anything inside it gives a value to."""
    beside: bool
    """Whether it asks where its own file is."""


@dataclass(frozen=True, slots=True)
class Module:
    """A file, taken apart."""

    name: str
    lines: tuple[bytes, ...]
    definitions: tuple[Definition, ...]
    imported: Mapping[str, Symbol]
    """What its imports call things: name -> symbol."""

    def defining(self, name: str) -> Definition | None:
        """The definition of this name."""
        return next((d for d in self.definitions if name in d.names), None)


@cache
def take_apart(name: str, source: str) -> Module:
    """The definitions of a file. Raises Problem where something at its top is none."""
    tree = ast.parse(source)
    lines = source.encode().split(b"\n")
    head = Head()
    body: list[ast.stmt] = []
    for node in tree.body:
        if isinstance(node, ast.ImportFrom | ast.Import):
            _read_import(node, head)
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for inner in node.body:  # only annotations use them: any type will do
                if isinstance(inner, ast.ImportFrom | ast.Import):
                    head.imported |= {a.asname or a.name: ANY for a in inner.names}
        else:
            body.append(node)
            head.defined.update(_top_names(node))
    definitions: list[Definition] = []
    end = 0  # of what was read last
    for number, node in enumerate(body):
        if _is_text(node):
            continue
        names = tuple(_top_names(node))
        if not names:
            raise Problem(f"{name}.py, line {node.lineno}: neither a definition nor an import")
        first = _with_comment(lines, _start(node))
        last = node.end_lineno or node.lineno
        after = body[number + 1] if number + 1 < len(body) else None
        is_block = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if after is not None and _is_text(after) and not is_block:
            last = after.end_lineno or last
        finder = References(name, head)
        finder.visit(node)
        definitions.append(
            Definition(
                name,
                names,
                max(first, end + 1),
                last,
                is_block,
                tuple(finder.found),
                frozenset(bound(node)) - (frozenset() if is_block else frozenset(names)),
                any(isinstance(n, ast.Name) and n.id == "__file__" for n in ast.walk(node)),
            )
        )
        end = last
    return Module(name, tuple(lines), tuple(definitions), head.imported)


def _read_import(node: ast.Import | ast.ImportFrom, head: Head) -> None:
    for alias in node.names:
        here = alias.asname or alias.name
        if isinstance(node, ast.Import):
            text = f"import {alias.name}" + (f" as {alias.asname}" if alias.asname else "")
            head.imported[here.partition(".")[0]] = ("", text)
        elif not node.level:
            head.imported[here] = ("", f"from {node.module} import {alias.name}")
        elif node.module:
            head.imported[here] = (node.module, alias.name)
        else:
            head.siblings[here] = alias.name


def _top_names(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        targets = [node.target]
    found = [n for target in targets for n in ast.walk(target)]
    return [n.id for n in found if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]


def _is_text(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _start(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(d.lineno for d in decorators)])


def _with_comment(lines: list[bytes], first: int) -> int:
    while first > 1 and lines[first - 2].startswith(b"#"):
        first -= 1
    return first
