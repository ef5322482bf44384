"""Texts of `bugkit list` and `bugkit show`."""

import difflib
import json
import shutil
import textwrap
from collections.abc import Iterator, Mapping, Sequence

import click

from .catalogue import Bug
from .files import read_text
from .measure.plot import Symbols
from .measure.settings import setting_of
from .measure.silence import Silence
from .measure.store import is_current, mutant_of, recorded
from .problems import Problem
from .subject import CORRECT_SUBJECT, place_option, subject_of

WIDTH = 90
VERSION = 1

LOSS_LEGEND = "LOSS: after training, less that of the correct GPT, in nats; ? where not measured"


def by_silence(bugs: Sequence[Bug], silences: Mapping[str, Silence]) -> list[Bug]:
    """The most silent first; what was never measured at the end."""
    return sorted(bugs, key=lambda bug: silences[bug.slug].order)


def as_table(bugs: Sequence[Bug], silences: Mapping[str, Silence]) -> str:
    """One line a bug."""
    if not bugs:
        return "No bug fits."
    header = ("SLUG", "COMPONENT", "LEVEL", "DIFFICULTY", "LOSS", "TITLE")
    rows = [
        (
            bug.slug,
            bug.component,
            str(bug.level),
            str(bug.difficulty),
            silences[bug.slug].word,
            f"{bug.title} (innocent)" if bug.innocent else bug.title,
        )
        for bug in bugs
    ]
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in [header, *rows]
    ]
    innocents = sum(bug.innocent for bug in bugs)
    lines += ["", f"{_count(len(bugs) - innocents, 'bug')}, {_count(innocents, 'innocent')}"]
    lines += [LOSS_LEGEND]
    return "\n".join(lines)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def as_json(bugs: Sequence[Bug], silences: Mapping[str, Silence]) -> str:
    """The facts, without the texts."""
    entries = [
        {
            "slug": bug.slug,
            "title": bug.title,
            "verdict": bug.verdict,
            "component": bug.component,
            "level": bug.level,
            "difficulty": bug.difficulty,
            "file": bug.file,
            "killed_by": list(bug.killed_by),
            "sources": [source.url for source in bug.sources],
            "training": silences[bug.slug].outcome,
            "loss_difference": silences[bug.slug].difference,
        }
        for bug in bugs
    ]
    return json.dumps({"version": VERSION, "bugs": entries}, indent=1, ensure_ascii=False)


def riddle(bug: Bug, hints: int) -> str:
    """What a student may see."""
    facts = f"{bug.slug}   {bug.component}, level {bug.level}, difficulty {bug.difficulty} of 5"
    parts = [click.style(facts, bold=True), *_section("Symptom", bug.teach.symptom)]
    parts += _section("Predict", bug.teach.predict)
    for number, hint in enumerate(bug.teach.hints[:hints], 1):
        parts += _section(f"Hint {number}", hint)
    if hints < len(bug.teach.hints):
        parts += ["", f"More: --hints {hints + 1}, --source; spoilers: --diff, --key"]
    return "\n".join(parts)


def evidence(bug: Bug, key: bool, symbols: Symbols) -> str:
    """What training the mutant shows, as far as it is known; with `key`, what a comparison with the
    correct GPT shows as well."""
    from .measure.story import compared, observed

    subject, setting = mutant_of(bug), setting_of(bug)
    try:
        found = recorded(subject, setting)
        if found is None:
            return ""
        correct = recorded(CORRECT_SUBJECT, found.setting)
    except Problem as problem:
        return str(problem)
    width = _width()
    lines = list(observed(found, correct, width, symbols))
    if key:
        lines += ["", *compared(found, width)]
    if not is_current(found, subject, setting):
        anew = f"bugkit measure {bug.slug}{place_option(bug.folder)}"
        lines += ["", f"  Sources have changed since this was measured; measure it anew: {anew}"]
    return "\n".join(lines)


def answer_key(bug: Bug) -> str:
    """Everything else."""
    verdict = "Innocent: an equivalent program" if bug.innocent else "The bug"
    parts = [*_section(verdict, bug.title), *_section("Explanation", bug.teach.explanation)]
    parts += _section("Misconception", bug.teach.misconception)
    parts += ["", click.style("Killed by", bold=True)]
    parts += [f"  {name}" for name in bug.killed_by] or ["  nothing"]
    if bug.sources:
        parts += ["", click.style("Seen in", bold=True)]
        for source in bug.sources:
            parts += [f"  {source.url}", *_wrapped(source.says, "    ")]
    return "\n".join(parts).lstrip("\n")


def difference(bug: Bug, repair: bool = False) -> str:
    """Unified diff from the correct module to the mutant's, or of the `repair` the other way."""
    correct = read_text(bug.original).splitlines(), f"correct/{bug.file}"
    mutant = source_of(bug).splitlines(), f"mutants/{bug.slug}/{bug.file}"
    (old, before), (new, after) = (mutant, correct) if repair else (correct, mutant)
    lines = difflib.unified_diff(old, new, before, after, lineterm="")
    colours = {"+": "green", "-": "red", "@": "cyan"}
    return "\n".join(click.style(line, fg=colours.get(line[:1])) for line in lines)


def source_of(bug: Bug) -> str:
    """The mutant's module. Raises Problem if it was never built."""
    return read_text(subject_of(bug).path / bug.file)


def _section(title: str, text: str) -> Iterator[str]:
    yield ""
    yield click.style(title, bold=True)
    yield from _wrapped(text, "  ")


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        " ".join(text.split()), _width(), initial_indent=indent, subsequent_indent=indent
    )


def _width() -> int:
    return min(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns)
