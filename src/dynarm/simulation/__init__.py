"""Motion of a compiled model: integrators, inputs, controllers, friction that sticks, and the record of a run."""

from __future__ import annotations

from .control import ComputedTorque, Controller, GravityPD
from .events import Event
from .inputs import Sampled
from .motion import simulate
from .run import Run

__all__ = ["ComputedTorque", "Controller", "Event", "GravityPD", "Run", "Sampled", "simulate"]
