"""`bugkit measure`, and what `list` and `show` make of it, as a person meets them."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bugkit.build import build
from bugkit.catalogue import load_bug
from bugkit.cli import cli
from bugkit.measure.evidence import Outcome, from_json
from bugkit.measure.settings import Setting
from bugkit.measure.store import mutant_of

EARLY = {"file": "data.py", "inside": "split_data", "edit.0.find": "border = $X"}
RAISES = {**EARLY, "edit.0.replace": "border = len(data) // round(validation)"}
HANGS = {**EARLY, "edit.0.replace": "border = sum(iter(int, 1))"}

RUN = """
import sys
from pathlib import Path
from bugkit.measure import store

store.FOLDER = Path(sys.argv.pop(1))

from bugkit.__main__ import main

main()
"""
"""The command line with the evidence of the correct GPT in another folder."""


def bugkit(*arguments: str, columns: int | None = None) -> Result:
    environment = {"COLUMNS": str(columns)} if columns else {}
    return CliRunner(env=environment).invoke(cli, arguments, catch_exceptions=False)


@pytest.fixture(autouse=True)
def private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, correct_evidence: Path) -> Path:
    """No test touches what is recorded in the repository."""
    monkeypatch.setenv("BUGKIT_CACHE_DIR", str(tmp_path / "cache"))
    return correct_evidence


@pytest.fixture
def raising(make_bug: Callable[..., Path]) -> Callable[[str], Path]:
    """A bug that is over at once."""

    def raising(slug: str) -> Path:
        return made(make_bug(slug, RAISES))

    return raising


def made(folder: Path) -> Path:
    (built,) = build([load_bug(folder)], check=False)
    assert not built.faults
    return folder


def outcome(folder: Path) -> Outcome:
    return from_json((folder / "evidence.json").read_text(encoding="utf-8"), "").outcome


BAD_USE = {
    "an unknown bug": (["no_causl_mask"], "did you mean no_causal_mask"),
    "no jobs": (["--jobs", "0"], "--jobs"),
    "no time": (["--timeout", "0"], "--timeout"),
    "quick without check": (["--quick"], "--quick goes with --check"),
    "force with check": (["--force", "--check"], "choose one"),
    "no such catalogue": (["--catalogue", "nowhere"], "no such catalogue"),
}


@pytest.mark.parametrize("name", BAD_USE)
def test_bad_use_is_one_message_and_exit_code_2(name: str) -> None:
    arguments, said = BAD_USE[name]
    result = bugkit("measure", *arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stdout == ""


def test_a_bug_that_is_not_built_is_a_fault_and_the_others_are_measured(
    make_bug: Callable[..., Path], raising: Callable[[str], Path]
) -> None:
    unbuilt, good = make_bug("a_unbuilt"), raising("b_raises")
    catalogue = str(good.parent)
    result = bugkit("measure", "a_unbuilt", "b_raises", "--catalogue", catalogue)
    assert result.exit_code == 1
    assert f"bugkit build a_unbuilt --catalogue {catalogue}" in result.stderr
    assert "2 of 3 pieces of evidence are right, 1 new" in result.stdout
    assert not (unbuilt / "evidence.json").exists()
    assert outcome(good) is Outcome.RAISED


def test_a_place_that_cannot_be_written_is_a_fault_that_names_it(
    raising: Callable[[str], Path],
) -> None:
    folder = raising("means")
    (folder / "evidence.json").mkdir()
    result = bugkit("measure", "means", "--catalogue", str(folder.parent))
    assert result.exit_code == 1
    assert "evidence.json: is a folder" in result.stderr
    assert not list(folder.glob(".evidence*"))


def test_old_evidence_is_found_without_training_and_made_anew(
    raising: Callable[[str], Path],
) -> None:
    folder = raising("means")
    arguments = ("measure", "means", "--catalogue", str(folder.parent))
    missing = bugkit(*arguments, "--check", "--quick")
    assert missing.exit_code == 1
    assert "means/evidence.json: is missing" in missing.stderr.replace("\\", "/")
    assert "bugkit measure" in missing.stderr
    assert bugkit(*arguments).exit_code == 0
    assert bugkit(*arguments, "--check", "--quick").exit_code == 0

    toml = folder / "bug.toml"
    text = toml.read_text(encoding="utf-8")
    toml.write_text(text.replace("Tokens are mixed.", "In other words."), encoding="utf-8")
    assert bugkit(*arguments, "--check", "--quick").exit_code == 0
    toml.write_text(text.replace("border = len(data) //", "border = 1 + len(data) //"))
    made(folder)
    stale = bugkit(*arguments, "--check", "--quick")
    assert stale.exit_code == 1
    assert "is out of date" in stale.stderr
    before = (folder / "evidence.json").read_bytes()
    assert bugkit(*arguments).exit_code == 0
    assert (folder / "evidence.json").read_bytes() != before


def test_correct_names_the_correct_gpt_in_both_settings(private: Path) -> None:
    result = bugkit("measure", "correct", "--check", "--quick")
    assert result.exit_code == 0
    assert result.stdout == "2 of 2 pieces of evidence are right\n"
    (private / "correct.modern.json").unlink()
    result = bugkit("measure", "correct", "--check", "--quick")
    assert result.exit_code == 1
    assert "correct.modern.json: is missing" in result.stderr


def test_a_real_bug_is_measured_confirmed_listed_and_shown(
    make_bug: Callable[..., Path],
) -> None:
    changes = {"inside": "standardise"}
    folder = made(make_bug("means", changes))
    catalogue = ("--catalogue", str(folder.parent))
    arguments = ("measure", "means", *catalogue)
    # The stand-in for the correct GPT's evidence is not what is measured.
    assert bugkit("measure", "correct", "--force").exit_code == 0
    result = bugkit(*arguments)
    assert result.exit_code == 0
    assert outcome(folder) is Outcome.FINISHED
    checked = bugkit(*arguments, "--check", "--jobs", "1")
    assert (checked.exit_code, checked.stderr) == (0, "")

    table = json.loads((folder / "evidence.json").read_text(encoding="utf-8"))
    listed = json.loads(bugkit("list", "--sort", "silence", "--format", "json", *catalogue).stdout)
    (means,) = (bug for bug in listed["bugs"] if bug["slug"] == "means")
    assert means["loss_difference"] > 0.1
    shown = bugkit("show", "means", *catalogue, columns=40).stdout
    assert "●" in shown
    assert f"{table['validation_loss']:.3f}" in shown
    assert "Largest differences" not in shown
    assert "Largest differences" in bugkit("show", "means", "--key", *catalogue).stdout


def test_source_and_diff_alone_bring_no_evidence(
    raising: Callable[[str], Path], record: Callable[..., Path]
) -> None:
    folder = raising("means")
    record(mutant_of(load_bug(folder)), Setting.PLAIN)
    catalogue = ("--catalogue", str(folder.parent))
    assert "In training" in bugkit("show", "means", *catalogue).stdout
    assert "In training" in bugkit("show", "means", "--diff", "--key", *catalogue).stdout
    assert "In training" not in bugkit("show", "means", "--diff", *catalogue).stdout
    assert "In training" not in bugkit("show", "means", "--source", *catalogue).stdout


def test_a_narrow_terminal_gets_a_narrow_plot(
    raising: Callable[[str], Path], record: Callable[..., Path]
) -> None:
    folder = raising("means")
    record(mutant_of(load_bug(folder)), Setting.PLAIN)
    shown = bugkit("show", "means", "--catalogue", str(folder.parent), columns=40).stdout
    lines = shown[shown.index("In training") :].splitlines()
    assert max(map(len, lines)) <= 40


# In a process of its own


def start(private: Path, *arguments: str, **environment: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", RUN, str(private), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8", **environment},
        start_new_session=True,
    )


def run(private: Path, *arguments: str, **environment: str) -> tuple[int, str, str]:
    process = start(private, *arguments, **environment)
    stdout, stderr = process.communicate(timeout=120)
    return process.returncode, stdout, stderr


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals here")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_stopped_leaves_whole_files_and_goes_on_from_there(
    how: signal.Signals,
    private: Path,
    raising: Callable[[str], Path],
    make_bug: Callable[..., Path],
) -> None:
    first = raising("a_first")
    second = made(make_bug("b_second", HANGS))
    catalogue = ("--catalogue", str(first.parent))
    process = start(private, "measure", "a_first", "b_second", "--jobs", "1", *catalogue)
    assert process.stdout is not None
    assert "a_first" in process.stdout.readline()
    time.sleep(0.2)  # wherever the second one is by now
    os.killpg(process.pid, how)
    _, stderr = process.communicate(timeout=60)
    if how is signal.SIGINT:
        assert process.returncode == 130
        assert stderr == "bugkit: stopped; what is finished is kept for the next run\n"
    assert outcome(first) is Outcome.RAISED
    assert sorted(path.name for path in second.iterdir()) == ["bug.toml", "data.py"]

    before = (first / "evidence.json").stat().st_mtime_ns
    arguments = ("measure", "a_first", "b_second", "--timeout", "3", *catalogue)
    code, stdout, _ = run(private, *arguments)
    assert code == 0
    assert "3 of 3 pieces of evidence are right, 1 new" in stdout
    assert (first / "evidence.json").stat().st_mtime_ns == before
    assert outcome(second) is Outcome.TIMEOUT


def test_a_pipe_gets_no_colour_and_no_progress(
    private: Path, raising: Callable[[str], Path], record: Callable[..., Path]
) -> None:
    folder = raising("means")
    catalogue = ("--catalogue", str(folder.parent))
    code, stdout, stderr = run(private, "measure", "means", *catalogue)
    assert (code, stderr) == (0, "")
    assert stdout.splitlines()[-1] == "2 of 2 pieces of evidence are right, 1 new"
    record(mutant_of(load_bug(folder)), Setting.PLAIN)
    _, shown, _ = run(private, "show", "means", *catalogue)
    assert "In training" in shown
    assert "\x1b" not in shown


def test_an_output_without_the_symbols_gets_plain_ones(
    private: Path, raising: Callable[[str], Path], record: Callable[..., Path]
) -> None:
    folder = raising("means")
    record(mutant_of(load_bug(folder)), Setting.PLAIN)
    arguments = ("show", "means", "--catalogue", str(folder.parent))
    code, shown, _ = run(private, *arguments, PYTHONIOENCODING="ascii")
    assert code == 0
    assert shown.isascii()
    assert "@ both" in shown
    assert "?" not in shown[shown.index("In training") :]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such terminals here")
@pytest.mark.parametrize("no_colour", [False, True])
def test_a_terminal_gets_progress_and_colour_unless_it_is_refused(
    no_colour: bool,
    private: Path,
    raising: Callable[[str], Path],
    make_bug: Callable[..., Path],
    record: Callable[..., Path],
) -> None:
    folder = raising("a_first")
    made(make_bug("b_second", HANGS))
    catalogue = ("--catalogue", str(folder.parent))
    environment = {"NO_COLOR": "1"} if no_colour else {}
    measured = in_terminal(
        private, "measure", "a_first", "b_second", "--timeout", "2", *catalogue, **environment
    )
    assert "] 3 of 3 trained" in measured
    assert measured.index("a_first/evidence.json: written") > 0
    record(mutant_of(load_bug(folder)), Setting.PLAIN)
    shown = in_terminal(private, "show", "a_first", *catalogue, **environment)
    assert "In training" in shown
    assert ("\x1b[1m" in shown) is not no_colour


def in_terminal(private: Path, *arguments: str, **environment: str) -> str:
    """Everything that a terminal shows."""
    import pty

    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, str(private), *arguments],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "TERM": "xterm", **environment},
    )
    os.close(follower)
    text = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:  # what Linux says when the other end is closed
            break
        if not part:
            break
        text += part
    os.close(leader)
    assert process.wait() == 0
    return text.decode("utf-8")
