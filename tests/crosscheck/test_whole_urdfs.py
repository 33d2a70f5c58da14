"""Every robot of example-robot-data as a whole, on a fixed and a free base, against pinocchio reading the same file."""

from __future__ import annotations

import functools
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import dynarm
from dynarm import Arm, DynarmError, DynarmWarning
from oracles.example_robots import example_robot, robots_folder
from oracles.pinocchio_tree import PinocchioTree
from oracles.pinocchio_urdf import whole_urdf
from oracles.scene_numbers import derivatives_of, numbers_of, scene_of
from oracles.tree_errors import ORACLE, RELATIVE, SINGULAR, Errors, State, apart, limit, packed
from strategies import whole_state

FILES = sorted(robots_folder().rglob("*.urdf"))
QUANTITIES = (
    "inverse_dynamics",
    "mass_matrix",
    "bias",
    "gravity",
    "kinetic_energy",
    "potential_energy",
    "center_of_mass",
    "momentum",
)
REFUSED = {"ur3.urdf": "has no <link>"}  # by file name, and why
IDLE = {  # by default; allow_massless=True takes them
    "romeo.urdf": "moving links 'LFinger11Link'.* have no inertia.*allow_massless=True",
    "romeo_laas_small.urdf": "moving links 'l_gripper', 'r_gripper'.*allow_massless=True",
}
FREE_ONLY = ("quadrotor_base.urdf", "iris_simple.urdf")  # bodies without joints
COMPILED = ("go2.urdf", "g1_29dof_rev_1_0.urdf", "talos_full_v2.urdf", "baxter.urdf")
BATCH = 7


@functools.cache
def loaded(path: Path, floating: bool) -> Arm:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dynarm.load(path, floating=floating, allow_massless=True, snap=False)


def errors_of(arm: Arm, P: PinocchioTree, s: State) -> Errors:
    state = {k: x for k, x in s.items() if k != "wrench"}
    scene = scene_of(arm, state)
    condition = float(np.linalg.cond(P.mass_matrix(s["q"])))
    errors = {
        word: (apart(numbers_of(scene, word), ORACLE[word](P, s)), RELATIVE) for word in QUANTITIES
    }
    theirs = P.derivatives(s["q"], s["qd"], s["qdd"])
    ours = derivatives_of(scene, s["qdd"].tolist())
    errors["inverse_dynamics_derivatives"] = apart(ours, theirs), RELATIVE
    if condition < SINGULAR:
        names = ["gathered_composite+gathered_newton_euler"]
        names += ["articulated_body"] if arm.coupling.free else []
        for name in names:
            own = scene_of(arm, state, forward_dynamics=name)
            error = apart(numbers_of(own, "forward_dynamics"), ORACLE["forward_dynamics"](P, s))
            errors[name] = error, limit("forward_dynamics", condition)
    return errors


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize(
    "path",
    [p for p in FILES if p.name not in REFUSED],
    ids=lambda p: p.relative_to(robots_folder()).as_posix(),
)
def test_whole(path, floating):
    if path.name in FREE_ONLY and not floating:
        with pytest.raises(DynarmError, match="floating=True"):
            loaded(path, False)
        return
    arm = loaded(path, floating)
    assert not arm.origin.rigid, "the whole robot moves"
    P = whole_urdf(path.read_text(encoding="utf-8"), arm)
    s = whole_state(np.random.default_rng(5), arm)
    errors = errors_of(arm, P, s)
    bad = {k: f"{e:.1e} > {most:.0e}" for k, (e, most) in errors.items() if not e <= most}
    assert not bad


def test_the_wheel_is_complete():
    robots = [path for path in FILES if path.name not in (*REFUSED, *FREE_ONLY)]
    assert len(robots) >= 65 and {path.name for path in FILES} >= {*REFUSED, *COMPILED}
    assert sum(loaded(path, False).branched for path in robots) >= 30
    assert sum(not loaded(path, False).coupling.free for path in robots) >= 5


def test_all_load_by_default_but_these():
    """66 of the 69 files of the wheel as they are; two with `allow_massless=True`, and one has no link."""
    refused = {}
    for path in FILES:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                arm = dynarm.load(path)
            assert not arm.origin.rigid and (arm.nv == 6 or path.name not in FREE_ONLY)
        except DynarmError as error:
            refused[path.name] = str(error)
    assert set(refused) == {*REFUSED, *IDLE}
    for name, why in {**REFUSED, **IDLE}.items():
        assert re.search(why, refused[name])
    assert len(FILES) - len(refused) >= 66


def test_a_coupling_to_a_joint_that_is_not_there_is_told():
    with pytest.warns(DynarmWarning, match=r"move on their own: 'Left_index_q2' \(to 'index_q1'\)"):
        dynarm.load(example_robot("alex_psyonic_hands.urdf"))
    with pytest.raises(DynarmError, match="mend the names, or load it with strict=False"):
        dynarm.load(example_robot("alex_psyonic_hands.urdf"), strict=True)


@pytest.mark.parametrize("name", COMPILED)
def test_compiled(name):
    path = example_robot(name)
    arm = loaded(path, name != "baxter.urdf")
    P, model = whole_urdf(path.read_text(encoding="utf-8"), arm), dynarm.compile(arm)
    rng = np.random.default_rng(6)
    states = [whole_state(rng, arm) for _ in range(BATCH)]
    q, qd, qdd = (np.array([s[x] for s in states]) for x in ("q", "qd", "qdd"))
    wanted = np.array([ORACLE["inverse_dynamics"](P, s) for s in states])
    assert apart(model.inverse_dynamics(q, qd, qdd), wanted) <= RELATIVE
    wanted = np.array([packed(P, s, arm) for s in states])
    assert apart(model.mass_matrix_packed(q), wanted) <= RELATIVE
