"""Identifiers among scikit-learn's tools, and what fit and predict may be given."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.validation import check_is_fitted

import dynarm
from dynarm import Column, DynarmError, Friction, Identifier, Log
from dynarm.algebra.vectors import sin
from oracles.simulated_log import noisy_log

TWO = dynarm.load("two_link")
ARM = replace(
    TWO, joints=tuple(replace(j, friction=Friction(viscous=0.5, coulomb=0.8)) for j in TWO.joints)
)
LOGS = [noisy_log(ARM, 0.3, seed=k, motion=k, duration=4.0) for k in range(4)]


def spring(q, qd, qdd):
    return [sin(q[0]), 0]


def middle_of(logs):
    return [log.cut(0.5, 3.5) for log in logs]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"friction": ["viscous"], "cutoff": 12.0},
        {"friction": "viscous", "width": (0.1, 0.2), "shape": "tanh"},
        {"columns": [Column("spring", spring)], "prior": TWO, "regularise": 2},
    ],
)
def test_clones_are_equal_and_their_own(options):
    identifier = Identifier(TWO, **options)
    other = clone(identifier)
    assert other is not identifier
    assert repr(other.get_params()) == repr(identifier.get_params())
    assert set(identifier.get_params()) == set(Identifier.__dataclass_fields__)
    other.set_params(cutoff=7.0)
    assert (other.cutoff, identifier.cutoff) == (7.0, options.get("cutoff"))


def test_set_params_checks_all_before_it_changes_any():
    identifier = Identifier(TWO, cutoff=12.0)
    assert identifier.set_params(estimator="ols") is identifier
    for wrong in ({"estimator": "magic"}, {"cutoff": -1.0}, {"beauty": 1}):
        with pytest.raises(DynarmError):
            identifier.set_params(**({"shape": "tanh"} | wrong))
    assert (identifier.estimator, identifier.cutoff, identifier.shape) == ("ols", 12.0, "auto")


def test_options_are_not_assigned_to():
    identifier = Identifier(TWO)
    with pytest.raises(AttributeError, match="set_params"):
        identifier.cutoff = 3.0
    assert identifier.cutoff is None
    assert hash(identifier) == hash(Identifier(TWO))
    assert identifier == Identifier(TWO) != Identifier(TWO, cutoff=3.0)


def test_an_identifier_remembers_its_last_fit_until_it_changes():
    identifier = Identifier(TWO, cutoff=12.0)
    for ask in (identifier.predict, identifier.score):
        with pytest.raises(DynarmError, match="not been fitted"):
            ask(LOGS[0])
    with pytest.raises(NotFittedError):
        check_is_fitted(identifier)
    fit = identifier.fit(LOGS[0])
    check_is_fitted(identifier)
    assert identifier.fit_ is fit
    assert identifier.score(LOGS[1]) == fit.score(LOGS[1])
    np.testing.assert_array_equal(identifier.predict(LOGS[1]), fit.predict(LOGS[1]))
    both = identifier.predict(LOGS[1:3])
    np.testing.assert_array_equal(both[1], fit.predict(LOGS[2]))
    assert pickle.loads(pickle.dumps(identifier)).score(LOGS[1]) == fit.score(LOGS[1])
    identifier.set_params(cutoff=8.0)
    with pytest.raises(DynarmError, match="not been fitted"):
        identifier.score(LOGS[1])


def test_grid_search_over_logs():
    search = GridSearchCV(
        Identifier(TWO), {"cutoff": [0.6, 15.0], "estimator": ["wls", "ols"]}, cv=KFold(2)
    )
    search.fit(LOGS)
    assert search.best_params_["cutoff"] == 15.0
    train, test = LOGS[2:], LOGS[:2]
    wanted = Identifier(TWO, **search.best_params_).fit(train).score(test)
    best = search.best_index_
    assert search.cv_results_["split0_test_score"][best] == pytest.approx(wanted, abs=1e-12)
    assert search.best_estimator_.fit_.record.logs[3].source == LOGS[3].source
    assert search.score(LOGS) == search.best_estimator_.score(LOGS) > 0.99
    assert search.predict(LOGS)[0].shape == LOGS[0].tau.shape


def test_cross_validation_scores_logs_that_were_not_fitted():
    scores = cross_val_score(Identifier(TWO, cutoff=15.0), LOGS, cv=KFold(4))
    runs = Identifier(TWO, cutoff=15.0).cross_validate(LOGS)
    np.testing.assert_allclose(scores, [1 - (r.relative**2).mean() for r in runs], atol=1e-12)


def test_pipelines_prepare_logs_first():
    steps = [("middle", FunctionTransformer(middle_of)), ("fit", Identifier(TWO))]
    line = Pipeline(steps).set_params(fit__cutoff=15.0)
    line.fit(LOGS)
    direct = Identifier(TWO, cutoff=15.0).fit(middle_of(LOGS))
    assert line.score(LOGS) == pytest.approx(direct.score(middle_of(LOGS)), abs=1e-12)
    np.testing.assert_array_equal(line[-1].fit_.values_, direct.values_)
    assert "Identifier" in repr(line)


def test_an_identifier_is_shown_in_one_line():
    text = repr(Identifier(TWO, cutoff=15.0, prior=TWO))
    assert len(text) < 250 and "\n" not in text
    assert "two_link" in text and "cutoff=15.0" in text and "prior" in text
    assert "armature" not in text  # what is as usual is not said


# ---- paths, tables, lists


def frame_of(log):
    columns = {"t": log.t}
    for j in range(log.n):
        columns |= {f"q{j + 1}": log.q[:, j], f"tau{j + 1}": log.tau[:, j]}
    return pd.DataFrame(columns)


def test_paths_are_read(tmp_path):
    paths = [tmp_path / f"{k}.csv" for k in range(2)]
    for path, log in zip(paths, LOGS, strict=False):
        frame_of(log).to_csv(path, index=False)
    read = [Log.read(path) for path in paths]
    identifier = Identifier(TWO, cutoff=15.0)
    fit = identifier.fit(read)
    for given in ([str(p) for p in paths], paths, [paths[0], read[1]]):
        np.testing.assert_array_equal(identifier.fit(given).values_, fit.values_)
    one = identifier.fit(read[0])
    np.testing.assert_array_equal(identifier.fit(str(paths[0])).values_, one.values_)
    np.testing.assert_array_equal(one.predict(paths[1]), one.predict(read[1]))
    assert one.score(str(paths[1])) == one.score(read[1])
    assert one.verdict(paths[1]).reasons == one.verdict(read[1]).reasons
    assert one.verdict(paths).passed
    with pytest.raises(DynarmError, match="none"):
        identifier.fit(str(tmp_path / "none.csv"))


def test_tables_are_handed_to_the_log_with_the_arm(monkeypatch):
    """The columns of a DataFrame are Log.from_frame's business; here it is given the table and the arm."""
    seen = []

    def from_frame(frame, arm=None, channels=None):
        seen.append(arm)
        columns = [[f"{word}{j + 1}" for j in range(2)] for word in ("q", "tau")]
        return Log(frame["t"].to_numpy(), *(frame[c].to_numpy() for c in columns))

    monkeypatch.setattr(Log, "from_frame", staticmethod(from_frame), raising=False)
    identifier = Identifier(TWO, cutoff=15.0)
    fit = identifier.fit([frame_of(LOGS[0]), LOGS[1]])
    np.testing.assert_array_equal(fit.values_, identifier.fit(LOGS[:2]).values_)
    np.testing.assert_array_equal(fit.predict(frame_of(LOGS[2])), fit.predict(LOGS[2]))
    np.testing.assert_array_equal(
        identifier.fit(frame_of(LOGS[0])).values_, identifier.fit(LOGS[0]).values_
    )
    assert seen and all(arm == TWO for arm in seen)


@pytest.mark.parametrize("given", [3, None, np.zeros((5, 2)), [1, 2], [[LOGS[0]]], [], {}])
def test_what_is_no_log_is_refused(given):
    with pytest.raises(DynarmError, match="log"):
        Identifier(TWO).fit(given)
    fit = Identifier(TWO, cutoff=15.0).fit(LOGS[0])
    for ask in (fit.predict, fit.validate, fit.score, fit.states):
        with pytest.raises(DynarmError, match="log"):
            ask(given)
