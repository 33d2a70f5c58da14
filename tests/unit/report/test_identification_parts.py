"""Parts of an identification's page and of the demo's control, from records whose numbers are known."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest

import dynarm
from dynarm.cli import story as steps
from dynarm.identify.friction.choice import Tried
from dynarm.identify.friction.selection import Choice
from dynarm.identify.judgement.verdict import Validation
from dynarm.identify.preprocess import Recording
from dynarm.report import identification, mobile, torques
from dynarm.report.friction import friction_sections
from dynarm.report.story import Story
from oracles.page_numbers import read


def parts(*sections) -> dict:
    return read(
        "".join(
            f"<section><h2>{s.title}</h2>{''.join(map(str, s.parts))}</section>" for s in sections
        )
    )


def fit_of(count: int, **more) -> SimpleNamespace:
    """A fit with so many unknowns, all of them determined unless told otherwise."""
    names = tuple(f"p{k}" for k in range(count))
    arm, rigid = SimpleNamespace(joints=(), joint_names=()), SimpleNamespace(names=())
    terms = SimpleNamespace(
        arm=arm, rigid=rigid, joints=(), drives=(), listed_terms=(), columns=names
    )
    given = {
        "names_": names,
        "record": SimpleNamespace(terms=terms),
        "values_": np.arange(1.0, count + 1),
        "std_": np.full(count, 0.1),
        "relative_std_": 10.0 / np.arange(1.0, count + 1),
        "identifiability_": SimpleNamespace(grades=("determined",) * count),
        **more,
    }
    return SimpleNamespace(**given)


@pytest.mark.parametrize(("count", "tall"), [(24, False), (25, True)])
def test_a_long_list_of_unknowns_scrolls(count, tall):
    html = "".join(map(str, identification._parameters(fit_of(count)).parts))
    assert ('class="scroll tall"' in html) == tall


def test_grades_have_words_colours_and_an_order():
    grades = ("not", "determined", "fixed", "hardly")
    fit = fit_of(4, identifiability_=SimpleNamespace(grades=grades))
    section = identification._parameters(fit)
    (rows,) = parts(section)["Parameters"].tables
    k = rows.columns.index("determined")
    assert [row[k] for row in rows.rows] == [
        ("no", "2"), ("yes", "0"), ("taken as 0", "3"), ("hardly", "1"),
    ]  # fmt: skip
    html = "".join(map(str, section.parts))
    kinds = re.findall(r'<td class="(good|bad|doubt)"', html)
    assert kinds == ["bad", "good", "doubt"]
    assert [row[0] for row in rows.rows] == [(f"p{k}", str(k)) for k in range(4)]


def test_unknowns_stand_best_known_first_and_none_below_a_thousandth_of_a_percent():
    fit = fit_of(4, values_=np.array([-2.0, 0.0, 10.0, 1.0]), std_=np.array([0.1, 1.0, 1e-9, 5.0]))
    (bars,) = parts(identification._parameters(fit))["Parameters"].figures[0]["data"]
    assert bars["x"] == ["p2", "p0", "p3"]
    np.testing.assert_allclose(bars["y"], [1e-3, 5.0, 500.0])


def test_doubts_stand_largest_first_between_bounds():
    check = SimpleNamespace(
        names=("a", "b", "c", "d"), doubts=np.array([1e-6, 5.0, np.inf, 0.5]),
        grades=("determined", "not", "not", "hardly"), directions=((2.0, "a - b"),), advice=("move more",),
    )  # fmt: skip
    part = parts(identification._identifiability(SimpleNamespace(identifiability_=check)))
    part = part["What the logs determine"]
    (bars,) = part.figures[0]["data"]
    assert bars["x"] == ["c", "b", "d", "a"] and bars["y"] == [1000, 5, 0.5, 1e-4]
    assert bars["marker"]["color"] == ["--bad", "--bad", "--c5", "--c1"]
    key = part.figures[0]["key"]
    assert [(k["color"], k["text"]) for k in key] == [
        ("--c1", "determined"), ("--c5", "hardly"), ("--bad", "not determined"),
    ]  # fmt: skip
    (level,) = part.figures[0]["layout"]["shapes"]
    assert level["y0"] == level["y1"] == 1
    assert part.tables[0].texts("combination that the logs leave free") == ["a - b"]
    assert "move more" in part.text
    check.directions, check.advice = (), ()
    bare = parts(identification._identifiability(SimpleNamespace(identifiability_=check)))
    assert not bare["What the logs determine"].tables


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"smoothing": "spline", "velocity": "differentiate"}, "smoothed by splines"),
        (
            {"cutoff": np.inf, "velocity": "recorded"},
            "Nothing was filtered; speeds were taken as recorded",
        ),
        (
            {"cutoff": 8.0, "velocity": "differentiate"},
            "low-passed at 8 Hz; speeds come from the positions",
        ),
    ],
)
def test_what_was_done_to_logs_is_a_sentence(options, told):
    done = SimpleNamespace(**{"smoothing": "filter", "cutoff": None, **options})
    fit = SimpleNamespace(record=SimpleNamespace(preparation=done))
    assert told in identification._prepared(fit)


@pytest.mark.parametrize(
    ("friction", "drawn"),
    [((), False), (("offset",), False), (("viscous",), True), (("coulomb", "offset"), True)],
)
def test_friction_is_drawn_where_it_depends_on_speed(friction, drawn):
    arm = dynarm.load("scara")
    terms = SimpleNamespace(
        friction=friction, arm=arm, listed=(), joints=range(4), friction_of=lambda k, values: None
    )
    curve = np.array([-1.0, 1.0]), np.array([-2.0, 2.0])
    choice = Choice((), (Tried("j1", "curve", 0.25, True, "because"),))
    fit = SimpleNamespace(
        record=SimpleNamespace(terms=terms, recording=Recording([]), preparation=None),
        friction_curve=lambda k, points=2: curve,
        choice_=choice,
        values_=np.zeros(0),
    )
    made = friction_sections(fit)
    assert len(made) == drawn
    for figure, joint in zip(parts(*made)["Friction curves"].figures if made else (), arm.joints):
        titles = [figure["layout"][a]["title"]["text"] for a in ("xaxis", "yaxis")]
        assert titles == (
            ["velocity [rad/s]", "torque [N m]"]
            if joint.revolute
            else ["velocity [m/s]", "force [N]"]
        )


def test_a_joint_that_rests_has_no_friction_curve_and_it_is_said(monkeypatch):
    """Its range of speeds is rounding; a curve over it would tell nothing."""
    arm = dynarm.load("two_link")
    terms = SimpleNamespace(
        friction=("viscous",),
        arm=arm,
        listed=(),
        joints=range(2),
        friction_of=lambda k, values: None,
    )
    fit = SimpleNamespace(
        record=SimpleNamespace(terms=terms),
        friction_curve=lambda k, points=2: (np.array([-1.0, 1.0]), np.array([-2.0, 2.0])),
        choice_=Choice((), ()),
        values_=np.zeros(0),
    )
    moves = np.linspace(-1, 1, 9)
    clouds = [(moves, moves, moves), (1e-11 * moves, moves, moves)]
    monkeypatch.setattr("dynarm.report.friction.clouds_of", lambda fit: clouds)
    part = parts(*friction_sections(fit))["Friction curves"]
    assert [f["layout"]["title"]["text"] for f in part.figures] == [arm.joints[0].name]
    assert f"do not move them: {arm.joints[1].name}." in part.text


def apart(lower: list[float], upper: list[float]) -> bool:
    """Whether two drawings share a figure's height, the lower one small, with room for words between them."""
    return (
        lower[0] == 0.0
        and upper[1] == 1.0
        and lower[1] < 1 / 3
        and 0.05 < upper[0] - lower[1] < 0.15
    )


