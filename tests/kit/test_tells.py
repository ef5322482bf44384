"""Tells: whatever would give a mutant away is found, and the real catalogue has none.

The table of the whole catalogue starts a formatter and a linter three times a bug, which is what
takes this file's few seconds.
"""

import tomllib
from pathlib import Path

import pytest

from bugkit.catalogue import Bug, load_catalogue
from bugkit.edits import mutate
from bugkit.files import read_text
from bugkit.places import IN_CHECKOUT
from bugkit.tells import LINT, MARKERS, MAX_CHANGED_LINES, RUFF, find_tells, same_code

CATALOGUE = load_catalogue()

ORIGINAL = '''"""A module."""

import math

import numpy as np


def scale(x: np.ndarray, width: int) -> np.ndarray:
    """Divide by a root."""
    # Why it is done.
    root = math.sqrt(width)
    return half(x) / root


def half(x: np.ndarray) -> np.ndarray:
    """Divide by two."""
    return x / 2
'''


def tells(*changes: tuple[str, str], original: str = ORIGINAL, file: str = "scale.py") -> list[str]:
    """The tells of ORIGINAL with each old text replaced by the new one."""
    mutant = original
    for old, new in changes:
        assert mutant.count(old) == 1, old
        mutant = mutant.replace(old, new)
    return find_tells(original, mutant, file)


# What must not happen: a tell that is missed.


@pytest.mark.parametrize(
    "change",
    [
        ("x / 2", "x/2"),
        ("x / 2", "(x / 3)"),
        ("half(x) / root", "half( x ) * root"),
        ('    """Divide by two."""\n', '    """Divide by two."""\n\n\n'),
        ("x / 2", "x / 3  "),
        ("x / 2", "x / 2" + " / 2" * 30),
        ("def half(x: np.ndarray)", "def half(x : np.ndarray, /)"),
    ],
    ids=["no spaces", "parentheses", "spaces", "empty lines", "trailing", "long line", "colon"],
)
def test_what_the_formatter_would_change_is_a_tell(change: tuple[str, str]) -> None:
    assert tells(("math.sqrt(width)", "math.sqrt(width + 1)"), change)[0].startswith(
        "the formatter would change it: -"
    )


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (("half(x) / root", "half(x)"), "F841"),
        (("return half(x) / root", "result = half(x) / root\n    return result"), "RET504"),
        (("x / 2", "x / 2 if x.ndim == True else x"), "E712"),
        (("x / 2", "np.stack([i for i in x]) / 2"), "C416"),
        (("math.sqrt(width)", "math.sqrt(3)"), "ARG001"),
        (("math.sqrt(width)", "width**0.5"), "F401"),
        (("x / 2", "x / two"), "F821"),
    ],
)
def test_what_the_linter_finds_is_a_tell(change: tuple[str, str], rule: str) -> None:
    assert any(tell.startswith(f"the linter finds {rule} ") for tell in tells(change))


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (("half(x) / root", "half(x)"), "root"),
        (("math.sqrt(width)", "math.sqrt(3)"), "width"),
        (("math.sqrt(width)", "width**0.5"), "math"),
        (("half(x) / root", "x / root"), "half"),
    ],
    ids=["local", "parameter", "import", "function"],
)
def test_a_name_that_is_no_longer_used_is_a_tell(change: tuple[str, str], name: str) -> None:
    assert f"the name {name} is no longer used" in tells(change)


def test_a_function_that_nobody_calls_any_more_is_a_tell_of_a_real_module() -> None:
    bug = CATALOGUE["scores_not_scaled"]
    original = read_text(bug.original)
    call = "attention_weights_backward(dweights, weights, q, k)"
    found = tells((call, "dweights @ k, weights @ q"), original=original, file=bug.file)
    assert "the name attention_weights_backward is no longer used" in found


def test_what_other_modules_import_is_in_use() -> None:
    original = "from .norm import layer_norm\n\n\ndef embed(x):\n    return x\n\n\nembed(1)\n"
    for file, unused in (("embedding.py", False), ("scale.py", True)):
        found = tells(("\n\n\nembed(1)", "\n\n\nprint(1)"), original=original, file=file)
        assert ("the name embed is no longer used" in found) is unused


@pytest.mark.parametrize(
    ("change", "comment"),
    [
        (("x / 2", "x / 3  # a third"), "# a third"),
        (("# Why it is done.", "# Why it is not done."), "# Why it is not done."),
        (("    return x / 2", "    # three\n    return x / 3"), "# three"),
        (("x / 2", "x / 3  # noqa"), "# noqa"),
    ],
)
def test_a_new_comment_is_a_tell(change: tuple[str, str], comment: str) -> None:
    found = tells(("math.sqrt(width)", "math.sqrt(width + 1)"), change)
    assert f"new comment {comment!r}" in found


def test_a_large_change_is_a_tell() -> None:
    lines = "".join(f"    x = x + {n}\n" for n in range(MAX_CHANGED_LINES + 1))
    found = tells(("    return x / 2", f"{lines}    return x / 2"))
    assert found == [f"{MAX_CHANGED_LINES + 1} changed lines are more than {MAX_CHANGED_LINES}"]


def test_a_change_of_the_largest_size_is_none() -> None:
    lines = "".join(f"    x = x + {n}\n" for n in range(MAX_CHANGED_LINES))
    assert tells(("    return x / 2", f"{lines}    return x / 2")) == []


