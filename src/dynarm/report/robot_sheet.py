"""A robot's sheet: sketch, chain, minimal parameters, costs, and how its inertia changes over the workspace."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..robot.frames.placed import coordinates
from ..robot.sheet import link_name, rule, shape
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
from .live import live_section
from .sketch import sketch

if TYPE_CHECKING:
    from ..parameters.minimal import MinimalParameters
    from ..robot.arm import Arm, Joint

Function = Callable[[np.ndarray], np.ndarray]
GRID = 41  # points along each side of a heat map
NARROW = "\u00a0"  # a space at which a line is not broken
DRAWN = 4  # heat maps of a tree
LETTERS = 12  # joints whose kinds are told letter by letter
MANY = 24  # rows of a table beyond which it scrolls
SAMPLES = 400  # random poses that an average is taken over


def page(
    arm: Arm, minimal: MinimalParameters, costs: Mapping[str, Rows], path: str | os.PathLike[str]
) -> None:
    """Write the sheet."""
    title = f"Robot sheet: {arm.name}"
    write_page(path, title, sections(arm, minimal, costs), _subtitle(arm))


def _subtitle(arm: Arm) -> str:
    kinds = "".join("R" if j.revolute else "P" for j in arm.joints)
    if arm.n > LETTERS:
        turning = kinds.count("R")
        kinds = f"{turning} R" + (f", {arm.n - turning} P" if turning < arm.n else "")
    if not arm.serial:
        return f"{arm.n} joints{shape(arm)}, {arm.parameters[:, 0].sum():.4g} kg of moving links"
    return f"{arm.n} joints ({kinds}), {sum(j.mass for j in arm.joints):.4g} kg of moving links"


def sections(arm: Arm, minimal: MinimalParameters, costs: Mapping[str, Rows]) -> list[Section]:
    """All parts of the sheet."""
    moved = live_section(arm)
    parts = [robot_section(arm), *([moved] if moved else [])]
    parts += [minimal_section(minimal), cost_section(costs)]
    return [*parts, inertia_section(arm)] if arm.n else parts


# ---- what it is


def robot_section(arm: Arm) -> Section:
    """Sketch, chain and doubts."""
    columns, rows = _joint_table(arm)
    told = list(dict.fromkeys([*arm.check(), *(arm.origin.notes if arm.origin else ())]))
    g = ", ".join(f"{x:g}" for x in arm.gravity)
    branch = "Rz(gamma) Tz(b) before it where joints branch off; " if arm.branched else ""
    where = "world" if arm.floating else "base link"
    return section(
        "The robot",
        sketch(arm),
        table(columns, rows, tall=len(rows) > MANY),
        note(
            f"Modified Denavit-Hartenberg: {branch}Tx(a) Rx(alpha) Tz(d) Rz(theta). Gravity in the {where}: ({g}) m/s²."
        ),
        lines(told) if told else None,
    )


COLUMNS = (
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


def _joint_table(arm: Arm) -> tuple[tuple[str, ...], list[list[object]]]:
    """Columns and rows of the joints; with what they hang on where they branch, and what they follow where they do."""
    columns: tuple[str, ...] = COLUMNS
    rows = [_chain_row(j) for j in arm.joints]
    if arm.branched:
        columns = (columns[0], "hangs on", columns[1], "gamma, b", *columns[2:])
        for row, j, parent in zip(rows, arm.joints, arm.parents, strict=True):
            turn = f"{_tidy(math.degrees(j.gamma)):.5g}°, {j.b:.5g} m" if j.gamma or j.b else ""
            row[1:2] = [link_name(arm, parent), j.kind, turn.replace(" ", NARROW)]
            row[-2] = str(row[-2]).replace(" ", NARROW)
    if not any(row[-1] for row in rows):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    if not arm.coupling.free:
        columns = (*columns, "follows")
        for row, j in zip(rows, arm.joints, strict=True):
            row.append(rule(arm, j))
    if arm.floating:
        filled = {"joint": "base", "kind": "free", "mass [kg]": arm.floating.mass}
        rows.insert(0, [filled.get(column, "") for column in columns])
    return columns, rows


def _chain_row(j: Joint) -> list[object]:
    factor, unit = (180 / math.pi, "°") if j.revolute else (1.0, " m")
    limits = (
        " … ".join(f"{x * factor:.4g}{unit}" for x in j.position_limits).replace("-", "−")
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
    largest = float(np.abs(minimal.values).max(initial=0.0))
    rows = [
        [Cell(name, k), _told(float(value), largest), numeric, symbolic]
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
        table(
            ("short form", "stands for"),
            list(map(list, short.items())),
            wide=("stands for",),
            tall=len(short) > MANY // 2,
        )
        if short
        else None,
        lines(minimal.doubts) if minimal.doubts else None,
    )


def _told(value: float, largest: float) -> float:
    """Zero for what rounding left of sums of such numbers."""
    return 0.0 if abs(value) < 1e-14 * largest else value


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
        parts.append(note(told + "."))
        if len(rows) > 1:
            parts.append(bars(rows, best["formulation"]))
        parts.append(
            Markup("<details><summary>as a table</summary>{}</details>").format(cost_table(rows))
        )
    return section("Cost by formulation", *parts)


# ---- how inertia changes


def inertia_section(arm: Arm) -> Section:
    """Heat maps of the mass matrix over the workspace, and its couplings on average."""
    function = _of_joints(arm)
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
    held = "the others and the base held" if arm.floating else "the others held"
    return section(
        "Mass matrix over the workspace",
        "What a motor must accelerate depends on the pose. The diagonal of the mass matrix is the inertia that "
        f"each joint feels with {held}.",
        figures_grid(parts),
        table(
            ("joint", "smallest", "mean", "largest", "largest / smallest"),
            [_range_row(name, M[:, k, k]) for k, name in enumerate(arm.joint_names)],
            f"Diagonal of the mass matrix over {SAMPLES} random poses [kg m² or kg]",
            tall=len(arm.joint_names) > MANY,
        ),
    )


def _of_joints(arm: Arm) -> Function:
    """The mass matrix of the independent joints by their positions; of a free base's it does not depend on its own."""
    from ..model.model import compile as compile_arm

    whole, first = compile_arm(arm).mass_matrix, arm.nv - len(arm.joint_names)
    return lambda joints: whole(coordinates(arm, joints))[..., first:, first:]


