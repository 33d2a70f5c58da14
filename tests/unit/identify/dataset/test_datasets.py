"""Datasets: one recording in many files gives the fit of the whole, whether it is held in memory or not."""

import json
import os
import pickle
import warnings
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dynarm
from dynarm.cli.app import run
from dynarm.cli.datasets import Bulk
from dynarm.errors import DynarmError, DynarmWarning, InputError
from dynarm.identify.dataset.files import Dataset, byte_count
from dynarm.identify.dataset.parts import continued
from dynarm.identify.dataset.streamed import Streamed
from dynarm.identify.dataset.strewn import together
from dynarm.identify.dataset.survey import survey
from dynarm.identify.fitting import recording_of
from dynarm.identify.logs.noted import noted
from dynarm.identify.preprocess import Preparation, Recording, middle, smooth, smooth_all
from dynarm.identify.result import Fit
from dynarm.identify.segments import LONG, SEGMENT, SIDE, bounds
from fuzz import logs as bags
from oracles.known_drives import STROKES, slipped

ROWS, STEP = 140_000, 0.002
SMALL = "320MB"  # leaves room for some ten thousand rows
EQUAL = 1e-9


@dataclass(frozen=True)
class Motion:
    t: np.ndarray
    q: np.ndarray
    tau: np.ndarray

    def frame(self, rows: slice, since: float = 0.0) -> pd.DataFrame:
        columns = {"t": self.t[rows] - since}
        for j in range(self.q.shape[1]):
            columns |= {f"q{j + 1}": self.q[rows, j], f"tau{j + 1}": self.tau[rows, j]}
        return pd.DataFrame(columns)

    def log(self, rows: slice | np.ndarray = slice(None)) -> dynarm.Log:
        return dynarm.Log(self.t[rows], self.q[rows], self.tau[rows])


@pytest.fixture(scope="module")
def motion() -> Motion:
    """A noisy recording with a gap, resets of an encoder, a turn and a spike, longer than two segments."""
    arm = dynarm.load("two_link")
    rng = np.random.default_rng(3)
    t = STEP * np.arange(ROWS)
    t[100_000:] += 0.7
    states = np.zeros((3, ROWS, arm.n))
    for j in range(arm.n):
        for k in range(5):
            w, a, p = 2 * np.pi * (0.1 + 0.13 * k + 0.02 * j), rng.normal() / 2, rng.uniform(0, 6)
            at = w * t + p
            states[:, :, j] += a * np.array([np.sin(at), w * np.cos(at), -w * w * np.sin(at)])
    tau = dynarm.compile(arm).inverse_dynamics(*states) + 0.3 * np.sign(states[1])
    tau += rng.normal(size=tau.shape) / 20
    tau[90_001, 0] = 1e4
    q = states[0] + 1e-5 * rng.normal(size=tau.shape)
    q[110_000:110_040, 1] += 2.0
    q[120_000:, 1] += 2 * np.pi
    return Motion(t, q, tau)


def parts(motion: Motion, folder: Path, count: int, save: str, rows: int = ROWS) -> Path:
    """The recording in files, nested as partitions are."""
    edges = np.linspace(0, rows, count + 1).astype(int)
    for k in range(count):
        frame = motion.frame(slice(edges[k], edges[k + 1]))
        inside = folder / f"part={k % 2 if save == 'csv' else 'all'}"
        inside.mkdir(exist_ok=True, parents=True)
        name = inside / f"log{k}.{save}"
        if save == "csv":
            frame.to_csv(name, index=False)
        else:
            frame.to_parquet(name, row_group_size=7_000)
    return folder


def quiet(identifier: dynarm.Identifier, what: object) -> Fit:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DynarmWarning)
        return identifier.fit(what)


def same(one: Fit, other: Fit) -> None:
    assert one.names_ == other.names_
    assert one.record.preparation == other.record.preparation
    size = np.abs(other.values_).max()
    np.testing.assert_allclose(one.values_, other.values_, rtol=EQUAL, atol=EQUAL * size)
    np.testing.assert_allclose(one.std_, other.std_, rtol=1e-6)
    a, b = one.record.data("R").merged(), other.record.data("R").merged()
    np.testing.assert_array_equal(a.rows, b.rows)
    for mine, its in zip(a.R[0], b.R[0], strict=True):
        scale = np.abs(its.T @ its).max()
        np.testing.assert_allclose(mine.T @ mine, its.T @ its, rtol=0, atol=EQUAL * scale)


