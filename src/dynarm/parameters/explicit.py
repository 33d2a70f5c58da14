"""The equations of motion of a short arm written out: M, C and G as SymPy expressions, text and LaTeX.

[turney1980] (2.11): tau_i = sum_j M_ij qdd_j + sum_jk C^i_jk qd_j qd_k + G_i. The recursion of lin1995 (16)-(23) runs
on symbols, one unit motion after another (strobing, end of section 3 of turney1980), and sines are reduced by
sin^2 = 1 - cos^2. Armatures stand on M's diagonal. `c1`, `s1` are cosine and sine of the first joint's angle, theta
included; q of translational joints are `q1`. Turns of the base frame are in gravity's components. Parameters, DH
constants and components of gravity that are zero for this arm are left out, twists of whole right angles are taken as
such.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..algebra.vectors import Scalar, Sym3, Vec3, add
from ..border.arguments import shown
from ..border.kinds import Foreign
from ..border.words import brief
from ..dynamics.papers.newton_euler_lin1995 import inverse_dynamics
from ..dynamics.papers.strobing_turney1980 import strobed_coriolis_tensor, strobed_mass_matrix
from ..errors import InputError, KindError
from ..robot.arm import Arm
from ..robot.frames.chain import Limb, chain_of, pose
from .symbols import library, written

MOST = 4  # joints
ENTRIES = ("xx", "xy", "yy", "xz", "yz", "zz")


@dataclass(frozen=True, slots=True)
class SymbolicAngle:
    """A joint's angle, of which cosine and sine are known as symbols."""

    c: Foreign
    s: Foreign

    def cos(self) -> Foreign:
        return self.c

    def sin(self) -> Foreign:
        return self.s


@dataclass(frozen=True, slots=True, eq=False)
class ExplicitModel:
    """M (n, n), C[i] (n, n) and G (n) of an arm as SymPy matrices in the symbols of `substitutions`."""

    arm: Arm
    M: Foreign
    C: tuple[Foreign, ...]
    G: Foreign
    numbers: dict[Foreign, float]

    __repr__ = brief

    def substitutions(self, q: Sequence[float]) -> dict[Foreign, float]:
        """The number of each symbol, for this arm at joint positions q [rad or m]."""
        sympy = library()
        known = dict(self.numbers)
        for i, (limb, x) in enumerate(zip(chain_of(self.arm).joints, q, strict=True), start=1):
            angle = float(x) + float(limb.theta)
            known |= {
                sympy.Symbol(f"c{i}", real=True): float(sympy.cos(angle)),
                sympy.Symbol(f"s{i}", real=True): float(sympy.sin(angle)),
                sympy.Symbol(f"q{i}", real=True): float(x),
            }
        return known

    def _lines(self) -> list[tuple[str, str, Foreign]]:
        """Every entry that is not zero, by its name in text and in LaTeX; of symmetric ones the first."""
        n = self.arm.n
        lines = [
            (f"M_{i + 1}{j + 1}", rf"M_{{{i + 1}{j + 1}}}", self.M[i, j])
            for i in range(n)
            for j in range(i, n)
        ]
        lines += [
            (f"C^{i + 1}_{j + 1}{k + 1}", rf"C^{{{i + 1}}}_{{{j + 1}{k + 1}}}", self.C[i][j, k])
            for i in range(n)
            for j in range(n)
            for k in range(j, n)
        ]
        lines += [(f"G_{i + 1}", rf"G_{{{i + 1}}}", self.G[i]) for i in range(n)]
        return [line for line in lines if line[2] != 0]

    def text(self) -> str:
        """A line an entry; those that are not there are zero."""
        return "\n".join(f"{name} = {entry}" for name, _, entry in self._lines())

    def latex(self) -> str:
        """The same in an align* environment."""
        sympy, told = library(), self._lines()
        symbols = {s for _, _, entry in told for s in entry.free_symbols}
        names = {s: written(str(s)) for s in symbols}
        lines = [rf"{name} &= {sympy.latex(entry, symbol_names=names)}" for _, name, entry in told]
        body = " \\\\\n".join(lines)
        return f"\\begin{{align*}}\n{body}\n\\end{{align*}}\n"


