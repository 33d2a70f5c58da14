"""Physically consistent parameter sets: those that give fitted values, or values near to them.

A rigid body has a positive definite pseudo-inertia [[tr(J)/2 E - J, h], [h', m]]: positive mass, positive principal
moments, triangle inequality, all in one 4x4 matrix (Wensing, Kim, Slotine 2018). Measured torques determine minimal
parameters only, so a full set is never unique: among those that explain the data equally well, the one nearest to the
arm's own (CAD) numbers is taken, near in the sense of `entropic`, which keeps every body well inside what is possible.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...robot.doubts import all_doubts
from ...robot.inertia import pseudo_inertia
from ..regressor import Terms
from ..rigid import Rigid
from .believed import believed
from .entropic import Divergence, drawn, met

_MARGIN = 1e-8  # least eigenvalue of a pseudo-inertia, in units of the link's own scale
# precision of the prior, each parameter in units of the robot's mass and length: sd 100
_LOOSE = 1e-4
_WEIGHTS = 10.0 ** np.arange(4, -4, -0.5)  # of the pull, squares of one standard deviation being 1
_COST = 0.015  # part of the error that the pull may cost
_BAR = 1e-3  # weight of the barrier that keeps friction from giving energy
_NOT_UNIQUE = "the full parameter set is not unique: torques determine the minimal parameters only"
# part of the largest eigenvalue of a pseudo-inertia that rounding may take off the least
_ROUNDED = 1e-13
_FINE = 1e-8  # standard deviations below this part of a value are rounding


@dataclass(frozen=True, slots=True, eq=False)
class Feasible:
    """A consistent set: parameters of links (links, 10), armatures (n,), and the values of all unknowns that follow."""

    parameters: np.ndarray
    armatures: np.ndarray
    values: np.ndarray
    distance: float  # of the values from those asked for, in standard deviations
    exact: bool  # the values asked for were consistent already
    status: str


def _pseudo_rows() -> np.ndarray:
    """(10, 10): a pseudo-inertia's upper triangle by columns, off-diagonals times sqrt 2, from ten parameters."""
    column, row = np.tril_indices(4)
    size = np.where(row == column, 1.0, np.sqrt(2.0))
    return np.column_stack([pseudo_inertia(unit)[row, column] * size for unit in np.eye(10)])


def nearest(
    terms: Terms,
    values: np.ndarray,
    covariance: np.ndarray,
    prior: np.ndarray | None = None,
    error: Callable[[np.ndarray], float] | None = None,
) -> Feasible:
    """The consistent set that gives the values, or values near to them in the metric of their covariance.

    prior: (links, 10) numbers that are approached by the divergence of `entropic`; None: the arm's own, or where these
    stand for nothing uniform bodies. error: of values on the data; None: not known. Where the values themselves are not
    possible, the pull is as strong as it may be at 1.5 % more error than that of the nearest possible ones.
    """
    rigid, p = terms.rigid, terms.rigid_size
    own = terms.arm.parameters if prior is None else np.asarray(prior, float)
    mass, length = _scales(terms, own, values)
    ten = np.array([mass, *[mass * length] * 3, *[mass * length**2] * 6])
    units = rigid.joined(np.tile(ten, (len(own), 1)), mass * length**2)
    matrix = rigid.matrix * units  # values of the minimal parameters from scaled natural ones
    motors = [j.armature for j in terms.arm.joints]
    signs = _positive(terms)
    wrong = any(values[p + k] < 0 for k in signs)

    plain = _stepped(terms, rigid.joined(own, motors) / units, matrix, units, values)
    if plain is not None:
        return _exact(terms, plain, values)
    std = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    bodies = believed(terms, own, values, std, prior is not None) / units
    inside = Divergence(bodies, rigid.starts.tolist(), rigid.motors.tolist())
    x = None if wrong else met(inside, matrix, values[:p], bodies)
    if x is None and not wrong:  # what is possible at the edge only, such as armatures of 0
        still, equal = np.eye(rigid.size), (matrix, values[:p])
        x, _ = _program(still, -bodies, _cones(rigid), rigid.size, equal)
    if x is not None and (plain := _stepped(terms, x, matrix, units, values)) is not None:
        return _exact(terms, plain, values)
    near, natural, gap, cost = _drawn_values(
        terms, values, covariance, matrix, (bodies, signs), error
    )
    table, armatures = rigid.parted(natural * units)
    told = (
        f"the nearest consistent values are {gap:.2g} standard deviations away (root mean square)"
    )
    if cost is not None:
        told += (
            f", and keeping them inside what is possible costs {100 * max(cost, 0):.1f} % of error"
        )
    return Feasible(table, armatures, near, gap, False, f"{told}; {_NOT_UNIQUE}")


