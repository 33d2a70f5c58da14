"""Friction as it is written: forces by direction, columns of one, and what they cost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynarm import Coupled, DynarmError, Friction
from dynarm.dynamics.drive import TERMS, Instant, friction_force, jumping, shaped, without
from dynarm.graph.graph import Port
from dynarm.graph.trace import trace_function

SPEEDS = np.array([-3.0, -0.5, -0.01, 0.0, 0.01, 0.4, 2.0])
SHARP = Friction(0.7, 1.1, 0.2)
SMOOTH = replace(SHARP, shape="tanh", width=0.3)
LEANING = replace(SHARP, viscous_negative=0.4, coulomb_negative=1.5)
LEANING_SMOOTH = replace(SMOOTH, viscous_negative=0.4, coulomb_negative=1.5)
RECORDS = (SHARP, SMOOTH, LEANING, LEANING_SMOOTH)


def by_hand(f, v):
    """The force written with branches."""
    viscous = f.viscous if v > 0 or f.viscous_negative is None else f.viscous_negative
    coulomb = f.coulomb if v > 0 or f.coulomb_negative is None else f.coulomb_negative
    return (
        viscous * v
        + coulomb * (np.sign(v) if f.shape == "sign" else np.tanh(v / f.width))
        + f.offset
    )


@pytest.mark.parametrize("friction", RECORDS)
def test_forces_by_direction(friction):
    wanted = [by_hand(friction, v) for v in SPEEDS]
    np.testing.assert_allclose(friction_force(friction, SPEEDS), wanted, rtol=1e-14)
    np.testing.assert_allclose(
        [friction_force(friction, float(v)) for v in SPEEDS], wanted, rtol=1e-14
    )
    assert friction_force(None, SPEEDS) == 0 and friction_force(Friction(), SPEEDS) == 0


@pytest.mark.parametrize("friction", RECORDS)
def test_coefficients_times_columns_of_one_are_the_force(friction):
    force, at = np.zeros(len(SPEEDS)), Instant(SPEEDS)
    for term in TERMS.values():
        for name, one in term.unknowns(True).items():
            value = term.coefficients(friction)[int(name.endswith("_negative"))]
            force += value * term.both_ways(shaped(friction), at, *one)
    np.testing.assert_allclose(force, friction_force(friction, SPEEDS), rtol=1e-14)


@pytest.mark.parametrize(
    ("friction", "wanted"),
    [
        (Friction(), {}),
        (Friction(0.7), {"mul": 1}),
        (Friction(0.0, 1.0), {"sign": 1}),
        (SHARP, {"mul": 2, "add": 2, "sign": 1}),
        (SMOOTH, {"mul": 3, "add": 2, "tanh": 1}),
        (replace(SHARP, viscous_negative=0.4), {"mul": 3, "add": 3, "sign": 1, "abs": 1}),
        (LEANING, {"mul": 4, "add": 4, "sign": 1, "abs": 2}),
        (LEANING_SMOOTH, {"mul": 5, "add": 4, "tanh": 1, "abs": 2}),
    ],
)
def test_operations(friction, wanted):
    """A term without a coefficient costs nothing, a coefficient of one no product."""
    ports = [Port("v", (1,))], [Port("f", (1,))]
    graph = trace_function(*ports, lambda v: [friction_force(friction, v[0])])
    done = {
        op: sum(node.op == op for node in graph.nodes)
        for op in ("mul", "add", "sign", "tanh", "abs")
    }
    done["add"] += sum(node.op == "sub" for node in graph.nodes)
    assert {op: k for op, k in done.items() if k} == wanted


def test_what_jumps_at_rest_can_be_left_out():
    assert [t.name for t in jumping(SHARP)] == ["coulomb"] and not jumping(SMOOTH)
    assert without(LEANING, jumping(LEANING)) == Friction(0.7, 0.0, 0.2, viscous_negative=0.4)
    assert shaped(LEANING_SMOOTH, width=0.5) == Friction(shape="tanh", width=0.5)
    assert shaped(None) == Friction()


@pytest.mark.parametrize(
    "key", ["presliding", "load_curve", "load_presliding", "coupling", "ripple"]
)
def test_what_knows_velocities_only_refuses_the_rest(key):
    """Robots on wheels would leave it out in silence."""
    entry = {"coupling": Coupled(1), "ripple": (3.0, 0.1, 0.2)}.get(key, (0.01, 0.2))
    with pytest.raises(DynarmError, match="depends on more than a velocity"):
        friction_force(Friction(**{key: [entry]}), 0.3)
    assert friction_force(Friction(viscous=2.0), 0.3) == pytest.approx(0.6)
