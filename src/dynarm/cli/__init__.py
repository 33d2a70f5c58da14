"""The command line: one file per sub-command, each parses, calls the public API and prints."""

from __future__ import annotations


def main() -> None:
    """Run `dynarm`; exit 0, 1 when a verdict is FAIL, 2 with one line that says what is wrong."""
    import sys

    from .app import run

    sys.exit(run())
