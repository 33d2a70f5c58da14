"""Where logs turn from taken to refused, and what their messages count."""

from __future__ import annotations

import sqlite3
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dynarm import DynarmError, Log
from dynarm.identify.logs.channels import check_same_names, table_channels
from dynarm.identify.logs.declaration import declared, load_declaration, unknown
from dynarm.identify.logs.formats import bag_base
from dynarm.identify.logs.formats.bag_base import read_db3
from dynarm.identify.logs.formats.npz import read_npz
from dynarm.identify.logs.recognition import recognise
from dynarm.identify.logs.summary import html_summary, text_summary

N = 6
T = 10 + np.arange(N) * 0.5
ONE = np.arange(N, dtype=float)


def refused(call, *args, **more):
    with pytest.raises(DynarmError) as refusal:
        call(*args, **more)
    assert "\n" not in str(refusal.value)
    return str(refusal.value)


# ---- a log


def test_messages_count_from_one():
    q = np.column_stack([ONE, ONE, ONE])
    q[2, 1] = q[4, 0] = np.nan
    assert "q, row 3, column 2 is nan (2 such rows)" in refused(Log, T, q, ONE)
    back = T.copy()
    back[3] = 5.25
    told = refused(Log, back, ONE, ONE)
    assert "row 4 (11 s, then 5.25 s)" in told
    assert "row 4 (1 s, then 0.5 s)" in refused(Log, [0, 1, 1, 0.5], ONE[:4], ONE[:4])
    assert "tau has 5 rows, t has 6" in refused(Log, T, ONE, ONE[:5])
    assert "tau has 2 columns; give 1" in refused(Log, T, ONE, np.ones((N, 2)))
    assert "wrench has 5 columns; give 6" in refused(Log, T, ONE, ONE, wrench=np.ones((N, 5)))
    assert "2 joint names for 1 columns" in refused(Log, T, ONE, ONE, joint_names=("a", "b"))
    assert "'b' twice" in refused(Log, T, q[:, :0:-1], ONE, joint_names=("b", "b"))


def test_two_samples_are_a_log():
    log = Log([1, 3], [[1, 2], [3, 4]], [[5, 6], [7, 8]])
    assert (len(log), log.n, log.duration) == (2, 2, 2.0)
    assert "has 1 samples; at least 2" in refused(Log, [1.0], [[1.0]], [[1.0]])
    assert "shape (2, 1, 1)" in refused(Log, [1, 2], np.ones((2, 1, 1)), [1, 2])


def test_rows_that_repeat_a_time_are_counted():
    log = Log([0, 1, 1, 1, 2], np.arange(5), np.arange(5), notes=("old",))
    assert log.notes == ("old", "2 rows repeat a time stamp and were left out")
    assert log.q[:, 0].tolist() == [0, 1, 4]
    assert Log([0, 1], [0, 1], [0, 1]).notes == ()


def test_a_cut_holds_its_start_and_not_its_stop():
    log = Log(T, ONE, 2 * ONE, wrench=np.outer(ONE, np.ones(6)), reference=3 * ONE)
    part = log.cut(0.5, 1.5)
    assert part.t.tolist() == [10.5, 11.0]
    assert part.reference[:, 0].tolist() == [3, 6] and part.wrench[:, 5].tolist() == [1, 2]
    assert len(log.cut()) == N and len(log.cut(1.0)) == 4
    assert "1 samples between 0.5 s and 1.0 s; it lasts 2.5 s" in refused(log.cut, 0.5, 1.0)


def test_joints_are_selected_by_name():
    log = Log(T, np.column_stack([ONE, -ONE]), np.column_stack([ONE, -ONE]), joint_names=("a", "b"))
    assert log.select(["a", "b"]) is log
    turned = log.select(["b", "a"])
    assert turned.joint_names == ("b", "a") and turned.tau[1].tolist() == [-1, 1]
    assert log.select(["a"]).q.shape == (N, 1)
    assert "does not name its joints" in refused(Log(T, ONE, ONE).select, ["a"])


