"""What a fit looks for and how: the options of identify that are those of dynarm.Identifier."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import typer

from ..identify.estimators import table as estimators
from .options import CUTOFF, refuse_given, with_group, words

if TYPE_CHECKING:
    from ..border.kinds import Kept
    from ..identify.identifier import Identifier
    from ..robot.arm import Arm

ESTIMATOR = typer.Option("wls", "--estimator", help=f"{estimators.choices()}.")
FRICTION = typer.Option(
    "auto", "--friction", help="Terms of every joint, none, or auto: what the logs support."
)
SHAPE = typer.Option("auto", "--shape", help="Of Coulomb friction: sign, tanh or auto.")
ASYMMETRIC = typer.Option(False, "--asymmetric", help="Friction differs by direction.")
ARMATURE = typer.Option(True, "--armature/--no-armature", help="Motor inertias are unknown too.")
PRIOR = typer.Option(
    False, "--prior", help="Hold on to the robot file's values where the logs say little."
)
FEASIBLE = typer.Option(False, "--feasible", help="Values are made physically consistent, always.")


class Unknowns(NamedTuple):
    """What a fit looks for, and how."""

    estimator: str = ESTIMATOR
    friction: str = FRICTION
    shape: str = SHAPE
    asymmetric: bool = ASYMMETRIC
    armature: bool = ARMATURE
    prior: bool = PRIOR
    feasible: bool = FEASIBLE
    cutoff: float = CUTOFF

    def options(self, arm: Arm) -> dict[str, Kept]:
        """The same as arguments of dynarm.Identifier."""
        return {
            "friction": self._terms(),
            "shape": self.shape,
            "asymmetric": self.asymmetric,
            "armature": self.armature,
            "estimator": self.estimator,
            "cutoff": self.cutoff,
            "prior": arm if self.prior else None,
            "feasible": self.feasible or "auto",
        }

    def identifier(self, arm: Arm) -> Identifier:
        """What identifies an arm so."""
        from ..identify.identifier import Identifier

        return Identifier(arm, **self.options(arm))

    def _terms(self) -> str | tuple[str, ...]:
        """The terms of friction that are asked for, or auto."""
        from ..dynamics.drive import TERMS

        if self.friction == "auto":
            return self.friction
        if self.friction != "none":
            return words("--friction", self.friction, tuple(TERMS))
        of_friction = {"--asymmetric": self.asymmetric}
        refuse_given("is about friction, which --friction none leaves out", of_friction)
        return ()


UNKNOWNS = Unknowns()
with_unknowns = with_group("unknowns", UNKNOWNS)
