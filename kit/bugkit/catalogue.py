"""bug.toml -> Bug. Every error names the file and the key."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .places import CORRECT, MUTANTS, shown
from .problems import Problem, nearest
from .tables import TableReader, read_toml

COMPONENTS = (
    "embedding",
    "positions",
    "norm",
    "attention",
    "mask",
    "softmax",
    "mlp",
    "residual",
    "head",
    "init",
    "loss",
    "backward",
    "optimizer",
    "dropout",
    "sampling",
    "cache",
    "gqa",
    "data",
    "checkpoint",
)
LEVELS = range(1, 6)
DIFFICULTIES = range(1, 6)
VERDICTS = ("bug", "innocent")
HINTS = 4
RESERVED = ("correct", "blank")
"""Names of subjects that are no bugs."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One structural find/replace; see `edits`."""

    find: str
    """Pattern with holes: $NAME is one node, $$$NAME any number."""
    replace: str
    """What takes its place; empty deletes the statement."""
    inside: str
    """Name of the function that holds the match; empty for the module itself."""
    after: str
    """Pattern of something that stands before the match, or empty."""
    before: str
    """Pattern of something that stands behind the match, or empty."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where the bug was really seen."""

    url: str
    says: str
    """What is said there, in our words."""


@dataclass(frozen=True, slots=True)
class Teach:
    """Texts for worksheets and answer keys."""

    symptom: str
    """What a person notices; never the cause."""
    predict: str
    """The question asked before anything is run."""
    hints: tuple[str, ...]
    """Question, stage, invariant, region; none holds the answer."""
    explanation: str
    """The prose of the answer key."""
    misconception: str
    """The belief that writes this bug."""


@dataclass(frozen=True, slots=True)
class Bug:
    """A catalogue entry: facts, teaching text, and the edits that make a mutant."""

    slug: str
    folder: Path
    title: str
    component: str
    level: int
    difficulty: int
    """From 1, seen in the first run, to 5, seen only at scale."""
    verdict: str
    """`bug`, or `innocent` for an equivalent program."""
    file: str
    """Name of the changed module in the correct GPT."""
    edits: tuple[Edit, ...]
    killed_by: tuple[str, ...]
    """The exact property detectors that fail on the mutant, sorted."""
    teach: Teach
    sources: tuple[Source, ...]

    @property
    def innocent(self) -> bool:
        """Whether it only looks wrong."""
        return self.verdict == "innocent"

    @property
    def module(self) -> Path:
        """The generated module."""
        return self.folder / self.file

    @property
    def original(self) -> Path:
        """The correct module that it takes the place of."""
        return CORRECT / self.file


def slug_of(name: str) -> str:
    """A slug as it is stored: hyphens, underscores and capitals are alike to a user."""
    return name.replace("-", "_").lower()


def is_slug(name: str) -> bool:
    """Whether a bug may be called so: ASCII words, and not the name of another subject."""
    return name.isascii() and name.isidentifier() and name == name.lower() and name not in RESERVED


def load_catalogue(folders: Iterable[Path] = (MUTANTS,)) -> dict[str, Bug]:
    """Slug -> Bug for every bug of the catalogue folders, sorted by level, component and slug."""
    bugs: dict[str, Bug] = {}
    for folder in folders:
        for path in _bug_folders(folder):
            if path.name in bugs:
                raise Problem(
                    f"two bugs have the slug {path.name}: {shown(bugs[path.name].folder)} and "
                    f"{shown(path)}; rename one of the folders"
                )
            bugs[path.name] = load_bug(path)
    order = sorted(bugs.values(), key=lambda b: (b.level, COMPONENTS.index(b.component), b.slug))
    return {bug.slug: bug for bug in order}


def _bug_folders(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        raise Problem(f"{shown(folder)}: no such catalogue folder")
    found = sorted(path.parent for path in folder.glob("*/bug.toml"))
    if not found:
        raise Problem(f"{shown(folder)}: no bug in this catalogue: it holds no */bug.toml")
    yield from found


def load_bug(folder: Path) -> Bug:
    """The bug declared in `folder`/bug.toml."""
    path = folder / "bug.toml"
    slug = folder.name
    if not is_slug(slug):
        raise Problem(f"{shown(path)}: the folder name must be lower_case_words, got {slug!r}")
    return _Reader(path).bug(slug, folder, read_toml(path))


class _Reader(TableReader):
    def bug(self, slug: str, folder: Path, table: dict[str, Any]) -> Bug:
        self.keys(
            "",
            table,
            {"title", "component", "level", "difficulty", "file", "edit", "teach"},
            {"verdict", "inside", "expect", "source"},
        )
        verdict = self.one_of("", table, "verdict", VERDICTS) if "verdict" in table else "bug"
        inside = self.text("", table, "inside") if "inside" in table else ""
        file = self.text("", table, "file")
        known = [p.name for p in CORRECT.glob("*.py")]
        if file not in known:
            self.fail(
                "", "file", f"no such module of the correct GPT: {file}{nearest(file, known)}"
            )
        edits = [self.edit(i, e, inside) for i, e in enumerate(self.tables(table, "edit"), 1)]
        sources = [self.source(i, s) for i, s in enumerate(self.tables(table, "source"), 1)]
        if not edits:
            self.fail("", "edit", "at least one [[edit]] is needed")
        if not sources and verdict == "bug":
            self.fail("", "source", "at least one [[source]] is needed: where was this bug seen?")
        return Bug(
            slug=slug,
            folder=folder,
            title=self.text("", table, "title"),
            component=self.one_of("", table, "component", COMPONENTS),
            level=self.number(table, "level", LEVELS),
            difficulty=self.number(table, "difficulty", DIFFICULTIES),
            verdict=verdict,
            file=file,
            edits=tuple(edits),
            killed_by=self.promise(table.get("expect", {}), verdict),
            teach=self.teach(self.table("teach", table["teach"])),
            sources=tuple(sources),
        )

    def edit(self, number: int, table: dict[str, Any], inside: str) -> Edit:
        where = f"edit {number}"
        self.keys(where, table, {"find", "replace"}, {"inside", "after", "before"})
        texts = {
            key: self.text(where, table, key, empty=key in ("replace", "inside")) for key in table
        }
        return Edit(**{"inside": inside, "after": "", "before": ""} | texts)

    def source(self, number: int, table: dict[str, Any]) -> Source:
        where = f"source {number}"
        self.keys(where, table, {"url", "says"})
        url = self.text(where, table, "url")
        if not url.startswith("https://"):
            self.fail(where, "url", f"must begin with https://, got {url!r}")
        return Source(url, self.text(where, table, "says"))

    def teach(self, table: dict[str, Any]) -> Teach:
        prose = ("symptom", "predict", "explanation", "misconception")
        self.keys("teach", table, {*prose, "hints"})
        hints = self.strings("teach", table, "hints")
        if len(hints) != HINTS:
            self.fail("teach", "hints", f"must be {HINTS} texts, got {len(hints)}")
        return Teach(hints=hints, **{key: self.text("teach", table, key) for key in prose})

    def promise(self, table: object, verdict: str) -> tuple[str, ...]:
        expect = self.table("expect", table)
        self.keys("expect", expect, set(), {"killed_by"})
        names = self.strings("expect", expect, "killed_by") if expect else ()
        if names and verdict == "innocent":
            self.fail("expect", "killed_by", "an innocent is killed by nothing; leave it out")
        return tuple(sorted(names))
