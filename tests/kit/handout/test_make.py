"""What students get: it runs, holds its bug and nothing of the key, and is the same every time."""

import csv
import html
import io
import json
import os
import re
import shutil
import stat
import subprocess
import zipfile
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bugkit.catalogue import Bug
from bugkit.engine import run
from bugkit.handout.desk import Desk
from bugkit.handout.form import parse_form
from bugkit.handout.plan import Handout, Hunt
from bugkit.handout.record import HuntRecord, Record
from bugkit.handout.secret import SIZE, Secret
from bugkit.handout.terms import Terms
from bugkit.matrix import Matrix, Status
from bugkit.options import Options
from bugkit.places import MUTANTS
from bugkit.subject import Subject, find_subject
from bugkit.worksheet.program import CHECKED

from .conftest import INNOCENT, LATE, SLUGS, STUDENTS, TELLING, Course, HandOut, files_of
from .fresh import clean, make_environment

pytest.importorskip("libcst", reason="needs the extra handout")

STUDENT_FILES = {
    *("README.md", "answers.toml", "test_regression.py", "test_visible.py", "worksheet.html"),
    *("pytest.ini", "gpt/__init__.py"),
}
OUTCOME = re.compile(r"^(PASSED|FAILED|ERROR|SKIPPED) (?:\[\d+\] )?(\S+)", re.M)
JOBS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2


@dataclass(frozen=True)
class One:
    """A hunt that was handed out: its folder, and what the key says of it."""

    handout: Handout
    hunt: Hunt
    folder: Path
    student: Record
    record: HuntRecord

    def texts(self) -> dict[str, str]:
        paths = sorted(path for path in self.folder.rglob("*") if path.is_file())
        return {p.relative_to(self.folder).as_posix(): p.read_text("utf-8") for p in paths}


def hunts_of(course: Course) -> list[One]:
    return [
        One(handout, hunt, course.desk.folder(handout) / hunt.folder, student, record)
        for handout, student in zip(course.handouts, course.records, strict=True)
        for hunt, record in zip(handout.hunts, student.hunts, strict=True)
    ]


@pytest.fixture(scope="module")
def ones(course: Course, pair: Course) -> list[One]:
    """Every hunt of both courses."""
    return [*hunts_of(course), *hunts_of(pair)]


def test_the_sample_holds_every_kind(course: Course, pair: Course, ones: list[One]) -> None:
    assert {one.hunt.slug for one in hunts_of(course)} == set(SLUGS)
    assert max(Counter(one.hunt.slug for one in hunts_of(course)).values()) > 1
    assert [one.folder.name for one in hunts_of(pair)] == ["hunt-1", "hunt-2"]
    assert len({one.record.component for one in ones}) == len(SLUGS)
    assert any("~" in handout.folder for handout in course.handouts)


# What students do with it


@pytest.fixture(scope="module")
def outcomes(ones: list[One], tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, str]]:
    """What `python -m pytest` says in each folder: test -> outcome. Of a copy: nothing is to be
    written into the folders."""
    scratch = tmp_path_factory.mktemp("fresh")
    python = make_environment(scratch / "python")
    for module in ("libcst", "click", "bugkit", "jinja2"):
        command = [str(python), "-c", f"import {module}"]
        done = subprocess.run(command, env=clean(scratch), capture_output=True, text=True)
        assert "ModuleNotFoundError" in done.stderr, module

    def outcome(number: int) -> dict[str, str]:
        folder = shutil.copytree(ones[number].folder, scratch / str(number))
        command = [str(python), "-m", "pytest", "-rA", "--tb=no"]
        done = subprocess.run(
            command, cwd=folder, env=clean(scratch), capture_output=True, text=True, timeout=120
        )
        assert "warning" not in done.stdout, done.stdout
        found = {test.rpartition("::")[2]: what for what, test in OUTCOME.findall(done.stdout)}
        assert done.returncode == ("FAILED" in found.values()), done.stdout + done.stderr
        return found

    with ThreadPoolExecutor(JOBS) as threads:
        return list(threads.map(outcome, range(len(ones))))


