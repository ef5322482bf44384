"""worked.toml -> Worked: the boxes of a sheet as a good hunter filled them in.

The file lies beside bug.toml. Whatever fits no box is refused here, before it spills over a page.
"""

import ast
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..catalogue import HINTS, Bug
from ..files import read_text
from ..places import shown
from ..problems import Problem
from ..tables import TableReader, read_toml
from .excerpt import difference
from .model import CONFIDENCES, HYPOTHESES, LOG_ROWS, Entry, Hypothesis, Sheet, Worked
from .words import paragraph, plain, prose

WORKED = "worked.toml"

# What the boxes of a page hold in type of usual size.
MAX_BOX = 250
"""Characters of prose: four lines over the width of a page."""
MAX_REASON = 200
"""Characters beside a regression test: three lines, since the code takes the rest of the box."""
MAX_CELL = 90
"""Characters of a column of the hypotheses: three lines of a third of the page."""
MAX_GOAL = 70
MAX_RESULT = 80
"""Characters of a column of the log: three lines of a quarter of the page."""
MAX_PRINTED = 60
"""Characters that a probe prints, on one line as long as a line of its code."""
PROBE_LINES, PROBE_WIDTH = 3, 60
"""Code in the log, which stands in half of the page."""
TEST_LINES, TEST_WIDTH = 9, 85
"""Code of the regression test, which has the whole width."""

_PROSE = {
    "predict": MAX_BOX,
    "observe": MAX_BOX,
    "diagnosis": MAX_BOX,
    "explain": MAX_BOX,
    "regression_reason": MAX_REASON,
}
_NUMBERS = {
    "confidence_before": range(CONFIDENCES[0], CONFIDENCES[-1] + 1, CONFIDENCES[1]),
    "confidence_after": range(CONFIDENCES[0], CONFIDENCES[-1] + 1, CONFIDENCES[1]),
    "hints_used": range(HINTS + 1),
}
_LISTS = {"hypothesis": HYPOTHESES, "log": LOG_ROWS}


def worked_bugs(catalogue: Mapping[str, Bug]) -> list[Bug]:
    """The bugs that have a worked hunt, the easiest first."""
    found = [bug for bug in catalogue.values() if (bug.folder / WORKED).is_file()]
    return sorted(found, key=lambda bug: bug.difficulty)


def worked_sheet(sheet: Sheet, bug: Bug) -> Sheet:
    """The sheet of this bug with its boxes filled in. Raises Problem if the hunt cannot be read."""
    return replace(sheet, worked=load_worked(bug))


def load_worked(bug: Bug) -> Worked:
    """The worked hunt of this bug. Every error names the file and the key."""
    path = bug.folder / WORKED
    if bug.innocent:
        raise Problem(f"{shown(path)}: {bug.slug} is innocent, so there is nothing to repair")
    fix = difference(read_text(bug.module), read_text(bug.original))
    reader = _Reader(path)
    table = read_toml(path)
    reader.keys("", table, {*_PROSE, *_NUMBERS, *_LISTS, "regression_test"})
    for key, count in _LISTS.items():
        if len(rows := reader.tables(table, key)) != count:
            reader.fail("", key, f"there must be {count} [[{key}]], got {len(rows)}")
    texts = {key: prose(reader.short("", table, key, limit)) for key, limit in _PROSE.items()}
    numbers = {key: reader.number(table, key, allowed) for key, allowed in _NUMBERS.items()}
    return Worked(
        predict=texts["predict"],
        confidence_before=numbers["confidence_before"],
        observe=texts["observe"],
        hypotheses=tuple(map(reader.hypothesis, *_numbered(table["hypothesis"]))),
        log=tuple(map(reader.entry, *_numbered(table["log"]))),
        diagnosis=texts["diagnosis"],
        fix=fix,
        regression_test=reader.test(table),
        regression_reason=texts["regression_reason"],
        explain=texts["explain"],
        confidence_after=numbers["confidence_after"],
        hints_used=numbers["hints_used"],
    )


def _numbered(rows: list[dict[str, Any]]) -> tuple[range, list[dict[str, Any]]]:
    return range(1, len(rows) + 1), rows


class _Reader(TableReader):
    def hypothesis(self, number: int, table: dict[str, Any]) -> Hypothesis:
        where = f"hypothesis {number}"
        self.keys(where, table, {"place", "mechanism", "disproof"})
        place, mechanism, disproof = (
            self.short(where, table, key, MAX_CELL) for key in ("place", "mechanism", "disproof")
        )
        return Hypothesis(plain(paragraph(place)), paragraph(mechanism), paragraph(disproof))

    def entry(self, number: int, table: dict[str, Any]) -> Entry:
        where = f"log {number}"
        self.keys(where, table, {"goal", "probe", "printed", "result"})
        probe, _ = self.code(where, table, "probe", PROBE_LINES, PROBE_WIDTH)
        printed = self.short(where, table, "printed", MAX_PRINTED)
        if "\n" in printed:
            self.fail(where, "printed", "must be one line")
        return Entry(
            goal=paragraph(self.short(where, table, "goal", MAX_GOAL)),
            probe=probe,
            printed=printed,
            result=paragraph(self.short(where, table, "result", MAX_RESULT)),
        )

    def test(self, table: dict[str, Any]) -> str:
        key = "regression_test"
        code, body = self.code("", table, key, TEST_LINES, TEST_WIDTH)
        first = body[0]
        if (
            len(body) != 1
            or not isinstance(first, ast.FunctionDef)
            or not first.name.startswith("test_")
            or ast.unparse(first.args) != "gpt"
        ):
            self.fail("", key, "must be one function: def test_...(gpt)")
        return code

    def short(self, where: str, table: dict[str, Any], key: str, limit: int) -> str:
        """A text that fits its box. The marks of code are not printed, so they do not count."""
        text = self.text(where, table, key)
        length = len(plain(prose(text)))
        if length > limit:
            self.fail(where, key, f"has {length} characters; the box holds {limit}")
        return text

    def code(
        self, where: str, table: dict[str, Any], key: str, lines: int, width: int
    ) -> tuple[str, list[ast.stmt]]:
        """Python that fits its box, as text and as statements."""
        text = "\n".join(line.rstrip() for line in self.text(where, table, key).splitlines())
        count, longest = len(text.splitlines()), max(map(len, text.splitlines()))
        if count > lines:
            self.fail(where, key, f"has {count} lines; the box holds {lines}")
        if longest > width:
            self.fail(where, key, f"has a line of {longest} characters; the box holds {width}")
        try:
            body = ast.parse(text).body
        except (SyntaxError, ValueError) as error:
            what = error.msg if isinstance(error, SyntaxError) else error
            self.fail(where, key, f"is not Python: {what}")
        if not body:
            self.fail(where, key, "holds no statement")
        return text, body
