"""Orders of straight-line code: the model of a processor that judges them, and what each order does."""

from __future__ import annotations

import random

import pytest

from dynarm.graph.graph import Builder, Port
from dynarm.machine.lower import order as orders
from dynarm.machine.lower.fusion import Instruction
from dynarm.machine.lower.order import by_latency, cycles, depth_first


def chain(count: int, first: int, op: str = "add", start: int = 0) -> list[Instruction]:
    """Operations each of which needs the one before."""
    return [
        Instruction(op, first + k, (first + k - 1 if k else start, start)) for k in range(count)
    ]


def apart(count: int, first: int, op: str = "add") -> list[Instruction]:
    """Operations on inputs alone."""
    return [Instruction(op, first + k, (0, 1)) for k in range(count)]


def simulated(order: list[Instruction]) -> int:
    """The same processor, watched cycle by cycle: two start in each, the oldest that can."""
    own = {ins.dest for ins in order}
    slow = {"div": 24, "sqrt": 24}
    done: dict[int, int] = {}
    start: dict[int, int] = {}
    t = 0
    while len(start) < len(order):
        free = 2
        for k, ins in enumerate(order):
            if k in start or not free or t < k // 6 or (k >= 97 and k - 97 not in start):
                continue
            if all(a not in own or done.get(a, t + 1) <= t for a in ins.args):
                start[k], done[ins.dest], free = t, t + slow.get(ins.op, 4), free - 1
        t += 1
    return max(done.values(), default=0)


@pytest.mark.parametrize("seed", range(8))
def test_cycles_are_those_of_the_processor_watched_cycle_by_cycle(seed):
    rng = random.Random(seed)
    near = (3, 10, 40, 200)[seed % 4]  # how far back operands lie
    order = []
    for k in range(10, 240):
        args = [rng.randrange(max(0, k - near), k) for _ in range(2)]
        order.append(Instruction(rng.choice(("add", "fma", "mul", "div", "sqrt")), k, tuple(args)))
    assert cycles(order) == simulated(order)


def test_cycles_of_known_orders():
    assert cycles([]) == 0
    assert cycles(chain(50, 10)) == 200
    assert cycles(chain(50, 10, "div")) == cycles(chain(50, 10, "sqrt")) == 1200
    assert cycles(apart(50, 10)) == 24 + 4, "two start in a cycle"
    # the seventh instruction is fetched a cycle later than the first six
    assert cycles([*chain(6, 10), *apart(1, 90, "div")]) == 1 + 24
    # what comes 97 places later waits for the start of what is before it
    assert cycles([*chain(110, 10), *chain(100, 500)]) == 4 * (110 - 97 + 100)


def test_the_deeper_argument_comes_first():
    body = [
        Instruction("mul", 10, (0, 1)),  # shallow
        Instruction("mul", 11, (0, 2)),
        Instruction("add", 12, (11, 2)),  # deep
        Instruction("sub", 13, (10, 12)),
        Instruction("mul", 14, (3, 3)),
        Instruction("add", 15, (14, 13)),
        Instruction("mul", 16, (12, 12)),  # no root leads here
    ]
    assert [ins.dest for ins in depth_first(body, [14, 0, 15])] == [14, 11, 12, 10, 13, 15, 16]
    assert [ins.dest for ins in depth_first(body, [16, 15])] == [11, 12, 16, 10, 13, 14, 15]


def test_the_longest_way_goes_first_and_nothing_waits_that_need_not():
    """A chain that stands last begins at once, two start in a cycle, and its next link as soon as it can."""
    body = [*apart(20, 100), *chain(4, 10)]
    found = [ins.dest for ins in by_latency(body)]
    assert [found.index(10 + k) for k in range(4)] == [0, 8, 16, 23]
    assert [d for d in found if d >= 100] == list(range(100, 120)), "ties stay as they were written"
    # a quotient's way is longer than that of five sums
    body = [*chain(5, 10), *apart(1, 100, "div")]
    assert [ins.dest for ins in by_latency(body)] == [100, 10, 11, 12, 13, 14]
    body = [*chain(7, 10), *apart(1, 100, "div")]
    assert [ins.dest for ins in by_latency(body)] == [10, 100, 11, 12, 13, 14, 15, 16]


def trees(count: int, leaves: int = 2) -> list[Instruction]:
    """Sums of products, all products written first."""
    products = [Instruction("mul", 100 + k, (0, k)) for k in range(count * leaves)]
    sums = [
        Instruction("add", 1000 + k, (100 + leaves * k, 101 + leaves * k)) for k in range(count)
    ]
    return [*products, *sums]


def alive_at_most(order: list[Instruction]) -> int:
    """The most values of the order itself that wait to be read."""
    own = {ins.dest for ins in order}
    left = {k: sum(k in ins.args for ins in order) for k in own}
    alive = most = 0
    for ins in order:
        for a in {a for a in ins.args if a in own}:
            left[a] -= 1
            alive -= left[a] == 0
        alive += left[ins.dest] > 0
        most = max(most, alive)
    return most


def test_an_order_by_latency_keeps_few_values_alive():
    """From sixteen values on, what frees registers goes first."""
    body = trees(40)
    assert alive_at_most(body) == 80
    order = by_latency(body)
    assert alive_at_most(order) == 16
    assert sorted(order) == sorted(body)
    assert cycles(order) == 120 / 2 + 3, (
        "as soon as there is room again, the longest way goes first"
    )


def test_outputs_go_before_values_that_wait_again():
    """Under pressure an output, which nobody reads, comes before the next link of another chain."""
    heads = [Instruction("mul", 100 + k, (0, k)) for k in range(40)]
    links = [Instruction("mul", 200 + k, (100 + k, 1)) for k in range(40)]
    ends = [Instruction("mul", 300 + k, (200 + k, 1)) for k in range(40)]
    order = [ins.dest for ins in by_latency([*heads, *links, *ends])]
    assert order[:16] == list(range(100, 116)), "the longest ways first, until sixteen wait"
    assert order.index(300) < order.index(215)
    assert alive_at_most(by_latency([*heads, *links, *ends])) == 16


def test_outputs_by_rows_are_as_they_are_written():
    build = Builder()
    x = [build.input(0, k) for k in range(3)]
    graph = build.finish(
        [Port("x", (3,))], [Port("v", ()), Port("w", (3,))], [x[2:], [x[1], x[0], -x[1]]]
    )
    assert [graph.nodes[k].args[1] for k in orders.outputs_by_rows(graph)] == [2, 1, 0, 1]
