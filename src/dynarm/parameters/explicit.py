"""The equations of motion of a short arm written out: M, C and G as SymPy expressions, text and LaTeX.

[turney1980] (2.11): tau_i = sum_j M_ij qdd_j + sum_jk C^i_jk qd_j qd_k + G_i. The recursion of lin1995 (16)-(23) runs
on polynomials in symbols (`polynomials`), one unit motion after another (strobing, end of section 3 of turney1980);
squares of sines, of twists too, become 1 - cos^2 as they appear. Armatures stand on M's diagonal. `c1`, `s1` are
cosine and sine of the first joint's angle, theta included; q of translational joints are `q1`. Turns of the base frame
are in gravity's components. Parameters, DH constants and components of gravity that are zero for this arm are left out,
twists of whole right angles are taken as such.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ..algebra.vectors import Nested, Scalar, Sym3, Vec3, add
from ..border.arguments import shown
from ..border.kinds import Foreign, Outside
from ..border.progress import Report, progress_of
from ..border.words import brief
from ..dynamics.papers.newton_euler_lin1995 import inverse_dynamics
from ..dynamics.papers.strobing_turney1980 import strobed_coriolis_tensor, strobed_mass_matrix
from ..errors import InputError, KindError
from ..robot.arm import Arm
from ..robot.frames.chain import Limb, chain_of, pose
from .polynomials import Polynomial, Ring
from .spelling import written
from .symbols import library

MOST = 4  # joints
ENTRIES = ("xx", "xy", "yy", "xz", "yz", "zz")


@dataclass(frozen=True, slots=True)
class SymbolicAngle:
    """A joint's angle, of which cosine and sine are known as symbols."""

    c: Polynomial
    s: Polynomial

    def cos(self) -> Polynomial:
        return self.c

    def sin(self) -> Polynomial:
        return self.s


@dataclass(slots=True, eq=False)
class Symbols:
    """Symbols of an arm's numbers, as they are asked for: the polynomials' and SymPy's."""

    ring: Ring = field(default_factory=Ring)
    numbers: dict[Foreign, float] = field(default_factory=dict)
    meaning: dict[str, Foreign] = field(default_factory=dict)  # of the ring's names

    def named(self, name: str, value: Scalar) -> Scalar:
        """A symbol for a number; 0 for zero."""
        if value == 0:
            return 0
        self.numbers[self._real(name)] = float(value)
        return self.ring.symbol(name)

    def twist(self, i: int, word: str, c: Scalar, s: Scalar) -> tuple[Scalar, Scalar]:
        """Cosine and sine of a constant angle: numbers at right angles, else functions of its symbol."""
        if c in (0, 1, -1):
            return int(c), int(s)
        sympy = library()
        symbol = sympy.Symbol(f"{word}_{i}", real=True)
        self.numbers[symbol] = math.atan2(s, c)
        both = f"cos({word}_{i})", f"sin({word}_{i})"
        self.meaning |= dict(zip(both, (sympy.cos(symbol), sympy.sin(symbol)), strict=True))
        return self.ring.angle(*both)

    def position(self, i: int, limb: Limb) -> Scalar:
        """A joint's coordinate."""
        for word in ("c", "s", "q"):
            self._real(f"{word}{i}")
        if not limb.revolute:
            return self.ring.symbol(f"q{i}")
        return SymbolicAngle(*self.ring.angle(f"c{i}", f"s{i}"))

    def _real(self, name: str) -> Foreign:
        return self.meaning.setdefault(name, library().Symbol(name, real=True))

    def expression(self, x: Scalar) -> Foreign:
        """A polynomial as SymPy writes it."""
        sympy, meaning = library(), self.meaning
        if not isinstance(x, Polynomial):
            return sympy.nsimplify(x)
        products = [
            sympy.Mul(
                sympy.Rational(k),
                *(meaning[name] ** exponent for name, exponent in self.ring.powers(m)),
            )
            for m, k in x.terms.items()
        ]
        return sympy.Add(*products)


