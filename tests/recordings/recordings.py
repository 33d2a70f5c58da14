"""Where the measured logs are, and how the six recordings are read."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import dynarm
from dynarm import Arm, Joint, Log

DATA = Path(__file__).parents[3] / "shared" / "data"
CHANNELS = Path(__file__).parents[1] / "data_channels"
FILES = {
    "emps": "DATA_EMPS.mat",
    "panda": "log.csv",
    "ur10": "log.csv",
    "tx40": "motor_position.csv",
    "kr300": "a.csv",
    "lwr4": "run1.npz",
}

needed = pytest.mark.skipif(
    not DATA.is_dir(), reason="the measured logs (../shared/data beside the project) are not here"
)


@cache
def read(robot: str, file: str | None = None) -> Log:
    """The log of a recording, by the channels file of the tests."""
    return Log.read(DATA / robot / (file or FILES[robot]), CHANNELS / f"{robot}.toml")


@cache
def arm_of(robot: str) -> Arm:
    """The robot of a recording; emps is one prismatic axis that does not feel gravity."""
    if robot == "emps":
        return Arm([Joint("prismatic")], gravity=(0.0, -9.81, 0.0), name="emps")
    return dynarm.load(DATA / robot / f"{robot}.urdf", allow_massless=True)


def inner_error(fit: dynarm.identify.result.Fit, log: Log, edge: float = 0.3) -> np.ndarray:
    """(n,) RMSE / standard deviation against the torque as measured, as the plain baseline is scored: without the
    first and last 0.3 s."""
    since = log.t - log.t[0]
    inside = (since > edge) & (since < since[-1] - edge)
    left = log.tau[inside] - fit.predict(log)[inside]
    return np.sqrt((left**2).mean(axis=0)) / log.tau[inside].std(axis=0)
