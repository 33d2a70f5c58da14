"""The minimal parameters of a robot: names, values, and the exact matrix from its natural parameters."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..algebra.vectors import Sym3, Vec3
from ..border.arguments import among, flag, real, shown
from ..border.kinds import FloatArray, Numbers
from ..border.memo import cached_property
from ..border.tables import html_table, text_table
from ..border.words import titled
from ..dynamics.papers.minimal_chain_lin1995 import MinimalChain, linfang_values, minimal_chain
from ..dynamics.papers.minimal_parameters_lin1995 import (
    TOLERANCE,
    WRITTEN,
    Constants,
    Decision,
    Structure,
    combinations,
    constants,
    layout,
    name_of,
    structure_of,
)
from ..errors import DynarmWarning, InputError, KindError, UnknownName
from ..robot.arm import PARAMETER_NAMES, Arm, Joint, move_parameters
from ..robot.frames.chain import Chain, chain_of, pose
from ..robot.frames.weighed import Weighed
from .closed_forms import Form, spell, spell_row, symbolic
from .redundancy import (
    DEPENDENT,
    LEFT_OVER,
    Even,
    Merging,
    length_of,
    merging,
    natural_units,
    product,
    regular_columns,
    units,
)

__all__ = [
    "CONVENTIONS",
    "MinimalChain",
    "MinimalParameters",
    "minimal_chain",
    "minimal_parameters",
    "structure_of",
]

CONVENTIONS = ("lin1995", "linfang1999", "gautier1990")
# the order in which Gautier and Khalil keep a link's parameters; the later ones are grouped into the earlier
_KEPT = {
    True: ("Ixx", "Ixy", "Ixz", "Iyz", "Izz", "mcx", "mcy", "mcz", "Iyy", "m"),
    False: ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz"),
}


@dataclass(frozen=True, eq=False)
class MinimalParameters:
    """The minimal linear combinations of a robot's inertia parameters: values = matrix @ arm.parameters.ravel().

    names        p names: k3_x, U2_11-22, m3, kappa1_3 (lin1995, linfang1999), Ixx2R (gautier1990); a combination that
                 others were merged into carries their names too, U1_33+Ia1
    values       (p,) of this arm
    matrix       (p, 10 n), or (p, 11 n) with armature; full row rank; of geometry and gravity's direction only
    natural      the names of its columns
    structure    the decisions of Theorem 2; decisions and doubts tell them in words
    armatures    joints whose armature stays a parameter of its own, the last columns of a regressor with armature
    """

    arm: Arm
    convention: str
    names: tuple[str, ...]
    matrix: FloatArray
    natural: tuple[str, ...]
    structure: Structure
    tolerance: float
    armature: bool
    armatures: tuple[int, ...]
    _matrices: dict[str, np.ndarray]
    _columns: tuple[int, ...]  # of `natural`, on which every convention's matrix is regular
    _merging: (
        Merging  # of Theorem 2's combinations and the armatures, gautier1990: of those of lin1995
    )

    def __repr__(self) -> str:
        extras = ", armature" * self.armature
        rest = f": {self.count} in the convention of {self.convention}{extras}"
        return titled("MinimalParameters of", self.arm.name, rest)

    def __str__(self) -> str:
        return text_table(*self._sheet())

    def _repr_html_(self) -> str:
        return html_table(*self._sheet())

    def _sheet(self) -> tuple[str, tuple[str, ...], list[tuple[Any, ...]]]:
        """Title, head and rows of its table."""
        rows = list(zip(self.names, self.values.tolist(), self.long_forms, strict=True))
        return repr(self).strip("<>"), ("name", "value", "in natural parameters"), rows

    @property
    def count(self) -> int:
        """The number of minimal parameters."""
        return len(self.names)

    @cached_property
    def values(self) -> FloatArray:
        """(p,) values of this arm."""
        table = self.arm.parameters
        if self.armature:
            table = np.column_stack([table, [j.armature for j in self.arm.joints]])
        return self.matrix @ table.ravel()

    @property
    def kept(self) -> tuple[int, ...]:
        """Which of Theorem 2's combinations (and armatures) the parameters are; the others were merged into them."""
        return tuple(self._merging.kept)

    @property
    def columns(self) -> tuple[int, ...]:
        """p natural parameters that alone can have any values of the minimal ones."""
        return self._columns

    @cached_property
    def inverse(self) -> FloatArray:
        """(p, p): those natural parameters are this matrix times the values, all others being zero."""
        return self._inverse_of(self.convention)

    def _inverse_of(self, convention: str) -> np.ndarray:
        """The inverse of a convention's matrix on the columns."""
        columns = list(self._columns)
        chain = chain_of(self.arm)
        natural = natural_units(chain, self.armature)[columns]
        own = units(chain, self.structure, self.armature)[list(self.kept)]
        rows = natural if convention == "gautier1990" else own
        even = Even.of(length_of(chain), rows, natural)
        return even.inverse(self._matrices[convention][:, columns])

    def convert(self, convention: str) -> FloatArray:
        """(p, p): the values in another convention are this matrix times these values."""
        _check_convention(convention)
        return product(self._matrices[convention][:, list(self._columns)], self.inverse)

    @cached_property
    def long_forms(self) -> tuple[str, ...]:
        """Each combination in natural parameters, with the arm's numbers."""
        return tuple(spell_row(row.tolist(), self.natural) for row in self.matrix)

    @cached_property
    def symbolic_forms(self) -> tuple[str, ...]:
        """Each combination of Theorem 2 in natural parameters and DH constants; gautier1990 in those of lin1995."""
        if self.convention == "gautier1990":
            plain, back = self._set_names(), self._inverse_of("lin1995")
            return tuple(spell_row(row.tolist(), plain) for row in back)
        forms = combinations(self.structure, self._symbolic[0])
        texts = [spell(f) for f in forms] + [
            f"Ia{i + 1}" for i in range(self.arm.n)
        ] * self.armature
        return tuple(
            _merged_text(row, texts, k)
            for row, k in zip(self._merging.matrix, self.kept, strict=True)
        )

    @property
    def abbreviations(self) -> dict[str, str]:
        """What names in the symbolic forms stand for that are not natural parameters: long entries of U and k."""
        return {name: spell(form) for name, form in self._symbolic[1].items()}

    @cached_property
    def _symbolic(self) -> tuple[list[Constants], dict[str, Form]]:
        return symbolic(chain_of(self.arm), self.convention != "linfang1999")

    def _set_names(self) -> list[str]:
        return _merged_names(_all_names(self.structure, self.armature), self._merging)

    @property
    def decisions(self) -> tuple[str, ...]:
        """Every question asked about the geometry, what was measured and what it was taken for."""
        return tuple(_say(d, self.arm) for d in self.structure.decisions)

    @property
    def doubts(self) -> tuple[str, ...]:
        """The decisions that hold within the tolerance only, not exactly."""
        return _doubts(self.arm, self.structure, self.armature, self._merging)

    def payload(
        self, mass: float, com: Numbers = (0, 0, 0), inertia: Numbers = ((0, 0, 0),) * 3
    ) -> dict[str, float]:
        """The change of every minimal parameter that a payload, given in the tool frame, changes."""
        load = Joint(mass=mass, com=com, inertia=inertia, name="payload")
        assert load.parameters is not None
        T = self.arm.tool_pose
        moved = move_parameters(load.parameters, T[:3, :3], T[:3, 3])
        width = 11 if self.armature else 10
        start = width * (self.arm.n - 1)
        change = self.matrix[:, start : start + 10] @ moved
        scale = np.abs(self.matrix[:, start : start + 10]) @ np.abs(moved)
        return {
            name: float(x)
            for name, x, s in zip(self.names, change, scale, strict=True)
            if abs(x) > LEFT_OVER * s
        }


