"""Detectors as a program of their own, which needs NumPy and pytest and nothing of the kit.

The source is spliced, not written anew: comments, docstrings and line breaks stay as they are in
the suite.
"""

import re
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence

from .definitions import Definition, Module, take_apart
from .files import read_text
from .places import DETECTORS, PACKAGE
from .problems import Problem, nearest
from .references import Symbol

WIDTH = 100
"""Of a line of code."""

_DOCSTRING = '"""Properties of a correct GPT, as tests.\n\n{how}\n"""'

_BY_HAND = """\
Each takes `gpt`: `Plain(package)`, where the package offers the functions that are tested, such as
`gpt_forward`."""

_BY_FIXTURE = "They test the package `{package}`, which lies beside this file."

_FIXTURE = '''\
@pytest.fixture
def gpt() -> Iterator[Plain]:
    """The package under test. Overflow and NaN are for the tests to find, not for warnings."""
    with np.errstate(all="ignore"):
        yield Plain(package)'''

_FIXTURE_NEEDS = ("from collections.abc import Iterator", "import numpy as np", "import pytest")


def standalone(detectors: Sequence[str], package: str = "") -> str:
    """The source of a module with these tests and all that they use.

    With the name of a package, it brings the fixture `gpt` as well, which is that package.
    """
    modules = _modules()
    used = _closure(modules, [("plain", "Plain"), *(_home(id_, modules) for id_ in detectors)])
    imports = {r.symbol for d in used for r in d.references if not r.symbol[0]}
    if package:
        imports |= {("", text) for text in (*_FIXTURE_NEEDS, f"import {package} as package")}
    names = _Names(modules, used, imports)
    how = _BY_FIXTURE.format(package=package) if package else _BY_HAND
    text = f"{_DOCSTRING.format(how=how)}\n\n{_import_block(imports)}\n"
    before: Definition | None = None
    for definition in used:
        if package and before and before.module == "plain" != definition.module:
            text += f"\n\n{_FIXTURE}\n"
        gap = _gap(before, definition)
        text += "\n" * gap + _text_of(modules[definition.module], definition, names) + "\n"
        before = definition
    return text


def _modules() -> dict[str, Module]:
    """Those that are used before those that use them."""
    helpers = ("trees.py", "cases.py", "slopes.py")
    paths = [PACKAGE / "plain.py", *(DETECTORS / name for name in helpers)]
    paths += sorted(DETECTORS.glob("test_*.py"))
    return {path.stem: take_apart(path.stem, read_text(path)) for path in paths}


def _home(detector: str, modules: Mapping[str, Module]) -> Symbol:
    tests = {name: m.name for m in modules.values() for d in m.definitions for name in d.names}
    name = detector.partition("[")[0]
    if not name.startswith("test_") or name not in tests:
        raise Problem(f"no detector is called {detector}{nearest(detector, tests)}")
    return tests[name], name


def _closure(modules: Mapping[str, Module], wanted: Iterable[Symbol]) -> list[Definition]:
    """These definitions and all that they use, in the order of their files."""
    found: set[Definition] = set()
    todo = list(wanted)
    while todo:
        symbol = _resolved(todo.pop(), modules)
        if not symbol[0]:
            continue
        definition = modules[symbol[0]].defining(symbol[1])
        if definition is None:
            raise Problem(f"{symbol[0]}.py: has no {symbol[1]}, which a detector uses")
        if definition.beside:
            raise Problem(
                f"{symbol[1]} of {symbol[0]}.py reads a file beside it and cannot stand alone"
            )
        if definition not in found:
            found.add(definition)
            todo += [r.symbol for r in definition.references]
    order = list(modules)
    return sorted(found, key=lambda d: (order.index(d.module), d.first))


def _resolved(symbol: Symbol, modules: Mapping[str, Module]) -> Symbol:
    """Where a name that is handed on comes from."""
    while symbol[0] and symbol[1] in modules[symbol[0]].imported:
        symbol = modules[symbol[0]].imported[symbol[1]]
    return symbol


