"""A robot's sheet: sketch, chain, minimal parameters, costs, and how its inertia changes over the workspace."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from . import figures
from .counts import RULES, Rows, bars, cost_table
from .html import (
    Cell,
    Markup,
    Section,
    facts,
    figure,
    figures_grid,
    label,
    lines,
    note,
    section,
    table,
    write_page,
)
from .sketch import sketch

if TYPE_CHECKING:
    from ..parameters.minimal import MinimalParameters
    from ..robot.arm import Arm, Joint

Function = Callable[[np.ndarray], np.ndarray]
GRID = 41  # points along each side of a heat map
SAMPLES = 400  # random poses that an average is taken over


def page(
    arm: Arm, minimal: MinimalParameters, costs: Mapping[str, Rows], path: str | os.PathLike[str]
) -> None:
    """Write the sheet."""
    title = f"Robot sheet: {arm.name}"
    write_page(path, title, sections(arm, minimal, costs), _subtitle(arm))


def _subtitle(arm: Arm) -> str:
    kinds = "".join("R" if j.revolute else "P" for j in arm.joints)
    return f"{arm.n} joints ({kinds}), {sum(j.mass for j in arm.joints):.4g} kg of moving links"


def sections(arm: Arm, minimal: MinimalParameters, costs: Mapping[str, Rows]) -> list[Section]:
    """All parts of the sheet."""
    return [robot_section(arm), minimal_section(minimal), cost_section(costs), inertia_section(arm)]


# ---- what it is


def robot_section(arm: Arm) -> Section:
    """Sketch, chain and doubts."""
    rows = [_chain_row(j) for j in arm.joints]
    columns = (
        "joint",
        "kind",
        "a [m]",
        "alpha [°]",
        "d [m]",
        "theta [°]",
        "mass [kg]",
        "limits",
        "friction, armature",
    )
    told = list(dict.fromkeys([*arm.check(), *(arm.origin.notes if arm.origin else ())]))
    g = ", ".join(f"{x:g}" for x in arm.gravity)
    return section(
        "The robot",
        sketch(arm),
        table(columns, rows),
        note(
            f"Modified Denavit-Hartenberg: Tx(a) Rx(alpha) Tz(d) Rz(theta). Gravity in the base link: ({g}) m/s²."
        ),
        lines(told) if told else None,
    )


def _chain_row(j: Joint) -> list[object]:
    factor, unit = (180 / math.pi, "°") if j.revolute else (1.0, " m")
    limits = (
        " … ".join(f"{x * factor:.4g}{unit}" for x in j.position_limits)
        if j.position_limits
        else ""
    )
    drive = [f"Ia {j.armature:.3g}"] if j.armature else []
    if j.friction:
        drive += [f"Fv {j.friction.viscous:.3g}", f"Fc {j.friction.coulomb:.3g}"]
    geometry = [j.a, _tidy(math.degrees(j.alpha)), j.d, _tidy(math.degrees(j.theta))]
    return [str(j.name), j.kind, *geometry, j.mass, limits, ", ".join(drive)]


def _tidy(x: float) -> float:
    """Degrees without what rounding left of them."""
    return 0.0 if abs(x) < 1e-9 else x


# ---- minimal parameters


def minimal_section(minimal: MinimalParameters) -> Section:
    """Names, values and long forms."""
    rows = [
        [Cell(name, k), float(value), numeric, symbolic]
        for k, (name, value, numeric, symbolic) in enumerate(
            zip(
                minimal.names,
                minimal.values,
                minimal.long_forms,
                minimal.symbolic_forms,
                strict=True,
            )
        )
    ]
    columns = ("name", "value", "in this robot's numbers", "in Denavit-Hartenberg constants")
    short = minimal.abbreviations
    return section(
        "Minimal parameters",
        facts(
            {
                "minimal": minimal.count,
                "natural": len(minimal.natural),
                "convention": minimal.convention,
            }
        ),
        "The smallest set of inertia parameters that the torques depend on; every other combination has no effect. "
        "Units: kg, kg m and kg m².",
        table(columns, rows, wide=columns[2:], tall=len(rows) > 16),
        table(("short form", "stands for"), list(map(list, short.items())), wide=("stands for",))
        if short
        else None,
        lines(minimal.doubts) if minimal.doubts else None,
    )


# ---- costs


def cost_section(costs: Mapping[str, Rows]) -> Section:
    """Bars and tables of every quantity, the cheapest of each first."""
    parts: list[Markup] = [note(RULES)]
    for quantity, rows in costs.items():
        best = rows[0]
        parts.append(Markup("<h3>{}</h3>").format(quantity))
        told = f"Cheapest: {best['formulation']} with {best['mul']} multiplications and {best['add']} additions"
        if len(rows) > 1:
            other = rows[1]
            told += f"; next {other['formulation']} with {other['mul']} and {other['add']}"
        parts += [note(told + "."), bars(rows, best["formulation"])]
        parts.append(
            Markup("<details><summary>as a table</summary>{}</details>").format(cost_table(rows))
        )
    return section("Cost by formulation", *parts)


# ---- how inertia changes


def inertia_section(arm: Arm) -> Section:
    """Heat maps of the mass matrix over the workspace, and its couplings on average."""
    from ..model.model import compile as compile_arm

    function = compile_arm(arm).mass_matrix
    q = random_poses(arm, SAMPLES)
    M = function(q)
    parts = [
        figure(
            _couplings(arm, M),
            "Mean size of M[i, j] / √(M[i, i] M[j, j]) over random poses: 0 joints move on their own, 1 fully coupled.",
            360,
        )
    ]
    pair = _strongest(arm, function)
    if pair is not None:
        i, j = pair
        parts.insert(0, figure(_over_workspace(arm, function, i, j), _caption(arm, i, j), 400))
    return section(
        "Mass matrix over the workspace",
        "What a motor must accelerate depends on the pose. The diagonal of the mass matrix is the inertia that "
        "each joint feels with the others held.",
        figures_grid(parts),
        table(
            ("joint", "smallest", "mean", "largest", "largest / smallest"),
            [_range_row(str(joint.name), M[:, k, k]) for k, joint in enumerate(arm.joints)],
            f"Diagonal of the mass matrix over {SAMPLES} random poses [kg m² or kg]",
        ),
    )


def random_poses(arm: Arm, count: int, seed: int = 0) -> np.ndarray:
    """(count, n) poses within the limits; without limits a whole turn, or the robot's size."""
    low, high = _ranges(arm)
    return np.random.default_rng(seed).uniform(low, high, (count, arm.n))


