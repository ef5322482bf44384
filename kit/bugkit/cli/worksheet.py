"""Printing worksheets and their answer keys."""

from importlib.util import find_spec
from pathlib import Path

import click

from ..places import shown
from ..problems import MissingTool, Problem
from ..progress import Progress
from .group import bug_of, catalogue_of, catalogue_option, cli
from .selection import select_options, selected

FORMATS = ("html", "pdf", "markdown", "ipynb")


@cli.command()
@click.argument("names", nargs=-1, metavar="[SUBJECT]...")
@select_options
@click.option("--all", "everything", is_flag=True, help="Every bug and innocent of the catalogue.")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="html",
    show_default=True,
    help="For the browser, for paper, for the site of a course, or a Jupyter notebook.",
)
@click.option(
    "--key",
    is_flag=True,
    help="Make the answer keys too, in a folder of their own: DIR-keys.",
)
@click.option(
    "--hints",
    type=click.Choice(["strip", "none", "inline"]),
    default="strip",
    show_default=True,
    help="Hints to be cut off, none, or on the sheet.",
)
@click.option(
    "--paper",
    type=click.Choice(["a4", "letter"]),
    default="a4",
    show_default=True,
    help="Size of the pages.",
)
@click.option("--large-print", is_flag=True, help="Type of 17 points, on as many pages as needed.")
@click.option("--worked", is_flag=True, help="Begin with a hunt that is worked out in full.")
@click.option("--course", default="", metavar="TEXT", help="Name of the course, for the header.")
@click.option("--date", default="", metavar="TEXT", help="Date for the header.  [default: a blank]")
@click.option(
    "--time",
    "minutes",
    type=click.IntRange(1, 999),
    metavar="MINUTES",
    help="Time for each sheet.  [default: by difficulty]",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("worksheets"),
    show_default=True,
    metavar="DIR",
    help="Folder to write to.",
)
@click.option(
    "--set",
    "as_set",
    is_flag=True,
    help="One document with a contents page; the keys in another one.",
)
@click.option("--force", is_flag=True, help="Write over sheets that exist.")
@catalogue_option
def worksheet(
    names: tuple[str, ...],
    component: str | None,
    level: int | None,
    difficulty: int | None,
    everything: bool,
    form: str,
    key: bool,
    hints: str,
    paper: str,
    large_print: bool,
    worked: bool,
    course: str,
    date: str,
    minutes: int | None,
    out: Path,
    as_set: bool,
    force: bool,
    folders: tuple[Path, ...],
) -> None:
    """Print a bug hunt: what is wrong, the code, and boxes for the way to the bug.

    A SUBJECT is a bug or an innocent of the catalogue, or the code of a sheet, such as one that was
    found without its key. --component, --level and --difficulty select several; --all takes
    everything. Sheets name no bug: what code stands for which is printed here, and on the key.
    """
    from ..worksheet.codes import code_of, with_code
    from ..worksheet.content import Header
    from ..worksheet.forms import Form
    from ..worksheet.make import Order, make, with_example
    from ..worksheet.model import Hints, Layout, Paper

    catalogue = catalogue_of(folders)
    bugs = [with_code(name, catalogue) or bug_of(catalogue, name) for name in names]
    if everything or component or level or difficulty:
        bugs += selected(catalogue.values(), component, level, difficulty)
    elif not bugs:
        raise click.UsageError("name a bug, select some with --component or --level, or take --all")
    if not bugs:
        raise Problem("no bug fits; see: bugkit list")
    order = Order(
        bugs=tuple(dict.fromkeys(bugs)),
        form=Form(form),
        out=out,
        key=key,
        as_set=as_set,
        header=Header(course, date, minutes),
        layout=Layout(Paper(paper), large_print, Hints(hints)),
        force=force,
    )
    if worked:
        order = with_example(order, catalogue)
    with Progress("steps") as progress:
        for document in make(order, catalogue, progress):
            progress.clear()
            click.echo(shown(document.path(order.form)))
            for number, bug in enumerate(() if document.is_key else document.bugs, 1):
                example = "  (worked example)" if bug == order.example else ""
                click.echo(f"  {number:>3}  {code_of(bug.slug)}  {bug.slug}{example}")
    if find_spec("matplotlib") is None:
        missing = MissingTool(
            "figures stand as tables of numbers, for want of matplotlib", "worksheets"
        )
        click.echo(missing, err=True)
