"""Results that are kept and shown: one line, short tables, pickles, TOML files, DataFrames, comparisons."""

from __future__ import annotations

import pickle
import tomllib
from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import Column, DynarmError, Friction, Identifier, Log, minimal_parameters
from dynarm.algebra.vectors import sin
from oracles.simulated_log import exact_log, noisy_log

DRIVE = Friction(viscous=0.5, coulomb=0.8, offset=0.2)


def driven(name, armature=0.1, friction=DRIVE):
    arm = dynarm.load(name)
    return replace(
        arm, joints=tuple(replace(j, friction=friction, armature=armature) for j in arm.joints)
    )


TWO = driven("two_link")
LOG, OTHER = noisy_log(TWO, 0.3), noisy_log(TWO, 0.3, seed=3, motion=3)


def spring(q, qd, qdd):
    return [sin(q[0]), 0]


@pytest.fixture(scope="module")
def fit():
    return Identifier(TWO, cutoff=15.0).fit(LOG)


@pytest.fixture(scope="module")
def puma():
    arm = driven("puma560")
    return Identifier(arm, cutoff=10.0).fit(noisy_log(arm, 0.3))


# ---- representations


def test_a_fit_is_shown_in_one_line_and_printed_in_a_short_table(puma):
    assert len(repr(puma)) < 200
    assert "\n" not in repr(puma)
    assert "puma560" in repr(puma)
    text = str(puma)
    assert len(text) < 2500
    assert text.count("\n") < 40
    first = text.splitlines()[3].split()
    assert first[0] == puma.names_[0]
    assert float(first[1]) == pytest.approx(puma.values_[0], rel=1e-5)
    assert float(first[2]) == pytest.approx(puma.std_[0], rel=1e-2)
    assert f"... and {len(puma.names_) - 16} more" in text


def test_html_is_escaped():
    arm = replace(TWO, name="<b>&two")
    arm = replace(arm, joints=tuple(replace(j, name=f"<i>{k}") for k, j in enumerate(arm.joints)))
    page = Identifier(arm, cutoff=15.0).fit(LOG)._repr_html_()
    assert "<b>" not in page and "<i>" not in page
    assert "&lt;b&gt;&amp;two" in page and "&lt;i&gt;1" in page
    assert page.count("<tr>") == 2 + len(minimal_parameters(TWO, armature=True).names) + 6 + 2


def test_motions_and_payloads_are_shown_in_one_line():
    motion = dynarm.excite(TWO, 4.0, starts=1, iterations=3)
    assert len(repr(motion)) < 200 and "\n" not in repr(motion)
    assert "4 s" in repr(motion)
    assert str(motion).count("\n") < 20
    assert TWO.joint_names[0] in str(motion)
    assert f"<td>{TWO.joint_names[1]}</td>" in motion._repr_html_()
    hostile = replace(motion, joint_names=("<script>", "b"))
    assert "<script>" not in hostile._repr_html_()
    puma = driven("puma560")
    logs = exact_log(puma, seed=1), exact_log(puma.with_payload(2.0, (0.01, 0, 0.1)), seed=2)
    load = dynarm.identify_payload(puma, *logs)
    assert len(repr(load)) < 200 and "\n" not in repr(load)
    assert "2" in repr(load)
    row = next(r for r in str(load).splitlines() if r.startswith("mcz "))
    assert float(row.split()[1]) == pytest.approx(0.2, rel=1e-5)
    assert "<td>mcz</td><td>0.2</td>" in load._repr_html_()


# ---- pickles and files


def test_a_fit_pickles(fit):
    assert fit.model_ is not None  # compiled code is made anew, not pickled
    again = pickle.loads(pickle.dumps(fit))
    np.testing.assert_array_equal(again.values_, fit.values_)
    np.testing.assert_array_equal(again.predict(OTHER), fit.predict(OTHER))
    np.testing.assert_array_equal(again.bootstrap(3), fit.bootstrap(3))
    assert again.status_ == fit.status_


def test_a_fit_with_a_progress_function_pickles():
    done = Identifier(TWO, cutoff=15.0, progress=lambda done, total: None).fit(LOG)
    assert pickle.loads(pickle.dumps(done)).names_ == done.names_


SAME = (
    "names_", "values_", "std_", "covariance_", "relative_", "consistent_", "status_", "rank_",
    "condition_", "ridge_", "cutoff_", "widths_", "joint_conditions_", "relative_std_", "speeds_",
)  # fmt: skip
OPTIONS = {
    "plain": {},
    "tanh": {"shape": "tanh"},
    "asymmetric": {"asymmetric": True},
    "prior": {"prior": TWO},
    "feasible": {"feasible": True},
    "recursive": {"estimator": "recursive"},
    "bare": {"friction": (), "armature": False, "estimator": "ols"},
    "slow": {"preparation": dynarm.Preparation(slow=(0.1, 0.2), decimate=2)},
}


