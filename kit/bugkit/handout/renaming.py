"""What the files and names of the public GPT are called in a disguised copy."""

import ast
import symtable
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache

from ..disguise import Disguised, Place


def modules_of(disguised: Disguised, files: Mapping[str, str]) -> dict[str, str]:
    """Name of each original file -> the file that most of its lines went to. A backward pass does
    not count, if the file has anything else: whoever says `softmax.py` means the softmax."""
    return {file: _went(disguised, file, source) for file, source in files.items()}


def _went(disguised: Disguised, file: str, source: str) -> str:
    forward, backward = Counter[str](), Counter[str]()
    for node in _parsed(source).body:
        back = isinstance(node, ast.FunctionDef) and node.name.endswith("_backward")
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
            places = disguised.lines.get(Place(file, line), ())
            (backward if back else forward).update(place.file for place in places)
    counts = forward or backward
    return min(counts, key=lambda new: (-counts[new], new), default=file)


def all_names(disguised: Disguised, files: Mapping[str, str]) -> dict[str, str]:
    """Disguised.names, with what kept its name too; empty for a variable that is no more."""
    new = {
        (f"{name.removesuffix('.py')}.{path.partition('.')[0]}", path.rpartition(".")[2])
        for name, source in disguised.files.items()
        for path in _defined(source, name)
        if "." in path
    }
    names: dict[str, str] = {}
    for file, source in files.items():
        module = file.removesuffix(".py")
        for path in _defined(source, file):
            old = f"{module}.{path}"
            top, _, inner = path.partition(".")
            place = disguised.names.get(f"{module}.{top}", f"{module}.{top}")
            if not inner:
                names[old] = place
                continue
            word = disguised.names.get(old, path.rpartition(".")[2])
            names[old] = word if (place, word) in new else ""
    return names


# Of the public package, all but one file is the same for every student.
@lru_cache(maxsize=512)
def _parsed(source: str) -> ast.Module:
    return ast.parse(source)


@lru_cache(maxsize=512)
def _defined(source: str, file: str) -> list[str]:
    """`project`, `project.q`: what a module binds at its top, and within each definition."""
    found: list[str] = []

    def walk(table: symtable.SymbolTable, path: str) -> None:
        for symbol in table.get_symbols():
            if symbol.is_local() and not symbol.is_imported():
                found.append(f"{path}{symbol.get_name()}")
        for child in table.get_children():
            inner = child.get_name().strip("<>")
            hidden = inner in ("listcomp", "setcomp", "dictcomp", "genexpr")
            name = "<lambda>" if inner == "lambda" else inner
            if str(child.get_type()) in ("function", "class"):
                walk(child, path if hidden else f"{path}{name}.")

    walk(symtable.symtable(source, file, "exec"), "")
    return found


def fixed_names(sources: Iterable[str]) -> frozenset[str]:
    """Words that are no variables: those in quotes, as `w_qkv`, and fields of classes."""
    return frozenset[str]().union(*map(_fixed_in, sources))


@lru_cache(maxsize=512)
def _fixed_in(source: str) -> frozenset[str]:
    found: set[str] = set()
    for node in ast.walk(_parsed(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= {node.value} if node.value.isidentifier() else set()
        elif isinstance(node, ast.ClassDef):
            found |= {
                field.target.id
                for field in node.body
                if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
            }
    return frozenset(found)
