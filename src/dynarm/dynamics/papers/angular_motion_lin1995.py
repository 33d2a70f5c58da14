"""Angular velocity and acceleration of the links and the matrix Omega made of them, from joint to joint.

[lin1995]  S.-K. Lin, Minimal linear combinations of the inertia parameters of a manipulator, IEEE Trans. Robotics
           and Automation 11 (1995) 360-373, (30), (57)-(60).
Frames     Quantities of link i are written in frame i; z lies on joint i. Omega b = wd x b + w x (w x b); it is kept by
           its columns.
Differs    (30) says that joint i does not change Omega z. Where z is an axis of frame i-1 (twists of 0 and 90 degrees),
           Omega z is a column of Omega_{i-1}, and rotating it gives the third column of Omega_i and with it wd, of
           which only the component along z is then carried: 3 multiplications and 2 additions a joint less than (58)
           and (59), whose sum w_x^2 + w_y^2 is known then, too. (60) is grouped by the entries of Omega.

    (30) Omega_i z = Omega_{i-1} z
    (57) w_i  = R w + z qd            (58) wd_i = R wd + z qdd + R w x z qd            rotational joints
    (59) Omega = [wd x] + [w x][w x]  (60) Psi psi(D) = D wd + w x D w
"""

from __future__ import annotations

from dataclasses import dataclass

from ...algebra.vectors import ZERO, Scalar, Sym3, Vec3, Z, add, is_zero, mul, sub, total
from ...robot.frames.chain import Step, difference


@dataclass(frozen=True, slots=True, eq=False)
class Spin:
    """w, wd, the squares of w, and the columns of Omega."""

    w: Vec3
    wd: Vec3
    squares: Vec3
    x: Vec3
    y: Vec3
    z: Vec3

    def __matmul__(self, b: Vec3) -> Vec3:
        """Omega b."""
        return self.x * b.x + self.y * b.y + self.z * b.z


STILL = Spin(ZERO, ZERO, ZERO, ZERO, ZERO, ZERO)


def turned(
    step: Step, inner: Spin, v: Scalar, acc: Scalar, seen: tuple[Vec3, Vec3] | None = None
) -> Spin:
    """Link i behind a rotational joint; `seen` is the motion of link i-1 in frame i, where it is known already."""
    w, wd = seen or (step.whole.rise(inner.w), step.whole.rise(inner.wd))
    outer = w + Z * v  # (57)
    if not _along_an_axis(step.z):
        return spin(outer, wd + Z * acc + w.cross(Z * v))  # (58)
    third = step.rise(inner @ step.z)  # (30)
    across = sub(mul(outer.y, outer.z), third.y), sub(third.x, mul(outer.x, outer.z))
    return spin(outer, Vec3(*across, add(step.z.dot(inner.wd), acc)), third)


def carried(step: Step, inner: Spin) -> Spin:
    """Link i behind a translational joint."""
    return spin(step.whole.rise(inner.w), step.whole.rise(inner.wd))


def spin(w: Vec3, wd: Vec3, third: Vec3 | None = None) -> Spin:
    """w and wd with Omega, whose third column may be known."""
    xx, yy, zz = (mul(x, x) for x in w)
    xy, xz, yz = mul(w.x, w.y), mul(w.x, w.z), mul(w.y, w.z)
    if third is None:
        third = Vec3(add(xz, wd.y), sub(yz, wd.x), -add(xx, yy))
    elif not is_zero(yy):
        yy = -add(third.z, xx)
    first = Vec3(-add(yy, zz), add(xy, wd.z), sub(xz, wd.y))
    second = Vec3(sub(xy, wd.z), -add(xx, zz), add(yz, wd.x))
    return Spin(w, wd, Vec3(xx, yy, zz), first, second, third)  # (59)


def psi(D: Sym3, of: Spin) -> Vec3:
    """D wd + w x D w (14 mul 14 add where D_yy is 0)."""
    w, wd, square, x, y, z = of.w, of.wd, of.squares, of.x, of.y, of.z
    return Vec3(
        total(
            mul(wd.x, D.xx),
            mul(mul(w.y, w.z), difference(D.zz, D.yy)),
            -mul(x.z, D.xy),
            mul(x.y, D.xz),
            mul(sub(square.y, square.z), D.yz),
        ),
        total(
            mul(wd.y, D.yy),
            mul(mul(w.x, w.z), difference(D.xx, D.zz)),
            mul(y.z, D.xy),
            mul(sub(square.z, square.x), D.xz),
            -mul(y.x, D.yz),
        ),
        total(
            mul(wd.z, D.zz),
            mul(mul(w.x, w.y), difference(D.yy, D.xx)),
            mul(sub(square.x, square.y), D.xy),
            -mul(z.y, D.xz),
            mul(z.x, D.yz),
        ),
    )  # (60)


def _along_an_axis(z: Vec3) -> bool:
    return any(part.__class__ in (int, float) and abs(part) == 1 for part in z)
