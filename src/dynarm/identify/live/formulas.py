"""One sample of the estimates that run along, over abstract scalars: for NumPy, compiled code and C alike.

Payload. What a body on the tool adds to the torques is linear in its ten parameters x about the tool's frame,
y = tau - tau_model = Z x + noise. A Kalman filter without motion of x takes the joints one after the other:

    s = z P z' + r        k = P z' / s        x <- x + k (y - z x)        P <- P - k z P

Push. The momentum observer (De Luca and Mattone 2003; De Luca, Albu-Schaeffer, Haddadin, Hirzinger 2006) filters the
torque from outside without accelerations, with p = M qd and the gain 1 / T:

    r = (p(t) - p(0) - integral (tau - friction + C' qd - g + r) dt) / T

r follows the torque from outside like a low-pass filter of the time constant T; C' qd = d/dt M qd - C qd.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...algebra.vectors import Scalar, add, mul, sub, total

TEN = 10
PAIRS = tuple((i, j) for i in range(TEN) for j in range(i + 1))  # of P: its lower triangle by rows
STATE = TEN + len(PAIRS)


def taken(
    state: Sequence[Scalar],
    rows: Sequence[Sequence[Scalar]],
    left: Sequence[Scalar],
    noise: Sequence[Scalar],
) -> list[Scalar]:
    """The state [x, P] after one sample: rows Z (n, 10), left y (n,), noise: variances (n,)."""
    x, P = list(state[:TEN]), dict(zip(PAIRS, state[TEN:], strict=True))
    for z, y, r in zip(rows, left, noise, strict=True):
        if all(isinstance(entry, (int, float)) and entry == 0 for entry in z):
            continue
        Pz = [total(*(mul(P[max(i, j), min(i, j)], z[j]) for j in range(TEN))) for i in range(TEN)]
        share = 1 / add(r, total(*(mul(a, b) for a, b in zip(z, Pz, strict=True))))
        miss = mul(share, sub(y, total(*(mul(a, b) for a, b in zip(z, x, strict=True)))))
        x = [add(a, mul(b, miss)) for a, b in zip(x, Pz, strict=True)]
        scaled = [mul(share, b) for b in Pz]
        P = {(i, j): sub(P[i, j], mul(scaled[i], Pz[j])) for i, j in PAIRS}
    return [*x, *(P[pair] for pair in PAIRS)]
