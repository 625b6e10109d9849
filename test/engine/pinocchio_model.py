"""The same robot in Pinocchio, and its answers in this package's conventions.

Pinocchio has quaternions x, y, z, w; velocities of floating bases and spherical joints in the child's frame.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from raisim_ros.description.robot.kinematic_tree import JointType

pin = pytest.importorskip("pinocchio")


class PinocchioRobot:
    """A kinematic tree as a Pinocchio model; arguments and results as in ArticulatedSystem."""

    def __init__(self, tree, base_position=(0, 0, 0)):
        self.tree = tree
        self.model = pin.Model()
        self.model.gravity.linear = np.array([0, 0, -9.81])
        self.joint_ids = [0] * len(tree.bodies)
        self.base_placement = pin.SE3(np.eye(3), np.asarray(base_position, dtype=float))
        self._add(0)
        self.data = self.model.createData()
        self.rotor = np.concatenate(
            [np.full(b.joint_type.velocity_dim, 0.0 if b.parent < 0 else b.rotor_inertia) for b in tree.bodies]
        )

    def _add(self, index):
        """Depth first: Pinocchio wants the joints of a subtree in a row."""
        body = self.tree.bodies[index]
        if body.joint_type is JointType.FIXED:
            self.model.appendBodyToJoint(0, self._inertia(body), self.base_placement)
        else:
            parent = self.joint_ids[body.parent] if body.parent >= 0 else 0
            placement = pin.SE3(np.asarray(body.joint_rotation), np.asarray(body.joint_position))
            if parent == 0 and body.parent >= 0:
                placement = self.base_placement * placement
            self.joint_ids[index] = self.model.addJoint(parent, self._joint(body), placement, body.joint_name)
            self.model.appendBodyToJoint(self.joint_ids[index], self._inertia(body), pin.SE3.Identity())
        for child, other in enumerate(self.tree.bodies):
            if other.parent == index:
                self._add(child)

    @staticmethod
    def _inertia(body):
        inertia = np.asarray(body.inertia)
        if np.abs(inertia).max() <= 1e-14 * body.mass:  # rounding of a point mass; Pinocchio refuses negative moments
            inertia = np.zeros((3, 3))
        return pin.Inertia(body.mass, np.asarray(body.com), inertia)

    @staticmethod
    def _joint(body):
        return {
            JointType.FLOATING: lambda: pin.JointModelFreeFlyer(),
            JointType.REVOLUTE: lambda: pin.JointModelRevoluteUnaligned(np.asarray(body.axis)),
            JointType.PRISMATIC: lambda: pin.JointModelPrismaticUnaligned(np.asarray(body.axis)),
            JointType.SPHERICAL: lambda: pin.JointModelSpherical(),
        }[body.joint_type]()

    def set_state(self, q, u):
        """Take over the state: Pinocchio's q and v, and the orthogonal T with u = T v."""
        self.u = np.asarray(u)
        self.q = np.zeros(self.model.nq)
        self.T = np.zeros((len(u), len(u)))
        self.coriolis = np.zeros(len(u))  # dT/dt v
        at = row = 0
        for body, joint in zip(self.tree.bodies, self.joint_ids, strict=True):
            dim, n = body.joint_type.coordinate_dim, body.joint_type.velocity_dim
            if n == 0:
                continue
            own, block = np.array(q[at : at + dim]), np.eye(n)
            if body.joint_type in (JointType.FLOATING, JointType.SPHERICAL):
                w, x, y, z = own[-4:]
                own[-4:] = x, y, z, w
                block = np.kron(np.eye(n // 3), Rotation.from_quat([x, y, z, w]).as_matrix())
            if body.joint_type is JointType.FLOATING:
                self.coriolis[row : row + 3] = np.cross(u[row + 3 : row + 6], u[row : row + 3])
            first_q, first_v = self.model.joints[joint].idx_q, self.model.joints[joint].idx_v
            self.q[first_q : first_q + dim] = own
            self.T[row : row + n, first_v : first_v + n] = block
            at += dim
            row += n
        self.v = self.T.T @ self.u
        pin.computeAllTerms(self.model, self.data, self.q, self.v)
        pin.computeJointJacobiansTimeVariation(self.model, self.data, self.q, self.v)
        pin.forwardKinematics(self.model, self.data, self.q, self.v)

    def mass_matrix(self):
        """M with rotor inertia."""
        m = np.triu(self.data.M) + np.triu(self.data.M, 1).T
        return self.T @ m @ self.T.T + np.diag(self.rotor)

    def nonlinearities(self):
        """h of M du/dt + h = tau."""
        m = np.triu(self.data.M) + np.triu(self.data.M, 1).T
        return self.T @ (self.data.nle - m @ self.T.T @ self.coriolis)

    def body_pose(self, body):
        """Position and rotation of a movable body."""
        pose = self.data.oMi[self.joint_ids[body]]
        return pose.translation, pose.rotation

    def jacobian(self, body, point):
        """6 x n Jacobian of a world point fixed to a body: linear, angular."""
        joint = self.joint_ids[body]
        spatial = pin.getJointJacobian(self.model, self.data, joint, pin.ReferenceFrame.WORLD)
        j = spatial @ self.T.T
        j[:3] = j[:3] + np.cross(j[3:].T, point).T
        return j

    def velocity_products(self, body, point):
        """Acceleration of a body point and angular acceleration at du/dt = 0 (world axes)."""
        a = self.T.T @ (-self.coriolis)
        pin.forwardKinematics(self.model, self.data, self.q, self.v, a)
        joint = self.joint_ids[body]
        placement = self.data.oMi[joint]
        local = placement.actInv(np.asarray(point))
        shift = pin.SE3(np.eye(3), local)
        velocity = shift.actInv(self.data.v[joint])
        acceleration = shift.actInv(self.data.a[joint])
        linear = acceleration.linear + np.cross(velocity.angular, velocity.linear)
        return placement.rotation @ linear, placement.rotation @ acceleration.angular
