"""Logs out of files: formats, usual names, declared channels, and everything that is refused."""

from __future__ import annotations

import sqlite3
import sys
import warnings
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
import scipy.io

from dynarm import DynarmError, Log
from oracles.bag_files import joint_state

N = 50
T = np.arange(N) * 0.01
Q = np.column_stack([np.sin(T), np.cos(T)])
V = np.column_stack([np.cos(T), -np.sin(T)])
TAU = np.column_stack([1 + T, 2 - T])


def table(q="q{}", qd="dq{}", tau="tau{}", t="t", first=1):
    """A frame with the columns called by patterns."""
    columns = {t: T}
    for pattern, x in ((q, Q), (qd, V), (tau, TAU)):
        if pattern:
            columns |= {pattern.format(j + first): x[:, j] for j in range(2)}
    return pd.DataFrame(columns)


def same(log, qd=True):
    np.testing.assert_allclose(log.t, T, atol=1e-9)
    np.testing.assert_allclose(log.q, Q, atol=1e-12)
    np.testing.assert_allclose(log.tau, TAU, atol=1e-12)
    if qd:
        np.testing.assert_allclose(log.qd, V, atol=1e-12)


STYLES = [
    ("q{}", "dq{}", "tau{}", "t", 1),
    ("q_{}", "qd_{}", "torque_{}", "time", 0),
    ("actual_q_{}", "actual_qd_{}", "effort_{}", "timestamp", 0),
    ("q[{}]", "qd[{}]", "tau_J[{}]", "t", 0),
    ("position{}", "velocity{}", "effort{}", "time", 1),
    ("joint_pos_{}", "joint_vel_{}", "joint_torque_{}", "t_s", 1),
]


@pytest.mark.parametrize("q, qd, tau, t, first", STYLES)
def test_usual_names_are_recognised(tmp_path, q, qd, tau, t, first):
    path = tmp_path / "log.csv"
    table(q, qd, tau, t, first).to_csv(path, index=False)
    same(Log.read(path))


def test_joint_names_are_recognised(tmp_path):
    frame = pd.DataFrame({"time": T})
    for j, name in enumerate(("elbow", "wrist_1")):
        frame[f"{name}_position"], frame[f"{name}_velocity"] = Q[:, j], V[:, j]
        frame[f"{name}_effort"] = TAU[:, j]
    frame.to_csv(tmp_path / "log.csv", index=False)
    log = Log.read(tmp_path / "log.csv")
    same(log)
    assert log.joint_names == ("elbow", "wrist_1")
    np.testing.assert_array_equal(log.select(("wrist_1", "elbow")).q, log.q[:, ::-1])


def test_suffixes_tell_units(tmp_path):
    frame = pd.DataFrame({"t": T, "q1_deg": np.degrees(Q[:, 0]), "q2_deg": np.degrees(Q[:, 1])})
    frame["tau1_Nm"], frame["tau2_Nm"] = TAU.T
    frame.to_csv(tmp_path / "log.csv", index=False)
    same(Log.read(tmp_path / "log.csv"), qd=False)


@pytest.mark.parametrize("separator", [",", ";", "\t", " "])
def test_separators(tmp_path, separator):
    table().to_csv(tmp_path / "log.csv", index=False, sep=separator)
    same(Log.read(tmp_path / "log.csv"))


def test_parquet(tmp_path):
    table().to_parquet(tmp_path / "log.parquet")
    same(Log.read(tmp_path / "log.parquet"))


def test_parquet_with_lists(tmp_path):
    frame = pd.DataFrame({"timestamp": T, "observation.state": list(Q), "effort": list(TAU)})
    frame.to_parquet(tmp_path / "log.parquet")
    same(Log.read(tmp_path / "log.parquet"), qd=False)


def test_npz(tmp_path):
    np.savez(tmp_path / "log.npz", times=T, positions=Q, velocities=V, torques=TAU)
    same(Log.read(tmp_path / "log.npz"))


def test_mat(tmp_path):
    scipy.io.savemat(tmp_path / "log.mat", {"t": T[:, None], "q": Q, "dq": V, "tau": TAU})
    same(Log.read(tmp_path / "log.mat"))


