"""Reading URDFs: the rules of `load`, and everything that is refused."""

from __future__ import annotations

import contextlib
import math
import re
import warnings

import numpy as np
import pytest

from dynarm import DynarmError, DynarmWarning, Friction, Mimic, load
from dynarm.robot.formats.elements import MAX_DEPTH
from dynarm.robot.formats.tree import MAX_JOINTS
from dynarm.robot.formats.urdf import arm_of_urdf
from strategies import URDF_STYLES, random_urdf

BODY = '<inertial><mass value="{m}"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'


def link(name: str, mass: float | None = 1.0, inside: str = "") -> str:
    return f'<link name="{name}">{BODY.format(m=mass) if mass is not None else ""}{inside}</link>'


def joint(
    name: str,
    parent: str,
    child: str,
    kind: str = "revolute",
    inside: str = "",
    axis: str = "0 0 1",
) -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="0.1 0 0.2"/><axis xyz="{axis}"/>{inside}</joint>'
    )


def robot(*parts: str, name: str = "toy") -> str:
    return f'<robot name="{name}">{"".join(parts)}</robot>'


def read(text: str | bytes, **options):
    content = text if isinstance(text, bytes) else text.encode()
    return arm_of_urdf(content, "toy.urdf", **options)


CHAIN = (link("base", None), link("a"), link("b"), joint("j1", "base", "a"), joint("j2", "a", "b"))
GRIPPER = (  # an arm of two joints with a mimic gripper, a fixed flange and a tool frame
    *CHAIN,
    link("flange", 0.5),
    joint("weld", "b", "flange", "fixed"),
    link("tcp", None),
    joint("weld2", "flange", "tcp", "fixed"),
    link("left", 0.1),
    joint("f1", "flange", "left", "prismatic"),
    link("right", 0.1),
    joint("f2", "flange", "right", "prismatic", '<mimic joint="f1"/>'),
)


# ---- what the chain is


def test_default_chain_runs_from_the_root_to_the_only_movable_end():
    arm = read(robot(*CHAIN, link("tcp", None), joint("weld", "b", "tcp", "fixed")))
    assert arm.name == "toy"
    assert arm.joint_names == ("j1", "j2")
    assert arm.origin.base_link == "base"
    assert arm.origin.links == ("a", "b")
    assert arm.origin.tip_link is None
    # the tool is the frame of the last moving link, not of what is fixed to it
    T = arm.base_pose
    for j in arm.joints:
        T = T @ j.displacement()
    assert np.allclose((T @ arm.tool_pose)[:3, 3], [0.2, 0, 0.4])


def test_a_tip_fixed_to_the_last_link_is_the_tool():
    arm = read(robot(*GRIPPER), tip="tcp")
    assert arm.joint_names == ("j1", "j2")
    assert arm.origin.tip_link == "tcp"
    T = arm.base_pose
    for j in arm.joints:
        T = T @ j.displacement()
    assert np.allclose((T @ arm.tool_pose)[:3, 3], [0.4, 0, 0.8])


def test_without_a_tip_the_robot_is_whole():
    arm = read(robot(*GRIPPER))
    assert [j.name for j in arm.joints] == ["j1", "j2", "f1", "f2"]
    assert arm.joint_names == ("j1", "j2", "f1")
    assert arm.parents == (-1, 0, 1, 1)
    assert arm.joints[3].mimic == Mimic(2)
    assert arm.parameters[:, 0] == pytest.approx([1.0, 1.5, 0.1, 0.1])
    assert arm.all_tools == ()


def test_joints_off_the_chain_are_frozen_and_merged():
    arm = read(robot(*GRIPPER), tip="tcp")
    assert arm.parameters[:, 0] == pytest.approx([1.0, 1.7])
    notes = "; ".join(arm.origin.notes)
    assert "merged into link 'b'" in notes
    assert "frozen at zero: f1 (prismatic), f2 (prismatic, mimic)" in notes
    with pytest.raises(DynarmError, match=r"f1 .prismatic.*freeze=True"):
        read(robot(*GRIPPER), tip="tcp", freeze=False)


