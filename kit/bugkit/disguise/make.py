"""`disguise`: from the files of a package to those of one that looks different."""

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from ..problems import Problem
from .chance import Dice
from .expressions import Naming
from .facts import Facts, kinds_returned
from .layout import Unfit
from .marks import binding_of, changed
from .model import Disguised, Level, Place
from .modules import Module, Written, write_init, write_module, write_unit
from .moves import Plan, module_names, move, ordered, plan
from .naming import Namer, renamed_in
from .package import INIT, Package, all_parameters, read_package
from .rewrites import Context, rewrite_block
from .scopes import Binding
from .source import Unit, inner_bindings
from .wording import reword, reworded_unit


def disguise(files: Mapping[str, str], level: Level, seed: bytes) -> Disguised:
    """The package in other words.

    `files` are the sources by name (`attention.py`); `seed` is secret and decides everything.
    Raises Problem for a package that cannot be handled, and MissingTool without LibCST.
    """
    if level is Level.NONE:
        lines = {
            Place(name, n + 1): (Place(name, n + 1),)
            for name, text in files.items()
            for n in range(text.count("\n"))
        }
        return Disguised(dict(files), lines, {})
    reading = _read(tuple(sorted(files.items())))
    return _Disguise(reading, level, Dice(seed)).result()


@dataclass(frozen=True, slots=True)
class _Reading:
    """What is told of a package once, for all disguises of it."""

    package: Package
    functions: Mapping[Binding, ast.FunctionDef]
    """What the names of the top level stand for, also where they are imported."""
    facts: Mapping[Unit, Facts]


@lru_cache(maxsize=256)
def _read(files: tuple[tuple[str, str], ...]) -> _Reading:
    package = read_package(dict(files))
    functions = {b: unit.function for b, unit in package.owner.items() if unit.function}
    functions |= {alias: functions[b] for alias, b in package.same.items() if b in functions}

    def returns(binding: Binding) -> tuple[bool, ...]:
        return kinds_returned(functions.get(binding))

    facts = {unit: Facts(unit.body, returns) for unit in package.needs}
    return _Reading(package, functions, facts)


class _Cramped(Exception):
    """The definition of this label has a line that is too long in every way."""


@dataclass(slots=True)
class _Draft:
    """A definition on its way."""

    module: str
    original: Unit
    unit: Unit
    new: list[Binding]
    naming: Naming
    dice: Dice

    @property
    def label(self) -> str:
        return f"{self.module} {' '.join(b.name for b in self.original.names)}"


