"""Which formulation is cheapest for a robot, and what each costs: graphs of quantities, counted."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

from ..algebra.vectors import Scalar, Vec3
from ..border.words import shown
from ..dynamics.table import PAIRS, PARTS, Formulation, applicable, formulation
from ..errors import InputError, KindError
from ..graph.graph import Count, Graph
from ..graph.simplify import simplify
from ..graph.trace import trace_function
from ..parameters.minimal import MinimalParameters, minimal_parameters
from ..robot.arm import Arm
from ..robot.frames.chain import Chain, chain_of
from .quantities import quantity_named
from .regularity import check_regular
from .scene import PLAIN, Options, Scene

NEAR = 1.04  # formulations this close to the cheapest are compared after factoring
FEW = 3  # joints up to which automatic differentiation may win over the derivatives by composite bodies
FACTORED = 3000  # operations up to which a graph is factored; longer ones gain about 1 % for seconds of work


def graph(
    arm: Arm,
    quantity: str,
    chosen: Mapping[str, Formulation],
    options: Options = PLAIN,
    minimal: MinimalParameters | None = None,
    simple: bool = True,
) -> Graph:
    """The graph of a quantity, computed with the chosen formulations; `minimal` where it asks for them.

    simple=False leaves out the factoring of sums, which takes longer than it gains where graphs are only compared.
    """
    found = _traced(arm, quantity, chosen, options, minimal, share=True)
    return simplify(found) if simple and len(found.nodes) <= FACTORED else found


def written(arm: Arm, quantity: str, chosen: Mapping[str, Formulation]) -> Graph:
    """The graph of a quantity with every repetition that its formulas have."""
    return _traced(arm, quantity, chosen, PLAIN, None, share=False)


def _traced(
    arm: Arm,
    quantity: str,
    chosen: Mapping[str, Formulation],
    options: Options,
    minimal: MinimalParameters | None,
    share: bool,
) -> Graph:
    word = quantity_named(quantity)
    if word.solves and not options.values_input:
        check_regular(arm, options.friction)
    if minimal is None and word.needs_minimal(options):
        minimal = minimal_of(arm, options)
    p = minimal.count if minimal is not None else 0
    inputs = word.inputs(arm.n, options, p)

    def compute(*given: Sequence[Scalar]) -> Any:
        named = {port.name: values for port, values in zip(inputs, given, strict=True)}
        return word.compute(Scene(arm, options, chosen, named, minimal))

    return trace_function(inputs, word.outputs(arm.n, p), compute, share)


def probe(arm: Arm, options: Options) -> Chain:
    """The chain that formulations are asked about. Where its parameters are inputs they may be anything: no masses."""
    chain = chain_of(arm)
    if not options.values_input:
        return chain
    bodies = [replace(b, m=0.0, h=Vec3(1.0, 1.0, 1.0)) for b in chain.joints]
    return replace(chain, joints=tuple(bodies))


def minimal_of(arm: Arm, options: Options) -> MinimalParameters:
    """The minimal parameters that a model's functions speak of: for any gravity where that is an input."""
    return minimal_parameters(arm, gravity="any" if options.gravity_input else None)


def choose(
    arm: Arm,
    quantity: str,
    wishes: Mapping[str, str],
    options: Options = PLAIN,
    minimal: MinimalParameters | None = None,
) -> dict[str, Formulation]:
    """The formulation for each table quantity that a quantity is built from: the wished one, else the cheapest."""
    found = {}
    for used in quantity_named(quantity).uses:
        parts = PARTS.get(used, ())
        if used in wishes:
            found[used] = formulation(used, wishes[used], probe(arm, options))
        elif any(part in wishes for part in parts):
            named = [choose(arm, part, wishes, options, minimal)[part].name for part in parts]
            found[used] = formulation(used, "+".join(named), probe(arm, options))
        else:
            found[used] = cheapest(arm, used, options, minimal)
    return found


@lru_cache(maxsize=256)
def cheapest(
    arm: Arm, quantity: str, options: Options = PLAIN, minimal: MinimalParameters | None = None
) -> Formulation:
    """The formulation with the fewest multiplications and additions for this very robot; of equals the first."""
    rows = applicable(quantity, probe(arm, options))
    if quantity in PAIRS or (quantity in PARTS and arm.n <= FEW):
        pair = "+".join(cheapest(arm, part, options, minimal).name for part in PARTS[quantity])
        rows.append(formulation(quantity, pair))
    if len(rows) == 1:
        return rows[0]
    short: dict[int, Graph] = {}  # those that factoring is tried on; long ones are not kept
    totals = []
    for k, row in enumerate(rows):
        found = graph(arm, quantity, {quantity: row}, options, minimal, simple=False)
        totals.append(found.total)
        if len(found.nodes) <= FACTORED:
            short[k] = found
    return rows[preferred(totals, short.keys(), lambda k: simplify(short[k]).total)]


def preferred(totals: Sequence[int], short: Collection[int], factored: Callable[[int], int]) -> int:
    """Which of several graphs with so many operations is taken.

    Those near the cheapest are compared again after factoring, if all of them are short enough for that. Of equal ones
    the first is taken: the order of the table decides, and no clock and no hash.
    """
    least = min(totals)
    close = [k for k, total in enumerate(totals) if total <= NEAR * least + 4]
    if len(close) == 1 or not all(k in short for k in close):
        return totals.index(least)
    return min(close, key=factored)


@dataclass(frozen=True, slots=True)
class Counted(Count):
    """Operations of the simplified graph, and of the formulas as they were written."""

    as_written: Count = Count(0, 0)


def count(arm: Arm, quantity: str, formulation: str | None = None) -> Counted:
    """Operations that a quantity of this arm costs, by the given formulation or the cheapest one.

    Multiplications, additions, divisions, square roots, sin/cos pairs and the critical path of the graph after
    simplification, and in `.as_written` the same before.
    """
    if not isinstance(arm, Arm):
        raise KindError(
            f"arm is {shown(arm)}; give a dynarm.Arm, for example dynarm.load('puma560')"
        )
    uses = quantity_named(quantity).uses
    if formulation is not None and quantity not in uses:
        built = f"it is built from {', '.join(uses)}" if uses else "there is one way to compute it"
        raise InputError(f"{quantity} has no formulations of its own; {built}")
    wishes = {quantity: formulation} if formulation is not None else {}
    chosen = choose(arm, quantity, wishes)
    simple = graph(arm, quantity, chosen).count()
    eager = written(arm, quantity, chosen).count()
    return Counted(**{f.name: getattr(simple, f.name) for f in fields(Count)}, as_written=eager)