def _drawn_values(
    terms: Terms,
    values: np.ndarray,
    covariance: np.ndarray,
    matrix: np.ndarray,
    inside: tuple[np.ndarray, Sequence[int]],
    error: Callable[[np.ndarray], float] | None,
) -> tuple[np.ndarray, np.ndarray, float, float | None]:
    """Values near to those given, scaled natural parameters, the distance, and what they cost in parts of the error."""
    rigid, p, size = terms.rigid, terms.rigid_size, terms.size
    bodies, signs = inside
    wide, rest = rigid.size, size - p
    map_all = np.zeros((size, wide + rest))
    map_all[:p, :wide] = matrix
    map_all[p:, wide:] = np.diag(np.maximum(np.abs(values[p:]), 1.0))
    floor = _FINE * np.r_[np.abs(matrix).sum(axis=1), np.maximum(np.abs(values[p:]), _FINE)]
    root = _information(covariance + np.diag(floor**2))
    barred = [wide + k for k in signs]
    start = np.r_[bodies, values[p:] / np.maximum(np.abs(values[p:]), 1.0)]
    start[barred] = np.maximum(start[barred], 1e-3)
    pull = Divergence(start, rigid.starts.tolist(), rigid.motors.tolist(), barred)
    reach, wanted = root @ map_all, root @ values
    quadratic = _objective(reach, wanted, bodies)
    edge, _ = _program(*quadratic, _cones(rigid, signs), wide + rest)  # usually on the very edge
    x, cost = start if edge is None else edge, None
    if error is not None or edge is None:
        x, cost = _inside(pull, (reach, wanted), map_all, x, error)
    gap = float(np.linalg.norm(reach @ x - wanted) / np.sqrt(size))
    return map_all @ x, x[:wide], gap, cost


def _inside(
    pull: Divergence,
    near: tuple[np.ndarray, np.ndarray],
    map_all: np.ndarray,
    edge: np.ndarray,
    error: Callable[[np.ndarray], float] | None,
) -> tuple[np.ndarray, float | None]:
    """The set of the strongest pull whose error exceeds the least by a small part, else of the weakest; by how much."""
    x, sets = pull.reference, []
    for weight in _WEIGHTS:
        x = drawn(replace(pull, bar=_BAR / weight), *near, weight, x)
        sets.append(x)
    if error is None:
        return x, None
    errors = np.array([error(map_all @ one) for one in (*sets, edge)])
    least = max(float(errors.min()), 1e-300)
    cheap = np.flatnonzero(errors[:-1] <= (1 + _COST) * least)
    good = int(cheap[0]) if len(cheap) else len(sets) - 1
    return sets[good], float(errors[good] / least - 1)


