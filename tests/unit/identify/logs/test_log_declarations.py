"""Channels declarations: every unit by a number worked out by hand, and nothing that one can write breaks anything."""

from __future__ import annotations

import copy
import datetime
import os
import random

import numpy as np
import pandas as pd
import pytest

from dynarm import DynarmError, Log
from dynarm.identify.logs.units import UNITS

N = 6
# unit -> what 90 of it are in SI, from the meaning of the unit; pi / 2 = 1.5707963267948966
NINETY = {
    "q": {
        "rad": 90.0,
        "deg": 1.5707963267948966,  # a quarter turn
        "rev": 565.4866776461628,  # 180 pi
        "m": 90.0,
        "mm": 0.09,
    },
    "qd": {
        "rad/s": 90.0,
        "deg/s": 1.5707963267948966,
        "rpm": 9.42477796076938,  # one turn and a half a second: 3 pi
        "m/s": 90.0,
        "mm/s": 0.09,
    },
    "qdd": {"rad/s^2": 90.0, "deg/s^2": 1.5707963267948966, "m/s^2": 90.0, "mm/s^2": 0.09},
    "tau": {
        "Nm": 90.0,
        "N m": 90.0,
        "mNm": 0.09,
        "kNm": 90_000.0,
        "N": 90.0,
        "A": 180.0,  # with 2 N m per A
        "mA": 0.18,
        "V": 180.0,
        "%": 180.0,
    },
    "t": {"s": 90.0, "ms": 0.09, "us": 9e-5, "ns": 9e-8},
}
NINETY["reference"] = NINETY["q"]
NINETY["wrench"] = {k: v for k, v in NINETY["tau"].items() if UNITS[k][0] == "force"}
CASES = [(channel, unit) for channel, units in NINETY.items() for unit in units]


def test_every_unit_is_checked_by_hand():
    assert {unit for _, unit in CASES} == set(UNITS)


@pytest.mark.parametrize("channel, unit", CASES)
def test_units(tmp_path, channel, unit):
    columns = {"t": 90.0 * np.arange(N), "x": np.full(N, 90.0)} | {
        f"w{k}": np.full(N, 90.0) for k in range(6)
    }
    pd.DataFrame(columns).to_csv(tmp_path / "log.csv", index=False)
    channels = {"time": "t", "q": "x", "tau": "x"}
    if channel == "t":
        channels["time"] = {"column": "t", "unit": unit}
    else:
        gains = {"scale": 2.0} if UNITS[unit][0] == "drive" else {}
        channels[channel] = {
            "columns": "w{}" if channel == "wrench" else "x",
            "unit": unit,
            **gains,
        }
    log = Log.read(tmp_path / "log.csv", channels)
    value = log.t[1] if channel == "t" else getattr(log, channel)[1, 0]
    assert value == pytest.approx(NINETY[channel][unit], rel=1e-15)


@pytest.mark.parametrize("suffix, unit", [("deg", "deg"), ("mm", "mm"), ("rad", "rad"), ("m", "m")])
def test_recognised_suffixes(tmp_path, suffix, unit):
    frame = pd.DataFrame({"t": np.arange(N), f"q1_{suffix}": np.full(N, 90.0), "tau1": np.ones(N)})
    frame.to_csv(tmp_path / "log.csv", index=False)
    assert Log.read(tmp_path / "log.csv").q[0, 0] == pytest.approx(NINETY["q"][unit], rel=1e-15)


def test_torques_named_in_another_order_are_put_in_that_of_the_positions(tmp_path):
    names = ["t", "a_position", "b_position", "b_effort", "a_effort", "b_velocity", "a_velocity"]
    frame = pd.DataFrame(np.arange(7.0) + np.arange(N)[:, None], columns=names)
    frame.to_csv(tmp_path / "log.csv", index=False)
    log = Log.read(tmp_path / "log.csv")
    assert log.joint_names == ("a", "b")
    assert (log.tau[0].tolist(), log.qd[0].tolist()) == ([4, 3], [6, 5])
    frame.rename(columns={"b_effort": "c_effort"}).to_csv(tmp_path / "log.csv", index=False)
    with pytest.raises(DynarmError, match="name different joints"):
        Log.read(tmp_path / "log.csv")


