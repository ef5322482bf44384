"""Reading TOML files that people write: every error is one message with file and key."""

import tomllib
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any, NoReturn

from .files import read_text
from .places import shown
from .problems import Problem, nearest


def read_toml(path: Path) -> dict[str, Any]:
    """The table that the file holds."""
    try:
        return tomllib.loads(read_text(path))
    except ValueError as error:  # of TOML, or a number too long for Python
        raise Problem(f"{shown(path)}: not valid TOML: {error}") from None


class TableReader:
    """Checks one value after the other; holds the path for the messages.

    `where` names the table that a key is in, empty for the top of the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def fail(self, where: str, key: str, what: str) -> NoReturn:
        """Raise the Problem."""
        place = f"[{where}] {key}" if where else key
        raise Problem(f"{shown(self.path)}: {place}: {what}")

    def keys(
        self,
        where: str,
        table: Mapping[str, Any],
        needed: Set[str],
        optional: Set[str] = frozenset(),
    ) -> None:
        """Take no key but these, and all that are needed."""
        for key in table:
            if key not in needed | optional:
                self.fail(where, key, f"unknown key{nearest(key, needed | optional)}")
        for key in sorted(needed):
            if key not in table:
                self.fail(where, key, "is missing")

    def table(self, key: str, value: object) -> dict[str, Any]:
        """A table, such as [teach]."""
        if not isinstance(value, dict):
            self.fail("", key, f"must be a table: write [{key}]")
        return value

    def tables(self, table: dict[str, Any], key: str) -> list[dict[str, Any]]:
        """A list of tables, such as [[edit]]; empty if there is none."""
        value = table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            self.fail("", key, f"must be a list of tables: write [[{key}]]")
        return value

    def text(self, where: str, table: dict[str, Any], key: str, empty: bool = False) -> str:
        """A text without the line ends around it."""
        value = table[key]
        if not isinstance(value, str):
            self.fail(where, key, f"must be a text in quotes, got {value!r}")
        if not value.strip() and not empty:
            self.fail(where, key, "is empty")
        return value.strip("\n")

    def strings(self, where: str, table: dict[str, Any], key: str) -> tuple[str, ...]:
        """A list of texts, none of them empty."""
        value = table[key]
        if not isinstance(value, list) or not all(isinstance(v, str) and v.strip() for v in value):
            self.fail(where, key, f"must be a list of texts, got {value!r}")
        return tuple(v.strip() for v in value)

    def one_of(self, where: str, table: dict[str, Any], key: str, allowed: tuple[str, ...]) -> str:
        """One of a few words."""
        value = self.text(where, table, key)
        if value not in allowed:
            known = ", ".join(allowed)
            self.fail(where, key, f"must be one of {known}; got {value!r}{nearest(value, allowed)}")
        return value

    def number(self, table: dict[str, Any], key: str, allowed: range) -> int:
        """A whole number; the range may have gaps between its first and its last."""
        value = table[key]
        if not isinstance(value, int) or isinstance(value, bool) or value not in allowed:
            known = (
                f"a whole number from {allowed[0]} to {allowed[-1]}"
                if allowed.step == 1
                else f"one of {', '.join(map(str, allowed))}"
            )
            self.fail("", key, f"must be {known}, got {value!r}")
        return value
