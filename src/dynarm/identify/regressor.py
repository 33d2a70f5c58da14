"""The linear model: tau = columns @ values, for rigid body, drives, friction and a user's own terms.

In order: the minimal parameters of the arm (armatures merged where they must be, the others after them), then joint by
joint its friction, term by term as `dynamics.drive` has them, then the entries of its lists (`listed`), then the user's
columns. Rows are those of the arm's forces: six of a free base, then one an independent joint. Friction belongs to
independent joints: that of a joint which follows another shows in the same force as its master's and is merged with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from ..algebra.vectors import Scalar
from ..border.kinds import FloatArray
from ..border.memo import cached_property
from ..dynamics.drive import (
    FAMILIES,
    TERMS,
    Instant,
    ListedTerm,
    Term,
    pieces,
    shaped,
    with_coefficients,
)
from ..model.friction_state import FrictionState
from ..robot.arm import Arm, Friction
from .friction.columns import Along, Motion, listed_columns
from .own_columns import Column
from .redundancy import Redundancy, redundancy
from .rigid import Rigid, rigid_of
from .rows import check_terms, force_names, listed_name

FRICTION = ("viscous", "coulomb", "offset")  # unless others are asked for
_UNITS = 400  # random states that tell which columns a joint feels


@dataclass(frozen=True)
class Terms:
    """Everything that is linear in the unknowns.

    shape, widths: of the sign, a word for all joints or one a joint, and where it is smoothed.
    listed: a record for every independent joint, the entries of whose lists are unknowns; nothing: none.
    """

    arm: Arm
    friction: tuple[str, ...] = FRICTION
    shape: str | tuple[str, ...] = "sign"
    widths: tuple[float, ...] = ()
    armature: bool = True
    asymmetric: bool = False
    columns: tuple[Column, ...] = ()
    whole: bool = False  # redundant unknowns stay, because other data tell them apart
    listed: tuple[Friction, ...] = ()
    rigid: Rigid = field(init=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        check_terms(self.friction, self.joint_shapes, self.columns)
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

    @cached_property
    def joints(self) -> tuple[int, ...]:
        """The independent joints, which friction belongs to."""
        return self.arm.coupling.masters

    @cached_property
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

    @cached_property
    def drives(self) -> list[tuple[str, Term, tuple[float, float]]]:
        """The same with the term of each, and with the coefficients of that term that a unit of it stands for."""
        terms = [TERMS[word] for word in self.friction]
        return [(name, t, one) for t in terms for name, one in t.unknowns(self.asymmetric).items()]

    @cached_property
    def shapes(self) -> tuple[Friction, ...]:
        """For each joint the record of its friction's shape, its coefficients 0."""
        own = (self.arm.joints[i].friction for i in self.joints)
        rows = zip(own, self.joint_shapes, self.widths, strict=True)
        return tuple(shaped(friction, shape=s, width=w) for friction, s, w in rows)

    @property
    def joint_shapes(self) -> tuple[str, ...]:
        """The shape of each joint's Coulomb friction."""
        return self.shape if isinstance(self.shape, tuple) else (self.shape,) * len(self.joints)

    @cached_property
    def records(self) -> tuple[Friction, ...]:
        """The same with the lists whose coefficients are unknown."""
        if not self.listed:
            return self.shapes
        return tuple(
            replace(shape, **{family: getattr(own, family) for family in FAMILIES})
            for shape, own in zip(self.shapes, self.listed, strict=True)
        )

    @cached_property
    def listed_terms(self) -> tuple[tuple[int, ListedTerm], ...]:
        """Every entry of the lists, with the independent joint that it belongs to."""
        return tuple((j, piece) for j, own in enumerate(self.records) for piece in pieces(own))

    def listed_index(self, joint: int) -> np.ndarray:
        """Where the entries of a joint's lists stand among all unknowns."""
        first = self.rigid_size + len(self.drive_names) * len(self.joints)
        owners = [j for j, _ in self.listed_terms]
        return first + np.flatnonzero(np.array(owners, int) == joint)

    @cached_property
    def plain(self) -> np.ndarray:
        """(size,) which unknowns are no entries of lists."""
        kept = np.ones(self.size, bool)
        for j in range(len(self.joints)):
            kept[self.listed_index(j)] = False
        return kept

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Every unknown: minimal parameters, friction by joint, the user's."""
        drives = [f"{word}{i + 1}" for i in self.joints for word in self.drive_names]
        lists = [listed_name(piece, self.joints[j]) for j, piece in self.listed_terms]
        return (*self.rigid.names, *drives, *lists, *(c.name for c in self.columns))

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
        if not self.drive_names and not self.listed:
            return None
        own = {w: float(values[self.drive_index(joint, w)]) for w in self.drive_names}
        terms = [TERMS[word] for word in self.friction]
        held = {key: x for t in terms for key, x in t.entries(own).items()}
        plain = replace(self.records[joint], **held)  # type: ignore[arg-type]  # fields by name
        return with_coefficients(plain, values[self.listed_index(joint)].tolist())

    def evaluate(
        self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, along: Along | None = None
    ) -> np.ndarray:
        """(N, n, size): joint forces per unit of each unknown."""
        p, words = self.rigid_size, len(self.drive_names)
        out = np.zeros((len(q), self.n, self.size))
        out[:, :, :p] = self.rigid.columns(q, qd, qdd)
        j = np.arange(len(self.joints))
        for k, column in enumerate(self.drive_columns(qd)):
            out[:, self.first + j, p + j * words + k] = column
        for i, listed in enumerate(self.listed_columns(q, qd, qdd, along)):
            for k, column in zip(self.listed_index(i), listed, strict=True):
                out[:, self.first + i, k] = column
        first = self.size - len(self.columns)
        for k, own in enumerate(self.columns):
            out[:, :, first + k] = own.evaluate(q, qd, qdd)
        return out

    # ---- lists of terms, some of which have memory or grow with the load

    def motion(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> Motion:
        """The motion (N, joints) of the independent joints."""
        return q[:, self.arm.nq - len(self.joints) :], qd[:, self.first :], qdd[:, self.first :]

    def deflections(
        self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, starts: Sequence[int] = ()
    ) -> FloatArray | None:
        """(N, elements): of all elements with memory along states; None where there are none."""
        count = len(self.memory.strokes) if self.listed else 0
        return self.memory.along(q, starts, qd, qdd)[:, :count] if count else None

    @cached_property
    def memory(self) -> FrictionState:
        """How the elements begin and go on: as those of the fitted model."""
        own = dict(zip(self.joints, self.records, strict=True))
        joints = [replace(j, friction=own.get(i)) for i, j in enumerate(self.arm.joints)]
        return FrictionState(replace(self.arm, joints=tuple(joints)), True)

    def listed_columns(
        self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, along: Along | None
    ) -> list[list[FloatArray]]:
        """For each independent joint the columns of its lists."""
        if not self.listed:
            return []
        x, load = (None, None) if along is None else (along.deflections, along.load)
        own, motion = None if load is None else load[:, self.first :], self.motion(q, qd, qdd)
        return [listed_columns(self.records, j, motion, x, own) for j in range(len(self.joints))]

    def joint_rows(
        self,
        q: np.ndarray,
        qd: np.ndarray,
        qdd: np.ndarray,
        scratch: dict[str, np.ndarray],
        along: Along | None = None,
    ) -> list[np.ndarray]:
        """For each joint (k + 1, N): its own unknowns' columns as rows, and a last row left for the torque.

        The one place where a fit gets its numbers from. scratch keeps the compiled regressor's array between calls.
        """
        Y = self._by_columns(q, qd, qdd, scratch)
        p, words = self.rigid_size, len(self.drive_names)
        drives = p + words * len(self.joints)
        last = self.size - len(self.columns)
        own = [c.evaluate(q, qd, qdd) for c in self.columns]
        listed = [c for joint in self.listed_columns(q, qd, qdd, along) for c in joint]
        rows = []
        for j, (support, picks) in enumerate(zip(self.support, self._picks, strict=True)):
            out = np.empty((len(support) + 1, len(q)))
            # armatures are the last of the rigid ones
            np.take(Y[j], picks, axis=0, out=out[: len(picks)])
            for row in range(len(picks), len(support)):
                k = int(support[row])
                if k < p:
                    np.multiply(qdd[:, j], self._gears[k], out=out[row])
                elif k < drives:
                    out[row] = self.drive_column((k - p) % words, j - self.first, qd[:, j])
                elif k < last:
                    out[row] = listed[k - drives]
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
        self,
        values: np.ndarray,
        q: np.ndarray,
        qd: np.ndarray,
        qdd: np.ndarray,
        deflected: FloatArray | None = None,
        held: FloatArray | None = None,
    ) -> np.ndarray:
        """(N, n): evaluate(...) @ values, without forming all columns; the load is what the values themselves give.

        deflected: of elements with memory, as `deflections` has them; None: without memory. held: (N, n) forces that
        hold wrenches on tools, which are part of the load and not of the result.
        """
        p, words = self.rigid_size, len(self.drive_names)
        out = self.rigid_forces(values, q, qd, qdd)
        load = out.copy() if held is None else out + held
        along = Along(deflected, load) if self.listed else None
        for k, column in enumerate(self.drive_columns(qd)):
            out[:, self.first :] += column * values[p + k : p + words * len(self.joints) : words]
        for j, listed in enumerate(self.listed_columns(q, qd, qdd, along)):
            for k, force in zip(self.listed_index(j), listed, strict=True):
                out[:, self.first + j] += values[k] * force
        first = self.size - len(self.columns)
        for k, own in enumerate(self.columns):
            out += own.evaluate(q, qd, qdd) * values[first + k]
        return np.asarray(out)

    def rigid_forces(
        self, values: np.ndarray, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray
    ) -> np.ndarray:
        """(N, n): the part of the rigid body, armatures included."""
        p = self.rigid_size
        sources = self.rigid.sources
        if sources is None:
            return np.asarray(self.rigid.columns(q, qd, qdd) @ values[:p])
        Y = self.rigid.compiled(q, qd, qdd)
        kept, armed = sources[0] >= 0, self.rigid.motor
        coefficients, armatures = np.zeros(Y.shape[2]), np.zeros(self.arm.n)
        coefficients[sources[0][kept]] = values[:p][kept]
        armatures[sources[1][armed]] = values[:p][armed]
        return np.asarray(Y @ coefficients + qdd * (self.rigid.geared @ armatures))

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
        """Unknowns that no motion can tell from those before them: they are taken as 0."""
        return np.zeros(0, int) if self.whole else self._redundancy.lost

    @property
    def leaning(self) -> np.ndarray:
        """Unknowns that redundant ones would change, were they not 0: a sliding joint's weight, by its offset."""
        return np.zeros(0, int) if self.whole else self._redundancy.leaning

    @cached_property
    def _redundancy(self) -> Redundancy:
        plain = np.flatnonzero(self.plain)
        told = redundancy(self._sampled.reshape(-1, self.size)[:, plain])
        return Redundancy(plain[told.lost], plain[told.leaning])

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
        for j in range(len(self.joints)):
            own = self.listed_index(j)
            felt[:, own] = False
            felt[self.first + j, own] = True
        return tuple(np.flatnonzero(row) for row in felt)


@lru_cache(maxsize=64)
def terms_of(
    arm: Arm,
    friction: tuple[str, ...],
    shape: str | tuple[str, ...],
    widths: tuple[float, ...],
    armature: bool,
    asymmetric: bool,
    columns: tuple[Column, ...],
    listed: tuple[Friction, ...] = (),
) -> Terms:
    """The columns of a model, kept for the next fit of the same kind."""
    return Terms(arm, friction, shape, widths, armature, asymmetric, columns, False, listed)
