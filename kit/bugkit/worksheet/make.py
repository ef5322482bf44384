"""What a teacher asks for -> documents -> files."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..catalogue import Bug
from ..engine import run
from ..files import write_bytes
from ..matrix import Matrix
from ..options import Options
from ..places import shown
from ..problems import Problem, reason
from ..subject import subject_of
from .answers import key_of
from .codes import code_of, shared
from .content import Header, sheet_of
from .edition import public
from .forms import Answers, Form, Material
from .key import KeySet
from .model import Layout, Sheet, SheetSet
from .program import marking_of, program_of
from .worked import worked_bugs, worked_sheet

TITLE = "Bug hunts"
KEY_TITLE = "Answer keys"

Report = Callable[[int, int], None]
"""Called with what is done, and of how much."""


@dataclass(frozen=True, slots=True)
class Order:
    """What to make."""

    bugs: tuple[Bug, ...]
    form: Form
    out: Path
    """Folder of the sheets. Keys go into a folder beside it."""
    key: bool = False
    as_set: bool = False
    example: Bug | None = None
    """The bug of the worked example, which is no challenge."""
    header: Header = field(default_factory=Header)
    layout: Layout = field(default_factory=Layout)
    force: bool = False

    @property
    def all_bugs(self) -> tuple[Bug, ...]:
        """With that of the worked example, which comes first."""
        return (self.example, *self.bugs) if self.example else self.bugs

    @property
    def key_folder(self) -> Path:
        """Never that of the sheets, so that nobody hands out both."""
        return self.out.with_name(f"{self.out.name}-keys")


@dataclass(frozen=True, slots=True)
class Document:
    """One file to be made, or one with its drawings."""

    folder: Path
    name: str
    """Of the file, without suffix."""
    bugs: tuple[Bug, ...]
    is_key: bool

    def path(self, form: Form) -> Path:
        """Where it will lie."""
        return self.folder / (self.name + form.suffix)


def with_example(order: Order, catalogue: Mapping[str, Bug]) -> Order:
    """The order with a worked example: a bug that is not asked for or else the first of those that
    are, which is then no challenge. Of the same file as most of the others, if there is one."""
    able = worked_bugs(catalogue)
    if not able:
        raise Problem("no bug of this catalogue has a worked.toml, so there is no worked example")
    files = [bug.file for bug in order.bugs]
    example = min(able, key=lambda bug: (bug in order.bugs, -files.count(bug.file)))
    rest = tuple(bug for bug in order.bugs if bug != example)
    return replace(order, bugs=rest, example=example)


def documents(order: Order) -> list[Document]:
    """What will be written, sheets first. Raises Problem if something stands in the way."""
    if pair := shared(order.bugs):
        raise Problem(f"{pair[0].slug} and {pair[1].slug} have one sheet code; rename one of them")
    if order.as_set:
        found = [Document(order.out, "worksheets", order.all_bugs, False)]
        if order.key:
            found.append(Document(order.key_folder, "worksheets-key", order.bugs, True))
    else:
        found = [
            Document(
                order.out,
                f"{'worked' if b is order.example else 'sheet'}-{code_of(b.slug)}",
                (b,),
                False,
            )
            for b in order.all_bugs
        ]
        if order.key:
            found += [
                Document(order.key_folder, f"key-{code_of(b.slug)}", (b,), True) for b in order.bugs
            ]
    _refuse(order, found)
    return found


def make(order: Order, catalogue: Mapping[str, Bug], progress: Report) -> Iterator[Document]:
    """Write the documents, and tell of each when it is there."""
    order.form.require()
    planned = documents(order)
    matrix = run([subject_of(bug) for bug in order.all_bugs], Options(), progress)
    for done, document in enumerate(planned, 1):
        contents = _rendered(order, document, matrix, catalogue)
        _make_folder(document.folder)
        # The document itself comes last: where it is, all that it shows is there.
        path = document.path(order.form)
        for name in sorted(contents, key=lambda name: name == path.name):
            write_bytes(document.folder / name, contents[name])
        yield document
        progress(done, len(planned))


def _rendered(
    order: Order, document: Document, matrix: Matrix, catalogue: Mapping[str, Bug]
) -> dict[str, bytes]:
    """The files of a document, by name. An answer goes nowhere near that of the students."""
    bugs = document.bugs
    # In a set the example is the first sheet, and has no key.
    first = 2 if document.is_key and order.as_set and order.example else 1
    place = {bug: (i, len(bugs) + first - 1) for i, bug in enumerate(bugs, first)}
    notebook = order.form.runs
    material = Material(SheetSet(TITLE, ()))
    if notebook or not document.is_key:  # no other key needs the sheets and their figures
        sheets = tuple(_sheet(order, bug, matrix, *place[bug]) for bug in bugs)
        programs = tuple(program_of(public(bug), matrix) for bug in bugs) if notebook else ()
        material = Material(SheetSet(TITLE, sheets), programs)
    if not document.is_key:
        return order.form.sheets(document.name, material, order.layout)
    keys = tuple(
        replace(key_of(public(bug), matrix, catalogue, order.header), number=number, of=of)
        for bug, (number, of) in place.items()
    )
    markings = tuple(marking_of(bug, matrix) for bug in bugs) if notebook else ()
    answers = Answers(KeySet(KEY_TITLE, keys), markings)
    return order.form.keys(document.name, material, answers, order.layout)


def _sheet(order: Order, bug: Bug, matrix: Matrix, number: int, of: int) -> Sheet:
    sheet = sheet_of(public(bug), matrix, order.header, order.layout.hints)
    if bug == order.example:
        sheet = worked_sheet(sheet, bug)
    return replace(sheet, number=number, of=of)


def _refuse(order: Order, planned: list[Document]) -> None:
    """Say what stands in the way before anything is run or written."""
    for folder in dict.fromkeys(document.folder for document in planned):
        if folder.exists() and not folder.is_dir():
            raise Problem(f"{shown(folder)}: is a file; name a folder with --out")
    old = [d.path(order.form) for d in planned if d.path(order.form).exists()]
    if old and not order.force:
        others = f" and {len(old) - 1} more" if len(old) > 1 else ""
        raise Problem(
            f"{shown(old[0])}{others}: exists; write it anew with --force, or name another folder "
            "with --out"
        )


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Problem(f"{shown(folder)}: cannot be made: {reason(error)}") from None
