"""The minimal parameters of a robot: names, values, and the exact matrix from its natural parameters."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from ..algebra.vectors import Vec3
from ..border.arguments import among, flag, real, shown
from ..border.kinds import Cell, FloatArray, Foreign, Numbers
from ..border.memo import cached_property
from ..border.tables import html_table, text_table
from ..border.words import titled
from ..dynamics.own.minimal_tree import LEFT_OVER, TreeStructure, tree_structure
from ..dynamics.papers.minimal_chain_lin1995 import MinimalChain, minimal_chain
from ..dynamics.papers.minimal_parameters_lin1995 import (
    TOLERANCE,
    Structure,
    structure_of,
)
from ..errors import DynarmWarning, InputError, KindError, UnknownName
from ..robot.arm import Arm, Joint, move_parameters
from ..robot.frames.chain import Chain, chain_of
from .closed_forms import ClosedForms, closed_forms
from .conventions import (
    CONVENTIONS,
    natural_values,
    preference,
    theorem_rows,
    to_linfang,
    widened,
)
from .naming import (
    all_doubts,
    all_names,
    merged_names,
    natural_names,
    regrouped_name,
    said,
)
from .redundancy import Merging, regular_columns
from .redundancy import merging as merged_combinations
from .spelling import merged_text, spell, spell_row
from .units import Even, length_of, natural_units, product, units

__all__ = [
    "CONVENTIONS",
    "MinimalChain",
    "MinimalParameters",
    "minimal_chain",
    "minimal_parameters",
    "structure_of",
]


@dataclass(frozen=True, eq=False)
class MinimalParameters:
    """The minimal linear combinations of a robot's inertia parameters: values = matrix @ arm.parameters.ravel().

    Attributes
    ----------
    arm : Arm
        The robot.
    convention : str
        "lin1995", "linfang1999" or "gautier1990".
    names : tuple[str, ...]
        P names: k3_x, U2_11-22, m3, kappa1_3 (lin1995, linfang1999), Ixx2R (gautier1990); a
        combination that others were merged into carries their names too, U1_33+Ia1.
    matrix : ndarray
        (p, 10 links), with armature 11 a joint; full row rank; of geometry and gravity's
        direction only.
    natural : tuple[str, ...]
        The names of its columns: those of joint i end in i; of a free base, which comes
        first, in 0.
    tree : TreeStructure
        The decisions of Theorem 2; decisions and doubts tell them in words.
    tolerance : float
        Below which axes counted as parallel and offsets as none.
    armature : bool
        Whether motor inertias are among the natural parameters.
    armatures : tuple[int, ...]
        Joints whose armature stays a parameter of its own, the last columns of a regressor
        with armature.

    Examples
    --------
    >>> arm = dynarm.load("two_link")
    >>> minimal = dynarm.minimal_parameters(arm)
    >>> np.allclose(minimal.matrix @ arm.parameters.ravel(), minimal.values)
    True
    """

    arm: Arm
    convention: str
    names: tuple[str, ...]
    matrix: FloatArray
    natural: tuple[str, ...]
    tree: TreeStructure
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

    def _sheet(self) -> tuple[str, tuple[str, ...], list[tuple[Cell, ...]]]:
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
        values: FloatArray = self.matrix @ natural_values(self.arm, self.armature)
        return values

    @property
    def structure(self) -> Structure:
        """The decisions of Theorem 2 for a chain on a fixed base, as the papers know it; `tree` has those of all."""
        if not self.tree.serial:
            raise InputError(
                f"robot '{self.arm.name}' is no chain on a fixed base; use .tree instead of .structure"
            )
        return self.tree.paths[0].structure

    @property
    def kept(self) -> tuple[int, ...]:
        """Which of Theorem 2's combinations (and armatures) the parameters are; the others were merged into them."""
        return tuple(self._merging.kept)

    @property
    def merging(self) -> FloatArray:
        """(p, combinations): the parameters from the combinations of Theorem 2, armatures behind them."""
        matrix: FloatArray = self._merging.matrix
        return matrix

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
        natural = natural_units(self.tree, self.armature)[columns]
        own = units(self.tree, self.armature)[list(self.kept)]
        rows = natural if convention == "gautier1990" else own
        even = Even.of(length_of(chain), rows, natural)
        return even.inverse(self._matrices[convention][:, columns])

    def convert(self, convention: str) -> FloatArray:
        """(p, p): the values in another convention are this matrix times these values.

        Parameters
        ----------
        convention : str
            The other convention.

        Returns
        -------
        ndarray (p, p)
            The matrix.

        Examples
        --------
        >>> other = dynarm.minimal_parameters(arm, convention="gautier1990")
        >>> np.allclose(minimal.convert("gautier1990") @ minimal.values, other.values)
        True
        """
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
        texts = [spell(form) for form in self.closed_forms.forms]
        texts += [f"Ia{i + 1}" for i in range(self.arm.n)] * self.armature
        return tuple(
            merged_text(row, texts, k)
            for row, k in zip(self._merging.matrix, self.kept, strict=True)
        )

    @property
    def abbreviations(self) -> dict[str, str]:
        """What names in the symbolic forms stand for that are not natural parameters: long entries of U and k."""
        if self.convention == "gautier1990":
            return {}
        return {name: spell(form) for name, form in self.closed_forms.short.items()}

    def sympy(self) -> list[Foreign]:
        """Each parameter as a SymPy expression in natural parameters and DH constants, in the order of `names`.

        gautier1990: in natural parameters, with this arm's numbers. Needs the extra `symbolic`.

        Returns
        -------
        list of sympy.Expr
            The expressions.

        Examples
        --------
        >>> minimal.sympy()[0]
        Izz_1 + Izz_2 + m_2
        """
        from .symbols import expressions

        return expressions(self)

    def substitutions(self) -> dict[Foreign, float]:
        """The number that each symbol of `sympy()` has for this arm: parameters, DH constants, abbreviations.

        Returns
        -------
        dict of sympy.Symbol to float
            Symbols and numbers.

        Examples
        --------
        >>> len(minimal.substitutions()) > 0
        True
        """
        from .symbols import substitutions

        return substitutions(self)

    def latex(self) -> str:
        r"""Every parameter as a line of LaTeX, in an align* environment; abbreviations first.

        Returns
        -------
        str
            LaTeX.

        Examples
        --------
        >>> minimal.latex().startswith(r"\begin{align*}")
        True
        """
        from .symbols import latex

        return latex(self)

    def why(self, name: str) -> str:
        """Why a natural parameter such as 'Ixx1' is absent, alone or grouped; of a minimal one, what it is made of.

        Parameters
        ----------
        name : str
            A natural parameter such as "Ixx1", or a minimal one such as "U1_33".

        Returns
        -------
        str
            One or several sentences.

        Examples
        --------
        >>> import textwrap
        >>> print(textwrap.fill(minimal.why("Ixx1"), 80))
        Ixx1 is absent: no joint force depends on it. Link 'shoulder' turns about one
        axis only, that of joint 'shoulder': its inertia about other axes is never felt.
        """
        from .reasons import why

        return why(self, name)

    @cached_property
    def closed_forms(self) -> ClosedForms:
        """The combinations of Theorem 2 as forms of names."""
        return closed_forms(chain_of(self.arm), self.tree, self.convention != "linfang1999")

    def _set_names(self) -> list[str]:
        return merged_names(all_names(self.tree, self.armature), self._merging)

    @property
    def decisions(self) -> tuple[str, ...]:
        """Every question asked about the geometry, what was measured and what it was taken for."""
        return tuple(said(d, self.arm) for d in self.tree.decisions)

    @property
    def doubts(self) -> tuple[str, ...]:
        """The decisions that hold within the tolerance only, not exactly."""
        return all_doubts(self.arm, self.tree, self.armature, self._merging)

    def payload(
        self,
        mass: float,
        com: Numbers = (0, 0, 0),
        inertia: Numbers = ((0, 0, 0),) * 3,
        tool: str | None = None,
    ) -> dict[str, float]:
        """The change of every minimal parameter that a payload, given in the tool frame, changes.

        Parameters
        ----------
        mass : float
            Mass [kg].
        com : array_like (3,)
            Centre of mass in the frame of the tool [m].
        inertia : array_like (3, 3)
            Inertia about the centre of mass [kg m^2].
        tool : str, optional
            The name of the tool that carries it, where there are several.

        Returns
        -------
        dict[str, float]
            {name: change} of those that change.

        Examples
        --------
        >>> {name: round(change, 3) for name, change in minimal.payload(1.0).items()}
        {'U1_33': 1.64, 'k1_x': 1.0, 'U2_33': 0.64, 'k2_x': 0.8}
        """
        load = Joint(mass=mass, com=com, inertia=inertia, name="payload")
        assert load.parameters is not None
        carrier = self.arm.tool_named(tool)
        if carrier.joint < 0 and not self.tree.floating:
            return {}  # what stands on a fixed base moves nothing
        T = carrier.matrix
        moved = move_parameters(load.parameters, T[:3, :3], T[:3, 3])
        width = 11 if self.armature else 10
        start = 10 * self.tree.floating + width * carrier.joint if carrier.joint >= 0 else 0
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

    The link of a free base, which comes first, has ten natural parameters always. Where joints follow others the
    parameters are those that show in the forces of the independent joints.

    Parameters
    ----------
    arm : Arm
        The robot.
    convention : str, default "lin1995"
        "lin1995", "linfang1999" or "gautier1990"; see the glossary of names.
    armature : bool, default False
        The reflected motor inertia is an eleventh natural parameter of each joint, the last
        one.
    tolerance : float, default 0.0001
        Angles [rad] and, a hundredth of it, lengths over the robot's size below which axes
        count as parallel and offsets as none.
    gravity : str, optional
        "any": for every direction of gravity; default: the arm's own.

    Returns
    -------
    MinimalParameters
        Names, values, and the matrix that makes them of the natural parameters.

    Examples
    --------
    >>> minimal = dynarm.minimal_parameters(dynarm.load("two_link"))
    >>> minimal.names
    ('U1_33', 'k1_x', 'k1_y', 'U2_33', 'k2_x', 'k2_y')
    >>> minimal.symbolic_forms[0]
    'Izz1 + m2 + Izz2'
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
    tree = tree_structure(chain, tolerance)
    merged = merged_combinations(chain, tree, arm.coupling, tolerance, armature, gravity == "any")
    doubts = all_doubts(arm, tree, armature, merged)
    if doubts:
        text = f"minimal parameters of robot '{arm.name}': " + "; ".join(doubts)
        text += "; the dynamics stay exact, regressor @ values to about this size"
        warnings.warn(text, DynarmWarning, stacklevel=2)
    return _in_convention(arm, chain, convention, tree, tolerance, armature, merged)


