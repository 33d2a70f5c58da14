"""Linked code: what it holds is given back with the last who uses it, and short memory is an error, not the end."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import threading
from collections import Counter

import numpy as np
import pytest

import dynarm
from dynarm.errors import DynarmError, RoomError
from dynarm.machine import compile_graph, load_object
from dynarm.machine.abi import TABLE
from dynarm.machine.emit.llvm import assembled, host
from dynarm.machine.load import engine
from dynarm.machine.load.engine import LoadedCode, binding, check_room, linked
from dynarm.machine.load.gufunc import _services, runtime
from oracles.machine_graphs import newton_euler_graph, samples

linux = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="/proc is Linux's")


@pytest.fixture(scope="module")
def code() -> bytes:
    return compile_graph(newton_euler_graph(2), "two")


def one_more(code: bytes) -> LoadedCode:
    run = runtime(host())
    return linked(code, "two", (TABLE,), {s: run[s] for s in _services(host())})


def test_an_engine_takes_a_few_kernels_only(code, monkeypatch):
    """Libraries of an engine are looked through at each link, so that none may have many."""
    llvm, links, alive = binding(), Counter(), []
    real = llvm.JITLibraryBuilder.link

    def counted(self, lljit, name):
        alive.append(lljit)  # an engine that is gone would leave its identity to another
        links[id(lljit)] += 1
        return real(self, lljit, name)

    monkeypatch.setattr(llvm.JITLibraryBuilder, "link", counted)
    for _ in range(100):
        one_more(code)
    assert sum(links.values()) >= 100 and max(links.values()) <= engine.SHARED == 16
    assert len(links) <= 100 // 16 + 2  # and making one for each would take longer than linking


def test_code_lives_as_long_as_its_owner_whatever_happens_to_its_engine(code):
    graph = newton_euler_graph(2)
    held = [load_object(code, f"f{k}", graph.inputs, graph.outputs) for k in range(40)]
    inputs = samples(graph, 9)
    expected = held[0](*inputs)
    for start in (1, 2, 3):  # thin them out: engines with few living kernels, and with none
        del held[start::3]
        gc.collect()
        for _ in range(20):
            one_more(code)
        assert all(np.array_equal(f(*inputs), expected) for f in held)


GROWTH = """
import gc, sys
sys.path[:0] = {path!r}
from oracles.machine_graphs import newton_euler_graph
from dynarm.machine import compile_graph, load_object
graph = newton_euler_graph(2)
code = compile_graph(graph, "two")
def some(count):
    held = []
    for k in range(count):
        held.append(load_object(code, f"number {{k}}", graph.inputs, graph.outputs, "text"))
        del held[:-50]
    del held
    gc.collect()
    resident = int(open("/proc/self/statm").read().split()[1]) * 4096
    return resident, len(open("/proc/self/maps").readlines())
some(400)
before = some(100)
after = some(1500)
print((after[0] - before[0]) / 1500, after[1] - before[1])
"""


@linux
def test_thousands_of_links_leave_nothing_behind():
    """At most half a kilobyte for each, of which there were ten."""
    run = subprocess.run(
        [sys.executable, "-c", GROWTH.format(path=[p for p in sys.path if p])],
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    each, maps = map(float, run.stdout.split())
    assert each < 500 and maps < 30, run.stdout


def test_nobody_waits_for_llvm_to_drop_a_kernel(code):
    """Who drops the last reference may hold what the thread inside LLVM waits for."""
    given, inside, go = one_more(code), threading.Event(), threading.Event()

    def work():
        with engine.LOCK:
            inside.set()
            go.wait(60)

    thread = threading.Thread(target=work)
    thread.start()
    assert inside.wait(60)
    dropped = threading.Thread(target=lambda held: held.clear(), args=([given],))
    del given
    dropped.start()
    dropped.join(60)
    waiting = len(engine._BURIED)
    go.set()
    thread.join()
    assert not dropped.is_alive() and waiting >= 1
    one_more(code)
    assert not engine._BURIED, "the next who links gives it back"


def test_a_kernel_dropped_while_llvm_is_idle_is_given_back_at_once(code):
    given = one_more(code)
    del given
    assert not engine._BURIED


# ---- short memory


def test_what_cannot_be_had_is_refused_in_one_line():
    with pytest.raises(
        RoomError, match=r"^compiling 'f' may take \d+ MB, .*; allow it more"
    ) as seen:
        check_room((1 << 62, 1), 0, "compiling 'f'")
    assert isinstance(seen.value, DynarmError) and isinstance(seen.value, MemoryError)
    assert "\n" not in str(seen.value)
    check_room((1 << 20, 8), 1000, "little")


def test_both_compiling_and_linking_ask_first(code, monkeypatch):
    runtime(host())  # what all kernels share is there already
    for name in ("LINKING", "COMPILING"):
        monkeypatch.setattr(f"dynarm.machine.load.engine.{name}", (1 << 62, 1))
    monkeypatch.setattr("dynarm.machine.emit.llvm.COMPILING", (1 << 62, 1))
    with pytest.raises(RoomError, match="compiling 'f'"):
        assembled("", "f", host())
    with pytest.raises(RoomError, match="loading 'two'"):
        one_more(code)


SHORT = """
import os, resource, sys, warnings
warnings.simplefilter("ignore")
import numpy as np
import dynarm
from dynarm.machine import cache
link = dict(alpha=0.3, d=0.1, mass=1.0, com=(0.1, 0.2, 0.3), inertia=np.eye(3))
arm = dynarm.Arm([dynarm.Joint(a=0.1 + k / 10, **link) for k in range({joints})])
cache.digest("LLVM is there")
if {warm}:
    dynarm.compile(dynarm.load("two_link")).gravity(np.zeros(2))
