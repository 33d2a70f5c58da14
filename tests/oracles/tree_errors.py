"""How far the quantities of a whole robot's Model are from pinocchio's, each with the limit that it must keep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from dynarm import Arm, Friction
from dynarm.plan.choice import minimal_of
from dynarm.plan.scene import Options
from dynarm.plan.sizes import packed_pattern
from oracles.batches import relative
from oracles.pinocchio_tree import PinocchioTree
from oracles.scene_numbers import TRACED, derivatives_of, numbers_of, scene_of, traced_numbers

RELATIVE = 1e-12  # |error| <= RELATIVE * max(1, |reference|max)
FORWARD = 1e-10  # of what the inverse of the mass matrix takes part in
CONDITION = 1e8  # of the mass matrix, above which FORWARD grows with it
SINGULAR = 1e14  # conditions above mean no accelerations
SMALL = 6  # joints up to which everything is compared, also what takes a graph or O(n^3)
Errors = dict[str, tuple[float, float]]  # by quantity: relative error and its limit
State = dict[str, np.ndarray]


def forces(P: PinocchioTree, s: State) -> np.ndarray:
    return P.inverse_dynamics(s["q"], s["qd"], s["qdd"])


def bias(P: PinocchioTree, s: State) -> np.ndarray:
    return P.inverse_dynamics(s["q"], s["qd"], 0 * s["qd"])


def packed(P: PinocchioTree, s: State, arm: Arm) -> np.ndarray:
    return P.mass_matrix(s["q"])[tuple(np.array(packed_pattern(arm)).T)]


Oracle = Callable[[PinocchioTree, State], Any]
ORACLE: dict[str, Oracle] = {
    "inverse_dynamics": forces,
    "mass_matrix": lambda P, s: P.mass_matrix(s["q"]),
    "bias": bias,
    "gravity": lambda P, s: P.inverse_dynamics(s["q"], 0 * s["qd"], 0 * s["qd"]),
    "mass_matrix_and_bias": lambda P, s: (P.mass_matrix(s["q"]), bias(P, s)),
    "kinetic_energy": lambda P, s: P.energies(s["q"], s["qd"])[0],
    "potential_energy": lambda P, s: P.energies(s["q"], s["qd"])[1],
    "center_of_mass": lambda P, s: P.center_of_mass(s["q"]),
    "center_of_mass_jacobian": lambda P, s: P.center_of_mass_jacobian(s["q"]),
    "momentum": lambda P, s: P.momentum_matrix(s["q"]) @ s["qd"],
    "momentum_matrix": lambda P, s: P.momentum_matrix(s["q"]),
    "momentum_rate": lambda P, s: P.momentum_rate(s["q"], s["qd"], s["qdd"]),
    "forward_kinematics": lambda P, s: P.tool_poses(s["q"]),
    "jacobian": lambda P, s: P.tool_jacobians(s["q"]),
    "jacobian_derivative": lambda P, s: P.tool_jacobian_rates(s["q"], s["qd"]),
    "forward_dynamics": lambda P, s: P.forward_dynamics(s["q"], s["qd"], s["tau"]),
    "inverse_dynamics_derivatives": lambda P, s: P.derivatives(s["q"], s["qd"], s["qdd"]),
    "forward_dynamics_derivatives": lambda P, s: P.forward_derivatives(s["q"], s["qd"], s["tau"]),
}
ELSEWHERE = {
    "mass_matrix_packed",
    "coriolis_matrix",
    "coriolis_tensor",
    "regressor",
    "inverse_dynamics_derivatives_packed",
}
TOOLS = {"forward_kinematics", "jacobian", "jacobian_derivative"}
SOLVED = {"forward_dynamics", "forward_dynamics_derivatives"}
COLUMNWISE = {"center_of_mass_jacobian", "momentum_matrix"}  # O(n^2) on plain numbers


def several(x: Any) -> tuple[Any, ...]:
    return x if isinstance(x, tuple) else (x,)


def apart(ours: Any, theirs: Any) -> float:
    """The largest relative difference of outputs, those of tools with or without an axis for them."""
    pairs = zip(several(ours), several(theirs), strict=True)
    return max(relative(np.ravel(a), np.ravel(b)) if np.size(b) else 0.0 for a, b in pairs)


def has(arm: Arm, quantity: str, condition: float) -> bool:
    if quantity in TOOLS and not arm.all_tools:
        return False
    return quantity not in SOLVED or condition < SINGULAR


def limit(quantity: str, condition: float) -> float:
    return FORWARD * max(1.0, condition / CONDITION) if quantity in SOLVED else RELATIVE


def unloaded(s: State) -> State:
    """The state without the wrenches."""
    return {k: x for k, x in s.items() if k != "wrench"}


def plain_errors(arm: Arm, P: PinocchioTree, s: State) -> Errors:
    """By the formulas on plain numbers."""
    scene = scene_of(arm, unloaded(s))
    M = P.mass_matrix(s["q"])
    condition = float(np.linalg.cond(M))
    errors: Errors = {}
    for quantity, oracle in ORACLE.items():
        skipped = quantity in COLUMNWISE and arm.n > SMALL
        if quantity in TRACED or skipped or not has(arm, quantity, condition):
            continue
        error = apart(numbers_of(scene, quantity), oracle(P, s))
        errors[quantity] = error, limit(quantity, condition)
    error = apart(numbers_of(scene, "mass_matrix_packed"), packed(P, s, arm))
    errors["mass_matrix_packed"] = error, RELATIVE
    theirs = P.derivatives(s["q"], s["qd"], s["qdd"])
    error = apart(derivatives_of(scene, s["qdd"].tolist()), theirs)
    errors["inverse_dynamics_derivatives"] = error, RELATIVE
    if arm.coupling.free and condition < SINGULAR:
        own = scene_of(arm, unloaded(s), forward_dynamics="articulated_body")
        error = apart(numbers_of(own, "forward_dynamics"), ORACLE["forward_dynamics"](P, s))
        errors["articulated_body"] = error, limit("forward_dynamics", condition)
    return errors | coriolis_errors(arm, P, s) | wrench_errors(arm, P, s, condition)


def coriolis_errors(arm: Arm, P: PinocchioTree, s: State) -> Errors:
    """bias = C qd + gravity, C + C' = Mdot; the tensor of a small tree contracts to both."""
    scene = scene_of(arm, unloaded(s))
    (C,) = numbers_of(scene, "coriolis_matrix")
    speed = bias(P, s) - ORACLE["gravity"](P, s)
    rate = P.mass_matrix_rate(s["q"], s["qd"])
    scale = max(1.0, float(np.abs(C).max()))
    errors = {
        "coriolis_matrix @ qd": (apart(C @ s["qd"], speed) / scale, RELATIVE),
        "coriolis_matrix + its transpose": (apart(C + C.T, rate) / scale, RELATIVE),
    }
    if arm.n > SMALL:
        return errors
    (tensor,) = numbers_of(scene, "coriolis_tensor")
    contracted = np.einsum("ijk,j,k->i", tensor, s["qd"], s["qd"])
    size = max(1.0, float(np.abs(tensor).max()))
    errors["coriolis_tensor"] = apart(contracted, speed) / size, RELATIVE
    mirrored = np.swapaxes(tensor, 1, 2)
    errors["coriolis_tensor, symmetric"] = apart(tensor, mirrored) / size, RELATIVE
    if not arm.floating:  # of whose speeds no coordinates are the integrals
        error = apart(tensor @ s["qd"], C) / size
        errors["coriolis_tensor @ qd"] = error, RELATIVE
    return errors


