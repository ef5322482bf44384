"""What has been handed out: a file beside the keys, which keeps later runs to it.

What students get depends on the secret, the terms, and which bugs there are to draw from. The file
holds all of it but the secret, of which it has the fingerprint.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..disguise import Level
from ..files import read_text, write_text
from ..places import shown
from ..problems import Problem
from ..worksheet.forms import Form
from ..worksheet.model import Hints
from .pool import Candidate
from .roster import Student
from .secret import Secret, fingerprint
from .terms import Terms

NAME = "handout.json"
VERSION = 1

_OPTIONS = {
    "assignment": "--assignment",
    "pool": "--bugs",
    "per_student": "--per-student",
    "innocent_share": "--innocent-share",
    "group_by": "--group-by",
    "disguise": "--disguise",
    "worksheet": "--worksheet",
    "hints": "--hints",
    "visible": "--visible",
}


@dataclass(frozen=True, slots=True)
class Manifest:
    """All that a second run must agree with."""

    fingerprint: str
    """Of the secret."""
    terms: Terms
    students: tuple[Student, ...]
    """Whoever got a handout, also who has left since."""


def write(folder: Path, manifest: Manifest) -> None:
    """Beside the keys. A file that says the same already is not touched."""
    path, text = folder / NAME, _as_json(manifest)
    if not path.exists() or read_text(path) != text:
        write_text(path, text)


def read(folder: Path) -> Manifest | None:
    """What was handed out, if anything was."""
    path = folder / NAME
    if not path.exists():
        return None
    try:
        return _from_json(json.loads(read_text(path)))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Problem(
            f"{shown(path)}: not as bugkit wrote it ({type(error).__name__}: {error}); "
            "put the original back, or hand out to another folder"
        ) from None


def require_same(folder: Path, earlier: Manifest, secret: Secret, terms: Terms) -> None:
    """Raise Problem if a run with these would hand out something else than before."""
    path = shown(folder / NAME)
    if earlier.fingerprint != fingerprint(secret):
        raise Problem(
            f"{path}: the handouts were made with the secret {earlier.fingerprint}, and this one "
            f"is {fingerprint(secret)}; give that one with --secret-file, or hand out to another "
            "folder"
        )
    for name, option in _OPTIONS.items():
        before, now = getattr(earlier.terms, name), getattr(terms, name)
        if before != now:
            told = "" if name == "pool" else f" {_told(before)}, and not {_told(now)}"
            raise Problem(
                f"{path}: the handouts were made with another {option}{told and ':'}{told}; "
                "keep to it, or hand out to another folder with --out"
            )


def _told(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(map(str, value)) or "none"
    return "none" if value is None else repr(value) if isinstance(value, str) else str(value)


def _as_json(manifest: Manifest) -> str:
    terms = manifest.terms
    content: dict[str, Any] = {
        "version": VERSION,
        "assignment": terms.assignment,
        "secret": manifest.fingerprint,
        "per_student": terms.per_student,
        "innocent_share": terms.innocent_share,
        "group_by": terms.group_by,
        "disguise": terms.disguise,
        "worksheet": terms.worksheet,
        "hints": terms.hints,
        "visible": list(terms.visible),
        "pool": [[c.slug, c.innocent, c.score, c.difficulty] for c in terms.pool],
        "students": [[s.id, s.name, s.group] for s in manifest.students],
    }
    rows = ",\n".join(f" {json.dumps(key)}: {_rows(value)}" for key, value in content.items())
    return f"{{\n{rows}\n}}\n"


def _rows(value: Any) -> str:
    """Lists of lists with a row a line."""
    if isinstance(value, list) and value and isinstance(value[0], list):
        return "[\n" + ",\n".join(f"  {_rows(item)}" for item in value) + "\n ]"
    return json.dumps(value, ensure_ascii=False)


def _from_json(content: Any) -> Manifest:
    if content["version"] != VERSION:
        raise ValueError(f"version {content['version']}")
    terms = Terms(
        assignment=content["assignment"],
        pool=tuple(Candidate(*row) for row in content["pool"]),
        per_student=content["per_student"],
        innocent_share=content["innocent_share"],
        group_by=content["group_by"],
        disguise=Level(content["disguise"]),
        worksheet=Form(content["worksheet"]),
        hints=Hints(content["hints"]),
        visible=tuple(content["visible"]),
    )
    return Manifest(content["secret"], terms, tuple(_students(content["students"])))


def _students(rows: Iterable[Any]) -> Iterable[Student]:
    # The roster that gave them may be gone, so there is no line to point at.
    return (Student(id_, name, group, line=0) for id_, name, group in rows)
