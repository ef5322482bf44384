"""What handing out costs: a course of a thousand, each with a folder, an archive and a key.

    python tests/benchmarks/handouts.py [--students 1000] [--worksheet html] [--disguise full]

Bugs are drawn from the whole catalogue. Then the same again, when all is there already, and the
parts for a few students in one process. Goal: a thousand within five minutes on two cores.
"""

import argparse
import os
import resource
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bugkit.archive import zipped
from bugkit.catalogue import load_catalogue
from bugkit.disguise import Level
from bugkit.files import write_bytes
from bugkit.handout.bench import Bench
from bugkit.handout.desk import Desk, make_folder, put
from bugkit.handout.make import Order, bench_for, make
from bugkit.handout.manifest import Manifest
from bugkit.handout.plan import planned
from bugkit.handout.pool import pool_of
from bugkit.handout.roster import Roster, Student
from bugkit.handout.secret import SIZE, Secret
from bugkit.handout.terms import Terms
from bugkit.measure.silence import silences
from bugkit.options import Options
from bugkit.progress import Progress
from bugkit.worksheet import html
from bugkit.worksheet.forms import Form
from bugkit.worksheet.key import KeySet
from bugkit.worksheet.model import Layout

GOAL = 300.0
"""Seconds for a thousand students."""

FEW = 30
"""Students whose parts are measured."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="What handing out costs.")
    parser.add_argument("--students", type=int, default=1000)
    parser.add_argument("--worksheet", choices=["html", "pdf", "ipynb"], default="html")
    parser.add_argument("--disguise", choices=["none", "light", "full"], default="full")
    arguments = parser.parse_args()
    catalogue = load_catalogue()
    terms = Terms(
        "Benchmark",
        pool_of(catalogue.values(), silences(catalogue.values())),
        innocent_share=0.2,
        disguise=Level(arguments.disguise),
        worksheet=Form(arguments.worksheet),
    )
    students = [Student(f"s{n:05}", f"Student {n}", None, n + 1) for n in range(arguments.students)]
    handouts = planned(Secret(bytes(range(SIZE))), terms, students)
    with Progress("steps") as progress:
        # So that the cache has what the detectors say.
        bench = bench_for(terms, [h for one in handouts for h in one.hunts], catalogue, progress)
    with tempfile.TemporaryDirectory() as scratch:
        record = Manifest("benchmark", terms, tuple(students))
        order = Order(
            Roster(Path("none"), "text", "", tuple(students)),
            handouts,
            record,
            Desk(Path(scratch) / "out"),
            with_archives=True,
        )
        with Progress("students") as progress:
            wall = seconds(lambda: make(order, catalogue, progress, progress))
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            again = seconds(lambda: make(order, catalogue, progress, progress))
        written = [path for path in Path(scratch).rglob("*") if path.is_file()]
        size = sum(path.stat().st_size for path in written)
        parts = shares(bench, order, Desk(Path(scratch) / "few" / "out"))
    print(
        f"{len(handouts)} students, {Options().jobs} processes, {len(written)} files, "
        f"{size / 2**20:.0f} MiB, {arguments.worksheet}, disguise {arguments.disguise}\n"
    )
    print("| measured | value |")
    print("| --- | --- |")
    print(f"| all | {wall:.1f} s |")
    print(f"| CPU of the processes | {used.ru_utime + used.ru_stime:.1f} s |")
    print(f"| students a second | {len(handouts) / wall:.1f} |")
    print(f"| the same when all is there | {again:.1f} s |")
    print(f"| memory of the largest process | {used.ru_maxrss / 1024:.0f} MiB |")
    print(f"| load of the machine at the end, of {os.cpu_count()} | {os.getloadavg()[0]:.1f} |")
    whole = sum(parts.values())
    for part, spent in parts.items():
        print(
            f"| {part}, CPU of one student | {1000 * spent:.0f} ms, {100 * spent / whole:.0f} % |"
        )
    if wall > GOAL * len(handouts) / 1000:
        sys.exit(f"slower than {GOAL:.0f} s for a thousand students")


def shares(bench: Bench, order: Order, desk: Desk) -> dict[str, float]:
    """Part of the work -> seconds of CPU for one student, once everything has been read."""
    with desk.open():
        pass
    spent: dict[str, float] = defaultdict(float)

    @contextmanager
    def timed(part: str) -> Iterator[None]:
        start = time.process_time()
        yield
        spent[part] += time.process_time() - start

    for handout in (*order.handouts[:FEW], *order.handouts[:FEW]):
        if handout is order.handouts[0]:
            spent.clear()  # the first round was to get warm
            desk = Desk(desk.out / "warm")
            with desk.open():
                pass
        with timed("the program in other words"):
            hunts = [bench.prepared(hunt) for hunt in handout.hunts]
        with timed("tests, texts and worksheet"):
            files = {name: data for hunt in hunts for name, data in hunt.files().items()}
        with timed("the key"):
            keys = KeySet("Answer keys", tuple(hunt.key("") for hunt in hunts))
            page = html.keys(keys, Layout()).encode()
        with timed("writing"):
            put(desk.folder(handout), files)
            write_bytes(desk.archive(handout), zipped(f"hunt-{handout.form}", files))
            make_folder(desk.page(handout).parent)
            write_bytes(desk.page(handout), page)
    count = min(FEW, len(order.handouts))
    return {part: total / count for part, total in spent.items()}


def seconds(work: Callable[[], object]) -> float:
    """How long it takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
