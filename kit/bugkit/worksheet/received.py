"""A student's copy of a program beside the catalogue's: where the repair goes, and new names."""

import ast
import re
import symtable
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

from ..files import read_text
from .edition import Edition
from .excerpt import CONTEXT, DEFINITIONS, difference, lines_of
from .key import Received
from .model import DiffLine

MISSING = "... something is missing here"
MORE = "... the usual form has more here"
"""The same in a program without a bug."""


def received(edition: Edition) -> tuple[Received, ...]:
    """The lines of the copy that the repair touches, with their neighbours."""
    parts = {file: trimmed(_part(edition, file)) for file in edition.lines}
    return tuple(Received(file, lines) for file, lines in parts.items() if lines)


def _part(edition: Edition, file: str) -> Iterator[DiffLine]:
    text = lines_of(edition.files[file])
    out = set(edition.replaced.get(file, ()))
    gaps = set(edition.missing.get(file, ()))
    near = {n + i for n in out for i in range(-CONTEXT, CONTEXT + 1)}
    near |= {n + i for n in gaps for i in range(-CONTEXT, CONTEXT)}
    for number in range(1, len(text) + 2):
        line = text[number - 1] if number <= len(text) else ""
        if number in gaps:
            beside = line if line.strip() else text[number - 2]
            indent = beside[: len(beside) - len(beside.lstrip())]
            yield DiffLine("+", number, indent + (MORE if edition.bug.innocent else MISSING))
        if number in near and number <= len(text):
            yield DiffLine("-" if number in out else " ", number, line)


def trimmed(lines: Iterable[DiffLine]) -> tuple[DiffLine, ...]:
    """Without empty neighbours at the ends, and where lines are left out."""
    groups: list[list[DiffLine]] = []
    last = 0
    for line in lines:
        if not groups or line.number > last + 1:
            groups.append([])
        groups[-1].append(line)
        last = max(last, line.number)
    for group in groups:
        for end in (0, -1):
            while group and group[end].sign == " " and not group[end].text.strip():
                group.pop(end)
    return tuple(line for group in groups for line in group)


def names(edition: Edition) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Names in the lines of the fix that the copy calls otherwise: the catalogue's, the copy's.
    Each function has its own variables, so that these may be several."""
    broken, correct = read_text(edition.bug.module), read_text(edition.bug.original)
    words = set(re.findall(r"\w+", "\n".join(edition.files.values())))
    theirs, ours = _bound(broken), _bound(correct)
    found: dict[str, dict[str, None]] = {}
    for source, other in ((broken, correct), (correct, broken)):
        changed = {line.number for line in difference(source, other, context=0) if line.sign == "-"}
        for function, name in _named(source, changed):
            scopes = theirs[function, name]
            if scopes > 1 or (not scopes and ours[function, name]):
                continue  # One of several, or a variable that the repair brings along.
            text = f"`{function}` | `{name}`" if function else f" | `{name}`"
            new = edition.wording(text).partition(" | ")[2]
            # What is no more in the copy is not between backticks.
            if new.startswith("`") and new.strip("`") in words and new.strip("`") != name:
                found.setdefault(name, {})[new.strip("`")] = None
    return tuple((name, tuple(new)) for name, new in found.items())


def _named(source: str, lines: Collection[int]) -> Iterator[tuple[str, str]]:
    """The names in these lines, each with the definition in which it stands; in their order."""
    for top in ast.parse(source).body:
        function = top.name if isinstance(top, DEFINITIONS) else ""
        found: list[tuple[int, int, str]] = []
        for node in ast.walk(top):
            name = ""
            if isinstance(node, ast.Name):
                name = node.id
            elif isinstance(node, ast.arg):
                name = node.arg
            elif isinstance(node, (ast.alias, *DEFINITIONS)):
                name = node.name
            if name and getattr(node, "lineno", 0) in lines:
                found.append((node.lineno, node.col_offset, name))  # type: ignore[attr-defined]
        for _, _, name in sorted(found):
            yield function, name


@lru_cache(maxsize=2)
def _bound(source: str) -> Counter[tuple[str, str]]:
    """(definition, variable) -> how many scopes within the definition have one of this name."""
    found: Counter[tuple[str, str]] = Counter()

    def walk(table: symtable.SymbolTable, top: str) -> None:
        found.update((top, s.get_name()) for s in table.get_symbols() if s.is_local())
        for child in table.get_children():
            walk(child, top)

    for child in symtable.symtable(source, "gpt", "exec").get_children():
        walk(child, child.get_name())
    return found
