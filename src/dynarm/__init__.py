"""dynarm: from a robot description and a log file to the smallest, fastest dynamic model of that robot."""

from __future__ import annotations

import importlib
from typing import Any

from .forks import IMPORTS

__version__ = "0.1.0"

# public name -> module that defines it; imported when first used, so that `import dynarm` is cheap
_PUBLIC = {
    "Arm": ".robot.arm",
    "Friction": ".robot.arm",
    "Joint": ".robot.arm",
    "catalogue": ".robot.files",
    "load": ".robot.files",
    "formulations": ".table",
    "minimal_parameters": ".minimal",
    "compile": ".model",
    "Model": ".model",
    "count": ".counts",
    "prune": ".terms",
    "term_shares": ".terms",
    "set_threads": ".batch",
    "export_c": ".export",
    "simulate": ".simulation",
    "Run": ".simulation",
    "Log": ".identify.log",
    "Identifier": ".identify.identifier",
    "Column": ".identify.regressor",
    "Preparation": ".identify.preprocess",
    "excite": ".identify.excitation",
    "Trajectory": ".identify.trajectory",
    "identify_payload": ".identify.payload",
    "load_fit": ".identify.saved",
    "drive_gains": ".identify.payload",
    "DynarmError": ".errors",
    "DynarmWarning": ".errors",
}

_PACKAGES = ("mobile",)  # sub-packages that users reach as attributes

__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        with IMPORTS:
            value = getattr(importlib.import_module(_PUBLIC[name], __name__), name)
        globals()[name] = value
        return value
    if name in _PACKAGES:
        with IMPORTS:
            return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module 'dynarm' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_PUBLIC])