def _objective(
    reach: np.ndarray, wanted: np.ndarray, start: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """P, q of x'Px/2 + q'x: the distance of reach @ x to what is wanted, and a little that of x to its start."""
    size = max(np.abs(reach).max(), 1e-300)
    rest = reach.shape[1] - len(start)
    pull = np.r_[np.ones(len(start)), np.zeros(rest)]
    weight = max(_LOOSE / size**2, 1e-10)
    P = (reach.T @ reach) / size**2 + weight * np.diag(pull)
    q = -(reach.T @ wanted) / size**2 - weight * pull * np.r_[start, np.zeros(rest)]
    return P, q


def _stepped(
    terms: Terms, x: np.ndarray, matrix: np.ndarray, units: np.ndarray, values: np.ndarray
) -> np.ndarray | None:
    """The natural parameters nearest to scaled x that give the values exactly, if they are consistent."""
    p, rigid = terms.rigid_size, terms.rigid
    moved = x + np.linalg.lstsq(matrix, values[:p] - matrix @ x, rcond=None)[0]
    natural = moved * units
    motors = rigid.motors
    if (natural[motors] < -1e-12 * units[motors]).any():
        return None
    natural[motors] = np.maximum(natural[motors], 0.0)
    if any(values[p + k] < 0 for k in _positive(terms)):
        return None
    table, _ = rigid.parted(natural)
    return natural if not all_doubts(terms.arm.with_parameters(table)) else None


def _exact(terms: Terms, natural: np.ndarray, values: np.ndarray) -> Feasible:
    table, armatures = terms.rigid.parted(natural)
    told = f"the fitted values are physically consistent; {_NOT_UNIQUE}"
    return Feasible(table, armatures, values, 0.0, True, told)


def one_body(ten: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """The ten parameters of a consistent body nearest to those given, in the metric of their covariance."""
    spectrum = np.linalg.eigvalsh(pseudo_inertia(ten))
    if spectrum[0] >= -_ROUNDED * spectrum[-1] and ten[0] > 0:  # thin plates lie on the edge
        return ten
    mass = max(abs(float(ten[0])), 1e-3)
    length = max(float(np.abs(ten[1:4]).max()) / mass, np.sqrt(np.abs(ten[4:]).max() / mass), 1e-3)
    units = np.array([mass, *[mass * length] * 3, *[mass * length**2] * 6])
    root = _information(covariance + np.diag((_FINE * units) ** 2)) * units
    size = np.abs(root).max()
    P = root.T @ root / size**2 + 1e-10 * np.eye(10)
    x, _ = _program(P, -P @ (ten / units), Cones((0,), ()), 10)
    return ten if x is None else x * units


def _scales(terms: Terms, own: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """A mass and a length of the robot."""
    n = terms.arm.n
    length = max(terms.arm.size / max(n - 1, 1), 1e-3) if n > 1 else 1.0
    mass = float(np.median(own[:, 0][own[:, 0] > 0])) if (own[:, 0] > 0).any() else 0.0
    if mass <= 0:
        mass = max(float(np.abs(values[: terms.rigid_size]).max()) / max(length, 1.0), 1e-3)
    return mass, length


def _information(covariance: np.ndarray) -> np.ndarray:
    """A root of the inverse of a covariance that may be singular: root' root = inverse."""
    scale = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    s, V = np.linalg.eigh(covariance / np.outer(scale, scale))
    s = np.maximum(s, 1e-12 * max(s[-1], 1e-300))
    return np.asarray((V / np.sqrt(s)).T / scale)


def _positive(terms: Terms) -> list[int]:
    """Unknowns beyond the rigid body that cannot be negative, counted from the first of them."""
    drives = terms.drives
    return [
        j * len(drives) + k
        for j in range(len(terms.joints))
        for k, (_, term, _) in enumerate(drives)
        if term.dissipative
    ]


@dataclass(frozen=True, slots=True)
class Cones:
    """What must be possible: where the ten parameters of each link begin, and which numbers are not negative."""

    links: Sequence[int]
    positive: Sequence[int]


def _cones(rigid: Rigid, signs: Sequence[int] = ()) -> Cones:
    """Links and armatures of a robot, and of its friction the numbers given."""
    return Cones(rigid.starts.tolist(), [*(rigid.size + k for k in signs), *rigid.motors.tolist()])


def _program(
    P: np.ndarray,
    q: np.ndarray,
    possible: Cones,
    size: int,
    equal: tuple[np.ndarray, np.ndarray] | None = None,
) -> tuple[np.ndarray | None, str]:
    """The minimiser of x'Px/2 + q'x over consistent links and non-negative armatures and friction, scaled.

    equal: M and v of further equations M x = v.
    """
    import clarabel
    import scipy.sparse as sparse

    rows = _pseudo_rows()
    blocks, right, cones = [], [], []
    if equal is not None:
        size_of = np.abs(equal[0]).sum(axis=1)
        blocks.append(equal[0] / size_of[:, None])
        right.append(equal[1] / size_of)
        cones.append(clarabel.ZeroConeT(len(equal[1])))
    positive = possible.positive
    if positive:
        A = np.zeros((len(positive), size))
        A[np.arange(len(positive)), positive] = -1.0
        blocks.append(A)
        right.append(np.zeros(len(positive)))
        cones.append(clarabel.NonnegativeConeT(len(positive)))
    floor = np.zeros(10)
    floor[[0, 2, 5, 9]] = _MARGIN
    for start in possible.links:
        A = np.zeros((10, size))
        A[:, start : start + 10] = -rows
        blocks.append(A)
        right.append(-floor)
        cones.append(clarabel.PSDTriangleConeT(4))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = 500
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(P)),
        q,
        sparse.csc_matrix(np.vstack(blocks)),
        np.concatenate(right),
        cones,
        settings,
    )
    solution = solver.solve()
    word = str(solution.status)
    if "Solved" not in word:
        return None, f"no consistent set found (solver says {word})"
    return np.array(solution.x), "solved"
