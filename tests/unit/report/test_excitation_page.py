"""The page of an exciting motion: what is drawn is read back and compared with the motion."""

from __future__ import annotations

import html
import json
import re

import numpy as np
import pytest

import dynarm
from dynarm.report.excitation import page
from dynarm.report.motion_picture import picture

BOX = ((-1.5, -0.5, -0.2), (1.5, 0.5, 2.5))
ARM = dynarm.load("two_link")


@pytest.fixture(scope="module")
def motion():
    return dynarm.excite(ARM, 10.0, torque=40.0, box=BOX, starts=1, iterations=5, progress=False)


@pytest.fixture(scope="module")
def text(motion, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "motion.html"
    page(ARM, motion, path)
    return path.read_text(encoding="utf-8")


def plots(text):
    data = re.findall(r'<script type="application/json">(.*?)</script>', text, re.DOTALL)
    return [json.loads(one) for one in data]


def titled(text, word):
    (plot,) = [p for p in plots(text) if word in json.dumps(p["layout"].get("yaxis", ""))]
    return plot["data"]


@pytest.mark.parametrize(
    "word, values, limit",
    [
        ("speed", "qd", "velocity"),
        ("acceleration", "qdd", "acceleration"),
        ("torque", "tau", "torque"),
    ],
)
def test_curves_and_limits_are_those_of_the_motion(text, motion, word, values, limit):
    data = titled(text, word)
    curves = {t["name"]: t for t in data if t["line"].get("dash") is None}
    assert list(curves) == list(ARM.joint_names)
    for j, curve in enumerate(curves.values()):
        column = getattr(motion, values)[:, j]
        assert max(curve["y"]) == pytest.approx(column.max(), rel=1e-4)
        assert min(curve["y"]) == pytest.approx(column.min(), rel=1e-4)
        edges = [t for t in data if t["name"] == f"{ARM.joint_names[j]}, limit"]
        allowed = getattr(motion.kept, limit)[j]
        assert all(abs(t["y"][0]) == pytest.approx(allowed) for t in edges)
        assert all(t["line"]["color"] == curve["line"]["color"] for t in edges)
    if values == "qd":
        assert len(data) > 2  # a motion that is worth something nears its speeds


def test_numbers_of_the_page(text, motion):
    assert f"{motion.condition:.3g}" in text
    gain = np.median(motion.random) / motion.condition
    assert f"{gain:.2g} ×" in text
    top = np.abs(motion.tau[:, 0]).max()
    assert f"{top:.3g} of 40 ({top / 40:.0%})" in html.unescape(text)
    for line in (*motion.checked, *motion.unchecked):
        assert line in html.unescape(text)


def test_the_picture_shows_robot_path_floor_and_box(motion):
    svg = str(picture(ARM, motion))
    moved = re.findall(
        r'attributeName="points" dur="10s" repeatCount="indefinite" values="(.*?)"', svg
    )
    assert len(moved) == ARM.n + 1  # links and the tool's
    frames = [line.split(";") for line in moved]
    assert len({len(one) for one in frames}) == 1 and 100 < len(frames[0]) <= 160
    assert len(set(frames[-1])) > 50
    assert svg.count("stroke-dasharray:6 4") == 12 and "z = 0 m" in svg and "box of the tool" in svg
    numbers = np.array([float(x) for x in re.findall(r"-?\d+\.\d+(?=,)", svg)])
    assert numbers.min() >= 0 and numbers.max() <= 760  # nothing is cut off
    free = dynarm.excite(ARM, 10.0, floor=False, collisions=False, starts=1, iterations=0)
    bare = str(picture(ARM, free))
    assert "stroke-dasharray" not in bare and "floor" not in bare


def test_a_motion_that_nothing_is_known_of_has_a_page_too(tmp_path):
    t = np.linspace(0, 1, 11)
    q = np.column_stack([np.sin(t), np.cos(t)])
    bare = dynarm.identify.design.trajectory.Trajectory(t, q, q, q, 5.0, ("<a>", "</script>"))
    page(ARM, bare, tmp_path / "x.html")
    text = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert "no limit known" in text or "–" in text
    assert "<a>" not in re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
