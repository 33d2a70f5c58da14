"""Whether a log tells rigid bodies better than their description does.

First by reconstructed torques, which is quick: bodies that the first part of a log tells have to explain the torques of
the rest better. Where they do, by rollouts: both are fitted to the first part, and along the rest the bodies have to be
surely nearer to the recorded positions. Only then are they fitted to all of it; else the description is kept. A joint
that rests may be held by more than its controller: what it says of the bodies cannot be trusted, they are kept as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...border.kinds import FloatArray
from ...dynamics.drive import smooth_sign
from ...robot.arm import Arm
from .bodies import Bodies, bodies_of
from .body_rows import common_factor
from .certainty import ALIKE
from .checks import gain_doubts
from .loop import Loop, commanded, simulated
from .rollouts import first_state
from .solving import DriveSolution, fitted_loop, solved
from .tracks import Track, moving

_PART = 0.7  # of every stretch that bodies are fitted to before they are tried on the rest
_SHORTEST = 1.0  # [s] that the rest must have in all
_BLOCK = 0.25  # [s] stretches of time whose errors count as independent
_ROUNDS = 4  # of bodies by torques, each weighted by what the one before left
_WORTH = 0.1  # sum over joints of logarithms of torque errors that a first look has to gain
_FINE = 1e-6  # of a joint's torques: less is not asked of what bodies leave
_SURE = 3.0  # standard errors by which rollouts have to be better
_BETTER = 0.3  # and by how much at least, logarithms of errors summed over joints
_LEAST = 1e-9  # [rad or m] of an error
KEPT = "rigid bodies are those of the description"


@dataclass(frozen=True, slots=True, eq=False)
class BodyChoice:
    """What is to be said about the bodies, and where the log tells them, they with the solution of all.

    doubts: sentences about units or gains with which no number of the fit is to be trusted.
    """

    told: str = KEPT
    bodies: Bodies | None = None
    solution: DriveSolution | None = None
    doubts: tuple[str, ...] = ()


def doubted(units: Sequence[str], gains: Sequence[str]) -> BodyChoice:
    """The description is kept, whatever bodies would follow the log with wrong units or gains."""
    what = [word for word, said in (("units", units), ("gains", gains)) if said]
    return BodyChoice(f"{KEPT}: {' and '.join(what)} are in doubt", doubts=(*units, *gains))


def decided(arm: Arm, loop: Loop, tracks: Sequence[Track], plain: DriveSolution) -> BodyChoice:
    """The bodies as described, or as the log tells them if that is surely better."""
    heads, tails = _parts(tracks)
    if sum(float(k.t[-1] - k.t[0]) for k in tails) < _SHORTEST:
        return BodyChoice(f"{KEPT}: the log is too short to try others")
    if not (moves := moving(tracks)).all():
        return BodyChoice(f"{KEPT}: joint '{arm.joint_names[int(np.argmin(moves))]}' rests")
    bodies = bodies_of(arm)
    first = looked(bodies, loop, heads, tails, plain.delay)
    if first is None:
        return BodyChoice(f"{KEPT}: the log tells none that explain its torques better")
    both = [solved(loop, heads), solved(loop, heads, bodies, first)]
    errors = [_errors(loop, bodies, one, tails) for one in both]
    if not _surely(*errors):
        return BodyChoice(f"{KEPT}: others do not surely follow the log better")
    natural = both[1].natural
    answer = solved(loop, tracks, bodies, natural)
    before, after = (1e3 * float(np.sqrt(np.mean(np.square(e)))) for e in errors)
    if not np.isfinite(answer.rms).all() or answer.rms.mean() > plain.rms.mean():
        return BodyChoice(f"{KEPT}: others do not surely follow the log better")
    factor = common_factor(bodies, answer)
    if doubts := gain_doubts(1 / factor if factor else 1.0):
        return doubted((), doubts)
    told = f"rigid bodies are told by the log: {after:.3g} mrad on time left out, {before:.3g} with those described"
    if factor is not None:
        told += f"; they are {factor:.3g} times those described: gains times {1 / factor:.3g} would say the same"
    return BodyChoice(told, bodies, answer)


def _parts(tracks: Sequence[Track]) -> tuple[list[Track], list[Track]]:
    """The first and the last part of every stretch."""
    heads, tails = [], []
    for track in tracks:
        at = int(_PART * len(track.t))
        heads.append(track.cut(slice(0, at)))
        if len(track.t) - at >= 8:
            tails.append(track.cut(slice(at, None)))
    return heads, tails


# ---- by torques


def looked(
    bodies: Bodies, loop: Loop, heads: Sequence[Track], tails: Sequence[Track], delay: float
) -> FloatArray | None:
    """Natural parameters by torques of the first parts; None where they explain the last no better than described."""
    seen, unseen = (_torque_rows(bodies, loop, parts, delay) for parts in (heads, tails))
    sizes = np.array([np.sqrt(np.mean(y**2)) for _, y, _ in seen])
    least = np.maximum(_FINE * sizes, 1e-12)
    Z = np.stack([_without(X, Y) for X, _, Y in seen], axis=1)
    natural = bodies.described
    for _ in range(_ROUNDS):  # what bodies leave is noise only once they are about right
        change = bodies.matrix @ (natural - bodies.described)
        left = np.column_stack([_without(X, y - Y @ change) for X, y, Y in seen])
        sigma = np.maximum(np.sqrt((left**2).mean(axis=0)), least)
        A, b = Z / sigma[:, None], -left / sigma
        gram, slope = np.tensordot(A, A, ([0, 1], [0, 1])), np.tensordot(A, b, ([0, 1], [0, 1]))
        natural = bodies.drawn(gram / ALIKE, slope / ALIKE, natural)
    return natural if _gain(seen, unseen, bodies.matrix @ (natural - bodies.described)) else None


def _gain(seen: Sequence[Rows], unseen: Sequence[Rows], change: FloatArray) -> bool:
    """Whether changed values, with drives that go with them, leave less of torques that they were not fitted to."""
    gain = 0.0
    for (X, y, Y), (X_new, y_new, Y_new) in zip(seen, unseen, strict=True):
        own, other = (np.linalg.lstsq(X, z, rcond=None)[0] for z in (y, y - Y @ change))
        before = float(np.mean((y_new - X_new @ own) ** 2))
        after = float(np.mean((y_new - Y_new @ change - X_new @ other) ** 2))
        gain += 0.5 * float(np.log(max(before, 1e-24) / max(after, 1e-24)))
    return gain > _WORTH


# columns of drives, torques left, columns of bodies
Rows = tuple[FloatArray, FloatArray, FloatArray]


def _torque_rows(bodies: Bodies, loop: Loop, tracks: Sequence[Track], delay: float) -> list[Rows]:
    """Of every joint: columns (N, 4) of its drives, torques (N,) that bodies leave, columns (N, p) of these."""
    q, qd, qdd = (np.vstack([track.states[k] for track in tracks]) for k in range(3))
    given = np.vstack([commanded(k.t, k.command, k.t - delay) for k in tracks])
    Y = bodies.rigid.compiled(q, qd, qdd)
    y = loop.torques(given, q, qd) - Y @ (bodies.matrix @ bodies.described)
    X = np.stack([qdd, qd, smooth_sign(qd, 1 / loop.widths), np.ones_like(qd)], axis=-1)
    return [(X[:, j], y[:, j], Y[:, j]) for j in range(loop.n)]


def _without(X: FloatArray, Y: FloatArray) -> FloatArray:
    """Columns Y, or a vector, less what columns X explain of them."""
    U, s, _ = np.linalg.svd(X / np.maximum(np.abs(X).max(axis=0), 1e-12), full_matrices=False)
    U = U[:, s > 1e-9 * s[0]]
    return np.asarray(Y - U @ (U.T @ Y))


# ---- by rollouts


def _errors(
    loop: Loop, bodies: Bodies, answer: DriveSolution, tracks: Sequence[Track]
) -> FloatArray:
    """(blocks, n): root mean square errors of rollouts along stretches, by blocks of time."""
    own, rows = fitted_loop(loop, bodies, answer), []
    for k in tracks:
        x = first_state(own, k, answer.drives, answer.delay)
        start, steps = (x[: own.n], x[own.n :]), own.substeps(k.t, k.q, answer.drives)
        run = simulated(own, k.t, k.command, start, answer.drives[None], answer.delay, steps)
        many = max(1, int((k.t[-1] - k.t[0]) / _BLOCK))
        squares = np.array_split((run[:, 0] - k.q) ** 2, many)
        rows += [np.sqrt(part.mean(axis=0)) for part in squares]
    return np.array(rows)


def _surely(before: FloatArray, after: FloatArray) -> bool:
    """Whether errors by blocks are surely less than before, and by as much as matters."""
    if not np.isfinite(after).all():
        return False
    if not np.isfinite(before).all():
        return True
    gain = np.log(np.maximum(before, _LEAST) / np.maximum(after, _LEAST)).sum(axis=1)
    error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else np.inf
    return bool(gain.mean() > max(_SURE * error, _BETTER))
