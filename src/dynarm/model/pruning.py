"""How much each kind of term weighs in the joint forces along a motion, and models without the terms that do not.

[turney1980] section 6: in the Newton-Euler equations "terms representing insignificant torque contributions can be
easily identified and, if approximations are acceptable, deleted". Joint forces are linear in the inertia of each link
and in gravity, and each link's part is the sum of three kinds:

    inertial   linear in qdd            coriolis   quadratic in qd            gravity   what is left at rest

`term_shares` gives them by kind and link. `prune` leaves out what joint forces do not need to stay within an error:
single summands of the cheapest formulation's graph, minimal parameters and all (`pruned_graph`), at all states between
a motion's extremes (`state_box`), or, by="terms" and along the motion alone, whole terms of single links of the paper's
recursion (`papers.newton_euler_turney1980.Weights`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

import numpy as np

from ..algebra.vectors import SYM_ZERO, ZERO, Scalar
from ..border.arguments import among, items, real, reals, samples
from ..border.frames import unlabelled
from ..border.kinds import FloatArray, Numbers, Outside
from ..border.memo import cached_property
from ..border.words import brief, shown
from ..dynamics.papers.newton_euler_turney1980 import ALL, Weights, inverse_dynamics
from ..dynamics.table import formulation
from ..errors import InputError, KindError, UnknownName
from ..graph.graph import Count, Graph, Port
from ..graph.trace import trace_function
from ..machine.load.compiled import function
from ..plan.choice import planned
from ..robot.arm import Arm
from ..robot.frames.chain import Chain, Step, chain_of, pose
from .export import Written, source_of
from .model import compile as compile_arm
from .pruned_graph import without_summands
from .pruned_text import about_pruned
from .state_box import StateBox, States, box_of, deviations_of, throughout

WAYS = ("graph", "terms")
REACH = 1.25  # how far beyond a motion's extremes a pruned model answers, unless told
KINDS = ("inertial", "coriolis", "gravity")
TERMS = tuple(field.name for field in fields(Weights))
# of the largest joint force: a joint that carries nothing may still carry rounding
_ROUNDING = 1e-12

Dropped = tuple[int, str]  # link, counted from 1, and one of TERMS


@dataclass(frozen=True, eq=False)
class SampledMotion:
    """An arm at N samples of a motion, ready for the papers' functions."""

    chain: Chain
    pose: tuple[Step, ...]
    qd: list[np.ndarray]
    qdd: list[np.ndarray]
    samples: int

    def forces(self, weights: Sequence[Weights] | None = None) -> np.ndarray:
        """Joint forces (N, n)."""
        return self.run(self.chain, self.qd, self.qdd, weights)

    def run(
        self,
        chain: Chain,
        qd: Sequence[Scalar],
        qdd: Sequence[Scalar],
        weights: Sequence[Weights] | None = None,
    ) -> np.ndarray:
        """Joint forces (N, n) of another chain or another motion in the same poses."""
        tau = inverse_dynamics(chain, self.pose, qd, qdd, weights=weights)
        return np.stack([np.broadcast_to(x, self.samples) for x in tau], axis=-1).astype(float)


def motion(arm: Arm, q: Numbers, qd: Numbers, qdd: Numbers) -> SampledMotion:
    """The samples (N, n) of a motion of the arm, checked."""
    _check(arm)
    chain = chain_of(arm)
    reason = formulation("inverse_dynamics", "newton_euler").declines(chain)
    if reason:
        raise InputError(
            f"terms are those of turney1980's recursion, and robot '{arm.name}' has none: {reason}; load one chain "
            "with tip=, or leave out summands, dynarm.prune with by='graph'"
        )
    arrays = samples(arm.name, arm.n, arm.joint_names, q=q, qd=qd, qdd=qdd)
    position, velocity, acceleration = ([*x.T] for x in arrays)
    return SampledMotion(chain, pose(chain, position), velocity, acceleration, len(arrays[0]))


