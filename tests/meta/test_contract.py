"""The names that outside programs call: signatures, shapes, meanings. Extend freely; never rename or reorder."""

from __future__ import annotations

import inspect
import pickle
from dataclasses import replace

import numpy as np
import pytest

import dynarm
from strategies import random_arm, random_states, random_urdf

TOLERANCE = 1e-12


def leading(function) -> list[str]:
    """Names of the parameters, in order."""
    return [p for p in inspect.signature(function).parameters if p != "self"]


def defaults(function) -> dict[str, object]:
    found = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in found if p.default is not p.empty}


def same(a, b, tolerance=TOLERANCE) -> bool:
    return np.shape(a) == np.shape(b) and np.abs(a - b).max() <= tolerance * max(
        1.0, np.abs(b).max()
    )


@pytest.fixture(scope="module")
def arm():
    made = random_arm(np.random.default_rng(3), 3, "RPR", gravity="generic", base=True)
    drives = [
        dynarm.Friction(viscous=0.3, coulomb=0.2, offset=0.1),
        dynarm.Friction(0.1, shape="tanh", width=0.02),
        None,
    ]
    joints = (
        replace(j, armature=0.1 * i, friction=f)
        for i, (j, f) in enumerate(zip(made.joints, drives, strict=True))
    )
    return replace(made, joints=tuple(joints), name="small")


@pytest.fixture(scope="module")
def model(arm):
    return dynarm.compile(arm)


@pytest.fixture(scope="module")
def state():
    return random_states(np.random.default_rng(4), 3, 5)


# ---- robots


def test_catalogue():
    assert {"stanford", "puma560", "scara", "two_link"} <= set(dynarm.catalogue())
    for name in dynarm.catalogue():
        assert dynarm.load(name).name == name


def test_load(tmp_path):
    words = ["base", "tip", "joints", "gravity", "strict", "allow_massless", "freeze"]
    assert leading(dynarm.load)[1:8] == words
    assert {"floating", "tools"} <= set(leading(dynarm.load))
    given = defaults(dynarm.load)
    assert (given["base"], given["tip"], given["joints"]) == (None, None, None)
    assert (given["strict"], given["allow_massless"], given["freeze"]) == (False, False, True)
    path = tmp_path / "x.urdf"
    path.write_text(random_urdf(np.random.default_rng(5), 4, branches=1.0))
    whole = dynarm.load(path, tools=["side1"])
    assert whole.branched and [tool.name for tool in whole.tools] == ["side1"]
    with pytest.raises(dynarm.DynarmError, match="finger"):
        dynarm.load(path, tip="link4", freeze=False)
    joints = ["joint2", "joint3", "joint4"]
    arm = dynarm.load(path, base="link1", tip="link4", joints=joints, gravity=(1, 2, 3))
    assert arm.joint_names == tuple(joints) and arm.gravity == (1, 2, 3)
    with pytest.raises(dynarm.DynarmError, match="another order"):
        dynarm.load(path, base="link1", tip="link4", joints=joints[::-1])
    assert dynarm.load(path, tip="link4").gravity == (0, 0, -9.81)
    for suffix in (".xacro", ".xml", ".sdf"):
        with pytest.raises(dynarm.DynarmError, match="x\\" + suffix):
            dynarm.load(tmp_path / f"x{suffix}")
    arm.save(tmp_path / "y.toml")
    assert dynarm.load(tmp_path / "y.toml") == arm
    arm.save(str(tmp_path / "y.urdf"))
    assert same(dynarm.load(tmp_path / "y.urdf").urdf_parameters, arm.urdf_parameters)


