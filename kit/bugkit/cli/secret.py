"""The secret of a course."""

from pathlib import Path

import click

from ..places import shown
from .group import cli


@cli.group()
def secret() -> None:
    """The secret of a course, from which every student's bug is drawn."""


@secret.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE",
    help="File to write; never one that exists.",
)
def new(out: Path) -> None:
    """Draw a secret and write it to a new file that only you may read.

    Draw one for each course and keep it: with the same secret, roster and bugs, everybody gets the
    same handout again. It is a text of three lines that can be printed.
    """
    from ..handout.secret import fingerprint, new_secret, store

    drawn = new_secret()
    store(drawn, out)
    click.echo(f"{shown(out)}: written; its fingerprint is {fingerprint(drawn)}")
    click.echo("Keep it out of whatever students can read, and keep a copy: it cannot be replaced.")