def test_names_may_leave_the_word_joint_out():
    assert check_same_names(["elbow_joint", "wrist"], ["wrist", "elbow"], "log") == [1, 0]
    assert check_same_names(["joint_A", "b"], ["B", "a"], "log") == [1, 0]
    assert check_same_names(["a", "a_joint"], ["a_joint", "a"], "log") == [1, 0]
    assert "no data for joint A; the log has a, a_joint" in refused(
        check_same_names, ["a", "a_joint"], ["A"], "log"
    )
    assert "no data for joint c, d" in refused(check_same_names, ["a"], ["c", "a", "d"], "log")
    refused(check_same_names, ["a", "b"], ["A", "a_joint"], "log")


def test_twelve_joints_are_shown():
    for n, more in ((12, None), (13, "... and 1 joints more")):
        log = Log(T, np.outer(ONE, np.arange(n)), np.outer(-ONE, np.arange(n)), source="run")
        lines = text_summary(log).splitlines()
        assert lines[0] == f"run: {n} joints, 6 samples, 2.5 s"
        assert lines[4].split() == ["3", "0", "10", "10"]
        assert len(lines) == 14 + (more is not None)
        assert (lines[-1] == more) or more is None
        assert html_summary(log).count("<tr>") == 13
    log = Log(T, ONE, -2 * ONE, qd=-3 * ONE, joint_names=("elbow",))
    assert text_summary(log).splitlines()[2].split() == ["elbow", "0", "5", "15", "10"]
    assert html_summary(log).count("<th>") == 5 and html_summary(log).count("<td>") == 5


# ---- names that are recognised


def table(**given):
    return {"t": T} | {name: np.asarray(value, float) for name, value in given.items()}


def names_of(columns, channel="q"):
    return recognise("log", columns, "log.toml").channels[channel].columns


def test_numbered_columns_may_begin_anywhere_and_have_no_holes():
    for first in (0, 1, 5):
        numbers = range(first, first + 3)
        given = table(
            **{f"q{k}": ONE for k in reversed(numbers)}, **{f"tau_{k}": ONE for k in numbers}
        )
        assert names_of(given) == tuple(f"q{k}" for k in numbers)
        assert names_of(given, "tau") == tuple(f"tau_{k}" for k in numbers)
    holed = table(q1=ONE, q3=ONE, tau1=ONE, tau2=ONE)
    assert "cannot tell which columns are q among" in refused(recognise, "log", holed, "log.toml")


def test_units_of_suffixes_count_where_they_agree():
    units = lambda given: recognise("log", given, "x").channels["q"].unit
    assert units(table(q1_deg=ONE, q2_DEG=ONE, tau1=ONE, tau2=ONE)) == "deg"
    assert units(table(q1_deg=ONE, q2=ONE, tau1=ONE, tau2=ONE)) is None
    assert units(table(q1=ONE, tau1=ONE)) is None
    refused(recognise, "log", table(q1_inch=ONE, tau1=ONE), "x")


def test_arrays_count_by_their_width():
    wide = table(q=np.ones((N, 3)), tau=np.ones((N, 3)), qd=np.ones((N, 2)))
    found = recognise("log", wide, "log.toml")
    assert found.channels["q"].columns == "q" and found.time == "t"
    assert "qd" not in found.channels  # of other joints
    assert "3 position columns but 1 torque" in refused(
        recognise, "log", wide | {"tau": np.ones(N)}, "x"
    )
    refused(recognise, "log", table(q=[1.0], tau=[1.0]), "x")  # numbers, not columns
    two = recognise("log", table(q=[1.0, 2.0], tau=[1.0, 2.0]), "x")
    assert set(two.channels) == {"q", "tau"}
    refused(recognise, "log", table(q=np.ones((2, 2, 2)), tau=ONE), "x")


def test_joints_of_an_arm_are_looked_for_by_name():
    given = table(a_position=ONE, b_position=ONE, x_position=ONE, b_effort=ONE, a_effort=ONE)
    found = recognise("log", given, "x", ("b", "a"))
    assert found.channels["q"].columns == ("b_position", "a_position")
    assert found.channels["tau"].columns == ("b_effort", "a_effort")
    assert found.joint_names == ("b", "a")


