"""Pinocchio as an oracle for whole robots: a URDF read by itself, every movable joint independent.

States are positions and speeds of all joints of a dynarm arm in its order, followers of others included; a free base
is a pose before them, its speeds (linear, then angular, in its own axes) come first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from dynarm import Arm
from oracles.pinocchio_tree import PinocchioTree, put_joint


class PinocchioUrdf:
    """A URDF in pinocchio with the joints of an arm; others held where `held` says, else at zero."""

    def __init__(self, text: str, arm: Arm, held: Mapping[str, float] | None = None) -> None:
        whole = _built(text, arm.floating is not None)
        names = ["joint of " + str(joint.name) for joint in arm.joints]
        keep = {*names, "root_joint"}
        locked = [i for i in range(1, whole.njoints) if whole.names[i] not in keep]
        q = pin.neutral(whole)
        for name, position in (held or {}).items():
            put_joint(whole, q, whole.getJointId("joint of " + name), position)
        self.model = pin.buildReducedModel(whole, locked, q) if locked else whole
        self.data = self.model.createData()
        self.model.gravity.linear = np.array(arm.gravity)
        self.order = [self.model.getJointId(name) for name in names]
        first = list(range(6)) if arm.floating else []
        self.columns = np.array(first + [self.model.joints[i].idx_v for i in self.order])
        self.base = arm.origin.base_link if arm.origin else ""

    def _q(self, q: Any, base: np.ndarray | None) -> np.ndarray:
        full = pin.neutral(self.model)
        if base is not None:
            full[:7] = pin.SE3ToXYZQUAT(pin.SE3(base[:3, :3].copy(), base[:3, 3].copy()))
        for index, position in zip(self.order, q, strict=True):
            put_joint(self.model, full, index, float(position))
        return full

    def mass_matrix(self, q: Any, base: np.ndarray | None = None) -> np.ndarray:
        """For the base and all joints."""
        upper = np.triu(pin.crba(self.model, self.data, self._q(q, base)))
        return (upper + np.triu(upper, 1).T)[np.ix_(self.columns, self.columns)]

    def gravity(self, q: Any, base: np.ndarray | None = None) -> np.ndarray:
        """For the base and all joints."""
        forces = pin.computeGeneralizedGravity(self.model, self.data, self._q(q, base))
        return np.array(forces)[self.columns]

    def link_pose(self, link: str, q: Any, base: np.ndarray | None = None) -> np.ndarray:
        """4x4 pose of a link in the URDF's root link, or in the world of a free base."""
        pin.framesForwardKinematics(self.model, self.data, self._q(q, base))
        index = self.model.getFrameId(link, pin.FrameType.BODY)
        return np.array(self.data.oMf[index].homogeneous)


def _built(text: str, free: bool) -> Any:
    root = ElementTree.fromstring(text.encode())
    for joint in root.iter("joint"):  # joints and links may share names, frames of a model may not
        joint.set("name", "joint of " + joint.get("name", ""))
        for mimic in joint.findall("mimic"):
            joint.remove(mimic)
    renamed = ElementTree.tostring(root, encoding="unicode")
    if free:
        return pin.buildModelFromXML(renamed, pin.JointModelFreeFlyer())
    return pin.buildModelFromXML(renamed)


def whole_urdf(text: str, arm: Arm) -> PinocchioTree:
    """A URDF as pinocchio reads it, for the independent joints of an arm; couplings as the file writes them."""
    model = PinocchioUrdf(text, arm).model
    first = 6 if arm.floating else 0
    columns = {name: first + k for k, name in enumerate(arm.joint_names)}
    rules = _mimics(text)
    there = {name.removeprefix("joint of ") for name in model.names}
    G, offsets = np.zeros((model.nv, arm.nv)), np.zeros(model.nv - first)
    G[:first, :first] = np.eye(first)
    for index in range(2 if first else 1, model.njoints):
        name, row = model.names[index].removeprefix("joint of "), model.joints[index].idx_v
        master, factor, offset = rules.get(name, (name, 1.0, 0.0))
        if master not in there:  # a misprint: it moves on its own
            master, factor, offset = name, 1.0, 0.0
        G[row, columns[master]], offsets[row - first] = factor, offset
    return PinocchioTree(model, G, offsets, (), bool(first))


def _mimics(text: str) -> dict[str, tuple[str, float, float]]:
    """Of each joint that follows another: its master, the multiplier and the offset."""
    rules = {}
    for joint in ElementTree.fromstring(text.encode()).iter("joint"):
        for mimic in joint.findall("mimic"):
            numbers = (
                float(mimic.get(key, default))
                for key, default in (("multiplier", "1"), ("offset", "0"))
            )
            rules[joint.get("name", "")] = (mimic.get("joint", ""), *numbers)
    return rules
