"""What is asked for: whatever is wrong is told in one message before anything is written."""

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bugkit.disguise import Level
from bugkit.handout.manifest import NAME
from bugkit.handout.pool import Candidate
from bugkit.handout.request import Request, ordered
from bugkit.handout.secret import fingerprint, read_secret, store
from bugkit.handout.terms import Texts
from bugkit.problems import MissingTool, Problem
from bugkit.worksheet.forms import Form

from .asking import OTHER_SECRET, POOL, SECRET, TERMS, Course, catalogue, slugs, tree

MAY_ANYTHING = os.name != "posix" or os.geteuid() == 0

GROUPS = "First name,Last name,ID number,Groups\nAda,A,ada,{ada}\nBob,B,bob,{bob}\n"
BY_GROUP = replace(TERMS, group_by="Groups")


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    monkeypatch.chdir(tmp_path)
    return Course(tmp_path)


# What must not happen: the roster.


@pytest.mark.parametrize(
    ("roster", "words"),
    [
        ("", ["roster.csv: line 1", "empty"]),
        ("# nobody yet\n\n", ["roster.csv", "no student"]),
        ("colour,shape\nred,round\n", ["roster.csv: line 1", "'colour', 'shape'", "one id a line"]),
        ("ada\nbob\nada\n", ["roster.csv", "'ada' on lines 1, 3", "must occur once"]),
    ],
)
def test_a_wrong_roster_leaves_nothing_behind(
    course: Course, roster: str, words: list[str]
) -> None:
    course.refuses(*words, roster=roster)


def test_a_missing_roster_leaves_nothing_behind(course: Course) -> None:
    gone = course.folder / "nobody.csv"
    before = tree(course.folder)
    with pytest.raises(Problem, match=r"^nobody\.csv: cannot be read: No such file"):
        ordered(Request(gone, TERMS, course.desk, course.secret), catalogue(), course.said.append)
    assert tree(course.folder) == before


# The secret.


def test_a_secret_that_is_not_there_is_told_with_how_to_make_one(course: Course) -> None:
    course.refuses(
        "nowhere.txt: is not there",
        "bugkit secret new --out nowhere.txt",
        secret_file=course.folder / "nowhere.txt",
    )


def test_a_new_secret_is_not_proposed_where_there_are_handouts(course: Course) -> None:
    order = course.ask()
    course.hand_out(order.handouts[0])
    gone = course.folder / "nowhere.txt"
    for _ in range(2):
        with pytest.raises(Problem, match=r"^nowhere\.txt: is not there; .*drawn from it$"):
            course.ask(secret_file=gone)
        (course.desk.keys / NAME).unlink(missing_ok=True)


def test_a_manifest_alone_says_as_well_that_the_secret_was_lost(course: Course) -> None:
    course.ask(secret_file=None)
    course.desk.secret.unlink()
    course.refuses("secret.txt: is not there", "put it back", secret_file=None)


@pytest.mark.parametrize("manifest_too", [False, True])
def test_a_secret_that_was_lost_is_never_drawn_anew(course: Course, manifest_too: bool) -> None:
    order = course.ask(secret_file=None)
    course.hand_out(order.handouts[0])
    course.desk.secret.unlink()
    if manifest_too:
        (course.desk.keys / NAME).unlink()
    course.refuses("secret.txt: is not there", "put it back", "--secret-file", secret_file=None)
    assert not course.desk.secret.exists()


def test_an_archive_alone_says_as_well_that_the_secret_was_lost(course: Course) -> None:
    order = course.ask(secret_file=None)
    course.desk.archive(order.handouts[0]).write_bytes(b"")
    course.desk.secret.unlink()
    (course.desk.keys / NAME).unlink()
    course.refuses("secret.txt: is not there", secret_file=None)


def test_another_secret_than_that_of_the_handouts_is_refused(course: Course) -> None:
    course.ask()
    other = course.folder / "other.txt"
    store(OTHER_SECRET, other)
    course.refuses(
        *(NAME, fingerprint(SECRET), fingerprint(OTHER_SECRET), "--secret-file"),
        secret_file=other,
    )


def test_folders_tell_a_wrong_secret_even_where_the_manifest_is_gone(course: Course) -> None:
    order = course.ask()
    folder = course.hand_out(order.handouts[1])
    (course.desk.keys / NAME).unlink()
    other = course.folder / "other.txt"
    store(OTHER_SECRET, other)
    course.refuses(f"out{os.sep}{folder.name}", "--secret-file", "--out", secret_file=other)
    course.refuses("--assignment", terms=replace(TERMS, assignment="Hunt 2"))