def test_base_and_tip_anywhere():
    parts = [link("l0"), *(link(f"l{i}") for i in range(1, 6))]
    parts += [joint(f"j{i}", f"l{i - 1}", f"l{i}") for i in range(1, 6)]
    arm = read(robot(*parts), base="l1", tip="l3")
    assert arm.joint_names == ("j2", "j3")
    assert arm.parameters[:, 0].tolist() == [1.0, 3.0]  # l4 and l5 ride on l3
    with pytest.raises(DynarmError, match="'l1' does not hang on base 'l3'"):
        read(robot(*parts), base="l3", tip="l1")
    with pytest.raises(DynarmError, match="no movable joint"):
        read(robot(*parts), base="l3", tip="l3")
    with pytest.raises(DynarmError, match="unknown link for tip 'l33'; did you mean l3"):
        read(robot(*parts), tip="l33")


def test_wanted_joints():
    text = robot(*GRIPPER)
    assert read(text, tip="b", joints=["j1", "j2"]).n == 2
    assert read(text, joints=["j1", "j2"]).joint_names == ("j1", "j2")  # they choose the chain, too
    with pytest.raises(DynarmError, match="another order"):
        read(text, joints=["j2", "j1"])
    with pytest.raises(DynarmError, match="not the joints of the chain"):
        read(text, tip="left", joints=["j1", "j2"])
    with pytest.raises(DynarmError, match="unknown joint 'jj'"):
        read(text, joints=["j1", "jj"])


@pytest.mark.parametrize("kind", ["floating", "planar"])
def test_joints_of_several_degrees_are_refused_on_the_chain_only(kind):
    parts = [link("world", None), *CHAIN, joint("free", "world", "base", kind)]
    with pytest.raises(DynarmError, match=f"'free' on the chain is {kind}"):
        read(robot(*parts))
    assert read(robot(*parts), base="base").n == 2
    beside = [*CHAIN, link("puck", 0.3), joint("free", "a", "puck", kind)]
    assert read(robot(*beside), tip="b").parameters[0, 0] == 1.3


def test_a_mimic_joint_on_the_chain_is_held_with_its_master():
    arm = read(robot(*GRIPPER), tip="right")
    assert arm.joint_names == ("j1", "j2")
    assert arm.origin.tip_link == "right"
    assert "f2 (prismatic, mimic) as it follows 'f1'" in arm.origin.notes[-1]
    assert read(robot(*GRIPPER), tip="left").n == 3


# ---- what a joint is


def test_kinds_limits_and_friction():
    inside = '<limit lower="-1" upper="2" velocity="3" effort="4"/><dynamics damping="0.5" friction="0.25"/>'
    parts = [
        link("w", None),
        *(link(x) for x in "abc"),
        joint("r", "w", "a", "revolute", inside),
        joint(
            "c", "a", "b", "continuous", '<limit velocity="3" effort="4"/><dynamics damping="0"/>'
        ),
        joint(
            "p",
            "b",
            "c",
            "prismatic",
            '<limit lower="-inf" upper="inf" velocity="inf" effort="1e308"/>',
        ),
    ]
    arm = read(robot(*parts))
    r, c, p = arm.joints
    assert [j.kind for j in arm.joints] == ["revolute", "revolute", "prismatic"]
    assert arm.origin.kinds == ("revolute", "continuous", "prismatic")
    assert r.position_limits == (-1.0, 2.0)
    assert (r.velocity_limit, r.effort_limit) == (3.0, 4.0)
    assert r.friction == Friction(viscous=0.5, coulomb=0.25)
    assert (c.position_limits, c.velocity_limit, c.friction) == (None, 3.0, None)
    assert (p.position_limits, p.velocity_limit, p.effort_limit) == (None, None, None)


def test_axis_is_normalised_and_defaults_to_x():
    text = robot(
        *CHAIN[:3],
        joint("j1", "base", "a", axis="0 0 -2"),
        CHAIN[4].replace('<axis xyz="0 0 1"/>', ""),
    )
    arm = read(text)
    assert arm.origin.axes == ((0.0, 0.0, -1.0), (1.0, 0.0, 0.0))


