"""The secret of a course: the one thing that nobody but the teachers may have.

A file of three lines, so that it can be printed and typed again: what it is, the secret, and its
fingerprint, which finds a slip in the copy.
"""

import contextlib
import hashlib
import os
import re
import secrets
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from ..files import UNFINISHED, read_text
from ..places import shown
from ..problems import Problem, reason
from ..worksheet.codes import as_read, spelt

SIZE = 32
"""Bytes."""

HEADER = "# Secret of a bugkit course. Who has it can tell every student's bug: keep it private."

_OTHERS = 0o077


@dataclass(frozen=True, slots=True)
class Secret:
    """SIZE random bytes, which no message and no traceback shows."""

    value: bytes = field(repr=False)


def new_secret() -> Secret:
    """Draw one."""
    return Secret(secrets.token_bytes(SIZE))


def store(secret: Secret, path: Path) -> None:
    """Write the secret to a new file that only its owner may read."""
    temporary = None
    try:
        if os.path.lexists(path):  # a link as well, wherever it leads
            raise FileExistsError
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f"{UNFINISHED}{path.name}.")
        with os.fdopen(handle, "wb") as stream:
            stream.write(_text(secret).encode("ascii"))
            stream.flush()
            os.fsync(stream.fileno())
        _name(temporary, path)
    except FileExistsError:
        raise Problem(
            f"{shown(path)}: exists already, and a secret is never written over; "
            "name another file, or move that one away"
        ) from None
    except OSError as error:
        raise Problem(f"{shown(path)}: cannot be written: {reason(error)}") from None
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()


def _name(temporary: str, path: Path) -> None:
    """Give the finished file its name, unless another has it meanwhile."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if path.exists():
            raise FileExistsError from None
        Path(temporary).rename(path)


def read_secret(path: Path) -> Secret:
    """The secret of this file. On POSIX, a file that others may read is a Problem."""
    lines = [(number, line.strip()) for number, line in enumerate(_lines(path), 1)]
    lines = [(number, line) for number, line in lines if line and not line.startswith("#")]
    if len(lines) != 2:
        raise Problem(
            f"{shown(path)}: not a secret of bugkit: it needs a line of {2 * SIZE} hexadecimal "
            "digits and the line of their fingerprint; make one with: bugkit secret new"
        )
    (first, digits), (second, mark) = lines
    if not re.fullmatch(f"[0-9a-fA-F]{{{2 * SIZE}}}", digits):
        raise Problem(
            f"{shown(path)}: line {first}: needs {2 * SIZE} hexadecimal digits, "
            f"got {len(digits)} characters"
            + ("" if len(digits) != 2 * SIZE else ", not all of them such digits")
        )
    secret = Secret(bytes.fromhex(digits))
    if as_read(mark) != as_read(fingerprint(secret)):
        raise Problem(
            f"{shown(path)}: line {second}: the fingerprint is not that of line {first}; "
            "the file has been changed or copied with a slip: compare it with your copy"
        )
    return secret


def fingerprint(secret: Secret) -> str:
    """Eight characters that tell secrets apart and give nothing away."""
    digest = hashlib.sha256(b"bugkit secret fingerprint\0" + secret.value).digest()
    letters = spelt(int.from_bytes(digest[:8], "big"), 8)
    return f"{letters[:4]}-{letters[4:]}"


def _text(secret: Secret) -> str:
    return f"{HEADER}\n{secret.value.hex()}\n{fingerprint(secret)}\n"


def _lines(path: Path) -> list[str]:
    text = read_text(path)
    if os.name == "posix":
        mode = path.stat().st_mode & 0o777
        if path.is_file() and mode & _OTHERS:
            raise Problem(
                f"{shown(path)}: others may read or change this secret (mode {mode:o}); "
                f"mend it with: chmod 600 {shown(path)}"
            )
    return text.splitlines()