def test_what_is_left_has_a_place_of_its_own_below():
    long = np.linspace(0.0, 1.0, 2000)
    drawn = torques.torque_figure("j", "u", long, np.sin(long), np.cos(long))
    (figure,) = read(f"<section><h2>x</h2>{drawn}</section>")["x"].figures
    assert apart(figure["layout"]["yaxis2"]["domain"], figure["layout"]["yaxis"]["domain"])
    assert all(len(trace["x"]) <= 500 for trace in figure["data"])
    shape = SimpleNamespace(polygon=np.eye(3, 2), arm=np.ones((2, 2)), wheels=np.zeros((1, 2, 2)))
    run = SimpleNamespace(t=np.arange(3.0), q=np.zeros((3, 6)), measure=np.ones(3))
    layout = mobile._animation(run, np.arange(3), [shape] * 3)["layout"]
    assert apart(layout["yaxis2"]["domain"], layout["yaxis"]["domain"])


# ---- the demo's control


def test_the_demo_follows_the_second_motion_from_its_start(monkeypatch):
    """A robot whose controller knows it all needs no feedback; what is off by 10 mrad somewhere is told."""
    import dynarm.simulation as simulation

    asked = []

    def recorded(robot, q0, qd0, end, *, torque, method, dt):
        t = np.linspace(0.0, end, 11)
        q = steps._motion("check")(t)[0]
        q[7, 2] -= 0.01
        asked.append((robot, q0, qd0, end, torque, method, dt))
        return SimpleNamespace(t=t, q=q)

    monkeypatch.setattr(simulation, "simulate", recorded)
    story = Story(dynarm.load("stanford"))
    true = steps._true_arm(story.arm)
    story.fit = SimpleNamespace(arm_=true)
    steps.control(story, None)
    ((_, q0, qd0, end, torque, method, dt),) = asked
    q, qd, qdd = (x[0] for x in steps._motion("check")(np.array([0.0])))
    np.testing.assert_array_equal(q0, q)
    np.testing.assert_array_equal(qd0, qd)
    assert (end, method, dt) == (5.0, "rk4", 0.002)
    model, off = dynarm.compile(true, friction=True), np.full(6, 0.01)
    np.testing.assert_allclose(torque(0.0, q, qd), model.inverse_dynamics(q, qd, qdd), rtol=1e-9)
    for place, speed, pull in ((q - off, qd, 100.0 * off), (q, qd - off, 20.0 * off)):
        pushed = torque(0.0, place, speed) - model.inverse_dynamics(place, speed, qdd)
        np.testing.assert_allclose(pushed, model.mass_matrix(place) @ pull, rtol=1e-6, atol=1e-9)
    assert story.tracking == pytest.approx(0.01)


