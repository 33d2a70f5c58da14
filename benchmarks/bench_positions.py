"""Drives from positions and commands, beside MuJoCo's own `mujoco.sysid`: rollout error on unseen time, and seconds.

The truth is MuJoCo's: four legs of a Go2 on a stand and a Puma 560 under position actuators, with armature, damping and
frictionloss that its solver holds at rest, integrated at an eighth of the samples' step; commands take effect 6 ms
late, positions come in an encoder's steps. sysid is given the very model that made the data, only its drives wrong:
armature, damping and frictionloss of every joint and the delay are its unknowns, by its own optimiser and defaults, at
the log's step and, which nobody could know of a real robot, at the truth's own. Every fit is rolled out by its own
simulator along time that it was not fitted to; the delay that sysid tells is a step of its rollouts short, which is
added. Nothing can be nearer than the encoder's steps.
`python -m benchmarks.bench_positions` prints the figures; it needs `pip install 'mujoco[sysid]'`.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import dynarm

from .robots import _share

STEP = 0.002  # [s] between samples
FINE = 8  # steps of the truth between them
LATE = 0.006  # [s]
ENCODER = 2 * np.pi / 2**14
SECONDS, UNSEEN = 5.0, 3.0
_WORDS = ("armature", "damping", "frictionloss")

Foreign = Any  # objects of MuJoCo
FloatArray = np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A robot without drives, its controller, about where it moves, and the drives it really has (n, 3)."""

    arm: dynarm.Arm
    kp: FloatArray
    kd: FloatArray
    middle: FloatArray
    drives: FloatArray

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(str(joint.name) for joint in self.arm.joints)


def cases() -> dict[str, Case]:
    """Twelve joints of a quadruped, and an arm."""
    go2 = dynarm.load(_share() / "go2_description" / "urdf" / "go2.urdf", floating=False)
    puma = dynarm.load("puma560")
    return {
        "go2": _case(go2, 40.0, 1.0, [0, 0.9, -1.8] * 4, 1.0),
        "puma560": _case(
            puma,
            [800.0, 800, 400, 80, 80, 80],
            [40.0, 40, 20, 4, 4, 4],
            [0.3, -0.8, 0.6, 0.2, 0.5, 0.1],
            5.0,
        ),
    }


def _case(arm: dynarm.Arm, kp: Any, kd: Any, middle: Any, size: float) -> Case:
    bare = replace(
        arm, joints=tuple(replace(j, armature=0.0, friction=None) for j in arm.joints), tools=()
    )
    rng = np.random.default_rng(0)
    drives = size * rng.uniform([0.01, 0.05, 0.1], [0.03, 0.3, 0.4], (arm.n, 3))
    own = (np.broadcast_to(np.asarray(x, float), arm.n) for x in (kp, kd, middle))
    return Case(bare, *own, drives)


def spec_of(case: Case, drives: FloatArray | None, step: float) -> Foreign:
    """The robot as MuJoCo's specification, with position actuators and sensors of its joints."""
    import mujoco

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot.xml"
        case.arm.save(path)
        spec = mujoco.MjSpec.from_string(path.read_text(encoding="utf-8"))
    spec.option.timestep = step
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    for j, joint in enumerate(spec.joints):
        joint.limited = mujoco.mjtLimited.mjLIMITED_FALSE
        for word, value in zip(_WORDS, (0.01, 0.01, 0.01) if drives is None else drives[j]):
            _put(joint, word, float(value))
        actuator = spec.add_actuator(name=f"act{j}", target=joint.name)
        actuator.trntype = mujoco.mjtTrn.mjTRN_JOINT
        actuator.set_to_position(kp=float(case.kp[j]), kv=float(case.kd[j]))
        spec.add_sensor(
            name=f"pos{j}",
            type=mujoco.mjtSensor.mjSENS_JOINTPOS,
            objtype=mujoco.mjtObj.mjOBJ_JOINT,
            objname=joint.name,
        )
    return spec


def _put(joint: Foreign, word: str, value: float) -> None:
    """A number of a joint; some versions keep a polynomial of damping."""
    held = getattr(joint, word)
    if np.ndim(held):
        held[0] = value
    else:
        setattr(joint, word, value)


def commands(case: Case, t: FloatArray, seed: int) -> FloatArray:
    """(N, n): four waves a joint about the middle."""
    rng, n = np.random.default_rng(seed), case.arm.n
    waves = [
        np.sin(np.outer(t, 2 * np.pi * rng.uniform(0.2, 2.5, n)) + rng.uniform(0, 6, n))
        for _ in range(4)
    ]
    return np.asarray(case.middle + 0.12 * np.sum(waves, axis=0))


