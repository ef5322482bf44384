"""A module, read once and kept: trees with bindings, comments and places."""

import ast
import io
import tokenize
from dataclasses import dataclass
from functools import cache

from ..problems import Problem
from .marks import binding_of, is_text, mark, nodes
from .scopes import Binding, Role, Scopes, read_scopes


@dataclass(frozen=True, slots=True)
class Import:
    """Where an imported name comes from."""

    module: str
    """`numpy`; for a module of the package, with a dot before it: `.softmax`."""
    name: str = ""
    """What is taken from it; "" for the module itself."""
    alias: str = ""


@dataclass(frozen=True, slots=True)
class Unit:
    """A definition at the top of a module, with the text that explains it."""

    body: tuple[ast.stmt, ...]
    names: tuple[Binding, ...]
    """What it binds at the top of the module."""
    locals: tuple[Binding, ...]
    """What it binds inside of itself, in the order of the source."""

    @property
    def function(self) -> ast.FunctionDef | None:
        """The function, if it is one."""
        first = self.body[0]
        return first if isinstance(first, ast.FunctionDef) else None


@dataclass(frozen=True, slots=True)
class Calls:
    """How the functions of a module are used, which decides whose parameters may be renamed."""

    passed: frozenset[Binding]
    """Handed on as a value, so that somebody unknown calls them."""
    unpacked: frozenset[Binding]
    """Called with `**`."""
    keywords: frozenset[str]
    """Names of arguments in calls of something unknown."""


@dataclass(frozen=True, slots=True)
class Source:
    """A module of the package."""

    docstring: ast.stmt | None
    units: tuple[Unit, ...]
    imports: dict[Binding, Import]
    """The names that it imports from the package."""
    top: dict[str, Binding]
    calls: Calls


_EXTERNAL: dict[Import, Binding] = {}
EXTERNALS: dict[Binding, Import] = {}
"""Names of other libraries, one binding each for all modules."""


def external(module: str, name: str = "", alias: str = "") -> Binding:
    """The binding of a name from outside the package."""
    what = Import(module, name, alias)
    if what not in _EXTERNAL:
        shown = alias or name or module
        _EXTERNAL[what] = Binding(shown, "", Role.IMPORT, pinned=True)
        EXTERNALS[_EXTERNAL[what]] = what
    return _EXTERNAL[what]


NUMPY = external("numpy", alias="np")
MATH = external("math")
LIBRARIES = {NUMPY: "np", MATH: "math"}


@cache
def read_source(file: str, text: str) -> Source:
    """The module. Raises Problem for what a disguise cannot handle."""
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise Problem(f"{file}: line {error.lineno}: {error.msg}; mend it first") from None
    scopes = read_scopes(text)
    imports = _bind(file, tree, scopes)
    _literals(tree, text)
    _comments(tree, text)
    body = list(tree.body)
    docstring = body.pop(0) if body and is_text(body[0]) else None
    body = [s for s in body if not isinstance(s, ast.Import | ast.ImportFrom)]
    units: list[Unit] = []
    for statement in body:
        if is_text(statement) and units:
            last = units.pop()
            units.append(Unit((*last.body, statement), last.names, last.locals))
            continue
        units.append(Unit((statement,), _bound(file, statement), inner_bindings(statement)))
    return Source(docstring, tuple(units), imports, scopes.top, _calls(tree))


def inner_bindings(node: ast.AST) -> tuple[Binding, ...]:
    """What is bound within, in the order of the tree."""
    found: dict[Binding, None] = {}
    for child in nodes(node):
        binding = binding_of(child)
        if binding is not None and (binding.path or binding.role is Role.PARAMETER):
            found[binding] = None
    return tuple(found)


def _calls(tree: ast.Module) -> Calls:
    called: set[int] = set()
    unpacked: set[Binding] = set()
    keywords: set[str] = set()
    for node in nodes(tree):
        if isinstance(node, ast.Call):
            binding = binding_of(node.func)
            if isinstance(node.func, ast.Name):
                called.add(id(node.func))
            if binding is None or binding.role is Role.PARAMETER or binding.role is Role.LOCAL:
                keywords |= {k.arg for k in node.keywords if k.arg}
            elif any(k.arg is None for k in node.keywords):
                unpacked.add(binding)
    passed = {
        binding
        for node in nodes(tree)
        if isinstance(node, ast.Name) and id(node) not in called
        if (binding := binding_of(node)) is not None
    }
    return Calls(frozenset(passed), frozenset(unpacked), frozenset(keywords))


