"""Whether bodies are tried at all, by torques, and what counts as surely better: `identify.position.deciding`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm.identify.position.bodies import bodies_of
from dynarm.identify.position.deciding import _surely, looked
from dynarm.identify.position.loop import Loop, bare
from dynarm.identify.position.tracks import Track, widths_of

DELAY = 0.006
T = np.arange(0, 5, 0.002)
HEAD, TAIL = slice(0, 1750), slice(1750, None)
DRIVES = np.array(
    [[0.05, 0.5, 0.8, 0.3], [0.02, 0.3, 0.4, -0.2]]
)  # armature, viscous, coulomb, offset


def undriven() -> dynarm.Arm:
    arm = dynarm.load("two_link")
    return replace(arm, joints=tuple(replace(j, armature=0, friction=None) for j in arm.joints))


def heavier(arm: dynarm.Arm, factor: float) -> dynarm.Arm:
    """The same with another second link."""
    table = arm.parameters.copy()
    table[1] *= factor
    return arm.with_parameters(table)


def motion(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, qd, qdd (N, 2): three waves a joint."""
    rates, late = (
        np.array([[2.0, 3.1], [5.3, 4.1], [7.7, 9.0]]),
        np.array([[0, 1], [2, 0.5], [1, 3]]),
    )
    waves = [np.multiply.outer(t, w) + p for w, p in zip(rates, late, strict=True)]
    q = sum(0.2 * np.sin(x) for x in waves)
    qd = sum(0.2 * w * np.cos(x) for w, x in zip(rates, waves, strict=True))
    qdd = sum(-0.2 * w**2 * np.sin(x) for w, x in zip(rates, waves, strict=True))
    return q, qd, qdd


def looking(
    described: dynarm.Arm, true: dynarm.Arm, noise: float = 0.0, delay: float = DELAY, later: dynarm.Arm | None = None,
):  # fmt: skip
    """What a first look finds in a log whose commands give the true robot the torques of `motion`, and its bodies.

    later: what the robot truly is along the part that is left out.
    """
    kp, kd, late = np.array([80.0, 50]), np.array([4.0, 2]), T + DELAY
    states, ahead = motion(T), motion(late)
    friction = np.stack([ahead[2], ahead[1], np.sign(ahead[1]), np.ones_like(ahead[1])], axis=-1)
    torque = dynarm.compile(true).inverse_dynamics(*ahead) + (friction * DRIVES).sum(axis=-1)
    if later is not None:
        own = tuple(x[TAIL] for x in ahead)
        change = [dynarm.compile(arm).inverse_dynamics(*own) for arm in (later, true)]
        torque[TAIL] += change[0] - change[1]
    torque += noise * np.random.default_rng(0).normal(size=torque.shape)
    track = Track(T, states[0], ahead[0] + (torque + kd * ahead[1]) / kp, states)
    loop, bodies = Loop(bare(described), kp, kd, widths_of([track])), bodies_of(described)
    return looked(bodies, loop, [track.cut(HEAD)], [track.cut(TAIL)], delay), bodies


@pytest.mark.parametrize("factor", [0.6, 1.7])
def test_bodies_that_explain_unseen_torques_better_are_taken(factor):
    true = heavier(undriven(), factor)
    natural, bodies = looking(undriven(), true, noise=0.05)
    assert natural is not None
    values = [bodies.matrix @ x for x in (natural, true.parameters.ravel(), bodies.described)]
    told = np.abs(values[1] - values[2]) > 0.1
    told[0] = False  # inertia about the first axis, which armature does as well
    assert told.sum() >= 2
    assert np.allclose(values[0][told], values[1][told], rtol=0.02)
    q = np.random.default_rng(1).uniform(-2, 2, (50, 2))
    weights = [
        dynarm.compile(arm).gravity(q)
        for arm in (true, undriven().with_parameters(natural.reshape(-1, 10)), undriven())
    ]
    far = np.abs(weights[2] - weights[0]).max()
    assert np.abs(weights[1] - weights[0]).max() < 0.03 * far


@pytest.mark.parametrize("noise", [0.0, 0.05, 1.0])
def test_a_right_description_is_left_alone(noise):
    """Noise is there to be fitted, but not twice: what the first part draws bodies to is no use in the rest."""
    assert looking(undriven(), undriven(), noise)[0] is None


@pytest.mark.parametrize(("noise", "taken"), [(0.02, True), (60.0, False)])
def test_a_gain_below_noise_is_none(noise, taken):
    assert (looking(undriven(), heavier(undriven(), 1.1), noise)[0] is not None) == taken


def test_a_payload_that_is_put_down_is_none():
    """Bodies that explain the first part well, and the rest worse."""
    true = heavier(undriven(), 1.7)
    assert looking(undriven(), true, later=true)[0] is not None
    assert looking(undriven(), true, later=undriven())[0] is None


def test_commands_are_looked_at_when_they_take_effect():
    true = heavier(undriven(), 1.7)
    best = looking(undriven(), true)
    late = looking(undriven(), true, delay=0.0)
    far = [
        np.abs(bodies.matrix @ (natural - true.parameters.ravel()))[1:].max()
        for natural, bodies in (best, late)
    ]
    assert far[0] < 0.1 * far[1]


# ---- what is sure


def blocks(gains, size: float = 1e-4, joints: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Errors (blocks, n) before and after, of which each joint's logarithm is less by that part of a gain."""
    after = size * np.exp(np.random.default_rng(0).normal(0, 0.3, (len(gains), joints)))
    return after * np.exp(np.asarray(gains)[:, None] / joints), after


EVEN = 0.7 + 0.05 * np.sin(np.arange(12))
MIXED = 0.7 + 1.5 * np.cos(
    np.pi * np.arange(12)
)  # as much on average, and no better in every other block


@pytest.mark.parametrize(
    ("gains", "sure"),
    [
        (EVEN, True),
        (-EVEN, False),
        (MIXED, False),
        (EVEN - 0.5, False),  # surely, but by too little to matter
        (EVEN[:2], True),
        (np.zeros(12), False),
        ([5.0], False),  # one block has no scatter
    ],
    ids=["better", "worse", "scattered", "little", "two blocks", "the same", "one block"],
)
def test_what_is_surely_better(gains, sure):
    assert _surely(*blocks(gains)) is sure


def test_gains_of_joints_are_summed():
    before, after = (np.full((8, 2), 1e-4) for _ in range(2))
    after[:, 0] *= np.exp(-0.4)
    assert _surely(before, after)
    after[:, 1] *= np.exp(0.2)  # 0.2 in all, less than matters
    assert not _surely(before, after)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_rollouts_that_run_away_are_never_better_and_always_worse(bad):
    before, after = blocks(EVEN)
    for errors in (before, after):
        errors[3, 1] = bad
    fine = blocks(EVEN)
    assert not _surely(fine[0], after)
    assert _surely(before, fine[1])
    assert _surely(before, 1e3 * fine[0])  # whatever it leaves
    assert not _surely(before, after)


def test_errors_below_what_is_told_apart_are_alike():
    assert not _surely(np.full((8, 2), 1e-10), np.full((8, 2), 1e-14))
    assert not _surely(np.zeros((8, 2)), np.zeros((8, 2)))
