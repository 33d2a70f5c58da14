"""The parts of a robot as frozen records: joints with the links they move, couplings, a free base, tools."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from ..border.arguments import number, numbers
from ..border.kinds import FloatArray, Kept, Outside
from ..border.words import brief, shown
from ..errors import InputError, KindError, ModelError
from .frames.poses import rigid, rotation, translation
from .friction import SHAPES, Coupled, Friction
from .inertia import pack_parameters, same_parameters, unpack_parameters

__all__ = [
    "HEAVIEST",
    "KINDS",
    "LONGEST",
    "SHAPES",
    "Body",
    "Coupled",
    "Friction",
    "Joint",
    "Mimic",
    "Tool",
    "kept_pose",
]

KINDS = ("revolute", "prismatic")
# a mass matrix multiplies inertias by lengths and its factors by each other: they must not overflow
LONGEST = 1e50  # [m]
HEAVIEST = 1e100  # of a link's ten parameters and the armature


@dataclass(frozen=True, slots=True)
class Mimic:
    """A coupling: the joint stands at multiplier * (position of another) + offset and has no freedom of its own.

    Parameters
    ----------
    joint : int | str
        Index or name of the joint that is followed; an arm keeps the index.
    multiplier : float, default 1.0
        Ratio of the two positions.
    offset : float, default 0.0
        Position at which the joint stands while the other one is at zero [rad or m].

    Examples
    --------
    >>> finger = dynarm.Joint("prismatic", mass=0.1, name="left")
    >>> twin = dynarm.Joint("prismatic", mass=0.1, name="right", mimic=dynarm.Mimic("left"))
    >>> dynarm.Arm([finger, twin]).nv
    1
    """

    joint: int | str
    multiplier: float = 1.0
    offset: float = 0.0

    __repr__ = brief

    def __post_init__(self) -> None:
        if isinstance(self.joint, bool) or not isinstance(self.joint, (int, np.integer, str)):
            raise KindError(
                f"mimic joint is {shown(self.joint)}; give the index or name of a joint"
            )
        if not isinstance(self.joint, str):
            object.__setattr__(self, "joint", int(self.joint))
        for key in ("multiplier", "offset"):
            object.__setattr__(self, key, number(f"mimic {key}", getattr(self, key)))
        if self.multiplier == 0:
            raise InputError(
                "mimic multiplier is 0; hold the joint instead: freeze={name: position}"
            )


@dataclass(frozen=True, slots=True)
class Joint:
    """One joint and the link that it moves.

    Modified Denavit-Hartenberg numbers: the frame stands in its parent's at Tx(a) Rx(alpha) Ry(beta) Tz(d)
    Rz(theta), and at a branch at Rz(gamma) Tz(b) before that (Khalil and Kleinfinger).

    Parameters
    ----------
    kind : str, default "revolute"
        "revolute" or "prismatic".
    a : float, default 0.0
        Distance along x from the parent's axis to this one [m].
    alpha : float, default 0.0
        Angle about x between these axes [rad].
    d : float, default 0.0
        Offset along this joint's axis [m]; q adds to it where the joint is prismatic.
    theta : float, default 0.0
        Angle about this joint's axis [rad]; q adds to it where the joint is revolute.
    mass : float, default 0.0
        Mass of the link [kg].
    com : array_like (3,)
        Centre of mass in the link's frame [m].
    inertia : array_like (3, 3)
        Inertia about the centre of mass, in the axes of the link's frame [kg m^2].
    armature : float, default 0.0
        Inertia of motor and gears, seen from the joint [kg m^2, or kg].
    friction : Friction, optional
        Friction of the joint.
    name : str, optional
        What the joint is called; joint1, joint2 ... by default.
    position_limits : tuple[float, float], optional
        Lowest and highest position [rad or m].
    velocity_limit : float, optional
        Largest speed [rad/s or m/s]; None, or 0 as many files write, is no limit.
    effort_limit : float, optional
        Largest force of the drive [N m or N]; None or 0 is no limit.
    beta : float, default 0.0
        Angle about y [rad], 0 except where neighbouring axes are nearly parallel.
    parameters : tuple[float, ...], optional
        The ten numbers [m, mcx, mcy, mcz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz] about the frame's
        origin, in place of mass, com and inertia.
    parent : int, optional
        None for the joint before this one (the base for the first), -1 for the base, or the
        index of an earlier joint.
    gamma : float, default 0.0
        Angle about the parent's z [rad], at branches only.
    b : float, default 0.0
        Offset along the parent's z [m], at branches only.
    mimic : Mimic, optional
        The joint that this one follows.

    Examples
    --------
    >>> joint = dynarm.Joint(a=0.5, mass=2.0, com=(0.2, 0, 0), velocity_limit=2.0)
    >>> joint.revolute
    True
    """

    kind: str = "revolute"
    a: float = 0.0
    alpha: float = 0.0
    d: float = 0.0
    theta: float = 0.0
    mass: float = 0.0
    com: Kept = (0.0, 0.0, 0.0)  # any three numbers, kept as a tuple
    inertia: Kept = ((0.0,) * 3,) * 3
    armature: float = 0.0
    friction: Friction | None = None
    name: str | None = None
    position_limits: tuple[float, float] | None = None
    velocity_limit: float | None = None
    effort_limit: float | None = None
    beta: float = 0.0
    parameters: tuple[float, ...] | None = None
    parent: int | None = None
    gamma: float = 0.0
    b: float = 0.0
    mimic: Mimic | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        if not isinstance(self.name, (str, type(None))):
            raise KindError(f"name of a joint is {shown(self.name)}; give a string or None")
        label = f"joint {shown(self.name)}" if self.name else "joint"
        if not isinstance(self.kind, str) or self.kind not in KINDS:
            raise InputError(
                f"{label}: kind is {shown(self.kind)}; choose 'revolute' or 'prismatic'"
            )
        for key in ("a", "alpha", "beta", "d", "theta", "armature", "gamma", "b"):
            put(self, key, number(f"{label}: {key}", getattr(self, key)))
        if max(abs(self.a), abs(self.d), abs(self.b)) > LONGEST:
            raise InputError(
                f"{label}: a is {self.a}, d is {self.d}, b is {self.b}; give metres, at most {LONGEST:g}"
            )
        if abs(self.armature) > HEAVIEST:
            raise InputError(
                f"{label}: mass, com, inertia and armature are too large to multiply; give kg and m"
            )
        _put_inertia(self, label)
        self._check_place(label)
        if self.friction is not None and not isinstance(self.friction, Friction):
            raise KindError(
                f"{label}: friction is {shown(self.friction)}; give dynarm.Friction(...) or None"
            )
        if self.position_limits is not None:
            low, high = numbers(f"{label}: position_limits", self.position_limits, (2,))
            put(self, "position_limits", (float(low), float(high)))
        for key in ("velocity_limit", "effort_limit"):
            if getattr(self, key) is not None:
                put(self, key, number(f"{label}: {key}", getattr(self, key)))

    def _check_place(self, label: str) -> None:
        """Where it hangs and whom it follows; whether these exist is the arm's question."""
        parent = self.parent
        if parent is not None:
            if isinstance(parent, bool) or not isinstance(parent, (int, np.integer)):
                raise KindError(
                    f"{label}: parent is {shown(parent)}; give None, -1 for the base or an index"
                )
            object.__setattr__(self, "parent", int(parent))
        if self.mimic is not None and not isinstance(self.mimic, Mimic):
            raise KindError(
                f"{label}: mimic is {shown(self.mimic)}; give dynarm.Mimic(...) or None"
            )

    def __repr__(self) -> str:
        return brief(self, "inertia", "parameters")

    @property
    def revolute(self) -> bool:
        """Whether the joint turns; else it slides."""
        return self.kind == "revolute"

    def with_parameters(self, ten: Iterable[float]) -> Joint:
        """The same joint whose link has the ten given parameters.

        Parameters
        ----------
        ten : iterable of 10 float
            M, mcx, mcy, mcz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the frame's origin.

        Returns
        -------
        Joint
            The joint with another link.

        Examples
        --------
        >>> joint.with_parameters([3, 0.6, 0, 0, 0, 0, 0.2, 0, 0, 0.2]).mass
        3.0
        """
        return replace(
            self, mass=0.0, com=(0, 0, 0), inertia=((0,) * 3,) * 3, parameters=tuple(ten)
        )

    def displacement(self, q: float = 0.0) -> FloatArray:
        """The 4x4 pose of this joint's frame in its parent's, at joint position q.

        Parameters
        ----------
        q : array_like (..., nq)
            Joint position [rad or m].

        Returns
        -------
        ndarray (4, 4)
            The pose of this joint's frame in its parent's.

        Examples
        --------
        >>> joint.displacement(np.pi / 2).round(3) + 0.0
        array([[ 0. , -1. ,  0. ,  0.5],
               [ 1. ,  0. ,  0. ,  0. ],
               [ 0. ,  0. ,  1. ,  0. ],
               [ 0. ,  0. ,  0. ,  1. ]])
        """
        theta, d = (self.theta + q, self.d) if self.revolute else (self.theta, self.d + q)
        branch = rotation("z", self.gamma) @ translation(0, 0, self.b)
        pose: FloatArray = (
            branch
            @ translation(self.a, 0, 0)
            @ rotation("x", self.alpha)
            @ rotation("y", self.beta)
            @ translation(0, 0, d)
            @ rotation("z", theta)
        )
        return pose


