"""What of a dataset is kept back: the ends of its recordings, no row twice, none lost; and what of it is predicted."""

import json
import pickle
import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import dynarm
from dynarm.cli.app import run
from dynarm.errors import DynarmError, DynarmWarning, InputError
from dynarm.identify.dataset.files import Dataset
from dynarm.identify.dataset.holding import excerpts, parted
from dynarm.identify.dataset.streamed import Streamed
from dynarm.identify.dataset.survey import survey
from dynarm.identify.logs import readers
from dynarm.identify.segments import LONG
from oracles.simulated_log import multi_sine

ROWS = 30_000
SMALL = "320MB"
CHANNELS = {"time": "t", "q": ["q1", "q2"], "tau": ["tau1", "tau2"], "missing": "drop"}


@pytest.fixture(scope="module")
def frame():
    """A noisy recording."""
    arm = dynarm.load("two_link")
    t, q, qd, qdd = multi_sine(2, duration=ROWS / 500.0, rate=500.0)
    tau = dynarm.compile(arm).inverse_dynamics(q, qd, qdd) + 0.2 * np.tanh(qd / 0.05)
    tau += np.random.default_rng(5).normal(size=tau.shape) / 50
    columns = {"t": t, "q1": q[:, 0], "q2": q[:, 1], "tau1": tau[:, 0], "tau2": tau[:, 1]}
    return pd.DataFrame(columns)[:ROWS]


def in_files(frame, folder, save, edges=(0, 9000, 10_000, 22_000, ROWS)):
    folder.mkdir(exist_ok=True)
    for k, (low, high) in enumerate(pairwise(edges)):
        if save == "csv":
            frame[low:high].to_csv(folder / f"{k}.csv", index=False)
        else:
            frame[low:high].to_parquet(folder / f"{k}.parquet", row_group_size=1100)
    return folder


def times(seen) -> np.ndarray:
    return np.concatenate([seen.read(run).t for run in seen.runs])


@pytest.mark.parametrize("save", ["csv", "parquet"])
@pytest.mark.parametrize("gaps", [0, 700])
@pytest.mark.parametrize("share", [0.3, 0.5, 1 - 9000 / ROWS, 1 / ROWS * 2])
def test_every_row_is_fitted_or_kept_back(tmp_path, monkeypatch, frame, save, gaps, share):
    """Also where the border lies in a file, at its end, or where rows are left out."""
    monkeypatch.setattr(readers, "LARGE", 100_000)  # some CSV files whole, some in parts
    monkeypatch.setattr("dynarm.identify.dataset.parts.ROWS", 777)
    spoiled = frame.copy()
    gone = np.random.default_rng(1).choice(np.arange(2, ROWS - 2), gaps, replace=False)
    spoiled.loc[gone, "tau1"] = np.nan
    seen = survey(
        Dataset(in_files(spoiled, tmp_path / "logs", save), CHANNELS), dynarm.load("two_link")
    )
    first, last = parted(seen, share)
    one, other = times(first), times(last)
    np.testing.assert_array_equal(np.r_[one, other], times(seen))
    assert first.rows == len(one) and last.rows == len(other)
    assert abs(len(other) - share * (ROWS - gaps)) <= (60 if gaps else 1)


def test_a_recording_too_short_to_cut_is_named(tmp_path, frame):
    frame[:5].to_csv(tmp_path / "a.csv", index=False)
    seen = survey(Dataset(tmp_path), dynarm.load("two_link"))
    with pytest.raises(InputError, match=r"hold_out is 0\.1: .*a\.csv would be cut into 4 and 1"):
        parted(seen, 0.1)
    for bad in (-0.1, 0.95, "much", True):
        with pytest.raises(DynarmError, match="hold_out"):
            Dataset(tmp_path, hold_out=bad)


@pytest.mark.parametrize("memory", ["1GB", "310MB"])
def test_ends_are_kept_back_from_the_fit(tmp_path, monkeypatch, frame, memory):
    """Those of a dataset that is streamed are samples; the values are those of what is left, and are validated."""
    monkeypatch.setattr("dynarm.identify.dataset.files.BASE", 308 << 20)
    monkeypatch.setattr("dynarm.identify.dataset.files.LEAST", 0)
    monkeypatch.setattr("dynarm.identify.dataset.holding.LONG", 3000)
    folder = in_files(frame, tmp_path / "logs", "parquet")
    identifier = dynarm.Identifier(
        dynarm.load("two_link"), cutoff=8.0, friction=("viscous", "coulomb")
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DynarmWarning)
        fit = identifier.fit(Dataset(folder, memory=memory, hold_out=0.4))
        log = dynarm.Log.from_frame(frame, identifier.arm)
        whole = identifier.fit(log.rows(slice(18_000)))
    small = memory == "1GB"
    assert isinstance(fit.record.recording, Streamed) is not small
    np.testing.assert_allclose(fit.values_, whole.values_, rtol=1e-9, atol=1e-9)
    (held,) = fit.held_
    if small:
        np.testing.assert_array_equal(held.t, log.t[18_000:])
        assert held.source.endswith("2.parquet and 1 more from row 8001 on")
    else:
        np.testing.assert_array_equal(held.t, log.t[22_500:25_500])
        assert held.source.endswith("from row 8001 on, 3000 of its 12000 rows")
    assert fit.verdict(fit.held_).word == "PASS"
    assert len(pickle.loads(pickle.dumps(fit)).held_[0]) == len(held)


def test_long_recordings_are_predicted_by_their_middles(tmp_path, frame):
    many = pd.concat([frame] * 4, ignore_index=True)
    many["t"] = np.arange(len(many)) / 500.0
    many.to_parquet(tmp_path / "a.parquet")
    arm = dynarm.load("two_link")
    (log,) = excerpts(survey(Dataset(tmp_path, memory=SMALL), arm))
    assert len(log) == LONG and "60000 of its 120000 rows" in log.source
    np.testing.assert_array_equal(log.q[:, 0], many["q1"][30_000:90_000])
    assert [len(log) for log in Dataset(tmp_path).excerpts(arm)] == [120_000]


# ---- the command line


def test_identify_keeps_the_end_of_a_folder_back_or_predicts_another(tmp_path, frame, capsys):
    logs = in_files(frame[:20_000], tmp_path / "logs", "csv", (0, 9000, 20_000))
    later = in_files(frame[20_000:], tmp_path / "later", "parquet", (0, 4000, 10_000))
    (later / "bad.csv").write_text("t,q1\n0,zero\n")
    line = ["identify", "two_link", str(logs), "--json", "--cutoff", "8", "--out"]
    assert run([*line, str(tmp_path / "a"), "--hold-out", "0.3"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["verdict"] == "PASS" and len(answer["validation"]) == 1
    assert run([*line, str(tmp_path / "b"), "--validate", str(later)]) == 2
    assert "bad.csv" in capsys.readouterr().err
    assert not (tmp_path / "b").exists()
    assert run([*line, str(tmp_path / "b"), "--validate", str(later), "--skip-bad"]) == 0
    told = capsys.readouterr()
    assert "left out" in told.err and json.loads(told.out)["verdict"] == "PASS"
    assert run(["validate", str(tmp_path / "b" / "model.toml"), str(logs), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["validation"]) == 1
    assert run([*line, str(tmp_path / "c"), "--by", "file", "--hold-out", "0.3"]) == 2
