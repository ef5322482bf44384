"""Running detectors: check and explain."""

import shutil
from pathlib import Path

import click

from ..places import shown
from ..problems import Problem
from .group import catalogue_of, catalogue_option, cli, printable

PIPE_WIDTH = 100
"""Columns of a line where no terminal tells."""


@cli.command()
@click.argument("names", nargs=-1, metavar="[SUBJECT]...")
@click.option(
    "--detector",
    "select",
    default="",
    metavar="EXPR",
    help="Only the detectors that EXPR names, in the syntax of pytest's -k.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "csv", "markdown", "html", "junit"]),
    help="What to print.  [default: table, or what the ending of --out says]",
)
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write there instead.")
@click.option(
    "--jobs", type=click.IntRange(min=1), metavar="N", help="Processes at a time.  [default: cores]"
)
@click.option(
    "--isolate",
    type=click.Choice(["chunk", "subject", "process"]),
    help="A fork for many mutants, one for each, or a new Python for each; the matrix is the same."
    "  [default: chunk on Linux, process elsewhere]",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="What one test, or an import, may take.  [default: 5]",
)
@click.option(
    "--memory",
    type=click.IntRange(min=1),
    metavar="MIB",
    help="What a subject may take (Linux).  [default: 1024]",
)
@click.option("--no-cache", is_flag=True, help="Run everything again.")
@click.option(
    "--blind", is_flag=True, help="Which properties fail, and not which known bug that looks like."
)
@catalogue_option
@click.pass_context
def check(
    ctx: click.Context,
    names: tuple[str, ...],
    select: str,
    form: str | None,
    out: Path | None,
    jobs: int | None,
    isolate: str | None,
    timeout: float | None,
    memory: int | None,
    no_cache: bool,
    blind: bool,
    folders: tuple[Path, ...],
) -> None:
    """Cross subjects with detectors: the kill matrix.

    A SUBJECT is a bug of the catalogue, `correct`, a .py file, or a folder with a package or an
    adapter.py. Without one: the correct GPT, all bugs and all innocents. For a GPT of your own
    it says which properties do not hold, and which known bug that looks like.
    """
    from ..checking import check_subjects, options_from, verdict

    options = options_from(
        select=select,
        jobs=jobs,
        isolate=isolate,
        timeout=timeout,
        memory=memory,
        cache=False if no_cache else None,
    )
    from ..files import write_text
    from ..report import SUFFIXES

    catalogue = catalogue_of(folders)
    if out is not None:
        _check_output(out, names)
        if form is None and out.suffix.lower() not in (*SUFFIXES, ".txt"):
            raise Problem(f"{out}: the ending does not tell the format; add --format")
    form = form or SUFFIXES.get(out.suffix.lower() if out else "", "")
    form = form or ("list" if names else "table")
    if blind and form != "list":
        raise Problem(
            "--blind: only the list for named subjects names no bugs; name your file or folder, "
            "and leave other formats away"
        )
    width = shutil.get_terminal_size((PIPE_WIDTH, 24)).columns
    matrix, text = check_subjects(names, catalogue, options, form, width, blind)
    if out is not None:
        write_text(out, click.unstyle(text).rstrip("\n") + "\n")
        click.echo(f"{shown(out)}: written", err=True)
    else:
        click.echo(printable(text.rstrip("\n")))
    ctx.exit(verdict(matrix))


def _check_output(out: Path, names: tuple[str, ...]) -> None:
    """Refuse, before anything is run, what should not be written over."""
    if out.is_dir():
        raise Problem(f"{shown(out)}: is a folder; name a file to write to")
    if not out.parent.is_dir():
        raise Problem(f"{shown(out)}: there is no folder {shown(out.parent)}")
    if out.suffix == ".py" or any(out.resolve() == Path(name).resolve() for name in names):
        raise Problem(f"{shown(out)}: is not written over: a report is no program")
    if out.exists() and not out.stat().st_mode & 0o222:
        raise Problem(f"{shown(out)}: cannot be written: it is read-only")


@cli.command()
@click.argument("subject")
@click.argument("detector")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="When to give up.",
)
@catalogue_option
@click.pass_context
def explain(
    ctx: click.Context, subject: str, detector: str, timeout: float, folders: tuple[Path, ...]
) -> None:
    """Tell the full story of one cell.

    First the property in words, then the test under plain pytest. DETECTOR is the name of a test or
    its key in the table, such as F3.
    """
    from ..explain import explain as tell

    ctx.exit(tell(subject, detector, catalogue_of(folders), timeout, printable))
