"""Numbers that users meet: room asked for, keys, ages and sizes of entries, stack and tolerances of exported C."""

from __future__ import annotations

import mmap
import os
import platform
import re
import sys
import time

import numpy as np
import pytest

import dynarm
from dynarm.errors import InputError, RoomError
from dynarm.graph.graph import Builder, Graph, Port
from dynarm.machine.abi import NAMES
from dynarm.machine.emit import c, selftest
from dynarm.machine.emit.llvm import assembled
from dynarm.machine.host import USUAL, native
from dynarm.machine.load import cache, engine, quick
from dynarm.machine.load.cache import Entry, load, store
from dynarm.machine.load.folder import Folder
from dynarm.machine.load.march import March
from oracles.machine_graphs import newton_euler_graph
from oracles.quick_calls import loaded

# ---- room


def test_how_much_room_is_asked_for(monkeypatch):
    """Compiling: 32 MB and 64 bytes for a character; linking: 8 MB and 8 bytes for a byte of code."""
    asked = []

    def none(_, size, **options):
        asked.append(size)
        raise OSError("no memory")

    monkeypatch.setattr(mmap, "mmap", none)
    with pytest.raises(RoomError, match=r"compiling 'f' may take 96 MB"):
        assembled(" " * (1 << 20), "f", native())
    with pytest.raises(RoomError, match=r"loading 'f' may take 9 MB"):
        engine.linked(bytes(1 << 17), "f", (), {})
    assert asked == [96 << 20, 9 << 20]


def test_workspaces_up_to_64_kb_are_on_the_stack():
    assert native().tuning.stack == USUAL.stack == 65536
    assert native().tuning.past_caches == 20971520


