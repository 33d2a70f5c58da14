"""Many calls of a gufunc in a row: the same as calls from Python, operand by operand."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import dynarm
from dynarm.machine.load.engine import LoadedCode
from dynarm.machine.load.march import March, _march
from dynarm.simulation.integrators import rk4_step
from dynarm.simulation.plant import Plant
from dynarm.simulation.system import rates

COUNT = 17


@pytest.fixture(scope="module")
def step(two_link):
    return rk4_step(Plant(two_link))


def by_hand(step, x, tau, h):
    rows = [x]
    for k in range(COUNT):
        rows.append(step.ufunc(rows[-1], tau[k], tau[k], tau[k], h))
    return np.array(rows)


@pytest.mark.parametrize("samples", [None, 1, 5, 19])
@pytest.mark.parametrize("fallback", [False, True])
def test_march_is_repetition(step, samples, fallback, monkeypatch):
    lead = () if samples is None else (samples,)
    rng = np.random.default_rng(0)
    x = np.zeros((COUNT + 1, *lead, 6))
    x[0, ..., :4] = rng.uniform(-1, 1, (*lead, 4))
    tau, h = rng.normal(size=(COUNT, 2)), np.array(0.01)  # moves on in time, shared by the batch
    want = by_hand(step, x[0], tau, h)
    march = March(step.ufunc, step.cores)
    if fallback:
        monkeypatch.setattr(march, "run", None)
    operands = [x[0], tau[0], tau[0], tau[0], h, x[1]]
    march(operands, [x.strides[0], *[tau.strides[0]] * 3, 0, x.strides[0]], COUNT, samples)
    assert np.array_equal(x, want)


def test_a_march_keeps_its_code_where_another_thread_made_it_too(step, monkeypatch):
    """Threads that come first at once compile it twice, and the cache keeps the code of one of them."""
    monkeypatch.setattr("dynarm.machine.load.march._march", _march.__wrapped__)
    living = []
    real = LoadedCode.__init__
    monkeypatch.setattr(
        LoadedCode,
        "__init__",
        lambda code, tracker: living.append(weakref.ref(code)) or real(code, tracker),
    )
    march = March(step.ufunc, step.cores)
    gc.collect()
    assert living[0]() is not None
    del march
    gc.collect()
    assert living[0]() is None


def test_march_over_strided_memory(step):
    """Rows inside a larger array, samples at a stride: nothing beside them is touched."""
    rng = np.random.default_rng(1)
    big = np.full((COUNT + 1, 7, 11), 5.0)
    x = big[:, ::2, 3:9]
    x[0] = rng.uniform(-1, 1, (4, 6))
    tau = np.zeros((COUNT, 2))
    want = by_hand(step, x[0].copy(), tau, np.array(0.01))
    step(
        [x[0], tau[0], tau[0], tau[0], np.array(0.01), x[1]],
        [big.strides[0], 0, 0, 0, 0, big.strides[0]],
        COUNT,
        4,
    )
    assert np.array_equal(x, want)
    rest = np.ones_like(big, bool)
    rest[:, ::2, 3:9] = False
    assert (big[rest] == 5.0).all()


def test_nothing_to_do(step):
    x = np.ones((2, 6))
    step([x[0], np.zeros(2), np.zeros(2), np.zeros(2), np.array(0.1), x[1]], [0] * 6, 0)
    assert (x == 1).all()


def test_rates_are_the_models(two_link):
    rng = np.random.default_rng(2)
    q, qd, tau = rng.normal(size=(3, 9, 2))
    found = rates(Plant(two_link))(np.concatenate([q, qd, np.zeros((9, 2))], axis=1), tau)
    want = np.concatenate([qd, two_link.forward_dynamics(q, qd, tau)], axis=1)
    assert np.abs(found[:, :4] - want).max() <= 1e-12 * np.abs(want).max()
    assert (
        np.abs(found[:, 4] - (tau * qd).sum(axis=1)).max() <= 1e-14 * 10 and not found[:, 5].any()
    )


def test_models_die_with_their_kernels():
    """The kernels that a model's runs have compiled do not keep the model alive."""
    import gc
    import weakref

    model = dynarm.compile(dynarm.load("two_link"))
    dynarm.simulate(model, [0, 0], [0, 0], 0.1, method="rk4", dt=0.01)
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None
