"""The moving picture of the README: a robot follows a recorded motion, and a fit says which torques that takes.

One SVG without scripts, moved by SMIL, which browsers play in an <img> too. Robot, recordings and fit are those of the
tutorial "A recording, step by step". Where nothing moves, as on paper, the whole curves are there.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import dynarm

FOLDER = Path(__file__).parent / "tutorials" / "recordings"
FRAMES, SECONDS = 60, 6.0
INK, GREY, TEAL, LIGHT, ORANGE = "#37474f", "#90a4ae", "#00796b", "#80cbc4", "#d55e00"
PANELS = ((1, "shoulder lift", 40), (2, "elbow", 134), (4, "wrist 2", 228))  # joint, name, top
LEFT, WIDE, HIGH = 410, 330, 66


def skeleton(arm: dynarm.Arm, q: np.ndarray) -> list[tuple[float, float]]:
    """Where the joints are, from the base to the tool, looked at from the side and a little from above."""
    pose = arm.base_pose.copy()
    points = [np.zeros(3), pose[:3, 3]]
    for joint, x in zip(arm.joints, q, strict=True):
        pose = pose @ joint.displacement(float(x))
        points.append(pose[:3, 3])
    points.append((pose @ arm.tool_pose)[:3, 3])
    turn, tilt = np.radians(35), np.radians(15)
    flat = []
    for x, y, z in points:
        across = np.cos(turn) * x + np.sin(turn) * y
        depth = -np.sin(turn) * x + np.cos(turn) * y
        flat.append((150 + 250 * across, 270 - 250 * (np.cos(tilt) * z + np.sin(tilt) * depth)))
    return flat


def logs() -> tuple[dynarm.Arm, dynarm.Log, dynarm.Log]:
    arm = dynarm.load("ur5e")
    channels = FOLDER / "cell.toml"
    first, second = (dynarm.Log.read(FOLDER / f"cell_{k}.csv", channels) for k in (1, 2))
    return arm, first, second


def moving() -> str:
    """The text of the SVG."""
    arm, first, second = logs()
    fit = dynarm.Identifier(arm).fit(first)
    check = fit.validate(second)
    q, _, _ = fit.states(second)
    stops = np.linspace(0, len(q) - 1, FRAMES).astype(int)
    poses = [" ".join(f"{x:.0f},{y:.0f}" for x, y in skeleton(arm, q[k])) for k in stops]
    time = f'dur="{SECONDS:g}s" repeatCount="indefinite"'
    body = f'fill="none" stroke-linecap="round" stroke-linejoin="round" points="{poses[0]}"'
    moves = f'<animate attributeName="points" values="{";".join(poses)}" {time}/>'
    parts = [
        f'<clipPath id="now"><rect x="{LEFT}" y="0" width="{WIDE}" height="330">'
        f'<animate attributeName="width" from="0" to="{WIDE}" {time}/></rect></clipPath>',
        f'<path d="M40 272H340" stroke="{GREY}" stroke-width="2"/>',
        f'<polyline {body} stroke="{TEAL}" stroke-width="15">{moves}</polyline>',
        f'<polyline {body} stroke="{LIGHT}" stroke-width="7">{moves}</polyline>',
        '<text x="16" y="26" font-weight="bold" font-size="15">dynarm identify ur5e log.csv</text>',
        f'<text x="16" y="46">{len(fit.names_)} numbers from {first.duration:.0f} s of motion;</text>',
        '<text x="16" y="62">here they predict motion that was not fitted</text>',
        f'<circle cx="{LEFT + 6}" cy="18" r="3" fill="{GREY}"/><text x="{LEFT + 14}" y="22">measured</text>',
        f'<path d="M{LEFT + 90} 18h20" stroke="{TEAL}" stroke-width="2.5"/>'
        f'<text x="{LEFT + 116}" y="22">predicted by the fit</text>',
    ]
    for joint, name, top in PANELS:
        parts += panel(second.t, second.tau[:, joint], check.predicted[:, joint], name, top)
        error = f"{100 * check.band[joint]:.0f} %"
        parts.append(
            f'<text x="{LEFT + WIDE}" y="{top - 3}" text-anchor="end">error {error}</text>'
        )
    parts.append(
        f'<path d="M{LEFT} 36V300" stroke="{ORANGE}" stroke-width="1.5" opacity="0.8">'
        f'<animateTransform attributeName="transform" type="translate" from="0 0" to="{WIDE} 0" {time}/></path>'
    )
    parts.append(
        f'<text x="{LEFT + WIDE / 2}" y="316" text-anchor="middle">'
        "torque [N m] over 6 s; errors without the sensors' noise</text>"
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 326" font-family="sans-serif" font-size="12" '
        f'fill="{INK}" role="img">\n<rect width="100%" height="100%" fill="#ffffff"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def panel(
    t: np.ndarray, measured: np.ndarray, predicted: np.ndarray, name: str, top: int
) -> list[str]:
    """One joint's torques: dots of the log, and the fit as far as the cursor has come."""
    low, high = measured.min(), measured.max()

    def at(keep: slice, y: np.ndarray) -> list[str]:
        px = LEFT + WIDE * (t[keep] - t[0]) / (t[-1] - t[0])
        py = top + HIGH * (high - y[keep]) / (high - low)
        return [f"{a:.0f},{b:.1f}" for a, b in zip(px, py, strict=True)]

    dots = "".join(f"M{p}h0" for p in at(slice(None, None, 4), measured))
    line = " ".join(at(slice(None, None, 3), predicted))
    return [
        f'<text x="{LEFT}" y="{top - 3}" font-weight="bold">{name}</text>',
        f'<path d="{dots}" stroke="{GREY}" stroke-width="3" stroke-linecap="round"/>',
        f'<polyline points="{line}" fill="none" stroke="{TEAL}" stroke-width="2.2" clip-path="url(#now)"/>',
        f'<path d="M{LEFT} {top + HIGH + 3}h{WIDE}" stroke="#cfd8dc"/>',
    ]