@pytest.mark.parametrize("options", [{}, {"preparation": Preparation(smoothing="spline")}])
def test_a_streamed_recording_gives_the_fit_of_the_whole(tmp_path, motion, options):
    identifier = dynarm.Identifier(dynarm.load("two_link"), **options)
    folder = parts(motion, tmp_path, 3, "parquet")
    streamed = quiet(identifier, Dataset(folder, memory=SMALL))
    assert isinstance(streamed.record.recording, Streamed)
    same(streamed, quiet(identifier, motion.log()))


def test_encoders_of_one_turn_go_on_from_part_to_part_and_from_file_to_file(tmp_path, motion):
    """Within a part, where parts meet in a file, where files meet, and as one that counts turns."""
    begun = -motion.q[59_990] - np.pi  # joint 1 leaves its turn about where parts meet
    wrapped = replace(motion, q=begun + (motion.q - begun) % (2 * np.pi))
    jumps = np.flatnonzero(np.abs(np.diff(wrapped.q[:, 0])) > 5)
    assert len(jumps) > 20
    edges = [0, jumps[len(jumps) // 2] + 1, ROWS]
    for k, rows in enumerate(pairwise(edges)):
        wrapped.frame(slice(*rows)).to_parquet(tmp_path / f"log{k}.parquet", row_group_size=7_000)
    identifier = dynarm.Identifier(dynarm.load("two_link"))
    streamed = quiet(identifier, Dataset(tmp_path, memory=SMALL))
    assert isinstance(streamed.record.recording, Streamed)
    same(streamed, quiet(identifier, motion.log()))
    same(quiet(identifier, Dataset(tmp_path, memory="2GB")), quiet(identifier, motion.log()))


@pytest.fixture(scope="module")
def rubbing(motion) -> Motion:
    """The same with friction that remembers, its torques two samples late."""
    slip = slipped(motion.q, STROKES) @ np.array([0.5, 0.6, 0.4])
    return replace(motion, tau=np.roll(motion.tau + slip, 2, axis=0))


def test_choices_are_those_of_the_whole(tmp_path, monkeypatch, rubbing):
    """Friction with memory, widths and a delay, chosen on a sample with a spike before it."""
    monkeypatch.setattr("dynarm.identify.dataset.parts.ROWS", 17_001)
    tau = rubbing.tau.copy()
    tau[20_001, 1] = -1e4
    spiked = replace(rubbing, tau=tau)
    identifier = dynarm.Identifier(dynarm.load("two_link"))
    folder = parts(spiked, tmp_path, 3, "parquet")
    streamed = quiet(identifier, Dataset(folder, memory=SMALL))
    assert isinstance(streamed.record.recording, Streamed)
    whole = quiet(identifier, spiked.log())
    assert {"presliding"} <= {one.family for one in whole.choice_.tried if one.taken}
    assert whole.record.preparation.delay == pytest.approx(2 * STEP, rel=0.2)
    same(streamed, whole)


def test_choices_look_at_the_same_samples_whatever_the_memory(tmp_path, motion):
    arm, spiked = dynarm.load("two_link"), motion.tau.copy()
    spiked[20_001, 1] = -1e4  # before the middle, which begins a row later for it
    logs = []
    for k in range(7):
        rows = slice(1000 * k, 90_000 + 1000 * k)
        frame = replace(motion, tau=spiked).frame(rows, motion.t[rows][0])
        frame.to_parquet(tmp_path / f"{k}.parquet")
        logs.append(dynarm.Log.from_frame(frame, arm))
    seen = survey(Dataset(tmp_path), arm)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DynarmWarning)
        held = recording_of(arm, logs, None)
        streamed = Streamed(seen, None)
    assert len(held.short.logs) == len(streamed.short.logs) == 4
    for mine, its in zip(streamed.short.logs, held.short.logs, strict=True):
        for name in ("t", "q", "tau"):
            np.testing.assert_array_equal(getattr(mine, name), getattr(its, name))
    again = pickle.loads(pickle.dumps(held))
    assert [len(log) for log in again.short.logs] == [len(log) for log in held.short.logs]


def test_what_is_usual_is_that_of_the_whole_recording(tmp_path, motion):
    """Days that are quiet in the middle do not make samples of the others ones that cannot be."""
    lively = np.abs(np.arange(ROWS) - ROWS / 2) > 40_000
    near = np.clip((np.abs(np.arange(ROWS) - ROWS / 2) - 40_000) / 1000, 0.0, 1.0)
    scale = 0.002 + 0.998 * near**2 * (3 - 2 * near)
    jolts = np.random.default_rng(1).choice(np.flatnonzero(lively), 2000, replace=False)
    tau = motion.tau * scale[:, None] ** 2
    tau[90_001] = motion.tau[90_000] * scale[90_001] ** 2
    tau[jolts] += 30.0
    tau[[500, 130_000], 1] = 1e5
    some = replace(motion, q=motion.q * scale[:, None], tau=tau)
    identifier = dynarm.Identifier(
        dynarm.load("two_link"), cutoff=8.0, friction=("viscous", "coulomb")
    )
    whole = quiet(identifier, some.log())
    assert "left out: 2 samples" in " ".join(whole.record.logs[0].notes)
    folder = parts(some, tmp_path, 3, "parquet")
    same(quiet(identifier, Dataset(folder, memory=SMALL)), whole)


def test_rows_from_all_over_a_dataset_are_few_and_evenly_spread(tmp_path, monkeypatch, motion):
    monkeypatch.setattr("dynarm.identify.dataset.survey._STREWN", 3000)
    folder = parts(motion, tmp_path, 9, "parquet")
    seen = survey(Dataset(folder), dynarm.load("two_link"))
    drawn = [span.strewn for run in seen.runs for span in run.files]
    assert 1500 <= sum(len(one.steps) for one in drawn) <= 3000
    assert {one.every for one in drawn} == {64}
    every = together(drawn)
    assert np.median(every.steps) == pytest.approx(STEP)
    for column, its in zip(every.rows["tau"].T, motion.tau.T, strict=True):
        assert np.quantile(column, 0.9) == pytest.approx(np.quantile(its, 0.9), rel=0.1)
    assert all(span.strewn is None for run in seen.light.runs for span in run.files)


def test_rows_that_are_weighted_again_are_read_again(tmp_path, motion):
    identifier = dynarm.Identifier(dynarm.load("two_link"), estimator="irls", cutoff=8.0)
    folder = parts(motion, tmp_path, 2, "parquet")
    same(quiet(identifier, Dataset(folder, memory=SMALL)), quiet(identifier, motion.log()))


def test_large_csv_files_are_read_in_parts(tmp_path, motion, monkeypatch):
    monkeypatch.setattr("dynarm.identify.logs.readers.LARGE", 0)
    monkeypatch.setattr("dynarm.identify.logs.readers._csv", None)  # nothing is read whole
    identifier = dynarm.Identifier(dynarm.load("two_link"), cutoff=8.0, friction=("viscous",))
    folder = parts(motion, tmp_path, 2, "csv")
    fit = quiet(identifier, Dataset(folder, memory=SMALL))
    assert isinstance(fit.record.recording, Streamed)
    same(fit, quiet(identifier, motion.log()))


def test_many_small_files_are_one_recording(tmp_path, motion):
    identifier = dynarm.Identifier(dynarm.load("two_link"))
    folder = parts(motion, tmp_path, 200, "csv", 20_000)
    fit = quiet(identifier, folder)
    assert len(fit.record.logs) == 1
    ordered = [str(p) for p in Dataset(folder).files()]
    assert ordered.index(str(folder / "part=0/log2.csv")) < ordered.index(
        str(folder / "part=0/log10.csv")
    )
    same(fit, quiet(identifier, motion.log(slice(20_000))))
    same(quiet(identifier, str(folder / "part=*" / "*.csv")), fit)


def test_clocks_that_start_anew_are_recordings_of_their_own(tmp_path, motion):
    identifier = dynarm.Identifier(dynarm.load("two_link"))
    logs = []
    for k in range(3):
        rows = slice(20_000 * k, 20_000 * (k + 1))
        motion.frame(rows, motion.t[rows][0]).to_csv(tmp_path / f"run{k}.csv", index=False)
        logs.append(dynarm.Log.read(tmp_path / f"run{k}.csv"))
    same(quiet(identifier, tmp_path), quiet(identifier, logs))
    same(quiet(identifier, Dataset(tmp_path, memory="319MB")), quiet(identifier, logs))


CLOCKS = {  # how a file's clock may count from 1970
    "seconds": lambda t: 1.75e9 + t,
    "dates": lambda t: pd.to_datetime(1_750_000_000_000_000_000 + np.round(t * 1e9).astype(int)),
    "ns": lambda t: 1_750_000_000_000_000_000 + np.round(t * 1e9).astype(int),
}


@pytest.mark.parametrize("clock", CLOCKS)
def test_files_of_one_clock_since_1970_are_one_recording(tmp_path, motion, clock):
    channels = {"time": {"column": "t"}, "q": ["q1", "q2"], "tau": ["tau1", "tau2"]}
    channels["time"] |= {"unit": "ns"} if clock == "ns" else {}
    whole = motion.frame(slice(6000))
    whole["t"] = CLOCKS[clock](whole["t"].to_numpy())
    (tmp_path / "logs").mkdir()
    for k in range(3):
        whole[2000 * k : 2000 * (k + 1)].to_csv(tmp_path / "logs" / f"{k}.csv", index=False)
    whole.to_csv(tmp_path / "whole.csv", index=False)
    identifier = dynarm.Identifier(dynarm.load("two_link"), cutoff=8.0)
    fit = quiet(identifier, Dataset(tmp_path / "logs", channels))
    log = dynarm.Log.read(tmp_path / "whole.csv", channels)
    assert len(fit.record.logs) == 1
    assert log.since == np.datetime64(1_750_000_000, "s")
    assert log.t[0] == 0 and abs(fit.record.logs[0].t - log.t).max() < 1e-8
    same(fit, quiet(identifier, log))


BORDERS = {  # clocks whose rows meet where files do; how the file holds them, how the declaration calls the unit
    "seconds": (lambda ns: ns / 1e9, None),
    "milliseconds": (lambda ns: ns / 1e6, "ms"),
    "nanoseconds": (lambda ns: ns, "ns"),
    "dates": (pd.to_datetime, None),
    "milliseconds since boot": (lambda ns: (ns - BOOT) / 1e6, "ms"),
}
BOOT = 1_700_000_000_000_000_000


@pytest.mark.parametrize("save", ["csv", "parquet"])
@pytest.mark.parametrize("clock", BORDERS)
def test_times_are_those_of_the_whole_wherever_files_meet(tmp_path, motion, clock, save):
    """Files share their border rows, as recorders write them; none is lost, kept twice or moved."""
    made, unit = BORDERS[clock]
    rows, cuts = 6000, [0, 1237, 1238 + 611, 4321, 5999]
    frame = motion.frame(slice(rows))
    stamps = BOOT + 123_456_789 + 1_000_000 * np.arange(rows) + motion.tau[:rows, 0].astype(int)
    frame["t"] = made(stamps)
    channels = {"time": {"column": "t"}, "q": ["q1", "q2"], "tau": ["tau1", "tau2"]}
    channels["time"] |= {"unit": unit} if unit else {}
    (tmp_path / "logs").mkdir()
    files = {f"logs/{k}": frame[low : high + 1] for k, (low, high) in enumerate(pairwise(cuts))}
    for name, some in {**files, "whole": frame}.items():
        if save == "csv":
            some.to_csv(tmp_path / f"{name}.csv", index=False)
        else:
            some.to_parquet(tmp_path / f"{name}.parquet")
    seen = survey(Dataset(tmp_path / "logs", channels), dynarm.load("two_link"))
    whole = dynarm.Log.read(tmp_path / f"whole.{save}", channels)
    assert len(seen.runs) == 1
    read = seen.read(seen.runs[0])
    np.testing.assert_array_equal(read.t, whole.t)
    np.testing.assert_array_equal(read.q, whole.q)
    if "boot" not in clock:
        apart = (whole.since - np.datetime64(int(stamps[0]), "ns")).astype(int)
        assert abs(apart) <= (130 if clock != "dates" else 0)  # half of a float's last digit


def test_files_recorded_at_the_same_time_are_recordings_of_their_own(tmp_path, motion):
    for k in range(2):  # two robots, say
        frame = motion.frame(slice(3000 * k, 3000 * k + 6000))
        frame.assign(t=1.75e9 + frame["t"]).to_csv(tmp_path / f"{k}.csv", index=False)
    with pytest.warns(DynarmWarning, match="while another file was"):
        fit = dynarm.Identifier(dynarm.load("two_link"), cutoff=8.0).fit(tmp_path)
    assert len(fit.record.logs) == 2


def test_segments_hardly_differ_from_the_whole_stretch(motion):
    how = Preparation(cutoff=8.0, velocity="differentiate", smoothing="filter")
    log = motion.log(slice(85_000))
    pieces = smooth_all(log, how)
    assert [len(piece) for piece in pieces] == [SEGMENT, 85_000 - SEGMENT]
    whole = smooth(log, how)
    for name in ("t", "q", "qd", "qdd"):
        mine = np.concatenate([getattr(piece, name) for piece in pieces])
        its = getattr(whole, name)
        np.testing.assert_allclose(mine, its, rtol=0, atol=1e-9 * np.abs(its).max())
    assert Recording([log]).pieces(how)[1].t[0] == log.t[SEGMENT]


def test_choices_look_at_motion_where_the_middle_rests(tmp_path):
    rows = 140_000
    still = (np.arange(rows) > 30_000) & (np.arange(rows) < 100_000)
    phase = np.cumsum(~still) * STEP
    rng = np.random.default_rng(0)
    q = np.column_stack([np.sin(phase), np.cos(2 * phase)]) + 1e-5 * rng.normal(size=(rows, 2))
    motion = Motion(STEP * np.arange(rows), q, rng.normal(size=(rows, 2)))
    motion.frame(slice(None)).to_parquet(tmp_path / "a.parquet")
    sample = middle(motion.log())
    assert len(sample) == LONG and sample.t[0] > 40_000 * STEP  # more of the end moves
    streamed = Streamed(survey(Dataset(tmp_path), dynarm.load("two_link")), None)
    np.testing.assert_array_equal(streamed.logs[0].q, sample.q)
    lively = middle(motion.log(~still))
    assert lively.t[0] == motion.t[~still][(len(motion.t[~still]) - LONG) // 2]


def test_no_segment_is_short():
    for length in (1, SIDE, SEGMENT, SEGMENT + SIDE, SEGMENT + SIDE + 1, 3 * SEGMENT - 1):
        edges = bounds(length)
        assert edges[0][0] == 0 and edges[-1][1] == length
        assert all(high - low > SIDE for low, high in edges) or len(edges) == 1


def test_partitions_of_parquet_are_one_recording(tmp_path, motion):
    identifier = dynarm.Identifier(dynarm.load("two_link"))
    frame = motion.frame(slice(20_000))
    frame.assign(hour=np.arange(20_000) // 2500).to_parquet(
        tmp_path / "logs", partition_cols=["hour"]
    )
    assert len(Dataset(tmp_path / "logs").files()) == 8
    same(quiet(identifier, tmp_path / "logs"), quiet(identifier, motion.log(slice(20_000))))


def test_bags_in_a_folder_are_logs(tmp_path):
    arm = dynarm.load("two_link")
    joints = tuple(replace(joint, name=name) for joint, name in zip(arm.joints, "ab", strict=True))
    (tmp_path / "run0.mcap").write_bytes(bags.mcap())
    (tmp_path / "run1.db3").write_bytes(bags.base())
    bag = tmp_path / "bag"
    bag.mkdir()
    (bag / "bag_0.db3").write_bytes(bags.base())
    files = Dataset(tmp_path).files()
    assert [path.name for path in files] == ["bag", "run0.mcap", "run1.db3"]
    for path in files:
        assert survey(Dataset(path), replace(arm, joints=joints)).rows == bags.N


def test_remarks_about_many_files_are_a_few_lines(tmp_path, motion):
    for k in range(60):
        rows = slice(600 * k, 600 * (k + 1))
        frame = motion.frame(rows, motion.t[rows][0])
        frame.loc[200 + k : 500, ["q1", "q2"]] = frame.loc[200 + k, ["q1", "q2"]].to_numpy()
        frame.to_csv(tmp_path / f"run{k}.csv", index=False)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", DynarmWarning)
        fit = dynarm.Identifier(dynarm.load("two_link"), cutoff=10.0).fit(tmp_path)
    told = noted((log.source, (*log.notes, *log.quality.notes)) for log in fit.record.logs)
    assert 1 <= len(told) + len(said) <= 12
    assert any("60 logs (" in line and "rest in" in line for line in told)


@pytest.mark.parametrize("memory", ["1GB", SMALL])
def test_rows_that_are_left_out_of_many_parts_are_one_number(tmp_path, monkeypatch, motion, memory):
    monkeypatch.setattr("dynarm.identify.dataset.parts.ROWS", 2000)
    frame = motion.frame(slice(None))
    gone = np.random.default_rng(0).choice(np.arange(2, 90_000), 500, replace=False)
    frame.loc[gone, "tau1"] = np.nan
    frame[:70_000].to_parquet(tmp_path / "a.parquet")
    frame[70_000:].to_parquet(tmp_path / "b.parquet")
    channels = {"time": "t", "q": ["q1", "q2"], "tau": ["tau1", "tau2"], "missing": "drop"}
    fit = quiet(
        dynarm.Identifier(dynarm.load("two_link"), cutoff=8.0), Dataset(tmp_path, channels, memory)
    )
    assert isinstance(fit.record.recording, Streamed) is (memory == SMALL)
    (log,) = fit.record.logs
    left = [note for note in log.notes if "missing numbers" in note]
    assert left == ["500 rows with missing numbers were left out"]


def test_progress_tells_files_and_rows(tmp_path, motion):
    folder = parts(motion, tmp_path, 5, "csv", 10_000)
    looks, done = [], []
    data = Dataset(folder, progress=lambda *look: looks.append(look))
    identifier = dynarm.Identifier(
        dynarm.load("two_link"), progress=lambda some, whole: done.append(some / whole)
    )
    quiet(identifier, data)
    assert looks == [(k, 5, 2000 * k) for k in range(1, 6)]
    assert done == sorted(done) and done[-1] == pytest.approx(1.0, abs=0.01)


# ---- what cannot be


def test_one_bad_file_among_two_hundred(tmp_path, motion, capsys):
    folder = parts(motion, tmp_path / "logs", 200, "csv", 20_000)
    spoiled = folder / "part=1" / "log77.csv"
    spoiled.write_bytes(spoiled.read_bytes()[:1000] + bytes(range(256)) * 4)
    out = tmp_path / "out"
    line = ["identify", "two_link", str(folder), "--out", str(out), "--json", "--cutoff", "10"]
    assert run(line) == 2
    told = capsys.readouterr().err
    assert "log77.csv" in told and told.endswith("or go on without it: --skip-bad\n")
    assert not out.exists()
    assert run([*line, "--skip-bad"]) in (0, 1)
    assert "left out" in capsys.readouterr().err
    assert {"c", "identified.urdf", "model.toml", "report.html"} <= {p.name for p in out.iterdir()}


def test_bad_files_are_named_or_left_out(tmp_path, motion):
    folder = parts(motion, tmp_path, 4, "csv", 20_000)
    (folder / "part=1" / "log1.csv").write_text("t,q1\n0,zero\n")
    identifier = dynarm.Identifier(dynarm.load("two_link"))
    with pytest.raises(DynarmError, match=r"log1\.csv.*skip_bad"):
        identifier.fit(folder)
    with pytest.warns(DynarmWarning, match=r"left out: .*log1\.csv"):
        fit = identifier.fit(Dataset(folder, skip_bad=True))
    assert sum(map(len, fit.record.logs)) == 15_000


def test_corrupt_parquet_is_named(tmp_path, motion):
    folder = parts(motion, tmp_path, 2, "parquet", 20_000)
    file = folder / "part=all" / "log1.parquet"
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(DynarmError, match=r"log1\.parquet"):
        dynarm.Identifier(dynarm.load("two_link")).fit(folder)


def test_logs_of_other_kinds_are_refused(tmp_path, motion):
    identifier = dynarm.Identifier(dynarm.load("two_link"))
    frame = motion.frame(slice(5000))
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.assign(qd1=0.1, qd2=0.1).to_csv(tmp_path / "b.csv", index=False)
    with pytest.raises(InputError, match=r"b\.csv: holds t, q, qd, tau, .*a\.csv holds t, q, tau"):
        identifier.fit(tmp_path)
    frame.drop(columns=["q2", "tau2"]).to_csv(tmp_path / "b.csv", index=False)
    with pytest.raises(DynarmError, match=r"b\.csv has 1 joints, robot 'two_link' has 2"):
        identifier.fit(tmp_path)


def test_overlapping_times_are_refused_and_unordered_ones_ordered(tmp_path, motion):
    identifier = dynarm.Identifier(dynarm.load("two_link"))
    motion.frame(slice(10_000)).to_csv(tmp_path / "b.csv", index=False)
    motion.frame(slice(10_000, 20_000)).to_csv(tmp_path / "a.csv", index=False)
    with pytest.warns(DynarmWarning, match="put in order of their times"):
        fit = identifier.fit(tmp_path)
    same(fit, quiet(identifier, motion.log(slice(20_000))))
    motion.frame(slice(5000, 20_000)).to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(InputError, match=r"b\.csv: its times .* overlap .*a\.csv.*: apart=True"):
        identifier.fit(tmp_path)
    logs = [dynarm.Log.read(tmp_path / name) for name in ("a.csv", "b.csv")]
    for memory in ("1GB", "319MB"):
        same(
            quiet(identifier, Dataset(tmp_path, memory=memory, apart=True)), quiet(identifier, logs)
        )
    line = ["identify", "two_link", str(tmp_path), "--cutoff", "8", "--validate", str(tmp_path)]
    line += ["--out", str(tmp_path / "out")]
    assert run(line) == 2
    assert run([*line, "--apart"]) == 0


def test_sizes_of_memory():
    assert byte_count("memory", "1GB") == 10**9
    assert byte_count("memory", "1.5 GiB") == 3 << 29
    for bad in ("much", "10MB", True, None):
        with pytest.raises(InputError, match="memory is"):
            byte_count("memory", bad)


@pytest.mark.parametrize("save", ["csv", "parquet"])
def test_files_without_rows_or_with_one_are_told_so(tmp_path, motion, save):
    frame = motion.frame(slice(4000))
    for count, said in ((0, "no rows"), (1, "1 samples; at least 2 are needed")):
        some = frame[2000 : 2000 + count]
        for name, rows in {"a": frame[:2000], "b": some, "c": frame[2000 + count :]}.items():
            if save == "csv":
                rows.to_csv(tmp_path / f"{name}.csv", index=False)
            else:
                rows.to_parquet(tmp_path / f"{name}.parquet")
        identifier = dynarm.Identifier(dynarm.load("two_link"), cutoff=8.0)
        with pytest.raises(DynarmError, match=rf"b\.{save}.* {said}"):
            identifier.fit(tmp_path)
        with pytest.warns(DynarmWarning, match=rf"left out: .*b\.{save}.* {said}"):
            identifier.fit(Dataset(tmp_path, skip_bad=True))


def test_linked_folders_are_read_and_no_file_twice(tmp_path, motion):
    disk, folder = tmp_path / "disk", tmp_path / "logs"
    parts(motion, disk, 2, "csv", 4000)
    folder.mkdir()
    try:
        (folder / "linked").symlink_to(disk)
        (disk / "round").symlink_to(disk)  # in a circle
        (folder / "again.csv").symlink_to(disk / "part=0" / "log0.csv")
    except OSError:
        assert os.name == "nt"  # where links are not everybody's
        return
    files = Dataset(folder).files()
    assert [path.resolve().name for path in files] == ["log0.csv", "log1.csv"]
    assert len(Dataset([folder, folder / ".." / "logs", disk]).files()) == 2
    assert len(Dataset(str(folder / "**" / "*.csv")).files()) == 2


@pytest.mark.parametrize("clock", [0.0, 1.75e9])
def test_copies_of_a_log_count_once(tmp_path, motion, clock):
    """A copy under another name, and one converted to another format; another log of the same motion is none."""
    for k in range(3):
        frame = motion.frame(slice(3000 * k, 3000 * (k + 1)))
        frame["t"] += clock - (0 if clock else frame["t"].iloc[0])
        frame.to_csv(tmp_path / f"run{k}.csv", index=False)
    seen = survey(Dataset(tmp_path), dynarm.load("two_link"))
    frame = pd.read_csv(tmp_path / "run1.csv")
    frame.to_parquet(tmp_path / "run1.parquet", row_group_size=700)
    again = survey(Dataset(tmp_path), dynarm.load("two_link"))
    assert again.rows == seen.rows == 9000 and len(again.runs) == len(seen.runs)
    (note,) = again.copies
    assert note[0].endswith("run1.parquet") and "run1.csv, and was left out" in note[1]
    (tmp_path / "backup").mkdir()
    for k in range(3):
        (tmp_path / "backup" / f"run{k}.csv").write_bytes((tmp_path / f"run{k}.csv").read_bytes())
    frame["tau1"] += 0.01
    frame["t"] += 100.0 * bool(clock)
    frame.to_parquet(tmp_path / "run1.parquet")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        fit = dynarm.Identifier(dynarm.load("two_link"), cutoff=8.0).fit(tmp_path)
    (line,) = (str(note.message) for note in said if "same samples" in str(note.message))
    assert all(f"run{k}.csv" in line for k in range(3)) and "as other files" in line
    assert sum(map(len, fit.record.logs)) == 12_000


def test_what_lies_beside_logs_is_no_log(tmp_path, motion):
    parts(motion, tmp_path, 2, "csv", 2000)
    for name in ("README.txt", "Notes.TXT", "readme.md", "photo.png", "_SUCCESS", "._log0.csv"):
        (tmp_path / name).write_text("Recorded in May, thank you.\nAll of it.\n")
    motion.frame(slice(2000, 4000)).to_csv(tmp_path / "day3.txt", index=False)
    for given in (tmp_path, tmp_path / "**" / "*"):
        assert {path.name for path in Dataset(given).files()} == {
            "log0.csv",
            "log1.csv",
            "day3.txt",
        }
    (tmp_path / "day4.txt").write_text("Recorded in May, thank you.\nAll of it.\n")
    with pytest.raises(DynarmError, match=r"day4\.txt"):
        survey(Dataset(tmp_path), dynarm.load("two_link"))


def test_empty_folders_are_refused(tmp_path):
    with pytest.raises(DynarmError, match="holds no log"):
        dynarm.Identifier(dynarm.load("two_link")).fit(tmp_path)
    with pytest.raises(DynarmError, match="matches no log"):
        dynarm.Identifier(dynarm.load("two_link")).fit(tmp_path / "*.csv")


# ---- the command line


@pytest.mark.parametrize("clock", [0.0, 1.75e9])
def test_logs_that_go_on_at_once_are_one(motion, clock):
    frame = motion.frame(slice(6000))
    frame["t"] += clock
    arm = dynarm.load("two_link")
    cuts = [0, 1500, 4000, 6000]
    pieces = [dynarm.Log.from_frame(frame[a:b], arm) for a, b in pairwise(cuts)]
    whole = dynarm.Log.from_frame(frame, arm)
    (one,) = continued([pieces[k] for k in (2, 0, 1)])
    np.testing.assert_array_equal(one.t, whole.t)
    np.testing.assert_array_equal(one.tau, whole.tau)
    assert one.since == whole.since
    apart = [pieces[0], pieces[2]]  # a second between them is missing
    assert continued(apart) == apart
    anew = [replace(log, t=log.t - log.t[0]) for log in pieces]
    assert clock or continued(anew) == anew
    speeds = replace(pieces[1], qd=np.zeros_like(pieces[1].q))
    assert continued([pieces[0], speeds]) == [pieces[0], speeds]


def test_many_names_of_large_logs_are_a_dataset(tmp_path, monkeypatch, motion):
    for k in range(3):
        motion.frame(slice(5000 * k, 5000 * (k + 1))).to_parquet(tmp_path / f"{k}.parquet")
    names = sorted(map(str, tmp_path.iterdir()))
    bulk = Bulk(None, False, None, None, None, False)
    assert bulk.dataset(names, (None, None), {}, 0.0) is None
    monkeypatch.setattr("dynarm.identify.dataset.files._TOGETHER", 400_000)
    data = bulk.dataset(names, (None, None), {}, 0.0)
    assert data is not None and len(data.files()) == 3
    assert bulk.dataset(names[:1], (None, None), {}, 0.0) is None


def test_identify_takes_a_folder(tmp_path, motion, capsys):
    folder = parts(motion, tmp_path / "logs", 4, "csv", 20_000)
    out = tmp_path / "out"
    line = ["identify", "two_link", str(folder), "--out", str(out), "--json"]
    assert run(line) in (0, 1)
    answer = json.loads(capsys.readouterr().out)
    fit = quiet(dynarm.Identifier(dynarm.load("two_link")), motion.log(slice(20_000)))
    told = [one["value"] for one in answer["parameters"]]
    np.testing.assert_allclose(told, fit.values_, rtol=1e-6, atol=1e-9)
    names = sorted(map(str, folder.rglob("*.csv")))  # as a shell lists them
    assert run([line[0], line[1], *names, *line[3:], "--force"]) in (0, 1)
    again = json.loads(capsys.readouterr().out)
    assert [one["value"] for one in again["parameters"]] == told
    (folder / "part=0" / "log0.csv").write_text("t,q1\n0,zero\n")
    assert run([*line, "--force"]) == 2
    assert "log0.csv" in capsys.readouterr().err
    assert run([*line, "--force", "--skip-bad", "--memory", "320MB"]) in (0, 1)
    assert run([*line, "--force", "--skip-bad", "--memory", "1MB"]) == 2
    assert run([*line, "--force", "--skip-bad", "--hold-out", "0.3"]) == 0
    assert run([*line, "--force", "--skip-bad", "--kp", "10"]) == 2
