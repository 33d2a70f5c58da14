"""The recursion that the minimal parameters of trees are measured by is pinocchio's."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from dynarm import Arm
from oracles.tree_minimal import random_motion
from oracles.tree_recursion import coupled_forces, coupled_states, natural_links, tree_forces
from strategies import sample_trees


def model_of(arm: Arm):
    """The tree in pinocchio, joints that follow others as joints of their own, and each joint's place in v."""
    model = pin.Model()
    model.gravity.linear = np.array(arm.gravity)
    root = pin.SE3(arm.base_pose[:3, :3].copy(), arm.base_pose[:3, 3].copy())
    base, table = 0, arm.parameters
    if arm.floating:
        base = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "free")
        model.appendBodyToJoint(
            base, pin.Inertia.FromDynamicParameters(table[0]), pin.SE3.Identity()
        )
        table, root = table[1:], pin.SE3.Identity()
    indices: list[int] = []
    for i, (joint, ten) in enumerate(zip(arm.joints, table, strict=True)):
        T = joint.displacement()
        place = pin.SE3(T[:3, :3].copy(), T[:3, 3].copy())
        parent = arm.parents[i]
        kind = pin.JointModelRZ() if joint.revolute else pin.JointModelPZ()
        inner = indices[parent] if parent >= 0 else base
        indices.append(
            model.addJoint(inner, kind, place if parent >= 0 else root * place, f"joint{i}")
        )
        body = pin.Inertia.FromDynamicParameters(ten) if ten[0] else pin.Inertia.Zero()
        model.appendBodyToJoint(indices[-1], body, pin.SE3.Identity())
    return model, [model.joints[i].idx_v for i in indices]


@pytest.mark.parametrize("arm", list(sample_trees(3, 32)), ids=lambda arm: arm.name)
def test_forces_are_pinocchios(arm):
    model, places = model_of(arm)
    data = model.createData()
    motion = random_motion(arm, 3)
    q, qd, qdd = coupled_states(arm, *motion)
    forces = coupled_forces(arm, tree_forces(arm, *natural_links(arm, arm.parameters), q, qd, qdd))
    free = 6 if arm.floating else 0
    for k in range(3):
        place = pin.neutral(model)  # a free base stands level: gravity is the arm's own in its axes
        v, a = np.zeros(model.nv), np.zeros(model.nv)
        v[:free], a[:free] = qd[:free, k], qdd[:free, k]
        for i, at in enumerate(places):
            place[at + (1 if free else 0)] = q[i, k]
            v[at], a[at] = qd[free + i, k], qdd[free + i, k]
        tau = np.array(pin.rnea(model, data, place, v, a))
        own = coupled_forces(arm, [*tau[:free], *tau[places]])
        got = [float(np.broadcast_to(f, 3)[k]) for f in forces]
        assert got == pytest.approx(own, rel=1e-12, abs=1e-12 * max(1.0, np.abs(tau).max()))
