"""Where the repair goes in a student's copy, and what is called otherwise there."""

import re
from collections.abc import Iterable

import pytest

from bugkit.catalogue import Bug
from bugkit.disguise import Level
from bugkit.files import read_text
from bugkit.handout.copy import copy_of
from bugkit.worksheet.edition import Edition, public, replaced_and_missing
from bugkit.worksheet.excerpt import lines_of
from bugkit.worksheet.model import DiffLine
from bugkit.worksheet.received import MISSING, names, received, trimmed

SEEDS = [bytes([seed]) * 32 for seed in range(2)]
SLUGS = (
    "accumulation_keeps_the_last",  # a line is missing
    "positions_not_added",  # one is missing before a return
    "scores_not_scaled",  # an import comes along
    "final_norm_missing",
    "mask_added",  # innocent
)


@pytest.fixture(scope="module", params=SLUGS)
def copies(request: pytest.FixtureRequest, catalogue: dict[str, Bug]) -> list[Edition]:
    bug = catalogue[request.param]
    return [copy_of(bug, "K7Q2-MX4T", level, s) for level in Level for s in SEEDS]


def signed(edition: Edition, sign: str) -> Iterable[tuple[str, DiffLine]]:
    return [(p.file, line) for p in received(edition) for line in p.lines if line.sign == sign]


# What must not happen.


def test_no_line_that_stays_is_marked_as_one_that_goes(copies: list[Edition]) -> None:
    for edition in copies:
        marked = [(file, line.number) for file, line in signed(edition, "-")]
        assert sorted(marked) == sorted(
            (file, n) for file, numbers in edition.replaced.items() for n in numbers
        )
        assert {file for file, _ in marked} <= set(edition.lines)
        for file, number in marked:
            assert number in edition.lines[file]


def test_no_line_is_shown_as_it_is_not(copies: list[Edition]) -> None:
    for edition in copies:
        assert received(edition)
        for part in received(edition):
            text = lines_of(edition.files[part.file])
            for line in part.lines:
                assert line.sign == "+" or line.text == text[line.number - 1]


def test_no_gap_is_in_the_middle_of_a_statement(copies: list[Edition]) -> None:
    for edition in copies:
        for file, line in signed(edition, "+"):
            text = lines_of(edition.files[file])
            gap = re.sub(r"\.\.\. .*", "pass", line.text)
            compile(
                "\n".join([*text[: line.number - 1], gap, *text[line.number - 1 :]]), file, "exec"
            )


def test_no_name_is_told_that_the_copy_does_not_have(copies: list[Edition]) -> None:
    for edition in copies:
        words = set(re.findall(r"\w+", "\n".join(edition.files.values())))
        ours = read_text(edition.bug.module) + read_text(edition.bug.original)
        for old, new in names(edition):
            assert old in re.findall(r"\w+", ours)
            assert set(new) <= words


def test_nothing_is_called_otherwise_where_nothing_is_in_other_words(
    catalogue: dict[str, Bug],
) -> None:
    for slug in SLUGS:
        assert names(public(catalogue[slug])) == ()
        assert names(copy_of(catalogue[slug], "K7Q2-MX4T", Level.NONE, SEEDS[0])) == ()


# What is told.


def test_a_missing_line_is_a_line_of_its_own(catalogue: dict[str, Bug]) -> None:
    bug = catalogue["accumulation_keeps_the_last"]
    edition = copy_of(bug, "K7Q2-MX4T", Level.NONE, SEEDS[0])
    (part,) = received(edition)
    assert [(line.sign, line.text.strip()) for line in part.lines[-3:]] == [
        (" ", "loss += share * part"),
        ("+", MISSING),
        (" ", "return loss, grads"),
    ]


def test_an_import_is_no_gap_and_a_line_that_is_replaced_is_none_either() -> None:
    broken = "import b\n\na = 1\nc = 2\nd = 3\n"
    correct = "import b\nimport x\n\na = 2\nc = 2\ne = 4\nd = 3\n"
    assert replaced_and_missing(broken, correct) == ((3,), (5,))


def test_a_name_of_several_scopes_is_left_out(catalogue: dict[str, Bug]) -> None:
    bug = catalogue["decay_added_to_the_gradient"]
    told = dict(names(copy_of(bug, "K7Q2-MX4T", Level.FULL, SEEDS[0])))
    assert "map_tree" in told
    assert "param" not in told


def test_empty_lines_are_left_out_at_edges_alone() -> None:
    lines = (
        DiffLine(" ", 1, ""), DiffLine("-", 2, "a"), DiffLine(" ", 3, ""), DiffLine("-", 4, ""),
        DiffLine(" ", 5, " "), DiffLine(" ", 8, ""), DiffLine("+", 9, "b"), DiffLine(" ", 9, ""),
    )  # fmt: skip
    assert trimmed(lines) == (lines[1], lines[2], lines[3], lines[6])
