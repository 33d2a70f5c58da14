"""The drawing of a robot, read back out of its SVG: everything stands where the robot's own frames put it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from xml.etree import ElementTree

import numpy as np
import pytest

import dynarm
from dynarm.report.sketch import HEIGHT, WIDTH, frames, pose, skeleton, sketch

DRAWN = 0.051  # pixels: places are written with one decimal
MARGIN = 55.0  # pixels around a robot that fills its sheet
ROBOTS = [
    name
    for name in dynarm.catalogue()
    if dynarm.load(name).serial and dynarm.load(name).tools is None
]


@dataclass(frozen=True)
class Drawing:
    """The elements of a sketch: (class or tag, places in space (k, 3), places on the sheet (k, 2), element)."""

    elements: list
    attributes: dict[str, str]

    def of(self, kind: str) -> list:
        return [e[1:] for e in self.elements if e[0] == kind]

    def centre(self) -> np.ndarray:
        return np.array(self.attributes["data-centre"].split(), float)

    def project(self, points: np.ndarray) -> np.ndarray:
        """Where a camera turned by azimuth about z and raised by elevation sees points, on a sheet whose y falls."""
        azimuth, elevation, scale, x, y = (
            float(self.attributes[f"data-{w}"]) for w in ("azimuth", "elevation", "scale", "x", "y")
        )
        towards = np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
        right = np.cross([0.0, 0.0, 1.0], towards)
        seen = np.cos(elevation) * towards + np.array([0.0, 0.0, np.sin(elevation)])
        up = np.cross(seen, right)
        offset = np.atleast_2d(points) - self.centre()
        return np.column_stack([x + scale * (offset @ right), y - scale * (offset @ up)])


def drawn(arm: dynarm.Arm, q: np.ndarray | None = None) -> Drawing:
    text = re.search(r"<svg.*</svg>", str(sketch(arm, q)), re.DOTALL)[0]
    root = ElementTree.fromstring(text)
    elements = []
    for e in root:
        space = np.array([p.split() for p in e.attrib["data-p"].split(",")], float)
        if e.tag == "polyline":
            flat = np.array([p.split(",") for p in e.attrib["points"].split()], float)
        else:
            names = ("cx", "cy") if e.tag == "circle" else ("x", "y")
            flat = np.array([[float(e.attrib[n]) for n in names]])
        elements.append((e.attrib.get("class", e.tag), space, flat, e))
    return Drawing(elements, dict(root.attrib))


def radius(arm: dynarm.Arm, q: np.ndarray, centre: np.ndarray) -> float:
    """From the middle of the drawing to the farthest point of the robot."""
    points = [np.zeros((1, 3)), *skeleton(arm, q)]
    for T, joint in zip(frames(arm, q)[1:-1], arm.joints):
        if joint.mass > 0:
            points.append((T[:3, :3] @ joint.com + T[:3, 3])[None])
    return float(np.linalg.norm(np.concatenate(points) - centre, axis=1).max())


# ---- the pose


def test_a_pose_is_bent_drawn_out_and_within_limits():
    """Slides come out by 0.4 of the lengths of all links and the tool, here 1.5 m."""
    turn = dynarm.Joint(mass=1.0)
    slide = dynarm.Joint(kind="prismatic", mass=1.0, d=0.1)
    tool = np.eye(4)
    tool[:3, 3] = (0.0, 0.24, -0.32)
    arm = dynarm.Arm((replace(turn, a=0.3, d=-0.2), replace(turn, a=-0.5), slide), tool=tool)
    np.testing.assert_allclose(pose(arm), [0.0, np.pi / 6, 0.6])
    limits = [(0.1, 0.2), (-1.0, 0.4), (0.0, 0.25)]
    joints = [replace(j, position_limits=x) for j, x in zip(arm.joints, limits)]
    np.testing.assert_allclose(pose(replace(arm, joints=tuple(joints))), [0.1, 0.4, 0.25])
    np.testing.assert_allclose(pose(dynarm.Arm((replace(slide, d=0.0),))), [0.4])


# ---- lines


@pytest.mark.parametrize("name", ROBOTS)
def test_a_link_leads_along_the_common_normal_then_along_the_axis(name):
    arm = dynarm.load(name)
    q = np.random.default_rng(2).uniform(-1, 1, arm.n)
    places, lines = frames(arm, q), skeleton(arm, q)
    for before, after, joint, (start, corner, end) in zip(places, places[1:], arm.joints, lines):
        np.testing.assert_array_equal(start, before[:3, 3])
        np.testing.assert_allclose(corner - start, joint.a * before[:3, 0], atol=1e-12)
        np.testing.assert_allclose(np.cross(end - corner, after[:3, 2]), 0.0, atol=1e-12)
        np.testing.assert_array_equal(end, after[:3, 3])
    start, corner, end = lines[-1]
    axis = places[-2][:3, 2]
    np.testing.assert_array_equal(start, places[-2][:3, 3])
    np.testing.assert_array_equal(end, places[-1][:3, 3])
    np.testing.assert_allclose(np.cross(corner - start, axis), 0.0, atol=1e-12)
    np.testing.assert_allclose((end - corner) @ axis, 0.0, atol=1e-12)


def offset_arm() -> dynarm.Arm:
    """Every length in it differs from every other; turns, a slide and a tool off all axes."""
    tool = np.eye(4)
    tool[:3, 3] = (0.11, -0.07, 0.23)
    base = np.eye(4)
    base[:3, 3] = (0.05, -0.04, 0.13)
    joints = (
        dynarm.Joint(mass=4.0, com=(0.02, 0.03, -0.05), d=0.21, name="first"),
        dynarm.Joint(mass=1.0, com=(0.1, 0.0, 0.04), a=0.32, alpha=0.7, d=-0.15, name="second"),
        dynarm.Joint(kind="prismatic", mass=0.0, a=0.17, alpha=-1.1, d=0.09, name="third"),
        dynarm.Joint(mass=0.25, com=(0.0, 0.05, 0.0), alpha=1.3, a=-0.12, name="fourth"),
    )
    return dynarm.Arm(joints, base=base, tool=tool, name="offset")


@pytest.fixture
def offset():
    arm = offset_arm()
    return arm, pose(arm), drawn(arm)


def test_the_tool_s_line_has_its_corner_on_the_last_axis(offset):
    arm, q, _ = offset
    last = frames(arm, q)[-2]
    _, corner, _ = skeleton(arm, q)[-1]
    np.testing.assert_allclose(corner, (last @ [0.0, 0.0, 0.23, 1.0])[:3], atol=1e-12)


@pytest.mark.parametrize("name", [*ROBOTS, "offset"])
def test_everything_stands_on_the_sheet_where_its_place_in_space_is_seen(name):
    """As the page's own script places it when the robot is turned: text 10 right of its point and 8 above."""
    arm = offset_arm() if name == "offset" else dynarm.load(name)
    shown = drawn(arm)
    # places in space: four decimals
    rounded = 2 * DRAWN + 2e-4 * float(shown.attributes["data-scale"])
    for kind, space, flat, element in shown.elements:
        moved = flat
        if kind == "text":
            moved = flat - [10.0, -8.0 + float(element.attrib["data-down"])]
        np.testing.assert_allclose(moved, shown.project(space), atol=rounded)
    assert shown.attributes["viewBox"] == f"0 0 {WIDTH} {HEIGHT}"
    assert shown.attributes["aria-label"] == f"Sketch of {arm.name}"


