"""What is compared: for each quantity the call of dynarm and the calls of its peers, checked equal before timing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import dynarm

from .robots import Robot

Calls = dict[str, Callable[[], Any]]


@dataclass(frozen=True, slots=True)
class States:
    """The same states for everybody."""

    q: np.ndarray
    qd: np.ndarray
    x: np.ndarray  # accelerations or torques


def states(n: int, samples: int, seed: int = 0) -> States:
    rng = np.random.default_rng(seed)
    return States(*(rng.uniform(-2, 2, (samples, n)) for _ in range(3)))


INPUTS = {
    "inverse_dynamics": 3,
    "forward_dynamics": 3,
    "mass_matrix": 1,
    "bias": 2,
    "regressor": 3,
    "inverse_dynamics_derivatives": 3,
    "forward_dynamics_derivatives": 3,
}


def arguments(quantity: str, s: States) -> tuple[np.ndarray, ...]:
    return (s.q, s.qd, s.x)[: INPUTS[quantity]]


def ours(model: dynarm.Model, quantity: str, s: States) -> Callable[[], Any]:
    """dynarm on a whole batch, into arrays that exist already."""
    ufunc = model.functions[quantity]
    args = arguments(quantity, s)
    out = ufunc(*args)
    return lambda: ufunc(*args, out=out)


def batch_peers(robot: Robot, quantity: str, s: States) -> Calls:
    """Peers that take a whole batch: their C++ speed."""
    import pinocchio as pin

    pool = pin.ModelPool(robot.pinocchio, 1)
    q, v, x = (np.asfortranarray(a.T) for a in (s.q, s.qd, s.x))
    out = np.asfortranarray(np.empty_like(q))
    if quantity == "inverse_dynamics":
        return {"pin.rneaInParallel(1)": lambda: pin.rneaInParallel(1, pool, q, v, x, out)}
    if quantity == "forward_dynamics":
        return {"pin.abaInParallel(1)": lambda: pin.abaInParallel(1, pool, q, v, x, out)}
    return {}


def single_peers(robot: Robot, quantity: str, s: States) -> Calls:
    """Peers called from Python for one sample."""
    import pinocchio as pin

    model = robot.pinocchio
    data = model.createData()
    q, v, x = s.q[0].copy(), s.qd[0].copy(), s.x[0].copy()
    calls: dict[str, Calls] = {
        "inverse_dynamics": {"pin.rnea": lambda: pin.rnea(model, data, q, v, x)},
        "forward_dynamics": {"pin.aba": lambda: pin.aba(model, data, q, v, x)},
        "mass_matrix": {"pin.crba": lambda: pin.crba(model, data, q)},
        "bias": {"pin.nonLinearEffects": lambda: pin.nonLinearEffects(model, data, q, v)},
        "regressor": {
            "pin.computeJointTorqueRegressor": lambda: pin.computeJointTorqueRegressor(
                model, data, q, v, x
            )
        },
        "inverse_dynamics_derivatives": {
            "pin.computeRNEADerivatives": lambda: pin.computeRNEADerivatives(model, data, q, v, x)
        },
        "forward_dynamics_derivatives": {
            "pin.computeABADerivatives": lambda: pin.computeABADerivatives(model, data, q, v, x)
        },
    }
    found = dict(calls.get(quantity, {}))
    found |= _mujoco(robot, quantity, q, v, x)
    return found


def _mujoco(robot: Robot, quantity: str, q: np.ndarray, v: np.ndarray, x: np.ndarray) -> Calls:
    import mujoco

    if quantity not in ("inverse_dynamics", "forward_dynamics"):
        return {}
    model = robot.mujoco
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = q, v
    if quantity == "inverse_dynamics":
        data.qacc[:] = x
        return {"mujoco.mj_inverse": lambda: mujoco.mj_inverse(model, data)}
    data.qfrc_applied[:] = x
    return {"mujoco.mj_forward": lambda: mujoco.mj_forward(model, data)}


def check(robot: Robot, model: dynarm.Model, quantity: str, s: States) -> float:
    """The largest relative difference to pinocchio (and MuJoCo) on a few of the states, before anything is timed."""
    import mujoco
    import pinocchio as pin

    few = States(s.q[:5], s.qd[:5], s.x[:5])
    got = model.functions[quantity](*arguments(quantity, few))
    worst = 0.0
    data = robot.pinocchio.createData()
    for k in range(len(few.q)):
        args = (robot.pinocchio, data, few.q[k], few.qd[k], few.x[k])
        pairs: list[tuple[Any, Any]] = []
        if quantity == "inverse_dynamics":
            pairs.append((got[k], pin.rnea(*args)))
            twin = mujoco.MjData(robot.mujoco)
            twin.qpos[:], twin.qvel[:], twin.qacc[:] = few.q[k], few.qd[k], few.x[k]
            mujoco.mj_inverse(robot.mujoco, twin)
            pairs.append((got[k], twin.qfrc_inverse))
        elif quantity == "forward_dynamics":
            pairs.append((got[k], pin.aba(*args)))
        elif quantity == "mass_matrix":
            M = np.triu(pin.crba(*args[:3]))
            pairs.append((got[k], M + np.triu(M, 1).T))
        elif quantity == "bias":
            pairs.append((got[k], pin.nonLinearEffects(*args[:4])))
        elif quantity == "regressor":
            values = dynarm.minimal_parameters(robot.arm).values
            pairs.append((got[k] @ values, pin.rnea(*args)))
        elif quantity == "inverse_dynamics_derivatives":
            want = pin.computeRNEADerivatives(*args)
            pairs += [(got[0][k], want[0]), (got[1][k], want[1])]
        elif quantity == "forward_dynamics_derivatives":
            want = pin.computeABADerivatives(*args)
            pairs += [(got[0][k], want[0]), (got[1][k], want[1])]
        for a, b in pairs:
            worst = max(worst, float(np.abs(a - b).max() / max(1.0, np.abs(b).max())))
    return worst
