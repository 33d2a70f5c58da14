"""Robots whose joints have every family of friction, and their forces written once more, sample by sample."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import dynarm
from dynarm import Arm, Coupled, Friction

OWN = Friction(
    viscous=0.3,
    coulomb=0.2,
    offset=0.1,
    shape="tanh",
    width=0.05,
    curve=((0.02, 0.1), (0.5, -0.05)),
    presliding=((1e-2, 0.5), (5e-2, 0.3)),
    ripple=((7.0, 0.2, -0.1),),
)
LOAD = replace(OWN, load_curve=((0.1, 0.05),), load_presliding=((5e-2, -0.04), (2e-2, 0.03)))


def rich(arm: Arm) -> Arm:
    """The arm with every family: loads on all joints, the last independent one coupled with the first."""
    masters = arm.coupling.masters
    coupled = Coupled(masters[0], 0.02, 0.1, 0.2, 0.06, ((4e-3, 0.3), (2e-2, -0.1)))
    joints = []
    for i, joint in enumerate(arm.joints):
        friction = LOAD
        if i == masters[-1]:
            friction = replace(LOAD, coupling=(coupled,))
        elif i not in masters:
            friction = OWN
        joints.append(replace(joint, friction=friction, armature=joint.armature + 0.1))
    return replace(arm, joints=joints)


def without_friction(arm: Arm) -> Arm:
    return replace(arm, joints=[replace(j, friction=None) for j in arm.joints])


def rigid_forces(arm: Arm, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """(N, nv): what friction's load is, armatures included."""
    return dynarm.compile(without_friction(arm), friction=True).inverse_dynamics(q, qd, qdd)


def friction_by_hand(
    arm: Arm, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, rigid: np.ndarray
) -> np.ndarray:
    """(N, nv): friction with memory that begins at 0, joint by joint and sample by sample."""
    rule, n = arm.coupling, len(arm.coupling.masters)
    out = np.zeros(rigid.shape)
    first = out.shape[1] - n
    k = np.array(rule.multipliers)
    own = (q[:, q.shape[1] - n :], qd[:, first:], qdd[:, first:])
    places, speeds, rates = (x[:, list(rule.of)] * k for x in own)
    angles = places + np.array(rule.offsets)
    for i, joint in enumerate(arm.joints):
        f = joint.friction
        if f is None:
            continue
        load = np.abs(rigid[:, first + rule.of[i]])
        v, force = speeds[:, i], np.full(len(q), f.offset)
        force += f.viscous * v
        force += f.coulomb * (np.tanh(v / f.width) if f.shape == "tanh" else np.sign(v))
        for w, c in f.curve:
            force += c * np.tanh(v / w)
        for w, c in f.load_curve:
            force += c * load * np.tanh(v / w)
        for d, c in f.presliding:
            force += c * slipping(places[:, i], d) / d
        for d, c in f.load_presliding:
            force += c * load * slipping(places[:, i], d) / d
        for order, s, c in f.ripple:
            force += s * np.sin(order * angles[:, i]) + c * np.cos(order * angles[:, i])
        for other in f.coupling:
            o = int(other.joint)
            force += other.inertia * rates[:, o] + other.viscous * speeds[:, o]
            force += other.coulomb * np.tanh((v + speeds[:, o]) / other.width)
            for d, c in other.presliding:
                force += c * slipping(places[:, i] + places[:, o], d) / d
        out[:, first + rule.of[i]] += k[i] * force
    return out


def slipping(position: np.ndarray, stroke: float) -> np.ndarray:
    """(N,): the deflection of one element along positions."""
    x, kept = 0.0, [0.0]
    for step in np.diff(position).tolist():
        x = min(max(x + step, -stroke), stroke)
        kept.append(x)
    return np.array(kept)
