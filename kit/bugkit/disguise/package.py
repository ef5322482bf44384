"""The package between reading and writing: which definition stands in which module."""

import ast
import builtins
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..contract import NAMES
from ..problems import Problem
from .marks import binding_of, nodes
from .scopes import Binding, Role
from .source import Import, Source, Unit, read_source

INIT = "__init__"


@dataclass(frozen=True, slots=True)
class Part:
    """A definition and the module of the original that it comes from."""

    home: str
    unit: Unit


@dataclass(frozen=True, slots=True)
class Package:
    """All modules of a GPT."""

    sources: Mapping[str, Source]
    """Name of the module without ending -> what it holds; without `__init__`."""
    init: Source
    same: Mapping[Binding, Binding]
    """The binding of an imported name -> that of the definition in the package."""
    exports: tuple[Binding, ...]
    """What `__init__` offers."""
    homes: Mapping[Binding, str]
    """Module in which a name of the top level is defined."""
    owner: Mapping[Binding, Unit]
    """The definition of a name of the top level."""
    needs: Mapping[Unit, frozenset[Unit]]
    """The definitions that a definition uses."""

    def resolve(self, binding: Binding | None) -> Binding | None:
        """The definition behind a name."""
        return None if binding is None else self.same.get(binding, binding)


def read_package(files: Mapping[str, str]) -> Package:
    """Read all modules. Raises Problem for a package that a disguise cannot handle."""
    sources = {name.removesuffix(".py"): read_source(name, text) for name, text in files.items()}
    if INIT not in sources:
        raise Problem("a package to disguise needs an __init__.py")
    same: dict[Binding, Binding] = {}
    for module, source in sources.items():
        for binding in source.imports:
            same[binding] = _definition(sources, module, source.imports[binding])
    init = sources.pop(INIT)
    exports = tuple(same[binding] for binding in init.imports)
    homes = {
        binding: module
        for module, source in sources.items()
        for unit in source.units
        for binding in unit.names
    }
    _pin(sources)
    owner = {b: unit for s in sources.values() for unit in s.units for b in unit.names}
    needs = {
        unit: frozenset(_needed(module, unit, same, owner)) - {unit}
        for module, source in sources.items()
        for unit in source.units
    }
    return Package(sources, init, same, exports, homes, owner, needs)


def _needed(
    module: str, unit: Unit, same: Mapping[Binding, Binding], owner: Mapping[Binding, Unit]
) -> Iterator[Unit]:
    for statement in unit.body:
        for node in nodes(statement):
            binding = binding_of(node)
            if binding is not None:
                definition = same.get(binding, binding)
                if definition in owner:
                    yield owner[definition]
            elif isinstance(node, ast.Name) and not hasattr(builtins, node.id):
                where = f"{module}.py: line {node.lineno}"
                raise Problem(f"{where}: nobody says what {node.id} is")


def _definition(sources: Mapping[str, Source], module: str, wanted: Import) -> Binding:
    """Follow an import to where the name is defined."""
    for _ in range(len(sources)):
        source = sources.get(wanted.module.removeprefix("."))
        binding = source.top.get(wanted.name) if source else None
        if source is None or binding is None:
            raise Problem(
                f"{module}.py: imports {wanted.name} from {wanted.module}, which has none"
            )
        if binding not in source.imports:
            return binding
        wanted = source.imports[binding]
    raise Problem(f"{module}.py: imports {wanted.name} in a circle")


def _pin(sources: Mapping[str, Source]) -> None:
    """The contract's names stay, and what may be given to them by name."""
    for source in sources.values():
        for unit in source.units:
            for binding in unit.names:
                if binding.name in NAMES:
                    binding.pinned = True
                    if unit.function:
                        _pin_parameters(unit.function)


def _pin_parameters(function: ast.FunctionDef) -> None:
    for parameter in all_parameters(function.args):
        binding = binding_of(parameter)
        if binding and binding.role is Role.PARAMETER:
            binding.pinned = True


def all_parameters(arguments: ast.arguments) -> list[ast.arg]:
    """Every parameter of a function."""
    extra = [p for p in (arguments.vararg, arguments.kwarg) if p]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *extra]
