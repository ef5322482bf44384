"""Sheets and keys as a person may review them. Renew them with BUGKIT_RENEW_GOLDEN=1."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bugkit.worksheet import markdown
from bugkit.worksheet.model import Key, KeySet, Layout, Sheet, SheetSet

GOLDEN = Path(__file__).parent / "golden"
DOCUMENTS = {
    "bug": ("scores_not_scaled",),
    "innocent": ("checkpoint_compressed",),
    "set": ("softmax_over_queries", "eps_inside_the_root", "clipping_by_the_smaller_factor"),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_are_as_reviewed(
    name: str, sheet: Callable[[str], Sheet], key: Callable[[str], Key]
) -> None:
    slugs = DOCUMENTS[name]
    sheets = [sheet(slug) for slug in slugs]
    # The drawing depends on the version of the plotting library; its numbers do not.
    numbered = [
        replace(s, number=i, of=len(slugs), figure=replace(s.figure, svg=""))
        for i, s in enumerate(sheets, 1)
    ]
    keys = [replace(key(s), number=i, of=len(slugs)) for i, s in enumerate(slugs, 1)]
    compare(f"{name}.md", markdown.sheets(SheetSet("Bug hunts", tuple(numbered)), Layout()))
    compare(f"{name}-key.md", markdown.keys(KeySet("Answer keys", tuple(keys)), Layout()))


def compare(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("BUGKIT_RENEW_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
