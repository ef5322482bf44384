"""Detectors on their own: nothing of the kit is needed, and no verdict or message changes."""

import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from bugkit.catalogue import load_catalogue
from bugkit.contract import Offer
from bugkit.definitions import take_apart
from bugkit.package import package
from bugkit.places import DETECTORS
from bugkit.problems import Problem
from bugkit.standalone import standalone
from bugkit.subject import CORRECT_SUBJECT, load, subject_of
from bugkit.suite import Suite, with_suite

CATALOGUE = load_catalogue()

SAMPLE = (
    ("no_causal_mask", "test_next_token_is_hidden"),
    ("no_causal_mask", "test_query_heads_read_the_keys_of_their_group"),
    ("heads_never_transposed", "test_heads_read_their_own_channels"),
)
"""Mutants and detectors that kill them: messages with numbers in them."""


def every_detector() -> list[str]:
    names: list[str] = []

    def use(suite: Suite) -> None:
        names.extend(d.id for d in suite.detectors if not d.backstop)

    with_suite("", use)
    return names


def run_source(source: str) -> dict[str, Any]:
    program: dict[str, Any] = {"__name__": "program"}
    exec(compile(source, "program", "exec"), program)
    return program


def said(test: Callable[..., Any], gpt: Any) -> str:
    """The message of the failure, or an empty string."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            test(gpt)
        except (AssertionError, pytest.fail.Exception) as failure:
            return str(failure) or "failed"
    return ""


def changed_suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, test: str, cases: str) -> None:
    """A suite of one file of tests and one of helpers."""
    (tmp_path / "test_a.py").write_text(test, encoding="utf-8")
    (tmp_path / "cases.py").write_text(cases, encoding="utf-8")
    for name in ("trees.py", "slopes.py"):
        (tmp_path / name).write_text("", encoding="utf-8")
    monkeypatch.setattr("bugkit.standalone.DETECTORS", tmp_path)


def test_no_detector_needs_the_kit_or_changes_its_verdict_on_the_correct_gpt() -> None:
    detectors = every_detector()
    program = run_source(standalone(detectors))
    gpt = program["Plain"](load(CORRECT_SUBJECT))
    assert len(detectors) > 100
    assert [said(program[name], gpt) for name in detectors] == [""] * len(detectors)
    assert "bugkit" not in standalone(detectors)


@pytest.mark.parametrize(("slug", "detector"), SAMPLE)
def test_no_message_differs_from_that_of_the_suite(slug: str, detector: str) -> None:
    module = load(subject_of(CATALOGUE[slug]))
    messages: list[str] = []

    def use(suite: Suite) -> None:
        function = suite.items[0].function  # type: ignore[attr-defined]
        messages.append(said(function, Offer(module)))

    with_suite(detector, use)
    program = run_source(standalone([detector]))
    assert said(program[detector], program["Plain"](module)) == messages[0]
    assert re.search(r"\d", messages[0])


def test_no_local_variable_hides_a_name_that_lost_its_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    test = (
        "from . import cases\n\nSIZE = cases.SIZE + 1\n\n\n"
        "def test_a(gpt):\n    tokens = cases.tokens()\n    other = [x for x in tokens]\n"
        "    assert [tokens, SIZE, other] == [[2], 3, [2]]\n"
    )
    cases = 'SIZE = 2\n"""What it is."""\n\n\ndef tokens():\n    return [SIZE]\n'
    changed_suite(tmp_path, monkeypatch, test, cases)
    source = standalone(["test_a"])
    run_source(source)["test_a"](None)
    assert "    tokens = cases_tokens()\n" in source
    assert 'SIZE = 2\n"""What it is."""\n' in source
    assert "\n\nA_SIZE = SIZE + 1\n" in source


def test_no_definition_is_brought_that_is_not_used() -> None:
    program = run_source(standalone(["test_layer_norm_standardises_each_token"]))
    assert "_parameters" not in program
    assert "test_layer_norm_leaves_tokens_apart" not in program


def test_no_array_of_the_test_can_be_written_to_by_the_package() -> None:
    program = run_source(standalone(["test_layer_norm_standardises_each_token"]))

    def clear(x: np.ndarray) -> np.ndarray:
        x[:] = 0.0
        return x

    x = np.ones(3)
    assert not program["Plain"](SimpleNamespace(clear=clear)).clear(x).any()
    assert x.all()


def test_a_backstop_and_an_unknown_name_are_refused() -> None:
    with pytest.raises(Problem, match=r"RECORDED of test_backstop\.py reads a file beside it"):
        standalone(["test_logits_match_the_record"])
    with pytest.raises(Problem, match="did you mean test_next_token_is_hidden"):
        standalone(["test_next_token_is_hiden"])


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("for x in []:\n    pass\n", r"t\.py, line 1: neither a definition nor an import"),
        ("def f(x: 'Y') -> None: ...\n", r"t\.py, line 1: quotes around Y"),
        ("def f() -> None:\n    global x\n", "global and nonlocal are not understood"),
        ("from . import cases\n\n\ndef f():\n    return cases\n", "cases is a file"),
    ],
)
def test_what_is_not_understood_is_refused(source: str, fault: str) -> None:
    with pytest.raises(Problem, match=fault):
        take_apart("t", source)


def test_two_files_may_use_one_name_for_two_things() -> None:
    detectors = ["test_tied_head_reads_the_embedding", "test_each_token_attends_to_itself"]
    program = run_source(standalone([*detectors, "test_gradients_of_the_head"]))
    assert program["HEAD_SIZES"]["n_layers"] == 1
    assert program["SIZES"]["n_layers"] == 2
    assert program["slopes_loss_of"] is not None


def test_programs_are_formatted_and_have_no_unused_name(tmp_path: Path) -> None:
    pytest.importorskip("ruff", reason="ruff, of the extra `author`, is not installed")
    for path in DETECTORS.glob("test_*.py"):
        tests = [n for d in take_apart(path.stem, path.read_text()).definitions for n in d.names]
        tests = [name for name in tests if name.startswith("test_") and "record" not in name]
        if tests:
            (tmp_path / path.name).write_text(standalone(tests), encoding="utf-8")
            (tmp_path / f"{tests[0]}.py").write_text(standalone(tests[:1], "gpt"), encoding="utf-8")
    (tmp_path / "gpt.py").write_text("")
    settings = ["--config", str(Path(__file__).parents[2] / "pyproject.toml"), "--no-cache"]
    settings += ["--config", "src=['.']"]
    # A name that clashes with another gets longer, and a text that cannot be broken with it.
    for command in (["check", "--ignore=E501"], ["format", "--check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, *settings, "."],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout


def test_with_a_package_it_is_a_file_of_tests_that_pytest_runs_without_the_kit(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "gpt"
    folder.mkdir()
    for name, source in package(CATALOGUE["no_causal_mask"]).items():
        (folder / name).write_text(source, encoding="utf-8")
    tests = ["test_next_token_is_hidden", "test_layer_norm_leaves_tokens_apart"]
    (tmp_path / "test_visible.py").write_text(standalone(tests, package="gpt"), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:bugkit", "-p", "no:cacheprovider", "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert "1 failed, 1 passed" in done.stdout


def test_the_same_detectors_give_the_same_bytes() -> None:
    detectors = ["test_next_token_is_hidden", "test_heads_read_their_own_channels"]
    assert standalone(detectors) == standalone(detectors[::-1])


def test_no_file_is_taken_apart_twice() -> None:
    standalone(["test_next_token_is_hidden"], package="gpt")
    before = take_apart.cache_info().misses
    standalone(["test_heads_read_their_own_channels"], package="gpt")
    assert take_apart.cache_info().misses == before


def test_a_change_of_the_suite_is_seen_by_the_next_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for size in ("2", "3"):
        test = "from . import cases\n\n\ndef test_a(gpt):\n    assert cases.SIZE\n"
        changed_suite(tmp_path, monkeypatch, test, f"SIZE = {size}\n")
        assert f"\nSIZE = {size}\n" in standalone(["test_a"])


def test_a_module_with_imports_says_what_they_stand_for() -> None:
    found = take_apart("t", "import a.b\nfrom .trees import leaves as all_leaves\n")
    assert found.imported == {"a": ("", "import a.b"), "all_leaves": ("trees", "leaves")}
