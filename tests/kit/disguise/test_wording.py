"""Prepared texts fit what they replace."""

import ast
from collections.abc import Mapping

from bugkit.disguise.chance import Dice
from bugkit.disguise.wording import reword, texts
from bugkit.tells import MARKERS


def _originals(correct: Mapping[str, str]) -> set[str]:
    kinds = (ast.Module, ast.FunctionDef, ast.ClassDef)
    return {
        text.split("\n")[0]
        for source in correct.values()
        for node in ast.walk(ast.parse(source))
        if isinstance(node, kinds) and (text := ast.get_docstring(node))
    }


def test_no_docstring_lacks_other_words_and_no_words_are_for_nothing(
    correct: Mapping[str, str],
) -> None:
    assert texts()["docstrings"].keys() == _originals(correct)


def test_no_words_are_for_a_comment_that_is_gone(correct: Mapping[str, str]) -> None:
    lines = {line.strip() for source in correct.values() for line in source.splitlines()}
    assert not [text for text in texts()["comments"] if f"# {text}" not in lines]


def test_no_text_gives_anything_away_or_is_too_long() -> None:
    for kind in texts().values():
        for variants in kind.values():
            for variant in variants:
                assert max(map(len, variant.split("\n"))) <= 100
                assert not [w for w in MARKERS if w in variant.lower().split()], variant


def test_a_text_that_nobody_prepared_is_not_replaced() -> None:
    text = "Something of a bug's own.\n\nMore of it.\n"
    results = {reword(text, Dice(b"%d" % seed)) for seed in range(60)}
    assert results == {"", "Something of a bug's own.", text}


def test_no_text_is_cut_within_a_sentence(correct: Mapping[str, str]) -> None:
    for source in correct.values():
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                text = str(node.value.value)
                for seed in range(12):
                    new = reword(text, Dice(b"%d" % seed)).rstrip()
                    assert not new or new[-1] in ".:`)" or new == text.rstrip(), new
    long = "One that goes on (somebody et al. 2023, page 3)\nover a line. Another."
    cut = {reword(long, Dice(b"%d" % seed)) for seed in range(60)} - {"", long}
    assert cut == {"One that goes on (somebody et al. 2023, page 3)\nover a line."}
