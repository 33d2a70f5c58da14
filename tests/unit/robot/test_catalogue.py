"""The built-in robots: what their sources say of masses, poses and limits, and what the list of them says."""

from __future__ import annotations

import functools
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import dynarm
from dynarm.robot.about import About, about, catalogue
from dynarm.robot.formats.toml_file import read_toml
from dynarm.robot.inertia import unpack_parameters

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "catalogue.md"
HALF = np.pi / 2
# the masses of the moving links as the sources print them [kg]; of whole robots their sum, merged links included
MASSES = {
    "panda": (4.970684, 0.646926, 3.228604, 3.587895, 1.225946, 1.666555, 0.735522),
    "fr3": (
        *(2.9274653454, 2.9355370338, 2.2449013699, 2.6155955791),
        *(2.3271207594, 1.8170376524, 0.6271432862),
    ),
    "ur3e": (1.98, 3.4445, 1.437, 0.871, 0.805, 0.261),
    "ur5e": (3.761, 8.058, 2.846, 1.37, 1.3, 0.365),
    "ur10e": (7.369, 13.051, 3.989, 2.1, 1.98, 0.615),
    "ur16e": (7.369, 10.45, 4.321, 2.18, 2.033, 0.907),
    "ur5": (3.7, 8.393, 2.33, 1.219, 1.219, 0.1879),
    "ur10": (7.1, 12.7, 4.27, 2.0, 2.0, 0.365),
    "iiwa7": (4, 4, 3, 2.7, 1.7, 1.8, 0.3),
    "iiwa14": (4, 4, 3, 2.7, 1.7, 1.8, 0.3),
    "gen3": (1.3773, 1.1636, 1.1636, 0.9302, 0.6781, 0.6781, 0.5006),
    "xarm6": (2.3814, 2.2675, 1.875, 1.3192, 1.33854, 0.17),
    "xarm7": (2.382, 1.869, 1.6383, 1.7269, 1.3203, 1.325, 0.17),
    "so101": (0.100006, 0.103, 0.104, 0.079, 0.087 + 1e-9, 0.012),
}
# where the tool is in the zero pose, from the lengths that the makers print [m]
ZERO = {
    "panda": (0.088, 0, 0.333 + 0.316 + 0.384 - 0.107),
    "fr3": (0.088, 0, 0.333 + 0.316 + 0.384 - 0.107),
    "ur3e": (0.24355 + 0.2132, 0.13105 + 0.0921, 0.15185 - 0.08535),
    "ur5e": (0.425 + 0.3922, 0.1333 + 0.0996, 0.1625 - 0.0997),
    "ur10e": (0.6127 + 0.57155, 0.17415 + 0.11655, 0.1807 - 0.11985),
    "ur16e": (0.4784 + 0.36, 0.17415 + 0.11655, 0.1807 - 0.11985),
    "ur5": (0.425 + 0.39225, 0.10915 + 0.0823, 0.089159 - 0.09465),
    "ur10": (0.612 + 0.5723, 0.163941 + 0.0922, 0.1273 - 0.1157),
    "iiwa7": (0, 0, 0.34 + 0.4 + 0.4 + 0.126),
    "iiwa14": (0, 0, 0.36 + 0.42 + 0.4 + 0.126),
    "gen3": (0, -0.0118 - 0.0128 - 0.0002501, 0.2848 + 0.4208 + 0.3143 + 0.1674),
    "xarm6": (0.0535 + 0.0775 + 0.076, 0, 0.267 + 0.2845 - 0.3425 - 0.097),
    "xarm7": (0.0525 + 0.0775 + 0.076, 0, 0.267 + 0.293 - 0.3425 - 0.097),
}
ROUNDED = {"gen3": 2e-4}  # the makers print four decimals, the file five
# the stretched or bent poses whose reach the makers state: joints, tool [m]
POSES = {
    "panda": (
        (0, 0, 0, -HALF, 0, HALF, 0),
        (0.0825 + 0.384 + 0.088, 0, 0.333 + 0.316 + 0.0825 - 0.107),
    ),
    "ur5e": ((0, -HALF, 0, -HALF, 0, 0), (0, 0.2329, 0.1625 + 0.425 + 0.3922 + 0.0997)),
    "iiwa14": ((0, HALF, 0, 0, 0, 0, 0), (0.42 + 0.4 + 0.126, 0, 0.36)),
}
LIMITS = {  # of joints 1 and 4: position [rad], velocity [rad/s], effort [N m]
    "panda": ((2.8973, 2.175, 87), (-0.0698, 2.175, 87)),
    "fr3": ((2.7437, 2.62, 87), (-0.1518, 2.62, 87)),
    "ur3e": ((2 * np.pi, np.pi, 56), (2 * np.pi, 2 * np.pi, 12)),
    "ur10e": ((2 * np.pi, np.pi * 2 / 3, 330), (2 * np.pi, np.pi, 56)),
    "iiwa7": ((np.radians(170), np.radians(98), 176), (np.radians(120), np.radians(130), 110)),
    "iiwa14": ((np.radians(170), np.radians(85), 320), (np.radians(120), np.radians(75), 176)),
    "xarm7": ((2 * np.pi, 3.14, 50), (3.927, 3.14, 30)),
}
# the manufacturer's own table (DH parameters for calculations of kinematics and dynamics): d, a, centres of mass in the
# classic frames, with alpha pi/2, 0, 0, pi/2, -pi/2, 0
PRINTED = {
    "ur3e": (
        (0.15185, 0, 0, 0.13105, 0.08535, 0.0921),
        (0, -0.24355, -0.2132, 0, 0, 0),
        (
            (0, -0.02, 0),
            (0.13, 0, 0.1157),
            (0.05, 0, 0.0238),
            (0, 0, 0.01),
            (0, 0, 0.01),
            (0, 0, -0.02),
        ),
    ),
    "ur5e": (
        (0.1625, 0, 0, 0.1333, 0.0997, 0.0996),
        (0, -0.425, -0.3922, 0, 0, 0),
        (
            *((0, -0.02561, 0.00193), (0.2125, 0, 0.11336), (0.15, 0, 0.0265)),
            *((0, -0.0018, 0.01634), (0, 0.0018, 0.01634), (0, 0, -0.001159)),
        ),
    ),
    "ur10e": (
        (0.1807, 0, 0, 0.17415, 0.11985, 0.11655),
        (0, -0.6127, -0.57155, 0, 0, 0),
        (
            *((0.021, 0, 0.027), (0.38, 0, 0.158), (0.24, 0, 0.068)),
            *((0, 0.007, 0.018), (0, 0.007, 0.018), (0, 0, -0.026)),
        ),
    ),
}
# one link of each as its source prints it, in its frame: index, centre of mass, ixx ixy ixz iyy iyz izz about that
LINKS = {
    "fr3": (
        3,
        (-0.0459100965, 0.0630492960, -0.0085187868),
        *(0.03452998321913202, 0.01322552265982813, 0.01015142998484113),
        *(0.028881621933049058, -0.0009762833870704552, 0.04125471171146641),
    ),
    "gen3": (3, (-1.8e-05, -0.075478, -0.015006), 0.008147, -1e-06, 0, 0.000631, -0.0005, 0.008316),
    "iiwa14": (4, (0.0001, 0.021, 0.076), 0.02, 0, 0, 0.018, 0, 0.005),
    "iiwa7": (1, (0.0003, 0.059, 0.042), 0.05, 0, 0, 0.018, 0, 0.044),
    "xarm6": (
        1,
        (0.03881, -0.22783, 0.03496),
        *(0.028315776, 0.005, 0.00066546, 0.0058, -0.0045741, 0.0273447),
    ),
    "ur16e": (2, (-0.166, 0, 0.065), 0.01091, 0.00006, 0.01012, 0.1206, 0.00001, 0.11714),
    "ur10": (1, (-0.232, 0, 0.158), 0.02814, 0.00005, -0.01561, 0.77068, 0.00002, 0.76943),
}
SUMS = {
    "solo12": 2.50000279,
    "anymal_c": 52.13485,
    "go2": 16.085,
    "g1": 33.34114202,
    "talos": 90.272192,
}
ARMS = [name for name in MASSES if name != "so101"]
OLD = {"generic_6r", "generic_7r", "puma560", "scara", "stanford", "two_link"}


