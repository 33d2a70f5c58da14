"""How sure the values are: standard deviations with autocorrelated residuals, bootstrap, whiteness, spectra."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..band import band, factor_for
from ..bodies import wrench_forces
from ..estimators.factors import CHUNK, stream
from ..estimators.least_squares import freedoms
from ..estimators.problem import Problem, Solution
from ..flow import excerpt, rows_of
from ..preprocess import Preparation, Stretch
from ..regressor import Terms
from ..rests import idle_rows, same_place

_MOTION = 0.95  # part of the velocities' power that says where the motion's frequencies end
_LEAST = 0.1  # of an inflation: what leaks into low frequencies cannot be told from more
_LEFT = 0.4  # of the lowest frequencies at least, after a fit
_SPARSE = 3000  # rows that tell at which frequencies columns are
_SHOWN = 4000  # samples of measured and predicted torque that a fit keeps for its report


@dataclass(frozen=True, slots=True, eq=False)
class Residuals:
    """What is left of the torques, joint by joint, on the rows that were fitted."""

    t: tuple[np.ndarray, ...]
    measured: tuple[np.ndarray, ...]
    predicted: tuple[np.ndarray, ...]
    inflation: np.ndarray  # (n,) long-run variance over variance
    rms: np.ndarray  # (n,)
    # (n,) standard deviation of the torque; NaN where there is nothing to explain
    spread: np.ndarray
    correlation: np.ndarray  # (n, lags) autocorrelation of the residual, lags 1, 2, ...
    white: np.ndarray  # (n,) part of those lags inside the 95 % band of white noise
    spectrum: tuple[tuple[np.ndarray, np.ndarray], ...]  # frequency [Hz] and density of each


def residuals(
    terms: Terms,
    pieces: Sequence[Stretch],
    how: Preparation,
    values: np.ndarray,
    solution: Solution | None = None,
) -> Residuals:
    """The residuals of the given values; of long logs, in their middle.

    solution: what the values are of; their inflation then counts what the fit took from the residuals.
    """
    n = terms.n
    empty: list[list[list[np.ndarray]]] = [[[] for _ in range(n)] for _ in range(3)]
    t, y, z = empty
    for piece in _excerpt(pieces):
        if factor_for(how, piece.rate) == 1:
            tau, force = _undecimated(terms, piece, values)
            for j in range(n):
                keep = piece.keep[:, j]
                t[j].append(piece.t[keep])
                y[j].append(tau[keep, j])
                z[j].append(force[keep, j])
            continue
        for chunk in stream(terms, [piece], how):
            for j in range(n):
                t[j].append(chunk.t[j])
                y[j].append(chunk.Xy[j][:, -1].copy())
                z[j].append(chunk.Xy[j][:, :-1] @ values[terms.support[j]])
    time, measured, predicted = ([np.concatenate(x) for x in xs] for xs in (t, y, z))
    left = [a - b for a, b in zip(measured, predicted, strict=True)]
    edge = band(_excerpt(pieces), _MOTION)
    lags, many = np.array([_correlation(r) for r in left]), np.array([len(r) for r in left])
    bound = 1.96 / np.sqrt(np.maximum(many, 1))
    some = many > 0
    counts = [lowest(len(r), edge * _lasting(x)) for x, r in zip(time, left, strict=True)]
    lost = np.zeros(n) if solution is None else _taken(terms, pieces, how, solution, counts, many)
    swell = np.array([inflation(r, k, d) for r, k, d in zip(left, counts, lost, strict=True)])
    if not some.all() and some.any():
        swell[~some] = swell[some].mean()
    told = some & ~idle_rows(terms.arm, _still(pieces))
    return Residuals(
        tuple(_thin(x) for x in time),
        tuple(_thin(x) for x in measured),
        tuple(_thin(x) for x in predicted),
        swell,
        np.array([np.sqrt((r**2).mean()) if len(r) else 0.0 for r in left]),
        np.array([m.std() if t else np.nan for m, t in zip(measured, told, strict=True)]),
        lags,
        (np.abs(lags) < bound[:, None]).mean(axis=1),
        tuple(_spectrum(x, r) for x, r in zip(time, left, strict=True)),
    )


def _still(pieces: Sequence[Stretch]) -> np.ndarray:
    """(nv,) which speeds are none, at one place in all pieces."""
    ends = [x for piece in pieces for x in (piece.q.min(axis=0), piece.q.max(axis=0))]
    span = same_place(np.array(ends), pieces[0].qd.shape[1])
    return np.asarray(span & np.all([(piece.qd == 0).all(axis=0) for piece in pieces], axis=0))


def _excerpt(pieces: Sequence[Stretch]) -> list[Stretch]:
    """The pieces, or as much of their middles as statistics need."""
    total = rows_of(pieces)
    return [excerpt(piece, total) for piece in pieces]


def _undecimated(terms: Terms, piece: Stretch, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Measured and predicted torques of a stretch, all samples."""
    force = np.empty_like(piece.tau)
    held = None if piece.wrench is None else wrench_forces(terms.arm, piece.q, piece.wrench)
    for low in range(0, len(piece), CHUNK):
        rows = slice(low, low + CHUNK)
        x, borne = (None if array is None else array[rows] for array in (piece.deflections, held))
        force[rows] = terms.forces(values, piece.q[rows], piece.qd[rows], piece.qdd[rows], x, borne)
    return piece.tau if held is None else piece.tau - held, force