def _bound(file: str, statement: ast.stmt) -> tuple[Binding, ...]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        nodes: list[ast.AST] = [statement]
    elif isinstance(statement, ast.Assign):
        nodes = list(statement.targets)
    elif isinstance(statement, ast.AnnAssign):
        nodes = [statement.target]
    else:
        kind = type(statement).__name__
        raise Problem(
            f"{file}: line {statement.lineno}: {kind} at the top of a module; put it in a function"
        )
    found = [binding_of(node) for node in nodes]
    if None in found:
        raise Problem(f"{file}: line {statement.lineno}: give one name a statement")
    return tuple(b for b in found if b is not None)


def _bind(file: str, tree: ast.Module, scopes: Scopes) -> dict[Binding, Import]:
    inside: dict[Binding, Import] = {}
    swap: dict[Binding, Binding] = {}
    for statement in tree.body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            for alias in statement.names:
                name = alias.asname or alias.name
                if (isinstance(statement, ast.Import) and "." in name) or name == "*":
                    raise Problem(f"{file}: line {statement.lineno}: import the names one by one")
                binding = scopes.top[name]
                if isinstance(statement, ast.Import):
                    swap[binding] = external(alias.name, alias=alias.asname or "")
                elif statement.level == 1 and statement.module:
                    inside[binding] = Import("." + statement.module, alias.name)
                elif statement.level == 0 and statement.module:
                    swap[binding] = external(statement.module, alias.name, alias.asname or "")
                else:
                    raise Problem(f"{file}: line {statement.lineno}: import from a module by name")
    for node in nodes(tree):
        line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            column += len("def ") if isinstance(node, ast.FunctionDef) else len("async def ")
        elif isinstance(node, ast.ClassDef):
            column += len("class ")
        elif isinstance(node, ast.ExceptHandler) and node.name:
            same = [b for spot, b in scopes.at.items() if spot[0] == line and b.name == node.name]
            mark(node, binding=same[0])
            continue
        elif isinstance(node, ast.Global | ast.Nonlocal):
            for binding in scopes.at.values():
                binding.pinned |= binding.name in node.names
        elif not isinstance(node, ast.Name | ast.arg):
            continue
        found = scopes.at.get((line, column))
        if found is not None:
            mark(node, binding=swap.get(found, found))
    for node in nodes(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute):
            base = LIBRARIES.get(binding_of(node.value) or NO_BINDING) or _known(node.value)
            if base:
                mark(node, known=f"{base}.{node.attr}")
    return inside


NO_BINDING = Binding("", "", Role.LOCAL)


def _known(node: ast.AST) -> str:
    """Of an attribute of an attribute: its name, if it is of a known library."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    base = LIBRARIES.get(binding_of(node) or NO_BINDING, "")
    return ".".join([base, *reversed(names)]) if base and names else ""


def _literals(tree: ast.Module, text: str) -> None:
    """How numbers are spelled and which tuples stand in parentheses."""
    lines = text.splitlines()
    for node in nodes(tree):
        if isinstance(node, ast.Tuple) and node.elts and node.end_col_offset:
            start, end = lines[node.lineno - 1], lines[(node.end_lineno or 1) - 1]
            last = node.elts[-1]
            closed = (last.end_lineno, last.end_col_offset) != (
                node.end_lineno,
                node.end_col_offset,
            )
            closed &= end[node.end_col_offset - 1] == ")" and start[node.col_offset] == "("
            mark(node, parentheses=closed)
        if isinstance(node, ast.Constant) and node.lineno == node.end_lineno:
            literal = lines[node.lineno - 1][node.col_offset : node.end_col_offset]
            if isinstance(node.value, int | float | complex) and literal[:1].isdigit():
                mark(node, literal=literal)


def _comments(tree: ast.Module, text: str) -> None:
    """Attach comments and blank lines to the statements that they stand above or beside."""
    lines = text.splitlines()
    own: dict[int, str] = {}
    beside: dict[int, str] = {}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            line, column = token.start
            (beside if lines[line - 1][:column].strip() else own)[line] = token.string
    for node in nodes(tree):
        if not isinstance(node, ast.stmt):
            continue
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        above = first - 1
        texts = []
        while above in own:
            texts.append(own[above])
            above -= 1
        body = getattr(node, "body", None)
        last = body[0].lineno - 1 if body else (node.end_lineno or node.lineno)
        trailing = [beside[n] for n in range(node.lineno, last + 1) if n in beside]
        mark(
            node,
            comments=tuple(reversed(texts)),
            trailing=trailing[0] if trailing else "",
            gap=above > 0 and not lines[above - 1].strip(),
        )
