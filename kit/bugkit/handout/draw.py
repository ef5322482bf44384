"""Chance that anybody with the secret can repeat, on any machine and with any Python."""

import hmac
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TypeVar

from .secret import Secret

T = TypeVar("T")

_DOMAIN = "bugkit handout 1"
"""A change of what is drawn needs another number: old handouts could not be told apart."""

_BLOCK = "block"


def encoded(*parts: str) -> bytes:
    """The texts as bytes, each in NFC behind its length, so that no two lists look alike."""
    whole = b""
    for part in parts:
        data = unicodedata.normalize("NFC", part).encode("utf-8")
        whole += len(data).to_bytes(8, "big") + data
    return whole


class Draw:
    """Draws for one purpose: HMAC-SHA256 of it under the secret, and of a counter under that."""

    def __init__(self, secret: Secret, assignment: str, student: str, purpose: str) -> None:
        message = encoded(_DOMAIN, assignment, student, purpose)
        self._key = hmac.digest(secret.value, message, "sha256")
        self._blocks = 0
        self._spare = b""

    def below(self, n: int) -> int:
        """A whole number from 0 to n - 1, each as likely as the others."""
        if n < 1:
            raise ValueError(f"nothing is below {n}")
        bits = (n - 1).bit_length()
        size = -(-bits // 8)
        while True:
            # Too large ones are thrown away: a remainder would favour the small numbers.
            number = int.from_bytes(self._bytes(size), "big") >> (8 * size - bits)
            if number < n:
                return number

    def chance(self, probability: float) -> bool:
        """True with this probability: never for 0, always for 1."""
        if not 0 <= probability <= 1:
            raise ValueError(f"no probability: {probability}")
        # Exact: multiplying by a power of two only moves the point.
        return self.below(2**53) < probability * 2**53

    def choice(self, items: Sequence[T]) -> T:
        """One of them."""
        return items[self.below(len(items))]

    def seed(self) -> bytes:
        """For a generator of somebody else's."""
        return self._bytes(32)

    def shuffled(self, items: Iterable[T]) -> list[T]:
        """All of them, in any order."""
        mixed = list(items)
        for last in range(len(mixed) - 1, 0, -1):
            other = self.below(last + 1)
            mixed[last], mixed[other] = mixed[other], mixed[last]
        return mixed

    def _bytes(self, size: int) -> bytes:
        while len(self._spare) < size:
            block = encoded(_BLOCK) + self._blocks.to_bytes(8, "big")
            self._spare += hmac.digest(self._key, block, "sha256")
            self._blocks += 1
        taken, self._spare = self._spare[:size], self._spare[size:]
        return taken
