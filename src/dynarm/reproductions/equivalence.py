"""Equivalence of the formulations of arm dynamics, digit by digit: the title of turney1980, on any arm.

M_ij, C^i_jk and G_i are computed by every formulation that applies: by those that give them, and by strobing those that
give joint forces (end of section 3 of turney1980). All of them run in numbers of many digits, on one pose.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..algebra.precise import Precise, Precision, precision
from ..algebra.vectors import Scalar
from ..border.arguments import numbers, whole
from ..border.kinds import FloatArray, Given, Outside
from ..border.tables import html_table, text_table
from ..border.words import shown, titled
from ..dynamics.papers.equivalence_turney1980 import proof
from ..dynamics.papers.minimal_chain_lin1995 import minimal_chain
from ..dynamics.papers.minimal_parameters_lin1995 import structure_of
from ..dynamics.papers.strobing_turney1980 import strobed_coriolis_tensor, strobed_mass_matrix
from ..dynamics.table import TABLE, Formulation
from ..errors import InputError, KindError
from ..graph.trace import flatten
from ..robot.arm import Arm
from ..robot.frames.chain import Chain, Step, chain_of, pose
from ..robot.frames.precise_chain import precise_chain

FEWEST, MOST = 16, 1000  # digits
QUANTITIES = {"mass_matrix": "M", "coriolis_tensor": "C", "gravity": "G"}
SEED = 1980


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far one formulation's numbers for a quantity are from those of the first one, of its largest entry.

    agreed: the same as a number of decimal digits, of differences too that are smaller than the least double; infinite
    where nothing differs.
    """

    quantity: str
    formulation: str
    paper: str
    way: str  # "directly", "strobed", "at rest"
    difference: float
    agreed: float

    @property
    def told(self) -> str:
        """The difference as text."""
        return power_of_ten(self.agreed)


@dataclass(frozen=True, slots=True)
class ProofStep:
    """One equation of turney1980's section 4 on this arm: how far its sides are apart, of the larger one."""

    equation: str
    says: str
    numbers: int
    largest: float
    difference: float
    agreed: float

    @property
    def told(self) -> str:
        """The difference as text."""
        return power_of_ten(self.agreed)


def power_of_ten(agreed: float) -> str:
    """What is left where so many decimal digits agree, `2.4e-63`."""
    if math.isinf(agreed):
        return "0.0e+00"
    power = math.floor(-agreed)
    size = round(10.0 ** (-agreed - power), 1)
    return f"{size:.1f}e{power:+03d}" if size < 10 else f"1.0e{power + 1:+03d}"


