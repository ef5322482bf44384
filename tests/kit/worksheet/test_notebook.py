"""Notebooks: nothing of the key in the students', and nbgrader makes theirs from the teacher's."""

import html
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from bugkit.catalogue import Bug
from bugkit.matrix import Matrix
from bugkit.problems import Problem
from bugkit.worksheet import notebook
from bugkit.worksheet.cells import quoted
from bugkit.worksheet.edition import public
from bugkit.worksheet.excerpt import difference
from bugkit.worksheet.key import Key, KeySet, Marking
from bugkit.worksheet.markdown_text import escape
from bugkit.worksheet.model import (
    Hints,
    Layout,
    Program,
    Sheet,
    SheetSet,
)
from bugkit.worksheet.notebook_text import block, fix_source, paragraphs
from bugkit.worksheet.program import marking_of, program_of, shown_tests
from bugkit.worksheet.words import plain, prose
from bugkit.worksheet.worked import worked_sheet

from .conftest import HOSTILE

EXAMPLE = "eps_inside_the_root"
SLUGS = ("scores_not_scaled", "checkpoint_compressed")
"""A bug and an innocent."""

SECRETIVE = (*SLUGS, "no_causal_mask", "same_seed_every_step", "adam_without_bias_correction")


@dataclass(frozen=True)
class Course:
    """A set of two hunts and all that is made of it."""

    sheets: SheetSet
    keys: KeySet
    programs: tuple[Program, ...]
    markings: tuple[Marking, ...]

    def student(self, layout: Layout = Layout()) -> str:  # noqa: B008  it is frozen
        return notebook.sheets(self.sheets, self.programs, layout)

    def teacher(self) -> str:
        return notebook.keys(self.sheets, self.keys, self.programs, self.markings, Layout())


@pytest.fixture(scope="module")
def make(
    catalogue: dict[str, Bug],
    matrix: Matrix,
    sheet: Callable[[str], Sheet],
    key: Callable[[str], Key],
) -> Callable[..., Course]:
    def make(*slugs: str) -> Course:
        sheets = [sheet(slug) for slug in slugs]
        if slugs[0] == EXAMPLE:
            sheets[0] = worked_sheet(sheets[0], catalogue[EXAMPLE])
        return Course(
            SheetSet("Hunts", tuple(sheets)),
            KeySet("Keys", tuple(key(slug) for slug in slugs if slug != EXAMPLE)),
            tuple(program_of(public(catalogue[slug]), matrix) for slug in slugs),
            tuple(marking_of(catalogue[slug], matrix) for slug in slugs),
        )

    return make


@pytest.fixture(scope="module")
def course(make: Callable[..., Course]) -> Course:
    """A worked example, a bug and an innocent."""
    return make(EXAMPLE, *SLUGS)


def cells(text: str) -> dict[str, dict[str, Any]]:
    """Cells by the ends of their ids; the last of a set."""
    return {cell["id"].split("-")[-1]: cell for cell in json.loads(text)["cells"]}


def source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


@pytest.mark.parametrize("slug", SECRETIVE)
def test_no_word_of_the_key_is_in_the_students_notebook(
    slug: str,
    make: Callable[..., Course],
    secrets: Callable[[str], set[str]],
    catalogue: dict[str, Bug],
    matrix: Matrix,
) -> None:
    made = make(slug)
    text = "\n".join(source(cell) for cell in json.loads(made.student())["cells"])
    one_line = " ".join(text.split())
    shown = set(shown_tests(catalogue[slug], matrix))
    # Labels of the properties that the notebook runs, and lines that stand elsewhere in the GPT.
    elsewhere = "\n".join([made.programs[0].check, *dict(made.programs[0].files).values()])
    hidden = {s for s in secrets(slug) if s not in shown and s not in elsewhere}
    assert len(hidden) > 20
    assert not {s for s in hidden if s in one_line}
    teacher = " ".join(source(cell) for cell in json.loads(made.teacher())["cells"])
    assert made.keys.keys[0].slug in teacher  # the same search finds it there


def test_no_hidden_test_and_no_solution_is_released(course: Course) -> None:
    assert "BEGIN" not in course.student().replace("BEGIN_", "")
    teacher = course.teacher()
    assert teacher.count("BEGIN SOLUTION") == 2 * 8
    assert teacher.count("BEGIN HIDDEN TESTS") == 2


def test_no_two_programs_of_a_set_share_a_file_or_a_cell(course: Course) -> None:
    found = json.loads(course.student())["cells"]
    ids = [cell["id"] for cell in found]
    graded = [c["metadata"]["nbgrader"]["grade_id"] for c in found if "nbgrader" in c["metadata"]]
    assert len(set(ids)) == len(ids) and len(set(graded)) == len(graded)
    written = [source(c).split("\n")[0] for c in found if source(c).startswith("%%writefile")]
    assert len(set(written)) == len(written) == 7
    for sheet in course.sheets.sheets:
        assert any(f"gpt_{sheet.code}/" in line for line in written)


