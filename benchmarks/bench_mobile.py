"""Mobile manipulators: M, F, B and all wheel forces; the ground under planned motions; from C and from Python."""

from __future__ import annotations

import ctypes
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import dynarm
from dynarm import mobile
from dynarm.mobile import Base, MobileManipulator, Platform, Steering, Wheel
from dynarm.mobile.export import export_c

LIMITS = {"c": 5.0, "python": 20.0}  # microseconds asked for


def car() -> MobileManipulator:
    """A PUMA 560 on four wheels: two fixed, two steered so that the axles meet."""
    front = tuple(Wheel(0.5, y, 0.15, 3.0, "ackermann") for y in (0.3, -0.3))
    rear = tuple(Wheel(-0.3, y, 0.15, 3.0) for y in (0.3, -0.3))
    mount = np.eye(4)
    mount[:3, 3] = 0.1, 0.0, 0.7
    base = Base(13.0, (0.1, 0.0, 0.4), (0.6, 0.6, 0.2), mount)
    platform = Platform(150.0, (7.6, 11.1, 12.5), 0.3, Steering(0.5, 0.0, -0.3))
    return MobileManipulator(
        platform, front + rear, base, dynarm.load("puma560"), name="car_puma560"
    )


def tiago() -> MobileManipulator:
    """TIAGo's platform, lift and arm, from the URDF of example-robot-data."""
    import pinocchio

    for parent in Path(pinocchio.__file__).parents:
        files = sorted(parent.glob("share/example-robot-data/robots/*/robots/tiago_no_hand.urdf"))
        if files:
            return mobile.load(files[0], tip="arm_7_link")
    raise FileNotFoundError("tiago_no_hand.urdf; pip install 'dynarm[test]'")


MACHINES = {
    "car_puma560": car,
    "diffdrive_puma560": lambda: mobile.load("diffdrive_puma560"),
    "tiago": tiago,
}


def run(repeats: int = 30) -> dict[str, Any]:
    """Figures in microseconds: best, quartiles, first call; operation counts beside them."""
    return {name: _machine(make(), repeats) for name, make in MACHINES.items()}


def _state(robot: MobileManipulator) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    sizes = (len(robot.coordinate_names), len(robot.speed_names), len(robot.input_names), 6)
    return [rng.uniform(-0.5, 0.5, n) for n in sizes]


def _machine(robot: MobileManipulator, repeats: int) -> dict[str, Any]:
    args = _state(robot)
    begin = time.perf_counter()
    robot.control(*args)
    first = time.perf_counter() - begin
    figures: dict[str, Any] = {
        "first call [s]": first,
        "python": _timed(lambda: robot.control(*args), 2000, repeats),
        "python, equations only": _timed(lambda: robot.equations(args[0], args[1]), 2000, repeats),
        "bare gufunc": _timed(lambda: robot.functions["control"](*args), 2000, repeats),
        "asked for": LIMITS,
    }
    many = [np.broadcast_to(a, (4096, len(a))).copy() for a in args]
    batch = _timed(lambda: robot.functions["control"](*many), 3, repeats)
    figures["batch of 4096, each"] = {key: value / 4096 for key, value in batch.items()}
    compiled = _from_c(robot, args, repeats)
    if compiled is not None:
        figures["c"] = compiled
    figures |= _ground(robot, args, repeats)
    for name in ("equations", "control", "ground"):
        count = robot.count(name)
        figures[f"operations of {name}"] = {
            "mul": count.mul,
            "add": count.add,
            "div": count.div,
            "sqrt": count.sqrt,
        }
    return figures


def _ground(
    robot: MobileManipulator, args: list[np.ndarray], repeats: int
) -> dict[str, dict[str, float]]:
    """Forces, contact, margins and friction of planned motions: one state, batches on one core, from C."""
    q, z, load = args[0], args[1], args[3]
    zd = np.random.default_rng(1).uniform(-0.5, 0.5, len(z))
    given = [q, z, zd, np.array([0.0, 0.0, -robot.gravity]), load]
    figures = {"ground, python": _timed(lambda: robot.ground(q, z, zd), 2000, repeats)}
    many = [np.broadcast_to(a, (4096, len(a))).copy() for a in given]
    batch = _timed(lambda: robot.functions["ground"](*many), 3, repeats)
    figures["ground, batch of 4096, each"] = {key: value / 4096 for key, value in batch.items()}
    compiled = _from_c(robot, given, repeats, "ground")
    if compiled is not None:
        figures["ground, c"] = compiled
    return figures


def _timed(call: Any, inner: int, repeats: int) -> dict[str, float]:
    call()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        for _ in range(inner):
            call()
        times.append((time.perf_counter() - begin) / inner * 1e6)
    return _quartiles(times)


def _quartiles(times: list[float]) -> dict[str, float]:
    low, middle, high = statistics.quantiles(times, n=4)
    return {"best": min(times), "q1": low, "median": middle, "q3": high}


LOOP = """#include <time.h>
#include "{name}.h"
double seconds(long n, {given})
{{
    double {made};
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (long i = 0; i < n; i++) {{
        {name}_{function}({call});
        __asm__ volatile("" : : "r"(forces) : "memory");
    }}
    clock_gettime(CLOCK_MONOTONIC, &b);
    return (b.tv_sec - a.tv_sec) + 1e-9 * (b.tv_nsec - a.tv_nsec);
}}
"""


def _from_c(
    robot: MobileManipulator, args: list[np.ndarray], repeats: int, function: str = "control"
) -> dict[str, float] | None:
    """The exported C, compiled and timed in C; None where there is no compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    from dynarm.mobile.kernels import ports

    inputs, outputs = ports(robot.formulas, function)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        header, source = export_c(robot, folder, (function,))
        text = LOOP.format(
            name=header.stem,
            function=function,
            given=", ".join(f"const double *{p.name}" for p in inputs),
            made=", ".join(f"{p.name}[{p.size}]" for p in outputs),
            call=", ".join(p.name for p in (*inputs, *outputs)),
        )
        (folder / "loop.c").write_text(text)
        library = folder / "loop.so"
        files = [str(source), str(folder / "loop.c"), "-o", str(library), "-lm"]
        subprocess.run(
            [compiler, "-std=gnu99", "-O2", "-march=native", "-shared", "-fPIC", *files], check=True
        )
        seconds = ctypes.CDLL(str(library)).seconds
        seconds.restype = ctypes.c_double
        pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in args]
        times = [seconds(ctypes.c_long(2000), *pointers) / 2000 * 1e6 for _ in range(repeats)]
    return _quartiles(times)


if __name__ == "__main__":
    for machine, figures in run().items():
        print(machine)
        for key, value in figures.items():
            print(f"  {key}: {value}")
