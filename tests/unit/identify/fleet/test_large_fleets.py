"""Fleets whose robots' logs do not fit into memory: the values and the drifts of those that do."""

import numpy as np
import pandas as pd
import pytest
from benchmarks import simulated_fleets as fleets

import dynarm
from dynarm.errors import DynarmError, InputError
from dynarm.identify.dataset.files import Dataset
from dynarm.identify.fleet import recordings
from dynarm.identify.fleet.recordings import Calendar, LogSpan, Recordings, StreamedRuns
from dynarm.identify.preprocess import Preparation, smooth_all

PLAIN = ("viscous", "coulomb", "offset")
SMALL = "320MB"  # leaves room for some ten thousand rows
DAYS = 7
HOUR = 3600.0
BEGIN = HOUR * np.ceil(fleets.BEGIN / HOUR)  # a full hour


@pytest.fixture(scope="module")
def base():
    return dynarm.load("two_link")


def table(log, start=0.0):
    columns = {"t": log.t - log.t[0] + start}
    columns |= {f"q{j + 1}": log.q[:, j] for j in range(log.n)}
    columns |= {f"tau{j + 1}": log.tau[:, j] for j in range(log.n)}
    return pd.DataFrame(columns)


@pytest.fixture(scope="module")
def logs(base):
    """Two robots over some days; the friction of one of them grows."""
    rng = np.random.default_rng(9)
    arm = fleets.sound_robot(rng, base)
    data = {}
    for name, step in (("steady", 0.0), ("worn", 0.1)):
        for day in range(DAYS):
            one = fleets.with_worn_joint(arm, 0, 0.8 + step * day)
            data[name, day] = fleets.recording(rng, one, 20.0)
    return data


def written(folder, logs, dated):
    for (robot, day), log in logs.items():
        place = folder / f"robot={robot}"
        if dated == "path":
            place /= f"day=2026-03-{day + 1:02d}"
        place.mkdir(parents=True, exist_ok=True)
        start = BEGIN + day * fleets.DAY - 7.3 if dated == "clock" else 0.0
        table(log, start).to_parquet(place / f"{day}.parquet", row_group_size=700)
    return folder


@pytest.fixture
def streamed(monkeypatch):
    """The robots that are read piece by piece, however small they are."""
    made = []

    class Noted(StreamedRuns):
        def __init__(self, seen, rows):
            super().__init__(seen, rows)
            made.append(self)

    monkeypatch.setattr(recordings, "StreamedRuns", Noted)
    monkeypatch.setattr(recordings, "COPIES", 1000)
    monkeypatch.setattr(recordings, "is_small", lambda seen: False)
    return made


@pytest.mark.parametrize("dated", ["clock", "path", None])
def test_robots_that_are_read_piece_by_piece_are_those_held_in_memory(
    base, logs, tmp_path, streamed, monkeypatch, dated
):
    folder = written(tmp_path, logs, dated)
    with monkeypatch.context() as patch:
        patch.setattr(recordings, "COPIES", 1)
        held = dynarm.fit_fleet(base, folder, friction=PLAIN)
    assert not streamed
    fleet = dynarm.fit_fleet(base, Dataset(folder, memory=SMALL), friction=PLAIN)
    assert len(streamed) == 2
    apart = np.abs(fleet.values_ - held.values_) / held.std_
    assert apart.max() < 1e-6
    np.testing.assert_allclose(fleet.std_, held.std_, rtol=0.02)
    assert [one.samples for one in fleet.robots.values()] == [
        one.samples for one in held.robots.values()
    ]
    mine, its = ([(one.robot, one.what) for one in some.drifting_] for some in (fleet, held))
    assert mine == its == ([("worn", "coulomb1")] if dated else [])
    for one, other in zip(fleet.drift, held.drift, strict=True):
        np.testing.assert_allclose(one.times, other.times, atol=1.0)
        assert one.period == other.period == "day"


def test_blocks_stay_few_and_are_of_one_period(base, logs, tmp_path, streamed, monkeypatch):
    folder = written(tmp_path, logs, "clock")
    monkeypatch.setattr(recordings, "_MOST", 3)
    monkeypatch.setattr("dynarm.identify.estimators.factors.CHUNK", 200)  # many a block
    made = []
    monkeypatch.setattr(
        "dynarm.identify.fleet.fitting._periods",
        lambda fit, factors, dates, period: made.append((factors, dates)) or [],
    )
    dynarm.fit_fleet(base, Dataset(folder, memory=SMALL), friction=PLAIN)
    for factors, dates in made:
        assert all(run >= 0 for run in factors.runs)
        assert 1 < len(dates) <= 3 and len(set(factors.runs)) == len(dates)
    assert streamed[0].calendar.period == 4 * fleets.DAY


