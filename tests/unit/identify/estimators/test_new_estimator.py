"""A new estimator is one function from Problem to Solution: the table makes it known to everything that asks.

The toy is plain ridge regression: every scaled unknown is pulled to zero, joints weighted by their torques.
"""

from __future__ import annotations

import copy
import importlib
from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import Identifier
from dynarm.cli.app import run
from dynarm.cli.files import write_log
from dynarm.errors import DynarmError
from dynarm.identify.estimators import table
from dynarm.identify.estimators.estimator import Estimator
from dynarm.identify.estimators.least_squares import sizes, weighted
from oracles.simulated_log import noisy_log

TWO = dynarm.load("two_link")
PULL = 0.05


def plain_ridge(problem):
    """The minimiser of |X values - y|^2 + |0.05 values|^2, columns of length one."""
    return weighted(replace(problem, ridge=PULL, pull=None), 1 / sizes(problem.factors))


@pytest.fixture
def toy():
    with table.added("toy", Estimator(plain_ridge, prior=False)):
        yield "toy"


def by_hand(fit):
    factors = fit.record.factors
    X, y = factors.stacked(1 / sizes(factors))
    length = np.linalg.norm(X, axis=0)
    A = X / length
    return np.linalg.solve(A.T @ A + PULL**2 * np.eye(len(length)), A.T @ y) / length


def test_it_fits_and_knows_how_sure_it_is(toy):
    log = noisy_log(TWO, 0.3, duration=8.0)
    fit = Identifier(TWO, armature=False, cutoff=15.0, estimator=toy).fit(log)
    np.testing.assert_allclose(fit.values_, by_hand(fit), rtol=1e-8)
    usual = Identifier(TWO, armature=False, cutoff=15.0).fit(log)
    assert np.abs(fit.values_ / usual.values_ - 1).max() > 1e-3
    assert fit.ridge_ == PULL
    assert (fit.std_ > 0).all() and np.isfinite(fit.std_).all()
    assert fit.intervals().shape == (len(fit.names_), 2)
    draws = fit.bootstrap(40)
    away = np.abs(draws.mean(axis=0) - fit.values_) / draws.std(axis=0)
    assert away.max() < 1
    assert fit.check().verdict([log]).passed
    assert "toy" in repr(fit) and "estimator toy" in fit.summary()
    assert fit.model_.gravity([0.1, 0.2]).shape == (2,)


def test_it_is_known_to_cross_validation_and_searches(toy):
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV

    logs = [noisy_log(TWO, 0.3, duration=5.0, motion=k) for k in range(3)]
    identifier = Identifier(TWO, cutoff=15.0, estimator=toy)
    assert clone(identifier).estimator == "toy"
    assert Identifier(TWO).set_params(estimator=toy).get_params()["estimator"] == "toy"
    assert len(identifier.cross_validate(logs)) == 3
    search = GridSearchCV(Identifier(TWO, cutoff=15.0), {"estimator": ["wls", toy]}, cv=3)
    assert search.fit(logs).best_params_["estimator"] in ("wls", "toy")
    assert copy.deepcopy(identifier) == identifier


def test_a_payload_is_found_by_it(toy):
    loaded = TWO.with_payload(2.0, (0.1, 0.0, 0.0))
    logs = noisy_log(TWO, 0.1, duration=8.0), noisy_log(loaded, 0.1, duration=8.0, seed=1)
    usual = dynarm.identify_payload(TWO, *logs, cutoff=15.0)
    pulled = dynarm.identify_payload(TWO, *logs, cutoff=15.0, estimator=toy)
    assert pulled.parameters[0] == pytest.approx(2.0, rel=0.2)
    assert abs(pulled.parameters[0] - usual.parameters[0]) > 1e-4
    told = np.isfinite(usual.std)
    assert (pulled.std[told] > 0).all() and np.isfinite(pulled.std[told]).all()


@pytest.mark.parametrize("estimator", table.names())
def test_a_payload_is_found_by_every_estimator(estimator):
    loaded = TWO.with_payload(2.0, (0.1, 0.0, 0.0))
    logs = noisy_log(TWO, 0.1, duration=8.0), noisy_log(loaded, 0.1, duration=8.0, seed=1)
    load = dynarm.identify_payload(TWO, *logs, cutoff=15.0, estimator=estimator)
    assert abs(load.parameters[0] - 2.0) < 4 * load.std[0] < 0.2


def test_a_robust_payload_stands_outliers():
    loaded = TWO.with_payload(2.0, (0.1, 0.0, 0.0))
    logs = [noisy_log(TWO, 0.1, duration=8.0), noisy_log(loaded, 0.1, duration=8.0, seed=1)]
    spoiled = logs[1].tau.copy()
    spoiled[::15] += 8.0
    logs[1] = replace(logs[1], tau=spoiled)
    error = {
        name: abs(dynarm.identify_payload(TWO, *logs, cutoff=15.0, estimator=name).mass - 2.0)
        for name in ("wls", "irls")
    }
    assert error["irls"] < 0.5 * error["wls"]


def test_it_is_saved_and_loaded_while_it_is_known(toy, tmp_path):
    fit = Identifier(TWO, cutoff=15.0, estimator=toy).fit(noisy_log(TWO, 0.3, duration=6.0))
    fit.save(tmp_path / "fit.toml")
    again = dynarm.load_fit(tmp_path / "fit.toml")
    assert again.record.identifier.estimator == "toy"
    np.testing.assert_array_equal(again.values_, fit.values_)
    np.testing.assert_array_equal(again.std_, fit.std_)


def test_the_command_line_offers_and_takes_it(toy, tmp_path, monkeypatch, capsys):
    from dynarm.cli import identify as command
    from dynarm.cli import unknowns

    monkeypatch.chdir(tmp_path)
    write_log(noisy_log(TWO, 0.3, duration=6.0), tmp_path / "log.csv")
    importlib.reload(unknowns)  # a program reads the table when it starts
    importlib.reload(command)
    try:
        assert run(["identify", "--help"]) == 0
        assert "ols, wls, irls, iv, recursive or toy" in " ".join(capsys.readouterr().out.split())
        assert run(["identify", "two_link", "log.csv", "--estimator", "toy", "--json"]) in (0, 1)
        assert '"estimator": "toy"' in capsys.readouterr().out
    finally:
        with pytest.MonkeyPatch.context() as patch:
            patch.delitem(table._TABLE, "toy")
            importlib.reload(unknowns)
            importlib.reload(command)


def test_it_is_gone_with_its_context(tmp_path):
    with table.added("toy", Estimator(plain_ridge)):
        fit = Identifier(TWO, cutoff=15.0, estimator="toy").fit(noisy_log(TWO, 0.3, duration=6.0))
        fit.save(tmp_path / "fit.toml")
    assert table.names() == ("ols", "wls", "irls", "iv", "recursive")
    with pytest.raises(DynarmError, match="estimator"):
        Identifier(TWO, estimator="toy")
    with pytest.raises(DynarmError, match="toy"):
        dynarm.load_fit(tmp_path / "fit.toml")


def test_a_file_in_the_folder_is_all_that_it_takes(tmp_path, monkeypatch):
    """The table is made of the files that are there, those that it has always told first."""
    (tmp_path / "mine.py").write_text("ESTIMATOR = 'made'\n")
    monkeypatch.setattr(table.methods, "__path__", [*table.methods.__path__, str(tmp_path)])
    assert table._files() == ("ols", "wls", "irls", "iv", "recursive", "mine")
    assert table._loaded("mine") == "made"
