"""The regressor of a robot's minimal parameters at states that are the same on every machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..algebra.vectors import Vec3
from ..dynamics.own.gathered_newton_euler import inverse_dynamics as gathered_dynamics
from ..dynamics.own.minimal_loads import load_matrix, masses_of
from ..dynamics.own.minimal_tree import TreeStructure
from ..dynamics.papers.minimal_chain_lin1995 import minimal_chain
from ..dynamics.papers.minimal_newton_euler_lin1995 import inverse_dynamics
from ..robot.coupling import Coupling
from ..robot.frames.chain import Chain, pose

BLOCK = 4_000_000  # entries of a regressor that are held at once
States = tuple[np.ndarray, np.ndarray, np.ndarray]  # q, qd, qdd, samples last


def sampled_regressor(
    chain: Chain,
    tree: TreeStructure,
    coupling: Coupling,
    armature: bool,
    rate: float,
    anywhere: bool = False,
) -> np.ndarray:
    """(rows, all): columns of the combinations, and of the armatures behind them, at states spread evenly.

    Rows are forces of independent joints, and the wrench of a free base; of large robots those of the triangular factor
    instead, in which columns have the same lengths and angles. rate [1/s]: about how fast the joints move.
    anywhere: each state has its own direction of gravity.
    """
    columns = len(tree.layout()) + (chain.n if armature else 0)
    samples = 3 * (len(tree.layout()) + chain.n) + 20
    states = _coupled(_spread(chain, coupling, samples, rate), coupling)
    pulls = _pulls(chain, samples) if anywhere else None
    blocks = 1 if tree.serial else -(-samples * chain.nv * columns // BLOCK)
    if blocks == 1:
        own = chain if pulls is None else replace(chain, gravity=Vec3(*pulls))
        return _rows(own, tree, coupling, armature, states)
    factor = np.zeros((0, columns))
    for part in np.array_split(np.arange(samples), blocks):
        q, qd, qdd = (x[:, part] for x in states)
        own = chain if pulls is None else replace(chain, gravity=Vec3(*pulls[:, part]))
        rows = _rows(own, tree, coupling, armature, (q, qd, qdd))
        factor = np.asarray(np.linalg.qr(np.concatenate([factor, rows]), mode="r"))
    return factor


def _rows(
    chain: Chain, tree: TreeStructure, coupling: Coupling, armature: bool, states: States
) -> np.ndarray:
    """(samples nv, all): the regressor at these states."""
    p, samples = len(tree.layout()), states[0].shape[1]
    forces = _forces(chain, tree, coupling, states)
    Y = np.array([np.broadcast_to(t, (p, samples)).T for t in forces])
    if armature:
        n, first = chain.n, len(forces) - chain.n
        own = np.zeros((len(forces), samples, n))
        own[first + np.arange(n), :, np.arange(n)] = states[2][first:]
        Y = np.concatenate([Y, own], axis=2)
    return _gathered_rows(Y, coupling)


def _spread(chain: Chain, coupling: Coupling, samples: int, rate: float) -> States:
    """States of the independent joints, and speeds of a free base before them."""
    base = chain.nv - chain.n
    n = base + len(coupling.masters)
    primes = (x for x in range(2, 60 * n) if all(x % y for y in range(2, int(x**0.5) + 1)))
    steps = np.sqrt(list(primes)[: 3 * n])
    spread = np.modf(np.outer(np.arange(1, samples + 1), steps))[0] * 2 - 1
    q, qd, qdd = (
        spread[:, k * n : (k + 1) * n].T * size
        for k, size in enumerate((np.pi, 2.0 * rate, 3.0 * rate**2))
    )
    return q[base:], qd, qdd


def _pulls(chain: Chain, samples: int) -> np.ndarray:
    """(3, samples): gravity in all directions, about as strong as the chain's own."""
    strength = max(float(np.max(np.abs(g))) for g in chain.gravity)
    spread = np.modf(np.outer(np.arange(1, samples + 1), np.cbrt([2.0, 3.0, 5.0])))[0] * 2 - 1
    return np.asarray(spread.T * strength)


def _coupled(states: States, coupling: Coupling) -> States:
    """The same of all joints."""
    if coupling.free:
        return states
    of, joints = list(coupling.of), len(coupling.masters)
    factors, offsets = (np.array(x)[:, None] for x in (coupling.multipliers, coupling.offsets))
    q, qd, qdd = states

    def rates(x: np.ndarray) -> np.ndarray:
        base, own = x[:-joints], x[-joints:]
        return np.concatenate([base, own[of] * factors])

    return q[of] * factors + offsets, rates(qd), rates(qdd)


def _gathered_rows(Y: np.ndarray, coupling: Coupling) -> np.ndarray:
    """(samples nv, all) from (forces, samples, all): those of joints that follow others join their masters'."""
    if not coupling.free:
        base = len(Y) - len(coupling.of)
        rows = np.concatenate([Y[:base], np.zeros((len(coupling.masters), *Y.shape[1:]))])
        for i, (k, factor) in enumerate(zip(coupling.of, coupling.multipliers, strict=True)):
            rows[base + k] += factor * Y[base + i]
        Y = rows
    return Y.reshape(-1, Y.shape[2])


def _forces(
    chain: Chain, tree: TreeStructure, coupling: Coupling, states: States
) -> Sequence[np.ndarray]:
    """Forces of all joints, (combinations, samples) each, for each combination being 1 and the others 0."""
    q, qd, qdd = states
    steps = pose(chain, list(q))
    if tree.serial and coupling.free and all(step.branch is None for step in steps):
        unit = list(np.eye(len(tree.layout()))[:, :, None])
        arm = minimal_chain(chain, tree.paths[0].structure, unit, folded=False)
        return inverse_dynamics(arm, steps, list(qd), list(qdd))
    rows = load_matrix(chain, tree)
    entries = [row[:, None] if row.any() else 0 for row in rows]
    loaded = replace(chain, loads=masses_of(tree, entries))
    return gathered_dynamics(loaded, steps, list(qd), list(qdd))
