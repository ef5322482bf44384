"""A bug's program as one reader gets it: that of the catalogue, or a copy in other words."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ..catalogue import Bug
from ..files import read_text
from ..package import modest, package
from .codes import code_of
from .excerpt import Piece, changed_lines, difference, is_backward, touched


def _as_it_is(text: str) -> str:
    return text


@dataclass(frozen=True)
class Edition:
    """What sheets and keys know of the program."""

    bug: Bug
    code: str
    """What stands on paper in place of the bug's name."""
    file: str
    """The one under suspicion."""
    files: Mapping[str, str]
    """Name -> source of the whole package."""
    needed: tuple[Piece, ...]
    """Pieces of this file that the repair changes."""
    lines: Mapping[str, tuple[int, ...]]
    """File -> the lines that the repair touches, this file first."""
    replaced: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Of these, those that the repair replaces or takes out."""
    missing: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """File -> lines before which the repair adds something; they stay as they are."""
    is_backward: Callable[[str], bool] = is_backward
    """Whether a function of this name computes gradients."""
    wording: Callable[[str], str] = _as_it_is
    """Puts a text about the program into the names that it has here."""
    originals: Mapping[str, str] = field(default_factory=dict)
    """Function of a copy -> its definition in the public package, which describes it in full."""
    visible: frozenset[str] | None = None
    """Properties that the reader can run; None for the one of the sheet alone."""

    def renamed(self, code: str) -> str:
        """A piece of code in the names that it has here."""
        return self.wording(f"`{code}`").strip("`")

    @property
    def source(self) -> str:
        """Of the file under suspicion."""
        return self.files[self.file]

    @cached_property
    def place(self) -> str:
        """Where the bug is, such as `attention_weights` in `attention.py` (line 92)."""
        named = [piece for piece in self.needed if piece.name]
        # A wrong forward pass comes with its own gradient: who names the forward pass has found it.
        named = [piece for piece in named if not self.is_backward(piece.name)] or named
        # An import that the repair brings along is not where the bug is.
        lines = self.lines[self.file]
        lines = tuple(n for n in lines if any(n in piece for piece in named)) or lines
        where = " and ".join(f"`{piece.name}`" for piece in named) or "the top"
        numbers = ", ".join(map(str, lines))
        return f"{where} in `{self.file}` (line{'s' if len(lines) > 1 else ''} {numbers})"


def public(bug: Bug) -> Edition:
    """The program as it stands in the catalogue."""
    broken, correct = read_text(bug.module), read_text(bug.original)
    replaced, missing = replaced_and_missing(broken, correct)
    return Edition(
        bug=bug,
        code=code_of(bug.slug),
        file=bug.file,
        files=modest(package(bug)),
        needed=tuple(touched(broken, correct)),
        lines={bug.file: tuple(sorted(changed_lines(broken, correct)))},
        replaced={bug.file: replaced},
        missing={bug.file: missing},
    )


def replaced_and_missing(broken: str, correct: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Lines of the broken program that the repair replaces or takes out, and those before which it
    only adds something. Imports that it brings along are not worth a word."""
    lines = difference(broken, correct, context=0)
    replaced = {line.number for line in lines if line.sign == "-"}
    missing = {
        line.number
        for line in lines
        if line.sign == "+" and line.text.strip() and not line.text.startswith(("import ", "from "))
    }
    return tuple(sorted(replaced)), tuple(sorted(missing - replaced))
