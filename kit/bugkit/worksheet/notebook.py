"""Sheets as Jupyter notebooks: the students', and the version that nbgrader makes them from."""

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..files import read_text
from ..places import TEMPLATES
from ..problems import Problem
from ..render import render
from .cells import Cell, Role, notebook, quoted
from .markdown_text import blocks, code, escape, fence, inline
from .model import (
    CONFIDENCES,
    HYPOTHESES,
    LOG_ROWS,
    MAX_POINTS,
    DiffLine,
    Hints,
    Key,
    KeySet,
    Layout,
    Listing,
    Marking,
    Program,
    Sheet,
    SheetSet,
)
from .repair import repair_of
from .words import Paragraph, Prose, plain

TEXT_STUB = "*Double-click here to write.*"
CODE_STUB = "# Write here."
"""What stands in place of an answer. nbgrader writes its own unless it is told to take these:
ClearSolutions.text_stub and ClearSolutions.code_stub."""

FAR = 4
"""Lines between two definitions that are not shown, from which on they are told apart."""

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


def _document(
    collection: SheetSet,
    programs: Iterable[Program],
    layout: Layout,
    answers: Mapping[str, _Answers],
) -> str:
    program = {p.code: p for p in programs}
    cells: list[Cell] = []
    if len(collection.sheets) > 1:
        contents = _text("contents", title=collection.title, sheets=collection.sheets)
        cells.append(Cell("contents", contents))
    source = read_text(TEMPLATES / "worksheet" / "notebook" / f"{TOOLS}.py")
    tools = Cell("tools", f"%%writefile {TOOLS}.py\n{source}", is_code=True, folded=True)
    for number, sheet in enumerate(collection.sheets):
        if sheet.code not in program:
            raise Problem(f"sheet {sheet.code}: has no program to put into a notebook")
        own = list(_Page(sheet, program[sheet.code], layout, answers.get(sheet.code)).cells())
        cells += [*own[:3], tools, *own[3:]] if number == 0 else own
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
        self.hunt = f"hunt_{sheet.code}"
        self.package = f"gpt_{sheet.code}"

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
        check = f"%%writefile check_{self.sheet.code}.py\n{self.program.check}"
        yield self._code("properties", check, folded=True)
        yield self._read("symptom", drawing=_drawing(self.sheet.figure.svg))
        if with_hints:
            yield self._read("hints")
        yield self._read("program", spans=_spans(self.sheet.excerpt, self.sheet.listing))
        path = f"{self.package}/{self.program.file}"
        yield self._code("source", f"%%writefile {path}\n{self.program.source}")

    def _looking(self) -> Iterator[Cell]:
        """From the prediction to the diagnosis."""
        yield self._box("predict", "Predict")
        yield self._read("probe", hunt=self.hunt)
        tests = ", ".join(json.dumps(name) for name in self.program.tests)
        make = f"{self.hunt} = {TOOLS}.Hunt({json.dumps(self.sheet.code)}, "
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
        if self.sheet.worked:
            yield Cell(self._id("mine"), fence(self.sheet.worked.regression_test, "python"))
            yield Cell(self._id("why"), blocks(self.sheet.worked.regression_reason))
            return
        yield self._regression()
        judge = "judge_alone" if self.sheet.property.holds else "judge"
        yield self._test("judged", f"{self.hunt}.{judge}(test_mine)")

    def _fix(self) -> Cell:
        if self.sheet.worked:
            return self._code("fixed", _fix_source(self.sheet.worked.fix, self.program.source))
        answer = CODE_STUB
        if self.answers:
            key = self.answers.key
            fix = "fix = {}" if key.innocent else _fix_source(key.fix, self.program.source)
            answer = _region(f"{self._rubric_comment('Fix')}{fix}")
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
            answer = _region(self._rubric_comment("Regression test") + known)
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
            return self._read(name, answer=blocks(words))
        answer = TEXT_STUB
        if self.answers:
            texts = [_text("rubric", row=self._criterion(box))]
            if name == "diagnosis":
                texts.append(_text("solution", key=self.answers.key))
            elif name == "explain":
                texts.append(blocks(self.answers.key.explanation))
            answer = _region("\n".join(texts))
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
        return _text(name, sheet=self.sheet, **values)


def _region(text: str) -> str:
    return f"### BEGIN SOLUTION\n{text.strip()}\n### END SOLUTION"


def _fix_source(fix: Sequence[DiffLine], source: str) -> str:
    """The repair as the notebook takes it."""
    lines = []
    for number, new in repair_of(fix, source).items():
        if new is None:
            lines.append(f"    {number}: None,\n")
        elif len(new) == 1:
            lines.append(f"    {number}: {json.dumps(new[0], ensure_ascii=False)},\n")
        else:
            parts = "".join(f"        {json.dumps(n, ensure_ascii=False)},\n" for n in new)
            lines.append(f"    {number}: [\n{parts}    ],\n")
    return f"fix = {{\n{''.join(lines)}}}"


def _drawing(svg: str) -> str:
    """In the text itself: JupyterLab shows no attachments of this kind."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}" if svg else ""


def _spans(*listings: Listing | None) -> str:
    """The lines that a sheet on paper shows, such as 3 to 9 and 20 to 31."""
    numbers = sorted({x.number for listing in listings if listing for x in listing.lines if x.text})
    spans = [[numbers[0], numbers[0]]]
    for number in numbers[1:]:
        if number > spans[-1][1] + FAR:
            spans.append([number, number])
        spans[-1][1] = number
    return " and ".join(f"{first} to {last}" for first, last in spans)


def _text(template: str, **values: object) -> str:
    text = render(
        f"worksheet/notebook/{template}.md",
        blocks=lambda words: _without_formulas(blocks(words)),
        code=code,
        confidence=_confidence,
        diff=_diff,
        escape=lambda text: _without_formulas(escape(text)),
        fence=fence,
        inline=_inline,
        hypotheses=HYPOTHESES,
        log_rows=LOG_ROWS,
        **values,
    )
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n")


def _inline(words: Paragraph) -> str:
    return _without_formulas(inline(words))


_FORMULA = re.compile(
    r"\\.|(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`)|(?P<marks>(?:&#36;|&#92;)+)", re.S
)
"""The marks of formulas, outside of code spans and of what is escaped."""


def _without_formulas(text: str) -> str:
    """Jupyter looks for formulas in what a reader sees, wherever that is no code."""
    return _FORMULA.sub(lambda m: f"<code>{m[0]}</code>" if m["marks"] else m[0], text)


def _confidence(filled: int | None) -> str:
    return " &nbsp; ".join(f"{'☒' if filled == c else '☐'} {c} %" for c in CONFIDENCES)


def _diff(lines: Iterable[DiffLine]) -> str:
    return "\n".join(f"{line.sign}{line.number:>4}  {line.text}".rstrip() for line in lines)
