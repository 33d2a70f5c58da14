"""Words of a Model computed on plain numbers: the formulas themselves, without a graph or machine code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dynarm import Arm
from dynarm.dynamics.table import formulation
from dynarm.graph.trace import flatten
from dynarm.parameters.minimal import MinimalParameters
from dynarm.plan.choice import choose, graph
from dynarm.plan.quantities import QUANTITIES
from dynarm.plan.scene import PLAIN, Options, Scene
from dynarm.plan.sizes import sizes_of

ROWS = {  # one formulation of each quantity that takes every tree
    "inverse_dynamics": "gathered_newton_euler",
    "bias": "gathered_newton_euler",
    "mass_matrix": "gathered_composite",
    "mass_matrix_and_bias": "gathered_composite+gathered_newton_euler",
    "forward_dynamics": "gathered_composite+gathered_newton_euler",
    "coriolis_matrix": "composite",
    "coriolis_tensor": "composite",
    "inverse_dynamics_derivatives": "composite",
}
TRACED = {  # quantities that differentiate automatically, and so want symbols
    "jacobian_derivative",
    "momentum_rate",
    "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives",
}


def scene_of(
    arm: Arm,
    state: Mapping[str, Any],
    options: Options = PLAIN,
    minimal: MinimalParameters | None = None,
    **rows: str,
) -> Scene:
    """The scene of one state, a plain number each entry; rows: other formulations by quantity."""
    chosen = {quantity: formulation(quantity, name) for quantity, name in {**ROWS, **rows}.items()}
    given = {name: np.ravel(values).tolist() for name, values in state.items()}
    return Scene(arm, options, chosen, given, minimal)


def numbers_of(scene: Scene, quantity: str) -> tuple[np.ndarray, ...]:
    """The outputs of a quantity, shaped as the Model returns them."""
    assert quantity not in TRACED, f"{quantity} wants a graph"
    word = QUANTITIES[quantity]
    p = scene.minimal.count if scene.minimal is not None else 0
    ports = word.outputs(sizes_of(scene.arm, p))
    values = word.compute(scene)
    outputs = values if len(ports) > 1 else (values,)
    return tuple(
        np.array(flatten(x), float).reshape(port.shape)
        for x, port in zip(outputs, ports, strict=True)
    )


def derivatives_of(scene: Scene, qdd: Any) -> tuple[np.ndarray, ...]:
    """dtau/dq, dtau/dqd and M by composite bodies, without drives."""
    row = scene.chosen["inverse_dynamics_derivatives"]
    blocks = scene.run(row, scene.spread(scene.qd), scene.spread(list(qdd)))
    return tuple(np.array(scene.gathered_rows(block), float) for block in blocks)


def traced_numbers(
    arm: Arm, quantity: str, state: Mapping[str, Any], options: Options = PLAIN
) -> tuple[np.ndarray, ...]:
    """The outputs of a quantity's graph, by the formulations that a Model would take."""
    made = graph(arm, quantity, choose(arm, quantity, {}, options), options)
    return made.evaluate(*(state[port.name] for port in made.inputs))