def rolled(
    model: Foreign, t: FloatArray, command: FloatArray, late: float, fine: int, start: FloatArray
) -> FloatArray:
    """(N, n): positions that MuJoCo computes at times, from rest at a position."""
    import mujoco

    data = mujoco.MjData(model)
    data.qpos[:] = start
    out = np.empty_like(command)
    out[0] = data.qpos
    h = float(model.opt.timestep)
    grid = t[0] + h * np.arange((len(t) - 1) * fine) - late
    given = np.column_stack([np.interp(grid, t, column) for column in command.T])
    for k, now in enumerate(given):
        data.ctrl[:] = now
        mujoco.mj_step(model, data)
        if (k + 1) % fine == 0:
            out[(k + 1) // fine] = data.qpos
    return out


def recording(case: Case, seconds: float, seed: int) -> dynarm.Log:
    """What the truth does, in steps of the encoder."""
    t = np.arange(0, seconds, STEP)
    c = commands(case, t, seed)
    model = spec_of(case, case.drives, STEP / FINE).compile()
    q = rolled(model, t, c, LATE, FINE, c[0])
    return dynarm.Log(t, np.round(q / ENCODER) * ENCODER, q_command=c, joint_names=case.names)


# ---- the two ways


def ours(case: Case, fitted: dynarm.Log, unseen: dynarm.Log) -> dict[str, float]:
    """dynarm: mrad on unseen time, seconds of the fit on one core, and the error of armatures."""
    identifier = dynarm.Identifier(case.arm, pd=(case.kp, case.kd))
    identifier.fit(fitted.cut(0, 0.5))  # compiles and imports
    start = time.process_time()
    fit = identifier.fit(fitted)
    seconds = time.process_time() - start
    assert isinstance(fit, dynarm.PositionFit)
    armatures = fit.values_.reshape(-1, 4)[:, 0]
    return {
        "rollout error [mrad]": fit.rollout(unseen).mean,
        "fit [s of one core]": seconds,
        "armatures, rms error [%]": _part(armatures, case.drives[:, 0]),
    }


def theirs(case: Case, fitted: dynarm.Log, unseen: dynarm.Log, fine: int) -> dict[str, float]:
    """mujoco.sysid of the same log, with so many steps between samples."""
    from mujoco import sysid

    spec = spec_of(case, None, STEP / fine)
    params = _unknowns(sysid, case)
    model = spec.compile()
    start = sysid.create_initial_state(model, fitted.q_command[0], np.zeros(model.nv), None)
    names = [f"pos{j}" for j in range(case.arm.n)]
    measured = sysid.TimeSeries.from_names(fitted.t, fitted.q, model, names)
    sequences = sysid.ModelSequences(
        "robot", spec, "log", start, sysid.TimeSeries(fitted.t, fitted.q_command), measured
    )
    residual = sysid.build_residual_fn(
        models_sequences=[sequences], n_threads=1, modify_residual=_late(sysid)
    )
    began = time.process_time()
    best, _ = sysid.optimize(
        initial_params=params, residual_fn=residual, optimizer="mujoco", verbose=False
    )
    seconds = time.process_time() - began
    fitted_model = sysid.apply_param_modifiers_spec(best, spec).compile()
    # what its rollouts read at a time is the state one step before: its delay comes out a step short
    late = float(best["delay"].value[0]) + STEP / fine
    run = rolled(fitted_model, unseen.t, unseen.q_command, late, fine, unseen.q_command[0])
    armatures = np.array([best[f"armature{j}"].value[0] for j in range(case.arm.n)])
    return {
        "rollout error [mrad]": 1e3 * float(np.sqrt(((run - unseen.q) ** 2).mean())),
        "fit [s of one core]": seconds,
        "armatures, rms error [%]": _part(armatures, case.drives[:, 0]),
    }


def _unknowns(sysid: Foreign, case: Case) -> Foreign:
    """Armature, damping and frictionloss of every joint, begun at a small part of what they may be."""
    params, most = sysid.ParameterDict(), 10 * case.drives.max(axis=0)
    for j, name in enumerate(case.names):
        for word, top in zip(_WORDS, most):
            change = _changing(name, word)
            first = float(0.05 * top)
            params.add(sysid.Parameter(f"{word}{j}", first, 0.0, float(top), modifier=change))
    params.add(sysid.Parameter("delay", 0.001, 0.0, 0.03))
    return params


def _changing(name: str, word: str) -> Callable[[Foreign, Foreign], None]:
    def change(spec: Foreign, param: Foreign) -> None:
        _put(spec.joint(name), word, float(param.value[0]))

    return change


def _late(sysid: Foreign) -> Callable[..., tuple[FloatArray, Foreign, Foreign]]:
    """Predicted positions a little later: a command that takes effect late does the same to all that follows."""

    def modify(params: Foreign, predicted: Foreign, measured: Foreign, *_: Any, **__: Any) -> Any:
        late = float(params["delay"].value[0])
        inside = measured.times[(measured.times > 0.05) & (measured.times < measured.times[-1])]
        seen = measured.resample(inside)
        then = sysid.apply_resample_and_delay(predicted, inside, late, predicted_data=True)
        return seen.data - then.data, then, seen

    return modify


def _part(found: FloatArray, true: FloatArray) -> float:
    return 100 * float(np.sqrt((((found - true) / true) ** 2).mean()))


def run(step: Callable[[str], None] = lambda what: None) -> dict[str, Any]:
    """The figures of both robots."""
    floor = 1e3 * ENCODER / np.sqrt(12)
    told: dict[str, Any] = {"samples": int(SECONDS / STEP), "encoder's steps [mrad]": floor}
    for name, case in cases().items():
        fitted, unseen = recording(case, SECONDS, 1), recording(case, UNSEEN, 9)
        rows = {"dynarm": ours(case, fitted, unseen)}
        for fine, word in ((1, "the log's step"), (FINE, "the truth's step")):
            step(f"{name}, sysid at {word}")
            rows[f"mujoco.sysid, {word}"] = theirs(case, fitted, unseen, fine)
        best = rows["mujoco.sysid, the truth's step"]
        for word in ("rollout error [mrad]", "fit [s of one core]"):
            rows["dynarm"][f"{word.split(' [')[0]}, part of sysid's"] = (
                rows["dynarm"][word] / best[word]
            )
        told[name] = rows
    return told


if __name__ == "__main__":
    print(json.dumps(run(), indent=1))
