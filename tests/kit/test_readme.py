"""The README and the layout: every command and option is documented, and nothing else is."""

import re
import statistics
import subprocess
import sys
from collections.abc import Iterator

import click
import pytest

from bugkit.catalogue import COMPONENTS, load_catalogue
from bugkit.cli import cli
from bugkit.matrix import Outcome
from bugkit.places import MUTANTS

ROOT = MUTANTS.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def commands(group: click.Group, before: str = "") -> Iterator[tuple[str, click.Command]]:
    """What can be run, by the words that run it: a group is no command itself."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, f"{before}{name} ")
        else:
            yield before + name, command


COMMANDS = dict(commands(cli))


def section(command: str) -> str:
    """What the README says of a command."""
    match = re.search(rf"^### `bugkit {command}\b.*?(?=^### |^## )", README, re.M | re.S)
    assert match, f"the README has no section on {command}"
    return match[0]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_documented_where_its_command_is(name: str) -> None:
    for parameter in COMMANDS[name].params:
        if isinstance(parameter, click.Option):
            for option in parameter.opts:
                assert f"`{option}" in section(name) or f"{option} " in section(name)
            if isinstance(parameter.type, click.Choice) and len(parameter.type.choices) < 10:
                for choice in parameter.type.choices:
                    assert choice in section(name)


def test_no_option_is_documented_that_does_not_exist() -> None:
    options = {o for command in COMMANDS.values() for p in command.params for o in p.opts}
    options |= {"--version", "--help"}
    documented = set(re.findall(r"^bugkit[^`\n]* (--[a-z-]+)", README, re.M))
    documented |= {o for name in COMMANDS for o in re.findall(r"`(--[a-z-]+)", section(name))}
    assert documented <= options


def test_every_command_and_option_explains_itself() -> None:
    for command in [*cli.commands.values(), *COMMANDS.values()]:
        assert command.help
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.help


def test_every_outcome_is_named() -> None:
    for outcome in Outcome:
        assert f"`{outcome}`" in README


def test_the_example_prints_what_the_readme_says() -> None:
    example = re.search(r"^```python\n(.*?)^```\n.*?^```\n(.*?)^```\n", README, re.M | re.S)
    assert example
    program, printed = example.groups()
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == printed


def test_the_catalogue_is_counted_right() -> None:
    bugs = list(load_catalogue().values())
    rows = []
    for component in COMPONENTS:
        those = [bug for bug in bugs if bug.component == component]
        real = [bug for bug in those if not bug.innocent]
        killers = [len(bug.killed_by) for bug in real]
        levels = sorted({bug.level for bug in those})
        rows.append(
            f"| {component} | {', '.join(map(str, levels))} | {len(real)} | "
            f"{len(those) - len(real)} | {statistics.median(killers):g} |"
        )
    real = [bug for bug in bugs if not bug.innocent]
    middle = statistics.median(len(bug.killed_by) for bug in real)
    rows.append(f"| **all** | | **{len(real)}** | **{len(bugs) - len(real)}** | **{middle:g}** |")
    table = "\n".join(
        [
            "| component | level | bugs | innocents | detectors that catch a bug |",
            "| --- | --- | --- | --- | --- |",
            *rows,
        ]
    )
    match = re.search(r"<!-- catalogue -->\n(.*?)\n<!-- end of catalogue -->", README, re.S)
    assert match and match[1].strip() == table, f"the README should hold\n{table}"


def test_the_top_level_holds_what_it_should() -> None:
    done = subprocess.run(
        ["git", "ls-tree", "--name-only", "HEAD"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        pytest.skip("not a git checkout")
    visible = {name for name in done.stdout.split() if not name.startswith(".")}
    assert visible == {
        "LICENSE",
        "README.md",
        "correct",
        "kit",
        "mutants",
        "pyproject.toml",
        "templates",
        "tests",
    }


def test_files_of_the_tool_stay_short() -> None:
    for path in (ROOT / "kit").rglob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 300, path
