"""What the damaged files brought to light, one test each: the smallest file that showed it."""

from __future__ import annotations

import io
import re
import warnings
import zipfile
from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import Arm, DynarmError, Joint, Log, Tool, mobile
from dynarm.robot.formats.toml_file import read_toml, write_toml
from dynarm.robot.formats.urdf import arm_of_urdf
from fuzz.kinds import fits, sound
from strategies import random_urdf


@pytest.mark.parametrize(
    "joint",
    [
        Joint(mass=1e60, inertia=np.eye(3)),
        Joint(mass=1e-40, com=(1e51, 0, 0)),
        Joint(mass=1.0, inertia=np.eye(3) * 1e60),
    ],
    ids=["mass", "com", "inertia"],
)
def test_a_urdf_is_not_written_with_numbers_that_no_urdf_is_read_with(tmp_path, joint):
    with pytest.raises(DynarmError, match=r"beyond 1e\+50.*save it as \.toml"):
        Arm([joint]).save(tmp_path / "x.urdf")
    assert not list(tmp_path.iterdir())


def test_names_that_are_too_long_to_be_read_are_not_written(tmp_path):
    light = Joint(mass=1.0, inertia=np.eye(3))
    long = "x" * 1001
    for arm in (
        Arm([light], name=long),
        Arm([replace(light, name=long)]),
        Arm([light], tools=[Tool(long, 0)]),
    ):
        for ending in (".toml", ".urdf"):
            with pytest.raises(DynarmError, match="longer than 1000 letters; shorten it"):
                arm.save(tmp_path / f"x{ending}")
    made = arm_of_urdf(random_urdf(np.random.default_rng(1), 2).encode(), "x.urdf")
    # as MJCF may have
    for part in (
        {"links": (long, "b")},
        {"base_link": long},
        {"tip_link": long},
    ):
        with pytest.raises(DynarmError, match="longer than 1000 letters; shorten it"):
            replace(made, origin=replace(made.origin, **part)).save(tmp_path / "x.toml")
    Arm([light], name="x" * 1000).save(tmp_path / "x.toml")
    assert dynarm.load(tmp_path / "x.toml").name == "x" * 1000


def test_a_robot_s_name_has_a_length_as_all_names_have():
    text = random_urdf(np.random.default_rng(1), 2).replace('name="random"', f'name="{"1" * 5000}"')
    with pytest.raises(DynarmError, match=r"name of <robot> .* longer than 1000 letters"):
        arm_of_urdf(text.encode(), "x.urdf")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("axes = [[", "axes = [[1.0, ", "origin: axes"),
        ("axes = [[0.0, 0.0, 1.0]", "axes = [[0.0, 1.0, 1.0]", "axis 1 is .*not along its joint"),
        ("axes = [[0.0, 0.0, 1.0]", "axes = [[0.0, 0.0, -1.0]", "axis 1 is .*not along its joint"),
        ("axes = [[0.0, 0.0, 1.0]", "axes = [[0.0, 0.0, 0.0]", "axis 1 is .*not along its joint"),
        ("frames = [[1.0,", "frames = [[2.0,", "frame 1 is not a pose"),
        ('links = ["link1"', f'links = ["{"y" * 1001}"', "origin: links"),
    ],
)
def test_frames_of_a_file_are_its_robot_s_own(old, new, words):
    """Else the URDF that is written with them would be another robot."""
    text = """<robot name="r"><link name="base"/><link name="link1"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1"/></inertial></link><joint name="j" type="revolute"><parent link="base"/>
<child link="link1"/><axis xyz="0 0 1"/><limit effort="1" velocity="1"/></joint></robot>"""
    saved = write_toml(arm_of_urdf(text.encode(), "x.urdf"))
    for key in ("axes", "frames", "links"):  # one line each
        head, _, tail = saved.partition(f"{key} = [\n")
        rows, _, rest = tail.partition("\n]")
        saved = f"{head}{key} = [{rows.strip().rstrip(',')}]{rest}" if tail else saved
    assert read_toml(saved.encode(), "x.toml").origin.links == ("link1",)
    assert old in saved
    with pytest.raises(DynarmError, match=words):
        read_toml(saved.replace(old, new).encode(), "x.toml")


def test_an_array_s_header_is_refused_without_a_word_from_python(tmp_path):
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (3,), '\\:': 1}".ljust(117) + b"\n"
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("q.npy", b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header)
    (tmp_path / "a.npz").write_bytes(made.getvalue())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DynarmError, match="damaged or not a"):
            Log.read(tmp_path / "a.npz")


def test_the_inertia_of_a_wheel_has_a_bound_where_it_is_computed_too():
    with pytest.raises(DynarmError, match=r"wheel: spin is .*at most 1e\+50"):
        mobile.Wheel(x=0, y=0, radius=1e40, mass=1e20)
    assert mobile.Wheel(x=0, y=0, radius=0.2, mass=5).spin == 0.5 * 5 * 0.2**2


# ---- fits


def kept(old: str, new: str) -> bytes:
    text = sound(fits)[0].decode()
    assert re.search(old, text)
    return re.sub(old, new, text, count=1).encode()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (r"grades = \[[^,]+,", "grades = [", "grades of .* unknowns; save the fit again"),
        (r"grades = \[", 'grades = ["good", ', "grades of .* unknowns; save the fit again"),
        (r"gravity = \[[^]]+\]", "gravity = [1e308, 1e308, 1e308]", r"at most 1e\+50"),
        (r"rank = ", "a." * 3000 + "rank = ", "more than 64 parts"),
    ],
)
def test_a_fit_whose_parts_do_not_belong_together_is_refused(tmp_path, old, new, words):
    path = tmp_path / "fit.toml"
    path.write_bytes(kept(old, new))
    with pytest.raises(DynarmError, match=words) as caught:
        dynarm.load_fit(path)
    assert len(str(caught.value)) < 1000


def test_lengths_that_nothing_can_be_divided_by_are_none():
    light = Joint(mass=1.0, com=(0.1, 0, 0), inertia=np.eye(3))
    arm = Arm([light, replace(light, a=-1e-320)])
    assert arm.size == 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert dynarm.minimal_parameters(arm).count == 2  # both turn about one axis


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('name="b"', f'name="{"1" * 5000}"', "longer than 1000 letters; shorten it"),
        # MuJoCo takes its own message as a format, and dies of it; the process apart does
        ("<joint", '<joint class="%s%n"', "MuJoCo refuses it|its reader broke off"),
    ],
    ids=["a long name", "a format"],
)
def test_words_that_mujoco_stumbles_over(tmp_path, old, new, words):
    text = '<mujoco><worldbody><body name="b"><joint/><geom size=".1"/></body></worldbody></mujoco>'
    (tmp_path / "x.xml").write_text(text.replace(old, new))
    with pytest.raises(DynarmError, match=words) as caught:
        dynarm.load(tmp_path / "x.xml")
    assert len(str(caught.value)) < 1000