def _check(arm: Arm) -> None:
    """Refuse what is no arm, and joints that follow others."""
    if not isinstance(arm, Arm):
        raise KindError(
            f"arm is {shown(arm)}; give a dynarm.Arm, for example dynarm.load('puma560')"
        )
    if not arm.coupling.free:
        raise InputError(
            f"joints of robot '{arm.name}' follow others; terms are left out of robots without mimic joints"
        )


@dataclass(frozen=True, eq=False)
class Shares:
    """Joint forces along a motion, taken apart by kind and by the link whose inertia causes them.

    `dynarm.term_shares` makes it; `total`, `rms`, `relative` and `by_kind` sum it up.

    Attributes
    ----------
    forces : ndarray
        Forces (3, n, N, n) [N m or N], by kind (inertial, coriolis, gravity), link, sample
        and joint.

    Examples
    --------
    >>> q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 50, 2))
    >>> shares = dynarm.term_shares(dynarm.load("two_link"), q, qd, qdd)
    >>> shares.by_kind.shape
    (3, 2)
    """

    forces: np.ndarray  # (3, n, N, n) [N m or N]: KINDS, link, sample, joint

    __repr__ = brief

    @property
    def total(self) -> np.ndarray:
        """Joint forces (N, n)."""
        return np.asarray(self.forces.sum(axis=(0, 1)))

    @cached_property
    def rms(self) -> np.ndarray:
        """(3, n, n): root mean square over the motion, by kind, link and joint."""
        return np.asarray(np.sqrt(np.mean(self.forces**2, axis=2)))

    @cached_property
    def relative(self) -> np.ndarray:
        """(3, n, n): `rms` over the root mean square of the joint's whole force; 0 for a joint without force."""
        return _over(self.rms, np.sqrt(np.mean(self.total**2, axis=0)))

    @cached_property
    def by_kind(self) -> np.ndarray:
        """(3, n): the share of each kind in each joint, all links together."""
        rms = np.sqrt(np.mean(self.forces.sum(axis=1) ** 2, axis=1))
        return _over(rms, np.sqrt(np.mean(self.total**2, axis=0)))


