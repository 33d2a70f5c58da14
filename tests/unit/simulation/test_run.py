"""The record of a run: energies, files, tables, pages, progress."""

from __future__ import annotations

import io
import json
import pickle
import stat
import sys

import numpy as np
import pandas as pd
import pytest

import dynarm
from dynarm.border.progress import progress_of


@pytest.fixture(scope="module")
def single(two_link):
    return dynarm.simulate(
        two_link,
        [0.3, 0.2],
        [0, 0.5],
        1.0,
        [1.0, 0.0],
        wrench=[1, 0, 0, 0, 0, 0],
        times=np.linspace(0, 1, 101),
    )


@pytest.fixture(scope="module")
def batch(two_link):
    q0 = np.random.default_rng(0).uniform(-1, 1, (5, 2))
    return dynarm.simulate(two_link, q0, [0, 0], 0.2, method="rk4", dt=0.01)


def test_npz(single, tmp_path):
    single.save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as found:
        assert set(found) == {
            "t",
            "q",
            "qd",
            "tau",
            "kinetic",
            "potential",
            "work",
            "loss",
            "wrench",
            "about",
        }
        assert np.array_equal(found["q"], single.q) and np.array_equal(
            found["wrench"], single.wrench
        )
        about = json.loads(str(found["about"]))
    assert (
        about["robot"] == "two_link"
        and about["status"] == "success"
        and about["joints"] == ["shoulder", "elbow"]
    )
    assert [p.name for p in tmp_path.iterdir()] == ["run.npz"]


def test_parquet(single, batch, tmp_path):
    single.save(tmp_path / "run.parquet")
    table = pd.read_parquet(tmp_path / "run.parquet")
    assert list(table)[:5] == ["t", "shoulder_q", "elbow_q", "shoulder_qd", "elbow_qd"]
    assert (
        np.array_equal(table["elbow_tau"], single.tau[:, 1]) and table.attrs["method"] == "dop853"
    )
    assert np.array_equal(table["wrench_fx"], np.ones(101))
    assert stat.S_IMODE((tmp_path / "run.parquet").stat().st_mode) & 0o400
    batch.save(tmp_path / "batch.parquet")
    table = pd.read_parquet(tmp_path / "batch.parquet")
    assert len(table) == 5 * 21 and np.array_equal(table["sample"].unique(), np.arange(5))
    assert np.array_equal(table[table["sample"] == 3]["elbow_q"], batch.q[3, :, 1])
    assert np.array_equal(table[table["sample"] == 3]["kinetic"], batch.kinetic[3])


@pytest.mark.parametrize("suffix", ["npz", "parquet"])
def test_a_run_is_a_log(single, suffix, tmp_path):
    """What was simulated can be read as if it had been measured."""
    from dynarm.identify.logs.log import Log

    path = tmp_path / f"run.{suffix}"
    single.save(path)
    log = Log.read(path)
    assert (
        np.array_equal(log.q, single.q)
        and np.array_equal(log.tau, single.tau)
        and np.array_equal(log.t, single.t)
    )


def test_files_that_cannot_be_written(single, tmp_path):
    with pytest.raises(dynarm.DynarmError, match=r"npz or \.parquet"):
        single.save(tmp_path / "run.xlsx")
    with pytest.raises(dynarm.DynarmError, match="check folder and rights"):
        single.save(tmp_path / "nowhere" / "run.npz")
    (tmp_path / "taken.npz").mkdir()
    with pytest.raises(dynarm.DynarmError, match=r"taken\.npz"):
        single.save(tmp_path / "taken.npz")
    assert [p.name for p in tmp_path.iterdir()] == ["taken.npz"]


def test_summary(single, batch):
    text = single.summary()
    assert "two_link: dop853" in text and "t = 1 s; success" in text and "unexplained" in text
    assert f"{single.energy[0]:.6g} J" in text
    assert "5 samples" in batch.summary() and "rk4 of 0.01 s" in batch.summary()


def test_page(single, batch, tmp_path):
    text = single.plot(tmp_path / "run.html")
    assert (tmp_path / "run.html").read_text(encoding="utf-8") == text
    assert "two_link" in text and "shoulder" in text and "dynarmPlot" in text
    assert "default-src 'none'" in text  # the page's own policy: nothing is fetched
    assert "prefers-color-scheme: dark" in text and "width=device-width" in text
    assert len(batch.plot()) > 1000
    broken = dynarm.simulate(single.model, [0.1, 0.2], [0, 0], 1.0, lambda t, q, qd: [np.nan] * 2)
    assert "returned NaN or infinity" in broken.plot()


def test_runs_pickle(single, batch):
    for run in (single, batch):
        again = pickle.loads(pickle.dumps(run))
        assert np.array_equal(again.q, run.q) and np.array_equal(again.energy, run.energy)
    assert np.array_equal(pickle.loads(pickle.dumps(single)).dense(0.37)[0], single.dense(0.37)[0])
    assert repr(batch) == "<dynarm.Run of 'two_link': rk4, 5 samples, 21 times to 0.2 s, success>"


def test_energies_are_those_of_the_model(single):
    model = single.model
    assert np.array_equal(single.kinetic, model.kinetic_energy(single.q, single.qd))
    assert np.array_equal(single.energy, single.kinetic + model.potential_energy(single.q))
    assert np.abs(single.balance).max() <= 1e-8 * np.abs(single.energy).max()


@pytest.mark.parametrize("method", ["dop853", "rk4", "midpoint"])
def test_progress_is_reported(method, two_link):
    parts = []
    how = {} if method == "dop853" else {"dt": 1e-4 if method == "rk4" else 1e-3}
    dynarm.simulate(
        two_link, [0.3, 0.2], [0, 0.5], 2.0, method=method, progress=parts.append, **how
    )
    assert parts == sorted(parts) and parts[-1] == pytest.approx(1.0) and parts[0] > 0


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_bars_appear_where_they_are_wanted(two_link, monkeypatch):
    with progress_of(True, "x") as report:
        assert report is None  # no terminal
    monkeypatch.setattr("sys.stderr", Terminal())
    monkeypatch.setattr("dynarm.border.progress.PAUSE", -1.0)
    for wanted, seen in ((False, False), (None, False), (True, True)):
        dynarm.simulate(two_link, [0.3, 0.2], [0, 0.5], 1.0, progress=wanted)
        assert ("simulating two_link" in sys.stderr.getvalue()) == seen
    monkeypatch.setattr("dynarm.border.progress.PATIENCE", 0.0)
    monkeypatch.setattr("sys.stderr", Terminal())
    dynarm.simulate(two_link, [0.3, 0.2], [0, 0.5], 1.0)
    assert "simulating two_link" in sys.stderr.getvalue()
