"""Drake: a MultibodyPlant, called from Python for one state, which is set anew each time: Drake keeps what it knows."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import MultibodyForces

from ..contenders import Call, Calls, States
from ..robots import Robot


class Peer:
    """Drake's plant of the robot."""

    def __init__(self, robot: Robot):
        self.plant = plant = MultibodyPlant(0.0)
        (instance,) = Parser(plant).AddModelsFromString(robot.urdf, "urdf")
        root = plant.get_body(plant.GetBodyIndices(instance)[0])
        plant.WeldFrames(plant.world_frame(), root.body_frame())
        plant.mutable_gravity_field().set_gravity_vector(np.array(robot.arm.gravity))
        plant.Finalize()
        self.context = plant.CreateDefaultContext()
        joints = [plant.GetJointByName(name).position_start() for name in robot.arm.joint_names]
        self.known = joints == list(range(robot.arm.n))  # ours and Drake's order are the same

    def single(self, quantity: str, s: States) -> Calls:
        make = {
            "inverse_dynamics": self._inverse_dynamics,
            "forward_dynamics": self._forward_dynamics,
            "mass_matrix": self._mass_matrix,
            "bias": self._bias,
        }.get(quantity)
        if make is None or not self.known:
            return {}
        name, run = make(np.concatenate([s.q[0], s.qd[0]]), s.x[0].copy())
        return {f"drake {name}": Call(run, np.array)}

    def batch(self, quantity: str, s: States) -> Calls:
        return {}

    def _inverse_dynamics(self, state: np.ndarray, x: np.ndarray) -> tuple[str, Any]:
        plant, context, forces = self.plant, self.context, MultibodyForces(self.plant)

        def run() -> Any:
            plant.SetPositionsAndVelocities(context, state)
            plant.CalcForceElementsContribution(context, forces)
            return plant.CalcInverseDynamics(context, x, forces)

        return "CalcInverseDynamics", run

    def _forward_dynamics(self, state: np.ndarray, x: np.ndarray) -> tuple[str, Any]:
        plant, context = self.plant, self.plant.CreateDefaultContext()  # it keeps the torque
        plant.get_applied_generalized_force_input_port().FixValue(context, x)
        found = plant.get_generalized_acceleration_output_port()

        def run() -> Any:
            plant.SetPositionsAndVelocities(context, state)
            return found.Eval(context)

        return "generalized_acceleration", run

    def _mass_matrix(self, state: np.ndarray, x: np.ndarray) -> tuple[str, Any]:
        plant, context = self.plant, self.context

        def run() -> Any:
            plant.SetPositionsAndVelocities(context, state)
            return plant.CalcMassMatrix(context)

        return "CalcMassMatrix", run

    def _bias(self, state: np.ndarray, x: np.ndarray) -> tuple[str, Any]:
        plant, context = self.plant, self.context

        def run() -> Any:
            plant.SetPositionsAndVelocities(context, state)
            return plant.CalcBiasTerm(context) - plant.CalcGravityGeneralizedForces(context)

        return "CalcBiasTerm", run
