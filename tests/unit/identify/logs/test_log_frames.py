"""DataFrames and their kin as logs, matched by names, and what a log shows of itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import dynarm
from dynarm import DynarmError, Log
from dynarm.identify.logs.log import in_order

N = 20
T = np.arange(N) * 0.01
Q = np.column_stack([np.sin(T), np.cos(T)])
TAU = np.column_stack([1 + T, 2 - T])
ARM = dynarm.Arm(
    [
        dynarm.Joint("revolute", name="shoulder", mass=1.0, com=(0.1, 0, 0)),
        dynarm.Joint("revolute", name="elbow", mass=1.0, com=(0.1, 0, 0), a=1.0),
    ]
)


def same(log):
    np.testing.assert_allclose(log.t - log.t[0], T, atol=1e-12)
    np.testing.assert_array_equal(log.q, Q)
    np.testing.assert_array_equal(log.tau, TAU)


def columns(q="q{}", tau="tau{}", names=("1", "2")):
    pairs = {
        pattern.format(name): x[:, j]
        for pattern, x in ((q, Q), (tau, TAU))
        for j, name in enumerate(names)
    }
    return pd.DataFrame({"t": T} | pairs)


FRAMES = {
    "numbered": columns(),
    "<joint>_<word>": columns("{}_position", "{}_effort", ("shoulder", "elbow")),
    "<word>_<joint>": columns("q_{}", "tau_{}", ("shoulder", "elbow")),
    "<word>.<joint>": columns("position.{}", "torque.{}", ("shoulder", "elbow")),
    "index is time": columns().set_index("t"),
    "index is dates": columns().drop(columns="t").set_index(pd.to_datetime(T, unit="s", utc=True)),
    "columns in two rows": columns()
    .set_axis(
        pd.MultiIndex.from_tuples([("t", ""), ("q", 1), ("q", 2), ("tau", 1), ("tau", 2)]), axis=1
    )
    .set_index(pd.Index(T, name="time")),
    "lists": pd.DataFrame({"t": T, "q": list(Q), "tau": list(TAU)}),
}


@pytest.mark.parametrize("name", FRAMES)
def test_frames_are_logs(name):
    log = Log.from_frame(FRAMES[name], ARM)
    same(log)
    assert log.source == "frame"


@pytest.mark.parametrize("pattern", ["{}_position {}_effort", "q_{} tau_{}"])
def test_columns_are_put_in_the_order_of_the_arm(pattern):
    q, tau = pattern.split()
    frame = columns(q, tau, ("shoulder", "elbow"))
    log = Log.from_frame(frame[list(frame)[::-1]], ARM)
    same(log)
    assert log.joint_names == ARM.joint_names


def test_frames_take_declarations():
    frame = columns("a{}", "b{}").rename(columns={"t": "ms"})
    frame["ms"] *= 1000
    channels = {"time": {"column": "ms", "unit": "ms"}, "q": "a{}", "tau": "b{}"}
    same(Log.from_frame(frame, channels=channels))
    with pytest.raises(DynarmError, match="a frame has none beside it"):
        Log.from_frame(frame, channels=channels | {"q": {"columns": "a{}", "file": "x.csv"}})


@pytest.mark.parametrize(
    "frame, words",
    [
        (3, "give a DataFrame"),
        (pd.Series(T), "give a DataFrame"),
        (pd.DataFrame(), "no columns|cannot tell"),
        (columns("x{}"), "cannot tell which columns are q"),
        (columns().drop(columns="t"), "cannot tell which columns are time"),
        (columns().iloc[:0], "no rows"),
        (
            columns().set_axis(["t", "q1", "q1", "tau1", "tau2"], axis=1),
            "two columns are called 'q1'",
        ),
        (columns().assign(q1=1j), "column 'q1' holds complex"),
        (columns().assign(q1="x"), "column 'q1', row 1 holds 'x'"),
        (columns().drop(columns=["q2", "tau2"]), "1 joints, robot"),
    ],
)
def test_frames_that_are_no_logs(frame, words):
    with pytest.raises(DynarmError, match=words):
        Log.from_frame(frame, ARM)


# ---- frames as arguments


def labelled(x, names):
    return pd.DataFrame(x, columns=list(names))


def test_columns_named_after_joints_are_matched():
    names = ("shoulder", "elbow")
    swapped = labelled(TAU[:, ::-1], names[::-1])
    same(Log(T, labelled(Q, names), swapped, joint_names=names))
    same(Log(pd.Series(T), Q, swapped, joint_names=names))
    same(Log(T, labelled(Q, names), swapped))  # in the order of q
    log = Log(T, labelled(Q[:, ::-1], names[::-1]), labelled(TAU, names))
    same(in_order(log, ARM))
    same(in_order(log.cut(0, 10), ARM))
    assert in_order(log, ARM).joint_names == names


def test_other_columns_are_taken_by_place():
    same(Log(T, labelled(Q, "ab"), labelled(TAU, "cd")))
    same(in_order(Log(T, labelled(Q, "ab"), labelled(TAU, "cd")), ARM))
    same(Log(T, labelled(Q, "ab"), labelled(TAU, "cd"), joint_names=("shoulder", "elbow")))
    same(Log(T, pd.DataFrame(Q), pd.DataFrame(TAU)))


def test_half_a_match_is_refused():
    with pytest.raises(DynarmError, match="name all columns after joints, or none"):
        Log(T, labelled(Q, ("shoulder", "x")), TAU, joint_names=("shoulder", "elbow"))
    with pytest.raises(DynarmError, match="no data for joint elbow"):
        in_order(Log(T, labelled(Q, ("x", "shoulder")), TAU), ARM)


def test_rows_in_another_order_are_refused():
    q, tau = labelled(Q, "ab"), labelled(TAU, "ab").sample(frac=1, random_state=0)
    with pytest.raises(DynarmError, match="different indexes"):
        Log(T, q.set_index(T), tau.set_index(T[::-1]))
    same(Log(T, q.set_index(T), labelled(TAU, "ab").set_index(T)))


def test_masks_and_units_are_not_dropped():
    same(Log(T, np.ma.array(Q), TAU))
    with pytest.raises(DynarmError, match="q has masked entries"):
        Log(T, np.ma.array(Q, mask=Q > 0.9), TAU)

    class Quantity(np.ndarray):
        units = "deg"

    with pytest.raises(DynarmError, match="q carries units"):
        Log(T, Q.view(Quantity), TAU)


def test_axes_with_names():
    xarray = pytest.importorskip("xarray")
    joints = {"joint": ["elbow", "shoulder"]}
    tau = xarray.DataArray(TAU[:, ::-1], dims=("time", "joint"), coords=joints)
    same(Log(T, Q, tau, joint_names=("shoulder", "elbow")))
    with pytest.raises(DynarmError, match="2 rows, t has 20"):
        Log(T, Q, tau.T)


@pytest.mark.parametrize("names", [("a", "a"), ("a",), "ab", 3])
def test_bad_joint_names(names):
    with pytest.raises(DynarmError, match=r"joint.names"):
        Log(T, Q, TAU, joint_names=names)


@pytest.mark.parametrize("value", [None, 1.0, [], [[]], np.zeros((N, 0)), [[1], [1, 2]], object()])
def test_bad_positions(value):
    with pytest.raises(DynarmError, match=r"^q\b"):
        Log(T, value, TAU)


# ---- what it shows


def test_a_log_shows_itself_in_a_line_a_table_and_html():
    log = Log(T, Q, TAU, qd=-3 * Q, joint_names=("shoulder", "<b>"), source="run\n<i>.csv")
    assert repr(log) == r"<dynarm.Log run\n<i>.csv: 2 joints, 20 samples, 0.19 s>"
    lines = str(log).splitlines()
    assert [line.split() for line in lines[1:]] == [
        ["joint", "q", "from", "to", "|qd|", "max", "|tau|", "max"],
        ["shoulder", "0", "0.1889", "0.5666", "1.19"],
        ["<b>", "0.982", "1", "3", "2"],
    ]
    page = log._repr_html_()
    assert "<td>0.1889</td><td>0.5666</td><td>1.19</td>" in page
    assert "<td>&lt;b&gt;</td>" in page and "&lt;i&gt;" in page
    assert page.count("<tr>") == 3
    assert len(str(Log(T, np.zeros((N, 300)), np.zeros((N, 300))))) < 1500


def test_notes_are_shown():
    log = replace(Log(T, Q, TAU), notes=("2 rows & more",))
    assert str(log).endswith("2 rows & more")
    assert "2 rows &amp; more" in log._repr_html_()
