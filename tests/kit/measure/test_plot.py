"""Learning curves for a terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bugkit.measure.plot import ASCII, FEWEST, MARGIN, ROWS, UNICODE, Symbols, plot

curves = st.lists(st.none() | st.floats(0, 20), max_size=40)


@given(curves, curves, st.integers(1, 200), st.sampled_from([UNICODE, ASCII]))
def test_no_line_is_too_wide(
    theirs: list[float | None], ours: list[float | None], width: int, symbols: Symbols
) -> None:
    if not theirs and not ours:
        return
    lines = list(plot(theirs, ours, width, 240, symbols))
    assert len(lines) == ROWS + 2
    assert max(map(len, lines)) <= max(width, MARGIN + FEWEST + len("240"))


@pytest.mark.parametrize("symbols", [UNICODE, ASCII], ids=["unicode", "ascii"])
def test_a_curve_is_drawn_where_it_is(symbols: Symbols) -> None:
    lines = list(plot([2.0, 1.0, 0.0, None], [2.0, 2.0, 2.0, 2.0], 16, 4, symbols))
    s = symbols  # two columns a point
    assert lines[0] == f"  2.00{s.axis} {2 * s.both}{6 * s.ours}"
    assert lines[4] == f"  1.00{s.axis}   {2 * s.theirs}"
    assert lines[8] == f"  0.00{s.axis}     {2 * s.theirs}"


def test_what_is_far_above_stands_in_the_top_line() -> None:
    lines = list(plot([50.0, 1.0], [1.0, 1.0], 10, 2, ASCII))
    assert lines[0].endswith("| ^^")
    assert lines[0].split("|")[0].strip() == "1.50"


def test_plain_symbols_are_plain() -> None:
    assert ASCII.drawable.isascii()
    for symbols in (UNICODE, ASCII):
        assert len(set(symbols.drawable)) == len(symbols.drawable)
