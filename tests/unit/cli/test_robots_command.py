"""dynarm robots: the list is the catalogue's."""

from __future__ import annotations

import json
import re

from program import dynarm as program

from dynarm.robot.about import about, catalogue
from dynarm.robot.files import load


def test_the_command_lists_every_robot():
    listed = json.loads(program("robots", "--json").check().out)
    assert [entry["name"] for entry in listed] == list(catalogue())
    for entry in listed:
        arm, told = load(entry["name"]), about(entry["name"])
        assert entry["joints"] == arm.n and entry["free base"] == (arm.floating is not None)
        assert abs(entry["mass [kg]"] - arm.parameters[:, 0].sum()) < 1e-12
        assert (entry["robot"], entry["source"]) == (told.title, told.source)
    text = program("robots").check().out
    assert all(
        re.search(rf"^{name} .*{re.escape(about(name).licence)}", text, re.M)
        for name in catalogue()
    )


def test_info_tells_where_a_built_in_robot_comes_from(tmp_path):
    text = program("info", "so101").check().out
    told = about("so101")
    assert f"{told.title}; inertias: {told.inertias}" in text
    assert f"Source: {told.source} ({told.licence})" in text
    assert json.loads(program("info", "two_link", "--json").check().out)["about"]["title"]
    load("two_link").save(tmp_path / "mine.toml")
    assert "Source" not in program("info", str(tmp_path / "mine.toml")).check().out