def size():
    field = dict(AS="VmSize", DATA="VmData")["{kind}"]
    (line,) = (x for x in open("/proc/self/status") if x.startswith(field))
    return int(line.split()[1]) << 10
ends = {{}}
for megabytes in {headrooms}:
    pid = os.fork()
    if pid == 0:
        limit = size() + (megabytes << 20)
        resource.setrlimit(resource.RLIMIT_{kind}, (limit, limit))
        try:
            q = np.zeros({joints})
            dynarm.compile(arm).{quantity}(*[q] * {inputs})
        except dynarm.DynarmError as error:
            os._exit(1 if "may take" in str(error) and "\\n" not in str(error) else 3)
        except MemoryError:
            os._exit(2)
        os._exit(0)
    ends[megabytes] = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print(ends)
"""


@linux
@pytest.mark.parametrize(
    ("kind", "joints", "quantity", "inputs", "warm"),
    [
        ("AS", 1, "gravity", 1, False),
        ("AS", 6, "regressor", 3, True),
        ("DATA", 2, "inverse_dynamics", 3, True),
    ],
)
def test_short_memory_ends_no_process(tmp_path, kind, joints, quantity, inputs, warm):
    """With every headroom: a result, an error of ours or Python's own MemoryError, but no abort."""
    headrooms = [0, 1, 4, 8, 20, 40, 64, 400]
    values = dict(kind=kind, joints=joints, quantity=quantity, inputs=inputs, warm=warm)
    run = subprocess.run(
        [sys.executable, "-c", SHORT.format(headrooms=headrooms, **values)],
        env={**os.environ, "DYNARM_CACHE_DIR": str(tmp_path / "cache"), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    ends = eval(run.stdout)
    assert set(ends.values()) <= {0, 1, 2} and ends[400] == 0, (ends, run.stderr[-2000:])
    assert 1 in ends.values(), "nothing was short"


CROWDED = """
import ctypes, mmap
import numpy as np
import dynarm
from dynarm.machine.load.engine import binding

PAGE, WALL = mmap.PAGESIZE, 12 << 30
PRIVATE_AND_UNRESERVED = 0x02 | 0x20 | 0x4000
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]

def reserve(size):
    return libc.mmap(None, size, 0, PRIVATE_AND_UNRESERVED, -1, 0)

model = dynarm.compile(dynarm.load("puma560"))
binding()
wall = reserve(WALL)
size = 1 << 30
while size >= PAGE:  # whatever is free above the wall
    while (one := reserve(size)) > wall:
        pass
    libc.munmap(one, size)
    size //= 2
for k in range(200):  # single pages that are free again, twelve gigabytes above the next free room
    libc.munmap(wall + WALL - (2 * k + 2) * PAGE, PAGE)
print(model.inverse_dynamics(*np.ones((3, 6))).tolist())
"""


@linux
def test_code_and_its_constants_stay_together(tmp_path):
    """Gigabytes of arrays scatter what memory is free: the parts of a kernel reach each other all the same."""
    run = subprocess.run(
        [sys.executable, "-c", CROWDED],
        env={**os.environ, "DYNARM_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    model = dynarm.compile(dynarm.load("puma560"))
    assert json.loads(run.stdout) == model.inverse_dynamics(*np.ones((3, 6))).tolist()
