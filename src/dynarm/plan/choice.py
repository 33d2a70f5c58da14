"""Which formulation is cheapest for a robot, and what each costs: graphs of quantities, counted."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from ..algebra.vectors import Nested, Scalar, Vec3
from ..border.words import shown
from ..dynamics.drive_train import coupled_inertia
from ..dynamics.table import (
    DIFFERENTIATED,
    PAIRS,
    PARTS,
    RESTING,
    WHOLE,
    Formulation,
    applicable,
    formulation,
)
from ..dynamics.table import QUANTITIES as TABLED
from ..errors import InputError, KindError
from ..graph.graph import Builder, Count, Graph
from ..graph.simplify import simplify
from ..graph.trace import trace_function
from ..parameters.minimal import MinimalParameters, minimal_parameters
from ..robot.arm import Arm
from ..robot.frames.chain import Chain, chain_of
from .printed import AsPrinted, as_printed
from .quantities import quantity_named
from .regularity import check_regular
from .scene import PLAIN, Options, Scene
from .sizes import sizes_of

NEAR = 1.04  # formulations this close to the cheapest are compared after factoring
FEW = 3  # joints up to which automatic differentiation may win over the derivatives by composite bodies
MEMORY = 256  # winners that are remembered
FACTORED = 3000  # operations up to which a graph is factored; longer ones gain about 1 % for seconds of work

Key = tuple[Arm, str, Options, MinimalParameters | None]
_WINNERS: dict[Key, Formulation] = {}


@dataclass(frozen=True, slots=True, eq=False)
class Planned:
    """The graph of a quantity and the formulations that it was made with."""

    graph: Graph
    chosen: dict[str, Formulation]


def planned(
    arm: Arm,
    quantity: str,
    wishes: Mapping[str, str],
    options: Options = PLAIN,
    minimal: MinimalParameters | None = None,
) -> Planned:
    """The graph of a quantity by the wished formulations, else by the cheapest ones; each is traced once."""
    key = (arm, quantity, options, minimal)
    parts = {quantity, *PARTS.get(quantity, ())}
    if quantity in TABLED and not parts & wishes.keys() and key not in _WINNERS:
        winner = _contest(*key)
        if winner.graph is not None:
            return Planned(winner.graph, {quantity: winner.row})
    chosen = choose(arm, quantity, wishes, options, minimal)
    return Planned(graph(arm, quantity, chosen, options, minimal), chosen)


def graph(
    arm: Arm,
    quantity: str,
    chosen: Mapping[str, Formulation],
    options: Options = PLAIN,
    minimal: MinimalParameters | None = None,
    simple: bool = True,
) -> Graph:
    """The graph of a quantity, computed with the chosen formulations; `minimal` where it asks for them.

    simple: whether common factors are pulled out of its sums.
    """
    drawn = traced(arm, quantity, chosen, options, minimal, share=True)
    return factored(drawn) if simple else drawn


def factored(drawn: Graph) -> Graph:
    """The graph with common factors pulled out of its sums, if it is short enough for that."""
    return simplify(drawn) if len(drawn.nodes) <= FACTORED else drawn


def written(arm: Arm, quantity: str, chosen: Mapping[str, Formulation]) -> Graph:
    """The graph of a quantity with every repetition that its formulas have."""
    return traced(arm, quantity, chosen, PLAIN, None, share=False)


def traced(
    arm: Arm,
    quantity: str,
    chosen: Mapping[str, Formulation],
    options: Options,
    minimal: MinimalParameters | None,
    share: bool,
    build: Builder | None = None,
) -> Graph:
    """The graph of a quantity as its formulations write it; with share=False every repetition counts."""
    word = quantity_named(quantity)
    if word.solves and not options.values_input:
        check_regular(arm, options.friction)
    if minimal is None and word.needs_minimal(options):
        minimal = minimal_of(arm, options)
    p = minimal.count if minimal is not None else 0
    sizes = sizes_of(arm, p)
    inputs = word.inputs(sizes, options)

    def compute(*given: Sequence[Scalar]) -> Nested:
        named = {port.name: values for port, values in zip(inputs, given, strict=True)}
        return word.compute(Scene(arm, options, chosen, named, minimal))

    return trace_function(inputs, word.outputs(sizes), compute, share, build)


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
    chosen = {}
    for used in quantity_named(quantity).uses:
        parts = PARTS.get(used, ())
        if used in wishes:
            chosen[used] = wished(arm, used, wishes[used], options)
        elif any(part in wishes for part in parts):
            named = [choose(arm, part, wishes, options, minimal)[part].name for part in parts]
            chosen[used] = wished(arm, used, "+".join(named), options)
        else:
            chosen[used] = cheapest(arm, used, options, minimal)
    return chosen


def wished(arm: Arm, quantity: str, name: str, options: Options) -> Formulation:
    """The formulation of that name, refused where it does not serve the robot."""
    row = formulation(quantity, name, probe(arm, options))
    reason = unsuited(row, arm, options)
    if reason:
        others = ", ".join(r.name for r in candidates(arm, quantity, options, None))
        raise InputError(
            f"{name} does not serve for {quantity} of this robot: {reason}; these do: {others}"
        )
    return row


@dataclass(frozen=True, slots=True, eq=False)
class Winner:
    """The cheapest formulation of a quantity; its graph, where it had rivals and was traced."""

    row: Formulation
    graph: Graph | None = None


def cheapest(
    arm: Arm, quantity: str, options: Options = PLAIN, minimal: MinimalParameters | None = None
) -> Formulation:
    """The formulation with the fewest multiplications and additions for this very robot; of equals the first."""
    key = (arm, quantity, options, minimal)
    known = _WINNERS.get(key)
    return known if known is not None else _contest(*key).row


def _contest(
    arm: Arm, quantity: str, options: Options, minimal: MinimalParameters | None
) -> Winner:
    """The winner among the formulations that apply, each traced once; long graphs are kept while it leads."""
    rows = candidates(arm, quantity, options, minimal)
    if len(rows) == 1:
        return _remembered((arm, quantity, options, minimal), Winner(rows[0]))
    short: dict[int, Graph] = {}  # those that factoring is tried on
    leader: tuple[int, Graph] | None = None  # of the longer ones
    totals = []
    for k, row in enumerate(rows):
        drawn = traced(arm, quantity, {quantity: row}, options, minimal, share=True)
        totals.append(drawn.total)
        if len(drawn.nodes) <= FACTORED:
            short[k] = drawn
        elif totals[k] == min(totals):
            leader = (k, drawn)
    simple = {}

    def cost(k: int) -> int:
        simple[k] = simplify(short[k])
        return simple[k].total

    best = preferred(totals, short.keys(), cost)
    made = simple.get(best)
    if made is None and best in short:
        made = simplify(short[best])
    if made is None and leader is not None and leader[0] == best:
        made = leader[1]
    return _remembered((arm, quantity, options, minimal), Winner(rows[best], made))


def _remembered(key: Key, winner: Winner) -> Winner:
    while len(_WINNERS) >= MEMORY:
        _WINNERS.pop(next(iter(_WINNERS), key), None)
    _WINNERS[key] = winner.row
    return winner


def candidates(
    arm: Arm, quantity: str, options: Options, minimal: MinimalParameters | None
) -> list[Formulation]:
    """The formulations of a quantity that are worth trying for a robot, in the order of the table."""
    chain = probe(arm, options)
    rows = [row for row in applicable(quantity, chain) if not unsuited(row, arm, options)]
    differentiated = quantity in DIFFERENTIATED and arm.n <= FEW and not arm.floating
    if quantity in PAIRS or quantity in RESTING or differentiated:
        pair = "+".join(cheapest(arm, part, options, minimal).name for part in PARTS[quantity])
        rows.append(formulation(quantity, pair))
    if quantity in WHOLE and not options.wrench:
        names = (row.name for row in applicable(WHOLE[quantity], chain))
        wholes = [formulation(quantity, name) for name in names]
        rows += [row for row in wholes if not unsuited(row, arm, options)]
    return rows


def unsuited(row: Formulation, arm: Arm, options: Options) -> str | None:
    """Why a formulation does not serve a robot's couplings, tools or base, or None."""
    alone = row.quantity == "forward_dynamics" and not row.parts
    own = row.quantity == "forward_dynamics" and len(row.parts) < 2
    if alone and not arm.coupling.free:
        return "it solves joint by joint, and joints of this robot follow others"
    if own and options.friction and coupled_inertia(arm.joints) is not None:
        return (
            "it solves for rigid bodies, and drives of this robot feel other joints' accelerations"
        )
    if options.wrench and row.quantity in WHOLE and len(row.parts) == 1:
        return "its bias vector knows no wrench on the tool"
    if options.wrench and arm.tools is not None and not row.trees:
        return "it speaks of one tool on the last link"
    if arm.floating and row.parts and row.quantity in DIFFERENTIATED:
        return (
            "the speeds of a free base are no rates of coordinates that one could differentiate by"
        )
    return None


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
    """Operations of the simplified graph, of the formulas as they were written, and of the paper's own listing.

    `dynarm.count` makes it. Negations and products of constants are free; `total` is what costs time, sines and
    cosines apart.

    Attributes
    ----------
    mul : int
        Multiplications; `2*x` is one.
    add : int
        Additions and subtractions.
    div : int, default 0
        Divisions.
    sqrt : int, default 0
        Square roots.
    sincos : int, default 0
        Pairs of sine and cosine.
    other : int, default 0
        Other operations, such as exp.
    depth : int, default 0
        Longest chain of operations that wait for each other.
    as_written : Count, optional
        The same of the formulas as they were written, before simplification.
    as_printed : AsPrinted, optional
        Counted as the paper prints it, where its listing is transcribed.

    Examples
    --------
    >>> cost = dynarm.count(dynarm.load("two_link"), "mass_matrix")
    >>> cost.mul + cost.add + cost.div + cost.sqrt == cost.total
    True
    """

    as_written: Count = Count(0, 0)
    as_printed: AsPrinted | None = None


