"""New names: drawn for each binding, distinct wherever both could be seen."""

import ast
import builtins
import keyword
import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache, lru_cache
from typing import Any

from ..places import TEMPLATES
from ..tables import read_toml
from .chance import Dice
from .expressions import Naming
from .marks import binding_of, nodes
from .package import Package, all_parameters
from .scopes import Binding, Role
from .source import EXTERNALS, Unit

KEEP = 12
"""Of a hundred names, how many stay."""

COMMON = 10
"""How many get a name that could be anything's. One that nobody prepared names for, as a mutant may
bring along, always gets such a name, and must not stand out."""

FIXED = ("self", "cls", "_")
FOLDER = TEMPLATES / "disguise"

RESERVED = frozenset(dir(builtins)) | frozenset(keyword.kwlist) | {"np", "math", "l", "O", "I"}


@cache
def words() -> dict[str, Any]:
    """The prepared names."""
    return read_toml(FOLDER / "names.toml")


class Namer:
    """Draws names for one package."""

    def __init__(self, package: Package, dice: Dice) -> None:
        self.package = package
        self.dice = dice
        scheme = dice.part("schemes")
        self.backward = scheme.choose(words()["schemes"]["backward"])
        self.gradient = scheme.choose(words()["schemes"]["gradient"])
        imported = {b.name for b in EXTERNALS}
        self.reserved = RESERVED | imported | {b.name for b in package.exports}
        self.top: dict[Binding, str] = {}
        self._passed = frozenset[Binding]().union(*(s.calls.passed for s in self._sources()))
        self._unpacked = frozenset[Binding]().union(*(s.calls.unpacked for s in self._sources()))
        self._keywords = frozenset[str]().union(*(s.calls.keywords for s in self._sources()))
        self._passed = frozenset(package.same.get(b, b) for b in self._passed)
        self._unpacked = frozenset(package.same.get(b, b) for b in self._unpacked)
        self._fixed = {unit: self._fixed_in(unit) for unit in package.needs}
        self._name_top()
        self._taken = set(self.reserved) | set(self.top.values())

    def _sources(self) -> Iterable[Any]:
        return self.package.sources.values()

    def _name_top(self) -> None:
        """Functions and constants of all modules, so that they may stand in any."""
        used = set(self.reserved) | {b.name for fixed in self._fixed.values() for b in fixed}
        named: dict[str, str] = {}
        for binding in self.package.owner:
            if binding.pinned:
                used.add(binding.name)
                named[binding.name] = self.top[binding] = binding.name
        for binding, module in self.package.homes.items():
            if not binding.pinned:
                dice = self.dice.part(f"top {module} {binding.name}")
                name = self._top_name(binding.name, named, used, dice)
                used.add(name)
                named[binding.name] = self.top[binding] = name

    def _top_name(
        self, name: str, named: Mapping[str, str], used: Collection[str], dice: Dice
    ) -> str:
        base = name.removesuffix("_backward")
        if base != name:
            forward = named.get(base) or self._top_name(base, named, used, dice)
            paired: str = self.backward.format(forward)
            return paired if paired not in used else _drawn(name, [], used, dice, True)
        options = list(words()["functions"].get(name, ()))
        return _drawn(name, options, used, dice, function=not name.isupper())

    def may_rename(self, function: ast.FunctionDef | ast.Lambda, parameter: ast.arg) -> bool:
        """Whether nobody can give the parameter by its name, or we know who does."""
        binding = binding_of(function) if isinstance(function, ast.FunctionDef) else None
        if binding in self._unpacked:
            return False
        known = binding is not None and binding not in self._passed
        return known or parameter.arg not in self._keywords

    def name_unit(
        self,
        original: Unit,
        unit: Unit,
        extra: Iterable[Binding],
        label: str,
        short: int,
        keep: Mapping[Binding, str],
    ) -> Naming:
        """Names for everything in a definition, but for what it is to `keep`. `short` 1 draws none
        longer than the old, 2 keeps the old where they are free."""
        names = {b: b.name for b in self._fixed[original]} | dict(keep)
        bindings = [*unit.locals, *extra]
        # A local that was named like a function elsewhere may have to give way to its new name.
        used = {*self._taken, *names.values()}
        chosen = {binding.name: name for binding, name in keep.items()}
        for binding in sorted(bindings, key=_gradients_last):
            if binding in names:
                continue
            dice = self.dice.part(f"{label} {binding.path} {binding.name}")
            name = self._local_name(binding, chosen, used, dice, short)
            used.add(name)
            chosen.setdefault(binding.name, name)
            names[binding] = name
        return Naming(names, _arguments(original, names))

    def _fixed_in(self, unit: Unit) -> set[Binding]:
        fixed = {b for b in unit.locals if b.pinned or b.name in FIXED or b.role is Role.IMPORT}
        for node in _functions(unit):
            for parameter in all_parameters(node.args):
                binding = binding_of(parameter)
                if binding and not self.may_rename(node, parameter):
                    fixed.add(binding)
            if isinstance(node, ast.FunctionDef) and node.name.startswith("__"):
                fixed |= {b for n in [node] if (b := binding_of(n))}
        return fixed

    def _local_name(
        self,
        binding: Binding,
        chosen: Mapping[str, str],
        used: Collection[str],
        dice: Dice,
        short: int,
    ) -> str:
        name = binding.name
        kind = "functions" if binding.role is Role.FUNCTION else "names"
        options = list(binding.hints or words()[kind].get(name, ()))
        known = words()["names"]
        if name[:1] == "d" and name not in known and (name[1:] in chosen or name[1:] in known):
            base = chosen.get(name[1:]) or dice.choose(known[name[1:]])
            options = [self.gradient.format(base)]
        if short == 1:
            options = [o for o in options if len(o) <= len(name)]
        if short == 2 and not binding.hints and name not in used:
            return name
        return _drawn(name, options, used, dice, binding.role is Role.FUNCTION)


