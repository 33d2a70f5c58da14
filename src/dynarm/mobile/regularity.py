"""Whether a machine has accelerations to compute."""

from __future__ import annotations

import numpy as np

from ..errors import ModelError
from ..plan.regularity import idle_speed, regular
from .formulas import Formulas
from .kernels import scalar_function


def check_regular(f: Formulas, locked: bool, name: str) -> None:
    """Refuse a machine whose mass matrix is singular everywhere: it has no accelerations to compute."""
    q, z = np.random.default_rng(0).uniform(-0.7, 0.7, f.coordinates), np.zeros(f.n)
    free = f.free(locked)
    M = np.array(scalar_function(f, "equations")(q.tolist(), z.tolist())[0], dtype=float)
    M = M[None, free, :][..., free]
    idle = idle_speed(M)
    if idle is not None:
        speed = (*f.guidance.speeds, *f.arm.joint_names)[free[idle]]
        remedy = "give it mass"
        if speed == "phid":
            remedy = "give a steered wheel mass or `turn`, or lock the steering"
        raise ModelError(
            f"'{speed}' of robot '{name}' moves no inertia, so its acceleration is undefined; {remedy}"
        )
    if not regular(M):
        raise ModelError(
            f"the mass matrix of robot '{name}' is singular; give its links more inertia"
        )


def check_driven(f: Formulas, name: str) -> None:
    """Refuse to plan for a machine whose driven wheels cannot move it as its speeds say."""
    q, z = np.random.default_rng(0).uniform(-0.5, 0.5, f.coordinates), np.zeros(f.n)
    B = np.array(scalar_function(f, "equations")(q.tolist(), z.tolist())[2], dtype=float)
    driven = [s for j, s in zip(f.rolling, f.slots, strict=True) if f.wheels[j].driven]
    p = f.guidance.moving
    if np.linalg.matrix_rank(B[:p, driven], tol=1e-9) < p:
        speeds = " and ".join(f.guidance.speeds[:p])
        raise ModelError(
            f"the driven wheels of robot '{name}' cannot produce {speeds}, so a planned motion has no inputs; "
            "let more wheels be driven"
        )
