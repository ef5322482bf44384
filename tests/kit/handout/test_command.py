"""`bugkit handout`: what a teacher types, and what is told. Wrong use first: it leaves nothing."""

import csv
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bugkit import exits
from bugkit.cli import cli
from bugkit.handout.copy import MARK
from bugkit.handout.form import form_of
from bugkit.handout.make import Order, begun
from bugkit.handout.manifest import NAME
from bugkit.handout.record import Record
from bugkit.handout.secret import store
from bugkit.worksheet.codes import ALPHABET

from .asking import OTHER_SECRET, SECRET, tree

ASK = ("--assignment", "Hunt 1", "--out", "out", "--disguise", "none")
ROSTER = ("--roster", "roster.csv", *ASK)
SECRET_FILE = ("--secret-file", "course.txt")

GROUPED = (
    "First name,Last name,ID number,Groups\n"
    '=HYPERLINK("http://x"),Nguyễn,0042,owls\n'
    "Bob,B,CON,owls\n"
)
FORM = form_of(SECRET, "Hunt 1", "0042")


def only_begun(order: Order, *_: object) -> tuple[Record, ...]:
    """As much of making as a later run must agree with."""
    with begun(order):
        return ()


def handout(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["handout", *arguments], catch_exceptions=False)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with a roster and a secret."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "roster.csv").write_text("0042\nbob\n", encoding="utf-8")
    store(SECRET, tmp_path / "course.txt")
    return tmp_path


@pytest.fixture
def refused(here: Path) -> Callable[..., str]:
    """Runs the command, which tells one thing on standard error and changes no file."""

    def refused(*arguments: str) -> str:
        before = tree(here)
        result = handout(*arguments)
        assert result.exit_code == exits.WRONG_USE, result.output
        assert not result.stdout
        assert "Traceback" not in result.stderr
        lines = [line for line in result.stderr.splitlines() if line]
        usage = [line for line in lines if line.startswith(("Usage: ", "Try "))]
        (told,) = [line for line in lines if line not in usage]
        assert told.startswith("Error: " if usage else "bugkit: ")
        assert tree(here) == before
        return told

    return refused


# What must not happen.


