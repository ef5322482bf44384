"""Draws: no favourites, nothing that another machine would draw otherwise."""

import hashlib
import hmac
import math
import unicodedata
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bugkit.handout.draw import Draw, encoded
from bugkit.handout.secret import SIZE, Secret

SECRET = Secret(bytes(range(SIZE)))
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


def draw(purpose: str = "test") -> Draw:
    return Draw(SECRET, "hunt-1", "0042", purpose)


def too_uneven(counts: Iterable[int]) -> bool:
    """Chi-square six standard deviations too large. The secret is fixed: no luck."""
    seen = list(counts)
    expected = sum(seen) / len(seen)
    square = sum((n - expected) ** 2 for n in seen) / expected
    free = len(seen) - 1
    return square > free + 6.0 * math.sqrt(2 * free)


# What must not happen.


@given(st.lists(TEXTS), st.lists(TEXTS))
def test_no_two_lists_of_texts_look_alike(one: list[str], two: list[str]) -> None:
    assert (encoded(*one) == encoded(*two)) == (list(map(nfc, one)) == list(map(nfc, two)))


def nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def test_texts_cannot_lend_each_other_characters() -> None:
    assert Draw(SECRET, "a", "bc", "p").below(2**64) != Draw(SECRET, "ab", "c", "p").below(2**64)


@pytest.mark.parametrize("change", range(4))
def test_secret_assignment_student_and_purpose_all_count(change: int) -> None:
    parts: list[str] = ["hunt-1", "0042", "test"]
    secret = SECRET
    if change == 3:
        secret = Secret(bytes(SIZE))
    else:
        parts[change] += "x"
    assert Draw(secret, *parts).below(2**64) != draw().below(2**64)


@pytest.mark.parametrize("n", [2, 3, 5, 7, 32, 100, 200, 257])
def test_no_number_is_favoured(n: int) -> None:
    one = draw(f"below {n}")
    counts = Counter(one.below(n) for _ in range(60 * n))
    assert not too_uneven(counts[number] for number in range(n))


def test_the_remainder_favours_no_small_number() -> None:
    # A byte taken modulo 192 would give the lower 64 numbers twice as often.
    one = draw()
    low = sum(one.below(192) < 64 for _ in range(6000))
    assert abs(low - 2000) < 6 * (6000 * 2 / 9) ** 0.5


def test_no_order_is_favoured() -> None:
    one = draw()
    orders = Counter(tuple(one.shuffled("abcd")) for _ in range(2400))
    assert set(orders) == set(permutations("abcd"))
    assert not too_uneven(orders.values())


def test_the_bound_would_catch_a_favourite() -> None:
    assert too_uneven([1300, 1000, 1000, 1000])
    assert too_uneven([100, 100, 100, 0])
    assert not too_uneven([1030, 1000, 1000, 970])


def test_one_draw_is_not_the_next() -> None:
    one = draw()
    numbers = [one.below(2**64) for _ in range(200)]
    assert len(set(numbers)) == 200
    assert all(a != b for a, b in pairwise(numbers))


def test_nothing_is_below_nothing() -> None:
    with pytest.raises(ValueError, match="nothing is below 0"):
        draw().below(0)


@pytest.mark.parametrize("wrong", [-0.1, 1.1, float("nan")])
def test_a_probability_is_between_0_and_1(wrong: float) -> None:
    with pytest.raises(ValueError, match="no probability"):
        draw().chance(wrong)


# What it is.


def test_it_is_hmac_as_anybody_may_compute_it() -> None:
    def field(text: str) -> bytes:
        return len(text).to_bytes(8, "big") + text.encode()

    message = b"".join(map(field, ["bugkit handout 1", "hunt-1", "0042", "test"]))
    key = hmac.new(SECRET.value, message, hashlib.sha256).digest()
    blocks = [
        hmac.new(key, field("block") + i.to_bytes(8, "big"), hashlib.sha256).digest()
        for i in range(2)
    ]
    stream = b"".join(blocks)
    one = draw()
    expected = [int.from_bytes(stream[8 * i : 8 * i + 8], "big") for i in range(8)]
    assert [one.below(2**64) for _ in range(8)] == expected


def test_an_accent_typed_in_two_ways_draws_the_same() -> None:
    composed, apart = (Draw(SECRET, "h", name, "p") for name in ("Zo\u00eb", "Zoe\u0308"))
    assert composed.below(2**64) == apart.below(2**64)


@given(st.integers(1, 2**80), st.text(max_size=3))
def test_every_number_is_below(n: int, purpose: str) -> None:
    assert 0 <= draw(ascii(purpose)).below(n) < n


def test_below_one_there_is_only_zero() -> None:
    assert draw().below(1) == 0


@given(st.lists(st.integers()))
def test_shuffling_loses_nothing(items: list[int]) -> None:
    before = list(items)
    assert sorted(draw().shuffled(items)) == sorted(items)
    assert items == before
    if items:
        assert draw().choice(items) in items


def test_chance_is_as_likely_as_it_says() -> None:
    one = draw()
    assert not any(one.chance(0) for _ in range(500))
    assert all(one.chance(1) for _ in range(500))
    hits = sum(one.chance(0.2) for _ in range(5000))
    assert abs(hits - 1000) < 6 * (5000 * 0.16) ** 0.5
