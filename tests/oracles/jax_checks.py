"""What `model.jax` gives, compared with the compiled functions: a script that prints the largest errors as JSON.

JAX starts threads that do not survive a fork, and brings an LLVM of its own: it gets a process to itself.
"""

from __future__ import annotations

import json
import sys

import jax
import numpy as np

import dynarm
from dynarm.robot.formats.urdf import arm_of_urdf
from dynarm.robot.frames.generic import generic_arm
from oracles.random_trees import tree_urdf
from oracles.rich_friction import rich


def states(model: dynarm.Model, name: str, batch: tuple[int, ...]) -> list[np.ndarray]:
    """Inputs of a quantity, the same in every process."""
    rng = np.random.default_rng(0)
    return [rng.uniform(-2, 2, (*batch, *port.shape)) for port in model.ports(name)[0]]


def difference(found: object, wanted: object) -> float:
    """The largest difference, relative to the largest entry where that is above 1."""
    pairs = zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True)
    return max(float(np.abs(a - b).max() / max(1.0, np.abs(b).max())) for a, b in pairs)


def free_tree() -> dynarm.Arm:
    """A tree with two tools on a free base, some of its joints following others."""
    text = tree_urdf(np.random.default_rng(11), 5, mimic=0.4)
    return arm_of_urdf(text.encode(), "tree", floating=True, tools=["l2", "end4"])


def remembered() -> float:
    """Of friction with memory: the forces with a state, and the state one sample on."""
    model = dynarm.compile(rich(dynarm.load("two_link")), friction=True)
    args = states(model, "inverse_dynamics:friction_state", (5,))
    q, state = args[0], model.friction_state.start(args[0] + 0.003)
    made = jax.jit(model.jax("inverse_dynamics:friction_state"))(*args[:3], state)
    wanted = model.inverse_dynamics(*args[:3], friction_state=state)
    after = model.jax("friction_state_next")(state, q)
    return max(difference(made, wanted), difference(after, model.friction_state.next(state, q)))


def main(names: list[str]) -> None:
    jax.config.update("jax_enable_x64", True)
    model = dynarm.compile(generic_arm(4, 2))
    tree = dynarm.compile(free_tree())
    errors = {}
    for name in names:
        for key, compiled in ((name, model), (f"tree {name}", tree)):
            args = states(compiled, name, (3, 2))
            got = jax.jit(compiled.jax(name))(*args)
            errors[key] = difference(got, compiled.functions[name](*args))
    q, qd, qdd = states(model, "inverse_dynamics", (5,))
    slopes = jax.vmap(jax.jacfwd(model.jax("inverse_dynamics"), argnums=0))(q, qd, qdd)
    errors["slopes"] = difference(slopes, model.inverse_dynamics_derivatives(q, qd, qdd)[0])
    errors["memory"] = remembered()
    print(json.dumps(errors))


if __name__ == "__main__":
    main(sys.argv[1:])
