"""A plan -> folders, archives and keys, on all cores; what exists already is left as it is."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..archive import zipped
from ..catalogue import Bug
from ..engine import run
from ..matrix import Matrix
from ..options import Options
from ..parallel import spread
from ..subject import subject_of
from ..worksheet import html
from ..worksheet.key import KeySet
from ..worksheet.model import Layout
from .bench import Bench
from .desk import Desk, put, put_file
from .plan import Handout
from .record import Record, as_csv, as_json
from .terms import Terms

KEY_TITLE = "Answer keys"

Report = Callable[[int, int], None]
"""Called with what is done, and of how much."""


@dataclass(frozen=True, slots=True)
class Order:
    """What to make."""

    terms: Terms
    handouts: tuple[Handout, ...]
    desk: Desk
    with_archives: bool = False


def matrix_for(bugs: Sequence[Bug], progress: Report) -> Matrix:
    """What the detectors say about these."""
    return run([subject_of(bug) for bug in bugs], Options(), progress)


def make(order: Order, catalogue: Mapping[str, Bug], progress: Report) -> tuple[Record, ...]:
    """Write all that is not there yet, then the key."""
    order.terms.worksheet.require()
    slugs = dict.fromkeys(hunt.slug for handout in order.handouts for hunt in handout.hunts)
    bugs = [catalogue[slug] for slug in slugs]
    bench = Bench(order.terms, catalogue, matrix_for(bugs, progress))
    order.desk.prepare()
    records: dict[int, Record] = {}
    work = spread(_make_one, order.handouts, Options().jobs, _begin, (bench, order))
    for index, record in work:
        records[index] = record
        progress(len(records), len(order.handouts))
    ordered = tuple(records[index] for index in sorted(records))
    _replace(order.desk.keys / "key.json", as_json(order.terms.assignment, ordered))
    # The mark tells spreadsheets that this is UTF-8.
    _replace(order.desk.keys / "key.csv", "\ufeff" + as_csv(ordered))
    return ordered


def spread_of(records: Sequence[Record]) -> Counter[str]:
    """How often each entry of the catalogue was handed out."""
    return Counter(hunt.slug for record in records for hunt in record.hunts)


_work: list[tuple[Bench, Order]] = []
"""What this process works with, once it has begun."""


def _begin(bench: Bench, order: Order) -> None:
    _work[:] = [(bench, order)]


def _make_one(handout: Handout) -> Record:
    """Write what is missing of one student. The copies are made in any case: they tell where the
    faulty lines are."""
    (bench, order), desk = _work[0], _work[0][1].desk
    hunts = [bench.prepared(hunt) for hunt in handout.hunts]
    folder, archive, page = desk.folder(handout), desk.archive(handout), desk.page(handout)
    with_archive = order.with_archives and not archive.exists()
    if with_archive or not folder.exists():
        files = {name: content for hunt in hunts for name, content in hunt.files().items()}
        if not folder.exists():
            put(folder, files)
        if with_archive:
            put_file(archive, zipped(f"hunt-{handout.form}", files))
    student = handout.student
    if not page.exists():
        holder = ", ".join(filter(None, (student.name, student.id, student.group)))
        keys = KeySet(KEY_TITLE, tuple(hunt.key(holder) for hunt in hunts))
        put_file(page, html.keys(keys, Layout()).encode())
    return Record(
        student=student.id,
        name=student.name,
        group=student.group,
        form=handout.form,
        folder=handout.folder,
        hunts=tuple(hunt.record() for hunt in hunts),
    )


def _replace(path: Path, text: str) -> None:
    """Write a file unless it says the same already."""
    data = text.encode()
    if not path.exists() or path.read_bytes() != data:
        put_file(path, data)
