"""Kane's equations against Lagrange multipliers on redundant coordinates, machine by machine."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.mobile_machines import MACHINES, states
from oracles.mobile_multipliers import MultiplierModel

TOLERANCE = 1e-10  # relative, asked for; reached: about 1e-13


def close(found: np.ndarray, expected: np.ndarray) -> None:
    assert np.abs(np.asarray(found) - expected).max() <= TOLERANCE * max(
        1.0, np.abs(expected).max()
    )


@pytest.mark.parametrize("name", MACHINES)
def test_machine_agrees_with_multipliers(name):
    robot = MACHINES[name]()
    oracle = MultiplierModel(robot)
    q, z, tau, load = states(robot, 4)
    M, F, B = robot.equations(q, z)
    zd = robot.acceleration(q, z, tau, load)
    wrench = robot.interaction_wrench(q, z, tau, load)
    forces = robot.wheel_forces(q, z, tau, load)
    for k in range(len(q)):
        free = oracle.answer(q[k], z[k], tau[k], names=robot.guidance.speeds)
        close(M[k], free.M)
        close(F[k], free.F)
        close(B[k], free.B)
        loaded = oracle.answer(q[k], z[k], tau[k], load[k], names=robot.guidance.speeds)
        close(zd[k], loaded.zd)
        close(wrench[k], loaded.wrench)
        close(forces[k], loaded.forces)
        assert loaded.slip < 1e-10
