"""What a model may not do, whatever it says: take long, take memory, read files, or drive its reader into the wall."""

from __future__ import annotations

import json
import struct
import time

import pytest

import dynarm
from dynarm import DynarmError
from dynarm.border.apart import asked
from dynarm.errors import FormatError

CHILD = "dynarm.robot.formats.mjcf_child"
BODY = '<body name="b"><joint/><geom size=".1"/></body>'
MODEL = "<mujoco><asset>{}</asset><worldbody>{}</worldbody></mujoco>"


def request(text, **assets):
    head = {"text": text, "assets": [[name, len(data)] for name, data in assets.items()]}
    return json.dumps(head).encode() + b"\n" + b"".join(assets.values())


def replicated(count, inside=BODY):
    return f'<replicate count="{count}" offset="1 0 0">{inside}</replicate>'


def test_the_child_answers():
    said = asked(CHILD, request(MODEL.format("", BODY)), "toy", 60.0)
    assert [row["name"] for row in said["bodies"]] == ["world", "b"]


def test_the_child_is_ended_when_it_takes_too_long():
    began = time.monotonic()
    text = MODEL.format("", replicated(2_000_000_000))
    with pytest.raises(FormatError, match=r"toy: not read after 2 seconds; make the file smaller"):
        asked(CHILD, request(text), "toy", 2.0)
    assert time.monotonic() - began < 30  # a second Python starts in the meantime


def test_the_child_gets_no_gigabyte():
    field = '<hfield name="h" nrow="30000" ncol="30000" size="1 1 1 1"/>'
    with pytest.raises(FormatError, match="memory"):
        asked(CHILD, request(MODEL.format(field, BODY)), "toy", 60.0)


def tetrahedron():
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    rows = [struct.pack("<12fH", 0, 0, 0, *(x for k in f for x in corners[k]), 0) for f in faces]
    return bytes(80) + struct.pack("<I", len(faces)) + b"".join(rows)


def test_the_child_opens_no_file(tmp_path):
    path = tmp_path / "beside.stl"
    path.write_bytes(tetrahedron())
    body = '<body><joint/><geom type="mesh" mesh="m"/></body>'
    sent = request(MODEL.format('<mesh name="m" file="a.stl"/>', body), **{"a.stl": tetrahedron()})
    assert asked(CHILD, sent, "toy", 60.0)["bodies"][1]["mass"] > 0
    named = request(MODEL.format(f'<mesh name="m" file="{path}"/>', body))
    with pytest.raises(FormatError, match="MuJoCo refuses it"):
        asked(CHILD, named, "toy", 60.0)


@pytest.mark.parametrize(
    "inside",
    [
        replicated(2_000_000_000),
        replicated(10, replicated(10, replicated(1000))),
        replicated(2_000_000_000, ""),
        replicated("1e9"),
    ],
    ids=["many", "nested", "of nothing", "digits"],
)
def test_endless_copies_are_refused_before(inside, tmp_path, monkeypatch):
    monkeypatch.setattr("dynarm.robot.formats.mjcf.asked", None)
    (tmp_path / "r.xml").write_text(MODEL.format("", BODY + inside))
    with pytest.raises(DynarmError, match="<replicate> and <attach> make more than 50000 elements"):
        dynarm.load(tmp_path / "r.xml")


def test_models_that_attach_models_that_attach_models(tmp_path, monkeypatch):
    monkeypatch.setattr("dynarm.robot.formats.mjcf.asked", None)
    for k in range(12):
        twice = "".join(
            f'<frame><attach model="m" body="b" prefix="{x}"/></frame>' for x in "pqrstuvw"
        )
        inner = f'<model name="m" file="{k + 1}.xml"/>' if k < 11 else ""
        body = f'<body name="b">{twice if k < 11 else ""}<geom size=".1"/></body>'
        (tmp_path / f"{k}.xml").write_text(MODEL.format(inner, body))
    with pytest.raises(DynarmError, match="make more than 50000 elements"):
        dynarm.load(tmp_path / "0.xml")


NEEDED = '<body name="bare"><joint/><geom type="mesh" mesh="m"/></body>'


@pytest.mark.parametrize(
    "file", ["../secret.stl", "link.stl", "sub/../../secret.stl", "/etc/hostname"]
)
def test_meshes_are_read_below_the_folder_only(file, tmp_path):
    (tmp_path / "in" / "sub").mkdir(parents=True)
    (tmp_path / "secret.stl").write_bytes(b"solid")
    (tmp_path / "in" / "link.stl").symlink_to(tmp_path / "secret.stl")
    path = tmp_path / "in" / "r.xml"
    path.write_text(MODEL.format(f'<mesh name="m" file="{file}"/>', NEEDED))
    with pytest.raises(DynarmError, match="not below its own folder"):
        dynarm.load(path)


@pytest.mark.parametrize(
    "said", ['axis="0 1 nan"', 'armature="inf"', 'range="-1e300 1e300"', 'pos="1e200 0 0"'], ids=str
)
def test_numbers_that_are_none(said, tmp_path):
    body = f'<body><joint {said}/><geom size=".1"/></body>'
    (tmp_path / "r.xml").write_text(MODEL.format("", body))
    with pytest.raises(DynarmError):
        dynarm.load(tmp_path / "r.xml")


def test_turns_without_a_direction(tmp_path):
    body = '<body quat="1e300 1e300 0 0"><joint/><geom size=".1"/></body>'
    (tmp_path / "r.xml").write_text(MODEL.format("", body))
    with pytest.raises(DynarmError, match=r"quat of 'unnamed'.*no direction"):
        dynarm.load(tmp_path / "r.xml")
