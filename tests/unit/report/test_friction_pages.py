"""Friction of a fit as a page draws it: logs behind the curve, loads, loops and ripple, of known drives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm.report.friction import clouds_of, friction_sections
from oracles.page_numbers import read
from oracles.simulated_log import noisy_log

KNOWN = dynarm.Friction(
    viscous=0.5,
    coulomb=0.8,
    shape="tanh",
    width=0.02,
    presliding=((5e-3, 0.6),),
    load_curve=((0.05, 0.12),),
    ripple=((9.0, 0.4, 0.0),),
)
UNKNOWN = dynarm.Friction(
    shape="tanh",
    width=0.02,
    presliding=((5e-3, 1.0),),
    load_curve=((0.05, 1.0),),
    ripple=((9.0, 1.0, 1.0),),
)


@pytest.fixture(scope="module")
def drawn():
    scara = dynarm.load("scara")
    arm = replace(scara, joints=tuple(replace(j, friction=KNOWN) for j in scara.joints))
    fit = dynarm.Identifier(scara, friction=UNKNOWN, cutoff=40.0).fit(noisy_log(arm, 0.02))
    page = "".join(
        f"<section><h2>{s.title}</h2>{''.join(map(str, s.parts))}</section>"
        for s in friction_sections(fit)
    )
    return fit, read(page)["Friction curves"].figures


def titled(figures, word):
    return [f for f in figures if word in f["layout"]["title"]["text"]]


def test_a_page_draws_a_curve_a_joint_a_loop_and_the_ripple(drawn):
    fit, figures = drawn
    names = fit.record.terms.arm.joint_names
    assert len(figures) == 3 * len(names)
    assert [f["layout"]["title"]["text"] for f in figures[: len(names)]] == list(names)
    assert len(titled(figures, "to and fro")) == len(titled(figures, "ripple")) == len(names)


def test_dots_are_the_torque_that_the_rigid_body_leaves(drawn):
    fit, _ = drawn
    for k, (speed, rest, load) in enumerate(clouds_of(fit)):
        assert len(speed) == len(rest) == len(load) > 300
        grown = 0.12 * np.abs(load) * np.tanh(speed / 0.05)
        known = 0.5 * speed + 0.8 * np.tanh(speed / 0.02) + grown
        fast = np.abs(speed) > 0.3
        left = rest[fast] - known[fast] - 0.6 * np.sign(speed[fast])
        assert np.abs(left).mean() < 0.45, k  # the ripple, and what had not slipped


def test_more_load_is_more_friction(drawn):
    fit, figures = drawn
    seen = 0
    for figure in figures[: fit.record.terms.arm.n]:
        curves = {t["name"]: np.array(t["y"]) for t in figure["data"] if t["name"] != "logs"}
        loaded = [curves[name] for name in curves if name.startswith("under")]
        for curve in loaded:
            assert curve[-1] > curves["friction"][-1]
        if len(loaded) == 2:
            seen += 1
            names = [name for name in curves if name.startswith("under")]
            sizes = [float(name.split(",")[1].split()[0]) for name in names]
            rise = [curves[name][-1] - curves["friction"][-1] for name in names]
            assert rise[0] / rise[1] == pytest.approx(sizes[0] / sizes[1], rel=0.02)
    assert seen >= 2


def test_a_loop_takes_energy_and_ripple_has_its_amplitude(drawn):
    _, figures = drawn
    for figure in titled(figures, "to and fro"):
        (curve,) = figure["data"]
        q, force = np.array(curve["x"]), np.array(curve["y"])
        area = np.sum((force[1:] + force[:-1]) / 2 * np.diff(q))
        assert area == pytest.approx(4 * 0.6 * 5e-3, rel=0.35)
    for figure in titled(figures, "ripple"):
        (curve,) = figure["data"]
        assert np.abs(curve["y"]).max() == pytest.approx(0.4, rel=0.25)


def test_a_fit_without_logs_has_curves_without_dots(drawn, tmp_path):
    fit, _ = drawn
    fit.save(tmp_path / "fit.toml")
    again = dynarm.load_fit(tmp_path / "fit.toml")
    assert all(len(x) == 0 for cloud in clouds_of(again) for x in cloud)
    assert friction_sections(again)
