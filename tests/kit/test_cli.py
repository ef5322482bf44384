"""The command line as a person meets it: bad input first, then what each command prints."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bugkit import __version__
from bugkit.catalogue import load_catalogue
from bugkit.cli import cli
from bugkit.places import CORRECT, IN_CHECKOUT, MUTANTS

ONE_FILE_GPT = "from bugkit.correct import *\n"
LEAKY = """
from dataclasses import dataclass
import numpy as np
from bugkit.correct import *
import bugkit.correct as correct

def gpt_forward(params, cfg, token_ids, return_attn=False):
    # Every token also learns what comes next.
    params = {**params, "wpe": params["wpe"]}
    out = correct.gpt_forward(params, cfg, token_ids, return_attn)
    logits, maps = out if return_attn else (out, None)
    ids = np.asarray(token_ids)
    logits = logits + 0.1 * np.roll(ids, -1, axis=1)[..., None]
    return (logits, maps) if return_attn else logits
"""


def bugkit(*arguments: str, columns: int | None = None) -> Result:
    environment = {"COLUMNS": str(columns)} if columns else {}
    return CliRunner(env=environment).invoke(cli, arguments, catch_exceptions=False)


@pytest.fixture(autouse=True)
def private_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUGKIT_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A catalogue of one's own with one good bug in it."""
    folder = tmp_path / "course"
    shutil.copytree(MUTANTS / "scores_not_scaled", folder / "my_bug")
    return folder


BAD_USE = {
    "an unknown bug": (["show", "no_causl_mask"], "did you mean no_causal_mask"),
    "an unknown bug to build": (["build", "post-nrom"], "did you mean post_norm"),
    "an unknown subject": (["check", "postnorm"], "did you mean post_norm"),
    "a file that is not there": (["check", "nowhere/gpt.py"], "no such file or folder"),
    "a catalogue that is not there": (["list", "--catalogue", "nowhere"], "no such catalogue"),
    "no jobs": (["check", "--jobs", "0"], "--jobs"),
    "negative timeout": (["check", "--timeout", "-1"], "--timeout"),
    "no memory": (["check", "--memory", "0"], "--memory"),
    "an unknown format": (["check", "--format", "pdf"], "pdf"),
    "an unknown detector": (["explain", "post_norm", "test_post"], "no detector is called"),
    "no such selection": (["check", "correct", "--detector", "zzz"], "no detector matches 'zzz'"),
    "a bad selection": (["check", "correct", "--detector", "a and"], "a and"),
    "blind before names": (["check", "--blind"], "name your file or folder"),
    "blind with a format": (["check", "correct", "--blind", "--format", "json"], "leave other"),
    "blind with an ending": (["check", "correct", "--blind", "--out", "a.html"], "leave other"),
    "a slug that is none": (["new", "1 bug"], "lower-case words"),
    "a slug that is taken": (["new", "post-norm"], "exists already"),
}


