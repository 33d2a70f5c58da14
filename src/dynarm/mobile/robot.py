"""MobileManipulator: an arm on wheels as a frozen record, and the words users say."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..border.kinds import FloatArray, Given, Numbers, Outside
from ..border.memo import cached_property
from ..errors import InputError
from .calls import NO_LOAD, Wheeled
from .constraints import SINGULAR, mobility
from .contact import Contact, contact_of
from .ground import Ground, ground_of
from .stability import Tipover, friction_needed, tip_angles

if TYPE_CHECKING:
    from ..model.export import Written
    from .admissibility import Admissibility
    from .limits import EmergencyStop, MobileLimits
    from .pace import Motion, SafeSpeed
    from .payload import PayloadMap
    from .retime import Retimed
    from .run import MobileRun


@dataclass(frozen=True, repr=False)
class MobileManipulator(Wheeled):
    """An arm on a wheeled platform, immutable.

    `coordinate_names`, `speed_names` and `input_names` say what the arrays q, z and tau of its methods hold.
    The frame {v} of the platform has x forwards, y to the left and z up, and its origin at the mass centre of
    the platform.

    Parameters
    ----------
    platform : Platform
        The vehicle's body.
    wheels : tuple[Wheel, ...]
        The wheels, at least one of which guides it.
    base : Base
        What the arm stands on.
    arm : Arm, optional
        The arm; its own gravity is not used.
    gravity : float, default 9.81
        Acceleration of gravity, downwards [m/s^2].
    friction : bool, default False
        Friction of wheels and joints and the joints' armature take part.
    name : str, default "mobile"
        What the robot is called.
    arms : sequence of (Arm, mount), optional
        In place of `arm`, several arms on one base, with their mounts in {v}; the load acts
        on the first.

    Examples
    --------
    >>> robot = dynarm.mobile.load("tanner2001")
    >>> q, z = np.zeros(len(robot.coordinate_names)), np.zeros(len(robot.speed_names))
    >>> zd = 0.1 * np.ones(len(z))
    >>> tau = robot.inverse_dynamics(q, z, zd)
    """

    @property
    def mobility(self) -> str:
        """What the wheels let the platform do, in a sentence."""
        return mobility(self.guidance, self.platform, self.wheels)

    def trailing(self, q: Numbers, z: Numbers) -> MobileManipulator:
        """The robot with its casters turned as they trail in a motion with speeds z; one that stands still stays.

        A caster's wheel stands `trail` behind its swivel, and with it the support polygon changes.

        Parameters
        ----------
        q : array_like (..., nq)
            Coordinates, as `robot.coordinate_names` orders them [m, rad].
        z : array_like (..., nz)
            Speeds, as `robot.speed_names` orders them [m/s, rad/s].

        Returns
        -------
        MobileManipulator
            The robot with turned casters.

        Examples
        --------
        >>> robot.trailing(q, z).name
        'tanner2001'
        """
        from .casters import trailing

        return trailing(self, q, z)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the robot to x.toml.

        Parameters
        ----------
        path : path-like
            The .toml file to write.

        Examples
        --------
        >>> robot.save("rover.toml")
        >>> dynarm.mobile.load("rover.toml") == robot
        True
        """
        from .files import save

        save(self, path)

    def written(self) -> Written:
        """What `dynarm.export_c` makes C of.

        Returns
        -------
        Written
            What the exporter takes.

        Examples
        --------
        >>> made = robot.written()
        """
        from .export import written

        return written(self)

    def acting(self, gravity: Given, load: Given) -> tuple[Numbers, Numbers]:
        """Gravity in the axes of {v} and the load on the tool, the usual ones where none are given.

        Parameters
        ----------
        gravity : array_like (..., 3), optional
            Acceleration of gravity [m/s^2] in the axes of the platform, for slopes; default:
            straight down.
        load : array_like (..., 6), optional
            Force then couple acting on the tool, in the axes of the tool [N, N m].

        Returns
        -------
        array_like
            Gravity (..., 3).
        array_like
            Load (..., 6).

        Examples
        --------
        >>> gravity, load = robot.acting(None, None)
        """
        pull = self._down if gravity is None else gravity
        return pull, NO_LOAD if load is None else load

    @cached_property
    def _down(self) -> FloatArray:
        down = np.array([0.0, 0.0, -self.gravity])
        down.setflags(write=False)
        return down

    def hold(self, q: Numbers, gravity: Given = None, load: Given = None) -> FloatArray:
        """tau (..., inputs): the inputs that keep arm and platform at rest in q.

        Parameters
        ----------
        q : array_like (..., nq)
            Coordinates, as `robot.coordinate_names` orders them [m, rad].
        gravity : array_like (..., 3), optional
            Acceleration of gravity [m/s^2] in the axes of the platform, for slopes; default:
            straight down.
        load : array_like (..., 6), optional
            Force then couple acting on the tool, in the axes of the tool [N, N m].

        Returns
        -------
        ndarray
            Inputs (..., inputs) [N m].

        Examples
        --------
        >>> robot.hold(q).shape
        (8,)
        """
        still = np.zeros(self.formulas.n)
        return self.inverse_dynamics(q, still, still, gravity, load)

    def inverse_dynamics(
        self,
        q: Numbers,
        z: Numbers,
        zd: Numbers,
        gravity: Given = None,
        load: Given = None,
        threads: int | None = None,
    ) -> FloatArray:
        """tau (..., inputs): the inputs that give accelerations zd, drives shared with the smallest squared torque.

        Parameters
        ----------
        q : array_like (..., nq)
            Coordinates, as `robot.coordinate_names` orders them [m, rad].
        z : array_like (..., nz)
            Speeds, as `robot.speed_names` orders them [m/s, rad/s].
        zd : array_like (..., nz)
            Accelerations: the derivatives of the speeds.
        gravity : array_like (..., 3), optional
            Acceleration of gravity [m/s^2] in the axes of the platform, for slopes; default:
            straight down.
        load : array_like (..., 6), optional
            Force then couple acting on the tool, in the axes of the tool [N, N m].
        threads : int, optional
            For large batches; default: what `dynarm.set_threads` says.

        Returns
        -------
        ndarray
            Inputs (..., inputs) [N m].

        Examples
        --------
        >>> np.allclose(robot.acceleration(q, z, tau), zd)
        True
        """
        given = q, z, zd, *self.acting(gravity, load)
        outputs = self.call("inverse_dynamics", *given, threads=threads)
        tau: FloatArray = outputs[0] if self.guidance.steered else outputs  # type: ignore[assignment]
        return tau

    def ground(
        self,
        q: Numbers,
        z: Numbers,
        zd: Numbers,
        gravity: Given = None,
        load: Given = None,
        contact: str = "elastic",
        threads: int | None = None,
    ) -> Ground:
        """What the ground carries of a planned motion, on wheels that push and never pull; see `Ground`.

        Parameters
        ----------
        q : array_like (..., nq)
            Coordinates, as `robot.coordinate_names` orders them [m, rad].
        z : array_like (..., nz)
            Speeds, as `robot.speed_names` orders them [m/s, rad/s].
        zd : array_like (..., nz)
            Accelerations: the derivatives of the speeds.
        gravity : array_like (..., 3), optional
            (..., 3) [m/s^2] in the axes of {v}, for slopes.
        load : array_like (..., 6), optional
            (..., 6), force then couple on the tool, in the tool's axes.
        contact : str, default "elastic"
            How more than three wheels share the load: "elastic", as springs
            (`Wheel.stiffness`); "best", "worst": in the way that asks for the least, the most
            friction.
        threads : int, optional
            For large batches; default: what `dynarm.set_threads` says.

        Returns
        -------
        Ground
            Forces, friction that is needed, tip-over measure.

        Examples
        --------
        >>> ground = robot.ground(q, z, zd)
        >>> ground.forces.shape, bool(ground.measure > 0)
        ((3, 3), True)
        """
        return ground_of(self, q, z, zd, gravity, load, contact, threads)

    def equations(self, q: Numbers, z: Numbers) -> tuple[FloatArray, FloatArray, FloatArray]:
        """M, F, B of (8): M zd + F = B tau, gravity inside F.

        Parameters
        ----------
        q : array_like (..., nq)
            Coordinates, as `robot.coordinate_names` orders them [m, rad].
        z : array_like (..., nz)
            Speeds, as `robot.speed_names` orders them [m/s, rad/s].

        Returns
        -------
        ndarray
            M (..., nz, nz).
        ndarray
            F (..., nz).
        ndarray
            B (..., nz, inputs).

        Examples
        --------
        >>> M, F, B = robot.equations(q, z)
        >>> np.allclose(M @ zd + F, B @ tau)
        True
        """
        M, F, B, *_ = self.call("equations", q, z)
        return M, F, B

    def kane_equations(self, q: Numbers, u: Numbers) -> tuple[FloatArray, FloatArray, FloatArray]:
        """M, F, B of (7) in the paper's speeds u1, u2 = xd/Z_o, yd/Z_o, u4 = phid, joint speeds.

        Parameters
        ----------
        q : array_like (..., nq)
            Coordinates, as `robot.coordinate_names` orders them [m, rad].
        u : array_like (..., k)
            The speeds of the paper, as `robot.kane_speed_names` orders them.

        Returns
        -------
        ndarray
            M (..., k, k).
        ndarray
            F (..., k).
        ndarray
            B (..., k, inputs).

        Examples
        --------
        >>> M, F, B = robot.kane_equations(q, np.zeros(len(robot.kane_speed_names)))
        """
        if any(wheel.slant is not None for wheel in self.wheels):
            raise InputError(
                "the speeds of (7) are those of wheels without rollers; use robot.equations"
            )
        M, F, B, Zo = self._outputs("kane_equations", q, u)
        if not (np.abs(Zo) > self.guidance.size / SINGULAR).all():
            raise InputError(
                f"Z_o of wheel '{self.wheel_names[self.formulas.rolling[self.formulas.lead]]}' vanishes, where the "
                "speeds u1, u2 of (7) are not defined; use robot.equations, whose speeds are independent"
            )
        return M, F, B

    def acceleration(
        self, q: Numbers, z: Numbers, tau: Numbers, load: Given = None, locked: bool = False
    ) -> FloatArray:
        """zd (..., n): accelerations of the independent speeds under inputs tau and a load on the end effector.

        Parameters
        ----------
        q : array_like (..., nq)
            Coordinates, as `robot.coordinate_names` orders them [m, rad].
        z : array_like (..., nz)
            Speeds, as `robot.speed_names` orders them [m/s, rad/s].
        tau : array_like (..., inputs)
            Torques of the drives, as `robot.input_names` orders them [N m].
        load : array_like (..., 6), optional
            Force then couple acting on the tool, in the axes of the tool [N, N m].
        locked : bool, default False
            Hold the steering column.

        Returns
        -------
        ndarray
            The derivatives (..., nz) of the speeds.

        Examples
        --------
        >>> robot.acceleration(q, z, tau).round(3)
        array([0.1, 0.1, 0.1, 0.1])
        """
        name = self.variant("derivative", z, locked)
        return self.call(name, q, z, tau, NO_LOAD if load is None else load)[1]

    def interaction_wrench(
        self, q: Numbers, z: Numbers, tau: Numbers, load: Given = None, locked: bool = False
    ) -> FloatArray:
        """Force [N] then torque [N m] about the base's mass centre of arm and base on the platform, axes of {v}.

        Parameters
        ----------
        q : array_like (..., nq)
            Coordinates, as `robot.coordinate_names` orders them [m, rad].
        z : array_like (..., nz)
            Speeds, as `robot.speed_names` orders them [m/s, rad/s].
        tau : array_like (..., inputs)
            Torques of the drives, as `robot.input_names` orders them [N m].
        load : array_like (..., 6), optional
            Force then couple acting on the tool, in the axes of the tool [N, N m].
        locked : bool, default False
            Hold the steering column.

        Returns
        -------
        ndarray
            Force then torque (..., 6) [N, N m].

        Examples
        --------
        >>> robot.interaction_wrench(q, z, tau).shape
        (6,)
        """
        return self.evaluate(q, z, tau, load, locked).wrench

    def wheel_forces(
        self, q: Numbers, z: Numbers, tau: Numbers, load: Given = None, locked: bool = False
    ) -> FloatArray:
        """(..., w, 3) [N]: ground force on each wheel along its rolling direction, its axle, and up.

        More than three wheels share the load as springs that push and never pull; axle forces that
        statics leaves open are split with the smallest norm; `contact` says which parts that are. A
        negative vertical force means that the wheel has lifted: a computed number that the ground
        cannot exert.

        Parameters
        ----------
        q : array_like (..., nq)
            Coordinates, as `robot.coordinate_names` orders them [m, rad].
        z : array_like (..., nz)
            Speeds, as `robot.speed_names` orders them [m/s, rad/s].
        tau : array_like (..., inputs)
            Torques of the drives, as `robot.input_names` orders them [N m].
        load : array_like (..., 6), optional
            Force then couple acting on the tool, in the axes of the tool [N, N m].
        locked : bool, default False
            Hold the steering column.

        Returns
        -------
        ndarray
            Forces (..., w, 3) [N].

        Examples
        --------
        >>> robot.wheel_forces(q, z, tau)[:, 2].sum().round(1)
        np.float64(647.5)
        """
        return self.evaluate(q, z, tau, load, locked).forces

    def control(
        self, q: Numbers, z: Numbers, tau: Numbers, load: Given = None, locked: bool = False
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """M, F, B (load inside F) and the wheel forces from one kernel.

        Parameters
        ----------
        q : array_like (..., nq)
            Coordinates, as `robot.coordinate_names` orders them [m, rad].
        z : array_like (..., nz)
            Speeds, as `robot.speed_names` orders them [m/s, rad/s].
        tau : array_like (..., inputs)
            Torques of the drives, as `robot.input_names` orders them [N m].
        load : array_like (..., 6), optional
            Force then couple acting on the tool, in the axes of the tool [N, N m].
        locked : bool, default False
            Hold the steering column.

        Returns
        -------
        ndarray
            M (..., nz, nz).
        ndarray
            F (..., nz).
        ndarray
            B (..., nz, inputs).
        ndarray
            Wheel forces (..., w, 3) [N].

        Examples
        --------
        >>> M, F, B, forces = robot.control(q, z, tau)
        """
        outputs = self.evaluate(q, z, tau, load, locked)
        return outputs.M, outputs.F, outputs.B, outputs.forces

    def contact(
        self,
        q: Numbers,
        z: Numbers,
        tau: Numbers,
        load: Given = None,
        locked: bool = False,
        contact: str = "elastic",
    ) -> Contact:
        """Everything about the ground: forces and which of them are determinate, friction needed, tip-over, status.

        Parameters
        ----------
        q : array_like (..., nq)
            Coordinates, as `robot.coordinate_names` orders them [m, rad].
        z : array_like (..., nz)
            Speeds, as `robot.speed_names` orders them [m/s, rad/s].
        tau : array_like (..., inputs)
            Torques of the drives, as `robot.input_names` orders them [N m].
        load : array_like (..., 6), optional
            Force then couple acting on the tool, in the axes of the tool [N, N m].
        locked : bool, default False
            Hold the steering column.
        contact : str, default "elastic"
            How more than three wheels share the load; see `ground`.

        Returns
        -------
        Contact
            Everything about the ground.

        Examples
        --------
        >>> contact = robot.contact(q, z, tau)
        >>> print(contact.status.partition(";")[0])
        stands (smallest measure 292.4 N rad, 25.9 degrees)
        """
        return contact_of(self, self.evaluate(q, z, tau, load, locked), contact)

    def tipover(
        self, q: Numbers, z: Numbers, tau: Numbers, load: Given = None, locked: bool = False
    ) -> Tipover:
        """Tip-over angles and the measure alpha of (9).

        Parameters
        ----------
        q : array_like (..., nq)
            Coordinates, as `robot.coordinate_names` orders them [m, rad].
        z : array_like (..., nz)
            Speeds, as `robot.speed_names` orders them [m/s, rad/s].
        tau : array_like (..., inputs)
            Torques of the drives, as `robot.input_names` orders them [N m].
        load : array_like (..., 6), optional
            Force then couple acting on the tool, in the axes of the tool [N, N m].
        locked : bool, default False
            Hold the steering column.

        Returns
        -------
        Tipover
            Angles about the edges of the support polygon, and the measure; negative: about to
            tip.

        Examples
        --------
        >>> bool(robot.tipover(q, z, tau).measure > 0)
        True
        """
        return self.tipover_of(self.evaluate(q, z, tau, load, locked).ground)

    def tipover_of(self, ground: np.ndarray) -> Tipover:
        """Tip-over angles and measure of a load on the ground (..., 6).

        Parameters
        ----------
        ground : ndarray (..., 6)
            Force and moment on the ground.

        Returns
        -------
        Tipover
            Angles and measure.

        Examples
        --------
        >>> load = robot.ground(q, z, zd).load
        >>> bool(robot.tipover_of(load).measure > 0)
        True
        """
        force, moment = ground[..., :3], ground[..., 3:]
        angles = tip_angles(self.support, force, moment)
        measure = angles.min(-1) * np.sqrt((force * force).sum(-1))
        return Tipover(angles, measure, self.tip_axes)

    @cached_property
    def tip_axes(self) -> tuple[tuple[str, str], ...]:
        """The wheels between which the sides of the support polygon run."""
        names = self.wheel_names
        return tuple((names[a], names[b]) for a, b in self.support.axes)

    def friction_needed(
        self, q: Numbers, z: Numbers, tau: Numbers, load: Given = None, locked: bool = False
    ) -> FloatArray:
        """(..., w): smallest coefficient that keeps each wheel from slipping; infinite where the wheel has lifted.

        Parameters
        ----------
        q : array_like (..., nq)
            Coordinates, as `robot.coordinate_names` orders them [m, rad].
        z : array_like (..., nz)
            Speeds, as `robot.speed_names` orders them [m/s, rad/s].
        tau : array_like (..., inputs)
            Torques of the drives, as `robot.input_names` orders them [N m].
        load : array_like (..., 6), optional
            Force then couple acting on the tool, in the axes of the tool [N, N m].
        locked : bool, default False
            Hold the steering column.

        Returns
        -------
        ndarray
            The coefficients (..., w).

        Examples
        --------
        >>> robot.friction_needed(q, z, tau).shape
        (3,)
        """
        return friction_needed(self.wheel_forces(q, z, tau, load, locked))

    def kinetic_energy(self, q: Numbers, z: Numbers) -> FloatArray:
        """Kinetic energy (...) [J].

        Parameters
        ----------
        q : array_like (..., nq)
            Coordinates, as `robot.coordinate_names` orders them [m, rad].
        z : array_like (..., nz)
            Speeds, as `robot.speed_names` orders them [m/s, rad/s].

        Returns
        -------
        ndarray
            Energy (...) [J].

        Examples
        --------
        >>> robot.kinetic_energy(q, z)
        np.float64(0.0)
        """
        return self.call("energy", q, z)[0]

    def potential_energy(self, q: Numbers) -> FloatArray:
        """Potential energy (...) [J], zero in the arm's zero pose.

        Parameters
        ----------
        q : array_like (..., nq)
            Coordinates, as `robot.coordinate_names` orders them [m, rad].

        Returns
        -------
        ndarray
            Energy (...) [J].

        Examples
        --------
        >>> robot.potential_energy(q).round(6) + 0.0
        np.float64(0.0)
        """
        return self.call("energy", q, np.zeros(self.formulas.n))[1]

    def admissible(
        self,
        q: Numbers,
        z: Numbers,
        tau: Numbers,
        friction: Numbers,
        load: Given = None,
        locked: bool = False,
        contact: str = "elastic",
    ) -> Admissibility:
        """Every row of (9) at one state, whether it holds and by what margin.

        Parameters
        ----------
        q : array_like (..., nq)
            Coordinates, as `robot.coordinate_names` orders them [m, rad].
        z : array_like (..., nz)
            Speeds, as `robot.speed_names` orders them [m/s, rad/s].
        tau : array_like (..., inputs)
            Torques of the drives, as `robot.input_names` orders them [N m].
        friction : float or array_like (w,)
            Coefficient of friction with the ground, one number or one for each wheel.
        load : array_like (..., 6), optional
            Force then couple acting on the tool, in the axes of the tool [N, N m].
        locked : bool, default False
            Hold the steering column.
        contact : str, default "elastic"
            How more than three wheels share the load: "elastic", as springs; "best" or "worst",
            in the way that asks for the least or the most friction.

        Returns
        -------
        Admissibility
            The rows; true if all hold.

        Examples
        --------
        >>> bool(robot.admissible(q, z, tau, friction=0.8))
        True
        """
        from .admissibility import admissibility

        return admissibility(self, q, z, tau, friction, load, locked, contact)

    def limits(
        self,
        q: Numbers,
        z: Given = None,
        friction: Numbers = 0.6,
        gravity: Given = None,
        load: Given = None,
        contact: str = "elastic",
        radius: float = 1.0,
    ) -> MobileLimits:
        """What the ground allows in a pose: acceleration, braking, turning, slopes, payload.

        Parameters
        ----------
        q : array_like (..., nq)
            Coordinates, as `robot.coordinate_names` orders them [m, rad].
        z : array_like (nz,), optional
            Speeds at which acceleration and braking are asked for; default: at rest.
        friction : float or array_like (w,), default 0.6
            Coefficient of friction with the ground, one number or one for each wheel.
        gravity : array_like (..., 3), optional
            Acceleration of gravity [m/s^2] in the axes of the platform, for slopes; default:
            straight down.
        load : array_like (..., 6), optional
            Force then couple acting on the tool, in the axes of the tool [N, N m].
        contact : str, default "elastic"
            How more than three wheels share the load: "elastic", as springs; "best" or "worst",
            in the way that asks for the least or the most friction.
        radius : float, default 1.0
            Of the bend of a platform without steering [m]; with steering q says it.

        Returns
        -------
        MobileLimits
            The limits, and which wheel or edge sets each.

        Examples
        --------
        >>> limits = robot.limits(q, friction=0.6)
        >>> limits.acceleration > 0
        True
        """
        from .limits import limits_of

        return limits_of(self, q, z, friction, gravity, load, contact, radius)

    def emergency_stop(
        self,
        q: Numbers,
        speed: float,
        friction: Numbers = 0.6,
        gravity: Given = None,
        load: Given = None,
        contact: str = "elastic",
    ) -> EmergencyStop:
        """The shortest stop from a speed straight ahead with the arm held.

        Parameters
        ----------
        q : array_like (..., nq)
            Coordinates, as `robot.coordinate_names` orders them [m, rad].
        speed : float
            Speed at which braking begins [m/s].
        friction : float or array_like (w,), default 0.6
            Coefficient of friction with the ground, one number or one for each wheel.
        gravity : array_like (..., 3), optional
            Acceleration of gravity [m/s^2] in the axes of the platform, for slopes; default:
            straight down.
        load : array_like (..., 6), optional
            Force then couple acting on the tool, in the axes of the tool [N, N m].
        contact : str, default "elastic"
            How more than three wheels share the load: "elastic", as springs; "best" or "worst",
            in the way that asks for the least or the most friction.

        Returns
        -------
        EmergencyStop
            Deceleration, time, distance, and what limits them.

        Examples
        --------
        >>> robot.emergency_stop(q, 0.5).distance < 1.0
        True
        """
        from .limits import emergency_stop

        return emergency_stop(self, q, speed, friction, gravity, load, contact)

    def retime(self, motion: Outside, friction: Numbers, **options: Outside) -> Retimed:
        """A path in the shortest time within slip, tip-over, torques and speeds.

        Parameters
        ----------
        motion : Motion, Run or (t, q)
            The motion whose path is kept.
        friction : float or array_like (w,)
            Coefficient of friction with the ground, one number or one for each wheel.
        **options : object
            Further arguments of `dynarm.mobile.retime.retime`: gravity, load, torque, points,
            top.

        Returns
        -------
        Retimed
            The motion in the shortest time, and what limits it where.

        Examples
        --------
        >>> t = np.linspace(0, 4, 81)
        >>> path = np.outer(0.5 * (1 - np.cos(np.pi * t / 4)), np.eye(len(q))[0])
        >>> faster = robot.retime((t, path), friction=0.6)
        >>> faster.time < 4
        True
        """
        from .retime import retime

        return retime(self, motion, friction, **options)

    def payload_map(self, friction: Numbers = 0.6, **options: Outside) -> PayloadMap:
        """What can be carried where the arm reaches.

        Parameters
        ----------
        friction : float or array_like (w,), default 0.6
            Coefficient of friction with the ground, one number or one for each wheel.
        **options : object
            Further arguments of `dynarm.mobile.payload.payload_map`: poses, gravity, torque,
            count, most, seed.

        Returns
        -------
        PayloadMap
            The payload in every pose.

        Examples
        --------
        >>> places = robot.payload_map(friction=0.6, count=50)
        >>> places.payload.shape
        (50,)
        """
        from .payload import payload_map

        return payload_map(self, friction, **options)

    def simulate(
        self, q0: Numbers, z0: Numbers, t_end: float, torque: Outside = None, **options: Outside
    ) -> MobileRun:
        """The motion from (q0, z0) until t_end.

        Parameters
        ----------
        q0 : array_like (nq,)
            Coordinates at the start.
        z0 : array_like (nz,)
            Speeds at the start.
        t_end : float
            Time at which the run ends [s].
        torque : array, Sampled or callable, optional
            Inputs, constant, sampled or f(t, q, z).
        **options : object
            Further arguments of `dynarm.mobile.simulate.simulate`: load, friction, stop,
            locked, dt, method ...

        Returns
        -------
        MobileRun
            The run, with everything about the ground.

        Examples
        --------
        >>> run = robot.simulate(q, z, 0.2, torque=tau)
        >>> run.unexplained < 1e-6
        True
        """
        from .simulate import simulate

        return simulate(self, q0, z0, t_end, torque, **options)

    def motion(self, t: Numbers, q: Numbers) -> Motion:
        """A motion through sampled coordinates, which must roll.

        Parameters
        ----------
        t : array_like (N,)
            Times [s].
        q : array_like (N, nq)
            Coordinates at these times.

        Returns
        -------
        Motion
            Coordinates, speeds and accelerations.

        Examples
        --------
        >>> t = np.linspace(0, 4, 81)
        >>> path = np.outer(0.5 * (1 - np.cos(np.pi * t / 4)), np.eye(len(q))[0])
        >>> robot.motion(t, path).zd.shape
        (81, 4)
        """
        from .pace import motion_through

        return motion_through(self, t, q)

    def safe_speed(
        self,
        motion: Outside,
        friction: Numbers,
        load: Given = None,
        contact: str = "elastic",
        gravity: Given = None,
    ) -> SafeSpeed:
        """The largest time scaling of a motion for which no wheel slips or lifts.

        Parameters
        ----------
        motion : Motion, Run or (t, q)
            The motion.
        friction : float or array_like (w,)
            Coefficient of friction with the ground, one number or one for each wheel.
        load : array_like (..., 6), optional
            Force then couple acting on the tool, in the axes of the tool [N, N m].
        contact : str, default "elastic"
            How more than three wheels share the load: "elastic", as springs; "best" or "worst",
            in the way that asks for the least or the most friction.
        gravity : array_like (3,) or (N, 3), optional
            In the axes of the platform, for a slope, or for each sample its own [m/s^2].

        Returns
        -------
        SafeSpeed
            The scaling and what limits it.

        Examples
        --------
        >>> t = np.linspace(0, 4, 81)
        >>> path = np.outer(0.5 * (1 - np.cos(np.pi * t / 4)), np.eye(len(q))[0])
        >>> robot.safe_speed((t, path), friction=0.6).scale > 1
        True
        """
        from .pace import safe_speed

        return safe_speed(self, motion, friction, load, contact, gravity)
