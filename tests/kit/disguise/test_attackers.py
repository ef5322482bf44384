"""`diff` against the public GPT does not find the bug.

Two attackers who would rather not think: one picks the smallest difference in lines, one in words.
Both are given more than a student has: they compare definition with definition, each with the most
similar one of the other package, and look through every new name.
"""

import ast
import difflib
import io
import keyword
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from bugkit.catalogue import Bug
from bugkit.disguise import Disguised, Level, Place, disguise

SILENT = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


@dataclass(frozen=True, slots=True)
class Token:
    """A word of the code. Names of variables are all alike."""

    text: str
    place: Place


@dataclass(frozen=True, slots=True)
class Hunk:
    """Something that differs."""

    size: int
    """Tokens taken out and put in, or lines."""
    places: frozenset[Place]
    """Where it stands in the student's package."""


def definitions(files: Mapping[str, str]) -> list[list[Token]]:
    """The tokens of every definition, without comments and docstrings."""
    found = []
    for file, text in files.items():
        if file == "__init__.py":
            continue
        tokens = _tokens(file, text)
        for node in ast.parse(text).body:
            if not isinstance(node, ast.Import | ast.ImportFrom | ast.Expr):
                span = range(node.lineno, (node.end_lineno or node.lineno) + 1)
                found.append([token for token in tokens if token.place.line in span])
    return found


def _tokens(file: str, text: str) -> list[Token]:
    texts = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    kept = []
    dotted = False
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        line = token.start[0]
        if token.type in SILENT or line in texts or not token.string:
            continue
        name = token.type == tokenize.NAME and not keyword.iskeyword(token.string) and not dotted
        kept.append(Token("name" if name else token.string, Place(file, line)))
        dotted = token.string == "."
    return kept


Pairs = Sequence[tuple[list[Token], list[Token]]]


def matched(old: list[list[Token]], new: Mapping[str, str]) -> Pairs:
    """Each definition of the public package beside the most similar one of the student's."""
    theirs = [(tokens, _bag(tokens)) for tokens in definitions(new)]
    pairs = []
    for tokens in old:
        bag = _bag(tokens)
        near = [(t, b) for t, b in theirs if len(tokens) < 2 * len(t) < 4 * len(tokens)] or theirs
        scores = [2 * (bag & b).total() / (len(tokens) + len(t)) for t, b in near]
        pairs.append((tokens, near[scores.index(max(scores))][0]))
    return pairs


def _bag(tokens: list[Token]) -> Counter[str]:
    return Counter(token.text for token in tokens)


def token_hunks(pairs: Pairs) -> list[Hunk]:
    """Differences word by word."""
    hunks = []
    for before, after in pairs:
        one, other = [t.text for t in before], [t.text for t in after]
        for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, one, other, False).get_opcodes():
            if tag != "equal":
                near = after[j1:j2] or after[max(0, j1 - 1) : j1 + 1]
                places = frozenset(token.place for token in near)
                hunks.append(Hunk(i2 - i1 + j2 - j1, places))
    return hunks


def line_hunks(pairs: Pairs) -> list[Hunk]:
    """Differences line by line; indents and names do not count."""
    hunks = []
    for before, after in pairs:
        one, other = _lines(before), _lines(after)
        texts, new_texts = [text for text, _ in one], [text for text, _ in other]
        for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(
            None, texts, new_texts, False
        ).get_opcodes():
            if tag != "equal":
                near = other[j1:j2] or other[max(0, j1 - 1) : j1 + 1]
                hunks.append(Hunk(i2 - i1 + j2 - j1, frozenset(place for _, place in near)))
    return hunks


def _lines(tokens: list[Token]) -> list[tuple[str, Place]]:
    lines: dict[Place, list[str]] = {}
    for token in tokens:
        lines.setdefault(token.place, []).append(token.text)
    return [(" ".join(texts), place) for place, texts in lines.items()]


def smallest(hunks: list[Hunk], guilty: frozenset[Place]) -> float:
    """How often one who picks a smallest hunk hits; ties are drawn by lot."""
    least = min(hunk.size for hunk in hunks)
    return share([hunk for hunk in hunks if hunk.size == least], guilty)


