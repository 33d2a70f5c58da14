"""Code for processors that need not be here: made, verified and emitted for each of them in every run."""

from __future__ import annotations

import re

import llvmlite.binding as llvm
import pytest

import dynarm
from dynarm.machine import compile_graph
from dynarm.machine.emit.kernel import kernel_text
from dynarm.machine.emit.llvm import LOCK, compile_runtime, machine
from dynarm.machine.emit.loop import runtime_text
from dynarm.machine.host import TARGETS, Host, kinds, named
from dynarm.machine.load.march import _TEXT as MARCH
from dynarm.machine.lower.program import program_of
from oracles.machine_graphs import newton_euler_graph, random_graph
from strategies import random_arm

ELF = b"\x7fELF\x02\x01\x01"  # 64 bits, little endian
MACHINE = {"x86_64": 62, "aarch64": 183}
# What tells that vectors of the right width are computed with, and what a fused multiply-add is called
REGISTER = {"AVX-512": r"%zmm\d", "AVX2": r"%ymm\d", "SSE2": r"%xmm\d", "NEON": r"v\d+\.2d"}
WIDER = {"AVX-512": r"%tmm", "AVX2": r"%zmm", "SSE2": r"%ymm", "NEON": r"\bz\d+\.d"}
FUSED = dict.fromkeys(TARGETS, r"\bvfn?m(add|sub)") | {"NEON": r"\bfml[as]|\bfn?m(add|sub)"}
# An x86 that keeps stores in order for all but those past the caches needs an instruction here; arm needs one anyway
FENCE = {"x86_64": r"\bmfence\b|lock\s+or", "aarch64": r"\bdmb\s+ish\b"}
# arm knows it for pairs of registers only
PAST = {"x86_64": r"v?movntp[ds]", "aarch64": r"\bst[rnp]"}


def graphs():
    import numpy as np

    model = dynarm.compile(random_arm(np.random.default_rng(3), 4, "RPRR", gravity="generic"))
    yield "inverse_dynamics", model.graph("inverse_dynamics")
    yield "mass_matrix", model.graph("mass_matrix")
    yield "forward_dynamics", model.graph("forward_dynamics")
    yield "random", random_graph(3, 80, ((1,), (2,), (3,), (5,), ()), ((1,), (3,), (4, 5), ()))
    yield "long", newton_euler_graph(40)


GRAPHS = dict(graphs())


def kernel(name: str, target: Host) -> str:
    graph = GRAPHS[name]
    program = program_of(graph, target.fused, target.tuning)
    return kernel_text(program, graph.inputs, graph.outputs, target)


def verified(text: str) -> None:
    """Refuse a module that is not well-formed: parsing alone lets some things pass."""
    with LOCK, llvm.create_context() as context, llvm.parse_assembly(text, context) as module:
        module.verify()


def assembly(text: str, target: Host) -> dict[str, str]:
    """The instructions of every function, by name."""
    with LOCK, llvm.create_context() as context, llvm.parse_assembly(text, context) as module:
        module.triple = target.triple
        lines = machine(target).emit_assembly(module).splitlines()
    functions: dict[str, list[str]] = {}
    current: list[str] = []
    for line in lines:
        label = re.match(r"([A-Za-z_]\w*):", line)
        if label:
            current = functions[label.group(1)] = []
        current.append(line)
    return {name: "\n".join(body) for name, body in functions.items()}


def every_kind() -> dict[str, Host]:
    """All that the targets can be forced to."""
    return {
        f"{name}: {kind}": made for name in TARGETS for kind, made in kinds(named(name)).items()
    }


def test_the_verifier_is_one():
    with pytest.raises(RuntimeError):
        verified("define void @f() {\nb:\n%x = add i64 %x, 1\nret void\n}")


@pytest.mark.parametrize("kind", every_kind())
def test_what_kernels_share_is_well_formed(kind):
    target = every_kind()[kind]
    text = runtime_text(target)
    verified(text)
    assert ("@wide(" in text) == (target.width > 1)
    verified(MARCH)


@pytest.mark.parametrize("kind", every_kind())
@pytest.mark.parametrize("name", ["inverse_dynamics", "random"])
def test_kernels_are_well_formed(name, kind):
    verified(kernel(name, every_kind()[kind]))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", GRAPHS)
def test_kernels_become_objects(name, target):
    verified(kernel(name, named(target)))
    code = compile_graph(GRAPHS[name], name, named(target))
    assert code.startswith(ELF)
    assert int.from_bytes(code[18:20], "little") == MACHINE[named(target).triple.split("-")[0]]


@pytest.mark.parametrize("target", TARGETS)
def test_what_kernels_share_becomes_an_object(target):
    code = compile_runtime(named(target))
    assert code.startswith(ELF)
    assert int.from_bytes(code[18:20], "little") == MACHINE[named(target).triple.split("-")[0]]


@pytest.mark.parametrize("target", TARGETS)
def test_kernels_use_the_vectors_of_their_processor_and_none_wider(target):
    host = named(target)
    text = kernel("inverse_dynamics", host)
    heads = f"piece{host.width}_", f"woven{host.width}"
    body = "\n".join(x for name, x in assembly(text, host).items() if name.startswith(heads))
    assert re.search(REGISTER[target], body)
    assert not re.search(WIDER[target], body)
    assert bool(re.search(FUSED[target], body)) == host.fused


@pytest.mark.parametrize("target", TARGETS)
def test_what_went_past_the_caches_is_fenced(target):
    """Whoever is told that the call is over must see what it wrote: that takes a barrier, which is an instruction."""
    host = named(target)
    family = host.triple.split("-")[0]
    functions = assembly(runtime_text(host), host)
    assert re.search(PAST[family], functions[f"streamed{host.width}"])
    assert re.search(FENCE[family], functions["wide"])
    outside = [name for name, body in functions.items() if re.search(FENCE[family], body)]
    assert outside == ["wide"], "no other function waits"
