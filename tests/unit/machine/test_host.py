"""The record of a host: what features say, what may be forced, and that hosts share nothing."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm.errors import DynarmError, InputError
from dynarm.machine import compile_graph, load_object
from dynarm.machine.host import (
    FEW,
    LANES,
    MANY,
    TARGETS,
    WIDTHS,
    Host,
    Tuning,
    asked,
    check_runs,
    detected,
    host,
    kinds,
    named,
    narrowed,
    native,
    on,
)
from dynarm.machine.load import cache, gufunc
from dynarm.robot.frames.generic import generic_arm
from oracles.machine_graphs import newton_euler_graph, samples
from oracles.processors import KINDS

LINUX, APPLE = "x86_64-unknown-linux-gnu", "arm64-apple-darwin"
SANDY = {"sse2": True, "avx": True, "avx2": False, "fma": False, "avx512f": False}
HASWELL = SANDY | {"avx2": True, "fma": True}
SKYLAKE = HASWELL | {"avx512f": True, "avx512vl": True}


@pytest.mark.parametrize(
    ("triple", "features", "width", "fused", "registers", "woven"),
    [
        (LINUX, SKYLAKE, 8, True, MANY, True),
        (LINUX, HASWELL, 4, True, FEW, False),
        (LINUX, SANDY, 2, False, FEW, False),
        (LINUX, {}, 2, False, FEW, False),
        (LINUX, HASWELL | {"fma": False}, 4, False, FEW, False),
        ("x86_64-pc-windows-msvc", HASWELL, 4, True, FEW, False),
        (APPLE, {"neon": True}, 2, True, MANY, False),
        ("aarch64-unknown-linux-gnu", {"neon": True, "sve": True}, 2, True, MANY, False),
        ("aarch64-unknown-linux-gnu", {"avx2": True}, 2, True, MANY, False),
    ],
)
def test_features_say_what_a_host_is(triple, features, width, fused, registers, woven):
    made = detected(triple, "some", features)
    assert (made.width, made.fused, made.tuning.registers, made.tuning.woven) == (
        width,
        fused,
        registers,
        woven,
    )
    assert made.features.count("+") == sum(features.values())
    assert made.features.count("-") == len(features) - sum(features.values())


def test_this_machine_is_what_llvm_says():
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features()
    mine = native()
    assert (mine.triple, mine.cpu) == (llvm.get_process_triple(), llvm.get_host_cpu_name())
    assert mine.features == features.flatten()
    assert mine == detected(mine.triple, mine.cpu, dict(features))


@pytest.mark.parametrize("name", TARGETS)
def test_targets_have_names(name):
    wanted = {"AVX-512": (8, True), "AVX2": (4, True), "SSE2": (2, False), "NEON": (2, True)}
    assert (named(name).width, named(name).fused) == wanted[name]


def test_other_names_are_refused():
    with pytest.raises(
        InputError, match=r"no target 'AVX3'; take one of AVX-512, AVX2, SSE2, NEON"
    ):
        named("AVX3")


# ---- smaller kinds


def on_features(target: Host) -> set[str]:
    return {f[1:] for f in target.features.split(",") if f.startswith("+")}


def test_every_kind_of_a_large_processor():
    whole = detected(LINUX, "large", SKYLAKE)
    made = kinds(whole)
    assert list(made) == [
        *("8 lanes, fused", "8 lanes", "4 lanes, fused", "4 lanes"),
        *("2 lanes, fused", "2 lanes", "1 lane, fused", "1 lane"),
    ]
    assert made["8 lanes, fused"] == whole
    assert len(set(made.values())) == 8
    assert on_features(made["4 lanes, fused"]) == {"sse2", "avx", "avx2", "fma"}
    assert on_features(made["4 lanes"]) == {"sse2", "avx", "avx2"}
    assert on_features(made["2 lanes, fused"]) == {"sse2", "avx", "avx2", "fma"}
    assert on_features(made["2 lanes"]) == on_features(made["1 lane"]) == {"sse2"}
    for name, kind in made.items():
        assert name.startswith(f"{kind.width} lane") and name.endswith("fused") == kind.fused
        assert kind.tuning.registers == (MANY if kind.width == 8 else FEW)
        assert kind.tuning.woven == (kind.width == 8)


@pytest.mark.parametrize(
    ("triple", "features", "widths"),
    [(LINUX, HASWELL, [4, 4, 2, 2, 1, 1]), (LINUX, SANDY, [2, 1]), (APPLE, {}, [2, 2, 1, 1])],
)
def test_kinds_of_smaller_processors(triple, features, widths):
    made = kinds(detected(triple, "small", features))
    assert [kind.width for kind in made.values()] == widths


def test_a_processor_is_not_made_larger():
    small = detected(LINUX, "small", SANDY)
    with pytest.raises(InputError, match=r"'small' has no 4 lanes; it has 1 or 2 lanes"):
        narrowed(small, 4)
    with pytest.raises(InputError, match=r"'small' has no 2 lanes with multiply-adds"):
        narrowed(small, 2, fused=True)
    with pytest.raises(InputError, match="has no 3 lanes"):
        narrowed(detected(LINUX, "large", SKYLAKE), 3)


def test_what_was_tuned_by_hand_stays():
    whole = detected(LINUX, "large", SKYLAKE).tuned(woven=False, registers=20)
    kept = narrowed(whole, 8).tuning
    assert (kept.woven, kept.registers) == (False, 20)


# ---- the environment


@pytest.mark.parametrize("lanes", [None, ""])
def test_nothing_in_the_environment_is_the_whole_processor(lanes):
    whole = detected(LINUX, "large", SKYLAKE)
    assert asked(whole, lanes) == whole


@pytest.mark.parametrize("lanes", WIDTHS)
def test_the_environment_forces_lanes(lanes):
    whole = detected(LINUX, "large", SKYLAKE)
    assert asked(whole, str(lanes)) == narrowed(whole, lanes)
    assert asked(whole, f" {lanes} ").width == lanes


@pytest.mark.parametrize("lanes", ["0", "3", "16", "-2", "four", "2.0", "٤", "4 lanes"])
def test_no_such_number_of_lanes(lanes):
    with pytest.raises(InputError, match=r"DYNARM_LANES is .*; set it to 1, 2, 4 or 8"):
        asked(native(), lanes)


def test_more_lanes_than_the_processor_has():
    with pytest.raises(
        InputError, match=r"DYNARM_LANES is 8, but processor 'small' has 1, 2 or 4 lanes"
    ):
        asked(detected(LINUX, "small", HASWELL), "8")


@pytest.mark.parametrize("lanes", [w for w in WIDTHS if w <= native().width])
def test_a_process_with_lanes_in_its_environment(lanes):
    """It computes the same, in code of its own, and the command line's refusal is one line."""
    code = (
        "import dynarm, numpy as np; from dynarm.machine.host import host\n"
        "model = dynarm.compile(dynarm.load('puma560'))\n"
        "print(host().width, model.gravity(np.full((9, 6), 0.3)).tobytes().hex())"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, LANES: str(lanes)},
        capture_output=True,
        text=True,
        check=True,
    )
    width, data = run.stdout.split()
    with on(native()):
        wanted = dynarm.compile(dynarm.load("puma560")).gravity(np.full((9, 6), 0.3))
    assert int(width) == lanes
    assert data == wanted.tobytes().hex()