def bag(path, messages, kind="sensor_msgs/msg/JointState"):
    with sqlite3.connect(path) as base:
        base.execute("create table topics(id integer, name text, type text)")
        base.execute(
            "create table messages(id integer primary key, topic_id integer, timestamp integer, data blob)"
        )
        base.execute("insert into topics values (1, '/joint_states', ?)", (kind,))
        for stamp, data in messages:
            base.execute(
                "insert into messages(topic_id, timestamp, data) values (1, ?, ?)", (stamp, data)
            )
    base.close()


def two_armed(path):
    """A bag of two topics: /left holds Q, /right its opposite."""
    bag(path, [])
    with sqlite3.connect(path) as base:
        for key, (name, sign) in enumerate((("/left", 1), ("/right", -1)), 2):
            kind = "sensor_msgs/msg/JointState"
            base.execute("insert into topics values (?, ?, ?)", (key, name, kind))
            for t, q, v, tau in zip(T, sign * Q, sign * V, TAU):
                data = joint_state(100 + t, ["a", "bb"], q, v, tau)
                put = "insert into messages(topic_id, timestamp, data) values (?, ?, ?)"
                base.execute(put, (key, int(1e9 * t), data))
        base.execute("delete from topics where id = 1")
    base.close()


def test_a_topic_of_a_bag_is_read_by_name(tmp_path):
    path = tmp_path / "run.db3"
    two_armed(path)
    for place in (path, tmp_path):
        np.testing.assert_array_equal(Log.read(place, topic="/left").q, Q)
        np.testing.assert_array_equal(Log.read(place, topic="right").q, -Q)
        with pytest.raises(DynarmError, match="joint states, /left, /right; choose one"):
            Log.read(place)
    for wrong in ("", 3, "a\0"):
        with pytest.raises(DynarmError, match="give the name of a bag's topic"):
            Log.read(path, topic=wrong)
    table().to_csv(tmp_path / "log.csv", index=False)
    with pytest.raises(DynarmError, match="is CSV, only bags have topics: leave it out"):
        Log.read(tmp_path / "log.csv", topic="/left")


def test_ros_bag_with_joints_in_changing_order(tmp_path):
    messages = []
    for k in range(N):
        order = [0, 1] if k % 2 == 0 else [1, 0]
        names = [("a", "bb")[j] for j in order]
        fields = (Q[k][order], V[k][order], TAU[k][order])
        messages.append((int(1e9 * T[k]), joint_state(100 + T[k], names, *fields)))
    bag(tmp_path / "run.db3", messages)
    for path in (tmp_path / "run.db3", tmp_path):
        log = Log.read(path)
        assert log.joint_names == ("a", "bb")
        np.testing.assert_array_equal(log.q, Q)
        np.testing.assert_array_equal(log.tau, TAU)
        np.testing.assert_allclose(log.t, 100 + T, atol=1e-6)


def test_channels_scale_divide_offset_and_second_file(tmp_path):
    R = np.array([[10.0, 0.0], [5.0, -20.0]])
    motor = np.degrees(Q - [0, 0.5]) @ R.T
    pd.DataFrame({"m1": motor[:, 0], "m2": motor[:, 1]}).to_csv(tmp_path / "p.csv", index=False)
    pd.DataFrame(TAU / [2.0, 4.0], columns=["i1", "i2"]).to_csv(tmp_path / "i.csv", index=False)
    (tmp_path / "p.toml").write_text(
        "rate = 100.0\n[q]\ncolumns = 'm{}'\nunit = 'deg'\n"
        f"divide = {R.tolist()}\noffset = [0, {np.degrees(0.5)}]\n"
        "[tau]\nfile = 'i.csv'\ncolumns = ['i1', 'i2']\nunit = 'A'\nscale = [2.0, 4.0]\n"
    )
    same(Log.read(tmp_path / "p.csv"), qd=False)  # the declaration beside the log is found


def test_units_one_a_joint_and_time_in_nanoseconds(tmp_path):
    frame = pd.DataFrame(
        {"stamp": (1.7e18 + 1e9 * T).astype(np.int64), "a": 1e3 * Q[:, 0], "b": np.degrees(Q[:, 1])}
    )
    frame["x"], frame["y"] = TAU.T
    frame.to_csv(tmp_path / "log.csv", index=False)
    channels = {
        "time": {"column": "stamp", "unit": "ns"},
        "q": {"columns": ["a", "b"], "unit": ["mm", "deg"]},
        "tau": ["x", "y"],
    }
    log = Log.read(tmp_path / "log.csv", channels)
    np.testing.assert_allclose(log.t, T, atol=1e-6)
    np.testing.assert_allclose(log.q, Q, atol=1e-12)


