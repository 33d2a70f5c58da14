"""Segments of equal steps, the scratch with its history, and which of the states a record keeps."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm.simulation import tape
from dynarm.simulation.system import Layout
from dynarm.simulation.tape import HISTORY, Scratch, Segment, Tape, segments


def test_a_segment_is_cut_into_equal_steps():
    segment = Segment(1.0, 3.0, 4)
    assert segment.h == 0.5
    assert segment.times(1, 3).tolist() == [1.5, 2.0, 2.5]


def test_steps_are_at_most_as_long_as_asked_for():
    parts = segments(2.0, 0.3, np.array([0.5, 1.1]))
    assert [(s.start, s.end, s.count) for s in parts] == [(0, 0.5, 2), (0.5, 1.1, 2), (1.1, 2.0, 3)]
    # eleven times 0.1 is 1.1, whatever rounding says: 1.1 / 0.1 is a little more than eleven
    assert [s.count for s in segments(1.1, 0.1, np.zeros(0))] == [11]
    assert [s.count for s in segments(1.0, 7.0, np.zeros(0))] == [1]
    assert [s.count for s in segments(1.0, 0.1 - 1e-6, np.zeros(0))] == [11]


def layout(n, wrench=False):
    return Layout(n, n, n, 6 if wrench else 0)


@pytest.mark.parametrize("lead, n", [((), 1), ((1000,), 6), ((50,), 7)])
def test_the_scratch_fits_into_the_cache(lead, n):
    rows = Scratch.of(layout(n, True), lead)
    state = int(np.prod(lead)) * (2 * n + 2)
    assert rows.x.shape == rows.rate.shape == (rows.room + HISTORY + 1, *lead, 2 * n + 2)
    assert rows.tau.shape == (rows.room + HISTORY + 1, *lead, n)
    assert rows.push.shape == (rows.room + HISTORY + 1, *lead, 6)
    assert rows.room * state <= tape.SCRATCH
    assert not lead or (rows.room + 1) * state > tape.SCRATCH  # and is not smaller than need be
    assert Scratch.of(layout(n), lead).push is None


def test_a_batch_that_is_too_large_for_the_cache_still_has_room():
    assert Scratch.of(layout(6), (100_000,)).room == 2


def numbered(count, n=2, lead=(), wrench=False):
    """A scratch whose row k from HISTORY on holds k in every place."""
    rows = Scratch.of(layout(n, wrench), lead)
    for a in (rows.x, rows.rate, rows.tau, rows.push):
        if a is not None:
            a[: HISTORY + count] = np.arange(-HISTORY, count).reshape(-1, *[1] * (a.ndim - 1))
    return rows


def test_positions_and_velocities_of_a_row():
    rows = Scratch.of(layout(3), (4,))
    rows.x[:] = np.arange(8)
    assert rows.q(5).shape == rows.qd(5).shape == (4, 3)
    assert (rows.q(5) == [0, 1, 2]).all() and (rows.qd(5) == [3, 4, 5]).all()


def test_shifting_keeps_the_history():
    rows = numbered(20)
    rows.shift(7)
    for a in (rows.x, rows.rate):
        assert a[: HISTORY + 2, 0].tolist() == [4, 5, 6, 7, 1]  # the last of them is as it was


def recorded(steps, every, cuts, wrench=False, tau=None, push=None):
    """The record of a run of so many steps that comes in pieces, each state being its number."""
    kept = Tape(layout(2, wrench), (), steps, every, tau, push)
    for low, high in zip([0, *cuts], [*cuts, steps + 1], strict=True):
        rows = Scratch.of(layout(2, wrench))
        count = high - low
        for a in (rows.x, rows.tau, rows.push):
            if a is not None:
                a[HISTORY : HISTORY + count] = np.arange(low, high)[:, None]
        kept.put(low, 0.1 * np.arange(low, high), rows)
    return kept.record()


@pytest.mark.parametrize("cuts", [[], [1], [4, 5, 10], [3, 6, 9]])
@pytest.mark.parametrize(
    "every, steps, want",
    [
        (1, 4, [0, 1, 2, 3, 4]),
        (3, 10, [0, 3, 6, 9, 10]),
        (5, 10, [0, 5, 10]),
        (2, 10, [0, 2, 4, 6, 8, 10]),
        (50, 10, [0, 10]),
    ],
)
def test_every_so_many_steps_and_the_last(every, steps, want, cuts):
    cuts = [c for c in cuts if c <= steps]
    record = recorded(steps, every, cuts, wrench=True)
    assert record.x.shape == (len(want), 6) and record.push.shape == (len(want), 6)
    assert record.x[:, 5].tolist() == record.tau[:, 1].tolist() == record.push[:, 3].tolist()
    assert record.x[:, 0].tolist() == want
    assert np.allclose(record.t, 0.1 * np.array(want), rtol=0, atol=1e-15)


def test_inputs_that_never_change_are_kept_once():
    record = recorded(4, 1, [], True, np.array([7.0, 8.0]), np.arange(6.0))
    assert (record.tau == [7, 8]).all() and record.tau.shape == (5, 2)
    assert (record.push == np.arange(6)).all() and record.push.shape == (5, 6)
    assert record.tau.strides[0] == record.push.strides[0] == 0
    assert recorded(4, 1, []).push is None


@pytest.mark.parametrize("lead", [(), (3,)])
@pytest.mark.parametrize(
    "tau, push, wrench",
    [(None, None, False), (None, None, True), (1.0, None, True), (None, 1.0, True)],
)
def test_a_record_is_refused_by_the_memory_it_takes(lead, tau, push, wrench, monkeypatch):
    """The bytes that are counted are those of the arrays that hold the motion and the inputs that change."""
    tau = None if tau is None else np.zeros((*lead, 2))
    push = None if push is None else np.zeros((*lead, 6))
    kept = Tape(layout(2, wrench), lead, 10, 3, tau, push)
    arrays = [kept.x, *(a for a in (kept.tau, kept.push) if a is not None and a.flags.writeable)]
    size = sum(a.nbytes for a in arrays)
    monkeypatch.setattr(tape, "LARGEST", size)
    Tape(layout(2, wrench), lead, 10, 3, tau, push)
    monkeypatch.setattr(tape, "LARGEST", size - 1)
    with pytest.raises(dynarm.DynarmError, match="a record of 5 times"):
        Tape(layout(2, wrench), lead, 10, 3, tau, push)


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("wrench", [False, True])
def test_what_samples_have_after_they_broke_down_is_blank(constant, wrench):
    tau, push = (np.ones((3, 2)), np.ones((3, 6))) if constant else (None, None)
    kept = Tape(layout(2, wrench), (3,), 4, 1, tau, push if wrench else None)
    rows = numbered(5, lead=(3,), wrench=wrench)
    kept.put(0, 0.1 * np.arange(5), rows)
    kept.blank(np.array([False, True, False]), np.array([0.4, 0.2, 0.4]))
    record = kept.record()
    for a in (record.x, record.tau, record.push):
        if a is not None:
            assert np.isnan(a[3:, 1]).all() and np.isfinite(a[:3]).all()
            assert np.isfinite(a[:, [0, 2]]).all()
    assert (record.push is None) != wrench
    assert (record.tau[4, 0] == (1.0 if constant else 4.0)).all()


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("wrench", [False, True])
def test_unknown_inputs_are_blank_at_the_last_time_only(constant, wrench):
    tau, push = (np.ones(2), np.ones(6)) if constant else (None, None)
    kept = Tape(layout(2, wrench), (), 4, 1, tau, push if wrench else None)
    kept.put(0, 0.1 * np.arange(3), numbered(3, wrench=wrench))
    kept.forget_inputs()
    record = kept.record()
    assert record.t.tolist() == [0.0, 0.1, 0.2] and record.x[:, 0].tolist() == [0, 1, 2]
    for a in (record.tau, record.push):
        if a is not None:
            assert np.isnan(a[2]).all() and np.isfinite(a[:2]).all()
    assert (record.push is None) != wrench
