"""The same remark about several joints or logs is one line; different ones stay apart, and no number is lost."""

from __future__ import annotations

import warnings

import numpy as np

import dynarm
from dynarm import Identifier, Log
from dynarm.identify.logs.noted import noted, one_a_kind
from oracles.simulated_log import multi_sine


def test_joints_with_the_same_remark_share_a_line():
    steps = [f"positions of joint {j} come in steps of 2.22e-05" for j in (3, 5)]
    rests = [f"joint {j} rests in {part} % of the samples" for j, part in enumerate((30, 25), 1)]
    assert one_a_kind([rests[0], steps[0], rests[1], steps[1]]) == [
        "joints 1, 2 rest in 30, 25 % of the samples",
        "positions of joints 3, 5 come in steps of 2.22e-05",
    ]
    assert one_a_kind(rests[:1]) == rests[:1]
    many = [f"joint {j} rests in {30 - j} % of the samples" for j in range(1, 5)]
    assert one_a_kind(many) == ["joints 1, 2, 3, 4 rest in 26 to 29 % of the samples"]
    jumps = [f"the position of joint 2 jumps in row {k}; cut there" for k in (7, 90)]
    assert one_a_kind(jumps) == ["the position of joint 2 jumps in row 7, 90; cut there"]


def test_logs_with_the_same_remark_share_a_line():
    gaps = [f"1 gaps in time, the longest 3{k} ms at {k}.000 s" for k in range(5)]
    assert noted([("a", gaps[:1]), ("b", gaps[1:2])]) == [
        "a, b: 1 gaps in time, the longest 30, 31 ms at 0.000, 1.000 s"
    ]
    assert noted((name, [gap]) for name, gap in zip("abcde", gaps)) == [
        "5 logs (a, b, c, ...): 1 gaps in time, the longest 30 to 34 ms at 0.000 to 4.000 s"
    ]
    first, second = (f"joint {j} rests in 30 % of the samples" for j in (1, 2))
    assert noted([("a", [first]), ("b", [second])]) == [f"a: {first}", f"b: {second}"]
    assert noted([("a", [first, second]), ("b", [])]) == [
        "a: joints 1, 2 rest in 30 % of the samples"
    ]
    assert noted([]) == []


def test_many_logs_with_other_joints_share_a_line():
    """200 logs, each with its own choice of resting joints, are no screen full of lines."""
    rests = [
        (
            f"log{k}",
            [f"joint {j} rests in {20 + j} % of the samples" for j in range(1, 8) if k >> j & 1],
        )
        for k in range(200)
    ]
    lines = noted([*rests, ("log7", ["3 gaps in time"])])
    assert lines == [
        "198 logs (log2, log3, log4, ...): joints 1, 2, 3, 4, 5, 6, 7 rest in 21 to 27 % of the samples",
        "log7: 3 gaps in time",
    ]


def test_a_fit_warns_once_of_degrees_in_all_joints():
    arm = dynarm.load("two_link")
    t, q, qd, qdd = multi_sine(2, duration=5.0, rate=100.0)
    tau = dynarm.compile(arm).inverse_dynamics(q, qd, qdd)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        Identifier(arm, cutoff=10.0).prepare(Log(t, np.degrees(q), tau))
    doubts = [str(one.message) for one in said if "degrees?" in str(one.message)]
    assert len(doubts) == 1
    assert "positions of joints 1, 2 reach" in doubts[0]