def test_no_other_visible_test_fails_than_the_key_says(
    ones: list[One], outcomes: list[dict[str, str]]
) -> None:
    for one, found in zip(ones, outcomes, strict=True):
        fails = set(one.record.visible_that_fail)
        wanted = {id_: "FAILED" if id_ in fails else "PASSED" for id_ in one.record.visible}
        (skipped,) = [test for test, what in found.items() if what == "SKIPPED"]
        assert skipped.startswith("test_regression.py")
        assert {t: what for t, what in found.items() if t != skipped} == wanted, one.hunt.slug
        assert len(wanted) == CHECKED
        assert bool(fails) == (one.hunt.slug != INNOCENT)


@pytest.fixture(scope="module")
def subjects(ones: list[One]) -> list[Subject]:
    return [find_subject(str(one.folder / "gpt" / "__init__.py"), {}) for one in ones]


@pytest.fixture(scope="module")
def judged(subjects: list[Subject]) -> Matrix:
    """What all detectors say about the students' programs as they are."""
    return run(subjects, Options())


def test_no_copy_has_another_signature_than_the_catalogue_says(
    ones: list[One], subjects: list[Subject], judged: Matrix, catalogue: Mapping[str, Bug]
) -> None:
    for one, subject in zip(ones, subjects, strict=True):
        bug = catalogue[one.hunt.slug]
        assert set(judged.killers(subject)) == set(bug.killed_by), bug.slug
        assert not judged.broken(subject)
        wanted = Status.GREEN if bug.innocent else Status.KILLED
        assert judged.status(subject) is wanted
        assert bool(bug.killed_by) is not bug.innocent


# What students must not find


def telling(one: One, course_folder: Path, bug: Bug) -> set[str]:
    """Texts that no file of a student may hold, in small letters."""
    today = datetime.now(UTC)
    words = {"bugkit", "mutant", "catalogue", "innocent"}
    words |= {bug.slug, bug.slug.replace("_", "-"), bug.slug.replace("_", " "), bug.title}
    for text in (bug.teach.explanation, bug.teach.misconception):
        words |= set(re.split(r"(?<=[.?!])\s+", " ".join(text.split())))
    words |= {str(course_folder), str(Path.home()), str(MUTANTS.parent)}
    words |= {today.strftime(form) for form in ("%Y-%m-%d", "%Y%m%d", "%d.%m.%Y", "%d %b %Y")}
    words |= {one.student.student, *one.student.name.split()}
    return {word.lower() for word in words if len(word) > 2}


def held(text: str) -> str:
    """As a person reads it, and a search finds it."""
    return " ".join(html.unescape(text).split()).lower()


def test_no_file_tells_the_bug_the_tool_the_machine_or_the_student(
    ones: list[One], course: Course, pair: Course, catalogue: Mapping[str, Bug]
) -> None:
    for one in ones:
        words = telling(one, course.folder.parent, catalogue[one.hunt.slug])
        words |= {str(pair.folder).lower()}
        assert len(words) > 16
        for name, text in one.texts().items():
            for shape in (held(text), held(name)):
                assert not {word for word in words if word in shape}, (one.hunt.slug, name)


def test_the_same_search_finds_all_of_it_in_the_key(
    course: Course, catalogue: Mapping[str, Bug]
) -> None:
    for one in hunts_of(course):
        page = held(re.sub(r"<[^>]*>", "", course.desk.page(one.handout).read_text("utf-8")))
        bug = catalogue[one.hunt.slug]
        for word in (bug.title, bug.slug, one.student.student, one.student.name, one.hunt.code):
            assert word.lower() in page
        explained = re.split(r"(?<=[.?!])\s+", " ".join(bug.teach.explanation.split()))
        assert {s for s in explained if held(s).replace("`", "") in page.replace("`", "")}


