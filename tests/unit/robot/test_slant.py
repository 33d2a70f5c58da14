"""Both rotations of a step at once (robot.chain.Slant): inverse, equal to the two, cheaper, and absent where stated."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dynarm import Arm, Joint
from dynarm.algebra.vectors import Turn, Vec3
from dynarm.graph.graph import Port
from dynarm.graph.trace import trace_function
from dynarm.robot.frames.chain import Slant, chain_of, pose

QUARTER = math.pi / 2
SAMPLES = 50
RNG = np.random.default_rng(7)
# anything, around the quarter turns, and around 45 degrees, where the larger of cos and sin changes
ALPHAS = {
    **{f"{x:.3f}": x for x in RNG.uniform(-math.pi, math.pi, 12).tolist()},
    **{
        f"{k} quarters {d:+g}": k * QUARTER + d
        for k in range(-1, 3)
        for d in (1e-2, -1e-4, 1e-6, -1e-7)
    },
    **{
        f"{k} eighths {d:+g}": k * QUARTER / 2 + d
        for k in (-3, -1, 1, 3)
        for d in (0.0, 1e-9, -1e-9)
    },
}
CLOSE = 8 * np.finfo(float).eps  # a few roundings of numbers of size 1


def turns(alpha, theta):
    """Rx(alpha) and Rz(theta), theta a number or a batch."""
    about_x = Turn("x", math.cos(alpha), math.sin(alpha))
    return about_x, Turn("z", np.cos(theta), np.sin(theta))


def arrays(v: Vec3) -> np.ndarray:
    return np.stack(np.broadcast_arrays(*v))


@pytest.mark.parametrize("alpha", ALPHAS.values(), ids=ALPHAS)
def test_it_equals_the_two_plane_rotations_and_rise_undoes_fall(alpha):
    rng = np.random.default_rng(1)
    about_x, about_z = turns(alpha, rng.uniform(-math.pi, math.pi, SAMPLES))
    slant = Slant.of(about_x, about_z)
    assert slant is not None
    v = Vec3(*rng.uniform(-1, 1, (3, SAMPLES)))
    fallen, risen = slant.fall(v), slant.rise(v)
    plain_fallen, plain_risen = about_x.fall(about_z.fall(v)), about_z.rise(about_x.rise(v))
    np.testing.assert_allclose(arrays(fallen), arrays(plain_fallen), rtol=0, atol=CLOSE)
    np.testing.assert_allclose(arrays(risen), arrays(plain_risen), rtol=0, atol=CLOSE)
    for back in (slant.rise(fallen), slant.fall(risen)):
        np.testing.assert_allclose(arrays(back), arrays(v), rtol=0, atol=CLOSE)


@pytest.mark.parametrize("theta", [0.0, QUARTER, math.pi, -QUARTER, 0.6])
def test_constant_turns_of_a_sliding_joint(theta):
    """A translational joint's theta is a number, often a whole quarter: its products fold away."""
    chain = chain_of(Arm([Joint(), Joint("prismatic", alpha=0.8, theta=theta, a=0.1)]))
    step = pose(chain, [0.0, 0.3])[1]
    v = Vec3(0.2, -0.7, 0.4)
    assert step.slant is not None
    np.testing.assert_allclose(list(step.slant.fall(v)), list(step.fall(v)), atol=CLOSE)
    np.testing.assert_allclose(list(step.slant.rise(v)), list(step.rise(v)), atol=CLOSE)


@pytest.mark.parametrize("alpha", [0.4, 1.2], ids=["cos larger", "sin larger"])
@pytest.mark.parametrize("way", ["rise", "fall"])
def test_seven_multiplications_and_four_additions_a_vector(alpha, way):
    """Two more products are formed once for all vectors; two plane rotations take eight and four."""

    def rotated(q, v, vectors, whole):
        chain = chain_of(Arm([Joint(), Joint(alpha=alpha)]))
        step = pose(chain, [0, q[0]])[1]
        rotation = getattr(step.whole if whole else step, way)
        return [list(rotation(Vec3(*v[3 * k : 3 * k + 3]))) for k in range(vectors)]

    for vectors in (1, 2, 3, 10):
        size = 3 * vectors
        ports = [Port("q", (1,)), Port("v", (size,))], [Port("w", (size,))]
        for whole, formed, each in ((True, 2, 7), (False, 0, 8)):
            found = trace_function(
                *ports, lambda q, v, n=vectors, w=whole: rotated(q, v, n, w)
            ).count()
            assert (found.mul, found.add) == (formed + each * vectors, 4 * vectors)


def test_there_is_none_for_whole_quarters_and_for_twists_that_are_no_numbers():
    about_z = Turn("z", 0.6, 0.8)
    for c, s in ((1, 0), (0, 1), (-1, 0), (0, -1), (1.0, 0.0), (0.0, -1.0)):
        assert Slant.of(Turn("x", c, s), about_z) is None
    batch = np.array([0.1, 0.2])
    assert Slant.of(Turn("x", np.cos(batch), np.sin(batch)), about_z) is None
    assert Slant.of(Turn("x", np.float64(0.6), np.float64(0.8)), about_z) is None
    seen = []

    def symbolic(angle):
        seen.append(Slant.of(Turn("x", angle[0].cos(), angle[0].sin()), about_z))
        return angle

    trace_function([Port("alpha", (1,))], [Port("same", (1,))], symbolic)
    assert seen == [None]
    assert Slant.of(Turn("x", math.cos(1e-9), math.sin(1e-9)), about_z) is None  # its cosine is 1
    assert Slant.of(Turn("x", math.cos(1e-7), math.sin(1e-7)), about_z) is not None


def test_steps_with_a_third_rotation_have_none():
    chain = chain_of(Arm([Joint(), Joint(alpha=0.8, beta=0.02)]))
    step = pose(chain, [0.0, 0.3])[1]
    assert len(step.turns) == 3 and step.slant is None and step.whole is step
