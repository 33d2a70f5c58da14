"""Logs of known trees and floating robots: exact states and forces, and what a recorder does to them."""

from __future__ import annotations

from typing import Any

import numpy as np

import dynarm
from dynarm import Arm, Body, Friction, Joint, Log, Mimic, Tool
from oracles.simulated_log import multi_sine

FRICTION = Friction(viscous=0.4, coulomb=0.3, offset=0.1)


def _link(rng: np.random.Generator, parent: int, alpha: float, **more: Any) -> Joint:
    spread = rng.normal(size=(3, 3)) * 0.1
    mass = float(rng.uniform(1, 4))
    moments = spread @ spread.T
    return Joint(
        a=0.3,
        alpha=alpha,
        d=0.1,
        mass=mass,
        com=rng.uniform(-0.1, 0.1, 3),
        inertia=mass * (np.trace(moments) * np.eye(3) - moments),
        parent=parent,
        **{"armature": 0.2, "friction": FRICTION, **more},
    )


def two_arms(seed: int = 0, gripper: bool = False, floating: bool = False) -> Arm:
    """Two arms of three joints on one base, each with a tool; the first may end in a gripper of two coupled fingers."""
    rng = np.random.default_rng(seed)
    joints = []
    for side, first in (("left", 0), ("right", 3)):
        for k, alpha in enumerate((0.0, np.pi / 2, 0.3)):
            parent = -1 if k == 0 else first + k - 1
            turned = {"gamma": 0.5 if side == "left" else -0.5, "b": 0.1} if k == 0 else {}
            joints.append(_link(rng, parent, alpha, name=f"{side}{k + 1}", **turned))
    if gripper:
        finger = {"kind": "prismatic", "armature": 0.5}
        joints.append(_link(rng, 2, 0.4, name="finger", **finger))
        follows = {"mimic": Mimic("finger", -0.5, 0.02), "friction": None}
        joints.append(_link(rng, 2, 0.4, name="other", gamma=0.2, **finger, **follows))
    base = Body(5.0, (0.02, 0.01, 0.05), np.diag([0.2, 0.25, 0.3])) if floating else None
    tools = [Tool("left_hand", 2), Tool("right_hand", 5)]
    return Arm(joints, name="two_arms", floating=base, tools=tools, gravity=(0, -3.0, -9.2))


