"""Joints of an MJCF model that follow others: equalities of joints, brought into one rule a joint.

MuJoCo's rule is y - y0 = a0 + a1 (x - x0) + a2 (x - x0)^2 + ..., for the positions y, x of two joints and where they
stand at reference. The linear ones make rows: y = m r + o with r a joint that follows none. Joints on curves stay
joints of their own, as in mj_rne, with a note.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .mjcf_tree import Compiled, Row
from .tree import Follow


@dataclass(slots=True)
class Couplings:
    """Which joints follow which, where others are held, and what was left out."""

    follows: dict[str, Follow] = field(default_factory=dict)
    held: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def end(self, name: str) -> Follow:
        """The joint at the end of the row, and how this one follows it."""
        return self.follows.get(name, Follow(name))


def couplings(
    model: Compiled, inside: set[str], frozen: Mapping[str, float], mimic: bool = True
) -> Couplings:
    """The rules of the active equalities between joints of the robot, but for those that the user holds.

    mimic=False: none of them; all are left out.
    """
    rules = Couplings()
    for row in model.numbers["equalities"]:
        if row["kind"] != "joint" or not row["active"]:
            continue
        first = model.joints[row["first"]]
        second = model.joints[row["second"]] if row["second"] >= 0 else None
        if first not in inside or (second is not None and second not in inside):
            continue
        if first in frozen:
            continue
        label = f"equality '{row['name']}'" if row["name"] else "an equality"
        if not mimic:
            follows = f" to '{second}'" if second is not None else ""
            rules.notes.append(f"{label} (joint): joint '{first}' is not tied{follows}, as asked")
            continue
        if any(row["data"][2:5]) and second is not None:
            curve = " ".join(f"{x:g}" for x in row["data"])
            rules.notes.append(
                f"{label} (joint): joint '{first}' follows '{second}' on a curve (polycoef {curve}) and is not tied "
                "to it here; the forces that hold it there are in no torque"
            )
            continue
        _add(rules, model, row, first, second, label)
    return rules


def _add(
    rules: Couplings, model: Compiled, row: Row, first: str, second: str | None, label: str
) -> None:
    """One linear equality: the end of the row of `first` follows that of `second`."""
    zero = {name: model.numbers["joints"][k]["zero"] for k, name in enumerate(model.joints)}
    a0, a1 = row["data"][:2]
    if second is None or a1 == 0:
        rules.held.setdefault(first, zero[first] + a0)
        return
    offset = zero[first] + a0 - a1 * zero[second]
    y, x = rules.end(first), rules.end(second)
    if y.joint == x.joint:
        rules.notes.append(
            f"{label} between joints '{first}' and '{second}', which others couple already"
        )
        return
    # y.m r + y.o = a1 (x.m s + x.o) + offset: r in terms of s
    m = a1 * x.multiplier / y.multiplier
    o = (a1 * x.offset + offset - y.offset) / y.multiplier
    for name in [n for n, rule in rules.follows.items() if rule.joint == y.joint]:
        old = rules.follows[name]
        rules.follows[name] = Follow(x.joint, old.multiplier * m, old.multiplier * o + old.offset)
    rules.follows[y.joint] = Follow(x.joint, m, o)
