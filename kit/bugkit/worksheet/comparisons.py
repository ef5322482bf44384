"""Figures of numbers beside those of the correct GPT: maps, shares and gaps."""

from collections.abc import Callable, Sequence

from ..measure.comparison import Maps, Pair
from ..measure.pictures import DRAWS, OPTIONS, PIECES
from . import drawing
from .drawing import HEIGHT, OURS, THEIRS, WIDTH
from .model import Figure, Table

VISIBLE = 0.02
"""A smaller difference between two cells, or two bars, cannot be seen."""


def maps_figure(maps: Maps, code: str) -> Figure:
    """Who reads whom. In words: how many weights differ, and the one that differs most."""
    size = len(maps.observed)
    cells = [(i, j) for i in range(size) for j in range(size)]
    apart = {(i, j): abs(maps.observed[i][j] - maps.expected[i][j]) for i, j in cells}
    i, j = max(cells, key=lambda cell: apart[cell])
    count = sum(each >= VISIBLE for each in apart.values())
    names = tuple(f"token {k + 1}" for k in range(size))
    rows = [
        (f"{name}, {whose}", *(f"{value:.2f}" for value in row))
        for k, name in enumerate(names)
        for whose, row in ((THEIRS, maps.observed[k]), (OURS, maps.expected[k]))
    ]
    return Figure(
        title=f"Attention weights of layer {maps.layer + 1}, head {maps.head + 1}, for {size} "
        "tokens",
        alt=f"Two maps of {size} by {size} attention weights. Of {len(cells)} weights {count} "
        f"differ by {VISIBLE} or more, most of all that with which token {i + 1} reads token "
        f"{j + 1}: {maps.observed[i][j]:.2f} in this program, {maps.expected[i][j]:.2f} in the "
        "reference.",
        table=Table(
            "Rows: tokens that read. Columns: tokens that are read.", ("reads", *names), (*rows,)
        ),
        svg=drawn(lambda: drawing.draw_maps(maps, code)),
        width=WIDTH,
        height=HEIGHT,
    )


def shares_figure(shares: Pair, code: str) -> Figure:
    """How often each token is drawn. In words: the token that differs most."""
    tokens = range(len(shares.observed))
    t = max(tokens, key=lambda i: abs(shares.observed[i] - shares.expected[i]))
    told = f"{shares.observed[t]:.2f} in this program, {shares.expected[t]:.2f} in the reference"
    options = (
        f"temperature {OPTIONS['temperature']}, top-k {OPTIONS['top_k']}, top-p {OPTIONS['top_p']}"
    )
    return Figure(
        title=f"Tokens in {DRAWS} draws from the same logits",
        alt=f"Two bars for each of {len(tokens)} tokens: its share of {DRAWS} draws ({options}). "
        + (
            "The bars of this program and of the reference are equally high."
            if shares.observed == shares.expected
            else f"They differ most for token {t}: {told}; chance alone may move a share by 0.02."
        ),
        table=two_rows(
            f"Share of {DRAWS} draws.",
            [f"token {i}" for i in tokens],
            [f"{v:.2f}" for v in shares.observed],
            [f"{v:.2f}" for v in shares.expected],
        ),
        svg=drawn(lambda: drawing.draw_shares(shares, DRAWS, code)),
        width=WIDTH,
        height=HEIGHT,
    )


def gaps_figure(gaps: Pair, code: str) -> Figure:
    """What the cache does to logits. In words: where they differ, and where most."""
    places = range(len(gaps.observed))
    p = max(places, key=lambda i: gaps.observed[i])
    wrong = [str(i + 1) for i in places if gaps.observed[i] >= VISIBLE]
    *first, last = map(str, PIECES)
    return Figure(
        title="Logits of a text read in pieces, against those of the same text read at once",
        alt=f"A bar for each of {len(places)} positions, read through the cache in pieces of "
        f"{', '.join(first)} and {last} tokens: how far the two logits are apart at most. In this "
        f"program {VISIBLE} or more at {len(wrong)} positions ({', '.join(wrong)}), and most at "
        f"position {p + 1}, {gaps.observed[p]:.2f}; in the reference {max(gaps.expected):.2f} "
        "everywhere.",
        table=two_rows(
            "Largest difference of logits at each position.",
            [str(i + 1) for i in places],
            [f"{v:.2f}" for v in gaps.observed],
            [f"{v:.2f}" for v in gaps.expected],
        ),
        svg=drawn(lambda: drawing.draw_gaps(gaps, PIECES, code)),
        width=WIDTH,
        height=HEIGHT,
    )


def two_rows(
    caption: str, columns: Sequence[str], theirs: Sequence[str], ours: Sequence[str]
) -> Table:
    """A row for the program and one for the reference."""
    return Table(caption, ("program", *columns), ((THEIRS, *theirs), (OURS, *ours)))


def drawn(draw: Callable[[], str]) -> str:
    """The drawing, or nothing where the library for it is absent."""
    try:
        return draw()
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":
            raise
        return ""