def test_missing_rows_may_be_dropped(tmp_path):
    frame = table()
    frame.loc[7, "q2"] = np.nan
    frame.to_csv(tmp_path / "log.csv", index=False)
    names = {"time": "t", "q": "q{}", "tau": "tau{}", "missing": "drop"}
    log = Log.read(tmp_path / "log.csv", names)
    assert len(log) == N - 1
    assert "1 rows with missing numbers" in log.notes[0]


def spoiled(tmp_path, change):
    frame = table()
    path = tmp_path / "log.csv"
    change(frame).to_csv(path, index=False)
    return path


def with_value(column, row, value):
    def change(frame):
        frame = frame.astype({column: object})
        frame.loc[row, column] = value
        return frame

    return change


BAD_TABLES = {
    "NaN": (with_value("q2", 7, np.nan), ["log.csv", "q column 2", "row 8", "drop"]),
    "text": (with_value("tau1", 3, "off"), ["log.csv", "'tau1'", "row 4", "'off'"]),
    "backwards": (with_value("t", 9, 0.01), ["log.csv", "backwards", "row 10"]),
    "no torque": (
        lambda f: f.drop(columns=["tau1", "tau2"]),
        ["which columns are tau", "log.toml"],
    ),
    "one torque less": (lambda f: f.drop(columns="tau2"), ["2 position columns but 1 torque"]),
    "no time": (lambda f: f.drop(columns="t"), ["which columns are time"]),
    "currents": (
        lambda f: f.rename(columns={"tau1": "current1", "tau2": "current2"}),
        ["drive currents", "scale"],
    ),
    "one row": (lambda f: f.iloc[:1], ["1 samples"]),
}


@pytest.mark.parametrize("name", BAD_TABLES)
def test_bad_tables_are_refused_by_file_column_and_row(tmp_path, name):
    change, words = BAD_TABLES[name]
    with pytest.raises(DynarmError) as caught:
        Log.read(spoiled(tmp_path, change))
    for word in words:
        assert word in str(caught.value)


BAD_FILES = {
    "missing.csv": (None, ["no such file"]),
    "log.xyz": (b"1,2", ["no '.xyz' logs", ".csv"]),
    "empty.csv": (b"", ["empty"]),
    "ragged.csv": (b"t,q1,tau1\n0,1,2\n1,2,3,4\n", ["line 3"]),
    "log.parquet": (b"PAR1 not really", ["damaged"]),
    "log.npz": (b"PK\3\4 cut off", ["damaged"]),
    "log.mat": (b"MATLAB 5.0 cut off", ["damaged"]),
    "log.db3": (b"SQLite format 3\0 cut off", ["damaged"]),
    "log.mcap": (b"\x89MCAP", ["log again" if find_spec("rosbags") else "[bags]"]),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files_are_refused_by_name(tmp_path, name):
    content, words = BAD_FILES[name]
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DynarmError) as caught:
        Log.read(path)
    for word in [name, *words]:
        assert word in str(caught.value)


def test_mcap_bags_need_an_extra_and_say_so(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "rosbags.rosbag2", None)
    path = tmp_path / "log.mcap"
    path.write_bytes(b"\x89MCAP0\r\n")
    with pytest.raises(DynarmError, match=r"pip install .*\[bags\]"):
        Log.read(path)


def test_mcap_bags_are_read(tmp_path):
    pytest.importorskip("rosbags", reason="extra [bags] is not installed")
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    kinds = store.types
    folder = tmp_path / "bag"
    rng = np.random.default_rng(0)
    q, qd, tau = rng.normal(size=(3, 20, 2))
    with Writer(folder, version=8, storage_plugin=StoragePlugin.MCAP) as writer:
        name = "sensor_msgs/msg/JointState"
        link = writer.add_connection("/joint_states", name, typestore=store)
        other = writer.add_connection("/other", name, typestore=store)
        for k in range(20):
            stamp = kinds["builtin_interfaces/msg/Time"](sec=5, nanosec=k * 10_000_000)
            head = kinds["std_msgs/msg/Header"](stamp=stamp, frame_id="")
            message = kinds[name](
                header=head, name=["a", "b"], position=q[k], velocity=qd[k], effort=tau[k]
            )
            data = store.serialize_cdr(message, name)
            writer.write(link, 5_000_000_000 + k * 10_000_000, data)
            if k % 2:
                writer.write(other, 5_000_000_000 + k * 10_000_000, data)
    file = next(folder.glob("*.mcap"))
    np.testing.assert_array_equal(Log.read(file, topic="other").q, q[1::2])
    with pytest.raises(DynarmError, match="topic '/third'; the bag holds /joint_states, /other"):
        Log.read(file, topic="/third")
    log = Log.read(next(folder.glob("*.mcap")))
    assert log.joint_names == ("a", "b")
    np.testing.assert_allclose(np.diff(log.t), 0.01, atol=1e-9)
    for got, want in ((log.q, q), (log.qd, qd), (log.tau, tau)):
        np.testing.assert_array_equal(got, want)


