"""Robot files that were damaged or made to harm: refused in one line, soon, and with little memory."""

from __future__ import annotations

import os
import random
import re
import warnings
from importlib import resources

import numpy as np
import pytest

import dynarm
from dynarm import Arm, Body, DynarmError, Joint, Mimic, Tool, mobile
from dynarm.dynamics.table import formulation
from dynarm.errors import FileError, FormatError, InputError
from dynarm.identify.design.limits import limits_of
from dynarm.plan.regularity import check_regular
from dynarm.robot.formats.toml_file import read_toml, write_toml
from dynarm.robot.formats.urdf import MAX_PARTS, arm_of_urdf
from dynarm.robot.formats.urdf_update import updated_urdf
from dynarm.robot.frames.chain import chain_of, pose
from dynarm.simulation.control import GravityPD

MUTATIONS = 300
ODD = [
    "nan", "inf", "-inf", "1e400", "1e308", "-1e308", "5e-324", "true", "''", "'x'", "[]", "[[]]", "{}", "[1]",
    "[1,2,3,4]", "[[1,2,3],[4,5,6],[7,8,9]]", "1979-05-27", "07:32:00", "1" * 400, "1" * 5000, "-1", "0", "'pi/0'",
    "'" + "9" * 900 + " deg'", "'nan deg'", "['a']", "{a=1}", "0xffffffffffffffffffff", "'\\u0000'", "[nan,nan,nan]",
    "[1e308,1e308,1e308]", "'revolute'", "[[1e308,0,0],[0,1e308,0],[0,0,1e308]]", "'" + "a" * 300 + ".toml'",
]  # fmt: skip
PIECES = ["", "\0", "=", "[", "]", "\n", "é", '"', "[[joints]]\n"]
ARM = """<robot name="r"><link name="base"/><link name="hand"><inertial><origin xyz="0.1 0 0"/><mass value="2"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link><joint name="j" type="revolute"><parent link="base"/>
<child link="hand"/><origin xyz="0 0 1" rpy="0 0 0"/><axis xyz="0 0 1"/><limit effort="{effort}" velocity="1"/>
</joint></robot>"""


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def catalogues() -> list[str]:
    folders = (resources.files("dynarm") / part / "catalogue" for part in ("robot", "mobile"))
    texts = [
        f.read_text() for folder in folders for f in folder.iterdir() if f.name.endswith("toml")
    ]
    return [*texts, *(write_toml(a_tree()) for _ in range(3))]


def a_tree() -> Arm:
    """Branches, a coupling, a free base and tools."""
    body = {"mass": 2.0, "com": (0.1, 0.2, 0.3), "inertia": np.eye(3)}
    joints = [
        Joint(name="trunk", **body),
        Joint(name="left", gamma=0.3, b=0.2, alpha=1.0, **body),
        Joint(name="right", parent=0, b=-0.2, mimic=Mimic("left", -2.0, 0.1), **body),
        Joint("prismatic", name="tail", parent=-1, **body),
    ]
    return Arm(joints, floating=Body(**body), tools=[Tool("hand", 1), Tool("eye", -1)])


def mutated(text: str, rng: random.Random) -> str:
    values = rng.random() < 0.75
    for _ in range(rng.choice([1, 1, 2, 4])):
        spots = list(re.finditer(r"=\s*([^\n#]+)", text))
        if values and spots:
            spot = rng.choice(spots)
            text = text[: spot.start(1)] + rng.choice(ODD) + text[spot.end(1) :]
        else:
            i = rng.randrange(len(text))
            text = text[:i] + rng.choice(PIECES) + text[i + rng.choice([0, 1, 5]) :]
    return text


@pytest.mark.parametrize("seed", range(4))
def test_mutated_files_load_or_are_refused(tmp_path, seed):
    rng, texts = random.Random(seed), catalogues()
    path, again = tmp_path / "r.toml", tmp_path / "again.toml"
    loaded = refused = 0
    for _ in range(MUTATIONS):
        text = mutated(rng.choice(texts), rng)
        path.write_text(text)
        try:
            if "platform" in text or "wheels" in text:
                mobile.load(path)
            else:
                arm = dynarm.load(path)
                arm.check()
                arm.save(again)
                assert dynarm.load(again) == arm
            loaded += 1
        except DynarmError as error:
            assert "\n" not in str(error) and len(str(error)) < 3000
            refused += 1
    assert loaded > 10 and refused > 100


