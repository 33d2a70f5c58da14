"""What a run says of itself: tables, summaries, frames of a batch, energies of models with inputs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from oracles.motions import rail


@pytest.fixture(scope="module")
def pushed(two_link):
    """A batch with a wrench on each sample."""
    q0, push = np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]), np.arange(18.0).reshape(3, 6)
    return dynarm.simulate(
        two_link, q0, [0.5, -0.5], 0.1, [1.0, -9.0], method="rk4", dt=0.01, wrench=push
    )


@pytest.fixture(scope="module")
def alone(two_link):
    def torque(t, q, qd):
        return [np.cos(40 * t), -7 * t]

    return dynarm.simulate(two_link, [0.1, 0.2], [0, 0], 0.1, torque, method="rk4", dt=0.01)


def rows_of(text):
    return {
        line.split()[0]: [float(x) for x in line.split()[1:]] for line in text.splitlines()[-2:]
    }


def test_the_table_of_a_run(alone, pushed):
    """Where each joint starts and ends, how fast it is then, and the largest torque on the way."""
    _, _, rows = alone._sheet()
    for k, (name, *numbers) in enumerate(rows):
        assert name == ("shoulder", "elbow")[k]
        assert numbers[:3] == [alone.q[0, k], alone.q[-1, k], alone.qd[-1, k]]
    assert rows[0][4] == 1.0 and rows[1][4] == pytest.approx(0.7)
    shown = rows_of(str(alone))
    assert shown["elbow"] == pytest.approx(list(rows[1][1:]), rel=1e-4)
    # of a batch, the first sample
    _, _, rows = pushed._sheet()
    assert [row[1] for row in rows] == [0.1, 0.2] and [row[4] for row in rows] == [1.0, 9.0]
    assert [row[2] for row in rows] == pushed.q[0, -1].tolist()
    assert "3 samples" in str(pushed) and "samples" not in str(alone)


def test_a_frame_of_a_batch(pushed):
    table = pushed.frame()
    assert table.shape == (3 * 11, 2 + 6 + 6 + 4)
    last = table[(table["sample"] == 2)]
    assert np.array_equal(last["t"], pushed.t)
    assert np.array_equal(last["elbow_qd"], pushed.qd[2, :, 1])
    assert (last["elbow_tau"] == -9).all() and (last["wrench_fx"] == 12).all()
    assert (last[table.columns[table.columns.str.startswith("wrench")][5]] == 17).all()
    for word in ("kinetic", "potential", "work", "loss"):
        assert np.array_equal(last[word], getattr(pushed, word)[2])


def test_a_frame_of_one_run(alone):
    table = alone.frame()
    assert table.shape == (11, 1 + 6 + 4) and "sample" not in table
    assert np.array_equal(table["work"], alone.work)


def test_energies_that_a_summary_tells(alone, pushed):
    text = alone.summary()
    assert (
        f"energy: {alone.energy[0]:.6g} J at the start, {alone.energy[-1]:.6g} J at the end" in text
    )
    assert alone.energy[0] != alone.energy[-1]
    assert f"work of the inputs {alone.work[-1]:.6g} J, taken by friction 0 J" in text
    assert "10 steps, 40 evaluations" in text and "rk4 of 0.01 s, to t = 0.1 s; success" in text
    text = pushed.summary()
    ends = pushed.work[:, -1]
    assert f"inputs {ends.min():.6g} ... {ends.max():.6g} J" in text and "energy:" not in text
    assert "success" in text and "3 samples" in text


@pytest.mark.parametrize("count, more", [(3, None), (10, None), (11, "and 1 more events")])
def test_a_summary_lists_ten_events(count, more, alone):
    events = tuple((0.01 * k, f"event {k}") for k in range(count))
    text = replace(alone, events=events).summary()
    assert text.count("event at ") == min(count, 10)
    assert f"event at {0.01 * (min(count, 10) - 1):.6g} s: event {min(count, 10) - 1}" in text
    assert (more in text) if more else ("more events" not in text)


def test_a_summary_of_samples_that_are_gone(pushed):
    work = np.full_like(pushed.work, np.nan)
    text = replace(pushed, work=work, message="all of them broke down").summary()
    assert "work of the inputs - J" in text and "unexplained at most 0 J" in text
    assert text.endswith("all of them broke down")
    work = pushed.work.copy()
    work[1] = np.nan
    good = pushed.work[[0, 2], -1]
    assert f"{good.min():.6g} ... {good.max():.6g} J" in replace(pushed, work=work).summary()


def test_the_unexplained_energy_is_the_largest(alone):
    loss = alone.loss.copy()
    loss[4] -= 0.5
    assert replace(alone, loss=loss).unexplained == pytest.approx(0.5, abs=1e-4)
    loss[7] = np.nan
    assert replace(alone, loss=loss).unexplained == pytest.approx(0.5, abs=1e-4)


def test_energies_of_a_batch_of_gravities():
    """m g h with each sample's own g: a slider that stands upright, 2 kg, 0.3 m up."""
    joint = dynarm.Joint(kind="prismatic", mass=2.0, name="lift")
    model = dynarm.compile(dynarm.Arm([joint]), gravity="input")
    gravity = np.array([[0, 0, -9.81], [0, 0, -1.6], [0, 0, 0]])
    run = dynarm.simulate(model, [0.3], [1.0], 0.1, method="rk4", dt=0.01, gravity=gravity)
    fall = -gravity[:, None, 2]
    height = 0.3 + run.t - fall * run.t**2 / 2
    assert np.abs(run.q[:, :, 0] - height).max() <= 1e-13
    rise = run.potential - run.potential[:, :1]
    assert np.abs(rise - 2.0 * fall * (height - 0.3)).max() <= 1e-12
    assert np.abs(run.kinetic - (1 - fall * run.t) ** 2).max() <= 1e-12
    assert np.abs(run.energy - (2.0 * fall * 0.3 + 1)).max() <= 1e-12
    one = dynarm.simulate(model, [0.3], [1.0], 0.1, method="rk4", dt=0.01, gravity=gravity[1])
    assert np.array_equal(one.potential, run.potential[1])


def test_a_run_without_a_step_says_none():
    run = dynarm.simulate(dynarm.compile(rail()), [0.0], [1.0], 1.0)
    assert run.dt is None and "dop853, to t = 1 s" in run.summary()
    assert (
        run.evaluations > 0 and f"{run.steps} steps, {run.evaluations} evaluations" in run.summary()
    )
