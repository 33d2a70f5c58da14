"""Mass matrix of chains and trees, on a fixed or a free base, by composite bodies of gathered links.

Composite body i is link i with all that hangs on it; its moments about origin i are summed from the tips inwards
(`gathered_links` has taken out what no joint force can tell, which keeps most masses at zero). A unit acceleration of
joint i asks for the wrench

    rotational      f = z x h,   n = (-Q_xz, -Q_yz, Q_xx + Q_yy)          translational      f = m z,   n = h x z

on it, which is carried inwards: its component along the axis of ancestor j is M_ij. Joints on different branches have
none. The six rows of a free base are those of the whole robot as one body.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...algebra.vectors import Scalar, Vec3, Z, add
from ...robot.frames.chain import Chain, Step
from .free_base import Wrench, handed
from .gathered_links import Mass, gathered

Rows = list[list[Scalar]]


def mass_matrix(arm: Chain, pose: Sequence[Step]) -> Rows:
    """nv rows of nv [kg m^2, kg m or kg]; zeros between joints on different branches."""
    first, size = arm.nv - arm.n, arm.nv
    M: Rows = [[0] * size for _ in range(size)]
    bodies, whole = composite_bodies(arm, pose)
    for i, body in enumerate(bodies):
        joint, row = arm.joints[i], first + i
        f, n = _answer(joint.revolute, body)
        M[row][row] = n.z if joint.revolute else f.z
        j = i
        while j >= 0 and (arm.parent_of(j) >= 0 or arm.root is not None):
            f, n = handed(pose[j], f, n, once=j == i)
            j = arm.parent_of(j)
            if j >= 0:
                x = n.z if arm.joints[j].revolute else f.z
                M[row][first + j] = M[first + j][row] = x
        if arm.root is not None:
            for k, x in enumerate((*f, *n)):
                M[row][k] = M[k][row] = x
    if arm.root is not None:
        _enter_base(M, whole)
    return M


def composite_bodies(arm: Chain, pose: Sequence[Step]) -> tuple[list[Mass], Mass]:
    """Each gathered link with all that hangs on it, about its own origin; and the whole robot about a free base's."""
    bodies, whole = gathered(arm, pose)
    for i in range(arm.n - 1, -1, -1):
        parent = arm.parent_of(i)
        if parent < 0 and arm.root is None:
            continue
        moved = bodies[i].shifted(Z * pose[i].d).fall(pose[i]).shifted(pose[i].across)
        if parent >= 0:
            bodies[parent] = bodies[parent] + moved
        else:
            whole = whole + moved
    return bodies, whole


def _answer(revolute: bool, body: Mass) -> Wrench:
    """The wrench that a unit acceleration of the joint asks for."""
    if not revolute:
        return Z * body.m, body.h.cross(Z)
    return Z.cross(body.h), Vec3(-body.Q.xz, -body.Q.yz, add(body.Q.xx, body.Q.yy))


def _enter_base(M: Rows, whole: Mass) -> None:
    """The six rows and columns of a free base: the whole robot as one body."""
    h, Q = whole.h, whole.Q
    lever = ((0, -h.z, h.y), (h.z, 0, -h.x), (-h.y, h.x, 0))
    tensor = (
        (add(Q.yy, Q.zz), -Q.xy, -Q.xz),
        (-Q.xy, add(Q.xx, Q.zz), -Q.yz),
        (-Q.xz, -Q.yz, add(Q.xx, Q.yy)),
    )
    for r in range(3):
        M[r][r] = whole.m
        for c in range(3):
            M[3 + r][c] = M[c][3 + r] = lever[r][c]
            M[3 + r][3 + c] = tensor[r][c]
