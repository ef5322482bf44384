"""Choices drawn from a seed: the same on every machine and for every version of Python."""

import hmac
import struct
from collections.abc import Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")

_WORDS = struct.Struct(">16I")
"""Draws of 32 bits that one block holds."""


class Dice:
    """HMAC-SHA512 in counter mode.

    Every part of the package draws from dice of its own, named for what is decided, so a change
    in one function does not shift the choices in another.
    """

    def __init__(self, seed: bytes, label: str = "") -> None:
        self._seed = seed
        self._label = label
        self._key = hmac.digest(seed, b"bugkit disguise " + label.encode(), "sha512")
        self._counter = 0
        self._pool: list[int] = []

    def part(self, label: str) -> "Dice":
        """Dice for one part, independent of what was drawn here."""
        return Dice(self._seed, f"{self._label}/{label}")

    def below(self, end: int) -> int:
        """A whole number from 0 to end - 1. The bias of the remainder is under end / 2**32."""
        if not self._pool:
            block = hmac.digest(self._key, self._counter.to_bytes(8, "big"), "sha512")
            self._pool = list(_WORDS.unpack(block))
            self._counter += 1
        return self._pool.pop() % end

    def maybe(self, percent: int) -> bool:
        """True so often in a hundred."""
        return self.below(100) < percent

    def choose(self, options: Sequence[T]) -> T:
        """One of them."""
        return options[self.below(len(options))]

    def turned(self, items: Sequence[T]) -> Sequence[T]:
        """All of them in their order, from one of chance on."""
        if len(items) < 2:
            return items
        start = self.below(len(items))
        return [*items[start:], *items[:start]]

    def shuffled(self, items: Iterable[T]) -> list[T]:
        """All of them in an order of chance."""
        left = list(items)
        for i in range(len(left) - 1, 0, -1):
            j = self.below(i + 1)
            left[i], left[j] = left[j], left[i]
        return left
