"""Programs that are mended in one of two places: what is left is a bug too, and no run is green.

A bug in a forward pass comes with its true gradient. Whoever mends the forward pass alone has a
gradient of another function.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from bugkit.catalogue import load_catalogue
from bugkit.edits import mutate
from bugkit.engine import run
from bugkit.matrix import Status
from bugkit.options import Options
from bugkit.subject import Kind, Subject

pytest.importorskip("ast_grep_py", reason="ast-grep-py, of the extra `author`, is not installed")

LEFT = (
    ("rotary_theta_not_passed", (2, 3)),
    ("keys_left_unturned", (1,)),
    ("keys_turned_backwards", (1,)),
    ("rotary_over_heads", (2, 3)),
    ("rotary_turned_the_other_way", (0, 1)),
    ("rotary_turned_the_other_way", (2, 3)),
    ("rotary_halves_with_unlike_angles", (1,)),
    ("queries_of_a_group_added_up", (1,)),
    ("dropout_on_the_input_of_attention", (5,)),
    ("scale_promotes_to_float64", (1,)),
    ("windows_end_too_early", (0, 1)),
)
"""Edits that are left, counted from 0; all others are taken back. Each once went unseen."""

WHERE = "gradient or text_enough"
"""The detectors that are here for them."""


def test_no_half_repaired_program_is_green(tmp_path: Path) -> None:
    bugs = load_catalogue()
    subjects = []
    for slug, left in LEFT:
        bug = bugs[slug]
        assert 0 < len(left) < len(bug.edits), slug
        folder = tmp_path / f"{slug}_{left[0]}"
        folder.mkdir()
        part = replace(bug, folder=folder, edits=tuple(bug.edits[i] for i in left))
        part.module.write_text(mutate(part), encoding="utf-8")
        subjects.append(Subject(folder.name, Kind.MUTANT, bug.title, folder, part))
    matrix = run(subjects, Options(select=WHERE, cache=False))
    assert [s.id for s in subjects if matrix.status(s) is not Status.KILLED] == []
