"""Making bugs and adapters: build, new and adapter."""

from pathlib import Path

import click

from .. import exits
from ..catalogue import COMPONENTS, is_slug, slug_of
from ..places import IN_CHECKOUT, MUTANTS, shown
from ..problems import Problem
from ..subject import place_option
from .group import bug_of, catalogue_of, catalogue_option, cli


@cli.command()
@click.argument("slugs", nargs=-1, metavar="[SLUG]...")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if anything is out of date.")
@catalogue_option
@click.pass_context
def build(
    ctx: click.Context, slugs: tuple[str, ...], check: bool, folders: tuple[Path, ...]
) -> None:
    """Make the mutants from their edits.

    Whatever would give a mutant away is refused: what a formatter or a linter would say, names that
    are left unused, comments, telling words, a change too large, or no change at all.
    """
    from ..build import build as build_all

    catalogue = catalogue_of(folders)
    bugs = [bug_of(catalogue, slug) for slug in slugs] or list(catalogue.values())
    faults = stale = written = 0
    for built in build_all(bugs, check):
        for fault in built.faults:
            click.echo(fault, err=True)
        faults += bool(built.faults)
        if built.changed:
            stale += check
            written += not check
            place = shown(built.bug.module)
            click.echo(f"{place}: out of date" if check else f"{place}: written", err=check)
    if stale:
        click.echo("Make them anew with: bugkit build", err=True)
    good = len(bugs) - faults - stale
    click.echo(f"{good} of {len(bugs)} modules are right" + (f", {written} new" if written else ""))
    ctx.exit(exits.FINDING if faults or stale else exits.FINE)


@cli.command()
@click.argument("slug")
@click.option(
    "--catalogue",
    "folder",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="The folder to put it into.  [default: mutants, in a checkout]",
)
def new(slug: str, folder: Path | None) -> None:
    """Begin a bug: write a bug.toml that explains itself."""
    from ..files import write_text
    from ..render import render

    if folder is None and not IN_CHECKOUT:
        raise Problem("say where your bugs live: bugkit new SLUG --catalogue PATH")
    name = slug_of(slug)
    if not is_slug(name):
        raise Problem(f"{slug}: cannot be a slug; use lower-case words, such as scores_not_scaled")
    place = (folder or MUTANTS) / name
    path = place / "bug.toml"
    if path.exists():
        raise Problem(f"{shown(path)}: exists already; choose another slug")
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Problem(f"{shown(place)}: cannot be made: {error.strerror}") from None
    write_text(path, render("bug.toml", slug=name, components=COMPONENTS, here=place_option(place)))
    click.echo(f"{shown(path)}: written; it says what to do next")


@cli.command()
@click.argument("shape", type=click.Choice(["class", "nanogpt"]))
def adapter(shape: str) -> None:
    """Print an adapter.py for a GPT of another shape.

    `class` is a NumPy GPT as a class, `nanogpt` a PyTorch module laid out like nanoGPT. Put the
    text beside your model as adapter.py, name your own attributes in it, and check the folder.
    """
    from ..files import read_text
    from ..places import TEMPLATES

    click.echo(read_text(TEMPLATES / "adapters" / f"{shape}.py"), nl=False)
