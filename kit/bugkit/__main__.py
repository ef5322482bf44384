"""The entry point: settles what must be settled before NumPy is imported."""

import os

# The matrices are tiny: a pool of BLAS threads only costs, and a pool does not survive a fork.
for _library in ("OPENBLAS", "OMP", "MKL", "NUMEXPR", "VECLIB_MAXIMUM"):
    os.environ[f"{_library}_NUM_THREADS"] = "1"


def main() -> None:
    """Run the command line."""
    from .cli import cli

    cli(prog_name="bugkit")


if __name__ == "__main__":
    main()
