"""`dynarm info FILE`: joints, links, ends, what is merged, held, exact or doubtful, on one screen."""

from __future__ import annotations

import json
import warnings

import pytest
from program import dynarm

import dynarm as library
from dynarm.cli.info import info
from dynarm.cli.sheet import WIDE, _branches, ends, facts, merged, show_sheet, table
from dynarm.cli.wording import options_of
from oracles.example_robots import example_robot, robots_folder

SCREEN = 40  # lines
BELOW = 10  # lines of `info` below the sheet: costs, minimal parameters, where to find more
REFUSED = {"quadrotor_base.urdf", "iris_simple.urdf", "ur3.urdf"}
FILES = [p for p in sorted(robots_folder().rglob("*.urdf")) if p.name not in REFUSED]


def loaded(path, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return library.load(path, allow_massless=True, **how)


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "free"])
def test_every_robot_fits_a_screen(floating, capsys):
    options, most = options_of(info), 0
    for path in FILES:
        arm = loaded(path, floating=floating)
        show_sheet(arm, arm.name, options, ["doubt " * 30] * 9, long=False)
        lines = capsys.readouterr().out.splitlines()
        assert max(map(len, lines)) <= WIDE, path.name
        most = max(most, len(lines))
        _, rows = table(arm)
        names = {row[0] for row in rows}
        if arm.n <= 16 and max(len(str(j.name)) for j in arm.joints) < 16:
            assert names >= {str(j.name) for j in arm.joints}
        told = "".join(facts(arm, options))
        assert all(link in told for link in ends(arm))
        assert all(name in told for group in merged(arm.origin).values() for name in group)
        assert "snap=False" not in told and ("--no-snap" in told) == bool(arm.origin.snapped)
    assert most <= 2 * SCREEN - BELOW, "a humanoid with hands and nine doubts"


def test_the_panda_loads_whole_with_its_fingers():
    path = str(example_robot("panda.urdf"))
    lines = dynarm("info", path).check().out.splitlines()
    assert len(lines) <= SCREEN and max(map(len, lines)) <= WIDE
    text = "\n".join(lines)
    rows = {line.split()[0]: line.split() for line in lines[2:11]}
    assert rows["panda_joint4"][1:4] == ["panda_link4", "panda_joint3", "revolute"]
    assert rows["panda_finger_joint2"][1:4] == ["panda_rightfinger", "panda_joint7", "prismatic"]
    assert "follow others: panda_finger_joint2 = panda_finger_joint1" in text
    assert "ends (links for --tip): panda_leftfinger, panda_rightfinger" in text
    assert (
        "merged, with their inertias: panda_link8, panda_hand, panda_hand_tcp into panda_link7"
        in text
    )
    data = json.loads(dynarm("info", path, "--json").check().out)
    assert data["ends"] == ["panda_leftfinger", "panda_rightfinger"]
    assert data["merged"] == {"panda_link7": ["panda_link8", "panda_hand", "panda_hand_tcp"]}
    arm = library.load(path)
    assert arm.nv == 8 and [j.name for j in arm.joints if j.mimic] == ["panda_finger_joint2"]


def test_branches_of_large_robots_are_folded():
    arm = loaded(example_robot("talos_full_v2.urdf"))
    columns, rows = table(arm)
    assert len(rows) <= 12 and sum("7 revolute" in row for row in rows) == 2
    assert sum(row[0].startswith("6 that follow") for row in rows) == 2
    mass = columns.index("mass [kg]")
    assert sum(float(row[mass]) for row in rows) == pytest.approx(
        sum(j.mass for j in arm.joints), rel=1e-5
    )
    links = sum(int(row[1].split()[0]) if row[1][0].isdigit() else 1 for row in rows)
    assert links == arm.n, "every joint stands in one row"


def test_a_follower_ends_a_branch():
    joints = [library.Joint(a=0.1, mass=1.0, name=f"j{k}") for k in range(18)]
    joints[5] = library.Joint(a=0.1, mass=1.0, name="j5", mimic=library.Mimic("j1"))
    groups = _branches(library.Arm(joints))
    assert groups == [[0, 1, 2, 3, 4], [5], list(range(6, 18))]


BODY = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
SMALL = "".join(
    [
        '<robot name="small">',
        *(f'<link name="{name}">{BODY}</link>' for name in "abcde"),
        *(
            f'<joint name="j{k}" type="revolute"><parent link="{a}"/><child link="{b}"/>'
            f'<origin xyz="0.3 0 0" rpy="{turn} 0 0"/><axis xyz="0 0 1"/></joint>'
            for k, (a, b, turn) in enumerate(
                [("a", "b", 0), ("b", "c", 1.5708), ("c", "d", -1.5708), ("d", "e", 1.5708)]
            )
        ),
        "</robot>",
    ]
)


def test_what_is_held_and_what_is_exact(tmp_path):
    (tmp_path / "small.urdf").write_text(SMALL)
    words = ["info", "small.urdf", "--tip", "d", "--freeze", "j1=0.5"]
    text = dynarm(*words, folder=tmp_path).check().out
    assert "held at 0.5: j1 (revolute)" in text and "frozen at zero: j3 (revolute)" in text
    assert "taken as exact: 1.5708 as pi/2 in 'j1', 'j3'; -1.5708 as -pi/2 in 'j2'" in text
    arm = library.load(tmp_path / "small.urdf", tip="d", freeze={"j1": 0.5})
    change = arm.check()[-1].split("at most ")[1].split(" N m")[0]
    assert f"torques change by at most {change} N m" in text and 1e-7 < float(change) < 1e-3
    assert "load with --no-snap to keep" in " ".join(text.split()) and "Ixx" not in text
    long = dynarm(*words, "--no-snap", "--long", folder=tmp_path).check().out
    assert "taken as exact" not in long and "minimal parameters of 20 natural ones" in long
    assert "Operations: mass_matrix" in long and "Operations: mass_matrix" not in text


def test_combinations_of_hundreds_of_terms_are_cut_and_said_to_be(capsys):
    from dynarm.cli.info import FORM, show_minimal

    joint = library.Joint(alpha=1.2, a=0.1, mass=1.0, com=(0.05, 0.01, 0.02))
    minimal = library.minimal_parameters(library.Arm((joint,) * 24, name="snake"))
    longest = max(minimal.long_forms, key=len)
    assert len(longest) > FORM
    show_minimal(minimal, long=False)
    short = capsys.readouterr().out
    assert longest not in short and f"({len(longest)} letters in all; --long" in short
    assert longest[: FORM - 100] in short
    show_minimal(minimal)
    assert longest in capsys.readouterr().out
