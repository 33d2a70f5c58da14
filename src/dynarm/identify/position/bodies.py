"""Rigid bodies as unknowns beside drives: their minimal parameters by what a log tells, else near to the description.

Near in the sense of `estimators.entropic`: a divergence of pseudo-inertias that is worth a deviation of about half of a
link's mass, and infinite where a body would be impossible. Whatever a log says, the bodies stay possible; where it says
nothing they stay as they are described.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...border.kinds import FloatArray
from ...model.model import compile as compile_arm
from ...robot.arm import Arm
from ...robot.inertia import pseudo_inertia
from ...simulation.plant import Plant
from ..estimators.believed import uniform_bodies
from ..estimators.entropic import Divergence, drawn
from ..rigid import Rigid, rigid_of
from .loop import Loop, legs

_EDGE = 1e-5  # least over largest eigenvalue of a described body that can be a reference
_FLOOR = 1e-9  # of the largest curvature: directions with less are not told
_ROUND = 0.02  # of a body's mass, uniformly round the link: added to described bodies that have no extent


@dataclass(frozen=True, slots=True, eq=False)
class Bodies:
    """The links of a robot as unknowns: what they are believed to be, and how their minimal parameters follow."""

    arm: Arm
    rigid: Rigid
    pull: Divergence

    @property
    def matrix(self) -> FloatArray:
        """(p, 10 links): minimal parameters of natural ones."""
        return self.rigid.matrix

    @property
    def described(self) -> FloatArray:
        """(10 links,): natural parameters of the description, singular bodies made a little thicker."""
        return self.pull.reference

    def loop(self, loop: Loop, natural: FloatArray) -> Loop:
        """A loop with these bodies, which its kernel takes as inputs."""
        model = loop.plant.model
        if not model.parameters_input:
            model = compile_arm(self.arm, parameters="inputs")
        return replace(loop, plant=Plant(model, values=self.matrix @ natural))

    def believed(self, natural: FloatArray) -> FloatArray:
        """(p, p): covariance of the minimal parameters by what is believed alone."""
        bend = self.pull.at(natural)[2]
        scale = 1 / np.sqrt(np.diag(bend))
        inverse = np.linalg.pinv(bend * np.outer(scale, scale), 1e-12, hermitian=True)
        return np.asarray(self.matrix @ (inverse * np.outer(scale, scale)) @ self.matrix.T)

    def owners(self) -> list[int]:
        """For every minimal parameter the joint whose link it is named after."""
        return [int(np.argmax(row != 0)) // 10 for row in self.matrix]

    def limbs(self) -> list[int]:
        """For every minimal parameter the number of the limb that it belongs to."""
        own = legs(self.arm)
        return [own[joint] for joint in self.owners()]

    def drawn(self, gram: FloatArray, slope: FloatArray, natural: FloatArray) -> FloatArray:
        """The natural parameters at the least of z'gram z / 2 + slope'z and the pull, z by how much values change."""
        scale = np.sqrt(np.maximum(np.diag(gram), 1e-300))
        s, V = np.linalg.eigh(gram / np.outer(scale, scale))
        told = s > _FLOOR * max(float(s[-1]), 1e-300)
        root = (V[:, told] * np.sqrt(s[told])).T
        left = (V[:, told] / np.sqrt(s[told])).T @ (slope / scale)
        reach = (root * scale) @ self.matrix
        return drawn(self.pull, reach, reach @ natural - left, 1.0, natural)


def bodies_of(arm: Arm) -> Bodies:
    """The links of an arm, believed as described; impossible ones are believed to be uniform bodies of their mass."""
    rigid, own = rigid_of(arm, False), arm.parameters
    usual = float(np.median(np.abs(own[:, 0]))) or 1.0
    mass = np.maximum(np.abs(own[:, 0]), _ROUND * usual)[:, None]
    uniform = uniform_bodies(arm)
    uniform *= mass / uniform[:, :1]
    table = np.where(_extended(own)[:, None], own, own + _ROUND * uniform)
    table = np.where(_extended(table)[:, None], table, uniform)
    return Bodies(arm, rigid, Divergence(table.ravel(), rigid.starts.tolist(), ()))


def _extended(table: FloatArray) -> FloatArray:
    """(links,): which bodies are possible, and no points or rods."""
    spectra = np.array([np.linalg.eigvalsh(pseudo_inertia(ten)) for ten in table])
    return np.asarray((spectra[:, 0] > _EDGE * spectra[:, -1]) & (spectra[:, 0] > 0))
