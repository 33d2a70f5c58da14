"""The pictures that are drawn from numbers: name -> the text of an SVG. `python docs/pictures.py NAME` writes one.

Every curve is computed by dynarm here, from robots and logs that are stated here, so that a picture cannot say
something else than the code.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

import dynarm

sys.path.append(str(Path(__file__).parent))  # last: docs/ has a benchmarks.py of its own
from plotting import (
    BLUE,
    GREY,
    INK,
    LIGHT,
    ORANGE,
    TEAL,
    Curve,
    Panel,
    arrow,
    box,
    picture,
    plot,
    word,
)


def recording_fit() -> str:
    """Torques of one joint of the tutorial's second recording, by the description and by the fit to the first."""
    folder = Path(__file__).parent / "tutorials" / "recordings"
    arm = dynarm.load("ur5e")
    channels = folder / "cell.toml"
    first, second = (dynarm.Log.read(folder / f"cell_{k}.csv", channels) for k in (1, 2))
    plain = {"friction": ("viscous", "coulomb", "offset"), "shape": "sign", "cutoff": 5.0}
    fit = dynarm.Identifier(arm, **plain).fit(first)
    described = dynarm.compile(arm).inverse_dynamics(*fit.states(second))
    panels = []
    for j, title in ((1, "shoulder lift joint"), (3, "wrist 1 joint")):
        curves = [
            Curve(second.t[::3], second.tau[::3, j], GREY, "measured", dots=True),
            Curve(second.t[::2], described[::2, j], ORANGE, "description", dashed=True),
            Curve(second.t[::2], fit.predict(second)[::2, j], TEAL, "fit"),
        ]
        panels.append(Panel(curves, "time [s]", "torque [N m]", title))
    return plot(panels)


def friction() -> str:
    """Friction over velocity: the parts, and a sharp and a smooth change of direction."""
    v = np.concatenate([np.linspace(-1, -1e-4, 60), np.linspace(1e-4, 1, 60)])

    def force(friction: dynarm.Friction) -> np.ndarray:
        arm = dynarm.Arm([dynarm.Joint(friction=friction, mass=1.0)], gravity=(0, 0, 0))
        model = dynarm.compile(arm, friction=True)
        return model.inverse_dynamics(np.zeros((len(v), 1)), v[:, None], np.zeros((len(v), 1)))[
            :, 0
        ]

    kinds = [
        ("viscous", dynarm.Friction(viscous=1.5), LIGHT),
        ("Coulomb", dynarm.Friction(coulomb=1.0), BLUE),
        ("both", dynarm.Friction(viscous=1.5, coulomb=1.0), TEAL),
    ]
    left = [Curve(v, force(one), colour, name) for name, one, colour in kinds]
    smooth = dynarm.Friction(viscous=1.5, coulomb=1.0, shape="tanh", width=0.1)
    uneven = dynarm.Friction(viscous=1.5, coulomb=1.0, coulomb_negative=1.6, offset=0.2)
    right = [
        Curve(v, force(smooth), TEAL, "tanh, width 0.1"),
        Curve(v, force(uneven), ORANGE, "by direction, with offset"),
    ]
    across, upwards = "velocity [rad/s]", "friction [N m]"
    return plot(
        [Panel(left, across, upwards, y=(-3, 3)), Panel(right, across, upwards, y=(-3.4, 3.4))]
    )