def test_no_key_is_made_for_handouts_of_which_no_manifest_tells(course: Course) -> None:
    order = course.ask()
    course.hand_out(order.handouts[1])
    (course.desk.keys / NAME).unlink()
    for terms in (TERMS, replace(TERMS, pool=POOL[:1])):  # which changes no form
        course.refuses(NAME, "is not there, though out holds handouts", "--out", terms=terms)


def test_a_folder_that_is_no_handout_is_not_taken_for_one(course: Course) -> None:
    course.ask()
    (course.desk.out / "ada").mkdir(parents=True)
    course.refuses(f"out{os.sep}ada: is no handout from this secret and assignment")


def test_a_secret_among_the_handouts_is_refused(course: Course) -> None:
    for place in (course.desk.out, course.desk.out / "ada"):
        place.mkdir()
        inside = place / "secret.txt"
        store(SECRET, inside)
        course.refuses(
            "secret.txt: lies among the handouts", "move it elsewhere", secret_file=inside
        )
        inside.unlink()


# The terms.


OTHERS: dict[str, Any] = {
    "--assignment": {"assignment": "Hunt 2"},
    "--bugs": {"pool": POOL[:3]},
    "--per-student": {"per_student": 2},
    "--innocent-share": {"innocent_share": 0.5, "pool": (*POOL, Candidate("qkv_sliced", True))},
    "--group-by": {"group_by": "Groups"},
    "--disguise": {"disguise": Level.LIGHT},
    "--worksheet": {"worksheet": Form.MARKDOWN},
    "--texts": {"texts": Texts.HINTS},
    "--visible": {"visible": ("test_batch_items_are_independent",)},
}


@pytest.mark.parametrize("option", OTHERS)
def test_other_terms_than_those_of_the_handouts_are_refused(course: Course, option: str) -> None:
    roster = GROUPS.format(ada="x", bob="y")
    course.ask(roster)
    course.refuses(
        *(NAME, option, "--out"),
        roster=roster,
        terms=replace(TERMS, **OTHERS[option]),
        any_bugs=option != "--bugs",
    )


def test_groups_that_are_given_up_are_told_once_and_not_for_each_student(course: Course) -> None:
    roster = GROUPS.format(ada="x", bob="y")
    course.ask(roster, BY_GROUP)
    course.refuses("another --group-by: 'Groups', and not none", roster=roster)


def test_a_pool_too_small_is_refused(course: Course) -> None:
    course.refuses(
        "the pool holds 4 bugs, and a student may get 5", terms=replace(TERMS, per_student=5)
    )


def test_a_share_of_innocents_needs_innocents(course: Course) -> None:
    course.refuses("the pool holds 0 innocents", terms=replace(TERMS, innocent_share=0.1))


def test_a_bug_that_has_left_the_catalogue_is_told(course: Course) -> None:
    course.ask()
    fewer = {slug: bug for slug, bug in catalogue().items() if slug != "post_norm"}
    course.refuses(NAME, "post_norm", "--catalogue", catalogue=fewer)


def test_a_missing_library_is_told_before_anything_is_written(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "libcst", None)
    course.refuses("LibCST", "pip install", terms=replace(TERMS, disguise=Level.LIGHT))
    with pytest.raises(MissingTool):
        course.ask(terms=replace(TERMS, disguise=Level.FULL))
    monkeypatch.setitem(sys.modules, "typst", None)
    course.refuses("Typst", "pip install", terms=replace(TERMS, worksheet=Form.PDF))
    course.ask()  # which takes neither


# The folders.


@pytest.mark.parametrize("name", ["notes.txt", ".git", "cleo", "cleo.zip", "ada.txt"])
def test_what_is_nobodys_is_never_mixed_with_handouts(course: Course, name: str) -> None:
    course.desk.out.mkdir()
    (course.desk.out / name).write_text("mine", encoding="utf-8")
    for secret in (course.secret, None):
        course.refuses(f"out{os.sep}{name}: belongs to no student", "--out", secret_file=secret)


@pytest.mark.parametrize("folder", ["out", "out-keys"])
def test_a_file_in_the_place_of_a_folder_is_told(course: Course, folder: str) -> None:
    (course.folder / folder).write_text("mine", encoding="utf-8")
    course.refuses(f"{folder}: is a file; name another folder with --out")


@pytest.mark.skipif(MAY_ANYTHING, reason="root may write anywhere")
@pytest.mark.parametrize("folder", ["out", "out-keys"])
def test_a_folder_that_may_not_be_written_to_is_told(course: Course, folder: str) -> None:
    (course.folder / folder).mkdir(mode=0o500)
    course.refuses(f"{folder}: you may not write to it", "--out")


