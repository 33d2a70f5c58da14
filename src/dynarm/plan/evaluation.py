"""How each quantity is computed from the scene: the formulation's answer, put together and coupled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..algebra.ldl import factorise
from ..algebra.vectors import Nested, Scalar, Vec3, add, mul
from ..dynamics import kinematics
from ..dynamics.own import gathered_regressor
from ..dynamics.own.free_base import turning
from ..dynamics.table import Formulation, formulation
from ..graph.trace import flatten, fresh_symbols, jacobian
from ..parameters.loads import entry_matrix
from .scene import Rows, Scene, minus, plus
from .sizes import packed_pattern
from .slopes import by_parts, entries, solved


def mass_matrix_and_bias(scene: Scene) -> tuple[Rows, list[Scalar]]:
    row = scene.chosen["mass_matrix_and_bias"]
    qd = scene.spread(scene.qd)
    if row.parts:
        M, b = scene.run(row.parts[0]), scene.run(row.parts[1], qd)
    else:
        M, b = scene.run(row, qd)
    return scene.with_armature(M), scene.gathered(b)


def packed(scene: Scene) -> list[Scalar]:
    return entries(scene.mass_matrix, packed_pattern(scene.arm))


def forward_dynamics(scene: Scene) -> list[Scalar]:
    row = scene.chosen["forward_dynamics"]
    if len(row.parts) == 1:
        return _from_one_graph(scene, row.parts[0])
    if row.parts:
        return solved(by_parts(scene, "forward_dynamics"))
    borne = scene.borne(scene.given["tau"])
    return list(scene.run(row, scene.qd, borne, scene.wrenches, scene.armature))


def _from_one_graph(scene: Scene, row: Formulation) -> list[Scalar]:
    """lin1991's simulator: L D L' of the mass matrix with the bias vector that comes with it."""
    M, b = mass_matrix_and_bias(replace(scene, chosen={"mass_matrix_and_bias": row}))
    factors = factorise(M, inwards=not scene.chain.serial)
    return factors.solve(minus(scene.borne(scene.given["tau"]), b))


def gravity(scene: Scene) -> list[Scalar]:
    row = scene.chosen.get("gravity")
    if row is not None and not row.parts:
        return scene.gathered(scene.run(row))
    at_rest = scene if row is None else by_parts(scene, "gravity")
    return at_rest.inverse_dynamics(scene.still, scene.still)


def coriolis_matrix(scene: Scene) -> Rows:
    row = scene.chosen["coriolis_matrix"]
    if not row.parts:
        return scene.gathered_rows(scene.run(row, scene.spread(scene.qd)))
    twice = jacobian(by_parts(scene, "coriolis_matrix").bias(), scene.qd)
    return [[mul(0.5, x) for x in row] for row in twice]


def coriolis_tensor(scene: Scene) -> list[Rows]:
    slices = [scene.gathered_rows(rows) for rows in scene.run(scene.chosen["coriolis_tensor"])]
    if scene.arm.coupling.free:
        return slices
    n = scene.arm.nv
    columns = {
        (j, k): scene.gathered([rows[j][k] for rows in slices]) for j in range(n) for k in range(n)
    }
    return [[[columns[j, k][i] for k in range(n)] for j in range(n)] for i in range(n)]


def tool_pose(scene: Scene) -> Nested:
    """Poses of the tools, or of the only one."""
    poses = []
    for joint, tool in scene.tools:
        R, p = kinematics.within(scene.carrier(joint), tool)
        rows = [[*row, x] for row, x in zip(R.rows, p, strict=True)]
        poses.append([*rows, [0, 0, 0, 1]])
    return poses if scene.arm.tools is not None else poses[0]


def tool_jacobian(scene: Scene) -> Nested:
    """Jacobians of the tools, or of the only one."""
    carrier = kinematics.Carrier(scene.chain, scene.links, scene.root)
    jacobians = []
    for joint, tool in scene.tools:
        point = kinematics.within(scene.carrier(joint), tool)[1]
        columns = carrier.columns(point, joint)
        rows = zip(*((*v, *w) for v, w in columns), strict=True)
        jacobians.append([scene.gathered(row) for row in rows])
    return jacobians if scene.arm.tools is not None else jacobians[0]


def coordinate_rates(scene: Scene) -> list[Scalar]:
    """The rates of the coordinates: the speeds, but for those of a free base."""
    if not scene.arm.floating:
        return list(scene.qd)
    qd = scene.qd
    return [*(scene.root[0] @ Vec3(*qd[:3])), *turning(scene.q[3:7], Vec3(*qd[3:6])), *qd[6:]]


def _along_motion(scene: Scene, flat: Sequence[Scalar]) -> list[Scalar]:
    """Time derivatives of functions of q."""
    rates = coordinate_rates(scene)
    return [
        _summed(mul(d, v) for d, v in zip(row, rates, strict=True))
        for row in jacobian(flat, scene.q)
    ]


def jacobian_derivative(scene: Scene) -> list[Scalar]:
    return _along_motion(scene, flatten(tool_jacobian(scene)))


def _summed(terms: Nested) -> Scalar:
    result: Scalar = 0
    for term in terms:
        result = add(result, term)
    return result


def kinetic_energy(scene: Scene) -> Scalar:
    speeds = scene.spread(scene.qd)
    energy = kinematics.kinetic_energy(scene.chain, scene.pose, speeds)
    if scene.options.friction:
        for joint, v in zip(scene.arm.joints, speeds[scene.first :], strict=True):
            energy = add(energy, mul(joint.armature / 2, mul(v, v)))
    return energy


def center_of_mass(scene: Scene) -> Vec3:
    moment = kinematics.first_moment(scene.chain, scene.pose, scene.root)
    centre: Vec3 = moment * (1 / kinematics.mass(scene.chain))
    return centre


def center_of_mass_jacobian(scene: Scene) -> Rows:
    """The linear part of the momentum matrix over the mass."""
    inverse = 1 / kinematics.mass(scene.chain)
    return [[mul(x, inverse) for x in row] for row in momentum_matrix(scene)[:3]]


def momentum(scene: Scene) -> list[Scalar]:
    centre, speeds = center_of_mass(scene), scene.spread(scene.qd)
    parts = kinematics.momentum(scene.chain, scene.pose, scene.root, speeds, centre)
    return [*parts[0], *parts[1]]


def momentum_matrix(scene: Scene) -> Rows:
    """The momentum, linear in qd, at unit speeds."""
    n = scene.arm.nv
    units = ([1 if j == k else 0 for j in range(n)] for k in range(n))
    columns = [momentum(replace(scene, given={**scene.given, "qd": e})) for e in units]
    return [list(row) for row in zip(*columns, strict=True)]


def momentum_rate(scene: Scene) -> list[Scalar]:
    """d(A qd)/dt = A qdd + what the motion makes of the momentum at qd held."""
    moving = _along_motion(scene, momentum(scene))
    pushed = momentum(replace(scene, given={**scene.given, "qd": scene.given["qdd"]}))
    return plus(pushed, moving)


def regressor(scene: Scene) -> Rows:
    """Inverse dynamics from the minimal parameters, which it is linear in, by each of them."""
    assert scene.minimal is not None
    if not scene.chain.serial:
        qd, qdd = scene.spread(scene.qd), scene.spread(scene.given["qdd"])
        rows = gathered_regressor.regressor(scene.chain, scene.pose, qd, qdd)
        columns = [scene.gathered(column) for column in zip(*rows, strict=True)]
        gathered = [list(row) for row in zip(*columns, strict=True)]
        return gathered_regressor.combined(gathered, entry_matrix(scene.minimal).tolist())
    values = fresh_symbols(scene.q[0], 2, scene.minimal.count)
    row = formulation("inverse_dynamics", "minimal_newton_euler")
    fed = replace(scene, given={**scene.given, "values": values}, chosen={"inverse_dynamics": row})
    return jacobian(fed.inverse_dynamics(scene.qd, scene.given["qdd"]), values)