def pushed(P: PinocchioTree, s: State) -> np.ndarray:
    """What wrenches on the tools, in their axes, do to the joints."""
    J, R = P.tool_jacobians(s["q"]), P.tool_poses(s["q"])[:, :3, :3]
    in_base = [np.concatenate([r @ w[:3], r @ w[3:]]) for r, w in zip(R, s["wrench"], strict=True)]
    return sum((j.T @ w for j, w in zip(J, in_base, strict=True)), np.zeros(J.shape[2]))


def wrench_errors(arm: Arm, P: PinocchioTree, s: State, condition: float) -> Errors:
    if not arm.all_tools:
        return {}
    push = pushed(P, s)
    options = Options(wrench=True)
    scene = scene_of(arm, s, options)
    wanted = forces(P, s) - push
    scale = max(1.0, float(np.abs(push).max()))  # rounding of what is subtracted
    errors = {
        "inverse_dynamics:wrench": (
            apart(numbers_of(scene, "inverse_dynamics"), wanted) / scale,
            RELATIVE,
        )
    }
    if condition >= SINGULAR:
        return errors
    wanted = P.forward_dynamics(s["q"], s["qd"], s["tau"] + push)
    names = ["gathered_composite+gathered_newton_euler"]
    names += ["articulated_body"] if arm.coupling.free else []
    for name in names:
        ours = numbers_of(scene_of(arm, s, options, forward_dynamics=name), "forward_dynamics")
        bound = limit("forward_dynamics", condition)
        errors[f"forward_dynamics:wrench, {name}"] = apart(ours, wanted), bound
    return errors


