"""Which fonts can show a text, and a stand-in for what none can.

The kit brings its own fonts, so that pages look the same everywhere. Characters that these lack
come from DejaVu Sans where matplotlib is installed, then from the fonts of the system.
"""

import struct
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from ..places import TEMPLATES

FONTS = TEMPLATES / "fonts"

STAND_IN = "□"
"""For a character that no font has, or that has no shape."""

_INVISIBLE = {"\u200b", "\u200c", "\u200d", "\u00ad", "\ufe0e", "\ufe0f"}
"""Format characters that change how their neighbours look, and nothing further away."""


def visible(text: str) -> str:
    """Without what cannot be printed: controls, breaks, marks that turn a line, private use."""
    return "".join(c if _shown(c) else STAND_IN for c in text)


def _shown(character: str) -> bool:
    category = unicodedata.category(character)
    return character in _INVISIBLE or (category[0] != "C" and category not in ("Zl", "Zp"))


@cache
def coverage(path: Path, index: int = 0) -> frozenset[int]:
    """Code points that a font file has glyphs for; none if the file cannot be read."""
    try:
        data = path.read_bytes()
        start = struct.unpack_from(">I", data, 12 + 4 * index)[0] if data[:4] == b"ttcf" else 0
        for i in range(struct.unpack_from(">H", data, start + 4)[0]):
            tag, _, offset, _ = struct.unpack_from(">4sIII", data, start + 12 + 16 * i)
            if tag == b"cmap":
                return frozenset(_cmap(data, offset))
    except (OSError, struct.error):
        pass
    return frozenset()


def _cmap(data: bytes, at: int) -> set[int]:
    """The Unicode subtables, of the two formats that fonts have."""
    points: set[int] = set()
    for i in range(struct.unpack_from(">H", data, at + 2)[0]):
        platform, encoding, offset = struct.unpack_from(">HHI", data, at + 4 + 8 * i)
        if platform == 0 or (platform, encoding) in ((3, 1), (3, 10)):
            form = struct.unpack_from(">H", data, at + offset)[0]
            if form == 12:
                points |= _groups(data, at + offset)
            elif form == 4:
                points |= _segments(data, at + offset)
    return points


def _groups(data: bytes, at: int) -> set[int]:
    points: set[int] = set()
    for i in range(struct.unpack_from(">I", data, at + 12)[0]):
        first, last, _ = struct.unpack_from(">III", data, at + 16 + 12 * i)
        points.update(range(first, last + 1))
    return points


def _segments(data: bytes, at: int) -> set[int]:
    count = struct.unpack_from(">H", data, at + 6)[0] // 2
    shape = f">{count}H"
    ends = struct.unpack_from(shape, data, at + 14)
    starts = struct.unpack_from(shape, data, at + 16 + 2 * count)
    deltas = struct.unpack_from(shape, data, at + 16 + 4 * count)
    offsets_at = at + 16 + 6 * count
    offsets = struct.unpack_from(shape, data, offsets_at)
    points: set[int] = set()
    for k, (first, last, delta, offset) in enumerate(
        zip(starts, ends, deltas, offsets, strict=True)
    ):
        for point in range(first, min(last, 0xFFFE) + 1):
            glyph = point
            if offset:
                place = offsets_at + 2 * k + offset + 2 * (point - first)
                glyph = struct.unpack_from(">H", data, place)[0]
            if offset and not glyph:
                continue
            if (glyph + delta) & 0xFFFF:
                points.add(point)
    return points


@cache
def _own() -> frozenset[int]:
    """What every one of the kit's own fonts has."""
    sets = [coverage(path) for path in sorted(FONTS.glob("*.otf"))]
    return frozenset.intersection(*sets)


def dejavu() -> Path | None:
    """The folder with DejaVu Sans that matplotlib brings."""
    spec = find_spec("matplotlib")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        folder = Path(place) / "mpl-data" / "fonts" / "ttf"
        if (folder / "DejaVuSans.ttf").is_file():
            return folder
    return None


@dataclass(frozen=True, slots=True)
class Fallback:
    """Where the characters come from that the kit's own fonts lack."""

    families: tuple[str, ...] = ()
    """In the order in which they are asked."""
    folders: tuple[str, ...] = ()
    system: bool = False
    absent: Mapping[int, str] = field(default_factory=dict)
    """Code points that no font has, and what is printed for them."""


def fallback_for(characters: Iterable[str]) -> Fallback:
    """What it takes to print these."""
    points = {ord(c) for c in characters if c not in _INVISIBLE} - _own() - {ord("\n")}
    if not points:
        return Fallback()
    folder = dejavu()
    if folder:
        points -= coverage(folder / "DejaVuSans.ttf")
    families = ("DejaVu Sans",) if folder else ()
    folders = (str(folder),) if folder else ()
    if not points:
        return Fallback(families, folders)
    found = []
    for family, path, index in _system():
        if path and points & coverage(Path(path), index):
            points -= coverage(Path(path), index)
            found.append(family)
    absent = dict.fromkeys(points, STAND_IN)
    return Fallback((*families, *found), folders, bool(found), absent)


@cache
def _system() -> tuple[tuple[str, str, int], ...]:
    """Upright fonts of normal weight of this machine: family, path, index in the file."""
    try:
        import typst
    except ImportError:
        return ()
    fonts = typst.Fonts(include_embedded_fonts=False).fonts()
    found = {
        (font.family, font.path or "", font.index)
        for font in fonts
        if font.style == "normal"
        and font.weight == 400
        and "last resort" not in font.family.lower()
    }
    return tuple(sorted(found))
