"""A plan -> folders, archives and keys, on all cores; what exists already is left as it is."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from ..archive import zipped
from ..catalogue import Bug
from ..engine import run
from ..files import write_bytes
from ..matrix import Matrix, broken_promises
from ..options import Options
from ..parallel import spread
from ..places import MUTANTS
from ..problems import Problem
from ..subject import subject_of
from ..worksheet import html
from ..worksheet.key import KeySet
from ..worksheet.model import Layout
from . import manifest
from .bench import Bench
from .desk import PAGES, RECORDS, Desk, contents, make_folder, put
from .manifest import Manifest
from .plan import Handout, Hunt
from .record import Record, as_csv, as_json, as_text, read_hunts
from .roster import Roster
from .secret import Secret, store
from .terms import Terms

KEY_TITLE = "Answer keys"

Report = Callable[[int, int], None]
"""Called with what is done, and of how much."""


@dataclass(frozen=True, slots=True)
class Order:
    """What to make, found to be right."""

    roster: Roster
    handouts: tuple[Handout, ...]
    manifest: Manifest
    desk: Desk
    with_archives: bool = False
    new_secret: Secret | None = None
    """The one that all of it was drawn from, if it is not in a file yet."""

    @property
    def terms(self) -> Terms:
        """What was decided for everybody."""
        return self.manifest.terms

    def is_made(self, handout: Handout) -> bool:
        """Whether nothing is missing of it."""
        paths = [self.desk.folder(handout), self.desk.page(handout), self.desk.record(handout)]
        paths += [self.desk.archive(handout)] if self.with_archives else []
        return all(path.exists() for path in paths)


def make(
    order: Order, catalogue: Mapping[str, Bug], checking: Report, making: Report
) -> tuple[Record, ...]:
    """Write all that is not there yet, then the key. Nothing is written before all that may fail
    has been tried; `checking` is told how far that is, and `making` how many students are done."""
    todo = [handout for handout in order.handouts if not order.is_made(handout)]
    hunts = [hunt for handout in todo for hunt in handout.hunts]
    bench = bench_for(order.terms, hunts, catalogue, checking)
    desk = order.desk
    with begun(order):
        work = spread(_make_one, todo, Options().jobs, _begin, (bench, order))
        for done, _ in enumerate(work, 1):
            making(done, len(todo))
        records = tuple(_record(order, handout) for handout in order.handouts)
        _replace(desk, "key.json", as_json(order.terms.assignment, records))
        # The mark tells spreadsheets that this is UTF-8.
        _replace(desk, "key.csv", "\ufeff" + as_csv(records))
    return records


@contextmanager
def begun(order: Order) -> Iterator[None]:
    """The desk, with all on it that a later run must agree with."""
    with order.desk.open():
        if order.new_secret is not None:
            store(order.new_secret, order.desk.secret)
        manifest.write(order.desk.keys, order.manifest)
        for name in (PAGES, RECORDS):
            make_folder(order.desk.keys / name)
        yield


def bench_for(
    terms: Terms, hunts: Iterable[Hunt], catalogue: Mapping[str, Bug], progress: Report
) -> Bench:
    """For these hunts. Raises Problem if one of their bugs cannot be handed out."""
    by_slug = {hunt.slug: hunt for hunt in hunts}
    bugs = [catalogue[slug] for slug in by_slug]
    bench = Bench(terms, catalogue, _matrix(bugs, progress))
    for bug in bugs:
        if bug.folder.parent != MUTANTS:  # of the kit's own, tests have shown it
            bench.prepared(by_slug[bug.slug]).files()
    return bench


def _matrix(bugs: Sequence[Bug], progress: Report) -> Matrix:
    """What the detectors say about these; what the catalogue promises, or Problem."""
    matrix = run([subject_of(bug) for bug in bugs], Options(), progress)
    if broken := broken_promises(matrix):
        raise Problem(f"{broken[0]}; a bug that is handed out must keep its promises")
    return matrix


_work: list[tuple[Bench, Order]] = []
"""What this process works with, once it has begun."""


def _begin(bench: Bench, order: Order) -> None:
    _work[:] = [(bench, order)]


def _make_one(handout: Handout) -> None:
    """Write what is missing of one student. The folder comes after its key, so that where it is,
    the key to it is, even if the kit is another by then."""
    ((bench, order),) = _work
    desk = order.desk
    folder, page, record = desk.folder(handout), desk.page(handout), desk.record(handout)
    is_new = not folder.exists()
    if is_new or not page.exists() or not record.exists():
        hunts = [bench.prepared(hunt) for hunt in handout.hunts]
        if is_new or not record.exists():
            text = as_text(hunt.record() for hunt in hunts)
            write_bytes(record, text.encode(), private=True)
        if is_new or not page.exists():
            student = handout.student
            known = filter(None, (student.name, student.id, student.group))
            # Isolated, so that a name written from the right does not turn the others around.
            holder = ", ".join(f"\u2068{part}\u2069" for part in known)
            keys = KeySet(KEY_TITLE, tuple(hunt.key(holder) for hunt in hunts))
            write_bytes(page, html.keys(keys, Layout()).encode(), private=True)
        if is_new:
            put(folder, {k: v for hunt in hunts for k, v in hunt.files().items()})
    archive = desk.archive(handout)
    if order.with_archives and not archive.exists():
        write_bytes(archive, zipped(f"hunt-{handout.form}", contents(folder)))


def _record(order: Order, handout: Handout) -> Record:
    return Record(
        student=handout.student.id,
        name=handout.student.name,
        group=handout.student.group,
        form=handout.form,
        folder=handout.folder,
        hunts=read_hunts(order.desk.record(handout)),
    )


def _replace(desk: Desk, name: str, text: str) -> None:
    """Write a key unless it says the same already."""
    path, data = desk.keys / name, text.encode()
    if not path.exists() or path.read_bytes() != data:
        write_bytes(path, data, private=True)
