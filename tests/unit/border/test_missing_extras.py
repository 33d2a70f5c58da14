"""What is asked of an extra that is not there is refused with the command that brings it."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import dynarm
from dynarm.identify.logs.formats import apart


def test_parquet_logs_name_their_extra(tmp_path, monkeypatch):
    path = tmp_path / "log.parquet"
    path.write_bytes(b"PAR1")
    monkeypatch.setattr(apart, "find_spec", lambda name: None)
    with pytest.raises(dynarm.DynarmError, match=r"pyarrow; pip install .*\[parquet\]"):
        dynarm.Log.read(path)


def test_parquet_runs_name_their_extra(tmp_path, monkeypatch):
    model = dynarm.compile(dynarm.load("two_link"))
    run = dynarm.simulate(model, np.zeros(2), np.zeros(2), 0.01)
    for name in ("pyarrow", "fastparquet"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(dynarm.DynarmError, match=r"pip install .*\[parquet\]"):
        run.save(tmp_path / "run.parquet")
    assert not list(tmp_path.iterdir())
