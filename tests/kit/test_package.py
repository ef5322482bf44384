"""The files of a subject: a package that runs under any name, with the bug's module in it."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from bugkit.catalogue import load_catalogue
from bugkit.contract import NAMES
from bugkit.package import modest, package
from bugkit.places import CORRECT
from bugkit.problems import Problem

BUG = load_catalogue()["no_causal_mask"]


def test_what_a_student_gets_does_not_call_itself_the_right_answer() -> None:
    files = package(BUG)
    changed = {name for name, source in modest(files).items() if source != files[name]}
    assert changed == {"__init__.py"}
    assert not [name for name, source in modest(files).items() if "right answer" in source]


@pytest.fixture
def imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The mutant, written as `hunt_k7` and imported."""
    monkeypatch.syspath_prepend(tmp_path)
    write(tmp_path / "hunt_k7", package(BUG))
    before = set(sys.modules)
    yield importlib.import_module("hunt_k7")
    for name in set(sys.modules) - before:
        del sys.modules[name]


def write(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir()
    for name, source in files.items():
        (folder / name).write_text(source, encoding="utf-8")


def test_no_file_but_the_one_with_the_bug_differs_from_the_correct_gpt() -> None:
    files, right = package(BUG), package()
    assert {name for name in files if files[name] != right[name]} == {BUG.file}
    assert set(right) == {path.name for path in CORRECT.glob("*.py")}


def test_it_runs_under_any_name_and_offers_all_of_the_contract(imported: ModuleType) -> None:
    assert all(hasattr(imported, name) for name in NAMES)
    cfg = imported.GPTConfig(vocab_size=5, d_model=6, n_layers=1, n_heads=2, max_seq_len=4)
    logits = imported.gpt_forward(imported.init_params(cfg), cfg, np.array([[1, 2, 3]]))
    assert logits.shape == (1, 3, 5)


def test_only_some_modules_bring_what_they_import_and_no_more(tmp_path: Path) -> None:
    files = package(BUG, only=["attention"])
    assert {"attention.py", "softmax.py", "__init__.py"} < set(files)
    assert "train.py" not in files
    assert "    train " not in files["__init__.py"] and '"train"' not in files["__init__.py"]
    assert '    "softmax",\n' in files["__init__.py"]
    write(tmp_path / "hunt", files)
    for name in files:
        compile(files[name], name, "exec")


def test_every_module_alone_can_be_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    for name in sorted(path.stem for path in CORRECT.glob("[a-z]*.py")):
        write(tmp_path / f"hunt_{name}", package(only=[name]))
        module = importlib.import_module(f"hunt_{name}")
        assert all(hasattr(module, offered) for offered in module.__all__)
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_an_unknown_module_is_refused() -> None:
    with pytest.raises(Problem, match="no module norms; did you mean norm"):
        package(only=["norms"])
