"""Sheets and keys as a person may review them. Renew them with BUGKIT_RENEW_GOLDEN=1."""

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bugkit.worksheet import markdown
from bugkit.worksheet.key import Key, KeySet
from bugkit.worksheet.model import (
    Layout,
    Sheet,
    SheetSet,
)

GOLDEN = Path(__file__).parent / "golden"
DOCUMENTS = {
    "bug": ("scores_not_scaled",),
    "innocent": ("checkpoint_compressed",),
    "set": ("softmax_over_queries", "eps_inside_the_root", "clipping_by_the_smaller_factor"),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_are_as_reviewed(
    name: str,
    sheet: Callable[[str], Sheet],
    key: Callable[[str], Key],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A drawing depends on the version of the plotting library; its numbers do not.
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    slugs = DOCUMENTS[name]
    numbered = [replace(sheet(s), number=i, of=len(slugs)) for i, s in enumerate(slugs, 1)]
    keys = [replace(key(s), number=i, of=len(slugs)) for i, s in enumerate(slugs, 1)]
    compare(f"{name}.md", markdown.sheets(SheetSet("Bug hunts", tuple(numbered)), Layout()))
    compare(f"{name}-key.md", markdown.keys(KeySet("Answer keys", tuple(keys)), Layout()))


def compare(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("BUGKIT_RENEW_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
