"""Worksheets of other formats in a student's folder: theirs, and theirs alone."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bugkit.catalogue import load_catalogue
from bugkit.disguise import Level
from bugkit.handout.make import bench_for
from bugkit.handout.plan import Hunt
from bugkit.handout.terms import Terms, Texts
from bugkit.worksheet.forms import Form

from ..worksheet import pages
from .conftest import STUDENTS, Course, HandOut
from .fresh import clean

pytest.importorskip("libcst", reason="needs the extra handout")

FORM = "K7Q2-MX4B"

RUN = """
import json, pathlib, sys
names = {}
for source in json.loads(sys.stdin.read()):
    first, _, rest = source.partition("\\n")
    if first.startswith("%%writefile "):
        pathlib.Path(first.split()[1]).write_text(rest, encoding="utf-8")
    else:
        exec(source, names)
assert "bugkit" not in sys.modules
"""
"""Runs cells as a notebook does: the one magic that they use writes a file."""


def one_student(hand_out: HandOut, folder: Path, terms: Terms, form: Form) -> tuple[Course, Path]:
    course = hand_out(folder, replace(terms, worksheet=form), STUDENTS[:1])
    (handout,) = course.handouts
    return course, course.desk.folder(handout) / f"worksheet.{form}"


@pages.needs_paper
def test_no_page_of_a_pdf_lacks_the_form_id(
    hand_out: HandOut, terms: Terms, tmp_path: Path
) -> None:
    course, sheet = one_student(hand_out, tmp_path / "paper", terms, Form.PDF)
    (handout,) = course.handouts
    printed = pages.printed(sheet.read_bytes())
    assert len(printed) > 1
    assert all(handout.form in page for page in printed)
    text = " ".join(printed).lower()
    assert not {word for word in ("bugkit", "mutant", "quilla", "zq700") if word in text}
    again, other = one_student(hand_out, tmp_path / "again", terms, Form.PDF)
    assert other.read_bytes() == sheet.read_bytes()
    assert again.files() == course.files()
    assert "`worksheet.pdf`" in (sheet.parent / "README.md").read_text("utf-8")


@pages.needs_paper
def test_no_copy_needs_more_than_its_leaf(terms: Terms) -> None:
    """With all texts, which take the most room; in other words code is longer or shorter."""
    catalogue = load_catalogue()
    hunts = [Hunt(slug, 1, 1, FORM, slug.encode()) for slug in sorted(catalogue)[::22]]
    whole = replace(terms, worksheet=Form.PDF, texts=Texts.CATALOGUE, disguise=Level.FULL)
    bench = bench_for(whole, hunts, catalogue, lambda *_: None)
    for hunt in hunts:
        files = bench.prepared(hunt).files()
        found = pages.opened(files["worksheet.pdf"]).pages
        assert len(found) in (2, 3), hunt.slug  # a third page if the code is long


def test_no_notebook_runs_anything_but_the_students_own_program(
    hand_out: HandOut, terms: Terms, tmp_path: Path
) -> None:
    nbformat = pytest.importorskip("nbformat", reason="needs the extra worksheets")
    course, sheet = one_student(hand_out, tmp_path / "notebook", terms, Form.IPYNB)
    (handout,), (student,) = course.handouts, course.records
    (hunt,) = student.hunts
    notebook = nbformat.read(sheet, as_version=4)
    nbformat.validate(notebook)
    assert handout.form in notebook.cells[0].source
    ids = [cell.id for cell in notebook.cells]
    (check,) = [place for place, id_ in enumerate(ids) if id_.endswith("-check")]
    cells = [cell.source for cell in notebook.cells[: check + 1] if cell.cell_type == "code"]
    assert len(cells) > 4
    scratch = tmp_path / "jupyter"
    scratch.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        input=json.dumps(cells),
        cwd=scratch,
        env=clean(scratch),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert bool(hunt.visible_that_fail) == done.stdout.startswith("FAILED: ")
    assert done.stdout.strip()
    (package,) = scratch.glob("gpt_*")
    theirs = {path.name: path.read_text("utf-8").rstrip() for path in package.glob("*.py")}
    folder = course.desk.folder(handout) / "gpt"
    assert theirs == {p.name: p.read_text("utf-8").rstrip() for p in folder.glob("*.py")}
