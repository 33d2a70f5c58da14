"""Parts of the robot's sheet, of a run's page and of a machine's page that depend on what is in them."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import dynarm
from dynarm.mobile.outline import outline
from dynarm.report import excitation, mobile, robot_sheet, simulation
from oracles.page_numbers import read


def parts(*sections) -> dict:
    return read(
        "".join(
            f"<section><h2>{s.title}</h2>{''.join(map(str, s.parts))}</section>" for s in sections
        )
    )


# ---- the robot's sheet


def test_the_subtitle_tells_kinds_and_mass():
    arm = dynarm.load("scara")
    mass = sum(j.mass for j in arm.joints)
    assert robot_sheet._subtitle(arm) == f"4 joints (RRPR), {mass:.4g} kg of moving links"


def test_a_joint_s_drive_and_rounding():
    joint = dynarm.Joint(
        mass=2.0, alpha=1e-12, theta=np.pi / 2, armature=0.25, name="j",
        friction=dynarm.Friction(viscous=1.5, coulomb=0.75),
    )  # fmt: skip
    row = robot_sheet._chain_row(joint)
    assert row == ["j", "revolute", 0.0, 0.0, 0.0, 90.0, 2.0, "", "Ia 0.25, Fv 1.5, Fc 0.75"]
    assert robot_sheet._chain_row(dynarm.Joint(mass=1.0, name="b"))[-1] == ""
    assert robot_sheet._tidy(1e-8) == 1e-8 and robot_sheet._tidy(-5e-10) == 0.0


def test_ranges_are_limits_a_turn_or_the_robot_s_size():
    turn, slide = dynarm.Joint(mass=1.0), dynarm.Joint(kind="prismatic", mass=1.0, d=0.7, a=0.3)
    arm = dynarm.Arm(
        (turn, slide, replace(turn, position_limits=(-1.0, 2.0)),
         replace(turn, position_limits=(-4.0, 4.0)), replace(slide, position_limits=(-9.0, 9.0)),
         replace(turn, position_limits=(-np.pi, np.pi)), replace(turn, position_limits=(0.0, 2 * np.pi)))
    )  # fmt: skip
    low, high = robot_sheet._ranges(arm)
    np.testing.assert_allclose(low, [-np.pi, 0.0, -1.0, -np.pi, -9.0, -np.pi, 0.0])
    np.testing.assert_allclose(high, [np.pi, arm.size, 2.0, np.pi, 9.0, np.pi, 2 * np.pi])
    q = robot_sheet.random_poses(arm, 500)
    assert q.shape == (500, 7) and (q >= low).all() and (q <= high).all()
    np.testing.assert_allclose(q.mean(axis=0), (low + high) / 2, atol=0.15 * (high - low).max())
    assert (robot_sheet.random_poses(arm, 5) == robot_sheet.random_poses(arm, 5, 0)).all()
    assert (robot_sheet.random_poses(arm, 5) != robot_sheet.random_poses(arm, 5, 1)).any()


def test_a_row_of_a_joint_that_feels_nothing_has_no_ratio():
    assert robot_sheet._range_row("j", np.array([2.0, 5.0, 8.0])) == ["j", 2.0, 5.0, 8.0, 4.0]
    assert robot_sheet._range_row("j", np.array([0.0, 3.0]))[-1] == ""


def inertia(diagonal):
    """A mass matrix with that diagonal: a function of q (..., n)."""

    def function(q):
        d = np.stack(np.broadcast_arrays(*diagonal(q)), axis=-1)
        return d[..., None] * np.eye(d.shape[-1])

    return function


def test_the_map_lies_over_the_joints_that_change_most_what_the_first_feels():
    arm = dynarm.Arm(tuple(dynarm.Joint(mass=1.0) for _ in range(4)))
    one = np.ones(())
    # joints 2 and 4 change what joint 1 feels; joint 3 changes a hundredfold what joint 4 feels
    strong = inertia(
        lambda q: (
            3 + np.cos(q[..., 1]) + np.cos(q[..., 3]),
            one,
            one,
            200 + 99 * np.cos(q[..., 2]),
        )
    )
    assert robot_sheet._strongest(arm, strong) == (1, 3)
    # nothing changes joint 1: what the others feel decides
    rest = inertia(lambda q: (one, one, 3 + 2 * np.cos(q[..., 3]), 3 + np.cos(q[..., 2])))
    assert robot_sheet._strongest(arm, rest) == (2, 3)
    assert (
        robot_sheet._strongest(arm, inertia(lambda q: (one, one, one, one + 0 * q[..., 0]))) is None
    )
    single = dynarm.Arm((dynarm.Joint(mass=1.0),))
    assert robot_sheet._strongest(single, inertia(lambda q: (2 + np.cos(q[..., 0]),))) is None
    two = dynarm.Arm((dynarm.Joint(mass=1.0), dynarm.Joint(mass=1.0)))
    assert robot_sheet._strongest(two, inertia(lambda q: (2 + np.cos(q[..., 1]), one))) == (0, 1)


def test_a_heat_map_shows_what_changes_and_how_alike_the_joints_are():
    """M = [[2 + c, s], [s, 1]] scaled to unit diagonal has condition (1 + r) / (1 - r), r = |s| / sqrt(2 + c)."""
    arm = dynarm.Arm((dynarm.Joint(mass=1.0, name="a"), dynarm.Joint(mass=1.0, name="b")))

    def function(q):
        c, s = np.cos(q[..., 1]), 0.5 * np.sin(q[..., 1])
        return np.stack([np.stack([2 + c, s], -1), np.stack([s, 1 + 0 * s], -1)], -2)

    drawn = robot_sheet._over_workspace(arm, function, 0, 1)
    names = [trace["name"] for trace in drawn["data"]]
    assert names == ["M[1, 1] felt by a", "log10 of the condition number, scaled"]
    assert drawn["data"][0]["z"].shape == (41, 41)
    angle = np.linspace(-np.pi, np.pi, 41)
    r = np.abs(0.5 * np.sin(angle)) / np.sqrt(2 + np.cos(angle))
    np.testing.assert_allclose(drawn["data"][1]["z"][:, 5], np.log10((1 + r) / (1 - r)), atol=1e-12)
    np.testing.assert_allclose(drawn["data"][0]["z"][:, 5], 2 + np.cos(angle))
    np.testing.assert_allclose(drawn["data"][0]["x"], np.degrees(angle))
    assert drawn["layout"]["xaxis"]["title"]["text"] == "a [°]"
    assert drawn["layout"]["yaxis"]["title"]["text"] == "b [°]"
    assert "Over a and b, the two joints" in robot_sheet._caption(arm, 0, 1)


def costs(*names: str) -> list[dict]:
    return [
        {"formulation": n, "paper": "p", "mul": 10 + k, "add": 5 + k, "path": 1,
         "mul as written": 3, "add as written": 4, "printed": ""}
        for k, n in enumerate(names)
    ]  # fmt: skip


def test_the_cheapest_and_the_next_are_named():
    part = parts(robot_sheet.cost_section({"bias": costs("one", "two", "three")}))
    text = part["Cost by formulation"].text
    assert "Cheapest: one with 10 multiplications and 5 additions; next two with 11 and 6." in text
    assert part["Cost by formulation"].figures[0]["data"][0]["y"][0] == "▸ one"
    alone = parts(robot_sheet.cost_section({"bias": costs("one")}))["Cost by formulation"].text
    assert "with 10 multiplications and 5 additions." in alone and "next" not in alone


@pytest.mark.parametrize(("count", "tall"), [(16, False), (17, True)])
def test_a_long_list_of_parameters_scrolls(count, tall):
    names = tuple(f"p{k}" for k in range(count))
    minimal = SimpleNamespace(
        names=names, values=np.arange(count) * 1.0, long_forms=names, symbolic_forms=names, count=count,
        natural=range(40), convention="lin1995", abbreviations={}, doubts=(),
    )  # fmt: skip
    section = robot_sheet.minimal_section(minimal)
    html = "".join(map(str, section.parts))
    assert ('class="scroll tall"' in html) == tall and "short form" not in html
    assert html.count('class="wide"') == 2 * count  # both long forms may wrap, names and values not
    minimal.abbreviations, minimal.doubts = {"K1": "a + b"}, ("odd",)
    html = "".join(map(str, robot_sheet.minimal_section(minimal).parts))
    assert "short form" in html and "<li>odd</li>" in html


def test_doubts_about_a_robot_stand_on_its_sheet():
    sound = dynarm.load("two_link")
    assert "<li>" not in "".join(map(str, robot_sheet.robot_section(sound).parts))
    table = sound.parameters.copy()
    table[0, 9] = 1e-9
    odd = sound.with_parameters(table)
    assert odd.check()
    html = "".join(map(str, robot_sheet.robot_section(odd).parts))
    assert html.count("<li>") == len(odd.check()) and "<li>link of joint " in html


# ---- a run's page


def one_run(**more):
    model = dynarm.compile(dynarm.load("two_link"))
    return dynarm.simulate(model, [0.3, 0.2], [0.0, 0.0], 0.05, **more)


def test_a_free_motion_has_no_torques_and_says_so():
    free, driven = one_run(), one_run(torque=[1.0, 0.0])
    for run, titles in (
        (free, ["position [°]", "velocity [°/s]"]),
        (driven, ["position [°]", "velocity [°/s]", "torque [N m]"]),
    ):
        part = parts(simulation._motion(run))["Motion"]
        assert [f["layout"]["yaxis"]["title"]["text"] for f in part.figures] == titles
        assert ("No joint is driven" in part.text) == (run is free)


def test_only_a_run_that_ended_early_is_marked():
    good = one_run()
    for status, marked in (("success", False), ("event", False), ("failed", True)):
        run = SimpleNamespace(
            status=status, message="it went wrong", t=good.t, energy=good.energy,
            unexplained=1e-9, events=[(0.02, "touch")] if marked else [],
        )  # fmt: skip
        part = parts(simulation._outcome(run))["Outcome"]
        assert ("ended early" in part.text) == marked == ("it went wrong" in part.text)
        assert len(part.tables) == marked
        if marked:
            assert part.tables[0].texts("event") == ["touch"]


def test_many_runs_are_drawn_faintly_and_only_the_first_eight():
    model = dynarm.compile(dynarm.load("two_link"))
    start = np.random.default_rng(0).uniform(-1, 1, (10, 2))
    run = dynarm.simulate(model, start, np.zeros((10, 2)), 0.02, method="rk4", dt=0.01)
    part = parts(*simulation.sections(run))
    assert "10 runs at once; the first 8 are drawn." in part["Motion"].text
    (position, _) = part["Motion"].figures
    traces = position["data"]
    assert len(traces) == 16 and {t["opacity"] for t in traces} == {0.6}
    assert [t.get("showlegend") for t in traces] == [True, True] + [False] * 14
    for k in (0, 7):
        for j in (0, 1):
            drawn = traces[2 * k + j]
            np.testing.assert_allclose(drawn["y"], np.degrees(run.q[k, :, j]), rtol=1e-4)
            assert drawn["line"]["color"] == f"--c{j + 1}"
    kinetic = part["Energy"].figures[0]["data"][0]
    np.testing.assert_allclose(kinetic["y"], run.kinetic[0], rtol=1e-4, atol=1e-12)
    assert part["Outcome"].facts["energy at the end"].startswith(f"{run.energy[0, -1]:.5g}")
    assert simulation._batch_note(one_run()) is None
    assert simulation.subtitle(run) == f"rk4, step 0.01 s, {len(run.t)} times until 0.02 s"
    assert "step" not in simulation.subtitle(one_run())


def test_a_single_curve_of_a_single_run_is_solid_and_needs_no_legend():
    run = one_run()
    drawn = parts(simulation._motion(run))["Motion"].figures[0]["data"]
    assert all("opacity" not in t for t in drawn) and [t["showlegend"] for t in drawn] == [
        True,
        True,
    ]
    alone = simulation._curves(run, run.model.arm.joint_names, [1], run.q, "x")["data"]
    assert [t["showlegend"] for t in alone] == [False]


# ---- a machine's page


@pytest.fixture
def rolling():
    robot = dynarm.mobile.load("tanner2001")
    return robot, robot.simulate(np.zeros(6), [0.4, 0, 0.3, 0], 0.5)


def test_the_animation_s_sheet_holds_all_of_it(rolling):
    robot, run = rolling
    picks = mobile._picks(run)
    assert picks[0] == 0 and picks[-1] == len(run.t) - 1 and len(picks) <= 120
    assert (np.diff(picks) > 0).all()
    shapes = [outline(robot, run.q[k]) for k in picks]
    drawn = mobile._animation(run, picks, shapes)
    every = np.concatenate([np.concatenate([s.polygon, s.arm]) for s in shapes])
    width = np.ptp(every, axis=0).max()
    for k, axis in enumerate(("xaxis", "yaxis")):
        low, high = drawn["layout"][axis]["range"]
        beyond = [every[:, k].min() - low, high - every[:, k].max()]
        np.testing.assert_allclose(beyond, 0.05 * width + 0.05)
    marker = drawn["data"][0]["marker"]
    assert marker["cmax"] == np.abs(run.measure).max() and marker["cmin"] == min(
        run.measure.min(), 0
    )
    assert [frame["traces"] for frame in drawn["frames"]] == [[2, 3, 4, 5]] * len(picks)
    assert [frame["name"] for frame in drawn["frames"]] == [str(k) for k in range(len(picks))]
    assert drawn["interval"] == 40.0  # half a second would be too quick to see
    for trace, where in zip(drawn["data"][2:], drawn["frames"][0]["data"], strict=True):
        assert trace["x"] is where["x"] and trace["y"] is where["y"]


@pytest.mark.parametrize(("end", "interval"), [(0.4, 40.0), (0.8, 80.0), (9.0, 120.0)])
def test_an_animation_takes_as_long_as_the_motion_within_bounds(end, interval):
    t = np.linspace(0.0, end, 10)
    shape = SimpleNamespace(polygon=np.eye(3, 2), arm=np.ones((2, 2)), wheels=np.zeros((1, 2, 2)))
    run = SimpleNamespace(t=t, q=np.zeros((10, 6)), measure=np.ones(10))
    assert mobile._animation(run, np.arange(10), [shape] * 10)["interval"] == pytest.approx(
        interval
    )


def test_a_polygon_is_closed_and_wheels_are_apart():
    shape = SimpleNamespace(
        polygon=np.array([[0.0, 0], [1, 0], [0, 1]]), arm=np.array([[5.0, 6], [7, 8]]),
        wheels=np.array([[[1.0, 2], [3, 4]], [[5, 6], [7, 8]]]),
    )  # fmt: skip
    polygon, arm, rims, mark = mobile._moving(shape, 1.5, -2.0)
    assert polygon["x"].tolist() == [0, 1, 0, 0] and polygon["y"].tolist() == [0, 0, 1, 0]
    assert arm["x"].tolist() == [5, 7] and arm["y"].tolist() == [6, 8]
    np.testing.assert_array_equal(rims["x"], [1, 3, np.nan, 5, 7, np.nan])
    np.testing.assert_array_equal(rims["y"], [2, 4, np.nan, 6, 8, np.nan])
    assert mark == {"x": [1.5], "y": [-2.0]}


def test_few_times_make_few_frames_and_many_are_spread_evenly():
    few = SimpleNamespace(t=np.array([0.0, 0.1, 0.5]))
    assert mobile._picks(few).tolist() == [0, 1, 2] or mobile._picks(few).tolist() == [0, 2]
    many = SimpleNamespace(t=np.linspace(2.0, 3.0, 1191))
    picks = mobile._picks(many)
    assert len(picks) == 120 and picks[0] == 0 and picks[-1] == 1190
    assert set(np.diff(picks)) <= {9, 10, 11}


def test_a_machine_that_tips_says_when_and_loses_its_friction(rolling):
    robot, run = rolling
    standing = parts(mobile._above(robot, run, outline))["View from above"]
    assert not standing.tables and run.measure.min() > 0
    assert standing.facts["most friction needed"] == f"{run.friction_needed.max():.3g}"
    assert standing.facts["length of the run"] == "0.5 s"
    tipped = SimpleNamespace(
        t=run.t, q=run.q, measure=np.where(run.t < 0.2, -1.0, run.measure), intervals=[(0.0, 0.2), (0.3, 0.35)],
        friction_needed=run.friction_needed, tipover=run.tipover,
    )  # fmt: skip
    part = parts(mobile._above(robot, tipped, outline))["View from above"]
    assert part.facts["most friction needed"] == "a wheel lifts"
    assert part.facts["time with negative margin"] == "0.25 s"
    np.testing.assert_allclose(part.tables[0].numbers("length [s]"), [0.2, 0.05])


def test_events_of_wheels_are_listed_up_to_two_hundred(rolling):
    robot, run = rolling
    events = [
        SimpleNamespace(t=0.001 * k, wheel="w", kind="contact", lost=k % 2 == 0) for k in range(205)
    ]
    told = SimpleNamespace(
        t=run.t, wheel_forces=run.wheel_forces, friction_needed=run.friction_needed,
        tipover=run.tipover, events=events,
    )  # fmt: skip
    rows, listed = parts(mobile._ground(robot, told))["Ground forces"].tables
    assert (
        listed.texts("event")[:2] == ["loses contact", "finds contact"] and len(listed.rows) == 200
    )
    np.testing.assert_allclose(
        rows.numbers("most friction needed"), run.friction_needed.max(axis=0), rtol=1e-8
    )
    told.events = []
    assert len(parts(mobile._ground(robot, told))["Ground forces"].tables) == 1


# ---- a motion's page


def test_random_motions_are_compared_with_only_where_there_are_any():
    motion = SimpleNamespace(condition=7.25, random=(np.inf,), joint_conditions=())
    assert excitation._condition(motion) == []
