"""One identify smooths each log once a preparation, folds each set of rows once, and predicts a held-out log once.

Counted where the calls arrive: whatever asks for the same rows again is seen, whoever it is.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import Friction, Identifier, Log
from dynarm.cli.app import run
from dynarm.cli.files import write_log
from dynarm.identify import preprocess, tuning
from dynarm.identify.estimators import factors
from dynarm.identify.logs.splitting import hold_out
from dynarm.identify.result import Fit
from dynarm.report.identification import page
from oracles.simulated_log import noisy_log

TWO = dynarm.load("two_link")
DRIVEN = replace(
    TWO,
    joints=tuple(replace(j, friction=Friction(viscous=0.5, coulomb=0.8)) for j in TWO.joints),
)


def bits(*arrays):
    return tuple(None if x is None else np.ascontiguousarray(x).tobytes() for x in arrays)


class Calls:
    """How often the same was asked for: smoothing a log, folding rows, predicting a log."""

    def __init__(self, monkeypatch):
        self.smoothed, self.folded, self.predicted = Counter(), Counter(), Counter()
        smooth, fold, predict = preprocess.smooth, factors.fold, Fit.predict

        def counted_smooth(log, how):
            alike = replace(how, decimate=None, decimator="fir")  # these do not change the states
            self.smoothed[bits(log.t, log.q, log.qd, log.tau), alike] += 1
            return smooth(log, how)

        def counted_fold(terms, pieces, how, weigh=None, *rest, **more):
            rows = tuple(bits(p.t, p.q, p.qd, p.qdd, p.tau, p.keep) for p in pieces)
            # weights of rows are another set each time, and so are other columns
            self.folded[terms, rows, how, weigh] += 1
            return fold(terms, pieces, how, weigh, *rest, **more)

        def counted_predict(fit, log):
            self.predicted[log if isinstance(log, str) else bits(log.t, log.tau)] += 1
            return predict(fit, log)

        monkeypatch.setattr(Fit, "predict", counted_predict)
        for name, module in list(sys.modules.items()):
            if name.startswith("dynarm."):
                for word, own, spy in (
                    ("smooth", smooth, counted_smooth), ("fold", fold, counted_fold)
                ):  # fmt: skip
                    if getattr(module, word, None) is own:
                        monkeypatch.setattr(module, word, spy)

    def none_twice(self):
        for counts in (self.smoothed, self.folded, self.predicted):
            assert max(counts.values(), default=1) == 1
        return tuple(sum(c.values()) for c in (self.smoothed, self.folded, self.predicted))


@pytest.fixture
def calls(monkeypatch):
    return Calls(monkeypatch)


PLAIN = {"friction": ("viscous", "coulomb", "offset")}


@pytest.mark.parametrize(
    "options",
    [PLAIN, {}, {"shape": "tanh"}, {"estimator": "iv"}, {"estimator": "irls"}, {"cutoff": 12.0},
     {"feasible": True, "prior": DRIVEN}],
    ids=["plain", "as usual", "widths sought", "instruments", "robust", "cut-off given", "prior"],
)  # fmt: skip
def test_a_fit_with_its_report(options, calls, tmp_path):
    log = noisy_log(DRIVEN, 0.5, duration=8.0)
    fitted, held = hold_out(log, 0.3)
    identifier = Identifier(DRIVEN, **options)
    fit = identifier.fit(fitted)
    checks = [fit.validate(held)]
    page(fit, checks, fit.verdict(checks), tmp_path / "report.html")
    for told in (fit.summary(), repr(fit), str(fit), fit.delays_, fit.friction_advice_):
        assert told is not None
    smoothed, folded, predicted = calls.none_twice()
    trials = len(fit.record.trials)
    assert predicted == 1
    if not identifier.automatic:  # the chosen one is among the trials; the held-out log
        assert smoothed == max(trials, 1) + 1
    if options == PLAIN:
        delays, advice = 7 - 1, 1  # the torque not shifted is what the trial folded
        assert folded == trials + 1 + delays + advice


def test_several_logs_and_long_ones(calls, monkeypatch):
    """Choices look at the middle of a long log; both that and the whole are smoothed once."""
    monkeypatch.setattr(preprocess, "LONG", 900)
    logs = [noisy_log(DRIVEN, 0.5, duration=d, motion=k) for k, d in enumerate((4.0, 8.0))]
    fit = Identifier(DRIVEN, **PLAIN).fit(logs)
    assert len(fit.summary()) > 100 and len(fit.delays_) == 2
    smoothed, _, _ = calls.none_twice()
    assert smoothed == 2 * len(fit.record.trials) + 1  # the short log is at hand from its trial
    kept = [sum(map(len, x)) for x in fit.record.recording.short._made.values() if type(x) is list]
    assert sorted(kept) == [800, 900] and not fit.record.recording._made


def test_the_command_line(calls, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    log = noisy_log(DRIVEN, 0.5, duration=8.0)
    write_log(log, tmp_path / "log.csv")
    write_log(noisy_log(DRIVEN, 0.5, duration=4.0, motion=3), tmp_path / "other.csv")
    code = run(
        ["identify", "two_link", "log.csv", "--hold-out", "0.3", "-v", "other.csv", "--json"]
    )
    assert code in (0, 1)
    smoothed, folded, predicted = calls.none_twice()
    assert predicted == 2 and smoothed > 2 and folded > 8


def test_a_payload(calls):
    loaded = DRIVEN.with_payload(2.0)
    without, full = (
        noisy_log(DRIVEN, 0.2, duration=6.0),
        noisy_log(loaded, 0.2, duration=6.0, seed=1),
    )
    dynarm.identify_payload(DRIVEN, without, full)
    smoothed, folded, _ = calls.none_twice()
    assert smoothed > 2 and folded == smoothed + 1  # one a trial; then both logs


def test_what_is_kept_is_bounded_and_not_pickled():
    import pickle

    log = noisy_log(DRIVEN, 0.5, duration=8.0)
    fit = Identifier(DRIVEN).fit(log)
    kept = fit.record.recording._made
    assert {how for how, _ in kept} == {fit.record.preparation}  # trials not chosen are forgotten
    again = pickle.loads(pickle.dumps(fit))
    assert not again.record.recording._made
    np.testing.assert_array_equal(again.delays_, fit.delays_)
    assert again.friction_advice_ == fit.friction_advice_


def test_no_more_than_the_best_trial_is_held(monkeypatch):
    """Long recordings: smooth states of every cut-off at once would take ten times their memory."""
    trial, held = tuning._trial, []

    def watched(recording, *rest):
        held.append(len({how for how, _ in recording.short._made}))
        return trial(recording, *rest)

    monkeypatch.setattr(tuning, "_trial", watched)
    Identifier(DRIVEN, **PLAIN).fit(noisy_log(DRIVEN, 0.5, duration=6.0))
    assert len(held) > 4 and max(held) == 1


def test_delays_look_at_all_logs():
    """The second log lags, the first hardly moves: what is told is the second's."""
    still, moving = (noisy_log(DRIVEN, 0.02, duration=6.0, size=s) for s in (0.01, 0.5))
    late = np.column_stack([np.interp(moving.t - 0.01, moving.t, x) for x in moving.tau.T])
    fit = Identifier(DRIVEN, cutoff=15.0).fit([still, replace(moving, tau=late)])
    np.testing.assert_allclose(fit.delays_, 0.01, atol=2e-3)


