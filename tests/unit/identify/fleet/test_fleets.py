"""Fleets end to end: simulated robots with known differences, two of them defective; files, drift, refusals."""

import sqlite3

import numpy as np
import pandas as pd
import pytest
from benchmarks import simulated_fleets as fleets

import dynarm
from dynarm.errors import DynarmError, InputError
from oracles.bag_files import db3, joint_state

ROBOTS = 50
PLAIN = ("viscous", "coulomb", "offset")


@pytest.fixture(scope="module")
def base():
    return dynarm.load("two_link")


@pytest.fixture(scope="module")
def true_arms(base):
    rng = np.random.default_rng(1)
    arms = {f"r{k}": fleets.sound_robot(rng, base) for k in range(ROBOTS)}
    arms["r7"] = fleets.with_worn_joint(arms["r7"])
    arms["r30"] = fleets.with_heavy_link(arms["r30"])
    return arms


@pytest.fixture(scope="module")
def data(true_arms):
    rng = np.random.default_rng(2)
    return {name: [fleets.recording(rng, arm)] for name, arm in true_arms.items()}


@pytest.fixture(scope="module")
def fleet(base, data):
    return dynarm.fit_fleet(base, data)


def test_the_defective_robots_are_named_and_nobody_else(fleet):
    assert set(fleet.outlier_names_) == {"r7", "r30"}
    worn = {one.what for one in fleet.outliers if one.robot == "r7"}
    heavy = {one.what for one in fleet.outliers if one.robot == "r30"}
    assert "coulomb1" in worn and "U2_33" in heavy
    assert "r7, r30" in fleet.summary()


def test_a_noisy_sensor_stands_out_by_its_error(base, true_arms, data):
    rng = np.random.default_rng(5)
    some = {name: logs for name, logs in list(data.items())[8:20]}
    log = some["r9"][0]
    noisy = log.tau + [0.0, 3.0] * rng.normal(size=log.tau.shape)
    some["r9"] = [dynarm.Log(log.t, log.q, noisy)]
    fleet = dynarm.fit_fleet(base, some, friction=PLAIN)
    assert [(one.robot, one.what) for one in fleet.outliers] == [("r9", "error of elbow")]


def test_intervals_cover_the_true_values(fleet, true_arms):
    true = np.array([fleets.unknowns(true_arms[name]) for name in fleet.robots])
    sound = np.array([name not in fleet.outlier_names_ for name in fleet.robots])
    low, high = np.moveaxis(fleet.intervals(), -1, 0)
    assert 0.90 <= ((low < true) & (true < high))[sound].mean() <= 0.99


def test_what_all_share_and_how_far_they_are_apart_is_found(fleet, base, true_arms):
    sound = [a for name, a in true_arms.items() if name not in fleet.outlier_names_]
    true = np.array([fleets.unknowns(arm) for arm in sound])
    assert (np.abs(fleet.pool.mean - true.mean(axis=0)) < 3 * fleet.pool.mean_std).all()
    coulomb = fleet.names.index("coulomb1")
    assert fleet.pool.spread[coulomb] == pytest.approx(true[:, coulomb].std(ddof=1), rel=0.3)


def test_a_robot_of_the_fleet_is_the_fit_of_its_own_log(fleet, base, data):
    alone = dynarm.Identifier(base, friction=PLAIN).fit(data["r3"])
    assert alone.names_ == fleet.names
    apart = np.abs(fleet["r3"].values - alone.values_) / alone.std_
    assert apart.max() < 3  # the cut-off was chosen on other robots


def test_tables_hold_everything_once(fleet):
    frame = fleet.frame
    assert len(frame) == ROBOTS * len(fleet.names)
    row = frame[(frame.robot == "r3") & (frame.name == "coulomb1")].iloc[0]
    k = fleet.names.index("coulomb1")
    assert row.value == fleet["r3"].values[k] and row["unit"] == "N m"
    assert row.deviations == pytest.approx((row.value - fleet.pool.mean[k]) / row["std"])
    assert list(fleet.shared["name"]) == list(fleet.names)


# ---- where robots are named


def few(base, count=5, **how):
    rng = np.random.default_rng(8)
    arms = [fleets.sound_robot(rng, base) for _ in range(count)]
    return arms, [fleets.recording(rng, arm, seconds=5.0, **how) for arm in arms]


def table(log):
    columns = {"t": log.t}
    columns |= {f"q{j + 1}": log.q[:, j] for j in range(log.n)}
    columns |= {f"tau{j + 1}": log.tau[:, j] for j in range(log.n)}
    return pd.DataFrame(columns)