def test_no_file_lacks_the_form_id(ones: list[One]) -> None:
    for one in ones:
        texts = one.texts()
        assert texts.keys() >= STUDENT_FILES
        assert len(texts) > 20
        assert not {name for name, text in texts.items() if one.hunt.code not in text}
        assert parse_form(one.hunt.code) == one.hunt.code
        found = {form for text in texts.values() for form in re.findall(FORM_ID, text)}
        assert found == {one.hunt.code}


FORM_ID = r"\b[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}\b"


def test_no_two_students_have_one_form(course: Course) -> None:
    assert len({handout.form for handout in course.handouts}) == len(STUDENTS)


# Archives


def test_no_archive_differs_from_its_folder(course: Course, pair: Course) -> None:
    for each in (course, pair):
        for handout in each.handouts:
            folder = each.desk.folder(handout)
            with zipfile.ZipFile(each.desk.archive(handout)) as archive:
                assert archive.testzip() is None
                entries = archive.infolist()
                content = {entry.filename: archive.read(entry) for entry in entries}
            top = f"hunt-{handout.form}/"
            assert content == {
                top + path.relative_to(folder).as_posix(): path.read_bytes()
                for path in folder.rglob("*")
                if path.is_file()
            }
            assert len(content) == len(entries)
            for entry in entries:
                assert entry.external_attr >> 16 == stat.S_IFREG | 0o644
                assert entry.date_time == (1980, 1, 1, 0, 0, 0)
                assert (entry.comment, entry.extra) == (b"", b"")


# Keys


def test_no_key_lies_among_the_handouts(course: Course) -> None:
    names = {name for h in course.handouts for name in (h.folder, f"{h.folder}.zip")}
    assert {path.name for path in course.desk.out.iterdir()} == names
    assert course.desk.out not in [course.desk.keys, *course.desk.keys.parents]
    assert course.desk.keys not in course.desk.out.parents
    pages = {f"{h.folder}.html" for h in course.handouts}
    assert {path.name for path in (course.desk.keys / "pages").iterdir()} == pages


def test_the_key_names_the_lines_of_the_students_own_files(
    ones: list[One], catalogue: Mapping[str, Bug]
) -> None:
    seen = set()
    for one in ones:
        bug = catalogue[one.hunt.slug]
        original = bug.module.read_text("utf-8").splitlines()
        assert one.record.original_file == bug.file
        assert set(one.record.original_lines) <= set(range(1, len(original) + 1))
        named = ""
        for file, numbers in one.record.lines.items():
            lines = (one.folder / "gpt" / file).read_text("utf-8").splitlines()
            assert set(numbers) <= set(range(1, len(lines) + 1))
            assert min(numbers) > 1  # the form id stands in the first
            named += "".join(f"{lines[number - 1]}\n" for number in numbers)
        assert named.strip()
        if token := TELLING.get(bug.slug):
            assert re.search(token, named), (bug.slug, named)
            assert len(named.splitlines()) < 8
            seen.add(bug.slug)
    assert seen == TELLING.keys()


def test_json_csv_and_pages_say_the_same(course: Course, pair: Course) -> None:
    for each in (course, pair):
        data = json.loads((each.desk.keys / "key.json").read_text("utf-8"))
        table = (each.desk.keys / "key.csv").read_text("utf-8-sig")
        rows = iter(csv.DictReader(io.StringIO(table, newline="")))
        for handout, student in zip(each.handouts, data["students"], strict=True):
            assert student["student"] == handout.student.id
            assert student["form"] == handout.form
            assert student["folder"] == handout.folder
            page = each.desk.page(handout).read_text("utf-8")
            for hunt, planned in zip(student["hunts"], handout.hunts, strict=True):
                row = next(rows)
                assert row["slug"] == hunt["slug"] == planned.slug
                assert row["student"] == handout.student.id
                assert row["form"] == handout.form
                places = [f"{file}:{n}" for file, numbers in hunt["lines"].items() for n in numbers]
                assert row["faulty lines"].split() == places
                assert row["hunt"] == str(hunt["number"])
                assert row["visible tests that fail"].split() == hunt["visible_that_fail"]
                assert hunt["slug"] in page
                assert next(iter(hunt["lines"])) in page
        assert next(rows, None) is None


