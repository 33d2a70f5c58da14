"""What is printed of robots, models and results: one line each, short tables, pages that hold nothing but text."""

from __future__ import annotations

import inspect
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from benchmarks import simulated_fleets as fleets

import dynarm
from dynarm import simulation
from oracles.hostile import NAMES, hostile_arm

LONG = 200


@cache
def many_joints():
    joints = [dynarm.Joint(a=0.1, mass=1 / 3, com=(1 / 3,) * 3, inertia=np.eye(3) / 3)] * 60
    return dynarm.Arm([replace(j, name=f"j{k}") for k, j in enumerate(joints)], name="n" * 500)


@cache
def robot(name):
    return dynarm.mobile.load(name)


@cache
def run():
    return dynarm.simulate(dynarm.compile(hostile_arm()), [0.1] * 4, [0] * 4, 0.2)


@cache
def fleet():
    """Robots of one kind with long names."""
    rng = np.random.default_rng(0)
    arm = fleets.sound_robot(rng, dynarm.load("two_link"))
    logs = {f"{k}" + "n" * 50: fleets.recording(rng, arm, 2.0) for k in range(2)}
    return dynarm.fit_fleet(replace(arm, name="n" * 500), logs, friction=("viscous",))


def still():
    return np.zeros((50, 6)), np.zeros((50, 4)), np.zeros((50, 8))


RECORDS = {  # every public record, and those that they hold
    "arm": lambda: dynarm.load("puma560"),
    "large arm": many_joints,
    "joint": lambda: many_joints().joints[0],
    "full joint": lambda: dynarm.Joint(
        *("prismatic", 1 / 3, 1 / 3, 1 / 3, 1 / 3, 1 / 3, (1 / 3,) * 3, np.eye(3), 1 / 3),
        *(dynarm.Friction(1 / 3, 1 / 3, 1 / 3, "tanh", 1 / 3, 1 / 3, 1 / 3), "n" * 500),
        *((-1 / 3, 1 / 3), 1 / 3, 1 / 3),
    ),
    "about": lambda: dynarm.About("n" * 500, "s" * 500, "l" * 500, "i" * 500),
    "mimic": lambda: dynarm.Mimic("n" * 500, 1 / 3, 1 / 3),
    "body": lambda: dynarm.Body(1 / 3, (1 / 3,) * 3, np.eye(3) / 3),
    "tool": lambda: dynarm.Tool("n" * 500, 3, np.eye(4)),
    "friction": lambda: dynarm.Friction(1 / 3, 1 / 3, 1 / 3, "tanh", 1 / 3, 1 / 3, 1 / 3),
    "coupled": lambda: dynarm.Coupled("n" * 500, 1 / 3, 1 / 3, 1 / 3),
    "model": lambda: dynarm.compile(many_joints(), friction=True),
    "minimal": lambda: dynarm.minimal_parameters(many_joints()),
    "count": lambda: dynarm.count(dynarm.load("two_link"), "bias"),
    "shares": lambda: dynarm.term_shares(dynarm.load("two_link"), *np.ones((3, 99, 2))),
    "explicit": lambda: dynarm.explicit(dynarm.load("two_link")),
    "pruned": lambda: dynarm.prune(dynarm.load("two_link"), *np.ones((3, 99, 2))),
    "run": run,
    "trajectory": lambda: dynarm.Trajectory(
        np.arange(999.0), *[np.zeros((999, 60))] * 3, 1 / 3, many_joints().joint_names
    ),
    "dataset": lambda: dynarm.Dataset(["n" * 500] * 60, skip_bad=True),
    "fleet": fleet,
    "fleet robot": lambda: next(iter(fleet().robots.values())),
    "samples": lambda: simulation.Sampled(np.arange(999.0), np.zeros((999, 6))),
    "controller": lambda: simulation.GravityPD(run().model, np.ones(4), 1 / 3, np.ones(4)),
    "event": lambda: simulation.Event("e", lambda t, q, qd: 1.0),
    "rover": lambda: robot("tanner2001"),
    "platform": lambda: robot("tanner2001").platform,
    "wheel": lambda: robot("tanner2001").wheels[0],
    "base": lambda: robot("tanner2001").base,
    "contact": lambda: robot("tanner2001").contact(*still()),
    "tipover": lambda: robot("tanner2001").tipover(*still()),
    "admissible": lambda: robot("tanner2001").admissible(*(x[0] for x in still()), 0.5),
    "mobile run": lambda: robot("tanner2001").simulate(*(x[0] for x in still()[:2]), 0.05),
    "function": lambda: run().model.functions["gravity"],
    "Preparation": lambda: dynarm.Preparation(),
    "live payload": lambda: dynarm.LivePayload(dynarm.compile(hostile_arm()), np.ones(4)),
    "observer": lambda: dynarm.MomentumObserver(dynarm.compile(hostile_arm()), 1 / 300),
}


