"""What printing costs: a thousand sheets as PDF, a file each, on two cores.

    python tests/benchmarks/worksheets.py [--sheets 1000] [--processes 2] [--figure FILE.svg]

The sheets of the catalogue, over and over, each time for a course of another name, so that no
two files are alike. Goal: within a minute.
"""

import argparse
import os
import resource
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from bugkit.catalogue import load_catalogue
from bugkit.engine import run
from bugkit.options import Options
from bugkit.progress import Progress
from bugkit.subject import subject_of
from bugkit.worksheet import pdf
from bugkit.worksheet.content import Header, sheet_of
from bugkit.worksheet.edition import public
from bugkit.worksheet.many import Job, render_all
from bugkit.worksheet.model import Hints, Layout, Sheet, SheetSet

GOAL = 60.0
"""Seconds for a thousand sheets."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="What printing costs.")
    parser.add_argument("--sheets", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--figure", type=Path, help="a drawing for sheets that have none")
    arguments = parser.parse_args()
    svg = arguments.figure.read_text(encoding="utf-8") if arguments.figure else ""
    sheets = catalogue_sheets(svg)
    with tempfile.TemporaryDirectory() as scratch:
        jobs = [job(Path(scratch), i, sheets) for i in range(arguments.sheets)]
        first = seconds(lambda: pdf.sheets(*jobs[0].arguments))
        again = seconds(lambda: pdf.sheets(*jobs[1].arguments))
        with Progress("sheets") as progress:
            wall = seconds(lambda: render_all(jobs, arguments.processes, progress))
        sizes = [path.stat().st_size for path in Path(scratch).iterdir()]
    assert len(sizes) == len(jobs)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime
    rate = len(jobs) / wall
    print(f"{len(jobs)} sheets, {arguments.processes} processes, {sum(sizes) / 2**20:.0f} MiB\n")
    print("| measured | value |")
    print("| --- | --- |")
    print(f"| the first sheet of a process | {first:.3f} s |")
    print(f"| the next one | {again:.3f} s |")
    print(f"| all | {wall:.1f} s |")
    print(f"| CPU of the processes | {cpu:.1f} s |")
    print(f"| memory of the largest | {used.ru_maxrss / 1024:.0f} MiB |")
    print(f"| load of the machine at the end, of {os.cpu_count()} | {os.getloadavg()[0]:.1f} |")
    print(f"| sheets a second | {rate:.1f} |")
    print(f"| the first sheet : one of all | {first * rate:.1f} x |")
    if wall > GOAL * len(jobs) / 1000:
        sys.exit(f"slower than {GOAL:.0f} s for a thousand sheets")


def catalogue_sheets(svg: str) -> list[Sheet]:
    """One for each bug."""
    bugs = list(load_catalogue().values())
    matrix = run([subject_of(bug) for bug in bugs], Options())
    made = [sheet_of(public(bug), matrix, Header(), Hints.STRIP) for bug in bugs]
    return [replace(s, figure=replace(s.figure, svg=s.figure.svg or svg)) for s in made]


def job(folder: Path, number: int, sheets: list[Sheet]) -> Job:
    """The sheet of this number, of a course that no other sheet is of."""
    sheet = replace(sheets[number % len(sheets)], course=f"Course {number}")
    arguments = (SheetSet(f"Sheet {number}", (sheet,)), Layout(hints=Hints.STRIP))
    return Job(folder / f"{number:04}.pdf", pdf.sheets, arguments)


def seconds(work: object) -> float:
    """How long it takes."""
    assert callable(work)
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