@dataclass(frozen=True, slots=True, eq=False)
class Equivalence:
    """What `equivalence` found: a row a formulation and quantity, and the proof of turney1980 step by step.

    Attributes
    ----------
    arm : Arm
        The robot.
    digits : int
        Digits that the numbers were computed with.
    q : ndarray
        The state that was looked at.
    qd : ndarray
        The state that was looked at.
    qdd : ndarray
        The state that was looked at.
    table : tuple[Agreement, ...]
        `Agreement` records: every formulation against the first of its quantity.
    proof : tuple[ProofStep, ...]
        `ProofStep` records, (4.1) to (4.34); empty where the arm has translational joints.

    Examples
    --------
    >>> found = dynarm.equivalence(dynarm.load("two_link"), digits=30)
    """

    arm: Arm
    digits: int
    q: FloatArray
    qd: FloatArray
    qdd: FloatArray
    table: tuple[Agreement, ...]
    proof: tuple[ProofStep, ...]

    @property
    def largest_difference(self) -> float:
        """The largest of all differences, of formulations and of the proof."""
        return max([x.difference for x in self.table] + [x.difference for x in self.proof])

    @property
    def agreed_digits(self) -> float:
        """The decimal digits that all of them have in common at least."""
        return min([x.agreed for x in self.table] + [x.agreed for x in self.proof])

    @property
    def told(self) -> str:
        """The largest difference as text."""
        return power_of_ten(self.agreed_digits)

    def __repr__(self) -> str:
        rest = f": {self.digits} digits, {len(self.table)} rows, largest difference {self.told}"
        return titled("Equivalence on", self.arm.name, rest)

    def __str__(self) -> str:
        return text_table(*self._sheet())

    def _repr_html_(self) -> str:
        return html_table(*self._sheet())

    def _sheet(self) -> tuple[str, tuple[str, ...], list[list[str]]]:
        rows = [[QUANTITIES[x.quantity], x.formulation, x.paper, x.way, x.told] for x in self.table]
        return repr(self).strip("<>"), ("", "formulation", "paper", "how", "difference"), rows

    def explain(self) -> str:
        """Section 4 of turney1980 on this arm, equation by equation, each side computed.

        Returns
        -------
        str
            The text, one paragraph for each step of the proof.

        Examples
        --------
        >>> "(4.1)" in found.explain()
        True
        """
        if not self.proof:
            return (
                f"Section 4 of turney1980 speaks of rotational joints only, and robot '{self.arm.name}' has others; "
                "the table compares the formulations for all joints."
            )
        lines = [f"turney1980, section 4, on robot '{self.arm.name}': {self.digits} digits"]
        lines += [
            f"  ({x.equation}) {x.says}: {x.numbers} numbers, the largest {x.largest:.3g}, "
            f"sides {x.told} of it apart"
            for x in self.proof
        ]
        return "\n".join(lines)


def equivalence(
    arm: Arm, digits: int = 50, q: Given = None, qd: Given = None, qdd: Given = None
) -> Equivalence:
    """Compare every formulation that applies to an arm, in numbers of so many digits.

    Parameters
    ----------
    arm : Arm
        The robot.
    digits : int, default 50
        16 to 1000.
    q : array_like (n,), optional
        Positions; by default the state is drawn at random, always the same.
    qd : array_like (n,), optional
        Velocities.
    qdd : array_like (n,), optional
        Accelerations.

    Returns
    -------
    Equivalence
        The differences, and the proof of turney1980 in numbers.

    Examples
    --------
    >>> found = dynarm.equivalence(dynarm.load("two_link"), digits=30)
    >>> found.largest_difference < 1e-25
    True
    """
    digits = _checked(arm, digits)
    state = _state(arm, q, qd, qdd)
    of = precision(digits)
    chain = precise_chain(arm, of)
    steps = pose(chain, [of(x) for x in state[0].tolist()])
    table = [
        row for quantity in QUANTITIES for row in _agreements(arm, chain, steps, quantity, digits)
    ]
    return Equivalence(arm, digits, *state, tuple(table), tuple(_proof(chain, steps, state, of)))


def _checked(arm: Outside, digits: Outside) -> int:
    if not isinstance(arm, Arm):
        raise KindError(
            f"arm is {shown(arm)}; give a dynarm.Arm, for example dynarm.load('puma560')"
        )
    if not arm.plain or arm.floating is not None or not arm.coupling.free:
        raise InputError(
            f"robot '{arm.name}' is no chain on a fixed base of independent joints, which all formulations of the "
            "papers speak of; load one chain of it with tip=, or compare trees by dynarm.count"
        )
    return whole("digits", digits, FEWEST, MOST)