@pytest.mark.parametrize("seed", range(2))
def test_mutated_urdfs_load_or_are_refused(seed):
    rng = random.Random(seed)
    words = ["nan", "1e999", "-1e308", "1e-320", "", "1_000", "\uff11", "\u0663", "1e50", "--1", "9" * 5000,
             "&#10;", "&#x9b;2J", "a" * 5000, "hand", "base", "fixed", "prismatic"]  # fmt: skip
    loaded = 0
    for _ in range(MUTATIONS):
        text = ARM.format(effort=1)
        for _ in range(rng.choice([1, 1, 2])):
            spot = rng.choice(list(re.finditer(r'="([^"]*)"', text)))
            text = text[: spot.start(1)] + rng.choice(words) + text[spot.end(1) :]
        if rng.random() < 0.2:
            i = rng.randrange(len(text))
            text = text[:i] + text[i + rng.choice([1, 9]) :]
        try:
            arm = arm_of_urdf(text.encode(), "r.urdf")
            assert np.isfinite(arm.parameters).all()
            loaded += 1
            assert updated_urdf(arm, text.encode(), "r.urdf").content == text.encode()
            other = arm.with_parameters(1.5 * arm.parameters)
            new = updated_urdf(other, text.encode(), "r.urdf").content
            again = arm_of_urdf(new, "r.urdf").parameters
            assert np.allclose(again, other.parameters, rtol=1e-9, atol=1e-9 * np.abs(again).max())
        except DynarmError as error:
            assert str(error).isprintable() and len(str(error)) < 3000
    assert loaded > 10


@pytest.mark.parametrize("digits", ["\uff11", "\u0663", "1_0", "1\u00a0"])
def test_digits_of_other_scripts_are_no_numbers(digits):
    with pytest.raises(FormatError, match="finite number"):
        arm_of_urdf(ARM.format(effort=digits).encode(), "r.urdf")
    with pytest.raises(FormatError, match="give radians"):
        read_toml(f"[[joints]]\nalpha = '{digits} deg'\n".encode(), "r.toml")


# ---- bounds


@pytest.mark.parametrize("text", [" " * 900, "1" + " " * 900 + "x", "+ " * 400, "\t" * 900 + "pi/"])
def test_an_angle_of_blanks_takes_no_time(text):
    with pytest.raises(FormatError, match="give radians"):
        read_toml(f"[[joints]]\nalpha = '{text}'\n".encode(), "r.toml")


def test_angles_with_blanks():
    texts = {
        "pi/2": np.pi / 2,
        " - 90   deg ": -np.pi / 2,
        "3 pi / 4": 3 * np.pi / 4,
        "2*pi": 2 * np.pi,
    }
    for text, angle in texts.items():
        arm = read_toml(f"[[joints]]\nalpha = '{text}'\n".encode(), "r.toml")
        assert arm.joints[0].alpha == pytest.approx(angle, rel=1e-15)


@pytest.mark.parametrize("head", ["{}b = 1", "[{}b]", "[[{}b]]", "x = {{ {}b = 1 }}"])
def test_a_key_of_many_parts_is_refused_before_it_is_parsed(head):
    text = head.format("a ." * 100_000).encode()
    with pytest.raises(FormatError, match="a key of more than 64 parts"):
        read_toml(text, "r.toml")


def test_dots_that_are_no_keys_do_no_harm():
    text = "# " + "." * 200 + "\nname = 'e.g. x'\n" + "[[joints]]\ncom = [0.1, 0.2, 0.3]\n" * 60
    assert read_toml(text.encode(), "r.toml").n == 60


def test_a_urdf_of_too_many_links():
    text = "<robot>" + "".join(f"<link name='l{i}'/>" for i in range(MAX_PARTS + 1)) + "</robot>"
    with pytest.raises(FormatError, match=f"at most {MAX_PARTS}"):
        arm_of_urdf(text.encode(), "r.urdf")


@pytest.mark.parametrize("ending", ["toml", "urdf"])
@pytest.mark.parametrize("load", [dynarm.load, mobile.load])
def test_only_regular_files_are_read(tmp_path, ending, load):
    if load is mobile.load and ending == "urdf":
        return
    pipe, device = tmp_path / f"pipe.{ending}", tmp_path / f"zero.{ending}"
    os.mkfifo(pipe)
    device.symlink_to("/dev/zero")
    for path, words in ((pipe, "a pipe"), (device, "a device"), (tmp_path / ("a" * 400), "")):
        with pytest.raises(DynarmError, match=words):
            load(path)
    with pytest.raises(FileError, match=r"name too long|too long for a file"):
        load(tmp_path / ("a" * 400 + "." + ending))
    large = tmp_path / f"large.{ending}"
    with large.open("wb") as file:
        file.truncate(2**34)
    with pytest.raises(FileError, match="at most"):
        load(large)