class _Disguise:
    def __init__(self, reading: _Reading, level: Level, dice: Dice) -> None:
        self.reading = reading
        self.package = package = reading.package
        self.level = level
        self.dice = dice
        self.chart: Plan = plan(package)
        self.namer = Namer(package, dice)
        self.titles: dict[str, str] = {}
        self.cramped: dict[str, int] = {}
        if level is Level.FULL:
            move(self.chart, dice.part("moves"))
            modules = dict.fromkeys(self.chart.place.values())
            self.titles = module_names(modules, dice.part("module names"))

    def signature(self, binding: Binding) -> tuple[str, ...]:
        function = self.reading.functions.get(binding)
        if function is None or function.args.posonlyargs or function.args.vararg:
            return ()
        return tuple(parameter.arg for parameter in function.args.args)

    def result(self) -> Disguised:
        """What fits into no line whatever is tried gets short names for its parameters too, which
        others may use; so it all begins again."""
        while True:
            try:
                return self._attempt()
            except _Cramped as cramped:
                label = str(cramped)
                if self.cramped.get(label, 0) == 2:
                    raise Problem(
                        f"{label}: has a line that cannot be broken; shorten it"
                    ) from None
                self.cramped[label] = self.cramped.get(label, 0) + 1

    def _attempt(self) -> Disguised:
        drafts = [
            self._draft(module, unit)
            for module, source in self.package.sources.items()
            for unit in source.units
        ]
        top = dict(self.namer.top)
        arguments: dict[Binding, Mapping[str, str]] = {}
        for draft in drafts:
            arguments.update(draft.naming.arguments)
        for alias, definition in self.package.same.items():
            top[alias] = top.get(definition, definition.name)
            if definition in arguments:
                arguments[alias] = arguments[definition]
        written = {draft.original: self._write(draft, top, arguments) for draft in drafts}
        return self._assembled(drafts, written, Naming(top, arguments))

    def _draft(self, module: str, unit: Unit) -> _Draft:
        label = f"{module} {' '.join(b.name for b in unit.names)}"
        dice = self.dice.part(label)
        new = reworded_unit(unit, dice.part("words"))
        context: list[Binding] = []
        if self.level is Level.FULL:
            facts = self.reading.facts[unit].copy()
            new, context = self._rewritten(new, facts, dice.part("rewrites"))
        naming = self.namer.name_unit(unit, new, context, label, self.cramped.get(label, 0), {})
        return _Draft(module, unit, new, context, naming, dice)

    def _rewritten(self, unit: Unit, facts: Facts, dice: Dice) -> tuple[Unit, list[Binding]]:
        if unit.function is None and not isinstance(unit.body[0], ast.ClassDef):
            return unit, []
        context = Context(facts, dice, self.signature)
        body = rewrite_block(unit.body, context)
        present = inner_bindings(ast.Module(body, []))
        fresh = [b for b in context.new if b in present]
        rest = tuple(b for b in present if b not in fresh)
        return Unit(tuple(body), unit.names, rest), fresh

    def _write(
        self,
        draft: _Draft,
        top: Mapping[Binding, str],
        arguments: Mapping[Binding, Mapping[str, str]],
    ) -> Written:
        """Drawn names first; then shorter ones, if a line is too long for a certain break."""
        keep = {b: n for b, n in draft.naming.of.items() if b in self._parameters(draft)}
        for short in range(4):
            naming = draft.naming
            if short in (1, 2):
                naming = self.namer.name_unit(
                    draft.original, draft.unit, draft.new, draft.label, short, keep
                )
            elif short == 3:
                plain = reworded_unit(draft.original, draft.dice.part("words"))
                draft.unit, draft.new = plain, []
                naming = self.namer.name_unit(draft.original, plain, [], draft.label, 2, keep)
            names = {**top, **naming.of}
            draft.naming = Naming(names, arguments)
            try:
                return write_unit(draft.module, self._with_names(draft.unit, names), draft.naming)
            except Unfit:
                continue
        raise _Cramped(draft.label)

    def _parameters(self, draft: _Draft) -> set[Binding]:
        function = draft.original.function
        if function is None:
            return set()
        return {b for p in all_parameters(function.args) if (b := binding_of(p)) is not None}

    def _with_names(self, unit: Unit, names: Mapping[Binding, str]) -> Unit:
        """Texts that speak of names in backticks speak of the new ones."""
        new = {b.name: names.get(b, b.name) for b in self.chart.owner}
        new |= {b.name: names[b] for b in unit.locals if b in names}
        body = tuple(_renamed(statement, new) for statement in unit.body)
        return Unit(body, unit.names, unit.locals)

    def _assembled(
        self, drafts: list[_Draft], written: Mapping[Unit, Written], names: Naming
    ) -> Disguised:
        homes = {b: self._title(m) for b, m in self.chart.homes().items()}
        files: dict[str, str] = {}
        lines: dict[Place, list[Place]] = {}
        for module in dict.fromkeys(self.chart.place.values()):
            dice = self.dice.part(f"module {module}")
            units = ordered(self.chart.within(module), dice)
            title = self._title(module)
            parts = tuple(written[unit] for unit in units)
            text, origins = write_module(
                Module(title, self._docstring(module, dice), parts), self.package, homes, names
            )
            files[f"{title}.py"] = text
            for number, (home, origin) in enumerate(origins, 1):
                for line in origin:
                    lines.setdefault(Place(f"{home}.py", line), []).append(
                        Place(f"{title}.py", number)
                    )
        docstring = self._docstring(INIT, self.dice.part("init"))
        files[f"{INIT}.py"] = write_init(self.package, docstring, homes, names)
        return Disguised(
            dict(sorted(files.items())),
            {place: tuple(found) for place, found in sorted(lines.items())},
            dict(self._renamed(drafts, homes, names)),
        )

    def _title(self, module: str) -> str:
        return self.titles.get(module, module)

    def _docstring(self, module: str, dice: Dice) -> str:
        home = module.removesuffix("_backward") if module not in self.package.sources else module
        source = self.package.init if module == INIT else self.package.sources.get(home)
        node = source.docstring if source else None
        if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Constant):
            return ""
        text = str(node.value.value)
        new = reword(text, dice.part("docstring"))
        # The reading order of the package names its modules.
        return "" if module == INIT and new == text else new

    def _renamed(
        self, drafts: Iterable[_Draft], homes: Mapping[Binding, str], names: Naming
    ) -> Iterable[tuple[str, str]]:
        for draft in drafts:
            for binding in draft.original.names:
                old = f"{draft.module}.{binding.name}"
                new = f"{homes[binding]}.{names.of.get(binding, binding.name)}"
                if old != new:
                    yield old, new
            for binding in draft.original.locals:
                new = draft.naming.of.get(binding, binding.name)
                if new != binding.name:
                    yield f"{draft.module}.{binding.path}.{binding.name}", new


def _renamed(node: ast.stmt, new: Mapping[str, str]) -> ast.stmt:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        if isinstance(node.value.value, str) and "`" in node.value.value:
            text = renamed_in(node.value.value, new)
            return changed(node, value=changed(node.value, value=text))
        return node
    body = node.__dict__.get("body")
    if not isinstance(body, list):
        return node
    renamed = [_renamed(statement, new) for statement in body]
    same = all(a is b for a, b in zip(renamed, body, strict=True))
    return node if same else changed(node, body=renamed)
