"""Steps 2 to 4 of lin1995's section IV on folded rows: joint by joint from the tip, A_i w_i = gamma_i.

[lin1995]  S.-K. Lin, Minimal linear combinations of the inertia parameters of a manipulator, IEEE Trans. Robotics and
           Automation 11 (1995) 360-373, section IV.

    (107) A_i: the rows v_i of the joint's own unknowns       (109) v_i: (97), (98), (103), (104)
    (108) gamma_i = tau_i - phi_i                             (110) phi_i: what the joints beyond i explain of tau_i
    (111) A_i w_i = gamma_i, at the tip (113), before the first rotational joint (116)
    (117) A_i' A_i is positive definite: the motion excites joint i persistently

Step 1 and 3.1 are the rows themselves: on chains the regressor is that of the paper's section III-B, (57)-(93), by its
unknowns, so that its columns of w_i are v_i and, phi_i being linear in the unknowns further out, those of the others
are what (110) multiplies them with. A log is gone through once, whatever the estimator; orthogonal factors of the rows
[A_i, columns further out, tau_i] hold (108) to (117) as the rows do. On trees, with joints that follow others, with
friction, armatures and a user's own columns nothing changes: an unknown belongs to the outermost joint that feels it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...border.memo import cached_property
from .factors import Factors
from .least_squares import ROUNDING, deviations, lengths
from .link_step import LinkStep
from .problem import Solution

if TYPE_CHECKING:
    from ..record import Record


@dataclass(frozen=True, slots=True, eq=False)
class JointRows:
    """One joint's rows: A_i over its own unknowns `mine`, those of `outer`, known from further out, and tau_i."""

    joint: int
    mine: np.ndarray
    outer: np.ndarray
    A: np.ndarray
    beyond: np.ndarray
    tau: np.ndarray
    count: int  # of the log's rows

    def phi(self, values: np.ndarray) -> np.ndarray:
        """What the unknowns further out explain of tau_i (110)."""
        return np.asarray(self.beyond @ values[self.outer])

    def gamma(self, values: np.ndarray) -> np.ndarray:
        """tau_i less that (108)."""
        return np.asarray(self.tau - self.phi(values))


def from_the_tip(factors: Factors) -> Iterator[JointRows]:
    """The rows of every joint that has unknowns of its own, from the last to the first; factors of one block."""
    seen = np.zeros(factors.size, bool)
    counts = factors.rows.sum(axis=0)
    for j in range(factors.n - 1, -1, -1):
        R, support = factors.R[0][j], factors.support[j]
        known = seen[support]
        if counts[j] and not known.all():
            X = R[:, :-1]
            mine, outer = support[~known], support[known]
            yield JointRows(j, mine, outer, X[:, ~known], X[:, known], R[:, -1], int(counts[j]))
        seen[support] = True


def pseudo_inverse(A: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
    """The pseudo-inverse, the singular values with columns of length one, and whether the rank is full (117)."""
    scale = lengths(A)
    U, s, V = np.linalg.svd(A / scale, full_matrices=False)
    good = s > ROUNDING * s[0]
    full = bool(good.all()) and len(s) == A.shape[1]
    inverse = (V.T * np.where(good, 1 / np.where(good, s, 1), 0)) @ U.T / scale[:, None]
    return inverse, s, full


def covariance(solution: Solution, inflations: np.ndarray) -> np.ndarray:
    """(p, p) of Lin's procedure: a joint's noise in its own unknowns, and doubt handed on from further out."""
    factors = solution.data.merged()
    variances = deviations(factors, solution.values) ** 2 * inflations
    C = np.zeros((factors.size, factors.size))
    for rows in from_the_tip(factors):
        inverse, _, _ = pseudo_inverse(rows.A)
        mine, outer = rows.mine, rows.outer
        handed = -inverse @ rows.beyond
        across = handed @ C[outer]
        C[mine] = across
        C[:, mine] = across.T
        own = inverse @ inverse.T * variances[rows.joint]
        C[np.ix_(mine, mine)] = own + handed @ C[np.ix_(outer, outer)] @ handed.T
    return C


def steps_of(solution: Solution, joints: tuple[str, ...]) -> tuple[LinkStep, ...]:
    """The steps behind a solution, with how sure each is and whose noise that comes from; residuals taken as white.

    joints: the names of the rows. Nothing of solutions by another estimator, and of those whose rows are gone.
    """
    if solution.problem is None or not solution.joint_conditions:
        return ()
    factors = solution.data.merged()
    whole = np.diag(covariance(solution, np.ones(factors.n)))
    by_joint = np.array([np.diag(covariance(solution, e)) for e in np.eye(factors.n)])
    names = solution.problem.names
    return tuple(
        _step(rows, solution.values, whole, by_joint, names, joints)
        for rows in from_the_tip(factors)
    )


def _step(
    rows: JointRows,
    values: np.ndarray,
    whole: np.ndarray,
    by_joint: np.ndarray,
    names: tuple[str, ...],
    joints: tuple[str, ...],
) -> LinkStep:
    """One joint's step. whole, by_joint: variances of all unknowns, by the noise of all joints and of each."""
    _, s, full = pseudo_inverse(rows.A)
    mine = rows.mine
    shares = (by_joint[:, mine] / np.maximum(whole[mine], 1e-300)).mean(axis=1)
    return LinkStep(
        rows.joint,
        joints[rows.joint],
        tuple(names[k] for k in mine),
        rows.A,
        rows.gamma(values),
        rows.phi(values),
        rows.count,
        s,
        full,
        values[mine],
        tuple(names[k] for k in rows.outer),
        np.sqrt(np.maximum(whole[mine], 0.0)),
        np.sqrt(np.maximum(by_joint[rows.joint, mine], 0.0)),
        shares / max(float(shares.sum()), 1e-300),
    )


class LinkByLink:
    """What a fit tells of the procedure that its solution came from."""

    record: Record
    solution: Solution

    @property
    def joint_conditions_(self) -> tuple[float, ...]:
        """cond(A_i) of every joint (recursive estimator)."""
        return self.solution.joint_conditions

    @property
    def steps_(self) -> tuple[LinkStep, ...]:
        """The steps of lin1995's section IV from the tip inwards, one a joint (recursive estimator; else empty).

        A fit's file holds none of the rows that they are made of: a fit read from one refuses.
        """
        if self.solution.joint_conditions:
            self.record.solved("steps_ (dynarm.Identifier(arm, estimator='recursive').fit(log))")
        return self.known_steps

    @cached_property
    def known_steps(self) -> tuple[LinkStep, ...]:
        """The same, none where the fit was read from a file."""
        return steps_of(self.solution, self.record.terms.row_names)
