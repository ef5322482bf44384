"""What the tests of worksheets share: the real catalogue with its matrix, and what a key hides."""

import re
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass

import pytest

from bugkit.catalogue import Bug, load_catalogue
from bugkit.engine import run
from bugkit.matrix import Matrix
from bugkit.options import Options
from bugkit.subject import subject_of
from bugkit.worksheet.answers import key_of
from bugkit.worksheet.content import Header, sheet_of
from bugkit.worksheet.edition import public
from bugkit.worksheet.key import Key
from bugkit.worksheet.model import (
    Hints,
    Line,
    Sheet,
)
from bugkit.worksheet.words import Span, plain

HEADER = Header("Deep Learning 2", "2027-03-01")

HOSTILE = {
    "script": "<script>alert(1)</script>",
    "end of an attribute": '" onclick="alert(1)" x=\'',
    "end of a comment": "--> ]]> </textarea></style></script>",
    "Typst": '#read("/etc/passwd") #panic() *b* _i_ $x$ @a <b> \\u{41}',
    "backticks": "`` ` ``` code",
    "formula": "$\\frac{1}{2}$ \\(x\\) \\[y\\] $$z$$",
    "Markdown": "**bold** [link](https://example.org) ![x](https://example.org) ~~gone~~ \\",
    "Jinja": "{{ 7 * 7 }} {% raw %} {# x #}",
    "right to left": "\u202egnp.exe\u202c \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "other scripts": "深層学習 глубокое обучение 🤖",
    "control characters": "bell\x07 nul\x00 red\x1b[31m\x7f next\x85line\u2028end",
    "very long": "x" * 10_000,
    "many words": "word " * 2_000,
}
"""Name -> what somebody may call a course."""


@pytest.fixture(scope="session")
def catalogue() -> dict[str, Bug]:
    return load_catalogue()


@pytest.fixture(scope="session")
def matrix(catalogue: dict[str, Bug]) -> Matrix:
    """Every bug and innocent; from the cache where `bugkit check` has been run."""
    return run([subject_of(bug) for bug in catalogue.values()], Options())


@pytest.fixture(scope="session")
def sheet(catalogue: dict[str, Bug], matrix: Matrix) -> Callable[[str], Sheet]:
    return lambda slug: sheet_of(public(catalogue[slug]), matrix, HEADER, Hints.STRIP)


@pytest.fixture(scope="session")
def key(catalogue: dict[str, Bug], matrix: Matrix) -> Callable[[str], Key]:
    return lambda slug: key_of(public(catalogue[slug]), matrix, catalogue, HEADER)


@pytest.fixture(scope="session")
def secrets(sheet: Callable[[str], Sheet], key: Callable[[str], Key]) -> Callable[[str], set[str]]:
    """Every text of the key that no student may read before the hunt is over."""

    def secrets(slug: str) -> set[str]:
        answers, challenge = key(slug), sheet(slug)
        given = set(texts(challenge))
        program = "\n".join(line.text for listing in listings(challenge) for line in listing)
        hidden = {answers.slug, answers.title}
        for words in (answers.explanation, answers.misconception):
            hidden |= set(re.split(r"(?<=[.?!])\s+", plain(words).replace("\n", " ")))
        fixed = {line.text.strip() for line in answers.fix if line.sign == "+"}
        hidden |= {line for line in fixed if line not in program}
        for group in (answers.accepted, answers.wrong, answers.prompts):
            hidden |= {plain(paragraph) for paragraph in group}
        for row in answers.rubric:
            hidden |= {plain(row.two), plain(row.one), plain(row.zero)}
        for verdict in (*answers.caught_by, *answers.missed_by):
            hidden |= {verdict.id, plain(verdict.label)}
        for source in answers.sources:
            hidden |= {source.url, plain(source.says)}
        return {text for text in hidden - given if len(text) > SHORT}

    return secrets


SHORT = 7
"""Characters of a text that says nothing, such as `)` or `return x`."""


def listings(challenge: Sheet) -> Iterator[tuple[Line, ...]]:
    yield challenge.excerpt.lines
    if challenge.listing:
        yield challenge.listing.lines


def texts(value: object) -> Iterator[str]:
    """Every text in a value of the content model; paragraphs as a whole."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        if value and isinstance(value[0], Span):
            yield plain(value)
        else:
            for part in value:
                yield from texts(part)
    elif is_dataclass(value):
        for each in fields(value):
            yield from texts(getattr(value, each.name))
