"""A second opinion on whole robots: MuJoCo's mj_rne and mj_fullM, which share no code with pinocchio."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from oracles.batches import relative
from oracles.mujoco_tree import MujocoTree
from oracles.scene_numbers import numbers_of, scene_of
from strategies import random_tree, sample_trees, whole_state

TOLERANCE = 1e-12  # |error| <= TOLERANCE * max(1, |reference|max)
TREES = 48  # a dozen of each: fixed, floating, with followers, and both


@pytest.mark.parametrize("k", range(TREES))
def test_random_trees(k):
    (arm,) = sample_trees(83, 1, (1, 2, 3, 5, 8, 13, 21), k, massless=0.0)
    twin, s = MujocoTree.of(arm), whole_state(np.random.default_rng(k), arm)
    scene = scene_of(arm, {x: s[x] for x in ("q", "qd", "qdd")})
    (tau,), (M,) = (numbers_of(scene, word) for word in ("inverse_dynamics", "mass_matrix"))
    assert relative(tau, twin.inverse_dynamics(s["q"], s["qd"], s["qdd"])) <= TOLERANCE
    assert relative(M, twin.mass_matrix(s["q"])) <= TOLERANCE


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
def test_machine_code(floating):
    arm = random_tree(np.random.default_rng(5), 5, near=0.3, mimic=1, floating=floating)
    assert arm.branched
    model, twin = dynarm.compile(arm), MujocoTree.of(arm)
    s = whole_state(np.random.default_rng(1), arm)
    state = s["q"], s["qd"], s["qdd"]
    assert relative(model.inverse_dynamics(*state), twin.inverse_dynamics(*state)) <= TOLERANCE
    assert relative(model.mass_matrix(s["q"]), twin.mass_matrix(s["q"])) <= TOLERANCE