# ---- declarations that nobody should write


GOOD = {
    "time": {"column": "t", "unit": "ms"},
    "joint_names": ["a", "b"],
    "missing": "refuse",
    "q": {"columns": "q{}", "unit": ["deg", "rad"], "scale": [1.0, 2.0], "offset": [0, 1]},
    "qd": ["q1", "q2"],
    "tau": {"columns": ["tau1", "tau2"], "unit": "A", "divide": [[1, 0], [2, 3]], "scale": 2},
    "reference": {"columns": "q{}", "file": "log.csv"},
}
ODD = [
    *(
        None,
        True,
        0,
        -1,
        1.5,
        float("nan"),
        float("inf"),
        10**400,
        1j,
        "",
        "q{}",
        "{}",
        "{{}}",
        "{",
        "}{",
    ),
    *(
        "{}{}",
        "{0}",
        "{x}",
        "{0.__class__}",
        "q{}{y}",
        "x" * 10**4,
        "a\0b",
        "../log.csv",
        "/dev/zero",
        ".",
    ),
    *(
        "deg",
        "rpm",
        "V",
        "t",
        "tau1",
        "q\n1",
        "\x1b[31m",
        "\ud800",
        b"q1",
        (),
        [],
        {},
        [[]],
        [[], [1]],
    ),
    *([None], [1, "a"], ["q1", 2], [[1, 2], [3]], [float("nan"), 1], [10**400], {"columns": "q{}"}),
    *(
        {1: 2},
        {"a": {}},
        {"unit": []},
        {"columns": []},
        {None: 1},
        set(),
        object(),
        datetime.date(2026, 1, 1),
    ),
    *(
        np.zeros(2),
        np.zeros((2, 2)),
        np.array([1j, 2]),
        np.array("x"),
        np.arange(3).astype("M8[s]"),
    ),
    *(
        lambda: 1,
        range(3),
        [True, False],
        [[0, 0], [0, 0]],
        [1e308, 1e308],
        1e-320,
        -0.0,
        ["q1"] * 3,
    ),
]


def changed(declaration, rng):
    """The declaration with a few entries, anywhere in it, exchanged, left out or put in."""
    out = copy.deepcopy(declaration)
    for _ in range(rng.choice([1, 1, 2, 3])):
        place = out
        inner = [v for v in out.values() if isinstance(v, dict)]
        if inner and rng.random() < 0.6:
            place = rng.choice(inner)
        keys = [
            *place,
            *rng.sample(["rate", "wrench", "qdd", "file", "scale", "x", 3, None, ("a",)], 2),
        ]
        key = rng.choice(keys)
        kind = rng.randrange(4)
        if kind == 0:
            place.pop(key, None)
        elif kind == 1 and isinstance(place.get(key), list) and place[key]:
            place[key][rng.randrange(len(place[key]))] = rng.choice(ODD)
        else:
            place[key] = rng.choice(ODD)
    return out


@pytest.mark.filterwarnings("error")
def test_whatever_is_declared_is_read_or_refused(tmp_path):
    names = ["t", "q1", "q2", "tau1", "tau2"]
    path = tmp_path / "log.csv"
    rows = np.column_stack([np.arange(N), np.random.default_rng(0).normal(size=(N, 4))])
    pd.DataFrame(rows, columns=names).to_csv(path, index=False)
    assert Log.read(path, GOOD).n == 2
    count = int(os.environ.get("DYNARM_FUZZ", 300))
    rng = random.Random(count)
    verdicts = set()
    for _ in range(count):
        declaration = changed(GOOD, rng)
        try:
            log = Log.read(path, declaration)
            torques = np.isfinite(log.tau).all() or "tau" not in declaration
            assert np.isfinite(log.q).all() and torques
            verdicts.add("read")
        except DynarmError as error:
            assert 15 < len(str(error)) < 3000, declaration
            assert str(error).isprintable(), (declaration, str(error))
            verdicts.add("refused")
    assert verdicts == {"read", "refused"}


