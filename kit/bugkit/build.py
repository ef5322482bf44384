"""Writes the generated modules of the catalogue, or checks that they are what they should be."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .catalogue import Bug
from .edits import mutate
from .files import read_text, write_text
from .places import shown
from .problems import MissingTool, Problem
from .tells import find_tells


@dataclass(frozen=True, slots=True)
class Built:
    """What became of one bug."""

    bug: Bug
    changed: bool
    """Whether the module on disk was written, or would have to be."""
    faults: tuple[str, ...]
    """Why the bug cannot be built; then nothing was written."""


def build(bugs: Iterable[Bug], check: bool) -> Iterator[Built]:
    """Build each bug in turn. With `check` nothing is written."""
    for bug in bugs:
        try:
            source = mutate(bug)
            tells = find_tells(read_text(bug.original), source, bug.file)
        except MissingTool:
            raise
        except Problem as problem:
            yield Built(bug, changed=False, faults=(str(problem),))
            continue
        tells += [f"{key} still says ..." for key in _placeholders(bug)]
        if tells:
            place = shown(bug.folder / "bug.toml")
            yield Built(bug, changed=False, faults=tuple(f"{place}: {tell}" for tell in tells))
            continue
        stray = [p for p in sorted(bug.folder.glob("*.py")) if p != bug.module]
        right = bug.module.is_file() and bug.module.read_bytes() == source.encode()
        changed = bool(stray) or not right
        if changed and not check:
            try:
                write_text(bug.module, source)
            except Problem as problem:
                yield Built(bug, changed=False, faults=(str(problem),))
                continue
            for path in stray:
                path.unlink()
        yield Built(bug, changed, faults=())


def _placeholders(bug: Bug) -> list[str]:
    """Texts that were never filled in."""
    texts = {"title": bug.title, **{f"[teach] {key}": text for key, text in _texts(bug)}}
    for number, source in enumerate(bug.sources, 1):
        texts[f"[source {number}] url"] = source.url.removeprefix("https://")
        texts[f"[source {number}] says"] = source.says
    return [key for key, text in texts.items() if text.startswith("...")]


def _texts(bug: Bug) -> Iterator[tuple[str, str]]:
    for key in ("symptom", "predict", "explanation", "misconception"):
        yield key, getattr(bug.teach, key)
    for number, hint in enumerate(bug.teach.hints, 1):
        yield f"hint {number}", hint
