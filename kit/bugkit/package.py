"""The files of a subject as a student gets them: an ordinary package, whatever its folder is
called, which needs NumPy alone."""

import ast
import re
from collections.abc import Collection, Mapping

from .catalogue import Bug
from .files import read_text
from .places import CORRECT
from .problems import Problem, nearest

INIT = "__init__.py"


def package(bug: Bug | None = None, only: Collection[str] = ()) -> dict[str, str]:
    """Name -> source of the whole GPT, with the bug's module in the place of the correct one.

    With `only`, of these modules (such as `norm`) and of those that they import. The package then
    offers the names of these modules alone.
    """
    sources = {path.name: read_text(path) for path in sorted(CORRECT.glob("*.py"))}
    if bug:
        sources[bug.file] = read_text(bug.module)
    if not only:
        return sources
    known = {name.removesuffix(".py") for name in sources if name != INIT}
    for name in only:
        if name not in known:
            raise Problem(f"the correct GPT has no module {name}{nearest(name, known)}")
    kept = _closure(sources, only)
    files = {f"{name}.py": sources[f"{name}.py"] for name in sorted(kept)}
    return {INIT: _without(sources[INIT], known - kept), **files}


def modest(files: Mapping[str, str]) -> dict[str, str]:
    """The same package, which does not call itself the right answer: for who hunts in it."""
    return {**files, INIT: files[INIT].replace(_RIGHT, "", 1)}


_RIGHT = ": the right answer"
"""What the docstring says of the correct GPT."""


def _closure(sources: Mapping[str, str], modules: Collection[str]) -> set[str]:
    kept: set[str] = set()
    todo = list(modules)
    while todo:
        name = todo.pop()
        if name not in kept:
            kept.add(name)
            todo += _imported(sources[f"{name}.py"])
    return kept


def _imported(source: str) -> list[str]:
    """The modules of the same package that a file imports from."""
    nodes = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.ImportFrom) and n.level]
    return [n.module for n in nodes if n.module]


def _without(init: str, left_out: Collection[str]) -> str:
    """The package's own file without all that names these modules: their lines in the list of
    files, their imports, and what these bring."""
    tree = ast.parse(init)
    gone: set[str] = set()
    lines = init.splitlines()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module in left_out:
            gone.update(alias.name for alias in node.names)
            for number in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                lines[number - 1] = _CUT
    end = tree.body[0].end_lineno or 0  # of the docstring
    for number, line in enumerate(lines):
        listed = re.match(r"    (\w+) {2,}\S", line) if number < end else None
        offered = re.fullmatch(r'    "(\w+)",', line) if number >= end else None
        if (listed and listed[1] in left_out) or (offered and offered[1] in gone):
            lines[number] = _CUT
    text = "\n".join(line for line in lines if line != _CUT) + "\n"
    return re.sub(r"\n{3,}", "\n\n", text)


_CUT = "\0"