@functools.cache
def loaded(name: str) -> dynarm.Arm:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no built-in robot has an impossible link
        return dynarm.load(name)


def test_every_robot_is_looked_at():
    assert set(catalogue()) == OLD | set(MASSES) | set(SUMS)
    assert set(ZERO) == set(ARMS)


@pytest.mark.parametrize("name", catalogue())
def test_nothing_is_doubtful_and_its_source_is_told(name):
    assert loaded(name).check() == []
    told = about(name)
    assert isinstance(told, About) and all((told.title, told.source, told.licence, told.inertias))
    if name not in OLD:
        assert re.fullmatch(r"(BSD|Apache)[-\w.]*", told.licence)
        assert re.search(r"commit [0-9a-f]{7}|example-robot-data 6\.0\.0", told.source)


@pytest.mark.parametrize("name", MASSES)
def test_masses_are_those_of_the_source(name):
    np.testing.assert_allclose([j.mass for j in loaded(name).joints], MASSES[name], rtol=1e-12)


@pytest.mark.parametrize("name", SUMS)
def test_whole_robots_weigh_what_their_source_does(name):
    arm = loaded(name)
    assert arm.floating is not None and len(arm.all_tools) == 4
    assert abs(arm.parameters[:, 0].sum() - SUMS[name]) < 1e-9


