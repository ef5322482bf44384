"""The table in a terminal: nothing is cut off, hidden or told by colour alone."""

import itertools
import re
from collections.abc import Callable
from dataclasses import replace

import click
import pytest
from click.testing import CliRunner

from bugkit.cli import cli
from bugkit.matrix import Cell, Matrix, Outcome
from bugkit.report.symbols import ASCII, SYMBOLS, WORDS
from bugkit.report.table import as_table
from bugkit.subject import Kind

WIDTH = 100
"""Columns of a line where no terminal tells."""

WIDTHS = [WIDTH, 60, 40]
"""That of a pipe, of half a screen and of a telephone."""

OTHER_ESCAPES = re.compile("\x1b(?!\\[[0-9;]*m)|[^\n\x1b\x20-\x7e\xa0-\U0010ffff]")
"""Control characters, unless they begin a colour."""

KEY_LINE = re.compile("^  (?P<key>[A-Z].) +(?P<kills>[0-9]+)  (?P<label>.+)$")


def plain(matrix: Matrix, width: int) -> list[str]:
    return click.unstyle(as_table(matrix, width)).splitlines()


def legend(matrix: Matrix, width: int) -> dict[str, tuple[int, str]]:
    """Key -> number of bugs killed, and label."""
    text = "\n".join(plain(matrix, width))
    unwrapped = re.sub(r"\n {11}(?=\S)", " ", text).splitlines()
    found = [match for line in unwrapped if (match := KEY_LINE.match(line))]
    keys = {match["key"]: (int(match["kills"]), match["label"]) for match in found}
    assert len(keys) == len(found)
    return keys


LEFT_OUT = "others that pass all of these"


def cells(matrix: Matrix, width: int) -> dict[tuple[str, str], str]:
    """(subject, key) -> symbol, read from the text as a person reads it: down and across."""
    lines = plain(matrix, width)
    found: dict[tuple[str, str], str] = {}
    for number in range(1, len(lines)):
        keys = columns(lines[number - 1], lines[number])
        if not keys:
            continue
        for row in itertools.takewhile(
            lambda line: line and LEFT_OUT not in line, lines[number + 1 :]
        ):
            named = [s.id for s in matrix.subjects if f" {s.id}  " in row[: min(keys)] + "  "]
            if not named:
                break  # no header after all
            (subject,) = named
            for place, key in keys.items():
                assert (subject, key) not in found, "shown twice"
                found[subject, key] = row[place]
    return found


def columns(upper: str, lower: str) -> dict[int, str]:
    """Place in the line -> key, if these are the two lines of a header."""
    letters = [(m.start(), m[0]) for m in re.finditer("[A-Z]", upper)]
    if not letters or upper.strip(" ABCDEFGHIJKLMNOPQRSTUVWXYZ") or not lower.strip():
        return {}
    keys = {}
    for match in re.finditer("[1-9a-z]", lower):
        before = [letter for place, letter in letters if place <= match.start()]
        if not before:
            return {}
        keys[match.start()] = before[-1] + match[0]
    return keys


# What must not happen


def test_no_line_of_the_whole_catalogue_is_wider_than_a_pipe(catalogue_matrix: Matrix) -> None:
    assert [line for line in plain(catalogue_matrix, WIDTH) if len(line) > WIDTH] == []


def test_no_line_is_wider_when_every_mutant_survives(catalogue_matrix: Matrix) -> None:
    """The finding that the table is there to show must not be what breaks it."""
    passed = {key: Cell(Outcome.PASSED) for key in catalogue_matrix.cells}
    wide = plain(replace(catalogue_matrix, cells=passed), WIDTH)
    assert any(line.endswith(" SURVIVED") for line in wide)
    assert [line for line in wide if len(line) > WIDTH] == []


def test_no_line_is_wider_when_every_outcome_occurs(matrix: Matrix) -> None:
    assert [line for line in plain(matrix, WIDTH) if len(line) > WIDTH] == []


def test_no_message_gets_wider_than_the_table(told: tuple[str, Matrix]) -> None:
    _, matrix = told
    assert [line for line in plain(matrix, WIDTH) if len(line) > WIDTH] == []


@pytest.mark.parametrize("width", WIDTHS)
def test_no_cell_is_missing_or_under_another_key(width: int, any_matrix: Matrix) -> None:
    shown = cells(any_matrix, width)
    for subject in any_matrix.subjects:
        for d, cell in any_matrix.row(subject):
            # In a large grid, a row without a finding is left out of a part.
            symbol = shown.pop((subject.id, d.key), SYMBOLS[Outcome.PASSED])
            assert symbol == SYMBOLS[cell.outcome], (subject.id, d.key)
    assert not shown


