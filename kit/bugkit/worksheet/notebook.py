"""Sheets as Jupyter notebooks: the students', and the version that nbgrader makes them from."""

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ..files import read_text
from ..places import TEMPLATES
from ..problems import Problem
from .cells import Cell, Role, notebook, quoted
from .key import Key, KeySet, Marking
from .model import (
    MAX_POINTS,
    Hints,
    Layout,
    Program,
    Sheet,
    SheetSet,
)
from .notebook_text import block, drawing, fix_source, paragraphs, region, spans
from .words import Prose, plain

TEXT_STUB = "*Double-click here to write.*"
CODE_STUB = "# Write here."
"""What stands in place of an answer. nbgrader writes its own unless it is told to take these:
ClearSolutions.text_stub and ClearSolutions.code_stub."""

TOOLS = "bughunt"
"""Module that the notebook writes for itself."""


@dataclass(frozen=True, slots=True)
class _Answers:
    """What only the teacher's version holds."""

    key: Key
    marking: Marking


def sheets(collection: SheetSet, programs: Iterable[Program], layout: Layout) -> str:
    """The notebook of the students."""
    return _document(collection, programs, layout, {})


def keys(
    collection: SheetSet,
    answers: KeySet,
    programs: Iterable[Program],
    markings: Iterable[Marking],
    layout: Layout,
) -> str:
    """The teacher's version: the same cells with solutions and hidden tests."""
    marking = {m.code: m for m in markings}
    return _document(
        collection, programs, layout, {k.code: _Answers(k, marking[k.code]) for k in answers.keys}
    )


def tools() -> str:
    """The source of what every notebook brings to run, check and repair programs."""
    return read_text(TEMPLATES / "worksheet" / "notebook" / f"{TOOLS}.py")


def _document(
    collection: SheetSet,
    programs: Iterable[Program],
    layout: Layout,
    answers: Mapping[str, _Answers],
) -> str:
    program = {p.code: p for p in programs}
    cells: list[Cell] = []
    if len(collection.sheets) > 1:
        contents = block("contents", title=collection.title, sheets=collection.sheets)
        cells.append(Cell("contents", contents))
    write = Cell("tools", f"%%writefile {TOOLS}.py\n{tools()}", is_code=True, folded=True)
    for number, sheet in enumerate(collection.sheets):
        if sheet.code not in program:
            raise Problem(f"sheet {sheet.code}: has no program to put into a notebook")
        own = list(_Page(sheet, program[sheet.code], layout, answers.get(sheet.code)).cells())
        cells += [*own[:3], write, *own[3:]] if number == 0 else own
    return notebook(cells, released=not answers)


