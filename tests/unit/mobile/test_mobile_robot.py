"""The words of MobileManipulator: shapes, batches, options, messages; differential drive; friction; C export."""

from __future__ import annotations

import pickle
import shutil
import subprocess

import numpy as np
import pytest

import dynarm
from dynarm import mobile
from dynarm.errors import FormatError, InputError, KindError, UnknownName
from dynarm.mobile import MobileManipulator, Wheel
from dynarm.mobile.export import export_c
from dynarm.mobile.kernels import NAMES, graph_of, ports
from oracles.mobile_machines import MACHINES, four_steered, states, unicycle
from oracles.mobile_multipliers import MultiplierModel

TANNER = mobile.load("tanner2001")
ZERO = np.zeros(6), np.zeros(4), np.zeros(8)


def test_catalogue():
    assert {"tanner2001", "diffdrive_puma560"} <= set(mobile.catalogue())
    for name in mobile.catalogue():
        assert mobile.load(name).name == name


@pytest.mark.parametrize("name", ["tanner2001", "four_steered"])
def test_kernels_equal_their_graphs(name):
    robot = MACHINES[name]()
    q, z, tau, load = states(robot, 3, 8)
    for function in NAMES:
        inputs, _ = ports(robot.formulas, function)
        rng = np.random.default_rng(1)
        known = {"q": q, "z": z, "tau": tau, "load": load}
        given = [
            known[p.name] if p.name in known else rng.uniform(-1, 1, (3, *p.shape)) for p in inputs
        ]
        made = robot.functions[function](*given)
        for a, b in zip(made, graph_of(robot.formulas, function).evaluate(*given), strict=True):
            assert np.abs(a - b).max() <= 1e-11 * (1 + np.abs(b).max()), function


@pytest.mark.parametrize("name", ["tanner2001", "four_steered", "car", "crab", "unicycle"])
def test_equation_8_through_equation_7(name):
    """S'MS and S'(MS'z + F) of the paper's (7) are the equations in the independent speeds."""
    robot = MACHINES[name]()
    q, z, _, _ = states(robot, 20, 9)
    for a, b in zip(robot.functions["reduced"](q, z), robot.equations(q, z), strict=True):
        assert np.abs(a - b).max() < 1e-11 * (1 + np.abs(b).max())


@pytest.mark.parametrize("name", MACHINES)
def test_equations_and_acceleration_belong_together(name):
    robot = MACHINES[name]()
    q, z, tau, load = states(robot, 10, 10)
    M, F, B = robot.equations(q, z)
    zd = robot.acceleration(q, z, tau)
    balance = np.einsum("nij,nj->ni", M, zd) + F - np.einsum("nij,nj->ni", B, tau)
    assert np.abs(balance).max() < 1e-10 * (1 + np.abs(F).max())
    assert np.array_equal(M, np.swapaxes(M, -1, -2)) and np.linalg.eigvalsh(M).min() > 0
    kinetic = np.einsum("ni,nij,nj->n", z, M, z) / 2
    assert np.allclose(robot.kinetic_energy(q, z), kinetic, rtol=1e-12)
    M2, F2, B2, forces = robot.control(q, z, tau, load)
    assert np.allclose(M2, M, rtol=1e-12, atol=1e-12) and np.array_equal(B2, B)
    assert np.allclose(forces, robot.wheel_forces(q, z, tau, load), rtol=0, atol=0)
    assert not np.allclose(F2, F)  # the load stands inside


@pytest.mark.parametrize("name", ["tanner2001", "car", "unicycle", "diffdrive_puma560"])
def test_energies_of_the_multiplier_model(name):
    robot = MACHINES[name]()
    oracle = MultiplierModel(robot)
    q, z, _, _ = states(robot, 3, 11)
    zero = q.copy()
    zero[:, -robot.arm.n :] = 0.0
    for k in range(3):
        kinetic, potential = oracle.energies(q[k], z[k], robot.guidance.speeds)
        _, level = oracle.energies(zero[k], z[k], robot.guidance.speeds)
        assert robot.kinetic_energy(q[k], z[k]) == pytest.approx(kinetic, rel=1e-11)
        assert robot.potential_energy(q[k]) == pytest.approx(potential - level, abs=1e-9)


def test_pose_and_heading_do_not_matter():
    q, z, tau, load = states(TANNER, 5, 12)
    moved = q.copy()
    moved[:, :3] += [3.0, -2.0, 1.1]
    for a, b in zip(
        TANNER.evaluate(q, z, tau, load, False),
        TANNER.evaluate(moved, z, tau, load, False),
        strict=True,
    ):
        assert np.array_equal(a, b)