def count(arm: Arm, quantity: str, formulation: str | None = None) -> Counted:
    """Operations that a quantity of this arm costs, by the given formulation or the cheapest one.

    Multiplications, additions, divisions, square roots, sin/cos pairs and the critical path of the graph after
    simplification, and in `.as_written` the same before. `.as_printed`: the paper's own listing line by line, where it
    is transcribed and speaks of such an arm (lin1991 Fig. 3 and A1, linfang1999 Tables I to V, VII), else None.

    Parameters
    ----------
    arm : Arm
        The robot.
    quantity : str
        What is computed, such as "mass_matrix".
    formulation : str, optional
        One of `dynarm.formulations(quantity)`; default: the cheapest.

    Returns
    -------
    Counted
        Counts `.mul`, `.add`, `.div`, `.sqrt`, `.sincos`, `.depth`; `.as_written` and
        `.as_printed` are such counts too.

    Examples
    --------
    >>> cost = dynarm.count(dynarm.load("puma560"), "inverse_dynamics")
    >>> cost.mul, cost.add
    (167, 139)
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
    plan = planned(arm, quantity, wishes)
    simple = plan.graph.count()
    eager = written(arm, quantity, plan.chosen).count()
    row = plan.chosen.get(quantity)
    listed = as_printed(chain_of(arm), quantity, row.name) if row is not None else None
    plain = {f.name: getattr(simple, f.name) for f in fields(Count)}
    return Counted(**plain, as_written=eager, as_printed=listed)
