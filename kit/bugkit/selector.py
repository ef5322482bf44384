"""Chooses bugs by an expression in the syntax of pytest's -k: words, and, or, not, brackets.

A word is a whole one, never a part: a slug, a component, level:1, difficulty:3, or innocent. It
chooses every bug of which it is true, so that a slug which is also a component means both.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn

from .catalogue import COMPONENTS, DIFFICULTIES, LEVELS, Bug, slug_of
from .problems import Problem, nearest

_DEEPEST = 50
"""Brackets and nots inside each other: far more than anybody can read, and far fewer than Python
has calls."""

_WORDS = (
    *COMPONENTS,
    *(f"level:{level}" for level in LEVELS),
    *(f"difficulty:{difficulty}" for difficulty in DIFFICULTIES),
    "innocent",
)
"""Those that mean something in every catalogue."""

_WORDS_SHOWN = (
    f"A word is the slug of a bug, a component ({', '.join(COMPONENTS)}), "
    f"level:{LEVELS[0]} to level:{LEVELS[-1]}, "
    f"difficulty:{DIFFICULTIES[0]} to difficulty:{DIFFICULTIES[-1]}, or innocent."
)


def chosen(expression: str, bugs: Iterable[Bug]) -> list[Bug]:
    """The bugs for which the expression is true, at least one, in the order given."""
    bugs = list(bugs)
    fitting = _Parser(expression, _meanings(bugs), frozenset(b.slug for b in bugs)).slugs()
    if not fitting:
        raise Problem(
            f"{expression!r}: fits none of the {len(bugs)} entries of the catalogue; "
            "bugkit list shows their levels, components and difficulties"
        )
    return [bug for bug in bugs if bug.slug in fitting]


def _meanings(bugs: Sequence[Bug]) -> dict[str, frozenset[str]]:
    """Word -> the slugs of the bugs of which it is true."""
    meanings: dict[str, set[str]] = {word: set() for word in _WORDS}
    for bug in bugs:
        words = [bug.slug, bug.component, f"level:{bug.level}", f"difficulty:{bug.difficulty}"]
        for word in [*words, "innocent"] if bug.innocent else words:
            meanings.setdefault(word, set()).add(bug.slug)
    return {word: frozenset(slugs) for word, slugs in meanings.items()}


class _Parser:
    """Reads an expression from left to right. What it holds for a part of it is the slugs that
    the part chooses."""

    def __init__(
        self, expression: str, meanings: Mapping[str, frozenset[str]], everyone: frozenset[str]
    ) -> None:
        self.expression = expression
        self.meanings = meanings
        self.everyone = everyone
        self.tokens = [(m[0], m.start()) for m in re.finditer(r"[(),]|[^\s(),]+", expression)]
        self.tokens.append(("", len(expression)))
        self.at = 0
        self.depth = 0

    def slugs(self) -> frozenset[str]:
        found = self._any()
        if not self._took(""):
            self._fail_expecting("and, or, or the end")
        return found

    def _any(self) -> frozenset[str]:
        found = self._all()
        while self._took("or"):
            found |= self._all()
        return found

    def _all(self) -> frozenset[str]:
        found = self._one()
        while self._took("and"):
            found &= self._one()
        return found

    def _one(self) -> frozenset[str]:
        self.depth += 1
        if self.depth > _DEEPEST:
            self._fail(f"more than {_DEEPEST} brackets and nots inside each other")
        if self._took("not"):
            found = self.everyone - self._one()
        elif self._took("("):
            found = self._any()
            if not self._took(")"):
                self._fail_expecting("and, or, or )")
        else:
            found = self._word()
        self.depth -= 1
        return found

    def _word(self) -> frozenset[str]:
        word, _ = self.tokens[self.at]
        if word in ("", "and", "or", ")", ","):
            self._fail_expecting("a word, not, or (")
        if (slugs := self.meanings.get(slug_of(word))) is None:
            close = nearest(slug_of(word), self.meanings)
            self._fail(f"{word!r} is not known{close}\n{_WORDS_SHOWN}")
        self.at += 1
        return slugs

    def _took(self, token: str) -> bool:
        """Go on by one token if it is this one."""
        took = self.tokens[self.at][0] == token
        self.at += took
        return took

    def _fail_expecting(self, what: str) -> NoReturn:
        token, _ = self.tokens[self.at]
        comma = "; between words, write or in place of a comma" if token == "," else ""
        self._fail(f"expected {what}; got {repr(token) if token else 'the end'}{comma}")

    def _fail(self, what: str) -> NoReturn:
        raise Problem(f"{self.expression!r}, column {self.tokens[self.at][1] + 1}: {what}")
