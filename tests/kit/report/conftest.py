"""What the tests of the reports share: a matrix made by hand, hostile ones, and the real one."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from bugkit.catalogue import Bug, Teach, load_catalogue
from bugkit.engine import run
from bugkit.matrix import Cell, Detector, Matrix, Outcome
from bugkit.options import Options
from bugkit.subject import CORRECT_SUBJECT, Kind, Subject, find_subject, subject_of

MESSAGE_LIMIT = 2000
"""Characters of the longest message that the engine lets through."""

TEXTS = {
    "script": "<script>alert(1)</script>",
    "end of an attribute": '" onclick="alert(1)" x=\'',
    "end of a comment": "--> ]]> </span></li></details>",
    "entities": "&lt;b&gt; &amp;amp; &#60;",
    "pipes": "a | b || c |",
    "backticks": "`` ` ``` code",
    "Markdown": "**bold** [link](https://example.org) ![x](https://example.org) ~~gone~~ \\",
    "newlines": "one\n\n- two\n# three\r\n| four |",
    "control characters": "bell\x07 nul\x00 red\x1b[31m \x1b]0;title\x07 gone\x08\x7f next\x85line",
    "right to left": "\u202egnp.exe\u202c \u05e9\u05dc\u05d5\u05dd",
    "formula": "=1+1",
    "one very long word": "x" * MESSAGE_LIMIT,
    "many words": "word " * (MESSAGE_LIMIT // 5),
}
"""Name -> what an assertion or an error in somebody's file may say."""

NAMES = {
    "plain": "solutions/gpt.py",
    "spaces": "my solutions/my gpt.py",
    "tag": "<script>alert(1)</script>.py",
    "quotes": "\"a\" 'b'.py",
    "pipe and backticks": "a|b`c``d.py",
    "newline": "a\n| b |\n.py",
    "escape code": "a\x1b[31mb.py",
    "formula": "=1+1.py",
}
"""Name -> what a file may be called."""


def _detector(id_: str, label: str, key: str, family: str, level: int = 1) -> Detector:
    return Detector(
        id=id_,
        label=label,
        story="",
        family=family,
        level=level,
        backstop=family == "backstop",
        key=key,
        node=f"{id_}.py::{id_}",
        digest=id_,
    )


DETECTORS = (
    _detector("test_rows_sum_to_one", "The weights of a query sum to one", "A1", "softmax"),
    _detector("test_weights_are_shares", "Weights are shares: 0 <= w | `w` <= 1", "A2", "softmax"),
    _detector("test_no_future", "A token does not see what comes after it", "B1", "attention"),
    _detector("test_scale", "Scores are scaled by the width of a head", "B2", "attention"),
    _detector("test_cache", "A cached step gives the same logits", "B3", "attention", level=3),
    _detector("test_recorded", "The logits are the recorded ones", "C1", "backstop"),
)

OUTCOMES = {
    ".": Outcome.PASSED,
    "x": Outcome.FAILED,
    "E": Outcome.ERROR,
    "T": Outcome.TIMEOUT,
    "C": Outcome.CRASHED,
    "M": Outcome.OUT_OF_MEMORY,
    "-": Outcome.NOT_OFFERED,
}


def _bug(
    slug: str, title: str, component: str, level: int, killed_by: Sequence[str], verdict: str
) -> Bug:
    return Bug(
        slug=slug,
        folder=Path("mutants", slug),
        title=title,
        component=component,
        level=level,
        difficulty=1,
        verdict=verdict,
        file="attention.py",
        edits=(),
        killed_by=tuple(killed_by),
        teach=Teach("", "", (), "", ""),
        sources=(),
    )


def _mutant(slug: str, title: str, component: str, level: int, *killed_by: str) -> Subject:
    bug = _bug(slug, title, component, level, killed_by, "bug")
    return Subject(slug, Kind.MUTANT, title, bug.folder, bug)


def _innocent(slug: str, title: str, component: str) -> Subject:
    bug = _bug(slug, title, component, 1, (), "innocent")
    return Subject(slug, Kind.INNOCENT, title, bug.folder, bug)


def _file(name: str) -> Subject:
    return Subject(name, Kind.FILE, Path(name).name, Path(name))