def _own(arm: Arm) -> list[Joint]:
    """The independent joints."""
    return [arm.joints[i] for i in arm.coupling.masters]


def random_poses(arm: Arm, count: int, seed: int = 0) -> np.ndarray:
    """(count, n) positions of independent joints within limits; without these a whole turn, or the robot's size."""
    low, high = _ranges(arm)
    return np.random.default_rng(seed).uniform(low, high, (count, len(low)))


def _ranges(arm: Arm) -> tuple[np.ndarray, np.ndarray]:
    ends = []
    for joint in _own(arm):
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
    n = len(low)
    weights = np.zeros(n)
    for j in range(n):
        moved = np.repeat(q[:, None], 9, axis=1)
        moved[..., j] = np.linspace(low[j], high[j], 9)
        diagonal = np.einsum("...ii->...i", function(moved))
        spread = np.ptp(diagonal, axis=1) / np.maximum(diagonal.mean(axis=(0, 1)), 1e-300)
        # where it branches no joint is before all others
        first = spread[:, 0].mean() if arm.serial else 0.0
        weights[j] = first + 1e-3 * spread.sum(axis=-1).mean()
    order = np.argsort(-weights)
    if n < 2 or weights[order[0]] < 1e-9:
        return None
    i, j = sorted(order[:2].tolist())
    return i, j


def _over_workspace(arm: Arm, function: Function, i: int, j: int) -> figures.Figure:
    low, high = _ranges(arm)
    x, y = (np.linspace(low[k], high[k], GRID) for k in (i, j))
    q = np.zeros((GRID, GRID, len(low))) + np.clip(0.0, low, high)
    for k, joint in enumerate(_own(arm)):
        if not joint.revolute:
            q[..., k] = (low[k] + high[k]) / 2
    q[..., i], q[..., j] = x[None, :], y[:, None]
    M = function(q)
    maps = {
        f"M[{k + 1}, {k + 1}] felt by {arm.joint_names[k]}": M[..., k, k]
        for k in _changing(arm, M)
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


def _changing(arm: Arm, M: np.ndarray) -> list[int]:
    """The joints whose inertia is drawn: all of a chain, those of a tree where it changes most."""
    n = M.shape[-1]
    if arm.serial:
        return list(range(n))
    diagonal = np.einsum("...ii->...i", M).reshape(-1, n)
    change = np.ptp(diagonal, axis=0) / np.maximum(diagonal.max(axis=0), 1e-300)
    return sorted(np.argsort(-change)[:DRAWN].tolist())


def _shown(arm: Arm, k: int, values: np.ndarray) -> tuple[str, np.ndarray]:
    joint = _own(arm)[k]
    return (
        (f"{joint.name} [°]", np.degrees(values))
        if joint.revolute
        else (f"{joint.name} [m]", values)
    )


def _caption(arm: Arm, i: int, j: int) -> str:
    first, second = arm.joint_names[i], arm.joint_names[j]
    return f"Over {first} and {second}, the two joints that change it most; the others held. kg m² or kg."