@pytest.mark.parametrize("kind", OPTIONS)
def test_a_fit_comes_back_from_its_file(kind, tmp_path):
    done = Identifier(TWO, cutoff=15.0, **OPTIONS[kind]).fit(LOG)
    done.save(tmp_path / "fit.toml")
    again = dynarm.load_fit(tmp_path / "fit.toml")
    for name in SAME:
        np.testing.assert_array_equal(getattr(again, name), getattr(done, name), name)
    np.testing.assert_array_equal(again.predict(OTHER), done.predict(OTHER))
    np.testing.assert_array_equal(again.validate(OTHER).relative, done.validate(OTHER).relative)
    assert again.arm_ == done.arm_
    state = OTHER.q[:5], OTHER.q[:5], OTHER.q[:5]
    np.testing.assert_array_equal(
        again.model_.inverse_dynamics(*state), done.model_.inverse_dynamics(*state)
    )
    assert again.verdict(OTHER) == done.verdict(OTHER)
    assert again.identifiability_.summary() == done.identifiability_.summary()
    assert str(again) == str(done)
    assert again._repr_html_() == done._repr_html_()
    assert again.frame.equals(done.frame)
    np.testing.assert_array_equal(again.intervals(), done.intervals())
    again.save(tmp_path / "again.toml")
    assert (tmp_path / "again.toml").read_text() == (tmp_path / "fit.toml").read_text()


def test_saved_fits_are_plain_toml(fit, tmp_path):
    fit.save(str(tmp_path / "fit.toml"))
    table = tomllib.loads((tmp_path / "fit.toml").read_text())
    assert table["fit"]["values"] == fit.values_.tolist()
    assert table["arm"]["name"] == "two_link"
    assert [p.name for p in tmp_path.iterdir()] == ["fit.toml"]


def test_what_needs_the_logs_is_refused_after_loading(fit, tmp_path):
    fit.save(tmp_path / "fit.toml")
    again = dynarm.load_fit(tmp_path / "fit.toml")
    for ask in (lambda: again.bootstrap(2), lambda: again.essential_):
        with pytest.raises(DynarmError, match="fit again"):
            ask()
    assert np.isnan(again.delays_).all()
    assert TWO.joint_names[0] in again.summary()
    for one, other in zip(again.friction_curve(1), fit.friction_curve(1), strict=True):
        np.testing.assert_array_equal(one, other)


def test_columns_are_given_again(tmp_path):
    column = Column('my "spring"', spring)
    log = replace(LOG, tau=LOG.tau + 5 * np.column_stack([np.sin(LOG.q[:, 0]), 0 * LOG.q[:, 0]]))
    done = Identifier(TWO, cutoff=15.0, columns=(column,)).fit(log)
    done.save(tmp_path / "fit.toml")
    again = dynarm.load_fit(tmp_path / "fit.toml", columns=[column])
    np.testing.assert_array_equal(again.predict(OTHER), done.predict(OTHER))
    for wrong in ((), (Column("other", spring),), (column, column), 3, ("x",)):
        with pytest.raises(DynarmError, match="columns"):
            dynarm.load_fit(tmp_path / "fit.toml", columns=wrong)


BROKEN = {
    "not TOML": lambda text: "fit = [",
    "a robot": lambda text: 'format = 1\nname = "x"\n',
    "another format": lambda text: text.replace("format = 1", "format = 99", 1),
    "a number too few": lambda text: text.replace("values = [", "values = [1.0, ", 1),
    "another name": lambda text: text.replace('names = ["', 'names = ["x', 1),
    "words for numbers": lambda text: text.replace("ridge = 0.0", 'ridge = "much"', 1),
    "a list for a word": lambda text: text.replace('estimator = "wls"', "estimator = [1]", 1),
    "no robot": lambda text: text[: text.index("[arm]")],
}


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_files_are_refused_in_one_line(fit, kind, tmp_path):
    path = tmp_path / "fit.toml"
    fit.save(path)
    path.write_text(BROKEN[kind](path.read_text()))
    with pytest.raises(DynarmError, match=r"fit\.toml") as refusal:
        dynarm.load_fit(path)
    assert "\n" not in str(refusal.value)


def test_files_that_cannot_be(fit, tmp_path):
    with pytest.raises(DynarmError, match="no file"):
        dynarm.load_fit(tmp_path / "none.toml")
    with pytest.raises(DynarmError, match="not a file"):
        dynarm.load_fit(tmp_path)
    with pytest.raises(DynarmError, match=r"end the name in \.toml"):
        fit.save(tmp_path / "fit.json")