def _thin(x: np.ndarray) -> np.ndarray:
    return x[:: max(1, len(x) // _SHOWN)].copy()


def _lasting(t: np.ndarray) -> float:
    """Time that a joint's rows cover [s], gaps left out."""
    return float(np.median(np.diff(t)) * len(t)) if len(t) > 1 else 0.0


def lowest(n: int, cycles: float = np.inf) -> int:
    """How many frequencies of n rows are low: as many as the motion has cycles, 8 at least, at most the root of n."""
    return int(max(8, min(np.sqrt(n), cycles)))


def inflation(residual: np.ndarray, low: int | None = None, taken: float = 0.0) -> float:
    """Long-run variance over variance: how many rows tell as much as one independent row; below 1 for blue residuals.

    The long-run variance is the mean of the periodogram over its lowest frequencies (`lowest`), where the regressors
    live. taken: degrees of freedom that a fit took there, of two a frequency: what is left is less than the noise was.
    """
    n = len(residual)
    if n < 16:
        return 1.0
    power = np.abs(np.fft.rfft(residual - residual.mean()))[1:] ** 2
    if power.mean() <= 0:
        return 1.0
    count = lowest(n) if low is None else low
    left = max(1 - taken / (2 * count), _LEFT)
    return float(max(_LEAST, power[:count].mean() / (left * power.mean())))


def _taken(
    terms: Terms,
    pieces: Sequence[Stretch],
    how: Preparation,
    solution: Solution,
    counts: Sequence[int],
    many: np.ndarray,
) -> np.ndarray:
    """(n,) degrees of freedom that a solution took from the lowest frequencies of each joint's rows, of so many."""
    step = max(1, sum(map(len, pieces)) // _SPARSE)
    thin = [piece.part(slice(None, None, step)) for piece in pieces]
    rows: list[list[np.ndarray]] = [[] for _ in range(terms.n)]
    for chunk in stream(terms, [p for p in thin if len(p)], replace(how, decimate=1)):
        for j, Xy in enumerate(chunk.Xy):
            rows[j].append(Xy[:, :-1].copy())
    share = np.zeros(terms.n)
    for j, (parts, low) in enumerate(zip(rows, counts, strict=True)):
        if not parts or not (X := np.concatenate(parts)).any():
            continue
        A = solution.covariance[np.ix_(terms.support[j], terms.support[j])]
        lines = np.fft.rfft(X, axis=0)[1 : low + 1]
        inside = 2 * np.einsum("kp,pq,kq->", lines.conj(), A, lines).real / len(X)
        share[j] = np.clip(inside / max(float(np.sum((X @ A) * X)), 1e-300), 0.0, 1.0)
    part = many / np.maximum(solution.data.rows.sum(axis=0), 1)  # of the rows that were fitted
    return np.asarray(freedoms(solution) * share * np.minimum(part, 1.0))


def _correlation(residual: np.ndarray, lags: int = 20) -> np.ndarray:
    r = residual - residual.mean() if len(residual) else residual
    power = float(r @ r)
    if power <= 0 or len(r) <= lags:
        return np.zeros(lags)
    return np.array([r[k:] @ r[:-k] for k in range(1, lags + 1)]) / power


def _spectrum(t: np.ndarray, residual: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    import scipy.signal as signal

    if len(residual) < 16:
        return np.zeros(0), np.zeros(0)
    rate = 1 / max(float(np.median(np.diff(t))), 1e-12)
    frequency, density = signal.welch(
        residual, rate, nperseg=min(len(residual), max(256, len(residual) // 16))
    )
    return frequency, density


def bootstrap(
    problem: Problem,
    solve: Callable[[Problem], Solution],
    repetitions: int = 200,
    seed: int = 0,
) -> np.ndarray:
    """(repetitions, p): values that the same problem, its prior included, has on blocks drawn with replacement."""
    rng = np.random.default_rng(seed)
    blocks = problem.factors.blocks
    draws = rng.integers(blocks, size=(repetitions, blocks))
    return np.array([solve(problem.drawn(draw.tolist())).values for draw in draws])


def essential(solution: Solution, names: Sequence[str], rise: float = 0.01) -> tuple[str, ...]:
    """Names of the unknowns left when others are left out one by one, until the error has risen by 1 %."""
    merged = solution.data.merged()
    kept = list(range(merged.size))
    weights = solution.weights

    def left(columns: Sequence[int]) -> tuple[float, np.ndarray]:
        X, y = merged.choose(columns).stacked(weights)
        Q, R = np.linalg.qr(X)
        right = Q.T @ y
        spread = np.abs(np.linalg.pinv(R))
        values = np.linalg.pinv(R) @ right
        size = np.abs(values) / np.maximum(np.sqrt((spread**2).sum(axis=1)), 1e-300)
        return float(y @ y - right @ right), size

    start, size = left(kept)
    while len(kept) > 1:
        weakest = int(np.argmin(size))
        fewer = kept[:weakest] + kept[weakest + 1 :]
        error, smaller = left(fewer)
        if error > start * (1 + rise) ** 2 + 1e-300:
            break
        kept, size = fewer, smaller
    return tuple(names[k] for k in kept)
