"""dynarm compile: a robot's dynamics as machine code, kept in the cache; what was chosen, and how fast it is."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import typer

from .console import print_json, progress, say, show_table
from .options import (
    FORMULATION,
    FRICTION,
    JSON,
    PORTION,
    ROBOT,
    Portion,
    formulation_wishes,
    load_arm,
    with_portion,
    words,
)

if TYPE_CHECKING:
    import numpy as np

    from ..border.kinds import Json
    from ..model.model import Model

EXAMPLES = (
    "dynarm compile puma560",
    "dynarm compile scara -q mass_matrix -f mass_matrix=composite_1",
)
DEFAULT = (
    "inverse_dynamics,forward_dynamics,mass_matrix,bias,gravity,coriolis_matrix,jacobian,regressor"
)
COLUMNS = [
    "quantity",
    "formulation",
    "mul",
    "add",
    "compile [ms]",
    "one call [us]",
    "batch [ns/sample]",
]
BATCH = 4096


QUANTITIES = typer.Option(
    DEFAULT, "--quantity", "-q", help="Names with commas between them, or all."
)


@with_portion
def compile(
    robot: str = ROBOT,
    quantities: str = QUANTITIES,
    formulation: list[str] = FORMULATION,
    friction: bool = FRICTION,
    portion: Portion = PORTION,
    as_json: bool = JSON,
) -> None:
    """Compile a robot's dynamics to machine code.

    Once: later programs take the code from the cache. Shows for every quantity the formulation that was chosen, its
    operations, and times measured here and now.
    """
    from ..machine.load.cache import directory
    from ..model.model import compile as compile_arm
    from ..plan.quantities import QUANTITIES

    wanted = (
        tuple(QUANTITIES) if quantities == "all" else words("--quantity", quantities, QUANTITIES)
    )
    arm = load_arm(robot, portion)
    model = compile_arm(arm, formulation_wishes(formulation) or None, friction=friction)
    rows = []
    with progress("compiling") as done:
        for k, name in enumerate(wanted):
            rows.append(measured(model, name))
            done((k + 1) / len(wanted))
    place = directory()
    if as_json:
        print_json({"robot": arm.name, "quantities": rows, "cache": str(place) if place else None})
        return
    title = f"{arm.name}, {arm.n} joints, one thread, batches of {BATCH}"
    show_table(title, COLUMNS, [[row[c] for c in COLUMNS] for row in rows], right=2)
    if place:
        say(f"kept in {place}")
    else:
        say("no cache folder can be used; the code is compiled anew in every program")


def measured(model: Model, name: str) -> Json:
    """What a quantity costs: operations, time to compile or to fetch from the cache, time of a call."""
    import numpy as np

    start = time.perf_counter()
    ufunc = model.functions[name]
    compiled = time.perf_counter() - start
    n = model.arm.n
    one = [np.random.default_rng(0).uniform(-1, 1, p.shape) for p in model.ports(name)[0]]
    many = [
        np.random.default_rng(1).uniform(-1, 1, (BATCH, *p.shape)) for p in model.ports(name)[0]
    ]
    counted = model.graph(name).count()
    chosen = dict.fromkeys(model.kernel(name).notes["formulation"].values())
    return {
        "quantity": name,
        "formulation": ", ".join(chosen),
        "mul": counted.mul,
        "add": counted.add,
        "joints": n,
        "compile [ms]": round(compiled * 1e3, 1),
        "one call [us]": round(best(ufunc, one, 200) * 1e6, 2),
        "batch [ns/sample]": round(best(ufunc, many, 10) / BATCH * 1e9, 1),
    }


def best(ufunc: np.ufunc, args: list[np.ndarray], repeats: int) -> float:
    """The shortest time of a call [s]."""
    shortest = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        ufunc(*args)
        shortest = min(shortest, time.perf_counter() - start)
    return shortest
