"""One record makes an operation: evaluated, traced, counted, differentiated, compiled and exported everywhere."""

from __future__ import annotations

import ctypes
import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dynarm.algebra.vectors import elementary
from dynarm.graph import ops
from dynarm.graph.casadi_bridge import express
from dynarm.graph.graph import Builder, Port, Symbol, apply
from dynarm.graph.simplify import simplify
from dynarm.graph.trace import jacobian, trace_function
from dynarm.machine import compile_graph, load_object
from dynarm.machine.emit import c, c_files
from dynarm.machine.load.quick import bound
from oracles.processors import KINDS
from oracles.toy_operations import NAMES, SLOPES, TOYS, graph_of, samples, table, wanted

TESTS = Path(__file__).parents[2]
# not defined, or not continuous, where the cases of an export's own test lie
ROUGH = ("sqrt", "floor")


@pytest.fixture(params=NAMES)
def name(request):
    """An operation's name, while the table has it."""
    with table(request.param):
        yield request.param


def check_close(got, want, relative=1e-14):
    """To a few units of the last place of the largest term: differences of terms are among the values."""
    np.testing.assert_allclose(got, want, rtol=0, atol=relative * max(1.0, np.abs(want).max()))


def test_it_is_evaluated_with_its_signs(name):
    x = samples()
    for graph in (graph_of(name), simplify(graph_of(name))):
        check_close(graph.evaluate(x)[0], wanted(name, x))


def test_a_sign_is_kept_where_the_function_asks_for_it(name):
    build = Builder()
    x = build.input(0, 0)
    plus, minus = build.unary(name, x), build.unary(name, -x)
    parity = ops.OPERATIONS[name].parity
    assert (minus == plus) == (parity is ops.Parity.EVEN)
    assert (minus == -plus) == (parity is ops.Parity.ODD)
    assert minus == build.unary(name, -x), "and each is computed once"
    assert build.value(build.unary(name, build.const(0.25))) == ops.OPERATIONS[name].numpy(0.25)


def test_formulas_find_it_as_a_method_and_by_its_name(name):
    build = Builder()
    x = Symbol(build, build.input(0, 0))
    known = ops.OPERATIONS[name].casadi
    method = known if isinstance(known, str) else name
    assert elementary(method, x).ref == apply(name, x).ref == getattr(x, method)().ref
    assert apply(name, 0.4) == ops.OPERATIONS[name].numpy(0.4)
    with pytest.raises(AttributeError, match="no method 'add'"):
        x.add  # noqa: B018


def test_it_is_counted(name):
    count = graph_of(name).count()
    calls = sum(node.op == name for node in graph_of(name).nodes)
    assert calls >= 3
    assert (count.sqrt if name == "sqrt" else count.other) == calls
    assert graph_of(name).total == count.total


def test_it_is_differentiated(name):
    """Also where the derivative goes through it twice, and of an argument that is negated."""

    def slopes(x):
        values = [apply(name, -x[1]), apply(name, apply(name, x[0]) * x[0] + 1.0)]
        return [entry for row in jacobian(values, x) for entry in row]

    graph = trace_function([Port("x", (2,))], [Port("J", (2, 2))], slopes)
    x = samples()
    a, b = x.T
    f, slope = ops.OPERATIONS[name].numpy, SLOPES[name]
    second = slope(f(a) * a + 1.0) * (slope(a) * a + f(a))
    columns = [np.zeros_like(a), -slope(-b), second, np.zeros_like(a)]
    check_close(graph.evaluate(x)[0].reshape(-1, 4), np.stack(columns, axis=-1), 1e-13)


