"""JSON and CSV: the matrix for other programs. `matrix.schema.json` documents the JSON."""

import csv
import io
import json
from dataclasses import asdict
from typing import Any

from .. import __version__
from ..matrix import Matrix
from .summary import summarise
from .text import storable

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""How a text begins that a spreadsheet takes for a formula."""

VERSION = 1
"""Of the layout; grows when a reader of the old one would go wrong."""


def as_json(matrix: Matrix) -> str:
    """One object: subjects, detectors, a record for each cell, and the summary; a line each."""
    sections = []
    for key, value in _storable(to_dict(matrix)).items():
        if isinstance(value, list):
            lines = [json.dumps(record, ensure_ascii=False) for record in value]
            text = "[\n  " + ",\n  ".join(lines) + "\n ]"
        else:
            text = json.dumps(value, ensure_ascii=False)
        sections.append(f" {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(sections) + "\n}\n"


def to_dict(matrix: Matrix) -> dict[str, Any]:
    """What the JSON holds."""
    shared = matrix.signature_shared_with
    return {
        "version": VERSION,
        "bugkit": __version__,
        "subjects": [
            {
                "id": s.id,
                "kind": s.kind,
                "title": s.title,
                "component": s.component,
                "level": s.level,
                "status": matrix.status(s),
                "killed_by": list(matrix.killers(s)),
                "signature_shared_with": list(shared.get(s.id, ())),
            }
            for s in matrix.subjects
        ],
        "detectors": [
            {
                "id": d.id,
                "label": d.label,
                "family": d.family,
                "level": d.level,
                "backstop": d.backstop,
            }
            for d in matrix.detectors
        ],
        "cells": [
            {
                "subject": s.id,
                "detector": d.id,
                "outcome": cell.outcome,
                "message": cell.message,
                "seconds": cell.seconds,
            }
            for s in matrix.subjects
            for d, cell in matrix.row(s)
        ],
        "summary": asdict(summarise(matrix)),
    }


def as_csv(matrix: Matrix) -> str:
    """One line a cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(["subject", "kind", "detector", "outcome", "seconds", "message"])
    for s in matrix.subjects:
        for d, cell in matrix.row(s):
            row = [s.id, s.kind, d.id, cell.outcome, cell.seconds, cell.message]
            writer.writerow([_plain(value) for value in row])
    return text.getvalue()


def _plain(value: object) -> object:
    if not isinstance(value, str):
        return value
    # A spreadsheet would run such a text as a formula.
    text = storable(value)
    return f"'{text}" if text[:1] in FORMULA else text


def _storable(tree: Any) -> Any:
    """The same tree with every text fit for a file."""
    if isinstance(tree, dict):
        return {key: _storable(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_storable(value) for value in tree]
    return storable(tree) if isinstance(tree, str) else tree
