"""From the form id on a page back to the student and the bug."""

from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path

from ..catalogue import Bug
from ..listing import answer_key, difference
from ..places import shown
from ..problems import Problem
from . import manifest
from .copy import copy_of
from .desk import Desk
from .form import parse_form
from .plan import Handout, Hunt, planned
from .record import read_hunts
from .roster import read_roster
from .secret import read_secret
from .terms import Terms


def find(
    form: str,
    roster: Path | None,
    terms: Terms,
    desk: Desk | None,
    secret_file: Path | None,
    catalogue: Container[str],
) -> tuple[Handout, Terms]:
    """Whose form it is, and the terms. What was handed out to a desk is known from there; else it
    takes the roster, the secret, and the options of back then."""
    earlier = manifest.read(desk.keys) if desk else None
    if desk and earlier:
        manifest.require_known(desk.keys, earlier, catalogue)
        if secret_file is None and not desk.secret.exists():
            raise Problem(
                f"{shown(desk.secret)}: is not there; give the secret that the handouts were made "
                f"with as --secret-file, or look into {shown(desk.keys / 'key.csv')}"
            )
        secret = read_secret(secret_file or desk.secret)
        manifest.require_same(desk.keys, earlier, secret, earlier.terms)
        return with_form(form, planned(secret, earlier.terms, earlier.students)), earlier.terms
    if roster is None or secret_file is None or not terms.assignment:
        _parsed(form)  # a slip is told before anything is asked for
        raise Problem(
            f"{shown(desk.keys / manifest.NAME)}: is not there, so it is not known what was handed "
            "out; give another --out, or --secret-file, --roster and --assignment"
            if desk
            else "--lookup: give --out DIR, the folder of the handouts, or else --secret-file, "
            "--roster and --assignment"
        )
    students = read_roster(roster, terms.group_by).students
    return with_form(form, planned(read_secret(secret_file), terms, students)), terms


def with_form(form: str, handouts: Iterable[Handout]) -> Handout:
    """Whose form it is, however a person copied it; or whose id, or whose folder."""
    handouts = list(handouts)
    for handout in handouts:
        if form in (handout.student.id, handout.folder):
            return handout
    wanted = _parsed(form)
    for handout in handouts:
        if handout.form == wanted:
            return handout
    raise Problem(
        f"form {wanted}: is no student's; look whether roster, assignment and secret are those "
        "that the handouts were made with"
    )


def _parsed(form: str) -> str:
    return parse_form(form.removeprefix("hunt-"))  # as the folder in an archive is called


def told(
    handout: Handout, terms: Terms, catalogue: Mapping[str, Bug], desk: Desk | None = None
) -> str:
    """Whose it is, and the key to each hunt: as it was recorded, if there is a record."""
    student = handout.student
    lines = [f"{handout.form}  {student.name or student.id}"]
    lines += [f"  student {student.id}"] if student.name else []
    lines += [f"  group {student.group}"] if student.group is not None else []
    lines += [f"  folder {handout.folder}"]
    record = desk.record(handout) if desk else None
    records = read_hunts(record) if record and record.exists() else ()
    for i, hunt in enumerate(handout.hunts):
        bug = catalogue[hunt.slug]
        where = records[i].lines if records else _lines(bug, hunt, terms)
        lines += ["", *_hunt(hunt, bug, where)]
    return "\n".join(lines)


def _lines(bug: Bug, hunt: Hunt, terms: Terms) -> Mapping[str, tuple[int, ...]]:
    return copy_of(bug, hunt.code, terms.disguise, hunt.seed).lines


def _hunt(hunt: Hunt, bug: Bug, where: Mapping[str, tuple[int, ...]]) -> Iterator[str]:
    number = f"Hunt {hunt.number} of {hunt.of}: " if hunt.of > 1 else ""
    yield f"{number}{bug.slug}, difficulty {bug.difficulty} of 5"
    for file, numbers in where.items():
        yield f"  gpt/{file}: line{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}"
    yield ""
    yield answer_key(bug)
    yield ""
    yield difference(bug, repair=True)
