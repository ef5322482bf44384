"""What a key accepts, and where it says the bug is."""

from collections.abc import Callable

import pytest

from bugkit.catalogue import Bug
from bugkit.worksheet.model import Key
from bugkit.worksheet.words import plain


def diagnosis(key: Key) -> str:
    (row,) = [row for row in key.rubric if row.box == "Diagnosis"]
    return plain(row.two)


@pytest.mark.parametrize(
    ("slug", "place"),
    [
        # Its gradient is wrong in the same way, but nobody has to find that as well.
        ("softmax_over_queries", "attention_weights in attention.py (line 94)"),
        # The import that goes with the repair is no place of the bug.
        ("scores_not_scaled", "attention_weights in attention.py (line 92)"),
        ("softmax_backward_diagonal", "softmax_backward in softmax.py (lines 17, 23)"),
        ("batch_and_time_swapped", "split_heads and merge_heads in attention.py (lines 114, 120)"),
    ],
)
def test_the_place_is_that_of_the_mistake_and_of_no_consequence(
    key: Callable[[str], Key], slug: str, place: str
) -> None:
    assert f"Names {place} and says" in diagnosis(key(slug))


def test_no_key_is_without_a_place(catalogue: dict[str, Bug], key: Callable[[str], Key]) -> None:
    for slug, bug in catalogue.items():
        if not bug.innocent:
            assert " the top " not in diagnosis(key(slug)), slug
            assert f" in {bug.file} (line" in diagnosis(key(slug)), slug


def test_only_innocents_of_the_same_function_are_named_as_equal(
    catalogue: dict[str, Bug], key: Callable[[str], Key]
) -> None:
    """Two changes outside of any function, such as imports, have nothing to do with one another."""

    def named(slug: str) -> set[str]:
        text = "\n".join(map(plain, key(slug).accepted))
        return {other for other in catalogue if f"({other})" in text}

    assert named("scores_not_scaled") >= {"scores_by_einsum", "scaled_by_negative_power"}
    assert named("softmax_backward_diagonal") == {"softmax_backward_by_two_products"}
    assert "qkv_sliced" not in named("scores_not_scaled")
