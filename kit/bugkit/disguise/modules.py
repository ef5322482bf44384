"""Modules as text: imports, definitions, two blank lines between them."""

import ast
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .expressions import PLAIN, Expressions, Naming
from .layout import INDENT, WIDTH
from .marks import has_gap
from .package import INIT, Package
from .scopes import Binding
from .source import EXTERNALS, Import, Unit
from .statements import Statements


@dataclass(frozen=True, slots=True)
class Written:
    """A definition as lines, with the lines of its original module that went into each."""

    home: str
    """Module of the original."""
    unit: Unit
    lines: tuple[str, ...]
    origins: tuple[frozenset[int], ...]
    used: frozenset[Binding]


@dataclass(frozen=True, slots=True)
class Module:
    """A module as it will be."""

    name: str
    docstring: str
    parts: tuple[Written, ...]


def write_unit(home: str, unit: Unit, names: Naming) -> Written:
    """One definition. Raises Unfit if a line would be too long."""
    expressions = Expressions(names)
    lines = Statements(expressions)
    for statement in unit.body:
        lines.statement(statement, "")
    return Written(
        home, unit, tuple(lines.lines), tuple(lines.origins), frozenset(expressions.used)
    )


def write_module(
    module: Module, package: Package, homes: Mapping[Binding, str], names: Naming
) -> tuple[str, list[tuple[str, frozenset[int]]]]:
    """The source, and for each line the module and lines of the original that went into it."""
    here = frozenset[int]()
    lines: list[str] = []
    origins: list[tuple[str, frozenset[int]]] = []

    def put(text: str, home: str = "", origin: frozenset[int] = here) -> None:
        lines.append(text)
        origins.append((home, origin))

    for line in docstring_lines(module.docstring):
        put(line)
    used = frozenset[Binding]().union(*(part.used for part in module.parts))
    imports = import_lines(needed(used, module.name, package, homes, names))
    if imports and lines:
        put("")
    for line in imports:
        put(line)
    before = ""
    for part in module.parts:
        block = part.lines[0].startswith(("def ", "class ", "@")) or part.unit.function is not None
        kind = "block" if block else "constant"
        if "block" in (before, kind):
            blanks = 2 if lines else 0
        else:
            blanks = int(bool(lines) and (not before or has_gap(part.unit.body[0])))
        for _ in range(blanks):
            put("")
        for line, origin in zip(part.lines, part.origins, strict=True):
            put(line, part.home, origin)
        before = kind
    return "\n".join(lines) + "\n", origins


def docstring_lines(text: str) -> list[str]:
    """A docstring at the top of a module."""
    if not text:
        return []
    lines = Statements(Expressions(PLAIN))
    lines.docstring(text, "")
    return lines.lines


def needed(
    used: Iterable[Binding],
    module: str,
    package: Package,
    homes: Mapping[Binding, str],
    names: Naming,
) -> set[Import]:
    """What a module has to import for the names that it uses."""
    found = set()
    for binding in used:
        definition = package.same.get(binding, binding)
        if binding in EXTERNALS:
            found.add(EXTERNALS[binding])
        elif homes.get(definition, module) != module:
            name = names.of.get(definition, definition.name)
            found.add(Import("." + homes[definition], name))
    return found


def import_lines(imports: Iterable[Import]) -> list[str]:
    """Sorted as the linter wants: the standard library, others, then the package's own."""
    sections: list[list[str]] = []
    wanted = list(imports)
    for section in range(3):
        ours = [i for i in wanted if _section(i.module) == section]
        plain = sorted({_plain(i) for i in ours if not i.name})
        members: dict[str, set[str]] = {}
        for i in ours:
            if i.name:
                text = f"{i.name} as {i.alias}" if i.alias and i.alias != i.name else i.name
                members.setdefault(i.module, set()).add(text)
        block = [f"import {name}" for name in plain]
        for name in sorted(members, key=str.lower):
            block += _from(name, sorted(members[name], key=_member_order))
        if block:
            sections.append(block)
    return [line for i, block in enumerate(sections) for line in ([""] if i else []) + block]


def _section(module: str) -> int:
    if module.startswith("."):
        return 2
    return 0 if module.split(".")[0] in sys.stdlib_module_names else 1


def _plain(what: Import) -> str:
    return f"{what.module} as {what.alias}" if what.alias else what.module


def _member_order(name: str) -> tuple[int, str]:
    """Constants, classes, functions."""
    bare = name.split(" ")[0]
    kind = 0 if bare.isupper() and len(bare) > 1 else 1 if bare[:1].isupper() else 2
    return kind, name


def _from(module: str, names: Sequence[str]) -> list[str]:
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= WIDTH:
        return [line]
    return [f"from {module} import (", *[f"{INDENT}{name}," for name in names], ")"]


def write_init(
    package: Package, docstring: str, homes: Mapping[Binding, str], names: Naming
) -> str:
    """`__init__.py`: the contract's names from wherever they are now."""
    imports = {Import("." + homes[b], names.of.get(b, b.name)) for b in package.exports}
    lines = docstring_lines(docstring)
    lines += ["", *import_lines(imports)] if lines else import_lines(imports)
    for unit in package.init.units:
        listed = unit.body[0]
        if isinstance(listed, ast.Assign) and [b.name for b in unit.names] == ["__all__"]:
            offered = sorted(names.of.get(b, b.name) for b in package.exports)
            offered.sort(key=_member_order)
            lines += ["", "__all__ = [", *[f'{INDENT}"{name}",' for name in offered], "]"]
        else:
            lines += ["", *write_unit(INIT, unit, names).lines]
    return "\n".join(lines) + "\n"
