"""Where the data folders are: at the top of a checkout, or inside the installed package."""

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = PACKAGE.parents[1]
IN_CHECKOUT = (_CHECKOUT / "kit" / "bugkit" / "places.py").is_file()
_ROOT = _CHECKOUT if IN_CHECKOUT else PACKAGE

CORRECT = _ROOT / "correct"
MUTANTS = _ROOT / "mutants"
TEMPLATES = _ROOT / "templates"
DETECTORS = _ROOT / "tests" / "detectors" if IN_CHECKOUT else PACKAGE / "detectors"


def shown(path: Path) -> str:
    """The path as a person would type it: relative to the working directory where possible."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)