def minimal_parameters(
    arm: Arm,
    convention: str = "lin1995",
    armature: bool = False,
    tolerance: float = TOLERANCE,
    gravity: str | None = None,
) -> MinimalParameters:
    """The minimal parameters of an arm, in one of the conventions lin1995, linfang1999, gautier1990.

    armature=True: the natural parameters are 11 a joint, the reflected motor inertia last.
    tolerance: angles [rad] and, a hundredth of it, lengths over the robot's size below which axes count as parallel
    and offsets as none. gravity="any": for every direction of gravity, not the arm's own.
    """
    if not isinstance(arm, Arm):
        raise KindError(
            f"arm is {shown(arm)}; give a dynarm.Arm, for example dynarm.load('puma560')"
        )
    _check_convention(convention)
    armature = flag("armature", armature)
    if gravity is not None and not among(gravity, ("any",)):
        raise InputError(f"gravity is {shown(gravity)}; choose None for the arm's own, or 'any'")
    wanted = "an angle in rad, at least 0 and below 0.1"
    tolerance = real("tolerance", tolerance, wanted, lambda x: 0 <= x < 0.1)
    anywhere = Vec3(*(np.array(x) for x in (3.0, 5.0, -7.0)))
    chain = chain_of(arm, anywhere if gravity == "any" else None)
    structure = structure_of(chain, tolerance)
    merged = merging(chain, structure, tolerance, armature)
    doubts = _doubts(arm, structure, armature, merged)
    if doubts:
        text = f"minimal parameters of robot '{arm.name}': " + "; ".join(doubts)
        text += "; the dynamics stay exact, regressor @ values to about this size"
        warnings.warn(text, DynarmWarning, stacklevel=2)
    natural = _natural_names(arm.n, armature)
    rows = (_widened(x, arm.n, armature) for x in _rows(chain, structure))
    matrix = product(merged.matrix, *rows)
    own = units(chain, structure, armature)[merged.kept]
    every = natural_units(chain, armature)
    length = length_of(chain)
    columns = regular_columns(Even.of(length, own, every).down(matrix), _preference(arm, armature))
    back = Even.of(length, own, every[columns]).inverse(matrix[:, columns])
    change, merged_linfang = _to_linfang(chain, structure, armature, merged)
    matrices = {
        "lin1995": matrix,
        "linfang1999": product(change, matrix),
        "gautier1990": product(back, matrix),
    }
    if convention == "linfang1999":
        merged = merged_linfang
    names = _merged_names(_all_names(structure, armature), merged)
    if convention == "gautier1990":
        names = [
            _regrouped_name(row, k, natural)
            for row, k in zip(matrices[convention], columns, strict=True)
        ]
    first = len(layout(structure))
    for matrix in matrices.values():
        matrix.setflags(write=False)
    return MinimalParameters(
        arm,
        convention,
        tuple(names),
        matrices[convention],
        natural,
        structure,
        tolerance,
        armature,
        tuple(k - first for k in merged.kept if k >= first),
        matrices,
        tuple(columns),
        merged,
    )


