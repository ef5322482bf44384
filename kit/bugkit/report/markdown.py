"""Markdown tables that GitHub and other CommonMark renderers show."""

import re

from ..matrix import Matrix, Outcome
from .summary import summarise
from .symbols import SYMBOLS, WORDS, legend
from .text import one_line


def as_markdown(matrix: Matrix) -> str:
    """The summary, the matrix, the legend of its columns, and what failed."""
    facts = summarise(matrix)
    used = {cell.outcome for cell in matrix.cells.values()}
    lines = ["# Kill matrix", ""]
    if facts.mutants:
        lines += [f"- Killed: {facts.killed} of {facts.mutants} mutants"]
        lines += [f"- Accused innocents: {len(facts.accused)} of {facts.innocents}"]
    lines += [f"- Broken promise: {_shown(sentence)}" for sentence in facts.broken_promises]
    lines += [f"- Symbols: {legend(used)}", ""]
    keys = [d.key for d in matrix.detectors]
    lines += [_row(["subject", "kind", "status", *keys]), _row(["---"] * 3 + [":-:"] * len(keys))]
    for s in matrix.subjects:
        symbols = [SYMBOLS[cell.outcome] for _, cell in matrix.row(s)]
        lines.append(_row([_shown(s.id), s.kind, matrix.status(s), *symbols]))
    lines += ["", "## Detectors", "", _row(["key", "detector", "property"]), _row(["---"] * 3)]
    for d in matrix.detectors:
        label = f"{d.label} (backstop)" if d.backstop else d.label
        lines.append(_row([d.key, f"`{d.id}`", _shown(label)]))
    lines += ["", "## What failed", ""]
    for s in matrix.subjects:
        for d, cell in matrix.row(s):
            if cell.outcome not in (Outcome.PASSED, Outcome.NOT_OFFERED):
                said = f"{WORDS[cell.outcome]}: {cell.message}"
                lines.append(f"- {_shown(s.id)} {d.key} {_shown(said)}")
    if lines[-1] == "":
        lines.append("Nothing.")
    return "\n".join(lines) + "\n"


def _row(values: list[str]) -> str:
    return "| " + " | ".join(values) + " |"


def _shown(text: str) -> str:
    """On one line, and with nothing in it that Markdown would take for its own."""
    return re.sub(r"([\\`*_{}\[\]<>|#&~])", r"\\\1", one_line(text))
