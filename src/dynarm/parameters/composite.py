"""Composite bodies of an arm and the inertia constants that its minimal parameters are made of, for users.

Composite body i is links i to n as if the joints beyond i were locked. Everything of it is about the origin of frame i,
in the axes of frame i: mass [kg], first moment of mass [kg m], inertia tensor [kg m^2].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..algebra.vectors import Scalar, Sym3, Vec3
from ..border.arguments import reals
from ..border.kinds import FloatArray, Numbers, Outside
from ..border.words import shown, titled
from ..dynamics.papers.composite_bodies_linfang1999 import composites
from ..dynamics.papers.minimal_chain_lin1995 import minimal_chain
from ..dynamics.papers.minimal_parameters_lin1995 import constants, structure_of
from ..errors import InputError, KindError
from ..robot.arm import Arm
from ..robot.frames.chain import chain_of, pose


@dataclass(frozen=True, slots=True, eq=False)
class CompositeBodies:
    """m^, c^ and J^ of the composite bodies 1 to n in poses q (linfang1999 (3), (22), (23); lin1995 (8), (9)).

    Attributes
    ----------
    arm : Arm
        The robot.
    mass : ndarray
        (n,) kg.
    first_moment : ndarray
        (..., n, 3) kg m, about origin i, in frame i.
    inertia : ndarray
        (..., n, 3, 3) kg m^2, about origin i, in frame i.

    Examples
    --------
    >>> bodies = dynarm.composite_bodies(dynarm.load("two_link"), [0.3, 0.5])
    >>> bodies.first_moment.round(3) + 0.0
    array([[6.053, 0.575, 0.   ],
           [1.2  , 0.   , 0.   ]])
    """

    arm: Arm
    mass: FloatArray
    first_moment: FloatArray
    inertia: FloatArray

    def __repr__(self) -> str:
        poses = int(np.prod(self.inertia.shape[:-3]))
        return titled(
            "CompositeBodies of", self.arm.name, f": {self.arm.n} bodies in {poses} poses"
        )


@dataclass(frozen=True, slots=True, eq=False)
class InertiaConstants:
    """The constants of lin1995 that do not depend on the pose: k and U of (10), (12), (14), D of (38), W of (92).

    Attributes
    ----------
    arm : Arm
        The robot.
    mass : ndarray
        (n,) kg, of the composite bodies.
    k : ndarray
        (n, 3) kg m, constant part of the first moment c^_i = k_i + l_i.
    U : ndarray
        (n, 3, 3) kg m^2, constant part of the inertia J^_i = U_i + V_i.
    D : ndarray
        (n, 3, 3) kg m^2, what is left of U where parts that no joint feels are taken away;
        0 for translational joints.
    W : dict[tuple[int, int], ndarray]
        By (i, k), 3 x 3 kg m: what translational joint k adds to D_i for each metre of its
        d, in frame i (joints from 1).

    Examples
    --------
    >>> constants = dynarm.inertia_constants(dynarm.load("puma560"))
    >>> constants.k.shape
    (6, 3)
    """

    arm: Arm
    mass: FloatArray
    k: FloatArray
    U: FloatArray
    D: FloatArray
    W: dict[tuple[int, int], FloatArray]

    def __repr__(self) -> str:
        return titled("InertiaConstants of", self.arm.name, f": {self.arm.n} bodies")


def composite_bodies(arm: Arm, q: Numbers) -> CompositeBodies:
    """The composite bodies of an arm in one pose or many: q (..., n).

    Parameters
    ----------
    arm : Arm
        A chain.
    q : array_like (..., n)
        Positions [rad or m].

    Returns
    -------
    CompositeBodies
        Their masses, first moments and inertias.

    Examples
    --------
    >>> bodies = dynarm.composite_bodies(dynarm.load("two_link"), [0.3, 0.5])
    >>> bodies.mass
    array([7., 3.])
    """
    _check(arm)
    array = reals("q", q, f"positions of {arm.n} joints, (..., {arm.n})", arm.joint_names)
    if not array.ndim or array.shape[-1] != arm.n:
        raise InputError(f"q has shape {array.shape}; give (..., {arm.n})")
    chain = chain_of(arm)
    bodies = composites(chain, pose(chain, [array[..., i] for i in range(arm.n)]))
    batch = array.shape[:-1]
    first = [_stacked(batch, (3,), body.c) for body in bodies]
    tensors = [_tensor(batch, body.J) for body in bodies]
    return CompositeBodies(
        arm,
        np.array([float(body.m) for body in bodies]),
        np.stack(first, axis=len(batch)),
        np.stack(tensors, axis=len(batch)),
    )


def inertia_constants(arm: Arm) -> InertiaConstants:
    """The constants k, U, D, W of lin1995 for a chain.

    Parameters
    ----------
    arm : Arm
        A chain.

    Returns
    -------
    InertiaConstants
        The constants.

    Examples
    --------
    >>> constants = dynarm.inertia_constants(dynarm.load("two_link"))
    >>> constants.mass
    array([7., 3.])
    """
    _check(arm)
    chain = chain_of(arm)
    fixed = constants(chain, pose(chain, [0] * chain.n))
    known = minimal_chain(chain, structure_of(chain, 0.0), folded=False)
    return InertiaConstants(
        arm,
        np.array([float(of.m) for of in fixed]),
        np.array([_stacked((), (3,), of.k) for of in fixed]),
        np.array([_tensor((), of.U) for of in fixed]),
        np.array([_tensor((), body.D) for body in known.joints]),
        {(i + 1, k + 1): _tensor((), W) for i, body in enumerate(known.loads) for k, W in body.W},
    )


def _check(arm: Outside) -> None:
    if not isinstance(arm, Arm):
        raise KindError(
            f"arm is {shown(arm)}; give a dynarm.Arm, for example dynarm.load('puma560')"
        )
    if not chain_of(arm).serial or not arm.coupling.free:
        raise InputError(
            f"robot '{arm.name}' is no chain on a fixed base of independent joints, which lin1995 and linfang1999 "
            "speak of; load one chain of it with tip=, or see dynarm.minimal_parameters for trees"
        )


def _stacked(
    batch: tuple[int, ...], shape: tuple[int, ...], values: Vec3 | list[Scalar]
) -> FloatArray:
    entries = [np.broadcast_to(np.asarray(x, float), batch) for x in values]
    array: FloatArray = np.stack(entries, axis=-1).reshape(batch + shape)
    return array


def _tensor(batch: tuple[int, ...], J: Sym3) -> FloatArray:
    return _stacked(batch, (3, 3), [x for row in J.full().rows for x in row])
