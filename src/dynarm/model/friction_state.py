"""The memory of a robot's friction: what a model's functions take as `friction_state=`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..algebra.vectors import Scalar
from ..border.arguments import check_finite, each, items, reals, whole
from ..border.kinds import FloatArray, Given, Numbers
from ..dynamics import stops
from ..dynamics.drive_train import moved_deflections
from ..errors import InputError
from ..graph.graph import Graph, Port
from ..graph.trace import trace_function
from ..robot.arm import Arm

FUNCTIONS = ("friction_state_start", "friction_state_next")  # what exports have beside quantities


class FrictionState:
    """How the memory of a model's friction begins and goes on: rows of `size` numbers, 0 of them without memory.

    A state holds the deflection of every Maxwell-slip element [rad or m], in the order of `names`, and after these the
    positions of the joints that it belongs to. inverse_dynamics(q, ..., friction_state=state) lets the elements follow
    from there to q itself: a state of the sample before gives the same as that of the sample.

    Parameters
    ----------
    arm : Arm
        The robot.
    friction : bool
        Whether friction takes part at all.

    Examples
    --------
    >>> friction = dynarm.Friction(presliding=((0.01, 0.5),))
    >>> joint = dynarm.Joint(mass=1.0, com=(0.2, 0, 0), friction=friction, name="hinge")
    >>> model = dynarm.compile(dynarm.Arm([joint]), friction=True)
    >>> memory = model.friction_state
    >>> memory.names
    ('hinge:0.01', 'hinge')
    """

    __slots__ = ("_arm", "_held")

    def __init__(self, arm: Arm, friction: bool):
        self._arm = arm
        self._held = stops.elements(arm.joints) if friction else ()

    @property
    def size(self) -> int:
        """Numbers of a state."""
        return stops.state_size(self._arm) if self._held else 0

    @property
    def strokes(self) -> FloatArray:
        """(k,): the strokes of the elements [rad or m]."""
        return stops.strokes_of(self._held)

    @property
    def names(self) -> tuple[str, ...]:
        """What the numbers of a state are: deflections as joint:stroke (joint+other:stroke), positions by joint."""
        if not self._held:
            return ()
        joints = self._arm.joints
        named = []
        for e in self._held:
            other = "" if e.other is None else f"+{joints[e.other].name}"
            named.append(f"{joints[e.joint].name}{other}:{e.stroke:g}")
        return (*named, *self._arm.joint_names)

    def start(self, q: Numbers, qd: Given = None, qdd: Given = None) -> FloatArray:
        """(..., size): the state at rest in the pose q (..., nq), no element deflected.

        With qd and qdd (..., nv) the state of a motion that is under way: deflections as velocity and acceleration let
        expect, as the functions without a state take them; an element that does not move is not deflected.

        Parameters
        ----------
        q : array_like (..., nq)
            Positions [rad or m], in the order of `arm.coordinate_names`.
        qd : array_like (..., nv)
            Velocities [rad/s or m/s], in the order of `arm.speed_names`.
        qdd : array_like (..., nv)
            Accelerations [rad/s^2 or m/s^2].

        Returns
        -------
        ndarray
            States (..., size).

        Examples
        --------
        >>> memory.start([0.2])
        array([0. , 0.2])
        """
        pose = self._poses(q)
        if not self._held:
            return np.empty((*pose.shape[:-1], 0))
        moving, state = self._moving(pose, qd, qdd), stops.start_state(self._arm, pose)
        if moving is None:
            return state
        x = stops.slipped_deflections(self._held, *moving)
        return np.concatenate([x, state[..., x.shape[-1] :]], axis=-1)

    def next(self, state: Numbers, q: Numbers) -> FloatArray:
        """(..., size): the state once the robot has moved on to q (..., nq), straight from where the state is.

        Parameters
        ----------
        state : array_like (..., size)
            The state before.
        q : array_like (..., nq)
            Positions [rad or m], in the order of `arm.coordinate_names`.

        Returns
        -------
        ndarray
            The state after (..., size).

        Examples
        --------
        >>> memory.next(memory.start([0.2]), [0.205]).round(4)
        array([0.005, 0.205])
        """
        pose, before = self._poses(q), reals("state", state, f"numbers (..., {self.size})")
        if not before.ndim or before.shape[-1] != self.size:
            raise InputError(
                f"state has the shape {before.shape}, friction states of robot '{self._arm.name}' have {self.size} "
                "numbers; give what model.friction_state.start(q) or next(state, q) returned"
            )
        try:
            lead = np.broadcast_shapes(pose.shape[:-1], before.shape[:-1])
        except ValueError:
            raise InputError(
                f"the batch axes do not fit together: state {before.shape}, q {pose.shape}"
            ) from None
        if not self._held:
            return np.empty((*lead, 0))
        return stops.next_state(self._arm, pose, check_finite("state", before))

    def along(
        self, q: Numbers, starts: Sequence[int] = (), qd: Given = None, qdd: Given = None
    ) -> FloatArray:
        """(N, size): the states along a motion q (N, nq), which begin at rest at the first sample.

        Parameters
        ----------
        q : array_like (..., nq)
            Positions [rad or m], in the order of `arm.coordinate_names`.
        starts : sequence of int, optional
            Samples after a gap, where what was before is not known and states begin again. qd,
            qdd (N, nv): where they are given, states begin as those of a fit's prediction do
            (`fit.predict`): elements that move faster there than a tenth of their usual speed
            as `start` says of a motion under way, the others not deflected.
        qd : array_like (..., nv)
            Velocities [rad/s or m/s], in the order of `arm.speed_names`.
        qdd : array_like (..., nv)
            Accelerations [rad/s^2 or m/s^2].

        Returns
        -------
        ndarray
            States (N, size).

        Examples
        --------
        >>> memory.along([[0.2], [0.205], [0.23]]).round(4)
        array([[0.   , 0.2  ],
               [0.005, 0.205],
               [0.01 , 0.23 ]])
        """
        poses = self._poses(q)
        if poses.ndim != 2:
            raise InputError(f"q has the shape {poses.shape}; give the samples of a motion (N, nq)")
        given = items("starts", starts, "a list of samples")
        edges = [whole("starts", k, 0, max(len(poses) - 1, 0)) for k in given]
        if not self._held or not len(poses):
            return np.empty((len(poses), self.size))
        moving = self._moving(poses, qd, qdd)
        begun = None if moving is None else stops.begun_deflections(self._held, *moving, edges)
        return stops.states_along(self._arm, poses, edges, begun)

    def _moving(
        self, poses: FloatArray, qd: Given, qdd: Given
    ) -> tuple[FloatArray, FloatArray] | None:
        """(..., k) twice: velocity and acceleration of what each element follows; None where they are not given."""
        if qd is None and qdd is None:
            return None
        if qd is None or qdd is None:
            raise InputError(
                f"{'qd' if qd is None else 'qdd'} is missing; give qd and qdd, or neither"
            )
        arm, lead = self._arm, poses.shape[:-1]
        n, moving = len(arm.coupling.masters), []
        for name, given in (("qd", qd), ("qdd", qdd)):
            speeds = each(name, given, (*lead, arm.nv), arm.speed_names)
            moving.append(stops.element_steps(arm, check_finite(name, speeds)[..., arm.nv - n :]))
        return moving[0], moving[1]

    def graph(self, name: str) -> Graph:
        """The operations of 'friction_state_start' (q) or 'friction_state_next' (friction_state, q), for exports.

        Parameters
        ----------
        name : str
            "friction_state_start" or "friction_state_next".

        Returns
        -------
        Graph
            The graph of operations.

        Examples
        --------
        >>> graph = memory.graph("friction_state_next")
        """
        if not self._held:
            raise InputError(
                f"robot '{self._arm.name}' has no friction with memory, and no {name}; leave it out"
            )
        pose, made = Port("q", (self._arm.nq,)), Port("friction_state", (self.size,))
        if name == FUNCTIONS[0]:
            still = [0.0] * len(self._held)
            return trace_function([pose], [made], lambda q: [*still, *self._own(q)])

        def moved(state: Sequence[Scalar], q: Sequence[Scalar]) -> list[Scalar]:
            own = self._own(q)
            return [*moved_deflections(self._arm, own, state), *own]

        return trace_function([made, pose], [made], moved)

    def _own(self, q: Sequence[Scalar]) -> Sequence[Scalar]:
        """Positions of the independent joints."""
        return q[self._arm.nq - len(self._arm.coupling.masters) :]

    def __repr__(self) -> str:
        return f"<FrictionState of '{self._arm.name}', {self.size} numbers>"

    def _poses(self, q: Numbers) -> FloatArray:
        arm = self._arm
        poses = reals("q", q, f"numbers (..., {arm.nq})", arm.coordinate_names)
        if not poses.ndim or poses.shape[-1] != arm.nq:
            raise InputError(
                f"q has the shape {poses.shape}, robot '{arm.name}' has {arm.nq} coordinates; give (..., {arm.nq})"
            )
        return check_finite("q", poses)