@pytest.mark.parametrize("name", RECORDS)
def test_one_line_each(name):
    text = repr(RECORDS[name]())
    assert len(text) < LONG and text.isprintable(), (len(text), text)


def test_every_public_class_is_looked_at():
    kinds = {type(make()).__name__ for make in RECORDS.values()}
    public = {n for n in dynarm.__all__ if inspect.isclass(getattr(dynarm, n))}
    elsewhere = {"Log", "Identifier", "PositionFit", "Column", "DynarmError", "DynarmWarning"}
    assert public - elsewhere <= kinds


def test_lines_say_what_it_is():
    arm = dynarm.load("scara")
    assert repr(arm) == "<dynarm.Arm 'scara', 4 joints RRPR>"
    assert repr(dynarm.compile(arm)) == "<dynarm.Model of 'scara', 4 joints>"
    assert repr(dynarm.Joint()) == "Joint()"
    assert repr(dynarm.Joint(a=0.5, mass=2, name="x")) == "Joint(a=0.5, mass=2.0, name='x')"
    assert repr(dynarm.Friction(0.1, 0.2)) == "Friction(viscous=0.1, coulomb=0.2)"
    minimal = dynarm.minimal_parameters(arm)
    assert f": {minimal.count} in the convention of lin1995>" in repr(minimal)
    assert repr(robot("tanner2001")).startswith("<dynarm.mobile.MobileManipulator 'tanner2001', ")
    for odd in ("a\nb", "\x1b[31m"):
        assert repr(replace(arm, name=odd)) == f"<dynarm.Arm {odd!r}, 4 joints RRPR>"


def test_large_things_print_as_short_tables():
    arm = dynarm.load("puma560")
    lines = str(arm).splitlines()
    assert lines[0] == "puma560: 6 joints, gravity (0, 0, -9.81) m/s^2" and len(lines) == 8
    assert lines[3].split() == ["joint2", "revolute", "0", "-1.5708", "0.2435", "0", "17.4"]
    assert len(str(many_joints()).splitlines()) < 50 and len(str(many_joints())) < 5000
    model = dynarm.compile(dynarm.load("two_link"))
    assert "when first used" in str(model) and not model._kernels, "nothing is compiled for it"
    model.gravity([0.0, 0.0])
    (row,) = (line for line in str(model).splitlines() if line.split()[0] == "gravity")
    assert row.split()[1] == "yes"
    minimal = dynarm.minimal_parameters(arm)
    row = str(minimal).splitlines()[2].split()
    assert row[0] == minimal.names[0] and float(row[1]) == pytest.approx(
        minimal.values[0], rel=1e-5
    )
    done = run()
    row = str(done).splitlines()[2].split()
    wanted = [done.q[0, 0], done.q[-1, 0], done.qd[-1, 0], abs(done.tau[:, 0]).max()]
    assert [float(x) for x in row[-4:]] == pytest.approx(wanted, rel=1e-5)


