"""Derivatives of joint forces and of accelerations, by q, qd and qdd or tau, those of the drives included.

Rigid bodies by the chosen formulation, or by automatic differentiation of one that was asked for; friction, with the
rigid-body forces r held, always automatically: d(tau) = dr + df + |r| dg + g sign(r) dr.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ..algebra import lu
from ..algebra.ldl import LDL
from ..algebra.vectors import Scalar, add, mul
from ..dynamics.own import composite_derivatives
from ..dynamics.table import PARTS, Formulation, formulation
from ..errors import ModelError
from ..graph.trace import flatten, fresh_symbols, jacobian, substitute
from .coupled import coupled_accelerations
from .scene import Rows, Scene, plus
from .sizes import packed_pattern, slopes_pattern


class Slopes(NamedTuple):
    """Derivatives of joint forces: matrices (nv, nv)."""

    by_q: Rows
    by_qd: Rows
    by_qdd: Rows


def inverse_dynamics_derivatives(scene: Scene) -> Slopes:
    return _differentiated(scene, scene.given["qdd"], known=True)


def packed_derivatives(scene: Scene) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    if scene.options.friction and not all(
        j.friction is None or j.friction.alone for j in scene.arm.joints
    ):
        raise ModelError(
            f"friction of robot '{scene.arm.name}' depends on loads, couplings or memory, and the packed derivatives "
            "have no place for it; take inverse_dynamics_derivatives"
        )
    dq, dqd, M = inverse_dynamics_derivatives(scene)
    slopes = slopes_pattern(scene.arm)
    return entries(dq, slopes), entries(dqd, slopes), entries(M, packed_pattern(scene.arm))


def forward_dynamics_derivatives(scene: Scene) -> tuple[Rows, Rows, Rows]:
    n = scene.arm.nv
    row = scene.chosen["inverse_dynamics_derivatives"]
    shared = by_parts(scene, row.quantity) if row.parts else _sharing(scene)
    dq, dqd, moved = _differentiated(scene, solved(shared), known=False)
    unit = [[1 if i == j else 0 for i in range(n)] for j in range(n)]
    symmetric = not scene.loaded and scene.coupled_inertia is None
    factors: LDL | lu.LU = shared.factors if symmetric else lu.factorise(moved)
    turned = [[factors.solve([-row[j] for row in block]) for j in range(n)] for block in (dq, dqd)]
    inverse = [factors.solve(e) for e in unit]
    a, b = (_turned(block) for block in turned)
    if not symmetric:
        return a, b, _turned(inverse)
    return a, b, [[inverse[min(i, j)][max(i, j)] for j in range(n)] for i in range(n)]


def solved(scene: Scene) -> list[Scalar]:
    """Accelerations from the mass matrix and inverse dynamics of a scene."""
    K = scene.coupled_inertia
    return scene.solved_dynamics() if K is None else coupled_accelerations(scene, K)


def by_parts(scene: Scene, quantity: str) -> Scene:
    """The scene with the formulations that a quantity is put together from."""
    parts = dict(zip(PARTS[quantity], scene.chosen[quantity].parts, strict=True))
    return replace(scene, chosen={**scene.chosen, **parts})


def entries(rows: Rows, pattern: Sequence[tuple[int, int]]) -> list[Scalar]:
    """The entries of a matrix at some places."""
    return [rows[i][j] for i, j in pattern]


def _differentiated(scene: Scene, qdd: Sequence[Scalar], known: bool) -> Slopes:
    """Derivatives of the joint forces, the drives included; known: whether qdd tells of elements without a state."""
    row = scene.chosen["inverse_dynamics_derivatives"]
    if row.parts:
        rigid = _automatically(by_parts(scene, row.quantity), qdd)
    else:
        dq, dqd, M = scene.run(row, scene.spread(scene.qd), scene.spread(qdd))
        rigid = Slopes(scene.gathered_rows(dq), scene.gathered_rows(dqd), scene.with_armature(M))
    return _with_friction(scene, rigid, qdd, known) if scene.options.friction else rigid


def _automatically(scene: Scene, qdd: Sequence[Scalar]) -> Slopes:
    """Those of rigid bodies by automatic differentiation, with qdd held."""
    n = scene.arm.nv
    held = fresh_symbols(scene.q[0], 1, n)
    tau = scene.inverse_dynamics(scene.qd, held)
    partial = [*jacobian(tau, scene.q), *jacobian(tau, scene.qd)]
    flat = substitute([x for row in partial for x in row], held, qdd)
    rows = [flat[k * n : (k + 1) * n] for k in range(2 * n)]
    return Slopes(rows[:n], rows[n:], scene.mass_matrix)


def _with_friction(scene: Scene, rigid: Slopes, qdd: Sequence[Scalar], known: bool) -> Slopes:
    """Derivatives of forces with friction, from those without."""
    n, k = scene.arm.nv, scene.first
    held, load = (fresh_symbols(scene.q[0], name, n) for name in (1, 2))
    acc = held if known else None
    forces = scene.free_friction(acc)
    if scene.loaded:
        forces = plus(forces, scene.load_friction(load, acc))
    joints = scene.q[scene.arm.nq - len(scene.arm.coupling.masters) :]
    sizes = (n - k, n, n, n)
    rows = jacobian(forces, [*joints, *scene.qd, *held, *load])
    flat = substitute(flatten(rows), [*held, *load], [*qdd, *_loads(scene, qdd)])
    wide = [flat[i * sum(sizes) : (i + 1) * sum(sizes)] for i in range(n)]
    by_q = [[*[0] * k, *row[: n - k]] for row in wide]
    by_qd, by_qdd, by_load = (
        [row[s : s + n] for row in wide] for s in (n - k, 2 * n - k, 3 * n - k)
    )
    factors = [row[i] for i, row in enumerate(by_load)]
    K = scene.coupled_inertia
    if K is not None and not known:
        by_qdd = _sum(by_qdd, K)
    pairs = zip(rigid, (by_q, by_qd, by_qdd), strict=True)
    return Slopes(*(_sum(_grown(r, factors), own) for r, own in pairs))


def _loads(scene: Scene, qdd: Sequence[Scalar]) -> list[Scalar]:
    """The rigid-body forces that friction grows with, armatures included; 0 where none does."""
    if not scene.loaded:
        return scene.still
    row = formulation("inverse_dynamics", "gathered_newton_euler")
    plain = replace(scene, chosen={**scene.chosen, "inverse_dynamics": row})
    return plus(plain.inverse_dynamics(scene.qd, qdd), scene.motor_forces(qdd))


def _grown(rows: Rows, factors: Sequence[Scalar]) -> Rows:
    """Rows, each with a part of itself added."""
    return [[add(x, mul(g, x)) for x in row] for row, g in zip(rows, factors, strict=True)]


def _sum(a: Rows, b: Rows) -> Rows:
    return [plus(x, y) for x, y in zip(a, b, strict=True)]


def _turned(rows: Rows) -> Rows:
    return [list(row) for row in zip(*rows, strict=True)]


def _sharing(scene: Scene) -> Scene:
    """The scene with the mass matrix that comes with the derivatives."""
    row = Formulation("mass_matrix", "composite", "dynarm", composite_derivatives.mass_matrix)
    return replace(scene, chosen={**scene.chosen, "mass_matrix": row})
