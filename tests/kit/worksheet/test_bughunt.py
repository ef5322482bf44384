"""The tools that a notebook brings: no fix stops the run, and no empty test is taken for one."""

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bugkit.places import TEMPLATES

PROGRAM = "def double(x):\n    y = 3 * x\n    return y\n"
CHECK = '''
import numpy as np

class Plain:
    def __init__(self, package):
        self.double = package.double

def test_double(gpt):
    """Twice as much comes out.

    Always.
    """
    got = gpt.double(np.ones(2))
    assert got.sum() == 4, f"expected 4, got {got.sum():g}"
'''


@pytest.fixture
def bughunt() -> Any:
    path = TEMPLATES / "worksheet" / "notebook" / "bughunt.py"
    spec = importlib.util.spec_from_file_location("bughunt_under_test", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def hunt(bughunt: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A hunt for a wrong factor in line 2."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    code = f"T{abs(hash(tmp_path)) % 10**6}"
    files = {"__init__.py": "from .a import double\n", "a.py": PROGRAM}
    bughunt.write(f"gpt_{code}", files)
    Path(f"check_{code}.py").write_text(CHECK, encoding="utf-8")
    return bughunt.Hunt(code, "a.py", ["test_double"])


@pytest.mark.parametrize(
    ("fix", "said"),
    [
        ({9: "x"}, "9 is no line of the file; it has lines 1 to 3"),
        ({"2": "x"}, "'2' is no line of the file"),
        ({2: 5}, "line 2: give the new text in quotes"),
        ({2: "y = 2 * x"}, "expected an indented block"),
        ({1: "raise KeyError", 2: None, 3: None}, "cannot be imported: KeyError"),
    ],
)
def test_no_wrong_fix_stops_the_run(
    hunt: Any, fix: dict[Any, Any], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    hunt.repair(fix)
    assert said in capsys.readouterr().out
    with pytest.raises(AssertionError, match="there is no repaired program"):
        hunt.check_repaired()


def test_no_property_is_said_to_hold_that_does_not(
    hunt: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    hunt.check()
    assert capsys.readouterr().out == "FAILED: Twice as much comes out.\n  expected 4, got 6\n"
    hunt.repair({})
    assert capsys.readouterr().out == "The fix changes nothing.\n"
    with pytest.raises(AssertionError, match="does not have the property"):
        hunt.check_repaired()


def test_the_right_fix_is_shown_and_holds(hunt: Any, capsys: pytest.CaptureFixture[str]) -> None:
    hunt.repair({2: ["    y = x", "    y = 2 * y"]})
    hunt.check_repaired()
    said = capsys.readouterr().out
    assert "-    y = 3 * x\n+    y = x\n+    y = 2 * y\n" in said
    assert said.endswith("passed: Twice as much comes out.\n")
    hunt.repair({2: "    y = x + x"})
    hunt.check_repaired()  # not the program of the first repair
    assert "+    y = x + x" in capsys.readouterr().out


def test_no_further_property_that_fails_is_passed_over(hunt: Any) -> None:
    hunt.repair({})
    with pytest.raises(AssertionError, match="Twice as much comes out: expected 4, got 6"):
        hunt.check_others(hunt.checks, ["test_double"])


def accept(_gpt: Any) -> None:
    pass


def refuse(_gpt: Any) -> None:
    raise AssertionError("never")


def twice(gpt: Any) -> None:
    assert gpt.double(np.ones(2))[0] == 2


def no_property(gpt: Any) -> None:
    gpt.double(np.ones(2))


def linear(gpt: Any) -> None:
    x = np.arange(3.0)
    assert np.allclose(gpt.double(2 * x), 2 * gpt.double(x))


@pytest.mark.parametrize(
    ("test", "fault"), [(accept, "passes on the program as received"), (refuse, "fails on the rep")]
)
def test_no_test_is_accepted_that_cannot_tell_the_programs_apart(
    hunt: Any, test: Callable[[Any], None], fault: str
) -> None:
    hunt.repair({2: "    y = 2 * x"})
    with pytest.raises(AssertionError, match=fault):
        hunt.judge(test)
    hunt.judge(twice)


@pytest.mark.parametrize(
    ("test", "fault"),
    [(accept, "so it would see no bug"), (no_property, "see no bug"), (twice, "fails on the pro")],
)
def test_no_test_of_an_innocent_is_accepted_that_sees_nothing(
    hunt: Any, test: Callable[[Any], None], fault: str
) -> None:
    with pytest.raises(AssertionError, match=fault):
        hunt.judge_alone(test)
    hunt.judge_alone(linear)


def test_lines_have_the_numbers_that_a_fix_names(
    hunt: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    hunt.show(2, 3)
    assert capsys.readouterr().out == "   2      y = 3 * x\n   3      return y\n"
