"""The program `goldilocks`: the console script, and `python -m goldilocks_cbt`."""

import sys

from goldilocks_cbt import _native


def main() -> int:
    """Runs the command line; returns the exit code."""
    return _native.run_program(["goldilocks", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