@pytest.mark.parametrize("given", [3, True, [], b"log.toml", object(), np.zeros(3)])
def test_declarations_are_files_or_dicts(tmp_path, given):
    (tmp_path / "log.csv").write_text("t,q1,tau1\n0,1,2\n1,2,3\n")
    with pytest.raises(DynarmError, match=r"channels is .*; give a TOML file or a dict"):
        Log.read(tmp_path / "log.csv", given)


TEXTS = {
    "deep": ("x = " + "[" * 5000 + "]" * 5000, "not a valid TOML"),
    "dotted": (".".join("a" * 200_000) + " = 1", "30 parts"),
    "many digits": ("rate = " + "1" * 5000, "not a valid TOML"),
    "large": ("#" * (2 << 20), "at most"),
    "a date": ("rate = 2026-01-01\nq = 'q{}'\ntau = 'tau{}'", "rate is"),
    "not TOML": ("rate = = 3", "not a valid TOML"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_declarations_that_are_no_toml(tmp_path, name):
    text, words = TEXTS[name]
    (tmp_path / "log.csv").write_text("t,q1,tau1\n0,1,2\n1,2,3\n")
    (tmp_path / "log.toml").write_text(text)
    with pytest.raises(DynarmError, match=f"log.toml.*{words}"):
        Log.read(tmp_path / "log.csv")


def test_both_clocks_are_refused(tmp_path):
    (tmp_path / "log.csv").write_text("t,q1,tau1\n0,1,2\n1,2,3\n")
    with pytest.raises(DynarmError, match="both time and rate"):
        Log.read(tmp_path / "log.csv", {"rate": 1.0, "time": "t", "q": "q1", "tau": "tau1"})


# ---- joints without a torque sensor


def two_joints(**more):
    rng = np.random.default_rng(0)
    rows = {name: rng.normal(size=40) for name in ("q1", "q2", "tau1")}
    frame = pd.DataFrame({"t": np.arange(40) * 0.01, **rows, "tau2": 3.0})
    frame.loc[7, "tau2"] = np.nan
    channels = {"time": "t", "q": "q{}", "tau": "tau{}", **more}
    return Log.from_frame(frame, channels=channels)


@pytest.mark.parametrize("who", [{"unmeasured": [2]},
                                 {"unmeasured": ["elbow"], "joint_names": ["waist", "elbow"]}])  # fmt: skip
def test_a_joint_without_a_sensor_is_left_out_by_name(who):
    log = two_joints(**who)
    assert log.measured.tolist() == [True, False]
    assert len(log) == 40 and np.isfinite(log.tau[:, 0]).all()  # what it holds is not missing


@pytest.mark.parametrize(
    "who, words",
    [
        ({"unmeasured": ["elbow"]}, "give numbers from 1 on, or joint_names"),
        ({"unmeasured": ["elbo"], "joint_names": ["waist", "elbow"]}, "did you mean elbow"),
        ({"unmeasured": [3]}, "unmeasured holds joint 3, [tau] has 2 columns"),
        ({"unmeasured": [0]}, "joints count from 1"),
        ({"unmeasured": 2}, "give joints, such as [2]"),
    ],
)
def test_unmeasured_joints_that_are_not_there(who, words):
    with pytest.raises(DynarmError, match=words.replace("[", r"\[").replace("]", r"\]")):
        two_joints(**who)


def test_unmeasured_joints_need_torques():
    channels = {"rate": 100.0, "q": "q{}", "q_command": "q{}", "unmeasured": [1]}
    with pytest.raises(DynarmError, match=r"there is no \[tau\]"):
        Log.from_frame(pd.DataFrame({"q1": np.arange(9.0)}), channels=channels)
