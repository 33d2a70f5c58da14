"""The compiled functions of a mobile manipulator by name: their ports and graphs.

    equations       q, z              -> M, F, B of (8)
    reduced         q, z              -> the same through (7) and S, as the paper writes it
    kane_equations  q, u              -> M, F, B of (7)
    control         q, z, tau, load   -> M, F, B, zd, wrench, forces, ground
    derivative      q, z, tau, load   -> qd, zd
    prescribed      q, z, zd, load    -> needed, ground, push
    inverse_dynamics  q, z, zd, gravity, load -> tau
    ground          q, z, zd, gravity, load -> forces, friction, angles, measure, load on the ground
    demand          q, z, zd, gravity, load -> load on the ground, rolling force of each wheel
    energy          q, z              -> kinetic, potential

Every function of a steered platform also returns `skew`, the squared sideways and turning speed per unit of forward
speed, which says how near the steering angle is to a singular one. `:locked` is the steering column held fast.
"""

from __future__ import annotations

from functools import partial

from ..border.kinds import Maker
from ..graph.graph import Graph, Port
from ..graph.trace import trace_function
from . import planned
from .formulas import Formulas

PLANNED = {
    "inverse_dynamics": planned.inverse_dynamics,
    "ground": planned.contact,
    "demand": planned.demand,
}

NAMES = (
    "equations",
    "reduced",
    "kane_equations",
    "control",
    "control:locked",
    "derivative",
    "derivative:locked",
    "prescribed",
    "inverse_dynamics",
    "ground",
    "demand",
    "energy",
)


def ports(f: Formulas, name: str) -> tuple[tuple[Port, ...], tuple[Port, ...]]:
    """Inputs and outputs of a function."""
    n, w = f.n, len(f.wheels)
    steered = f.guidance.steered
    q, z = Port("q", (f.coordinates,)), Port("z", (n,))
    k = 2 + steered + f.m
    tau, load = Port("tau", (f.inputs,)), Port("load", (6,))
    gravity = Port("gravity", (3,))
    skew = (Port("skew", ()),) if steered else ()
    MFB = (Port("M", (n, n)), Port("F", (n,)), Port("B", (n, f.inputs)))
    MFB7 = (Port("M", (k, k)), Port("F", (k,)), Port("B", (k, f.inputs)), Port("Zo", ()))
    # a swerve wheel is pushed along x and y
    push = Port("push", (w + sum(wheel.kind == "swerve" for wheel in f.wheels),))
    ground_port, zd = Port("ground", (6,)), Port("zd", (n,))
    forces = (zd, Port("wrench", (6,)), Port("forces", (w, 3)), ground_port)
    table: dict[str, tuple[tuple[Port, ...], tuple[Port, ...]]] = {
        "equations": ((q, z), MFB + skew),
        "reduced": ((q, z), MFB),
        "kane_equations": ((q, Port("u", (k,))), MFB7),
        "control": ((q, z, tau, load), MFB + forces + skew),
        "derivative": ((q, z, tau, load), (Port("qd", (f.coordinates,)), zd, *skew)),
        "prescribed": ((q, z, zd, load), (Port("needed", (n,)), ground_port, push, *skew)),
        "inverse_dynamics": ((q, z, zd, gravity, load), (tau, *skew)),
        "ground": (
            (q, z, zd, gravity, load),
            (
                Port("forces", (w, 3)),
                Port("friction", (w,)),
                Port("angles", (len(f.support.axes),)),
                Port("measure", ()),
                Port("wrench", (6,)),
                *skew,
            ),
        ),
        "demand": ((q, z, zd, gravity, load), (ground_port, push, *skew)),
        "energy": ((q, z), (Port("kinetic", ()), Port("potential", ()))),
    }
    return table[name.partition(":")[0]]


def scalar_function(f: Formulas, name: str) -> Maker:
    """The function over flat lists of scalars; `:locked` holds the steering column."""
    plain, _, option = name.partition(":")
    if plain in PLANNED:
        return partial(PLANNED[plain], f)
    function: Maker = getattr(f, plain)
    return partial(function, locked=True) if option == "locked" else function


def graph_of(f: Formulas, name: str) -> Graph:
    """The traced graph of a function."""
    return trace_function(*ports(f, name), scalar_function(f, name))