class _Page:
    """One sheet."""

    def __init__(
        self, sheet: Sheet, program: Program, layout: Layout, answers: _Answers | None
    ) -> None:
        self.sheet = sheet
        self.program = program
        self.layout = layout
        self.answers = answers
        self.code = sheet.code.replace("-", "")  # as names of the notebook's own hold it
        self.hunt = f"hunt_{self.code}"
        self.package = f"gpt_{self.code}"

    def cells(self) -> Iterator[Cell]:
        """All of it, in order."""
        inline_hints = self.sheet.hints and self.layout.hints is Hints.INLINE
        yield from self._before(bool(inline_hints))
        yield from self._looking()
        yield from self._repairing()
        yield self._box("explain", "Explain")
        if self.sheet.hints and not inline_hints:
            yield self._read("hints")

    def _before(self, with_hints: bool) -> Iterator[Cell]:
        """What is read, and what is set up."""
        yield self._read("header")
        yield self._read("duty")
        yield self._read("how")
        others = [(name, text) for name, text in self.program.files if name != self.program.file]
        files = "".join(f"    {json.dumps(name)}: {quoted(text)},\n" for name, text in others)
        write = f"import {TOOLS}\n\n{TOOLS}.write({json.dumps(self.package)}, {{\n{files}}})"
        yield self._code("files", write, folded=True)
        check = f"%%writefile check_{self.code}.py\n{self.program.check}"
        yield self._code("properties", check, folded=True)
        yield self._read("symptom", drawing=drawing(self.sheet.figure.svg))
        if with_hints:
            yield self._read("hints")
        yield self._read("program", spans=spans(self.sheet.excerpt, self.sheet.listing))
        path = f"{self.package}/{self.program.file}"
        yield self._code("source", f"%%writefile {path}\n{self.program.source}")

    def _looking(self) -> Iterator[Cell]:
        """From the prediction to the diagnosis."""
        yield self._box("predict", "Predict")
        yield self._read("probe", hunt=self.hunt)
        tests = ", ".join(json.dumps(name) for name in self.program.tests)
        make = f"{self.hunt} = {TOOLS}.Hunt({json.dumps(self.code)}, "
        make += f"{json.dumps(self.program.file)}, [{tests}])"
        yield self._code("check", f"import {TOOLS}\n\n{make}\n{self.hunt}.check()")
        probe = f"import numpy as np\nimport {self.package} as gpt\n\n"
        yield Cell(self._id("scratch"), probe, is_code=True, role=Role.FREE, may_raise=True)
        yield self._box("observe", "Observe")
        yield self._box("hypotheses", "Hypotheses")
        yield self._box("log", "Log")
        yield self._box("diagnosis", "Diagnosis")

    def _repairing(self) -> Iterator[Cell]:
        """The repair, and the test that would have found the bug."""
        yield self._read("fix")
        yield self._fix()
        yield self._code("repair", f"{self.hunt}.repair(fix)", may_raise=True)
        yield self._test("again", f"{self.hunt}.check_repaired()\n{self._hidden()}")
        yield self._read("regression")
        worked = self.sheet.worked
        if worked:
            yield self._code("mine", f"import numpy as np\n\n\n{worked.regression_test}")
            yield Cell(self._id("why"), paragraphs(worked.regression_reason))
            test = _name_of(worked.regression_test)
        else:
            yield self._regression()
            test = "test_mine"
        judge = "judge_alone" if self.sheet.property.holds else "judge"
        yield self._test("judged", f"{self.hunt}.{judge}({test})")

    def _fix(self) -> Cell:
        if self.sheet.worked:
            return self._code("fixed", fix_source(self.sheet.worked.fix, self.program.source))
        answer = CODE_STUB
        if self.answers:
            key = self.answers.key
            fix = "fix = {}" if key.innocent else fix_source(key.fix, self.program.source)
            answer = region(f"{self._rubric_comment('Fix')}{fix}")
        source = f"fix = {{}}\n{answer}"
        return Cell(self._id("fixed"), source, is_code=True, role=Role.ANSWER, may_raise=True)

    def _regression(self) -> Cell:
        head = 'def test_mine(gpt):\n    """What must hold, and why the usual test misses it."""\n'
        answer = CODE_STUB
        if self.answers:
            known = (
                "# What the sheet says, so that this version passes.\n"
                f"for test in {self.hunt}.tests:\n    test(gpt)"
            )
            answer = region(self._rubric_comment("Regression test") + known)
        source = head + re.sub(r"(?m)^", "    ", answer)
        return Cell(self._id("mine"), source, is_code=True, role=Role.ANSWER, may_raise=True)

    def _hidden(self) -> str:
        """Tests that only the teacher's version has."""
        if self.answers is None or self.sheet.worked:
            return ""
        lines = []
        if self.answers.key.innocent:
            lines = ['assert not fix, "there was nothing to repair"']
        elif self.answers.marking.tests:
            tests = "".join(f"    {json.dumps(name)},\n" for name in self.answers.marking.tests)
            lines = [
                "import types",
                "",
                'others = types.ModuleType("others")',
                f"exec({quoted(self.answers.marking.check)}, others.__dict__)",
                f"{self.hunt}.check_others(others, [\n{tests}])",
            ]
        if not lines:
            return ""
        return "\n".join(["### BEGIN HIDDEN TESTS", *lines, "### END HIDDEN TESTS"])

    def _box(self, name: str, box: str) -> Cell:
        """A text that the student writes and the teacher marks."""
        worked = self.sheet.worked
        if worked:
            words: Prose = getattr(worked, name) if name not in ("hypotheses", "log") else ()
            return self._read(name, answer=paragraphs(words))
        answer = TEXT_STUB
        if self.answers:
            texts = [block("rubric", row=self._criterion(box))]
            if name == "diagnosis":
                texts.append(block("solution", key=self.answers.key))
            elif name == "explain":
                texts.append(paragraphs(self.answers.key.explanation))
            answer = region("\n".join(texts))
        source = self._text(name, answer=answer)
        return Cell(self._id(name), source, role=Role.BOX, points=MAX_POINTS)

    def _criterion(self, box: str) -> object:
        assert self.answers is not None
        return next((row for row in self.answers.key.rubric if row.box == box), None)

    def _rubric_comment(self, box: str) -> str:
        assert self.answers is not None
        for row in self.answers.key.rubric:
            if row.box == box:
                rows = ((2, row.two), (1, row.one), (0, row.zero))
                return "".join(f"# {points} points: {plain(words)}\n" for points, words in rows)
        return ""

    def _read(self, name: str, **values: object) -> Cell:
        return Cell(self._id(name), self._text(name, **values))

    def _code(self, name: str, source: str, folded: bool = False, may_raise: bool = False) -> Cell:
        return Cell(self._id(name), source, is_code=True, folded=folded, may_raise=may_raise)

    def _test(self, name: str, source: str) -> Cell:
        if self.sheet.worked:
            return self._code(name, source, may_raise=True)
        return Cell(self._id(name), source, True, Role.TEST, MAX_POINTS, may_raise=True)

    def _id(self, name: str) -> str:
        return f"{self.sheet.code}-{name}"

    def _text(self, name: str, **values: object) -> str:
        return block(name, sheet=self.sheet, **values)


def _name_of(test: str) -> str:
    """Of the function that this source defines."""
    return next(node.name for node in ast.parse(test).body if isinstance(node, ast.FunctionDef))
