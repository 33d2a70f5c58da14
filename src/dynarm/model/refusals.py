"""What is wrong with the arguments of a call, in the robot's words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ..border.arguments import among, flag, shown
from ..border.kinds import Outside
from ..errors import DynarmError, InputError, KindError
from ..graph.graph import Port
from ..robot.arm import Arm

JOINTWISE = ("q", "qd", "qdd", "tau")
AXES = {"wrench": ("fx", "fy", "fz", "tx", "ty", "tz"), "gravity": ("x", "y", "z")}
_REMEDIES = {
    "gravity": "compile with gravity='input' for it",
    "values": "compile with parameters='inputs' for it",
    "friction_state": "it has no friction in it",
}


def check_options(
    arm: Outside, formulation: Outside, friction: Outside, gravity: Outside, parameters: Outside
) -> None:
    """Refuse what a model cannot be compiled from."""
    if not isinstance(arm, Arm):
        raise KindError(
            f"arm is {shown(arm)}; give a dynarm.Arm, for example dynarm.load('puma560')"
        )
    if gravity is not None and not among(gravity, ("input",)):
        raise InputError(
            f"gravity is {shown(gravity)}; give 'input' or leave it out to use the arm's own"
        )
    if parameters is not None and not among(parameters, ("inputs",)):
        raise InputError(
            f"parameters is {shown(parameters)}; give 'inputs' or leave it out to use the arm's own"
        )
    if formulation is not None and not isinstance(formulation, Mapping):
        raise KindError(
            f"formulation is {shown(formulation)}; give {{quantity: name}}, e.g. {{'bias': 'newton_euler'}}"
        )
    flag("friction", friction)


def check_memory(name: str, feels: bool, size: int) -> None:
    """Refuse a friction state where nothing asks for one."""
    if not feels:
        raise InputError(f"{name} takes no friction_state; it has no friction in it")
    if not size:
        raise InputError(
            f"{name} takes no friction_state=; compile with friction=True an arm whose joints have presliding elements"
        )


def check_keywords(name: str, ports: Sequence[Port], given: Mapping[str, Outside]) -> None:
    """Refuse a call that lacks an input of the compiled function, or has one that it does not know."""
    for port in ports:
        if port.name not in given:
            raise InputError(
                f"{name} needs {port.name}=, because the model was compiled with it as an input"
            )
    for keyword in given.keys() - {p.name for p in ports}:
        raise InputError(f"{name} takes no {keyword}=; {_REMEDIES[keyword]}")


def explain(
    arm: Arm,
    name: str,
    ports: Sequence[Port],
    args: Sequence[Outside],
    out: Outside,
    made: Port,
    refusal: Exception,
) -> DynarmError:
    """The error to raise for a call of quantity `name` that was refused; `made` is what it returns."""

    def place(port: Port) -> str:
        if port.name in JOINTWISE and arm.floating:
            names = "coordinate_names" if port.name == "q" else "speed_names"
            return f", robot '{arm.name}' has {port.size}; order them as arm.{names}"
        if port.name in JOINTWISE:
            return f", robot '{arm.name}' has {port.size} joints; order them as arm.joint_names"
        return f"; give (..., {port.size})"

    return explained(place, name, ports, args) or (
        InputError(f"{name}: {refusal}")
        if out is None
        else InputError(
            f"out is {type(out).__name__} {getattr(out, 'shape', '')} {getattr(out, 'dtype', '')}; "
            f"give a float64 array of shape {_batch(ports, args) + made.shape} that can be written to"
        )
    )


def explained(
    place: Callable[[Port], str],
    name: str,
    ports: Sequence[Port],
    args: Sequence[Outside],
) -> DynarmError | None:
    """What is wrong with the arguments of a call that was refused, or None; place: what a port wants, in words."""
    for port, value in zip(ports, args, strict=True):
        wrong = _wrong_argument(port, value, place)
        if wrong is not None:
            return wrong
    try:
        _batch(ports, args)
    except ValueError:
        listed = ", ".join(f"{p.name} {np.shape(v)}" for p, v in zip(ports, args, strict=True))
        return InputError(f"the batch axes of {name} do not fit together: {listed}")
    return None


def _batch(ports: Sequence[Port], args: Sequence[Outside]) -> tuple[int, ...]:
    pairs = zip(ports, args, strict=True)
    return np.broadcast_shapes(*(np.shape(x)[: np.ndim(x) - len(p.shape)] for p, x in pairs))


def _wrong_argument(port: Port, value: Outside, place: Callable[[Port], str]) -> DynarmError | None:
    try:
        array = np.asarray(value)
    except ValueError:
        return InputError(f"{port.name} is ragged; give an array (..., {port.size})")
    if array.dtype.kind not in "bifu":
        return KindError(f"{port.name} is of type {array.dtype}; give real numbers (float64)")
    if array.ndim >= len(port.shape) and array.shape[array.ndim - len(port.shape) :] == port.shape:
        return None
    if len(port.shape) > 1:
        wanted = ", ".join(map(str, port.shape))
        return InputError(f"{port.name} has the shape {array.shape}; give (..., {wanted})")
    has = f"{array.shape[-1]} entries" if array.ndim else "a single number"
    return InputError(f"{port.name} has {has}{place(port)}")
