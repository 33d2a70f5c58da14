"""Times of every unit come out in seconds; columns that are no real numbers are refused by name, in every format."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
import scipy.io

from dynarm import DynarmError, Log

N = 200
T = np.arange(N) * 0.01  # the last is 1.99 s
Q = np.column_stack([np.sin(T), np.cos(T)])
TAU = np.column_stack([1 + T, 2 - T])
TICKS = np.arange(N) * 10  # ms
START = np.datetime64("2026-03-01T12:00:00")
UNITS = ["ms", "us", "ns"]  # pandas keeps these and s
CLOCKS = {"datetime": START, "timedelta": np.timedelta64(0, "s")}
DECLARED = {"time": "t", "q": "q{}", "tau": "tau{}"}


def frame_with(t):
    return pd.DataFrame(
        {"t": t, "q1": Q[:, 0], "q2": Q[:, 1], "tau1": TAU[:, 0], "tau2": TAU[:, 1]}
    )


def write_csv(path, columns):
    pd.DataFrame(columns).to_csv(path, index=False)


def write_parquet(path, columns):
    pd.DataFrame(columns).to_parquet(path)


def write_npz(path, columns):
    np.savez(path, **{k: np.asarray(v) for k, v in columns.items()})


WRITERS = {"csv": write_csv, "parquet": write_parquet, "npz": write_npz}


def clock(kind, unit):
    """The same 1.99 s in ticks of any unit."""
    if unit == "s":
        return CLOCKS[kind].astype(f"{'M8' if kind == 'datetime' else 'm8'}[s]") + np.arange(
            N
        ).astype("m8[s]")
    return CLOCKS[kind] + TICKS.astype("m8[ms]").astype(f"m8[{unit}]")


@pytest.mark.parametrize("unit", ["s", *UNITS])
@pytest.mark.parametrize("kind", CLOCKS)
@pytest.mark.parametrize("format", WRITERS)
def test_clocks_in_files(tmp_path, format, kind, unit):
    path = tmp_path / f"log.{format}"
    t = clock(kind, unit)
    columns = {k: frame_with(T)[k].to_numpy() for k in ("q1", "q2", "tau1", "tau2")}
    WRITERS[format](path, {"t": t} | columns)
    want = np.arange(N) * (1.0 if unit == "s" else 0.01)
    for channels in (None, DECLARED, DECLARED | {"time": {"column": "t", "unit": "ns"}}):
        np.testing.assert_allclose(Log.read(path, channels).t, want, rtol=0, atol=1e-12)


@pytest.mark.parametrize("unit", ["D", "h", "m", "s", "ms", "us", "ns", "ps"])
def test_clocks_in_arrays(unit):
    ticks = np.arange(5)
    step = {"D": 86400, "h": 3600, "m": 60, "s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12}
    for t in (ticks.astype(f"m8[{unit}]"), np.datetime64("1970-06-01", unit) + ticks):
        np.testing.assert_allclose(Log(t, ticks, ticks).t, ticks * step[unit], rtol=1e-15)


def test_ticks_of_several_units_count():
    t = np.arange(4).astype("m8[25us]")
    np.testing.assert_allclose(Log(t, T[:4], T[:4]).t, np.arange(4) * 25e-6, rtol=1e-15)


def test_durations_keep_their_beginning_and_dates_do_not():
    t = np.array([1500, 1990], "m8[ms]")
    np.testing.assert_array_equal(Log(t, T[:2], T[:2]).t, [1.5, 1.99])
    np.testing.assert_allclose(Log(START + t, T[:2], T[:2]).t, [0, 0.49], rtol=1e-15)


PYTHON = datetime.datetime(2026, 3, 1, 12, tzinfo=datetime.UTC)
KINDS_OF_TIME = {
    "zone": pd.Series(START + TICKS.astype("m8[ms]")).dt.tz_localize("Europe/Berlin"),
    "index": pd.DatetimeIndex(START + TICKS.astype("m8[ms]"), tz="Asia/Tokyo"),
    "python": [PYTHON + datetime.timedelta(milliseconds=int(k)) for k in TICKS],
    "python durations": [datetime.timedelta(milliseconds=int(k)) for k in TICKS],
    "stamps": [pd.Timestamp(PYTHON) + pd.Timedelta(milliseconds=int(k)) for k in TICKS],
    "frame": pd.DataFrame({"t": START + TICKS.astype("m8[ms]")}),
    "floats": T,
    "texts": [str(START + np.timedelta64(int(k), "ms")) for k in TICKS],
}


@pytest.mark.parametrize("name", KINDS_OF_TIME)
def test_times_of_any_kind(name):
    np.testing.assert_allclose(Log(KINDS_OF_TIME[name], Q, TAU).t, T, rtol=0, atol=1e-12)


@pytest.mark.parametrize("unit", UNITS)
def test_zones_in_parquet(tmp_path, unit):
    """A clock that is put back in the night goes on in UTC."""
    t = pd.date_range("2026-10-25 00:30", periods=N, freq="1min", tz="UTC").as_unit(unit)
    frame_with(t.tz_convert("Europe/Berlin")).to_parquet(tmp_path / "log.parquet")
    np.testing.assert_allclose(
        Log.read(tmp_path / "log.parquet").t, 60.0 * np.arange(N), rtol=0, atol=1e-12
    )


def test_a_missing_date_is_a_missing_row(tmp_path):
    t = clock("datetime", "us")
    t[3] = np.datetime64("NaT")
    frame_with(t).to_parquet(tmp_path / "log.parquet")
    with pytest.raises(DynarmError, match="t, row 4 is missing"):
        Log.read(tmp_path / "log.parquet")
    log = Log.read(tmp_path / "log.parquet", DECLARED | {"missing": "drop"})
    np.testing.assert_allclose(log.t, np.delete(T, 3), atol=1e-12)


@pytest.mark.parametrize("name", ["time", "timestamp"])
def test_counts_since_1970_are_not_taken_for_seconds(tmp_path, name):
    frame = frame_with(T).rename(columns={"t": name})
    frame[name] = 1_700_000_000_000_000_000 + 10_000_000 * np.arange(N)
    frame.to_csv(tmp_path / "log.csv", index=False)
    with pytest.raises(DynarmError, match="hardly seconds; declare"):
        Log.read(tmp_path / "log.csv")
    log = Log.read(tmp_path / "log.csv", DECLARED | {"time": {"column": name, "unit": "ns"}})
    np.testing.assert_allclose(log.t, T, atol=1e-6)
    frame.rename(columns={name: f"{name}_ns"}).to_csv(tmp_path / "named.csv", index=False)
    np.testing.assert_allclose(Log.read(tmp_path / "named.csv").t, T, atol=1e-6)


STRANGE = {
    "complex": (Q[:, 0] + 1j, "complex numbers"),
    "complex without imaginary part": (Q[:, 0] + 0j, "complex numbers"),
    "bool": (Q[:, 0] > 0, "True and False"),
    "dates": (clock("datetime", "ns"), "holds dates|holds '2026"),
    "durations": (clock("timedelta", "ns"), "holds durations|holds '0 days"),
    "texts": (np.array(["on"] * N), "row 1 holds 'on'"),
    "other digits": (np.array(["１２"] * N), "row 1 holds '１２'"),
    "underscores": (np.array(["1_0"] * N), "row 1 holds '1_0'"),
}


@pytest.mark.parametrize("name", STRANGE)
@pytest.mark.parametrize("format", WRITERS)
def test_columns_that_are_no_numbers_are_refused_by_name(tmp_path, format, name):
    value, words = STRANGE[name]
    if format != "npz" and value.dtype.kind == "c":
        value = value.astype(str)
        words = "holds '"
    columns = {k: v.to_numpy() for k, v in frame_with(T).items()} | {"q1": value}
    WRITERS[format](tmp_path / f"log.{format}", columns)
    with pytest.raises(DynarmError, match=f"log.{format}: column 'q1'.*(?:{words})"):
        Log.read(tmp_path / f"log.{format}", DECLARED)


@pytest.mark.parametrize("name", STRANGE)
@pytest.mark.parametrize("wrap", [np.asarray, list, pd.Series, lambda x: pd.DataFrame({"a": x})])
def test_arrays_that_are_no_numbers_are_refused_by_name(name, wrap):
    with pytest.raises(DynarmError, match=r"^q\b"):
        Log(T, wrap(STRANGE[name][0]), TAU[:, 0])
    with pytest.raises(DynarmError, match=r"^tau\b"):
        Log(T, Q[:, 0], wrap(STRANGE[name][0]))


@pytest.mark.parametrize("name", ["complex", "bool", "texts"])
def test_times_that_are_none_are_refused(name):
    with pytest.raises(DynarmError, match=r"^t\b"):
        Log(STRANGE[name][0], Q, TAU)


@pytest.mark.parametrize("value", [Q[:, 0] + 1j, Q[:, 0] > 0, "a text", {"a": 1.0}, [[1, "x"]]])
def test_mat_variables_that_are_no_numbers_are_refused_by_name(tmp_path, value):
    for packed in (False, True):
        scipy.io.savemat(
            tmp_path / "log.mat", {"t": T, "q": value, "tau": TAU}, do_compression=packed
        )
        with pytest.raises(DynarmError, match=r"log.mat: column 'q'"):
            Log.read(tmp_path / "log.mat", {"time": "t", "q": "q", "tau": "tau"})


def test_numbers_written_as_texts_or_decimals_are_numbers(tmp_path):
    frame = frame_with(T)
    frame["q1"] = [repr(float(x)) for x in Q[:, 0]]
    frame.to_parquet(tmp_path / "log.parquet")
    np.testing.assert_array_equal(Log.read(tmp_path / "log.parquet").q, Q)
    log = Log(T, [Decimal(repr(float(x))) for x in Q[:, 0]], TAU[:, 0])
    np.testing.assert_array_equal(log.q[:, 0], Q[:, 0])


@pytest.mark.parametrize("dtype", ["f2", "f4", "i1", "u2", "i4", "u8", ">f8", ">i4"])
def test_numbers_of_every_size(tmp_path, dtype):
    q = np.arange(N).astype(dtype) if dtype != "i1" else (np.arange(N) % 100).astype(dtype)
    np.savez(tmp_path / "log.npz", t=T, q=q, tau=T)
    np.testing.assert_array_equal(Log.read(tmp_path / "log.npz").q[:, 0], q.astype(float))


def test_missing_numbers_of_pandas_are_missing(tmp_path):
    q = pd.array([1, None, *range(N - 2)], dtype="Int64")
    with pytest.raises(DynarmError, match="q, row 2, column 1 is nan"):
        Log(T, pd.Series(q), T)
    frame = frame_with(T).assign(q1=q)
    frame.to_parquet(tmp_path / "log.parquet")
    with pytest.raises(DynarmError, match="q column 1, row 2 is missing"):
        Log.read(tmp_path / "log.parquet")


# ---- widths of CSV rows


ROWS = {
    "one more in every row": (
        "t,q1,tau1",
        ["0,1,2,3", "1,2,3,4"],
        "line 2 .row 1. has 4 cells.* 3",
    ),
    "one more in the last": ("t,q1,tau1", ["0,1,2", "1,2,3,4"], "line 3 .row 2. has 4 cells.* 3"),
    "one less": ("t,q1,tau1", ["0,1,2", "1,2"], "line 3 .row 2. has 2 cells.* 3"),
    "an end without a name": ("t,q1,tau1", ["0,1,2,", "1,2,3,"], "has 4 cells.* 3"),
    "two more": ("t,q1,tau1", ["0,1,2,3,4", "1,2,3,4,5"], "has 5 cells.* 3"),
    "semicolons": ("t;q1;tau1", ["0;1;2;3", "1;2;3;4"], "has 4 cells.* 3"),
    "tabs": ("t\tq1\ttau1", ["0\t1\t2\t3", "1\t2\t3\t4"], "has 4 cells.* 3"),
    "spaces": ("t q1 tau1", ["0 1 2 3", "1 2 3 4"], "has 4 cells.* 3"),
    "quotes": ('"t","q1","tau1"', ["0,1,2,3", "1,2,3,4"], "has 4 cells.* 3"),
    "a quoted separator": ('t,"q,1",tau1', ["0,1,2,3", "1,2,3,4"], "has 4 cells.* 3"),
    "after comments": ("# of a robot; 1\n\nt,q1,tau1", ["# x", "0,1,2,9"], "line 5 .row 1. has 4"),
    "header only": ("t,q1,tau1", [], "no rows"),
    "one name twice": ("t,q1,q1,tau1", ["0,1,2,3", "1,2,3,4"], "two columns are called 'q1'"),
    "zero bytes": ("t,q1,tau1", ["0,1,2", "1,2,\0"], "zero bytes"),
    "not UTF-8": ("t,q1,tau1", ["0,1,2", "1,2,\udcff"], "not UTF-8"),
}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", ROWS)
def test_rows_that_do_not_fit_their_header_are_refused(tmp_path, name, end):
    header, rows, words = ROWS[name]
    text = end.join([*header.split("\n"), *rows, ""])
    (tmp_path / "log.csv").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(DynarmError, match=f"log.csv: .*{words}"):
        Log.read(tmp_path / "log.csv")


@pytest.mark.parametrize(
    "text",
    [
        "# from a drive; 2 axes\nt,q1,tau1\n\n0,1,2 # first\n1,2,3\n",
        '"t","q1","tau1"\n0,"1",2\n1,2,3\n',
        "t , q1 , tau1\r\n0 , 1 , 2\r\n1 , 2 , 3\r\n",
        "  t   q1  tau1 \n  0  1  2\n 1 2   3 \n",
        "t,q1,tau1,\n0,1,2,\n1,2,3,\n",
        ",t,q1,tau1\n0,0,1,2\n1,1,2,3\n",
        "\ufefft,q1,tau1\n0,1,2\n1,2,3",
        't,"a,b",q1,tau1\n0,7,1,2\n1,7,2,3\n',
        "t,q1,tau1\r0,1,2\r1,2,3\r",
    ],
)
def test_csv_files_of_many_hands_are_read(tmp_path, text):
    (tmp_path / "log.csv").write_bytes(text.encode())
    log = Log.read(tmp_path / "log.csv")
    assert (log.t.tolist(), log.q.ravel().tolist()) == ([0, 1], [1, 2])
    assert log.tau.ravel().tolist() == [2, 3]


def test_csv_in_utf16_is_read(tmp_path):
    (tmp_path / "log.csv").write_bytes("t\tq1\ttau1\n0\t1\t2\n1\t2\t3\n".encode("utf-16"))
    assert Log.read(tmp_path / "log.csv").q.ravel().tolist() == [1, 2]


@pytest.mark.parametrize("start, kept", [(1.7e9, 0.0), (-3.0, -3.0), (5e4, 5e4), (5e10, 5e10)])
def test_seconds_since_1970_count_from_the_first_sample(tmp_path, start, kept):
    write_csv(tmp_path / "log.csv", frame_with(T + start))
    np.testing.assert_allclose(Log.read(tmp_path / "log.csv").t, T + kept, rtol=1e-15, atol=1e-6)
    np.testing.assert_allclose(Log.from_frame(frame_with(T + start)).t, T + kept, atol=1e-5)