@pytest.fixture(scope="module")
def plain(base):
    """A few robots, told by a dict."""
    _, logs = few(base)
    names = [f"arm-{k}" for k in range(len(logs))]
    return logs, dynarm.fit_fleet(base, dict(zip(names, logs, strict=True)), friction=PLAIN)


@pytest.mark.parametrize("where", ["path", "column", "folder", "file", "frame", "one file"])
def test_robots_are_told_by_path_column_folder_or_file(base, plain, tmp_path, where):
    logs, expected = plain
    by = "robot" if where in ("path", "column", "frame", "one file") else where
    frames = [table(log) for log in logs]
    named = [frame.assign(robot=f"arm-{k}") for k, frame in enumerate(frames)]
    for k, frame in enumerate(frames):
        if where == "path":
            (tmp_path / f"robot=arm-{k}").mkdir()
            frame.to_parquet(tmp_path / f"robot=arm-{k}" / "part-0.parquet")
        elif where == "folder":
            (tmp_path / f"arm-{k}").mkdir()
            frame.to_csv(tmp_path / f"arm-{k}" / "log.csv", index=False)
        elif where == "file":
            frame.to_csv(tmp_path / f"arm-{k}.csv", index=False)
        elif where == "column":
            named[k].to_csv(tmp_path / f"log{k}.csv", index=False)
    if where == "one file":
        pd.concat(named).to_csv(tmp_path / "all.csv", index=False)
    source = pd.concat(named) if where == "frame" else tmp_path
    fleet = dynarm.fit_fleet(base, source, by=by, friction=PLAIN)
    assert list(fleet.robots) == list(expected.robots)
    assert fleet.values_ == pytest.approx(expected.values_, rel=1e-9, abs=1e-9)


def test_the_topic_of_a_dataset_is_read(base, plain, tmp_path):
    logs, expected = plain
    for k, log in enumerate(logs):
        (tmp_path / f"robot=arm-{k}").mkdir()
        rows = zip(log.t, log.q, log.tau, strict=True)
        made = [
            (round(t * 1e9), joint_state(t, list(base.joint_names), q, [], tau))
            for t, q, tau in rows
        ]
        path = db3(tmp_path / f"robot=arm-{k}" / "log.db3", made)
        with sqlite3.connect(path) as bag:
            bag.execute("update topics set name = '/arm/states'")
            bag.execute(
                "insert into topics select 99, '/arm/others', type, serialization_format, "
                "offered_qos_profiles from topics limit 1"
            )
        bag.close()
    with pytest.raises(DynarmError, match="topic"):
        dynarm.fit_fleet(base, tmp_path, friction=PLAIN)
    data = dynarm.Dataset(tmp_path, topic="/arm/states")
    fleet = dynarm.fit_fleet(base, data, friction=PLAIN)
    assert fleet.values_ == pytest.approx(expected.values_, rel=1e-6, abs=1e-6)


# ---- drift


def drifting(base, step, days=8):
    """Two robots over some days; the first joint's Coulomb friction of one of them grows."""
    rng = np.random.default_rng(9)
    arm = fleets.sound_robot(rng, base)
    data = {"steady": [], "worn": []}
    for day in range(days):
        start = fleets.BEGIN + day * fleets.DAY
        data["steady"].append(fleets.recording(rng, arm, 5.0, start=start))
        worn = fleets.with_worn_joint(arm, 0, 0.8 + step * day)
        data["worn"].append(fleets.recording(rng, worn, 5.0, start=start))
    return data


def test_friction_that_grows_by_the_day_is_a_drift_with_its_size(base):
    fleet = dynarm.fit_fleet(base, drifting(base, 0.1), drift="day", friction=PLAIN)
    assert {(one.robot, one.what) for one in fleet.drifting_} == {("worn", "coulomb1")}
    (one,) = fleet.drifting_
    assert abs(one.trend - 0.1) < 3 * one.trend_std < 0.06
    assert len(one.times) == 8 and np.diff(one.times) == pytest.approx(fleets.DAY)
    assert one.values[-1] - one.values[0] == pytest.approx(7 * 0.1, rel=0.3)
    assert "a day" in str(one) and str(one) in fleet.summary()


def test_a_steady_robot_does_not_drift(base):
    fleet = dynarm.fit_fleet(base, drifting(base, 0.0), friction=PLAIN)
    assert fleet.drift and not fleet.drifting_


def test_days_in_paths_date_logs_whose_clocks_begin_at_zero(base, tmp_path):
    for robot, logs in drifting(base, 0.1).items():
        for day, log in enumerate(logs):
            folder = tmp_path / f"robot={robot}" / f"day=2026-03-{day + 1:02d}"
            folder.mkdir(parents=True)
            table(log).assign(t=log.t - log.t[0]).to_csv(folder / "0.csv", index=False)
    fleet = dynarm.fit_fleet(base, tmp_path, friction=PLAIN)
    assert {one.robot for one in fleet.drifting_} == {"worn"}
    assert fleet.drift[0].period == "day"