def traced_errors(arm: Arm, P: PinocchioTree, s: State) -> Errors:
    """Of what is differentiated automatically, by its graph."""
    condition = float(np.linalg.cond(P.mass_matrix(s["q"])))
    return {
        f"{quantity}, graph": (
            apart(traced_numbers(arm, quantity, s), ORACLE[quantity](P, s)),
            limit(quantity, condition),
        )
        for quantity in sorted(TRACED)
        if has(arm, quantity, condition)
    }


def given_errors(arm: Arm, P: PinocchioTree, s: State) -> Errors:
    """With minimal parameters and another gravity as inputs, and tau = Y values."""
    options = Options(gravity_input=True, values_input=True)
    minimal = minimal_of(arm, options)
    pull = np.array(arm.gravity)[::-1] + np.array([1.0, -2.0, 3.0])
    given = {**unloaded(s), "values": minimal.values, "gravity": pull}
    own, P = forces(P, s), PinocchioTree.of(replace(arm, gravity=pull))
    scene = scene_of(arm, given, options, minimal)
    M = P.mass_matrix(s["q"])
    condition = float(np.linalg.cond(M))
    errors: Errors = {}
    for word in ("inverse_dynamics", "mass_matrix", "bias", "gravity", "kinetic_energy"):
        error = apart(numbers_of(scene, word), ORACLE[word](P, s))
        errors[f"{word}(values, gravity)"] = error, RELATIVE
    if condition < SINGULAR:
        error = apart(numbers_of(scene, "forward_dynamics"), ORACLE["forward_dynamics"](P, s))
        errors["forward_dynamics(values, gravity)"] = error, limit("forward_dynamics", condition)
    derivatives = derivatives_of(scene, s["qdd"].tolist())
    error = apart(derivatives, ORACLE["inverse_dynamics_derivatives"](P, s))
    errors["inverse_dynamics_derivatives(values, gravity)"] = error, RELATIVE
    # that of a chain is differentiated automatically, and tested elsewhere
    if not scene.chain.serial:
        (Y,) = numbers_of(scene_of(arm, unloaded(s), Options(), minimal), "regressor")
        errors["regressor @ values"] = apart(Y @ minimal.values, own), RELATIVE
    return errors


def driven(arm: Arm, seed: int) -> Arm:
    """The tree with friction at all joints."""
    rng = np.random.default_rng(seed)
    joints = [
        replace(j, friction=Friction(viscous=float(rng.uniform(0, 3)), coulomb=1.5, offset=0.2))
        for j in arm.joints
    ]
    return replace(arm, joints=joints)


def drive_errors(arm: Arm, P: PinocchioTree, s: State) -> Errors:
    """Armatures and friction of all joints, those that follow others included."""
    arm = driven(arm, 3)
    G = coupling(arm)
    Ia = np.array([j.armature for j in arm.joints])
    v = G @ s["qd"]
    lost = [
        j.friction.viscous * x + j.friction.coulomb * np.sign(x) + j.friction.offset
        for j, x in zip(arm.joints, v, strict=True)
        if j.friction
    ]
    drag, M = G.T @ np.array(lost), P.mass_matrix(s["q"]) + G.T @ np.diag(Ia) @ G
    scene = scene_of(arm, unloaded(s), Options(friction=True))
    condition = float(np.linalg.cond(M))
    tau = forces(P, s) + G.T @ (Ia * (G @ s["qdd"])) + drag
    errors = {
        "inverse_dynamics, friction": (apart(numbers_of(scene, "inverse_dynamics"), tau), RELATIVE),
        "mass_matrix, friction": (apart(numbers_of(scene, "mass_matrix"), M), RELATIVE),
    }
    if condition < SINGULAR:
        wanted = np.linalg.solve(M, s["tau"] - drag - bias(P, s))
        names = ["gathered_composite+gathered_newton_euler"]
        names += ["articulated_body"] if arm.coupling.free else []
        for name in names:
            own = scene_of(arm, unloaded(s), Options(friction=True), forward_dynamics=name)
            error = apart(numbers_of(own, "forward_dynamics"), wanted)
            errors[f"{name}, friction"] = error, limit("forward_dynamics", condition)
    return errors


def coupling(arm: Arm) -> np.ndarray:
    """(joints, speeds): speeds of all joints from the independent ones, written anew from the joints' records."""
    names = list(arm.joint_names)
    first = arm.nv - len(names)
    G = np.zeros((arm.n, arm.nv))
    for i, joint in enumerate(arm.joints):
        master = arm.joints[joint.mimic.joint] if joint.mimic else joint
        factor = joint.mimic.multiplier if joint.mimic else 1.0
        G[i, first + names.index(str(master.name))] = factor
    return G
