"""A folder with one hunt, for nobody by name: to try it, or for a course without a roster."""

from collections.abc import Mapping
from pathlib import Path

from ..archive import zipped
from ..catalogue import Bug
from ..files import write_bytes
from ..places import shown
from ..problems import Problem
from ..worksheet import html
from ..worksheet.codes import code_of
from ..worksheet.key import KeySet
from ..worksheet.model import Layout
from .desk import Desk, put
from .make import KEY_TITLE, Report, bench_for
from .plan import Hunt
from .terms import Terms


def make_single(
    bug: Bug,
    terms: Terms,
    desk: Desk,
    with_archive: bool,
    catalogue: Mapping[str, Bug],
    progress: Report,
) -> None:
    """Write the student's folder to `desk.out` and its key beside it. There is no secret: the words
    of the copy follow from the bug, so that it is the same for everybody, and whoever has the kit
    can make it again."""
    terms.require()
    desk.require_free()
    _require_empty(desk.out)
    code = code_of(bug.slug)
    archive = desk.out.with_name(f"{desk.out.name}.zip")
    if with_archive and archive.exists():
        raise Problem(f"{shown(archive)}: exists; name another folder with --out")
    hunt = Hunt(bug.slug, 1, 1, code, f"bugkit single {bug.slug}".encode())
    prepared = bench_for(terms, [hunt], catalogue, progress).prepared(hunt)
    files = prepared.files()
    key = html.keys(KeySet(KEY_TITLE, (prepared.key(""),)), Layout())
    with desk.open():
        write_bytes(desk.keys / "key.html", key.encode(), private=True)
        desk.out.rmdir()  # empty, and the folder of the student comes in its place
        put(desk.out, files)
        if with_archive:
            write_bytes(archive, zipped(f"hunt-{code}", files))


def _require_empty(out: Path) -> None:
    # What a person does not see counts as well: the folder is put in the place of this one.
    for path in sorted(out.iterdir()) if out.is_dir() else ():
        raise Problem(
            f"{shown(out)}: is not empty, it holds {path.name}; name another folder with --out"
        )
    if out.is_dir() and out.samefile("."):
        raise Problem(f"{out}: is where you are; name a folder to make with --out")
