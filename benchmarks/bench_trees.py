"""Whole robots on a free base, beside pinocchio: a quadruped and two humanoids of the wheel example-robot-data.

One thread, batches of 1024, results checked equal first, contenders timed in turns; compiled with an empty cache in
each process, which is timed apart.
"""

from __future__ import annotations

import os
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import dynarm

from .measure import contest

ROBOTS = {"go2": "go2.urdf", "g1": "g1_29dof_rev_1_0.urdf", "talos": "talos_reduced.urdf"}
BATCH = 1024
EACH = 128  # states of peers that are called one by one
AGREEMENT = 1e-9
PEERS = {
    "inverse_dynamics": "pin.rneaInParallel(1)",
    "forward_dynamics": "pin.abaInParallel(1)",
    "mass_matrix_packed": "pin.crba",
    "inverse_dynamics_derivatives": "pin.computeRNEADerivatives",
    "inverse_dynamics_derivatives_packed": "pin.computeRNEADerivatives",
}
# how many times as fast, by lanes of a vector
ASKED = {
    4: {
        "inverse_dynamics": {"go2": 28, "g1": 28, "talos": 30},
        "forward_dynamics": {"go2": 26, "g1": 22, "talos": 20},
        "mass_matrix_packed": {"go2": 24, "g1": 24, "talos": 24},
        "inverse_dynamics_derivatives": {"go2": 24, "g1": 18, "talos": 15},
    },
    8: {
        "inverse_dynamics": {"go2": 45, "g1": 45, "talos": 45},
        "forward_dynamics": {"go2": 40, "g1": 35, "talos": 32},
        "mass_matrix_packed": {"go2": 35, "g1": 35, "talos": 35},
        "inverse_dynamics_derivatives": {"go2": 32, "g1": 26, "talos": 22},
    },
}
COLD = 5.0  # s until the first result of a quantity


@dataclass(frozen=True, slots=True)
class Twin:
    """A robot in dynarm and in pinocchio, with the same states in the order of each."""

    model: dynarm.Model
    peer: Any
    columns: np.ndarray  # of pinocchio's speeds, for each of ours
    states: tuple[np.ndarray, ...]
    theirs: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, path: Path) -> Twin:
        import pinocchio as pin

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            arm = dynarm.load(path, floating=True, allow_massless=True)
        peer = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
        if peer.nv != arm.nv:
            raise RuntimeError(f"pinocchio has {peer.nv} speeds, dynarm {arm.nv}")
        own = [peer.joints[peer.getJointId(name)].idx_v for name in arm.joint_names]
        columns = np.array([*range(6), *own])
        rng = np.random.default_rng(0)
        q = rng.uniform(-1, 1, (BATCH, arm.nq))
        q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1)[:, None]
        v, x = rng.uniform(-1, 1, (2, BATCH, arm.nv))
        theirs = [q.copy(), np.empty_like(v), np.empty_like(x)]
        theirs[0][:, columns[6:] + 1] = q[:, 7:]
        theirs[1][:, columns], theirs[2][:, columns] = v, x
        return cls(dynarm.compile(arm), peer, columns, (q, v, x), tuple(theirs))


def robots_folder() -> Path:
    """Where the wheel puts its URDFs: next to pinocchio."""
    import pinocchio

    for parent in Path(pinocchio.__file__).parents:
        folder = parent / "share" / "example-robot-data" / "robots"
        if folder.is_dir():
            return folder
    raise RuntimeError("the wheel example-robot-data is not installed")


def run(seconds: float = 0.5) -> dict[str, Any]:
    """Figures by robot and quantity; nothing of the user's cache is read or written."""
    before = os.environ.get("DYNARM_CACHE_DIR")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DYNARM_CACHE_DIR"] = folder
        try:
            return {name: _robot(file, seconds) for name, file in ROBOTS.items()}
        finally:
            if before is None:
                del os.environ["DYNARM_CACHE_DIR"]
            else:
                os.environ["DYNARM_CACHE_DIR"] = before


def _robot(file: str, seconds: float) -> dict[str, Any]:
    path = next(p for p in sorted(robots_folder().rglob("*.urdf")) if p.name == file)
    twin = Twin.of(path)
    return {quantity: _quantity(twin, quantity, seconds) for quantity in PEERS}


def _quantity(twin: Twin, quantity: str, seconds: float) -> dict[str, Any]:
    begin = time.perf_counter()
    ufunc = twin.model.functions[quantity].ufunc
    args = twin.states[: ufunc.nin]
    out = ufunc(*args)
    cold = time.perf_counter() - begin
    call, samples = _peer(twin, quantity)
    difference = _difference(twin, quantity, out, call())
    if not difference < AGREEMENT:
        raise RuntimeError(f"{quantity} differs from {PEERS[quantity]} by {difference:.1e}")
    mine = partial(ufunc, *args, out=out)
    timings = contest({"dynarm": mine, "peer": call}, seconds, run=5e-3)
    ours, theirs = timings["dynarm"].per(BATCH), timings["peer"].per(samples)
    count = twin.model.graph(quantity).count()
    return {
        "mul": count.mul,
        "add": count.add,
        "cold": cold,
        "difference": difference,
        "peer": PEERS[quantity],
        "dynarm": ours.as_dict(),
        "theirs": theirs.as_dict(),
        "ratio": theirs.best / ours.best,
    }


def _peer(twin: Twin, quantity: str) -> tuple[Callable[[], Any], int]:
    """Pinocchio's call, and how many states it computes."""
    import pinocchio as pin

    model, data = twin.peer, twin.peer.createData()
    if quantity in ("inverse_dynamics", "forward_dynamics"):
        function = {"i": pin.rneaInParallel, "f": pin.abaInParallel}[quantity[0]]
        pool = pin.ModelPool(model, 1)
        arrays = [np.asfortranarray(x.T) for x in twin.theirs]
        result = np.zeros((model.nv, BATCH), order="F")

        def batch() -> Any:
            function(1, pool, *arrays, result)
            return result

        return batch, BATCH
    some = [x[:EACH] for x in twin.theirs]

    def masses() -> Any:
        for q in some[0]:
            pin.crba(model, data, q)
        return [data.M]

    def derivatives() -> Any:
        for q, v, a in zip(*some, strict=True):
            pin.computeRNEADerivatives(model, data, q, v, a)
        return [data.dtau_dq, data.dtau_dv, data.M]

    return (masses if quantity == "mass_matrix_packed" else derivatives), EACH


def _difference(twin: Twin, quantity: str, out: Any, theirs: Any) -> float:
    """The largest difference, relative to the largest entry; of matrices on the last state that the peer computed."""
    columns = twin.columns
    if quantity in ("inverse_dynamics", "forward_dynamics"):
        return _relative(out, theirs.T[:, columns])
    full = [_symmetric(x) if k == len(theirs) - 1 else x for k, x in enumerate(theirs)]
    placed = [np.asarray(x)[np.ix_(columns, columns)] for x in full]
    if quantity == "mass_matrix_packed":
        return _relative(out[EACH - 1], placed[0][twin.model.mass_matrix_pattern])
    if quantity == "inverse_dynamics_derivatives_packed":
        slopes = twin.model.derivatives_pattern
        at = (slopes, slopes, twin.model.mass_matrix_pattern)
        placed = [x[places] for x, places in zip(placed, at, strict=True)]
    return max(_relative(x[EACH - 1], y) for x, y in zip(out, placed, strict=True))


def _symmetric(upper: Any) -> np.ndarray:
    half = np.triu(upper)
    return half + np.triu(half, 1).T


def _relative(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.abs(x - y).max() / max(1.0, float(np.abs(y).max())))