def test_a_wrong_environment_is_refused_where_code_is_made(monkeypatch):
    monkeypatch.setenv(LANES, "5")
    model = dynarm.compile(generic_arm(2))
    with pytest.raises(DynarmError, match="DYNARM_LANES is '5'"):
        model.gravity(np.zeros(2))
    monkeypatch.delenv(LANES)
    assert host() == native()
    assert model.gravity(np.zeros(2)).shape == (2,)


# ---- inside a program


def test_a_forced_host_is_forced_inside_and_in_this_thread_only():
    smallest = list(KINDS.values())[-1]
    before = host()
    seen = []
    with on(smallest) as forced:
        assert host() is forced is smallest
        with on(native()):
            assert host() == native()
        assert host() is smallest
        thread = threading.Thread(target=lambda: seen.append(host()))
        thread.start()
        thread.join()
    assert host() == before == seen[0]
    with pytest.raises(ZeroDivisionError), on(smallest):
        raise ZeroDivisionError
    assert host() == before


@pytest.mark.parametrize("field", [f.name for f in dataclasses.fields(Host) if f.name != "tuning"])
def test_every_entry_of_the_record_is_part_of_every_key(field):
    """Otherwise code for one host would be run on another."""
    value = getattr(native(), field)
    another = not value if isinstance(value, bool) else value * 2
    with on(native()):
        key = cache.digest("recipe")
    with on(replace(native(), **{field: another})):
        assert cache.digest("recipe") != key


@pytest.mark.parametrize("field", [f.name for f in dataclasses.fields(Tuning)])
def test_every_number_of_the_tuning_is_part_of_every_key(field):
    value = getattr(native().tuning, field)
    another = not value if isinstance(value, bool) else value * 2
    keys = set()
    for target in (native(), native().tuned(**{field: another})):
        with on(target):
            keys.add(cache.digest("recipe"))
    assert len(keys) == 2


def test_one_model_a_host():
    """Each has code of its own, and what they share is the host's."""
    models = {name: dynarm.compile(generic_arm(3)) for name in KINDS}
    q = np.random.default_rng(0).normal(size=(11, 3))
    for name, model in models.items():
        with on(KINDS[name]):
            model.gravity(q)
    tables = {gufunc.inner_loop(model.functions["gravity"].ufunc)[1] for model in models.values()}
    loops = {gufunc.inner_loop(model.functions["gravity"].ufunc)[0] for model in models.values()}
    assert len(tables) == len(loops) == len(KINDS)


def test_code_for_another_processor_is_made_and_not_loaded():
    graph = newton_euler_graph(2)
    other = named("NEON" if native().triple.startswith("x86_64") else "AVX2")
    code = compile_graph(graph, "pair", other)
    with pytest.raises(DynarmError, match=r"does not run on this processor.*made here, not loaded"):
        load_object(code, "pair", graph.inputs, graph.outputs, "", other)
    with pytest.raises(DynarmError, match="does not run on this processor"):
        check_runs(named("AVX-512"), named("AVX2"))
    with pytest.raises(DynarmError, match="does not run on this processor"):
        check_runs(replace(named("SSE2"), fused=True), named("SSE2"))
    check_runs(named("SSE2"), named("AVX2"))


def test_a_march_on_every_kind():
    """The loop over time is linked once a host."""
    from dynarm.machine.load.march import March

    graph = newton_euler_graph(2)
    inputs = samples(graph, 5)
    for kind in KINDS.values():
        with on(kind):
            f = load_object(compile_graph(graph, "f"), "f", graph.inputs, graph.outputs)
            march = March(f, (1, 1, 1, 1))
        made = np.zeros((5, 2))
        march([x[0] for x in inputs] + [made[0]], [16] * 4, 5)
        assert np.array_equal(made, f(*inputs))