def test_casadi_computes_the_same(name):
    function = express(graph_of(name)).function()
    for x, y in zip(samples(5), wanted(name, samples(5)), strict=True):
        np.testing.assert_allclose(np.array(function(x))[:, 0], y, rtol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_compiled_for_every_kind_of_host(name, kind):
    graph, target, x = graph_of(name), KINDS[kind], samples()
    code = compile_graph(graph, name, target)
    f = load_object(code, name, graph.inputs, graph.outputs, target=target)
    for count in (1, 2, 7, 21):
        check_close(f(x[:count]), wanted(name, x[:count]))
    ones = np.stack([f(row) for row in x])
    assert ones.tobytes() == f(x).tobytes(), "the same bits for one sample and for many"
    x[3] = np.nan
    assert np.isnan(f(x)[3]).any() and np.isfinite(np.delete(f(x), 3, axis=0)).all()


def test_one_sample_goes_through_a_builtin(name):
    graph = graph_of(name)
    f = load_object(compile_graph(graph, name), name, graph.inputs, graph.outputs)

    def method(self, x, out=None):
        raise AssertionError("the kernel itself was to be called")

    quick = bound(f, method, object())
    if quick is not None:  # where CPython is as it is expected
        x = samples(1)[0]
        assert quick(x).tobytes() == f(x).tobytes()


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("bounded", [False, True])
def test_it_is_exported_to_c(name, single, bounded, tmp_path):
    graph, dialect = graph_of(name), c.Dialect("toy", single, bounded)
    codes = {"f": c.function(graph, "f", dialect)}
    header = f"{c.signature('f', graph.inputs, graph.outputs, dialect)};\n"
    tested = {} if name in ROUGH else {"f": graph}
    for file, text in c_files.files(header, tested, codes, dialect).items():
        (tmp_path / file).write_text(text)
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O2"]
    library = ["gcc", *strict, "-shared", "-fPIC", "toy.c", "-o", "toy.so", "-lm"]
    program = ["gcc", *strict, "toy.c", "toy_test.c", "-o", "toy_test", "-lm"]
    kind = np.float32 if single else np.float64
    rough = 1e-6 if single else 1e-14
    subprocess.run(library, cwd=tmp_path, check=True)
    f = ctypes.CDLL(str(tmp_path / "toy.so")).toy_f
    x, y = samples(5).astype(kind), np.zeros((5, 5), kind)
    for k in range(5):
        f(x[k].ctypes.data_as(ctypes.c_void_p), y[k].ctypes.data_as(ctypes.c_void_p))
    check_close(y, wanted(name, x.astype(float)), rough)
    if tested:
        subprocess.run(program, cwd=tmp_path, check=True)
        subprocess.run(["./toy_test"], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)


def test_jax_computes_the_same():
    if importlib.util.find_spec("jax") is None:
        pytest.skip("extra [jax] is not installed")
    command = [sys.executable, "-m", "oracles.toy_operations"]
    run = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr[-2000:]
    errors = json.loads(run.stdout)
    assert set(errors) == set(NAMES) and max(errors.values()) < 1e-13


def test_a_toy_leaves_the_table_as_it_was():
    before = dict(ops.OPERATIONS)
    with ops.extended(TOYS["atan"]):
        assert "atan" in ops.OPERATIONS
        with pytest.raises(ValueError, match="'atan' stands in the table already"), table("atan"):
            pass
        assert "atan" in ops.OPERATIONS
    assert before == ops.OPERATIONS
    with pytest.raises(KeyError):
        Builder().unary("atan", Builder().input(0, 0))


@pytest.mark.parametrize("op", ops.OPERATIONS.values(), ids=lambda op: op.name)
def test_parities_of_the_table_are_those_of_its_functions(op):
    x = np.linspace(0.1, 2.0, 9)
    if op.arity == 1 and op.parity is not ops.Parity.NEITHER:
        sign = -1 if op.parity is ops.Parity.ODD else 1
        np.testing.assert_array_equal(op.numpy(-x), sign * op.numpy(x))
    elif op.arity == 1:
        with np.errstate(invalid="ignore"):
            assert not np.array_equal(np.abs(op.numpy(-x)), np.abs(op.numpy(x)))
    else:
        assert op.parity is None


ROOM = Path(ops.__file__).parents[1]
FILES = [p for room in ("graph", "machine") for p in sorted((ROOM / room).rglob("*.py"))]
NAMED = ["sqrt", "abs", "fabs", "sign", "tanh", "exp", "div"]


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(ROOM).as_posix())
def test_no_other_file_lists_operations(path):
    """Names in quotes, those apart that a pass treats by its algebra; own functions have theirs where they are made."""
    if path.name == "ops.py":
        return
    text = path.read_text()
    quoted = [name for name in NAMED if f'"{name}"' in text]
    allowed = {"elementary.py": ["tanh"], "graph.py": ["div"], "verify.py": ["div"]}
    assert quoted == allowed.get(path.name, [])
