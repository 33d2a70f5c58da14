"""Lin's procedure: from the tip, each joint's own unknowns from its own small problem A_i w_i = gamma_i (111).

gamma_i is the joint's torque less what the unknowns found further out explain. Friction and armature columns of the
joint itself belong to its A_i. joint_conditions holds cond(A_i): infinite where the motion is not persistently
exciting (117). A prior takes no part. The steps themselves: `link_steps`, for every robot and every fold of a log.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..estimator import Estimator
from ..least_squares import ROUNDING, deviations, sizes, weighted
from ..link_steps import covariance, from_the_tip, pseudo_inverse
from ..problem import Problem, Solution


def solve(problem: Problem) -> Solution:
    """Values joint by joint from the tip; weights are those of their residuals."""
    one = problem.free.drawn()
    factors = one.factors
    values = np.zeros(factors.size)
    conditions = [1.0] * factors.n
    rank = 0
    for rows in from_the_tip(factors):
        inverse, s, full = pseudo_inverse(rows.A)
        values[rows.mine] = inverse @ rows.gamma(values)
        conditions[rows.joint] = float(s[0] / s[-1]) if full else np.inf
        rank += int((s > ROUNDING * s[0]).sum())
    sigma = np.maximum(deviations(factors, values), 1e-12 * sizes(factors) + 1e-300)
    return replace(
        weighted(one, 1 / sigma),
        problem=problem.free.settled,
        values=values,
        rank=rank,
        condition=max(conditions),
        joint_conditions=tuple(conditions),
    )


ESTIMATOR = Estimator(solve, covariance, prior=False, together=False, floating=False)