@dataclass(frozen=True, slots=True)
class Body:
    """A rigid body: mass, centre of mass, and inertia about it [kg, m, kg m^2]; `parameters` as of a joint's link.

    Parameters
    ----------
    mass : float, default 0.0
        Mass [kg].
    com : array_like (3,)
        Centre of mass [m].
    inertia : array_like (3, 3)
        Inertia about the centre of mass [kg m^2].
    parameters : tuple[float, ...], optional
        The ten numbers about the frame's origin, as of a joint's link, in place of the
        three.

    Examples
    --------
    >>> body = dynarm.Body(mass=6.0, com=(0, 0, 0.1), inertia=np.diag([0.1, 0.2, 0.2]))
    >>> leg = dynarm.Joint(mass=1.0, com=(0.1, 0, 0))
    >>> dynarm.Arm([leg], floating=body).nq
    8
    """

    mass: float = 0.0
    com: Kept = (0.0, 0.0, 0.0)
    inertia: Kept = ((0.0,) * 3,) * 3
    parameters: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        _put_inertia(self, "body")

    def __repr__(self) -> str:
        return brief(self, "inertia", "parameters")


@dataclass(frozen=True, slots=True)
class Tool:
    """A frame that tasks are described in.

    Parameters
    ----------
    name : str
        What the tool is called.
    joint : int
        Index of the joint whose link carries it; -1: the base link, in whose own frame the
        pose then is.
    pose : array_like (4, 4), optional
        Its pose in the frame of that link; the frame itself by default.

    Examples
    --------
    >>> grip = dynarm.Tool("grip", 1, [[1, 0, 0, 0.2], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    >>> grip.matrix[0, 3]
    np.float64(0.2)
    """

    name: str
    joint: int
    pose: Kept = None  # 4x4 in the link's internal frame, kept as 16 numbers by rows

    __repr__ = brief

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise KindError(f"name of a tool is {shown(self.name)}; give a non-empty string")
        if isinstance(self.joint, bool) or not isinstance(self.joint, (int, np.integer)):
            raise KindError(f"tool '{self.name}': joint is {shown(self.joint)}; give an index")
        object.__setattr__(self, "joint", int(self.joint))
        object.__setattr__(self, "pose", kept_pose(f"tool '{self.name}'", self.pose))

    @property
    def matrix(self) -> FloatArray:
        """The 4x4 pose."""
        return np.array(self.pose).reshape(4, 4)