def test_preparations_by_lists_and_arrays_are_remembered_too():
    log = noisy_log(DRIVEN, 0.5, duration=6.0)
    told = [
        Identifier(DRIVEN, preparation=dynarm.Preparation(cutoff=c, slow=s)).fit(log).values_
        for c, s in ((15.0, (0.1, 0.2)), (np.array(15.0), [0.1, 0.2]), (15, np.array([0.1, 0.2])))
    ]
    np.testing.assert_array_equal(told[0], told[1])
    np.testing.assert_array_equal(told[0], told[2])


def test_a_verdict_takes_logs_or_what_they_were_validated_to():
    log = noisy_log(DRIVEN, 0.5, duration=8.0)
    fitted, held = hold_out(log, 0.3)
    fit = Identifier(DRIVEN, cutoff=15.0).fit(fitted)
    spoiled = Log(held.t, held.q, 3 * held.tau, source="spoiled")
    for one in (held, spoiled):
        check = fit.validate(one)
        expected = fit.verdict(one)
        assert fit.verdict([one]) == fit.verdict(check) == fit.verdict([check]) == expected
    assert not fit.verdict(spoiled).passed
    assert (
        fit.verdict([held, fit.validate(spoiled)]).reasons == fit.verdict([held, spoiled]).reasons
    )