def test_arm_joint_and_friction():
    assert leading(dynarm.Arm)[:5] == ["joints", "gravity", "name", "base", "tool"]
    assert leading(dynarm.Joint)[:14] == [
        *("kind", "a", "alpha", "d", "theta", "mass", "com", "inertia", "armature", "friction"),
        *("name", "position_limits", "velocity_limit", "effort_limit"),
    ]
    assert defaults(dynarm.Friction) == {
        "viscous": 0.0,
        "coulomb": 0.0,
        "offset": 0.0,
        "shape": "sign",
        "width": 0.02,
        "viscous_negative": None,
        "coulomb_negative": None,
    } | dict.fromkeys(
        ("curve", "presliding", "load_curve", "load_presliding", "ripple", "coupling"), ()
    )
    assert leading(dynarm.Friction) == list(defaults(dynarm.Friction))
    plain = defaults(dynarm.Joint)
    numbers = ("a", "alpha", "d", "theta", "mass", "armature")
    assert all(plain[key] == 0.0 for key in numbers)
    optional = ("friction", "name", "position_limits", "velocity_limit", "effort_limit")
    assert all(plain[key] is None for key in optional)
    joint = dynarm.Joint(kind="prismatic", a=0.1, mass=2.0, com=(0, 0, 0.1), inertia=np.eye(3))
    arm = dynarm.Arm(joints=[joint], gravity=(0, 0, -9.81), name="arm", base=np.eye(4), tool=None)
    assert arm.n == 1 and arm.joint_names == ("joint1",) and arm.joints[0].a == 0.1
    assert arm.gravity == (0, 0, -9.81)
    assert arm.parameters.tolist() == [[2, 0, 0, 0.2, 1.02, 0, 1.02, 0, 0, 1]]
    assert np.array_equal(arm.urdf_parameters, arm.parameters), "it never was a URDF"
    heavier = arm.with_parameters(2 * arm.parameters)
    assert np.array_equal(heavier.parameters, 2 * arm.parameters) and isinstance(
        heavier, dynarm.Arm
    )
    assert leading(arm.with_payload)[:3] == ["mass", "com", "inertia"]
    loaded = arm.with_payload(1.0, (0, 0, 0), np.zeros((3, 3)))
    assert loaded.parameters[0, 0] == 3.0
    assert arm.check() == []


def test_base_and_tool_are_poses():
    """base: frame 0 in the user's base link; tool: in the last link's internal frame; steps: modified DH."""
    a, alpha, d, theta, q = 0.3, 0.4, 0.5, 0.6, 0.7
    base, tool = np.eye(4), np.eye(4)
    base[:3, 3], tool[:3, 3] = (1, 2, 3), (0.1, 0.2, 0.3)

    def turn(i, j, angle):
        T = np.eye(4)
        T[i, i] = T[j, j] = np.cos(angle)
        T[j, i] = np.sin(angle)
        T[i, j] = -np.sin(angle)
        return T

    def shift(axis, x):
        T = np.eye(4)
        T[axis, 3] = x
        return T

    for kind in ("revolute", "prismatic"):
        joint = dynarm.Joint(kind, a, alpha, d, theta, mass=1.0)
        arm = dynarm.Arm([joint], base=base, tool=tool)
        angle, length = (theta + q, d) if kind == "revolute" else (theta, d + q)
        step = shift(0, a) @ turn(1, 2, alpha) @ shift(2, length) @ turn(0, 1, angle)
        assert same(dynarm.compile(arm).forward_kinematics([q]), base @ step @ tool)


# ---- models


def test_compile(arm):
    assert leading(dynarm.compile)[:3] == ["arm", "formulation", "friction"]
    assert defaults(dynarm.compile) == {
        "formulation": None,
        "friction": False,
        "gravity": None,
        "parameters": None,
    }