# ---- tables


def test_frame_has_every_unknown_with_its_unit():
    arm = driven("scara", friction=Friction(viscous=0.5, coulomb=0.8))
    table = Identifier(arm).fit(exact_log(arm)).frame
    assert list(table.columns) == ["name", "value", "std", "unit", "status"]
    unit = dict(zip(table.name, table.unit, strict=True))
    wanted = {
        "U1_33+Ia1": "kg m^2", "k2_x": "kg m", "m3": "kg", "Ia3": "kg", "Ia4": "kg m^2",
        "viscous1": "N m s/rad", "viscous3": "N s/m", "coulomb3": "N", "offset4": "N m",
    }  # fmt: skip
    assert {name: unit[name] for name in wanted} == wanted
    truth = minimal_parameters(arm, armature=True)
    np.testing.assert_allclose(table.value[: truth.count], truth.values, rtol=1e-8, atol=1e-8)
    assert table.status[list(table.name).index("offset3")] == "fixed"
    assert table.status[0] == "determined"


def test_what_rests_on_an_unknown_that_is_taken_as_0_is_said_and_kept(tmp_path):
    arm = driven("scara")
    fit = Identifier(arm, friction=("viscous", "coulomb", "offset")).fit(exact_log(arm))
    said = (
        "no motion tells offset3 from the others: taken as 0, on which the values of m3, Ia3 rest"
    )
    assert said in fit.status_ and said in fit.summary()
    again = dynarm.load_fit(fit.save(tmp_path / "fit.toml") or tmp_path / "fit.toml")
    assert again.identifiability_.leaning == ("m3", "Ia3")
    # weight takes what the offset is, for gravity; the inertia of both together is right
    m3, Ia3 = fit.values_[[fit.names_.index(k) for k in ("m3", "Ia3")]]
    truth = minimal_parameters(arm, armature=True)
    mass, motor = truth.values[[truth.names.index(k) for k in ("m3", "Ia3")]]
    assert abs(m3 - mass) > 0.01
    assert m3 + Ia3 == pytest.approx(mass + motor, abs=1e-6)


def test_compare_puts_another_arm_beside_the_fit(fit):
    heavy = TWO.with_parameters(2 * TWO.parameters)
    table = fit.compare(heavy)
    truth = minimal_parameters(heavy, armature=True)
    assert tuple(table.name) == truth.names
    np.testing.assert_allclose(table.other, truth.values)
    np.testing.assert_array_equal(table.identified, fit.values_[: truth.count])
    np.testing.assert_array_equal(table["std"], fit.std_[: truth.count])
    np.testing.assert_allclose(table.difference, table.identified - truth.values)
    np.testing.assert_allclose(table.in_std * table["std"], table.difference)
    assert np.abs(fit.compare(TWO).in_std).max() < 4 < np.abs(table.in_std).max()


def test_compare_refuses_other_kinematics(fit):
    longer = replace(TWO, joints=(TWO.joints[0], replace(TWO.joints[1], a=2.0)))
    for other in (dynarm.load("puma560"), longer, "two_link"):
        with pytest.raises(DynarmError, match=r"kinematics|give a dynarm\.Arm"):
            fit.compare(other)


# ---- numbers known beforehand


def test_validation_and_score_by_hand(fit):
    """Predictions replaced by known numbers: errors of 3 and 4 about torques that swing by 5 and 10."""
    t = np.arange(400) * 0.01
    swing = np.where(np.arange(400) % 2, 1.0, -1.0)
    log = Log(t, OTHER.q[:400], np.column_stack([7 + 5 * swing, -2 + 10 * swing]))

    class Known(type(fit)):
        def predict(self, _):
            return log.tau + np.column_stack([np.full(400, 3.0), 4 * swing])

    known = Known(fit.record, fit.solution, fit.values_, fit.covariance_)
    seen = known.validate(log)
    np.testing.assert_allclose(seen.rmse, [3.0, 4.0])
    np.testing.assert_allclose(seen.relative, [0.6, 0.4])
    assert seen.mean == pytest.approx(0.5)
    assert known.score(log) == pytest.approx(1 - (0.36 + 0.16) / 2)
    assert known.score([log, log]) == pytest.approx(0.74)
    limits = {0.61: True, 0.59: False, 0.41: False}
    for limit, passes in limits.items():
        told = [r for r in known.verdict(log, limit).reasons if "error" in r and "against" not in r]
        assert (not told) is passes
    assert any(
        "error 0.60 of the torque's standard deviation (3 N m) on log" in r
        for r in known.verdict(log, 0.5).reasons
    )
    assert not any(
        "error 0.40 of the torque's standard deviation (4 N m) on log" in r
        for r in known.verdict(log, 0.5).reasons
    )