def test_times_and_currents():
    for name, unit in (("time", None), ("Time_ms", "ms"), ("timestamp_ns", "ns"), ("t_s", "s")):
        given = {name: T, "q1": ONE, "tau1": ONE}
        found = recognise("log", given, "x")
        assert (found.time, found.time_unit) == (name, unit)
    assert "are time among" in refused(recognise, "log", {"q1": ONE, "tau1": ONE}, "x")
    assert "are time" in refused(
        recognise, "log", {"t": np.ones((N, 2)), "q1": ONE, "tau1": ONE}, "x"
    )
    assert "drive currents ('current_1'" in refused(
        recognise, "log", table(q1=ONE, current_1=ONE), "x"
    )
    assert "drive currents ('current'" in refused(recognise, "log", table(q=ONE, current=ONE), "x")
    assert "tau" in recognise("log", table(q1=ONE, tau1=ONE, current_1=ONE), "x").channels


# ---- declarations


BASE = {"rate": 10.0, "q": {"columns": ["a"]}, "tau": {"columns": ["b"]}}


def channels(columns, **change):
    return table_channels("log", columns, declared(BASE | change, "channels"))


def test_rows_that_are_missing_are_counted():
    bad = {"a": ONE.copy(), "b": np.column_stack([ONE, ONE])}
    bad["b"][[2, 4], 1] = np.nan
    bad["a"][4] = np.inf
    change = {"q": {"columns": "a"}, "tau": {"columns": "b"}}
    assert "q column 1, row 5 is missing or not finite (1 such rows)" in refused(
        channels, bad, **change
    )
    bad["a"][4] = 0
    assert "tau column 2, row 3 is missing or not finite (2 such" in refused(
        channels, bad, **change
    )
    kept = channels(bad, **change, missing="drop")
    assert kept["dropped"] == 2
    assert kept["t"].tolist() == [0, 0.1, 0.3, 0.5] and kept["tau"].shape == (4, 2)
    late = {"a": ONE, "b": ONE, "c": np.where(ONE == 3, np.nan, ONE)}
    told = refused(table_channels, "log", late, declared(
        {"time": "c", "q": ["a"], "tau": ["b"]}, "channels"))  # fmt: skip
    assert "t, row 4 is missing" in told


def test_scale_divide_and_offset():
    pair = {"a": np.column_stack([ONE, 2 * ONE]), "b": np.column_stack([ONE, ONE])}
    q = lambda **entry: channels(pair, q={"columns": "a", **entry}, tau={"columns": "b"})["q"][3]
    assert q().tolist() == [3, 6]
    assert q(scale=2).tolist() == [6, 12]
    assert q(scale=[2, -1], offset=[1, 1]).tolist() == [7, -5]
    assert q(scale=[[0, 1], [1, 1]]).tolist() == [6, 9]
    assert q(divide=[[2, 0], [0, 4]], offset=1).tolist() == [2.5, 2.5]
    np.testing.assert_allclose(
        q(divide=[[1, 1], [0, 1]], unit=["deg", "rad"]), [-3 * np.pi / 180, 6]
    )
    np.testing.assert_allclose(q(divide=[[1e-9, 0], [0, 1e9]]), [3e9, 6e-9])  # units, not rank
    for singular in ([[1, 1], [1, 1]], [[1, 0], [0, 0]], [[1, 1], [1, 1 + 1e-13]], 0):
        assert "singular" in refused(q, divide=singular)
    np.testing.assert_allclose(q(divide=[[1, 1], [1, 1 + 1e-9]]), [3 - 3e9, 3e9], rtol=1e-6)
    for wrong in (
        {"scale": [1, 2, 3]},
        {"offset": [1, 2, 3]},
        {"unit": ["rad"]},
        {"scale": [[1, 2]]},
    ):
        refused(q, **wrong)
    gains = {"a": ONE, "b": ONE, "k": np.array([4.0]), "two": np.ones(2)}
    assert channels(gains, q={"columns": "a", "scale": "k"})["q"][3] == 12
    for name in ("two", "nothing"):
        assert "not a single number" in refused(channels, gains, q={"columns": "a", "scale": name})