# ---- numbers that make no robot


@pytest.mark.parametrize(
    "given",
    [{"inertia": np.eye(3) * 1e308}, {"mass": 1e200}, {"armature": 1e308}, {"a": 1e200}, {"d": -1e60},
     {"mass": 1.0, "com": (1e200, 0, 0)}, {"parameters": (1e308,) * 10}],
)  # fmt: skip
def test_numbers_that_cannot_be_multiplied(given):
    with pytest.raises(InputError, match=r"too large|at most"):
        Joint(**given)


def test_the_largest_numbers_are_computed_with():
    arm = Arm(
        [
            Joint(mass=1e40, com=(1e20, 0, 0), inertia=np.eye(3) * 1e90),
            Joint(a=1e30, mass=1e30, inertia=np.eye(3) * 1e90),
        ]
    )
    chain = chain_of(arm)
    M = formulation("mass_matrix", "composite_1").function(chain, pose(chain, [0.1, 0.2]))
    assert np.isfinite(np.array(M, float)).all()
    check_regular(arm)


TEN = (2.0, 0.2, 0.0, 0.0, 0.1, 0.0, 0.12, 0.0, 0.0, 0.12)


@pytest.mark.parametrize("factor", [1e-18, 1.0, 1e18])
def test_contradictory_inertial_parameters(factor):
    """mass, com, inertia and the ten numbers may come together where they are the same, at every scale."""
    ten = tuple(factor * x for x in TEN)
    plain = Joint(parameters=ten)
    both = {"mass": plain.mass, "com": plain.com, "inertia": plain.inertia}
    assert Joint(**both, parameters=ten).parameters == ten
    slack = (ten[0] * (1 + 1e-14), *ten[1:])
    assert Joint(**both, parameters=slack).parameters == slack
    for k in (0, 1, 4, 9):
        other = tuple(x * (1 + 1e-9) if i == k else x for i, x in enumerate(ten))
        with pytest.raises(InputError, match="both given and differ"):
            Joint(**both, parameters=other)
    row = f"mass = {plain.mass!r}\ncom = {list(plain.com)}\nparameters = {[2 * x for x in ten]}\n"
    with pytest.raises(FormatError, match="both given and differ"):
        read_toml(f"[[joints]]\n{row}".encode(), "r.toml")
    twice = "[[joints]]\ninertia = [1, 1, 1]\ninertia_at_origin = [1, 1, 1]\n"
    with pytest.raises(FormatError, match="give one of inertia"):
        read_toml(twice.encode(), "r.toml")


# ---- an effort limit of 0 is none, as files write it where nobody knows the limit


@pytest.mark.parametrize(("limit", "felt"), [(None, np.inf), (0.0, np.inf), (0.5, 0.5)])
def test_an_effort_limit_of_zero_is_none(limit, felt):
    inertia = np.eye(3) * 0.1
    arm = Arm(
        [Joint(mass=1.0, com=(0.5, 0, 0), inertia=inertia, effort_limit=limit)], (0, -9.81, 0)
    )
    model = dynarm.compile(arm)
    control = GravityPD(model, lambda t: ([0.0], [0.0], [0.0]), kp=0.0, kd=0.0)
    assert control.limit.tolist() == [felt]
    pushed = control(0.0, np.zeros(1), np.zeros(1))
    assert pushed == pytest.approx([min(0.5 * 9.81, felt)])
    torque = limits_of(arm, None, None, None, None, None).torque
    assert (np.inf if torque is None else torque[0]) == felt


def test_an_effort_limit_that_is_given_counts_even_if_it_is_zero():
    arm = Arm([Joint(mass=1.0, com=(0.5, 0, 0), inertia=np.eye(3) * 0.1)], (0, -9.81, 0))
    control = GravityPD(dynarm.compile(arm), lambda t: ([0.0],) * 3, kp=0.0, kd=0.0, limit=0.0)
    assert control(0.0, np.zeros(1), np.zeros(1)).tolist() == [0.0]
    with pytest.raises(InputError, match="torques positive"):
        limits_of(arm, None, None, None, 0.0, None)


def test_effort_limits_of_files():
    assert arm_of_urdf(ARM.format(effort=0).encode(), "r.urdf").joints[0].effort_limit == 0.0
    assert arm_of_urdf(ARM.format(effort="inf").encode(), "r.urdf").joints[0].effort_limit is None
    arm = Arm([Joint(mass=1.0, inertia=np.eye(3), effort_limit=-1.0)])
    assert arm.check() == ["joint 'joint1': effort limit -1 is negative"]
