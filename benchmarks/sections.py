"""The parts of a benchmark run, each of which prints a table and returns its figures."""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import dynarm
from dynarm.robot.generic import generic_arm

from .contenders import INPUTS, batch_peers, check, ours, single_peers, states
from .measure import contest
from .robots import Robot

SIZES = (1, 64, 4096, 262144)
AGREEMENT = 1e-9  # contenders that differ by more are not compared


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for k, name in enumerate(columns):
        table.add_column(name, justify="left" if k == 0 else "right")
    return table


def batch(robot: Robot, given: argparse.Namespace, out: Console) -> dict[str, Any]:
    """Nanoseconds a sample on batches of 4096, and how many times faster than the peers."""
    from .peak import measure

    model = dynarm.compile(robot.arm)
    n = robot.arm.n
    table = _table(
        f"batch of 4096, {n} joints, one thread",
        "quantity",
        "mul",
        "add",
        "ns",
        "filled",
        "faster than",
    )
    found: dict[str, Any] = {}
    peak = measure(_lanes())
    for quantity in INPUTS:
        s = states(n, 4096)
        difference = check(robot, model, quantity, s)
        assert difference < AGREEMENT, f"{quantity} differs from the peers by {difference:.1e}"
        calls = {"dynarm": ours(model, quantity, s), **batch_peers(robot, quantity, s)}
        timings = contest(calls, given.seconds)
        singles = contest(single_peers(robot, quantity, s), given.seconds / 2)
        mine = timings.pop("dynarm").per(4096)
        theirs = {name: t.per(4096) for name, t in timings.items()} | singles
        count = dynarm.count(robot.arm, quantity)
        instructions = model.kernel(quantity).notes.get("instructions")
        filled = peak.filled(instructions, mine.best * peak.lanes) if instructions else None
        ratios = {name: t.best / mine.best for name, t in theirs.items()}
        found[quantity] = {
            "mul": count.mul,
            "add": count.add,
            "difference": difference,
            "dynarm": mine.as_dict(),
            "peers": {name: t.as_dict() for name, t in theirs.items()},
            "ratios": ratios,
            "filled": filled,
        }
        table.add_row(
            quantity,
            str(count.mul),
            str(count.add),
            f"{mine.best * 1e9:.1f}",
            f"{filled:.0%}" if filled else "",
            ", ".join(f"{name} {ratio:.1f}x" for name, ratio in ratios.items()),
        )
    out.print(table)
    return found


def _lanes() -> int:
    from dynarm.machine.llvm import host

    return host().width


def single(robot: Robot, given: argparse.Namespace, out: Console) -> dict[str, Any]:
    """Nanoseconds for one call on 1-D arrays from Python."""
    model = dynarm.compile(robot.arm)
    s = states(robot.arm.n, 8)
    table = _table(
        "one call on 1-D arrays",
        "quantity",
        "method ns",
        "gufunc ns",
        "faster than (method, gufunc)",
    )
    found: dict[str, Any] = {}
    for quantity, size in INPUTS.items():
        args = tuple(a[0].copy() for a in (s.q, s.qd, s.x)[:size])
        method, ufunc = getattr(model, quantity), model.functions[quantity]
        calls: dict[str, Callable[[], Any]] = {
            "method": lambda f=method, a=args: f(*a),
            "gufunc": lambda f=ufunc, a=args: f(*a),
            **single_peers(robot, quantity, s),
        }
        timings = contest(calls, given.seconds)
        peers = [name for name in timings if name not in ("method", "gufunc")]
        ratios = {
            name: [timings[name].best / timings[way].best for way in ("method", "gufunc")]
            for name in peers
        }
        found[quantity] = {
            "timings": {k: t.as_dict() for k, t in timings.items()},
            "ratios": ratios,
        }
        table.add_row(
            quantity,
            f"{timings['method'].best * 1e9:.0f}",
            f"{timings['gufunc'].best * 1e9:.0f}",
            ", ".join(f"{name} {a:.2f}x {b:.2f}x" for name, (a, b) in ratios.items()),
        )
    out.print(table)
    return found


def sizes(robot: Robot, given: argparse.Namespace, out: Console) -> dict[str, Any]:
    """Inverse dynamics over batch sizes, and two threads beside one."""
    model = dynarm.compile(robot.arm)
    table = _table("inverse dynamics by batch size", "samples", "ns a sample", "2 threads")
    found: dict[str, Any] = {}
    for samples in SIZES:
        s = states(robot.arm.n, samples)
        result = model.inverse_dynamics(s.q, s.qd, s.x)
        calls = {
            str(k): partial(model.inverse_dynamics, s.q, s.qd, s.x, out=result, threads=k)
            for k in (1, 2)
        }
        timings = contest(calls, given.seconds, run=5e-3)
        gain = timings["1"].best / timings["2"].best
        found[str(samples)] = {k: t.per(samples).as_dict() for k, t in timings.items()} | {
            "gain": gain
        }
        table.add_row(str(samples), f"{timings['1'].best / samples * 1e9:.1f}", f"{gain:.2f}x")
    out.print(table)
    return found