def _check_convention(convention: str) -> None:
    if not among(convention, CONVENTIONS):
        raise UnknownName("convention", convention, CONVENTIONS)


def _natural_names(n: int, armature: bool) -> tuple[str, ...]:
    kinds = (*PARAMETER_NAMES, "Ia") if armature else PARAMETER_NAMES
    return tuple(f"{p}{i + 1}" for i in range(n) for p in kinds)


def _say(d: Decision, arm: Arm) -> str:
    """A decision in words, joints by name."""
    joints = " and ".join(f"'{arm.joint_names[i]}'" for i in d.joints)
    length = d.question == "no offset"
    what = {
        "parallel": f"axes of joints {joints}",
        "no offset": f"axes of joints {joints}",
        "along gravity": f"axis of joint {joints}",
    }[d.question]
    taken = {
        ("parallel", True): "taken as parallel",
        ("parallel", False): "not parallel",
        ("no offset", True): "taken as one line",
        ("no offset", False): "apart",
        ("along gravity", True): "taken as along gravity",
        ("along gravity", False): "not along gravity",
    }[d.question, d.yes]
    unit = "of the robot's size apart" if length else "rad off"
    measured = d.measured if length else math.asin(min(1.0, d.measured))
    return f"{what}: {measured:.3g} {unit}, {taken} (tolerance {d.limit:g})"