def base_motion(
    duration: float = 10.0, rate: float = 200.0, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pose (N, 7), velocities and accelerations (N, 6) in its own axes, of a base that shakes.

    Turned by rotations about fixed axes, x after y after z: R = Rz Ry Rx; the angular velocity in the base's axes is
    w = (a' - c' sin b, b' cos a + c' cos b sin a, c' cos b cos a - b' sin a), its rates by the chain rule.
    """
    _, p, v, acc = multi_sine(6, duration=duration, rate=rate, seed=seed + 70, size=0.12)
    (a, b, c), (ad, bd, cd), (add, bdd, cdd) = (x[:, 3:].T for x in (p, v, acc))
    sa, ca, sb, cb = np.sin(a), np.cos(a), np.sin(b), np.cos(b)
    w = np.column_stack([ad - cd * sb, bd * ca + cd * cb * sa, cd * cb * ca - bd * sa])
    wd = np.column_stack(
        [
            add - cdd * sb - cd * bd * cb,
            bdd * ca - bd * ad * sa + cdd * cb * sa - cd * bd * sb * sa + cd * ad * cb * ca,
            cdd * cb * ca - cd * bd * sb * ca - cd * ad * cb * sa - bdd * sa - bd * ad * ca,
        ]
    )
    turns = _product(_product(_about(2, c), _about(1, b)), _about(0, a))
    R = _matrices(a, b, c)
    linear = np.einsum("kji,kj->ki", R, v[:, :3])
    pushed = np.einsum("kji,kj->ki", R, acc[:, :3]) - np.cross(w, linear)
    pose = np.hstack([p[:, :3], turns])
    return pose, np.hstack([linear, w]), np.hstack([pushed, wd])


def _about(axis: int, angle: np.ndarray) -> np.ndarray:
    """(N, 4) quaternions x, y, z, w of rotations about an axis."""
    out = np.zeros((len(angle), 4))
    out[:, axis], out[:, 3] = np.sin(angle / 2), np.cos(angle / 2)
    return out


def _product(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Quaternions of one rotation after another: of p q."""
    vector = p[:, 3:] * q[:, :3] + q[:, 3:] * p[:, :3] + np.cross(p[:, :3], q[:, :3])
    return np.column_stack([vector, p[:, 3] * q[:, 3] - (p[:, :3] * q[:, :3]).sum(axis=1)])


def _matrices(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """(N, 3, 3): Rz(c) Ry(b) Rx(a)."""
    turned = []
    for axis, angle in ((2, c), (1, b), (0, a)):
        i, j = (axis + 1) % 3, (axis + 2) % 3
        R = np.zeros((len(angle), 3, 3))
        R[:, axis, axis] = 1
        R[:, i, i] = R[:, j, j] = np.cos(angle)
        R[:, j, i] = np.sin(angle)
        R[:, i, j] = -R[:, j, i]
        turned.append(R)
    return turned[0] @ turned[1] @ turned[2]


def exact_states(arm: Arm, moving: Any = None, **shape: Any) -> tuple[np.ndarray, ...]:
    """t, q, qd, qdd of the robot's joints, and of its base where that is free; moving: names of joints that do."""
    names = arm.joint_names
    t, q, qd, qdd = multi_sine(len(names), **shape)
    if moving is not None:
        still = [k for k, name in enumerate(names) if name not in moving]
        q[:, still], qd[:, still], qdd[:, still] = 0.3, 0.0, 0.0
    if arm.floating:
        own = {k: v for k, v in shape.items() if k in ("duration", "rate", "seed")}
        base = base_motion(**own)
        q, qd, qdd = (np.hstack([x, y]) for x, y in zip(base, (q, qd, qdd), strict=True))
    return t, q, qd, qdd


def tree_log(
    arm: Arm,
    noise: float = 0.05,
    jitter: float = 0.0,
    recorded: bool = False,
    moving: Any = None,
    wrench: np.ndarray | None = None,
    **shape: Any,
) -> Log:
    """Forces with noise [N m or N], positions of joints disturbed by jitter; recorded: velocities too, exact."""
    t, q, qd, qdd = exact_states(arm, moving, **shape)
    tau = dynarm.compile(arm, friction=True).inverse_dynamics(q, qd, qdd, wrench)
    rng = np.random.default_rng([shape.get("seed", 0), 17])
    tau = tau + rng.normal(0, noise, tau.shape)
    seen = q.copy()
    seen[:, q.shape[1] - len(arm.joint_names) :] += rng.normal(
        0, jitter, (len(q), len(arm.joint_names))
    )
    return Log(t, seen, tau, qd if recorded else None, wrench=wrench, joint_names=arm.joint_names)


def true_values(arm: Arm, names: Any) -> np.ndarray:
    """The unknowns of a fit by name: minimal parameters with armatures, and friction."""
    minimal = dynarm.minimal_parameters(arm, armature=True)
    told = dict(zip(minimal.names, minimal.values.tolist(), strict=True))
    for i in arm.coupling.masters:
        friction = arm.joints[i].friction
        for word in ("viscous", "coulomb", "offset"):
            told[f"{word}{i + 1}"] = getattr(friction, word)
    return np.array([told[name] for name in names])


def deviations(fit: Any, arm: Arm) -> np.ndarray:
    """Errors of a fit's values in standard deviations."""
    return np.asarray((fit.values_ - true_values(arm, fit.names_)) / fit.std_)


def sound(errors: np.ndarray) -> bool:
    """Whether standard deviations explain the errors of many unknowns.

    Nearly all lie within 3. Standard deviations are themselves known to a third only, because a few cycles of motion
    tell how residuals go together over time: hence 4.5 for the worst, and 1.6 for the usual.
    """
    size = np.abs(errors)
    return bool((size < 3).mean() > 0.9 and size.max() < 4.5 and np.sqrt((size**2).mean()) < 1.6)
