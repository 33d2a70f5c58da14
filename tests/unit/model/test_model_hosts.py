"""Models on every kind of host that this processor can be: however a batch is cut, one sample has one result."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm.machine.host import on
from dynarm.model import batch
from oracles.processors import KINDS, WOVEN, host_named

NAMES = [*KINDS, *WOVEN]
WORDS = ("inverse_dynamics", "mass_matrix", "forward_dynamics")
COUNT = 133


@pytest.fixture(scope="module", params=NAMES)
def model(request):
    made = dynarm.compile(dynarm.load("scara"))
    with on(host_named(request.param)):
        for word in WORDS:
            assert made.functions[word]
    return made


@pytest.fixture(scope="module")
def states(model):
    return np.random.default_rng(4).uniform(-2, 2, (3, COUNT, model.arm.n))


def taken(model, word, states):
    return states[: len(model.ports(word)[0])]


@pytest.mark.parametrize("word", WORDS)
def test_one_result_however_the_batch_is_cut(model, states, word):
    call, args = getattr(model, word), taken(model, word, states)
    whole = call(*args)
    single = np.stack([call(*(a[k] for a in args)) for k in range(COUNT)])
    assert single.tobytes() == whole.tobytes(), "one state at a time"
    for length in (2, 3, 5, 8, 9, 17):
        parts = [call(*(a[k : k + length] for a in args)) for k in range(0, COUNT, length)]
        assert np.concatenate(parts).tobytes() == whole.tobytes(), length
    backwards = call(*(a[::-1] for a in args))[::-1]
    assert np.ascontiguousarray(backwards).tobytes() == whole.tobytes()
    columns = call(*(a.copy("F") for a in args))
    assert np.ascontiguousarray(columns).tobytes() == whole.tobytes()


@pytest.mark.parametrize("word", WORDS)
def test_one_result_over_threads_and_into_arrays(model, states, word, monkeypatch):
    monkeypatch.setattr(batch, "_SMALLEST", 50)
    cut = []
    slices = batch.slices
    monkeypatch.setattr(batch, "slices", lambda *a: cut.append(a[:2]) or slices(*a))
    call, args = getattr(model, word), taken(model, word, states)
    whole = call(*args)
    assert call(*args, threads=2).tobytes() == whole.tobytes()
    out = np.full_like(whole, np.nan)
    assert call(*args, threads=3, out=out) is out
    assert out.tobytes() == whole.tobytes()
    assert cut == [(COUNT, 2), (COUNT, 3)]


@pytest.mark.parametrize("kind", KINDS)
def test_simulation_is_that_of_any_other_kind(kind):
    """Kernels called again and again by a loop that is linked for the host."""
    arm = dynarm.load("two_link")

    def end(name: str) -> np.ndarray:
        with on(KINDS[name]):
            run = dynarm.simulate(
                dynarm.compile(arm), [0.1, 0.2], [0, 0], 0.05, method="rk4", dt=1e-3
            )
        assert run.t[-1] == pytest.approx(0.05)
        return run.q

    assert np.abs(end(kind) - end(next(iter(KINDS)))).max() <= 1e-13
