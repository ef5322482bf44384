"""Which part of a program a sheet shows.

Whole definitions, as many as fit: those the hunt needs, and others of the same file, so that the
choice does not point at the bug.
"""

import ast
import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from .model import MAX_EXCERPT, MAX_LISTING, DiffLine, Line, Listing

BACKWARD = "_backward"
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


def pieces(source: str) -> list[Piece]:
    """The file in pieces, in its order."""
    lines = source.splitlines()
    nodes = ast.parse(source).body
    starts: list[tuple[int, str]] = [(1, "")]
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            starts.append((first, node.name))
        elif starts[-1][1]:
            starts.append((node.lineno, ""))
    found = []
    for (first, name), (end, _) in pairwise([*starts, (len(lines) + 1, "")]):
        last = end - 1
        while last > first and not lines[last - 1].strip():
            last -= 1
        if last >= first:
            found.append(Piece(name, first, last))
    return found


def changed_lines(broken: str, correct: str) -> set[int]:
    """Lines of the broken program that the repair touches, from 1."""
    return {
        line.number for line in difference(broken, correct, context=0) if line.sign in ("-", "+")
    }


def difference(broken: str, correct: str, context: int = CONTEXT) -> tuple[DiffLine, ...]:
    """The repair: from the broken program to the correct one."""
    old, new = broken.splitlines(), correct.splitlines()
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


def excerpt_of(file: str, broken: str, correct: str) -> tuple[Listing, Listing | None]:
    """What stands on the first page, and what on a third one if the first is too small."""
    all_pieces = pieces(broken)
    changed = changed_lines(broken, correct)
    needed = [p for p in all_pieces if any(line in p for line in changed)]
    defined = [p for p in needed if p.name] or needed
    first = _chosen(all_pieces, defined, MAX_EXCERPT)
    listing = None
    if not set(defined) <= set(first):
        listing = _listing(file, broken, _chosen(all_pieces, defined, MAX_LISTING), all_pieces)
    return _listing(file, broken, first, all_pieces), listing


def _chosen(all_pieces: list[Piece], needed: list[Piece], limit: int) -> list[Piece]:
    """As many as fit: first what is needed, forward before backward, then the rest in order."""
    order = [
        *sorted(needed, key=lambda p: p.name.endswith(BACKWARD)),
        *sorted(
            (p for p in all_pieces if p not in needed and p.name),
            key=lambda p: p.name.endswith(BACKWARD),
        ),
        *(p for p in all_pieces if p not in needed and not p.name),
    ]
    chosen: list[Piece] = []
    for piece in order:
        if _length(sorted([*chosen, piece], key=lambda p: p.first)) <= limit:
            chosen.append(piece)
    return sorted(chosen, key=lambda p: p.first)


def _length(chosen: Iterable[Piece]) -> int:
    """Lines of print: one empty line between two pieces."""
    sizes = [piece.size for piece in chosen]
    return sum(sizes) + max(len(sizes) - 1, 0)


def _listing(file: str, source: str, chosen: list[Piece], all_pieces: list[Piece]) -> Listing:
    text = source.splitlines()
    lines: list[Line] = []
    for piece in chosen:
        if lines:
            lines.append(Line(piece.first - 1, ""))
        lines += [Line(i, text[i - 1]) for i in range(piece.first, piece.last + 1)]
    return Listing(file, tuple(lines), whole=len(chosen) == len(all_pieces))
