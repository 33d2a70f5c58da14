"""Arms on wheels: Kane's equations, ground forces, slip and tip-over."""

from __future__ import annotations

import importlib
from types import ModuleType

from ..border.forks import IMPORTS
from ..robot.arm import Friction
from .admissibility import Admissibility
from .contact import Contact
from .files import catalogue, load
from .ground import Ground
from .limits import EmergencyStop
from .limits import MobileLimits as Limits
from .pace import Motion, SafeSpeed
from .payload import PayloadMap
from .platform import Base, Platform, Steering, Wheel
from .retime import Retimed
from .robot import MobileManipulator
from .run import MobileRun as Run
from .stability import Tipover

__all__ = [
    "Admissibility",
    "Base",
    "Contact",
    "EmergencyStop",
    "Friction",
    "Ground",
    "Limits",
    "MobileManipulator",
    "Motion",
    "PayloadMap",
    "Platform",
    "Retimed",
    "Run",
    "SafeSpeed",
    "Steering",
    "Tipover",
    "Wheel",
    "catalogue",
    "load",
]

_LATER = {  # modules that users reach as attributes; imported when they are asked for
    "cases": "..reproductions.tanner2001_cases",
    "counts": "..reproductions.tanner2001_counts",
    "export": ".export",
}


def __getattr__(name: str) -> ModuleType:
    if name in _LATER:
        with IMPORTS:
            return importlib.import_module(_LATER[name], __name__)
    raise AttributeError(f"module 'dynarm.mobile' has no attribute {name!r}")