def _gradients_last(binding: Binding) -> bool:
    """A gradient is named after what it is the gradient of."""
    return binding.name.startswith("d")


def _drawn(
    name: str, options: list[str], used: Collection[str], dice: Dice, function: bool = False
) -> str:
    """One of the options, or the old name, or one that fits anything; never one that is used."""
    draw = dice.below(100)
    schemes = words()["schemes"]
    affixed: list[str] = [a.format(name.removeprefix("_")) for a in schemes["affixes"]]
    common: list[str] = list(schemes["actions" if function else "things"])
    if name.isupper() and len(name) > 1:
        common, affixed = [c.upper() for c in common], [a.upper() for a in affixed]
    if name.startswith("_"):
        common, affixed = [f"_{c}" for c in common], [f"_{a}" for a in affixed]
    ladder = [dice.shuffled(options), dice.shuffled(common), dice.shuffled(affixed)]
    if draw < KEEP and options:
        ladder.insert(0, [name])
    elif draw < KEEP + COMMON:
        ladder[0], ladder[1] = ladder[1], ladder[0]
    for candidates in ladder:
        for candidate in candidates:
            if candidate not in used:
                return candidate
    number = 2
    while f"{name}{number}" in used:
        number += 1
    return f"{name}{number}"


@lru_cache(maxsize=4096)
def _functions(unit: Unit) -> list[ast.FunctionDef | ast.Lambda]:
    return [
        node
        for statement in unit.body
        for node in nodes(statement)
        if isinstance(node, ast.FunctionDef | ast.Lambda)
    ]


def _arguments(unit: Unit, names: Mapping[Binding, str]) -> dict[Binding, dict[str, str]]:
    """New names of the parameters of every function that is defined in the unit."""
    found: dict[Binding, dict[str, str]] = {}
    for node in _functions(unit):
        binding = binding_of(node)
        if binding is not None:
            found[binding] = {
                p.arg: names[b]
                for p in all_parameters(node.args)
                if (b := binding_of(p)) is not None and b in names
            }
    return found


def renamed_in(text: str, new: Mapping[str, str]) -> str:
    """A text in which `names` in backticks are the new ones."""
    return re.sub(
        r"`([^`\n]+)`",
        lambda m: re.sub(r"\w+", lambda w: new.get(w[0], w[0]), m[0]),
        text,
    )