def test_a_bad_file_of_a_large_robot_is_named_or_left_out(base, logs, tmp_path, streamed):
    folder = written(tmp_path, logs, "path")
    bad = folder / "robot=worn" / "day=2026-03-02" / "1.parquet"
    bad.write_bytes(b"PAR1 and no more")
    copy = folder / "robot=steady" / "day=2026-03-03" / "copy.parquet"
    copy.write_bytes((copy.parent / "2.parquet").read_bytes())
    with pytest.raises(DynarmError, match=r"robot worn: .*1\.parquet.*skip_bad=True"):
        dynarm.fit_fleet(base, Dataset(folder, memory=SMALL), friction=PLAIN)
    data = Dataset(folder, memory=SMALL, skip_bad=True)
    fleet = dynarm.fit_fleet(base, data, friction=PLAIN)
    rows = {
        name: sum(len(log) for (own, _), log in logs.items() if own == name)
        for name in fleet.robots
    }
    assert fleet["steady"].samples == rows["steady"]
    assert fleet["worn"].samples == rows["worn"] - len(logs["worn", 1])
    assert len(fleet.left_out) == 2
    assert "steady" in fleet.left_out[0] and "same samples" in fleet.left_out[0]
    assert "1.parquet" in fleet.left_out[1]
    with pytest.raises(InputError, match="raise memory, or choose 'wls'"):
        dynarm.fit_fleet(base, Dataset(folder, memory=SMALL), friction=PLAIN, estimator="iv")


@pytest.mark.parametrize(
    ("memory", "wide", "large"), [("330MB", 0, False), (SMALL, 0, True), ("330MB", 9, False)]
)
def test_only_what_does_not_fit_is_read_piece_by_piece(base, logs, tmp_path, memory, wide, large):
    """By the bytes of the files; of those that hold more than a fit needs by what it does."""
    for day in range(DAYS):
        more = {f"extra{k}": np.arange(len(logs["worn", day])) for k in range(wide)}
        table(logs["worn", day]).assign(**more).to_parquet(tmp_path / f"{day}.parquet")
    files = [recordings.File(path) for path in Dataset(tmp_path).files()]
    reader = Recordings(dynarm.Identifier(base, friction=PLAIN), memory, False)
    own = reader.of("worn", files)
    assert isinstance(own.recording, StreamedRuns) is large
    assert own.rows == DAYS * len(logs["worn", 0])
    assert len(reader.sample("worn", files[0])) == len(logs["worn", 0])


def test_robots_in_a_column_of_a_file_too_large_are_refused_with_what_to_do(base, tmp_path):
    rows = 300_000
    t = np.arange(rows) * 0.002
    frame = pd.DataFrame({"t": t} | {name: np.sin(t) for name in ("q1", "q2", "tau1", "tau2")})
    frame.assign(robot="a").to_parquet(tmp_path / "a.parquet")
    frame.assign(robot=np.where(t < 300, "b", "c")).to_parquet(tmp_path / "b.parquet")
    told = r"b\.parquet: column 'robot' names several robots.*memory is 320MB; give memory='\d+MB'"
    with pytest.raises(InputError, match=told):
        dynarm.fit_fleet(base, Dataset(tmp_path, memory=SMALL))


def test_channels_of_datasets_in_a_dict_are_used(base, logs, tmp_path):
    data, plain = {}, {}
    for robot in ("steady", "worn"):
        frame = table(logs[robot, 0]).rename(columns={"tau1": "amps1", "tau2": "amps2"})
        frame[["amps1", "amps2"]] /= 2.0
        (tmp_path / robot).mkdir()
        frame.to_csv(tmp_path / robot / "0.csv", index=False)
        channels = {"time": "t", "q": ["q1", "q2"]}
        channels |= {"tau": {"columns": ["amps1", "amps2"], "scale": 2.0}}
        data[robot], plain[robot] = Dataset(tmp_path / robot, channels), logs[robot, 0]
    fleet = dynarm.fit_fleet(base, data, friction=PLAIN)
    expected = dynarm.fit_fleet(base, plain, friction=PLAIN)
    np.testing.assert_allclose(fleet.values_, expected.values_, rtol=1e-6, atol=1e-6)


def test_copies_of_a_robots_log_count_once(base, logs, tmp_path):
    for robot in ("steady", "worn"):
        (tmp_path / robot).mkdir()
        table(logs[robot, 0]).to_csv(tmp_path / robot / "0.csv", index=False)
    alone = dynarm.fit_fleet(base, tmp_path, by="folder", friction=PLAIN)
    table(logs["worn", 0]).to_parquet(tmp_path / "worn" / "0.parquet")
    fleet = dynarm.fit_fleet(base, tmp_path, by="folder", friction=PLAIN)
    np.testing.assert_array_equal(fleet.values_, alone.values_)
    assert "same samples" in fleet.left_out[0] and "worn" in fleet.left_out[0]


def test_stretches_are_cut_where_hours_end_but_not_near_their_ends(base, logs):
    clock, how = 1.75e9 - 1.75e9 % HOUR, Preparation(cutoff=10.0, velocity="differentiate")
    for start, expected in ((HOUR - 7.3, [1460, 2540]), (HOUR - 0.02, [4000]), (0.0, [4000])):
        log = logs["steady", 0]
        log = dynarm.Log(log.t + start, log.q, log.tau)
        calendar = Calendar([LogSpan(start, log.t[-1], clock, None)])
        parts = list(calendar.cut(smooth_all(log, how)))
        assert [len(part) for part in parts] == expected
        assert [part.run for part in parts] == list(range(len(expected)))
        dates = [float(part.t.mean()) + clock for part in parts]
        assert calendar.dates() == pytest.approx(dates, abs=1e-3)


def test_runs_of_recordings_without_dates_are_few():
    spans = [LogSpan(0.0, 1.0, None, None)] * 1000
    calendar = Calendar(spans)
    names = [calendar._name(k, -1) for k in range(1000)]
    assert names == sorted(names) and 50 < len(set(names)) < 168
    assert len({Calendar(spans[:100])._name(k, -1) for k in range(100)}) == 100
