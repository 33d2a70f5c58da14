"""Coulomb friction that can hold: forces of all joints at once, over abstract scalars.

    hold = clip(steep (qd + lead qdd), -coulomb, coulomb)

Without a lead it is the smoothed sign of the velocity (`dynamics.drive.smooth_sign`). With one it answers to what
accelerates a joint, too: a joint whose friction is not overcome comes to rest within about the lead, and stays. Physics
engines have it so (MuJoCo's frictionloss by default: 9.5 ms), where friction turns over a little before velocity does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...algebra.ldl import LDL
from ...algebra.vectors import Scalar, add, clip, mul, sub
from ...dynamics.drive import smooth_sign

BLUNT = (
    1.3862943611198906  # 2 log 2 widths of tanh: a clipped line over these lacks as much of a sign
)
_SWEEPS = (
    3  # of Gauss and Seidel over joints; two are too few where many joints of an arm stick at once
)


@dataclass(frozen=True, slots=True, eq=False)
class Holding:
    """Coulomb friction of all joints: its size, one over its width, and its lead [s]."""

    coulomb: Sequence[Scalar]
    sharp: Sequence[Scalar]
    lead: Scalar

    def accelerations(
        self, factors: LDL, free: Sequence[Scalar], qd: Sequence[Scalar]
    ) -> list[Scalar]:
        """(n,) with friction, of those without it and the factors of the mass matrix M: free - M^-1 hold.

        Joint by joint each one's own equation exactly, the others as they are.
        """
        n = len(free)
        inverse = [factors.solve([int(k == i) for k in range(n)]) for i in range(n)]
        a, hold = list(free), [0] * n
        for _ in range(_SWEEPS):
            for i in range(n):
                without = add(a[i], mul(inverse[i][i], hold[i]))
                now = self._alone(i, add(qd[i], mul(self.lead, without)), inverse[i][i])
                a, hold[i] = _pushed(a, inverse[i], sub(now, hold[i])), now
        for i in range(n):
            a = _pushed(a, inverse[i], self._rounding(i, qd[i], inverse[i][i]))
        return a

    def _steep(self, i: int) -> Scalar:
        return mul(mul(1 / BLUNT, self.coulomb[i]), self.sharp[i])

    def _yield(self, i: int, inverse: Scalar) -> Scalar:
        """By how much a force that grows is answered by the acceleration that it changes."""
        return add(1, mul(mul(self._steep(i), self.lead), inverse))

    def _alone(self, i: int, ahead: Scalar, inverse: Scalar) -> Scalar:
        """The force of a joint that would have a velocity ahead were it not for that force."""
        return clip(mul(self._steep(i), ahead) / self._yield(i, inverse), self.coulomb[i])

    def _rounding(self, i: int, v: Scalar, inverse: Scalar) -> Scalar:
        """What a smoothed sign has more than a clipped line; as good as nothing where a lead holds a joint."""
        line = clip(mul(self._steep(i), v), self.coulomb[i])
        smooth = mul(self.coulomb[i], smooth_sign(v, self.sharp[i]))
        held = mul(self._yield(i, inverse), self._yield(i, inverse))
        return sub(smooth, line) / mul(held, held)


def _pushed(a: Sequence[Scalar], column: Sequence[Scalar], force: Scalar) -> list[Scalar]:
    """Accelerations after a force against one joint; column: of the inverse mass matrix."""
    return [sub(x, mul(c, force)) for x, c in zip(a, column, strict=True)]