def _in_convention(
    arm: Arm,
    chain: Chain,
    convention: str,
    tree: TreeStructure,
    tolerance: float,
    armature: bool,
    merged: Merging,
) -> MinimalParameters:
    """The parameters from what Theorem 2 and the merging of its combinations say."""
    natural = natural_names(arm, armature)
    rows = (widened(x, tree, armature) for x in theorem_rows(chain, tree))
    matrix = product(merged.matrix, *rows)
    own = units(tree, armature)[merged.kept]
    every = natural_units(tree, armature)
    length = length_of(chain)
    columns = regular_columns(Even.of(length, own, every).down(matrix), preference(arm, armature))
    back = Even.of(length, own, every[columns]).inverse(matrix[:, columns])
    change, merged_linfang = to_linfang(chain, tree, armature, merged)
    matrices = {
        "lin1995": matrix,
        "linfang1999": product(change, matrix),
        "gautier1990": product(back, matrix),
    }
    if convention == "linfang1999":
        merged = merged_linfang
    names = merged_names(all_names(tree, armature), merged)
    if convention == "gautier1990":
        names = [
            regrouped_name(row, k, natural)
            for row, k in zip(matrices[convention], columns, strict=True)
        ]
    first = len(tree.layout())
    for matrix in matrices.values():
        matrix.setflags(write=False)
    return MinimalParameters(
        arm,
        convention,
        tuple(names),
        matrices[convention],
        natural,
        tree,
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