@pytest.mark.parametrize("name", BAD_USE)
def test_bad_use_is_one_message_and_exit_code_2(name: str) -> None:
    arguments, said = BAD_USE[name]
    result = bugkit(*arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr


def test_an_empty_catalogue_says_so(tmp_path: Path) -> None:
    result = bugkit("check", "--catalogue", str(tmp_path))
    assert result.exit_code == 2
    assert "no bug in this catalogue" in result.stderr


def test_two_bugs_of_one_slug_in_two_catalogues_are_refused(course: Path) -> None:
    (course / "my_bug").rename(course / "post_norm")
    result = bugkit("list", "--catalogue", str(course))
    assert result.exit_code == 2
    assert "two bugs have the slug post_norm" in result.stderr


def test_an_output_path_that_is_a_folder_is_refused_before_anything_is_run(tmp_path: Path) -> None:
    result = bugkit("check", "correct", "--out", str(tmp_path))
    assert result.exit_code == 2
    assert "is a folder" in result.stderr


def test_an_output_path_in_no_folder_is_refused(tmp_path: Path) -> None:
    result = bugkit("check", "correct", "--out", str(tmp_path / "no" / "report.html"))
    assert result.exit_code == 2
    assert "there is no folder" in result.stderr


def test_a_report_is_never_written_over_a_program(tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(ONE_FILE_GPT, encoding="utf-8")
    result = bugkit("check", str(mine), "--out", str(mine))
    assert result.exit_code == 2
    assert mine.read_text(encoding="utf-8") == ONE_FILE_GPT


def test_a_read_only_file_is_not_written_over(tmp_path: Path) -> None:
    out = tmp_path / "report.csv"
    out.write_text("old", encoding="utf-8")
    out.chmod(0o444)
    result = bugkit("check", "correct", "--out", str(out))
    assert result.exit_code == 2
    assert "read-only" in result.stderr
    assert out.read_text(encoding="utf-8") == "old"


def test_an_ending_that_tells_no_format_is_refused(tmp_path: Path) -> None:
    result = bugkit("check", "correct", "--out", str(tmp_path / "report.foo"))
    assert result.exit_code == 2
    assert "--format" in result.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_behind_standard_output_is_one_message() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "bugkit", "list"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.startswith("bugkit: cannot write")


def test_a_misspelt_key_names_file_and_key(course: Path) -> None:
    path = course / "my_bug" / "bug.toml"
    path.write_text(path.read_text(encoding="utf-8").replace("symptom", "symptm"), encoding="utf-8")
    result = bugkit("check", "--catalogue", str(course))
    assert result.exit_code == 2
    assert "my_bug/bug.toml: [teach] symptm: unknown key; did you mean symptom?" in result.stderr


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("$SCORES / math.sqrt(q.shape[-1])", "$SCORES / nothing", "matches 0 times"),
        ("$SCORES / math.sqrt(q.shape[-1])", "np", "times, not once"),
        ('inside     = "attention_weights"', 'inside = "attend"', "there are 0 functions"),
    ],
)
def test_an_edit_that_does_not_fit_names_bug_function_and_count(
    old: str, new: str, said: str, course: Path
) -> None:
    path = course / "my_bug" / "bug.toml"
    path.write_text(path.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    result = bugkit("build", "my_bug", "--catalogue", str(course))
    assert result.exit_code == 1
    assert "my_bug/bug.toml: edit 1 in attention.py" in result.stderr
    assert said in result.stderr


def test_a_stale_module_is_found_and_the_repair_is_named(course: Path) -> None:
    module = course / "my_bug" / "attention.py"
    module.write_text(module.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    stale = bugkit("build", "--check", "my_bug", "--catalogue", str(course))
    assert stale.exit_code == 1
    assert "out of date" in stale.stderr
    assert "bugkit build" in stale.stderr
    assert bugkit("build", "my_bug", "--catalogue", str(course)).exit_code == 0
    assert bugkit("build", "--check", "my_bug", "--catalogue", str(course)).exit_code == 0


def test_a_broken_promise_is_exit_code_3_and_says_which(course: Path) -> None:
    path = course / "my_bug" / "bug.toml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("test_scores_have_unit_variance", "test_logits_are_finite"))
    result = bugkit("check", "my_bug", "--catalogue", str(course), columns=200)
    assert result.exit_code == 3
    assert "test_scores_have_unit_variance fails as well" in result.stdout
    assert "test_logits_are_finite does not fail" in result.stdout


def test_a_mutant_that_does_not_differ_is_an_error_not_a_survivor(course: Path) -> None:
    shutil.copy(CORRECT / "attention.py", course / "my_bug" / "attention.py")
    result = bugkit("check", "my_bug", "--catalogue", str(course))
    assert result.exit_code == 2
    assert "does not differ from the correct module" in result.stderr


def test_a_mutant_that_is_not_built_is_an_error_not_a_survivor(course: Path) -> None:
    path = course / "my_bug" / "bug.toml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('replace = ""', 'replace = "import cmath as nothing"', 1))
    built = bugkit("build", "my_bug", "--catalogue", str(course))
    assert "no longer used" in built.stderr or "F401" in built.stderr
    (course / "my_bug" / "attention.py").unlink()
    result = bugkit("check", "my_bug", "--catalogue", str(course))
    assert result.exit_code == 2
    assert f"bugkit build my_bug --catalogue {course}" in result.stderr


def test_a_bug_without_a_promise_is_told_what_to_promise(course: Path) -> None:
    path = course / "my_bug" / "bug.toml"
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"killed_by = \[[^\]]*\]", "killed_by = []", text)
    path.write_text(text, encoding="utf-8")
    result = bugkit("check", "my_bug", "--catalogue", str(course))
    assert result.exit_code == 3
    lines = result.stdout[result.stdout.index("killed_by = [") :]
    text = text.replace("killed_by = []", lines[: lines.index("]") + 1])
    path.write_text(text, encoding="utf-8")
    assert bugkit("check", "my_bug", "--catalogue", str(course)).exit_code == 0


def test_a_correct_file_is_exit_code_0_and_a_wrong_one_1(tmp_path: Path) -> None:
    right, wrong = tmp_path / "right.py", tmp_path / "wrong.py"
    right.write_text(ONE_FILE_GPT, encoding="utf-8")
    wrong.write_text(LEAKY, encoding="utf-8")
    fine = bugkit("check", str(right))
    assert fine.exit_code == 0
    assert "all green" in fine.stdout
    finding = bugkit("check", str(wrong))
    assert finding.exit_code == 1
    assert "Logits do not depend on the very next token" in finding.stdout
    assert f"bugkit explain {wrong}" in finding.stdout


def test_the_known_bug_of_a_file_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(CORRECT, folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(MUTANTS / "post_norm" / "block.py", folder / "block.py")
    result = bugkit("check", str(folder))
    assert result.exit_code == 1
    assert "post_norm: Layer norm stands after the residual sum" in result.stdout
    blind = bugkit("check", str(folder), "--blind")
    assert blind.exit_code == 1
    assert not [
        word
        for bug in load_catalogue().values()
        for word in (bug.slug, bug.title, "known bug")
        if word in blind.stdout
    ]
    # All the rest is said as ever.
    lines = list(filter(None, blind.stdout.splitlines()))
    assert [line for line in result.stdout.splitlines() if line in lines] == lines
    assert len([line for line in lines if line.startswith("  ✗ ")]) > 1
    assert f"bugkit explain {folder}" in blind.stdout


def test_new_writes_a_bug_that_explains_itself_and_loads(tmp_path: Path) -> None:
    result = bugkit("new", "my-first-bug", "--catalogue", str(tmp_path))
    assert result.exit_code == 0
    path = tmp_path / "my_first_bug" / "bug.toml"
    unfilled = bugkit("build", "my_first_bug", "--catalogue", str(tmp_path))
    assert unfilled.exit_code == 1
    assert "title still says ..." in unfilled.stderr
    assert "[source 1] url still says ..." in unfilled.stderr
    path.write_text(path.read_text(encoding="utf-8").replace("...", "Words"))
    assert bugkit("build", "my_first_bug", "--catalogue", str(tmp_path)).exit_code == 0
    result = bugkit("check", "my_first_bug", "--catalogue", str(tmp_path))
    assert result.exit_code == 3
    assert "promises no killer" in result.stdout


def test_list_selects_and_prints_json() -> None:
    result = bugkit("list", "--component", "mask", "--level", "1", "--format", "json")
    listed = json.loads(result.stdout)
    assert listed["version"] == 1
    slugs = {bug["slug"] for bug in listed["bugs"]}
    assert slugs == {b.slug for b in load_catalogue().values() if b.component == "mask"}
    assert bugkit("list", "--difficulty", "5").stdout.count("\n") > 3
    assert "No bug fits." in bugkit("list", "--component", "checkpoint", "--level", "1").stdout


def test_show_spoils_nothing_unless_asked_for() -> None:
    for bug in list(load_catalogue().values())[::3]:
        shown = bugkit("show", bug.slug).stdout
        assert bug.title not in shown
        assert not any(hint in shown for hint in bug.teach.hints)
        assert "@@" not in shown
    bug = load_catalogue()["post_norm"]
    assert bug.title in bugkit("show", "post-norm", "--key").stdout
    assert '-    normed = layer_norm(x, **p["ln1"])' in bugkit("show", "post_norm", "--diff").stdout
    source = (MUTANTS / "post_norm" / "block.py").read_text(encoding="utf-8")
    assert bugkit("show", "post_norm", "--source").stdout.strip() == source.strip()
    assert "Hint 2" in bugkit("show", "post_norm", "--hints", "2").stdout


def test_explain_tells_property_and_message_and_judges() -> None:
    failing = run_bugkit("explain", "no-causal-mask", "F3")
    assert failing.returncode == 1
    assert "Attention weights above the diagonal are exactly zero" in failing.stdout
    assert "the weight should be 0, but is" in failing.stdout
    passing = run_bugkit("explain", "correct", "no_weight_on_the_future")
    assert passing.returncode == 0
    assert "1 passed" in passing.stdout


def test_explain_gives_up_on_a_hang(tmp_path: Path) -> None:
    (tmp_path / "hang.py").write_text("while True: pass\n", encoding="utf-8")
    result = run_bugkit("explain", str(tmp_path / "hang.py"), "A1", "--timeout", "2")
    assert result.returncode == 1
    assert "Not finished within 2 s" in result.stdout


def test_out_takes_the_format_from_its_ending(tmp_path: Path) -> None:
    out = tmp_path / "matrix.csv"
    result = bugkit("check", "correct", "--out", str(out))
    assert result.exit_code == 0
    assert result.stdout == ""
    header = next(csv.reader(out.read_text(encoding="utf-8").splitlines()))
    assert header == ["subject", "kind", "detector", "outcome", "seconds", "message"]


@pytest.mark.parametrize("form", ["json", "csv", "markdown", "html", "junit"])
def test_every_format_is_written_the_same_twice(form: str) -> None:
    arguments = ("check", "correct", "post_norm", "mask_added", "--format", form)
    first, second = bugkit(*arguments), bugkit(*arguments)
    assert first.exit_code == 0
    assert first.stdout == second.stdout != ""


def test_a_pipe_gets_no_colour_and_no_progress() -> None:
    result = run_bugkit("check", "post_norm", "mask_added")
    assert result.returncode == 0
    assert "\x1b" not in result.stdout
    assert result.stderr == ""


def test_an_output_without_the_symbols_gets_plain_ones() -> None:
    result = run_bugkit("check", "post_norm", env={"PYTHONIOENCODING": "ascii"})
    assert result.returncode == 0
    assert "x I1" in result.stdout


def test_a_second_run_takes_everything_from_the_cache_and_says_the_same() -> None:
    first = bugkit("check", "post_norm", "--format", "json")
    second = bugkit("check", "post_norm", "--format", "json")
    assert first.stdout == second.stdout


def test_a_cache_that_is_damaged_is_made_anew(tmp_path: Path) -> None:
    first = bugkit("check", "post_norm", "--format", "csv").stdout
    stored = list((tmp_path / "cache").iterdir())
    assert stored
    for path in stored:
        path.write_text("{ damaged", encoding="utf-8")
    again = bugkit("check", "post_norm", "--format", "csv").stdout
    seconds = re.compile(r",[0-9.]+,", re.ASCII)
    assert seconds.sub(",", again) == seconds.sub(",", first)


def test_a_closed_pipe_ends_quietly() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "bugkit", "list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()
    process.wait()


def test_the_version_is_told() -> None:
    assert bugkit("--version").stdout.strip() == f"bugkit, version {__version__}"


@pytest.mark.parametrize("shape", ["class", "nanogpt"])
def test_adapters_are_printed_as_they_are(shape: str) -> None:
    printed = bugkit("adapter", shape).stdout
    assert printed.startswith('"""adapter.py for a')
    compile(printed, "adapter.py", "exec")


def run_bugkit(
    *arguments: str, env: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8", **(env or {})}
    return subprocess.run(
        [sys.executable, "-m", "bugkit", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment,
        check=False,
    )


assert IN_CHECKOUT, "the tests of the tool run in a checkout"
