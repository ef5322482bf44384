"""Choices drawn from a seed: the same on every machine and for every version of Python."""

import hashlib
import hmac
from collections.abc import Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")

_WORD = 8
"""Bytes of one draw."""


class Dice:
    """HMAC-SHA256 in counter mode.

    Every part of the package draws from dice of its own, named for what is decided, so a change
    in one function does not shift the choices in another.
    """

    def __init__(self, seed: bytes, label: str = "") -> None:
        self._seed = seed
        self._label = label
        self._key = hmac.digest(seed, b"bugkit disguise " + label.encode(), hashlib.sha256)
        self._counter = 0
        self._pool = b""

    def part(self, label: str) -> "Dice":
        """Dice for one part, independent of what was drawn here."""
        return Dice(self._seed, f"{self._label}/{label}")

    def below(self, end: int) -> int:
        """A whole number from 0 to end - 1. The bias of the remainder is under end / 2**64."""
        if len(self._pool) < _WORD:
            message = self._counter.to_bytes(8, "big")
            self._pool = hmac.digest(self._key, message, hashlib.sha256)
            self._counter += 1
        word, self._pool = self._pool[:_WORD], self._pool[_WORD:]
        return int.from_bytes(word, "big") % end

    def maybe(self, percent: int) -> bool:
        """True so often in a hundred."""
        return self.below(100) < percent

    def choose(self, options: Sequence[T]) -> T:
        """One of them."""
        return options[self.below(len(options))]

    def shuffled(self, items: Iterable[T]) -> list[T]:
        """All of them in an order of chance."""
        left = list(items)
        for i in range(len(left) - 1, 0, -1):
            j = self.below(i + 1)
            left[i], left[j] = left[j], left[i]
        return left
