"""Looking at the catalogue: list and show."""

from pathlib import Path

import click

from .group import bug_of, catalogue_of, catalogue_option, cli, printable
from .selection import select_options, selected


@cli.command("list")
@select_options
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="How to print.",
)
@click.option(
    "--sort",
    type=click.Choice(["catalogue", "silence"]),
    default="catalogue",
    show_default=True,
    help="By level, component and slug, or the most silent first: those that least change the "
    "loss after training.",
)
@catalogue_option
def list_(
    component: str | None,
    level: int | None,
    difficulty: int | None,
    form: str,
    sort: str,
    folders: tuple[Path, ...],
) -> None:
    """List the bugs and innocents of the catalogue."""
    from ..listing import as_json, as_table, by_silence
    from ..measure.silence import silences

    bugs = selected(catalogue_of(folders).values(), component, level, difficulty)
    known = silences(bugs)
    bugs = by_silence(bugs, known) if sort == "silence" else bugs
    click.echo(printable(as_json(bugs, known) if form == "json" else as_table(bugs, known)))


@cli.command()
@click.argument("slug")
@click.option("--hints", type=click.IntRange(0, 4), default=0, help="Print the first N hints.")
@click.option("--diff", is_flag=True, help="Print what differs from the correct GPT. A spoiler.")
@click.option("--source", is_flag=True, help="Print the mutant's module.")
@click.option("--key", is_flag=True, help="Print the answer key. A spoiler.")
@catalogue_option
def show(
    slug: str, hints: int, diff: bool, source: bool, key: bool, folders: tuple[Path, ...]
) -> None:
    """Show one bug, without spoiling the hunt.

    What a person notices, a question to answer first, and what training it shows; more only if
    asked for.
    """
    from ..listing import answer_key, difference, evidence, riddle, source_of
    from ..measure.plot import ASCII, UNICODE

    bug = bug_of(catalogue_of(folders), slug)
    asked = not (diff or source) or key or hints
    symbols = UNICODE if printable(UNICODE.drawable) == UNICODE.drawable else ASCII
    parts = [riddle(bug, 4 if key else hints), evidence(bug, key, symbols)] if asked else []
    parts += [answer_key(bug)] if key else []
    parts += [difference(bug)] if diff else []
    parts += [source_of(bug)] if source else []
    click.echo(printable("\n\n".join(part.rstrip("\n") for part in parts if part)))
