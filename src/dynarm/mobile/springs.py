"""How wheels on springs share a load: the ground pushes and never pulls.

The platform is rigid and each wheel a vertical spring that carries nothing when it is lifted. The deflection is a plane
over (x, y), N_j = k_j max(0, deflection_j), and the N_j balance the load: a linear complementarity problem with one
solution wherever the load point lies inside the support polygon. The wheels that carry are those on one side of a
line, so that a few sets come into question, each with a constant 3x3 system; the right one is that whose plane has the
right sign at every wheel. All are computed and one is chosen, without a branch: exact for floats, batches and symbols.

Outside the polygon no upward forces balance the load; then the two wheels of the nearest side carry its vertical part,
as at the moment of tipping.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ..algebra.piecewise import chosen, positive, smaller, smallest, step
from ..algebra.vectors import Scalar, add, magnitude, mul, sub, total
from ..robot.frames.chain import tidy

LIFTED = 1e-12  # of the whole load, below which a wheel carries nothing
_FLAT = 1e-9
_NEVER = 1e-300  # added to a divisor that may be 0


@dataclass(frozen=True, slots=True, eq=False)
class Springs:
    """Where the wheels stand and how stiff they are; `sets`: groups of wheels that may be all that carry."""

    places: tuple[tuple[float, float], ...]  # of the contact points, (x, y) in {v}
    stiffness: tuple[float, ...]  # relative to their mean
    sets: tuple[tuple[int, ...], ...]
    sides: tuple[tuple[int, int], ...]  # of the support polygon, counter-clockwise


def springs_of(
    places: np.ndarray, stiffness: Sequence[float], sides: Sequence[tuple[int, int]]
) -> Springs:
    """The springs of wheels at (w, 2) places; of three each carries what statics says, however stiff it is."""
    k = np.array(stiffness, float) if len(places) > 3 else np.ones(len(places))
    k = k / k.mean()
    rows = tuple((float(x), float(y)) for x, y in places)
    return Springs(rows, tuple(k.tolist()), _sets(np.array(rows)), tuple(sides))


def _sets(xy: np.ndarray) -> tuple[tuple[int, ...], ...]:
    """The groups that a line can cut off and that span a plane, the largest first."""
    w, size = len(xy), float(np.ptp(xy, axis=0).max())
    groups = {frozenset(range(w))}
    for i, j in combinations(range(w), 2):
        along = xy[j] - xy[i]
        if np.linalg.norm(along) <= _FLAT * size:
            continue
        height = along[0] * (xy[:, 1] - xy[i, 1]) - along[1] * (xy[:, 0] - xy[i, 0])
        on = np.abs(height) <= _FLAT * size * size
        order = sorted(np.flatnonzero(on), key=lambda m: float(xy[m] @ along))
        for sign in (1, -1):
            side = frozenset(np.flatnonzero(~on & (sign * height > 0)).tolist())
            for cut in range(len(order) + 1):
                groups.add(side | frozenset(int(m) for m in order[:cut]))
                groups.add(side | frozenset(int(m) for m in order[cut:]))
    kept = [group for group in groups if _spans(xy[sorted(group)], size)]
    return tuple(sorted((tuple(sorted(g)) for g in kept), key=lambda g: (-len(g), g)))


def _spans(xy: np.ndarray, size: float) -> bool:
    """Whether the points do not lie in one line."""
    if len(xy) < 3:
        return False
    return bool(np.linalg.svd(xy - xy.mean(0), compute_uv=False)[1] > _FLAT * size)


@dataclass(frozen=True, slots=True, eq=False)
class Carry:
    """Vertical forces, which wheels stand, whether the load point lies outside the polygon (1 or 0), and the moments
    about its sides."""

    up: list[Scalar]
    stands: list[Scalar]
    tips: Scalar
    sides: list[Scalar]


def carry(springs: Springs, force: Scalar, about_x: Scalar, about_y: Scalar) -> Carry:
    """What each wheel carries of a force up and moments about x and y on the ground below {v}."""
    sides = [_moment(springs, side, force, about_x, about_y) for side in springs.sides]
    tips = step(-smallest(sides))
    inside = _on_springs(springs, force, about_x, about_y)
    outside = _on_a_side(springs, force, about_x, about_y)
    up = [chosen(tips, positive(b), positive(a)) for a, b in zip(inside, outside, strict=True)]
    # what is left of a wheel by rounding is none: otherwise the last digit would decide who holds the robot
    least = mul(LIFTED, magnitude(force))
    stands = [step(sub(one, least)) for one in up]
    return Carry([mul(s, u) for s, u in zip(stands, up, strict=True)], stands, tips, sides)


def _moment(
    springs: Springs, side: tuple[int, int], force: Scalar, about_x: Scalar, about_y: Scalar
) -> Scalar:
    """Moment of the ground's forces about a side [N m]; positive inside the polygon."""
    (x1, y1), (x2, y2) = (springs.places[k] for k in side)
    length = float(np.hypot(x2 - x1, y2 - y1))
    ax, ay = tidy((x2 - x1) / length), tidy((y2 - y1) / length)
    lever = tidy(ay * x1 - ax * y1, length)
    return total(mul(ax, about_x), mul(ay, about_y), mul(lever, force))