def _doubts(arm: Arm, structure: Structure, armature: bool, merged: Merging) -> tuple[str, ...]:
    """What was decided by the tolerance, not by the geometry."""
    found = [_say(d, arm) for d in structure.decisions if d.doubtful]
    names = _all_names(structure, armature)
    for k, left in merged.left.items():
        if left > WRITTEN:
            found.append(
                f"{names[k]}: {left:.3g} of its column in the regressor is no combination of others, "
                f"taken as none (tolerance {DEPENDENT:g})"
            )
    return tuple(found)


# ---- the rows of Theorem 2


def _rows(chain: Chain, structure: Structure) -> tuple[np.ndarray, np.ndarray]:
    """(all, 10 n): Theorem 2 on unit vectors instead of numbers, and the weights of the entries."""
    n = chain.n
    unit = [Weighed(row, row) for row in np.eye(10 * n)]
    bodies = []
    for i, body in enumerate(chain.joints):
        m, x, y, z, *J = unit[10 * i : 10 * i + 10]
        bodies.append(replace(body, m=m, h=Vec3(x, y, z), J=Sym3(*J)))
    forms = constants(Chain(tuple(bodies), chain.gravity), pose(chain, [0] * n))
    rows = [Weighed(np.zeros(10 * n), 0) + row for row in combinations(structure, forms)]
    return np.array([row.value for row in rows]), np.array([row.weight for row in rows])


def _widened(rows: np.ndarray, n: int, armature: bool) -> np.ndarray:
    """The rows over 11 columns a joint, and one row for each armature."""
    if not armature:
        return rows
    wide = np.zeros((len(rows) + n, n, 11))
    wide[: len(rows), :, :10] = rows.reshape(len(rows), n, 10)
    wide[len(rows) + np.arange(n), np.arange(n), 10] = 1
    return wide.reshape(len(wide), 11 * n)


def _all_names(structure: Structure, armature: bool) -> list[str]:
    names = [name_of(i, kind) for i, kind in layout(structure)]
    return names + [f"Ia{i + 1}" for i in range(structure.n)] * armature


def _to_linfang(
    chain: Chain, structure: Structure, armature: bool, merged: Merging
) -> tuple[np.ndarray, Merging]:
    """(p, p), what makes values of linfang1999 of those of lin1995, and what is merged of the former."""
    size = len(layout(structure))
    change = np.eye(size + chain.n * armature)
    change[:size, :size] = linfang_values(chain, structure, list(np.eye(size)))
    every = units(chain, structure, armature)
    kept = every[merged.kept]
    length = length_of(chain)
    taken = product(merged.matrix, Even.of(length, every, every).inverse(change))
    own = Even.of(length, kept, kept).inverse(taken[:, merged.kept])
    return own, replace(merged, matrix=product(own, taken))


def _preference(arm: Arm, armature: bool) -> list[int]:
    """The natural parameters in the order in which gautier1990 keeps them, from the base outwards."""
    width = 11 if armature else 10
    order = [
        width * i + PARAMETER_NAMES.index(p)
        for i, joint in enumerate(arm.joints)
        for p in _KEPT[joint.revolute]
    ]
    return order + [width * i + 10 for i in range(arm.n)] * armature


# ---- names


def _merged_names(names: Sequence[str], merged: Merging) -> list[str]:
    pairs = zip(merged.matrix, merged.kept, strict=True)
    return [_merged_text(row, names, k, "") for row, k in pairs]


def _merged_text(row: np.ndarray, texts: Sequence[str], own: int, gap: str = " ") -> str:
    """texts[own] plus what the row adds of others."""
    text = texts[own]
    for k, factor in enumerate(map(float, row)):
        if k == own or factor == 0:
            continue
        other = f"({texts[k]})" if " " in texts[k] else texts[k]
        part = other if abs(factor) == 1 else f"{abs(factor):.6g}*{other}"
        text += f"{gap}{'-' if factor < 0 else '+'}{gap}{part}"
    return text


def _regrouped_name(row: np.ndarray, own: int, natural: Sequence[str]) -> str:
    return natural[own] + ("R" if np.count_nonzero(row) > 1 else "")
