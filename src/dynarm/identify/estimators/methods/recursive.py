"""Lin's procedure: from the tip, each joint's own unknowns from its own small problem A_i w_i = gamma_i (111).

gamma_i is the joint's torque less what the unknowns found further out explain. Friction and armature columns of the
joint itself belong to its A_i. joint_conditions holds cond(A_i): infinite where the motion is not persistently
exciting (117). A prior takes no part.

A log is gone through by the paper's own recursion (`link_steps`), whose steps are kept. Where rows are folded already
(blocks of time that are drawn again), and for robots that the paper does not speak of, A_i and phi_i = (columns of the
unknowns further out) x (their values) are taken from the folded rows: the same numbers, tau being linear in them all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..estimator import Estimator
from ..factors import Factors
from ..least_squares import ROUNDING, deviations, sizes, weighted
from ..link_step import LinkStep
from ..link_steps import pseudo_inverse, shortened, small_problems, unheard_of
from ..problem import Problem, Solution


@dataclass(frozen=True, slots=True, eq=False)
class JointRows:
    """One joint's rows A_i, tau_i and gamma_i over its own unknowns `mine`; `outer`: those known from further out."""

    joint: int
    mine: np.ndarray
    outer: np.ndarray
    A: np.ndarray
    tau: np.ndarray
    gamma: np.ndarray
    values: np.ndarray


def solve(problem: Problem) -> Solution:
    """Values joint by joint from the tip; weights are those of their residuals."""
    one = problem.free.drawn()
    factors = one.factors
    values = np.zeros(factors.size)
    conditions = [1.0] * factors.n
    rank = 0
    kept = []
    for rows in _joints(problem, factors, values):
        _, s, full = pseudo_inverse(rows.A)
        conditions[rows.joint] = float(s[0] / s[-1]) if full else np.inf
        values[rows.mine] = rows.values
        rank += int((s > ROUNDING * s[0]).sum())
        kept.append(rows)
    sigma = np.maximum(deviations(factors, values), 1e-12 * sizes(factors) + 1e-300)
    solved = replace(
        weighted(one, 1 / sigma),
        problem=problem.free.settled,
        values=values,
        rank=rank,
        condition=max(conditions),
        joint_conditions=tuple(conditions),
    )
    return replace(solved, steps=_steps(solved, kept, problem)) if problem.sources else solved


def _joints(problem: Problem, factors: Factors, values: np.ndarray) -> Iterator[JointRows]:
    """Every joint's rows from the tip; `values` are filled by the caller as joints are solved."""
    places = list(_from_the_tip(factors))
    sources = problem.sources
    if len(sources) == 1 and unheard_of(sources[0].terms) is None and len(places) == factors.n:
        own = [np.zeros(0, int)] * factors.n
        for j, mine, _ in places:
            own[j] = factors.support[j][mine]
        met = small_problems(sources[0], own)
        for j, _, known in places:
            rows = met[j].rows
            outer = factors.support[j][known]
            yield JointRows(j, own[j], outer, rows[:, :-2], rows[:, -2], rows[:, -1], met[j].values)
        return
    for j, mine, known in places:
        R, support = factors.R[0][j], factors.support[j]
        A, tau = R[:, :-1][:, mine], R[:, -1]
        gamma = tau - R[:, :-1][:, known] @ values[support[known]]
        w = pseudo_inverse(A)[0] @ gamma
        yield JointRows(j, support[mine], support[known], A, tau, gamma, w)


def _steps(solved: Solution, kept: list[JointRows], problem: Problem) -> tuple[LinkStep, ...]:
    """The steps with how sure each is, and whose noise that comes from; residuals taken as white."""
    factors = solved.data.merged()
    ones = np.ones(factors.n)
    whole = np.diag(covariance(solved, ones))
    by_joint = np.array([np.diag(covariance(solved, e)) for e in np.eye(factors.n)])
    names = problem.sources[0].terms.row_names
    steps = []
    for rows in kept:
        _, s, full = pseudo_inverse(rows.A)
        mine = rows.mine
        short = shortened(np.column_stack([rows.A, rows.tau, rows.gamma]))
        parts = by_joint[:, mine] / np.maximum(whole[mine], 1e-300)
        shares = parts.mean(axis=1)
        steps.append(
            LinkStep(
                rows.joint,
                names[rows.joint],
                tuple(problem.names[k] for k in mine),
                short[:, :-2],
                short[:, -1],
                short[:, -2] - short[:, -1],
                len(rows.A),
                s,
                full,
                solved.values[mine],
                tuple(problem.names[k] for k in rows.outer),
                np.sqrt(np.maximum(whole[mine], 0.0)),
                np.sqrt(np.maximum(by_joint[rows.joint, mine], 0.0)),
                shares / max(float(shares.sum()), 1e-300),
            )
        )
    return tuple(steps)


def covariance(solution: Solution, inflations: np.ndarray) -> np.ndarray:
    """(p, p) of Lin's procedure: a joint's noise in its own unknowns, and doubt handed on from further out."""
    factors = solution.data.merged()
    variances = deviations(factors, solution.values) ** 2 * inflations
    C = np.zeros((factors.size, factors.size))
    for j, own, known in _from_the_tip(factors):
        R, support = factors.R[0][j], factors.support[j]
        inverse, _, _ = pseudo_inverse(R[:, :-1][:, own])
        mine, outer = support[own], support[known]
        handed = -inverse @ R[:, :-1][:, known]
        across = handed @ C[outer]
        C[mine] = across
        C[:, mine] = across.T
        C[np.ix_(mine, mine)] = (
            inverse @ inverse.T * variances[j] + handed @ C[np.ix_(outer, outer)] @ handed.T
        )
    return C


def _from_the_tip(factors: Factors) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Joints from the last to the first, and which of their unknowns are their own, which known from further out."""
    seen = np.zeros(factors.size, bool)
    rows = factors.rows.sum(axis=0)
    for j in range(factors.n - 1, -1, -1):
        known = seen[factors.support[j]]
        if rows[j] and not known.all():
            yield j, ~known, known
        seen[factors.support[j]] = True


ESTIMATOR = Estimator(solve, covariance, prior=False, together=False, floating=False)