def compiling(robot: Robot, given: argparse.Namespace, out: Console) -> dict[str, Any]:
    """Seconds until the first result of each quantity in a fresh process: cold, and from the cache."""
    table = _table("first use in a fresh process, imports apart", "quantity", "cold s", "warm s")
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "robot.toml")
        robot.arm.save(path)
        for quantity, size in INPUTS.items():
            times = [_first_use(folder, path, quantity, size) for _ in range(2)]
            found[quantity] = {"cold": times[0], "warm": times[1]}
            table.add_row(quantity, *(f"{t:.3f}" for t in times))
    out.print(table)
    return found


def _first_use(folder: str, path: str, quantity: str, size: int) -> float:
    """Seconds of the first call in a new process whose cache is in the folder."""
    code = (
        "import sys, time, numpy as np, dynarm, dynarm.model\n"
        "path, quantity, size = sys.argv[1], sys.argv[2], int(sys.argv[3])\n"
        "arm = dynarm.load(path); x = np.zeros((1, arm.n)); np.sin(x)\n"
        "start = time.perf_counter()\n"
        "getattr(dynarm.compile(arm), quantity)(*[x] * size)\n"
        "print(time.perf_counter() - start)\n"
    )
    env = os.environ | {"DYNARM_CACHE_DIR": os.path.join(folder, "cache")}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, path, quantity, str(size)],
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


def length(robot: Robot, given: argparse.Namespace, out: Console) -> dict[str, Any]:
    """Cost and compile time against the number of joints, on the papers' generic arms."""
    table = _table(
        "generic arms, batch of 4096",
        "joints",
        "quantity",
        "mul",
        "add",
        "compile s",
        "ns",
        "ns a joint",
    )
    found: dict[str, Any] = {}
    for n in (3, 7, 15, 30, 60):
        if n > given.largest:
            break
        arm = generic_arm(n)
        model = dynarm.compile(arm)
        rows: dict[str, Any] = {}
        for quantity in ("inverse_dynamics", "bias", "mass_matrix", "forward_dynamics"):
            s = states(n, 1024 if n > 20 else 4096)
            start = time.perf_counter()
            call = ours(model, quantity, s)
            seconds = time.perf_counter() - start
            timing = contest({"dynarm": call}, given.seconds)["dynarm"].per(len(s.q))
            rows[quantity] = {"first_use": seconds, "dynarm": timing.as_dict()}
            table.add_row(
                str(n),
                quantity,
                "",
                "",
                f"{seconds:.2f}",
                f"{timing.best * 1e9:.0f}",
                f"{timing.best / n * 1e9:.1f}",
            )
        found[str(n)] = rows
    arm = generic_arm(20)
    start = time.perf_counter()
    dynarm.compile(arm).inverse_dynamics_derivatives(*np.zeros((3, 1, 20)))
    found["derivatives_20"] = {"first_use": time.perf_counter() - start}
    table.add_row(
        "20",
        "inverse_dynamics_derivatives",
        "",
        "",
        f"{found['derivatives_20']['first_use']:.2f}",
        "",
        "",
    )
    out.print(table)
    return found


def extra(module: str) -> Callable[[Robot, argparse.Namespace, Console], dict[str, Any]]:
    """A section that a bench_*.py file brings: its run() returns figures, which are printed as they are."""

    def section(robot: Robot, given: argparse.Namespace, out: Console) -> dict[str, Any]:
        figures: dict[str, Any] = importlib.import_module(f".{module}", __package__).run()
        table = _table(module.removeprefix("bench_"), "figure", "value")
        for name, value in figures.items():
            table.add_row(name, f"{value:.4g}" if isinstance(value, float) else str(value))
        out.print(table)
        return figures

    return section


SECTIONS: dict[str, Callable[[Robot, argparse.Namespace, Console], dict[str, Any]]] = {
    "batch": batch,
    "single": single,
    "sizes": sizes,
    "compiling": compiling,
    "length": length,
    "c": extra("bench_c"),
    "simulation": extra("bench_simulation"),
    "identify": extra("bench_identify"),
    "mobile": extra("bench_mobile"),
}
NAMES = list(SECTIONS)


def run(name: str, robot: Robot, given: argparse.Namespace, out: Console) -> dict[str, Any]:
    """Run one section."""
    found = SECTIONS[name](robot, given, out)
    out.print()
    return found
