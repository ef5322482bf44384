"""From a drawing of matplotlib to an SVG that may stand beside others in one document."""

import base64
import hashlib
import io
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SALT = "bugkit"
"""Of the names that matplotlib makes up."""

RC: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.facecolor": "none",
    "axes.edgecolor": "#555555",
    "axes.labelpad": 2.0,
    "axes.labelsize": 7.0,
    "axes.linewidth": 0.5,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlepad": 3.0,
    "axes.titlesize": 7.0,
    "axes.unicode_minus": True,
    "font.family": ["DejaVu Sans"],  # comes with matplotlib: the same on every computer
    "font.size": 7.0,
    "hatch.linewidth": 0.6,
    "svg.fonttype": "path",
    "svg.hashsalt": SALT,
    "text.parse_math": False,
    "xtick.labelsize": 6.5,
    "xtick.major.pad": 2.0,
    "xtick.major.size": 2.0,
    "xtick.major.width": 0.5,
    "ytick.labelsize": 6.5,
    "ytick.major.pad": 2.0,
    "ytick.major.size": 2.0,
    "ytick.major.width": 0.5,
}
"""Sizes in points."""

OURS = ("axes", "figure", "font", "grid", "hatch", "legend", "lines", "patch", "path", "savefig")
TOO = ("svg", "text", "xtick", "ytick", "mathtext", "markers")
"""Groups of settings that a person may have changed at home."""

_BEFORE = re.compile(r"\A.*?(?=<svg)", re.DOTALL)
_METADATA = re.compile(r"\s*<metadata>.*?</metadata>", re.DOTALL)
_SHEET = re.compile(r"\s*<defs>\s*<style[^>]*>.*?</style>\s*</defs>", re.DOTALL)
_STYLE = re.compile(r' style="([^"]*)"')
_ID = re.compile(r' id="([^"]+)"')
_REFERENCE = re.compile(r'(url\(#|href="#)([^)"]+)')
_COMMENT = re.compile(r"\s*<!--.*?-->", re.DOTALL)
_ROOT = ' stroke-linejoin="round" stroke-linecap="butt"'


def settings() -> Any:
    """All that a drawing depends on, whatever is set on this computer."""
    import matplotlib

    groups = (*OURS, *TOO)
    default = matplotlib.rcParamsDefault
    known = {key: default[key] for key in default if key.partition(".")[0] in groups}
    return known | RC


def to_svg(figure: "Figure", code: str) -> str:
    """The drawing as one element. Nothing in it names a date, a program or another place, and its
    names begin with the code, so that they clash with no other drawing's."""
    file = io.StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    figure.savefig(file, format="svg", metadata=nothing)
    return cleaned(file.getvalue(), code)


def cleaned(svg: str, code: str) -> str:
    """Without what stands before the element, a style sheet (which would hold for the whole
    document), and names that nothing refers to."""
    svg = _BEFORE.sub("", svg)
    for part in (_METADATA, _SHEET, _COMMENT):
        svg = part.sub("", svg)
    svg = svg.replace("<svg", f"<svg{_ROOT}", 1)
    svg = _STYLE.sub(lambda match: _attributes(match[1]), svg)
    used, prefix = {name for _, name in _REFERENCE.findall(svg)}, _prefix(code)
    svg = _ID.sub(lambda match: f' id="{prefix}{match[1]}"' if match[1] in used else "", svg)
    svg = _REFERENCE.sub(lambda match: f"{match[1]}{prefix}{match[2]}", svg)
    return " ".join(svg.split()).replace("> <", ">\n<").replace(' "', '"') + "\n"


def _attributes(style: str) -> str:
    """The same as attributes: a document may forbid styles in its elements."""
    pairs = (part.split(":", 1) for part in style.split(";") if part.strip())
    return "".join(f' {name.strip()}="{value.strip()}"' for name, value in pairs)


def _prefix(code: str) -> str:
    """What a name in XML may begin with."""
    if re.fullmatch(r"[A-Za-z0-9-]+", code):
        return f"f-{code}-"
    return f"f_{hashlib.sha256(code.encode()).hexdigest()[:12]}-"


def data_uri(svg: str) -> str:
    """The drawing as an image. As such it cannot clash with another's ids, nor run anything."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode("ascii")
