"""What has been handed out: a file beside the keys, which keeps later runs to it.

What students get depends on the secret, the terms, and which bugs there are to draw from. The file
holds all of it but the secret, of which it has the fingerprint.
"""

import json
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..disguise import Level
from ..files import read_text, write_bytes
from ..places import shown
from ..problems import Problem
from ..worksheet.forms import Form
from .pool import Candidate
from .roster import Student
from .secret import Secret, fingerprint
from .terms import Terms, Texts

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
    "texts": "--texts",
    "visible": "--visible",
}


_TYPES: dict[str, tuple[type, ...]] = {
    "assignment": (str,),
    "secret": (str,),
    "per_student": (int,),
    "innocent_share": (int, float),
    "group_by": (str, type(None)),
    "visible": (list,),
    "pool": (list,),
    "students": (list,),
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
        write_bytes(path, text.encode(), private=True)


def read(folder: Path) -> Manifest | None:
    """What was handed out, if anything was."""
    path = folder / NAME
    if not path.exists():
        return None
    text = read_text(path)
    try:
        content = json.loads(text)
        version = _of_type(content, "the whole", dict)["version"]
        if version == VERSION:
            return _from_json(content)
    except KeyError as error:
        fault = f"{error} is missing"
    except (ValueError, RecursionError) as error:
        fault = str(error)
    else:
        raise Problem(
            f"{shown(path)}: has the version {version!r}, and this bugkit reads version {VERSION}; "
            "use the bugkit that wrote it, or hand out to another folder with --out"
        )
    raise Problem(
        f"{shown(path)}: not as bugkit wrote it: {fault}; put the original back, or hand out to "
        "another folder with --out"
    )


def require_known(folder: Path, earlier: Manifest, catalogue: Container[str]) -> None:
    """Raise Problem if the catalogue lacks an entry that was there to draw from."""
    gone = [c.slug for c in earlier.terms.pool if c.slug not in catalogue]
    if gone:
        raise Problem(
            f"{shown(folder / NAME)}: the handouts were drawn from {gone[0]} among others, which "
            "the catalogue does not have now; give its folder with --catalogue"
        )


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
            raise Problem(
                f"{path}: the handouts were drawn from other entries than --bugs selects now; "
                "leave --bugs out to keep to them, or hand out to another folder with --out"
                if name == "pool"
                else f"{path}: the handouts were made with another {option}: {_told(before)}, and "
                f"not {_told(now)}; keep to it, or hand out to another folder with --out"
            )


def _told(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(map(str, value)) or "none"
    # As typed: a choice of words is a str as well, and needs no quotes.
    return "none" if value is None else repr(value) if type(value) is str else str(value)


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
        "texts": terms.texts,
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
    for name, types in _TYPES.items():
        _of_type(content[name], name, *types)
    _require(content["per_student"] >= 1, "per_student", content["per_student"])
    _require(0 <= content["innocent_share"] <= 1, "innocent_share", content["innocent_share"])
    terms = Terms(
        assignment=content["assignment"],
        pool=tuple(_candidates(content["pool"])),
        per_student=content["per_student"],
        innocent_share=content["innocent_share"],
        group_by=content["group_by"],
        disguise=Level(content["disguise"]),
        worksheet=Form(content["worksheet"]),
        texts=Texts(content["texts"]),
        visible=tuple(_of_type(id_, "visible", str) for id_ in content["visible"]),
    )
    return Manifest(content["secret"], terms, tuple(_students(content["students"])))


def _candidates(rows: Iterable[Any]) -> Iterable[Candidate]:
    for row in rows:
        yield Candidate(*_row(row, "pool", ((str,), (bool,), (int,), (int,))))


def _students(rows: Iterable[Any]) -> Iterable[Student]:
    for row in rows:
        id_, name, group = _row(row, "students", ((str,), (str,), (str, type(None))))
        # The roster that gave them may be gone, so there is no line to point at.
        yield Student(id_, name, group, line=0)


def _row(row: Any, name: str, types: Sequence[tuple[type, ...]]) -> list[Any]:
    _require(len(_of_type(row, name, list)) == len(types), name, row)
    return [_of_type(cell, name, *those) for cell, those in zip(row, types, strict=True)]


def _of_type(value: Any, name: str, *types: type) -> Any:
    # Not isinstance: to Python, true is a whole number.
    _require(type(value) in types, name, value)
    return value


def _require(right: bool, name: str, value: object) -> None:
    if not right:
        raise ValueError(f"{name} cannot be {value!r}")
