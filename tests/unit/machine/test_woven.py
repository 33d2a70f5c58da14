"""Kernels with their moves woven in: chosen where arrays lie dense, and with the same bits as every other way."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm.graph.graph import Builder, Port
from dynarm.machine import compile_graph, load_object
from dynarm.machine.abi import Table
from dynarm.machine.host import on
from dynarm.robot.frames.generic import generic_arm
from oracles.processors import KINDS, WOVEN
from oracles.quick_calls import STATE, entries

QUANTITIES = ("inverse_dynamics", "bias", "gravity")
STAGED = ("mass_matrix", "mass_matrix_and_bias", "jacobian")  # too large to be woven


@pytest.fixture(scope="module", params=WOVEN)
def woven(request):
    return WOVEN[request.param]


@pytest.fixture(scope="module")
def model(woven):
    """A model all of whose functions that are tested here are compiled for a host that weaves."""
    made = dynarm.compile(generic_arm(5))
    with on(woven):
        for name in (*QUANTITIES, *STAGED):
            assert made.functions[name]
    return made


def several(found):
    return found if isinstance(found, tuple) else (found,)


def by_samples(ufunc, args):
    """The same sample by sample, which no vector kernel sees."""
    rows = [several(ufunc(*sample)) for sample in zip(*args, strict=True)]
    return [np.stack(column) for column in zip(*rows, strict=True)]


@pytest.mark.parametrize("name", [*QUANTITIES, *STAGED])
def test_small_and_staged_outputs_of_any_number_of_blocks(model, name):
    ufunc = model.functions[name]
    assert bool(entries(ufunc)[Table.WOVEN]) == (name in QUANTITIES)
    args = np.random.default_rng(3).uniform(-2, 2, (STATE[name], 41, 5))
    wanted = by_samples(ufunc, args)
    for count in (8, 9, 15, 16, 17, 24, 40, 41):
        for got, want in zip(several(ufunc(*args[:, :count])), wanted, strict=True):
            assert np.array_equal(got, want[:count]), count
    for got, want in zip(several(ufunc(*(a.copy("F") for a in args))), wanted, strict=True):
        assert np.array_equal(got, want), "arrays that are not dense go another way"


def test_outputs_that_go_past_the_caches(woven, model):
    """Neither woven nor staged ones are then: they are written past the caches, with the same bits."""
    few = np.random.default_rng(4).uniform(-2, 2, (97, 5))
    other = dynarm.compile(model.arm)
    with on(woven.tuned(past_caches=1 << 12)):
        for name in ("gravity", "mass_matrix"):
            wanted = by_samples(model.functions[name], [few])[0]
            assert np.array_equal(other.functions[name](few), wanted)


@pytest.mark.parametrize("name", ["gravity", "mass_matrix"])
def test_nothing_but_the_outputs_is_written(model, name):
    """The first block's outputs are written twice, and nothing before or behind them."""
    q = np.random.default_rng(5).uniform(-2, 2, (16, 5))
    ufunc = model.functions[name]
    wanted = by_samples(ufunc, [q])[0]
    room = np.full((18, *wanted.shape[1:]), 7.0)
    ufunc(q, out=room[1:17])
    assert (room[[0, 17]] == 7.0).all() and np.array_equal(room[1:17], wanted)


def test_an_output_that_is_an_input_is_not_woven(woven):
    """It would be overwritten by the next block's input before it is moved."""
    build = Builder()
    x = [build.input(0, k) for k in range(4)]
    results = [x[0], build.mul(x[1], x[2]), build.add(x[2], x[3]), -x[3]]
    graph = build.finish([Port("x", (4,))], [Port("y", (4,))], [results])
    with on(woven):
        f = load_object(compile_graph(graph, "f"), "f", graph.inputs, graph.outputs)
    assert not entries(f)[Table.WOVEN]
    given = np.random.default_rng(6).normal(size=(33, 4))
    assert np.array_equal(f(given), graph.evaluate(given)[0])


@pytest.mark.parametrize("name", KINDS)
def test_whoever_has_few_registers_does_not_weave(name):
    """A host that is not told otherwise weaves with eight lanes only."""
    model = dynarm.compile(generic_arm(5))
    with on(KINDS[name]):
        made = model.functions["inverse_dynamics"]
    assert bool(entries(made)[Table.WOVEN]) == (KINDS[name].width == 8) == KINDS[name].tuning.woven
