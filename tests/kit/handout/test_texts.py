"""What a student reads: nothing leads to the bug's name, and it works as it is written."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from bugkit.handout.form import form_of
from bugkit.handout.secret import SIZE, Secret
from bugkit.handout.texts import (
    ANSWERS,
    README,
    REGRESSION,
    SETTINGS,
    Words,
    answers_form,
    readme,
    regression_stub,
    settings,
)

GOLDEN = Path(__file__).parent / "golden"
FORM = form_of(Secret(bytes(SIZE)), "week-3", "ada")
FIRST = Words(FORM, "week-3", 1, 2, "test_scores_have_unit_variance")
ONLY = Words(FORM, "week-3", 1, 1, "test_rows_sum_to_one")
SECOND = Words(FORM, "week-3", 2, 2, "test_rows_sum_to_one", "worksheet.pdf")
TEXTS = {README: readme, ANSWERS: answers_form, REGRESSION: regression_stub, SETTINGS: settings}
BOXES = (
    "Predict",
    "Observe",
    "Hypotheses",
    "Log",
    "Diagnosis",
    "Fix",
    "Regression test",
    "Explain",
)


# What must not happen.


@pytest.mark.parametrize("words", [FIRST, SECOND], ids=["first", "second"])
@pytest.mark.parametrize("name", TEXTS)
def test_no_text_names_the_tool_or_fails_to_show_in_a_terminal(name: str, words: Words) -> None:
    text = TEXTS[name](words)
    assert not re.search("bugkit|mutant|catalogue|slug|innocent|disguise", text, re.IGNORECASE)
    assert text.isascii()
    assert max(map(len, text.splitlines())) <= 100
    assert all(line == line.rstrip() for line in text.splitlines())


@pytest.mark.parametrize("name", TEXTS)
def test_no_text_lacks_the_form_id(name: str) -> None:
    assert FORM in TEXTS[name](FIRST)


def test_the_first_hunt_refers_to_no_earlier_one() -> None:
    assert "hunt-1" not in readme(FIRST)
    assert "hunt-1" in readme(SECOND)


def test_an_only_hunt_is_not_counted() -> None:
    assert readme(ONLY).splitlines()[0] == "# week-3"
    assert answers_form(ONLY).splitlines()[0] == f"# Your answers. Form {FORM}, week-3."
    assert "each hunt's folder" not in readme(ONLY)
    for words in (FIRST, SECOND):
        assert f"hunt {words.number} of 2" in readme(words).splitlines()[0]
        assert answers_form(words).splitlines()[0].endswith(f"week-3, hunt {words.number} of 2.")
        assert "each hunt's folder" in readme(words)


# What a course may keep in a folder above: other names of tests, options of a plugin.
FOREIGN = ['python_files = ["check_*.py"]', 'addopts = "--of-a-plugin-that-is-not-here"']


@pytest.mark.parametrize("setting", FOREIGN)
def test_settings_of_a_folder_above_do_not_reach_the_tests(setting: str, tmp_path: Path) -> None:
    above = f"[tool.pytest.ini_options]\n{setting}\n"
    (tmp_path / "pyproject.toml").write_text(above, encoding="utf-8")
    (tmp_path / "hunt").mkdir()
    folder = with_stub(tmp_path / "hunt")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    assert "skipped" not in run(*command, cwd=folder)
    (folder / SETTINGS).write_text(settings(FIRST), encoding="utf-8")
    assert "1 skipped" in run(*command, cwd=folder)


# What must be there.


def test_three_commands_lead_to_the_first_run_on_every_system() -> None:
    start = readme(FIRST).partition("## Start")[2].partition("## Files")[0]
    commands = [line.strip() for line in start.splitlines() if line.startswith("    ")]
    assert commands == [
        r"py -m venv .venv",
        r".venv\Scripts\python -m pip install numpy pytest",
        r".venv\Scripts\python -m pytest",
        "python3 -m venv .venv",
        ".venv/bin/python -m pip install numpy pytest",
        ".venv/bin/python -m pytest",
    ]


def test_the_readme_is_a_page_and_a_half_at_most() -> None:
    assert len(readme(SECOND).split()) <= 800
    assert len(readme(SECOND).splitlines()) <= 110


def test_the_readme_names_every_file() -> None:
    for name in ("gpt", "test_visible.py", REGRESSION, ANSWERS, SETTINGS, "worksheet.pdf"):
        assert f"| `{name}` |" in readme(SECOND)


@pytest.mark.parametrize("suffix", [".html", ".ipynb", ".pdf"])
def test_the_readme_says_how_to_open_the_worksheet(suffix: str) -> None:
    text = readme(Words(FORM, "week-3", 1, 1, "test_rows_sum_to_one", f"worksheet{suffix}"))
    word = {".html": "browser", ".ipynb": "Jupyter", ".pdf": "Print it"}[suffix]
    assert next(line for line in text.splitlines() if f"worksheet{suffix}" in line).count(word) == 1


def test_the_form_is_valid_toml_in_the_order_of_the_boxes() -> None:
    text = answers_form(FIRST)
    form = tomllib.loads(text)
    assert (form["form"], form["hunt"]) == (FORM, 1)
    places = [re.search(rf"^(# )?\W?{box}\b", text, re.I | re.M) for box in BOXES]
    starts = [place.start() for place in places if place]
    assert len(starts) == len(BOXES)
    assert starts == sorted(starts)


def test_the_check_of_the_form_that_the_readme_gives_works(tmp_path: Path) -> None:
    line = next(line for line in readme(FIRST).splitlines() if "import tomllib" in line)
    code = line.partition('"')[2].rpartition('"')[0]
    path = tmp_path / ANSWERS
    for encoding in ("utf-8", "utf-8-sig"):
        path.write_text(answers_form(FIRST), encoding=encoding)
        assert run(sys.executable, "-c", code, cwd=tmp_path) == ""
    path.write_text(answers_form(FIRST).replace("verdict = ''", "verdict = bug"), encoding="utf-8")
    assert "at line" in run(sys.executable, "-c", code, cwd=tmp_path).splitlines()[-1]


@pytest.mark.parametrize("text", [readme(FIRST), answers_form(FIRST)], ids=[README, ANSWERS])
def test_the_slip_that_the_texts_warn_of_is_one_and_its_cure_works(text: str) -> None:
    broken, right = "'don't know'", "'''don't know'''"
    assert broken in text
    assert right in text
    with pytest.raises(tomllib.TOMLDecodeError):
        tomllib.loads(f"place = {broken}")
    assert tomllib.loads(f"place = {right}") == {"place": "don't know"}


def test_the_stub_is_skipped_until_it_is_written(tmp_path: Path) -> None:
    folder = with_stub(tmp_path)
    said = run(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rs", cwd=folder)
    assert "1 skipped" in said
    assert "write your test here" in said


def test_the_stub_gives_a_linter_and_a_formatter_nothing_to_do(tmp_path: Path) -> None:
    pytest.importorskip("ruff", reason="needs the extra author")
    ruff = (sys.executable, "-m", "ruff")
    folder = with_stub(tmp_path)
    style = ["--isolated", "--no-cache", "--quiet", "--config", "line-length = 100"]
    assert run(*ruff, "check", *style, "--select", "E,F,I,N,RUF,W", REGRESSION, cwd=folder) == ""
    assert run(*ruff, "format", *style, "--diff", REGRESSION, cwd=folder) == ""


@pytest.mark.parametrize("name", TEXTS)
def test_texts_are_as_reviewed(name: str) -> None:
    # Renewed with BUGKIT_RENEW_GOLDEN=1. The ending keeps pytest from taking the stub for a test.
    path = GOLDEN / f"{name}.txt"
    text = TEXTS[name](SECOND)
    if os.environ.get("BUGKIT_RENEW_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def with_stub(folder: Path) -> Path:
    """The folder, with the stub beside an empty package."""
    (folder / "gpt").mkdir()
    (folder / "gpt" / "__init__.py").touch()
    (folder / REGRESSION).write_text(regression_stub(FIRST), encoding="utf-8")
    return folder


def run(*command: str, cwd: Path) -> str:
    """What a command says, there, on both streams."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PYTEST"))}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, encoding="utf-8", check=False
    )
    return done.stdout + done.stderr
