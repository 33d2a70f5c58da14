"""What of a robot can touch the floor: the ends of capsules that joints lift, and what becomes of those that none does.

An end that no joint lifts is no part of the search. Where it stays above the floor, so does all that its ball holds;
where it does not, what it holds may or may not be below, and its link is named.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .shapes import Shapes

_STILL = 0.01  # of the robot's size: an end that rises and falls by less is not lifted
_UNSEEN = 0.1  # of how much it did in the poses tried: what it may do besides
_HANGING = 0.01  # part of the poses that must keep off the usual floor for it to be one,
_BELOW_IT = 0.4  # and of each link's, which on an arm that stands are half of them, or nearly
# of the robot's size: how far a base reaches below its frame that stands on what is there
_BELOW = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class Lifted:
    """Ends (k, 2) of capsules that are held above a floor: capsule, 0 for its start or 1 for its end; and of others.

    told: what is looked at, or why nothing is; rest: links with ends that no joint lifts, and the height that these
    stay above [m]; below: sentences about links with ends that no joint lifts out of the floor.
    """

    ends: np.ndarray
    told: str
    rest: tuple[tuple[str, float], ...] = ()
    below: tuple[str, ...] = ()


def standing(shapes: Shapes, floor: float, size: float) -> float:
    """The height of the usual floor: the lowest point of a base that reaches far below its frame, as a pedestal."""
    lowest = min((solid.lowest for solid in shapes.solids.get(-1, ())), default=floor)
    return lowest if lowest < floor - _BELOW * size else floor


def lifted_of(
    shapes: Shapes, points: np.ndarray, floor: float, margin: float, size: float, asked: bool
) -> Lifted:
    """What is held above the floor, from the ends of capsules (N, k, 2, 3) in many poses. asked: it was given."""
    plane = f"floor: the plane z = {floor:.4g} m of the base link"
    heights, ends = [], []
    lows: dict[str, float] = {}
    for c, capsule in enumerate(shapes.capsules):
        for k in (0, 1) if capsule.joint >= 0 else ():
            height = points[:, c, k, 2] - capsule.radius - floor
            still = np.ptp(height) < _STILL * size or (not asked and height.max() < margin)
            if still:
                low = float(height.min() - _UNSEEN * np.ptp(height))
                lows[capsule.name] = min(low, lows.get(capsule.name, np.inf))
            else:
                heights.append(height)
                ends.append((c, k))
    if not ends:
        return Lifted(np.zeros((0, 2), int), f"{plane}: no joint moves anything towards it")
    often = _hangs(np.array(heights) > margin)
    if often and not asked:
        told = f"{plane}: some link is below it in {often} tried; give floor= if it is one"
        return Lifted(np.zeros((0, 2), int), told)
    below = {name: -low for name, low in lows.items() if low < 0}
    but = " but for what no joint lifts" if below else ""
    return Lifted(
        np.array(ends),
        f"{plane}, every moving link{but}, {shapes.source}",
        tuple((name, low) for name, low in lows.items() if low >= 0),
        tuple(
            f"{name} against the floor: capsules about parts of it that no joint lifts are {deep:.2g} m below"
            for name, deep in below.items()
        ),
    )


def _hangs(above: np.ndarray) -> str:
    """In how many poses some end is not above the floor (ends, N), where a robot hangs; nothing where it stands."""
    clear = above.all(axis=0).mean()
    if clear >= _HANGING:
        return "most poses" if above.mean(axis=1).min() < _BELOW_IT else ""
    return "nearly every pose" if clear else "every pose"
