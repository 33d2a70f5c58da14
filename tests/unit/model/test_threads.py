"""Batches over threads: with and without builtins, into arrays that share memory with inputs."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm.machine.load import quick
from dynarm.model import batch, calls
from dynarm.robot.frames.generic import generic_arm

COUNT, JOINTS = 2000, 3


@pytest.fixture
def cuts(monkeypatch):
    """Batches that were cut: (samples, threads) of each; so small a batch is cut, too."""
    seen: list[tuple[int, int]] = []
    slices = batch.slices
    monkeypatch.setattr(batch, "_SMALLEST", 1000)
    monkeypatch.setattr(batch, "slices", lambda *a: seen.append(a[:2]) or slices(*a))
    yield seen
    dynarm.set_threads(1)


@pytest.fixture(params=["builtins", "no builtins"])
def model(request, monkeypatch):
    if request.param == "no builtins":
        monkeypatch.setattr(calls, "bound", lambda *a: None)
    made = dynarm.compile(generic_arm(JOINTS))
    for name in ("gravity", "bias", "inverse_dynamics", "mass_matrix_and_bias"):
        assert made.functions[name]
    if request.param == "no builtins":
        assert not any(name in vars(made) for name in ("gravity", "bias"))
    elif quick._known() is None:
        pytest.skip("this host has no builtins")
    return made


@pytest.fixture
def states():
    return np.random.default_rng(7).uniform(-2, 2, (3, COUNT, JOINTS))


def test_set_threads_is_heard_with_and_without_builtins(model, states, cuts):
    q, qd, _ = states
    wanted = model.gravity(q), *model.mass_matrix_and_bias(q, qd)
    assert cuts == []
    dynarm.set_threads(2)
    assert model.gravity(q).tobytes() == wanted[0].tobytes()
    assert cuts == [(COUNT, 2)]
    for x, y in zip(model.mass_matrix_and_bias(q, qd), wanted[1:], strict=True):
        assert x.tobytes() == y.tobytes()
    assert cuts == [(COUNT, 2)] * 2
    out = np.zeros_like(q)
    assert model.gravity(q, out=out) is out and out.tobytes() == wanted[0].tobytes()
    assert cuts == [(COUNT, 2)] * 3
    assert np.array_equal(model.gravity(q[0]), wanted[0][0])
    assert np.array_equal(model.gravity(q, threads=1), wanted[0])
    assert cuts == [(COUNT, 2)] * 3, "one state, and a call that says otherwise"
    dynarm.set_threads(1)
    model.gravity(q)
    assert cuts == [(COUNT, 2)] * 3


def test_without_builtins_calls_go_to_the_method_while_there_are_threads(model):
    heard = []

    def method(owner, *given, **options):
        heard.append((owner, given, options))
        return "the method"

    q = np.zeros((4, JOINTS))
    call = quick.by_gufunc(model.functions["gravity"], method, "owner")
    assert call(q).shape == q.shape and not heard
    dynarm.set_threads(3)
    try:
        assert call(q) == "the method"
        assert call(q, out=q) == "the method"
    finally:
        dynarm.set_threads(1)
    assert heard == [("owner", (q,), {}), ("owner", (q,), {"out": q})]
    assert call(q).shape == q.shape and len(heard) == 2


# ---- memory that is shared


def overlapping(states, shift: int):
    """Inputs and an output in one piece of memory, the output so many rows behind the first input."""
    memory = np.zeros((COUNT + abs(shift), JOINTS))
    first, second = memory[:COUNT], memory[len(memory) - COUNT :]
    given, out = (first, second) if shift >= 0 else (second, first)
    given[:] = states[0]
    return [given, *states[1:]], out


@pytest.mark.parametrize("shift", [0, 1, -1, 64, -64, COUNT // 2, -COUNT // 2, COUNT - 1])
def test_an_output_that_overlaps_an_input(model, states, cuts, shift):
    """A slice must not overwrite what another has yet to read."""
    wanted = model.inverse_dynamics(*states)
    for threads in (1, 2, 3):
        given, out = overlapping(states, shift)
        assert model.inverse_dynamics(*given, out=out, threads=threads) is out
        assert np.array_equal(out, wanted), threads
    assert cuts == []


def test_an_output_that_overlaps_an_input_of_all_slices(model, states, cuts):
    """One row that serves every sample, inside the output."""
    q, qd, qdd = states
    wanted = model.inverse_dynamics(q, qd, qdd[5])
    for row in (0, COUNT // 2, COUNT - 1):
        out = np.zeros((COUNT, JOINTS))
        out[row] = qdd[5]
        assert model.inverse_dynamics(q, qd, out[row], out=out, threads=2) is out
        assert np.array_equal(out, wanted), row
    assert cuts == []


def test_an_output_that_lies_apart_is_written_slice_by_slice(model, states, cuts):
    """Also one beside its input in the same memory."""
    wanted = model.inverse_dynamics(*states)
    given, out = overlapping(states, COUNT)
    assert model.inverse_dynamics(*given, out=out, threads=2) is out
    assert np.array_equal(out, wanted) and cuts == [(COUNT, 2)]