def test_no_text_from_outside_becomes_markup(course: Course) -> None:
    reader = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    for text in HOSTILE.values():
        words = prose(f"{text} `{text}`")
        hostile = replace(course.sheets.sheets[1], symptom=words)
        shown = reader.render(block("symptom", sheet=hostile, drawing="x"))
        own = reader.render(block("symptom", sheet=course.sheets.sheets[1], drawing="x"))
        tags = set(re.findall(r"<[^>]*>", shown)) - set(re.findall(r"<[^>]*>", own))
        assert tags <= {"<code>", "</code>"}
        read = html.unescape(re.sub(r"<[^>]*>", "", shown))
        assert "".join(plain(words).split()).replace("\0", "�") in "".join(read.split())
        formulas = re.sub(r"<code>.*?</code>", "", shown)
        assert not re.search(r"[$\\]", formulas)


def test_no_dollar_is_left_for_formulas_but_in_code() -> None:
    assert paragraphs(prose("$5 and `$x$`")) == "<code>&#36;</code>5 and `$x$`"
    assert paragraphs(prose("`&#36;` \\( \\` ")).startswith("`&#36;` <code>&#92;</code>(")
    assert escape("$") == "&#36;"  # what the above looks for


def test_a_sheet_without_its_program_is_refused(course: Course) -> None:
    with pytest.raises(Problem, match="has no program to put into a notebook"):
        notebook.sheets(course.sheets, course.programs[:2], Layout())


def test_the_same_course_gives_the_same_bytes(course: Course, make: Callable[..., Course]) -> None:
    assert course.student() == make(EXAMPLE, *SLUGS).student()
    assert course.teacher() == make(EXAMPLE, *SLUGS).teacher()
    assert course.student().endswith("}\n")


def test_line_one_of_the_program_follows_the_magic_and_no_byte_is_lost(course: Course) -> None:
    found = cells(course.student())
    magic, _, program = source(found["source"]).partition("\n")
    assert magic == f"%%writefile gpt_{course.sheets.sheets[-1].code}/checkpoint.py"
    assert program + "\n" == course.programs[-1].source


@pytest.mark.parametrize("hints", [Hints.STRIP, Hints.INLINE, Hints.NONE])
def test_hints_are_folded_where_they_were_asked_for(hints: Hints, course: Course) -> None:
    one = course.sheets.sheets[1]
    one = replace(one, hints=() if hints is Hints.NONE else one.hints)
    text = notebook.sheets(SheetSet("", (one,)), course.programs, Layout(hints=hints))
    names = list(cells(text))
    assert ("hints" in names) is (hints is not Hints.NONE)
    if hints is Hints.STRIP:
        assert names[-1] == "hints"
    elif hints is Hints.INLINE:
        assert names[names.index("symptom") + 1] == "hints"
    if "hints" in names:
        assert source(cells(text)["hints"]).count("<details>") == len(one.hints)


def test_the_figure_is_a_picture_with_its_words_or_else_a_table(course: Course) -> None:
    one = course.sheets.sheets[1]
    plain_figure = replace(one.figure, svg="")
    drawn = replace(plain_figure, svg="<svg/>", alt="Two curves [a](b)")
    for figure, there in ((plain_figure, "| --- |"), (drawn, "](data:image/svg+xml;base64,PHN2")):
        sheets = SheetSet("", (replace(one, figure=figure),))
        shown = source(cells(notebook.sheets(sheets, course.programs, Layout()))["symptom"])
        assert there in shown
    assert "![Two curves \\[a\\](b)](data:" in shown


def test_every_repair_of_the_catalogue_gives_the_correct_file(catalogue: dict[str, Bug]) -> None:
    tools = notebook.tools()
    program: dict[str, Any] = {}
    exec(compile(tools, "bughunt", "exec"), program)
    for bug in catalogue.values():
        broken, correct = bug.module.read_text(), bug.original.read_text()
        answer: dict[str, Any] = {}
        exec(fix_source(difference(broken, correct), broken), answer)
        assert program["edited"](broken, answer["fix"]) == correct, bug.slug


def test_any_source_can_be_written_as_a_literal() -> None:
    for text in ("a\\n'\n", "'''\n", "\\", "x'", '"""é"""\n'):
        assert eval(quoted(text)) == text


