"""Where the links of a robot are, and what forces on points of them are worth in its joints."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...model.model import Model
from ...model.model import compile as compile_arm
from ...robot.arm import Arm, Tool


@dataclass(frozen=True, slots=True, eq=False)
class Limbs:
    """The frames of all joints of a robot on a fixed base."""

    model: Model  # its tools are the frames of all joints
    carries: np.ndarray  # (joints, joints): 1 where the joint of a row moves a column's link
    turns: np.ndarray  # (joints,): revolute
    gather: np.ndarray  # (joints, nv): how joints follow the independent ones

    def poses(self, q: np.ndarray) -> np.ndarray:
        """(N, joints, 4, 4): the frames in the base link."""
        flat = np.asarray(self.model.forward_kinematics(np.ascontiguousarray(q)))
        return flat.reshape(len(q), -1, 4, 4)

    def pull(
        self,
        poses: np.ndarray,
        row: np.ndarray,
        joint: np.ndarray,
        point: np.ndarray,
        force: np.ndarray,
    ) -> np.ndarray:
        """(N, nv): J' force, summed over forces (k, 3) at points (k, 3) of the links of `joint`, in the poses `row`."""
        count = len(self.turns)
        moving = joint >= 0
        row, joint, point, force = row[moving], joint[moving], point[moving], force[moving]
        place = row * count + joint
        wrench = np.hstack([force, np.cross(point, force)])
        total = np.stack(
            [np.bincount(place, part, len(poses) * count) for part in wrench.T], axis=-1
        ).reshape(len(poses), count, 6)
        total = self.carries @ total
        axis, origin = poses[:, :, :3, 2], poses[:, :, :3, 3]
        moment = total[..., 3:] - np.cross(origin, total[..., :3])
        felt = np.where(self.turns[:, None], moment, total[..., :3])
        return np.asarray((axis * felt).sum(axis=-1) @ self.gather)


def limbs_of(arm: Arm) -> Limbs:
    """The frames of an arm's joints."""
    frames = [Tool(str(joint.name), i) for i, joint in enumerate(arm.joints)]
    carries = np.eye(arm.n)
    for i, parent in enumerate(arm.parents):
        if parent >= 0:
            carries[:, i] += carries[:, parent]
    how = arm.coupling
    gather = np.zeros((arm.n, len(how.masters)))
    gather[np.arange(arm.n), list(how.of)] = how.multipliers
    turns = np.array([joint.revolute for joint in arm.joints])
    return Limbs(compile_arm(replace(arm, tools=frames)), carries, turns, gather)
