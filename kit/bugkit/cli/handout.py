"""Handing out: a broken GPT of their own for every student."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from ..catalogue import Bug
from ..places import shown
from ..problems import Problem
from ..progress import Progress
from .group import bug_of, catalogue_of, catalogue_option, cli, printable

if TYPE_CHECKING:
    from ..handout.desk import Desk
    from ..handout.request import Request
    from ..handout.terms import Terms

ALONE = "Bug hunt"
"""What a single folder is for, unless the teacher says."""

WORKSHEETS = ("html", "pdf", "ipynb")


@cli.command()
@click.option(
    "--roster",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The students: an export of Canvas, Moodle, Gradescope, Brightspace or GitHub Classroom, "
    "or a text file with one id a line.",
)
@click.option("--assignment", metavar="NAME", help="Another name gives everybody another bug.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder for the students' folders. The keys go to DIR-keys.",
)
@click.option(
    "--secret-file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The secret of the course, see: bugkit secret new.  [default: DIR-keys/secret.txt, drawn "
    "at the first run]",
)
@click.option(
    "--bugs",
    default="",
    metavar="SELECTOR",
    help="Which entries to draw from: slugs, components, level:N, difficulty:N and innocent, "
    "joined by and, or, not and brackets.  [default: all]",
)
@click.option(
    "--per-student",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Hunts for each student.",
)
@click.option(
    "--innocent-share",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    metavar="P",
    help="Probability that a hunt is for a program without a bug.",
)
@click.option(
    "--disguise",
    type=click.Choice(["none", "light", "full"]),
    default="full",
    show_default=True,
    help="How much a program differs from the public one, so that a comparison does not find the "
    "bug: not at all, in names, comments and order, or also in how things are written and where.",
)
@click.option(
    "--group-by",
    metavar="COLUMN",
    help="Column of the roster that names groups; a group gets one program.",
)
@click.option(
    "--worksheet",
    type=click.Choice(WORKSHEETS),
    default="html",
    show_default=True,
    help="Format of the worksheet.",
)
@click.option(
    "--texts",
    type=click.Choice(["neutral", "catalogue", "hints"]),
    default="neutral",
    show_default=True,
    help="What the worksheet says: the failing property and a figure; also the symptom and the "
    "question of the catalogue; also its hints. Who searches for their words finds the bug.",
)
@click.option(
    "--visible",
    default="",
    metavar="DETECTORS",
    help="Which tests students get, as in: bugkit check --detector.  [default: six that suit the "
    "bug, one of which fails]",
)
@click.option("--zip", "archives", is_flag=True, help="Also a .zip of each folder.")
@click.option(
    "--one",
    metavar="SLUG",
    help="A single folder, DIR, with this bug; no roster "
    "and no secret, so that whoever has the kit can make it again.",
)
@click.option(
    "--lookup",
    metavar="FORM",
    help="Say whose form this is, and print the key; also for a student's id. With --out, the rest "
    "is known from DIR-keys.",
)
@catalogue_option
@click.pass_context
def handout(
    ctx: click.Context,
    /,
    roster: Path | None,
    assignment: str | None,
    out: Path | None,
    secret_file: Path | None,
    bugs: str,
    archives: bool,
    one: str | None,
    lookup: str | None,
    folders: tuple[Path, ...],
    **options: Any,
) -> None:
    """Give every student of a course a broken GPT of their own.

    Each gets a folder with the whole program in words of its own, tests, a worksheet and a form to
    fill in, all marked with a form id. Which bug it is follows from the secret, the assignment and
    the student's id: the same command gives the same folders again, and a student who joins later
    changes nobody else's. What exists is left as it is, so a run that was stopped can be repeated.
    """
    from ..handout.desk import Desk

    catalogue = catalogue_of(folders)
    name = " ".join((assignment or "").split())

    def terms(name: str) -> "Terms":
        return _terms(catalogue, bugs, name, **options)

    desk = Desk(out) if out is not None else None
    if one is not None:
        _refuse_with_one(ctx)
        _hand_out_one(bug_of(catalogue, one), terms(name or ALONE), desk, archives, catalogue)
    elif lookup is not None:
        _look_up(lookup, roster, terms(name), desk, secret_file, catalogue)
    else:
        given = {"--roster": roster, "--assignment": name, "--out": desk}
        missing = " and ".join(option for option, value in given.items() if not value)
        if roster is None or desk is None or missing:
            raise click.UsageError(f"{missing} missing; for one folder there is --one")
        from ..handout.request import Request

        _hand_out(Request(roster, terms(name), desk, secret_file, not bugs, archives), catalogue)


def _refuse_with_one(ctx: click.Context) -> None:
    """What is about several students says nothing to a single folder."""
    alone = ("one", "out", "assignment", "disguise", "worksheet", "texts", "visible", "archives")
    for parameter in ctx.command.params:
        name = parameter.name or ""
        given = ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if given and name not in (*alone, "folders"):
            raise click.UsageError(f"{parameter.opts[0]} and --one do not go together")


def _terms(
    catalogue: dict[str, Bug],
    bugs: str,
    assignment: str,
    per_student: int,
    innocent_share: float,
    disguise: str,
    group_by: str | None,
    worksheet: str,
    texts: str,
    visible: str,
) -> "Terms":
    from ..disguise import Level
    from ..handout.pool import pool_of
    from ..handout.terms import Terms, Texts
    from ..measure.silence import silences
    from ..selector import chosen
    from ..suite import property_ids
    from ..worksheet.forms import Form

    if not assignment.isprintable():
        raise Problem(
            f"--assignment: {assignment!r} holds a character that cannot be printed; "
            "type the name without it"
        )
    if not 0 <= innocent_share <= 1:  # click lets nan pass
        raise Problem(f"--innocent-share: {innocent_share} is no probability; give 0 to 1")
    with _of_option("--bugs"):
        entries = chosen(bugs, catalogue.values()) if bugs.strip() else list(catalogue.values())
    with _of_option("--visible"):
        tests = property_ids(visible) if visible.strip() else ()
    return Terms(
        assignment=assignment,
        pool=pool_of(entries, silences(entries)),
        per_student=per_student,
        innocent_share=innocent_share,
        group_by=group_by,
        disguise=Level(disguise),
        worksheet=Form(worksheet),
        texts=Texts(texts),
        visible=tests,
    )


@contextmanager
def _of_option(option: str) -> Iterator[None]:
    """Puts the option before what is wrong with its value."""
    try:
        yield
    except Problem as problem:
        raise Problem(f"{option}: {problem}") from None


def _hand_out(request: "Request", catalogue: dict[str, Bug]) -> None:
    from ..handout.make import make
    from ..handout.request import ordered
    from ..handout.summary import told, warned

    order = ordered(request, catalogue, _say)
    desk = order.desk
    new = sum(not desk.folder(handout).exists() for handout in order.handouts)
    with Progress("checks") as checking, Progress("students") as making:
        records = make(order, catalogue, checking, making)
    for line in told(order, records, new):
        click.echo(printable(line))
    if odd := warned(records):
        _say(odd)
    if request.secret_file is None:
        click.echo(
            f"{shown(desk.secret)}: the secret; keep a copy of it, and never give it to students"
        )


def _hand_out_one(
    bug: Bug, terms: "Terms", desk: "Desk | None", archives: bool, catalogue: dict[str, Bug]
) -> None:
    from ..handout.single import make_single

    if desk is None:
        raise click.UsageError("--one needs --out DIR, the folder to make")
    with Progress("checks") as progress:
        make_single(bug, terms, desk, archives, catalogue, progress)
    click.echo(f"{shown(desk.out)}: for the student")
    click.echo(f"{shown(desk.keys)}: key.html, for you")


def _look_up(
    form: str,
    roster: Path | None,
    terms: "Terms",
    desk: "Desk | None",
    secret_file: Path | None,
    catalogue: dict[str, Bug],
) -> None:
    from ..handout.lookup import find, told

    handout, terms = find(form, roster, terms, desk, secret_file, catalogue)
    click.echo(printable(told(handout, terms, catalogue, desk)))


def _say(text: str) -> None:
    click.echo(f"bugkit: {printable(text)}", err=True)
