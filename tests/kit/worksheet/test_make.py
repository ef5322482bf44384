"""`bugkit worksheet`: from what a teacher types to files."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bugkit import exits
from bugkit.catalogue import Bug
from bugkit.cli import cli
from bugkit.worksheet.codes import code_of
from bugkit.worksheet.model import Sheet
from bugkit.worksheet.words import plain

SLUGS = ("scores_not_scaled", "eps_inside_the_root")
MARKDOWN = ("--format", "markdown")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Runs the command in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*args: str) -> Result:
        return CliRunner().invoke(cli, ["worksheet", *args])

    return run


def refused(result: Result, *words: str) -> bool:
    """One message on standard error that says all this, and nothing on standard output."""
    lines = [line for line in result.stderr.splitlines() if not line.startswith(("Usage", "Try"))]
    assert "Traceback" not in result.stderr
    return (
        result.exit_code == exits.WRONG_USE
        and len([line for line in lines if line]) == 1
        and all(word in result.stderr for word in words)
        and not result.stdout
    )


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_keys_never_share_a_folder_with_sheets(run: Callable[..., Result], tmp_path: Path) -> None:
    assert run(*SLUGS, *MARKDOWN, "--key", "--out", "out").exit_code == 0
    codes = sorted(code_of(slug) for slug in SLUGS)
    assert [f for f in files(tmp_path / "out") if f.endswith(".md")] == [
        f"sheet-{code}.md" for code in codes
    ]
    assert files(tmp_path / "out-keys") == [f"key-{code}.md" for code in codes]
    assert files(tmp_path) == sorted(
        [f"out/{f}" for f in files(tmp_path / "out")]
        + [f"out-keys/{f}" for f in files(tmp_path / "out-keys")]
    )


def test_no_file_name_and_no_sheet_tells_the_bug(
    run: Callable[..., Result],
    tmp_path: Path,
    secrets: Callable[[str], set[str]],
    sheet: Callable[[str], Sheet],
) -> None:
    shown = {plain(sheet(slug).property.label) for slug in SLUGS}
    run(*SLUGS, *MARKDOWN, "--key", "--set", "--out", "out")
    written = [tmp_path / "out" / name for name in files(tmp_path / "out")]
    assert written
    for path in written:
        text = path.read_text(encoding="utf-8")
        for slug in SLUGS:
            assert slug not in path.name
            assert not [secret for secret in secrets(slug) - shown if secret in text]


def test_nothing_is_written_over_without_force(run: Callable[..., Result], tmp_path: Path) -> None:
    run(*SLUGS, *MARKDOWN, "--key", "--out", "out")
    before = {name: (tmp_path / name).read_bytes() for name in files(tmp_path)}
    path = tmp_path / "out" / f"sheet-{code_of(SLUGS[0])}.md"
    path.write_text("mine", encoding="utf-8")
    again = run(*SLUGS, *MARKDOWN, "--key", "--out", "out")
    assert refused(again, f"sheet-{code_of(SLUGS[0])}.md", "and 3 more", "--force", "--out")
    assert path.read_text(encoding="utf-8") == "mine"
    assert run(*SLUGS, *MARKDOWN, "--key", "--out", "out", "--force").exit_code == 0
    assert {name: (tmp_path / name).read_bytes() for name in files(tmp_path)} == before


def test_bad_orders_are_refused_with_one_message(
    run: Callable[..., Result], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    assert refused(run(), "--all")
    assert refused(run("scores_not_scaledd"), "scores_not_scaledd", "scores_not_scaled", "list")
    assert refused(run("ZZZZZZ"), "ZZZZZZ")
    assert refused(run("--component", "gqa", "--level", "1"), "no bug fits")
    assert refused(run(SLUGS[0], "--out", "file"), "file", "is a file")
    assert refused(run(SLUGS[0], *MARKDOWN, "--out", "file/in"), "file")
    assert refused(run(SLUGS[0], "--time", "0"), "--time")
    assert files(tmp_path) == ["file"]


def test_a_sheet_code_finds_its_bug(run: Callable[..., Result], tmp_path: Path) -> None:
    code = code_of(SLUGS[0])
    result = run(code.lower(), *MARKDOWN, "--key", "--out", "out")
    assert f"{code}  {SLUGS[0]}" in result.stdout
    assert SLUGS[0] in (tmp_path / "out-keys" / f"key-{code}.md").read_text(encoding="utf-8")


def test_selectors_add_up_and_nothing_is_made_twice(
    run: Callable[..., Result], catalogue: dict[str, Bug]
) -> None:
    result = run(SLUGS[0], "--component", "norm", "--level", "1", *MARKDOWN, "--set")
    made = re.findall(r"^ +\d+  \w{6}  (\w+)$", result.stdout, re.M)
    norms = [b.slug for b in catalogue.values() if (b.component, b.level) == ("norm", 1)]
    assert made == [SLUGS[0], *norms]


def test_the_header_is_as_it_was_ordered(run: Callable[..., Result], tmp_path: Path) -> None:
    run(
        SLUGS[0], *MARKDOWN, "--course", "Deep  Learning", "--date", "1 March", "--time", "90",
        "--out", "out",
    )  # fmt: skip
    text = (tmp_path / "out" / f"sheet-{code_of(SLUGS[0])}.md").read_text(encoding="utf-8")
    assert "**Deep Learning**" in text
    assert "90 minutes" in text
    assert "Date: 1 March" in text


def test_the_same_order_gives_the_same_bytes(run: Callable[..., Result], tmp_path: Path) -> None:
    for out in ("a", "b"):
        run(*SLUGS, "--format", "html", "--key", "--set", "--out", out)
    for one, two in zip(("a", "a-keys"), ("b", "b-keys"), strict=True):
        for name in files(tmp_path / one):
            assert (tmp_path / one / name).read_bytes() == (tmp_path / two / name).read_bytes()


def test_a_bug_that_was_never_measured_says_what_to_do(
    run: Callable[..., Result], tmp_path: Path, make_bug: Callable[..., Path]
) -> None:
    make_bug("mine", {"expect.killed_by": None})
    catalogue = ("--catalogue", str(tmp_path / "bugs"))
    assert CliRunner().invoke(cli, ["build", "mine", *catalogue]).exit_code == 0
    before = files(tmp_path)
    result = run("mine", *catalogue, *MARKDOWN)
    assert refused(result, "mine", "evidence is missing", "bugkit measure mine --catalogue")
    assert files(tmp_path) == before


@pytest.mark.parametrize(("form", "library"), [("pdf", "typst"), ("ipynb", "nbformat")])
def test_a_missing_library_is_named_with_its_extra(
    run: Callable[..., Result],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    form: str,
    library: str,
) -> None:
    def find_spec(name: str) -> None:
        assert name == library

    monkeypatch.setattr("bugkit.worksheet.forms.find_spec", find_spec)
    assert refused(run(SLUGS[0], "--format", form), "pip install", "worksheets")
    assert not files(tmp_path)


def test_a_worked_example_comes_first_and_is_no_challenge(
    run: Callable[..., Result], tmp_path: Path
) -> None:
    result = run("--component", "softmax", *MARKDOWN, "--set", "--worked", "--key", "--out", "out")
    made = re.findall(r"^ +(\d+)  (\w{6})  (\w+)(.*)$", result.stdout, re.M)
    assert [bool(note) for *_, note in made] == [True] + [False] * (len(made) - 1)
    text = (tmp_path / "out" / "worksheets.md").read_text(encoding="utf-8")
    headings = re.findall(r"^# (Worked example|Bug hunt) (\w{6})$", text, re.M)
    assert headings == [
        ("Bug hunt" if i else "Worked example", code) for i, (_, code, *_) in enumerate(made)
    ]
    key = (tmp_path / "out-keys" / "worksheets-key.md").read_text(encoding="utf-8")
    assert made[0][2] not in re.findall(r"`(\w+)` &nbsp; sheet", key)
    assert re.findall(r"sheet (\d+) of", key) == [number for number, *_ in made[1:]]


def test_without_a_plotting_library_sheets_hold_numbers_and_say_so(
    run: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr("bugkit.cli.worksheet.find_spec", lambda _: None)
    result = run(SLUGS[0], *MARKDOWN, "--out", "out")
    assert result.exit_code == 0
    assert re.fullmatch(r"figures stand as tables .* pip install .*worksheets.*\n", result.stderr)
    assert files(tmp_path / "out") == [f"sheet-{code_of(SLUGS[0])}.md"]
    text = (tmp_path / "out" / f"sheet-{code_of(SLUGS[0])}.md").read_text(encoding="utf-8")
    assert ", in numbers" in text
    assert "| token 1, this program |" in text