def _on_springs(springs: Springs, force: Scalar, about_x: Scalar, about_y: Scalar) -> list[Scalar]:
    """k_j times the deflection, of the set whose plane has the right sign everywhere, or comes nearest to it."""
    xy, k = np.array(springs.places), np.array(springs.stiffness)
    middle = k @ xy / k.sum()
    best: Scalar = None
    plane: list[Scalar] = []
    for group in springs.sets:
        candidate = _plane(xy, k, middle, group, force, about_x, about_y)
        if len(springs.sets) == 1:
            plane = candidate
            break
        heights = [_height(candidate, xy[j] - middle) for j in range(len(xy))]
        fit = smallest([h if j in group else -h for j, h in enumerate(heights)])
        if best is None:
            best, plane = fit, candidate
            continue
        better = step(sub(fit, best))
        plane = [chosen(better, a, b) for a, b in zip(candidate, plane, strict=True)]
        best = chosen(better, fit, best)
    return [mul(float(k[j]), _height(plane, xy[j] - middle)) for j in range(len(xy))]


def _plane(
    xy: np.ndarray,
    k: np.ndarray,
    middle: np.ndarray,
    group: Sequence[int],
    force: Scalar,
    about_x: Scalar,
    about_y: Scalar,
) -> list[Scalar]:
    """Deflection at `middle` and its slopes along x and y if exactly this group carries."""
    own, stiff = xy[list(group)], k[list(group)]
    centre = stiff @ own / stiff.sum()
    left = own - centre
    inverse = np.linalg.inv((left.T * stiff) @ left)
    # first moments of the forces about the group's centre of stiffness
    mx = sub(mul(-1, about_y), mul(tidy(float(centre[0])), force))
    my = sub(about_x, mul(tidy(float(centre[1])), force))
    table = [[_small(inverse, r, c) for c in range(2)] for r in range(2)]
    slopes = [add(mul(row[0], mx), mul(row[1], my)) for row in table]
    shift = middle - centre
    height = total(
        mul(1 / float(stiff.sum()), force),
        mul(tidy(float(shift[0])), slopes[0]),
        mul(tidy(float(shift[1])), slopes[1]),
    )
    return [height, *slopes]


def _small(table: np.ndarray, r: int, c: int) -> Scalar:
    scale = float(np.sqrt(abs(table[r, r] * table[c, c])))
    return 0 if abs(table[r, c]) <= 1e-14 * scale else float(table[r, c])


def _height(plane: Sequence[Scalar], at: np.ndarray) -> Scalar:
    x, y = (tidy(float(v)) for v in at)
    return total(plane[0], mul(x, plane[1]), mul(y, plane[2]))


def _on_a_side(springs: Springs, force: Scalar, about_x: Scalar, about_y: Scalar) -> list[Scalar]:
    """The vertical force on the two wheels of the side that the load point is nearest to."""
    w = len(springs.places)
    up: list[Scalar] = [0.0] * w
    nearest: Scalar = None
    for a, b in springs.sides:
        start, end = np.array(springs.places[a]), np.array(springs.places[b])
        along = end - start
        square = float(along @ along)
        x = sub(mul(-1, about_y), mul(float(start[0]), force))
        y = sub(about_x, mul(float(start[1]), force))
        size = positive(force)
        ahead = add(mul(float(along[0]), x), mul(float(along[1]), y)) / square
        part = smaller(positive(ahead), size)  # of the force, on the side's second wheel
        left, right = sub(x, mul(float(along[0]), part)), sub(y, mul(float(along[1]), part))
        away = add(mul(left, left), mul(right, right))
        mine: list[Scalar] = [0.0] * w
        mine[a], mine[b] = sub(size, part), part
        if nearest is None:
            nearest, up = away, mine
            continue
        nearer = step(sub(nearest, away))
        up = [chosen(nearer, m, u) for m, u in zip(mine, up, strict=True)]
        nearest = chosen(nearer, away, nearest)
    return up