def test_batches_broadcast():
    q, z, tau, load = states(TANNER, 6, 13)
    forces = TANNER.wheel_forces(q.reshape(2, 3, 6), z[0], tau[0])
    assert forces.shape == (2, 3, 3, 3)
    assert np.array_equal(forces[1, 2], TANNER.wheel_forces(q[5], z[0], tau[0]))
    tip = TANNER.tipover(q.reshape(2, 3, 6), z[0], tau[0])
    assert tip.angles.shape == (2, 3, 3) and tip.measure.shape == (2, 3)
    assert TANNER.interaction_wrench(q, z, tau, load).shape == (6, 6)


def test_locked_steering():
    """The steering speed stays; the other rows of (8) are solved without it. A heavy column comes to the same."""
    q, z, tau, load = states(TANNER, 5, 14)
    z[:, 1] = 0.0
    zd = TANNER.acceleration(q, z, tau, load, locked=True)
    assert (zd[:, 1] == 0).all()
    M, _, B = TANNER.equations(q, z)
    F = TANNER.control(q, z, tau, load)[1]
    free = [0, 2, 3]
    for k in range(5):
        rest = (B[k] @ tau[k] - F[k])[free]
        assert np.allclose(zd[k, free], np.linalg.solve(M[k][np.ix_(free, free)], rest), rtol=1e-10)
    # with the column's inertia set apart from the wheel's, dynamics about z are those of a fixed wheel
    fixed = Wheel(0.3, 0.0, 0.15, 2.0, name="w0", angle=0.25)
    rear = [Wheel(0.0, y, 0.15, 2.0, "caster") for y in (0.3, -0.3)]
    steered = Wheel(0.3, 0.0, 0.15, 2.0, "steered", name="w0", angle=0.0)
    one = MobileManipulator(TANNER.platform, (fixed, *rear), TANNER.base, TANNER.arm)
    other = MobileManipulator(TANNER.platform, (steered, *rear), TANNER.base, TANNER.arm)
    same = np.array([0.1, 0.2, 0.3, 0.25, 0.4, 0.5])
    speeds = np.array([0.5, 0.2, 0.0, 0.3, 0.4])
    held = other.wheel_forces(same, speeds, np.zeros(8), locked=True)
    bolted = one.wheel_forces(np.delete(same, 3), np.delete(speeds, 2), np.zeros(8))
    assert np.allclose(held, bolted, rtol=1e-10, atol=1e-10)


def test_locked_steering_must_stand():
    with pytest.raises(InputError, match=r"locked but phid is 0\.5"):
        TANNER.acceleration(ZERO[0], [0, 0.5, 0, 0], ZERO[2], locked=True)


# ---- differential drive


@pytest.mark.parametrize("name", ["unicycle", "diffdrive_puma560"])
def test_differential_drive_turns_and_drives(name):
    robot = MACHINES[name]()
    left, right = robot.wheels[:2]
    q, z, tau = (
        np.zeros(len(n)) for n in (robot.coordinate_names, robot.speed_names, robot.input_names)
    )
    B = robot.equations(q, z)[2]
    assert np.allclose(B[0, :2], 1 / left.radius)
    assert np.allclose(B[1, :2], [-left.y / left.radius, -right.y / right.radius])
    tau[:2] = 1.0
    assert robot.acceleration(q, z, tau)[0] > robot.acceleration(q, z, 0 * tau)[0]


def test_paper_speeds_do_not_serve_on_the_axle():
    robot = mobile.load("diffdrive_puma560")
    q, u = np.zeros(9), np.zeros(8)
    with pytest.raises(InputError, match="Z_o of wheel 'left' vanishes"):
        robot.kane_equations(q, u)
    off = unicycle()
    M, _, _ = off.kane_equations(np.zeros(6), np.zeros(5))
    assert np.isfinite(M).all() and off.kane_speed_names == ("u1", "u2", "u5", "u6", "u7")


def test_mounted_arm_on_a_standing_platform_is_the_arm():
    """A platform too heavy to move leaves the arm's own dynamics."""
    robot = mobile.load("diffdrive_puma560")
    heavy = MobileManipulator(
        mobile.Platform(1e12, np.eye(3) * 1e12, 0.3), robot.wheels, robot.base, robot.arm
    )
    model = dynarm.compile(robot.arm)
    rng = np.random.default_rng(15)
    arm_q, qd, tau = (rng.uniform(-1, 1, 6) for _ in range(3))
    q, z = np.concatenate([np.zeros(3), arm_q]), np.concatenate([np.zeros(2), qd])
    zd = heavy.acceleration(q, z, np.concatenate([np.zeros(8), tau]))
    expected = model.forward_dynamics(arm_q, qd, tau)
    assert np.allclose(zd[2:], expected, rtol=1e-7)
    wrench = heavy.interaction_wrench(q, z, np.concatenate([np.zeros(8), tau]))
    assert np.isfinite(wrench).all()


