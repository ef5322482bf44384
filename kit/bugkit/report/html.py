"""One self-contained HTML file: a grid to look at, filter and print."""

from itertools import groupby

from ..matrix import Matrix, Outcome
from ..render import printable, render
from ..subject import Kind
from .summary import summarise
from .symbols import SYMBOLS, WORDS


def as_html(matrix: Matrix) -> str:
    """The page. It loads nothing and works from a disk; filters need JavaScript, reading does
    not."""
    families = [
        (family, list(group)) for family, group in groupby(matrix.detectors, key=lambda d: d.family)
    ]
    page = render(
        "matrix.html",
        matrix=matrix,
        facts=summarise(matrix),
        families=families,
        components=sorted({s.component for s in matrix.subjects if s.component}),
        levels=sorted({s.level for s in matrix.subjects if s.level}),
        kinds=list(dict.fromkeys(s.kind.value for s in matrix.subjects)),
        symbols={outcome.value: SYMBOLS[outcome] for outcome in Outcome},
        words={outcome.value: WORDS[outcome] for outcome in Outcome},
        used={cell.outcome.value for cell in matrix.cells.values()},
        kills={
            d.id: sum(d in matrix.failed(s) for s in matrix.of_kind(Kind.MUTANT))
            for d in matrix.detectors
        },
    )
    return printable(page)
