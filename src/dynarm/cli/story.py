"""The steps of the demo. Each writes what it finds into the story; its docstring is what a waiting person reads."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from .files import write_log

if TYPE_CHECKING:
    import numpy as np

    from ..identify.result import Fit
    from ..model.model import Model
    from ..report.story import Story
    from ..robot.arm import Arm

SHOWN = (
    "inverse_dynamics",
    "forward_dynamics",
    "mass_matrix",
    "bias",
    "coriolis_matrix",
    "jacobian",
)
COUNTED = ("inverse_dynamics", "bias", "mass_matrix", "coriolis_tensor", "forward_dynamics")
SAMPLES = 4096
RATE = 250.0  # samples a second of the logs
NOISE = 0.03  # of the torques, part of their standard deviation
VISCOUS = (3.0, 3.0, 15.0, 0.5, 0.5, 0.3)  # friction of the robot that the logs come from
COULOMB = (4.0, 4.0, 20.0, 0.6, 0.6, 0.4)
GAINS = (100.0, 20.0)


def describe(story: Story, folder: Path) -> None:
    """finding the minimal parameters"""
    from ..parameters.minimal import minimal_parameters

    story.minimal = minimal_parameters(story.arm)
    _ = story.minimal.long_forms


def count(story: Story, folder: Path) -> None:
    """counting operations of every formulation"""
    from .count import costs

    story.costs = {quantity: costs(story.arm, quantity) for quantity in COUNTED}


def speed(story: Story, folder: Path) -> None:
    """compiling and measuring"""
    import numpy as np

    from ..model.model import compile as compile_arm
    from .compile import measured

    model = compile_arm(story.arm)
    story.speeds = [measured(model, name) for name in SHOWN]
    state = np.random.default_rng(0).uniform(-1, 1, (3, SAMPLES, story.arm.n))
    story.agreement = _independent(story.arm, model, *state)


def _independent(arm: Arm, model: Model, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> float:
    """The largest relative difference to Newton-Euler equations that were neither traced nor compiled."""
    import numpy as np

    from ..dynamics.papers.newton_euler_lin1995 import inverse_dynamics
    from ..robot.frames.chain import chain_of, pose

    chain = chain_of(arm)
    forces = inverse_dynamics(chain, pose(chain, list(q.T)), list(qd.T), list(qdd.T))
    plain = np.stack(np.broadcast_arrays(*forces), axis=-1)
    return float(np.abs(model.inverse_dynamics(q, qd, qdd) - plain).max() / np.abs(plain).max())


def _motion(name: str) -> Callable[[np.ndarray], tuple[np.ndarray, ...]]:
    """q, qd, qdd (N, n) of a stored motion as a function of times (N,)."""
    import numpy as np

    from ..identify.design.trajectory import Series

    file = resources.files(__package__) / "demo_motions.toml"
    stored = tomllib.loads(file.read_text(encoding="utf-8"))
    series = Series(stored["period"], stored[name]["harmonics"])
    coefficients = np.array(stored[name]["coefficients"])
    return lambda t: tuple(B @ coefficients.T for B in series.basis(t))


def _true_arm(arm: Arm) -> Arm:
    """The robot that the logs come from: the Stanford arm with friction, which nobody has told dynarm about."""
    from ..robot.arm import Friction

    joints = (
        replace(joint, friction=Friction(viscous=v, coulomb=c, shape="tanh"))
        for joint, v, c in zip(arm.joints, VISCOUS, COULOMB, strict=True)
    )
    return replace(arm, joints=tuple(joints))


def record(story: Story, folder: Path) -> None:
    """recording two noisy logs"""
    import numpy as np

    from ..identify.logs.log import Log
    from .rehearsal import simulated_log

    t = np.arange(int(10 * RATE) + 1) / RATE
    for k, (motion, name) in enumerate((("fit", "log.csv"), ("check", "other.csv"))):
        q, qd, qdd = _motion(motion)(t)
        log = simulated_log(_true_arm(story.arm), t, q, qd, qdd, noise=NOISE, seed=k)
        write_log(log, folder / name)
    story.logs = tuple(
        replace(Log.read(folder / name), source=name) for name in ("log.csv", "other.csv")
    )


def identify(story: Story, folder: Path) -> None:
    """identifying"""
    from ..identify.identifier import Identifier

    identifier = Identifier(story.arm, shape="tanh", width=0.02)
    story.fit = fit = identifier.fit(story.logs[0])
    story.checks = (fit.validate(story.logs[1]),)
    story.verdict = fit.verdict(story.checks)
    story.true_values = _true_values(fit, _true_arm(story.arm))
    fit.arm_.save(folder / "model.toml")
    fit.arm_.save(folder / "identified.urdf")


def _true_values(fit: Fit, arm: Arm) -> np.ndarray:
    """(p,): what the unknowns of a fit are for a known arm."""
    import numpy as np

    terms = fit.record.terms
    values = np.zeros(terms.size)
    rigid = replace(terms.rigid, arm=arm)
    values[: terms.rigid_size] = terms.rigid.matrix @ rigid.natural.ravel()
    for j, joint in enumerate(arm.joints):
        for word in terms.drive_names:
            values[terms.drive_index(j, word)] = getattr(joint.friction, word)
    return values


def control(story: Story, folder: Path) -> None:
    """simulating the robot under control"""
    import numpy as np

    from ..model.model import compile as compile_arm
    from ..simulation import ComputedTorque, simulate

    believed = compile_arm(story.fit.arm_, friction=True)
    robot = compile_arm(_true_arm(story.arm), friction=True)
    motion = _motion("check")

    def reference(t: float) -> tuple[np.ndarray, ...]:
        return tuple(x[0] for x in motion(np.array([t])))

    q0, qd0, _ = reference(0.0)
    controller = ComputedTorque(believed, reference, *GAINS)
    story.run = simulate(robot, q0, qd0, 5.0, torque=controller, method="rk4", dt=0.002)
    story.tracking = float(np.abs(story.run.q - motion(story.run.t)[0]).max())


def export(story: Story, folder: Path) -> None:
    """writing C"""
    from ..model.export import export_c
    from ..model.model import compile as compile_arm

    wanted = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity")
    model = compile_arm(story.fit.arm_, friction=True)
    story.functions = export_c(model, folder / "c", quantities=wanted).functions