@pytest.mark.parametrize("name", [*ROBOTS, "offset"])
def test_a_robot_fills_its_sheet(name):
    """The base, the links and the masses keep a margin, touch it on two sides, and stand in the middle."""
    arm = offset_arm() if name == "offset" else dynarm.load(name)
    shown = drawn(arm)
    masses = [flat for _, flat, _ in shown.of("mass")]
    links = [flat for _, flat, _ in shown.of("link")]
    points = np.concatenate([shown.project(np.zeros(3)), *masses, *links])
    low, high = points.min(axis=0), points.max(axis=0)
    np.testing.assert_allclose((low + high) / 2, [WIDTH / 2, HEIGHT / 2], atol=0.2)
    room = np.array([WIDTH, HEIGHT]) - 2 * MARGIN
    assert (high - low <= room + 0.2).all()
    np.testing.assert_allclose(((high - low) / room).max(), 1.0, atol=2e-3)


def test_a_robot_without_extent_is_drawn_all_the_same():
    """One of a single point is taken for a thing of a millimetre, which then is a third of the sheet's room."""
    shown = drawn(dynarm.Arm((dynarm.Joint(mass=1.0),)))
    assert HEIGHT - 2 * MARGIN == 310
    assert float(shown.attributes["data-scale"]) == pytest.approx(310 / 0.3e-3, rel=1e-5)
    for space, flat, _ in shown.of("mass") + shown.of("link"):
        np.testing.assert_array_equal(space, 0.0)
        np.testing.assert_allclose(flat, np.tile([WIDTH / 2, HEIGHT / 2], (len(flat), 1)))


