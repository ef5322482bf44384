"""Edition + row of the matrix + catalogue -> Key."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from ..catalogue import Bug
from ..files import read_text
from ..matrix import Detector, Matrix
from ..places import TEMPLATES
from ..subject import subject_of
from ..tables import read_toml
from .content import Header, one_line
from .edition import Edition
from .excerpt import difference, touched
from .key import Criterion, Key, Reference, Verdict
from .received import names, received, trimmed
from .words import Paragraph, Prose, paragraph, prose

NEIGHBOURS = 3
"""How many of the bugs that are easily taken for this one are named."""


def key_of(edition: Edition, matrix: Matrix, catalogue: Mapping[str, Bug], header: Header) -> Key:
    """The answers. `matrix` holds the row of this bug."""
    bug, place = edition.bug, edition.place
    broken = read_text(bug.module)
    copied = edition.source != broken
    texts = _rubric()["innocent" if bug.innocent else "bug"]
    equal = _rubric()["equal"]["copy" if copied else "catalogue"]

    def worded(text: str) -> Prose:
        return prose(edition.wording(text))

    killers = set(matrix.killers(subject_of(bug)))
    return Key(
        code=edition.code,
        slug=bug.slug,
        title=bug.title,
        component=bug.component,
        level=bug.level,
        difficulty=bug.difficulty,
        minutes=header.minutes_for(bug.difficulty),
        innocent=bug.innocent,
        course=one_line(header.course),
        date=one_line(header.date),
        file=bug.file,
        fix=trimmed(difference(broken, read_text(bug.original))),
        explanation=worded(bug.teach.explanation),
        misconception=worded(bug.teach.misconception),
        predict=worded(bug.teach.predict),
        hints=tuple(map(worded, bug.teach.hints)),
        rubric=tuple(_criterion(box, place) for box in texts["box"]),
        accepted=(
            *([] if bug.innocent else [paragraph(equal)]),
            *(_filled(text, place) for text in texts["accepted"]),
            *_equal_programs(bug, catalogue.values()),
        ),
        wrong=_wrong_answers(bug, catalogue.values(), matrix.properties),
        prompts=tuple(_filled(text, place) for text in texts["prompts"]),
        caught_by=tuple(_verdict(d) for d in matrix.properties if d.id in killers),
        missed_by=tuple(_verdict(d) for d in matrix.properties if d.id not in killers),
        sources=tuple(Reference(s.url, paragraph(s.says)) for s in bug.sources),
        received=received(edition) if copied else (),
        names=names(edition) if copied else (),
    )


def _equal_programs(bug: Bug, catalogue: Iterable[Bug]) -> list[Paragraph]:
    """Innocents of the same function: other ways to write it that are known to be right."""
    functions = _functions(bug)
    return [
        paragraph(f"Another right way to write this part: {other.title} (`{other.slug}`).")
        for other in catalogue
        if other.innocent and other.file == bug.file and other.slug != bug.slug
        if functions & _functions(other)
    ]


def _functions(bug: Bug) -> set[str]:
    changed = touched(read_text(bug.module), read_text(bug.original))
    return {piece.name for piece in changed if piece.name}


def _wrong_answers(
    bug: Bug, catalogue: Iterable[Bug], properties: Iterable[Detector]
) -> tuple[Paragraph, ...]:
    """Bugs that fail nearly the same properties, and the property that tells them apart."""
    others = [other for other in catalogue if not other.innocent and other.slug != bug.slug]
    if bug.innocent:
        near = [other for other in others if other.file == bug.file]
        near.sort(key=lambda other: (other.component != bug.component, other.slug))
        return tuple(
            paragraph(f'"{other.title}": that would be `{other.slug}`, and there {_fails(other)}.')
            for other in near[:NEIGHBOURS]
        )
    labels = {d.id: d.label for d in properties}
    near = sorted(others, key=lambda other: (-_overlap(bug, other), other.slug))
    return tuple(
        paragraph(f'"{other.title}" (`{other.slug}`). {_apart(bug, other, labels)}')
        for other in near[:NEIGHBOURS]
        if _overlap(bug, other) > 0
    )


def _overlap(bug: Bug, other: Bug) -> float:
    ours, theirs = set(bug.killed_by), set(other.killed_by)
    return len(ours & theirs) / len(ours | theirs) if ours | theirs else 0.0


def _fails(bug: Bug) -> str:
    count = len(bug.killed_by)
    return "one property fails" if count == 1 else f"{count} properties fail"


def _apart(bug: Bug, other: Bug, labels: Mapping[str, str]) -> str:
    """The first property that one of the two fails and the other does not."""
    for id_, label in labels.items():
        if id_ in bug.killed_by and id_ not in other.killed_by:
            return f"There this property would hold, here it fails: {label}."
        if id_ in other.killed_by and id_ not in bug.killed_by:
            return f"There this property would fail, here it holds: {label}."
    return "Every property gives the same verdict on both."


def _verdict(detector: Detector) -> Verdict:
    return Verdict(detector.key, detector.id, paragraph(detector.label))


def _criterion(box: Mapping[str, str], place: str) -> Criterion:
    return Criterion(
        box["box"], *(_filled(box[points], place) for points in ("two", "one", "zero"))
    )


def _filled(text: str, place: str) -> Paragraph:
    return paragraph(text.replace("{place}", place))


@cache
def _rubric() -> dict[str, Any]:
    return read_toml(TEMPLATES / "worksheet" / "rubric.toml")
