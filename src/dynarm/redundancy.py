"""Redundancy that Theorem 2 does not cover: without gravity, and where reflected motor inertias join.

Which columns of the regressor are combinations of others is decided by elimination in a fixed order, on states that are
the same on every machine, and on geometry from which the tolerance has been taken away.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from .algebra import Vec3
from .papers.minimal_chain_lin1995 import minimal_chain
from .papers.minimal_newton_euler_lin1995 import inverse_dynamics
from .papers.minimal_parameters_lin1995 import LENGTH, Structure, layout, structure_of
from .robot.chain import Body, Chain, pose

DEPENDENT = 1e-8  # of a column's length: what is left of it when it is a combination of others, on tidied geometry
SIMPLE = 1e-9  # factors this close to a multiple of 1/2 are meant to be one


def merging(
    chain: Chain, structure: Structure, tolerance: float, armature: bool
) -> tuple[list[int], np.ndarray]:
    """Which of the combinations and armatures to keep, and (kept, all) what each takes up of the others.

    Theorem 2 holds for g != 0, and without armature nothing else is left to merge. Otherwise a column of the regressor
    that the columns before it give is merged into them, on geometry from which the tolerance has been taken away.
    """
    total = len(layout(structure)) + (chain.n if armature else 0)
    weightless = not any(np.any(np.abs(np.asarray(g)) > 0) for g in chain.gravity)
    if not armature and not weightless:
        return list(range(total)), np.eye(total)
    tidied = _tidied(chain, tolerance)
    again = structure_of(tidied, tolerance)
    if layout(again) != layout(structure):
        tidied, again = chain, structure
    Y = _sampled_regressor(tidied, again, armature)
    kept = independent(Y, range(total))
    rest = [k for k in range(total) if k not in kept]
    merge = np.zeros((len(kept), total))
    merge[np.arange(len(kept)), kept] = 1
    if rest:
        found = np.linalg.lstsq(Y[:, kept], Y[:, rest], rcond=None)[0]
        simple = np.round(2 * found) / 2
        merge[:, rest] = np.where(np.abs(found - simple) < SIMPLE, simple, found)
    return kept, merge


def _tidied(chain: Chain, tolerance: float) -> Chain:
    """The chain with angles within the tolerance of quarter turns, and lengths and gravity of zero, set there."""
    size = sum(abs(b.a) + abs(b.d) for b in chain.joints) or 1.0
    bodies = [_tidied_body(b, tolerance, tolerance * LENGTH * size) for b in chain.joints]
    g = [float(x) for x in chain.gravity]
    limit = tolerance * max(map(abs, g))
    return Chain(tuple(bodies), Vec3(*(0 if abs(x) <= limit else x for x in g)))


def _tidied_body(body: Body, angle: float, length: float) -> Body:
    def turn(c: float, s: float) -> tuple[Any, Any]:
        if abs(s) <= angle:
            return (1 if c > 0 else -1), 0
        return (0, 1 if s > 0 else -1) if abs(c) <= angle else (c, s)

    (ca, sa), (cb, sb) = turn(body.ca, body.sa), turn(body.cb, body.sb)
    quarter = round(body.theta / (np.pi / 2)) * (np.pi / 2)
    return replace(
        body,
        a=0 if abs(body.a) <= length else body.a,
        d=0 if abs(body.d) <= length else body.d,
        theta=quarter if abs(quarter - body.theta) <= angle else body.theta,
        ca=ca,
        sa=sa,
        cb=cb,
        sb=sb,
    )


def _sampled_regressor(chain: Chain, structure: Structure, armature: bool) -> np.ndarray:
    """(samples n, all): columns of the regressor, at states spread evenly; the same on every machine."""
    n, p = chain.n, len(layout(structure))
    samples = 3 * (p + n) + 20
    steps = np.sqrt(
        [x for x in range(2, 60 * n) if all(x % y for y in range(2, int(x**0.5) + 1))][: 3 * n]
    )
    spread = np.modf(np.outer(np.arange(1, samples + 1), steps))[0] * 2 - 1
    q, qd, qdd = (
        spread[:, k * n : (k + 1) * n].T * size for k, size in enumerate((np.pi, 2.0, 3.0))
    )
    arm = minimal_chain(chain, structure, list(np.eye(p)[:, :, None]), folded=False)
    tau = inverse_dynamics(arm, pose(chain, q), qd, qdd)
    Y = np.concatenate([np.broadcast_to(t, (p, samples)).T for t in tau])
    if armature:
        own = np.zeros((n, samples, n))
        own[np.arange(n), :, np.arange(n)] = qdd
        Y = np.column_stack([Y, own.reshape(-1, n)])
    return Y


def independent(rows: np.ndarray, order: Iterable[int]) -> list[int]:
    """The columns that are no combination of those before them, in the given order."""
    floor = DEPENDENT * np.linalg.norm(rows, axis=0).max()
    basis = np.zeros((rows.shape[0], 0))
    kept = []
    for k in order:
        size = np.linalg.norm(rows[:, k])
        if size <= floor:
            continue
        v = rows[:, k] / size
        for _ in range(2):
            v = v - basis @ (basis.T @ v)
        rest = np.linalg.norm(v)
        if rest > DEPENDENT:
            kept.append(k)
            basis = np.column_stack([basis, v / rest])
    return sorted(kept)