# ---- friction


def with_friction(robot: MobileManipulator, on: bool) -> MobileManipulator:
    slow = dynarm.Friction(viscous=0.3, coulomb=0.2, shape="tanh", width=0.1)
    wheels = tuple(
        Wheel(
            w.x,
            w.y,
            w.radius,
            w.mass,
            w.kind,
            w.angle,
            w.ratio,
            w.spin,
            w.turn,
            rolling=slow,
            swivel=slow,
        )
        if w.guides
        else w
        for w in robot.wheels
    )
    return MobileManipulator(robot.platform, wheels, robot.base, robot.arm, friction=on)


@pytest.mark.parametrize("make", [lambda: TANNER, unicycle])
def test_friction_is_a_torque_against_the_inputs(make):
    """Friction of axles and columns changes nothing but the inputs: tau less its torque gives the same motion."""
    bare, dry = make(), with_friction(make(), True)
    assert np.allclose(
        with_friction(make(), False).equations(*(x[0] for x in states(bare, 1)[:2]))[1],
        bare.equations(*(x[0] for x in states(bare, 1)[:2]))[1],
    )
    q, z, tau, load = states(bare, 4, 16)
    f = bare.formulas
    for k in range(4):
        lower = tau[k].copy()
        _, at, _ = f.state(q[k].tolist(), z[k].tolist())
        machine = f.machine(float(q[k, 3]) if f.guidance.steered else 0)
        for place, j in enumerate(f.rolling):
            spin = float(at.rolling[place].speed) / bare.wheels[j].radius
            lower[j] -= 0.3 * spin + 0.2 * np.tanh(spin / 0.1)
            turn = float(machine.wheels[place].d) * float(at.carriage.u4)
            lower[len(bare.wheels) + j] -= 0.3 * turn + 0.2 * np.tanh(turn / 0.1)
        assert np.allclose(
            dry.acceleration(q[k], z[k], tau[k], load[k]),
            bare.acceleration(q[k], z[k], lower, load[k]),
        )
        assert np.allclose(
            dry.wheel_forces(q[k], z[k], tau[k], load[k]),
            bare.wheel_forces(q[k], z[k], lower, load[k]),
        )


def test_armature_and_joint_friction_on_request():
    robot = mobile.load("diffdrive_puma560")
    rough = mobile.load("diffdrive_puma560", friction=True)
    q, z, _, _ = states(robot, 1, 17)
    M, F, _ = robot.equations(q[0], z[0])
    M2, F2, _ = rough.equations(q[0], z[0])
    armature = [j.armature for j in robot.arm.joints]
    assert np.allclose(np.diag(M2 - M)[2:], armature, atol=1e-12)
    assert np.abs(F2 - F).max() > 0
    assert rough.kinetic_energy(q[0], z[0]) == pytest.approx(z[0] @ M2 @ z[0] / 2)


def test_rolling_friction_damps_the_steering():
    """Section 5.1: without friction an impulse of steering goes on for ever; with it, it dies down."""
    free, damped = with_friction(TANNER, False), with_friction(TANNER, True)
    start = np.zeros(6), np.array([0.0, 0.5, 0.0, 0.0])
    assert free.simulate(*start, 1.0).z[-1, 1] == pytest.approx(0.5)
    assert abs(damped.simulate(*start, 1.0).z[-1, 1]) < 1e-3


# ---- words of refusal