def test_no_box_of_a_worked_example_is_left_empty_or_marked(course: Course) -> None:
    found = json.loads(course.teacher())["cells"]
    example = course.sheets.sheets[0]
    assert example.worked
    own = {c["id"].split("-")[-1]: c for c in found if c["id"].startswith(example.code)}
    assert not [c for c in own.values() if c["metadata"].get("nbgrader", {}).get("grade")]
    text = "\n".join(source(cell) for cell in own.values())
    assert notebook.TEXT_STUB not in text and "BEGIN" not in text
    assert paragraphs(example.worked.predict) in source(own["predict"])
    assert f"☒ {example.worked.confidence_before} %" in source(own["predict"])
    assert f"☒ {example.worked.hints_used}" in source(own["explain"])
    assert all(escape(h.place) in source(own["hypotheses"]) for h in example.worked.hypotheses)
    assert source(own["log"]).count("<br>`print(") == len(example.worked.log)
    assert source(own["fixed"]).startswith("fix = {\n    ")


@pytest.fixture(scope="module")
def marked(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course of nbgrader: the teacher's version released, and marked for two students. One hands
    in what she got, the other the solutions of the teacher's version. What nbformat does not take
    for a notebook of version 4.5 ends it."""
    pytest.importorskip("nbgrader", reason="nbgrader is not installed: extra `notebook`")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed: extra `notebook`")
    folder = tmp_path_factory.mktemp("course")
    filled = {c["id"]: c["source"] for c in json.loads(course.teacher())["cells"]}
    able = json.loads(course.student())
    for cell in able["cells"]:
        if cell["id"].endswith(("-fixed", "-mine")):
            cell["source"] = filled[cell["id"]]
    write(folder / "source" / "hw" / "hunt.ipynb", course.teacher())
    write(folder / "submitted" / "idle" / "hw" / "hunt.ipynb", course.student())
    write(folder / "submitted" / "able" / "hw" / "hunt.ipynb", json.dumps(able))
    # In a process of its own: the libraries of Jupyter give warnings that are not ours.
    # nbgrader calls a program of its environment by name, active or not.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-c", NBGRADER, notebook.TEXT_STUB, notebook.CODE_STUB],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    (folder / "scores.json").write_text(done.stdout.splitlines()[-1])
    return folder


NBGRADER = """
import json, sys
import nbformat
from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

for path in ("source/hw/hunt.ipynb", "submitted/idle/hw/hunt.ipynb"):
    with open(path, encoding="utf-8") as file:
        nbformat.validate(json.load(file))
config = Config()
config.CourseDirectory.course_id = "bugs"
config.ClearSolutions.text_stub = sys.argv[1]
config.ClearSolutions.code_stub = {"python": sys.argv[2]}
api = NbGraderAPI(CourseDirectory(config=config), config=config)
steps = [api.generate_assignment("hw"), api.autograde("hw", "idle"), api.autograde("hw", "able")]
for step in steps:
    assert step["success"], step
scores = {}
with api.gradebook as book:
    for submission in book.assignment_submissions("hw"):
        grades = [g for n in submission.notebooks for g in n.grades]
        scores[submission.student.id] = {g.name: g.auto_score for g in grades if g.auto_score}
print(json.dumps(scores))
"""


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")


def read(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return found


def said(cell: dict[str, Any]) -> str:
    outputs = cell.get("outputs", [])
    return "".join("".join(o.get("text", [])) + o.get("ename", "") for o in outputs)


def test_nbgrader_releases_no_cell_that_differs_from_the_students(
    course: Course, marked: Path
) -> None:
    released = read(marked / "release" / "hw" / "hunt.ipynb")
    assert released == json.loads(course.student())["cells"]


def test_the_students_notebook_runs_to_its_end_and_says_what_fails(
    course: Course, marked: Path
) -> None:
    _, bug, innocent = (sheet.code for sheet in course.sheets.sheets)
    done = {cell["id"]: cell for cell in read(marked / "autograded" / "idle" / "hw" / "hunt.ipynb")}
    assert said(done[f"{bug}-check"]).startswith("FAILED: ")
    assert said(done[f"{innocent}-check"]).startswith("passed: ")
    assert "FAILED" not in said(done[f"{innocent}-check"])
    raised = {id_ for id_, cell in done.items() if "Error" in said(cell)}
    assert raised == {f"{bug}-again", f"{bug}-judged", f"{innocent}-judged"}
    assert all(cell["execution_count"] for cell in done.values() if cell["cell_type"] == "code")


def test_the_right_answers_get_full_marks_and_none_gets_none(course: Course, marked: Path) -> None:
    _, bug, innocent = (sheet.code for sheet in course.sheets.sheets)
    tests = [f"{code}-{name}" for code in (bug, innocent) for name in ("again", "judged")]
    scores = json.loads((marked / "scores.json").read_text())
    assert scores["able"] == dict.fromkeys(tests, 2.0)
    # Of the innocent there was nothing to repair, and nothing was.
    assert scores["idle"] == {f"{innocent}-again": 2.0}
