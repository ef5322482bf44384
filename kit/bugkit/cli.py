"""The command line: parse, call one function, print."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from . import __version__, exits
from .catalogue import COMPONENTS, LEVELS, Bug, load_catalogue, slug_of
from .places import IN_CHECKOUT, MUTANTS, shown
from .problems import Problem, nearest

PIPE_WIDTH = 100
"""Columns of a line where no terminal tells."""


class Group(click.Group):
    """Turns a Problem into one message and an exit code."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        from .engine import ControlFailed

        try:
            return super().invoke(ctx)
        except ControlFailed as problem:
            code, said = exits.BROKEN_KIT, str(problem)
        except Problem as problem:
            code, said = exits.WRONG_USE, str(problem)
        click.echo(f"bugkit: {said}", err=True)
        return ctx.exit(code)


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="bugkit")
def cli() -> None:
    """Bug hunts for transformers.

    A correct NumPy GPT, mutants that each carry one real bug, and the tests that tell them
    apart. Begin with: bugkit check
    """


catalogue_option = click.option(
    "--catalogue",
    "folders",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="A folder of bugs of your own, beside those of the kit. May be given several times.",
)
select_options = [
    click.option("--component", type=click.Choice(COMPONENTS), help="Only this component."),
    click.option(
        "--level", type=click.IntRange(LEVELS[0], LEVELS[-1]), help="Only this level (1 to 5)."
    ),
    click.option("--difficulty", type=click.IntRange(1, 5), help="Only this difficulty (1 to 5)."),
]


def _all_of(options: list[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    def add(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def _catalogue(folders: tuple[Path, ...]) -> dict[str, Bug]:
    return load_catalogue([MUTANTS, *folders])


def _bug(catalogue: dict[str, Bug], name: str) -> Bug:
    slug = slug_of(name)
    if slug not in catalogue:
        raise Problem(f"no bug is called {name}{nearest(slug, catalogue)}; see: bugkit list")
    return catalogue[slug]


@cli.command("list")
@_all_of(select_options)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="How to print.",
)
@catalogue_option
def list_(
    component: str | None,
    level: int | None,
    difficulty: int | None,
    form: str,
    folders: tuple[Path, ...],
) -> None:
    """List the bugs and innocents of the catalogue."""
    from .listing import as_json, as_table

    bugs = [
        bug
        for bug in _catalogue(folders).values()
        if component in (None, bug.component)
        and level in (None, bug.level)
        and difficulty in (None, bug.difficulty)
    ]
    click.echo(as_json(bugs) if form == "json" else as_table(bugs))


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
    """Show one bug: what a person notices, and nothing that spoils the hunt unless asked for."""
    from .listing import answer_key, difference, riddle, source_of

    bug = _bug(_catalogue(folders), slug)
    parts = [riddle(bug, 4 if key else hints)] if not (diff or source) or key or hints else []
    parts += [answer_key(bug)] if key else []
    parts += [difference(bug)] if diff else []
    parts += [source_of(bug)] if source else []
    click.echo("\n\n".join(part.rstrip("\n") for part in parts))


@cli.command()
@click.argument("slugs", nargs=-1, metavar="[SLUG]...")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if anything is out of date.")
@catalogue_option
@click.pass_context
def build(
    ctx: click.Context, slugs: tuple[str, ...], check: bool, folders: tuple[Path, ...]
) -> None:
    """Make the mutants' modules from their edits, and refuse whatever gives a mutant away."""
    from .build import build as build_all

    catalogue = _catalogue(folders)
    bugs = [_bug(catalogue, slug) for slug in slugs] or list(catalogue.values())
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
    from .files import write_text
    from .render import render

    if folder is None and not IN_CHECKOUT:
        raise Problem("say where your bugs live: bugkit new SLUG --catalogue PATH")
    name = slug_of(slug).lower()
    if not name.isidentifier():
        raise Problem(f"{slug}: a slug is made of lower-case words, such as scores_not_scaled")
    place = (folder or MUTANTS) / name
    path = place / "bug.toml"
    if path.exists():
        raise Problem(f"{shown(path)}: exists already; choose another slug")
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Problem(f"{shown(place)}: cannot be made: {error.strerror}") from None
    write_text(path, render("bug.toml", slug=name, components=COMPONENTS))
    click.echo(f"{shown(path)}: written; it says what to do next")


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
    "--jobs", type=click.IntRange(min=1), metavar="N", help="Processes at a time. [default: cores]"
)
@click.option(
    "--isolate",
    type=click.Choice(["subject", "chunk", "process"]),
    help="One fork a subject, one for ten, or a new Python for each.  [default: subject on "
    "Linux, process elsewhere]",
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
    folders: tuple[Path, ...],
) -> None:
    """Cross subjects with detectors: the kill matrix.

    A SUBJECT is a bug of the catalogue, `correct`, a .py file, or a folder with a package or an
    adapter.py. Without one: the correct GPT, all bugs and all innocents. For a GPT of your own
    it says which properties do not hold, and which known bug that looks like.
    """
    from .checking import check_subjects, options_from, verdict

    options = options_from(
        select=select,
        jobs=jobs,
        isolate=isolate,
        timeout=timeout,
        memory=memory,
        cache=False if no_cache else None,
    )
    from .files import write_text
    from .report import SUFFIXES

    catalogue = _catalogue(folders)
    form = form or SUFFIXES.get(out.suffix.lower() if out else "", "table")
    if out is not None and out.is_dir():
        raise Problem(f"{shown(out)}: is a folder; name a file to write to")
    width = (
        shutil.get_terminal_size((PIPE_WIDTH, 24)).columns if sys.stdout.isatty() else PIPE_WIDTH
    )
    matrix, text = check_subjects(names, catalogue, options, form, width)
    if out is not None:
        write_text(out, click.unstyle(text).rstrip("\n") + "\n")
        click.echo(f"{shown(out)}: written", err=True)
    else:
        click.echo(_printable(text.rstrip("\n")))
    ctx.exit(verdict(matrix))


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
    """Tell the full story of one cell: the property in words, then the test under plain pytest.

    DETECTOR is the name of a test or its key in the table, such as F3.
    """
    from .explain import explain as tell

    ctx.exit(tell(subject, detector, _catalogue(folders), timeout, _printable))


@cli.command()
@click.argument("shape", type=click.Choice(["class", "nanogpt"]))
def adapter(shape: str) -> None:
    """Print an adapter.py to begin with, for a GPT of another shape.

    `class` is a NumPy GPT as a class, `nanogpt` a PyTorch module laid out like nanoGPT. Put the
    text beside your model as adapter.py, name your own attributes in it, and check the folder.
    """
    from .files import read_text
    from .places import TEMPLATES

    click.echo(read_text(TEMPLATES / "adapters" / f"{shape}.py"), nl=False)


def _printable(text: str) -> str:
    """The text with plain stand-ins where the output cannot show a symbol."""
    from .report.symbols import ASCII

    encoding = sys.stdout.encoding or "ascii"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        for symbol, plain in ASCII.items():
            text = text.replace(symbol, plain)
        return text.encode(encoding, "replace").decode(encoding)
    return text