@dataclass(frozen=True, slots=True, eq=False)
class ExplicitModel:
    """M (n, n), C[i] (n, n) and G (n) of an arm as SymPy matrices in the symbols of `substitutions`.

    Attributes
    ----------
    arm : Arm
        The robot.
    M : sympy.Matrix
        Mass matrix (n, n).
    C : tuple of sympy.Matrix
        One matrix (n, n) a joint: its Coriolis and centrifugal force is qd' C[i] qd.
    G : sympy.Matrix
        Gravity forces (n).
    numbers : dict
        The number of each symbol that does not depend on the pose.

    Examples
    --------
    >>> written = dynarm.explicit(dynarm.load("two_link"))
    >>> written.M[1, 1]
    Izz_2
    """

    arm: Arm
    M: Foreign
    C: tuple[Foreign, ...]
    G: Foreign
    numbers: dict[Foreign, float]

    __repr__ = brief

    def substitutions(self, q: Sequence[float]) -> dict[Foreign, float]:
        """The number of each symbol, for this arm at joint positions q [rad or m].

        Parameters
        ----------
        q : array_like (n,)
            Joint positions [rad or m].

        Returns
        -------
        dict of sympy.Symbol to float
            Symbols and numbers.

        Examples
        --------
        >>> round(float(written.M[1, 1].subs(written.substitutions([0.3, 0.5]))), 6)
        0.6425
        """
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
        """A line an entry; those that are not there are zero.

        Returns
        -------
        str
            The lines.

        Examples
        --------
        >>> print(written.text().splitlines()[0])
        M_11 = Izz_1 + Izz_2 + a_2**2*m_2 + 2*a_2*c2*mcx_2
        """
        return "\n".join(f"{name} = {entry}" for name, _, entry in self._lines())

    def latex(self) -> str:
        r"""The same in an align* environment.

        Returns
        -------
        str
            LaTeX.

        Examples
        --------
        >>> written.latex().startswith(r"\begin{align*}")
        True
        """
        sympy, told = library(), self._lines()
        symbols = {s for _, _, entry in told for s in entry.free_symbols}
        names = {s: written(str(s)) for s in symbols}
        lines = [rf"{name} &= {sympy.latex(entry, symbol_names=names)}" for _, name, entry in told]
        body = " \\\\\n".join(lines)
        return f"\\begin{{align*}}\n{body}\n\\end{{align*}}\n"


def explicit(arm: Arm, progress: bool | Callable[[float], Outside] | None = None) -> ExplicitModel:
    """M, C and G of an arm of up to four joints, written out; needs the extra `symbolic`.

    Parameters
    ----------
    arm : Arm
        A chain of at most four joints.
    progress : callable or bool, optional
        None: a bar on a terminal when it takes long; False: none; or a function of the part
        that is done.

    Returns
    -------
    ExplicitModel
        The three, as SymPy matrices.

    Examples
    --------
    >>> dynarm.explicit(dynarm.load("two_link")).M.shape
    (2, 2)
    """
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
    known = Symbols()
    limbs = tuple(_limb(i, limb, known) for i, limb in enumerate(chain.joints, start=1))
    g = Vec3(*(known.named(f"g_{w}", x) for w, x in zip("xyz", chain.gravity, strict=True)))
    symbolic = replace(chain, joints=limbs, gravity=g)
    steps = pose(symbolic, [known.position(i, limb) for i, limb in enumerate(limbs, start=1)])
    M = strobed_mass_matrix(inverse_dynamics)(symbolic, steps)
    C = strobed_coriolis_tensor(inverse_dynamics)(symbolic, steps)
    still = [0] * arm.n
    G = inverse_dynamics(symbolic, steps, still, still)
    for i, joint in enumerate(arm.joints):
        M[i][i] = add(M[i][i], known.named(f"Ia_{i + 1}", joint.armature))
    with progress_of(progress, f"writing out {arm.name}") as report:
        return _model(arm, known, (M, C, G), report)


def _model(arm: Arm, known: Symbols, made: Nested, report: Report | None) -> ExplicitModel:
    """The polynomials as SymPy's expressions, each symmetric entry once."""
    sympy, (M, C, G) = library(), made
    todo = sum(len(x.terms) for x in flat([M, C, G]) if isinstance(x, Polynomial)) or 1
    done = 0
    kept: dict[int, Foreign] = {}

    def told(x: Scalar) -> Foreign:
        nonlocal done
        done += len(x.terms) if isinstance(x, Polynomial) else 0
        if id(x) not in kept:
            kept[id(x)] = known.expression(x)
            if report is not None:
                report(done / todo)
        return kept[id(x)]

    return ExplicitModel(
        arm,
        sympy.Matrix([[told(x) for x in row] for row in M]),
        tuple(sympy.Matrix([[told(x) for x in row] for row in page]) for page in C),
        sympy.Matrix([told(x) for x in G]),
        known.numbers,
    )


def flat(nested: Nested) -> list[Scalar]:
    """The scalars of nested lists."""
    if isinstance(nested, (list, tuple)):
        return [x for item in nested for x in flat(item)]
    return [nested]


def _limb(i: int, limb: Limb, known: Symbols) -> Limb:
    ca, sa = known.twist(i, "alpha", limb.ca, limb.sa)
    cb, sb = known.twist(i, "beta", limb.cb, limb.sb)
    named = known.named
    return replace(
        limb,
        a=named(f"a_{i}", limb.a),
        d=named(f"d_{i}", limb.d),
        theta=0 if limb.revolute else limb.theta,
        ca=ca,
        sa=sa,
        cb=cb,
        sb=sb,
        m=named(f"m_{i}", limb.m),
        h=Vec3(*(named(f"mc{w}_{i}", x) for w, x in zip("xyz", limb.h, strict=True))),
        J=Sym3(*(named(f"I{w}_{i}", x) for w, x in zip(ENTRIES, limb.J, strict=True))),
    )
