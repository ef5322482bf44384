"""What a student might try who would rather not think: diffs against the public GPT.

Both attackers are given more than a student has: they compare definition with definition, each with
the most similar one of the other package, and look through every new name.
"""

import ast
import difflib
import io
import keyword
import tokenize
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bugkit.disguise import Place

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


def matched(
    old: Mapping[str, str], new: Mapping[str, str]
) -> Iterable[tuple[list[Token], list[Token]]]:
    """Each definition of the public package beside the most similar one of the student's."""
    theirs = definitions(new)
    bags = [Counter(token.text for token in tokens) for tokens in theirs]
    for tokens in definitions(old):
        bag = Counter(token.text for token in tokens)
        scores = [2 * (bag & other).total() / (bag.total() + other.total()) for other in bags]
        if scores:
            yield tokens, theirs[scores.index(max(scores))]


def token_hunks(old: Mapping[str, str], new: Mapping[str, str]) -> list[Hunk]:
    """Differences word by word."""
    hunks = []
    for before, after in matched(old, new):
        one, other = [t.text for t in before], [t.text for t in after]
        for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, one, other, False).get_opcodes():
            if tag != "equal":
                near = after[j1:j2] or after[max(0, j1 - 1) : j1 + 1]
                places = frozenset(token.place for token in near)
                hunks.append(Hunk(i2 - i1 + j2 - j1, places))
    return hunks


def line_hunks(old: Mapping[str, str], new: Mapping[str, str]) -> list[Hunk]:
    """Differences line by line; indents and names do not count."""
    hunks = []
    for before, after in matched(old, new):
        one, other = _lines(before), _lines(after)
        texts = [[text for text, _ in lines] for lines in (one, other)]
        for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, *texts, False).get_opcodes():
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