@pytest.mark.parametrize("save", ["csv", "parquet"])
def test_clocks_of_files_date_them(base, tmp_path, save):
    for robot, logs in drifting(base, 0.1).items():
        (tmp_path / f"robot={robot}").mkdir()
        for day, log in enumerate(logs):
            frame, place = table(log), tmp_path / f"robot={robot}" / f"{day}.{save}"
            if save == "csv":
                frame.to_csv(place, index=False)
            else:
                frame.assign(t=pd.to_datetime(frame["t"], unit="s")).to_parquet(place)
    fleet = dynarm.fit_fleet(base, tmp_path, friction=PLAIN)
    assert {(one.robot, one.what) for one in fleet.drifting_} == {("worn", "coulomb1")}
    (one,) = fleet.drifting_
    assert one.period == "day" and one.times[0] == pytest.approx(fleets.BEGIN + 2.5, abs=0.1)


def test_logs_without_dates_say_that_no_drift_was_looked_for(plain):
    _, fleet = plain
    assert fleet.drift == () and any("no drift" in note for note in fleet.notes)


# ---- refusals


def test_bad_input_is_refused_with_the_reason(base, plain, tmp_path):
    logs, _ = plain
    with pytest.raises(InputError, match="a fleet has two or more"):
        dynarm.fit_fleet(base, {"one": logs[0]})
    with pytest.raises(InputError, match="drift is 'week'"):
        dynarm.fit_fleet(base, {"a": logs[0], "b": logs[1]}, drift="week")
    with pytest.raises(InputError, match="rate is 2"):
        dynarm.fit_fleet(base, {"a": logs[0], "b": logs[1]}, rate=2)
    with pytest.raises(InputError, match="no column 'arm'"):
        dynarm.fit_fleet(base, table(logs[0]), by="arm")
    with pytest.raises(InputError, match="data is 3"):
        dynarm.fit_fleet(base, 3)
    with pytest.raises(InputError, match=r"hold_out is 0\.3.*a fleet"):
        dynarm.fit_fleet(base, dynarm.Dataset(tmp_path, hold_out=0.3))
    table(logs[0]).to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(InputError, match="says whose log it is"):
        dynarm.fit_fleet(base, tmp_path)


def test_a_bad_log_names_its_robot_and_can_be_left_out(base, plain):
    logs, expected = plain
    data = {f"arm-{k}": [log] for k, log in enumerate(logs)}
    flat = dynarm.Log(logs[0].t, logs[0].q, np.ones_like(logs[0].tau))
    data["broken"] = [flat]
    with pytest.raises(DynarmError, match=r"robot broken: .*constant"):
        dynarm.fit_fleet(base, data)
    fleet = dynarm.fit_fleet(base, data, skip_bad=True, friction=PLAIN)
    assert list(fleet.robots) == list(expected.robots)
    (lost,) = fleet.left_out
    assert "broken" in lost and lost in fleet.summary()


def test_a_robot_of_a_few_rows_is_left_out_by_name(base, plain):
    logs, expected = plain
    data = {f"arm-{k}": [log] for k, log in enumerate(logs)}
    data["short"] = [logs[0].rows(slice(20))]
    fleet = dynarm.fit_fleet(base, data, skip_bad=True, friction=PLAIN)
    assert list(fleet.robots) == list(expected.robots)
    assert "robot short: " in fleet.left_out[0] and "record longer" in fleet.left_out[0]


def test_an_unknown_robot_is_refused_by_name(plain):
    with pytest.raises(InputError, match="no robot 'x'"):
        plain[1]["x"]


def test_declared_springs_are_unknowns_of_every_robot(base, plain, tmp_path):
    logs, _ = plain
    for k, log in enumerate(logs[:2]):
        sprung = table(log).assign(tau1=log.tau[:, 0] + 30.0 * log.q[:, 0])
        sprung.to_csv(tmp_path / f"arm-{k}.csv", index=False)
    channels = {"time": "t", "q": ["q1", "q2"], "tau": ["tau1", "tau2"], "springs": [1]}
    data = dynarm.Dataset(tmp_path, channels)
    fleet = dynarm.fit_fleet(base, data, by="file", friction=PLAIN)
    (place,) = (k for k, name in enumerate(fleet.names) if "spring" in name)
    assert (np.abs(fleet.values_[:, place] - 30.0) < 3 * fleet.std_[:, place]).all()
    assert (fleet.std_[:, place] < 3.0).all()