def test_links_bars_and_axes_are_the_robot_s(offset):
    arm, q, shown = offset
    places, lines = frames(arm, q), skeleton(arm, q)
    size = radius(arm, q, shown.centre())
    for (space, _, _), corners in zip(shown.of("link"), lines, strict=True):
        np.testing.assert_allclose(space, corners, atol=6e-5)
    turning = [k for k, j in enumerate(arm.joints) if j.revolute]
    for (space, _, _), k in zip(shown.of("revolute"), turning, strict=True):
        np.testing.assert_allclose(space.mean(axis=0), places[k + 1][:3, 3], atol=1e-4)
        bar = places[k + 1][:3, 2] * 0.11 * size  # as long as a ninth of the robot's radius
        np.testing.assert_allclose(space[1] - space[0], bar, atol=2e-4)
    ((space, _, _),) = shown.of("prismatic")  # a slide sits half way along its rail
    np.testing.assert_allclose(space.mean(axis=0), lines[2][1:].mean(axis=0), atol=1e-4)
    np.testing.assert_allclose(space[1] - space[0], places[3][:3, 2] * 0.11 * size, atol=2e-4)


def test_the_floor_and_both_ends_are_marked(offset):
    """A square floor around the base, the base's axes from there, the tool's axes a little shorter."""
    arm, q, shown = offset
    size, tool = radius(arm, q, shown.centre()), frames(arm, q)[-1]
    ((floor, _, _),) = shown.of("floor")
    half = 0.35 * size
    corners = [[-half, -half, 0], [half, -half, 0], [half, half, 0], [-half, half, 0]]
    np.testing.assert_allclose(floor, [*corners, corners[0]], atol=1e-4)
    for k, name in enumerate("xyz"):
        (base, _, _), (end, _, _) = shown.of(name)
        np.testing.assert_array_equal(base[0], 0.0)
        np.testing.assert_allclose(base[1], 0.15 * size * np.eye(3)[k], atol=1e-4)
        np.testing.assert_allclose(end[0], tool[:3, 3], atol=6e-5)
        np.testing.assert_allclose(end[1] - end[0], 0.1 * size * tool[:3, k], atol=2e-4)


def test_discs_stand_at_the_masses_and_their_size_tells_them_apart(offset):
    """The heaviest has 12 pixels; beyond 3 that all have, areas go with the masses; without mass there is none."""
    arm, q, shown = offset
    heavy = [j for j in arm.joints if j.mass > 0]
    places = [T for T, j in zip(frames(arm, q)[1:], arm.joints) if j.mass > 0]
    discs = shown.of("mass")
    for (space, _, element), T, joint in zip(discs, places, heavy, strict=True):
        np.testing.assert_allclose(space[0], (T @ [*joint.com, 1.0])[:3], atol=6e-5)
        title = element.find("title").text
        assert title == f"{joint.name}: {joint.mass:g} kg"
    # 4 kg, a quarter and a sixteenth of it: beyond the 3 pixels a half and a quarter of the heaviest's
    radii = [float(element.attrib["r"]) for _, _, element in discs]
    np.testing.assert_allclose(radii, [12.0, 7.5, 5.25], atol=DRAWN)


# ---- names


def test_names_of_joints_in_one_place_stand_below_each_other():
    """A wrist: three joints in one point, and a fourth far away, which need not give way."""
    far = dynarm.Joint(mass=1.0, a=0.5, name="far")
    wrist = [dynarm.Joint(mass=1.0, alpha=0.5 * k, name=f"w{k}") for k in range(3)]
    shown = drawn(dynarm.Arm((*wrist, far)))
    texts = [
        (element.text, float(element.attrib["data-down"])) for _, _, element in shown.of("text")
    ]
    assert texts == [("w0", 0.0), ("w1", 14.0), ("w2", 28.0), ("far", 0.0)]


@pytest.mark.parametrize("name", ROBOTS)
def test_no_name_covers_another(name):
    arm = dynarm.load(name)
    shown = drawn(arm).of("text")
    assert [element.text for _, _, element in shown] == list(arm.joint_names)
    at = np.array([flat[0] for _, flat, _ in shown])
    for k in range(len(at)):
        for other in at[:k]:
            across, down = np.abs(at[k] - other)
            assert across >= 14 - 0.2 or down >= 14 - 0.2


def test_names_side_by_side_and_one_above_the_other_stay_where_they_are():
    """Only what is near both across and down gives way."""
    beside = dynarm.Arm((dynarm.Joint(mass=1.0, name="a"), dynarm.Joint(mass=1.0, a=1.0, name="b")))
    above = dynarm.Arm((dynarm.Joint(mass=1.0, name="a"), dynarm.Joint(mass=1.0, d=1.0, name="b")))
    for arm in (beside, above):
        downs = [e.attrib["data-down"] for _, _, e in drawn(arm, np.zeros(2)).of("text")]
        assert [float(x) for x in downs] == [0.0, 0.0]


def test_of_a_long_chain_names_are_told_by_pointing():
    joint = dynarm.Joint(alpha=1.2, a=0.1, mass=1.0)
    few, many = (str(sketch(dynarm.Arm((joint,) * n, name="snake"))) for n in (16, 17))
    assert few.count("<text") == 16 and many.count("<text") == 1
    assert "<title>joint9</title>" in many and "<title>joint9</title>" not in few
    assert "a little bent" in many and "point at a joint for its name" in many
