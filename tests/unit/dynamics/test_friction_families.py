"""Lists of friction terms: forces of one by formulas written once more, records of coefficients, states along a log."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm import Coupled, DynarmError, Friction
from dynarm.dynamics.drive import (
    FAMILIES,
    Instant,
    Neighbour,
    columns,
    force_at,
    pieces,
    shaped,
    stand_in,
    with_coefficients,
)
from dynarm.dynamics.stops import stop_states
from dynarm.graph.graph import Port
from dynarm.graph.trace import trace_function

RNG = np.random.default_rng(3)
FULL = Friction(
    viscous=0.4,
    coulomb=0.7,
    offset=0.1,
    shape="tanh",
    width=0.05,
    curve=((0.02, 0.3), (0.5, -0.2)),
    presliding=((1e-3, 0.6), (2e-2, 0.25)),
    load_curve=((0.1, 0.04),),
    load_presliding=((2e-2, 0.05),),
    ripple=((7.0, 0.2, -0.1),),
    coupling=(Coupled(1, 0.03, 0.2, 0.4, 0.06, ((4e-3, 0.35),)),),
)
N = 300
V, Q, A, R, VI, QI, AI = RNG.normal(size=(7, N))
X = {1e-3: RNG.uniform(-1e-3, 1e-3, N), 2e-2: RNG.uniform(-2e-2, 2e-2, N)}
XI = {4e-3: RNG.uniform(-4e-3, 4e-3, N)}


def guessed(v, a, d):
    """The stand-in with its branches."""
    with np.errstate(divide="ignore", invalid="ignore"):
        turned = np.sign(v) * np.clip(v * v / (2 * np.abs(a) * d) - 1, -1, 1)
    return np.where(v * a > 0, turned, np.sign(v))


def by_hand(x1, x2, x3):
    """The force of FULL, its elements deflected by these parts of their strokes."""
    plain = 0.4 * V + 0.7 * np.tanh(V / 0.05) + 0.1
    curve = 0.3 * np.tanh(V / 0.02) - 0.2 * np.tanh(V / 0.5)
    load = np.abs(R) * (0.04 * np.tanh(V / 0.1) + 0.05 * x2)
    ripple = 0.2 * np.sin(7 * Q) - 0.1 * np.cos(7 * Q)
    coupling = 0.03 * AI + 0.2 * VI + 0.4 * np.tanh((V + VI) / 0.06) + 0.35 * x3
    return plain + curve + 0.6 * x1 + 0.25 * x2 + load + ripple + coupling


def test_forces_with_a_state_without_one_and_slipped():
    kept = Instant(V, Q, A, R, X, {1: Neighbour(VI, QI, AI, XI)})
    wanted = by_hand(X[1e-3] / 1e-3, X[2e-2] / 2e-2, XI[4e-3] / 4e-3)
    np.testing.assert_allclose(force_at(FULL, kept), wanted, rtol=1e-12, atol=1e-12)
    without = Instant(V, Q, A, R, None, {1: Neighbour(VI, QI, AI)})
    guess = [guessed(V, A, 1e-3), guessed(V, A, 2e-2), guessed(V + VI, A + AI, 4e-3)]
    np.testing.assert_allclose(force_at(FULL, without), by_hand(*guess), rtol=1e-12, atol=1e-12)
    slipped = Instant(V, Q, None, R, None, {1: Neighbour(VI, QI)})
    gone = by_hand(*([np.tanh(V / 0.05)] * 2), np.tanh((V + VI) / 0.05)) - 0.03 * AI
    np.testing.assert_allclose(force_at(FULL, slipped), gone, rtol=1e-12, atol=1e-12)


def test_columns_times_coefficients_are_the_force():
    at = Instant(V, Q, A, R, X, {1: Neighbour(VI, QI, AI, XI)})
    held = pieces(FULL)
    assert {p.family for p in held} == set(FAMILIES) and len({p.name for p in held}) == len(held)
    listed = sum(p.coefficient * c for p, c in zip(held, columns(FULL, at), strict=True))
    rest = 0.4 * V + 0.7 * np.tanh(V / 0.05) + 0.1
    np.testing.assert_allclose(listed + rest, force_at(FULL, at), rtol=1e-12, atol=1e-12)
    values = RNG.normal(size=len(held))
    other = with_coefficients(FULL, values)
    np.testing.assert_array_equal([p.coefficient for p in pieces(other)], values)
    assert [p.name for p in pieces(other)] == [p.name for p in held]
    assert with_coefficients(other, [p.coefficient for p in held]) == FULL
    assert shaped(FULL) == Friction(shape="tanh", width=0.05)


@pytest.mark.parametrize("v", [0.0, 1e-200, -1e-9, 0.3, -4.0])
@pytest.mark.parametrize("a", [0.0, 1e-200, -1e-12, 1e-3, -20.0])
def test_stand_in_at_its_ends(v, a):
    """No division by nothing, no loss of digits where one of the two is small."""
    made = stand_in(np.array(v), np.array(a), 1e-3)
    assert np.isfinite(made) and abs(made) <= 1 + 1e-15
    if v * v > 1e-300:
        assert made == pytest.approx(float(guessed(np.array(v), np.array(a), 1e-3)), abs=1e-14)


def test_stand_in_as_a_graph():
    ports = [Port("v", (1,)), Port("a", (1,))], [Port("z", (1,))]
    graph = trace_function(*ports, lambda v, a: [stand_in(v[0], a[0], 0.1)])
    (made,) = graph.evaluate(V[:, None], A[:, None])
    np.testing.assert_allclose(made[:, 0], guessed(V, A, 0.1), atol=1e-14)


@pytest.mark.parametrize("count", [1, 2, 3, 50, 1000, 1021])
def test_states_along_a_log(count):
    strokes = np.array([3e-4, 1e-2, 0.3])
    q = np.cumsum(RNG.normal(size=count) * 1e-2)
    starts = [count // 3, count // 2] if count > 10 else []
    x, wanted = np.zeros(3), np.zeros((count, 3))
    for i in range(1, count):
        x = np.zeros(3) if i in starts else np.clip(x + q[i] - q[i - 1], -strokes, strokes)
        wanted[i] = x
    np.testing.assert_allclose(stop_states(q, strokes, starts), wanted, atol=1e-14)
    paired = stop_states(np.column_stack([q, 2 * q, q]), strokes, starts)
    np.testing.assert_allclose(paired[:, [0, 2]], wanted[:, [0, 2]], atol=1e-14)
    assert count < 10 or np.abs(paired[:, 1] - wanted[:, 1]).max() > 1e-3


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"curve": ((0.0, 1.0),)}, r"curve\[0\] has the width 0.0"),
        ({"presliding": ((1e-3, 1.0), (-1e-3, 1.0))}, r"presliding\[1\] has the stroke -0.001"),
        ({"load_curve": ((0.1, float("nan")),)}, "load_curve"),
        ({"load_presliding": (1e-3, 1.0)}, r"load_presliding\[0\] is 0.001; give \(stroke"),
        ({"ripple": ((0, 1, 1),)}, r"ripple\[0\] has the order 0.0"),
        ({"ripple": ((3, 1),)}, "sine, cosine"),
        ({"curve": "wide"}, "friction curve is 'wide'"),
        ({"coupling": Coupled(1)}, "give a list"),
        ({"coupling": [1]}, "dynarm.Coupled"),
        ({"coupling": [Coupled(1), Coupled(1)]}, "twice"),
    ],
)
def test_records_refuse(given, words):
    with pytest.raises(DynarmError, match=words):
        Friction(**given)


def test_coupled_refuses():
    for given, words in (({"joint": 1.5}, "index or name"), ({"joint": 1, "width": 0}, "positive")):
        with pytest.raises(DynarmError, match=words):
            Coupled(**given)


def coupled_arm(**more):
    joints = [dynarm.Joint(a=1.0, mass=1.0, friction=Friction(**more)), dynarm.Joint(mass=1.0)]
    return dynarm.Arm(joints)


def test_arms_keep_the_index_and_files_the_name(tmp_path):
    assert coupled_arm(coupling=[Coupled("joint2")]) == coupled_arm(coupling=[Coupled(1)])
    for other, words in (("elbow", "elbow"), (2, "joints 0 to 1"), (0, "itself")):
        with pytest.raises(DynarmError, match=words):
            coupled_arm(coupling=[Coupled(other)])
    fields = ("curve", "presliding", "load_curve", "load_presliding", "ripple", "coupling")
    arm = coupled_arm(**{key: getattr(FULL, key) for key in fields})
    arm.save(tmp_path / "arm.toml")
    assert 'joint = "joint2"' in (tmp_path / "arm.toml").read_text()
    assert dynarm.load(tmp_path / "arm.toml") == arm


def test_models_hold_curves():
    q, qd, qdd = RNG.normal(size=(3, 50, 2))
    rigid = dynarm.compile(coupled_arm(), friction=True).inverse_dynamics(q, qd, qdd)
    curved = dynarm.compile(coupled_arm(curve=FULL.curve), friction=True)
    wanted = rigid.copy()
    wanted[:, 0] += 0.3 * np.tanh(qd[:, 0] / 0.02) - 0.2 * np.tanh(qd[:, 0] / 0.5)
    np.testing.assert_allclose(curved.inverse_dynamics(q, qd, qdd), wanted, atol=1e-12)