def test_a_large_grid_counts_the_rows_it_leaves_out(catalogue_matrix: Matrix) -> None:
    lines = plain(catalogue_matrix, 60)
    end = next(i for i, line in enumerate(lines) if LEFT_OUT in line)
    header = 2
    shown = lines[:end][::-1].index("") - header
    left_out = int(re.findall(r"\d+", lines[end])[0])
    assert shown + left_out == len(catalogue_matrix.subjects)


def test_no_name_of_a_file_breaks_its_row(named: tuple[str, Matrix]) -> None:
    name, matrix = named
    correct, file = matrix.subjects
    renamed = replace(
        matrix,
        subjects=(correct, replace(file, id="gpt.py")),
        cells={("gpt.py" if id_ == name else id_, d): c for (id_, d), c in matrix.cells.items()},
    )
    assert len(plain(matrix, WIDTH)) == len(plain(renamed, WIDTH))


def test_no_name_of_a_file_brings_in_a_colour(named: tuple[str, Matrix]) -> None:
    text = as_table(named[1], WIDTH)
    assert not OTHER_ESCAPES.search(text)
    assert "\x1b[31mb.py" not in text


def test_no_message_brings_in_an_escape_code(told: tuple[str, Matrix]) -> None:
    _, matrix = told
    text = as_table(matrix, WIDTH)
    assert not OTHER_ESCAPES.search(text)
    assert "red\x1b[31m" not in text


def test_no_key_is_given_twice(catalogue_matrix: Matrix) -> None:
    keys = [d.key for d in catalogue_matrix.detectors]
    assert sorted(set(keys)) == sorted(keys)


# Colour


def test_without_colour_the_text_is_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setenv("BUGKIT_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
    command = ["check", "post_norm", "--detector", "gelu"]
    terminal = CliRunner().invoke(cli, command, color=True).output
    bare = CliRunner(env={"NO_COLOR": "1"}).invoke(cli, command, color=True).output
    assert "\x1b[" in terminal
    assert bare == click.unstyle(terminal)


def test_a_terminal_without_the_symbols_gets_others_that_differ() -> None:
    letters = [ASCII.get(symbol, symbol) for symbol in SYMBOLS.values()]
    assert "".join(letters).isascii()
    assert len(set(letters)) == len(letters)


# What is there


def test_the_matrix_made_by_hand_reads_as_it_should(
    matrix: Matrix, golden: Callable[[str, str], None]
) -> None:
    golden("matrix.txt", click.unstyle(as_table(matrix, WIDTH)) + "\n")


@pytest.mark.parametrize("width", WIDTHS)
def test_the_legend_explains_every_key(width: int, any_matrix: Matrix) -> None:
    mutants = any_matrix.of_kind(Kind.MUTANT)
    assert legend(any_matrix, width) == {
        d.key: (sum(d in any_matrix.failed(s) for s in mutants), d.label)
        for d in any_matrix.detectors
    }


def test_every_symbol_that_occurs_is_explained(any_matrix: Matrix) -> None:
    text = "\n".join(plain(any_matrix, WIDTH))
    used = {cell.outcome for cell in any_matrix.cells.values()}
    for outcome in Outcome:
        assert (f"{SYMBOLS[outcome]} {WORDS[outcome]}" in text) == (outcome in used)


def test_a_mutant_shows_how_many_kill_it_and_a_bad_verdict_is_a_word(matrix: Matrix) -> None:
    ends = {}
    for line in plain(matrix, WIDTH):
        for s in matrix.subjects:
            if re.search(rf"(^| ){re.escape(s.id)}  .*[·✗TCME-] [·✗TCME-]", line):
                ends[s.id] = line.split()[-1]
    assert ends == {
        "correct": "·",
        "mask_gone": "1",
        "mask_late": "1",
        "looks_wrong": "·",
        "looks_accused": "ACCUSED",
        "other_promise": "2",
        "no_promise": "1",
        "only_recorded": "SURVIVED",
        "never_judged": "INVALID",
        "solutions/my gpt.py": "KILLED",
        "unloadable.py": "INVALID",
        "fine.py": "·",
        "odd.py": "SURVIVED",
    }


def test_the_same_matrix_gives_the_same_text(catalogue_matrix: Matrix) -> None:
    assert as_table(catalogue_matrix, 80) == as_table(catalogue_matrix, 80)
