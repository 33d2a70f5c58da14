"""A log format is one record: a toy one is added to the table and read by the library and by the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import dynarm
from dynarm.cli.app import run
from dynarm.errors import FormatError
from dynarm.identify.logs import readers
from dynarm.identify.logs.readers import Format, known_formats


def read_toy(path: Path) -> dict[str, np.ndarray]:
    """One line a column: its name, then its numbers."""
    rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    return {name: np.array(cells, float) for name, *cells in rows}


@pytest.fixture
def toy(monkeypatch):
    """The table with a format more."""
    one = Format("toy", ".toy", (".toy",), read_toy)
    monkeypatch.setattr(readers, "FORMATS", [one, *readers.FORMATS])
    return one


@pytest.fixture
def columns():
    """A motion of the two-link arm and its torques."""
    arm = dynarm.load("two_link")
    t = np.arange(0.0, 4.0, 0.01)
    phase = np.outer(t, [2.0, 3.1])
    q, qd, qdd = np.sin(phase), [2.0, 3.1] * np.cos(phase), -([4.0, 9.61] * np.sin(phase))
    tau = dynarm.compile(arm).inverse_dynamics(q, qd, qdd)
    return {"t": t} | {
        f"{name}{k + 1}": x[:, k] for name, x in (("q", q), ("tau", tau)) for k in (0, 1)
    }


def written(path: Path, columns: dict[str, np.ndarray]) -> Path:
    lines = (" ".join([name, *map(repr, x.tolist())]) for name, x in columns.items())
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_a_new_format_is_read_by_the_library(toy, columns, tmp_path):
    log = dynarm.Log.read(written(tmp_path / "log.TOY", columns))
    assert np.array_equal(log.t, columns["t"])
    assert np.array_equal(log.q, np.column_stack([columns["q1"], columns["q2"]]))
    assert np.array_equal(log.tau, np.column_stack([columns["tau1"], columns["tau2"]]))


def test_a_new_format_is_read_by_the_command_line(toy, columns, tmp_path, capsys):
    """The same numbers as CSV give the same errors."""
    table = tmp_path / "log.csv"
    rows = [
        ",".join(columns),
        *(",".join(map(repr, row)) for row in np.column_stack(list(columns.values())).tolist()),
    ]
    table.write_text("\n".join(rows), encoding="utf-8")
    checks = []
    for file in (written(tmp_path / "log.toy", columns), table):
        assert run(["validate", "two_link", str(file), "--json"]) == 0
        (check,) = json.loads(capsys.readouterr().out)["validation"]
        assert check["log"] == str(file)
        checks.append(check["relative"])
    assert checks[0] == checks[1]
    assert 0 < max(checks[0]) < 0.1


def test_a_new_format_is_named_where_formats_are(toy, tmp_path):
    assert known_formats() == "toy, CSV, Parquet, npz, MAT or a ROS 2 bag"
    other = tmp_path / "log.other"
    other.write_text("x")
    with pytest.raises(
        FormatError, match=r"reads no '\.other' logs; give \.toy, \.csv, \.parquet, "
    ):
        dynarm.Log.read(other)


def test_a_damaged_file_of_a_new_format_is_refused_by_name(toy, tmp_path):
    file = tmp_path / "log.toy"
    file.write_text("q1 one two")
    with pytest.raises(
        FormatError, match=r"log\.toy: damaged or not a \.toy file \(could not convert"
    ):
        dynarm.Log.read(file)


def test_without_its_record_the_format_is_unknown(columns, tmp_path):
    file = written(tmp_path / "log.toy", columns)
    with pytest.raises(
        FormatError,
        match=r"log\.toy: dynarm reads no '\.toy' logs; give \.csv, \.parquet, \.npz, \.mat \(v4 to v7\) or a ROS 2 "
        r"bag \(\.db3, \.mcap or its folder\)$",
    ):
        dynarm.Log.read(file)