def _state(arm: Arm, *given: Given) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The state as it was given, the rest drawn at random."""
    drawn = np.random.default_rng(SEED).uniform(-1.5, 1.5, (3, arm.n))
    names = ("q", "qd", "qdd")
    q, qd, qdd = (
        chance if x is None else numbers(name, x, (arm.n,), arm.joint_names)
        for name, x, chance in zip(names, given, drawn, strict=True)
    )
    return q, qd, qdd


# ---- the table


def _agreements(
    arm: Arm, chain: Chain, steps: Sequence[Step], quantity: str, digits: int
) -> Iterator[Agreement]:
    """The formulations of a quantity against the first of them."""
    reference: list[Scalar] | None = None
    for row, way, function in _ways(chain, quantity):
        values = [_made(x) for x in flatten(function(_body(arm, chain, row), steps))]
        reference = values if reference is None else reference
        gap = _apart(values, reference, digits)
        yield Agreement(quantity, row.name, row.paper, way, *gap)


def _body(arm: Arm, chain: Chain, row: Formulation) -> object:
    if row.parameters != "minimal":
        return chain
    plain = replace(chain, gravity=chain_of(arm).gravity)  # Theorem 2 asks for its direction
    return minimal_chain(chain, structure_of(plain, 0.0))


def _ways(chain: Chain, quantity: str) -> Iterator[tuple[Formulation, str, Callable[..., object]]]:
    """The formulations that give a quantity, each with its function of (arm, pose)."""
    rows = [row for row in TABLE if not row.declines(chain) and row.function is not None]
    # those that give it come first
    for row in sorted(rows, key=lambda row: row.quantity != quantity):
        assert row.function is not None
        if row.quantity == quantity and not row.name.startswith("strobed"):
            yield row, "directly", row.function
        elif row.quantity == "inverse_dynamics":
            yield (
                row,
                "at rest" if quantity == "gravity" else "strobed",
                STROBED[quantity](row.function),
            )
        elif row.quantity == "bias" and quantity == "gravity" and row.name.startswith("base"):
            yield row, "at rest", _bias_at_rest(row.function)


def _at_rest(inverse_dynamics: Callable[..., object]) -> Callable[..., object]:
    def gravity(arm: Chain, steps: Sequence[Step]) -> object:
        return inverse_dynamics(arm, steps, [0] * arm.n, [0] * arm.n)

    return gravity


def _bias_at_rest(bias: Callable[..., object]) -> Callable[..., object]:
    def gravity(arm: Chain, steps: Sequence[Step]) -> object:
        return bias(arm, steps, [0] * arm.n)

    return gravity


STROBED: dict[str, Callable[..., Callable[..., object]]] = {
    "mass_matrix": strobed_mass_matrix,
    "coriolis_tensor": strobed_coriolis_tensor,
    "gravity": _at_rest,
}


# ---- the proof


def _proof(
    chain: Chain, steps: Sequence[Step], state: Sequence[FloatArray], of: Precision
) -> Iterator[ProofStep]:
    if not all(limb.revolute for limb in chain.joints):
        return
    qd, qdd = ([of(x) for x in values.tolist()] for values in state[1:])
    for side in proof(chain, steps, qd, qdd):
        if not side.left:
            continue  # about links beyond, of which one joint has none
        size = max(float(abs(_made(x))) for x in (*side.left, *side.right))
        gap = _apart(side.left, side.right, of.digits)
        yield ProofStep(side.equation, side.says, len(side.left), size, *gap)


def _made(x: Scalar) -> Scalar:
    """A number as it is, plain or precise."""
    return x if isinstance(x, Precise) else float(x)


def _apart(left: Sequence[Scalar], right: Sequence[Scalar], digits: int) -> tuple[float, float]:
    """The largest difference of the entries over the largest of them all, and as digits that agree.

    Where all of them vanish (the Coriolis tensor of one joint), what is left of the digits would be compared with
    itself: entries count as zero below a third of the digits.
    """
    size = max(float(abs(_made(x))) for x in (*left, *right))
    worst: Scalar = 0.0
    for a, b in zip(left, right, strict=True):
        gap = abs(_made(a) - _made(b))
        worst = gap if gap > worst else worst
    relative = worst / max(size, float(f"1e-{min(digits // 3, 100)}"))
    return float(relative), _digits(relative)


def _digits(x: Scalar) -> float:
    """Minus the decimal logarithm, of what is too small for a double as well."""
    value = x.value if isinstance(x, Precise) else x
    if not value:
        return math.inf
    return -float(value.context.log10(value)) if isinstance(x, Precise) else -math.log10(value)