def kept_pose(what: str, value: Outside) -> tuple[float, ...]:
    """A 4x4 pose as records keep it: 16 numbers by rows; None is the identity."""
    if isinstance(value, (tuple, list)) and len(value) == 16:  # as a record keeps it
        value = numbers(what, value, (16,)).reshape(4, 4)
    T = np.eye(4) if value is None else rigid(what, value)
    return tuple(T.ravel().tolist())


def _put_inertia(record: Joint | Body, label: str) -> None:
    """Check a link's inertia and keep it in both forms, whichever was given."""
    put = object.__setattr__
    mass = number(f"{label}: mass", record.mass)
    com = numbers(f"{label}: com", record.com, (3,))
    inertia = numbers(f"{label}: inertia", record.inertia, (3, 3))
    if record.parameters is None:
        if mass < 0:
            raise ModelError(f"{label}: mass is {mass}; a mass cannot be negative")
        if np.abs(inertia - inertia.T).max() > 1e-9 * max(np.abs(inertia).max(), 1e-300):
            raise ModelError(
                f"{label}: inertia is not symmetric ({inertia.tolist()}); give Ixy = Iyx and so on"
            )
        with np.errstate(over="ignore", invalid="ignore"):
            packed = pack_parameters(mass, com, inertia)
    else:
        packed = numbers(f"{label}: parameters", record.parameters, (10,))
    if not (np.abs(packed) <= HEAVIEST).all():
        raise InputError(
            f"{label}: mass, com, inertia and armature are too large to multiply; give kg and m"
        )
    if record.parameters is not None:
        mass, com, inertia = _agreed(label, packed, mass, com, inertia)
    put(record, "mass", mass)
    put(record, "com", tuple(com.tolist()))
    put(record, "inertia", tuple(map(tuple, inertia.tolist())))
    put(record, "parameters", tuple(packed.tolist()))


def _agreed(
    label: str, packed: FloatArray, mass: float, com: FloatArray, inertia: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    """Mass, centre and inertia of ten parameters, where those given beside them say nothing else."""
    body = unpack_parameters(packed)
    given = [mass, *com, *inertia.ravel()]
    if not any(given) or given == [body[0], *body[1], *body[2].ravel()]:
        return body
    if not same_parameters(packed, pack_parameters(mass, com, inertia)):
        raise InputError(
            f"{label}: parameters and mass, com, inertia are both given and differ; give one of the "
            "two (to change one of them, pass parameters=None as well)"
        )
    return mass, com, inertia
