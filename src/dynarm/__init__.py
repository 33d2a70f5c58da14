"""dynarm: from a robot description and a log file to the smallest, fastest dynamic model of that robot."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the same for type checkers and editors, which run nothing
    from . import mobile as mobile
    from . import simulation as simulation
    from .dynamics.table import formulations as formulations
    from .errors import DynarmError as DynarmError
    from .errors import DynarmWarning as DynarmWarning
    from .identify.dataset.files import Dataset as Dataset
    from .identify.design.excitation import excite as excite
    from .identify.design.trajectory import Trajectory as Trajectory
    from .identify.fleet.fitting import fit_fleet as fit_fleet
    from .identify.fleet.result import Fleet as Fleet
    from .identify.identifier import Identifier as Identifier
    from .identify.live.payload import LivePayload as LivePayload
    from .identify.live.payload import MomentumObserver as MomentumObserver
    from .identify.logs.log import Log as Log
    from .identify.own_columns import Column as Column
    from .identify.payload import drive_gains as drive_gains
    from .identify.payload import identify_payload as identify_payload
    from .identify.position.result import PositionFit as PositionFit
    from .identify.preprocess import Preparation as Preparation
    from .identify.saved import load_fit as load_fit
    from .model.batch import set_threads as set_threads
    from .model.export import export_c as export_c
    from .model.export_wasm import export_wasm as export_wasm
    from .model.model import Model as Model
    from .model.model import compile as compile
    from .model.pruning import prune as prune
    from .model.pruning import term_shares as term_shares
    from .parameters.composite import composite_bodies as composite_bodies
    from .parameters.composite import inertia_constants as inertia_constants
    from .parameters.explicit import ExplicitModel as ExplicitModel
    from .parameters.explicit import explicit as explicit
    from .parameters.minimal import minimal_parameters as minimal_parameters
    from .plan.choice import count as count
    from .plan.schedule import schedule as schedule
    from .reproductions.equivalence import equivalence as equivalence
    from .robot.about import About as About
    from .robot.about import about as about
    from .robot.about import catalogue as catalogue
    from .robot.arm import Arm as Arm
    from .robot.files import load as load
    from .robot.friction import Coupled as Coupled
    from .robot.friction import Friction as Friction
    from .robot.joint import Body as Body
    from .robot.joint import Joint as Joint
    from .robot.joint import Mimic as Mimic
    from .robot.joint import Tool as Tool
    from .simulation import Run as Run
    from .simulation import simulate as simulate

from .border.forks import IMPORTS

__version__ = "0.1.0"

# public name -> module that defines it; imported when first used, so that `import dynarm` is cheap
_PUBLIC = {
    "About": ".robot.about",
    "Arm": ".robot.arm",
    "Body": ".robot.joint",
    "Coupled": ".robot.friction",
    "ExplicitModel": ".parameters.explicit",
    "Friction": ".robot.friction",
    "Joint": ".robot.joint",
    "Mimic": ".robot.joint",
    "Tool": ".robot.joint",
    "about": ".robot.about",
    "catalogue": ".robot.about",
    "load": ".robot.files",
    "formulations": ".dynamics.table",
    "minimal_parameters": ".parameters.minimal",
    "composite_bodies": ".parameters.composite",
    "inertia_constants": ".parameters.composite",
    "compile": ".model.model",
    "Model": ".model.model",
    "count": ".plan.choice",
    "schedule": ".plan.schedule",
    "equivalence": ".reproductions.equivalence",
    "explicit": ".parameters.explicit",
    "prune": ".model.pruning",
    "term_shares": ".model.pruning",
    "set_threads": ".model.batch",
    "export_c": ".model.export",
    "export_wasm": ".model.export_wasm",
    "simulate": ".simulation",
    "Run": ".simulation",
    "Log": ".identify.logs.log",
    "Dataset": ".identify.dataset.files",
    "fit_fleet": ".identify.fleet.fitting",
    "Fleet": ".identify.fleet.result",
    "Identifier": ".identify.identifier",
    "Column": ".identify.own_columns",
    "Preparation": ".identify.preprocess",
    "excite": ".identify.design.excitation",
    "Trajectory": ".identify.design.trajectory",
    "identify_payload": ".identify.payload",
    "LivePayload": ".identify.live.payload",
    "MomentumObserver": ".identify.live.payload",
    "PositionFit": ".identify.position.result",
    "load_fit": ".identify.saved",
    "drive_gains": ".identify.payload",
    "DynarmError": ".errors",
    "DynarmWarning": ".errors",
}

_PACKAGES = ("mobile", "simulation")  # sub-packages that users reach as attributes

__all__ = sorted(_PUBLIC)


if not TYPE_CHECKING:  # else every misspelt name would be one

    def __getattr__(name: str) -> object:
        if name in _PUBLIC:
            with IMPORTS:
                value = getattr(importlib.import_module(_PUBLIC[name], __name__), name)
            globals()[name] = value
            return value
        if name in _PACKAGES:
            with IMPORTS:
                return importlib.import_module(f".{name}", __name__)
        from .border.familiar import unknown_attribute

        raise unknown_attribute("module 'dynarm'", name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC, *_PACKAGES})
