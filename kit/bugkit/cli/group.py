"""The group of commands, and what they share."""

import errno
import os
import sys
from pathlib import Path
from typing import Any

import click

from .. import __version__, exits
from ..catalogue import Bug, load_catalogue, slug_of
from ..places import MUTANTS
from ..problems import ControlFailed, Problem, nearest, reason


class Group(click.Group):
    """Turns a Problem into one message and an exit code."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read the command line; who stops it here is told as later."""
        try:
            return super().make_context(*args, **kwargs)
        except KeyboardInterrupt:
            raise click.exceptions.Exit(exits.STOPPED) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except ControlFailed as problem:
            code, said = exits.BROKEN_KIT, str(problem)
        except Problem as problem:
            code, said = exits.WRONG_USE, str(problem)
        except KeyboardInterrupt:
            code, said = exits.STOPPED, "stopped; what is finished is kept for the next run"
        except OSError as error:
            if error.errno == errno.EPIPE:  # the reader has seen enough
                raise
            what = "cannot write" if error.errno == errno.ENOSPC else error.filename
            said = f"{what or 'the system refuses'}: {reason(error)}"
            code = exits.WRONG_USE
        click.echo(f"bugkit: {said}", err=True)
        return ctx.exit(code)


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="bugkit")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Bug hunts for transformers.

    A correct NumPy GPT, mutants that each carry one real bug, and the tests that tell them
    apart. Begin with: bugkit check
    """
    if os.environ.get("NO_COLOR"):
        ctx.color = False


catalogue_option = click.option(
    "--catalogue",
    "folders",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="A folder of bugs of your own, beside those of the kit. May be given several times.",
)


def catalogue_of(folders: tuple[Path, ...]) -> dict[str, Bug]:
    """The catalogue of the kit with the given folders beside it."""
    return load_catalogue([MUTANTS, *folders])


def bug_of(catalogue: dict[str, Bug], name: str) -> Bug:
    """The bug of this slug, however its words are joined."""
    slug = slug_of(name)
    if slug not in catalogue:
        raise Problem(f"no bug is called {name}{nearest(slug, catalogue)}; see: bugkit list")
    return catalogue[slug]


def printable(text: str) -> str:
    """The text with plain stand-ins where the output cannot show a symbol."""
    from ..report.symbols import ASCII

    encoding = sys.stdout.encoding or "ascii"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        for symbol, plain in ASCII.items():
            text = text.replace(symbol, plain)
        return text.encode(encoding, "replace").decode(encoding)
    return text
