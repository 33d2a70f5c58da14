"""The columns of the linear model: tau = columns @ values, for rigid body, drives, friction and a user's own terms.

In order: the minimal parameters of the arm (armatures merged where they must be, the others after them), then joint by
joint its friction, term by term as `dynamics.drive` has them, then the user's columns. Rows are those of the arm's
forces: six of a free base, then one an independent joint. Friction belongs to independent joints: that of a joint which
follows another shows in the same force as its master's and is merged with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from ..algebra.vectors import Scalar
from ..border.arguments import among, each, items, shown
from ..border.kinds import Outside
from ..border.memo import cached_property
from ..dynamics.drive import TERMS, Instant, Term, shaped
from ..errors import InputError, KindError
from ..robot.arm import SHAPES, Arm, Friction
from .logs.base import BASE_FORCES
from .rigid import Rigid, rigid_of

FRICTION = ("viscous", "coulomb", "offset")  # unless others are asked for
Forces = Callable[[Sequence[Scalar], Sequence[Scalar], Sequence[Scalar]], Sequence[Scalar]]
_UNITS = 400  # random states that tell which columns a joint feels


@dataclass(frozen=True, slots=True)
class Column:
    """A term of the user's own: one unknown coefficient times forces that depend on the state.

    function(q, qd, qdd) takes and returns one scalar a joint (a batch is a scalar; use dynarm.algebra's sin, cos, sign,
    tanh, magnitude), 0 for joints that do not feel it; of a free base those of the base come first, as the arm has them
    (coordinate_names, speed_names). Example, wrist gears that couple joints 5 and 6:

        Column("inertia56", lambda q, qd, qdd: [0, 0, 0, 0, qdd[5], qdd[4]])
    """

    name: str
    function: Forces

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise KindError(f"name is {shown(self.name)}; give the column a name")
        if not callable(self.function):
            raise KindError(f"function is {shown(self.function)}; give a function of q, qd, qdd")

    def evaluate(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """The forces (..., n) of a coefficient of one."""
        n = qd.shape[-1]
        states = ([x[..., j] for j in range(x.shape[-1])] for x in (q, qd, qdd))
        word = f"what column '{self.name}' returns"
        forces = items(word, self.function(*states), "one force a joint")
        if len(forces) != n:
            raise InputError(f"column '{self.name}' returns {len(forces)} forces for {n} joints")
        out = np.empty(qd.shape)
        for j, force in enumerate(forces):
            out[..., j] = each(f"force {j + 1} of column '{self.name}'", force, qd.shape[:-1])
        return out


# ---- all columns of a model


def force_names(arm: Arm) -> tuple[str, ...]:
    """What the entries of tau are called: force and moment on a free base in its axes, then the joints by name."""
    return (*BASE_FORCES, *arm.joint_names) if arm.floating else arm.joint_names


def force_units(arm: Arm) -> tuple[str, ...]:
    """The units of the entries of tau."""
    turning = (arm.joints[i].revolute for i in arm.coupling.masters)
    joints = ("N m" if revolute else "N" for revolute in turning)
    return (*(["N"] * 3 + ["N m"] * 3 if arm.floating else ()), *joints)


def check_terms(friction: Sequence[Outside], shape: Outside, columns: Sequence[Outside]) -> None:
    """Refuse what no column can be made of."""
    for word in friction:
        if not among(word, tuple(TERMS)):
            raise InputError(f"friction has {shown(word)}; choose among {', '.join(TERMS)}")
    if not among(shape, SHAPES):
        raise InputError(f"shape is {shown(shape)}; choose 'sign' or 'tanh'")
    for column in columns:
        if not isinstance(column, Column):
            raise KindError(f"columns holds {shown(column)}; give dynarm.Column(name, function)")


@dataclass(frozen=True)
class Terms:
    """Everything that is linear in the unknowns. `widths`: of the smoothed sign, one a joint."""

    arm: Arm
    friction: tuple[str, ...] = FRICTION
    shape: str = "sign"
    widths: tuple[float, ...] = ()
    armature: bool = True
    asymmetric: bool = False
    columns: tuple[Column, ...] = ()
    whole: bool = False  # redundant unknowns stay, because other data tell them apart
    rigid: Rigid = field(init=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        check_terms(self.friction, self.shape, self.columns)
        wanted = tuple(w for w in TERMS if w in self.friction)
        if self.asymmetric:
            wanted = tuple(w for w in wanted if TERMS[w].within not in wanted)
        put(self, "friction", wanted)
        if not self.widths:
            put(self, "widths", (0.02,) * len(self.joints))
        put(self, "rigid", rigid_of(self.arm, self.armature))

    @property
    def n(self) -> int:
        """Number of rows: forces on a free base and on the independent joints."""
        return self.arm.nv

    @property
    def joints(self) -> tuple[int, ...]:
        """The independent joints, which friction belongs to."""
        return self.arm.coupling.masters

    @property
    def first(self) -> int:
        """Rows of a free base, which come before those of the joints."""
        return self.arm.nv - len(self.joints)

    @property
    def row_names(self) -> tuple[str, ...]:
        """What the rows are called: fx ... mz on a free base, then the joints by name."""
        return force_names(self.arm)

    @cached_property
    def drive_names(self) -> tuple[str, ...]:
        """Friction parameters of one joint, in order."""
        return tuple(name for name, _, _ in self.drives)

    @property
    def drives(self) -> list[tuple[str, Term, tuple[float, float]]]:
        """The same with the term of each, and with the coefficients of that term that a unit of it stands for."""
        terms = [TERMS[word] for word in self.friction]
        return [(name, t, one) for t in terms for name, one in t.unknowns(self.asymmetric).items()]

    @cached_property
    def shapes(self) -> tuple[Friction, ...]:
        """For each joint the record of its friction's shape, its coefficients 0."""
        own = (self.arm.joints[i].friction for i in self.joints)
        pairs = zip(own, self.widths, strict=True)
        return tuple(shaped(friction, shape=self.shape, width=w) for friction, w in pairs)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Every unknown: minimal parameters, friction by joint, the user's."""
        drives = [f"{word}{i + 1}" for i in self.joints for word in self.drive_names]
        return (*self.rigid.names, *drives, *(c.name for c in self.columns))

    @property
    def size(self) -> int:
        return len(self.names)

    @property
    def rigid_size(self) -> int:
        return len(self.rigid.names)

    def drive_index(self, joint: int, word: str) -> int:
        """Where a friction parameter of an independent joint stands among all unknowns."""
        words = self.drive_names
        return self.rigid_size + joint * len(words) + words.index(word)

    def drive_columns(self, qd: np.ndarray) -> list[np.ndarray]:
        """The friction columns (N, joints) in the order of drive_names: entry j belongs to independent joint j."""
        speeds = qd[..., self.first :]
        columns = [np.empty(speeds.shape) for _ in self.drive_names]
        for k, column in enumerate(columns):
            for j in range(len(self.joints)):
                column[..., j] = self.drive_column(k, j, speeds[..., j])
        return columns

    def drive_column(self, k: int, joint: int, v: Scalar) -> Scalar:
        """The force of a joint at velocity v per unit of its friction parameter k, a float, a batch or a symbol."""
        _, term, one = self.drives[k]
        return term.both_ways(self.shapes[joint], Instant(v), *one)

    def friction_of(self, joint: int, values: np.ndarray) -> Friction | None:
        """The record of a joint's friction by the values of all unknowns; None where none is fitted."""
        if not self.drive_names:
            return None
        own = {w: float(values[self.drive_index(joint, w)]) for w in self.drive_names}
        terms = [TERMS[word] for word in self.friction]
        held = {key: x for t in terms for key, x in t.entries(own).items()}
        return replace(self.shapes[joint], **held)  # type: ignore[arg-type]  # fields by name

    def evaluate(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """(N, n, size): joint forces per unit of each unknown."""
        p, words = self.rigid_size, len(self.drive_names)
        out = np.zeros((len(q), self.n, self.size))
        out[:, :, :p] = self.rigid.columns(q, qd, qdd)
        j = np.arange(len(self.joints))
        for k, column in enumerate(self.drive_columns(qd)):
            out[:, self.first + j, p + j * words + k] = column
        first = p + words * len(j)
        for k, own in enumerate(self.columns):
            out[:, :, first + k] = own.evaluate(q, qd, qdd)
        return out

    def joint_rows(
        self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, scratch: dict[str, np.ndarray]
    ) -> list[np.ndarray]:
        """For each joint (k + 1, N): its own unknowns' columns as rows, and a last row left for the torque.

        The one place where a fit gets its numbers from. scratch keeps the compiled regressor's array between calls.
        """
        Y = self._by_columns(q, qd, qdd, scratch)
        p, words = self.rigid_size, len(self.drive_names)
        last = p + words * len(self.joints)
        own = [c.evaluate(q, qd, qdd) for c in self.columns]
        rows = []
        for j, (support, picks) in enumerate(zip(self.support, self._picks, strict=True)):
            out = np.empty((len(support) + 1, len(q)))
            # armatures are the last of the rigid ones
            np.take(Y[j], picks, axis=0, out=out[: len(picks)])
            for row in range(len(picks), len(support)):
                k = int(support[row])
                if k < p:
                    np.multiply(qdd[:, j], self._gears[k], out=out[row])
                elif k < last:
                    out[row] = self.drive_column((k - p) % words, j - self.first, qd[:, j])
                else:
                    out[row] = own[k - last][:, j]
            rows.append(out)
        return rows

    @cached_property
    def _gears(self) -> np.ndarray:
        """For each rigid unknown that is an armature, the force on its row per unit of acceleration; else 0."""
        assert self.rigid.sources is not None
        joints = self.rigid.sources[1]
        return np.where(joints >= 0, self.rigid.geared.max(axis=0)[joints], 0.0)

    @cached_property
    def _picks(self) -> tuple[np.ndarray, ...]:
        """For each joint the columns of `_by_columns` that its first unknowns are."""
        p, sources = self.rigid_size, self.rigid.sources
        columns = np.arange(p) if sources is None else sources[0]
        rigid = [columns[support[support < p]] for support in self.support]
        return tuple(picks[picks >= 0] for picks in rigid)

    def _by_columns(
        self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, scratch: dict[str, np.ndarray]
    ) -> np.ndarray:
        """(n, columns, N): the rigid regressor with samples side by side, compiled straight into that order."""
        if self.rigid.sources is None:
            return np.ascontiguousarray(self.rigid.columns(q, qd, qdd).transpose(1, 2, 0))
        shape = (self.n, self.rigid.compiled_size, len(q))
        if scratch.get("Y", np.empty(0)).shape != shape:
            scratch["Y"] = np.empty(shape)
        self.rigid.compiled(q, qd, qdd, scratch["Y"].transpose(2, 0, 1))
        return scratch["Y"]

    def forces(
        self, values: np.ndarray, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray
    ) -> np.ndarray:
        """(N, n): evaluate(...) @ values, without forming all columns."""
        p, words = self.rigid_size, len(self.drive_names)
        sources = self.rigid.sources
        if sources is None:
            out = self.rigid.columns(q, qd, qdd) @ values[:p]
        else:
            Y = self.rigid.compiled(q, qd, qdd)
            kept, armed = sources[0] >= 0, sources[1] >= 0
            coefficients, armatures = np.zeros(Y.shape[2]), np.zeros(self.arm.n)
            coefficients[sources[0][kept]] = values[:p][kept]
            armatures[sources[1][armed]] = values[:p][armed]
            out = Y @ coefficients + qdd * (self.rigid.geared @ armatures)
        last = p + words * len(self.joints)
        for k, column in enumerate(self.drive_columns(qd)):
            out[:, self.first :] += column * values[p + k : last : words]
        for k, own in enumerate(self.columns):
            out += own.evaluate(q, qd, qdd) * values[last + k]
        return np.asarray(out)

    @cached_property
    def _sampled(self) -> np.ndarray:
        """The columns at random states."""
        rng = np.random.default_rng(0)
        sizes = (self.arm.nq, np.pi), (self.n, 3.0), (self.n, 8.0)
        q, qd, qdd = (rng.uniform(-s, s, (_UNITS, k)) for k, s in sizes)
        if self.first:
            q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
        return self.evaluate(q, qd, qdd)

    @cached_property
    def redundant(self) -> np.ndarray:
        """Unknowns that no motion can tell from those before them: they are taken as 0.

        An offset beside a weight that never turns is one: a vertical sliding joint.
        """
        if self.whole:
            return np.zeros(0, int)
        W = self._sampled.reshape(-1, self.size)
        size = np.linalg.norm(W, axis=0)
        R = np.asarray(np.linalg.qr(W / np.where(size > 0, size, 1.0), mode="r"))
        return np.flatnonzero(np.abs(np.diag(R)) < 1e-8)

    @cached_property
    def independent(self) -> np.ndarray:
        """All other unknowns."""
        return np.setdiff1d(np.arange(self.size), self.redundant)

    @cached_property
    def support(self) -> tuple[np.ndarray, ...]:
        """For each joint, the unknowns that its force depends on, redundant ones left out."""
        size = np.abs(self._sampled).max(axis=0)
        felt = size > 1e-9 * np.maximum(size.max(axis=0), 1e-300)
        felt[:, self.redundant] = False
        return tuple(np.flatnonzero(row) for row in felt)


@lru_cache(maxsize=64)
def terms_of(
    arm: Arm,
    friction: tuple[str, ...],
    shape: str,
    widths: tuple[float, ...],
    armature: bool,
    asymmetric: bool,
    columns: tuple[Column, ...],
) -> Terms:
    """The columns of a model, kept for the next fit of the same kind."""
    return Terms(arm, friction, shape, widths, armature, asymmetric, columns)
