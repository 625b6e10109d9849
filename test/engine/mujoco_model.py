"""The same MJCF file in MuJoCo, and its answers in this package's conventions.

MuJoCo has the angular velocity of free and ball joints in the child's frame.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from raisim_ros.description.robot.kinematic_tree import JointType

mujoco = pytest.importorskip("mujoco")


def rotation_of(wxyz):
    return Rotation.from_quat(np.roll(wxyz, -1)).as_matrix()


class MujocoWorld:
    """A file in MuJoCo, without contacts, limits and fluid."""

    def __init__(self, file):
        self.model = mujoco.MjModel.from_xml_path(str(file))
        self.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
        self.model.opt.density = self.model.opt.viscosity = 0.0
        self.model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
        self.data = mujoco.MjData(self.model)

    def body_mass(self, name):
        return self.model.body(name).mass[0]

    def mass_on_joint(self, name):
        """Mass of what a joint moves rigidly; zero for all joints of a body but its last one."""
        model = self.model
        joint = model.joint(name)
        body = int(model.jnt_bodyid[joint.id])
        if joint.id != model.body_jntadr[body] + model.body_jntnum[body] - 1:
            return 0.0
        return sum(model.body_mass[model.body_weldid == body])

    def mass_matrix(self):
        mujoco.mj_forward(self.model, self.data)
        full = np.zeros((self.model.nv, self.model.nv))
        # The order of the arguments has changed between versions.
        try:
            mujoco.mj_fullM(self.model, self.data, full)
        except TypeError:
            mujoco.mj_fullM(self.model, full, self.data.qM)
        return full


class MujocoRobot:
    """One articulated system of a world in MuJoCo; arguments and results as in ArticulatedSystem."""

    def __init__(self, world, tree):
        self.world = world
        self.tree = tree
        self.joints = []  # type, first of q, first of v
        for body in tree.bodies:
            if body.joint_type is JointType.FIXED:
                continue
            if body.joint_type is JointType.FLOATING:
                joint = world.model.joint(world.model.body(body.name).jntadr[0])
            else:
                joint = world.model.joint(body.joint_name)
            self.joints.append((body.joint_type, int(joint.qposadr[0]), int(joint.dofadr[0])))

    def _rows(self):
        return np.concatenate([np.arange(v, v + kind.velocity_dim) for kind, _, v in self.joints])

    def turn(self):
        """T with u = T v."""
        blocks = []
        for kind, q, _ in self.joints:
            block = np.eye(kind.velocity_dim)
            if kind in (JointType.FLOATING, JointType.SPHERICAL):
                first = q + 3 * (kind is JointType.FLOATING)
                block[-3:, -3:] = rotation_of(self.world.data.qpos[first : first + 4])
            blocks.append(block)
        size = sum(len(block) for block in blocks)
        turn, at = np.zeros((size, size)), 0
        for block in blocks:
            turn[at : at + len(block), at : at + len(block)] = block
            at += len(block)
        return turn

    def set_state(self, q, u):
        at = 0
        for kind, first, _ in self.joints:
            self.world.data.qpos[first : first + kind.coordinate_dim] = q[at : at + kind.coordinate_dim]
            at += kind.coordinate_dim
        self.world.data.qvel[self._rows()] = self.turn().T @ u

    def get_state(self):
        q = [self.world.data.qpos[first : first + kind.coordinate_dim] for kind, first, _ in self.joints]
        return np.concatenate(q), self.turn() @ self.world.data.qvel[self._rows()]

    def mass_matrix(self):
        turn, rows = self.turn(), self._rows()
        return turn @ self.world.mass_matrix()[np.ix_(rows, rows)] @ turn.T


def random_state(tree, rng, speed=1.0):
    """Coordinates and velocities at which every joint is somewhere else."""
    q = []
    for body in tree.bodies:
        kind = body.joint_type
        part = rng.normal(size=kind.coordinate_dim)
        if kind in (JointType.FLOATING, JointType.SPHERICAL):
            part[-4:] /= np.linalg.norm(part[-4:])
        q.append(part)
    return np.concatenate(q), speed * rng.normal(size=tree.velocity_dim)
