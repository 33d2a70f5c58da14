"""Any system can be moved: one with more coordinates than speeds, kept where it belongs after each step."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from dynarm.algebra.vectors import add, mul, sqrt
from dynarm.simulation.adaptive import AdaptiveIntegration, Settings
from dynarm.simulation.fixed import Integration
from dynarm.simulation.inputs import source_of
from dynarm.simulation.system import Layout, compiled, put_back

SPIN, TORQUE = 2.0, 0.5


def on_the_circle(q):
    size = sqrt(add(mul(q[0], q[0]), mul(q[1], q[1])))
    return [x / size for x in q]


@dataclass(frozen=True, eq=False)
class Rotor:
    """A wheel of inertia 1 kg m^2 by cosine and sine of its angle: two coordinates, one speed, drag on the axle."""

    keeps: bool = True  # coordinates are put back on the circle
    drag: float = 0.0
    known: dict = field(default_factory=dict)
    layout = Layout(2, 1, 1)
    extras = ()
    speed_limits = (1.0,)
    linear = None
    memory = None

    @property
    def normalised(self):
        return on_the_circle if self.keeps else None

    def flow(self):
        def rates(x, tau, push):
            c, s, w = x[:3]
            lost = mul(self.drag, w)
            return [-mul(s, w), mul(c, w), add(tau[0], -lost), mul(tau[0], w), mul(lost, w)]

        return rates

    def compiled(self, name, inputs, outputs, body):
        recipe = ("rotor", self.keeps, self.drag)
        return compiled(self.known, (name,), recipe, (inputs, outputs), body)

    def switching(self, slack):
        return None

    def mass_matrix(self, q):
        return np.ones((*q.shape[:-1], 1, 1))

    def sample(self, k):
        return self


def stepped(system, method, dt, t_end=3.0, lead=(), torque=TORQUE):
    q0, w0 = np.broadcast_to([1.0, 0.0], (*lead, 2)), np.full((*lead, 1), SPIN)
    given = torque if callable(torque) else np.full((*lead, 1), torque)
    force = source_of(given, (*lead, 1), "torque")
    return Integration(system, force, None, 1).over(t_end, dt, method, 1, q0, w0, None)[0]


def angle(t):
    return SPIN * t + TORQUE * t**2 / 2


def sizes(x):
    return np.hypot(x[..., 0], x[..., 1])


@pytest.mark.parametrize("method", ["rk4", "ab4"])
@pytest.mark.parametrize("lead", [(), (5,)])
def test_steps_end_on_the_circle(method, lead):
    run, free = (stepped(Rotor(keeps), method, 0.05, lead=lead) for keeps in (True, False))
    assert np.abs(sizes(run.x) - 1).max() < 1e-14 < 1e-7 < np.abs(sizes(free.x) - 1).max()
    assert run.x.shape == (61, *lead, 5)
    turned = np.unwrap(np.arctan2(run.x[..., 1], run.x[..., 0]), axis=0)
    assert np.abs(turned - angle(run.t).reshape(-1, *[1] * len(lead))).max() < 2e-3
    assert np.allclose(run.x[..., 2], (SPIN + TORQUE * run.t).reshape(-1, *[1] * len(lead)))


def test_steps_with_a_torque_of_the_state_end_there_too():
    def follow(t, q, w):
        assert q.shape == (2,) and w.shape == (1,)
        return [TORQUE]

    run, plain = (stepped(Rotor(), "rk4", 0.05, torque=torque) for torque in (follow, TORQUE))
    assert np.abs(sizes(run.x) - 1).max() < 1e-14
    assert np.abs(run.x - plain.x).max() < 1e-12


@pytest.mark.parametrize("method", ["dop853", "radau", "lsoda"])
def test_adaptive_runs_are_kept_on_the_circle(method):
    settings = Settings(method, 1e-5, 1e-7, np.inf, 10_000, ())
    runs = []
    for keeps in (True, False):
        force = source_of([TORQUE], (1,), "torque")
        run = AdaptiveIntegration(Rotor(keeps, 0.1), force, None, settings)
        assert run.run(np.array([1.0, 0.0]), np.array([SPIN]), 3.0, None) == ("success", "")
        runs.append(run)
    for times in (None, np.linspace(0, 3, 50)):
        kept, free = (run.record(times, "success", "") for run in runs)
        assert np.abs(sizes(kept.x) - 1).max() < 1e-14 < np.abs(sizes(free.x) - 1).max()
    energy = kept.x[:, 2] ** 2 / 2
    balance = energy - energy[0] - kept.x[:, 3] + kept.x[:, 4]
    assert np.abs(balance).max() < 1e-3 and kept.x[-1, 4] > 0.5


def test_a_run_begins_anew_where_it_is_told_to():
    seen = []

    def slowed(x):
        seen.append(x[2])
        x = x.copy()
        x[2] /= 2
        return x

    force = source_of([0.0], (1,), "torque")
    settings = Settings("dop853", 1e-9, 1e-9, np.inf, 100, (), halts=(1.0, 2.0), corrected=slowed)
    run = AdaptiveIntegration(Rotor(), force, None, settings)
    assert run.run(np.array([1.0, 0.0]), np.array([SPIN]), 3.0, None)[0] == "success"
    assert np.allclose(seen, [2.0, 1.0, 0.5]) and run.states[-1][2] == pytest.approx(0.25)
    q, w = run.path(np.array([0.5, 1.5, 2.5]))
    assert np.allclose(w[:, 0], [2.0, 1.0, 0.5])
    assert np.allclose(np.arctan2(q[:, 1], q[:, 0]), [1.0, 2.5, np.angle(np.exp(3.25j))])


def test_states_whose_coordinates_are_any_numbers_are_left_alone():
    x = np.array([[3.0, 4.0, 1.0, 0.0, 0.0]])
    assert put_back(Rotor(False), x) is x
    assert put_back(Rotor(), x).tolist() == [[0.6, 0.8, 1.0, 0.0, 0.0]] and x[0, 0] == 3.0
