"""Collecting detectors: real pytest items, stable keys, and digests that know what changed."""

import re
import shutil
from pathlib import Path

import pytest

from bugkit.catalogue import load_catalogue
from bugkit.contract import NAMES_BY_LEVEL
from bugkit.engine import run
from bugkit.matrix import Detector, broken_promises
from bugkit.options import Options
from bugkit.places import DETECTORS
from bugkit.problems import Problem
from bugkit.standalone import standalone
from bugkit.subject import CORRECT_SUBJECT, subject_of
from bugkit.suite import Suite, property_ids, with_suite


def collect(select: str = "") -> dict[str, Detector]:
    found: list[Suite] = []
    with_suite(select, found.append)
    return {d.id: d for d in found[0].detectors}


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the detectors that may be changed."""
    folder = tmp_path / f"detectors_{tmp_path.name}"
    shutil.copytree(DETECTORS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr("bugkit.suite.DETECTORS", folder)
    return folder


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def changed(before: dict[str, Detector], after: dict[str, Detector]) -> set[str]:
    return {name for name in before if before[name].digest != after[name].digest}


def test_a_detector_that_cannot_be_collected_is_one_clear_message(suite: Path) -> None:
    (suite / "test_broken.py").write_text("def test_broken(gpt:\n", encoding="utf-8")
    with pytest.raises(Problem, match=r"(?s)cannot be collected.*test_broken\.py"):
        collect()


def test_two_detectors_of_one_name_are_refused(suite: Path) -> None:
    twin = 'def test_logits_are_finite(gpt):\n    """Twin."""\n'
    (suite / "test_twins.py").write_text(twin, encoding="utf-8")
    with pytest.raises(Problem, match="two detectors are called test_logits_are_finite"):
        collect()


def test_a_change_of_one_detector_changes_its_digest_alone(suite: Path) -> None:
    before = collect()
    change(suite / "test_softmax.py", "(2, 3, 4, 5))", "(2, 3, 4, 6))")
    assert changed(before, collect()) == {"test_softmax_normalises_the_last_axis"}


def test_a_change_of_a_comment_changes_nothing(suite: Path) -> None:
    before = collect()
    change(suite / "test_softmax.py", "    x = np", "    # a comment\n    x = np")
    assert changed(before, collect()) == set()


def test_a_change_of_what_a_file_shares_changes_its_detectors(suite: Path) -> None:
    before = collect()
    change(suite / "test_softmax.py", "SHIFT = 1000.0", "SHIFT = 2000.0")
    after = collect()
    assert changed(before, after) == {n for n, d in before.items() if d.family == "softmax"}


def test_a_change_of_the_helpers_changes_all(suite: Path) -> None:
    before = collect()
    change(suite / "cases.py", "SEED = 1", "SEED = 2")
    assert changed(before, collect()) == set(before)


def test_a_selection_does_not_rename_columns() -> None:
    everything = collect()
    for name, detector in collect("gelu or finite").items():
        assert detector.key == everything[name].key


def test_families_come_most_fundamental_first_and_the_backstop_last() -> None:
    families = list(dict.fromkeys(d.family for d in collect().values()))
    assert families[0] == "numerics"
    assert families[-1] == "backstop"


def test_a_new_family_comes_before_the_backstop(suite: Path) -> None:
    new = 'def test_new(gpt):\n    """New."""\n    gpt.gelu\n'
    (suite / "test_aardvark.py").write_text(new, encoding="utf-8")
    families = list(dict.fromkeys(d.family for d in collect().values()))
    assert families[-2:] == ["aardvark", "backstop"]


def test_every_detector_has_a_label_and_a_reason() -> None:
    for detector in collect().values():
        assert 10 < len(detector.label) < 90
        assert detector.story


HIGHER = {"test_generation_is_without_dropout", "test_validation_text_is_not_trained_on"}
"""One test each of a family that else does with less."""


def test_no_detector_needs_more_than_its_level_says() -> None:
    levels = {name: level for level, names in NAMES_BY_LEVEL.items() for name in names}
    low = {
        d.id
        for d in collect().values()
        if not d.backstop
        for name in re.findall(r"\bgpt\.(\w+)", standalone([d.id]))
        if levels.get(name, 1) > d.level
    }
    assert low == HIGHER


def test_the_settings_of_the_user_do_not_matter(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    expected = collect()
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -k nothing\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTEST_ADDOPTS", "-k nothing -p no_such_plugin")
    assert collect() == expected


@pytest.mark.usefixtures("plain_assertions")
def test_no_verdict_is_luck_of_the_seed(suite: Path) -> None:
    """The numbers of the parameters are arbitrary; only the record belongs to one seed."""
    change(suite / "cases.py", "SEED = 1", "SEED = 2")
    bugs = list(load_catalogue().values())[::2]
    subjects = [CORRECT_SUBJECT, *map(subject_of, bugs)]
    matrix = run(subjects, Options(select="not match_the_record", cache=False))
    assert broken_promises(matrix) == []


def test_no_backstop_is_among_the_properties_and_their_order_is_that_of_the_suite() -> None:
    every = collect()
    assert property_ids("") == tuple(id_ for id_, d in every.items() if not d.backstop)
    assert any(d.backstop for d in every.values())
    some = property_ids("softmax or mask or A1")
    assert 2 < len(some) < len(property_ids(""))
    assert some == tuple(id_ for id_ in every if id_ in some)


def test_properties_are_what_a_program_of_their_own_is_made_of() -> None:
    ids = property_ids("test_logits_match_the_record or F1")
    assert len(ids) == 1
    assert f"def {ids[0]}(" in standalone(ids)


def test_backstops_alone_are_no_choice_of_properties() -> None:
    with pytest.raises(Problem, match="'backstop' names backstops alone"):
        property_ids("backstop")


def test_no_wrong_expression_gives_properties() -> None:
    with pytest.raises(Problem, match="no detector matches 'nothing_at_all'"):
        property_ids("nothing_at_all")
    with pytest.raises(Problem, match="Wrong expression"):
        property_ids("F1 or")
