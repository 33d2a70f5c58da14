"""Mass matrix and Coriolis tensor out of any inverse dynamics, by running it on unit motions.

[turney1980]  J. L. Turney, T. N. Mudge, C. S. G. Lee, Equivalence of two formulations for robot arm dynamics,
              University of Michigan, December 1980, end of section 3; costs in sections 6 and 7.
Frames     Those of the inverse dynamics that is strobed.
Differs    Velocities 1 at joints j and k give C_jj + C_kk + 2 C_jk, not C_jk: the two runs with one velocity each are
           taken away and the rest is halved. Column j of M is run for the joints from j outwards only; the rest of it
           is the mirrored half, so that no run moves or loads a link inside joint j.

    (2.11) tau = M qdd + C(q, qd) + G,  C_i = sum over j, k of C^i_jk qd_j qd_k,  C^i_jk = C^i_kj
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ...algebra.vectors import ZERO, Scalar, mul, sub
from ...robot.frames.chain import Chain, Step

InverseDynamics = Callable[..., list[Scalar]]
Rows = list[list[Scalar]]


def strobed_mass_matrix(
    inverse_dynamics: InverseDynamics,
) -> Callable[[Chain, Sequence[Step]], Rows]:
    """The function (arm, pose) -> M [kg m^2, kg m, kg] that strobes an inverse dynamics."""

    def mass_matrix(arm: Chain, pose: Sequence[Step]) -> Rows:
        joints = range(arm.n)
        free = replace(arm, gravity=ZERO)
        columns = [
            inverse_dynamics(free, pose, unit(arm.n), unit(arm.n, j)) for j in joints
        ]  # (2.11)
        return [[columns[min(i, j)][max(i, j)] for j in joints] for i in joints]

    return mass_matrix


def strobed_coriolis_tensor(
    inverse_dynamics: InverseDynamics,
) -> Callable[[Chain, Sequence[Step]], list[Rows]]:
    """The function (arm, pose) -> C[i][j][k] that strobes an inverse dynamics: bias_i = sum C^i_jk qd_j qd_k + G_i."""

    def coriolis_tensor(arm: Chain, pose: Sequence[Step]) -> list[Rows]:
        joints = range(arm.n)
        free = replace(arm, gravity=ZERO)

        def run(*moving: int) -> list[Scalar]:
            return inverse_dynamics(free, pose, unit(arm.n, *moving), unit(arm.n))  # (2.11)

        alone = [run(j) for j in joints]
        both = {(j, k): run(j, k) for k in joints for j in range(k)}

        def entry(i: int, j: int, k: int) -> Scalar:
            return (
                mul(0.5, sub(sub(both[j, k][i], alone[j][i]), alone[k][i]))
                if j < k
                else alone[j][i]
            )

        half = [{(j, k): entry(i, j, k) for k in joints for j in range(k + 1)} for i in joints]
        return [[[half[i][min(j, k), max(j, k)] for k in joints] for j in joints] for i in joints]

    return coriolis_tensor


def unit(n: int, *ones: int) -> list[Scalar]:
    """n plain numbers: 1 at the given places, 0 elsewhere, so that what does not move costs nothing."""
    return [1 if j in ones else 0 for j in range(n)]