def _ranges(arm: Arm) -> tuple[np.ndarray, np.ndarray]:
    ends = []
    for joint in arm.joints:
        reach = math.pi if joint.revolute else arm.size
        low, high = joint.position_limits or (-reach if joint.revolute else 0.0, reach)
        if joint.revolute and high - low > 2 * math.pi:
            low, high = -math.pi, math.pi
        ends.append((low, high))
    table = np.array(ends)
    return table[:, 0], table[:, 1]


def _range_row(name: str, values: np.ndarray) -> list[object]:
    low, high = float(values.min()), float(values.max())
    return [name, low, float(values.mean()), high, high / low if low > 0 else ""]


def _couplings(arm: Arm, M: np.ndarray) -> figures.Figure:
    scale = np.sqrt(np.maximum(np.einsum("...ii->...i", M), 1e-300))
    share = np.abs(M / (scale[:, :, None] * scale[:, None, :])).mean(axis=0)
    names = [label(n) for n in arm.joint_names]
    drawn = figures.heat_maps(names, names, {"coupling": share}, "", "", smooth=False)
    drawn["layout"]["yaxis"] = {"autorange": "reversed", "automargin": True}
    return drawn


def _strongest(arm: Arm, function: Function) -> tuple[int, int] | None:
    """The two joints whose positions change what joint 1 feels most, else what any joint feels."""
    low, high = _ranges(arm)
    q = random_poses(arm, 24, seed=1)
    weights = np.zeros(arm.n)
    for j in range(arm.n):
        moved = np.repeat(q[:, None], 9, axis=1)
        moved[..., j] = np.linspace(low[j], high[j], 9)
        diagonal = np.einsum("...ii->...i", function(moved))
        spread = np.ptp(diagonal, axis=1) / np.maximum(diagonal.mean(axis=(0, 1)), 1e-300)
        weights[j] = spread[:, 0].mean() + 1e-3 * spread.sum(axis=-1).mean()
    order = np.argsort(-weights)
    if arm.n < 2 or weights[order[0]] < 1e-9:
        return None
    i, j = sorted(order[:2].tolist())
    return i, j


def _over_workspace(arm: Arm, function: Function, i: int, j: int) -> figures.Figure:
    low, high = _ranges(arm)
    x, y = (np.linspace(low[k], high[k], GRID) for k in (i, j))
    q = np.zeros((GRID, GRID, arm.n)) + np.clip(0.0, low, high)
    for k, joint in enumerate(arm.joints):
        if not joint.revolute:
            q[..., k] = (low[k] + high[k]) / 2
    q[..., i], q[..., j] = x[None, :], y[:, None]
    M = function(q)
    maps = {
        f"M[{k + 1}, {k + 1}] felt by {arm.joint_names[k]}": M[..., k, k]
        for k in range(arm.n)
        if np.ptp(M[..., k, k]) > 1e-9 * max(float(M[..., k, k].max()), 1e-300)
    }
    scale = np.sqrt(np.maximum(np.einsum("...ii->...i", M), 1e-300))
    unit = M / (scale[..., :, None] * scale[..., None, :])
    if np.isfinite(unit).all():
        maps["log10 of the condition number, scaled"] = np.log10(
            np.linalg.cond(unit).clip(1.0, 1e16)
        )
    axes = [_shown(arm, k, v) for k, v in ((i, x), (j, y))]
    return figures.heat_maps(axes[0][1], axes[1][1], maps, axes[0][0], axes[1][0])


def _shown(arm: Arm, k: int, values: np.ndarray) -> tuple[str, np.ndarray]:
    joint = arm.joints[k]
    return (
        (f"{joint.name} [°]", np.degrees(values))
        if joint.revolute
        else (f"{joint.name} [m]", values)
    )


def _caption(arm: Arm, i: int, j: int) -> str:
    first, second = arm.joint_names[i], arm.joint_names[j]
    return f"Over {first} and {second}, the two joints that change it most; the others held. kg m² or kg."
