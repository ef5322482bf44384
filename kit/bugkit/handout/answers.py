"""A filled-in form -> Answers. What a student may have got wrong is one message: file, key, cure.

What is missing counts as not answered: -1 for a number, an empty text, an empty list.
"""

import re
import tomllib
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath
from typing import Any

from ..files import read_text
from ..places import shown
from ..problems import Problem
from ..tables import TableReader
from ..worksheet.model import CONFIDENCES
from .form import parse_form

VERDICTS = ("bug", "no bug")
HINTS = range(5)
"""How many may have been read."""

HUNTS = range(1, 1000)

LONGEST = 50
"""Lines of one range. Who names more has not found the place."""

NOTHING = -1
"""Stands in the form for a number that is not answered."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One suspicion."""

    place: str
    mechanism: str
    disproof: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What the student found."""

    verdict: str = ""
    """One of VERDICTS, or empty."""
    places: tuple[tuple[str, int], ...] = ()
    """File without its folder, and line from 1; each once, in the order of the form."""
    cause: str = ""
    violates: str = ""


@dataclass(frozen=True, slots=True)
class Answers:
    """All boxes. Texts are without the spaces around them; empty and None are not answered."""

    form: str = ""
    """As form_of gives it."""
    hunt: int | None = None
    prediction: str = ""
    confidence_before: int | None = None
    """Per cent, one of CONFIDENCES."""
    observed: str = ""
    hypotheses: tuple[Hypothesis, ...] = ()
    """The most likely first; without those that are wholly empty."""
    log: str = ""
    diagnosis: Diagnosis = Diagnosis()
    fix: str = ""
    regression: str = ""
    """Why the usual test misses it."""
    explain: str = ""
    confidence_after: int | None = None
    hints_used: int | None = None

    @property
    def blank(self) -> bool:
        """Whether nothing is answered."""
        return self == Answers(self.form, self.hunt)


_TOP = ("form", "hunt", "prediction", "confidence_before", "observed")
_TABLES = {
    "log": ("steps",),
    "diagnosis": ("verdict", "places", "cause", "violates"),
    "fix": ("change",),
    "regression": ("missed",),
    "explain": ("plausible", "confidence_after", "hints_used"),
}
_HYPOTHESIS = ("place", "mechanism", "disproof")


def read_answers(path: Path) -> Answers:
    """What the form says."""
    top = _parsed(path)
    reader = _Reader(path)
    reader.known("", top, (*_TOP, "hypothesis", *_TABLES))
    part = {name: reader.part(top, name) for name in _TABLES}
    diagnosis = part["diagnosis"]
    return Answers(
        form=reader.form(top),
        hunt=reader.whole("", top, "hunt", HUNTS, "the number of the hunt"),
        prediction=reader.words("", top, "prediction"),
        confidence_before=reader.confidence("", top, "confidence_before"),
        observed=reader.words("", top, "observed"),
        hypotheses=reader.hypotheses(top),
        log=reader.words("log", part["log"], "steps"),
        diagnosis=Diagnosis(
            reader.verdict(diagnosis),
            reader.places(diagnosis),
            reader.words("diagnosis", diagnosis, "cause"),
            reader.words("diagnosis", diagnosis, "violates"),
        ),
        fix=reader.words("fix", part["fix"], "change"),
        regression=reader.words("regression", part["regression"], "missed"),
        explain=reader.words("explain", part["explain"], "plausible"),
        confidence_after=reader.confidence("explain", part["explain"], "confidence_after"),
        hints_used=reader.whole("explain", part["explain"], "hints_used", HINTS, "from 0 to 4"),
    )


def _parsed(path: Path) -> dict[str, Any]:
    text = read_text(path)
    try:
        top = tomllib.loads(text)
        repr(top)  # or a message could not show what it is about
        return top
    except RecursionError:
        raise Problem(f"{shown(path)}: not valid TOML: more brackets than it can hold") from None
    except ValueError as error:
        what, _, place = str(error).partition(" (at ")
        if not place:  # Python's own limit
            raise Problem(f"{shown(path)}: not valid TOML: a number in it is too long") from None
        where, line = "at its end", ""
        if number := re.match(r"line (\d+),", place):
            where, line = f"line {number[1]}", text.split("\n")[int(number[1]) - 1].strip()
        raise Problem(
            f"{shown(path)}: {where}: not valid TOML: {what}; {_cure(what, line)}"
        ) from None


def _cure(what: str, line: str) -> str:
    """What to do about a line that cannot be read, as far as it shows."""
    if re.search("overwrite|twice|mutate", what):
        return f"it stands there already; keep one of the two: {_short(line)}"
    key, is_pair, value = (part.strip() for part in line.partition("="))
    if re.search("[\u2018\u2019\u201c\u201d]", value[:1] + value[-1:]):
        return f"write straight quotes ' in: {_short(line)}"
    # Of a list in several lines, the line that cannot be read may be any.
    if key == "places" or value.startswith("[") or re.match(r"""['"][^']*\.py""", line):
        return f"write places as {_ONE} or {_TWO}, not: {_short(line)}"
    if is_pair and value.startswith('"'):
        return f"put ' in the place of the outer \" in: {_short(line)}"
    if is_pair and re.match("'[^']", value):
        return (
            f"a text goes between ' and ' in one line, or else between ''' and ''': {_short(line)}"
        )
    if is_pair and not value.startswith("'"):
        return f"texts go between ' and ', and numbers stand alone: {_short(line)}"
    return "look there and above: a text opens with ''' and closes with ''', and has none inside"


def _short(line: str) -> str:
    return line if len(line) <= 60 else line[:57] + "..."


class _Reader(TableReader):
    """Takes what is missing for not answered."""

    def known(self, where: str, table: dict[str, Any], keys: Collection[str]) -> dict[str, Any]:
        """The table, if it has no keys but these."""
        for key in table:
            if key not in keys and (home := _home(key)):
                self.fail(where, key, f"stands in the wrong place; move it {home}")
        self.keys(where, table, set(), set(keys))
        return table

    def part(self, top: dict[str, Any], name: str) -> dict[str, Any]:
        """A table of the form."""
        return self.known(name, self.table(name, top.get(name, {})), _TABLES[name])

    def words(self, where: str, table: dict[str, Any], key: str) -> str:
        """A text, in one line or in several."""
        return self.text(where, {key: "", **table}, key, empty=True).strip()

    def whole(
        self, where: str, table: dict[str, Any], key: str, allowed: Collection[int], told: str
    ) -> int | None:
        """A number."""
        value = table.get(key, NOTHING)
        if not _is_whole(value) or (value != NOTHING and value not in allowed):
            rule = f"must be {told}, without quotes, or {NOTHING} for not answered"
            self.fail(where, key, f"{rule}; got {value!r}")
        return None if value == NOTHING else value

    def confidence(self, where: str, table: dict[str, Any], key: str) -> int | None:
        """Per cent."""
        told = f"{', '.join(map(str, CONFIDENCES[:-1]))} or {CONFIDENCES[-1]}"
        return self.whole(where, table, key, CONFIDENCES, told)

    def form(self, top: dict[str, Any]) -> str:
        """The form id."""
        written = self.words("", top, "form")
        try:
            return parse_form(written) if written else ""
        except Problem as problem:
            self.fail("", "form", f"{problem}; it stands on every file of the hunt")

    def hypotheses(self, top: dict[str, Any]) -> tuple[Hypothesis, ...]:
        """Those in which something is written."""
        found = []
        for rank, table in enumerate(self.tables(top, "hypothesis"), 1):
            where = f"hypothesis {rank}"
            self.known(where, table, _HYPOTHESIS)
            found.append(Hypothesis(*(self.words(where, table, key) for key in _HYPOTHESIS)))
        return tuple(one for one in found if one != Hypothesis("", "", ""))

    def verdict(self, diagnosis: dict[str, Any]) -> str:
        """One of VERDICTS, or nothing."""
        if not self.words("diagnosis", diagnosis, "verdict"):
            return ""
        return self.one_of("diagnosis", diagnosis, "verdict", VERDICTS)

    def places(self, diagnosis: dict[str, Any]) -> tuple[tuple[str, int], ...]:
        """Files and lines."""
        value = diagnosis.get("places", [])
        if not isinstance(value, list):
            rule = f"must be a list, such as {_ONE} or {_TWO}"
            self.fail("diagnosis", "places", f"{rule}; got {_short(repr(value))}")
        found: list[tuple[str, int]] = []
        for entry in value:
            try:
                found += _lines(entry)
            except Problem as problem:
                self.fail("diagnosis", "places", f"{_short(repr(entry))} {problem}")
        return tuple(dict.fromkeys(found))


_ONE = "['block.py:12']"
_TWO = "['block.py:12', 'block.py:13']"
_LONG = 500
"""Characters of a place, with folders."""

_PLACE = re.compile(r"(.*?)(?:\s*:\s*([0-9]{1,9})(?:\s*[-\u2013]\s*([0-9]{1,9}))?)?", re.ASCII)


def _lines(entry: object) -> list[tuple[str, int]]:
    """'block.py:12' or 'block.py:12-14', line by line. A Problem goes on after the entry."""
    text = entry.strip() if isinstance(entry, str) else str(entry) if _is_whole(entry) else ""
    if re.fullmatch(r"-?[0-9][-\u2013\s0-9,]*", text):
        raise Problem("names no file; write 'block.py:12'")
    # Long texts would keep the pattern busy for hours.
    match = _PLACE.fullmatch(text) if 0 < len(text) <= _LONG else None
    if match is None or re.search(r"[,:]|\.py.", match[1][2:]):  # not C: of a path
        raise Problem("is not one file and its lines; write 'block.py:12' or 'block.py:12-14'")
    # Folders part at either stroke, whatever system the form was filled in on.
    file = PureWindowsPath(match[1]).name
    if not re.fullmatch(r"[\w-]+\.py", file):
        raise Problem("does not begin with the name of a .py file; write 'block.py:12'")
    if match[2] is None:
        raise Problem(f"has no line number; write '{file}:12'")
    first, last = int(match[2]), int(match[3] or match[2])
    if first < 1:
        raise Problem("counts lines from 0; the first line of a file is 1")
    if last < first:
        raise Problem(f"runs backwards; write '{file}:{last}-{first}'")
    if last - first >= LONGEST:
        raise Problem(f"is longer than {LONGEST} lines; name the lines that are wrong")
    return [(file, line) for line in range(first, last + 1)]


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _home(key: str) -> str:
    """Where a key of the form belongs."""
    if key in _TOP:
        return "to the top, above the first [[hypothesis]]"
    if key in _HYPOTHESIS:
        return "below its [[hypothesis]]"
    return next((f"below [{name}]" for name, keys in _TABLES.items() if key in keys), "")
