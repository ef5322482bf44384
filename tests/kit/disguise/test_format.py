"""Made without the formatter and the linter, and yet they have nothing to add."""

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from bugkit.disguise import Level, disguise
from bugkit.tells import LINT, RUFF

pytest.importorskip("ruff", reason="needs the extra author")

BUGS = ("attention_added_to_itself", "decay_added_to_the_gradient", "rotary_over_heads")


@pytest.mark.parametrize("command", [["format", "--diff"], ["check", "--select", LINT]])
def test_formatter_and_linter_do_not_object(
    tmp_path: Path,
    correct: Mapping[str, str],
    broken: Callable[[str], dict[str, str]],
    command: list[str],
) -> None:
    packages = [dict(correct)] * 6 + [broken(slug) for slug in BUGS]
    for i, files in enumerate(packages):
        level = Level.LIGHT if i < 2 else Level.FULL
        folder = tmp_path / f"p{i}"
        folder.mkdir()
        for name, text in disguise(files, level, b"format %d" % i).files.items():
            (folder / name).write_text(text, encoding="utf-8")
    whole = [sys.executable, "-m", "ruff", *command, *RUFF, "--no-cache", str(tmp_path)]
    done = subprocess.run(whole, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
