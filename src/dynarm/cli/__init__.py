"""The command line: one file per sub-command, each parses, calls the public API and prints."""

from __future__ import annotations


def main() -> None:
    """Run `dynarm`; exit 0, 1 when a verdict is FAIL, 2 with one line that says what is wrong."""
    import os
    import sys

    # Before NumPy is loaded. The matrices of every command are small: more threads of the linear algebra wait for each
    # other, on a busy machine ten times longer than one takes alone.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from .app import run

    sys.exit(run())