def test_inertial_frame_is_turned_and_moved():
    inertial = (
        '<inertial><origin xyz="0.1 0.2 0.3" rpy="0 0 1.5707963267948966"/><mass value="2"/>'
        '<inertia ixx="1" ixy="0" ixz="0" iyy="2" iyz="0" izz="2.5"/></inertial>'
    )
    arm = read(robot(link("w", None), f'<link name="a">{inertial}</link>', joint("j", "w", "a")))
    m, x, y, z, *_ = arm.urdf_parameters[0]
    assert (m, x, y, z) == (2.0, 0.2, 0.4, 0.6)
    assert arm.urdf_parameters[0][4] == pytest.approx(2 + 2 * (0.04 + 0.09))
    assert arm.urdf_parameters[0][6] == pytest.approx(1 + 2 * (0.01 + 0.09))


def test_urdf_parameters_are_about_the_urdf_frames():
    rng = np.random.default_rng(4)
    text = random_urdf(rng, 5, fixed=0.0)
    arm = read(text)
    masses = arm.urdf_parameters[:, 0]
    assert np.array_equal(masses, arm.parameters[:, 0])
    assert not np.allclose(arm.urdf_parameters, arm.parameters)
    for line in text.splitlines():
        if line.startswith('<link name="link3"'):
            com = np.array([float(x) for x in line.split('xyz="')[1].split('"')[0].split()])
    assert np.allclose(arm.urdf_parameters[2, 1:4], masses[2] * com, atol=1e-13)


def test_gravity_is_an_option():
    assert read(robot(*CHAIN)).gravity == (0.0, 0.0, -9.81)
    assert read(robot(*CHAIN), gravity=(9.81, 0, 0)).gravity == (9.81, 0.0, 0.0)


# ---- physics


def test_moving_links_without_inertia_are_named():
    parts = [link("w"), link("a", None), link("b"), link("c", None), link("d", None)]
    parts += [
        joint("j1", "w", "a"),
        joint("j2", "a", "b"),
        joint("j3", "b", "c"),
        joint("weld", "c", "d", "fixed"),
    ]
    with pytest.raises(DynarmError, match=r"moving links 'a', 'c' and .*allow_massless=True"):
        read(robot(*parts))
    arm = read(robot(*parts), allow_massless=True)
    assert arm.parameters[:, 0].tolist() == [0.0, 1.0, 0.0]
    assert not arm.parameters[[0, 2]].any()


def test_impossible_inertia_warns_or_is_refused(tmp_path):
    bad = BODY.format(m=1).replace('izz="1"', 'izz="9"')
    path = tmp_path / "bad.urdf"
    path.write_text(robot(link("w"), f'<link name="a">{bad}</link>', joint("j", "w", "a")))
    with pytest.warns(DynarmWarning, match=r"joint 'j'.*triangle inequality"):
        arm = load(path)
    assert len(arm.check()) == 1
    with pytest.raises(DynarmError, match=r"triangle inequality.*strict=False"):
        load(path, strict=True)
    good = tmp_path / "good.urdf"
    good.write_text(robot(*CHAIN))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load(str(good), strict=True).check() == []


# ---- refused

WINDOWS = robot(*CHAIN).replace("><", ">\r\n<")


def test_windows_line_endings_bom_and_other_scripts():
    assert read(WINDOWS).n == 2
    assert read(b"\xef\xbb\xbf" + robot(*CHAIN).encode()).n == 2
    text = robot(*CHAIN, name="bras n°5").replace('"j1"', '"épaule 関節"')
    arm = read(text)
    assert arm.name == "bras n°5"
    assert arm.joint_names[0] == "épaule 関節"
    latin = ('<?xml version="1.0" encoding="iso-8859-1"?>' + robot(*CHAIN, name="é")).encode(
        "latin-1"
    )
    assert read(latin).name == "é"


