"""What other libraries call the things that are here: who types their name is told ours.

One table. A name is asked for on a model, on an arm or on the module; the answer is an AttributeError, so that
`hasattr` and everything built on it go on as if there were no table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..errors import UnknownAttribute

if TYPE_CHECKING:
    from .kinds import Outside

PINOCCHIO, MATLAB, TOOLBOX, DRAKE = "Pinocchio", "MATLAB", "the Robotics Toolbox", "Drake"
MUJOCO, BULLET, RBDL, KDL = "MuJoCo", "PyBullet", "RBDL", "KDL"


class Familiar(NamedTuple):
    """What we say, and what one other library says."""

    ours: str
    library: str
    names: str  # separated by blanks


ROWS = (
    Familiar("model.inverse_dynamics(q, qd, qdd)", PINOCCHIO, "rnea rneaInParallel"),
    Familiar("model.inverse_dynamics(q, qd, qdd)", MATLAB, "inverseDynamics"),
    Familiar("model.inverse_dynamics(q, qd, qdd)", TOOLBOX, "rne"),
    Familiar("model.inverse_dynamics(q, qd, qdd)", DRAKE, "CalcInverseDynamics"),
    Familiar(
        "model.inverse_dynamics(q, qd, qdd)", MUJOCO, "mj_inverse mj_rne mj_rnePostConstraint"
    ),
    Familiar("model.inverse_dynamics(q, qd, qdd)", BULLET, "calculateInverseDynamics"),
    Familiar("model.inverse_dynamics(q, qd, qdd)", RBDL, "InverseDynamics"),
    Familiar("model.forward_dynamics(q, qd, tau)", PINOCCHIO, "aba abaInParallel"),
    Familiar("model.forward_dynamics(q, qd, tau)", MATLAB, "forwardDynamics"),
    Familiar("model.forward_dynamics(q, qd, tau)", TOOLBOX, "accel"),
    Familiar("model.forward_dynamics(q, qd, tau)", MUJOCO, "mj_forward mj_fwdAcceleration"),
    Familiar(
        "model.forward_dynamics(q, qd, tau)", RBDL, "ForwardDynamics ForwardDynamicsLagrangian"
    ),
    Familiar("model.mass_matrix(q)", PINOCCHIO, "crba"),
    Familiar("model.mass_matrix(q)", MATLAB, "massMatrix"),
    Familiar("model.mass_matrix(q)", TOOLBOX, "inertia"),
    Familiar("model.mass_matrix(q)", DRAKE, "CalcMassMatrix CalcMassMatrixViaInverseDynamics"),
    Familiar("model.mass_matrix(q)", MUJOCO, "mj_fullM mj_crb"),
    Familiar("model.mass_matrix(q)", BULLET, "calculateMassMatrix"),
    Familiar("model.mass_matrix(q)", RBDL, "CompositeRigidBodyAlgorithm"),
    Familiar("model.mass_matrix(q)", KDL, "JntToMass"),
    Familiar("model.bias(q, qd)", PINOCCHIO, "nle nonLinearEffects"),
    Familiar("model.bias(q, qd)", MUJOCO, "qfrc_bias"),
    Familiar("model.bias(q, qd)", RBDL, "NonlinearEffects"),
    Familiar("model.gravity(q)", PINOCCHIO, "computeGeneralizedGravity computeStaticTorque"),
    Familiar("model.gravity(q)", MATLAB, "gravityTorque"),
    Familiar("model.gravity(q)", TOOLBOX, "gravload"),
    Familiar("model.gravity(q)", DRAKE, "CalcGravityGeneralizedForces"),
    Familiar("model.gravity(q)", KDL, "JntToGravity"),
    Familiar("model.coriolis_matrix(q, qd)", PINOCCHIO, "computeCoriolisMatrix"),
    Familiar("model.coriolis_matrix(q, qd)", TOOLBOX, "coriolis"),
    Familiar("model.coriolis_matrix(q, qd)", MATLAB, "velocityProduct"),
    Familiar("model.coriolis_matrix(q, qd)", DRAKE, "CalcBiasTerm"),
    Familiar("model.coriolis_matrix(q, qd)", KDL, "JntToCoriolis"),
    Familiar(
        "model.regressor(q, qd, qdd)", PINOCCHIO, "computeJointTorqueRegressor computeRegressor"
    ),
    Familiar("model.kinetic_energy(q, qd)", PINOCCHIO, "computeKineticEnergy"),
    Familiar("model.kinetic_energy(q, qd)", DRAKE, "CalcKineticEnergy"),
    Familiar("model.potential_energy(q)", PINOCCHIO, "computePotentialEnergy"),
    Familiar("model.potential_energy(q)", DRAKE, "CalcPotentialEnergy"),
    Familiar("model.center_of_mass(q)", MATLAB, "centerOfMass"),
    Familiar("model.center_of_mass(q)", DRAKE, "CalcCenterOfMassPositionInWorld"),
    Familiar("model.center_of_mass_jacobian(q)", PINOCCHIO, "jacobianCenterOfMass"),
    Familiar("model.momentum(q, qd)", PINOCCHIO, "computeCentroidalMomentum"),
    Familiar("model.momentum(q, qd)", DRAKE, "CalcSpatialMomentumInWorldAboutPoint"),
    Familiar("model.momentum_matrix(q)", PINOCCHIO, "ccrba computeCentroidalMap"),
    Familiar(
        "model.momentum_rate(q, qd, qdd)", PINOCCHIO, "computeCentroidalMomentumTimeVariation"
    ),
    Familiar("model.forward_kinematics(q)", PINOCCHIO, "forwardKinematics framesForwardKinematics"),
    Familiar("model.forward_kinematics(q)", MATLAB, "getTransform"),
    Familiar("model.forward_kinematics(q)", TOOLBOX, "fkine"),
    Familiar("model.forward_kinematics(q)", DRAKE, "CalcRelativeTransform"),
    Familiar("model.forward_kinematics(q)", MUJOCO, "mj_kinematics mj_fwdPosition"),
    Familiar("model.forward_kinematics(q)", KDL, "JntToCart"),
    Familiar(
        "model.jacobian(q)",
        PINOCCHIO,
        "computeFrameJacobian getFrameJacobian computeJointJacobians",
    ),
    Familiar("model.jacobian(q)", MATLAB, "geometricJacobian"),
    Familiar("model.jacobian(q)", TOOLBOX, "jacob0 jacobe"),
    Familiar("model.jacobian(q)", DRAKE, "CalcJacobianSpatialVelocity"),
    Familiar("model.jacobian(q)", MUJOCO, "mj_jac mj_jacSite mj_jacBody"),
    Familiar("model.jacobian(q)", BULLET, "calculateJacobian"),
    Familiar("model.jacobian(q)", KDL, "JntToJac"),
    Familiar("model.jacobian_derivative(q, qd)", PINOCCHIO, "computeJointJacobiansTimeVariation"),
    Familiar("model.jacobian_derivative(q, qd)", TOOLBOX, "jacob0_dot jacob_dot"),
    Familiar("model.inverse_dynamics_derivatives(q, qd, qdd)", PINOCCHIO, "computeRNEADerivatives"),
    Familiar("model.forward_dynamics_derivatives(q, qd, tau)", PINOCCHIO, "computeABADerivatives"),
    Familiar(
        "dynarm.load(path)", PINOCCHIO, "buildModelFromUrdf buildModelsFromUrdf buildModelFromMJCF"
    ),
    Familiar("dynarm.load(path)", MATLAB, "importrobot loadrobot rigidBodyTree"),
    Familiar("dynarm.load(path)", TOOLBOX, "ERobot URDF"),
    Familiar("dynarm.load(path)", MUJOCO, "MjModel from_xml_path from_xml_string mj_loadXML"),
    Familiar("dynarm.load(path)", BULLET, "loadURDF loadMJCF"),
    Familiar("dynarm.load(path, freeze={joint: position})", PINOCCHIO, "buildReducedModel"),
    Familiar("dynarm.simulate(model, q0, qd0, t_end)", TOOLBOX, "fdyn"),
    Familiar("dynarm.simulate(model, q0, qd0, t_end)", MUJOCO, "mj_step"),
    Familiar("dynarm.simulate(model, q0, qd0, t_end)", BULLET, "stepSimulation"),
    Familiar("dynarm.Arm(joints)", TOOLBOX, "DHRobot SerialLink"),
    Familiar("dynarm.compile(arm)", PINOCCHIO, "createData"),
    Familiar("dynarm.compile(arm)", MUJOCO, "MjData"),
    Familiar("dynarm.compile(arm)", TOOLBOX, "nofriction"),
    Familiar("arm.with_payload(mass)", TOOLBOX, "payload"),
    Familiar("arm.joint_names", TOOLBOX, "jointnames"),
    Familiar("arm.joint_names", PINOCCHIO, "njoints"),
    Familiar("arm.urdf_parameters", PINOCCHIO, "toDynamicParameters inertias"),
)
# what there is not
NOTHING = {
    "inverse kinematics": "ikine ikine_LM ikine_LMS ikine_min inverseKinematics generalizedInverseKinematics CartToJnt "
    "calculateInverseKinematics",
    "collision checking": "checkCollision computeCollisions mj_collision mj_collide",
}
_FAMILIAR = {name: row for row in ROWS for name in row.names.split()}
_MISSING = {name: what for what, names in NOTHING.items() for name in names.split()}
_OWN = {
    row.ours.removeprefix("model.").partition("(")[0]: row.ours
    for row in ROWS
    if row.ours.startswith("model.")
}


def unknown_attribute(owner: str, name: str, model: bool = False) -> UnknownAttribute:
    """The error for a name that the owner ('Arm', "module 'dynarm'", a model) does not have."""
    begin = f"{owner} has no attribute {name!r}"
    row, own = _FAMILIAR.get(name), _OWN.get(name)
    if own is not None:
        return UnknownAttribute(f"{begin}; it is {own}{_way(model, own)}")
    if row is not None:
        what = f"what {row.library} calls {name} is {row.ours}{_way(model, row.ours)}"
        return UnknownAttribute(f"{begin}; {what}")
    if name in _MISSING:
        return UnknownAttribute(f"{begin}; dynarm has no {_MISSING[name]}")
    return UnknownAttribute(begin)


def _way(model: bool, ours: str) -> str:
    """How one comes from what one has to what the call begins with."""
    if ours.startswith("model.") and not model:
        return ", with model = dynarm.compile(arm)"
    return ", with arm = model.arm" if ours.startswith("arm.") and model else ""


def told_attribute(self: object, name: str) -> Outside:
    """What a class has as `__getattr__`: it finds nothing, and says what the thing is called here."""
    # a property that ended in an AttributeError of its own: that one is to be seen
    if hasattr(type(self), name):
        return object.__getattribute__(self, name)
    kind = type(self)
    error = unknown_attribute(kind.__name__, name, hasattr(kind, "inverse_dynamics"))
    error.name, error.obj = name, self  # for Python's own suggestions
    raise error