@pytest.mark.parametrize(
    "call, kind, words",
    [
        (
            lambda: TANNER.equations(np.zeros(5), np.zeros(4)),
            InputError,
            "q has 5 entries.*6 coordinates.*x, y, theta",
        ),
        (lambda: TANNER.equations(np.zeros(6), 0.0), InputError, "z has a single number"),
        (
            lambda: TANNER.acceleration(*ZERO[:2], np.zeros(3)),
            InputError,
            "tau has 3 entries.*8 inputs.*drive w0",
        ),
        (lambda: TANNER.wheel_forces(*ZERO, load=np.zeros(3)), InputError, "load has 3 entries"),
        (lambda: TANNER.equations(np.zeros((2, 6)), np.zeros((3, 4))), InputError, "batch axes"),
        (lambda: TANNER.equations(["a"] * 6, np.zeros(4)), KindError, "real numbers"),
        (
            lambda: TANNER.kane_equations(np.zeros(6), np.zeros(4)),
            InputError,
            "u has 4 entries.*u1, u2, u4",
        ),
        (lambda: TANNER.functions["torque"], UnknownName, "function 'torque'"),
        (lambda: TANNER.count("torque"), UnknownName, "function 'torque'"),
        (lambda: TANNER.save("x.urdf"), FormatError, "end the name in .toml"),
    ],
)
def test_refusals(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


@pytest.mark.parametrize("phi", [np.pi / 2, -np.pi / 2, 3 * np.pi / 2, np.nan])
def test_singular_steering_is_refused(phi):
    q = np.array([0, 0, 0, phi, 0, 0.0])
    for call in (
        lambda: TANNER.equations(q, ZERO[1]),
        lambda: TANNER.wheel_forces(q, *ZERO[1:]),
        lambda: TANNER.acceleration(q, *ZERO[1:]),
        lambda: TANNER.kane_equations(q, np.zeros(5)),
        lambda: TANNER.equations(np.stack([ZERO[0], q]), ZERO[1]),
    ):
        with pytest.raises(InputError, match=r"phi|Z_o"):
            call()


def test_singular_steering_of_a_dolly():
    robot = MACHINES["steered_dolly"]()
    q = np.zeros(5)
    q[3] = np.pi / 2
    with pytest.raises(InputError, match="singular"):
        robot.equations(q, np.zeros(4))


def test_robots_pickle():
    for robot in (TANNER, four_steered()):
        twin = pickle.loads(pickle.dumps(robot))
        q, z, tau, load = states(robot, 2, 18)
        assert twin == robot
        assert np.array_equal(
            twin.wheel_forces(q, z, tau, load), robot.wheel_forces(q, z, tau, load)
        )


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("make", [lambda: TANNER, four_steered])
def test_exported_c_compiles_and_agrees(make, tmp_path):
    robot = make()
    header, source = export_c(robot, tmp_path / "c", ("control",))
    inputs, outputs = ports(robot.formulas, "control")
    q, z, tau, load = (x[0] for x in states(robot, 1, 19))
    values = "\n".join(
        f"double {p.name}[] = {{{', '.join(map(repr, x.tolist()))}}};"
        for p, x in zip(inputs, (q, z, tau, load), strict=True)
    )
    made = "\n".join(f"double {p.name}_[{p.size}];" for p in outputs)
    names = ", ".join([p.name for p in inputs] + [f"{p.name}_" for p in outputs])
    shown = "\n".join(
        f'for (int i = 0; i < {p.size}; i++) printf("%.17g\\n", {p.name}_[i]);' for p in outputs
    )
    main = tmp_path / "main.c"
    main.write_text(
        f'#include <stdio.h>\n#include "c/{header.name}"\n{values}\n{made}\n'
        f"int main(void) {{ {header.stem}_control({names}); {shown} return 0; }}\n"
    )
    program = tmp_path / "main"
    subprocess.run(
        ["cc", "-std=c99", "-O0", str(main), str(source), "-o", str(program), "-lm"], check=True
    )
    printed = np.array(
        subprocess.run([program], capture_output=True, check=True).stdout.split(), float
    )
    expected = np.concatenate([np.ravel(x) for x in robot.functions["control"](q, z, tau, load)])
    assert np.abs(printed - expected).max() < 1e-9 * (1 + np.abs(expected).max())


def test_one_exporter_for_arms_and_wheels(tmp_path):
    """dynarm.export_c writes a mobile manipulator as the module's own function does, and a file that builds it."""
    header, source = export_c(TANNER, tmp_path / "own")
    made = dynarm.export_c(TANNER, tmp_path / "model")
    assert made.functions == tuple(
        f"{header.stem}_{f}"
        for f in ("equations", "control", "derivative", "inverse_dynamics", "ground")
    )
    for path in (header, source):
        assert path.read_text() == (tmp_path / "model" / path.name).read_text()
    assert (tmp_path / "model" / "CMakeLists.txt").exists()
    assert not (tmp_path / "own" / "CMakeLists.txt").exists()
    some = dynarm.export_c(TANNER, tmp_path / "some", quantities=["energy"], name="cart")
    assert some.functions == ("cart_energy",) and (tmp_path / "some" / "cart.c").exists()
    with pytest.raises(UnknownName, match="function 'bias'"):
        dynarm.export_c(TANNER, tmp_path / "none", quantities=["bias"])
    with pytest.raises(KindError, match="model is"):
        dynarm.export_c(mobile.MobileManipulator, tmp_path / "none")
    assert not (tmp_path / "none").exists()
