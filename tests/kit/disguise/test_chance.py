"""Choices depend on the seed alone, and not on one another."""

from collections import Counter

from bugkit.disguise.chance import Dice


def test_the_draws_of_a_seed_never_change() -> None:
    dice = Dice(b"seed").part("norm")
    assert [dice.below(1000) for _ in range(4)] == [964, 291, 546, 203]


def test_one_part_does_not_shift_another() -> None:
    alone = Dice(b"seed").part("b").below(10**6)
    dice = Dice(b"seed")
    for _ in range(100):
        dice.part("a").below(7)
        dice.below(7)
    assert dice.part("b").below(10**6) == alone


def test_no_part_and_no_seed_draws_what_another_draws() -> None:
    labels = [Dice(b"1").part("ab").part("c"), Dice(b"1").part("a").part("bc"), Dice(b"2")]
    assert len({tuple(d.below(2**20) for _ in range(5)) for d in labels}) == 3


def test_no_number_is_left_out() -> None:
    dice = Dice(b"seed")
    counts = Counter(dice.below(6) for _ in range(3000))
    assert set(counts) == set(range(6))
    assert all(400 < count < 600 for count in counts.values())


def test_maybe_is_neither_always_nor_never() -> None:
    dice = Dice(b"seed")
    assert 200 < sum(dice.maybe(25) for _ in range(1000)) < 300
    assert not any(dice.maybe(0) for _ in range(100))
    assert all(dice.maybe(100) for _ in range(100))


def test_shuffling_and_turning_lose_nothing() -> None:
    dice = Dice(b"seed")
    assert sorted(dice.shuffled(range(20))) == list(range(20))
    assert len({tuple(dice.shuffled("abc")) for _ in range(100)}) == 6
    assert {tuple(dice.turned("abc")) for _ in range(100)} == {
        ("a", "b", "c"),
        ("b", "c", "a"),
        ("c", "a", "b"),
    }
