"""Children forked while other threads of the parent compile: none waits for what is not going on in it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")

BEGIN = """
import gc, os, random, signal, sys, threading, time, warnings
import numpy as np
import dynarm
from dynarm.machine.load import compiled
from dynarm.graph.graph import Port
from dynarm.machine import cache
from dynarm.border.memo import cached_property
from dynarm.graph.trace import trace_function
warnings.simplefilter("ignore")

def arm(length, joints=2):
    link = dict(mass=1.0, com=(0.1, 0, 0), inertia=np.eye(3))
    return dynarm.Arm([dynarm.Joint(a=length, **link) for _ in range(joints)])

def child(work):
    "How a forked child that does this work ends: 0 if it returns something true, a signal if it never ends."
    pid = os.fork()
    if pid == 0:
        signal.alarm(30)
        try:
            os._exit(0 if work() else 1)
        except BaseException as error:
            os.write(2, repr(error).encode())
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

def meanwhile(body):
    "A thread that has entered `body`, which is given an event to set and one to wait for; and what ends it."
    inside, go = threading.Event(), threading.Event()
    thread = threading.Thread(target=body, args=(inside, go))
    thread.start()
    assert inside.wait(30)
    def end():
        go.set()
        thread.join(30)
        assert not thread.is_alive()
    return end
"""

PROPERTY = """
class Slow:
    def __init__(self, wait): self.wait = wait
    @cached_property
    def number(self):
        if self.wait:
            self.wait[0].set(); self.wait[1].wait(30)
        return [42]
first = []
def body(*events):
    first.append(Slow(events)); first[0].number
end = meanwhile(body)
print(child(lambda: Slow(None).number == [42]))
end()
print(first[0].number is first[0].number)
"""

TURN = """
ports = (Port("x", (2,)),), (Port("y", (1,)),)
def kernel(wait=None):
    def build():
        if wait:
            wait[0].set(); wait[1].wait(30)
        return trace_function(*ports, lambda x: [x[0] * x[1]]), {}
    return compiled.kernel(("test_forks", "turn"), "f", *ports, build)
end = meanwhile(lambda *events: kernel(events))
print(gc.isenabled())
print(child(lambda: gc.isenabled() and kernel().ufunc([2.0, 3.0]) == 6.0))
end()
print(gc.isenabled())
"""

LOCKS = """
def hold(lock):
    def body(inside, go):
        with lock:
            inside.set(); go.wait(30)
    return body
model = dynarm.compile(arm(0.25))
for lock in (cache._LOCK, compiled._lock):
    end = meanwhile(hold(lock))
    print(child(lambda: np.isfinite(dynarm.compile(arm(0.26)).gravity(np.zeros(2))).all()))
    end()
"""

IMPORT = """
import importlib.util
assert "llvmlite.binding" not in sys.modules
thread = threading.Thread(target=lambda: dynarm.compile(arm(0.3)).gravity(np.zeros(2)))
thread.start()
while not any(name.startswith("llvmlite") for name in sys.modules):
    time.sleep(0)
print(child(lambda: np.isfinite(dynarm.compile(arm(0.31)).gravity(np.zeros(2))).all()))
thread.join()
"""

MANY = """
stop = threading.Event()
def work(seed):
    pick = random.Random(seed)
    while not stop.is_set():
        dynarm.compile(arm(pick.random())).mass_matrix(np.zeros(2))
threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
for thread in threads: thread.start()
def job():
    M = dynarm.compile(arm(random.random())).mass_matrix(np.zeros((3, 2)), threads=2)
    return gc.isenabled() and M.shape == (3, 2, 2) and np.isfinite(M).all()
ends = []
for k in range(40):
    time.sleep(random.Random(k).uniform(0, 0.02))
    ends.append(child(job))
stop.set()
for thread in threads: thread.join(60)
print(sorted(set(ends)), any(t.is_alive() for t in threads))
"""


def said(program: str, folder) -> list[str]:
    run = subprocess.run(
        [sys.executable, "-c", BEGIN + program],
        env={**os.environ, "DYNARM_CACHE_DIR": str(folder / "cache")},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    return run.stdout.split("\n")[:-1]


def test_a_property_that_another_thread_computes(tmp_path):
    assert said(PROPERTY, tmp_path) == ["0", "True"]


def test_a_function_that_another_thread_compiles(tmp_path):
    """The child compiles it itself; neither process is ever without its garbage collector."""
    assert said(TURN, tmp_path) == ["True", "0", "True"]


def test_locks_that_another_thread_holds(tmp_path):
    assert said(LOCKS, tmp_path) == ["0", "0"]


def test_llvm_that_another_thread_imports(tmp_path):
    assert said(IMPORT, tmp_path) == ["0"]


def test_many_children_while_threads_compile(tmp_path):
    assert said(MANY, tmp_path) == ["[0] False"]