def explicit(arm: Arm) -> ExplicitModel:
    """M, C and G of an arm of up to four joints, written out; needs the extra `symbolic`."""
    if not isinstance(arm, Arm):
        raise KindError(f"arm is {shown(arm)}; give a dynarm.Arm, for example dynarm.load(...)")
    chain = chain_of(arm)
    if not chain.serial or not arm.coupling.free:
        raise InputError(
            f"robot '{arm.name}' is no chain on a fixed base; dynarm.compile(arm) computes its equations"
        )
    if arm.n > MOST:
        raise InputError(
            f"robot '{arm.name}' has {arm.n} joints, whose equations fill books; those of up to {MOST} are written "
            "out, for others see dynarm.minimal_parameters(arm).latex() and dynarm.compile(arm)"
        )
    numbers: dict[Foreign, float] = {}
    limbs = tuple(_limb(i, limb, numbers) for i, limb in enumerate(chain.joints, start=1))
    g = Vec3(*(_named(f"g_{w}", x, numbers) for w, x in zip("xyz", chain.gravity, strict=True)))
    symbolic = replace(chain, joints=limbs, gravity=g)
    steps = pose(symbolic, [_position(i, limb) for i, limb in enumerate(limbs, start=1)])
    M = strobed_mass_matrix(inverse_dynamics)(symbolic, steps)
    C = strobed_coriolis_tensor(inverse_dynamics)(symbolic, steps)
    still = [0] * arm.n
    G = inverse_dynamics(symbolic, steps, still, still)
    for i, joint in enumerate(arm.joints):
        M[i][i] = add(M[i][i], _named(f"Ia_{i + 1}", joint.armature, numbers))
    sympy = library()
    return ExplicitModel(
        arm,
        sympy.Matrix([[_reduced(x, arm.n) for x in row] for row in M]),
        tuple(sympy.Matrix([[_reduced(x, arm.n) for x in row] for row in page]) for page in C),
        sympy.Matrix([_reduced(x, arm.n) for x in G]),
        numbers,
    )


def _named(name: str, value: Scalar, numbers: dict[Foreign, float]) -> Scalar:
    """A symbol for a number; 0 for zero."""
    if value == 0:
        return 0
    symbol = library().Symbol(name, real=True)
    numbers[symbol] = float(value)
    return symbol


def _twist(
    i: int, word: str, c: Scalar, s: Scalar, known: dict[Foreign, float]
) -> tuple[Scalar, Scalar]:
    """Cosine and sine of a constant angle: numbers at right angles, else functions of its symbol."""
    if c in (0, 1, -1):
        return int(c), int(s)
    sympy = library()
    symbol = sympy.Symbol(f"{word}_{i}", real=True)
    known[symbol] = math.atan2(s, c)
    return sympy.cos(symbol), sympy.sin(symbol)


def _limb(i: int, limb: Limb, known: dict[Foreign, float]) -> Limb:
    ca, sa = _twist(i, "alpha", limb.ca, limb.sa, known)
    cb, sb = _twist(i, "beta", limb.cb, limb.sb, known)
    h = Vec3(*(_named(f"mc{w}_{i}", x, known) for w, x in zip("xyz", limb.h, strict=True)))
    J = Sym3(*(_named(f"I{w}_{i}", x, known) for w, x in zip(ENTRIES, limb.J, strict=True)))
    return replace(
        limb,
        a=_named(f"a_{i}", limb.a, known),
        d=_named(f"d_{i}", limb.d, known),
        theta=0 if limb.revolute else limb.theta,
        ca=ca,
        sa=sa,
        cb=cb,
        sb=sb,
        m=_named(f"m_{i}", limb.m, known),
        h=h,
        J=J,
    )


def _position(i: int, limb: Limb) -> Scalar:
    sympy = library()
    if not limb.revolute:
        return sympy.Symbol(f"q{i}", real=True)
    return SymbolicAngle(sympy.Symbol(f"c{i}", real=True), sympy.Symbol(f"s{i}", real=True))


def _reduced(x: Scalar, n: int) -> Foreign:
    """The expression as a sum of products, with no sine squared."""
    sympy = library()
    entry = sympy.expand(sympy.sympify(x))
    for i in range(1, n + 1):
        s, c = sympy.Symbol(f"s{i}", real=True), sympy.Symbol(f"c{i}", real=True)
        if not entry.has(s):
            continue
        powers = sympy.Poly(entry, s).as_dict()
        entry = sympy.expand(
            sum(part * s ** (k % 2) * (1 - c**2) ** (k // 2) for (k,), part in powers.items())
        )
    return entry.xreplace({x: sympy.Rational(x) for x in entry.atoms(sympy.Float)})