def test_skipped_parts_are_not_read():
    mesh = '<visual><origin xyz="nonsense"/><geometry><mesh filename="file:///etc/passwd"/></geometry></visual>'
    text = robot(
        *CHAIN[:2],
        link("b", 1.0, mesh),
        *CHAIN[3:],
        "<transmission><joint name='j1'/></transmission>",
    )
    assert read(text).n == 2


BOMB = '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>' + robot(
    *CHAIN, name="&b;"
)
EXTERNAL = '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + robot(*CHAIN, name="&x;")

REFUSED = {
    "an entity bomb": (BOMB, "DOCTYPE"),
    "an external entity": (EXTERNAL, "DOCTYPE"),
    "an external subset": (
        '<!DOCTYPE r SYSTEM "http://example.org/r.dtd">' + robot(*CHAIN),
        "DOCTYPE",
    ),
    "an undefined entity": (robot(*CHAIN, name="&b;"), "not well-formed"),
    "broken XML": (robot(*CHAIN)[:-9], "not well-formed XML"),
    "nothing": ("", "not well-formed XML"),
    "no XML": ("joint = 3", "not well-formed XML"),
    "an unknown encoding": (
        '<?xml version="1.0" encoding="klingon"?>' + robot(*CHAIN),
        "klingon|encoding",
    ),
    "deep nesting": (
        robot(*CHAIN, "<a>" * (MAX_DEPTH + 1) + "</a>" * (MAX_DEPTH + 1)),
        "nested deeper",
    ),
    "MJCF": ("<mujoco/>", "MuJoCo MJCF"),
    "SDF": ('<sdf version="1.7"/>', "an SDF file"),
    "another root": ("<html/>", "<html>, not <robot>"),
    "a macro": (robot(*CHAIN, '<xacro:include filename="x"/>'), "xacro macro; expand"),
    "a macro inside": (
        robot(*CHAIN, link("x", None, '<xacro:body m="1"/>')),
        "xacro macro; expand",
    ),
    "an expression": (robot(*CHAIN).replace("0.1 0 0.2", "${a} 0 0"), "xacro expression, expand"),
    "no link": (robot(), "no <link>"),
    "no joint": (robot(link("a")), "no movable joint"),
    "only fixed joints": (
        robot(link("a"), link("b"), joint("j", "a", "b", "fixed")),
        "no movable joint",
    ),
    "two links of one name": (robot(*CHAIN, link("a")), "several links named 'a'"),
    "two joints of one name": (
        robot(*CHAIN, link("c"), joint("j1", "b", "c")),
        "several joints named 'j1'",
    ),
    "an unknown parent": (
        robot(*CHAIN[:3], joint("j", "basis", "a")),
        "parent 'basis', but there is no such",
    ),
    "an unknown child": (
        robot(*CHAIN[:3], joint("j", "base", "z")),
        "child 'z', but there is no such",
    ),
    "two roots": (robot(*CHAIN, link("island")), "several roots: 'base', 'island'"),
    "a loop": (robot(*CHAIN, joint("j3", "base", "b")), "'b' hangs on two joints, 'j2' and 'j3'"),
    "a ring": (
        robot(
            *CHAIN[:3],
            link("c"),
            joint("j1", "a", "b"),
            joint("j2", "b", "c"),
            joint("j3", "c", "a"),
        ),
        "form a loop",
    ),
    "a joint on itself": (robot(link("a"), joint("j", "a", "a")), "form a loop"),
    "a link without a name": (robot("<link/>"), "<link> has no name"),
    "a joint without a name": (robot(*CHAIN, '<joint type="fixed"/>'), "<joint> has no name"),
    "a joint without a parent": (robot(*CHAIN, '<joint name="x" type="fixed"/>'), "no <parent>"),
    "an unknown kind": (robot(*CHAIN[:4], joint("j2", "a", "b", "hinge")), "type 'hinge'"),
    "a zero axis": (robot(*CHAIN[:4], joint("j2", "a", "b", axis="0 0 0")), "'j2' has axis 0 0 0"),
    "a short axis": (
        robot(*CHAIN[:4], joint("j2", "a", "b", axis="0 1")),
        'xyz="0 1".*3 finite numbers',
    ),
    "NaN in an axis": (
        robot(*CHAIN[:4], joint("j2", "a", "b", axis="0 nan 1")),
        "3 finite numbers",
    ),
    "NaN in an inertia": (robot(*CHAIN).replace('izz="1"', 'izz="NaN"'), "izz.*1 finite number"),
    "an infinite mass": (robot(*CHAIN).replace('value="1.0"', 'value="inf"'), "1 finite number"),
    "commas": (robot(*CHAIN).replace("0.1 0 0.2", "0.1, 0, 0.2"), "separated by spaces"),
    "underscores": (robot(*CHAIN).replace("0.1 0 0.2", "0.1 0 1_0"), "3 finite numbers"),
    "a word for a number": (robot(*CHAIN).replace('value="1.0"', 'value="heavy"'), 'value="heavy"'),
    "a missing inertia entry": (robot(*CHAIN).replace(' izz="1"', ""), "no izz"),
    "a negative mass": (
        robot(*CHAIN).replace('value="1.0"', 'value="-1"'),
        "mass -1.0; a mass cannot be",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what):
    text, message = REFUSED[what]
    with pytest.raises(DynarmError, match=message):
        read(text)


def test_messages_name_file_and_line():
    text = robot(*CHAIN).replace("><", ">\n<").replace('izz="1"', 'izz="x"')
    with pytest.raises(DynarmError, match=r"toy\.urdf, line 7: <inertia izz="):
        read(text)


def test_long_chains():
    def tower(n):
        links = [link(f"l{i}") for i in range(n + 1)]
        return robot(*links, *(joint(f"j{i}", f"l{i}", f"l{i + 1}") for i in range(n)))

    assert read(tower(40)).n == 40
    with pytest.raises(DynarmError, match=f"at most {MAX_JOINTS}"):
        read(tower(MAX_JOINTS + 1))
    welded = tower(3000).replace('type="revolute"', 'type="fixed"')
    welded = welded.replace('"j2999" type="fixed"', '"j2999" type="revolute"')
    assert read(welded).n == 1  # deep trees need no deep recursion


def test_quarter_turns_written_in_full_are_exact():
    inside = '<origin xyz="0 0 1" rpy="1.5707963267948966 0 -3.141592653589793"/>'
    text = robot(*CHAIN[:4], CHAIN[4].replace('<origin xyz="0.1 0 0.2"/>', inside))
    assert abs(read(text).joints[1].alpha) == math.pi / 2
    rounded = text.replace("1.5707963267948966", "1.5708")
    assert abs(read(rounded, snap=False).joints[1].alpha) == 1.5708
    assert abs(read(rounded).joints[1].alpha) == math.pi / 2


NUMBERS = (
    "1e308",
    "-1e50",
    "1e-320",
    "0",
    "nan",
    "",
    "1e20",
    "-0.0",
    "1e-160",
    "1.5707963267948966",
)


@pytest.mark.parametrize("seed", range(4))
def test_damaged_files_are_read_or_refused(seed):
    """Whatever number or byte is changed, the answer is an arm or a DynarmError, without arithmetic warnings."""
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(40):
            n = int(rng.integers(1, 5))
            text = random_urdf(rng, n, style=URDF_STYLES[seed])
            for _ in range(int(rng.integers(1, 4))):
                places = [m.span() for m in re.finditer(r"-?\d+\.\d+(e-?\d+)?", text)]
                start, end = places[rng.integers(len(places))]
                text = text[:start] + NUMBERS[rng.integers(len(NUMBERS))] + text[end:]
            if rng.random() < 0.2:
                k = int(rng.integers(len(text)))
                text = text[:k] + '<>&/"x'[rng.integers(6)] + text[k + 1 :]
            with contextlib.suppress(DynarmError):
                assert read(text, tip=f"link{n}").n == n
