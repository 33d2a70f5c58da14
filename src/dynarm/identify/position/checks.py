"""What is asked of gains and of logs of positions and commands before they are fitted."""

from __future__ import annotations

import warnings

import numpy as np

from ...border.arguments import reals, shown
from ...border.kinds import FloatArray, Json, Outside
from ...errors import DynarmWarning, InputError
from ...robot.arm import Arm, Joint
from ..judgement.quality import unit_doubts
from ..logs.log import Log, in_order
from ..preprocess import Preparation

_STILL = 2e-3  # [rad or m] range of positions of a joint that rests
_DEGREES = 180 / np.pi
_UNITS = {_DEGREES: "degrees", 1 / _DEGREES: "radians, and positions in degrees", 1e3: "mm or mrad"}
_GAIN_UNITS = {_DEGREES: "N m a degree", 1 / _DEGREES: "radians taken for degrees"}
_GAIN_UNITS |= {1e3: "kN m", 1e-3: "N mm"}
_SLOWEST = 0.1  # [s] between samples
_FAR = 3.0  # times as much torque as described bodies need is doubted
_HEARD = ("arm", "pd", "progress")
_USUAL: Json = {  # of an identifier's options, where it is not None
    "friction": "auto",
    "shape": "auto",
    "armature": "auto",
    "estimator": "wls",
    "asymmetric": False,
    "columns": (),
    "regularise": "auto",
    "feasible": "auto",
    "preparation": Preparation(),
}
_NEAR = 0.15  # of a factor's logarithm: commands of another unit follow positions within this


def refuse_unheard(options: Json) -> None:
    """Refuse options of an identifier that a fit of positions would not listen to."""
    for name, value in options.items():
        usual = _USUAL.get(name)
        if name not in _HEARD and value is not usual and value != usual:
            raise InputError(
                f"{name} is {shown(value)}, and pd is given: armature, viscous and Coulomb friction, offset and delay "
                f"are then found by rollouts, whatever {name} says; leave it out"
            )


def gains_of(arm: Arm, given: Outside) -> tuple[FloatArray, FloatArray]:
    """kp and kd (n,) of every joint, kp above 0."""
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise InputError(
            f"pd is {shown(given)}; give (kp, kd), numbers or one a joint [N m/rad, N m s/rad]"
        )
    if arm.floating:
        raise InputError(
            f"pd is for robots that stand; robot '{arm.name}' is on a free base, load it with floating=False"
        )
    if not arm.coupling.free:
        raise InputError(f"pd: joints of robot '{arm.name}' follow others; freeze or free them")
    kp, kd = (_gain(arm, name, x) for name, x in zip(("kp", "kd"), given, strict=True))
    if not (kp > 0).all():
        j = int(np.argmin(kp))
        raise InputError(
            f"pd: kp of joint '{arm.joint_names[j]}' is {kp[j]:g}; give the controller's gain, above 0: without it no "
            "torque can be told from positions"
        )
    if not (kd >= 0).all():
        raise InputError(f"pd: kd is {shown(given[1])}; give numbers of at least 0")
    return kp, kd


def _gain(arm: Arm, name: str, given: Outside) -> FloatArray:
    n = len(arm.joint_names)
    value = reals(f"pd: {name}", given, f"a number or {n} numbers", arm.joint_names)
    if value.shape not in ((), (1,), (n,)) or not np.isfinite(value).all():
        raise InputError(
            f"pd: {name} is {shown(given)}; give a finite number, or {n}: one a joint of '{arm.name}'"
        )
    return np.array(np.broadcast_to(value, (n,)))


def position_log(arm: Arm, log: Log) -> Log:
    """The log in the arm's order; refused where no drive can be told from it, doubts are warnings."""
    log = in_order(log, arm)
    if log.q_command is None:
        raise InputError(
            f"{log.source} holds no commanded positions; give Log(..., q_command=), or name their columns q_command_1, "
            "... or in the channels: [q_command] columns = [...]"
        )
    if (np.ptp(log.q, axis=0) < _STILL).all():
        raise InputError(
            f"{log.source}: no joint moves by more than {_STILL:g}; rests tell nothing of armature and friction, "
            "record a motion"
        )
    if log.drives is not None and (log.drives.coupling or log.drives.springs):
        warnings.warn(
            f"{log.source}: its channels declare coupling or springs, which drives by positions leave out; they may "
            "show as friction and offset, record torques to find them",
            DynarmWarning,
            stacklevel=6,
        )
    if log.quality.step > _SLOWEST:
        raise InputError(
            f"{log.source}: samples lie {log.quality.step:.3g} s apart, in which a controller has long done its work: "
            "is time in ms? Give seconds, or record faster"
        )
    for told in (*log_doubts(arm, log), *log.quality.warnings):
        warnings.warn(f"{log.source}: {told}", DynarmWarning, stacklevel=6)
    return log


def log_doubts(arm: Arm, log: Log) -> list[str]:
    """Sentences about units that are suspected in a log."""
    free = [
        joint.revolute and not _inside(joint, log.q[:, j]) for j, joint in enumerate(arm.joints)
    ]
    return [*_other_unit(log), *unit_doubts(log.t, log.q, log.qd, free)]


def _inside(joint: Joint, q: FloatArray) -> bool:
    """Whether positions lie in the described range: a joint may turn more than once."""
    low, high = joint.position_limits or (np.inf, -np.inf)
    return bool(low <= q.min() and q.max() <= high)


def gain_doubts(ratio: float) -> list[str]:
    """Sentences about gains that would have to be so many times as large for the described bodies to move so."""
    if 1 / _FAR < ratio < _FAR:
        return []
    unit = next(
        (w for f, w in _GAIN_UNITS.items() if abs(np.log(ratio / f)) < 2 * _NEAR), "other gains"
    )
    return [
        f"the described bodies need {ratio:.3g} times the torques of these gains: {unit}? Give kp and kd in N m/rad "
        "and N m s/rad at the joint, or check masses of the description"
    ]


def _other_unit(log: Log) -> list[str]:
    """What is to be said of commands that go with the positions, but many times as far: once for each unit."""
    joints: dict[str, list[str]] = {}
    q, c = log.q - log.q.mean(axis=0), log.q_command - log.q_command.mean(axis=0)
    sizes = np.sqrt((q**2).mean(axis=0)), np.sqrt((c**2).mean(axis=0))
    for j in range(q.shape[1]):
        if sizes[0][j] < _STILL or sizes[1][j] < 1e-9:
            continue
        alike = float(q[:, j] @ c[:, j]) / (len(q) * sizes[0][j] * sizes[1][j])
        ratio = sizes[1][j] / sizes[0][j]
        if alike < 0.8 or 0.3 < ratio < 3:
            continue
        unit = next(
            (w for f, w in _UNITS.items() if abs(np.log(ratio / f)) < _NEAR), "another unit"
        )
        joints.setdefault(unit, []).append(f"joint {j + 1} are {ratio:.3g} times the positions")
    return [
        f"commands of {first}: {unit}? Declare the unit of [q_command] in the channels, or convert"
        + (f" (so are those of {len(more)} more)" if more else "")
        for unit, (first, *more) in joints.items()
    ]
