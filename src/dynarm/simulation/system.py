"""What is set in motion: all that the simulator asks of an arm, of a robot on wheels, or of anything else that moves.

The state that is stepped is x = [q, qd, memory, work, loss]: coordinates, independent speeds, what friction remembers
(see `memory.py`), and with the motion the work [J] that the inputs have done and what friction has taken. There may be
more coordinates than speeds (a quaternion, a platform that rolls); how coordinates move with speeds is part of `flow`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from ..algebra.vectors import Scalar
from ..border.kinds import Maker
from ..graph.graph import Graph, Port
from ..graph.trace import trace_function
from ..machine.load.cache import Part
from ..machine.load.compiled import function
from ..machine.load.march import March
from .memory import Memory

BOOKS = 2  # numbers of a state that keep account: work and loss
Rates = Callable[..., list[Scalar]]  # (state, tau, push, ...) -> rate of the state
Body = Callable[[], Maker]  # makes a function over scalars, when it is to be traced


@dataclass(frozen=True, slots=True)
class Layout:
    """How many numbers a state and the inputs of a step hold, and where."""

    coordinates: int
    speeds: int
    inputs: int  # forces tau
    push: int = 0  # of what acts from outside, a wrench on the tool; 0: nothing does
    memory: int = 0  # of what is remembered

    @property
    def size(self) -> int:
        """Numbers of a state."""
        return self.coordinates + self.speeds + self.memory + BOOKS

    @property
    def q(self) -> slice:
        return slice(self.coordinates)

    @property
    def qd(self) -> slice:
        return slice(self.coordinates, self.coordinates + self.speeds)

    @property
    def past(self) -> slice:
        """What is remembered."""
        return slice(self.coordinates + self.speeds, self.size - BOOKS)

    @property
    def books(self) -> slice:
        return slice(self.size - BOOKS, self.size)

    @property
    def input_ports(self) -> list[Port]:
        """Inputs of a step after the state: tau and, where something pushes, the push."""
        return [*vectors(self.inputs, "tau"), *vectors(self.push, *["wrench"] * bool(self.push))]


class Linear(NamedTuple):
    """The rates [of q, of qd] near a state: A [dq, dqd] + B dtau."""

    A: np.ndarray  # (coordinates + speeds, coordinates + speeds)
    B: np.ndarray  # (coordinates + speeds, inputs)


class Switching(Protocol):
    """Friction that sticks: modes in which the motion is smooth, and when one ends. One more number in the state."""

    @property
    def mode(self) -> np.ndarray: ...

    def rates(self, x: np.ndarray, *drives: np.ndarray) -> np.ndarray: ...

    def gaps(self, x: np.ndarray, *drives: np.ndarray) -> np.ndarray: ...

    def arm(self, qd: np.ndarray) -> None: ...

    def settle(self, x: np.ndarray, resting: np.ndarray, *drives: np.ndarray) -> None: ...

    def changes(self, before: np.ndarray) -> list[str]: ...


class System(Protocol):
    """What a run needs to know of what moves."""

    @property
    def layout(self) -> Layout: ...

    @property
    def extras(self) -> tuple[np.ndarray, ...]:
        """Inputs that are the same over a whole run, in the order in which kernels take them last."""

    @property
    def speed_limits(self) -> Sequence[float]:
        """Speeds that are usual at most, from which steps of fixed length are chosen."""

    @property
    def normalised(self) -> Callable[[Sequence[Scalar]], Sequence[Scalar]] | None:
        """What puts coordinates back where they belong after a step, over scalars; None: any numbers will do."""

    @property
    def memory(self) -> Memory | None:
        """What is remembered, and how; None: nothing is."""

    def flow(self) -> Rates:
        """The rate of the state over scalars: of q by how it moves with qd, accelerations, powers that go to books.

        What is remembered has no rate: it is brought up to date after each step.
        """

    def compiled(
        self, name: str, inputs: Sequence[Port], outputs: Sequence[Port], body: Body
    ) -> March:
        """The kernel of a function over scalars, `extras` being its last inputs."""

    @property
    def linear(self) -> Callable[[np.ndarray, np.ndarray, np.ndarray], Linear] | None:
        """The motion near (q, qd, tau), which implicit methods ask for; None: differences must do."""

    def switching(self, slack: float) -> Switching | None:
        """Friction that sticks, or None; slack: a speed that counts as none."""

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """(..., speeds, speeds); accelerations are what its inverse gives."""

    def sample(self, k: int) -> System:
        """The system of one sample of a batch."""


def compiled(
    known: dict[tuple[str, bool], March],
    key: tuple[str, bool],
    recipe: Sequence[Part],
    ports: tuple[Sequence[Port], Sequence[Port]],
    body: Body,
) -> March:
    """The kernel of a function over scalars, looked up among the known ones; its name is the key's first entry."""
    if key not in known:
        inputs, outputs = ports

        def build() -> Graph:
            return trace_function(inputs, outputs, body())

        ufunc = function(recipe, key[0], inputs, outputs, build)
        known[key] = March(ufunc, [len(p.shape) for p in (*inputs, *outputs)])
    return known[key]


def rates(system: System) -> np.ufunc:
    """(state, tau, [push], ...) -> rate of the state: the right-hand side of the motion."""
    layout = system.layout
    inputs = [*vectors(layout.size, "x"), *layout.input_ports]

    def body() -> Maker:
        f, push = system.flow(), bool(layout.push)
        return lambda x, tau, *rest: f(x, tau, *(rest if push else (None, *rest)))

    return system.compiled("rates", inputs, vectors(layout.size, "rate"), body).ufunc


def state_of(system: System, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """[q, qd, memory, 0, 0]: the state at the start of a run."""
    past = [] if system.memory is None else [system.memory.begun(q)]
    return np.concatenate([q, qd, *past, np.zeros((*q.shape[:-1], BOOKS))], axis=-1)


def settled(system: System, x: Sequence[Scalar]) -> list[Scalar]:
    """A state over scalars after a step: coordinates where they belong, what is remembered up to date."""
    layout = system.layout
    q = x[layout.q] if system.normalised is None else system.normalised(x[layout.q])
    past = x[layout.past] if system.memory is None else system.memory.moved(q, x[layout.past])
    return [*q, *x[layout.qd], *past, *x[layout.past.stop :]]


def put_back(system: System, x: np.ndarray) -> np.ndarray:
    """The same of arrays; the same array where nothing has to be done."""
    if system.normalised is None and system.memory is None:
        return x
    return np.stack(np.broadcast_arrays(*settled(system, list(np.moveaxis(x, -1, 0)))), axis=-1)


def coordinates(system: System, x: np.ndarray) -> np.ndarray:
    """The coordinates of states, where they belong: what functions of the user may see."""
    q = x[..., system.layout.q]
    if system.normalised is None:
        return q
    return np.stack(system.normalised(list(np.moveaxis(q, -1, 0))), axis=-1)


def vectors(n: int, *names: str) -> list[Port]:
    return [Port(name, (n,)) for name in names]
