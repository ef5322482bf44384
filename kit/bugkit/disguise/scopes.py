"""Which names of a module mean the same thing.

LibCST knows the rules: that a default belongs to the scope outside, that a comprehension has one
of its own, what a class body hides. It is asked once a module; everything after works on the
syntax trees of the standard library, since LibCST takes a third of a second for one pass over the
package and a class of students needs a thousand.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ..problems import MissingTool


class Role(StrEnum):
    """What a name is bound by."""

    LOCAL = "local"
    PARAMETER = "parameter"
    FUNCTION = "function"
    IMPORT = "import"
    FIELD = "field"
    """Of a class: reached by attribute, so it keeps its name."""


@dataclass(eq=False, slots=True)
class Binding:
    """One thing that has a name. Two occurrences with one Binding are the same variable."""

    name: str
    path: str
    """Where it is bound: "" at the top of the module, else the functions around it, `f.g`."""
    role: Role
    pinned: bool = False
    """Whether the name must stay: a field, a contract's name, or something `global`."""
    hints: tuple[str, ...] = field(default=())
    """Names it may take, for one that a rewrite introduced."""


Spot = tuple[int, int]
"""Line from 1 and column from 0 of an occurrence."""


@dataclass(frozen=True, slots=True)
class Scopes:
    """The bindings of a module by where their names stand."""

    at: dict[Spot, Binding]
    top: dict[str, Binding]
    """What the module itself binds, by name."""


def read_scopes(source: str) -> Scopes:
    """Every name of the module. Raises MissingTool without LibCST."""
    try:
        import libcst as cst
        from libcst import metadata
    except ImportError:
        raise MissingTool("disguising a package needs LibCST", "handout") from None
    wrapper = metadata.MetadataWrapper(cst.parse_module(source), unsafe_skip_copy=True)
    found = wrapper.resolve_many([metadata.ScopeProvider, metadata.PositionProvider])
    positions = found[metadata.PositionProvider]
    scopes: list[Any] = [s for s in dict.fromkeys(found[metadata.ScopeProvider].values()) if s]
    at: dict[Spot, Binding] = {}
    top: dict[str, Binding] = {}

    def spot(node: Any) -> Spot:
        where: Any = positions[node]
        return where.start.line, where.start.column

    for scope in scopes:
        bound: dict[str, Binding] = {}
        # LibCST keeps them in sets. What stands first, a parameter say, tells what the name is.
        assignments = [
            a
            for a in scope.assignments
            if isinstance(a, metadata.Assignment | metadata.ImportAssignment)  # not a builtin
        ]
        for assignment in sorted(assignments, key=lambda a: spot(a.node)):
            name = assignment.name
            if name not in bound:
                bound[name] = _binding(cst, metadata, scope, assignment)
            binding = bound[name]
            for node in _names_in(cst, assignment.node):
                if node.value == name:
                    at[spot(node)] = binding
            for access in assignment.references:
                if isinstance(access.node, cst.Name):
                    at[spot(access.node)] = binding
        if isinstance(scope, metadata.GlobalScope):
            top = bound
    return Scopes(at, top)


def _names_in(cst: Any, node: Any) -> Iterable[Any]:
    """The names that an assignment binds: the node that LibCST records may hold them."""
    if isinstance(node, cst.Name):
        yield node
    elif isinstance(node, cst.FunctionDef | cst.ClassDef | cst.Param):
        yield node.name
    elif isinstance(node, cst.Import | cst.ImportFrom) and not isinstance(
        node.names, cst.ImportStar
    ):
        for alias in node.names:
            yield alias.asname.name if alias.asname else alias.name


def _binding(cst: Any, metadata: Any, scope: Any, assignment: Any) -> Binding:
    path = []
    inner = scope
    while not isinstance(inner, metadata.GlobalScope):
        if isinstance(inner, metadata.FunctionScope | metadata.ClassScope):
            path.append(inner.name or "<lambda>")
        inner = inner.parent
    where = ".".join(reversed(path))
    node = assignment.node
    if isinstance(scope, metadata.ClassScope):
        return Binding(assignment.name, where, Role.FIELD, pinned=True)
    if isinstance(node, cst.Import | cst.ImportFrom):
        return Binding(assignment.name, where, Role.IMPORT, pinned=bool(where))
    if isinstance(node, cst.Param):
        return Binding(assignment.name, where, Role.PARAMETER)
    role = Role.FUNCTION if isinstance(node, cst.FunctionDef | cst.ClassDef) else Role.LOCAL
    return Binding(assignment.name, where, role)
