"""A student's copy of a bug's program: in other words, and marked with the form id."""

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from ..catalogue import Bug
from ..disguise import Disguised, Level, Place, disguise
from ..files import read_text
from ..package import modest, package
from ..worksheet.edition import Edition, replaced_and_missing
from ..worksheet.excerpt import Piece, changed_lines, is_backward, lines_of, pieces, touched
from .wording import wording_of

MARK = "# Form {}\n"
"""First line of every source file."""


def copy_of(bug: Bug, code: str, level: Level, seed: bytes) -> Edition:
    """The program of this bug for the student with this form id. `seed` decides the words."""
    files = modest(package(bug))
    return _Copy(bug, code, files, disguise(files, level, seed)).edition()


def marked(source: str, code: str) -> str:
    """A source with the form id above it."""
    return MARK.format(code) + source


@dataclass(frozen=True, slots=True)
class _Copy:
    bug: Bug
    code: str
    original: Mapping[str, str]
    disguised: Disguised

    def edition(self) -> Edition:
        broken, correct = read_text(self.bug.module), read_text(self.bug.original)
        files = {name: marked(text, self.code) for name, text in self.disguised.files.items()}
        changed = touched(broken, correct)
        lines = [p for n in sorted(changed_lines(broken, correct)) for p in self._places(n)]
        replaced, missing = replaced_and_missing(broken, correct)
        # A forward pass is where a bug is, if it comes with its own gradient.
        named = sorted((p for p in changed if p.name), key=lambda p: is_backward(p.name))
        starts = [place for piece in named for place in self._start(piece)]
        file = (starts or lines)[0].file
        return Edition(
            bug=self.bug,
            code=self.code,
            file=file,
            files=files,
            needed=tuple(_around(starts or lines, file, files[file])),
            lines=_by_file(lines, file),
            originals=self._originals(),
            replaced=_by_file((p for n in replaced for p in self._places(n)), file),
            missing=_by_file((p for n in missing for p in self._gaps(n)), file),
            is_backward=self._backward().__contains__,
            wording=wording_of(
                self.disguised, self.original, self.bug.file, file, [piece.name for piece in named]
            ),
        )

    def _places(self, line: int) -> Iterable[Place]:
        """Where this line of the bug's file is in the copy, or the nearest one above it."""
        return map(_below_mark, self.disguised.where(self.bug.file, line))

    def _gaps(self, line: int) -> Iterable[Place]:
        """The lines of the copy, one a file, before which that is missing which the repair adds
        before this line. If this line is no more, it goes after the nearest one above."""
        stays = bool(self.disguised.lines.get(Place(self.bug.file, line)))
        for file, numbers in _by_file(self._places(line)).items():
            source = marked(self.disguised.files[file], self.code)
            yield Place(file, _edge(source, min(numbers) if stays else max(numbers), not stays))

    def _start(self, piece: Piece) -> Iterable[Place]:
        """Where a definition begins in the copy. A comment above it may have been left out."""
        for line in range(piece.first, piece.last + 1):
            if places := self.disguised.lines.get(Place(self.bug.file, line)):
                return map(_below_mark, places)
        return ()

    def _originals(self) -> Mapping[str, str]:
        """Name of a function in the copy -> its definition in the original."""
        names = self.disguised.names
        return {
            names.get(old := f"{file.removesuffix('.py')}.{name}", old).rpartition(".")[2]: text
            for file, source in self.original.items()
            for name, text in _definitions(source)
        }

    def _backward(self) -> frozenset[str]:
        """What functions that compute gradients are called in the copy."""
        defined = {piece.name for text in self.disguised.files.values() for piece in pieces(text)}
        new = {new for old, new in self.disguised.names.items() if is_backward(old)}
        renamed = {name.rpartition(".")[2] for name in new}
        return frozenset(name for name in defined if name in renamed or is_backward(name))


@lru_cache(maxsize=512)  # all files but one are the same for every student
def _definitions(source: str) -> tuple[tuple[str, str], ...]:
    lines = lines_of(source)
    found = [piece for piece in pieces(source) if piece.name]
    return tuple((p.name, "\n".join(lines[p.first - 1 : p.last])) for p in found)


def _below_mark(place: Place) -> Place:
    return Place(place.file, place.line + MARK.count("\n"))


def _edge(source: str, line: int, below: bool) -> int:
    """The line before which something can stand that goes above this line, or below it: never in
    the middle of a statement."""
    statements = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    around = max(statements, key=lambda node: node.lineno, default=None)
    if around is None:
        return line + below
    if not below:
        return around.lineno
    body = getattr(around, "body", None)  # below the head of a block is above what is in it
    return body[0].lineno if body else (around.end_lineno or line) + 1


def _around(places: Iterable[Place], file: str, source: str) -> list[Piece]:
    """The pieces of this file in which the places lie."""
    lines = {place.line for place in places if place.file == file}
    return [piece for piece in pieces(source) if any(line in piece for line in lines)]


def _by_file(places: Iterable[Place], *first: str) -> Mapping[str, tuple[int, ...]]:
    lines: dict[str, set[int]] = {file: set() for file in first}
    for place in places:
        lines.setdefault(place.file, set()).add(place.line)
    return {file: tuple(sorted(numbers)) for file, numbers in lines.items()}
