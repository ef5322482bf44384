"""Plots: whatever the numbers and however narrow the terminal, nothing is drawn where it is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bugkit.measure.plot import ASCII, FEWEST, MARGIN, ROWS, UNICODE, Curve, Symbols, plot

CURVES = st.lists(st.none() | st.floats(-1e99, 1e99), max_size=30)


def draw(
    theirs: Curve, ours: Curve, points: int = 3, width: int = 0, symbols: Symbols = ASCII
) -> list[str]:
    """By default three points, which take two columns each."""
    return list(plot(theirs, ours, points, 240, width or MARGIN + points, symbols))


def cells(lines: list[str]) -> list[str]:
    return [line[MARGIN:] for line in lines[:ROWS]]


def points(lines: list[str]) -> list[str]:
    return [line[::2] for line in cells(lines)]


@given(CURVES, CURVES, st.integers(1, 200))
def test_any_curve_fits_any_width(theirs: Curve, ours: Curve, width: int) -> None:
    lines = draw(theirs, ours, 30, width)
    assert len(lines) == ROWS + 2
    room = max(FEWEST, width - MARGIN)
    assert max(map(len, cells(lines))) <= room
    assert max(map(len, lines[ROWS:])) <= MARGIN + max(room, len("step 1 240"))


@given(CURVES, CURVES)
def test_every_number_is_drawn_once_and_nothing_else(theirs: Curve, ours: Curve) -> None:
    lines = cells(draw(theirs, ours, 30))
    both = set(ASCII.both)
    for column in range(30):
        drawn = {line[column] for line in lines if len(line) > column} - {" "}
        count = sum(curve[column : column + 1] not in ([], [None]) for curve in (theirs, ours))
        # Two numbers may share a place, or one of them its line with an arrow.
        assert len(drawn) == count or (count == 2 and (drawn == both or drawn & set("^v")))


def test_what_is_no_number_leaves_its_place_empty() -> None:
    lines = points(draw([None, None, None], [3.0, 2.0, 1.0]))
    assert [line for line in lines if line] == [".", " .", "  ."]


def test_a_curve_that_breaks_off_is_not_drawn_to_the_end() -> None:
    lines = points(draw([3.0], [3.0, 2.0, 1.0]))
    assert [line for line in lines if line] == ["@", " .", "  ."]


def test_what_shoots_up_does_not_flatten_the_correct_curve() -> None:
    lines = points(draw([3.0, 1e6, 1e9], [3.0, 2.0, 1.0]))
    assert lines[0] == " ^^"
    assert len({line.find(".") for line in lines}) == 3


def test_what_falls_below_everything_does_not_flatten_it_either() -> None:
    lines = points(draw([3.0, -1e6, -1e9], [3.0, 2.0, 1.0]))
    assert lines[-1] == " vv"
    assert len({line.find(".") for line in lines}) == 3


def test_without_the_correct_curve_one_is_drawn() -> None:
    lines = points(draw([2.0, 1.0], []))
    assert (lines[0], lines[-1]) == ("o", " o")


def test_a_wide_terminal_gives_each_point_two_columns_and_a_narrow_one_leaves_some_out() -> None:
    curve = [float(30 - i) for i in range(30)]
    for width, columns in ((90, 60), (MARGIN + 59, 30), (MARGIN + 29, 29), (1, FEWEST)):
        assert max(map(len, cells(draw(curve, curve, 30, width)))) == columns


def test_the_axis_tells_the_range() -> None:
    lines = draw([3.0, 1.0], [3.0, 1.0], 30)
    assert lines[0].startswith("   3.00|")
    assert lines[ROWS - 1].startswith("   1.00|")
    assert lines[-1].split() == ["step", "1", "240"]


@pytest.mark.parametrize("symbols", [ASCII, UNICODE])
def test_no_two_symbols_are_alike(symbols: Symbols) -> None:
    meant = [symbols.theirs, symbols.ours, symbols.both, symbols.above, symbols.below]
    assert len({*meant, " "}) == 6
    assert all(len(symbol) == 1 for symbol in symbols.drawable)


def test_the_plain_symbols_are_ascii() -> None:
    lines = draw([3.0, 9.0, 2.0], [3.0, 2.0, 2.5])
    assert "".join(lines).isascii()
