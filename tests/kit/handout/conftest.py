"""What the tests of handing out share: one small course, and a run of it wherever it is wanted."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import pytest

from bugkit.catalogue import Bug, load_catalogue
from bugkit.handout import make as making
from bugkit.handout.desk import SECRET, Desk
from bugkit.handout.plan import Handout, planned
from bugkit.handout.pool import pool_of
from bugkit.handout.record import Record
from bugkit.handout.request import Request, ordered
from bugkit.handout.roster import read_roster
from bugkit.handout.secret import SIZE, Secret, store
from bugkit.handout.terms import Terms
from bugkit.measure.silence import silences

TELLING = {
    "mask_transposed": r"tril",
    "rotary_frequencies_collapse": r"//",
    "bias_gradient_averaged": r"mean",
    "checkpoint_in_half_precision": r"float16",
    "stopped_rows_wake_up": r"\^",
}
"""Bugs of five components -> what only their faulty line holds, in whatever words it is written."""

INNOCENT = "log_softmax_twice"
SLUGS = (*TELLING, INNOCENT)
SHARE = 0.2

HEAD = "First Name,Last Name,SID,Email,Role"
STUDENTS = (
    *(f"Quilla{i},Featherstone{i},,zq700{i}@uni.example,Student" for i in range(7)),
    "Zoë,Ångström-Bravo,,Zq Ünsal@uni.example,Student",
)
"""Rows of a roster; the last one's folder cannot be called as the student."""

LATE = "Late,Comer,,zq9999@uni.example,Student"

MINE = Secret(bytes(range(SIZE)))


def roster_of(students: Iterable[str]) -> str:
    return "".join(f"{row}\n" for row in (HEAD, *students))


@dataclass(frozen=True)
class Course:
    """One run: its folder holds the roster, the secret, the handouts and the keys."""

    folder: Path
    terms: Terms
    desk: Desk
    handouts: tuple[Handout, ...]
    records: tuple[Record, ...]

    def files(self) -> dict[str, bytes]:
        return files_of(self.desk)

    def files_for(self, student: str) -> dict[str, bytes]:
        """Folder, archive and page."""
        (folder,) = (h.folder for h in self.handouts if h.student.id == student)
        parts = (f"out/{folder}/", f"out/{folder}.zip", f"keys/pages/{folder}.html")
        return {name: data for name, data in self.files().items() if name.startswith(parts)}


def files_of(desk: Desk) -> dict[str, bytes]:
    """All that lies on a desk but the secret: path -> content."""
    return {
        f"{name}/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for name, folder in (("out", desk.out), ("keys", desk.keys))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != SECRET
    }


HandOut = Callable[..., Course]


@pytest.fixture(scope="session")
def catalogue() -> Mapping[str, Bug]:
    return load_catalogue()


@pytest.fixture(scope="session")
def hand_out(catalogue: Mapping[str, Bug]) -> HandOut:
    """Runs it in this process: the first argument is a new folder."""
    pytest.importorskip("libcst", reason="needs the extra handout")

    def hand_out(
        folder: Path,
        terms: Terms,
        students: Iterable[str] = STUDENTS,
        secret: Secret = MINE,
    ) -> Course:
        folder.mkdir(exist_ok=True)
        roster, mine, desk = folder / "roster.csv", folder / "mine.txt", Desk(folder / "out")
        roster.write_text(roster_of(students), encoding="utf-8")
        if not mine.exists():
            store(secret, mine)
        request = Request(roster, terms, desk, mine, any_bugs=False, with_archives=True)
        order = ordered(request, catalogue, lambda _: None)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(making, "spread", _here)
            records = making.make(order, catalogue, lambda *_: None, lambda *_: None)
        return Course(folder, terms, desk, order.handouts, records)

    return hand_out


def _here(work: object, items: object, _workers: int, prepare: object, arguments: object) -> object:
    from bugkit.parallel import spread

    return spread(work, items, 1, prepare, arguments)  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def terms(catalogue: Mapping[str, Bug], tmp_path_factory: pytest.TempPathFactory) -> Terms:
    """Of the first assignment in which every one of SLUGS is drawn."""
    entries = [bug for bug in catalogue.values() if bug.slug in SLUGS]
    terms = Terms("", pool_of(entries, silences(entries)), innocent_share=SHARE)
    roster = tmp_path_factory.mktemp("draw") / "roster.csv"
    roster.write_text(roster_of(STUDENTS), encoding="utf-8")
    students = read_roster(roster).students

    def drawn(assignment: str) -> set[str]:
        plan = planned(MINE, replace(terms, assignment=assignment), students)
        return {hunt.slug for handout in plan for hunt in handout.hunts}

    names = (f"Hunt {number}" for number in count(1))
    return replace(terms, assignment=next(name for name in names if drawn(name) == set(SLUGS)))


@pytest.fixture(scope="session")
def course(hand_out: HandOut, terms: Terms, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Eight students, five bugs and an innocent; nobody may write to it."""
    return hand_out(tmp_path_factory.mktemp("course") / "first", terms)


@pytest.fixture(scope="session")
def pair(hand_out: HandOut, terms: Terms, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """One student with two hunts."""
    two = replace(terms, per_student=2, innocent_share=0.0)
    return hand_out(tmp_path_factory.mktemp("pair") / "first", two, STUDENTS[:1])
