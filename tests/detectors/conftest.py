"""Runs the families in their order, the most fundamental first."""

from pathlib import Path

import pytest

from . import FAMILIES

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the detectors among the places that they have; other tests stay where they are."""
    places = [i for i, item in enumerate(items) if item.path.parent == HERE]
    # Stable: within a family the order of the file stays.
    ordered = sorted((items[i] for i in places), key=_rank)
    for i, item in zip(places, ordered, strict=True):
        items[i] = item


def _rank(item: pytest.Item) -> int:
    family = item.path.stem.removeprefix("test_")
    # A new family comes just before the last one, the backstop.
    return 2 * FAMILIES.index(family) if family in FAMILIES else 2 * len(FAMILIES) - 3
