"""Drawings of numbers, without a word on what they mean.

They are to be read at half the width of a page, in grey, and by people who see few colours: what
tells two things apart is never the colour alone, and small numbers stand beside what they measure.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..measure.comparison import Maps, Pair
from ..measure.plot import Curve
from ..measure.settings import STEPS, WINDOW
from .svg import settings, to_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

WIDTH, HEIGHT = 88.0, 46.0
"""Millimetres."""

MM = 1 / 25.4
"""Inches, in which matplotlib counts."""

THEIRS, OURS = "this program", "reference"

DARK, GREY, PALE = "#173a63", "#8a8a8a", "#b9c9dc"
RGB = (0x17 / 255, 0x3A / 255, 0x63 / 255)
SMALL = 6.5
"""Points: of numbers in a drawing. A label has 7."""

Style = dict[str, Any]


def draw_maps(maps: Maps, code: str) -> str:
    """Two maps side by side, with the number in each cell."""
    from matplotlib import rc_context

    with rc_context(settings()):
        figure = _figure()
        for left, rows, title in ((8.0, maps.observed, THEIRS), (51.0, maps.expected, OURS)):
            axes = _axes(figure, left, 7.2, 36.4, 34.3)
            _cells(axes, rows)
            axes.set_title(title)
            axes.set_xlabel("token that is read")
        figure.axes[0].set_ylabel("token that reads")
        return to_svg(figure, code)


def _cells(axes: "Axes", rows: Sequence[Sequence[float]]) -> None:
    from matplotlib.patches import Rectangle

    size = len(rows)
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            fill = shade(value)
            cell = Rectangle((j, i), 1, 1, facecolor=fill, edgecolor=GREY, linewidth=0.4)
            axes.add_patch(cell)
            ink = "white" if light(fill) < INK else "black"
            axes.text(
                j + 0.5, i + 0.53, short(value), color=ink, size=SMALL, ha="center", va="center"
            )
    axes.set_xlim(0, size)
    axes.set_ylim(size, 0)
    middles = [i + 0.5 for i in range(size)]
    names = [str(i + 1) for i in range(size)]
    axes.set_xticks(middles, names)
    axes.set_yticks(middles, names)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def shade(value: float) -> tuple[float, float, float]:
    """From white for nothing to DARK for one."""
    share = min(max(value, 0.0), 1.0)
    red, green, blue = (1 - share * (1 - part) for part in RGB)
    return red, green, blue


INK = 0.18
"""Luminance below which white stands out better than black."""


def light(colour: tuple[float, float, float]) -> float:
    """Relative luminance, as the guidelines for contrast define it."""
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def draw_shares(shares: Pair, draws: int, code: str) -> str:
    """Two bars a token, with the number over each."""
    from matplotlib import rc_context

    with rc_context(settings()):
        figure = _figure()
        axes = _axes(figure, 4.5, 7.4, 82.5, 33.6)
        places = range(len(shares.expected))
        bars = (
            axes.bar([i - 0.23 for i in places], shares.observed, 0.4, **SOLID, label=THEIRS),
            axes.bar([i + 0.23 for i in places], shares.expected, 0.4, **HATCHED, label=OURS),
        )
        for container in bars:
            axes.bar_label(container, fmt=short, size=SMALL, padding=1.5)
        axes.set_xticks(list(places), [str(i) for i in places])
        axes.set_xlim(-0.5, len(shares.expected) - 0.5)
        axes.set_ylim(0, 1.1 * max(*shares.observed, *shares.expected))
        axes.set_xlabel("token")
        axes.set_ylabel(f"share of {draws} draws")
        _only_baseline(axes)
        _legend(axes, bars)
        return to_svg(figure, code)


SOLID: Style = {"facecolor": DARK, "edgecolor": DARK, "linewidth": 0.6}
HATCHED: Style = {**SOLID, "facecolor": "white", "hatch": "/////"}


def draw_gaps(gaps: Pair, pieces: Sequence[int], code: str) -> str:
    """A bar a position, with a number over it; where a new piece begins is dotted."""
    from matplotlib import rc_context

    with rc_context(settings()):
        figure = _figure()
        axes = _axes(figure, 4.5, 7.4, 82.5, 33.6)
        places = range(1, len(gaps.observed) + 1)
        bars = axes.bar(places, gaps.observed, 0.55, **SOLID, label=THEIRS)
        axes.bar_label(bars, fmt=short, size=SMALL, padding=2.5)
        squares = axes.plot(places, gaps.expected, **SQUARES, label=OURS)
        top = 1.15 * max(*gaps.observed, *gaps.expected, 0.01)
        edge = 0.5
        for piece in pieces[:-1]:
            edge += piece
            axes.vlines(edge, 0, top, colors=GREY, linewidths=0.6, linestyles=(0, (1, 2)))
        axes.set_xticks(list(places), [str(i) for i in places])
        axes.set_xlim(0.4, len(gaps.observed) + 0.6)
        axes.set_ylim(0, top)
        axes.set_xlabel("position (dotted: a new piece begins)")
        axes.tick_params(axis="x", pad=3.5)  # the squares stand on the line
        axes.set_ylabel("largest difference")
        _only_baseline(axes)
        _legend(axes, [bars, *squares])
        return to_svg(figure, code)


def draw_curves(theirs: Curve, ours: Curve, ends: tuple[float, float], note: str, code: str) -> str:
    """Two curves of losses over the steps, the reference broad below the other. What is above the
    upper of the ends is a triangle there; a value that is no number leaves its place empty."""
    from matplotlib import rc_context

    with rc_context(settings()):
        figure = _figure()
        axes = _axes(figure, 8.5, 7.4, 76.5, 33.6)
        _curve(axes, ours, ends, BROAD, SQUARES, 4)
        _curve(axes, theirs, ends, DASHED, DOTS, 2)
        bottom, top = ends
        above = [WINDOW * (i + 1) for i, y in enumerate(theirs) if y is not None and y > top]
        axes.plot(above, [top] * len(above), **TRIANGLES)
        axes.text(STEPS, top - 0.03 * (top - bottom), note, ha="right", va="top", linespacing=1.3)
        axes.set_xlim(0, STEPS)
        axes.set_xticks(range(0, STEPS + 1, STEPS // 6))
        axes.set_ylim(bottom, top)
        axes.set_xlabel("step")
        axes.set_ylabel("loss")
        _legend(
            axes,
            [_sample(THEIRS, DASHED, DOTS), _sample(OURS, BROAD, SQUARES)]
            + ([_sample("higher", {}, TRIANGLES)] if above else []),
        )
        return to_svg(figure, code)


BROAD: Style = {"color": PALE, "linewidth": 2.6}
DASHED: Style = {"color": DARK, "linewidth": 1.0, "dashes": (4, 1.5)}
MARK: Style = {"linestyle": "", "markersize": 3.2, "clip_on": False, "zorder": 3}
DOTS: Style = {**MARK, "marker": "o", "color": DARK}
TRIANGLES: Style = {**DOTS, "marker": "^"}
SQUARES: Style = {
    **MARK,
    "marker": "s",
    "markerfacecolor": "white",
    "markeredgecolor": "black",
    "markeredgewidth": 0.7,
}


def _curve(
    axes: "Axes", curve: Curve, ends: tuple[float, float], line: Style, marks: Style, first: int
) -> None:
    """The line, and a mark on every fifth point, which is whole even at the edge."""
    points = [(WINDOW * (i + 1), math.nan if y is None else y) for i, y in enumerate(curve)]
    axes.plot(*_columns(points), **line)
    axes.plot(*_columns([(x, y) for x, y in points[first::5] if ends[0] <= y <= ends[1]]), **marks)


def _columns(points: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]


def _sample(label: str, line: Style, marks: Style) -> "Line2D":
    """For the legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], **{**marks, "linestyle": "-" if line else "", **line}, label=label)


