"""The peers, one file for each library. Those that are not installed take no part.

A file's `Peer(robot)` holds the robot's twin; `single` gives calls on one state (the first), `batch` calls on all
states at once, by name and for the quantities that the library computes.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Protocol

from ..contenders import Calls, States
from ..robots import Robot

MODULES = {  # file -> the module that must be there, the package whose version is written down
    "pinocchio": ("pinocchio", "pin"),
    "mujoco": ("mujoco", "mujoco"),
    "casadi": ("casadi", "casadi"),
    "jax": ("jax", "jax"),
    "drake": ("pydrake", "drake"),
    "adam": ("adam.jax", "adam-robotics"),
}


class Contender(Protocol):
    """What a file of this folder brings."""

    def single(self, quantity: str, s: States) -> Calls: ...

    def batch(self, quantity: str, s: States) -> Calls: ...


def installed() -> list[str]:
    """The names of the peers that can take part."""
    return [
        name
        for name, (module, _) in MODULES.items()
        if find_spec(module.split(".")[0]) and find_spec(module)
    ]


class Peers:
    """All installed peers, or those that are named, with their twins of one robot."""

    def __init__(self, robot: Robot, names: list[str] | None = None):
        self.each: list[Contender] = []
        self.refused: dict[str, str] = {}  # peers that would not take the robot, and what they said
        for name in installed():
            if names is not None and name not in names:
                continue
            try:
                self.each.append(import_module(f".{name}", __package__).Peer(robot))
            except Exception as refusal:
                self.refused[name] = str(refusal).splitlines()[0]

    def single(self, quantity: str, s: States) -> Calls:
        return {k: call for peer in self.each for k, call in peer.single(quantity, s).items()}

    def batch(self, quantity: str, s: States) -> Calls:
        return {k: call for peer in self.each for k, call in peer.batch(quantity, s).items()}