def hostile_run():
    return run()


@pytest.mark.parametrize(
    "make",
    [
        hostile_arm,
        lambda: dynarm.compile(hostile_arm()),
        run,
        lambda: dynarm.minimal_parameters(hostile_arm()),
    ],
    ids=["arm", "model", "run", "minimal"],
)
def test_notebook_pages_escape_hostile_names(make):
    page = make()._repr_html_()
    assert page.startswith("<table") and page.endswith("</table>")
    for name in NAMES:
        assert name not in page
    for word in ("<script", "<img", "<!--"):
        assert word not in page
    assert page.count("<tr>") >= 4 and "&lt;script&gt;" in page


def test_batches_print_as_well():
    batch = dynarm.simulate(
        dynarm.compile(dynarm.load("two_link")), np.zeros((5, 2)), [0, 0], 0.02, None, "rk4", 0.01
    )
    assert "5 samples" in str(batch).splitlines()[0] and "5 samples" in batch._repr_html_()


# ---- messages hold no robot

WRONG = {
    "compile": lambda x: dynarm.compile(x),
    "load": lambda x: dynarm.load(x),
    "joints": lambda x: dynarm.Arm(x),
    "joint": lambda x: dynarm.Arm([x]),
    "mass": lambda x: dynarm.Joint(mass=x),
    "com": lambda x: dynarm.Joint(com=x),
    "mimic": lambda x: dynarm.Joint(mimic=x),
    "multiplier": lambda x: dynarm.Mimic("master", x),
    "body": lambda x: dynarm.Body(x),
    "tool": lambda x: dynarm.Tool("tool", x),
    "friction": lambda x: dynarm.Joint(friction=x),
    "kind": lambda x: dynarm.Joint(kind=x),
    "save": lambda x: dynarm.load("two_link").save(x),
    "minimal": lambda x: dynarm.minimal_parameters(x),
    "convention": lambda x: dynarm.minimal_parameters(dynarm.load("two_link"), x),
    "count": lambda x: dynarm.count(x, "bias"),
    "quantity": lambda x: dynarm.count(dynarm.load("two_link"), x),
    "state": lambda x: run().model.gravity(x),
    "function": lambda x: run().model.functions[x],
    "simulate": lambda x: dynarm.simulate(x, [0], [0], 1.0),
    "t_end": lambda x: dynarm.simulate(run().model, [0] * 4, [0] * 4, x),
    "threads": lambda x: dynarm.set_threads(x),
    "export": lambda x: dynarm.export_c(x, "nowhere"),
    "folder": lambda x: dynarm.export_c(run().model, x),
    "mobile": lambda x: dynarm.mobile.load(x),
    "Log.read": lambda x: dynarm.Log.read(x),
    "excite": lambda x: dynarm.excite(dynarm.load("two_link"), x),
    "Identifier": lambda x: dynarm.Identifier(x),
}
HEAVY = {
    "an arm": many_joints,
    "a model": lambda: dynarm.compile(many_joints()),
    "arms": lambda: [many_joints()] * 1000,
    "a joint": lambda: many_joints().joints[0],
    "a long text": lambda: "\x1b[31mx\n" * 1000,
}


@pytest.mark.parametrize("heavy", HEAVY)
@pytest.mark.parametrize("name", WRONG)
def test_messages_are_short_and_of_one_line(name, heavy):
    value = HEAVY[heavy]()
    if (name, heavy) in (
        *(
            ("compile", "an arm"),
            ("minimal", "an arm"),
            ("count", "an arm"),
            ("Identifier", "an arm"),
        ),
        *(("simulate", "a model"), ("export", "a model"), ("joint", "a joint")),
    ):
        return  # what they are for
    with pytest.raises(dynarm.DynarmError) as caught:
        WRONG[name](value)
    text = str(caught.value)
    assert len(text) < 600 and text.isprintable(), (len(text), text[:700])