def test_patterns_count_from_zero_or_one():
    given = {f"q_{k}_": ONE + k for k in range(1, 4)} | {f"f{k}": ONE for k in range(3)}
    found = channels(given, q="q_{}_", tau="f{}")
    assert found["q"][0].tolist() == [1, 2, 3] and found["tau"].shape == (N, 3)
    assert "no column 'x1'" in refused(channels, given, q="x{}")
    assert "two places" in refused(channels, given, q="q{}{}")
    assert channels({"{}": ONE, "b": ONE}, q="{}")["q"].shape == (N, 1)
    assert "'b' has 5 rows, 'a' 6" in refused(channels, {"a": ONE, "b": ONE[:5]}, q=["a", "b"])
    assert "different numbers of rows (q 6, tau 5, t 6)" in refused(
        channels, {"a": ONE, "b": ONE[:5]}
    )
    assert "no rows" in refused(channels, {"a": ONE[:0], "b": ONE[:0]})
    assert "has shape (6, 1); name single columns" in refused(
        channels, {"a": ONE[:, None], "b": ONE}
    )


@pytest.mark.parametrize("unit, scale", [("s", 1), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)])
def test_times_of_a_clock_since_a_start_are_kept_in_every_unit(unit, scale):
    given = {"c": 7 + 2 * ONE, "a": ONE, "b": ONE}
    entry = {"time": {"column": "c", "unit": unit}, "q": ["a"], "tau": ["b"]}
    found = table_channels("log", given, declared(entry, "channels"))["t"]
    np.testing.assert_allclose(found, scale * (7 + 2 * ONE))


def test_seconds_up_to_the_year_5138():
    entry = {"time": "c", "q": ["a"], "tau": ["b"]}
    for first, fine in ((1e11, True), (-1e11, True), (1.001e11, False), (-1.001e11, False)):
        given = {"c": first + ONE, "a": ONE, "b": ONE}
        if fine:
            assert table_channels("log", given, declared(entry, "channels"))["t"][0] == first
        else:
            assert "hardly seconds" in refused(
                table_channels, "log", given, declared(entry, "channels")
            )
    wide = {"c": np.ones((N, 2)), "a": ONE, "b": ONE}
    assert "shape (6, 2)" in refused(table_channels, "log", wide, declared(entry, "channels"))


def test_rates():
    for rate in (1, 0.5, np.float32(2), np.int64(3)):
        assert declared(BASE | {"rate": rate}, "x").rate == float(rate)
    for rate in (0, -1.0, True, "10", float("nan"), float("inf"), 10**400, None):
        assert "rate is" in refused(declared, BASE | {"rate": rate}, "x")


def test_names_that_are_near():
    assert unknown("unit", "degs", ["deg", "rad"]) == "unknown unit 'degs'; did you mean deg?"
    assert unknown("unit", "zzz", ["deg", "rad"]) == "unknown unit 'zzz'; one of: deg, rad"
    assert unknown("x", "ab", ["abc", "abd", "abe", "abf"]).count(" or ") == 2
    assert "did you mean" not in unknown("x", "d" * 301, ["d" * 300])
    assert "did you mean" in unknown("x", "d" * 300, ["d" * 299])


def test_lists_of_names():
    assert declared(BASE | {"q": [0, 1]}, "x").channels["q"].columns == ("0", "1")
    assert declared(BASE, "x").drop_missing is False
    assert declared(BASE | {"joint_names": ["j"]}, "x").joint_names == ("j",)
    for wrong in ([], [""], [True], "ab", None, ["a", 1.5], ["a"] * 10_001):
        refused(declared, BASE | {"joint_names": wrong or []}, "x")
    declared(BASE | {"q": [f"c{k}" for k in range(10_000)]}, "x")


def test_declarations_beside_a_log(tmp_path):
    text = "rate = 2.0\nq = ['a']\ntau = ['b']\n"
    path = tmp_path / "log.csv"
    assert load_declaration(path, None) is None and load_declaration(None, None) is None
    (tmp_path / "log.csv.toml").write_text(text)
    assert load_declaration(path, None).rate == 2.0
    (tmp_path / "log.toml").write_text(text.replace("2.0", "3.0"))
    assert load_declaration(path, None).rate == 3.0
    deep = tmp_path / "deep.toml"
    deep.write_text(text + ".".join("a" * 29) + " = 1\n")
    assert "unknown entry 'a'" in refused(load_declaration, path, deep)
    deep.write_text(text + ".".join("a" * 31) + " = 1\n")
    assert "30 parts" in refused(load_declaration, path, deep)


# ---- frames


