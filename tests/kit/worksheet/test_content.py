"""Sheets and keys of the whole catalogue."""

from collections.abc import Callable

from bugkit.catalogue import Bug
from bugkit.worksheet.key import Key
from bugkit.worksheet.model import (
    Sheet,
)

from .conftest import texts


def test_no_sheet_holds_a_text_of_its_key(
    catalogue: dict[str, Bug],
    sheet: Callable[[str], Sheet],
    secrets: Callable[[str], set[str]],
) -> None:
    for slug in catalogue:
        page = "\n".join(texts(sheet(slug)))
        found = [text for text in secrets(slug) if text in page]
        assert not found, slug


def test_every_key_has_secrets(
    catalogue: dict[str, Bug], key: Callable[[str], Key], secrets: Callable[[str], set[str]]
) -> None:
    """So that the test above cannot pass for want of texts to look for."""
    told = 0
    some = list(catalogue.items())[::3]
    for slug, bug in some:
        hidden = secrets(slug)
        assert {slug, bug.title} <= hidden
        assert len(hidden) > 100
        assert bug.innocent or set(bug.killed_by) <= hidden
        told += any(line.sign == "+" and line.text.strip() in hidden for line in key(slug).fix)
    assert told > len(some) * 0.8  # the others only take something away
