"""Choosing bugs by an expression: it means what Python means by it, and says where it is wrong."""

import ast
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bugkit.catalogue import Bug, load_catalogue
from bugkit.problems import Problem
from bugkit.selector import chosen

BUGS = tuple(load_catalogue().values())

WORDS = sorted(
    {word for bug in BUGS for word in (bug.slug, bug.component)}
    | {f"{what}:{n}" for what in ("level", "difficulty") for n in range(1, 6)}
    | {"innocent"}
)
FEW_WORDS = ["mask", "level:1", "level:2", "difficulty:3", "innocent", "no_causal_mask"]
"""Each is true of some bugs and false of others, and most pairs overlap."""

OPERATORS = ("and", "or", "not")


def is_true(word: str, bug: Bug) -> bool:
    kind, _, number = word.partition(":")
    if number:
        return int(number) == (bug.level if kind == "level" else bug.difficulty)
    return bug.innocent if word == "innocent" else word in (bug.slug, bug.component)


def as_python(expression: str, bug: Bug) -> str:
    """The expression with True or False in place of each word."""

    def replaced(match: re.Match[str]) -> str:
        return match[0] if match[0] in OPERATORS else str(is_true(match[0], bug))

    return re.sub(r"[\w:]+", replaced, expression).strip()


def is_syntax(expression: str) -> bool:
    """Whether Python reads it as words joined by operators and nothing else."""
    try:
        tree = ast.parse(as_python(expression, BUGS[0]), mode="eval")
    except SyntaxError:
        return False
    kinds = (ast.Expression, ast.BoolOp, ast.UnaryOp, ast.boolop, ast.Not, ast.Constant)
    return all(isinstance(node, kinds) for node in ast.walk(tree))


spaces = st.sampled_from([" ", "  "])
expressions = st.recursive(
    st.sampled_from(WORDS) | st.sampled_from(FEW_WORDS),
    lambda inner: st.one_of(
        st.builds(
            "{}{}{}{}{}".format, inner, spaces, st.sampled_from(["and", "or"]), spaces, inner
        ),
        st.builds("not{}{}".format, spaces, inner),
        st.builds("({})".format, inner),
        st.builds(" ( {}) ".format, inner),
    ),
    max_leaves=8,
)


@given(expressions)
def test_no_expression_means_anything_else_than_in_python(expression: str) -> None:
    expected = [bug for bug in BUGS if eval(as_python(expression, bug))]
    if expected:
        assert chosen(expression, BUGS) == expected
    else:
        with pytest.raises(Problem, match="fits none of the"):
            chosen(expression, BUGS)


@given(st.lists(st.sampled_from(["mask", "level:1", "(", ")", *OPERATORS]), max_size=7))
def test_nothing_is_read_that_python_would_not_read(tokens: list[str]) -> None:
    expression = " ".join(tokens)
    try:
        chosen(expression, BUGS)
        fault = ""
    except Problem as problem:
        fault = str(problem)
    assert ("expected" not in fault) == is_syntax(expression), fault


@pytest.mark.parametrize(
    ("expression", "fault"),
    [
        ("", "'', column 1: expected a word, not, or (; got the end"),
        ("mask or", "'mask or', column 8: expected a word, not, or (; got the end"),
        ("or mask", "'or mask', column 1: expected a word, not, or (; got 'or'"),
        ("mask level:1", "'mask level:1', column 6: expected and, or, or the end; got 'level:1'"),
        ("mask AND norm", "'mask AND norm', column 6: expected and, or, or the end; got 'AND'"),
        ("(mask", "'(mask', column 6: expected and, or, or ); got the end"),
        ("mask )", "'mask )', column 6: expected and, or, or the end; got ')'"),
        (
            "mask,norm",
            "'mask,norm', column 5: expected and, or, or the end; got ','; between words, write or "
            "in place of a comma",
        ),
        (
            "not , mask",
            "'not , mask', column 5: expected a word, not, or (; got ','; between words, write or "
            "in place of a comma",
        ),
    ],
)
def test_no_slip_of_syntax_is_without_its_column(expression: str, fault: str) -> None:
    with pytest.raises(Problem, match=f"^{re.escape(fault)}$"):
        chosen(expression, BUGS)


@pytest.mark.parametrize(
    ("expression", "fault"),
    [
        ("level:1 and causal", r"^'level:1 and causal', column 13: 'causal' is not known"),
        ("no_casual_mask", r"'no_casual_mask' is not known; did you mean no_causal_mask"),
        ("not level:6", r"column 5: 'level:6' is not known; did you mean level:"),
        ("level:01", "'level:01' is not known"),
        ("zzzzzzz", r"'zzzzzzz' is not known\nA word is the slug of a bug, a component \(emb"),
        ("zzzzzzz", r"level:1 to level:5, difficulty:1 to difficulty:5, or innocent\.$"),
    ],
)
def test_no_unknown_word_is_passed_over(expression: str, fault: str) -> None:
    with pytest.raises(Problem, match=fault):
        chosen(expression, BUGS)


def test_a_word_is_never_a_part_of_another() -> None:
    assert {bug.component for bug in chosen("mask", BUGS)} == {"mask"}
    assert any("mask" in bug.slug for bug in BUGS if bug.component != "mask")


def test_a_known_word_that_no_bug_has_is_an_empty_choice_and_not_an_unknown_word() -> None:
    bugs = [bug for bug in BUGS if bug.component != "mask"]
    with pytest.raises(Problem, match=rf"^'mask': fits none of the {len(bugs)} entries"):
        chosen("mask", bugs)


def test_a_slug_may_be_written_with_hyphens_and_capitals_as_in_every_command() -> None:
    assert [bug.slug for bug in chosen("No-Causal-Mask", BUGS)] == ["no_causal_mask"]


def test_the_order_is_that_of_the_catalogue_and_not_of_the_expression() -> None:
    first, second = BUGS[3].slug, BUGS[1].slug
    assert chosen(f"{first} or {second} or {first}", BUGS) == [BUGS[1], BUGS[3]]


@pytest.mark.parametrize("part", ["(", "not "])
def test_no_expression_is_too_deep_for_python(part: str) -> None:
    with pytest.raises(Problem, match="more than 50 brackets and nots inside each other"):
        chosen(part * 100_000 + "mask", BUGS)
    closing = ")" * 48 if part == "(" else ""
    assert chosen(part * 48 + "mask" + closing, BUGS) == chosen("mask", BUGS)


def test_no_list_of_slugs_is_too_long() -> None:
    assert chosen(" or ".join(bug.slug for bug in BUGS), BUGS) == list(BUGS)
    assert chosen(" and ".join(["not (mask)"] * 100), BUGS) == chosen("not mask", BUGS)