# The same every time


def test_no_byte_depends_on_the_place_or_on_others_of_the_roster(
    course: Course, hand_out: HandOut, terms: Terms, tmp_path: Path
) -> None:
    other = hand_out(tmp_path / "elsewhere", terms, [LATE, *reversed(STUDENTS)])
    theirs = other.files()
    assert "out/zq9999@uni.example.zip" in theirs
    for handout in course.handouts:
        mine = course.files_for(handout.student.id)
        assert len(mine) > 20
        assert mine == {name: theirs[name] for name in mine}


def test_no_byte_of_others_changes_when_a_student_joins(
    course: Course, hand_out: HandOut, terms: Terms, tmp_path: Path
) -> None:
    shutil.copytree(course.folder, tmp_path / "copy")
    before = stamps(tmp_path / "copy")
    after = hand_out(tmp_path / "copy", terms, [LATE, *STUDENTS])
    now = stamps(tmp_path / "copy")
    whole = ("key.json", "key.csv", "handout.json", "roster.csv")
    assert after.desk.folder(after.handouts[0]).is_dir()
    assert {path for path in before if now[path] != before[path] and path.is_file()} == {
        path for path in before if path.name in whole
    }
    first, *others = after.records
    assert (first.student, tuple(others)) == ("zq9999@uni.example", course.records)


def test_nothing_that_is_missing_stays_missing(
    course: Course, hand_out: HandOut, terms: Terms, tmp_path: Path
) -> None:
    shutil.copytree(course.folder, tmp_path / "copy")
    desk, (first, second, third, *_) = Desk(tmp_path / "copy" / "out"), course.handouts
    desk.archive(first).unlink()
    desk.page(second).unlink()
    shutil.rmtree(desk.folder(third))
    for name in ("key.json", "key.csv"):
        (desk.keys / name).unlink()
    assert files_of(desk) != course.files()
    assert hand_out(tmp_path / "copy", terms).files() == course.files()


def stamps(folder: Path) -> dict[Path, tuple[int, bytes]]:
    """When each file was written, and what it holds."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def test_another_secret_gives_other_bugs_forms_and_words(
    course: Course, hand_out: HandOut, terms: Terms, tmp_path: Path
) -> None:
    other = hand_out(tmp_path / "other", terms, secret=Secret(bytes(reversed(range(SIZE)))))
    assert [h.hunts[0].slug for h in other.handouts] != [h.hunts[0].slug for h in course.handouts]
    assert not {h.form for h in other.handouts} & {h.form for h in course.handouts}
    theirs = {one.folder.parent.name: programs(one) for one in hunts_of(other)}
    assert all(programs(one) not in theirs.values() for one in hunts_of(course))


def programs(one: One) -> dict[str, str]:
    """The files of the program, without the form id."""
    texts = one.texts().items()
    return {name: text.replace(one.hunt.code, "") for name, text in texts if "gpt/" in name}


def test_no_two_students_with_one_bug_have_the_same_code(course: Course) -> None:
    by_slug: dict[str, list[dict[str, str]]] = {}
    for one in hunts_of(course):
        by_slug.setdefault(one.hunt.slug, []).append(programs(one))
    assert max(map(len, by_slug.values())) > 1
    for copies in by_slug.values():
        assert len({tuple(sorted(copy.items())) for copy in copies}) == len(copies)
        for file in copies[0].keys() & copies[-1].keys() - {"gpt/__init__.py"}:
            assert len(copies) == 1 or copies[0][file] != copies[-1][file], file
