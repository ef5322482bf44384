"""What a teacher asks for -> what is to be made: all that may be wrong is found before anything is
written."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ..catalogue import Bug
from ..files import read_text
from ..places import shown
from ..problems import Problem
from . import manifest
from .copy import MARK
from .desk import Desk
from .folder import is_odd
from .make import Order
from .manifest import Manifest
from .plan import Handout, planned
from .roster import Roster, Student, read_roster
from .secret import Secret, fingerprint, new_secret, read_secret
from .terms import Terms
from .texts import VISIBLE

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Request:
    """The command line, read."""

    roster: Path
    terms: Terms
    desk: Desk
    secret_file: Path | None = None
    """None for the one among the keys, which is drawn if nothing has been handed out yet."""
    any_bugs: bool = True
    """Whether the bugs were not chosen, so that those of an earlier run are as good."""
    with_archives: bool = False


def ordered(request: Request, catalogue: Mapping[str, Bug], say: Say) -> Order:
    """Check everything and write nothing. `say` is told what is odd."""
    desk = request.desk
    desk.require_free()
    earlier = manifest.read(desk.keys)
    roster = read_roster(request.roster, request.terms.group_by)
    terms = _same_pool(request, earlier, catalogue)
    _require_apart(request.secret_file, desk)
    desk.require_own((*roster.students, *(earlier.students if earlier else ())))
    known = _secret(request, earlier)
    secret = known or new_secret()
    if earlier:
        manifest.require_same(desk.keys, earlier, secret, terms)
    terms.require()
    # What is odd is told after all that is wrong, which ends the run.
    odd: list[str] = []
    students = tuple(_with_earlier(roster.students, earlier, odd.append))
    handouts = planned(secret, terms, students)
    _require_forms(desk, handouts)
    if earlier is None:
        _require_none(desk)
    for told in (*odd, *_odd_ids(roster, handouts)):
        say(told)
    return Order(
        handouts=handouts,
        manifest=Manifest(fingerprint(secret), terms, students),
        desk=desk,
        roster=roster,
        with_archives=request.with_archives,
        new_secret=None if known else secret,
    )


def _same_pool(request: Request, earlier: Manifest | None, catalogue: Mapping[str, Bug]) -> Terms:
    """The terms, with the pool as it was when the first student got something: bugs that came to
    the catalogue later, or have become harder, must not change anybody's handout."""
    terms = request.terms
    if earlier is None:
        return terms
    before = earlier.terms.pool
    manifest.require_known(request.desk.keys, earlier, catalogue)
    alike = {c.slug for c in before} == {c.slug for c in terms.pool}
    return replace(terms, pool=before) if alike or request.any_bugs else terms


def _with_earlier(
    students: Iterable[Student], earlier: Manifest | None, say: Say
) -> Iterable[Student]:
    """The students, and after them those who had a handout and have left the roster since."""
    before = {s.id: s for s in earlier.students} if earlier else {}
    for student in students:
        old = before.pop(student.id, student)
        if old.group != student.group:
            say(
                f"student {student.id} was in {old.group or 'no group'} and is now in "
                f"{student.group or 'none'}: the handout stays that of before"
            )
        yield replace(student, group=old.group)
    for old in before.values():
        say(f"student {old.id} is on the roster no more: the handout and its key are kept")
        yield old


def _require_apart(secret: Path | None, desk: Desk) -> None:
    """Raise Problem if the secret is where students may get it."""
    if secret is not None and desk.out.resolve() in secret.resolve().parents:
        raise Problem(
            f"{shown(secret)}: lies among the handouts, where students may get it; "
            "move it elsewhere"
        )


def _secret(request: Request, earlier: Manifest | None) -> Secret | None:
    """None if one is to be drawn."""
    desk, path = request.desk, request.secret_file
    if path is not None:
        if not path.exists():
            raise Problem(
                f"{shown(path)}: is not there; give the file with the secret of this course"
                + (
                    f": {shown(desk.out)} holds handouts, which were drawn from it"
                    if earlier or desk.used()
                    else f", or make one with: bugkit secret new --out {shown(path)}"
                )
            )
        return read_secret(path)
    if desk.secret.exists():
        return read_secret(desk.secret)
    if earlier or desk.used():
        raise Problem(
            f"{shown(desk.secret)}: is not there, though handouts in {shown(desk.out)} were drawn "
            "from it; put it back, or give the file with --secret-file"
        )
    return None


def _require_forms(desk: Desk, handouts: Iterable[Handout]) -> None:
    """Raise Problem if a folder that exists was made from another secret, or for another
    assignment: its form id is not the one that this secret gives."""
    for handout in handouts:
        folder = desk.folder(handout)
        if not folder.exists():
            continue
        path = folder / handout.hunts[0].folder / VISIBLE
        found = read_text(path).partition("\n")[0] if path.is_file() else ""
        if f"{found}\n" != MARK.format(handout.form):
            raise Problem(
                f"{shown(folder)}: is no handout from this secret and assignment: "
                f"{VISIBLE} does not begin with form {handout.form}; give the right --secret-file "
                "and --assignment, or another folder with --out"
            )


def _require_none(desk: Desk) -> None:
    """Raise Problem if there are handouts, of which no manifest says how they were made: others
    may have been drawn with other options, and the key would not be that of the folders."""
    if desk.used():
        raise Problem(
            f"{shown(desk.keys / manifest.NAME)}: is not there, though {shown(desk.out)} holds "
            "handouts, and it alone tells with which options they were made; put it back, or name "
            "another folder with --out: the same options make the same handouts there"
        )


def _odd_ids(roster: Roster, handouts: Iterable[Handout]) -> Iterable[str]:
    lines = {student.id: student.line for student in roster.students}
    for handout in handouts:
        id_ = handout.student.id
        if id_ in lines and is_odd(id_):
            yield (
                f"{shown(roster.path)}: line {lines[id_]}: {id_!r} can be no folder's name on "
                f"every system, so the folder is called {handout.folder}"
            )
