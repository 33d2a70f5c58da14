"""The process that lets MuJoCo compile a model for another one: `python -m dynarm.robot.formats.mjcf_child`.

The request is a line of JSON, {"text": the model, "assets": [[name, bytes], ...]}, then the assets. After MuJoCo is
imported no file can be opened any more, so that whatever a model names, nothing but what was sent is read. The answer
holds the compiled numbers of bodies, joints, sites and equalities, by which MuJoCo itself computes.
"""

from __future__ import annotations

import json
import math

import mujoco
import numpy as np

from ...border.apart import REFUSED, confine, served
from ...border.kinds import Outside

_LETTERS = 300  # of MuJoCo's own message
Rows = list[dict[str, Outside]]


def compiled(request: bytes) -> dict[str, Outside]:
    """The numbers of the model in the request, or why MuJoCo refuses it."""
    line, _, rest = request.partition(b"\n")
    head = json.loads(line)
    assets, start = {}, 0
    for name, size in head["assets"]:
        assets[name] = rest[start : start + size]
        start += size
    try:
        model = mujoco.MjModel.from_xml_string(head["text"], assets)
    except (ValueError, mujoco.FatalError, mujoco.UnexpectedError) as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        return {REFUSED: f"MuJoCo refuses it: {'; '.join(lines)[:_LETTERS]}"}
    return numbers_of(model)


def numbers_of(model: Outside) -> dict[str, Outside]:
    """The parts of a compiled model that dynamics needs."""
    option = model.opt
    off = bool(option.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY)
    return {
        "name": model.names[: model.names.index(b"\0")].decode("utf-8", "replace"),
        "gravity": [0.0] * 3 if off else option.gravity.tolist(),
        "fluid": [float(option.density), float(option.viscosity)],
        "flexes": int(model.nflex),
        "bodies": _bodies(model),
        "joints": _joints(model),
        "sites": _sites(model),
        "equalities": _equalities(model),
        "tendons": _tendons(model),
    }


def _bodies(model: Outside) -> Rows:
    return [
        {
            "name": model.body(i).name,
            "parent": int(model.body_parentid[i]),
            "pos": model.body_pos[i].tolist(),
            "quat": model.body_quat[i].tolist(),
            "mass": float(model.body_mass[i]),
            "ipos": model.body_ipos[i].tolist(),
            "iquat": model.body_iquat[i].tolist(),
            "inertia": model.body_inertia[i].tolist(),
            "lifted": float(model.body_gravcomp[i]),
            "joints": list(range(first := int(model.body_jntadr[i]), first + count))
            if (count := int(model.body_jntnum[i]))
            else [],
        }
        for i in range(model.nbody)
    ]


def _joints(model: Outside) -> Rows:
    kinds = ("free", "ball", "slide", "hinge")
    efforts = _efforts(model)
    rows = []
    for i in range(model.njnt):
        kind = kinds[int(model.jnt_type[i])]
        place = int(model.jnt_dofadr[i])
        single = kind in ("slide", "hinge")
        limited = bool(model.jnt_limited[i]) and single
        springs = [float(model.jnt_stiffness[i]), *_poly(model, "jnt_stiffnesspoly", i)]
        rows.append(
            {
                "name": model.joint(i).name,
                "kind": kind,
                "pos": model.jnt_pos[i].tolist(),
                "axis": model.jnt_axis[i].tolist(),
                "zero": float(model.qpos0[model.jnt_qposadr[i]]) if single else 0.0,
                "range": model.jnt_range[i].tolist() if limited else None,
                "armature": float(model.dof_armature[place]),
                "damping": float(model.dof_damping[place]),
                "curved": any(_poly(model, "dof_dampingpoly", place)),
                "friction": float(model.dof_frictionloss[place]),
                "sprung": any(springs),
                "effort": efforts.get(i),
            }
        )
    return rows


def _poly(model: Outside, name: str, i: int) -> list[float]:
    """Higher coefficients, which older versions of MuJoCo do not have."""
    table = getattr(model, name, None)
    return [] if table is None else np.ravel(table[i]).tolist()


def _efforts(model: Outside) -> dict[int, float]:
    """The largest force of each joint, where it is limited itself or one actuator acts straight on it."""
    drives: dict[int, list[float]] = {}
    transmission = mujoco.mjtTrn
    for k in range(model.nu):
        if int(model.actuator_trntype[k]) in (
            int(transmission.mjTRN_JOINT),
            int(transmission.mjTRN_JOINTINPARENT),
        ):
            joint = int(model.actuator_trnid[k, 0])
            drives.setdefault(joint, []).append(_strength(model, k))
    efforts = {i: forces[0] for i, forces in drives.items() if len(forces) == 1}
    for i in range(model.njnt):
        if model.jnt_actfrclimited[i]:
            efforts[i] = float(np.abs(model.jnt_actfrcrange[i]).max())
    return {i: force for i, force in efforts.items() if math.isfinite(force)}


def _strength(model: Outside, k: int) -> float:
    """The largest force of an actuator on its joint; infinite where it has no end."""
    gear = abs(float(model.actuator_gear[k, 0]))
    if model.actuator_forcelimited[k]:
        return gear * float(np.abs(model.actuator_forcerange[k]).max())
    plain = (
        model.actuator_gaintype[k] == int(mujoco.mjtGain.mjGAIN_FIXED)
        and model.actuator_biastype[k] == int(mujoco.mjtBias.mjBIAS_NONE)
        and model.actuator_dyntype[k] == int(mujoco.mjtDyn.mjDYN_NONE)
    )
    if plain and model.actuator_ctrllimited[k]:
        gain = abs(float(model.actuator_gainprm[k, 0]))
        return gear * gain * float(np.abs(model.actuator_ctrlrange[k]).max())
    return math.inf


def _sites(model: Outside) -> Rows:
    return [
        {
            "name": model.site(i).name,
            "body": int(model.site_bodyid[i]),
            "pos": model.site_pos[i].tolist(),
            "quat": model.site_quat[i].tolist(),
        }
        for i in range(model.nsite)
        if model.site(i).name
    ]


def _equalities(model: Outside) -> Rows:
    return [
        {
            "name": model.eq(i).name,
            "kind": mujoco.mjtEq(int(model.eq_type[i])).name.removeprefix("mjEQ_").lower(),
            "active": bool(model.eq_active0[i]),
            "first": int(model.eq_obj1id[i]),
            "second": int(model.eq_obj2id[i]),
            "data": model.eq_data[i, :5].tolist(),
        }
        for i in range(model.neq)
    ]


def _tendons(model: Outside) -> Rows:
    keys = ("stiffness", "damping", "frictionloss", "armature")
    rows = []
    for i in range(model.ntendon):
        acts = [key for key in keys if np.any(getattr(model, f"tendon_{key}", np.zeros(i + 1))[i])]
        if model.tendon_limited[i]:
            acts.append("limits")
        rows.append({"name": model.tendon(i).name, "acts": acts, "heavy": "armature" in acts})
    return rows


def main(request: bytes) -> dict[str, Outside]:
    """The answer, with no file and not much memory left to take."""
    confine(files=False)
    return compiled(request)


if __name__ == "__main__":
    served(main)
