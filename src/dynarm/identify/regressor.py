"""The columns of the linear model: tau = columns @ values, for rigid body, drives, friction and a user's own terms.

In order: the minimal parameters of the arm (armatures merged where they must be, the others after them), then joint by
joint viscous, Coulomb and offset, then the user's columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from ..border.arguments import among, each, items, shown
from ..border.memo import cached_property
from ..dynamics.papers.minimal_parameters_lin1995 import layout
from ..errors import InputError, KindError
from ..model.model import compile as compile_arm
from ..parameters.minimal import minimal_parameters
from ..robot.arm import SHAPES, Arm

FRICTION = ("viscous", "coulomb", "offset")
_UNITS = 400  # random states that tell which columns a joint feels


@dataclass(frozen=True, slots=True)
class Column:
    """A term of the user's own: one unknown coefficient times forces that depend on the state.

    function(q, qd, qdd) takes and returns one scalar a joint (a batch is a scalar; use dynarm.algebra's sin, cos, sign,
    tanh, magnitude), 0 for joints that do not feel it. Example, wrist gears that couple joints 5 and 6:

        Column("inertia56", lambda q, qd, qdd: [0, 0, 0, 0, qdd[5], qdd[4]])
    """

    name: str
    function: Callable[[Sequence[Any], Sequence[Any], Sequence[Any]], Sequence[Any]]

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise KindError(f"name is {shown(self.name)}; give the column a name")
        if not callable(self.function):
            raise KindError(f"function is {shown(self.function)}; give a function of q, qd, qdd")

    def evaluate(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """The forces (..., n) of a coefficient of one."""
        n = q.shape[-1]
        states = ([x[..., j] for j in range(n)] for x in (q, qd, qdd))
        word = f"what column '{self.name}' returns"
        found = items(word, self.function(*states), "one force a joint")
        if len(found) != n:
            raise InputError(f"column '{self.name}' returns {len(found)} forces for {n} joints")
        out = np.empty(q.shape)
        for j, force in enumerate(found):
            out[..., j] = each(f"force {j + 1} of column '{self.name}'", force, q.shape[:-1])
        return out


# ---- the rigid body


@dataclass(frozen=True)
class Rigid:
    """The minimal parameters of an arm, armatures included on request, and their regressor."""

    arm: Arm
    armature: bool

    def __reduce__(self) -> Any:
        return rigid_of, (self.arm, self.armature)  # its compiled regressor is made anew

    @cached_property
    def minimal(self) -> Any:
        return minimal_parameters(self.arm, armature=self.armature)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.minimal.names)

    @property
    def matrix(self) -> np.ndarray:
        """(p, 10 n), or (p, 11 n) with armatures: values = matrix @ natural parameters."""
        return np.asarray(self.minimal.matrix)

    @cached_property
    def natural(self) -> np.ndarray:
        """(n, 10) or (n, 11): the arm's own parameters, armature last."""
        if not self.armature:
            return self.arm.parameters
        own = [[joint.armature] for joint in self.arm.joints]
        return np.hstack([self.arm.parameters, own])

    @cached_property
    def _kernel(self) -> Any:
        """The compiled regressor; it depends on the kinematics only, so arms that share them share it."""
        bare = self.arm.with_parameters(np.zeros((self.arm.n, 10)))
        return compile_arm(bare).functions["regressor"]

    @cached_property
    def _mixture(self) -> np.ndarray:
        """From the compiled columns and the armatures' to those of the minimal parameters."""
        n = self.arm.n
        plain = np.asarray(minimal_parameters(self.arm).matrix)
        both = np.zeros((len(plain) + n, n, 11))
        both[: len(plain), :, :10] = plain.reshape(-1, n, 10)
        both[len(plain) + np.arange(n), np.arange(n), 10] = 1.0
        return both.reshape(len(both), -1) @ np.linalg.pinv(self.matrix)

    @cached_property
    def sources(self) -> tuple[np.ndarray, np.ndarray] | None:
        """For each minimal parameter its column of the compiled regressor, or -1, and the joint of its armature, or -1.

        None where parameters mix several of those.
        """
        plain = minimal_parameters(self.arm)
        if not self.armature:
            return np.arange(plain.count), np.full(plain.count, -1)
        place = {k: column for column, k in enumerate(plain.kept)}
        last = len(layout(plain.structure))
        kept = self.minimal.kept
        if any(k < last and k not in place for k in kept):
            return None
        columns = [place[k] if k < last else -1 for k in kept]
        return np.array(columns), np.array([-1 if k < last else k - last for k in kept])

    @cached_property
    def compiled_size(self) -> int:
        """Number of columns of the compiled regressor."""
        return minimal_parameters(self.arm).count

    def compiled(
        self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, out: np.ndarray | None = None
    ) -> np.ndarray:
        """(N, n, p) of the minimal parameters without armatures, into `out` if given."""
        return self._kernel(q, qd, qdd) if out is None else self._kernel(q, qd, qdd, out=out)

    def columns(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """(N, n, p): joint forces per unit of each minimal parameter."""
        Y = self.compiled(q, qd, qdd)
        if not self.armature:
            return Y
        n, p = self.arm.n, Y.shape[2]
        wide = np.zeros((len(Y), n, p + n))
        wide[..., :p] = Y
        j = np.arange(n)
        wide[:, j, p + j] = qdd
        if self.sources is None:
            return wide @ self._mixture
        return wide[..., np.where(self.sources[0] >= 0, self.sources[0], p + self.sources[1])]


# ---- all columns of a model


@lru_cache(maxsize=64)
def rigid_of(arm: Arm, armature: bool) -> Rigid:
    """The rigid part of a model, kept for the next fit of the same arm."""
    return Rigid(arm, armature)


def check_terms(friction: Sequence[Any], shape: Any, columns: Sequence[Any]) -> None:
    """Refuse what no column can be made of."""
    for word in friction:
        if not among(word, FRICTION):
            raise InputError(f"friction has {shown(word)}; choose among {', '.join(FRICTION)}")
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
        wanted = tuple(w for w in FRICTION if w in self.friction)
        if self.asymmetric and "coulomb" in wanted:
            wanted = tuple(w for w in wanted if w != "offset")  # it is their mean already
        put(self, "friction", wanted)
        if not self.widths:
            put(self, "widths", (0.02,) * self.arm.n)
        put(self, "rigid", rigid_of(self.arm, self.armature))

    @property
    def n(self) -> int:
        return self.arm.n

    @cached_property
    def drive_names(self) -> tuple[str, ...]:
        """Friction parameters of one joint, in order."""
        if not self.asymmetric:
            return self.friction
        found: list[str] = []
        for word in self.friction:
            found += [word] if word == "offset" else [word, f"{word}_negative"]
        return tuple(found)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Every unknown: minimal parameters, friction by joint, the user's."""
        drives = [f"{word}{j + 1}" for j in range(self.n) for word in self.drive_names]
        return (*self.rigid.names, *drives, *(c.name for c in self.columns))

    @property
    def size(self) -> int:
        return len(self.names)

    @property
    def rigid_size(self) -> int:
        return len(self.rigid.names)

    def drive_index(self, joint: int, word: str) -> int:
        """Where a friction parameter of a joint stands among all unknowns."""
        words = self.drive_names
        return self.rigid_size + joint * len(words) + words.index(word)

    def drive_columns(self, qd: np.ndarray) -> list[np.ndarray]:
        """The friction columns (N, n) in the order of drive_names: entry j belongs to joint j."""
        found = []
        for word in self.friction:
            if word == "offset":
                found.append(np.ones_like(qd))
                continue
            x = qd
            if word == "coulomb":
                x = np.sign(qd) if self.shape == "sign" else np.tanh(qd / np.array(self.widths))
            found += [np.maximum(x, 0), np.minimum(x, 0)] if self.asymmetric else [x]
        return found

    def evaluate(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """(N, n, size): joint forces per unit of each unknown."""
        p, words = self.rigid_size, len(self.drive_names)
        out = np.zeros((len(q), self.n, self.size))
        out[:, :, :p] = self.rigid.columns(q, qd, qdd)
        j = np.arange(self.n)
        for k, column in enumerate(self.drive_columns(qd)):
            out[:, j, p + j * words + k] = column
        first = p + words * self.n
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
        drives, p, words = self.drive_columns(qd), self.rigid_size, len(self.drive_names)
        own = [c.evaluate(q, qd, qdd) for c in self.columns]
        found = []
        for j, (support, picks) in enumerate(zip(self.support, self._picks, strict=True)):
            out = np.empty((len(support) + 1, len(q)))
            np.take(
                Y[j], picks, axis=0, out=out[: len(picks)]
            )  # armatures are the last of the rigid ones
            for row in range(len(picks), len(support)):
                k = int(support[row])
                if k < p:
                    out[row] = qdd[:, j]
                elif k < p + words * self.n:
                    out[row] = drives[(k - p) % words][:, j]
                else:
                    out[row] = own[k - p - words * self.n][:, j]
            found.append(out)
        return found

    @cached_property
    def _picks(self) -> tuple[np.ndarray, ...]:
        """For each joint the columns of `_by_columns` that its first unknowns are."""
        p, sources = self.rigid_size, self.rigid.sources
        columns = np.arange(p) if sources is None else sources[0]
        found = [columns[support[support < p]] for support in self.support]
        return tuple(picks[picks >= 0] for picks in found)

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
            coefficients, armatures = np.zeros(Y.shape[2]), np.zeros(self.n)
            coefficients[sources[0][kept]] = values[:p][kept]
            armatures[sources[1][armed]] = values[:p][armed]
            out = Y @ coefficients + qdd * armatures
        for k, column in enumerate(self.drive_columns(qd)):
            out += column * values[p + k : p + words * self.n : words]
        for k, own in enumerate(self.columns):
            out += own.evaluate(q, qd, qdd) * values[p + words * self.n + k]
        return out

    @cached_property
    def _sampled(self) -> np.ndarray:
        """The columns at random states."""
        rng = np.random.default_rng(0)
        return self.evaluate(*(rng.uniform(-s, s, (_UNITS, self.n)) for s in (np.pi, 3.0, 8.0)))

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
