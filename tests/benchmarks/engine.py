"""What the engine costs, as ratios measured in one run.

    python tests/benchmarks/engine.py [--subjects 100]

Compares the engine with what a person would write first (one pytest process a subject) and with
the least that could do the same work (the bare test bodies in one warm process). Ratios between
ways of computing different matrices would mean nothing, so equality is checked first. Prints the
table of the README.
"""

import argparse
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bugkit.catalogue import load_catalogue
from bugkit.contract import Offer
from bugkit.places import DETECTORS, MUTANTS
from bugkit.subject import CORRECT_SUBJECT, Subject, load, subject_of
from bugkit.suite import Suite, with_suite

Rows = dict[str, dict[str, bool]]
"""Subject -> detector -> whether it passed."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds, of all processes together for `cpu`; and the largest process."""

    wall: float
    cpu: float
    peak_mib: float


def main() -> None:
    """Measure and print."""
    for library in ("OPENBLAS", "OMP", "MKL"):
        os.environ[f"{library}_NUM_THREADS"] = "1"  # in all that is started from here
    parser = argparse.ArgumentParser(description="What the engine costs.")
    parser.add_argument("--subjects", type=int, default=100)
    count = parser.parse_args().subjects
    with tempfile.TemporaryDirectory() as scratch:
        copies = Path(scratch) / "copies"
        subjects = repeated(count, copies)
        n = len(subjects)
        plain, plain_cost = measured(lambda: one_pytest_a_subject(subjects, Path(scratch)))
        bare, bare_cost = measured(lambda: warm_loop(copies, n))
        two, two_cost = measured(lambda: engine(copies, "--jobs", "2"))
        one, one_cost = measured(lambda: engine(copies, "--jobs", "1", "--isolate", "subject"))
        chunk, chunk_cost = measured(lambda: engine(copies, "--jobs", "1", "--isolate", "chunk"))
        for other in (bare, two, one, chunk):
            assert not (found := differences(plain, other)), f"the matrices differ: {found}"
        _, whole = measured(lambda: engine(None))
        os.environ["BUGKIT_CACHE_DIR"] = str(Path(scratch) / "cache")
        engine(None, cache=True)
        _, cached = measured(lambda: engine(None, cache=True))
    cells = sum(len(row) for row in plain.values())
    print(
        f"{n} subjects, {cells} cells, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"NumPy {np.__version__}, pytest {pytest.__version__}; all matrices equal.\n"
    )
    print("| measured | value |")
    print("| --- | --- |")
    row("CPU, one pytest process a subject : engine", plain_cost.cpu / two_cost.cpu, "x")
    row("wall, the same one after another : engine, 2 jobs", plain_cost.wall / two_cost.wall, "x")
    row("wall, engine, 1 job, a fork a subject : bare loop", one_cost.wall / bare_cost.wall, "x")
    row("CPU, engine, 1 job, in chunks : bare loop", chunk_cost.cpu / bare_cost.cpu, "x")
    row("start to first cell", first_cell(), "s")
    row("whole `bugkit check`", whole.wall, "s")
    row("the same again, from the cache", cached.wall, "s")
    row("memory of the largest process", two_cost.peak_mib, "MiB")


def differences(one: Rows, other: Rows) -> list[tuple[str, str]]:
    """The cells in which two matrices differ."""
    pairs = {(s, d) for rows in (one, other) for s, row in rows.items() for d in row}
    return sorted(p for p in pairs if one[p[0]].get(p[1]) is not other[p[0]].get(p[1]))


def row(what: str, value: float, unit: str) -> None:
    """One line of the table."""
    print(f"| {what} | {value:.{0 if value >= 20 else 2}f} {unit} |")


def repeated(count: int, folder: Path) -> list[Subject]:
    """The correct GPT, the whole catalogue, and copies of bugs in `folder` up to `count`."""
    bugs = list(load_catalogue().values())
    folder.mkdir()
    missing = max(1, count - 1 - len(bugs))
    for number in range(missing):
        bug = bugs[number % len(bugs)]
        shutil.copytree(bug.folder, folder / f"{bug.slug}_{number}")
    everything = load_catalogue([MUTANTS, folder])
    return [CORRECT_SUBJECT, *map(subject_of, everything.values())]


def measured(work: Callable[[], Any]) -> tuple[Any, Cost]:
    """The result of work done in child processes, and what it cost."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    result = work()
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return result, Cost(wall, cpu, after.ru_maxrss / 1024)


def one_pytest_a_subject(subjects: list[Subject], scratch: Path) -> Rows:
    """A new pytest process for each, as a person would start it."""
    rows = {}
    for subject in subjects:
        report = scratch / "report.xml"
        place = subject.id if subject.bug is None else str(subject.path)
        command = [sys.executable, "-m", "pytest", "-q", str(DETECTORS), f"--gpt={place}"]
        subprocess.run(
            [*command, f"--junitxml={report}"],
            env={
                **os.environ,
                "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
                "PYTEST_PLUGINS": "bugkit.plugin",
            },
            stdout=subprocess.DEVNULL,
            check=False,
        )
        rows[subject.id] = {
            case.attrib["name"]: case.find("failure") is None and case.find("skipped") is None
            for case in ET.parse(report).getroot().iter("testcase")
        }
    return rows


def engine(copies: Path | None, *arguments: str, cache: bool = False) -> Rows:
    """`bugkit check`, as a whole process."""
    command = [sys.executable, "-m", "bugkit", "check", "--format", "json", *arguments]
    command += [] if cache else ["--no-cache"]
    command += ["--catalogue", str(copies)] if copies else []
    done = subprocess.run(command, capture_output=True, check=True)
    rows: Rows = {}
    for cell in json.loads(done.stdout)["cells"]:
        rows.setdefault(cell["subject"], {})[cell["detector"]] = cell["outcome"] == "passed"
    return rows


def warm_loop(copies: Path, count: int) -> Rows:
    """The bare test bodies in one process, which is this file again."""
    done = subprocess.run(
        [sys.executable, __file__, WARM, str(copies)], capture_output=True, check=True
    )
    rows: Rows = json.loads(done.stdout)
    assert len(rows) == count
    return rows


WARM = "--warm-loop"


def run_warm_loop(copies: Path) -> None:
    """Load every subject and call every test function; no isolation at all."""
    rows: Rows = {}

    def use(suite: Suite) -> None:
        bugs = load_catalogue([MUTANTS, copies]).values()
        for subject in [CORRECT_SUBJECT, *map(subject_of, bugs)]:
            offer = Offer(load(subject))
            rows[subject.id] = {item.name: passes(item, offer) for item in suite.items}

    with_suite("", use)
    print(json.dumps(rows))


def passes(item: Any, offer: Offer) -> bool:
    """Call the test body."""
    try:
        item.obj(offer)
    except (Exception, pytest.skip.Exception, pytest.fail.Exception):
        return False
    return True


def first_cell() -> float:
    """Seconds from the start of the process until one cell of one subject is known."""
    start = time.perf_counter()
    command = ["check", "correct", "--no-cache", "--detector", "test_gelu_is_the_tanh_form"]
    subprocess.run([sys.executable, "-m", "bugkit", *command], capture_output=True, check=True)
    return time.perf_counter() - start


if __name__ == "__main__":
    if sys.argv[1:2] == [WARM]:
        run_warm_loop(Path(sys.argv[2]))
    else:
        main()
