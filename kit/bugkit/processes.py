"""The end of a process that runs somebody's code."""

import contextlib
import os
import signal
from multiprocessing.process import BaseProcess


def epitaph(process: BaseProcess, who: str) -> str:
    """How it ended; `who` it was, if it has not."""
    process.join(1.0)
    code = process.exitcode
    if code is None:
        return f"the {who} lost its connection"
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"killed by signal {signal.Signals(-code).name}"
        return f"killed by signal {-code}"
    return f"the process ended with exit code {code}"


def end(process: BaseProcess) -> None:
    """End the process and, if it has a group of its own, whatever it started."""
    if hasattr(os, "killpg") and process.pid:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    if process.is_alive():
        process.kill()
    process.join()