def test_indexes_that_are_clocks_or_have_names():
    frame = pd.DataFrame({"q1": ONE, "tau1": ONE}, index=pd.Index(T, name="t"))
    assert Log.from_frame(frame).t.tolist() == T.tolist()
    dates = pd.to_datetime(T, unit="s")
    for index in (dates, dates.tz_localize("Europe/Berlin"), dates - dates[0]):
        log = Log.from_frame(frame.set_axis(pd.Index(index)))
        np.testing.assert_allclose(log.t, T - 10)
    plain = frame.reset_index(drop=True)
    assert "are time" in refused(Log.from_frame, plain)
    both = frame.assign(t=T + 100)
    assert Log.from_frame(both).t[0] == 110.0  # a column goes before an index of its name


def test_tables_with_other_rows_are_refused():
    first = pd.DataFrame({"x": ONE}, index=list("abcdef"))
    Log(T, first, first)
    Log(T, first, ONE)
    Log(T, first, pd.DataFrame({"x": ONE}))
    told = refused(Log, T, first, first[::-1])
    assert "q and tau have different indexes" in told


# ---- npz and bags


def test_members_of_an_archive(tmp_path):
    path = tmp_path / "a.npz"
    given = {"c": np.arange(6.0).reshape(2, 3), "f": np.asfortranarray(np.arange(6).reshape(2, 3)),
             "one": np.array(3.0), "none": np.empty((0, 2)), "empty": np.array(["", ""])}  # fmt: skip
    np.savez(path, **given, o=np.array([None]), r=np.zeros(2, [("a", "f8")]))
    table = read_npz(path)
    for name in ("c", "f", "one", "none"):
        np.testing.assert_array_equal(table[name], given[name])
    assert "Python objects" in str(table["o"][0]) and "records" in str(table["r"][0])
    with zipfile.ZipFile(path) as archive:
        inside = archive.read("c.npy")
    for content, words in (
        (inside[:-1], "promises 48 bytes and holds 47"),
        (inside + b"\0", "holds 49"),
    ):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("c.npy", content)
        assert words in refused(read_npz, path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("c.npy", inside)
    assert "packed in a way" in refused(read_npz, path)


def test_versions_of_members(tmp_path):
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for version in ((1, 0), (2, 0), (3, 0)):
            with archive.open(f"v{version[0]}.npy", "w") as stream:
                np.lib.format.write_array(stream, ONE, version=version)
    table = read_npz(path)
    assert table["v1"].tolist() == table["v2"].tolist() == ONE.tolist()
    assert str(table["v3"][0]) == "an array of npy version 3.0"


def bag(path, *statements):
    with sqlite3.connect(path) as base:
        base.execute("create table topics(id integer, name text, type text)")
        base.execute("create table messages(id integer primary key, topic_id, timestamp, data)")
        base.execute("insert into topics values (1, '/joint_states', 'sensor_msgs/msg/JointState')")
        for statement in statements:
            base.execute(*statement)
    base.close()
    return path


def test_messages_are_read_by_time_and_counted(tmp_path, monkeypatch):
    from oracles.bag_files import joint_state

    put = "insert into messages(topic_id, timestamp, data) values (?, ?, ?)"
    late, early = (joint_state(s, ["a"], [s], [0.0], [s]) for s in (2.0, 1.0))
    path = bag(
        tmp_path / "a.db3", (put, (1, 20, late)), (put, (1, 10, early)), (put, (7, 5, b"other"))
    )
    assert read_db3(path)["a_position"].tolist() == [1, 2]
    size = len(late) + len(early)
    for most, fine in ((size, True), (size - 1, False)):
        monkeypatch.setattr(bag_base, "room", lambda _, most=most: most)
        if fine:
            assert len(read_db3(path)["time"]) == 2
        else:
            assert f"unpacks to {size} bytes" in refused(read_db3, path)
    monkeypatch.undo()
    path = bag(tmp_path / "b.db3", (put, (1, 10, early)), (put, (1, "x", late)))
    assert "message 2 has no time stamp" in refused(read_db3, path)
    path = bag(tmp_path / "c.db3", (put, (1, 10, early)), (put, (1, 20, late[:-1])))
    assert "message 2 is damaged" in refused(read_db3, path)
    Path(f"{path}-wal").write_bytes(b"")
    assert "message 2 is damaged" in refused(read_db3, path)  # an empty journal holds nothing
    Path(f"{path}-wal").write_bytes(b"x")
    assert "not in the bag yet" in refused(read_db3, path)