def control() -> str:
    """Largest error of the PUMA's joints under computed torque, with the right model and with 2 kg that it ignores."""
    from dynarm.simulation import ComputedTorque, GravityPD

    arm = dynarm.load("puma560")
    model = dynarm.compile(arm, friction=True)
    loaded = dynarm.compile(arm.with_payload(2.0), friction=True)
    rate = 1.0 + 0.3 * np.arange(6)

    def wanted(t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return (
            0.5 * np.sin(rate * t),
            0.5 * rate * np.cos(rate * t),
            -0.5 * rate**2 * np.sin(rate * t),
        )

    start, speed, _ = wanted(0.0)
    curves = []
    for name, plant, law, colour in (
        ("computed torque", model, ComputedTorque, TEAL),
        ("the same, 2 kg unknown", loaded, ComputedTorque, BLUE),
        ("PD and gravity", model, GravityPD, ORANGE),
    ):
        torque = law(model, wanted, kp=400.0, kd=40.0, rate=1000)
        run = dynarm.simulate(plant, start + 0.05, speed, 1.0, torque, "rk4", dt=1e-3, every=10)
        error = np.abs(run.q - np.array([wanted(t)[0] for t in run.t])).max(axis=1)
        curves.append(Curve(run.t, np.log10(np.maximum(error, 1e-6)), colour, name))
    return plot([Panel(curves, "time [s]", "log10 of the largest error [rad]")])


def energy() -> str:
    """A double pendulum falls: angles, and what kinetic and potential energy add up to."""
    model = dynarm.compile(dynarm.load("two_link"))
    run = dynarm.simulate(
        model, [-0.4, 0.3], [0, 0], 4.0, times=np.linspace(0, 4, 161), progress=False
    )
    angles = [
        Curve(run.t, run.q[:, k], c, n)
        for k, (c, n) in enumerate([(TEAL, "shoulder"), (ORANGE, "elbow")])
    ]
    low = run.potential.min()
    energies = [
        Curve(run.t, run.kinetic, BLUE, "kinetic"),
        Curve(run.t, run.potential - low, ORANGE, "potential"),
        Curve(run.t, run.energy - low, INK, "sum"),
    ]
    return plot(
        [Panel(angles, "time [s]", "angle [rad]"), Panel(energies, "time [s]", "energy [J]")]
    )


def monte_carlo() -> str:
    """Where a falling arm goes when its parameters are known to 5 %: 200 runs of one batch."""
    arm = dynarm.load("two_link")
    model = dynarm.compile(arm, parameters="inputs")
    values = model.minimal.values
    drawn = values * (1 + 0.05 * np.random.default_rng(0).normal(size=(200, len(values))))
    start = np.zeros((200, 2))
    run = dynarm.simulate(
        model, start, start, 1.5, None, "rk4", dt=0.005, values=drawn, every=5, progress=False
    )
    q = np.sort(run.q, axis=0)
    panels = []
    for j, name in enumerate(arm.joint_names):
        curves = [
            Curve(run.t, q[4, :, j], LIGHT, "96 % of the runs", upto=q[-5, :, j]),
            Curve(run.t, q[100, :, j], TEAL, "middle"),
        ]
        panels.append(Panel(curves, "time [s]", "angle [rad]", name))
    return plot(panels)


def live_payload() -> str:
    """The estimate of a payload of 2 kg after each sample, with its deviation."""
    arm = dynarm.load("puma560")
    model = dynarm.compile(arm, friction=True)
    carrying = dynarm.compile(arm.with_payload(2.0, (0, 0, 0.1), 0.01 * np.eye(3)), friction=True)
    t, w = np.arange(0, 2, 0.01), np.arange(1.0, 7.0)
    at = np.outer(t, w)
    q, qd, qdd = np.sin(at), w * np.cos(at), -(w**2) * np.sin(at)
    noise = np.array([2.0, 2, 2, 0.5, 0.5, 0.5])
    tau = carrying.inverse_dynamics(q, qd, qdd)
    tau = tau + noise * np.random.default_rng(0).normal(size=tau.shape)
    stream = dynarm.LivePayload(model, noise=noise).along(q, qd, qdd, tau)
    keep = slice(4, None, 2)
    mass, std, t = stream.mass[keep], stream.mass_std[keep], t[keep]
    curves = [
        Curve(t, mass - 2 * std, LIGHT, "two deviations", upto=mass + 2 * std),
        Curve(t, mass, TEAL, "estimate"),
        Curve([t[0], t[-1]], [2, 2], ORANGE, "carried", dashed=True),
    ]
    return plot([Panel(curves, "time [s]", "mass [kg]", y=(0, 4))])


def payload() -> str:
    """Gravity torques of the PUMA's shoulder over its angle, empty and with 1.5 kg in the gripper."""
    arm = dynarm.load("puma560")
    q = np.zeros((121, 6))
    q[:, 1] = np.linspace(-np.pi, np.pi, 121)
    curves = [
        Curve(q[:, 1], dynarm.compile(one).gravity(q)[:, 1], colour, name)
        for name, one, colour in (
            ("empty", arm, TEAL),
            ("with 1.5 kg", arm.with_payload(1.5), ORANGE),
        )
    ]
    return plot([Panel(curves, "angle of joint 2 [rad]", "torque of joint 2 [N m]")])


def gravity() -> str:
    """Torques that hold the PUMA's shoulder on the floor, on a slope and on the Moon."""
    model = dynarm.compile(dynarm.load("puma560"), gravity="input")
    q = np.zeros((121, 6))
    q[:, 1] = np.linspace(-np.pi, np.pi, 121)
    slope = np.radians(30)
    kinds = [
        ("level floor", (0, 0, -9.81), TEAL),
        ("30 degrees tilted", (9.81 * np.sin(slope), 0, -9.81 * np.cos(slope)), ORANGE),
        ("on the Moon", (0, 0, -1.62), BLUE),
    ]
    curves = [
        Curve(q[:, 1], model.gravity(q, gravity=np.array(g, float))[:, 1], colour, name)
        for name, g, colour in kinds
    ]
    return plot([Panel(curves, "angle of joint 2 [rad]", "torque of joint 2 [N m]")])


def positions() -> str:
    """Commanded positions, and what two arms with the same controller and other drives make of them."""
    arm = dynarm.load("two_link")
    kp, kd = np.array([800.0, 500.0]), np.array([30.0, 30.0])
    t = np.arange(0, 1.5, 0.005)
    command = np.array([0.3, 0.5]) + 0.3 * np.sin(np.outer(t, [5.0, 7.0]))

    def torque(time: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        return kp * ([np.interp(time, t, column) for column in command.T] - q) - kd * qd

    curves = [Curve(t, command[:, 1], INK, "commanded", dashed=True)]
    for name, armature, colour in (
        ("as described", 0.0, LIGHT),
        ("armature 2.5, viscous 15", 2.5, TEAL),
    ):
        drive = {"armature": armature, "friction": dynarm.Friction(viscous=6 * armature)}
        robot = replace(arm, joints=[replace(joint, **drive) for joint in arm.joints])
        run = dynarm.simulate(
            dynarm.compile(robot, friction=True), command[0], [0, 0], t[-1], torque, "rk4", dt=0.005,
            progress=False,
        )  # fmt: skip
        curves.append(Curve(run.t, run.q[:, 1], colour, name))
    return plot([Panel(curves, "time [s]", "position of joint 2 [rad]")])


def grouping() -> str:
    """Which natural parameters of the PUMA stand alone, are grouped or are never felt: a square each."""
    arm = dynarm.load("puma560")
    minimal = dynarm.minimal_parameters(arm)
    names = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
    parts = [word(380, 20, "Parameters of the PUMA 560's links", more='font-weight="bold"')]
    for k, name in enumerate(names):
        parts.append(word(128 + 52 * k, 44, name))
    for i in range(arm.n):
        parts.append(word(92, 72 + 26 * i, f"link {i + 1}", "end"))
        for k in range(10):
            column = minimal.matrix[:, 10 * i + k]
            rows = np.flatnonzero(np.abs(column) > 1e-12)
            alone = (
                len(rows) == 1 and np.count_nonzero(np.abs(minimal.matrix[rows[0]]) > 1e-12) == 1
            )
            colour = "#ffffff" if len(rows) == 0 else TEAL if alone else LIGHT
            parts.append(
                f'<rect x="{104 + 52 * k}" y="{54 + 26 * i}" width="48" height="22" rx="3" '
                f'fill="{colour}" stroke="{GREY}"/>'
            )
    key = [(TEAL, "a parameter of its own"), (LIGHT, "felt within sums"), ("#ffffff", "never felt")]
    for k, (colour, text) in enumerate(key):
        x = 104 + 190 * k
        parts.append(
            f'<rect x="{x}" y="222" width="14" height="14" fill="{colour}" stroke="{GREY}"/>'
        )
        parts.append(word(x + 22, 234, text, "start"))
    parts.append(word(380, 262, f"{minimal.count} of 60 combinations are left"))
    return picture(760, 274, parts)


def pattern() -> str:
    """Where Go2's mass matrix is not zero: legs feel each other through the base only."""
    arm = dynarm.load("go2")
    rows, columns = dynarm.compile(arm).mass_matrix_pattern
    full = np.zeros((arm.nv, arm.nv), bool)
    full[rows, columns] = full[columns, rows] = True
    size, x0, y0 = 15, 250, 40
    parts = [
        word(
            385,
            22,
            "Entries of Go2's mass matrix that are not always zero",
            more='font-weight="bold"',
        )
    ]
    for i in range(arm.nv):
        for j in range(arm.nv):
            colour = (TEAL if max(i, j) >= 6 else LIGHT) if full[i, j] else "#ffffff"
            parts.append(
                f'<rect x="{x0 + size * j}" y="{y0 + size * i}" width="{size}" height="{size}" '
                f'fill="{colour}" stroke="#eceff1"/>'
            )
    names = ["base", "leg 1", "leg 2", "leg 3", "leg 4"]
    spans = [(0, 6), (6, 9), (9, 12), (12, 15), (15, 18)]
    for name, (a, b) in zip(names, spans, strict=True):
        parts.append(word(x0 - 8, y0 + size * (a + b) / 2 + 4, name, "end"))
        parts.append(
            word(x0 + size * (a + b) / 2, y0 + size * arm.nv + 16, name, more='font-size="10"')
        )
    told = f"{len(rows)} entries of the lower triangle in place of {arm.nv * (arm.nv + 1) // 2}"
    parts.append(word(385, y0 + size * arm.nv + 38, told))
    return picture(760, y0 + size * arm.nv + 50, parts)


def tipping() -> str:
    """Tip-over measure of tanner2001's simulation 5 over time; below zero the robot is about to tip."""
    run = dynarm.mobile.cases.run(5).run
    keep = np.linspace(0, len(run.t) - 1, 240).astype(int)
    zero = np.zeros(len(keep))
    t, measure = run.t[keep], run.measure[keep]
    curves = [
        Curve(t, np.minimum(measure, 0), ORANGE, "about to tip", upto=zero),
        Curve(t, measure, TEAL, "smallest angle times force"),
        Curve([t[0], t[-1]], [0, 0], INK),
    ]
    return plot([Panel(curves, "time [s]", "measure [N rad]")])


def schedule() -> str:
    """The mass matrix of the Stanford arm on one to sixteen processors, as turney1980's Table 5 asks."""
    plan = dynarm.schedule(dynarm.load("stanford"), "mass_matrix", "composite_1")
    counts = (1, 2, 3, 4, 6, 8, 12, 16)
    rows = plan.curve(counts)
    curves = [
        Curve([p for p, _, _ in rows], [gain for _, _, gain in rows], TEAL, "speed-up"),
        Curve([1, 16], [plan.speedup] * 2, ORANGE, "limit set by the longest chain", dashed=True),
    ]
    return plot(
        [Panel(curves, "processors", "times as fast as one", y=(0, float(plan.speedup) + 1))]
    )


def frames() -> str:
    """The four modified Denavit-Hartenberg numbers between the frame of joint i-1 and that of joint i."""
    axis = f'stroke="{GREY}" stroke-width="1.4" stroke-dasharray="7 4" fill="none"'
    thick = 'stroke-width="3" fill="none" stroke-linecap="round"'
    parts = [
        f'<path d="M180 250L180 36" {axis}/>',
        f'<path d="M470 270L560 40" {axis}/>',
        word(180, 26, "axis of joint i - 1"),
        word(566, 30, "axis of joint i"),
        arrow(180, 190, 180, 120, BLUE),
        word(168, 128, "z", "end", f'fill="{BLUE}"'),
        arrow(180, 190, 250, 190, ORANGE),
        word(250, 208, "x", "middle", f'fill="{ORANGE}"'),
        f'<path d="M180 190L501 190" stroke="{INK}" {thick}/>',
        word(340, 212, "a: distance along x", more='font-weight="bold"'),
        f'<path d="M501 190L528 121" stroke="{TEAL}" {thick}/>',
        word(528, 178, "d: along the new z", "start", 'font-weight="bold"'),
        arrow(528, 121, 553, 57, BLUE),
        word(568, 74, "z", "start", f'fill="{BLUE}"'),
        arrow(528, 121, 600, 138, ORANGE),
        word(612, 146, "x", "start", f'fill="{ORANGE}"'),
        f'<path d="M501 148A42 42 0 0 1 516 151" stroke="{INK}" stroke-width="2" fill="none"/>',
        f'<path d="M501 190L501 130" {axis}/>',
        word(492, 142, "alpha: turn about x", "end", 'font-weight="bold"'),
        word(640, 112, "theta: turn about the new z", "middle", 'font-weight="bold"'),
        word(
            380,
            286,
            "Tx(a) Rx(alpha) Tz(d) Rz(theta); the joint's position adds to theta, or to d where it slides",
        ),
    ]
    return picture(760, 300, parts)


def chain() -> str:
    """Links and joints of the tutorial's file, and the arm that is made of them."""
    parts = [word(190, 24, "links in the file", more='font-weight="bold"')]
    parts += [word(590, 24, 'the arm with tip="hand"', more='font-weight="bold"')]
    for k, name in enumerate(("world", "upper", "fore", "hand")):
        parts += box(120, 40 + 56 * k, 140, 32, [name], "#eceff1" if k == 0 else "#e0f2f1")
    for k, name in enumerate(("shoulder", "elbow", "wrist")):
        parts.append(arrow(190, 72 + 56 * k, 190, 96 + 56 * k))
        parts.append(word(200, 88 + 56 * k, name, "start", 'font-size="11"'))
    for k, name in enumerate(("finger_l", "camera", "finger_r")):
        parts += box(20 + 120 * k, 268, 100, 32, [name], "#fff3e0")
        parts.append(arrow(190, 240, 70 + 120 * k, 268))
    lines = [["world"], ["shoulder", "moves upper"], ["elbow", "moves fore"]]
    lines.append(["wrist", "moves hand, with camera and fingers"])
    for k, one in enumerate(lines):
        parts += box(460, 40 + 66 * k, 260, 44, one, "#eceff1" if k == 0 else "#e0f2f1")
        if k:
            parts.append(arrow(590, 18 + 66 * k, 590, 40 + 66 * k))
    parts.append(arrow(300, 160, 440, 160, TEAL))
    parts.append(word(370, 150, "dynarm.load", more=f'fill="{TEAL}"'))
    return picture(760, 316, parts)


def composite() -> str:
    """Link 2 with what it carries: the numbers that joint 2 feels."""
    limb = 'stroke-linecap="round" fill="none"'
    parts = [
        f'<path d="M90 230L90 150" stroke="{GREY}" stroke-width="22" {limb}/>',
        f'<path d="M90 150L290 90" stroke="{TEAL}" stroke-width="22" {limb}/>',
        f'<path d="M290 90L450 130" stroke="{LIGHT}" stroke-width="18" {limb}/>',
        f'<path d="M450 130L520 80" stroke="{LIGHT}" stroke-width="14" {limb}/>',
        f'<path d="M76 126C170 10 470 10 560 70C580 120 500 180 440 166C330 140 260 130 110 186Z" fill="none" '
        f'stroke="{ORANGE}" stroke-width="1.8" stroke-dasharray="6 4"/>',
        f'<circle cx="90" cy="150" r="9" fill="#ffffff" stroke="{INK}" stroke-width="2"/>',
        f'<circle cx="290" cy="90" r="8" fill="#ffffff" stroke="{INK}" stroke-width="2"/>',
        f'<circle cx="450" cy="130" r="7" fill="#ffffff" stroke="{INK}" stroke-width="2"/>',
        f'<circle cx="268" cy="104" r="5" fill="{ORANGE}"/>',
        arrow(96, 148, 258, 108, ORANGE),
        word(60, 154, "joint 2", "end"),
        word(290, 66, "joint 3"),
        word(200, 200, "k2: mass times the way to the common centre", "start", f'fill="{ORANGE}"'),
        word(600, 60, "composite body 2", "start", f'fill="{ORANGE}"'),
        word(600, 78, "= link 2 and all that", "start"),
        word(600, 94, "it carries, frozen", "start"),
        word(200, 226, "U2: what is constant of its inertia about joint 2's frame", "start"),
        word(200, 248, "U2_33 about the joint's axis; U2_11-22, U2_12 ... across it", "start"),
        word(52, 268, "link 1", "start"),
    ]
    return picture(760, 284, parts)


def ways() -> str:
    """What a model is made into: one graph of operations, many targets."""
    parts: list[str] = []
    left = [["URDF, xacro, MJCF"], ["Denavit-Hartenberg"], ["built-in robots"], ["fit to a log"]]
    for k, lines in enumerate(left):
        parts += box(16, 24 + 62 * k, 150, 40, lines, "#eceff1")
        parts.append(arrow(170, 44 + 62 * k, 232, 136))
    parts += box(236, 106, 120, 60, ["dynarm.compile", "formulations tried"])
    parts.append(arrow(360, 136, 396, 136))
    parts += box(400, 106, 120, 60, ["one graph", "+ - x sin cos"])
    right = [
        ["machine code", "NumPy arrays of any shape"],
        ["C99", "no allocation, self-test"],
        ["WebAssembly", "browsers and Node"],
        ["CasADi, JAX", "optimal control, gradients"],
    ]
    for k, lines in enumerate(right):
        parts += box(584, 18 + 62 * k, 164, 48, lines)
        parts.append(arrow(524, 136, 580, 42 + 62 * k))
    return picture(760, 280, parts)


def recording() -> str:
    """What a log's file holds, what the channels say, and what dynarm makes of it."""
    parts: list[str] = []
    left = [
        ["any file", "CSV, Parquet, npz, MAT, bag"],
        ["channels", "columns, units, gears, gains"],
    ]
    for k, lines in enumerate(left):
        parts += box(16, 30 + 90 * k, 200, 56, lines, "#eceff1")
        parts.append(arrow(220, 58 + 90 * k, 286, 103))
    parts += box(290, 70, 170, 66, ["dynarm.Log", "s, rad, N m; joints in order"])
    right = [
        ["quality", "gaps, resets, rests, saturation"],
        ["states", "smooth q, qd, qdd, torques"],
    ]
    for k, lines in enumerate(right):
        parts += box(536, 30 + 90 * k, 208, 56, lines)
        parts.append(arrow(464, 103, 532, 58 + 90 * k))
    return picture(760, 208, parts)


DRAWINGS: dict[str, Callable[[], str]] = {
    made.__name__: made
    for made in (
        recording_fit, friction, control, energy, monte_carlo, live_payload, payload, gravity, positions, grouping,
        pattern, tipping, schedule, frames, chain, composite, ways, recording,
    )
}  # fmt: skip
