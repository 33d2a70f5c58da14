"""What stands behind the words of a mobile manipulator: its record, its names, its functions, and how one is called."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import InitVar, dataclass, fields
from typing import NamedTuple

import numpy as np

from ..border.arguments import among, flag, real, reals
from ..border.kinds import Given, Maker, Numbers, Outside, Pickled
from ..border.memo import cached_property
from ..border.words import shown, titled
from ..errors import DynarmError, InputError, KindError, ModelError, UnknownName
from ..graph.graph import Count, Graph, Port
from ..machine.load.compiled import Kernel, kernel
from ..machine.load.march import March
from ..model import batch
from ..model.functions import Functions, plain
from ..model.refusals import AXES, explained
from ..robot.arm import Arm
from .arms import mounted
from .bodies import with_base_link
from .constraints import SINGULAR, Guidance, guidance_of
from .formulas import Formulas
from .kernels import NAMES, PLANNED, graph_of, ports
from .platform import Base, Platform, Wheel
from .regularity import check_driven, check_regular
from .sharing import SharingCase, corner_shares, elastic_shares
from .stability import Support, support_of

NO_LOAD = np.zeros(6)
NO_LOAD.setflags(write=False)


PLACES = {  # what the entries of an input are, and which list of names has their order
    "q": ("coordinates", "coordinate_names"),
    "z": ("speeds", "speed_names"),
    "zd": ("speeds", "speed_names"),
    "u": ("speeds of (7)", "kane_speed_names"),
    "tau": ("inputs", "input_names"),
    "load": ("entries", ""),
    "gravity": ("entries", ""),
}


class Outputs(NamedTuple):
    """What the `control` function returns."""

    M: np.ndarray  # (..., n, n)
    F: np.ndarray  # (..., n), load inside
    B: np.ndarray  # (..., n, inputs)
    zd: np.ndarray  # (..., n)
    wrench: np.ndarray  # (..., 6)
    forces: np.ndarray  # (..., w, 3): rolling, axle, up
    ground: np.ndarray  # (..., 6): force and moment of (9) about the origin of {v}


@dataclass(frozen=True)
class Wheeled:
    """A mobile manipulator without its words: what it consists of, what is compiled when it is first used."""

    platform: Platform
    wheels: tuple[Wheel, ...]
    base: Base
    arm: Arm = None  # type: ignore[assignment]  # where arms are given in its place
    gravity: float = 9.81
    friction: bool = False
    name: str = "mobile"
    arms: InitVar[Outside] = None

    def __post_init__(self, arms: Outside) -> None:
        put = object.__setattr__
        if arms is not None:
            self._join(arms)
        for key, kind in (("platform", Platform), ("base", Base), ("arm", Arm)):
            if not isinstance(getattr(self, key), kind):
                raise KindError(f"{key} is {shown(getattr(self, key))}; give {kind.__name__}(...)")
        if isinstance(self.wheels, Wheel) or not isinstance(self.wheels, Iterable):
            raise KindError(f"wheels is {shown(self.wheels)}; give a list of mobile.Wheel")
        wheels = tuple(self.wheels)
        for j, wheel in enumerate(wheels):
            if not isinstance(wheel, Wheel):
                raise KindError(f"wheels[{j}] is {shown(wheel)}; give mobile.Wheel(...)")
        put(self, "wheels", wheels)
        if len({w.stiffness is None for w in wheels}) > 1:
            raise InputError(
                "some wheels have a stiffness and some have none; give it to all wheels or to none"
            )
        if len(set(self.wheel_names)) != len(wheels):
            raise InputError(f"wheel names are not unique: {list(self.wheel_names)}; rename them")
        wanted = "its size downwards [m/s^2], for example 9.81"
        put(self, "gravity", real("gravity", self.gravity, wanted, lambda g: 0 <= g < math.inf))
        put(self, "friction", flag("friction", self.friction))
        if not isinstance(self.name, str) or not self.name:
            raise KindError(f"name is {shown(self.name)}; give a non-empty string")
        if self.arm.floating is not None or self.arm.nv != self.arm.n:
            raise ModelError(
                f"arm '{self.arm.name}' has a free base or joints that follow others; load it with floating=False and "
                "hold these joints and those that they follow: freeze={'joint': position, ...}"
            )
        base, arm = with_base_link(self.base, self.arm)
        if self.platform.mass + base.mass + sum(wheel.mass for wheel in wheels) == 0:
            raise ModelError(
                f"robot '{self.name}': platform, base and wheels are without any mass; give Platform(mass, ...)"
            )
        put(self, "base", base)
        put(self, "arm", arm)
        self.formulas  # noqa: B018  wheels that cannot work are refused here and now

    def _join(self, arms: Outside) -> None:
        """Several arms on the base, as one that branches."""
        if self.arm is not None:
            raise InputError("both arm and arms are given; leave one out")
        if not isinstance(self.base, Base):
            raise KindError(f"base is {shown(self.base)}; give Base(...)")
        base, arm = mounted(self.base, arms)
        object.__setattr__(self, "base", base)
        object.__setattr__(self, "arm", arm)

    def __repr__(self) -> str:
        rest = f", {len(self.wheels)} wheels, an arm of {self.arm.n} joints"
        return titled("mobile.MobileManipulator", self.name, rest)

    def __reduce__(self) -> Pickled:
        return type(self), tuple(getattr(self, f.name) for f in fields(self))

    # ---- structure

    @cached_property
    def support(self) -> Support:
        """Support polygon of the wheels."""
        return support_of(self.wheels, self.platform.height)

    @cached_property
    def elastic_shares(self) -> tuple[SharingCase, ...]:
        """The cases of wheels on springs."""
        return elastic_shares(self.formulas.springs)

    @cached_property
    def corner_shares(self) -> tuple[SharingCase, ...]:
        """The cases in which three wheels carry everything."""
        return corner_shares(self.formulas.springs)

    @property
    def slides(self) -> bool:
        """Whether wheels slide across against friction when it turns."""
        return any(wheel.slide for wheel in self.wheels)

    @cached_property
    def guidance(self) -> Guidance:
        """What the wheels let the platform do."""
        return guidance_of(self.platform, self.wheels)

    @cached_property
    def formulas(self) -> Formulas:
        """The functions over abstract scalars."""
        support = self.support
        return Formulas(
            self.platform,
            self.wheels,
            self.base,
            self.arm,
            self.gravity,
            self.friction,
            self.guidance,
            support,
        )

    @cached_property
    def functions(self) -> Functions:
        """The bare gufuncs by name."""
        return Functions(self, lambda: NAMES)

    @cached_property
    def _quick(self) -> dict[str, Maker]:
        return {}

    @cached_property
    def marches(self) -> dict[tuple[str, bool], March]:
        """Steps and right-hand sides of simulations, compiled when first used."""
        return {}

    @cached_property
    def wheel_names(self) -> tuple[str, ...]:
        """The names of the wheels, in their order."""
        return tuple(w.name or f"w{j}" for j, w in enumerate(self.wheels))

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """What q holds."""
        steering = ("phi",) if self.guidance.steered else ()
        return ("x", "y", "theta", *steering, *self.arm.joint_names)

    @property
    def speed_names(self) -> tuple[str, ...]:
        """What z holds; v is the forward speed of the platform's mass centre."""
        return (*self.guidance.speeds, *(f"{name}d" for name in self.arm.joint_names))

    @property
    def kane_speed_names(self) -> tuple[str, ...]:
        """What u of (7) holds."""
        steering = ("u4",) if self.guidance.steered else ()
        return ("u1", "u2", *steering, *(f"u{5 + i}" for i in range(self.arm.n)))

    @property
    def input_names(self) -> tuple[str, ...]:
        """What tau holds."""
        pairs = [
            ("drive x", "drive y") if wheel.kind == "swerve" else ("drive", "steer")
            for wheel in self.wheels
        ]
        drive, steer = (
            tuple(f"{words[k]} {name}" for words, name in zip(pairs, self.wheel_names, strict=True))
            for k in (0, 1)
        )
        return (*drive, *steer, *self.arm.joint_names)

    def entry_names(self, port: str) -> tuple[str, ...]:
        """What the entries of an input are called: columns of a DataFrame with these names are put in this order.

        Parameters
        ----------
        port : str
            Name of an input: "q", "z", "tau" ...

        Returns
        -------
        tuple[str, ...]
            The names, in order.

        Examples
        --------
        >>> robot.entry_names("z") == robot.speed_names
        True
        """
        return {
            "q": self.coordinate_names,
            "z": self.speed_names,
            "zd": self.speed_names,
            "u": self.kane_speed_names,
            "tau": self.input_names,
            "gravity": ("x", "y", "z"),
        }.get(port, AXES["wrench"])

    def count(self, name: str = "equations") -> Count:
        """Operations of a function's graph.

        Parameters
        ----------
        name : str
            Name of a function, such as "equations".

        Returns
        -------
        Count
            The count: `.mul`, `.add`, ...

        Examples
        --------
        >>> robot.count("equations").mul > 0
        True
        """
        return self.graph(name).count()

    # ---- compiling and calling

    def ports(self, name: str) -> tuple[tuple[Port, ...], tuple[Port, ...]]:
        """Inputs and outputs of a function.

        Parameters
        ----------
        name : str
            Name of a function, such as "equations".

        Returns
        -------
        tuple[tuple[Port, ...], tuple[Port, ...]]
            The inputs and the outputs.

        Examples
        --------
        >>> [port.name for port in robot.ports("equations")[0]]
        ['q', 'z']
        """
        return ports(self.formulas, name)

    def graph(self, name: str) -> Graph:
        """The operations behind a function, traced anew.

        Parameters
        ----------
        name : str
            Name of a function, such as "equations".

        Returns
        -------
        Graph
            The graph of operations.

        Examples
        --------
        >>> graph = robot.graph("equations")
        """
        if not among(name, NAMES):
            raise UnknownName("function", name, NAMES)
        return graph_of(self.formulas, name)

    def kernel(self, key: str) -> Kernel:
        """The compiled function of a name.

        Parameters
        ----------
        key : str
            Name of a function, such as "equations".

        Returns
        -------
        Kernel
            The compiled function.

        Examples
        --------
        >>> kernel = robot.kernel("equations")
        """
        if not among(key, NAMES):
            raise UnknownName("function", key, NAMES)
        if key.startswith(("control", "derivative")):
            check_regular(self.formulas, key.endswith(":locked"), self.name)
        if key in PLANNED:
            check_driven(self.formulas, self.name)
        name = "mobile_" + key.replace(":", "_")
        return kernel(self.formulas.recipe, name, *self.ports(key), lambda: (self.graph(key), {}))

    def call(self, name: str, *args: Numbers, threads: int | None = None) -> tuple[np.ndarray, ...]:
        """The outputs of a compiled function; singular steering is refused.

        Parameters
        ----------
        name : str
            Name of a function, such as "equations".
        *args : array_like
            The function's inputs.
        threads : int, optional
            For large batches; default: what `dynarm.set_threads` says.

        Returns
        -------
        tuple of ndarray
            The function's outputs.

        Examples
        --------
        >>> outputs = robot.call("equations", q, z)
        """
        outputs = self._outputs(name, *args, threads=threads)
        if self.guidance.steered and name != "energy" and not (outputs[-1] < SINGULAR**2).all():
            self._singular(args[0], outputs[-1])
        return outputs

    def _outputs(
        self, name: str, *args: Numbers, threads: int | None = None
    ) -> tuple[np.ndarray, ...]:
        """The outputs of a compiled function, errors in the robot's words; threads: for large batches."""
        count = batch.threads if threads is None else batch.check_threads(threads)
        try:
            if count == 1 or len(args) != self.functions[name].nin:
                outputs: tuple[np.ndarray, ...] = self.functions[name](*args)
            else:
                outputs = self._by_threads(name, args, count)
        except (TypeError, ValueError, OverflowError) as refusal:
            if isinstance(refusal, DynarmError):
                raise
            wrong = explained(self._place, name, self.ports(name)[0], args)
            raise wrong or InputError(f"{name}: {refusal}") from None
        return outputs

    def _by_threads(self, name: str, args: Sequence[Numbers], count: int) -> tuple[np.ndarray, ...]:
        """The outputs of a compiled function, a large batch cut into slices."""
        inputs, outputs = self.ports(name)
        given = [plain(x, port, self.entry_names) for x, port in zip(args, inputs, strict=True)]
        weight = self.kernel(name).notes["instructions"]
        ufunc = self.functions[name]
        made: tuple[np.ndarray, ...] = batch.call(
            ufunc, inputs, outputs, given, None, count, weight
        )
        return made

    def _place(self, port: Port) -> str:
        """What a port wants, in words."""
        what, where = PLACES[port.name]
        order = f"; order them as robot.{where}: {', '.join(self.entry_names(port.name))}"
        return f", robot '{self.name}' has {port.size} {what}{order if where else ''}"

    def _singular(self, q: Numbers, skew: np.ndarray) -> None:
        wrong = np.flatnonzero(~(np.ravel(skew) < SINGULAR**2))
        angles = reals("q", q, "real numbers", self.coordinate_names)[..., 3]
        phi = np.broadcast_to(angles, np.shape(skew)).ravel()[wrong[0]]
        if not np.isfinite(phi):
            raise InputError(f"the steering angle phi is {phi}; give finite coordinates")
        raise InputError(
            f"steering angle phi = {phi:.6g} is singular for robot '{self.name}': the platform cannot move forward "
            "there, so v does not describe its motion; steer less"
        )

    def evaluate(
        self, q: Numbers, z: Numbers, tau: Numbers, load: Given = None, locked: bool = False
    ) -> Outputs:
        """Everything that one kernel gives: equations, accelerations, wrench, ground forces and load.

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
        Outputs
            The outputs, by name.

        Examples
        --------
        >>> outputs = robot.evaluate(q, z, tau)
        """
        name = self.variant("control", z, locked)
        return Outputs(*self.call(name, q, z, tau, NO_LOAD if load is None else load)[:7])

    def variant(self, name: str, z: Numbers, locked: bool) -> str:
        """The function's name with or without the steering column held.

        Parameters
        ----------
        name : str
            Name of a function, such as "equations".
        z : array_like (..., nz)
            Speeds, as `robot.speed_names` orders them [m/s, rad/s].
        locked : bool, default False
            Hold the steering column.

        Returns
        -------
        str
            The name.

        Examples
        --------
        >>> robot.variant("everything", z, False)
        'everything'
        """
        if not flag("locked", locked) or not self.guidance.steered:
            return name
        speeds = reals("z", z, "real numbers", self.speed_names)
        if not speeds.ndim or speeds.shape[-1] != len(self.speed_names):
            return f"{name}:locked"  # whose call refuses it
        rate = speeds[..., self.guidance.moving]
        if np.any(rate != 0):
            raise InputError(
                f"the steering is locked but phid is {float(np.ravel(rate)[0]):g}; set it to 0"
            )
        return f"{name}:locked"
