"""Classic (distal) Denavit-Hartenberg numbers regrouped to the internal, modified convention."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ...border.kinds import Outside
from ...border.words import shown
from ...errors import InputError, KindError, ModelError
from ..arm import Arm, Joint
from ..inertia import move_parameters
from .lines import clean_parameters
from .poses import rigid


def from_classic_dh(
    joints: Sequence[Joint],
    gravity: Outside = (0.0, 0.0, -9.81),
    name: str = "arm",
    base: Outside = None,
    tool: Outside = None,
) -> Arm:
    """The arm whose joints' numbers are meant in the classic (distal) convention.

    Classic: frame i in frame i-1 at Rz(theta) Tz(d) Tx(a) Rx(alpha). Grouped the other way, with a and alpha of the
    link before, the same product is the modified convention, exactly; each link's distal frame stands at
    Tx(a) Rx(alpha) in its internal frame, and its inertia is moved by that.
    """
    if isinstance(joints, Joint) or not isinstance(joints, Iterable):
        raise KindError(f"joints is {shown(joints)}; give a list of dynarm.Joint")
    given = list(joints)
    if not given:
        raise ModelError("the arm has no joints; give at least one dynarm.Joint")
    a, alpha = 0.0, 0.0
    moved = []
    for i, joint in enumerate(given):
        if not isinstance(joint, Joint):
            raise KindError(f"joints[{i}] is {shown(joint)}; give dynarm.Joint(...)")
        if joint.beta:
            raise InputError(
                f"joints[{i}] has beta {joint.beta}; the classic convention has no such angle, set it to 0"
            )
        if joint.gamma or joint.b or joint.parent not in (None, i - 1):
            raise InputError(
                f"joints[{i}] has a parent, gamma or b; the classic convention is one of chains, use the modified one"
            )
        distal = Joint(a=joint.a, alpha=joint.alpha).displacement()
        assert joint.parameters is not None
        ten = move_parameters(joint.parameters, distal[:3, :3], distal[:3, 3])
        ten = clean_parameters(ten, joint.parameters, distal)
        moved.append(replace(joint, a=a, alpha=alpha).with_parameters(ten.tolist()))
        a, alpha = joint.a, joint.alpha
    end = distal if tool is None else distal @ rigid("tool", tool)
    return Arm(tuple(moved), gravity=gravity, name=name, base=base, tool=end)
