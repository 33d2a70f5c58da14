"""Joint forces of one body on the last link, and of a wrench on the tool, without the rest of the arm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..algebra.vectors import Sym3, Vec3
from ..dynamics.papers.newton_euler_lin1995 import inverse_dynamics
from ..robot.arm import Arm, Tool
from ..robot.frames.chain import Chain, Limb, chain_of, pose
from .rigid import rigid_of


def body_forces(
    chain: Chain, ten: np.ndarray, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray
) -> np.ndarray:
    """(N, n): joint forces of one body on the last link, by its ten parameters about that link's frame."""
    empty = [_with_ten(body, (0,) * 10) for body in chain.joints]
    empty[-1] = _with_ten(chain.joints[-1], ten.tolist())
    steps = pose(chain, list(q.T))
    forces = inverse_dynamics(Chain(tuple(empty), chain.gravity), steps, list(qd.T), list(qdd.T))
    return np.column_stack([np.broadcast_to(f, len(q)) for f in forces])


def wrench_forces(arm: Arm, q: np.ndarray, wrench: np.ndarray) -> np.ndarray:
    """(N, nv): -J' wrench, the joint forces that hold wrenches (N, 6 k) on the tools, in their axes."""
    if not arm.serial or arm.tools is not None or not arm.coupling.free:
        return _held(arm, q, wrench)
    chain, T = chain_of(arm), arm.tool_pose
    force = wrench[:, :3] @ T[:3, :3].T
    moment = wrench[:, 3:] @ T[:3, :3].T + np.cross(T[:3, 3], force)
    bodies = tuple(_with_ten(body, (0,) * 10) for body in chain.joints)
    still = [0] * chain.n
    steps = pose(chain, list(q.T))
    weightless = Chain(bodies, Vec3(0, 0, 0))
    forces = inverse_dynamics(weightless, steps, still, still, (Vec3(*force.T), Vec3(*moment.T)))
    return np.column_stack([np.broadcast_to(f, len(q)) for f in forces])


def _held(arm: Arm, q: np.ndarray, wrench: np.ndarray) -> np.ndarray:
    """The same by the compiled model of the robot without masses, whatever the robot."""
    model, still = rigid_of(arm, False).model, np.zeros(arm.nv)
    tools = wrench if arm.tools is None else wrench.reshape(len(wrench), -1, 6)
    return model.inverse_dynamics(
        np.ascontiguousarray(q), still, still, np.ascontiguousarray(tools)
    )


def carried_forces(
    arm: Arm, tool: Tool, ten: np.ndarray, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray
) -> np.ndarray:
    """(N, nv): forces of one body on the link that carries a tool, by its ten parameters about that link's frame.

    It changes minimal parameters, and these are linear in it: columns of the regressor.
    """
    rigid = rigid_of(arm, False)
    start = int(rigid.starts[tool.joint - arm.n])
    change = rigid.matrix[:, start : start + 10] @ ten
    return np.asarray(rigid.compiled(q, qd, qdd) @ change)


def _with_ten(body: Limb, ten: Sequence[float]) -> Limb:
    """The joint with a link of the given ten parameters; zeros fold away."""
    m, hx, hy, hz, *J = (x if x else 0 for x in ten)
    return replace(body, m=m, h=Vec3(hx, hy, hz), J=Sym3(*J))
