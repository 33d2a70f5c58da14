"""Turns of tensors, structural zeros and sliding origins: what the papers' economy rests on."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dynarm import Arm, Joint
from dynarm.algebra.vectors import Sym3, Turn, Vec3, double, is_zero
from dynarm.graph.graph import Builder, Port, Symbol
from dynarm.graph.trace import trace_function
from dynarm.robot.frames.chain import chain_of, difference, pose, slid

TENSOR = (1.0, 0.2, 3.0, -0.4, 0.5, 6.0)


def matrix(J: Sym3) -> np.ndarray:
    return np.array([[float(x) for x in row] for row in J.full().rows])


@pytest.mark.parametrize("axis", "xyz")
@pytest.mark.parametrize("c, s", [(1, 0), (-1, 0), (0, 1), (0, -1), (0.6, 0.8), (0.8, -0.6)])
def test_tensor_turns_as_its_matrix_does(axis, c, s):
    turn, J = Turn(axis, c, s), Sym3(*TENSOR)
    R = np.array([[float(x) for x in row] for row in turn.matrix.rows])
    np.testing.assert_allclose(matrix(turn.fall_sym(J)), R @ matrix(J) @ R.T, atol=1e-15)
    np.testing.assert_allclose(matrix(turn.rise_sym(J)), R.T @ matrix(J) @ R, atol=1e-15)


@pytest.mark.parametrize("axis", "xyz")
@pytest.mark.parametrize("c, s", [(1, 0), (-1, 0), (0, 1), (0, -1)])
def test_quarter_turns_of_a_tensor_are_free(axis, c, s):
    graph = trace_function(
        [Port("J", (6,))], [Port("K", (6,))], lambda J: list(Turn(axis, c, s).fall_sym(Sym3(*J)))
    )
    assert graph.count().total == 0


def test_oblique_turn_of_a_tensor_costs_eight_and_seven():
    turn = Turn("x", 0.6, 0.8)
    graph = trace_function(
        [Port("J", (6,))], [Port("K", (6,))], lambda J: list(turn.fall_sym(Sym3(*J)))
    )
    assert (graph.count().mul, graph.count().add) == (8, 7)


def test_double_is_absorbed_by_a_number():
    build = Builder()
    x = Symbol(build, build.input(0, 0))
    for product in (double(x, 3.0), double(3.0, x)):
        assert build.nodes[product.ref.node].op == "mul"
        assert [
            build.nodes[a].value
            for a in build.nodes[product.ref.node].args
            if build.nodes[a].op == "const"
        ] == [6.0]


def test_structural_zeros():
    assert is_zero(0) and is_zero(0.0) and not is_zero(1e-300) and not is_zero(np.zeros(3))
    assert difference(0.1 + 0.2, 0.3) == 0
    assert difference(0.3, 0.2) == pytest.approx(0.1)
    assert difference(np.ones(2), 1.0).tolist() == [0.0, 0.0]


def test_slid_origins_stand_where_the_frames_say():
    """Every link's mass properties and the tool stay where they were."""
    joints = [
        Joint(mass=1.0, com=(0.1, 0.2, 0.3), inertia=np.diag([1, 2, 2.5])),
        Joint(
            a=0.3,
            d=0.4,
            theta=0.2,
            alpha=math.pi / 2,
            mass=2.0,
            com=(0.3, 0.1, -0.2),
            inertia=np.eye(3),
        ),
        Joint(a=0.2, d=0.5, alpha=math.pi, mass=3.0, com=(0, 0.1, 0.2), inertia=np.diag([2, 2, 1])),
        Joint("prismatic", a=0.1, d=0.7, theta=0.4, mass=1.5, com=(0.2, 0, 0), inertia=np.eye(3)),
        Joint(a=0.6, d=0.8, alpha=0.7, mass=0.5, com=(0, 0, 0.3), inertia=np.eye(3)),
    ]
    chain = chain_of(Arm(joints))
    q = [0.3, -0.4, 0.5, 0.6, 0.7]
    moved, steps, back = slid(chain, pose(chain, q))
    assert [s.d for s in steps] == [0, 0, 0, pytest.approx(1.3 + 0.5 - 0.4), 0]
    assert back == 0.8

    def centres(arm, given):
        T, found = np.eye(4), []
        for body, step in zip(arm.joints, given, strict=True):
            S = np.eye(4)
            S[:3, :3] = [[float(x) for x in row] for row in step.R.rows]
            S[:3, 3] = [float(x) for x in step.s]
            T = T @ S
            found.append(T @ [*(float(x) / body.m for x in body.h), 1.0])
        return np.array(found)

    np.testing.assert_allclose(centres(moved, steps), centres(chain, pose(chain, q)), atol=1e-15)


SLANTS = [0.3, 0.785398, 0.7853982, 1.2, 1.57, -0.4, 2.5, -2.0, 1e-3, 3.14]


@pytest.mark.parametrize("alpha", SLANTS)
def test_both_turns_of_a_step_at_once(alpha):
    """The vectors that two plane rotations give, to rounding, also where one of cos and sin is small."""
    chain = chain_of(Arm([Joint(), Joint(a=0.2, alpha=alpha, d=0.1)]))
    step = pose(chain, [0.0, 0.7])[1]
    assert step.whole is step.slant
    v = Vec3(0.3, -1.2, 0.7)
    for plain, whole in ((step.rise(v), step.whole.rise(v)), (step.fall(v), step.whole.fall(v))):
        np.testing.assert_allclose(list(whole), list(plain), rtol=0, atol=5e-16)


@pytest.mark.parametrize("vectors", [1, 5])
def test_a_slant_takes_seven_multiplications_a_vector(vectors):
    chain = chain_of(Arm([Joint(), Joint(a=0.2, alpha=0.9, d=0.1)]))

    def rotated(q, v):
        step = pose(chain, [0, q[0]])[1]
        return [list(step.whole.fall(Vec3(*v[3 * k : 3 * k + 3]))) for k in range(vectors)]

    ports = [Port("q", (1,)), Port("v", (3 * vectors,))]
    found = trace_function(ports, [Port("w", (3 * vectors,))], rotated).count()
    assert (found.mul, found.add) == (2 + 7 * vectors, 4 * vectors)


@pytest.mark.parametrize("alpha", [0.0, math.pi / 2, -math.pi / 2, math.pi])
def test_quarter_twists_need_no_slant(alpha):
    chain = chain_of(Arm([Joint(), Joint(alpha=alpha)]))
    step = pose(chain, [0.0, 0.7])[1]
    assert step.slant is None and step.whole is step
