"""`bugkit explain`: one cell under plain pytest, with the property in words before it."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping

import click

from . import exits
from .catalogue import Bug
from .matrix import Detector
from .problems import Problem, nearest
from .subject import Kind, find_subject
from .suite import Suite, with_suite


def explain(
    name: str,
    detector_name: str,
    catalogue: Mapping[str, Bug],
    timeout: float,
    printable: Callable[[str], str],
) -> int:
    """Print the story; the exit code says whether the property holds."""
    subject = find_subject(name, catalogue)
    detector = _detector(detector_name)
    title = f"{detector.label}  ({detector.key}, {detector.family})"
    click.echo(printable(click.style(title, bold=True)))
    if detector.story:
        click.echo(printable("\n" + detector.story))
    click.echo(f"\n{detector.id} on {subject.id}:\n")
    sys.stdout.flush()
    place = subject.id if subject.kind is Kind.CORRECT else str(subject.path)
    command = [
        sys.executable,
        "-P",  # what lies in the working directory is not what pytest means by its name
        "-m",
        "pytest",
        detector.node,
        "--gpt",
        place,
        "--tb=long",
        "-q",
        "-rs",
    ]
    command += ["-p", "no:cacheprovider", "-p", "bugkit.plugin", "--no-header"]
    with tempfile.TemporaryDirectory() as scratch:
        # Stray bytecode would land beside somebody's file.
        environment = {
            **os.environ,
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTEST_ADDOPTS": "",
            "PYTHONPYCACHEPREFIX": scratch,
        }
        try:
            done = subprocess.run(command, env=environment, timeout=timeout, check=False)
        except subprocess.TimeoutExpired:
            click.echo(f"Not finished within {timeout:g} s: it hangs, or needs a longer --timeout.")
            return exits.FINDING
    return exits.FINE if done.returncode == 0 else exits.FINDING


def _detector(name: str) -> Detector:
    found: list[Detector] = []

    def use(suite: Suite) -> None:
        found.extend(suite.detectors)

    with_suite("", use)
    for detector in found:
        if (
            name in (detector.id, detector.id.removeprefix("test_"))
            or name.upper() == detector.key.upper()
        ):
            return detector
    known = [detector.id for detector in found]
    raise Problem(f"no detector is called {name}{nearest(name, known)}")
