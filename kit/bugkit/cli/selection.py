"""Options that select bugs by what they are about."""

from collections.abc import Callable, Iterable
from typing import Any

import click

from ..catalogue import COMPONENTS, DIFFICULTIES, LEVELS, Bug

_OPTIONS = [
    click.option("--component", type=click.Choice(COMPONENTS), help="Only this component."),
    click.option(
        "--level", type=click.IntRange(LEVELS[0], LEVELS[-1]), help="Only this level (1 to 5)."
    ),
    click.option(
        "--difficulty",
        type=click.IntRange(DIFFICULTIES[0], DIFFICULTIES[-1]),
        help="Only this difficulty (1 to 5).",
    ),
]


def select_options(command: Any) -> Any:
    """Adds `component`, `level` and `difficulty` to a command."""
    add: Callable[[Any], Any]
    for add in reversed(_OPTIONS):
        command = add(command)
    return command


def selected(
    bugs: Iterable[Bug], component: str | None, level: int | None, difficulty: int | None
) -> list[Bug]:
    """The bugs that fit what was given."""
    return [
        bug
        for bug in bugs
        if component in (None, bug.component)
        and level in (None, bug.level)
        and difficulty in (None, bug.difficulty)
    ]
