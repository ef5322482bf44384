"""What the tests of asking share: a course in a folder of its own."""

from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bugkit.catalogue import Bug, load_catalogue
from bugkit.disguise import Level
from bugkit.handout.copy import MARK
from bugkit.handout.desk import Desk
from bugkit.handout.make import Order, begun
from bugkit.handout.plan import Handout
from bugkit.handout.pool import Candidate
from bugkit.handout.request import Request, ordered
from bugkit.handout.secret import SIZE, Secret, store
from bugkit.handout.terms import Terms
from bugkit.handout.texts import VISIBLE
from bugkit.places import MUTANTS
from bugkit.problems import Problem

SECRET = Secret(bytes(range(SIZE)))
OTHER_SECRET = Secret(bytes(SIZE))

POOL = (
    Candidate("scores_not_scaled", False, 3, 2),
    Candidate("post_norm", False, 4, 3),
    Candidate("no_causal_mask", False, 1, 1),
    Candidate("final_norm_missing", False, 5, 3),
)
TERMS = Terms("Hunt 1", POOL, disguise=Level.NONE)


@cache
def catalogue() -> dict[str, Bug]:
    """That of the kit."""
    return load_catalogue([MUTANTS])


@dataclass
class Course:
    """A roster, a secret and a desk in one folder."""

    folder: Path
    said: list[str] = field(default_factory=list)
    """What was told beside."""

    def __post_init__(self) -> None:
        store(SECRET, self.secret)

    @property
    def secret(self) -> Path:
        """Of the course, beside the handouts."""
        return self.folder / "course.txt"

    @property
    def desk(self) -> Desk:
        return Desk(self.folder / "out")

    def roster(self, text: str) -> Path:
        path = self.folder / "roster.csv"
        path.write_text(text, encoding="utf-8")
        return path

    def ask(self, roster: str = "ada\nbob\n", terms: Terms = TERMS, **changes: Any) -> Order:
        """Ask for handouts with the secret of the course, and begin to make them; `said` is what
        this told."""
        self.said = []
        known = changes.pop("catalogue", catalogue())
        request = Request(self.roster(roster), terms, self.desk, self.secret)
        order = ordered(replace(request, **changes), known, self.said.append)
        with begun(order):
            return order

    def refuses(self, *words: str, **asked: Any) -> None:
        """Asking ends with one message that has all these words, and changes no file."""
        self.roster(asked.get("roster", "ada\nbob\n"))
        before = tree(self.folder)
        with pytest.raises(Problem) as caught:
            self.ask(**asked)
        told = str(caught.value)
        assert "\n" not in told
        assert [word for word in words if word not in told] == [], told
        assert self.said == []
        assert tree(self.folder) == before

    def hand_out(self, handout: Handout) -> Path:
        """As much of a folder as tells whose it is."""
        folder = self.desk.folder(handout)
        folder.mkdir(parents=True)
        (folder / VISIBLE).write_text(MARK.format(handout.form), encoding="utf-8")
        return folder


def tree(folder: Path) -> dict[str, bytes | None]:
    """All that lies there: path -> content, None for a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def slugs(order: Order) -> dict[str, tuple[str, ...]]:
    """Student -> what they hunt."""
    return {h.student.id: tuple(hunt.slug for hunt in h.hunts) for h in order.handouts}
