"""Safe exciting motions of 20 URDF robots of the wheel example-robot-data: what floor and links cost, and do they hold.

For each robot the condition number of a 10 s motion with the usual limits, over that of one which may go through floor
and robot: the better of a search without them, from twice as many starts, and of the first motion. And, by coal on the
collision bodies of the file, the lowest point and the least distance of the motion.
`python -m benchmarks.bench_excitation ur5 so101` looks at some of them.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import dynarm

from .collisions import LEFT, Bodies, example_robot

DURATION = 10.0
FREE_STARTS = 10  # twice as many as usual, so that the motion without floor and links is a good one
EVERY = 5  # sample of the motion that bodies are looked at in


@dataclass(frozen=True, slots=True)
class Case:
    """A file, and the link where the chain ends."""

    file: str
    tip: str | None = None


ROBOTS = {
    "ur3": Case("ur3_robot.urdf"),
    "ur5": Case("ur5_robot.urdf"),
    "ur10": Case("ur10_robot.urdf"),
    "ur3 with gripper": Case("ur3_gripper.urdf"),
    "ur5 with gripper": Case("ur5_gripper.urdf"),
    "ur5, joints limited": Case("ur5_joint_limited_robot.urdf"),
    "panda": Case("panda.urdf"),
    "panda, without hand": Case("panda_collision.urdf", "panda_link8"),
    "so100": Case("so100.urdf"),
    "so101": Case("so101.urdf"),
    "z1": Case("z1.urdf"),
    "kinova": Case("kinova.urdf"),
    "xarm7": Case("xarm7.urdf"),
    "talos, left arm": Case("talos_left_arm.urdf", "arm_left_7_link"),
    "finger_edu": Case("finger_edu.urdf"),
    "two joints": Case("TwoDofs.urdf"),
    "tiago": Case("tiago_no_hand.urdf", "arm_7_link"),
    "tiago_pro, left arm": Case("tiago_pro.urdf", "arm_left_7_link"),
    "romeo, left arm": Case("romeo.urdf", "l_wrist"),
    "baxter, left arm": Case("baxter.urdf", "left_hand_link"),
}


def run(
    names: Sequence[str] = tuple(ROBOTS), told: Callable[[str], None] | None = None
) -> dict[str, Any]:
    """By robot: conditions, their ratio, seconds of one core, lowest point and least distance [m]."""
    figures: dict[str, Any] = {}
    for name in names:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            figures[name] = _figures(ROBOTS[name])
        if told is not None:
            told(f"{name}: {json.dumps(figures[name])}")
    return figures


def _figures(case: Case) -> dict[str, Any]:
    path = example_robot(case.file)
    arm = dynarm.load(path, tip=case.tip, allow_massless=True)
    start = time.process_time()
    try:
        safe = dynarm.excite(arm, DURATION, progress=False)
    except dynarm.DynarmError as error:
        return {"refused": str(error)}
    seconds = time.process_time() - start
    wishes = {"starts": FREE_STARTS, "floor": False, "collisions": False}
    free = min(dynarm.excite(arm, DURATION, progress=False, **wishes).condition, safe.condition)
    bodies = Bodies(path, arm)
    left = bodies.left(safe.unchecked)
    pairs = len(bodies.pairs(left))
    floored = any(line.startswith("floor") for line in safe.checked)
    return {
        "joints": arm.nv,
        "condition": safe.condition,
        "free": free,
        "ratio": safe.condition / free,
        "seconds": seconds,
        "lowest": min(map(bodies.lowest, safe.q[::EVERY])) - safe.kept.floor if floored else None,
        "nearest": min(bodies.nearest(q, left) for q in safe.q[::EVERY]) if pairs else None,
        "pairs": pairs,
        "left out": sorted(line for line in safe.unchecked if LEFT.match(line)),
        "status": safe.status,
    }


if __name__ == "__main__":
    run(sys.argv[1:] or tuple(ROBOTS), lambda line: print(line, flush=True))
