"""Where the wheel example-robot-data puts the URDFs of real robots."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pinocchio


@cache
def robots_folder() -> Path:
    """The folder of the robots, next to pinocchio."""
    for parent in Path(pinocchio.__file__).parents:
        found = parent / "share" / "example-robot-data" / "robots"
        if found.is_dir():
            return found
    raise AssertionError(
        "the wheel example-robot-data is not installed; pip install 'dynarm[test]'"
    )


def example_robot(name: str) -> Path:
    """The URDF of that file name."""
    return next(p for p in sorted(robots_folder().rglob("*.urdf")) if p.name == name)
