"""The robot inside a page: its dynamics as WebAssembly, its frames and limits, for `live.js` to move and compute."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from ..border.kinds import Json
from ..errors import DynarmError
from ..machine.emit.wasm_files import description
from ..robot.frames.placed import UPRIGHT, root_pose
from .html import Markup, Section, note, section
from .sketch import pose

if TYPE_CHECKING:
    from ..graph.graph import Graph
    from ..model.model import Model
    from ..robot.arm import Arm, Joint

FUNCTIONS = ("inverse_dynamics", "mass_matrix_and_bias", "gravity", "potential_energy")
SHORT = 20  # speeds of a robot whose mass matrix is carried
LARGEST = 50_000  # bytes of its dynamics
LONGEST = 200_000  # of a robot of more joints
FREE = (np.pi, 1.0)  # [rad], [m]: how far a slider goes where a joint has no limits
TOLD = (
    "The compiled dynamics are inside this page and run in it, without a server. Sliders move the robot; forces are "
    "what its joints need, friction included. A recorded or planned motion as CSV (time, positions, if known speeds "
    "and accelerations; SI units) can be dropped here: its forces are drawn with their limits. Nothing leaves the page."
)


def live_section(arm: Arm, title: str = "Move it") -> Section | None:
    """A part of a page that computes the robot; None where there is nothing to move or the code would be too large."""
    robot = live_robot(arm)
    if robot is None:
        return None
    return section(title, note(TOLD), *map(note, _left_out(arm, robot)), live(robot))


def _left_out(arm: Arm, robot: Json) -> list[str]:
    """What this robot's part cannot do, in words."""
    told = []
    if arm.floating:
        told.append(
            "The base is held level here: nothing is let go, and forces are those of the joints."
        )
    if "mass_matrix_and_bias" not in robot["spec"]["functions"]:
        told.append(
            f"With {arm.nv} speeds the mass matrix, energies and the simulation would make the page too large: forces, "
            "gravity and motions are here."
        )
    return told


def live(robot: Json) -> Markup:
    """The place where `live.js` builds what is seen, and its data beside it."""
    return Markup(
        '<div class="live"><noscript><p class="note">This part needs JavaScript.</p></noscript>'
        '<script type="application/vnd.dynarm+json">{}</script></div>'
    ).format(Markup(_exact(robot)))


def live_robot(arm: Arm) -> Json | None:
    """What the page must know of a robot, with its compiled functions."""
    if not arm.n:
        return None
    from ..model.model import compile as compile_arm

    driven = any(j.friction is not None or j.armature for j in arm.joints)
    code = _code(compile_arm(arm, friction=driven))
    if code is None:
        return None
    own = [arm.joints[i] for i in arm.coupling.masters]
    return {
        "name": arm.name,
        **code,
        "base": list(UPRIGHT) if arm.floating else [],
        "speeds": arm.nv - len(own),
        "root": root_pose(arm, np.array([*UPRIGHT, *pose(arm)])).ravel().tolist(),
        "serial": arm.serial,
        "friction": any(j.friction is not None for j in arm.joints),
        "links": [_link(arm, k, joint) for k, joint in enumerate(arm.joints)],
        "joints": [_slider(joint) for joint in own],
        "tools": [{"on": t.joint, "at": t.matrix.ravel().tolist()} for t in arm.all_tools],
        "start": pose(arm)[-len(own) :].tolist(),
    }


def _code(model: Model) -> Json | None:
    """The robot's functions: all of them for one state, inverse dynamics with vectors for whole motions.

    Of robots with so many joints that this is too long, inverse dynamics alone, without vectors; None if it is, too.
    """
    few = model.arm.nv <= SHORT
    for names, most in ((FUNCTIONS, LARGEST), (FUNCTIONS[:1], LONGEST)):
        if names is FUNCTIONS and not few:
            continue
        try:
            graphs: dict[str, Graph] = {name: model.graph(name) for name in names}
            made = {"spec": description(graphs, vectors=False)}
            if names is FUNCTIONS:
                made["batch"] = description({names[0]: graphs[names[0]]})
        except DynarmError:  # more values than a browser takes
            continue
        if sum(len(spec["simd"]) + len(spec["plain"]) for spec in made.values()) <= most:
            return made
    return None


def _link(arm: Arm, k: int, joint: Joint) -> Json:
    """Where a link stands in its parent's frame at q = 0, what moves it, and what it weighs."""
    coupling = arm.coupling
    return {
        "name": str(joint.name),
        "revolute": joint.revolute,
        "parent": arm.parents[k],
        "at": np.asarray(joint.displacement(0.0)).ravel().tolist(),
        "follows": [coupling.of[k], coupling.multipliers[k], coupling.offsets[k]],
        "mass": joint.mass,
        "com": [float(x) for x in joint.com],
    }


def _slider(joint: Joint) -> Json:
    """An independent joint: its range and its limits, null where it has none."""
    free = FREE[0] if joint.revolute else FREE[1]
    low, high = joint.position_limits or (-free, free)
    return {
        "name": str(joint.name),
        "revolute": joint.revolute,
        "low": max(low, -2 * free) if np.isfinite(low) else -free,
        "high": min(high, 2 * free) if np.isfinite(high) else free,
        "limits": list(joint.position_limits) if joint.position_limits else None,
        "speed": joint.velocity_limit or None,
        "force": joint.effort_limit or None,
    }


def _exact(robot: Json) -> str:
    """JSON with every digit that no HTML parser can mistake for anything else."""
    raw = json.dumps(robot, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return raw.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
