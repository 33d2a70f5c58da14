"""What `dynarm info --json` says of whole robots and of files beyond the numbers of joints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .sheet import merged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..border.kinds import Json
    from ..robot.arm import Arm
    from ..robot.origin import Origin


def tree_data(arm: Arm) -> Json:
    """What a whole robot has beyond its joints' own numbers, by name."""
    from ..robot.sheet import link_name

    base = arm.floating
    return {
        "parents": {
            str(j.name): link_name(arm, p) for j, p in zip(arm.joints, arm.parents, strict=True)
        },
        "branches": {
            str(j.name): {"gamma": j.gamma, "b": j.b} for j in arm.joints if j.gamma or j.b
        },
        "mimic": {
            str(j.name): {
                "joint": link_name(arm, int(j.mimic.joint)),
                "multiplier": j.mimic.multiplier,
                "offset": j.mimic.offset,
            }
            for j in arm.joints
            if j.mimic
        },
        "floating": None
        if base is None
        else {"mass": base.mass, "com": base.com, "inertia": base.inertia},
        "tools": [tool.name for tool in arm.all_tools],
        "coordinates": arm.coordinate_names,
        "speeds": arm.speed_names,
    }


def file_data(origin: Origin, tips: Sequence[str]) -> Json:
    """What was made of the robot's file."""
    return {
        "base_link": origin.base_link,
        "links": origin.links,
        "ends": tips,
        "merged": merged(origin),
        "held": dict(origin.rigid),
        "exact": origin.snapped,
    }
