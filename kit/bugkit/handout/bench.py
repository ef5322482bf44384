"""Where a hunt is put together: the program, its tests, the sheet, the forms, and the key to it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from ..catalogue import Bug
from ..files import read_text
from ..matrix import Matrix
from ..places import TEMPLATES
from ..standalone import standalone
from ..subject import subject_of
from ..tables import read_toml
from ..worksheet.answers import key_of
from ..worksheet.content import Header, sheet_of
from ..worksheet.edition import Edition
from ..worksheet.excerpt import changed_lines
from ..worksheet.forms import Material
from ..worksheet.key import Key
from ..worksheet.model import Hints, Layout, Property, SheetSet
from ..worksheet.program import CHECKED, program_of, shown_tests, telling
from ..worksheet.words import Prose, prose
from .copy import copy_of, marked
from .plan import Hunt
from .record import HuntRecord
from .terms import Terms, Texts
from .texts import (
    ANSWERS,
    README,
    REGRESSION,
    SETTINGS,
    VISIBLE,
    Words,
    answers_form,
    readme,
    regression_stub,
    settings,
)

PACKAGE = "gpt"
SHEET = "worksheet"


@dataclass(frozen=True, slots=True)
class Bench:
    """What is the same for every student."""

    terms: Terms
    catalogue: Mapping[str, Bug]
    matrix: Matrix
    """Holds the rows of all bugs that are handed out."""

    def prepared(self, hunt: Hunt) -> "Prepared":
        """The copy of the program, from which all the rest follows."""
        bug = self.catalogue[hunt.slug]
        tests = self._tests(bug)
        edition = copy_of(bug, hunt.code, self.terms.disguise, hunt.seed)
        return Prepared(self, hunt, replace(edition, visible=frozenset(tests)), tests)

    def _tests(self, bug: Bug) -> tuple[str, ...]:
        """Ids of the visible tests: those that the teacher chose, or else CHECKED that suit.

        These are the property on the sheet and, of the properties that hold, those that bugs of
        the same file fail most: a student learns from them as well. Where these are too few, the
        neighbours of the property on the sheet fill up, so that the number tells nothing.
        """
        if self.terms.visible:
            return self.terms.visible
        shown = shown_tests(bug, self.matrix)
        properties = self.matrix.properties
        known = [detector.id for detector in properties]
        families = {detector.family for detector in properties if detector.id in shown}
        near = [detector.id for detector in properties if detector.family in families]
        told = {*self.matrix.killers(subject_of(bug)), *shown}
        # Always as many: their number would tell some bugs.
        most = dict.fromkeys([*telling(bug, known), *near, *known])
        holding = [id_ for id_ in most if id_ not in told]
        return tuple(sorted([*shown, *holding[: CHECKED - len(shown)]], key=known.index))


@dataclass(frozen=True, slots=True)
class Prepared:
    """A hunt whose program has been put into the student's words."""

    bench: Bench
    hunt: Hunt
    edition: Edition
    tests: tuple[str, ...]
    """Ids of the visible ones."""

    def files(self) -> dict[str, bytes]:
        """The folder of the student: path -> content."""
        hunt, terms = self.hunt, self.bench.terms
        words = Words(
            form=hunt.code,
            assignment=terms.assignment,
            number=hunt.number,
            of=hunt.of,
            test=self.tests[0],
            worksheet=SHEET + terms.worksheet.suffix,
        )
        files = {
            **{f"{PACKAGE}/{name}": text for name, text in self.edition.files.items()},
            VISIBLE: marked(standalone(self.tests, PACKAGE), hunt.code),
            REGRESSION: regression_stub(words),
            ANSWERS: answers_form(words),
            README: readme(words),
            SETTINGS: settings(words),
        }
        content = {name: text.encode() for name, text in files.items()} | self._sheet()
        return {hunt.folder + name: content[name] for name in sorted(content)}

    def _sheet(self) -> dict[str, bytes]:
        terms, matrix = self.bench.terms, self.bench.matrix
        hints = Hints.INLINE if terms.texts is Texts.HINTS else Hints.NONE
        sheet = sheet_of(self.edition, matrix, self._header, hints)
        sheet = replace(sheet, number=self.hunt.number, of=self.hunt.of)
        if sheet.property.holds:
            sheet = replace(sheet, property=Property(_neutral()["holds"][0], True, ()))
        if terms.texts is Texts.NEUTRAL:
            said = _neutral()
            sheet = replace(sheet, symptom=said["symptom"], predict=said["predict"])
        programs = (program_of(self.edition, matrix),) if terms.worksheet.runs else ()
        material = Material(SheetSet(terms.assignment, (sheet,)), programs)
        return terms.worksheet.sheets(SHEET, material, Layout(hints=hints))

    def key(self, holder: str) -> Key:
        """The answers; `holder` is whose hunt it is."""
        bench = self.bench
        key = key_of(self.edition, bench.matrix, bench.catalogue, self._header)
        if bench.terms.texts is Texts.NEUTRAL:
            key = replace(key, predict=_neutral()["predict"])
        return replace(key, holder=holder, number=self.hunt.number, of=self.hunt.of)

    def record(self) -> HuntRecord:
        """The same as data."""
        bug = self.edition.bug
        fails = set(self.bench.matrix.killers(subject_of(bug)))
        original = changed_lines(read_text(bug.module), read_text(bug.original))
        return HuntRecord(
            number=self.hunt.number,
            slug=bug.slug,
            title=bug.title,
            verdict=bug.verdict,
            component=bug.component,
            level=bug.level,
            difficulty=bug.difficulty,
            lines=self.edition.lines,
            original_file=bug.file,
            original_lines=tuple(sorted(original)),
            visible=self.tests,
            visible_that_fail=tuple(id_ for id_ in self.tests if id_ in fails),
        )

    @property
    def _header(self) -> Header:
        return Header(course=self.bench.terms.assignment)


@cache
def _neutral() -> dict[str, Prose]:
    """Texts that are the same for every bug."""
    texts = read_toml(TEMPLATES / "handout" / "neutral.toml")
    return {name: prose(text) for name, text in texts.items()}
