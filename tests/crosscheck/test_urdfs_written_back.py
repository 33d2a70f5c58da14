"""Every robot of example-robot-data written back into its own file, and read from there by pinocchio."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import dynarm
from dynarm import DynarmError
from oracles.example_robots import example_robot, robots_folder
from oracles.pinocchio_urdf import whole_urdf
from strategies import whole_state

FILES = sorted(robots_folder().rglob("*.urdf"))
REFUSED = {"quadrotor_base.urdf", "iris_simple.urdf", "ur3.urdf"}
SMALL = 20  # joints
INERTIAL = re.compile(rb"\s*<inertial\b.*?</inertial\s*>|<dynamics\b[^>]*>", re.DOTALL)


def loaded(path, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dynarm.load(path, allow_massless=True, **how)


def varied(arm, rng):
    """The arm with other inertias, up to ten percent, that its file can hold."""
    return arm.with_parameters(arm.parameters * (1 + 0.1 * rng.random((len(arm.parameters), 1))))


def rest(path):
    """The file without inertials and dynamics; links that had nothing else are empty, however that is written."""
    return re.sub(rb"\s*/>|>\s*</link>", b" />", INERTIAL.sub(b"", path.read_bytes()))


def test_all_robots_in_place(tmp_path):
    new, rng, robots = tmp_path / "new.urdf", np.random.default_rng(2), 0
    for path in FILES:
        try:
            arm = loaded(path, floating=robots % 2 == 0)
        except DynarmError:
            assert path.name in REFUSED
            continue
        robots += 1
        assert arm.update_urdf(path, new) == ()
        assert new.read_bytes() == path.read_bytes(), path.name
        other = varied(arm, rng)
        other.update_urdf(path, new)
        assert rest(new) == rest(path), path.name
        if arm.n > SMALL:
            continue  # large ones take their time to load
        again = loaded(new, floating=arm.floating is not None)
        for kind in (slice(0, 1), slice(1, 4), slice(4, 10)):
            size = np.abs(other.parameters[:, kind]).max()
            apart = np.abs(again.parameters - other.parameters)[:, kind]
            assert apart.max() <= 1e-12 * size, path.name
    assert robots >= 65


@pytest.mark.parametrize(
    "name", ["panda.urdf", "kinova.urdf", "talos_full_v2.urdf", "ur5_robot.urdf"]
)
def test_others_read_the_same_robot(name, tmp_path):
    """Also of links that had to share: half the inertia is less than what is fixed to some of them."""
    path, rng = example_robot(name), np.random.default_rng(3)
    arm = loaded(path, snap=False)
    arm = arm.with_parameters(0.5 * arm.parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arm.update_urdf(path, tmp_path / "new.urdf")
    peer = whole_urdf((tmp_path / "new.urdf").read_text(encoding="utf-8"), arm)
    s = whole_state(rng, arm)
    tau = peer.inverse_dynamics(s["q"], s["qd"], s["qdd"])
    ours = dynarm.compile(arm).inverse_dynamics(s["q"], s["qd"], s["qdd"])
    assert np.abs(ours - tau).max() <= 1e-12 * max(1, np.abs(tau).max())


def test_all_robots_by_way_of_an_arm(tmp_path):
    """URDF to arm to URDF: pinocchio finds the same dynamics in both files, dynarm the same robot."""
    new, rng, robots = tmp_path / "new.urdf", np.random.default_rng(4), 0
    for path in FILES:
        if path.name in REFUSED:
            continue
        arm = loaded(path, floating=robots % 2 == 1, snap=False)
        robots += 1
        arm.save(new)
        s = whole_state(rng, arm)
        taus = [
            whole_urdf(text, arm).inverse_dynamics(s["q"], s["qd"], s["qdd"])
            for text in (path.read_text(encoding="utf-8"), new.read_text(encoding="utf-8"))
        ]
        assert np.abs(taus[1] - taus[0]).max() <= 1e-12 * max(1, np.abs(taus[0]).max()), path.name
        again = loaded(new, floating=arm.floating is not None, snap=False)
        assert again.parents == arm.parents and again.joint_names == arm.joint_names
        np.testing.assert_allclose(
            again.urdf_parameters,
            arm.urdf_parameters,
            rtol=0,
            atol=1e-12 * np.abs(arm.urdf_parameters).max(),
        )
    assert robots == len(FILES) - len(REFUSED)
