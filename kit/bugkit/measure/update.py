"""From subjects to evidence on disk: what is up to date, what is measured, what does not hold."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..files import write_text
from ..places import shown
from ..problems import ControlFailed, Problem
from ..subject import CORRECT_SUBJECT, Subject
from .evidence import Evidence, deviations, to_json
from .run import Task, measure
from .settings import Setting, setting_of
from .store import digest_of, is_current, place_of, recorded

MISSING = "is missing"
STALE = "is out of date: the correct GPT, the mutant or the script has changed since"


@dataclass(frozen=True, slots=True)
class Step:
    """What became of one piece of evidence."""

    place: Path
    written: bool = False
    faults: tuple[str, ...] = ()
    """Sentences that begin with the file."""


def tasks_of(subjects: Iterable[Subject]) -> list[Task]:
    """What there is to measure: every subject in its setting, and before them the correct GPT in
    the same settings, since nothing can be judged without it."""
    wanted = [(s, setting_of(s.bug)) for s in subjects if s.bug]
    asked = set(Setting) if CORRECT_SUBJECT in subjects else set()
    needed = asked | {setting for _, setting in wanted}
    controls = [(CORRECT_SUBJECT, setting) for setting in Setting if setting in needed]
    return [Task(s, setting, digest_of(s, setting)) for s, setting in [*controls, *wanted]]


def update(tasks: Sequence[Task], jobs: int, timeout: float, force: bool) -> Iterator[Step]:
    """Measure and write what is missing or out of date: a step for each task. What has been written
    when this is stopped is up to date next time."""
    todo = []
    for task in tasks:
        place = place_of(task.subject, task.setting)
        if not force and not fault_of(task)[0]:
            yield Step(place)
        elif not os.access(place.parent, os.W_OK):  # before it has taken its time
            yield Step(
                place, faults=(f"{shown(place)}: cannot be written: its folder is read-only",)
            )
        else:
            todo.append(task)
    for task, evidence in _measured(todo, jobs, timeout):
        place = place_of(task.subject, task.setting)
        if digest_of(task.subject, task.setting) != task.digest:
            yield Step(place, faults=(f"{shown(place)}: sources changed meanwhile; run it again",))
            continue
        try:
            write_text(place, to_json(evidence))
        except Problem as problem:
            yield Step(place, faults=(str(problem),))
        else:
            yield Step(place, written=True)


def check(tasks: Sequence[Task], jobs: int, timeout: float, quick: bool) -> Iterator[Step]:
    """Find what is missing, out of date, or not confirmed by measuring again. Writes nothing."""
    todo: dict[Task, Evidence] = {}
    for task in tasks:
        fault, evidence = fault_of(task)
        if fault or not evidence or quick:
            yield Step(place_of(task.subject, task.setting), faults=(fault,) if fault else ())
        else:
            todo[task] = evidence
    for task, measured in _measured(list(todo), jobs, timeout):
        place = place_of(task.subject, task.setting)
        found = deviations(todo[task], measured)
        yield Step(place, faults=tuple(f"{shown(place)}: {what}" for what in found))


def fault_of(task: Task) -> tuple[str, Evidence | None]:
    """Why the evidence on disk is not that of today's sources, or an empty text; and what it is."""
    place = place_of(task.subject, task.setting)
    try:
        evidence = recorded(task.subject, task.setting)
    except Problem as problem:
        return str(problem), None
    if evidence is None:
        return f"{shown(place)}: {MISSING}", None
    if not is_current(evidence, task.subject, task.setting):
        return f"{shown(place)}: {STALE}", evidence
    return "", evidence


def _measured(tasks: Sequence[Task], jobs: int, timeout: float) -> Iterator[tuple[Task, Evidence]]:
    for task, evidence in measure(tasks, jobs, timeout):
        if task.subject == CORRECT_SUBJECT and not evidence.finished:
            raise ControlFailed(
                f"the correct GPT does not train in the {task.setting} setting "
                f"({evidence.stage}: {evidence.message or evidence.outcome}); mend first"
            )
        yield task, evidence