def share(hunks: list[Hunk], guilty: frozenset[Place]) -> float:
    """How often one who picks any hunk hits."""
    return sum(bool(hunk.places & guilty) for hunk in hunks) / len(hunks)


BUGS = (
    "bias_gradient_averaged",
    "cached_values_are_keys",
    "embedding_drawn_too_large",
    "keys_left_unturned",
    "layer_norm_over_sequence",
    "mask_shows_next_token",
    "mlp_residual_missing",
    "no_causal_mask",
    "positions_start_at_one",
    "schedule_one_step_ahead",
    "stopped_rows_wake_up",
    "top_p_keeps_one_more",
)
"""From all parts, with one changed word or many lines, put in, exchanged and taken out."""

SEEDS = 2
SLACK = 0.02
"""By how much the share of hits may lie above that of one who draws by lot, about 0.012. Over all
149 bugs it lies 0.002 above; two attackers who know nothing differ by more."""

MOST = 0.03
"""Of all lines that differ, how many may belong to the bug. The largest change of the catalogue has
18 lines, of about 900 that differ."""


@dataclass(frozen=True, slots=True)
class Case:
    """A student's package, and where its bug is."""

    name: str
    new: Disguised
    guilty: frozenset[Place]
    pairs: Pairs


@pytest.fixture(scope="module")
def cases(
    correct: Mapping[str, str],
    broken: Callable[[str], dict[str, str]],
    catalogue: Mapping[str, Bug],
) -> list[Case]:
    public = definitions(correct)
    found = []
    for slug in BUGS:
        files = broken(slug)
        file = catalogue[slug].file
        lines = list(_bug_lines(correct[file], files[file]))
        for seed in range(SEEDS):
            new = disguise(files, Level.FULL, b"attack %d" % seed)
            guilty = frozenset(place for line in lines for place in new.where(file, line))
            assert guilty, slug
            found.append(Case(f"{slug} {seed}", new, guilty, matched(public, new.files)))
    return found


def _bug_lines(old: str, new: str) -> Iterator[int]:
    """Lines of the mutant that the bug changed; beside a gap, both of its sides."""
    one, other = old.splitlines(), new.splitlines()
    for tag, _i1, _i2, j1, j2 in difflib.SequenceMatcher(None, one, other, False).get_opcodes():
        if tag != "equal":
            yield from range(j1 + 1, j2 + 1) if j1 < j2 else (max(1, j1), j1 + 1)


@pytest.mark.parametrize("hunks", [line_hunks, token_hunks])
def test_the_smallest_difference_is_no_better_than_any(
    cases: list[Case], hunks: Callable[[Pairs], list[Hunk]]
) -> None:
    found = [(hunks(case.pairs), case.guilty) for case in cases]
    hits = np.mean([smallest(differences, guilty) for differences, guilty in found])
    chance = np.mean([share(differences, guilty) for differences, guilty in found])
    assert chance < 0.03, "there is too little to look through"
    assert hits < chance + SLACK


def test_an_attacker_finds_the_bug_where_nothing_hides_it(
    correct: Mapping[str, str],
    broken: Callable[[str], dict[str, str]],
    catalogue: Mapping[str, Bug],
) -> None:
    public = definitions(correct)
    files = broken("keys_left_unturned")
    file = catalogue["keys_left_unturned"].file
    guilty = frozenset(Place(file, n) for n in _bug_lines(correct[file], files[file]))
    assert smallest(line_hunks(matched(public, files)), guilty) == 1
    assert smallest(token_hunks(matched(public, files)), guilty) == 1
    renamed = disguise(files, Level.LIGHT, b"names alone do not help against such an attacker")
    moved = frozenset(place for old in guilty for place in renamed.where(old.file, old.line))
    assert smallest(line_hunks(matched(public, renamed.files)), moved) > 0.3


def test_the_lines_of_the_bug_are_few_among_those_that_differ(
    correct: Mapping[str, str], cases: list[Case]
) -> None:
    public = {line.strip() for text in correct.values() for line in text.splitlines()}
    for case in cases:
        differ = {
            Place(file, number)
            for file, text in case.new.files.items()
            for number, line in enumerate(text.splitlines(), 1)
            if line.strip() not in public
        }
        assert len(differ) > 600, case.name
        assert len(differ & case.guilty) < MOST * len(differ), case.name