def test_pages_of_clock_times_count_from_the_log_s_first_sample():
    """Not from the first row that is drawn: the curves of all joints share their time."""
    arm, t = dynarm.Arm([dynarm.Joint("revolute", name="j")]), 1.7e9 + np.arange(4.0)
    left = SimpleNamespace(t=[t[1:]], measured=[np.ones(3)], predicted=[np.zeros(3)])
    logs = [SimpleNamespace(t=t)]
    record = SimpleNamespace(terms=SimpleNamespace(arm=arm), logs=logs)
    check = SimpleNamespace(
        t=t,
        measured=np.ones((4, 1)),
        predicted=np.ones((4, 1)),
        rmse=np.zeros(1),
        source="log",
        relative=np.zeros(1),
    )
    fitted = identification._fitted(SimpleNamespace(residuals_=left, record=record))
    drawn = parts(fitted, torques.prediction(arm, check))
    for title, seconds in ((fitted.title, [1, 2, 3]), ("Prediction of log", [0, 1, 2, 3])):
        (figure,) = drawn[title].figures
        assert [trace["x"] for trace in figure["data"]] == [seconds] * 3


def test_of_many_joints_and_logs_the_worst_are_drawn_and_it_is_said():
    joint = dynarm.Joint(alpha=1.2, a=0.1, mass=1.0)
    arm = dynarm.Arm((joint,) * 60, name="snake")
    t = np.linspace(0, 1, 2000)
    errors = np.linspace(0, 1, 60) % 0.37
    errors[7] = np.nan

    def check(name: str, scale: float) -> Validation:
        measured = np.sin(9 * t)[:, None] * np.ones(60)
        return Validation(
            errors, scale * errors, t, measured, 0.9 * measured, name, np.isnan(errors)
        )

    checks = [check(f"{k}.csv", 1 + (5 * k) % 7) for k in range(7)]
    drawn = torques.predictions(arm, checks)
    worst = sorted(range(7), key=lambda k: -((5 * k) % 7))[:1]
    titles = [f"Prediction of {k}.csv" for k in sorted(worst)]
    assert [s.title for s in drawn] == [*titles, "Further logs"]
    part = parts(*drawn)[drawn[0].title]
    names = [f["layout"]["title"]["text"] for f in part.figures]
    largest = sorted(np.argsort(-np.nan_to_num(errors))[:12])
    assert names == [arm.joint_names[k] for k in largest]
    assert "the 12 of 59 joints with the largest errors" in part.text
    assert sum(len(str(p)) for s in drawn for p in s.parts) < 400_000
    two = dynarm.load("two_link")
    assert torques.predictions(two, []) == [] and len(torques.predictions(arm, checks[:1])) == 1


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (2.0, "2.00"), (0.0562, "0.0562"), (0.000054, "0.0000540"), (99.96, "100"), (194.4, "194"),
        (0.9996, "1.00"), (0.0, "0"), (np.nan, "–"), (-13.25, "−13.2"), (3e-9, "3·10⁻⁹"),
    ],
)  # fmt: skip
def test_errors_have_three_digits_also_where_the_last_is_a_zero(value, shown):
    from dynarm.report.outcome import rounded

    assert rounded(value).shown == shown