ROWS: tuple[tuple[Subject, str, tuple[str, ...]], ...] = (
    (Subject("correct", Kind.CORRECT, "The correct GPT", Path("correct")), "......", ()),
    (
        _mutant("mask_gone", "Scores are never masked", "mask", 1, "test_no_future"),
        "..x..x",
        ("token 2 moved the logits of token 1", "expected 1.5, got -0.25"),
    ),
    (
        _mutant("mask_late", "The mask comes too late", "mask", 2, "test_no_future"),
        "..x..x",
        ("token 2 moved the logits of token 1", "expected 1.5, got 0.25"),
    ),
    (_innocent("looks_wrong", "A sum in another order", "softmax"), "......", ()),
    (
        _innocent("looks_accused", "A mean in <another> order", "norm"),
        "...x..",
        ("=1+1",),
    ),
    (
        _mutant(
            "other_promise",
            'Promises "other" tests',
            "attention",
            1,
            "test_rows_sum_to_one",
            "test_weights_are_shares",
        ),
        "x..x..",
        ("row 0 sums to 1.25", 'variance 4, not "1"'),
    ),
    (
        _mutant("no_promise", "Promises nothing", "mlp", 2),
        "x.....",
        ("row 1 sums to 0.5",),
    ),
    (
        _mutant("only_recorded", "Only the backstop sees it", "norm", 3, "test_of_nothing"),
        ".....x",
        ("expected 1.5, got 1.75",),
    ),
    (
        _mutant("never_judged", "Nothing can finish", "softmax", 1, "test_no_future"),
        "TCME.-",
        (
            "not finished within 5 s",
            "killed by signal SIGSEGV",
            "MemoryError: 50 GiB",
            "ValueError: no axis 3",
            "generate is not offered",
        ),
    ),
    (
        _file("solutions/my gpt.py"),
        "xxxxE-",
        (
            TEXTS["script"],
            "`w` | 2 > 1 | **w**\n\n- not a list\n# not a heading\n    not code",
            "\u05d4\u05e2\u05ea\u05d9\u05d3 \u05d2\u05dc\u05d5\u05d9",
            "variance 9 " + "of the scores " * 20,
            "KeyError: 'cache'",
            "logits are not offered",
        ),
    ),
    (_file("unloadable.py"), "EEEEEE", ("syntax error in line 3 of unloadable.py: '(' was",) * 6),
    (_file("fine.py"), "....-.", ("use_cache is not offered",)),
    (_file("odd.py"), ".....x", ("expected 1.5, got 2",)),
)
"""Subject, its outcomes in the order of the columns, and what those that did not pass say."""


def _matrix(rows: Sequence[tuple[Subject, str, Sequence[str]]]) -> Matrix:
    cells: dict[tuple[str, str], Cell] = {}
    for subject, outcomes, messages in rows:
        said = iter(messages)
        for detector, sign in zip(DETECTORS, outcomes, strict=True):
            message = "" if sign == "." else next(said)
            cells[subject.id, detector.id] = Cell(OUTCOMES[sign], message, 0.0125)
        assert not list(said)
    return Matrix(
        tuple(subject for subject, _, _ in rows),
        DETECTORS,
        cells,
        frozenset(d.id for d in DETECTORS),
    )


@pytest.fixture(scope="session")
def matrix() -> Matrix:
    """Every kind, status and outcome, kept and broken promises, and texts with signs in them."""
    made = _matrix(ROWS)
    assert {s.kind for s in made.subjects} == set(Kind)
    assert {cell.outcome for cell in made.cells.values()} == set(Outcome)
    return made


@pytest.fixture(scope="session")
def bugs(matrix: Matrix) -> Mapping[str, Bug]:
    """The catalogue of the matrix made by hand."""
    return {s.bug.slug: s.bug for s in matrix.subjects if s.bug is not None}


@pytest.fixture(params=TEXTS)
def told(request: pytest.FixtureRequest) -> tuple[str, Matrix]:
    """A hostile text, and a matrix in which it is said: by a file, as a failure and as an error,
    and by an innocent, so that it gets into a broken promise."""
    text = TEXTS[request.param]
    innocent, file = _innocent("silly", "Says it too", "norm"), _file("gpt.py")
    return text, _matrix([(innocent, "....E.", (text,)), (file, ".x.E-.", (text, text, text))])


@pytest.fixture(params=NAMES)
def named(request: pytest.FixtureRequest) -> tuple[str, Matrix]:
    """A hostile name, and a matrix of a file that is called so and of the correct GPT."""
    name = NAMES[request.param]
    return name, _matrix([ROWS[0], (_file(name), "x...-.", ("row 0 sums to 2", "not offered"))])


@pytest.fixture(scope="session")
def catalogue_matrix() -> Matrix:
    """The whole real catalogue: from the cache, or else run by the tool itself. Here, the outer
    pytest rewrites the detectors' assertions, which makes a failing cell ten times as slow."""
    command = [sys.executable, "-m", "bugkit", "check"]
    subprocess.run(command, capture_output=True, check=False)
    subjects = [CORRECT_SUBJECT, *map(subject_of, load_catalogue().values())]
    return run(subjects, Options())


@pytest.fixture(scope="session")
def odd_words(tmp_path_factory: pytest.TempPathFactory) -> Matrix:
    """A real run of a file that clears the screen, rings, and says half a character."""
    path = tmp_path_factory.mktemp("odd") / "gpt.py"
    message = "clear \\x1b[2J, title \\x1b]0;x\\x07, bell \\x07, half \\ud800, next \\x85 line"
    body = f'def softmax(x, axis=-1):\n    raise ValueError("{message}")\n'
    path.write_text(body, encoding="utf-8")
    return run([find_subject(str(path), {})], Options(select="softmax_survives", cache=False))


@pytest.fixture(params=["made by hand", "whole catalogue", "one file"])
def any_matrix(request: pytest.FixtureRequest, matrix: Matrix) -> Matrix:
    """Each of the matrices that a report has to cope with."""
    if request.param == "made by hand":
        return matrix
    if request.param == "whole catalogue":
        whole: Matrix = request.getfixturevalue("catalogue_matrix")
        return whole
    return _matrix([row for row in ROWS if row[0].id == "fine.py"])


@pytest.fixture(scope="session")
def golden() -> Callable[[str, str], None]:
    """Compares a text with one that a person has read and found right, in golden/.

    With WRITE_GOLDEN=1 it writes the file first: then read what git says has changed.
    """

    def golden(name: str, text: str) -> None:
        path = Path(__file__).with_name("golden") / name
        if os.environ.get("WRITE_GOLDEN"):
            path.write_text(text, encoding="utf-8", newline="\n")
        assert text == path.read_text(encoding="utf-8")

    return golden
