"""Evidence: what each bug does when it is trained."""

from pathlib import Path

import click

from .. import exits
from ..catalogue import slug_of
from ..places import shown
from ..problems import Problem
from ..progress import Progress
from .group import bug_of, catalogue_of, catalogue_option, cli


@cli.command()
@click.argument("slugs", nargs=-1, metavar="[SLUG]...")
@click.option(
    "--check",
    "checking",
    is_flag=True,
    help="Write nothing; exit 1 if evidence is missing, out of date, or not what is measured now.",
)
@click.option(
    "--quick", is_flag=True, help="With --check: train nothing, only find what is out of date."
)
@click.option("--force", is_flag=True, help="Measure what is up to date as well.")
@click.option(
    "--jobs", type=click.IntRange(min=1), metavar="N", help="Processes at a time.  [default: cores]"
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="What one subject may take; longer is recorded as a hang.  [default: 60]",
)
@catalogue_option
@click.pass_context
def measure(
    ctx: click.Context,
    slugs: tuple[str, ...],
    checking: bool,
    quick: bool,
    force: bool,
    jobs: int | None,
    timeout: float | None,
    folders: tuple[Path, ...],
) -> None:
    """Train every mutant and record what a person would see.

    The correct GPT and each mutant are trained on the same text and seed for a few hundred steps.
    Losses, a sample of text and the largest differences go into evidence.json beside the bug.toml;
    what is up to date is not measured again. `bugkit show` and `bugkit list` make use of it.
    """
    from ..measure.run import TIMEOUT
    from ..measure.store import place_of
    from ..measure.update import check, tasks_of, update
    from ..options import Options
    from ..subject import CORRECT_SUBJECT, Subject, subject_of

    if quick and not checking:
        raise click.UsageError("--quick goes with --check: without training, nothing is measured")
    if force and checking:
        raise click.UsageError("--force writes and --check does not; choose one")
    catalogue = catalogue_of(folders)
    named = [s for s in slugs if slug_of(s) != CORRECT_SUBJECT.id]
    bugs = [bug_of(catalogue, s) for s in named] if slugs else list(catalogue.values())
    subjects: list[Subject] = [] if len(named) == len(slugs) and slugs else [CORRECT_SUBJECT]
    unbuilt: list[str] = []
    for bug in dict.fromkeys(bugs):
        try:
            subjects.append(subject_of(bug))
        except Problem as problem:
            unbuilt.append(str(problem))
    tasks = tasks_of(subjects)
    jobs, timeout = jobs or Options().jobs, timeout or TIMEOUT
    steps = check(tasks, jobs, timeout, quick) if checking else update(tasks, jobs, timeout, force)
    found: dict[Path, tuple[str, ...]] = {}
    written = 0
    with Progress("trained") as progress:
        for done, step in enumerate(steps, 1):
            progress.clear()
            found[step.place] = step.faults
            if step.written:
                written += 1
                click.echo(f"{shown(step.place)}: written")
            progress(done, len(tasks))
    # Steps come as they end; what is wrong is told in the order of the catalogue.
    places = [place_of(task.subject, task.setting) for task in tasks]
    faults = [fault for place in places for fault in found[place]]
    for fault in unbuilt + faults:
        click.echo(fault, err=True)
    if faults and checking:
        click.echo("Once it is meant to be so, record it with: bugkit measure", err=True)
    good = sum(not step_faults for step_faults in found.values())
    of = f"{good} of {len(tasks) + len(unbuilt)} pieces of evidence are right"
    click.echo(of + (f", {written} new" if written else ""))
    ctx.exit(exits.FINDING if unbuilt or faults else exits.FINE)
