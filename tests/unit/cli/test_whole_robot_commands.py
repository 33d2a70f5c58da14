"""Commands on whole robots: trees, free bases, mimic joints, tools, joints that are held."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from program import dynarm

import dynarm as library
from oracles.random_trees import tree_urdf
from oracles.simulated_tree import tree_log, two_arms

N = 5


@pytest.fixture(scope="module")
def robot(tmp_path_factory):
    path = tmp_path_factory.mktemp("robots") / "tree.urdf"
    path.write_text(tree_urdf(np.random.default_rng(11), N, mimic=0.4), encoding="utf-8")
    return str(path)


def test_info_tells_what_a_whole_robot_is_on_one_screen(robot):
    arm = library.load(robot, floating=True, tools=["l2", "end4"])
    text = dynarm("info", robot, "--floating", "--tool", "l2", "--tool", "end4").check().out
    lines = text.splitlines()
    assert len(lines) < 50 and max(map(len, lines)) < 200
    assert "free base" in lines[0] and f"tree of {len(_ends(arm))} ends" in lines[0]
    rows = {line.split()[0]: line.split() for line in lines[2 : 3 + N]}
    assert rows["base"][2] == "free" and float(rows["base"][3]) == pytest.approx(
        arm.floating.mass, rel=1e-5
    )
    for k, joint in enumerate(arm.joints):
        parent = arm.parents[k]
        assert rows[joint.name][2] == ("base" if parent < 0 else arm.joints[parent].name)
        if joint.mimic:
            assert re.search(rf"{joint.name} = .*{arm.joints[joint.mimic.joint].name}", text)
    assert f"q has {arm.nq} numbers, qd and tau have {arm.nv}" in text
    tips = [arm.origin.links[k] for k in range(arm.n) if k not in set(arm.parents)]
    assert f"ends (links for --tip): {', '.join(tips)}" in text and "tools: l2, end4" in text
    assert f"{library.minimal_parameters(arm).count} minimal parameters of" in text
    assert "merged, with their inertias: " in text and "gathered_newton_euler" in text


def _ends(arm):
    held = set(arm.parents)
    return [j.name for k, j in enumerate(arm.joints) if k not in held]


def test_info_as_json_has_parents_and_base(robot):
    data = json.loads(dynarm("info", robot, "--floating", "--json").check().out)
    arm = library.load(robot, floating=True)
    assert data["parents"] == {
        j.name: "base" if p < 0 else arm.joints[p].name
        for j, p in zip(arm.joints, arm.parents, strict=True)
    }
    assert set(data["mimic"]) == {j.name for j in arm.joints if j.mimic} and data["mimic"]
    assert data["coordinates"] == list(arm.coordinate_names)
    assert data["speeds"] == list(arm.speed_names)
    assert data["floating"]["mass"] == pytest.approx(arm.floating.mass)


def test_counts_are_those_of_the_formulations_that_apply(robot):
    data = json.loads(dynarm("count", robot, "--floating", "--json").check().out)
    arm = library.load(robot, floating=True)
    rows = data["tree"]["inverse_dynamics"]
    assert [row["formulation"] for row in rows] == ["gathered_newton_euler"]
    assert rows[0]["mul"] == library.count(arm, "inverse_dynamics").mul
    assert data["tree"]["forward_dynamics"]


@pytest.mark.parametrize("base", [[], ["--floating"]])
def test_compile_measures_whole_robots(robot, base):
    words = ["compile", robot, *base, "-q", "inverse_dynamics,mass_matrix_packed", "--json"]
    data = json.loads(dynarm(*words).check().out)
    assert [row["quantity"] for row in data["quantities"]] == [
        "inverse_dynamics",
        "mass_matrix_packed",
    ]


def test_held_joints_are_gone_and_move_the_rest(robot):
    arm = library.load(robot)
    name = arm.joint_names[0]
    held = library.load(robot, freeze={name: 0.4})
    words = ["simulate", robot, "--freeze", f"{name}=0.4", "--time", "0.1", "--json"]
    data = json.loads(dynarm(*words).check().out)
    run = library.simulate(library.compile(held), np.zeros(held.nq), np.zeros(held.nv), 0.1)
    np.testing.assert_allclose(data["q_end"], run.q[-1], atol=1e-6)
    assert len(data["q_end"]) < arm.nq
    assert f"held at 0.4: {name}" in dynarm("info", robot, *words[2:4]).check().out


def test_simulate_takes_joints_alone_or_the_base_too(robot):
    arm = library.load(robot, floating=True)
    model = library.compile(arm)
    words = ["simulate", robot, "--floating", "--time", "0.1", "--json"]
    upright = [0, 0, 0, 0, 0, 0, 1]
    joints = np.linspace(0.1, 0.4, len(arm.joint_names)).tolist()
    turned = [0.1, 0.2, 0.3, 0.6, 0, 0, 0.8]
    for given, q0 in (
        ("0.2", [*upright, *[0.2] * len(joints)]),
        (joints, [*upright, *joints]),
        ([*turned, *joints], [*turned, *joints]),
    ):
        text = given if isinstance(given, str) else ",".join(map(str, given))
        data = json.loads(dynarm(*words, "--q0", text, "--torque", "0.3").check().out)
        torque = [0.0] * 6 + [0.3] * len(joints)
        run = library.simulate(model, q0, np.zeros(arm.nv), 0.1, torque)
        np.testing.assert_allclose(data["q_end"], run.q[-1], atol=1e-6)
    shown = dynarm(*words[:-1]).check().out
    assert "qw 1" in shown and f"{arm.joint_names[0]} " in shown


def test_a_run_of_a_free_robot_is_saved_and_drawn(robot, tmp_path):
    words = ["simulate", robot, "--floating", "--time", "0.1", "--save", "run.npz"]
    dynarm(*words, "--html", "run.html", folder=tmp_path).check()
    with np.load(tmp_path / "run.npz") as stored:
        about = json.loads(str(stored["about"]))
        assert stored["q"].shape[1] == stored["qd"].shape[1] + 1 == len(about["coordinates"])
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert "base: quaternion" in page and "base: velocity in its axes" in page


REFUSALS = {
    "--freeze j1": "--freeze is 'j1'; give joint=position",
    "--freeze j1=30deg": "--freeze j1 is at 30deg; give radians",
    "--freeze j1=nan": "--freeze has 'nan' for j1; give finite numbers",
    "--freeze j1=1 --freeze j1=2": "--freeze holds j1 at 1 and at 2; leave one out",
    "--freeze nowhere=1": "nowhere",
    "--tool nowhere": "--tool 'nowhere'",
    "--floating --method midpoint --dt 0.001": "has a free base",
    "--floating --q0 1,2": "with x y z qx qy qz qw of the base before them",
    "--floating --q0 0,0,0,0,0,0,2,{zeros}": "--q0 has a quaternion of length 2",
    "--floating --control computed_torque": "free base",
    "--floating --save run.csv": "--save run.csv is a log of joints",
    "--payload 1": "load it with --tool link",
    "--tool l1 --tool l2 --payload 1": "--payload is carried by one tool; give --tool once",
}


@pytest.mark.parametrize("words", REFUSALS)
def test_refusals_in_the_command_line_s_words(robot, words, tmp_path):
    zeros = ",".join("0" * len(library.load(robot).joint_names))
    given = words.format(zeros=zeros).split()
    line = dynarm("simulate", robot, "--time", "0.1", *given, folder=tmp_path).refusal()
    assert REFUSALS[words] in line
    assert "floating=" not in line and "tools=" not in line and "freeze=" not in line


def test_options_of_files_are_refused_elsewhere():
    line = dynarm("count", "--n", "3", "--floating").refusal()
    assert "--floating is for a robot's file" in line
    line = dynarm("count", "--n", "3", "--tool", "hand").refusal()
    assert "--tool is for a robot's file" in line
    line = dynarm("info", "puma560", "--floating").refusal()
    assert "--floating, --tool and --freeze choose parts of a URDF" in line


def test_a_free_robot_is_identified_from_its_files(tmp_path):
    """Coordinates by name in a CSV; joints that are held and a free base are those of every command."""
    bare = [replace(j, armature=0.0, friction=None) for j in two_arms().joints]
    arm = replace(two_arms(floating=True), joints=bare)
    arm.save(tmp_path / "robot.urdf")
    free = library.load(tmp_path / "robot.urdf", floating=True)
    log = tree_log(free)
    columns = {"t": log.t} | {n: log.q[:, k] for k, n in enumerate(free.coordinate_names[:7])}
    for k in range(len(free.joint_names)):
        columns[f"q{k + 1}"] = log.q[:, 7 + k]
        columns[f"tau{k + 1}"] = log.tau[:, 6 + k]
    columns |= {n: log.tau[:, k] for k, n in enumerate(("fx", "fy", "fz", "mx", "my", "mz"))}
    pd.DataFrame(columns).to_csv(tmp_path / "log.csv", index=False)
    words = ["--floating", "--friction", "none", "--no-armature", "--json"]
    words += ["--out", str(tmp_path / "made")]
    done = dynarm("identify", str(tmp_path / "robot.urdf"), str(tmp_path / "log.csv"), *words)
    assert done.out, done.err
    told = json.loads(done.out)
    assert told["rank"] == library.minimal_parameters(free).count, done.err
