"""The built wheel, in a fresh environment outside the checkout."""

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from bugkit.catalogue import load_catalogue
from bugkit.places import MUTANTS
from bugkit.worksheet.worked import WORKED, worked_bugs

ROOT = MUTANTS.parent


def run(*command: str | Path, cwd: Path) -> "subprocess.CompletedProcess[str]":
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PYTEST"))}
    environment["BUGKIT_CACHE_DIR"] = str(cwd / "cache")
    environment["PYTHONIOENCODING"] = "utf-8"
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    built = run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=ROOT)
    assert built.returncode == 0, built.stderr
    return next(folder.glob("*.whl"))


def test_the_wheel_holds_the_data_and_no_tests_of_the_tool(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert not [n for n in names if "__pycache__" in n or n.endswith(".pyc") or "/." in n]
    assert not [n for n in names if n.startswith(("tests/", "kit/", "bugkit/tests"))]
    expected = ["correct/attention.py", "detectors/cases.py", "detectors/recorded_logits.json"]
    expected += ["templates/matrix.html", "templates/adapters/nanogpt.py", "py.typed"]
    expected += ["report/matrix.schema.json", "detectors/pytest.ini"]
    for bug in load_catalogue().values():
        expected += [f"mutants/{bug.slug}/bug.toml", f"mutants/{bug.slug}/{bug.file}"]
    hunts = worked_bugs(load_catalogue())
    assert hunts
    expected += [f"mutants/{bug.slug}/{WORKED}" for bug in hunts]
    assert not [name for name in expected if f"bugkit/{name}" not in names]


@pytest.fixture(scope="module")
def fresh(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment that has the wheel and what it depends on."""
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder / "env", with_pip=True)
    programs = folder / "env" / ("Scripts" if sys.platform == "win32" else "bin")
    installed = run(programs / "python", "-m", "pip", "install", "-q", wheel, cwd=folder)
    if "No matching distribution found" in installed.stderr:
        pytest.skip("no package index can be reached")
    assert installed.returncode == 0, installed.stderr
    return programs


def test_check_runs_from_the_wheel(fresh: Path, tmp_path: Path) -> None:
    some = ["correct", *sorted(load_catalogue())[::12]]
    done = run(fresh / "bugkit", "check", *some, "--format", "table", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Promises: all kept" in done.stdout


def test_the_correct_gpt_and_the_detectors_can_be_imported(fresh: Path, tmp_path: Path) -> None:
    (tmp_path / "my_gpt.py").write_text("from bugkit.correct import *\n", encoding="utf-8")
    detectors = ("-m", "pytest", "-q", "--pyargs", "bugkit.detectors", "--gpt")
    right = run(fresh / "python", *detectors, "my_gpt.py", cwd=tmp_path)
    assert right.returncode == 0, right.stdout + right.stderr
    wrong = run(fresh / "python", *detectors, "no_causal_mask", cwd=tmp_path)
    assert wrong.returncode == 1
    assert "the weight should be 0, but is" in wrong.stdout
    code = "from bugkit import correct; import bugkit; print(bugkit.__file__, correct.gelu(0.0))"
    assert run(fresh / "python", "-c", code, cwd=tmp_path).stdout.strip().endswith("0.0")


def test_a_new_bug_needs_a_place_of_its_own(fresh: Path, tmp_path: Path) -> None:
    assert "--catalogue PATH" in run(fresh / "bugkit", "new", "mine", cwd=tmp_path).stderr
    made = run(fresh / "bugkit", "new", "mine", "--catalogue", tmp_path / "course", cwd=tmp_path)
    assert made.returncode == 0
    build = run(fresh / "bugkit", "build", "--catalogue", tmp_path / "course", cwd=tmp_path)
    assert "Traceback" not in build.stderr
    assert "pip install 'bugkit[author]'" in build.stderr or "https://" in build.stderr