# ---- the cache


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("DYNARM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("DYNARM_CACHE_LIMIT", raising=False)
    monkeypatch.setattr(cache, "_written", None)
    monkeypatch.setattr(cache, "_memory", type(cache._memory)())
    return tmp_path / "cache"


def test_keys_have_one_to_two_hundred_characters(place):
    for key in ("k", "k" * 200):
        store(key, Entry({"a": 1}, b"code"))
        assert load(key) == Entry({"a": 1}, b"code")
    for key in ("", "k" * 201):
        with pytest.raises(InputError, match="cache key"):
            load(key)


def test_an_entry_of_nothing_is_an_entry(place):
    store("k", Entry({}, b""))
    assert load("k") == Entry({}, b"")


def test_an_entry_as_large_as_the_limit_is_written(place, monkeypatch):
    size = len(cache._encoded("k", Entry({}, bytes(100))))
    assert size == 16 + 32 + 16 + 1 + 2 + 100, "magic, hash, lengths, key, metadata, code"
    monkeypatch.setenv("DYNARM_CACHE_LIMIT", str(size))
    store("k", Entry({}, bytes(100)))
    assert [f.name for f in place.iterdir()] == ["k.object"] and not cache._memory
    store("m", Entry({}, bytes(101)))
    assert not (place / "m.object").exists() and set(cache._memory) == {"m"}


def test_what_was_used_last_stays_in_memory_longest(monkeypatch, place):
    monkeypatch.setenv("DYNARM_CACHE_LIMIT", "0")
    for k in range(256):
        store(f"k{k}", Entry({}, b"."))
    assert load("k0") is not None
    store("more", Entry({}, b"."))
    assert load("k1") is None and load("k0") is not None and len(cache._memory) == 256


def test_a_sweep_is_due_with_the_first_entry_and_after_an_eighth_of_the_limit(place, monkeypatch):
    seen = []
    monkeypatch.setattr(Folder, "sweep", lambda self, moment, most: seen.append((moment, most)))
    monkeypatch.setenv("DYNARM_CACHE_LIMIT", "8001")
    each = 250  # four of them are an eighth, to the byte
    filler = each - len(cache._encoded("k0", Entry({}, b"")))
    for k in range(6):
        store(f"k{k}", Entry({}, bytes(filler)))
    assert len(seen) == 2, "with the first, and with the fifth after it"
    assert {most for _, most in seen} == {8001 - 1000}
    assert all(abs(time.time() - 90 * 86400 - moment) < 60 for moment, _ in seen)


def swept(place, moment: float, most: int) -> set[str]:
    with Folder(place) as folder:
        folder.sweep(moment, most)
    return {f.name for f in place.iterdir()}


def test_what_was_used_at_the_moment_itself_and_what_just_fits_stays(place):
    for k in range(3):
        store(f"k{k}", Entry({}, bytes(10)))
        os.utime(place / f"k{k}.object", (1_000_000 + k, 1_000_000 + k))
    size = (place / "k0.object").stat().st_size
    assert swept(place, 1_000_000, 3 * size) == {"k0.object", "k1.object", "k2.object"}
    assert swept(place, 0, 3 * size - 1) == {"k1.object", "k2.object"}
    assert swept(place, 1_000_002, 10**9) == {"k2.object"}
    assert swept(place, 0, 0) == {"k2.object"}, "the latest stays in any case"


# ---- builtins, and the way without them


@pytest.mark.skipif(
    platform.python_implementation() != "CPython"
    or platform.system() not in ("Linux", "Darwin")
    or platform.machine() not in ("x86_64", "aarch64", "arm64")
    or "t" in sys.abiflags,
    reason="builtins are for CPython with its lock on common hosts",
)
def test_common_hosts_have_builtins():
    """The tests of builtins are left out where there are none, and would not tell."""
    known = quick._known()
    assert known is not None and len(known) == len(NAMES) and all(known)
    assert quick.bound(loaded(newton_euler_graph(2)), lambda self, *x: None, None) is not None


def test_the_gufunc_is_called_itself_where_nothing_is_to_be_prepared(monkeypatch):
    """With more threads, other keywords or other arguments the method decides."""
    ufunc = loaded(newton_euler_graph(2))
    asked = []

    def method(self, *args, **options):
        asked.append(self)
        return "the method"

    call = quick.by_gufunc(ufunc, method, "owner")
    x = [np.full(2, 0.3)] * 3
    out = np.empty(2)
    assert np.array_equal(call(*x), ufunc(*x)) and call(*x, out=out) is out and not asked
    assert call(*x[:2]) == call(*x, dtype=float) == call(*x[:2], x[0][:1]) == "the method"
    assert call(*x[:2], np.ma.array(x[0])) == "the method"
    monkeypatch.setattr(quick.THREADS, "value", 2)
    assert call(*x) == "the method" and asked == ["owner"] * 5


def test_a_march_by_numpy_is_the_same():
    """Where the inner loop is not known: x' = f(x) with moving operands, with a batch axis and without one."""
    b = Builder()
    x, u = [b.input(0, k) for k in range(2)], b.input(1, 0)
    rows = [b.add(x[1], u), b.mul(x[0], b.const(1.5))]
    ports = [Port("x", (2,)), Port("u", (1,))]
    f = loaded(b.finish(ports, [Port("y", (2,))], [rows]))
    for batch in ((), (5,)):
        made = []
        for known in (True, False):
            march = March(f, (1, 1, 1))
            if not known:
                march.run = march.loop = None
            states = np.zeros((7, *batch, 2))
            states[0] = 0.5
            inputs = np.linspace(1, 2, 6 * int(np.prod(batch))).reshape(6, *batch, 1)
            advance = [states.strides[0], inputs.strides[0], states.strides[0]]
            march([states[0], inputs[0], states[1]], advance, 6, batch[0] if batch else None)
            made.append(states)
            for k in range(6):
                wanted = np.stack(
                    [states[k, ..., 1] + inputs[k, ..., 0], 1.5 * states[k, ..., 0]], -1
                )
                assert np.array_equal(states[k + 1], wanted)
        assert np.array_equal(*made)


# ---- exported C


def pendulum() -> Graph:
    """y = sin(q) d, z = cos(p - q): one sine and one cosine alone."""
    b = Builder()
    q, p, d = (b.input(0, k) for k in range(3))
    return b.finish(
        [Port("x", (3,))],
        [Port("y", (2,))],
        [[b.mul(b.unary("sin", q), d), b.unary("cos", b.sub(p, q))]],
    )


def test_stack_of_exported_functions():
    """Plain: a place for each of four operations. Bounded: two places, one for what nobody wants, inputs, 512 bytes."""
    assert c.function(pendulum(), "f", c.Dialect("r")).stack == 4 * 8
    assert c.function(pendulum(), "f", c.Dialect("r", single=True)).stack == 4 * 4
    bounded = c.function(pendulum(), "f", c.Dialect("r", bounded=True))
    places = int(re.search(r"volatile double w\[(\d+)\]", bounded.text)[1])
    assert places == 4
    assert bounded.stack == (places + 3) * 8 + 512
    half = c.function(pendulum(), "f", c.Dialect("r", single=True, bounded=True))
    assert half.stack == (places + 3) * 4 + 512


def test_places_of_bounded_code_are_used_again():
    """A long chain needs the place that is read and the one that is written."""
    b = Builder()
    value = b.input(0, 0)
    for k in range(30):
        value = b.mul(b.add(value, b.const(1.0 + k)), b.input(0, 0))
    graph = b.finish([Port("x", (1,))], [Port("y", ())], [[value]])
    text = c.function(graph, "f", c.Dialect("r", bounded=True)).text
    assert "volatile double w[2];" in text


def test_allowed_errors_of_the_selftest():
    """1e-11, and 8 units of the last place of an angle after many turns; as float 2e-4, and the same."""
    double, single = (selftest._tolerances(c.Dialect("r", single=s)) for s in (False, True))
    assert double == pytest.approx([1e-11] * 5 + [8 * 2e4 / 2**52, 8e6 / 2**52], rel=1e-12)
    assert single == pytest.approx([2e-4] * 5 + [8e3 / 2**23], rel=1e-12)


@pytest.mark.parametrize("single", [False, True])
def test_cases_of_the_selftest(single):
    """Four poses between -1.5 and 1.5, the first ones again after many turns: angles only, and sums of them exact."""
    graph, dialect = pendulum(), c.Dialect("r", single=single)
    assert selftest._angles(graph) == {(0, 0), (0, 1)}
    cases = selftest._cases(graph, dialect, np.random.default_rng(1))
    (given,), (wanted,) = cases.given, cases.wanted
    sizes = np.array([80.0, 1e3] if single else [80.0, 2e4, 1e6])
    assert given.shape == (4 + len(sizes), 3) and np.abs(given[:4]).max() < 1.5
    assert np.ptp(given[:4]) > 1.5
    near, turned = given[: len(sizes)], given[4:]
    assert np.array_equal(near[:, 2], turned[:, 2]), "what is no angle is not turned"
    for angles, before, size in zip(turned[:, :2], near[:, :2], sizes, strict=True):
        assert (np.abs(angles) > 0.9 * size - 1.5).all() and (np.abs(angles) < 2 * size).all()
        grid = 2.0 ** (np.ceil(np.log2(size)) - 19)
        assert np.array_equal(angles / grid, np.round(angles / grid))
        turns = (angles - before) / (2 * np.pi)
        assert (np.abs(turns - np.round(turns)) * 2 * np.pi <= 0.51 * grid + 1e-6).all()
    exact = np.stack([np.sin(given[:, 0]) * given[:, 2], np.cos(given[:, 1] - given[:, 0])], -1)
    np.testing.assert_allclose(wanted, exact, rtol=1e-12)
    if single:
        assert np.array_equal(given, given.astype(np.float32))


def test_names_of_exported_c_have_forty_letters():
    from dynarm.machine.emit.c_names import identifier

    assert identifier("a" * 60) == "a" * 40
    assert identifier("a" * 39 + "-b") == "a" * 39
    assert identifier("2 arms") == "robot_2_arms" and identifier("--") == "robot"


def test_known_models_are_still_exported(tmp_path):
    made = dynarm.export_c(dynarm.compile(dynarm.load("two_link")), tmp_path / "c", name="two")
    text = (made.folder / "two_test.c").read_text()
    assert "static const double allowed[7] = {1e-11, 1e-11, 1e-11, 1e-11, 1e-11, 3.5" in text
    assert "functions, 7 cases each" in text and "for (i = 0; i < 7; i++)" in text
