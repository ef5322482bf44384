"""Characters that the kit's own fonts lack, and the parser that finds that out."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bugkit.worksheet import fonts, pdf
from bugkit.worksheet.model import Layout, Sheet, SheetSet

from . import pages

SLUG = "scores_not_scaled"


def one(sheet: Sheet) -> SheetSet:
    return SheetSet("Bug hunts", (sheet,))


@pages.needs_paper
def test_what_no_font_has_is_a_square(
    sheet: Callable[[str], Sheet], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fonts, "dejavu", lambda: None)
    monkeypatch.setattr(fonts, "_system", lambda: ())
    challenge = replace(sheet(SLUG), course="深い Ελλ שלום \ue000 \U0010ffff")
    front = pages.printed(pdf.sheets(one(challenge), Layout()))[0]
    assert "□□ Ελλ □□□□" in front


@pages.needs_paper
def test_dejavu_fills_in_where_matplotlib_is(sheet: Callable[[str], Sheet]) -> None:
    if fonts.dejavu() is None:
        pytest.skip("needs matplotlib: pip install -e '.[worksheets]'")
    made = pdf.sheets(one(replace(sheet(SLUG), course="שלום")), Layout())
    assert pages.fonts(pages.opened(made))["DejaVuSans"]


def test_the_parser_of_fonts_agrees_with_the_fonts_themselves() -> None:
    tool = pytest.importorskip("fontTools.ttLib", reason="fontTools comes with matplotlib")
    for path in sorted(fonts.FONTS.glob("*.otf")):
        assert fonts.coverage(path) == set(tool.TTFont(path).getBestCmap())


def test_a_broken_font_covers_nothing(tmp_path: Path) -> None:
    path = tmp_path / "font.ttf"
    path.write_bytes((fonts.FONTS / "SourceSans3-Regular.otf").read_bytes()[:600])
    assert fonts.coverage(path) == fonts.coverage(tmp_path / "absent.ttf") == frozenset()


@pytest.mark.parametrize("text", ["\u202e", "\x00", "\x85", "\u2028", "\ue000", "\ud800"])
def test_what_has_no_shape_or_turns_a_line_is_never_printed(text: str) -> None:
    assert fonts.visible(f"a{text}b") == "a□b"


def test_usual_text_needs_no_font_of_the_machine() -> None:
    assert fonts.fallback_for("Ünïcode Ελληνικά Кириллица ≤ → ● □\u200b") == fonts.Fallback()