@pytest.mark.parametrize("word", MARKERS)
def test_a_word_that_says_what_this_is_is_a_tell(word: str) -> None:
    found = tells(("x / 2", f"x / len({word.upper()!r})".replace("'", '"')))
    assert found == [f'the word {word!r} in: return x / len("{word.upper()}")']


def test_a_word_that_stood_there_before_is_none() -> None:
    original = ORIGINAL.replace("Divide by two.", "A hack.")
    assert tells(("x / 2", "x / 3"), original=original) == []


@pytest.mark.parametrize(
    "changes",
    [
        [],
        [("x / 2", "x  /  2")],
        [("x / 2", "(x / 2)")],
        [("    return x / 2", "\n    return x / 2")],
        [("Divide by two.", "Divide by three.")],
        [('"""A module."""\n', '"""A module, with a docstring of two\nlines."""\n')],
        [("# Why it is done.", "# Why it is not done.")],
        [("x / 2", "x / (1 + 1)")],
    ],
    ids=["nothing", "spaces", "parentheses", "line", "docstring", "lines", "comment", "folded"],
)
def test_a_change_of_nothing_is_a_tell(changes: list[tuple[str, str]]) -> None:
    (tell,) = tells(*changes)
    assert tell.startswith("the edits change nothing")


DIFFERENCES = {
    "type": ("x / 2", "x / 2.0"),
    "sign": ("x / 2", "x / -2"),
    "operator": ("x / 2", "x // 2"),
    "exchange": ("half(x) / root", "half(root) / x"),
    "default": ("def half(x: np.ndarray)", "def half(x: np.ndarray, y: int = 0)"),
    "any number": ("def half(x: np.ndarray)", "def half(*x: np.ndarray)"),
    "keyword only": ("def half(x: np.ndarray)", "def half(*, x: np.ndarray)"),
    "positional only": ("def half(x: np.ndarray)", "def half(x: np.ndarray, /)"),
    "generator": ("return x / 2", "yield x / 2"),
    "coroutine": ("def half", "async def half"),
    "constant": ("return x / 2", "return None"),
    "assertion": ("root = math.sqrt(width)", "root = math.sqrt(width)\n    assert root"),
}


@pytest.mark.parametrize(("old", "new"), DIFFERENCES.values(), ids=DIFFERENCES)
def test_two_programs_are_told_apart(old: str, new: str) -> None:
    assert not same_code(ORIGINAL, ORIGINAL.replace(old, new))


def test_zero_and_minus_zero_are_told_apart() -> None:
    assert not same_code("x = 0.0\n", "x = -0.0\n")
    assert not same_code("x = (1, 0.0)\n", "x = (1, -0.0)\n")
    assert not same_code("x = 1\n", "x = True\n")


def test_line_numbers_and_names_of_files_are_no_difference() -> None:
    assert same_code(ORIGINAL, "\n\n# more\n" + ORIGINAL)


# What may happen.


@pytest.mark.parametrize(
    "change",
    [
        ("x / 2", "x / 3"),
        ("half(x) / root", "half(x) * root"),
        ("    return half(x) / root", "    x = x / root\n    return half(x)"),
    ],
)
def test_a_change_of_meaning_alone_is_no_tell(change: tuple[str, str]) -> None:
    assert tells(change) == []


def test_what_the_linter_finds_in_the_original_too_is_no_tell() -> None:
    original = ORIGINAL.replace("import math\n", "import math\nimport os\n")
    assert tells(("x / 2", "x / 3"), original=original) == []


def test_a_second_finding_of_the_same_sort_is_a_tell() -> None:
    original = ORIGINAL.replace("x / 2", "x / (2 if x.ndim == True else 3)")
    found = tells(
        ("half(x) / root", "half(x) / (root if x.ndim == True else 1)"), original=original
    )
    assert len(found) == 1
    assert found[0].startswith("the linter finds E712 ")


def test_text_in_any_language_is_no_tell() -> None:
    original = ORIGINAL.replace("Divide by two.", "Durch zwei: größe 数 😀.")
    assert tells(("x / 2", "x / 3"), original=original) == []


# The settings, and the real catalogue.


@pytest.mark.skipif(not IN_CHECKOUT, reason="an installed kit has no pyproject.toml")
def test_the_settings_are_those_of_the_project() -> None:
    path = Path(__file__).resolve().parents[2] / "pyproject.toml"
    ruff = tomllib.loads(path.read_text(encoding="utf-8"))["tool"]["ruff"]
    given = dict(zip(RUFF[1::2], RUFF[2::2], strict=True))
    assert RUFF[0] == "--isolated"
    assert given == {
        "--line-length": str(ruff["line-length"]),
        "--target-version": ruff["target-version"],
    }
    # Naming has exceptions, which are a matter of this project; everything else counts.
    assert set(LINT.split(",")) == set(ruff["lint"]["select"]) - {"N"}
    assert all(rule.startswith("N") for rule in ruff["lint"]["ignore"])
    assert "format" not in ruff


@pytest.mark.parametrize("bug", CATALOGUE.values(), ids=CATALOGUE)
def test_the_catalogue_has_no_tell(bug: Bug) -> None:
    assert find_tells(read_text(bug.original), mutate(bug), bug.file) == []
