"""Arms on wheels: Kane's equations, ground forces, slip and tip-over."""

from __future__ import annotations

import importlib
from typing import Any

from ..border.forks import IMPORTS
from ..robot.arm import Friction
from .admissibility import Admissibility
from .contact import Contact
from .files import catalogue, load
from .pace import Motion, SafeSpeed
from .platform import Base, Platform, Steering, Wheel
from .robot import MobileManipulator
from .run import MobileRun as Run
from .stability import Tipover

__all__ = [
    "Admissibility",
    "Base",
    "Contact",
    "Friction",
    "MobileManipulator",
    "Motion",
    "Platform",
    "Run",
    "SafeSpeed",
    "Steering",
    "Tipover",
    "Wheel",
    "catalogue",
    "load",
]


def __getattr__(name: str) -> Any:
    if name in ("cases", "counts", "export"):
        with IMPORTS:
            return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module 'dynarm.mobile' has no attribute {name!r}")