class _Names:
    """What each symbol is called in the new module."""

    def __init__(
        self,
        modules: Mapping[str, Module],
        used: Sequence[Definition],
        imports: Collection[Symbol],
    ) -> None:
        self.modules = modules
        self.called: dict[Symbol, str] = {}
        hidden = self._hidden(used)
        local = {name for d in used for name in d.bound}
        taken = {"gpt"}  # the fixture
        for symbol in sorted(imports):
            name = _import_name(symbol)
            if name in taken:
                raise Problem(f"two things that detectors import are called {name}")
            taken.add(name)
        for definition in used:
            for name in definition.names:
                symbol = (definition.module, name)
                new = name
                if name in taken or symbol in hidden:
                    new = _longer(definition.module, name)
                    while new in taken or new in local:
                        new += "_"
                taken.add(new)
                self.called[symbol] = new

    def of(self, symbol: Symbol) -> str:
        """The name."""
        symbol = _resolved(symbol, self.modules)
        return self.called[symbol] if symbol[0] else _import_name(symbol)

    def _hidden(self, used: Sequence[Definition]) -> set[Symbol]:
        """Symbols whose plain name is that of a local variable where `module.name` stands."""
        return {
            _resolved(r.symbol, self.modules)
            for d in used
            for r in d.references
            if r.qualified and r.symbol[1] in d.bound
        }


def _longer(module: str, name: str) -> str:
    module = module.removeprefix("test_")
    if name.startswith("test_"):
        return f"test_{module}_{name.removeprefix('test_')}"
    bare = name.lstrip("_")
    start = "_" * (len(name) - len(bare))
    return start + (f"{module.upper()}_{bare}" if bare.isupper() else f"{module}_{bare}")


def _import_name(symbol: Symbol) -> str:
    """What an import calls the thing it brings."""
    words = symbol[1].split()
    return words[-1] if words[0] == "from" or "as" in words else words[1].partition(".")[0]


def _import_block(imports: Collection[Symbol]) -> str:
    """As ruff sorts them: the standard library, what is installed, what lies beside."""
    groups: list[list[str]] = [[], [], []]
    members: dict[str, set[str]] = {}
    for _, text in imports:
        words = text.split()
        if words[0] == "from":
            members.setdefault(words[1], set()).add(" ".join(words[3:]))
        else:
            groups[_section(words[1])].append(text)
    froms: list[list[str]] = [[], [], []]
    for module, names in members.items():
        froms[_section(module)].append(f"from {module} import {', '.join(sorted(names))}")
    parts = [sorted(a) + sorted(b) for a, b in zip(groups, froms, strict=True)]
    return "\n\n".join("\n".join(part) for part in parts if part)


def _section(module: str) -> int:
    root = module.partition(".")[0]
    return 0 if root in sys.stdlib_module_names else 1 if root in ("numpy", "pytest") else 2


def _gap(before: Definition | None, definition: Definition) -> int:
    """Empty lines above a definition."""
    if before is None or before.is_block or definition.is_block:
        return 2
    return 0 if before.module == definition.module and before.last + 1 == definition.first else 1


_CHECKER = re.compile(rb"  # type: ignore.*$")
"""A word to a checker of types, and the reason for it: here every type is `Any`."""


def _text_of(module: Module, definition: Definition, names: _Names) -> str:
    lines = list(module.lines)
    for r in sorted(definition.references, key=lambda r: (r.line, r.start), reverse=True):
        line = lines[r.line - 1]
        lines[r.line - 1] = line[: r.start] + names.of(r.symbol).encode() + line[r.end :]
    text = b"\n".join(
        _CHECKER.sub(b"", line) for line in lines[definition.first - 1 : definition.last]
    ).decode()
    (first, *_) = definition.names
    new = names.of((module.name, first))
    if definition.is_block and new != first:
        text = re.sub(
            rf"^((?:async )?def|class) {first}\b", rf"\1 {new}", text, count=1, flags=re.M
        )
    return _tightened(text)


_APART = re.compile(
    r"^( *)(\S.*[(\[{])\n +(\S.*[^,\n])\n +([)\]}].*)$|^(\S.*[(\[{])\n +(\S.*[^,\n])\n([)\]}].*)$",
    re.M,
)


def _tightened(text: str) -> str:
    """On one line again what has become short enough, as a formatter would have it."""

    def together(match: re.Match[str]) -> str:
        line = "".join(part for part in match.groups() if part)
        return line if len(line) <= WIDTH and "#" not in line else match[0]

    return re.sub(r"(\[\w+) :\]", r"\1:]", _APART.sub(together, text))