def _over(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    ratio = np.zeros_like(part)
    np.divide(part, whole, out=ratio, where=np.broadcast_to(whole > 0, part.shape))
    return ratio


def term_shares(arm: Arm, q: Numbers, qd: Numbers, qdd: Numbers) -> Shares:
    """Joint forces along a motion (N, n) by kind (inertial, coriolis, gravity) and link.

    Parameters
    ----------
    arm : Arm
        The robot.
    q : array_like (N, n)
        Positions along the motion.
    qd : array_like (N, n)
        Velocities.
    qdd : array_like (N, n)
        Accelerations.

    Returns
    -------
    Shares
        The shares, by kind and by link.

    Examples
    --------
    >>> q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 50, 2))
    >>> shares = dynarm.term_shares(dynarm.load("two_link"), q, qd, qdd)
    """
    samples, still, by_kind = motion(arm, q, qd, qdd), [0] * arm.n, []
    for name in KINDS:
        by_link = []
        for i in range(arm.n):
            chain = _only(samples.chain, i)
            if name != "gravity":
                chain = replace(chain, gravity=ZERO)
            speed = samples.qd if name == "coriolis" else still
            acceleration = samples.qdd if name == "inertial" else still
            by_link.append(samples.run(chain, speed, acceleration))
        by_kind.append(by_link)
    return Shares(np.array(by_kind))


def _only(chain: Chain, i: int) -> Chain:
    """The chain in which link i alone has inertia."""
    bodies = (
        body if k == i else replace(body, m=0, h=ZERO, J=SYM_ZERO)
        for k, body in enumerate(chain.joints)
    )
    return replace(chain, joints=tuple(bodies))


@dataclass(frozen=True, eq=False)
class Pruned:
    """Inverse dynamics of an arm without its insignificant terms.

    `dynarm.prune` makes it; `dynarm.export_c` takes it.

    Attributes
    ----------
    arm : Arm
        The robot.
    dropped : tuple[Dropped, ...]
        Terms of the recursion that were left out, with by="terms".
    error : ndarray
        Largest deviation (n,) of each joint's force along the motion [N m or N].
    limit : ndarray
        What was allowed (n,).
    full : Count
        Operations before.
    exact : Count
        Operations of the exact model by its cheapest formulation.
    omitted : int, default 0
        Summands of that formulation's graph that were left out, with by="graph".
    left : Graph, optional
        That graph without them.
    checked : ndarray, optional
        Largest deviation (n,) along another motion, which took no part.
    box : StateBox, optional
        The states that the limit holds for; None: those of the motion.

    Examples
    --------
    >>> q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 50, 2))
    >>> pruned = dynarm.prune(dynarm.load("two_link"), q, qd, qdd, error=0.05)
    >>> bool((pruned.error <= pruned.limit).all())
    True
    """

    arm: Arm
    dropped: tuple[Dropped, ...]
    error: np.ndarray  # (n,) largest deviation of each joint's force along the motion [N m or N]
    limit: np.ndarray  # (n,) what was allowed
    full: Count  # operations before
    exact: Count  # operations of the exact model by its cheapest formulation
    omitted: int = 0  # summands of that formulation's graph
    left: Graph | None = None  # that graph without them; None: terms of the recursion were left out
    # (n,) largest deviation along another motion, which took no part
    checked: np.ndarray | None = None
    box: StateBox | None = None  # the states that the limit holds for; None: those of the motion

    __repr__ = brief

    def __getstate__(self) -> dict[str, Outside]:
        """What is pickled: all but the compiled function, which is made again when it is called."""
        return {name: value for name, value in vars(self).items() if name != "_compiled"}

    @cached_property
    def graph(self) -> Graph:
        """The pruned computation, q, qd, qdd -> tau, to be compiled or exported (dynarm.export_c takes this object)."""
        return _graph(self.arm, self.dropped) if self.left is None else self.left

    @property
    def held(self) -> bool | None:
        """Whether the other motion's deviations are within the limit; None where none was given."""
        return None if self.checked is None else bool((self.checked <= self.limit).all())

    def covers(self, q: Numbers, qd: Numbers, qdd: Numbers) -> bool:
        """Whether the limit is promised for all these states (N, n): they lie in `box`.

        Parameters
        ----------
        q : array_like (N, n)
            Positions.
        qd : array_like (N, n)
            Velocities.
        qdd : array_like (N, n)
            Accelerations.

        Returns
        -------
        bool
            Whether all of them lie in the box.

        Examples
        --------
        >>> pruned.covers(q, qd, qdd)
        True
        """
        arm = self.arm
        states = samples(arm.name, arm.n, arm.joint_names, q=q, qd=qd, qdd=qdd)
        return self.box is not None and self.box.holds(*states)

    def written(self) -> Written:
        """What an export makes of it: inverse_dynamics.

        Returns
        -------
        Written
            What the exporter takes.

        Examples
        --------
        >>> files = dynarm.export_c(pruned, "pruned_c")
        """
        whole = source_of(compile_arm(self.arm))
        words = about_pruned(self.count, self.exact, self.limit, self.box)
        return replace(
            whole,
            default=("inverse_dynamics",),
            graph=self._of_name,
            about=lambda stack: f"{whole.about(stack)}{words}",
        )

    def _of_name(self, name: str) -> Graph:
        if name != "inverse_dynamics":
            raise InputError(f"{name} was not pruned; a pruned model has inverse_dynamics only")
        return self.graph

    @cached_property
    def count(self) -> Count:
        """Operations after."""
        return self.graph.count()

    def inverse_dynamics(self, q: Numbers, qd: Numbers, qdd: Numbers) -> FloatArray:
        """Joint forces (..., n) [N m or N] by the pruned recursion, compiled when first called.

        Parameters
        ----------
        q : array_like (..., n)
            Positions.
        qd : array_like (..., n)
            Velocities.
        qdd : array_like (..., n)
            Accelerations.

        Returns
        -------
        ndarray
            Joint forces (..., n) [N m or N].

        Examples
        --------
        >>> pruned.inverse_dynamics(q, qd, qdd).shape
        (50, 2)
        """
        names = self.arm.joint_names
        plain = [unlabelled(x, names, w) for w, x in (("q", q), ("qd", qd), ("qdd", qdd))]
        try:
            return np.asarray(self._compiled(*plain))
        except (ValueError, TypeError) as refusal:
            raise InputError(
                f"q, qd, qdd have shapes {', '.join(str(np.shape(x)) for x in plain)}; give (..., {self.arm.n}), "
                f"ordered as arm.joint_names ({refusal})"
            ) from None

    @cached_property
    def _compiled(self) -> np.ufunc:
        recipe = (self.arm, self.dropped if self.left is None else self.left)
        ports = self.graph.inputs, self.graph.outputs
        return function(recipe, "pruned_inverse_dynamics", *ports, lambda: self.graph)


class Candidate(NamedTuple):
    """A term that may be left out: its error as a part of what is allowed, and the operations that this saves."""

    term: Dropped
    error: float
    saved: int


def by_worth(candidates: Iterable[Candidate]) -> list[Dropped]:
    """Terms in the order in which they are left out: the least error for each operation saved first.

    Errors are told apart to six digits, so that the last bits of a processor do not decide. Of equal ones the term
    that saves more goes first, then that of the link nearer to the base, then the first in the order of TERMS.
    """

    def rank(c: Candidate) -> tuple[float, int, int, int]:
        link, name = c.term
        return float(f"{c.error / c.saved:.5e}"), -c.saved, link, TERMS.index(name)

    return [c.term for c in sorted(candidates, key=rank)]


def prune(
    arm: Arm,
    q: Numbers,
    qd: Numbers,
    qdd: Numbers,
    error: Numbers = 0.01,
    *,
    by: str = "graph",
    validate: Sequence[Numbers] | None = None,
    reach: float | None = None,
) -> Pruned:
    """The cheapest inverse dynamics found that keeps every joint's force within `error`.

    What counts is the deviation of all omissions together.

    Parameters
    ----------
    arm : Arm
        The robot.
    q : array_like (N, n)
        Positions along a typical motion.
    qd : array_like (N, n)
        Velocities.
    qdd : array_like (N, n)
        Accelerations.
    error : float or array_like (n,)
        A fraction of the joint's largest force along the motion, or a force [N m or N] for
        each joint.
    by : str, default "graph"
        "graph": leave out summands of the cheapest formulation's graph for this robot;
        "terms": leave out named terms of single links of the Newton-Euler recursion, one
        after another in the order of `by_worth`.
    validate : sequence of array_like, optional
        (q, qd, qdd) of another motion, on which the result is judged (`checked`, `held`).
    reach : float, optional
        How far beyond the motion's extremes the error is kept, at positions, speeds and
        accelerations of all joints in any combination (`box`, `covers`), judged on sampled
        states that had no part in the choice. 0: at the motion's samples only, as with
        by="terms"; 1.25 by default.

    Returns
    -------
    Pruned
        The pruned model and what it costs.

    Examples
    --------
    >>> q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 50, 2))
    >>> pruned = dynarm.prune(dynarm.load("two_link"), q, qd, qdd, error=0.05)
    """
    if not among(by, WAYS):
        raise UnknownName("way of pruning", by, WAYS)
    if by == "terms" and reach:
        raise InputError("terms are left out along the motion itself; give reach with by='graph'")
    wanted = "1 or more, at most 100, or 0 for the motion's samples only"
    far = (
        REACH if reach is None else real("reach", reach, wanted, lambda x: x == 0 or 1 <= x <= 100)
    )
    pruned = (
        _by_terms(arm, q, qd, qdd, error)
        if by == "terms"
        else _by_graph(arm, q, qd, qdd, error, far)
    )
    if validate is None:
        return pruned
    other = items("validate", validate, "q, qd and qdd of a motion")
    if len(other) != 3:
        raise InputError(f"validate has {len(other)} entries; give q, qd and qdd of a motion")
    states = samples(arm.name, arm.n, arm.joint_names, q=other[0], qd=other[1], qdd=other[2])
    return replace(pruned, checked=deviations_of(pruned.graph, _cheapest(arm), states).max(axis=0))


def _cheapest(arm: Arm) -> Graph:
    """The graph of the exact inverse dynamics by the formulation that costs this robot least."""
    return planned(arm, "inverse_dynamics", {}).graph


def _by_graph(
    arm: Arm, q: Numbers, qd: Numbers, qdd: Numbers, error: Numbers, reach: float
) -> Pruned:
    _check(arm)
    if arm.floating:
        raise InputError(f"robot '{arm.name}' has a free base; pruned are robots on a fixed one")
    states = samples(arm.name, arm.n, arm.joint_names, q=q, qd=qd, qdd=qdd)
    whole = _cheapest(arm)
    allowed, rounding = _limits(arm, whole.evaluate(*states)[0], error)
    limit = allowed + rounding

    def omit(on: States, within: np.ndarray) -> tuple[Graph, int]:
        return without_summands(whole, on, whole.evaluate(*on)[0], within)

    box = box_of(states, reach) if reach else None
    graph, gone = (
        throughout(box, states, whole, limit, omit) if box is not None else omit(states, limit)
    )
    away = deviations_of(graph, whole, states).max(axis=0)
    full = whole.count()
    return Pruned(arm, (), away, allowed, full, full, gone, graph, box=box)


def _limits(arm: Arm, exact: np.ndarray, error: Numbers) -> tuple[np.ndarray, np.ndarray]:
    """What is allowed (n,), and what rounding may add to it."""
    peak = np.abs(exact).max(axis=0)
    turning = np.array([j.revolute for j in arm.joints])
    largest = [peak[turning == kind].max() for kind in turning]  # N m beside N m, N beside N
    return _allowed(error, peak), _ROUNDING * np.array(largest)


def _by_terms(arm: Arm, q: Numbers, qd: Numbers, qdd: Numbers, error: Numbers) -> Pruned:
    along = motion(arm, q, qd, qdd)
    exact = along.forces()
    allowed, rounding = _limits(arm, exact, error)
    limit = allowed + rounding

    def deviation(dropped: Iterable[Dropped]) -> np.ndarray:
        away: np.ndarray = np.abs(along.forces(_weights(arm.n, dropped)) - exact).max(axis=0)
        return away

    full, candidates = _graph(arm, ()).count(), []
    for term in ((link, name) for link in range(1, arm.n + 1) for name in TERMS):
        alone = deviation([term])
        saved = full.total - _graph(arm, [term]).count().total
        if saved > 0 and (alone <= limit).all():
            felt = np.where(alone > rounding, alone, 0.0)
            candidates.append(Candidate(term, float(_over(felt, limit).max()), saved))
    dropped: list[Dropped] = []
    for term in by_worth(candidates):
        if (deviation([*dropped, term]) <= limit).all():
            dropped.append(term)
    return Pruned(
        arm, tuple(sorted(dropped)), deviation(dropped), allowed, full, _cheapest(arm).count()
    )


def _allowed(error: Numbers, peak: np.ndarray) -> np.ndarray:
    """The largest deviation (n,) that an `error` allows, or a refusal."""
    wanted = f"give a fraction of the largest joint force, 0 <= error < 1, or {len(peak)} forces"
    if isinstance(error, (int, float)) and not isinstance(error, bool):
        if not 0 <= error < 1:
            raise InputError(f"error is {shown(error)}; {wanted}")
        return error * peak
    forces = reals("error", error, wanted.removeprefix("give "))
    if forces.shape != peak.shape or not (np.isfinite(forces) & (forces >= 0)).all():
        raise InputError(f"error is {shown(error)}; {wanted}")
    return forces


def _weights(n: int, dropped: Iterable[Dropped]) -> list[Weights]:
    weights = [ALL] * n
    for link, name in dropped:
        weights[link - 1] = replace(weights[link - 1], **{name: 0})
    return weights


def _graph(arm: Arm, dropped: Iterable[Dropped]) -> Graph:
    chain, weights = chain_of(arm), _weights(arm.n, dropped)

    def pruned(q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> list[Scalar]:
        return inverse_dynamics(chain, pose(chain, q), qd, qdd, weights=weights)

    inputs = [Port(name, (arm.n,)) for name in ("q", "qd", "qdd")]
    return trace_function(inputs, [Port("tau", (arm.n,))], pruned)