SIGNATURES = {
    "inverse_dynamics": (["q", "qd", "qdd", "wrench"], [(3,)]),
    "forward_dynamics": (["q", "qd", "tau", "wrench"], [(3,)]),
    "mass_matrix": (["q"], [(3, 3)]),
    "bias": (["q", "qd"], [(3,)]),
    "gravity": (["q"], [(3,)]),
    "coriolis_matrix": (["q", "qd"], [(3, 3)]),
    "coriolis_tensor": (["q"], [(3, 3, 3)]),
    "mass_matrix_and_bias": (["q", "qd"], [(3, 3), (3,)]),
    "regressor": (["q", "qd", "qdd"], None),
    "kinetic_energy": (["q", "qd"], [()]),
    "potential_energy": (["q"], [()]),
    "forward_kinematics": (["q"], [(4, 4)]),
    "jacobian": (["q"], [(6, 3)]),
    "jacobian_derivative": (["q", "qd"], [(6, 3)]),
    "inverse_dynamics_derivatives": (["q", "qd", "qdd"], [(3, 3)] * 3),
    "forward_dynamics_derivatives": (["q", "qd", "tau"], [(3, 3)] * 3),
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_methods(name, model, arm, state):
    """Leading parameters by name and place, batch axes lead, out= for one array, threads= for all."""
    method = getattr(model, name)
    words, shapes = SIGNATURES[name]
    assert leading(method)[: len(words)] == words
    if shapes is None:
        shapes = [(3, len(dynarm.minimal_parameters(arm).values))]
    args = [x for x, word in zip(state, words, strict=False) if word != "wrench"]
    found = method(*args)
    several = found if isinstance(found, tuple) else (found,)
    assert [x.shape for x in several] == [(5, *shape) for shape in shapes]
    assert all(x.dtype == np.float64 for x in several)
    for again in (method(*args, threads=2), method(**dict(zip(words, args, strict=False)))):
        parts = again if isinstance(again, tuple) else (again,)
        assert all(np.array_equal(a, b) for a, b in zip(parts, several, strict=True))
    single = method(*(x[0] for x in args))
    parts = single if isinstance(single, tuple) else (single,)
    assert all(np.array_equal(a, b[0]) for a, b in zip(parts, several, strict=True))
    assert ("out" in leading(method)) == (len(shapes) == 1)
    if len(shapes) == 1:
        out = np.full_like(found, 7.0)
        assert method(*args, out=out) is out and np.array_equal(out, found)
    assert model.functions[name].signature is not None


def test_identities(model, arm, state):
    q, qd, qdd = state
    tau, M, b, g = (
        model.inverse_dynamics(q, qd, qdd),
        model.mass_matrix(q),
        model.bias(q, qd),
        model.gravity(q),
    )
    assert same(tau, np.einsum("sij,sj->si", M, qdd) + b)
    C, tensor = model.coriolis_matrix(q, qd), model.coriolis_tensor(q)
    assert same(np.einsum("sij,sj->si", C, qd) + g, b)
    assert same(np.einsum("sijk,sj,sk->si", tensor, qd, qd) + g, b)
    assert same(tensor, tensor.swapaxes(2, 3))
    both = model.mass_matrix_and_bias(q, qd)
    assert same(both[0], M) and same(both[1], b)
    assert same(model.regressor(q, qd, qdd) @ dynarm.minimal_parameters(arm).values, tau)
    assert same(model.forward_dynamics(q, qd, tau), qdd, 1e-10)
    assert same(model.kinetic_energy(q, qd), 0.5 * np.einsum("si,sij,sj->s", qd, M, qd))


def test_wrench_acts_on_the_tool_in_its_axes(model, state):
    q, qd, qdd = state
    wrench = np.random.default_rng(6).normal(size=(5, 6))
    R = model.forward_kinematics(q)[:, :3, :3]
    J = model.jacobian(q)
    in_tool = np.concatenate([R.swapaxes(1, 2) @ J[:, :3], R.swapaxes(1, 2) @ J[:, 3:]], axis=1)
    pushed = np.einsum("sik,si->sk", in_tool, wrench)
    free = model.inverse_dynamics(q, qd, qdd)
    assert same(model.inverse_dynamics(q, qd, qdd, wrench), free - pushed)
    assert same(model.forward_dynamics(q, qd, free - pushed, wrench), qdd, 1e-10)


def test_friction(model, arm, state):
    q, qd, qdd = state
    driven = dynarm.compile(arm, friction=True)
    Ia = np.diag([j.armature for j in arm.joints])
    assert same(driven.mass_matrix(q), model.mass_matrix(q) + Ia)
    extra = 0.5 * np.einsum("si,ij,sj->s", qd, Ia, qd)
    assert same(driven.kinetic_energy(q, qd), model.kinetic_energy(q, qd) + extra)
    drag = np.zeros_like(qd)
    drag[:, 0] = 0.3 * qd[:, 0] + 0.2 * np.sign(qd[:, 0]) + 0.1
    drag[:, 1] = 0.1 * qd[:, 1]
    tau = model.inverse_dynamics(q, qd, qdd) + qdd @ Ia + drag
    assert same(driven.inverse_dynamics(q, qd, qdd), tau)
    assert same(driven.forward_dynamics(q, qd, tau), qdd, 1e-10)
    for name, args in (("bias", (q, qd)), ("gravity", (q,)), ("coriolis_matrix", (q, qd))):
        assert np.array_equal(getattr(driven, name)(*args), getattr(model, name)(*args))
    assert np.array_equal(driven.regressor(q, qd, qdd), model.regressor(q, qd, qdd))


def test_gravity_and_parameters_as_inputs(model, arm, state):
    q, qd, qdd = state
    free = dynarm.compile(arm, gravity="input", parameters="inputs")
    values = free.minimal.values
    given = {"gravity": np.tile(arm.gravity, (5, 1)), "values": np.tile(values, (5, 1))}
    tau = model.inverse_dynamics(q, qd, qdd)
    assert same(free.inverse_dynamics(q, qd, qdd, **given), tau)
    assert same(free.bias(q, qd, **given), model.bias(q, qd))
    for name, (words, _) in SIGNATURES.items():
        args = [x for x, word in zip(state, words, strict=False) if word != "wrench"]
        method = getattr(free, name)
        assert "values" in leading(method), "every function takes values="
        keywords = {k: v for k, v in given.items() if k in leading(method)}
        method(*args, **keywords)
    own = dynarm.compile(arm, parameters="inputs")
    assert same(
        own.mass_matrix(q, values=dynarm.minimal_parameters(arm).values), model.mass_matrix(q)
    )


def test_formulation_functions_and_pickling(model, arm, state):
    chosen = model.formulation
    assert chosen.keys() >= {"inverse_dynamics", "mass_matrix", "bias", "coriolis_tensor"}
    for quantity, name in chosen.items():
        assert name in dynarm.formulations(quantity)
    forced = dynarm.compile(arm, formulation={"mass_matrix": "composite_2"})
    assert forced.formulation["mass_matrix"] == "composite_2"
    assert same(forced.mass_matrix(state[0]), model.mass_matrix(state[0]))
    ufunc = model.functions["mass_matrix"]
    assert isinstance(ufunc, np.ufunc) and ufunc.signature == "(3)->(3,3)"
    again = pickle.loads(pickle.dumps(forced))
    assert np.array_equal(again.mass_matrix(state[0]), forced.mass_matrix(state[0]))


def test_export_c(model, tmp_path):
    assert leading(dynarm.export_c)[:2] == ["model", "folder"]
    dynarm.export_c(model, tmp_path / "c")
    header = (tmp_path / "c" / "small.h").read_text()
    assert (tmp_path / "c" / "small.c").exists()
    assert "void small_inverse_dynamics(" in header


# ---- formulations and counts

TABLE = {
    "inverse_dynamics": "lagrange newton_euler modified_newton_euler newton_euler_driving_axis "
    "newton_euler_constants minimal_newton_euler",
    "mass_matrix": "lagrange strobed base_composite renaud partial_velocity fijany_bejczy walker_orin composite_1 "
    "composite_2 composite_3 composite_4 composite_5 minimal_composite_1 minimal_composite_2",
    "bias": "lagrange newton_euler modified_newton_euler base_composite minimal_newton_euler",
    "mass_matrix_and_bias": "base_composite composite_1+newton_euler minimal_composite_2+minimal_newton_euler",
    "coriolis_tensor": "lagrange strobed base_composite",
}


@pytest.mark.parametrize("quantity", TABLE)
def test_formulations(quantity, arm):
    names = dynarm.formulations(quantity)
    assert set(TABLE[quantity].split()) <= set(names)
    for name in TABLE[quantity].split():
        counted = dynarm.count(arm, quantity, formulation=name)
        for count in (counted, counted.as_written):
            for part in (count.mul, count.add, count.div, count.sqrt, count.sincos, count.depth):
                assert isinstance(part, int) and part >= 0
        assert counted.div == counted.sqrt == 0, name
        assert counted.mul + counted.add <= counted.as_written.mul + counted.as_written.add


def test_slow_formulations_are_never_tried_unasked(monkeypatch):
    from dynarm.plan import choice as counts

    tried = []
    trace = counts.traced
    monkeypatch.setattr(counts, "_WINNERS", {})
    monkeypatch.setattr(
        counts,
        "traced",
        lambda arm, q, chosen, *a, **k: (
            tried.extend(chosen.values()) or trace(arm, q, chosen, *a, **k)
        ),
    )
    arm = random_arm(np.random.default_rng(8), 2, "RR")
    for quantity in TABLE:
        counts.choose(arm, quantity, {})
    assert tried and not {row.name for row in tried} & {"lagrange", "strobed", "partial_velocity"}


# ---- minimal parameters


def test_minimal_parameters(arm):
    assert leading(dynarm.minimal_parameters)[:3] == ["arm", "convention", "armature"]
    assert defaults(dynarm.minimal_parameters)["convention"] == "lin1995"
    assert defaults(dynarm.minimal_parameters)["armature"] is False
    found = {}
    for convention in ("lin1995", "linfang1999", "gautier1990"):
        mp = found[convention] = dynarm.minimal_parameters(arm, convention)
        p = len(mp.names)
        assert mp.values.shape == (p,) and mp.matrix.shape == (p, 10 * arm.n)
        assert same(mp.matrix @ arm.parameters.ravel(), mp.values)
        other = arm.with_parameters(arm.parameters[::-1])
        assert np.array_equal(dynarm.minimal_parameters(other, convention).matrix, mp.matrix)
    for one in found.values():
        for convention, other in found.items():
            assert same(one.convert(convention) @ one.values, other.values)
    wide = dynarm.minimal_parameters(arm, armature=True)
    assert wide.matrix.shape == (len(wide.names), 11 * arm.n)
    table = np.column_stack([arm.parameters, [j.armature for j in arm.joints]])
    assert same(wide.matrix @ table.ravel(), wide.values)


# ---- whole robots


def whole_robot(**more):
    link = {"mass": 1.0, "com": (0.1, 0.0, 0.0), "inertia": np.diag([0.01, 0.02, 0.03])}
    joints = [
        dynarm.Joint(name="waist", **link),
        dynarm.Joint(name="left", alpha=1.0, a=0.3, **link),
        dynarm.Joint(name="right", parent=0, gamma=2.0, b=0.1, alpha=1.0, a=0.3, **link),
        dynarm.Joint(
            name="thumb", a=0.1, mimic=dynarm.Mimic("left", multiplier=0.5, offset=0.1), **link
        ),
    ]
    return dynarm.Arm(joints, **more)


def test_trees_floating_bases_and_coupled_joints():
    defaults_of = defaults(dynarm.Joint)
    assert [defaults_of[k] for k in ("parent", "gamma", "b", "mimic")] == [None, 0.0, 0.0, None]
    assert leading(dynarm.Mimic) == ["joint", "multiplier", "offset"]
    assert leading(dynarm.Body)[:3] == ["mass", "com", "inertia"]
    words = defaults(dynarm.load)
    assert (words["floating"], words["tools"], words["freeze"]) == (None, None, True)
    fixed = whole_robot()
    assert fixed.parents == (-1, 0, 0, 2)
    assert fixed.joint_names == ("waist", "left", "right") and fixed.nq == fixed.nv == 3
    free = whole_robot(floating=dynarm.Body(2.0, (0, 0, 0.1), np.eye(3)))
    assert (free.nq, free.nv, free.parameters.shape) == (10, 9, (5, 10))
    assert free.parameters[0, 0] == 2.0, "the base's own link comes first"


def test_models_of_whole_robots():
    hand = np.eye(4)
    tools = [dynarm.Tool("left", 1, hand), dynarm.Tool("right", 2, hand)]
    robot = whole_robot(floating=dynarm.Body(2.0, (0, 0, 0.1), np.eye(3)), tools=tools)
    model = dynarm.compile(robot)
    q = np.concatenate([[0.1, 0.2, 0.3], [0, 0, 0, 1], [0.4, 0.5, 0.6]])
    assert model.forward_kinematics(q).shape == (2, 4, 4)
    assert model.jacobian(q).shape == (2, 6, 9)
    rows, columns = model.mass_matrix_pattern
    packed = model.mass_matrix_packed(np.stack([q, q]))
    assert packed.shape == (2, len(rows)) and (rows >= columns).all()
    assert same(packed[0], model.mass_matrix(q)[rows, columns])
    still = np.zeros(9)
    push = np.zeros((2, 6))
    push[0, 2] = 1.0
    J = model.jacobian(q)[0]
    R = model.forward_kinematics(q)[0, :3, :3]
    felt = model.inverse_dynamics(q, still, still) - J[:3].T @ R[:, 2]
    assert same(model.inverse_dynamics(q, still, still, wrench=push), felt)
    mp = dynarm.minimal_parameters(robot)
    assert same(model.regressor(q, still, still) @ mp.values, model.gravity(q))
    assert same(mp.matrix @ robot.parameters.ravel(), mp.values)