def _figure() -> "Figure":
    from matplotlib.figure import Figure

    return Figure(figsize=(WIDTH * MM, HEIGHT * MM))


def _axes(figure: "Figure", left: float, bottom: float, width: float, height: float) -> "Axes":
    """In millimetres from the lower left corner."""
    return figure.add_axes((left / WIDTH, bottom / HEIGHT, width / WIDTH, height / HEIGHT))


def _only_baseline(axes: "Axes") -> None:
    """The numbers stand in the drawing: no scale is needed."""
    axes.spines["left"].set_visible(False)
    axes.set_yticks([])
    axes.tick_params(axis="x", length=0)


def _legend(axes: "Axes", handles: Sequence[Any]) -> None:
    """In one line over the drawing."""
    axes.legend(
        handles=handles,
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        ncols=len(handles),
        frameon=False,
        fontsize=7,
        borderpad=0,
        borderaxespad=0.3,
        handlelength=2.6,
        handletextpad=0.5,
        columnspacing=1.5,
    )


def short(value: float) -> str:
    """In as few characters as two decimals need: `.37`; a 0 or a 1 without a point is exact."""
    if value == 0:
        return "0"
    size = abs(value)
    if size < 0.995:
        text = f"{size:.2f}".removeprefix("0")
    else:
        text = "1" if size == 1 else f"{size:.1f}" if size < 10 else f"{size:.0f}"
    return f"\N{MINUS SIGN}{text}" if value < 0 else text