BAD_CHANNELS = {
    "unknown entry": ({"tim": "t"}, ["tim", "time"]),
    "unknown column": ({"time": "t", "q": ["q1", "q9"], "tau": "tau{}"}, ["q9"]),
    "no pattern": ({"time": "t", "q": "x{}", "tau": "tau{}"}, ["x1"]),
    "no tau": ({"time": "t", "q": "q{}"}, ["[tau]"]),
    "wrong unit": (
        {"time": "t", "q": {"columns": "q{}", "unit": "Nm"}, "tau": "tau{}"},
        ["Nm", "position"],
    ),
    "unknown unit": (
        {"time": "t", "q": {"columns": "q{}", "unit": "furlong"}, "tau": "tau{}"},
        ["furlong"],
    ),
    "no gains": ({"time": "t", "q": "q{}", "tau": {"columns": "tau{}", "unit": "A"}}, ["scale"]),
    "bad scale": (
        {"time": "t", "q": {"columns": "q{}", "scale": [1, 2, 3]}, "tau": "tau{}"},
        ["(3,)"],
    ),
    "singular": (
        {"time": "t", "q": {"columns": "q{}", "divide": [[1, 1], [1, 1]]}, "tau": "tau{}"},
        ["singular"],
    ),
    "rate": ({"rate": -1, "q": "q{}", "tau": "tau{}"}, ["rate"]),
    "no clock": ({"q": "q{}", "tau": "tau{}"}, ["time", "rate"]),
}


@pytest.mark.parametrize("name", BAD_CHANNELS)
def test_bad_channels_are_refused(tmp_path, name):
    channels, words = BAD_CHANNELS[name]
    table().to_csv(tmp_path / "log.csv", index=False)
    with pytest.raises(DynarmError) as caught:
        Log.read(tmp_path / "log.csv", channels)
    for word in words:
        assert word in str(caught.value)


def test_bad_channels_file(tmp_path):
    table().to_csv(tmp_path / "log.csv", index=False)
    (tmp_path / "log.toml").write_text("rate = = 3")
    with pytest.raises(DynarmError, match="not a valid TOML"):
        Log.read(tmp_path / "log.csv")


@pytest.mark.parametrize(
    "change, words",
    [
        ({"q": Q[:-1]}, "49 rows"),
        ({"tau": TAU[:, :1]}, "1 columns"),
        ({"q": "no"}, "numbers"),
        ({"tau": np.where(TAU > 1.9, np.inf, TAU)}, "row"),
        ({"joint_names": ("a",)}, "1 joint names"),
        ({"wrench": Q}, "give 6"),
        ({"tau": None}, "needs torques"),
    ],
)
def test_bad_arrays_are_refused(change, words):
    with pytest.raises(DynarmError, match=words):
        Log(**({"t": T, "q": Q, "tau": TAU} | change))


def test_repeated_time_stamps_are_left_out_and_noted():
    t = T.copy()
    t[5] = t[4]
    log = Log(t, Q, TAU)
    assert len(log) == N - 1
    assert "repeat" in log.notes[0]


def test_cut_counts_from_the_first_sample():
    log = Log(T + 1000, Q, TAU)
    part = log.cut(0.1, 0.2)
    assert len(part) == 10
    assert part.t[0] == pytest.approx(1000.1)
    with pytest.raises(DynarmError, match="0 samples"):
        log.cut(10, 20)


def test_reading_warns_of_nothing(tmp_path):
    table().to_csv(tmp_path / "log.csv", index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Log.read(tmp_path / "log.csv")