def tool_at(name, q):
    arm = loaded(name)
    pose = arm.base_pose
    for joint, position in zip(arm.joints, q, strict=True):
        pose = pose @ joint.displacement(position)
    return (pose @ arm.tool_pose)[:3, 3]


@pytest.mark.parametrize("name", ZERO)
def test_the_tool_stands_where_the_maker_s_lengths_put_it(name):
    within = ROUNDED.get(name, 1e-12)
    np.testing.assert_allclose(tool_at(name, np.zeros(loaded(name).n)), ZERO[name], atol=within)


@pytest.mark.parametrize("name", POSES)
def test_poses_that_are_known(name):
    q, place = POSES[name]
    np.testing.assert_allclose(tool_at(name, q), place, atol=1e-12)


@pytest.mark.parametrize("name", LIMITS)
def test_limits_are_those_of_the_source(name):
    joints = loaded(name).joints
    for joint, wanted in zip((joints[0], joints[3]), LIMITS[name], strict=True):
        given = joint.position_limits[1], joint.velocity_limit, joint.effort_limit
        np.testing.assert_allclose(given, wanted, rtol=1e-12)


@pytest.mark.parametrize("name", PRINTED)
def test_centres_of_mass_are_those_that_the_manufacturer_prints(name):
    """As an arm of classic frames: the same torques against gravity."""
    alphas = (HALF, 0, 0, HALF, -HALF, 0)
    joints = [
        dynarm.Joint(a=a, alpha=alpha, d=d, mass=mass, com=com)
        for d, a, com, alpha, mass in zip(*PRINTED[name], alphas, MASSES[name], strict=True)
    ]
    printed = dynarm.Arm.from_classic_dh(joints)
    q = np.random.default_rng(2).uniform(-3, 3, (5, 6))
    wanted, given = (dynarm.compile(arm).gravity(q) for arm in (printed, loaded(name)))
    np.testing.assert_allclose(given, wanted, atol=1e-12 * np.abs(wanted).max())


@pytest.mark.parametrize("name", LINKS)
def test_a_link_is_that_of_the_source(name):
    k, com, xx, xy, xz, yy, yz, zz = LINKS[name]
    ten = loaded(name).urdf_parameters[k]
    mass, c, I = unpack_parameters(ten)
    assert mass == pytest.approx(MASSES[name][k], rel=1e-12)
    np.testing.assert_allclose(c, com, atol=1e-14)
    np.testing.assert_allclose(I, [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], atol=1e-14)


def test_right_angles_are_exact():
    """What their sources round: 1.5708, 3.1416, 1.570796327."""
    for name in ARMS:
        for joint in loaded(name).joints:
            assert joint.alpha % HALF == 0, (name, joint.name)
            # the xArm 6 has arms that are bent by their offsets
            assert joint.theta % HALF == 0 or name == "xarm6", (name, joint.name)


# ---- the list of them


def test_about_refuses_what_is_no_name():
    with pytest.raises(dynarm.DynarmError, match="did you mean panda"):
        about("pandda")
    with pytest.raises(dynarm.DynarmError, match="give a name of dynarm"):
        about(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("[about]\ntitle = 3\n", "about: title is 3"),
        ('[about]\nlicense = "MIT"\n', "did you mean licence"),
        ('about = "mine"\n', "about is 'mine'; give a table"),
        (f'[about]\ntitle = "{"x" * 2000}"\n', "at most 1000"),
    ],
)
def test_a_file_tells_about_itself_in_texts(table, words):
    joints = "\n[[joints]]\nmass = 1\ninertia = [1, 1, 1]\n"
    good = '[about]\ntitle = "mine"\n'
    assert read_toml((good + joints).encode(), "x.toml").n == 1
    with pytest.raises(dynarm.DynarmError, match=words):
        read_toml((table + joints).encode(), "x.toml")


def row(name: str) -> str:
    """A robot's line of the page."""
    arm, told = loaded(name), about(name)
    cost = dynarm.count(arm, "inverse_dynamics")
    joints = f"{arm.n} and a free base" if arm.floating else str(arm.n)
    mass = f"{arm.parameters[:, 0].sum():.4g}"
    minimal = dynarm.minimal_parameters(arm).count
    cells = (f"`{name}`", told.title, joints, mass, told.inertias, told.licence, minimal)
    return f"| {' | '.join(map(str, cells))} | {cost.mul} / {cost.add} |"


def test_the_page_lists_every_robot_with_its_numbers():
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| `")]
    assert rows == [row(name) for name in catalogue()]


if __name__ == "__main__":  # the rows of the page
    for each in catalogue():
        print(row(each))