WRONG: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "nothing at all": ((), ("--roster and --assignment and --out missing", "--one")),
    "no assignment": (("--roster", "roster.csv", "--out", "out"), ("--assignment",)),
    "an empty assignment": ((*ROSTER, "--assignment", " \t"), ("--assignment",)),
    "no roster": (ASK, ("--roster",)),
    "no folder": (("--roster", "roster.csv", "--assignment", "x"), ("--out",)),
    "a missing roster": (
        (*ASK, "--roster", "nobody.csv"),
        ("nobody.csv: cannot be read: No such file",),
    ),
    "a folder for a roster": ((*ASK, "--roster", "."), (".: cannot be read",)),
    "a missing secret": (
        (*ROSTER, "--secret-file", "gone.txt"),
        ("gone.txt: is not there", "bugkit secret new --out gone.txt"),
    ),
    "a secret that is none": ((*ROSTER, "--secret-file", "roster.csv"), ("roster.csv: ",)),
    "control characters": (
        (*ROSTER, "--assignment", "a\x07b"),
        ("--assignment: 'a\\x07b' holds a character that cannot be printed", "without it"),
    ),
    "a selector that fits nothing": (
        (*ROSTER, "--bugs", "level:1 and level:2"),
        ("--bugs: 'level:1 and level:2': fits none", "bugkit list"),
    ),
    "no such test": (
        (*ROSTER, "--visible", "nonesuch"),
        ("--visible: no detector matches 'nonesuch'",),
    ),
    "a pool too small": (
        (*ROSTER, "--bugs", "post_norm", "--per-student", "2"),
        ("the pool holds 1 bug, and a student may get 2", "--bugs", "--per-student"),
    ),
    "no innocents": (
        (*ROSTER, "--bugs", "not innocent", "--innocent-share", "0.2"),
        ("the pool holds 0 innocents, and a student may get 1", "--bugs"),
    ),
    "no student's worth": ((*ROSTER, "--per-student", "0"), ("--per-student",)),
    "a share above one": ((*ROSTER, "--innocent-share", "1.5"), ("--innocent-share",)),
    "a share that is no number": (
        (*ROSTER, "--innocent-share", "nan"),
        ("--innocent-share: nan is no probability; give 0 to 1",),
    ),
    "groups of a list": (
        (*ROSTER, "--group-by", "Groups"),
        ("roster.csv: line 1: a list of ids has no column 'Groups'",),
    ),
    "a catalogue that is not there": ((*ROSTER, "--catalogue", "gone"), ("gone: ",)),
    "a folder that is a file": ((*ROSTER, "--out", "roster.csv"), ("roster.csv: is a file",)),
    "the top of the disk": ((*ROSTER, "--out", "/"), ("no folder fits beside it",)),
    "one and a roster": (
        ("--one", "post_norm", "--out", "out", "--roster", "roster.csv"),
        ("--roster and --one do not go together",),
    ),
    "one and a form": (("--one", "post_norm", "--out", "out", "--lookup", FORM), ("--one",)),
    "one with a share": (
        ("--one", "post_norm", "--out", "out", "--innocent-share", "0.5"),
        ("--innocent-share and --one do not go together",),
    ),
    "one without a folder": (("--one", "post_norm"), ("--one needs --out DIR",)),
    "one that is unknown": (
        ("--one", "post_nrom", "--out", "out"),
        ("post_nrom", "did you mean post_norm"),
    ),
    "a form and nothing else": (
        ("--lookup", FORM),
        ("--lookup: give --out DIR", "--secret-file, --roster and --assignment"),
    ),
    "a form and a folder of nothing": (
        ("--lookup", FORM, "--out", "out"),
        (f"out-keys{os.sep}{NAME}: is not there",),
    ),
    "a short form": (("--lookup", "AAAA"), ("'AAAA': has 4 characters, and needs 8",)),
    "a form with a slip": (
        ("--lookup", FORM[:-1] + ALPHABET[ALPHABET.index(FORM[-1]) - 1]),
        ("a character is wrong or two have changed places; read it again",),
    ),
    "a form with a swap": (
        ("--lookup", FORM[1] + FORM[0] + FORM[2:]),
        ("a character is wrong or two have changed places; read it again",),
    ),
    "a form of nobody": (
        ("--lookup", form_of(SECRET, "Hunt 1", "eve"), *ROSTER, *SECRET_FILE),
        ("is no student's",),
    ),
    "a form of another assignment": (
        ("--lookup", FORM, *ROSTER, *SECRET_FILE, "--assignment", "Hunt 2"),
        (f"form {FORM}: is no student's; look whether roster, assignment and secret",),
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_use_is_told_in_one_message_and_leaves_nothing(
    refused: Callable[..., str], case: str
) -> None:
    arguments, words = WRONG[case]
    told = refused(*arguments)
    assert [word for word in words if word not in told] == [], told


def test_a_wrong_selector_is_told_with_the_words_it_may_have(here: Path) -> None:
    before = tree(here)
    result = handout(*ROSTER, "--bugs", "colour:3")
    assert result.exit_code == exits.WRONG_USE
    assert result.stderr.startswith("bugkit: --bugs: 'colour:3', column 1: 'colour:3' is not known")
    assert "level:1 to level:5" in result.stderr
    assert tree(here) == before


@pytest.mark.parametrize(
    ("roster", "words"),
    [
        ("", ("roster.csv: line 1: the roster is empty",)),
        ("colour,shape\nred,round\n", ("roster.csv: line 1", "'colour', 'shape'")),
        ("ada\nbob\nada\n", ("roster.csv: an id must occur once: 'ada' on lines 1, 3",)),
    ],
)
def test_a_wrong_roster_is_told_with_its_line(
    here: Path, refused: Callable[..., str], roster: str, words: tuple[str, ...]
) -> None:
    (here / "roster.csv").write_text(roster, encoding="utf-8")
    told = refused(*ROSTER)
    assert [word for word in words if word not in told] == [], told


@pytest.mark.parametrize("name", ["notes.txt", ".DS_Store"])
def test_a_single_folder_is_put_in_no_place_that_is_taken(
    here: Path, refused: Callable[..., str], name: str
) -> None:
    (here / "out").mkdir()
    (here / "out" / name).write_text("", encoding="utf-8")
    told = refused("--one", "post_norm", "--out", "out")
    assert f"out: is not empty, it holds {name}; name another folder with --out" in told


def test_a_single_folder_is_not_put_where_the_teacher_is(
    here: Path, refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "empty").mkdir()
    monkeypatch.chdir(here / "empty")
    assert ".: is where you are; name a folder to make" in refused(
        "--one", "post_norm", "--out", "."
    )


def test_a_library_that_is_missing_is_told(
    refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "libcst", None)
    for arguments in (ROSTER, ("--one", "post_norm", "--out", "out")):
        told = refused(*arguments, "--disguise", "full")
        assert "--disguise full needs the library LibCST; install it with: pip install" in told


def test_a_manifest_that_is_damaged_is_told(here: Path, refused: Callable[..., str]) -> None:
    (here / "out-keys").mkdir()
    (here / "out-keys" / NAME).write_text('{"version": 1,', encoding="utf-8")
    for arguments in (ROSTER, ("--lookup", FORM, "--out", "out")):
        assert f"out-keys{os.sep}{NAME}: not as bugkit wrote it" in refused(*arguments)


# What must happen: two students of one group, who are handed out to once for all that follows.


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """A folder in which it was handed out, and what was told."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "roster.csv").write_text(GROUPED, encoding="utf-8")
    store(SECRET, folder / "course.txt")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("BUGKIT_CACHE_DIR", str(folder / "cache"))
        return folder, handout(*ROSTER, *SECRET_FILE, *CHOSEN)


CHOSEN = ("--group-by", "Groups", "--bugs", "scores_not_scaled or post_norm", "--visible", "F1")


def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "out-keys" / "key.csv").open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream, strict=True))


def test_the_summary_says_what_was_made_and_where(made: tuple[Path, Result]) -> None:
    folder, result = made
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "roster.csv: 2 students, Moodle roster, ids from ID number",
        "out: 2 folders for students, all new",
        "out-keys: key.csv, key.json, and a page for each student in pages",
        "2 hunts, 1 different",
    ]
    odd, unseen = [line for line in result.stderr.splitlines() if line.startswith("bugkit: ")]
    name = rows(folder)[1]["folder"]
    assert "roster.csv: line 3: 'CON' can be no folder's name" in odd
    assert odd.endswith(f"so the folder is called {name}")
    assert unseen == (
        "bugkit: in 2 hunts no visible test fails: to choose more with --visible, "
        "name another folder with --out as well"
    )


def test_a_group_has_one_program_under_two_forms(made: tuple[Path, Result]) -> None:
    folder, _ = made
    ada, bob = rows(folder)
    assert ada["slug"] == bob["slug"]
    assert ada["form"] == FORM != bob["form"]
    sources = []
    for row in (ada, bob):
        gpt = folder / "out" / row["folder"] / "gpt"
        texts = {path.name: path.read_text(encoding="utf-8") for path in gpt.iterdir()}
        mark = MARK.format(row["form"])
        assert all(text.startswith(mark) for text in texts.values())
        sources.append({name: text.removeprefix(mark) for name, text in texts.items()})
    assert sources[0] == sources[1]


def test_the_key_opens_as_a_table_and_as_data(made: tuple[Path, Result]) -> None:
    folder, _ = made
    ada, bob = rows(folder)
    content = json.loads((folder / "out-keys" / "key.json").read_text(encoding="utf-8"))
    assert [s["student"] for s in content["students"]] == ["0042", "CON"]
    assert [ada["student"], bob["student"]] == ["0042", "CON"]
    assert content["students"][0]["name"] == '=HYPERLINK("http://x") Nguyễn'
    assert ada["name"] == '\'=HYPERLINK("http://x") Nguyễn'


def test_nothing_that_students_get_is_a_key(made: tuple[Path, Result]) -> None:
    folder, _ = made
    given = b"".join(data or b"" for data in tree(folder / "out").values())
    assert given
    for private in (SECRET.value.hex(), "scores_not_scaled", "post_norm", "Nguyễn", "owls"):
        assert private.encode() not in given


def test_a_form_is_looked_up_from_the_folder_or_without_it(
    made: tuple[Path, Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = made
    monkeypatch.chdir(folder)
    recorded = handout("--lookup", FORM.lower(), "--out", "out", *SECRET_FILE)
    alone = ("--roster", "roster.csv", "--assignment", "Hunt 1", "--disguise", "none")
    given = handout("--lookup", FORM, *alone, *SECRET_FILE, *CHOSEN)
    assert recorded.exit_code == given.exit_code == 0
    assert recorded.stdout == given.stdout
    lines = recorded.stdout.splitlines()
    assert lines[0] == f'{FORM}  =HYPERLINK("http://x") Nguyễn'
    assert lines[1:4] == ["  student 0042", "  group owls", "  folder 0042"]
    (ada, _) = rows(folder)
    assert lines[5].startswith(f"{ada['slug']}, difficulty {ada['difficulty']} of 5")
    first = ada["faulty lines"].split()[0]
    file, _, number = first.partition(":")
    assert lines[6].startswith((f"  gpt/{file}: line {number}", f"  gpt/{file}: lines {number}"))
    by_id = handout("--lookup", "0042", "--out", "out", *SECRET_FILE)
    by_folder = handout("--lookup", f"hunt-{FORM}", "--out", "out", *SECRET_FILE)
    assert by_id.stdout == by_folder.stdout == recorded.stdout


def test_another_secret_looks_nothing_up(
    made: tuple[Path, Result], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(made[0])
    store(OTHER_SECRET, tmp_path / "other.txt")
    result = handout("--lookup", FORM, "--out", "out", "--secret-file", str(tmp_path / "other.txt"))
    assert result.exit_code == exits.WRONG_USE
    assert "were made with the secret" in result.stderr


def test_the_secret_that_was_drawn_is_pointed_at(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bugkit.handout.make.make", only_begun)
    result = handout(*ROSTER)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == (
        f"out-keys{os.sep}secret.txt: the secret; keep a copy of it, and never give it to students"
    )
    assert (here / "out-keys" / "secret.txt").is_file()
    assert "the secret" not in handout(*ROSTER, *SECRET_FILE, "--out", "out2").stdout


def test_a_catalogue_that_grew_changes_nothing(
    here: Path,
    make_bug: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bugkit.handout.make.make", only_begun)
    assert handout(*ROSTER).exit_code == 0
    before = tree(here)
    catalogue = make_bug("one_more").parent
    assert handout(*ROSTER, "--catalogue", str(catalogue)).exit_code == 0
    after = tree(here)
    assert {name: after[name] for name in before} == before
