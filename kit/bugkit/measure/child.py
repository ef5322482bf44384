"""What runs in a process of its own: one subject, which may hang, crash or exit."""

import json
import tempfile
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from ..problems import said
from ..runner import settle
from ..subject import CORRECT_SUBJECT, Subject, import_fault, load
from .differences import largest_differences
from .pictures import pictures
from .script import Stage, train_and_sample
from .settings import Setting

MEMORY = 1024 * 1024 * 1024
"""Bytes that a subject may take (Linux). The correct GPT takes a hundredth."""

MESSAGE_LIMIT = 300
"""Characters of a message that are kept."""

RAISED = "raised"
END = "end"
"""Records beside those of the script: what was raised, and that nothing more will come."""


def run_child(subject: Subject, setting: Setting, pipe: Connection) -> None:
    """Measure the subject. Sends [name, value] records, as JSON."""
    settle(MEMORY)

    def tell(name: str, value: Any) -> None:
        pipe.send_bytes(json.dumps([name, value]).encode())

    tell("stage", Stage.IMPORT)
    try:
        gpt = load(subject)
    except BaseException as error:
        tell(RAISED, import_fault(subject, error)[:MESSAGE_LIMIT])
    else:
        differences = largest_differences(gpt, load(CORRECT_SUBJECT), setting)
        for name, value in differences.items():
            tell(name, value)
        _train(gpt, setting, tell)
        for name, value in _pictures(subject, setting).items():
            tell(name, value)
    tell(END, None)


def _pictures(subject: Subject, setting: Setting) -> dict[str, Any]:
    """Of a model that has done nothing else yet: some mutants remember what they did."""
    try:
        return pictures(load(subject), load(CORRECT_SUBJECT), setting)
    except BaseException:  # told when it was imported first
        return {}


def _train(gpt: Any, setting: Setting, tell: Any) -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch)
        try:
            train_and_sample(gpt, setting, folder, tell)
        except BaseException as error:
            # The same text on every computer.
            message = said(error).replace(f"{folder.resolve()}/", "").replace(f"{folder}/", "")
            tell(RAISED, message[:MESSAGE_LIMIT])
