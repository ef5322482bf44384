"""Which part of a program a sheet shows.

Whole definitions, as many as fit: those the hunt needs, and others of the same file, so that the
choice does not point at the bug.
"""

import ast
import difflib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .model import MAX_EXCERPT, MAX_LISTING, DiffLine, Line, Listing

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
CONTEXT = 2
"""Unchanged lines around each change of a key."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A top-level definition, or what stands between two of them."""

    name: str
    """Empty for imports and constants."""
    first: int
    last: int
    """Lines of the file, from 1, both included; no empty lines at the end."""

    @property
    def size(self) -> int:
        """Number of lines."""
        return self.last - self.first + 1

    def __contains__(self, line: int) -> bool:
        return self.first <= line <= self.last


def is_backward(name: str) -> bool:
    """Whether a function of this name computes gradients."""
    return name.endswith("_backward")


def lines_of(source: str) -> list[str]:
    """Lines as Python counts them. `str.splitlines` also parts at characters that are none."""
    lines = re.split(r"\r\n|\r|\n", source)
    return lines if lines[-1] else lines[:-1]


def pieces(source: str) -> list[Piece]:
    """The file in pieces, in its order."""
    lines = lines_of(source)
    starts: list[tuple[int, str]] = [(1, "")]
    above = 0
    for node in ast.parse(source).body:
        name = node.name if isinstance(node, DEFINITIONS) else ""
        if name or starts[-1][1]:
            starts.append((_first_line(node, lines, above), name))
        above = node.end_lineno or node.lineno
    found = []
    for (first, name), (end, _) in pairwise([*starts, (len(lines) + 1, "")]):
        last = end - 1
        while last >= first and not lines[last - 1].strip():
            last -= 1
        if last >= first:
            found.append(Piece(name, first, last))
    return found


def _first_line(node: ast.stmt, lines: list[str], above: int) -> int:
    """With its decorators and the comment that stands right on it."""
    decorators = node.decorator_list if isinstance(node, DEFINITIONS) else []
    first = min([node.lineno, *(d.lineno for d in decorators)])
    while first - 1 > above and lines[first - 2].startswith("#"):
        first -= 1
    return first


def touched(broken: str, correct: str) -> list[Piece]:
    """The pieces of the broken program that the repair changes.

    A line that the repair adds is looked up in the correct program: in the broken one its place
    may be the empty line below a definition.
    """
    old, new = pieces(broken), pieces(correct)
    taken: set[int] = set()
    beside: set[int] = set()
    added: set[int] = set()
    matcher = difflib.SequenceMatcher(None, lines_of(broken), lines_of(correct), autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            continue
        taken |= set(range(a + 1, b + 1))
        added |= set(range(c + 1, d + 1))
        if a == b:
            beside |= {a, a + 1}
    names = {p.name for p in new if any(line in p for line in added)}
    return [
        p
        for p in old
        if any(line in p for line in taken)
        or (p.name in names and (p.name or any(line in p for line in beside)))
    ]


def changed_lines(broken: str, correct: str) -> set[int]:
    """Lines of the broken program that the repair touches, from 1."""
    return {
        line.number for line in difference(broken, correct, context=0) if line.sign in ("-", "+")
    }


def difference(broken: str, correct: str, context: int = CONTEXT) -> tuple[DiffLine, ...]:
    """The repair: from the broken program to the correct one."""
    old, new = lines_of(broken), lines_of(correct)
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    lines: list[DiffLine] = []
    for group in matcher.get_grouped_opcodes(context):
        for tag, a, b, c, d in group:
            if tag == "equal":
                lines += [DiffLine(" ", i + 1, old[i]) for i in range(a, b)]
                continue
            lines += [DiffLine("-", i + 1, old[i]) for i in range(a, b)]
            # An added line has the number of the line that it replaces or comes before.
            lines += [DiffLine("+", min(a + 1, len(old)), new[j]) for j in range(c, d)]
    return tuple(lines)


def excerpt_of(
    file: str,
    source: str,
    needed: Sequence[Piece],
    is_backward: Callable[[str], bool] = is_backward,
) -> tuple[Listing, Listing | None]:
    """What stands on the first page, and what on a third one if the first is too small; `needed`
    are the pieces that the hunt cannot do without. Of these, a forward pass comes first."""
    all_pieces = pieces(source)
    needed = [p for p in needed if p.name] or list(needed)
    backward = {p for p in all_pieces if is_backward(p.name)}
    # What is needed, then the rest in order; forward before backward.
    order = [
        *sorted(needed, key=lambda p: p in backward),
        *sorted((p for p in all_pieces if p not in needed and p.name), key=lambda p: p in backward),
        *(p for p in all_pieces if p not in needed and not p.name),
    ]
    first = _chosen([], order, MAX_EXCERPT)
    missing = [p for p in needed if p not in first]
    listing = None
    if missing:
        # No hunt without its program: what is needed is there, however long it is.
        rest = _chosen(missing, [p for p in order if p not in first], MAX_LISTING)
        listing = _listing(file, source, rest, all_pieces)
    return _listing(file, source, first, all_pieces), listing


def _chosen(given: list[Piece], order: list[Piece], limit: int) -> list[Piece]:
    """What is given, and of the others as many as fit, in the order of the file."""
    chosen = list(given)
    for piece in order:
        if piece not in chosen and _length([*chosen, piece]) <= limit:
            chosen.append(piece)
    return sorted(chosen, key=lambda p: p.first)


def _length(chosen: list[Piece]) -> int:
    """Lines of print: one empty line between two pieces."""
    sizes = [piece.size for piece in chosen]
    return sum(sizes) + max(len(sizes) - 1, 0)


def _listing(file: str, source: str, chosen: list[Piece], all_pieces: list[Piece]) -> Listing:
    text = lines_of(source)
    lines: list[Line] = []
    for piece in chosen:
        if lines and lines[-1].number + 1 < piece.first:
            lines.append(Line(piece.first - 1, ""))
        lines += [Line(i, text[i - 1]) for i in range(piece.first, piece.last + 1)]
    return Listing(file, tuple(lines), whole=len(chosen) == len(all_pieces))