def test_a_folder_that_may_not_be_written_to_is_told_even_to_root(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    course.desk.out.mkdir()
    monkeypatch.setattr(os, "access", lambda *_: False)
    course.refuses("out: you may not write to it", "--out")


# What must happen.


@pytest.mark.parametrize("name", [".DS_Store", "Thumbs.db", "desktop.ini", ".making-x1"])
def test_what_systems_leave_behind_is_tolerated(course: Course, name: str) -> None:
    course.desk.out.mkdir()
    (course.desk.out / name).write_text("", encoding="utf-8")
    course.ask(secret_file=None)


def test_the_first_run_draws_a_secret_and_the_next_ones_keep_it(course: Course) -> None:
    order = course.ask(secret_file=None)
    drawn = read_secret(course.desk.secret)
    assert order.new_secret == drawn
    assert course.ask(secret_file=None) == replace(order, new_secret=None)
    assert read_secret(course.desk.secret) == drawn


def test_a_secret_of_the_course_is_not_copied_to_the_keys(course: Course) -> None:
    course.ask()
    keys = course.desk.keys
    assert {keys / "pages", keys / "records", keys / NAME} == set(keys.iterdir())
    assert list(course.desk.out.iterdir()) == []


def test_asking_again_changes_no_file(course: Course) -> None:
    course.ask()
    path = course.desk.keys / NAME
    os.utime(path, (1, 1))
    before = tree(course.folder)
    course.ask()
    assert tree(course.folder) == before
    assert path.stat().st_mtime == 1


def test_a_roster_that_grows_keeps_everybodys_plan(course: Course) -> None:
    before = course.ask("bob\nada\n")
    after = course.ask("aaron\nada\nzoe\nbob\n")
    assert [h.student.id for h in after.handouts] == ["aaron", "ada", "zoe", "bob"]
    assert {h.form: h.hunts for h in before.handouts}.items() <= {
        h.form: h.hunts for h in after.handouts
    }.items()
    assert course.said == []


def test_who_has_left_is_kept_and_told_and_may_return(course: Course) -> None:
    before = course.ask("ada\nbob\n")
    course.hand_out(before.handouts[0])
    after = course.ask("bob\n")
    assert course.said == ["student ada is on the roster no more: the handout and its key are kept"]
    assert slugs(after) == slugs(before)
    again = course.ask("bob\nada\n")
    assert course.said == []
    assert slugs(again) == slugs(before)


def test_who_changes_groups_keeps_the_handout_and_is_told(course: Course) -> None:
    before = course.ask(GROUPS.format(ada="owls", bob=""), BY_GROUP)
    after = course.ask(GROUPS.format(ada="", bob="larks"), BY_GROUP)
    assert course.said == [
        "student ada was in owls and is now in none: the handout stays that of before",
        "student bob was in no group and is now in larks: the handout stays that of before",
    ]
    assert [h.hunts for h in after.handouts] == [h.hunts for h in before.handouts]
    assert [h.student.group for h in after.handouts] == ["owls", None]


def test_bugs_that_come_to_the_catalogue_later_change_nothing(course: Course) -> None:
    before = course.ask()
    grown = replace(TERMS, pool=(Candidate("qkv_unpacked_in_wrong_order"), *POOL))
    assert course.ask(terms=grown) == before
    course.refuses("--bugs", "leave --bugs out", terms=grown, any_bugs=False)


@pytest.mark.parametrize("any_bugs", [False, True])
def test_bugs_that_have_become_harder_change_nothing(course: Course, any_bugs: bool) -> None:
    before = course.ask(any_bugs=any_bugs)
    harder = replace(TERMS, pool=tuple(replace(c, score=8 - c.score) for c in POOL[::-1]))
    assert course.ask(terms=harder, any_bugs=any_bugs) == before


def test_ids_that_are_no_names_of_folders_are_told_with_line_and_folder(course: Course) -> None:
    odd = ["../x", "CON", "ada.", "-rf", ".git"]
    order = course.ask("# ids\n" + "\n".join(odd) + "\nZoë Å\n0042\n")
    folders = [h.folder for h in order.handouts]
    assert course.said == [
        f"roster.csv: line {line}: {id_!r} can be no folder's name on every system, so the folder "
        f"is called {folder}"
        for line, (id_, folder) in enumerate(zip(odd, folders, strict=False), 2)
    ]
    assert all(course.desk.folder(h).parent == course.desk.out for h in order.handouts)
    assert folders[-1] == "0042"
