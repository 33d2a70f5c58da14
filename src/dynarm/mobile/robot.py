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
    """An arm on a wheeled platform, immutable; `coordinate_names`, `speed_names`, `input_names`: what q, z, tau hold.

    arms: in place of `arm`, [(arm, mount), ...] for several on one base, mounts in {v}; the load acts on the first.
    gravity: acceleration [m/s^2], downwards; the arm's own gravity is not used. friction=True: friction of wheels and
    joints and the joints' armature take part.
    """

    @property
    def mobility(self) -> str:
        """What the wheels let the platform do, in a sentence."""
        return mobility(self.guidance, self.platform, self.wheels)

    def trailing(self, q: Numbers, z: Numbers) -> MobileManipulator:
        """The robot with its casters turned as they trail in a motion with speeds z; one that stands still stays.

        A caster's wheel stands `trail` behind its swivel, and with it the support polygon changes.
        """
        from .casters import trailing

        return trailing(self, q, z)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the robot to x.toml."""
        from .files import save

        save(self, path)

    def written(self) -> Written:
        """What `dynarm.export_c` makes C of."""
        from .export import written

        return written(self)

    def acting(self, gravity: Given, load: Given) -> tuple[Numbers, Numbers]:
        """Gravity in the axes of {v} and the load on the tool, the usual ones where none are given."""
        pull = self._down if gravity is None else gravity
        return pull, NO_LOAD if load is None else load

    @cached_property
    def _down(self) -> FloatArray:
        down = np.array([0.0, 0.0, -self.gravity])
        down.setflags(write=False)
        return down

    def hold(self, q: Numbers, gravity: Given = None, load: Given = None) -> FloatArray:
        """tau (..., inputs): the inputs that keep arm and platform at rest in q."""
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
        """tau (..., inputs): the inputs that give accelerations zd, drives shared with the smallest squared torque."""
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

        gravity: (..., 3) [m/s^2] in the axes of {v}, for slopes. load: (..., 6), force then couple on the tool, in the
        tool's axes. contact: how more than three wheels share the load: "elastic", as springs (`Wheel.stiffness`);
        "best", "worst": in the way that asks for the least, the most friction. threads: for large batches; default:
        what `dynarm.set_threads` says.
        """
        return ground_of(self, q, z, zd, gravity, load, contact, threads)

    def equations(self, q: Numbers, z: Numbers) -> tuple[FloatArray, FloatArray, FloatArray]:
        """M, F, B of (8): M zd + F = B tau, gravity inside F."""
        M, F, B, *_ = self.call("equations", q, z)
        return M, F, B

    def kane_equations(self, q: Numbers, u: Numbers) -> tuple[FloatArray, FloatArray, FloatArray]:
        """M, F, B of (7) in the paper's speeds u1, u2 = xd/Z_o, yd/Z_o, u4 = phid, joint speeds."""
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
        """zd (..., n): accelerations of the independent speeds under inputs tau and a load on the end effector."""
        name = self.variant("derivative", z, locked)
        return self.call(name, q, z, tau, NO_LOAD if load is None else load)[1]

    def interaction_wrench(
        self, q: Numbers, z: Numbers, tau: Numbers, load: Given = None, locked: bool = False
    ) -> FloatArray:
        """Force [N] then torque [N m] about the base's mass centre of arm and base on the platform, axes of {v}."""
        return self.evaluate(q, z, tau, load, locked).wrench

    def wheel_forces(
        self, q: Numbers, z: Numbers, tau: Numbers, load: Given = None, locked: bool = False
    ) -> FloatArray:
        """(..., w, 3) [N]: ground force on each wheel along its rolling direction, its axle, and up.

        More than three wheels share the load as springs that push and never pull; axle forces that statics leaves open
        are split with the smallest norm; `contact` says which parts that are. A negative vertical force is formal: the
        robot tips, and the wheel has lifted.
        """
        return self.evaluate(q, z, tau, load, locked).forces

    def control(
        self, q: Numbers, z: Numbers, tau: Numbers, load: Given = None, locked: bool = False
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """M, F, B (load inside F) and the wheel forces from one kernel."""
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

        contact: how more than three wheels share the load; see `ground`.
        """
        return contact_of(self, self.evaluate(q, z, tau, load, locked), contact)

    def tipover(
        self, q: Numbers, z: Numbers, tau: Numbers, load: Given = None, locked: bool = False
    ) -> Tipover:
        """Tip-over angles and the measure alpha of (9)."""
        return self.tipover_of(self.evaluate(q, z, tau, load, locked).ground)

    def tipover_of(self, ground: np.ndarray) -> Tipover:
        """Tip-over angles and measure of a load on the ground (..., 6)."""
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
        """(..., w): smallest coefficient that keeps each wheel from slipping; infinite where the wheel has lifted."""
        return friction_needed(self.wheel_forces(q, z, tau, load, locked))

    def kinetic_energy(self, q: Numbers, z: Numbers) -> FloatArray:
        """Kinetic energy (...) [J]."""
        return self.call("energy", q, z)[0]

    def potential_energy(self, q: Numbers) -> FloatArray:
        """Potential energy (...) [J], zero in the arm's zero pose."""
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
        """Every row of (9) at one state, whether it holds and by what margin; see `admissibility.Admissibility`."""
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
        """What the ground allows in a pose: acceleration, braking, turning, slopes, payload; see `limits.MobileLimits`.

        z: speeds at which acceleration and braking are asked for; default: at rest. radius: of the bend of a platform
        without steering; with steering q says it.
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
        """The shortest stop from a speed [m/s] straight ahead with the arm held; see `limits.EmergencyStop`."""
        from .limits import emergency_stop

        return emergency_stop(self, q, speed, friction, gravity, load, contact)

    def retime(self, motion: Outside, friction: Numbers, **options: Outside) -> Retimed:
        """A path in the shortest time within slip, tip-over, torques and speeds; see `retime.retime`."""
        from .retime import retime

        return retime(self, motion, friction, **options)

    def payload_map(self, friction: Numbers = 0.6, **options: Outside) -> PayloadMap:
        """What can be carried where the arm reaches; see `payload.payload_map`."""
        from .payload import payload_map

        return payload_map(self, friction, **options)

    def simulate(
        self, q0: Numbers, z0: Numbers, t_end: float, torque: Outside = None, **options: Outside
    ) -> MobileRun:
        """The motion from (q0, z0) until t_end; see `simulate.simulate` for the options."""
        from .simulate import simulate

        return simulate(self, q0, z0, t_end, torque, **options)

    def motion(self, t: Numbers, q: Numbers) -> Motion:
        """A motion through sampled coordinates q (N, ...) at times t, which must roll; see `pace.Motion`."""
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
        """The largest time scaling of a motion for which no wheel slips or lifts; see `pace.safe_speed`."""
        from .pace import safe_speed

        return safe_speed(self, motion, friction, load, contact, gravity)
