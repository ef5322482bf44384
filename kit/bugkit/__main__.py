"""The entry point: settles what must be settled before NumPy is imported."""

import os
import sys

# The matrices are tiny: a pool of BLAS threads only costs, and a pool does not survive a fork.
for _library in ("OPENBLAS", "OMP", "MKL", "NUMEXPR", "VECLIB_MAXIMUM"):
    os.environ[f"{_library}_NUM_THREADS"] = "1"


def main() -> None:
    """Run the command line."""
    try:
        from .cli import cli
    except KeyboardInterrupt:
        from .exits import STOPPED

        sys.exit(STOPPED)
    cli(prog_name="bugkit")


if __name__ == "__main__":
    main()
