"""A Python as students have it: with NumPy, pytest and what these need, and nothing else."""

import os
import shutil
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement


def make_environment(folder: Path) -> Path:
    """Without a network: what is installed here is linked. Gives the interpreter."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    windows = os.name == "nt"
    python = folder / ("Scripts/python.exe" if windows else "bin/python")
    (packages,) = {path for path in folder.rglob("site-packages") if path.parent.name != "lib64"}
    for source in _parts(["numpy", "pytest"]):
        if windows:
            shutil.copytree(source, packages / source.name)
        else:
            (packages / source.name).symlink_to(source)
    return python


def _parts(names: list[str]) -> set[Path]:
    """Folders and modules of these distributions and of all that they require here."""
    found: set[Path] = set()
    done: set[str] = set()
    while names:
        name = names.pop()
        if name in done:
            continue
        done.add(name)
        about = distribution(name)
        tops = {path.parts[0] for path in about.files or ()} - {"..", "__pycache__"}
        found |= {Path(str(about.locate_file(top))) for top in tops}
        wanted = map(Requirement, about.requires or ())
        names += [r.name for r in wanted if not r.marker or r.marker.evaluate({"extra": ""})]
    return found


def clean(home: Path) -> dict[str, str]:
    """Variables for a process: nothing of this one."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    return kept | {"HOME": str(home), "USERPROFILE": str(home), "LC_ALL": "C", "COLUMNS": "200"}
